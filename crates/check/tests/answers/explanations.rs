//! What a search finds is replayed once: the replay that confirms a run also explains it. And what
//! verdicts rest on.

use base::{Fairness, NoProgress, Route, Source};
use check::{Outcome, Plan, Reduction, check};
use evidence::{Confidence, RunKind, Shown, Verdict};

/// The outcome for the only property of a text.
fn decide(text: &str, plan: &Plan) -> Outcome {
    decide_with(text, source::Options::default(), plan)
}

fn decide_with(text: &str, options: source::Options, plan: &Plan) -> Outcome {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &options).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let outcome = check(&model, &loaded.properties[0], plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

fn under(fairness: &str) -> Plan {
    Plan {
        fairness: Fairness::parse(fairness),
        ..Plan::default()
    }
}

fn kind(outcome: &Outcome) -> Option<RunKind> {
    outcome.explanation.run().map(|run| run.kind)
}

const TOGGLE: &str = "
    var x : 0..2 = 0
    process P {
        up when x == 0 { x := 1 }
        down when x == 1 { x := 0 }
        fail when x == 1 { x := 2 }
    }
";

#[test]
fn every_kind_of_run_is_replayed_once() {
    for (property, fairness, expected) in [
        ("property p: always x != 2", "none", RunKind::BadPrefix),
        ("property p: eventually x == 2", "none", RunKind::FairLoop),
        ("property p: eventually x == 2", "weak", RunKind::FairLoop),
        ("reachable p: x == 2", "none", RunKind::Witness),
        ("deadlockfree", "none", RunKind::Deadlock),
    ] {
        let text = format!("{TOGGLE}\n    {property}\n");
        let outcome = decide(&text, &under(fairness));
        assert_eq!(kind(&outcome), Some(expected), "{property}");
        assert_eq!(outcome.n_replays, 1, "{property}");
    }
}

#[test]
fn reductions_do_not_replay_again() {
    let plan = Plan {
        reduction: Reduction::ALL,
        ..under("none")
    };
    let outcome = decide(&format!("{TOGGLE}\n    property p: always x != 2\n"), &plan);
    assert_eq!(outcome.n_replays, 1);
}

/// Strong global fairness is judged on a loop that takes every step, which is another run.
#[test]
fn a_closed_component_is_one_run_more() {
    let text = "
        var x : 0..2 = 0
        process P {
            up when x < 2 { x := x + 1 }
            down when x > 0 { x := x - 1 }
        }
        property p: eventually always x == 0
    ";
    let outcome = decide(text, &under("strong-global"));
    let Verdict::Violated(violation) = &outcome.verdict else {
        panic!("{:?}", outcome.verdict);
    };
    let n_runs = 1 + usize::from(violation.covering.is_some());
    assert_eq!(outcome.n_replays, n_runs);
}

/// The predicate route confirms a run before it believes it; that replay is the only one.
#[test]
fn predicate_abstraction_replays_once() {
    for (property, expected) in [
        ("always x < 3", RunKind::BadPrefix),
        ("eventually x < 0", RunKind::Endless),
    ] {
        let text = format!(
            "var x : int = 0\nprocess P {{ up {{ x := x + 1 }} }}\nproperty p: {property}\n"
        );
        let plan = Plan {
            route: Some(Route::Predicate),
            ..under("none")
        };
        let outcome = decide(&text, &plan);
        assert_eq!(kind(&outcome), Some(expected), "{property}");
        assert_eq!(outcome.n_replays, 1, "{property}");
    }
}

#[test]
fn every_branch_is_replayed_once() {
    let options = source::Options {
        ctl: vec![("p".to_owned(), "A[] E<> x == 0".to_owned())],
        ..source::Options::default()
    };
    let outcome = decide_with(TOGGLE, options, &under("none"));
    let Shown::Branching(shown) = outcome.explanation.shown() else {
        panic!("{:?}", outcome.explanation);
    };
    assert!(!shown.branches.is_empty());
    assert_eq!(outcome.n_replays, shown.branches.len());
}

#[test]
fn what_shows_nothing_is_not_replayed() {
    let holds = decide(
        &format!("{TOGGLE}\n    property p: always x <= 2\n"),
        &under("none"),
    );
    let unreachable = decide(
        &format!("{TOGGLE}\n    reachable p: x == 2 && x == 1\n"),
        &under("none"),
    );
    assert_eq!(*holds.explanation.shown(), Shown::Nothing);
    assert_eq!(*unreachable.explanation.shown(), Shown::Unreachable);
    assert_eq!(holds.n_replays, 0);
    assert_eq!(unreachable.n_replays, 0);
}

#[test]
fn verdicts_rest_on_what_was_done() {
    // Two processes that do not meet, so that steps can wait.
    let process = |name: &str| {
        format!(
            "process {name} {{ init a from a {{ go -> b }} from b {{ go -> c }} from c {{ go -> a }} }}\n"
        )
    };

    let apart = process("P") + &process("Q");
    let reduced = Plan {
        reduction: Reduction::ALL,
        ..under("none")
    };
    let rests_on = |property: &str, plan: &Plan| {
        let outcome = decide(&format!("{apart}{property}\n"), plan);
        let rests_on = outcome.rests_on();
        (rests_on.confidence, rests_on.reductions)
    };

    let none = Vec::<String>::new();
    let partial_order = vec!["partial-order".to_owned()];
    let complete = rests_on("deadlockfree", &under("none"));
    assert_eq!(complete, (Some(Confidence::Searched), none.clone()));

    let smaller = rests_on("deadlockfree", &reduced);
    let expected = Some(Confidence::SearchedWithReduction);
    assert_eq!(smaller, (expected, partial_order));

    let shown = rests_on("property p: always P @ a", &reduced);
    assert_eq!(shown.0, Some(Confidence::Replayed));
    let stopped = Plan {
        budget: base::Budget::unlimited().with_max_states(1),
        ..under("none")
    };
    assert_eq!(rests_on("deadlockfree", &stopped), (None, none));
}

#[test]
fn a_proof_with_a_solver_rests_on_it() {
    let counter = "var x : int = 0\nprocess P { up when x >= 0 { x := x + 1 } }\n";
    for (property, expected) in [
        ("always x >= 0", Confidence::ConfirmedSolver),
        ("always x < 3", Confidence::Replayed),
        // That the rounds go on forever is proved with the solver.
        ("eventually x < 0", Confidence::ConfirmedSolver),
    ] {
        let plan = Plan {
            route: Some(Route::Predicate),
            ..under("none")
        };
        let outcome = decide(&format!("{counter}property p: {property}\n"), &plan);
        assert_eq!(outcome.rests_on().confidence, Some(expected), "{property}");
    }
}
