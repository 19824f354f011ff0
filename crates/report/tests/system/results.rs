//! Results about the small system, all of whose evidence stands up.

use base::FairnessKind;
use evidence::{Trace, Verdict, Violation, ViolationKind, validate};
use logic::NamedProperty;
use model::Model;
use report::{PropertyResult, Report};

use super::{cost, fairness, lasso, question, served, sources, system};

/// The result for a property of a model. Evidence that does not stand up is not reported.
pub fn judged(
    model: &Model,
    property: &NamedProperty,
    kind: FairnessKind,
    verdict: &Verdict,
) -> PropertyResult {
    if let Verdict::Violated(violation) = verdict {
        let judged = validate(model, &property.property, fairness(kind), &[], violation);
        assert_eq!(judged, Ok(()));
    }
    let sources = sources();
    question(model, &sources, property, kind).result(verdict, cost())
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
    }
}
