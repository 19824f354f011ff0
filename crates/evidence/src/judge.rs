//! The judge of evidence.
//!
//! Every check is made from definitions: steps by [`Model::steps_or_idle`], atoms by
//! [`Model::atom_holds`], formulas by [`logic::holds_on_lasso`], fairness by looking at the loop.
//! Precondition: the model is the one the evidence is about. Cost: linear in the length of the
//! traces, times the cost of the steps of a state and of the formula.
//!
//! Each run is replayed once. What the replay tells beyond "confirmed" is kept as an
//! [`Explanation`].

use std::cell::Cell;
use std::ops::Range;

use base::Fairness;
use logic::{Ltl, Property};
use model::{Assumption, Model, RunTimeError, State};

use crate::branching::judge_branching;
use crate::broken::broken_in_state;
use crate::endless::judge_endless;
use crate::explanation::{ExplainedError, ExplainedRun, RunKind, Shown};
use crate::loop_judge::{Bad, LoopJudge, bad_runs};
use crate::replay::Replay;
use crate::word::{Word, assumption_atoms};
use crate::{Branching, Explanation, Invalid, Trace, Verdict, Violation, ViolationKind};

/// What evidence is judged by, and how many runs were replayed for that.
pub struct Judge<'a> {
    pub(crate) model: &'a Model,
    pub(crate) property: &'a Property,
    pub(crate) fairness: Fairness,
    pub(crate) assumptions: &'a [Assumption],
    n_replays: Cell<usize>,
}

impl<'a> Judge<'a> {
    /// A judge of evidence about a property of a model under fairness and assumptions.
    #[must_use]
    pub fn new(
        model: &'a Model,
        property: &'a Property,
        fairness: Fairness,
        assumptions: &'a [Assumption],
    ) -> Self {
        Self {
            model,
            property,
            fairness,
            assumptions,
            n_replays: Cell::new(0),
        }
    }

    /// Confirms whatever a verdict shows. `branching` is what supports "holds" for a formula of CTL*.
    ///
    /// # Errors
    /// The first reason why it does not show that.
    pub fn verdict(
        &self,
        verdict: &Verdict,
        branching: Option<&Branching>,
    ) -> Result<Explanation, Invalid> {
        match (verdict, branching) {
            (Verdict::Violated(violation), _) => self.violation(violation),
            (
                Verdict::Holds {
                    witness: Some(witness),
                },
                _,
            ) => self.witness(witness),
            (Verdict::Holds { witness: None }, Some(shown)) => self.branching(shown),
            (Verdict::Holds { witness: None }, None) | (Verdict::Unknown(_), _) => {
                Ok(Explanation::default())
            }
        }
    }

    /// Is the violation real? It is replayed step by step, its loop is checked against every fairness
    /// condition and assumption, and the property is evaluated on it.
    ///
    /// Of a [`ViolationKind::Endless`] a hundred rounds are judged, not that there are always more. A
    /// [`ViolationKind::Unreachable`] or [`ViolationKind::NegationHolds`] has nothing that could be
    /// replayed; only its form is checked.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn violation(&self, violation: &Violation) -> Result<Explanation, Invalid> {
        let shown = match (&violation.kind, violation.trace.as_ref()) {
            (ViolationKind::Unreachable, None) => match self.property {
                Property::Reachable(_) => Shown::Unreachable,
                _ => return Err(Invalid::KindDoesNotFit),
            },
            (ViolationKind::NegationHolds, None) => match self.property {
                Property::MayMust(_) | Property::CtlStar(_) => Shown::NegationHolds,
                _ => return Err(Invalid::KindDoesNotFit),
            },
            (ViolationKind::Unreachable | ViolationKind::NegationHolds, Some(_)) => {
                return Err(Invalid::KindDoesNotFit);
            }
            (ViolationKind::Branching(branching), _) => {
                let Property::CtlStar(formula) = self.property else {
                    return Err(Invalid::KindDoesNotFit);
                };
                Shown::Branching(judge_branching(self, &formula.negated(), branching)?)
            }
            (ViolationKind::RunTimeError(error), trace) => self.error(trace, error)?,
            (_, None) => return Err(Invalid::NoTrace),
            (ViolationKind::Endless(endless), Some(trace)) => {
                let conditions = judge_endless(self, trace, endless)?;
                Shown::Run(Box::new(ExplainedRun {
                    conditions,
                    endless: Some((**endless).clone()),
                    ..self.explained(trace, RunKind::Endless)
                }))
            }
            (ViolationKind::BadPrefix, Some(trace)) => {
                let broken = self.check_prefix(trace)?;
                Shown::Run(Box::new(ExplainedRun {
                    broken,
                    ..self.explained(trace, RunKind::BadPrefix)
                }))
            }
            (ViolationKind::Deadlock, Some(trace)) => {
                self.check_deadlock(trace)?;
                self.shown(trace, RunKind::Deadlock)
            }
            (ViolationKind::ZeroTime, Some(trace)) => {
                let clock = self.model.parts().clock.ok_or(Invalid::KindDoesNotFit)?;
                let ticks = Ltl::always(Ltl::eventually(Ltl::atom(clock.tick)));
                self.lasso(trace, violation, RunKind::ZeroTime, &Bad::Not(ticks))?
            }
            (ViolationKind::FairLoop, Some(trace)) => {
                let bad = bad_runs(self.property)?;
                self.lasso(trace, violation, RunKind::FairLoop, &bad)?
            }
        };

        Ok(Explanation::new(shown, self.n_replays.get()))
    }

    /// Does the trace show that the property, which asks for a reachable position, holds?
    ///
    /// # Errors
    /// The first reason why not.
    pub fn witness(&self, trace: &Trace) -> Result<Explanation, Invalid> {
        let Property::Reachable(formula) = self.property else {
            return Err(Invalid::KindDoesNotFit);
        };
        let replay = self.finite_replay(trace)?;
        if !Word::new(&replay, formula.atoms())?.ends_with(formula) {
            return Err(Invalid::NotReached);
        }
        let shown = self.shown(trace, RunKind::Witness);
        Ok(Explanation::new(shown, self.n_replays.get()))
    }

    /// Does the evidence show that the property, a formula of CTL*, holds in an initial state?
    ///
    /// # Errors
    /// The first reason why not.
    pub fn branching(&self, evidence: &Branching) -> Result<Explanation, Invalid> {
        let Property::CtlStar(formula) = self.property else {
            return Err(Invalid::KindDoesNotFit);
        };
        let branching = judge_branching(self, formula, evidence)?;
        let shown = Shown::Branching(branching);
        Ok(Explanation::new(shown, self.n_replays.get()))
    }

    /// Is the trace a finite run of the model? What it shows beyond that is known to the caller only.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn prefix(&self, trace: &Trace) -> Result<Explanation, Invalid> {
        self.finite_replay(trace)?;
        let shown = self.shown(trace, RunKind::BadPrefix);
        Ok(Explanation::new(shown, self.n_replays.get()))
    }

    /// Replays a trace from an initial state on.
    pub(crate) fn replay<'t>(&self, trace: &'t Trace) -> Result<Replay<'t>, Invalid>
    where
        'a: 't,
    {
        self.replay_keeping(trace, trace.loop_range())
    }

    /// The same, keeping the steps of the states at other positions than those of the loop.
    pub(crate) fn replay_keeping<'t>(
        &self,
        trace: &'t Trace,
        kept: Range<usize>,
    ) -> Result<Replay<'t>, Invalid>
    where
        'a: 't,
    {
        self.n_replays.set(self.n_replays.get() + 1);
        Replay::keeping(self.model, trace, kept)
    }

    /// Replays a trace from any state on.
    pub(crate) fn replay_anywhere<'t>(&self, trace: &'t Trace) -> Result<Replay<'t>, Invalid>
    where
        'a: 't,
    {
        self.n_replays.set(self.n_replays.get() + 1);
        Replay::anywhere(self.model, trace)
    }

    fn finite_replay<'t>(&self, trace: &'t Trace) -> Result<Replay<'t>, Invalid>
    where
        'a: 't,
    {
        match trace.loop_start {
            Some(_) => Err(Invalid::UnexpectedLoop),
            None => self.replay(trace),
        }
    }

    fn explained(&self, trace: &Trace, kind: RunKind) -> ExplainedRun {
        ExplainedRun::new(self.model, trace, kind)
    }

    fn shown(&self, trace: &Trace, kind: RunKind) -> Shown {
        Shown::Run(Box::new(self.explained(trace, kind)))
    }

    fn lasso(
        &self,
        trace: &Trace,
        violation: &Violation,
        kind: RunKind,
        bad: &Bad,
    ) -> Result<Shown, Invalid> {
        let reasons = LoopJudge { judge: self, bad }.judge(trace, violation)?;
        Ok(Shown::Run(Box::new(ExplainedRun {
            conditions: reasons.conditions,
            is_covered: reasons.is_covered,
            excluded_by: reasons.excluded_by,
            broken: reasons.broken,
            component: violation.component,
            ..self.explained(trace, kind)
        })))
    }

    /// Which parts of the invariant the last state breaks.
    fn check_prefix(&self, trace: &Trace) -> Result<Vec<String>, Invalid> {
        let property = match self.property {
            Property::Ltl(formula) => &logic::classify(formula.clone()),
            other => other,
        };
        let Property::Invariant(formula) = property else {
            return Err(Invalid::KindDoesNotFit);
        };
        let replay = self.finite_replay(trace)?;
        if Word::new(&replay, formula.atoms())?.ends_with(formula) {
            return Err(Invalid::PropertyHolds);
        }
        let last = trace.states.last().ok_or(Invalid::NoTrace)?;
        Ok(broken_in_state(self.model, formula, last))
    }

    fn check_deadlock(&self, trace: &Trace) -> Result<(), Invalid> {
        if *self.property != Property::DeadlockFree {
            return Err(Invalid::KindDoesNotFit);
        }
        self.finite_replay(trace)?;
        let at = trace.states.len() - 1;
        let steps = self.model.successors(&trace.states[at]);
        match steps.map_err(|error| Invalid::Error { at, error })?.len() {
            0 => Ok(()),
            _ => Err(Invalid::NotDeadlocked),
        }
    }

    fn error(&self, trace: Option<&Trace>, claimed: &RunTimeError) -> Result<Shown, Invalid> {
        let found = match trace {
            None => self.model.initial_states().err(),
            Some(trace) => self.error_in_last_state(&self.finite_replay(trace)?, claimed),
        };
        if found.as_ref().map(|error| &error.kind) != Some(&claimed.kind) {
            return Err(Invalid::OtherError { found });
        }

        let error = ExplainedError::new(self.model, claimed);
        Ok(match trace {
            None => Shown::InitialError(error),
            Some(trace) => Shown::Run(Box::new(ExplainedRun {
                error: Some(error),
                ..self.explained(trace, RunKind::RunTimeError)
            })),
        })
    }

    /// The error of the last position: one of the claimed kind if there is one, else any.
    fn error_in_last_state(
        &self,
        replay: &Replay<'_>,
        claimed: &RunTimeError,
    ) -> Option<RunTimeError> {
        let (model, trace) = (replay.model, replay.trace);
        let last: &State = trace.states.last()?;
        let before = trace.steps.len().checked_sub(1);
        let entry = before.map(|at| replay.label(at));
        let commands = entry.map_or(&[][..], |step| &step.commands);

        let mut atoms = match self.property {
            Property::Ltl(f) | Property::Invariant(f) | Property::Reachable(f) => f.atoms(),
            Property::CtlStar(formula) => formula.atoms(),
            Property::Never(claim) => claim.atoms(),
            Property::DeadlockFree | Property::MayMust(_) => Vec::new(),
        };
        atoms.extend(self.assumptions.iter().flat_map(assumption_atoms));

        let of_atoms = atoms.into_iter();
        let of_atoms = of_atoms.filter_map(|atom| model.atom_holds(atom, last, commands).err());
        let mut errors: Vec<RunTimeError> = model.successors(last).err().into_iter().collect();
        errors.extend(of_atoms);
        let claimed_kind = errors.iter().position(|error| error.kind == claimed.kind);
        (!errors.is_empty()).then(|| errors.swap_remove(claimed_kind.unwrap_or(0)))
    }
}
