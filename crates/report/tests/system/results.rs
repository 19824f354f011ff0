//! Results about the small system, all of whose evidence stands up.

use base::{Fairness, FairnessKind};
use evidence::{Judge, Trace, Verdict, Violation, ViolationKind};
use logic::NamedProperty;
use model::{Assumption, Model};
use report::{PropertyResult, Report};

use super::{cost, fairness, lasso, question, served, sources, system};

/// The result for a property of a model. Evidence that does not stand up is not reported.
pub fn judged(
    model: &Model,
    property: &NamedProperty,
    kind: FairnessKind,
    verdict: &Verdict,
) -> PropertyResult {
    explained(model, property, fairness(kind), &[], verdict)
}

/// The same under assumptions.
pub fn explained(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    assumptions: &[Assumption],
    verdict: &Verdict,
) -> PropertyResult {
    let judge = Judge::new(model, &property.property, fairness, assumptions);
    let explanation = judge.verdict(verdict, None).expect("the evidence is right");
    let sources = sources();
    question(&sources, property, fairness.kind).result(verdict, &explanation, cost())
}

/// The result for `[]<> work`.
pub fn result(kind: FairnessKind, verdict: &Verdict) -> PropertyResult {
    judged(&system(), &served(), kind, verdict)
}

pub fn violation(kind: ViolationKind, trace: Option<Trace>) -> Violation {
    Violation {
        kind,
        trace,
        covering: None,
        component: None,
    }
}

pub fn violated(kind: ViolationKind, trace: Trace) -> Verdict {
    Verdict::Violated(Box::new(violation(kind, Some(trace))))
}

pub fn fair_loop() -> Verdict {
    violated(ViolationKind::FairLoop, lasso(&system()))
}

pub fn report(results: Vec<PropertyResult>) -> Report {
    Report {
        file: "mail.fair".to_owned(),
        results,
        warnings: Vec::new(),
        diagnostics: Vec::new(),
    }
}
