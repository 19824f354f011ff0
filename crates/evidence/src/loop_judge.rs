//! The judge of lassos: does the loop break the property, is it fair, and what would exclude it?

use base::FairnessKind;
use logic::{Ltl, NeverClaim, Property};
use model::State;
use rustc_hash::FxHashSet;

use crate::broken::broken_on_lasso;
use crate::explain::{exclusions, judge_loop, uncovered_step};
use crate::replay::{Replay, actions_name};
use crate::word::Word;
use crate::{Because, ComponentSize, Exclusion, Invalid, Judge, Justification, Trace, Violation};

/// The runs that a property forbids.
pub(crate) enum Bad {
    /// Those that do not satisfy the formula.
    Not(Ltl),
    /// Those that the claim accepts.
    Accepted(NeverClaim),
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

/// Why a loop is fair, and what would exclude it.
pub(crate) struct LoopReasons {
    pub(crate) conditions: Vec<Justification>,
    /// Are the conditions met by a longer loop, which is not shown?
    pub(crate) is_covered: bool,
    pub(crate) excluded_by: Vec<Exclusion>,
    /// Which operands of a conjunction are violated.
    pub(crate) broken: Vec<String>,
}

/// What a loop is judged by.
pub(crate) struct LoopJudge<'a> {
    pub(crate) judge: &'a Judge<'a>,
    pub(crate) bad: &'a Bad,
}

impl LoopJudge<'_> {
    /// Judges the lasso of a violation.
    pub(crate) fn judge(
        &self,
        trace: &Trace,
        violation: &Violation,
    ) -> Result<LoopReasons, Invalid> {
        let shown = self.infinite_replay(trace)?;
        let word = self.check_violation(&shown)?;
        let broken = match self.bad {
            Bad::Not(formula) => broken_on_lasso(self.judge.model, formula, &word),
            Bad::Accepted(_) => Vec::new(),
        };
        let mut reasons = LoopReasons {
            broken,
            conditions: Vec::new(),
            is_covered: false,
            excluded_by: exclusions(&shown, self.judge.fairness),
        };

        // Strong global fairness asks for a loop that takes every step: a longer one, if there is one.
        reasons.conditions = if self.judge.fairness.kind != FairnessKind::StrongGlobal {
            check_fairness(self.judge, &shown)?
        } else if let Some(covering) = &violation.covering {
            let covering = self.infinite_replay(covering)?;
            self.check_violation(&covering)?;
            check_inside(&shown, &covering)?;
            reasons.is_covered = true;
            self.check_covering(&covering, violation)?
        } else {
            self.check_covering(&shown, violation)?
        };
        Ok(reasons)
    }

    fn infinite_replay<'t>(&'t self, trace: &'t Trace) -> Result<Replay<'t>, Invalid> {
        match trace.loop_start {
            Some(_) => self.judge.replay(trace),
            None => Err(Invalid::NoLoop),
        }
    }

    /// The word of a run that is forbidden.
    fn check_violation(&self, replay: &Replay<'_>) -> Result<Word, Invalid> {
        let word = Word::new(replay, self.bad.atoms())?;
        if self.bad.contains(&word) {
            Ok(word)
        } else {
            Err(Invalid::PropertyHolds)
        }
    }

    /// Strong global fairness: annotations and assumptions, closure, and the size that was claimed.
    fn check_covering(
        &self,
        replay: &Replay<'_>,
        violation: &Violation,
    ) -> Result<Vec<Justification>, Invalid> {
        let conditions = check_fair_loop(self.judge, replay)?;
        let actual = component_size(replay);
        match violation.component {
            Some(claimed) if claimed != actual => {
                Err(Invalid::WrongComponentSize { claimed, actual })
            }
            _ => Ok(conditions),
        }
    }
}

/// Why the replayed lasso is fair, covering all its steps under strong global fairness.
pub(crate) fn check_fair_loop(
    judge: &Judge<'_>,
    replay: &Replay<'_>,
) -> Result<Vec<Justification>, Invalid> {
    let conditions = check_fairness(judge, replay)?;
    match uncovered_step(replay) {
        Some((at, step)) if judge.fairness.kind == FairnessKind::StrongGlobal => {
            let actions = actions_name(replay.model, &step.actions);
            Err(Invalid::NotCovered { at, actions })
        }
        _ => Ok(conditions),
    }
}

/// Why the replayed lasso meets every elementary condition and assumption.
fn check_fairness(judge: &Judge<'_>, replay: &Replay<'_>) -> Result<Vec<Justification>, Invalid> {
    unbroken(judge_loop(replay, judge.fairness, judge.assumptions)?)
}

/// The conditions, if none of them is broken.
pub(crate) fn unbroken(judged: Vec<Justification>) -> Result<Vec<Justification>, Invalid> {
    let broken = judged.iter().find(|entry| entry.because == Because::Broken);
    match broken {
        None => Ok(judged),
        Some(entry) if entry.is_assumption => Err(Invalid::AssumptionFails {
            assumption: entry.condition.clone(),
        }),
        Some(entry) => Err(Invalid::Unfair {
            condition: entry.condition.clone(),
        }),
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
    let mut nodes: Vec<usize> = replay
        .trace
        .loop_range()
        .map(|at| replay.node(at))
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    ComponentSize {
        n_states: nodes.len(),
        n_steps: nodes.iter().map(|node| replay.steps(*node).len()).sum(),
    }
}
