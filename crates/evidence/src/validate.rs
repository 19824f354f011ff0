//! The judge of evidence.
//!
//! Every check is made from definitions: steps by [`Model::steps_or_idle`], atoms by
//! [`Model::atom_holds`], formulas by [`logic::holds_on_lasso`], fairness by looking at the loop.
//! Precondition: the model is the one the evidence is about. Cost: linear in the length of the
//! traces, times the cost of the steps of a state and of the formula.

use base::{Fairness, FairnessKind};
use logic::{Claim, Ltl, Property};
use model::{Assumption, Model, RunTimeError, State};
use rustc_hash::FxHashSet;

use crate::branching::validate_branching;
use crate::endless::validate_endless;
use crate::explain::{judge_loop, uncovered_step};
use crate::replay::{Replay, actions_name};
use crate::word::{Word, assumption_atoms};
use crate::{Because, ComponentSize, Invalid, Trace, Violation, ViolationKind};

/// Is the violation real? It is replayed step by step, its loop is checked against every fairness
/// condition and assumption, and the property is evaluated on it.
///
/// Of a [`ViolationKind::Endless`] a hundred rounds are judged, not that there are always more. A
/// [`ViolationKind::Unreachable`] or [`ViolationKind::NegationHolds`] has nothing that could be
/// replayed; only its form is checked.
///
/// # Errors
/// The first reason why not.
pub fn validate(
    model: &Model,
    property: &Property,
    fairness: Fairness,
    assumptions: &[Assumption],
    violation: &Violation,
) -> Result<(), Invalid> {
    match (&violation.kind, violation.trace.as_ref()) {
        (ViolationKind::Unreachable, None) => match property {
            Property::Reachable(_) => Ok(()),
            _ => Err(Invalid::KindDoesNotFit),
        },
        (ViolationKind::Unreachable, Some(_)) => Err(Invalid::KindDoesNotFit),
        (ViolationKind::Branching(branching), _) => {
            let Property::CtlStar(formula) = property else {
                return Err(Invalid::KindDoesNotFit);
            };
            validate_branching(model, &formula.negated(), fairness, assumptions, branching)
        }
        (ViolationKind::NegationHolds, None) => match property {
            Property::MayMust(_) | Property::CtlStar(_) => Ok(()),
            _ => Err(Invalid::KindDoesNotFit),
        },
        (ViolationKind::NegationHolds, Some(_)) => Err(Invalid::KindDoesNotFit),
        (ViolationKind::RunTimeError(error), trace) => {
            validate_error(model, property, assumptions, trace, error)
        }
        (_, None) => Err(Invalid::NoTrace),
        (ViolationKind::Endless(endless), Some(trace)) => {
            validate_endless(model, property, fairness, assumptions, (trace, endless))
        }
        (ViolationKind::BadPrefix, Some(trace)) => validate_prefix(model, property, trace),
        (ViolationKind::Deadlock, Some(trace)) => validate_deadlock(model, property, trace),
        (ViolationKind::ZeroTime, Some(trace)) => {
            let clock = model.parts().clock.ok_or(Invalid::KindDoesNotFit)?;
            let ticks = Ltl::always(Ltl::eventually(Ltl::atom(clock.tick)));
            let judge = LoopJudge {
                fairness,
                assumptions,
                bad: &Bad::Not(ticks),
            };
            judge.validate(model, trace, violation)
        }
        (ViolationKind::FairLoop, Some(trace)) => {
            let judge = LoopJudge {
                fairness,
                assumptions,
                bad: &bad_runs(property)?,
            };
            judge.validate(model, trace, violation)
        }
    }
}

/// Is the trace a run of the model?
///
/// # Errors
/// The first reason why not.
pub fn validate_run(model: &Model, trace: &Trace) -> Result<(), Invalid> {
    Replay::new(model, trace).map(|_| ())
}

/// Does the trace show that the property, which asks for a reachable position, holds?
///
/// # Errors
/// The first reason why not.
pub fn validate_witness(model: &Model, property: &Property, trace: &Trace) -> Result<(), Invalid> {
    let Property::Reachable(formula) = property else {
        return Err(Invalid::KindDoesNotFit);
    };
    let replay = finite_replay(model, trace)?;
    match Word::new(&replay, formula.atoms())?.ends_with(formula) {
        true => Ok(()),
        false => Err(Invalid::NotReached),
    }
}

fn finite_replay<'a>(model: &'a Model, trace: &'a Trace) -> Result<Replay<'a>, Invalid> {
    match trace.loop_start {
        Some(_) => Err(Invalid::UnexpectedLoop),
        None => Replay::new(model, trace),
    }
}

fn validate_prefix(model: &Model, property: &Property, trace: &Trace) -> Result<(), Invalid> {
    let property = match property {
        Property::Ltl(formula) => &logic::classify(formula.clone()),
        other => other,
    };
    let Property::Invariant(formula) = property else {
        return Err(Invalid::KindDoesNotFit);
    };
    let replay = finite_replay(model, trace)?;
    match Word::new(&replay, formula.atoms())?.ends_with(formula) {
        true => Err(Invalid::PropertyHolds),
        false => Ok(()),
    }
}

fn validate_deadlock(model: &Model, property: &Property, trace: &Trace) -> Result<(), Invalid> {
    if *property != Property::DeadlockFree {
        return Err(Invalid::KindDoesNotFit);
    }
    finite_replay(model, trace)?;
    let at = trace.states.len() - 1;
    let steps = model.successors(&trace.states[at]);
    match steps.map_err(|error| Invalid::Error { at, error })?.len() {
        0 => Ok(()),
        _ => Err(Invalid::NotDeadlocked),
    }
}

fn validate_error(
    model: &Model,
    property: &Property,
    assumptions: &[Assumption],
    trace: Option<&Trace>,
    claimed: &RunTimeError,
) -> Result<(), Invalid> {
    let found = match trace {
        None => model.initial_states().err(),
        Some(trace) => {
            let replay = finite_replay(model, trace)?;
            error_in_last_state(&replay, property, assumptions, claimed)
        }
    };
    match found {
        Some(error) if error.kind == claimed.kind => Ok(()),
        found => Err(Invalid::OtherError { found }),
    }
}

/// The error of the last position: one of the claimed kind if there is one, else any.
fn error_in_last_state(
    replay: &Replay<'_>,
    property: &Property,
    assumptions: &[Assumption],
    claimed: &RunTimeError,
) -> Option<RunTimeError> {
    let (model, trace) = (replay.model, replay.trace);
    let last: &State = trace.states.last()?;
    let before = trace.steps.len().checked_sub(1);
    let entry = before.map(|at| replay.successor(replay.step_at(at)));
    let commands = entry.map_or(&[][..], |step| &step.commands);
    let mut atoms = match property {
        Property::Ltl(f) | Property::Invariant(f) | Property::Reachable(f) => f.atoms(),
        Property::CtlStar(formula) => formula.atoms(),
        Property::Never(claim) => claim.atoms(),
        Property::DeadlockFree | Property::MayMust(_) => Vec::new(),
    };
    atoms.extend(assumptions.iter().flat_map(assumption_atoms));
    let of_atoms = atoms.into_iter();
    let of_atoms = of_atoms.filter_map(|atom| model.atom_holds(atom, last, commands).err());
    let mut errors: Vec<RunTimeError> = model.successors(last).err().into_iter().collect();
    errors.extend(of_atoms);
    let claimed_kind = errors.iter().position(|error| error.kind == claimed.kind);
    (!errors.is_empty()).then(|| errors.swap_remove(claimed_kind.unwrap_or(0)))
}

/// The runs that a property forbids.
pub(crate) enum Bad {
    /// Those that do not satisfy the formula.
    Not(Ltl),
    /// Those that the claim accepts.
    Accepted(Claim),
}

impl Bad {
    /// The atoms that tell whether a run is forbidden.
    pub(crate) fn atoms(&self) -> Vec<base::AtomId> {
        match self {
            Self::Not(formula) => formula.atoms(),
            Self::Accepted(claim) => claim.atoms(),
        }
    }

    /// Is a run forbidden that spells the infinite word?
    pub(crate) fn contains(&self, word: &Word) -> bool {
        match self {
            Self::Not(formula) => !word.satisfies(formula),
            Self::Accepted(claim) => word.is_accepted(claim),
        }
    }
}

/// Which runs are forbidden if the property holds.
pub(crate) fn bad_runs(property: &Property) -> Result<Bad, Invalid> {
    match property {
        Property::Ltl(formula) => Ok(Bad::Not(formula.clone())),
        Property::Invariant(formula) => Ok(Bad::Not(Ltl::always(formula.clone()))),
        Property::Never(claim) => Ok(Bad::Accepted(claim.clone())),
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::MayMust(_) => Err(Invalid::KindDoesNotFit),
    }
}

/// Is the replayed lasso fair, covering all its steps under strong global fairness?
pub(crate) fn check_fair_loop(
    replay: &Replay<'_>,
    fairness: Fairness,
    assumptions: &[Assumption],
) -> Result<(), Invalid> {
    let judge = LoopJudge {
        fairness,
        assumptions,
        bad: &Bad::Not(Ltl::ff()),
    };
    judge.check_fairness(replay)?;
    match uncovered_step(replay) {
        Some((at, step)) if fairness.kind == FairnessKind::StrongGlobal => {
            let actions = actions_name(replay.model, &step.actions);
            Err(Invalid::NotCovered { at, actions })
        }
        _ => Ok(()),
    }
}

/// What a loop is judged by.
struct LoopJudge<'a> {
    fairness: Fairness,
    assumptions: &'a [Assumption],
    bad: &'a Bad,
}

impl LoopJudge<'_> {
    fn validate(&self, model: &Model, trace: &Trace, violation: &Violation) -> Result<(), Invalid> {
        let shown = infinite_replay(model, trace)?;
        self.check_violation(&shown)?;
        if self.fairness.kind != FairnessKind::StrongGlobal {
            return self.check_fairness(&shown);
        }
        let Some(covering) = &violation.covering else {
            return self.check_covering(&shown, violation);
        };
        let covering = infinite_replay(model, covering)?;
        self.check_violation(&covering)?;
        check_inside(&shown, &covering)?;
        self.check_covering(&covering, violation)
    }

    fn check_violation(&self, replay: &Replay<'_>) -> Result<(), Invalid> {
        match self.bad.contains(&Word::new(replay, self.bad.atoms())?) {
            true => Ok(()),
            false => Err(Invalid::PropertyHolds),
        }
    }

    fn check_fairness(&self, replay: &Replay<'_>) -> Result<(), Invalid> {
        let judged = judge_loop(replay, self.fairness, self.assumptions)?;
        let broken = judged
            .into_iter()
            .find(|entry| entry.because == Because::Broken);
        match broken {
            None => Ok(()),
            Some(entry) if entry.is_assumption => Err(Invalid::AssumptionFails {
                assumption: entry.condition,
            }),
            Some(entry) => Err(Invalid::Unfair {
                condition: entry.condition,
            }),
        }
    }

    /// Strong global fairness: annotations and assumptions, closure, and the size that was claimed.
    fn check_covering(&self, replay: &Replay<'_>, violation: &Violation) -> Result<(), Invalid> {
        self.check_fairness(replay)?;
        if let Some((at, step)) = uncovered_step(replay) {
            let actions = actions_name(replay.model, &step.actions);
            return Err(Invalid::NotCovered { at, actions });
        }
        let actual = component_size(replay);
        match violation.component {
            Some(claimed) if claimed != actual => {
                Err(Invalid::WrongComponentSize { claimed, actual })
            }
            _ => Ok(()),
        }
    }
}

fn infinite_replay<'a>(model: &'a Model, trace: &'a Trace) -> Result<Replay<'a>, Invalid> {
    match trace.loop_start {
        Some(_) => Replay::new(model, trace),
        None => Err(Invalid::NoLoop),
    }
}

/// The loop that is shown must stay among the states of the covering loop.
fn check_inside(shown: &Replay<'_>, covering: &Replay<'_>) -> Result<(), Invalid> {
    let states = &covering.trace.states[covering.trace.loop_range()];
    let inside: FxHashSet<&State> = states.iter().collect();
    let outside = |at: &usize| !inside.contains(&shown.trace.states[*at]);
    match shown.trace.loop_range().find(outside) {
        Some(at) => Err(Invalid::OutsideComponent { at }),
        None => Ok(()),
    }
}

fn component_size(replay: &Replay<'_>) -> ComponentSize {
    let mut nodes: Vec<usize> = replay.node_at[replay.trace.loop_range()].to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    ComponentSize {
        n_states: nodes.len(),
        n_steps: nodes.iter().map(|node| replay.steps[*node].len()).sum(),
    }
}
