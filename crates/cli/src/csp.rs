//! CSP# files: several systems in one text, and questions that are not properties of one model.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Diagnostic, FairnessKind, Progress, Severity, Source, Span};
use check::refinement::{self, Refinement};
use check::{Bug, Outcome, Plan};
use import::csp::{QuestionKind, RefinementKind};
use logic::NamedProperty;

use crate::diagnostics;
use crate::failure::Failure;
use crate::loading::{Asked, Loaded};

/// What invisible steps are called.
const SILENT: &str = "tau";

/// Reads a CSP# text. Included files are looked for beside it.
///
/// # Errors
/// The text is wrong.
pub fn load(
    path: &Path,
    source: Source,
    options: &lang::Options,
    pool: usize,
    warnings: bool,
) -> Result<Loaded, Failure> {
    if !options.ctl.is_empty() {
        let message = "formulas with path quantifiers (`--ctl`) cannot be asked of CSP# models yet";
        return Err(Failure::wrong(message));
    }
    if !options.abstract_timers.is_empty() {
        let message = "CSP# models have no timers, so there is nothing for `--abstract-timer`";
        return Err(Failure::wrong(message));
    }
    let options = import::Options {
        defines: options.defines.clone(),
        ltl: options.ltl.clone(),
        assume: options.assume.clone(),
        abstract_timers: Vec::new(),
        ctl: Vec::new(),
        pool,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let loaded = import::csp::load(source, &options, &mut read);
    for diagnostic in &loaded.diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, &loaded.sources);
        }
    }
    let mut asked = BTreeMap::new();
    for question in &loaded.questions {
        let compound = loaded.systems[question.system].compound.clone();
        asked.insert(
            question.property.name.clone(),
            Asked {
                system: question.system,
                kind: question.kind.clone(),
                compound,
                question: question.clone(),
            },
        );
    }
    let properties = loaded.questions.into_iter().map(|q| q.property).collect();
    let mut models = loaded.systems.into_iter().map(|system| system.model);
    Ok(Loaded {
        hints: Vec::new(),
        model: models.next().ok_or(Failure::Diagnosed)?,
        properties,
        sources: loaded.sources,
        others: models.collect(),
        asked,
    })
}

/// Answers a question, whatever its kind.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn answer(
    loaded: &Loaded,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let model = loaded.model_of(property);
    let Some(asked) = loaded.asked.get(&property.name) else {
        return check::check(model, property, plan, progress);
    };
    let fairness = check::effective_fairness(model, property, plan.fairness);
    if let Some(why) = asked.question.undecided(fairness) {
        return Ok(Outcome::not_asked(fairness, why.to_owned()));
    }
    match &asked.kind {
        QuestionKind::Property => {
            let mut outcome = check::check(model, property, plan, progress)?;
            outcome.warnings.extend(compound_warning(asked, &outcome));
            Ok(outcome)
        }
        QuestionKind::Optimum { value, greatest } => {
            let (mut outcome, best) =
                check::optimum(model, property, value, *greatest, plan, progress)?;
            let what = if *greatest { "greatest" } else { "least" };
            let remark = best.map(|best| format!("the {what} value is {best}"));
            outcome.remarks.extend(remark);
            Ok(outcome)
        }
        QuestionKind::Deterministic => {
            refinement::deterministic(model, SILENT, property, plan, progress)
        }
        QuestionKind::Refines {
            kind,
            specification,
        } => {
            let kind = match kind {
                RefinementKind::Traces => Refinement::Traces,
                RefinementKind::Failures => Refinement::Failures,
                RefinementKind::FailuresDivergences => Refinement::FailuresDivergences,
            };
            let systems = (model, loaded.system(*specification));
            refinement::refines(systems, SILENT, kind, property, plan, progress)
        }
    }
}

/// Process fairness is about components; one of them may contain several processes.
fn compound_warning(asked: &Asked, outcome: &Outcome) -> Option<Diagnostic> {
    let name = asked.compound.as_ref()?;
    let about_processes = matches!(
        outcome.fairness.kind,
        FairnessKind::WeakProcess | FairnessKind::StrongProcess
    );
    about_processes.then(|| {
        let message =
            format!("`{name}` creates processes while it runs; fairness treats it as one process");
        Diagnostic::warning("compound-process", Span::nowhere(), message)
    })
}
