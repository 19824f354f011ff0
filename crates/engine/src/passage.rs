//! Long steps: what happens while some process has control, as one.
//!
//! States in which a process has control are passed through, not stayed in. A search that only asks
//! which states there are need not keep them: from every state that it keeps it walks through those
//! behind it, each once, until no process has control. What is passed behind two kept states is passed
//! twice, as in Spin.

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
    /// How many steps of the state itself lead to where no process has control, and how many to states
    /// that are passed. They come first.
    pub(crate) n_own: (usize, usize),
    /// The labels of the steps that lead to such states.
    pub(crate) labels: Vec<LabelId>,
    /// Where many are found: one more than the position of a state, by its hash and what follows.
    slots: Vec<u32>,
    /// The state that is looked at.
    current: Vec<u64>,
}

/// Why not everything behind a state is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// The steps of the state itself, or of this one that is passed, cannot be computed because of a
    /// run-time error. What was met before is there.
    Failed(Option<Box<[u64]>>),
    Stopped(StopReason),
}

impl Obstacle {
    /// Is nothing known of what is behind the state?
    pub(crate) fn hides_all(&self) -> bool {
        matches!(self, Self::Failed(None))
    }
}

/// Fewer states are compared one after the other.
const MIN_HASHED: usize = 12;

/// The budget is asked whenever so many steps have led to states that are passed.
const POLL: usize = 1024;

impl Passage {
    fn clear(&mut self, n_words: usize) {
        self.n_words = n_words;
        self.states.clear();
        self.n_own = (0, 0);
        self.labels.clear();
        self.slots.clear();
    }

    /// How many states are passed.
    fn len(&self) -> usize {
        self.states.len() / self.n_words
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

    /// Adds the current state, which is not known.
    fn add(&mut self) {
        self.states.extend_from_slice(&self.current);
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
        8 * self.states.len() as u64 + 4 * (self.slots.len() + self.labels.len()) as u64
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
        let n_words = self.layout.n_words;
        passage.clear(n_words);
        let first = steps.len();
        let own = self.append_ruled(state, steps);
        own.map_err(|Failed| Obstacle::Failed(None))?;

        // The steps are the queue, too: those of a state that is passed are added behind the others.
        let own_end = steps.len();
        let (mut next, mut kept) = (first, first);
        let mut result = Ok(());
        while next < steps.len() && result.is_ok() {
            let is_own = usize::from(next < own_end);
            if self.is_transient(steps.target(next, n_words)) {
                match self.pass(next, steps, passage) {
                    Ok(false) => self.take_control(&mut steps.words[next * n_words..][..n_words]),
                    passed => {
                        passage.labels.push(steps.labels[next]);
                        passage.n_own.1 += is_own;
                        next += 1;
                        result = passed.and_then(|_| self.poll(steps, passage, budget));
                        continue;
                    }
                }
            }
            if kept < next {
                steps.move_step(next, kept, n_words);
            }
            passage.n_own.0 += is_own;
            kept += 1;
            next += 1;
        }

        steps.truncate(kept, n_words);
        result
    }

    /// Adds the steps of one state. Where they are compared or made canonical, no target has control
    /// that its process cannot use.
    fn append_ruled(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        let first = steps.len();
        // A break says that only processes without control could move: there is no step.
        if self.rule(state, false, steps).is_err() {
            steps.truncate(first, self.layout.n_words);
            return Err(Failed);
        }
        if self.may_repeat || self.canonicalizer.is_some() {
            self.normalise_targets(first, steps);
            if self.may_repeat {
                self.merge_equal_steps(first, steps);
            }
            self.canonicalize_targets(first, steps);
        }
        Ok(())
    }

    /// Passes through the target of a step, unless its process cannot use its control. An error counts
    /// as a use.
    fn pass(
        &mut self,
        position: usize,
        steps: &mut Steps,
        passage: &mut Passage,
    ) -> Result<bool, Obstacle> {
        let target = steps.target(position, self.layout.n_words);
        if passage.knows(target) {
            return Ok(true);
        }
        passage.current.clear();
        passage.current.extend_from_slice(target);
        let n_before = steps.len();
        if self.append_ruled(&passage.current, steps).is_err() {
            return Err(Obstacle::Failed(Some(passage.current[..].into())));
        }
        let is_passed = steps.len() > n_before;
        if is_passed {
            passage.add();
        }
        Ok(is_passed)
    }

    /// Asks now and then whether to go on.
    fn poll(&self, steps: &Steps, passage: &Passage, budget: &Budget) -> Result<(), Obstacle> {
        if !passage.labels.len().is_multiple_of(POLL) {
            return Ok(());
        }
        let n_passed = passage.len() as u64;
        if n_passed >> self.limits.max_name_bits > 0 {
            return Err(Obstacle::Stopped(StopReason::StateLimit));
        }
        let memory = passage.memory() + 8 * (steps.words.len() + steps.len()) as u64;
        budget.check(n_passed, memory).map_err(Obstacle::Stopped)
    }
}
