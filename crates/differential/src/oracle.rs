//! The naive oracles of `testkit`, where the system is small.

use logic::{CtlStar, CtlStarBuilder, Ltl, PathQuantifier, Property};
use model::Model;
use testkit::{BranchingOracle, Judgement, ReferenceGraph, fair_run_exists};

use crate::answer::{Ledger, Relation};
use crate::formulations::linear;
use crate::{Answer, Case, RouteKind};

/// Systems with more states are not judged by definition.
const MAX_STATES: usize = 24;

/// Systems with more steps are not either.
const MAX_STEPS: usize = 60;

/// Systems with more steps are not judged by enumerating sets of them.
const MAX_ENUMERATED: usize = 14;

/// Compares an answer with what follows from the definitions, if that is feasible.
pub(crate) fn compare(case: &Case, answer: &Answer, ledger: &mut Ledger) {
    let Ok(Some(graph)) = ReferenceGraph::explore(&case.model, MAX_STATES) else {
        return;
    };
    if graph.n_transitions() > MAX_STEPS {
        return;
    }
    let mut compare = |how: &str, holds: Option<bool>| {
        let Some(holds) = holds else {
            return;
        };
        let truth = if holds {
            Answer::Holds
        } else {
            Answer::Violated
        };
        ledger.compare(
            RouteKind::Oracle,
            Relation::Equivalent,
            ("found", answer),
            (how, &truth),
        );
    };

    compare("by visiting all positions", by_visiting(case, &graph));
    if let Some(formula) = linear(&case.property.property) {
        compare(
            "by enumerating loops",
            by_enumerating(case, &graph, &formula),
        );
    }

    compare("by fixpoints", by_fixpoints(case, &graph));
}

/// Reachability and deadlocks, position by position.
fn by_visiting(case: &Case, graph: &ReferenceGraph) -> Option<bool> {
    match &case.property.property {
        Property::DeadlockFree => {
            let states = graph.states.iter();
            let stuck = |state| case.model.successors(state).map(|steps| steps.is_empty());
            let stuck: Result<Vec<bool>, _> = states.map(stuck).collect();
            Some(!stuck.ok()?.contains(&true))
        }
        Property::Reachable(goal) => reaches(&case.model, graph, goal),
        Property::Ltl(_)
        | Property::Invariant(_)
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => None,
    }
}

fn reaches(model: &Model, graph: &ReferenceGraph, goal: &Ltl) -> Option<bool> {
    let initial = (0..graph.n_initial).map(|state| (state, &[][..]));
    let steps = graph.steps.iter().flatten();
    let entered = steps.map(|(step, target)| (*target, &step.commands[..]));
    for (state, commands) in initial.chain(entered) {
        let mut failed = false;
        let letter = |atom| {
            let holds = model.atom_holds(atom, &graph.states[state], commands);
            holds.unwrap_or(false)
        };
        for atom in goal.atoms() {
            failed |= model
                .atom_holds(atom, &graph.states[state], commands)
                .is_err();
        }
        if failed {
            return None;
        }
        if logic::holds_on_lasso(goal, 1, 0, &|_, atom| letter(atom)) {
            return Some(true);
        }
    }

    Some(false)
}

fn by_enumerating(case: &Case, graph: &ReferenceGraph, formula: &Ltl) -> Option<bool> {
    if graph.n_transitions() > MAX_ENUMERATED {
        return None;
    }
    let negation = logic::translate(&Ltl::not(formula.clone())).ok()?;
    match fair_run_exists(&case.model, graph, &negation, case.fairness).ok()? {
        Judgement::Exists => Some(false),
        Judgement::None => Some(true),
        Judgement::TooLarge => None,
    }
}

fn by_fixpoints(case: &Case, graph: &ReferenceGraph) -> Option<bool> {
    let formula = match &case.property.property {
        Property::CtlStar(formula) => formula.clone(),
        other => all_runs(linear(other)?),
    };
    let oracle = BranchingOracle::new(&case.model, graph, case.fairness);
    oracle.ok()??.holds(&formula)
}

fn all_runs(formula: Ltl) -> CtlStar {
    let mut builder = CtlStarBuilder::default();
    let root = builder.quantify(PathQuantifier::All, formula);
    builder.finish(root).expect("a state formula")
}
