//! Equivalent questions in other words.

use base::Fairness;
use logic::{ClaimState, NeverClaim};
use logic::{CtlStar, CtlStarBuilder, Ltl, PathQuantifier, Property};
use model::{AtomMeaning, ConditionKind, Model};
use omega::{Acceptance, MarkId};
use testkit::Random;

use crate::answer::{Ledger, Relation};
use crate::{Answer, Case, RouteKind};

/// Asks equivalent questions. `answer` is the answer to the one of the case.
pub(crate) fn compare(case: &Case, answer: &Answer, random: &mut Random, ledger: &mut Ledger) {
    let mut equivalent = |kind, how: &str, found: Answer| {
        let left = ("as it is asked", answer);
        ledger.compare(kind, Relation::Equivalent, left, (how, &found));
    };

    // Invariants, reachability and deadlocks.
    match &case.property.property {
        Property::Invariant(good) => {
            let always = Property::Ltl(Ltl::always(good.clone()));
            equivalent(RouteKind::LinearTime, "as LTL", again(case, always));
            if is_closed(case) {
                let bad = Property::Reachable(good.negate());
                let found = again(case, bad).opposite();
                equivalent(RouteKind::LinearTime, "as reachability", found);
            }
        }
        Property::Reachable(goal) => {
            let free = Fairness::default();
            if case.model.parts().assumptions.is_empty() {
                let never = Property::Invariant(goal.negate());
                let found = case.ask(&case.model, never, free).opposite();
                equivalent(RouteKind::LinearTime, "as an invariant", found);
                let never = Property::Ltl(Ltl::not(Ltl::eventually(goal.clone())));
                let found = case.ask(&case.model, never, free).opposite();
                equivalent(RouteKind::LinearTime, "as LTL", found);
            }
        }
        Property::DeadlockFree => {
            let is_deadlock = |atom: &model::Atom| match atom.meaning {
                AtomMeaning::Deadlock => true,
                AtomMeaning::State(_)
                | AtomMeaning::Taken(_)
                | AtomMeaning::Enabled(_)
                | AtomMeaning::Certainly(..)
                | AtomMeaning::TimerSet(_) => false,
            };
            let atoms = &case.model.parts().atoms;
            if let Some(atom) = atoms.iter().position(is_deadlock) {
                let stuck = Ltl::atom(base::AtomId::new(atom));
                let found = again(case, Property::Reachable(stuck)).opposite();
                equivalent(RouteKind::LinearTime, "as reachability", found);
            }
        }
        Property::Ltl(_) | Property::CtlStar(_) | Property::Never(_) | Property::MayMust(_) => {}
    }

    // What is said of all runs.
    let Some(formula) = linear(&case.property.property) else {
        return;
    };
    let branching = again(case, Property::CtlStar(quantified(random, &formula)));
    equivalent(
        RouteKind::BranchingTime,
        "with a path quantifier",
        branching,
    );
    if let Some(claim) = claim(&formula) {
        let found = again(case, Property::Never(claim));
        equivalent(RouteKind::Claim, "as an automaton of bad runs", found);
    }

    let negation = again(case, Property::Ltl(Ltl::not(formula)));
    let both = answer.clone().and(negation);
    let no_run = again(case, Property::Ltl(Ltl::ff()));
    let left = ("there is no fair run", &no_run);
    let right = ("a formula and its negation hold", &both);
    ledger.compare(RouteKind::Negation, Relation::Equivalent, left, right);
}

fn again(case: &Case, property: Property) -> Answer {
    case.ask(&case.model, property, case.fairness)
}

/// The formula that all fair runs are to satisfy, if that is what is asked.
pub(crate) fn linear(property: &Property) -> Option<Ltl> {
    match property {
        Property::Ltl(formula) => Some(formula.clone()),
        Property::Invariant(good) => Some(Ltl::always(good.clone())),
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => None,
    }
}

/// Can every finite run be continued to a fair one, whatever the model?
fn is_closed(case: &Case) -> bool {
    let model: &Model = &case.model;
    let conditions = model.fairness_conditions(case.fairness);
    let unconditional = |kind| kind == ConditionKind::Unconditional;
    model.parts().assumptions.is_empty() && !conditions.iter().any(|c| unconditional(c.kind))
}

/// `A φ`, or `¬E ¬φ`.
pub(crate) fn quantified(random: &mut Random, formula: &Ltl) -> CtlStar {
    let mut builder = CtlStarBuilder::default();
    let root = if random.chance(50) {
        builder.quantify(PathQuantifier::All, formula.clone())
    } else {
        let negation = Ltl::not(formula.clone());
        Ltl::not(builder.quantify(PathQuantifier::Exists, negation))
    };
    builder.finish(root).expect("a state formula")
}

/// A Büchi automaton of the runs that do not satisfy the formula, if the translation gives one with
/// at most one mark. A state of the claim is a state of the automaton and whether a mark was passed
/// on the way to it.
fn claim(formula: &Ltl) -> Option<NeverClaim> {
    let automaton = logic::translate(&Ltl::not(formula.clone())).ok()?;
    let all_accept = match &automaton.acceptance {
        Acceptance::True => true,
        Acceptance::Inf(MarkId(0)) => false,
        Acceptance::False
        | Acceptance::Inf(_)
        | Acceptance::Fin(_)
        | Acceptance::And(_)
        | Acceptance::Or(_) => return None,
    };

    if !automaton.letter_marks.is_empty() {
        return None;
    }

    // The first state reads what any initial state reads.
    let edges_of = |state: usize| {
        let edges = automaton.edges[state].iter();
        edges.map(|edge| {
            let is_marked = all_accept || edge.marks.contains(&MarkId(0));
            let target = 1 + 2 * edge.target.index() + usize::from(is_marked);
            (edge.guard.clone(), target)
        })
    };

    let starts = automaton.initial.iter();
    let mut states = vec![ClaimState {
        accepting: false,
        edges: starts.flat_map(|start| edges_of(start.index())).collect(),
    }];
    for state in 0..automaton.edges.len() {
        for accepting in [false, true] {
            let edges = edges_of(state).collect();
            states.push(ClaimState { accepting, edges });
        }
    }

    Some(NeverClaim { states })
}
