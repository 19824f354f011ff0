//! What has to be shown for a claim.

use base::{AtomId, Fairness, FairnessKind};
use logic::{Ltl, Property};
use model::{Assumption, Model};

use crate::format::Claim;
use crate::tableau::BadRuns;

/// Something that a proof has to show about a model.
#[derive(Clone, Debug)]
pub enum Obligation {
    /// The formula, which is propositional, holds at every position.
    Positions(Ltl),
    /// Every state has a step.
    NoDeadlock,
    /// No run is fair and forbidden.
    NoRun {
        /// The forbidden runs.
        bad: BadRuns,
        /// Which runs are fair, besides the assumptions of the model.
        fairness: Fairness,
        /// The atoms that the forbidden runs and the assumptions depend on.
        atoms: Vec<AtomId>,
    },
}

/// What has to be shown for a claim about a property. An invariant follows from its truth at all
/// positions, or, if `by_runs`, from the absence of fair runs that break it.
///
/// # Errors
/// Why there are no certificates for such a claim.
pub fn obligations(
    model: &Model,
    property: &Property,
    fairness: Fairness,
    claim: Claim,
    by_runs: bool,
) -> Result<Vec<Obligation>, String> {
    let has_abstract_timers = model.abstract_timers().next().is_some();
    match (property, claim) {
        (Property::Reachable(formula), Claim::Unreachable) => {
            if has_abstract_timers {
                return Err(no_timers());
            }
            Ok(vec![Obligation::Positions(formula.negate())])
        }
        (Property::Reachable(_), Claim::Holds) => {
            Err("the run that reaches the position is evidence enough".to_owned())
        }
        (_, Claim::Unreachable) => Err("the property does not ask for a position".to_owned()),
        // Abstract timers have all the positions that their settings have.
        (Property::Invariant(formula), Claim::Holds) if !by_runs => {
            Ok(vec![Obligation::Positions(formula.clone())])
        }
        (Property::Invariant(_) | Property::DeadlockFree | Property::Never(_), _)
            if has_abstract_timers =>
        {
            Err(no_timers())
        }
        (Property::Invariant(formula), Claim::Holds) => {
            let always = Ltl::always(formula.clone());
            Ok(vec![satisfied(model, &always, fairness)])
        }
        (Property::DeadlockFree, Claim::Holds) => Ok(vec![Obligation::NoDeadlock]),
        (Property::Never(claim), Claim::Holds) => Ok(vec![Obligation::NoRun {
            bad: BadRuns::accepted(claim),
            fairness,
            atoms: with_assumed_atoms(model, claim.atoms()),
        }]),
        (Property::Ltl(formula), Claim::Holds) if formula.has_past() => {
            Err("there are no certificates for formulas with past operators".to_owned())
        }
        (Property::Ltl(formula), Claim::Holds) if has_abstract_timers => {
            timed(model, formula, fairness)
        }
        (Property::Ltl(formula), Claim::Holds) => Ok(vec![satisfied(model, formula, fairness)]),
        (Property::CtlStar(_), Claim::Holds) => {
            Err("there are no certificates for formulas with path quantifiers".to_owned())
        }
        (Property::MayMust(_), Claim::Holds) => {
            Err("there are no certificates for may/must systems".to_owned())
        }
    }
}

/// Time passes in every fair run, and t-fair runs satisfy the formula: then so do the runs of every
/// setting from the thresholds on.
fn timed(model: &Model, formula: &Ltl, fairness: Fairness) -> Result<Vec<Obligation>, String> {
    let Some(clock) = model.parts().clock else {
        return Err(no_timers());
    };
    let says_nothing = fairness.kind == FairnessKind::StrongGlobal || model.is_just(fairness);
    if says_nothing || fairness.timers {
        return Err("this fairness says nothing about the settings of timers".to_owned());
    }
    let ticks = Ltl::always(Ltl::eventually(Ltl::atom(clock.tick)));
    let t_fair = Fairness {
        timers: true,
        ..fairness
    };
    Ok(vec![
        satisfied(model, &ticks, fairness),
        satisfied(model, formula, t_fair),
    ])
}

fn no_timers() -> String {
    "for abstract timers there are certificates of invariants and formulas of linear time only"
        .to_owned()
}

/// Every fair run satisfies the formula.
fn satisfied(model: &Model, formula: &Ltl, fairness: Fairness) -> Obligation {
    Obligation::NoRun {
        bad: BadRuns::not(formula),
        fairness,
        atoms: with_assumed_atoms(model, formula.atoms()),
    }
}

fn with_assumed_atoms(model: &Model, mut atoms: Vec<AtomId>) -> Vec<AtomId> {
    fn collect(assumption: &Assumption, atoms: &mut Vec<AtomId>) {
        match assumption {
            Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => atoms.push(*atom),
            Assumption::All(parts) | Assumption::Any(parts) => {
                parts.iter().for_each(|part| collect(part, atoms));
            }
        }
    }
    let assumptions = model.parts().assumptions.iter();
    assumptions.for_each(|assumption| collect(assumption, &mut atoms));
    atoms
}
