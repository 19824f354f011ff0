//! Runs as evidence.

use std::ops::Range;

use model::{ActionId, CommandId, InstanceId, State, Successor};

/// A step of a run: what labels it, without where it leads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
            actions: step.actions.clone(),
            movers: step.movers.clone(),
            commands: step.commands.clone(),
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

/// A run: finite, or infinite as a lasso (a stem and a loop).
///
/// Invariant (checked by [`crate::validate_run`], not by construction): step `i` leaves state `i`.
/// A finite run has one state more than it has steps. A lasso has as many, and its last step leads
/// back to the state at `loop_start`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The states.
    pub states: Vec<State>,
    /// The steps.
    pub steps: Vec<TraceStep>,
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
