//! Runs that are written to a file and read again still show what they showed.

use base::FairnessKind;
use check::Outcome;
use evidence::{Trace, Verdict, Violation};
use report::{Cost, ReportedQuestion};

use crate::answer::{Ledger, Relation};
use crate::{Answer, Case, RouteKind};

/// Stores the run of an outcome, reads it, and has it judged again.
pub(crate) fn compare(case: &Case, outcome: &Outcome, ledger: &mut Ledger) {
    let question = ReportedQuestion {
        sources: &case.sources,
        property: &case.property.name,
        formula: &case.property.text,
        span: case.property.span,
        fairness: outcome.fairness,
    };

    let result = question.result(&outcome.verdict, &outcome.explanation, Cost::default());
    let Some(stored) = result.trace else {
        return;
    };

    // A branch shows only a part of a formula with path quantifiers, so a file of it is not judged.
    if stored.meta.kind.as_deref() == Some("branch") {
        return;
    }

    let text = report::write_itf(&stored);
    let read = report::read_itf(&text).map_err(|error| error.to_string());
    let trace = read.and_then(|read| {
        read.run
            .to_trace(&case.model)
            .map_err(|error| error.to_string())
    });
    let judged = trace.and_then(|trace| judge(case, outcome, trace));
    let again = match judged {
        Ok(()) => Answer::of(&outcome.verdict),
        Err(why) => Answer::Broken(why),
    };
    let found = Answer::of(&outcome.verdict);
    let right = ("stored and replayed", &again);
    ledger.compare(RouteKind::Replay, Relation::Same, ("found", &found), right);
}

/// Does the run show what the verdict says?
fn judge(case: &Case, outcome: &Outcome, trace: Trace) -> Result<(), String> {
    let Case {
        model, property, ..
    } = case;
    evidence::validate_run(model, &trace).map_err(|why| why.to_string())?;

    let judged = match &outcome.verdict {
        Verdict::Holds { .. } => evidence::validate_witness(model, &property.property, &trace),
        Verdict::Violated(violation) => {
            // Files do not hold the closed component that strong global fairness is about.
            let mut fairness = outcome.fairness;
            if fairness.kind == FairnessKind::StrongGlobal {
                fairness.kind = FairnessKind::None;
            }
            let violation = Violation {
                kind: violation.kind.clone(),
                trace: Some(trace),
                covering: None,
                component: None,
            };
            let assumptions = &model.parts().assumptions;
            // A loop shown under strong global fairness may be a part of the one that is fair.
            if outcome.fairness.kind == FairnessKind::StrongGlobal
                && violation_is_a_part(&violation)
            {
                return Ok(());
            }
            evidence::validate(model, &property.property, fairness, assumptions, &violation)
        }
        Verdict::Unknown(_) => Ok(()),
    };

    judged.map_err(|why| why.to_string())
}

/// Is the run of the violation a loop?
fn violation_is_a_part(violation: &Violation) -> bool {
    let trace = violation.trace.as_ref();
    trace.is_some_and(|trace| trace.loop_start.is_some())
}
