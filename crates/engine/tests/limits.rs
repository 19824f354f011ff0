//! Where the searches run out of numbers they stop, and do not panic.

use base::{Budget, NoProgress, Source, StopReason};
use engine::{
    Built, Exploration, Found, Goal, Limits, Outcome, Query, System, explore, find_run, state_graph,
};
use model::Model;
use omega::{Acceptance, Automaton, MarkId};

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
    let source = Source {
        name: "m.fair".into(),
        text: COUNTERS.into(),
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

/// Looks for a run with a mark that no edge has, so that everything is searched.
fn no_run(model: &Model, limits: Limits, n_threads: usize) -> Outcome {
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
