//! Searches that become large and are started again with reductions.

use base::{Budget, Fairness, NoProgress, Progress, Snapshot, Source};
use check::{Outcome, Plan, Reduction, Reductions, check};
use logic::NamedProperty;
use model::Model;

const PHILOSOPHERS: &str = include_str!("../../../../examples/philosophers.fair");
const RIGHT: &str = include_str!("../../../../examples/philosophers_right.fair");
const MILNER: &str = include_str!("../../../../examples/milner_fair.fair");
const CHANNEL: &str = include_str!("../../../../testdata/defects/large_channel_invariant.fair");
const LE_C: &str = include_str!("../../../../examples/population/le_c.fair");

fn load(text: &str, n: u64, ltl: Option<&str>) -> (Model, Vec<NamedProperty>) {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let options = source::Options {
        defines: text
            .contains("const N ")
            .then(|| ("N".to_owned(), n.to_string()))
            .into_iter()
            .collect(),
        ltl: ltl.into_iter().map(|f| ("f".into(), f.into())).collect(),
        ..source::Options::default()
    };
    let loaded = lang::load(source, &options).single();
    let model = loaded.model;
    let model = model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    (model, loaded.properties)
}

fn ask(text: &str, n: u64, property: &str, plan: &Plan) -> Outcome {
    let (model, properties) = load(text, n, None);
    let property = properties.iter().find(|p| p.name == property);
    let outcome = check(
        &model,
        property.expect("it is in the file"),
        plan,
        &mut NoProgress,
    );
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

/// Starts again after so many states.
fn after(n_states: u64) -> Plan {
    Plan {
        fairness: Fairness::parse("none"),
        reduction: Reduction::Auto { after: n_states },
        ..Plan::default()
    }
}

fn complete() -> Plan {
    Plan {
        reduction: Reduction::None,
        ..after(0)
    }
}

fn is_again(outcome: &Outcome) -> bool {
    outcome.remarks.iter().any(|r| r.contains("started again"))
}

#[test]
fn a_large_exploration_goes_on_reduced() {
    let all = ask(RIGHT, 6, "deadlockfree", &complete());
    assert_eq!(
        (all.verdict.name(), all.reduced),
        ("holds", Reductions::NONE)
    );
    let some = ask(RIGHT, 6, "deadlockfree", &after(all.stats.n_states / 2));
    assert_eq!(some.verdict.name(), "holds");
    assert_eq!(some.reduced.names(), ["partial-order"]);
    assert!(some.stats.n_states < all.stats.n_states / 2);
    let asked = Plan {
        reduction: Reduction::Chosen(some.reduced),
        ..complete()
    };
    let asked = ask(RIGHT, 6, "deadlockfree", &asked);
    assert_eq!(some.stats.n_states, asked.stats.n_states);
    // The first search took more memory than the second.
    assert!(some.stats.memory_bytes > asked.stats.memory_bytes);
    let remark = format!(
        "after {} states the search was started again with partial-order reduction; \
         counts are those of the reduced system, `--reduce=none` gives exact ones",
        all.stats.n_states / 2
    );
    assert_eq!(some.remarks, [remark]);
    assert!(some.warnings.is_empty());
}

#[test]
fn a_search_goes_on_reduced_when_memory_gets_short() {
    let all = ask(RIGHT, 6, "deadlockfree", &complete());
    let memory = Budget::unlimited().with_max_memory(all.stats.memory_bytes / 4 * 3);
    let complete = Plan {
        budget: memory.clone(),
        ..complete()
    };
    let stopped = ask(RIGHT, 6, "deadlockfree", &complete);
    assert_eq!(stopped.verdict.name(), "unknown");

    let plan = Plan {
        budget: memory,
        ..after(u64::MAX)
    };
    let some = ask(RIGHT, 6, "deadlockfree", &plan);
    assert_eq!(some.verdict.name(), "holds");
    assert_eq!(some.reduced.names(), ["partial-order"]);
    assert!(some.stats.n_states < all.stats.n_states / 2);
    let says_why = |remark: &String| remark.contains("which took half of the memory");
    assert!(some.remarks.iter().any(says_why), "{:?}", some.remarks);
}

#[test]
fn a_large_search_for_loops_goes_on_reduced() {
    let plan = Plan {
        fairness: None,
        ..after(5_000)
    };
    // 12 cells have 73,728 states.
    let outcome = ask(MILNER, 12, "works", &plan);
    assert_eq!(
        (outcome.verdict.name(), is_again(&outcome)),
        ("holds", true)
    );
    assert!(outcome.stats.n_states < 200, "{}", outcome.stats.n_states);
    let two_threads = Plan {
        budget: Budget::unlimited().with_threads(2),
        ..plan
    };
    let outcome = ask(MILNER, 12, "works", &two_threads);
    assert_eq!(
        (outcome.verdict.name(), is_again(&outcome)),
        ("holds", true)
    );
}

/// The steps that fill a channel were left out once although the invariant asks for them.
#[test]
fn a_channel_that_is_asked_about_is_not_forgotten() {
    let outcome = ask(CHANNEL, 0, "inv", &after(5_000));
    assert_eq!(outcome.verdict.name(), "violated");
    assert!(outcome.reduced.partial_order);
}

#[test]
fn interchangeable_processes_are_found() {
    let (model, properties) = load(LE_C, 8, Some("always leaders <= N"));
    let property = properties.last().expect("the formula");
    let outcome = check(&model, property, &after(1_000), &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    assert_eq!(
        (outcome.verdict.name(), is_again(&outcome)),
        ("holds", true)
    );
    assert!(outcome.reduced.symmetry, "{:?}", outcome.reduced);
}

#[test]
fn what_is_found_before_is_as_ever() {
    let all = ask(PHILOSOPHERS, 6, "deadlockfree", &complete());
    let before = ask(PHILOSOPHERS, 6, "deadlockfree", &after(all.stats.n_states));
    assert!(!is_again(&before));
    assert_eq!(before.verdict, all.verdict);
    assert_eq!(before.stats.n_states, all.stats.n_states);
    let late = ask(PHILOSOPHERS, 6, "deadlockfree", &after(100));
    assert_eq!((late.verdict.name(), is_again(&late)), ("violated", true));
}

/// What is asked for lies deep, and nothing can be left out.
const DEEP: &str = "
var a : 0..40 = 0
var b : 0..40 = 0
var c : 0..40 = 0
process P {
    init here
    from here {
        left when a < 40 && b >= c { a := a + 1 }
        middle when b < 40 && c <= a + 1 { b := b + 1 }
        right when c < 40 && a <= b + 2 { c := c + 1 }
    }
}
reachable deep: a + b + c == 120
invariant bad: a + b + c < 119
invariant fine: a + b + c <= 120
";

#[test]
fn what_lies_deep_is_found_depth_first() {
    for (property, verdict) in [("deep", "holds"), ("bad", "violated")] {
        let all = ask(DEEP, 0, property, &complete());
        assert_eq!(all.verdict.name(), verdict);
        let dived = ask(DEEP, 0, property, &after(1_000));
        assert_eq!((dived.verdict.name(), is_again(&dived)), (verdict, true));
        assert!(
            dived.remarks[0].contains("depth first"),
            "{:?}",
            dived.remarks
        );
        assert!(dived.stats.n_states < all.stats.n_states);
    }
    // What is nowhere is not decided by a search that may overlook states.
    let fine = ask(DEEP, 0, "fine", &after(1_000));
    assert_eq!((fine.verdict.name(), is_again(&fine)), ("holds", false));
}

#[test]
fn a_limit_on_states_is_kept() {
    for (limit, is_decided) in [(100, false), (1_000, false), (2_000, true)] {
        let plan = Plan {
            budget: Budget::unlimited().with_max_states(limit),
            ..after(1_000)
        };
        let outcome = ask(RIGHT, 6, "deadlockfree", &plan);
        assert_eq!(outcome.verdict.name() == "holds", is_decided, "{limit}");
        assert_eq!(is_again(&outcome), is_decided, "{limit}");
    }
}

#[test]
fn a_search_that_is_stopped_stays_stopped() {
    let plan = after(1_000);
    plan.budget.stopper().time_out();
    let outcome = ask(RIGHT, 6, "deadlockfree", &plan);
    let reason = evidence::UnknownReason::Stopped(base::StopReason::Timeout);
    assert_eq!(outcome.verdict, evidence::Verdict::Unknown(reason));
}

/// How often a search begins: its states become fewer.
#[derive(Default)]
struct Beginnings {
    n_beginnings: u64,
    n_states: u64,
    phases: Vec<&'static str>,
}

impl Progress for Beginnings {
    fn report(&mut self, snapshot: &Snapshot) {
        self.n_beginnings += u64::from(snapshot.n_states < self.n_states || self.phases.is_empty());
        self.n_states = snapshot.n_states;
        if self.phases.last() != Some(&snapshot.phase) {
            self.phases.push(snapshot.phase);
        }
    }
}

/// One process with two counters that it reads: nothing waits, nothing is alike, nothing is dead.
const COUNTERS: &str = "
const N = 100
var x : 0..99 = 0
var y : 0..99 = 0
process P {
    right when x < 99 { x := x + 1 }
    up    when y < 99 { y := y + 1 }
    back  when x + y > 0 { x := 0  y := 0 }
}
property small: always x + y < 2 * N
";

#[test]
fn where_nothing_can_be_left_out_the_search_goes_on() {
    let (model, properties) = load(COUNTERS, 100, None);
    let mut progress = Beginnings::default();
    let outcome = check(&model, &properties[0], &after(1_000), &mut progress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    assert_eq!(
        (outcome.verdict.name(), is_again(&outcome)),
        ("holds", false)
    );
    assert_eq!((outcome.stats.n_states, progress.n_beginnings), (10_000, 1));
    assert_eq!(outcome.reduced, Reductions::NONE);
    assert!(outcome.remarks.is_empty() && outcome.warnings.is_empty());

    // Nothing may be left out under strong global fairness.
    let plan = Plan {
        fairness: Fairness::parse("strong-global"),
        ..after(100)
    };
    let outcome = ask(LE_C, 6, "one_leader", &plan);
    assert_eq!(
        (outcome.verdict.name(), is_again(&outcome)),
        ("holds", false)
    );
    assert!(outcome.stats.n_states > 100);
}

#[test]
fn progress_tells_the_second_search_from_the_first() {
    let (model, properties) = load(RIGHT, 6, None);
    let property = properties.iter().find(|p| p.name == "deadlockfree");
    let mut progress = Beginnings::default();
    let outcome = check(&model, property.unwrap(), &after(1_000), &mut progress);
    assert_eq!(outcome.expect("evidence is right").verdict.name(), "holds");
    assert_eq!(progress.phases, ["exploring", "exploring again, reduced"]);
    assert_eq!(progress.n_beginnings, 2);
}

#[test]
fn questions_about_all_states_are_never_started_again() {
    for formula in ["AG EF taken[0]", "EF AG taken[0]"] {
        let source = Source {
            name: "m.fair".into(),
            text: RIGHT.into(),
        };
        let options = source::Options {
            ctl: vec![("f".into(), formula.into())],
            ..source::Options::default()
        };
        let loaded = lang::load(source, &options).single();
        let property = loaded.properties.last().expect("the formula");
        let model = loaded.model.expect("it is right");
        let outcome = check(&model, property, &after(10), &mut NoProgress);
        let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
        assert!(!is_again(&outcome) && !outcome.stats.reduced, "{formula}");
    }
}

#[test]
fn nothing_is_called_needless_after_a_reduced_search() {
    let (model, properties) = load(MILNER, 8, None);
    let plan = Plan {
        fairness: None,
        ..after(50)
    };
    let outcomes: Vec<Outcome> = properties
        .iter()
        .map(|p| check(&model, p, &plan, &mut NoProgress).unwrap_or_else(|bug| panic!("{bug}")))
        .collect();
    assert!(
        outcomes
            .iter()
            .all(|o| is_again(o) && o.verdict.name() == "holds")
    );

    let checked: Vec<_> = properties.iter().zip(&outcomes).collect();
    assert!(check::needless_annotations(&model, &checked, &plan).is_empty());
    // Only for small systems this is found out without being asked for.
    let plan = Plan {
        all_states: true,
        ..Plan::default()
    };
    let outcomes: Vec<Outcome> = properties
        .iter()
        .map(|p| check(&model, p, &plan, &mut NoProgress).expect("evidence is right"))
        .collect();
    let checked: Vec<_> = properties.iter().zip(&outcomes).collect();
    let warnings = check::needless_annotations(&model, &checked, &plan);
    assert!(!warnings.is_empty(), "else nothing is tested here");
}
