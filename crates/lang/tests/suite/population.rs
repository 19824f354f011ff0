//! Processes that are created and end: random texts against what they mean.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{Model, State};
use testkit::{Population, PopulationText, Random, cases, population_text};

/// States that are visited of one model.
const MAX_STATES: usize = 200;

/// What a state shows. What does not exist is as it was at the start.
fn shown(model: &Model, state: &State, meant: &PopulationText) -> Population {
    let cells = model.cells().iter().zip(&state.cells);
    let cells: BTreeMap<&str, i64> = cells
        .map(|(cell, value)| (cell.name.as_str(), *value))
        .collect();
    let mut members = BTreeMap::new();
    for (number, instance) in model.instances().iter().enumerate() {
        let Some(index) = instance.index else {
            continue;
        };
        let location = state.locations[number].index();
        let x = cells[format!("W[{index}].x").as_str()];
        if cells[format!("W[{index}].created").as_str()] == 1 {
            members.insert(index, (location, x));
        } else {
            assert_eq!(
                (location, x),
                (0, meant.start()),
                "W[{index}] does not exist"
            );
        }
    }
    let last = cells["last"];
    Population { last, members }
}

#[test]
fn processes_are_created_and_end_as_is_meant() {
    let (mut n_compared, mut n_errors, mut n_full, mut n_steps) = (0, 0, 0, 0);
    for seed in 0..u64::from(cases(600)) {
        let meant = population_text(&mut Random::new(seed));
        let text = &meant.text;
        let model = crate::support::model(text, &[]);

        let mut seen: BTreeSet<Population> = BTreeSet::new();
        let mut open: VecDeque<State> = model.initial_states().expect("initial states").into();
        while let Some(state) = open.pop_front() {
            let population = shown(&model, &state, &meant);
            if seen.len() >= MAX_STATES || !seen.insert(population.clone()) {
                continue;
            }
            n_compared += 1;
            n_full += usize::from(population.members.len() as i64 == meant.n());
            let steps = model.successors(&state).ok();
            n_errors += usize::from(steps.is_none());
            let found = steps.as_ref().map(|steps| {
                let targets = steps.iter().map(|step| shown(&model, &step.target, &meant));
                targets.collect::<BTreeSet<_>>()
            });
            let expected = meant.successors(&population).ok();
            let expected = expected.map(|all| all.into_iter().collect::<BTreeSet<_>>());
            assert_eq!(found, expected, "from {population:?} in\n{text}");
            n_steps += found.map_or(0, |found| found.len());
            open.extend(steps.into_iter().flatten().map(|step| step.target));
        }
        assert!(seen.contains(&meant.initial()));
    }
    println!("{n_compared} states, {n_steps} steps, {n_errors} errors, {n_full} full");
    // Not all of them are errors, and some create as many as there can be.
    assert!(n_errors * 2 < n_compared && n_full * 10 > n_compared && n_steps > n_compared);
}
