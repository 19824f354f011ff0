//! Where the searches run out of numbers they stop, and do not panic; states take few words.

use base::{Budget, NoProgress, Source, StopReason};
use engine::{
    Built, Exploration, Found, Goal, Limits, Outcome, Query, System, explore, find_run, state_graph,
};
use model::Model;
use omega::{Acceptance, Automaton, MarkId};
use testkit::Random;

/// 40 × 40 states, each with two steps.
const COUNTERS: &str = "
var x : 0..39 = 0
var y : 0..39 = 0
process P {
    right { x := (x + 1) mod 40 }
    up { y := (y + 1) mod 40 }
}
";

const FULL: StopReason = StopReason::StateLimit;

fn counters() -> Model {
    model(COUNTERS.to_owned())
}

fn model(text: String) -> Model {
    let source = Source {
        name: "m.fair".into(),
        text,
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    loaded.model.expect("the model is right")
}

fn all_states(model: &Model, limits: Limits, n_threads: usize) -> Found {
    let mut system = System::new(model).expect("small").with_limits(limits);
    let exploration = Exploration {
        checkpoints: None,
        atoms: &[],
        goal: &Goal::Nothing,
        reduce: false,
    };
    let budget = Budget::unlimited().with_threads(n_threads);
    let explored = explore(&mut system, &exploration, &budget, &mut NoProgress);
    explored.expect("nothing to compile").found
}

/// Looks for a run with a mark that no edge has, so that everything is searched: on the fly, and with
/// stored edges.
fn no_run(model: &Model, limits: Limits, n_threads: usize) -> Outcome {
    let [on_the_fly, stored] = [u64::MAX, 0].map(|n_depth_first| {
        let limits = Limits {
            n_depth_first,
            ..limits
        };
        no_run_within(model, limits, n_threads)
    });
    assert_eq!(on_the_fly, stored);
    stored
}

fn no_run_within(model: &Model, limits: Limits, n_threads: usize) -> Outcome {
    let mut system = System::new(model).expect("small").with_limits(limits);
    let mut automaton = Automaton::universal();
    automaton.n_marks = 1;
    automaton.acceptance = Acceptance::Inf(MarkId(0));
    let query = Query {
        automaton: &automaton,
        conditions: &[],
        alternatives: &[],
        strong_global: false,
        atoms: &[],
        reduce: false,
        all_states: true,
        checkpoints: None,
    };
    let budget = Budget::unlimited().with_threads(n_threads);
    let found = find_run(&mut system, &query, &budget, &mut NoProgress);
    found.expect("nothing to compile").0
}

#[test]
fn too_many_states_stop_every_search() {
    let model = counters();
    let limits = Limits {
        max_name_bits: 10,
        ..Limits::default()
    };
    for n_threads in [1, 2] {
        let found = all_states(&model, limits, n_threads);
        assert!(matches!(found, Found::Stopped(FULL)), "{found:?}");
        let found = all_states(&model, Limits::default(), n_threads);
        assert_eq!(found, Found::Nothing);

        let outcome = no_run(&model, limits, n_threads);
        assert!(matches!(outcome, Outcome::Stopped(FULL)), "{outcome:?}");
        let outcome = no_run(&model, Limits::default(), n_threads);
        assert!(matches!(outcome, Outcome::NoRun), "{outcome:?}");
    }
    let mut system = System::new(&model).expect("small").with_limits(limits);
    let built = state_graph(&mut system, &[], &[], &Budget::unlimited(), &mut NoProgress);
    let built = built.expect("nothing to compile").0;
    assert!(matches!(built, Built::Stopped(FULL)));
}

#[test]
fn too_many_steps_of_a_state_stop_a_search() {
    let model = counters();
    for n_threads in [1, 2] {
        for (max_steps, is_enough) in [(1, false), (2, true)] {
            let limits = Limits {
                max_steps,
                ..Limits::default()
            };
            let outcome = no_run(&model, limits, n_threads);
            assert_eq!(matches!(outcome, Outcome::NoRun), is_enough);
            assert_eq!(matches!(outcome, Outcome::Stopped(FULL)), !is_enough);
        }
    }
}

#[test]
fn too_many_edges_of_a_node_stop_a_search() {
    let model = counters();
    for n_threads in [1, 2] {
        for (max_edges, is_enough) in [(1, false), (2, true)] {
            let limits = Limits {
                max_edges,
                ..Limits::default()
            };
            let outcome = no_run(&model, limits, n_threads);
            assert_eq!(matches!(outcome, Outcome::NoRun), is_enough);
            assert_eq!(matches!(outcome, Outcome::Stopped(FULL)), !is_enough);
        }
    }
}

/// As if every field looked at all words from the first one on.
#[test]
fn fields_lie_in_the_first_word_with_room() {
    let mut random = Random::new(1);
    let mut text = "process P { step { v0 := 1 } }\n".to_owned();
    let mut free_bits: Vec<u32> = Vec::new();
    for i in 0..500 {
        let n_bits = 1 + (random.bits() % 31) as u32;
        text += &format!("var v{i} : 0..{} = 0\n", (1_u64 << n_bits) - 1);
        match free_bits.iter_mut().find(|free| **free >= n_bits) {
            Some(free) => *free -= n_bits,
            None => free_bits.push(64 - n_bits),
        }
    }
    let model = model(text);
    let system = System::with_all_code(&model).expect("it is small enough");
    assert_eq!(system.n_words(), free_bits.len());
}
