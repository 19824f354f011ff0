//! Checks that are stopped at random points and go on give the same answer as if they had not been.

use std::sync::{Arc, Mutex};

use base::{Budget, Checkpoints, Fairness, NoProgress, Span, StopReason};
use check::{Outcome, Plan, Reduction, Reductions, check};
use evidence::{UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Property, classify};
use model::Model;
use testkit::{ModelShape, Random, random_formula, random_model};

/// Keeps the last state in memory; due every few times that it is asked.
#[derive(Debug, Default)]
struct Memory {
    kept: Mutex<Option<(u64, Vec<u64>)>>,
    n_asked: Mutex<u32>,
}

impl Checkpoints for Memory {
    fn is_due(&self) -> bool {
        let mut n_asked = self.n_asked.lock().expect("no panic");
        *n_asked += 1;
        n_asked.is_multiple_of(3)
    }

    fn keep(&self, search: u64, state: &[u64]) {
        *self.kept.lock().expect("no panic") = Some((search, state.to_vec()));
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut kept = self.kept.lock().expect("no panic");
        kept.take_if(|kept| kept.0 == search).map(|kept| kept.1)
    }
}

fn outcome(model: &Model, property: &NamedProperty, plan: &Plan) -> Outcome {
    let checked = check(model, property, plan, &mut NoProgress);
    checked.unwrap_or_else(|bug| panic!("{bug}"))
}

/// Everything about an outcome that must not depend on stops.
fn summary(outcome: &Outcome) -> (String, u64, u64, Option<u64>) {
    let verdict = match &outcome.verdict {
        Verdict::Violated(violation) => format!("violated {}", violation.trace.is_some()),
        other => other.name().to_owned(),
    };
    let stats = &outcome.stats;
    (
        verdict,
        stats.n_states,
        stats.n_transitions,
        stats.n_product_states,
    )
}

#[test]
fn stopped_checks_go_on_where_they_were() {
    let mut n_stops = 0;
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose][random.below(3)];
        let model = random_model(&mut random, shape);
        let property = match random.below(4) {
            0 => Property::DeadlockFree,
            1 => classify(Ltl::always(random_formula(&mut random, 8, 0))),
            _ => classify(random_formula(&mut random, 8, 3)),
        };
        let property = NamedProperty {
            name: "p".into(),
            text: String::new(),
            property,
            fairness: None,
            span: Span::nowhere(),
        };
        let kinds = ["none", "weak", "strong", "strong-process", "annotated"];
        let reduction = if random.chance(30) {
            Reduction::ALL
        } else {
            Reduction::None
        };
        let plan = Plan {
            fairness: Fairness::parse(kinds[random.below(kinds.len())]),
            reduction,
            budget: Budget::unlimited().with_max_states(3_000),
            ..Plan::default()
        };
        let whole = outcome(&model, &property, &plan);
        if matches!(whole.verdict, Verdict::Unknown(_)) {
            continue;
        }
        let memory = Arc::new(Memory::default());
        let mut limit = random.below(20) as u64;
        let resumed = loop {
            let plan = Plan {
                checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
                budget: Budget::unlimited().with_max_states(limit),
                ..plan.clone()
            };
            let outcome = outcome(&model, &property, &plan);
            let stopped = Verdict::Unknown(UnknownReason::Stopped(StopReason::StateLimit));
            if outcome.verdict != stopped {
                break outcome;
            }
            n_stops += 1;
            limit += 1 + random.below(60) as u64;
        };
        // A reduced search that expands a level again may choose anew.
        let (whole, resumed) = (summary(&whole), summary(&resumed));
        let is_exact = reduction == Reduction::None && whole.0 == "holds";
        if is_exact {
            assert_eq!(whole, resumed, "seed {seed}, {property:?}");
        } else {
            assert_eq!(whole.0, resumed.0, "seed {seed}, {property:?}");
        }
    }
    assert!(n_stops > 2_000, "{n_stops}");
}

/// One question may take several searches: what one of them kept is of no use to another.
#[test]
fn no_search_goes_on_from_what_another_has_seen() {
    let mut n_stops = 0;
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let [stopped, other] = [0, 1].map(|_| NamedProperty {
            name: "p".into(),
            text: String::new(),
            property: classify(random_formula(&mut random, 8, 3)),
            fairness: None,
            span: Span::nowhere(),
        });
        let plan = Plan {
            fairness: Fairness::parse("weak"),
            budget: Budget::unlimited().with_max_states(3_000),
            ..Plan::default()
        };
        let memory = Arc::new(Memory::default());
        let keeping = |max_states| Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: Budget::unlimited().with_max_states(max_states),
            ..plan.clone()
        };
        outcome(&model, &stopped, &keeping(2));
        n_stops += usize::from(memory.kept.lock().expect("no panic").is_some());
        let expected = outcome(&model, &other, &plan);
        let found = outcome(&model, &other, &keeping(3_000));
        assert_eq!(summary(&found), summary(&expected), "seed {seed}");
    }
    assert!(n_stops > 500, "{n_stops}");
}

/// Counters with wide levels, so that threads share them, and commands that are taken in one state
/// each, half-way.
const MARKED: &str = "
    var a, b, c, d : 0..11 = 0
    process P(i in 0..3) {
        up { if i == 0 { a := (a + 1) % 12 } if i == 1 { b := (b + 1) % 12 }
             if i == 2 { c := (c + 1) % 12 } if i == 3 { d := (d + 1) % 12 } }
    }
    process Mark(k in 0..11) {
        mark when a == k && b == 11 - k && c == 5 && d == 5 {}
    }
    invariant bounded: a < 12
";

#[test]
fn what_other_threads_have_seen_is_kept_too() {
    let source = base::Source {
        name: "marked.fair".into(),
        text: MARKED.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the model is right");
    let memory = Arc::new(Memory::default());
    let checked = |max_states| {
        let budget = Budget::unlimited().with_threads(3);
        let plan = Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: budget.with_max_states(max_states),
            ..Plan::default()
        };
        outcome(&model, &loaded.properties[0], &plan)
    };
    // All marks are made in the first half.
    let stopped = checked(15_000);
    assert!(matches!(stopped.verdict, Verdict::Unknown(_)));
    let resumed = checked(30_000);
    assert!(matches!(resumed.verdict, Verdict::Holds { .. }));
    assert_eq!(resumed.stats.n_states, 20_736);
    assert!(resumed.stats.commands_taken.iter().all(|taken| *taken));
}

#[test]
fn interchangeable_processes_are_told_apart_by_a_search_that_is_kept() {
    let text = "
        var on : bool[3] = false
        process P(i in 0..2) { flip { on[i] := !on[i] } }
        property p: always eventually (exists i in 0..2: on[i])
    ";
    let source = base::Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the model is right");
    let decide = |fairness: &str, checkpoints: Option<Arc<dyn Checkpoints>>| {
        let plan = Plan {
            fairness: Fairness::parse(fairness),
            reduction: Reduction::Chosen(Reductions {
                symmetry: true,
                ..Reductions::NONE
            }),
            checkpoints,
            ..Plan::default()
        };
        let outcome = outcome(&model, &loaded.properties[0], &plan);
        (
            outcome.verdict.name(),
            outcome.stats.n_states,
            outcome.remarks,
        )
    };
    let memory = || Some(Arc::new(Memory::default()) as Arc<dyn Checkpoints>);
    // Without fairness nobody needs to be told apart.
    let (_, _, remarks) = decide("none", memory());
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(decide("weak-process", None), ("holds", 4, vec![]));
    let (verdict, n_states, remarks) = decide("weak-process", memory());
    assert_eq!((verdict, n_states), ("holds", 8));
    assert!(remarks.join("; ").contains("cannot be kept"), "{remarks:?}");
}
