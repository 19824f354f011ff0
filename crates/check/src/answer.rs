//! Questions of all kinds, in whatever language they were asked.

use base::{Diagnostic, FairnessKind, Progress, Route, Span};
use evidence::UnknownReason;
use model::Model;
use source::{Question, QuestionKind, System};

use crate::together::{self, Asked};
use crate::{Bug, Outcome, Plan, effective_fairness, optimum, refinement};

/// Answers a question about one of these systems. What its author says about the abstraction for it
/// takes the place of the hints in the plan.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn answer(
    systems: &[System],
    question: &Question,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let mut plan = plan.clone();
    plan.predicate.hints = question.scope.hints.clone();
    let (system, property) = (&systems[question.system], &question.property);
    let model = &system.model;

    let fairness = effective_fairness(model, property, plan.fairness);
    if let Some(why) = question.undecided(fairness) {
        let reason = UnknownReason::Unsupported(why.to_owned());
        return Ok(Outcome::unknown(Route::Explicit, fairness, reason));
    }

    let is_plain = matches!(
        question.kind,
        QuestionKind::Property | QuestionKind::EndStates
    );
    if plan.sets.is_some() && !is_plain {
        let why = "questions of this kind are not answered on sets of states; \
            check without `--disk`";
        let reason = UnknownReason::Unsupported(why.to_owned());
        return Ok(Outcome::unknown(Route::Explicit, fairness, reason));
    }

    match &question.kind {
        QuestionKind::Property | QuestionKind::EndStates => {
            let mut outcome = crate::check(model, property, &plan, progress)?;
            let warning = compound_warning(system, &outcome);
            outcome.warnings.extend(warning);
            Ok(outcome)
        }
        QuestionKind::Optimum { value, greatest } => {
            let (mut outcome, best) =
                optimum::optimum(model, property, value, *greatest, &plan, progress)?;
            let what = if *greatest { "greatest" } else { "least" };
            let remark = best.map(|best| format!("the {what} value is {best}"));
            outcome.remarks.extend(remark);
            Ok(outcome)
        }
        QuestionKind::Deterministic { silent } => {
            refinement::deterministic(model, silent, property, &plan, progress)
        }
        QuestionKind::Refines {
            refinement,
            specification,
            silent,
        } => {
            let pair = (model, &systems[*specification].model);
            refinement::refines(pair, silent, *refinement, property, &plan, progress)
        }
    }
}

/// Answers those questions that one exploration answers together, if there are several such; nothing
/// for the others, which [`answer`] answers.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn answer_together(
    systems: &[System],
    questions: &[&Question],
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Vec<Option<Outcome>>, Bug> {
    let mut outcomes: Vec<Option<Outcome>> = questions.iter().map(|_| None).collect();
    for (number, system) in systems.iter().enumerate() {
        let model = &system.model;
        if !together::is_possible(model, plan) {
            continue;
        }
        let (places, asked): (Vec<usize>, Vec<Asked<'_>>) = questions
            .iter()
            .enumerate()
            .filter(|(_, question)| question.system == number)
            .filter_map(|(place, question)| Some((place, asked(model, question, plan)?)))
            .unzip();
        if asked.len() < 2 {
            continue;
        }

        let found = together::explore(model, &asked, plan, progress);
        for (place, outcome) in places.into_iter().zip(found) {
            let Some(outcome) = outcome else {
                continue;
            };
            let property = &questions[place].property;
            let mut outcome = crate::judged(model, property, plan, outcome)?;
            let warning = compound_warning(system, &outcome);
            outcome.warnings.extend(warning);
            outcomes[place] = Some(outcome);
        }
    }
    Ok(outcomes)
}

/// A question that can be answered together with others.
fn asked<'q>(model: &Model, question: &'q Question, plan: &Plan) -> Option<Asked<'q>> {
    let fairness = effective_fairness(model, &question.property, plan.fairness);
    let is_plain = match question.kind {
        QuestionKind::Property | QuestionKind::EndStates => true,
        QuestionKind::Optimum { .. }
        | QuestionKind::Deterministic { .. }
        | QuestionKind::Refines { .. } => false,
    };
    if !is_plain || question.undecided(fairness).is_some() {
        return None;
    }
    Asked::new(model, &question.property, plan)
}

/// Process fairness is about components; one of them may contain several processes.
fn compound_warning(system: &System, outcome: &Outcome) -> Option<Diagnostic> {
    let name = system.compound.as_ref()?;
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
