//! Which of several goals a breadth-first search has met.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use store::StateIndex;

use crate::label::Label;
use crate::system::System;

use super::{Goal, Met, NO_PANIC, Place, Shared};

/// Where a goal was met first.
pub(super) struct Meeting {
    pub(super) place: Place,
    /// The step that must lead there, if it matters which.
    pub(super) last: Option<(StateIndex, Label)>,
    pub(super) n_states: u64,
    pub(super) n_transitions: u64,
}

/// The goals that were met.
pub(super) struct Meetings {
    /// Was a goal met? Read all the time, so it is not behind the lock.
    is_met: Vec<AtomicBool>,
    first: Mutex<Vec<Option<Meeting>>>,
}

impl Meetings {
    /// None of these goals is met yet.
    pub(super) fn new(goal: &Goal) -> Self {
        let n_goals = match goal {
            Goal::Several(goals) => goals.len(),
            Goal::Nothing | Goal::Satisfies(_) | Goal::Deadlock => 0,
        };
        Self {
            is_met: (0..n_goals).map(|_| AtomicBool::new(false)).collect(),
            first: Mutex::new((0..n_goals).map(|_| None).collect()),
        }
    }

    pub(super) fn is_open(&self, number: usize) -> bool {
        !self.is_met[number].load(Ordering::Relaxed)
    }

    /// Notes where a goal is met, unless that is known. Are all of them met now?
    pub(super) fn note(&self, number: usize, meeting: Meeting) -> bool {
        let mut first = self.first.lock().expect(NO_PANIC);
        first[number].get_or_insert(meeting);
        self.is_met[number].store(true, Ordering::Relaxed);
        first.iter().all(Option::is_some)
    }

    /// Runs to the goals that were met.
    pub(super) fn traces(&self, shared: &Shared<'_>, system: &mut System<'_>) -> Vec<Option<Met>> {
        let mut first = self.first.lock().expect(NO_PANIC);
        let meetings = std::mem::take(&mut *first);
        let trace = |meeting: Meeting| {
            let trace = shared.trace(system, &meeting.place, meeting.last)?;
            Some(Met {
                trace,
                n_states: meeting.n_states,
                n_transitions: meeting.n_transitions,
            })
        };
        let mut trace = trace;
        meetings
            .into_iter()
            .map(|meeting| meeting.and_then(&mut trace))
            .collect()
    }
}
