//! Abstract timers above their thresholds: when their conditions count as enabled.

use model::{Condition, Subject};

use crate::system::System;
use jit::Field;

/// An abstract timer above its threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    field: Field,
    threshold: i64,
}

impl Waiting {
    pub(crate) fn holds(&self, words: &[u64]) -> bool {
        self.field.get(words) == self.threshold
    }
}

/// The timers among the subjects of conditions, with the positions of the conditions.
pub(crate) fn waiting_timers(
    system: &System<'_>,
    conditions: &[Condition],
) -> Vec<(usize, Waiting)> {
    let threshold_of = |cell| {
        let mut timers = system.model().abstract_timers();
        timers.find(|timer| timer.0 == cell).map(|timer| timer.1)
    };
    let waiting = |(bit, condition): (usize, &Condition)| match condition.subject {
        Subject::Timer(cell) => {
            let field = system.layout.fields[system.layout.first_cell as usize + cell];
            let threshold = threshold_of(cell)?;
            Some((bit, Waiting { field, threshold }))
        }
        _ => None,
    };
    conditions.iter().enumerate().filter_map(waiting).collect()
}
