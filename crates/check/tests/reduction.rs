//! What partial-order reduction leaves out, and what it must not.

use base::{Budget, Fairness, NoProgress, Source};
use check::{Outcome, Plan, check};

fn decide(text: &str, defines: &[(&str, &str)], fairness: &str, reduce: bool) -> Outcome {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let define = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let options = lang::Options {
        defines: defines.iter().map(define).collect(),
        ..lang::Options::default()
    };
    let loaded = lang::load(source, &options);
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let plan = Plan {
        fairness: Fairness::parse(fairness),
        reduce,
        budget: Budget::unlimited().with_max_states(20_000),
        ..Plan::default()
    };
    let outcome = check(&model, &loaded.properties[0], &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

/// `go` is possible only while both are in place. Q may always wait until R has gone, so there is a
/// fair run without `go`; a reduction that lets Q go first every time would miss it.
const NOT_STEADY: &str = "
event go
event meet
process Q {
    init away
    from away  { on                  -> here }
    from here  { off                 -> late
                 strong fair go sync go -> here }
    from late  { meet sync meet      -> away }
}
process R {
    init here
    from here  { off                 -> late
                 go sync go          -> here }
    from late  { meet sync meet      -> here }
}
property goes: always eventually Q.go
";

#[test]
fn the_order_of_steps_that_make_a_subject_ready_is_kept() {
    for reduce in [false, true] {
        let outcome = decide(NOT_STEADY, &[], "annotated", reduce);
        assert_eq!(outcome.verdict.name(), "violated", "{reduce}");
    }
}

const MILNER: &str = include_str!("../../../examples/milner_fair.fair");

#[test]
fn a_ring_of_steady_communications_grows_slowly() {
    for (n, most) in [("10", 120), ("100", 1_300), ("200", 2_600)] {
        let outcome = decide(MILNER, &[("N", n)], "annotated", true);
        assert_eq!(outcome.verdict.name(), "holds", "{n}");
        assert!(outcome.stats.reduced && outcome.warnings.is_empty(), "{n}");
        assert!(outcome.stats.n_states < most, "{}", outcome.stats.n_states);
    }
    // The whole system is subject to fairness, and still most of it can be left out.
    let outcome = decide(MILNER, &[("N", "12")], "strong", true);
    assert!(outcome.stats.n_states < 200, "{}", outcome.stats.n_states);
}

#[test]
fn what_forbids_a_reduction_is_said() {
    let why = |property: &str, fairness: &str| {
        let (model, _) = MILNER.split_once("property").expect("it has properties");
        let text = format!("{model}property p: {property}\n");
        let outcome = decide(&text, &[], fairness, true);
        assert!(!outcome.stats.reduced, "{property}");
        let mut warnings = outcome.warnings.iter();
        let warning = warnings.find(|w| w.code == "not-reduced");
        warning.expect("a reason is given").message.clone()
    };
    let expected = [
        (
            "always eventually First.work",
            "strong-global",
            "strong global fairness",
        ),
        (
            "always (First @ both -> next First @ passing)",
            "none",
            "does not mention",
        ),
        ("always !deadlock", "none", "deadlock"),
        ("AG EF First @ both", "none", "path quantifiers"),
    ];
    for (property, fairness, part) in expected {
        let message = why(property, fairness);
        assert!(message.contains(part), "{property}: {message}");
    }
}
