//! The compiled steps against the reference semantics, on random models with every construct.

use std::collections::BTreeSet;

use base::{Budget, NoProgress};
use engine::{Failed, Found, Goal, Steps, System, explore};
use model::{Model, State, Successor};
use testkit::{ModelShape, Random, ReferenceGraph, random_model};

/// The steps that the engine computes for a state, sorted; `None` for a run-time error.
fn engine_steps(system: &mut System<'_>, state: &State) -> Option<Vec<Successor>> {
    let words = system.pack(state);
    assert_eq!(system.unpack(&words), *state, "packing is lossless");
    let mut steps = Steps::default();
    system.steps(&words, &mut steps).ok()?;
    let mut found: Vec<Successor> = (0..steps.len())
        .map(|position| {
            let label = system.step_label(&steps, position).clone();
            Successor {
                actions: label.actions,
                movers: label.movers,
                commands: label.commands,
                target: system.unpack(system.step_target(&steps, position)),
            }
        })
        .collect();
    found.sort();
    Some(found)
}

fn reference_steps(model: &Model, state: &State) -> Option<Vec<Successor>> {
    let mut found = model.successors(state).ok()?;
    found.sort();
    Some(found)
}

fn engine_initial(system: &mut System<'_>) -> Option<BTreeSet<State>> {
    let mut found = BTreeSet::new();
    let result: Result<(), Failed> = system.for_each_initial(&mut |system, words, result| {
        result?;
        found.insert(system.unpack(words));
        Ok(())
    });
    result.ok().map(|()| found)
}

#[test]
fn steps_are_those_of_the_reference_semantics() {
    let (mut n_steps, mut n_errors, mut n_states) = (0, 0, 0);
    for seed in 0..20_000 {
        let model = random_model(&mut Random::new(seed), ModelShape::Rich);
        let mut system = System::new(&model).expect("random models are small");
        let initial = model
            .initial_states()
            .ok()
            .map(|states| states.into_iter().collect());
        assert_eq!(
            engine_initial(&mut system),
            initial,
            "initial states, seed {seed}"
        );
        let mut open: Vec<State> = initial.into_iter().flat_map(BTreeSet::into_iter).collect();
        let mut met: BTreeSet<State> = open.iter().cloned().collect();
        while let Some(state) = open.pop() {
            let expected = reference_steps(&model, &state);
            let found = engine_steps(&mut system, &state);
            assert_eq!(found, expected, "seed {seed}, state {state:?}");
            n_states += 1;
            n_errors += usize::from(expected.is_none());
            for step in expected.into_iter().flatten() {
                n_steps += 1;
                if met.len() < 60 && met.insert(step.target.clone()) {
                    open.push(step.target);
                }
            }
        }
    }
    // The comparison is worth something only if it meets steps and errors.
    assert!(
        n_states > 10_000 && n_steps > 10_000 && n_errors > 100,
        "{n_states} {n_steps} {n_errors}"
    );
}

#[test]
fn exploration_counts_what_the_reference_semantics_counts() {
    let mut n_complete = 0;
    for seed in 0..10_000 {
        let model = random_model(&mut Random::new(seed), ModelShape::Rich);
        let mut system = System::new(&model).expect("random models are small");
        let budget = Budget::unlimited().with_max_states(10_000);
        let explored = explore(&mut system, &[], &Goal::Nothing, &budget, &mut NoProgress);
        let explored = explored.expect("random models are small");
        match ReferenceGraph::explore(&model, 300) {
            Err(_) => assert!(matches!(explored.found, Found::Failure(_)), "seed {seed}"),
            Ok(Some(graph)) => {
                assert_eq!(explored.found, Found::Nothing, "seed {seed}");
                assert_eq!(
                    explored.stats.n_states,
                    graph.states.len() as u64,
                    "seed {seed}"
                );
                assert_eq!(explored.stats.n_transitions, graph.n_transitions() as u64);
                n_complete += 1;
            }
            Ok(None) => {}
        }
    }
    assert!(n_complete > 500, "{n_complete}");
}
