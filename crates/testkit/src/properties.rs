//! Random questions, and their answers by definition.

use base::{AtomId, Fairness};
use logic::{ClaimState, Ltl, NeverClaim, Property, classify};
use model::{Model, RunTimeError, Successor};
use omega::Cube;

use crate::{
    BranchingOracle, Judgement, Random, ReferenceGraph, fair_run_exists, random_ctl_star,
    random_formula,
};

/// A random property of any kind, but for those of may/must systems, which random models do not
/// have. Mostly over the state propositions of [`crate::random_model`].
pub fn random_property(random: &mut Random) -> Property {
    let n_atoms = if random.chance(60) { 4 } else { 8 };
    match random.below(12) {
        0 => Property::DeadlockFree,
        1..=3 => classify(Ltl::always(propositional(random, n_atoms))),
        4 => Property::Reachable(propositional(random, n_atoms)),
        5 => Property::Never(random_claim(random, n_atoms)),
        6 => Property::CtlStar(random_ctl_star(random, n_atoms)),
        _ => {
            let size = random.below(4);
            classify(random_formula(random, n_atoms, size))
        }
    }
}

/// A random automaton of bad runs with a few states.
pub fn random_claim(random: &mut Random, n_atoms: usize) -> NeverClaim {
    let n_states = 1 + random.below(3);
    let literal = |random: &mut Random| (AtomId::new(random.below(n_atoms)), random.chance(50));
    let states = (0..n_states).map(|_| {
        let edges = (0..1 + random.below(2)).filter_map(|_| {
            let n_literals = random.below(3);
            let literals: Vec<_> = (0..n_literals).map(|_| literal(random)).collect();
            Some((Cube::new(literals)?, random.below(n_states)))
        });
        ClaimState {
            edges: edges.collect(),
            accepting: random.chance(50),
        }
    });
    NeverClaim {
        states: states.collect(),
    }
}

/// Does the model have the property, by the definitions? Nothing if it is too large for them, or if
/// the property is about a may/must system.
///
/// # Errors
/// A run-time error in an atom.
pub fn judge(
    model: &Model,
    graph: &ReferenceGraph,
    property: &Property,
    fairness: Fairness,
) -> Result<Option<bool>, RunTimeError> {
    let no_run = |judgement| match judgement {
        Judgement::Exists => Some(false),
        Judgement::None => Some(true),
        Judgement::TooLarge => None,
    };

    match property {
        Property::Ltl(formula) => {
            let negation = logic::translate(&Ltl::not(formula.clone()));
            let Ok(negation) = negation else {
                return Ok(None);
            };
            Ok(no_run(fair_run_exists(model, graph, &negation, fairness)?))
        }
        Property::Never(claim) => {
            let bad = claim.automaton();
            Ok(no_run(fair_run_exists(model, graph, &bad, fairness)?))
        }
        Property::Invariant(formula) => {
            let truths = at_positions(model, graph, formula)?;
            Ok(Some(truths.into_iter().all(|holds| holds)))
        }
        Property::Reachable(formula) => {
            let truths = at_positions(model, graph, formula)?;
            Ok(Some(truths.into_iter().any(|holds| holds)))
        }
        Property::DeadlockFree => {
            let is_idle = |(step, _): &(Successor, usize)| step.commands.is_empty();
            Ok(Some(!graph.steps.iter().flatten().any(is_idle)))
        }
        Property::CtlStar(formula) => {
            let oracle = BranchingOracle::new(model, graph, fairness)?;
            Ok(oracle.and_then(|oracle| oracle.holds(formula)))
        }
        Property::MayMust(_) => Ok(None),
    }
}

/// A few literals.
fn propositional(random: &mut Random, n_atoms: usize) -> Ltl {
    let a = random_formula(random, n_atoms, 0);
    let b = random_formula(random, n_atoms, 0);
    match random.below(6) {
        0 => Ltl::or([a, b]),
        1 => Ltl::and([a, b]),
        2 => Ltl::iff(a, b),
        _ => a,
    }
}

/// The truth of a propositional formula at the initial positions and after each step.
fn at_positions(
    model: &Model,
    graph: &ReferenceGraph,
    formula: &Ltl,
) -> Result<Vec<bool>, RunTimeError> {
    let mut truths = Vec::new();
    let starts = graph.states[..graph.n_initial].iter().map(|s| (s, None));
    let steps = graph.steps.iter().flatten();
    let ends = steps.map(|(step, target)| (&graph.states[*target], Some(step)));
    for (state, step) in starts.chain(ends) {
        let commands = step.map_or(&[][..], |step| &step.commands);
        let mut letter = Vec::new();
        for atom in 0..model.parts().atoms.len() {
            letter.push(model.atom_holds(AtomId::new(atom), state, commands)?);
        }
        let value = |_: usize, atom: AtomId| letter[atom.index()];
        truths.push(logic::holds_on_lasso(formula, 1, 0, &value));
    }
    Ok(truths)
}
