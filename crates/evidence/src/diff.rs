//! What a step changes.

use model::State;

use crate::{Value, View};

/// A component that a step gives another value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its value afterwards.
    pub value: Value,
}

/// The components that differ, with their values in `after`.
#[must_use]
pub fn changes(view: &View<'_>, before: &State, after: &State) -> Vec<Change> {
    let old = view.values(before);
    let new = view.values(after);
    let pairs = view.names().iter().zip(old.into_iter().zip(new));
    let differing = pairs.filter(|(_, (old, new))| old != new);
    let change = |(name, (_, value)): (&String, (Value, Value))| Change {
        name: name.clone(),
        value,
    };
    differing.map(change).collect()
}
