//! Random models: sets of states against the reference semantics and the naive oracle of fairness.

use base::{AtomId, Budget, Fairness};
use model::Model;
use num_bigint::BigUint;
use symbolic::{Explored, Found, Goal, Halt, Query, explore, find_run};
use testkit::{
    Judgement, ModelShape, Random, ReferenceGraph, cases, fair_run_exists, random_formula,
    random_model,
};

const MAX_STATES: usize = 2_000;
const SHAPES: [ModelShape; 4] = [
    ModelShape::Tiny,
    ModelShape::Rich,
    ModelShape::Loose,
    ModelShape::Alike,
];

fn supported(result: Result<Explored, Halt>) -> Option<Explored> {
    match result {
        Ok(explored) => Some(explored),
        Err(Halt::Unsupported(_)) => None,
        Err(Halt::Stopped(reason)) => panic!("stopped: {reason:?}"),
    }
}

fn check_run(model: &Model, explored: &Explored) {
    if let Found::Run(trace) | Found::Closed(trace, _) | Found::Failure(Some(trace)) =
        &explored.found
    {
        assert_eq!(evidence::validate_run(model, trace), Ok(()));
    }
}

/// The states, deadlocks and errors of a model; nothing if it is too large or not treated.
fn compare_states(model: &Model, name: &str) -> Option<ReferenceGraph> {
    let budget = Budget::unlimited();
    let graph = match ReferenceGraph::explore(model, MAX_STATES) {
        Ok(Some(graph)) => graph,
        Ok(None) => return None,
        Err(_) => {
            let explored = supported(explore(model, &Goal::Nothing, &[], &budget))?;
            let failed = matches!(explored.found, Found::Failure(_));
            assert!(failed, "{name}: a run-time error is not found");
            check_run(model, &explored);
            return None;
        }
    };
    let explored = supported(explore(model, &Goal::Deadlock, &[], &budget))?;
    check_run(model, &explored);
    let is_free = |state: &&model::State| model.in_control(state).is_none();
    let n_states = graph.states.iter().filter(is_free).count();
    assert_eq!(explored.n_states, BigUint::from(n_states), "{name}: states");
    let has_deadlock = graph
        .steps
        .iter()
        .any(|steps| steps[0].0.actions.is_empty());
    let found = matches!(explored.found, Found::Run(_));
    assert_eq!(found, has_deadlock, "{name}: {:?}", explored.found);
    Some(graph)
}

#[test]
fn states_are_those_of_the_reference_semantics() {
    let mut n_compared = 0;
    let n_cases = cases(1_200);
    for seed in 0..u64::from(n_cases) {
        let mut random = Random::new(seed);
        let shape = SHAPES[random.below(SHAPES.len())];
        let model = random_model(&mut random, shape);
        let compared = compare_states(&model, &format!("seed {seed}"));
        n_compared += u32::from(compared.is_some());
    }
    assert!(n_compared * 2 > n_cases, "{n_compared}");
}

#[test]
fn fair_runs_are_those_of_the_oracle() {
    let notions = [
        "none",
        "weak-process",
        "strong-process",
        "weak",
        "strong",
        "annotated",
        "weak+annotated",
        "strong+annotated",
        "strong-global",
    ];
    let notions = notions.map(|name| Fairness::parse(name).expect("a notion"));
    let (mut n_compared, mut n_runs) = (0, 0);
    let n_cases = cases(1_200);
    for seed in 0..u64::from(n_cases) {
        let mut random = Random::new(10_000 + seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let Some(graph) = compare_states(&model, &format!("seed {seed}")) else {
            continue;
        };
        // Assumptions become marks of the automaton above this crate.
        if !model.parts().assumptions.is_empty() {
            continue;
        }
        let formula = random_formula(&mut random, model.parts().atoms.len(), 4);
        let Ok(automaton) = logic::translate(&formula) else {
            continue;
        };
        let fairness = *random.pick(&notions);
        let Ok(judgement) = fair_run_exists(&model, &graph, &automaton, fairness) else {
            continue;
        };
        let conditions = model.fairness_conditions(fairness);
        let mut atoms: Vec<AtomId> = formula.atoms();
        atoms.sort_unstable();
        atoms.dedup();
        let query = Query {
            automaton: &automaton,
            conditions: &conditions,
            strong_global: fairness.kind == base::FairnessKind::StrongGlobal,
            atoms: &atoms,
        };
        let Some(explored) = supported(find_run(&model, &query, &Budget::unlimited())) else {
            continue;
        };
        check_run(&model, &explored);
        let found = matches!(explored.found, Found::Run(_) | Found::Closed(..));
        let expected = match judgement {
            Judgement::Exists => true,
            Judgement::None => false,
            Judgement::TooLarge => continue,
        };
        assert_eq!(
            found,
            expected,
            "seed {seed}, {}: {formula:?}",
            fairness.name()
        );
        n_compared += 1;
        n_runs += u32::from(found);
    }
    println!("{n_compared} compared, {n_runs} runs");
    assert!(n_compared * 4 > n_cases, "{n_compared}");
    assert!(n_runs * 8 > n_cases, "{n_runs}");
}
