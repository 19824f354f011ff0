//! `fair fairness`: which fairness a property needs.

use fairground::report::{self, Advice, AuditReport};
use fairground::{Project, Question, QuestionKind, Search, Verdict, is_formula_name};

use super::check::unknown_property;
use crate::failure::{Failure, Status};
use crate::options::{AdviceFormat, FairnessOptions, OutputFormat};
use crate::progress::Meter;
use crate::{loading, output};

/// Looks for the weakest conditions, or audits those that the model has.
///
/// # Errors
/// The call or the model is wrong, or evidence was found to be wrong.
pub fn run(options: &FairnessOptions) -> Result<Status, Failure> {
    let plan = options.plan();
    let project = loading::open_closed(&options.model.file, options.for_front_end())?;
    let question = choose(&project, options)?;

    let mut meter = Meter::new(options.progress, false, &question.name);
    if options.audit {
        let audited = project.audit(question, &plan, &mut meter);
        let seconds = meter.seconds();
        meter.finish();
        let audit = AuditReport {
            seconds,
            ..audited?
        };
        match options.output_format {
            AdviceFormat::Text => {
                let style = output::stdout_style();
                output::print(&report::audit_text(&audit, style, options.verbose))?;
            }
            AdviceFormat::Json => OutputFormat::Json.print(&report::audit_json(&audit))?,
        }
        return Ok(match (audit.verdict, &audit.reason) {
            (Verdict::Violated, _) => Status::Violated,
            (Verdict::Holds, None) => Status::Success,
            _ => Status::Undecided,
        });
    }

    let search = Search {
        candidates: options.candidate.clone(),
        each: options.each,
    };
    let advised = project.advise(question, &search, &plan, &mut meter);
    let seconds = meter.seconds();
    meter.finish();
    let advice = Advice {
        seconds,
        ..advised?
    };
    match options.output_format {
        AdviceFormat::Text => {
            let style = output::stdout_style();
            output::print(&report::advice_text(&advice, style, options.verbose))?;
        }
        AdviceFormat::Json => OutputFormat::Json.print(&report::advice_json(&advice))?,
    }
    Ok(if advice.excluded_by_none.is_some() {
        Status::Violated
    } else if advice.complete && advice.sets.iter().all(|set| set.confirmed) {
        Status::Success
    } else {
        Status::Undecided
    })
}

/// The question that was asked, else the first that is about runs.
fn choose<'a>(project: &'a Project, options: &FairnessOptions) -> Result<&'a Question, Failure> {
    let questions = project.questions();

    let names = || {
        questions
            .iter()
            .map(|question| question.name.as_str())
            .collect()
    };

    if let Some(wanted) = &options.property {
        let question = project.question(wanted);
        return question.ok_or_else(|| unknown_property(wanted, names()));
    }

    if options.ltl.is_some() {
        let asked = questions
            .iter()
            .find(|question| is_formula_name(&question.name));
        return Ok(asked.expect("the formula is a question"));
    }

    let of_runs = questions
        .iter()
        .find(|question| question.kind == QuestionKind::LinearTime);
    of_runs.ok_or_else(|| {
        Failure::wrong(format!(
            "`{}` has no property of infinite runs, so fairness makes no difference; give one with \
             `--ltl FORMULA`",
            options.model.file.display()
        ))
    })
}
