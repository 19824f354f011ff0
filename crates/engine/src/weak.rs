//! The marks of weak fairness.
//!
//! Weak fairness to `X` demands `Inf(v)` for a mark `v` on the steps that take `X` and on those
//! whose source disables it. Where processes can have control ([`model::ModelParts::control`]),
//! states with control are only passed through, and what they disable does not count: `v` is then
//! on the steps that take `X` and on those whose source is *free* (no process has control) and
//! disables it. A run that is from some point on never free is judged as if there were no control.
//! With marks `w` on the steps that take `X` or whose source disables it, free or not, and `f` on
//! the steps from free states, the acceptance is
//!
//! ```text
//! (Inf(v) for all X)  or  (Fin(f) and Inf(w) for all X)
//! ```
//!
//! which is the conjunction over all `X` of `Inf(v) or (Fin(f) and Inf(w))`, because `v` implies
//! `w`.
//!
//! Abstract timers count as enabled by their values, in every state.

use base::bits;
use model::{Condition, Subject};
use omega::{Acceptance, MarkId};

use crate::system::System;

/// Where the marks of weak conditions are, and what they are computed from.
#[derive(Clone, Debug)]
pub(crate) struct WeakMarks {
    n_conditions: usize,
    /// The bits of conditions on abstract timers; nothing if no process ever has control.
    timers: Option<Vec<u64>>,
    /// The word at which the marks `w` begin; `f` is the first bit of the word behind them.
    behind: usize,
}

impl WeakMarks {
    /// The marks of these weak conditions. The marks `v` begin at word 0, those that only control
    /// needs at word `behind`.
    pub(crate) fn new(system: &System<'_>, conditions: &[Condition], behind: usize) -> Self {
        let has_control = system.model().parts().control.is_some() && !conditions.is_empty();
        let timers = has_control.then(|| {
            let mut timers = vec![0; bits::words_for(conditions.len())];
            for (bit, condition) in conditions.iter().enumerate() {
                if let Subject::Timer(_) = condition.subject {
                    bits::set(&mut timers, bit);
                }
            }
            timers
        });
        Self {
            n_conditions: conditions.len(),
            timers,
            behind,
        }
    }

    /// How many words are needed from word `behind` on.
    pub(crate) fn n_words_behind(&self) -> usize {
        match &self.timers {
            None => 0,
            Some(timers) => timers.len() + 1,
        }
    }

    /// Does it matter whether a process has control?
    pub(crate) fn needs_control(&self) -> bool {
        self.timers.is_some()
    }

    /// Sets the marks of a step: what its source enables, whose subjects take part, and whether
    /// no process has control in the source.
    pub(crate) fn set(&self, marks: &mut [u64], enabled: &[u64], subjects: &[u64], is_free: bool) {
        let Some(timers) = &self.timers else {
            for word in 0..bits::words_for(self.n_conditions) {
                marks[word] = !enabled[word] | subjects[word];
            }
            return;
        };
        for (word, timers) in timers.iter().enumerate() {
            let counted = if is_free { u64::MAX } else { *timers };
            marks[word] = !enabled[word] & counted | subjects[word];
            marks[self.behind + word] = !enabled[word] | subjects[word];
        }
        marks[self.behind + timers.len()] = u64::from(is_free);
    }

    /// Which sets of marks are fair to those weak conditions, given by their bits, that are chosen.
    pub(crate) fn acceptance_of(&self, is_chosen: &dyn Fn(usize) -> bool) -> Acceptance {
        let mark = |word: usize, bit: usize| MarkId::new(word * 64 + bit);
        let chosen = || (0..self.n_conditions).filter(|&bit| is_chosen(bit));
        if chosen().next().is_none() {
            return Acceptance::True;
        }
        let all_from =
            |word: usize| Acceptance::generalized_buchi(chosen().map(|bit| mark(word, bit)));
        match &self.timers {
            None => all_from(0),
            Some(timers) => {
                let never_free = Acceptance::Fin(mark(self.behind + timers.len(), 0));
                let kept = Acceptance::all([never_free, all_from(self.behind)]);
                Acceptance::any([all_from(0), kept])
            }
        }
    }
}
