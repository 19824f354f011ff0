//! Long steps: what happens while some process has control, as one.
//!
//! States in which a process has control are passed through, not stayed in. A search that only asks
//! which states there are need not keep them: from every state that it keeps it walks through those
//! behind it, each once, until no process has control. What is passed behind two kept states is passed
//! twice, as in Spin.

use std::ops::{ControlFlow, Range};

use base::{Budget, StopReason};
use store::StateStore;

use crate::label::LabelId;
use crate::system::{Failed, Steps, System};

/// The states passed behind one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passage {
    n_words: usize,
    /// Their words, one state after the other, in the order in which they are met.
    pub(crate) states: Vec<u64>,
    /// For each, which of `steps` are its own, as they are computed; nothing if they cannot be.
    own: Vec<Option<Range<usize>>>,
    steps: Steps,
    /// How many steps of the state itself lead to where no process has control, and how many to states
    /// that are passed. They come first.
    pub(crate) n_own: (usize, usize),
    /// The labels of the steps that lead to such states.
    pub(crate) labels: Vec<LabelId>,
    /// Where many are found: one more than the position of a state, by its hash and what follows.
    slots: Vec<u32>,
}

/// Why not everything behind a state is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// The steps of the state itself, or of this one that is passed, cannot be computed because of a
    /// run-time error. What was passed before is there.
    Failed(Option<Box<[u64]>>),
    Stopped(StopReason),
}

/// Fewer states are compared one after the other.
const MIN_HASHED: usize = 12;

/// The budget is asked whenever so many states have been passed.
const POLL: usize = 1024;

impl Passage {
    fn clear(&mut self, n_words: usize) {
        self.n_words = n_words;
        self.states.clear();
        self.own.clear();
        self.steps.clear();
        self.steps.n_words = n_words;
        self.n_own = (0, 0);
        self.labels.clear();
        self.slots.clear();
    }

    /// How many states are passed.
    fn len(&self) -> usize {
        self.own.len()
    }

    /// Is no state passed?
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The words of a state that is passed.
    fn state(&self, position: usize) -> &[u64] {
        &self.states[position * self.n_words..][..self.n_words]
    }

    fn knows(&self, words: &[u64]) -> bool {
        if self.slots.is_empty() {
            return self.states.chunks_exact(self.n_words).any(|s| s == words);
        }
        self.slots[self.slot(words)] != 0
    }

    /// Where a state is, or would be.
    fn slot(&self, words: &[u64]) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = StateStore::hash(words) as usize & last;
        while self.slots[slot] != 0 && self.state(self.slots[slot] as usize - 1) != words {
            slot = (slot + 1) & last;
        }
        slot
    }

    /// Adds a state that is not known.
    fn add(&mut self, words: &[u64], own: Option<Range<usize>>) {
        self.states.extend_from_slice(words);
        self.own.push(own);
        let len = self.len();
        if len < MIN_HASHED {
            return;
        }

        // At least half of the slots are empty.
        let mut unplaced = len - 1;
        if self.slots.len() < 2 * len {
            self.slots.clear();
            self.slots.resize((4 * len).next_power_of_two(), 0);
            unplaced = 0;
        }
        for position in unplaced..len {
            let slot = self.slot(self.state(position));
            self.slots[slot] = position as u32 + 1;
        }
    }

    /// The bytes in use.
    fn memory(&self) -> u64 {
        let words = self.states.len() + self.steps.words.len() + self.steps.len();
        8 * words as u64 + size_of_val(&self.own[..]) as u64 + 4 * self.slots.len() as u64
    }
}

impl System<'_> {
    /// Adds the steps that lead from a state, or from one that is passed behind it, to where no process
    /// has control; in [`Passage`] is what was passed.
    pub(crate) fn append_long_steps(
        &mut self,
        state: &[u64],
        steps: &mut Steps,
        passage: &mut Passage,
        budget: &Budget,
    ) -> Result<(), Obstacle> {
        passage.clear(self.layout.n_words);
        let first = steps.len();
        // A break says that only processes without control could move: there is no step.
        if self.rule(state, false, steps).is_err() {
            steps.truncate(first, self.layout.n_words);
            return Err(Obstacle::Failed(None));
        }
        self.settle(first, steps, passage);
        passage.n_own = (steps.len() - first, passage.labels.len());

        let mut next = 0;
        while next < passage.len() {
            if next % POLL == POLL - 1 {
                let n_passed = passage.len() as u64;
                if n_passed >> self.limits.max_name_bits > 0 {
                    return Err(Obstacle::Stopped(StopReason::StateLimit));
                }
                let spent = budget.check(n_passed, passage.memory());
                spent.map_err(Obstacle::Stopped)?;
            }
            let Some(own) = passage.own[next].clone() else {
                let failed = passage.state(next).into();
                passage.states.truncate(next * self.layout.n_words);
                return Err(Obstacle::Failed(Some(failed)));
            };
            let first = steps.len();
            steps.append_some(&passage.steps, own);
            self.settle(first, steps, passage);
            next += 1;
        }
        Ok(())
    }

    /// Makes steps of one state, those from a position on, what they are: of those where a process
    /// keeps control, only the labels and the states that they lead to.
    fn settle(&mut self, first: usize, steps: &mut Steps, passage: &mut Passage) {
        let n_words = self.layout.n_words;
        let has_representatives = self.canonicalizer.is_some();
        let mut targets = steps.words[first * n_words..].chunks_exact(n_words);
        let is_passing = targets.any(|words| self.is_transient(words));

        if has_representatives {
            // What is passed is a representative, which is not known yet.
            self.normalise_targets(first, steps);
        } else if is_passing {
            for words in steps.words[first * n_words..].chunks_exact_mut(n_words) {
                if self.is_transient(words) && !self.pass(words, passage) {
                    self.take_control(words);
                }
            }
        }
        if self.may_repeat {
            self.merge_equal_steps(first, steps);
        }
        self.canonicalize_targets(first, steps);
        if !is_passing {
            return;
        }

        let mut kept = first;
        for position in first..steps.len() {
            let target = steps.target(position, n_words);
            if self.is_transient(target) && (!has_representatives || self.pass(target, passage)) {
                passage.labels.push(steps.labels[position]);
                continue;
            }
            if kept < position {
                steps.move_step(position, kept, n_words);
            }
            kept += 1;
        }
        steps.truncate(kept, n_words);
    }

    /// Passes through a state, unless its process cannot use its control. An error counts as a use.
    fn pass(&mut self, words: &[u64], passage: &mut Passage) -> bool {
        if passage.knows(words) {
            return true;
        }
        let first = passage.steps.len();
        match self.rule(words, false, &mut passage.steps) {
            Ok(ControlFlow::Continue(())) if passage.steps.len() > first => {
                let own = first..passage.steps.len();
                passage.add(words, Some(own));
                true
            }
            Ok(_) => false,
            Err(Failed) => {
                passage.steps.truncate(first, self.layout.n_words);
                passage.add(words, None);
                true
            }
        }
    }
}
