//! Steps, loops and formulas of a simulation as plain data.

use base::{Fairness, FairnessKind};
use evidence::{Because, Change, Communication, Justification, Trace, TraceStep, Truth, changes};
use logic::Property;
use model::Successor;
use report::Position;
use source::Question as Asked;

use super::{Obligation, Simulation, obligations};
use crate::error::Error;
use crate::trace_details::{formula_of, places_of};
use crate::{Project, Question, Value};

/// How many parts of a formula are shown at most.
pub(crate) const MAX_PARTS: usize = 100;

/// A step with what people want to know about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepDetails {
    /// The names of its actions.
    pub actions: Vec<String>,
    /// The processes that take part.
    pub movers: Vec<String>,
    /// What it sends or receives.
    pub communication: Option<Communication>,
    /// What it changes.
    pub changes: Vec<Change>,
    /// Where it is written; several places for a step of several processes.
    pub places: Vec<Position>,
}

/// What a run is worth that goes on forever from an earlier visit of its last state to the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopFairness {
    /// Where the loop starts.
    pub start: usize,
    /// Would the run be fair?
    pub is_fair: bool,
    /// Why it meets each condition and assumption, or that it does not.
    pub reasons: Vec<Justification>,
    /// Under strong global fairness: a step of a state of the loop that the loop does not take.
    pub missing: Option<String>,
}

impl Simulation<'_> {
    /// The names of the components of states.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.view.names()
    }

    /// The values of the state at a position, in the order of the names.
    #[must_use]
    pub fn values(&self, at: usize) -> Vec<Value> {
        self.view.values(&self.walk.states[at])
    }

    /// The step that was taken at a position.
    #[must_use]
    pub fn taken_details(&self, at: usize) -> StepDetails {
        self.details(at, self.step(at))
    }

    /// A step that is possible at the end; panics if there is no such step.
    #[must_use]
    pub fn possible_details(&self, choice: usize) -> StepDetails {
        self.details(self.n_steps(), &self.end().steps()[choice])
    }

    /// What each fairness condition says about the run so far.
    #[must_use]
    pub fn obligations(&self, fairness: Fairness) -> Vec<Obligation> {
        obligations::obligations(self.model, self, fairness)
    }

    /// What becomes of the run if it repeats forever what it did since the last visit of its last
    /// state; nothing if it was never there before.
    ///
    /// # Errors
    /// The run cannot be replayed, which is a bug, or an assumption has a run-time error.
    pub fn loop_fairness(&self, fairness: Fairness) -> Result<Option<LoopFairness>, Error> {
        let now = self.n_steps();
        let states = &self.walk.states;
        let Some(start) = (0..now).rev().find(|at| states[*at] == states[now]) else {
            return Ok(None);
        };

        let mut lasso = self.trace();
        lasso.states.pop();
        lasso.loop_start = Some(start);
        let assumptions = &self.model.parts().assumptions;
        let reasons = evidence::explain_fairness(self.model, fairness, assumptions, &lasso);
        let reasons = reasons.map_err(|why| Error::Stopped(why.to_string()))?;

        let missing = if fairness.kind == FairnessKind::StrongGlobal {
            self.missing_step(start)
        } else {
            None
        };
        let is_unbroken = reasons
            .iter()
            .all(|reason| reason.because != Because::Broken);
        Ok(Some(LoopFairness {
            start,
            is_fair: is_unbroken && missing.is_none(),
            reasons,
            missing,
        }))
    }

    /// A step of a state since `start` that is never taken from it since then.
    fn missing_step(&self, start: usize) -> Option<String> {
        let states = &self.walk.states;
        for at in start..self.n_steps() {
            let visits = (start..self.n_steps()).filter(|other| states[*other] == states[at]);
            let taken: Vec<&Successor> = visits.map(|other| self.step(other)).collect();
            let mut possible = self.walk.possible[at].steps().iter();
            if let Some(missing) = possible.find(|step| !taken.contains(step)) {
                return Some(super::step_name(self.model, missing));
            }
        }
        None
    }

    fn details(&self, at: usize, step: &Successor) -> StepDetails {
        let action = |id: &model::ActionId| self.model.action_name(*id).to_owned();
        let mover = |id: &model::InstanceId| self.model.instance_name(*id).to_owned();
        let before = &self.walk.states[at];
        let single = Trace {
            states: vec![before.clone(), step.target.clone()],
            steps: vec![TraceStep::from(step).into()],
            loop_start: None,
        };
        let named = evidence::NamedRun::new(self.model, &single);
        StepDetails {
            actions: step.actions.iter().map(action).collect(),
            movers: step.movers.iter().map(mover).collect(),
            communication: named.states[0].step.communication.clone(),
            changes: changes(&self.view, before, &step.target),
            places: places_of(self.model, self.sources, &step.commands),
        }
    }
}

impl Project {
    /// Where the parts of the formula of a question hold along a simulation of this project; none if
    /// the question has no formula of linear time.
    ///
    /// # Errors
    /// An atom has a run-time error on the way.
    pub fn truths_along(
        &self,
        question: &Question,
        run: &Simulation<'_>,
    ) -> Result<Vec<Truth>, Error> {
        let asked: &Asked = &self.asked[question.position];
        let Some(formula) = formula_of(asked).filter(|_| asked.system == 0) else {
            return Ok(Vec::new());
        };
        let truths = evidence::truths(run.model, &formula, &run.trace(), MAX_PARTS);
        truths.map_err(|why| Error::Stopped(why.to_string()))
    }

    /// Does a question that has a formula without temporal operators hold at the end of a simulation
    /// of this project? Others do not.
    ///
    /// # Errors
    /// An atom has a run-time error.
    pub fn holds_at_end(&self, question: &Question, run: &Simulation<'_>) -> Result<bool, Error> {
        let asked: &Asked = &self.asked[question.position];
        let formula = match &asked.property.property {
            Property::Ltl(formula) if formula.is_propositional() => formula,
            Property::Ltl(_)
            | Property::Invariant(_)
            | Property::Reachable(_)
            | Property::DeadlockFree
            | Property::CtlStar(_)
            | Property::Never(_)
            | Property::MayMust(_) => return Ok(false),
        };

        // Only the last step counts, so only that is evaluated.
        let now = run.n_steps();
        let before = now.saturating_sub(1);
        let steps = (before..now).map(|at| TraceStep::from(run.step(at)).into());
        let last = Trace {
            states: run.walk.states[before..=now].to_vec(),
            steps: steps.collect(),
            loop_start: None,
        };
        let truths = evidence::truths(run.model, formula, &last, 1);
        let truths = truths.map_err(|why| Error::Stopped(why.to_string()))?;
        let now = truths
            .first()
            .and_then(|truth| truth.at.last().copied().flatten());
        Ok(now.unwrap_or(*formula == logic::Ltl::tt()))
    }
}
