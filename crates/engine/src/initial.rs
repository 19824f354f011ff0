//! Collecting the initial states.

use base::{Budget, StopReason};

use crate::system::{Failed, System};

/// Why the initial states are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interrupted {
    Stopped(StopReason),
    /// An initial value or constraint has no value.
    Failed,
}

/// The words of all initial states, one state after the other. None occurs twice, unless a process
/// starts with control or states have representatives: every combination of initial values is
/// visited once.
pub(crate) fn initial_states(
    system: &mut System<'_>,
    budget: &Budget,
) -> Result<Vec<u64>, Interrupted> {
    let mut words = Vec::new();
    let (mut n_states, mut n_tried) = (0, 0_u64);
    system.for_each_initial(&mut |system, state, result| {
        n_tried += 1;
        if n_tried.is_multiple_of(64) {
            let bytes = words.len() as u64 * 8;
            budget
                .check(n_states, bytes)
                .map_err(Interrupted::Stopped)?;
        }
        if result.map_err(|Failed| Interrupted::Failed)? {
            n_states += 1;
            let start = words.len();
            words.extend_from_slice(state);
            system.canonicalize(&mut words[start..]);
        }
        Ok(())
    })?;
    Ok(words)
}

/// Are there more initial states than this, or combinations of values that might be?
pub(crate) fn has_more_initial_states(system: &mut System<'_>, than: u64) -> bool {
    let mut n_tried = 0;
    let counted = system.for_each_initial(&mut |_, _, _| {
        n_tried += 1;
        if n_tried > than { Err(()) } else { Ok(()) }
    });
    counted.is_err()
}
