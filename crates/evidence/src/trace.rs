//! Runs as evidence.

use std::ops::Range;
use std::sync::Arc;

use model::{ActionId, CommandId, InstanceId, State, Successor};
use rustc_hash::FxHashSet;

/// A step of a run: what labels it, without where it leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct TraceStep {
    /// What happens. Sorted; empty for the idle step of a deadlocked state.
    pub actions: Vec<ActionId>,
    /// Who takes part. Sorted; empty for the idle step.
    pub movers: Vec<InstanceId>,
    /// Commands that were executed; some or all of those that the step of the model lists.
    pub commands: Vec<CommandId>,
}

impl From<&Successor> for TraceStep {
    fn from(step: &Successor) -> Self {
        Self {
            actions: step.actions.to_vec(),
            movers: step.movers.to_vec(),
            commands: step.commands.to_vec(),
        }
    }
}

impl TraceStep {
    /// Is this the idle step of a deadlocked state?
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.actions.is_empty()
    }
}

/// Steps that are equal, kept once.
#[derive(Default)]
pub struct StepPool(FxHashSet<Arc<TraceStep>>);

impl StepPool {
    /// The step, as it is kept.
    pub fn share(&mut self, step: TraceStep) -> Arc<TraceStep> {
        if let Some(known) = self.0.get(&step) {
            return Arc::clone(known);
        }
        let step = Arc::new(step);
        self.0.insert(Arc::clone(&step));
        step
    }
}

/// A run: finite, or infinite as a lasso (a stem and a loop).
///
/// Invariant (checked by [`crate::validate_run`], not by construction): step `i` leaves state `i`.
/// A finite run has one state more than it has steps. A lasso has as many, and its last step leads
/// back to the state at `loop_start`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The states.
    pub states: Vec<State>,
    /// The steps. Long runs take few different ones, which they share.
    pub steps: Vec<Arc<TraceStep>>,
    /// Where the loop starts, if there is one.
    pub loop_start: Option<usize>,
}

impl Trace {
    /// The positions of the loop; none for a finite run.
    #[must_use]
    pub fn loop_range(&self) -> Range<usize> {
        let end = self.states.len();
        self.loop_start.unwrap_or(end)..end
    }

    /// The position that step `index` leads to.
    #[must_use]
    pub fn after(&self, index: usize) -> usize {
        match self.loop_start {
            Some(start) if index + 1 == self.states.len() => start,
            _ => index + 1,
        }
    }
}
