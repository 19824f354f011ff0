//! Violations whose data grows forever: no lasso shows them, a recurrent set does.

use base::Fairness;
use check::{Outcome, Route};
use evidence::{Endless, Invalid, Verdict, Violation, ViolationKind};

use crate::{assert_verdict, check_with, load, plan};

const COUNTERS: &str = "
    var x, y : nat = 0
    process P { inc { x := x + 1 } }
    process Q { win when x < y { y := 0 } }
    property back: always eventually x == 0
    property caught: eventually x < y
    property wins: always eventually Q.win
";

fn endless(outcome: &Outcome) -> (&Violation, &Endless) {
    let Verdict::Violated(violation) = &outcome.verdict else {
        panic!("{:?} with {:?}", outcome.verdict, outcome.remarks);
    };
    match &violation.kind {
        ViolationKind::Endless(endless) => (violation, endless),
        other => panic!("{other:?}"),
    }
}

#[test]
fn counters_that_grow_for_ever_violate_what_is_to_recur() {
    for kind in ["none", "weak", "strong", "strong-process", "strong-global"] {
        for property in ["back", "caught", "wins"] {
            let mut plan = plan(Route::Predicate);
            plan.fairness = Fairness::parse(kind);
            let outcome = check_with(COUNTERS, property, plan);
            let (_, endless) = endless(&outcome);
            assert_eq!(endless.changes, ["x grows by 1"], "{property} under {kind}");
            assert_eq!(endless.length, 1);
        }
    }
}

/// Under fairness the consumer must take part, so both counters grow.
#[test]
fn fair_rounds_take_what_is_enabled() {
    let text = "
        param Size >= 1
        var produced, consumed : nat = 0
        process Producer { put when produced - consumed < Size { produced := produced + 1 } }
        process Consumer { get when consumed < produced { consumed := consumed + 1 } }
        property drained under weak: always eventually produced == 0
        property fills: eventually produced == consumed + Size
        property works under weak: always eventually Consumer.get
    ";
    let outcome = check_with(text, "drained", plan(Route::Predicate));
    let (_, endless) = endless(&outcome);
    assert_eq!(
        endless.changes,
        ["produced grows by 1", "consumed grows by 1"]
    );
    assert_verdict(text, "fills", None, Route::Predicate, "violated");
    assert_verdict(text, "works", None, Route::Predicate, "holds");
}

/// A loop that starves a process which is enabled in it is not a fair run.
#[test]
fn rounds_that_starve_a_process_are_no_evidence() {
    let text = "
        var x, y : nat = 0
        process P { inc { x := x + 1 } }
        process Q { reset { x := 0 } }
        property back: always eventually x == 0
    ";
    for (kind, verdict) in [("none", "violated"), ("weak", "holds")] {
        assert_verdict(text, "back", Some(kind), Route::Predicate, verdict);
    }
}

#[test]
fn choices_are_made_by_a_rule() {
    let text = "
        var x, t : nat = 0
        process P {
            init a
            from a { pick { t := choose v in 1..3 where v != x } -> b }
            from b { add { x := x + t } -> a }
        }
        property small: always eventually x == 0
        property two: eventually (P @ b && t == 2)
    ";
    let outcome = check_with(text, "small", plan(Route::Predicate));
    let (_, endless) = endless(&outcome);
    assert!(
        endless.changes.iter().any(|c| c.contains("chooses")),
        "{endless:?}"
    );
    assert_verdict(text, "two", None, Route::Predicate, "violated");
}

#[test]
fn falling_and_chasing_numbers() {
    let text = "
        var x : int = 0
        var y : int = 5
        process P {
            init a
            from a { fall { x := x - 2 } -> b }
            from b { chase when x < y { y := y - 2 } -> a }
        }
        property meet: eventually x == y
        property high: always eventually x >= 0
    ";
    let outcome = check_with(text, "high", plan(Route::Predicate));
    assert_eq!(
        endless(&outcome).1.changes,
        ["x falls by 2", "y falls by 2"]
    );
    assert_verdict(text, "meet", None, Route::Predicate, "violated");
}

/// The judge of evidence believes no rounds that differ, do not happen or satisfy the property.
#[test]
fn false_claims_are_refused() {
    let outcome = check_with(COUNTERS, "back", plan(Route::Predicate));
    let (violation, claim) = endless(&outcome);
    let loaded = load(COUNTERS);
    let model = loaded.model.expect("loaded");
    let fairness = Fairness::parse("none").expect("it is a kind");
    let judge = |property: &str, violation: &Violation| {
        let property = loaded.properties.iter().find(|p| p.name == property);
        let property = &property.expect("it is there").property;
        evidence::validate(&model, property, fairness, &[], violation)
    };
    assert_eq!(judge("back", violation), Ok(()));
    assert_eq!(judge("caught", violation), Ok(()));
    let with = |start: usize, length: usize| Violation {
        kind: ViolationKind::Endless(Box::new(Endless {
            start,
            length,
            ..claim.clone()
        })),
        ..violation.clone()
    };
    // The state at which the first round starts belongs to the stem: it may be entered otherwise.
    assert_eq!(judge("back", &with(0, 1)), Ok(()));
    assert!(matches!(
        judge("back", &with(0, 0)),
        Err(Invalid::Malformed(_))
    ));
    assert!(matches!(
        judge("back", &with(2, 5)),
        Err(Invalid::Malformed(_))
    ));
    let mut shorter = violation.clone();
    let trace = shorter.trace.as_mut().expect("it has one");
    trace.states[2] = trace.states[1].clone();
    assert!(matches!(
        judge("back", &shorter),
        Err(Invalid::WrongTarget { .. })
    ));
    let until = "
        var x : nat = 0
        process P { inc { x := x + 1 } }
        property late: eventually x == 50
    ";
    let loaded = load(until);
    let model = loaded.model.expect("loaded");
    let property = &loaded.properties[0].property;
    let mut trace = violation.trace.clone().expect("it has one");
    for (number, state) in trace.states.iter_mut().enumerate() {
        state.cells = vec![number as i64];
        state.locations.truncate(1);
    }
    let false_claim = Violation {
        trace: Some(trace),
        ..violation.clone()
    };
    let judged = evidence::validate(&model, property, fairness, &[], &false_claim);
    assert_eq!(judged, Err(Invalid::RoundsDiffer { at: 50 }));
    assert_verdict(until, "late", None, Route::Predicate, "holds");
}
