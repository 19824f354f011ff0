//! States and steps as the reference semantics sees them.

use smallvec::SmallVec;

use crate::{ActionId, CommandId, InstanceId, LocationId};

/// A list that is mostly short, and then without a place of its own in memory.
pub type Few<T> = SmallVec<[T; 4]>;

/// A state: plain vectors, compared and hashed as such.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The location of every instance.
    pub locations: Vec<LocationId>,
    /// The value of every cell.
    pub cells: Vec<i64>,
    /// The content of every single channel, oldest message first.
    pub channels: Vec<Vec<Vec<i64>>>,
}

impl State {
    /// A state without components, for evaluating expressions that mention no state.
    pub(crate) fn nowhere() -> Self {
        Self {
            locations: Vec::new(),
            cells: Vec::new(),
            channels: Vec::new(),
        }
    }
}

/// A step that leaves a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Successor {
    /// What happens: one action, or in a synchronous composition one for each mover. Sorted.
    /// Empty for the idle step of a deadlocked state.
    pub actions: Few<ActionId>,
    /// Who takes part. Sorted. Empty for the idle step.
    pub movers: Few<InstanceId>,
    /// Which commands were executed. Sorted. Two ways of taking the same action to the same state
    /// are one step; it lists the commands of both.
    pub commands: Few<CommandId>,
    /// The cells of the abstract timers that it sets, in one way or another. Sorted.
    pub timers_set: Vec<usize>,
    /// Where it leads.
    pub target: State,
}
