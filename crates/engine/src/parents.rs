//! From where each state was reached first.
//!
//! One thread expands the states in the order of their names, and gives new names in the order in
//! which it reaches states. So the states first reached from some states that follow each other
//! follow each other too, and it is enough to know where those of every 64th state begin: which of
//! 64 states led to a given one is found out by expanding them again. With several threads names
//! have no such order, and the parent of every state is kept.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use store::Chunked;
use store::StateIndex;

/// The parents of all states.
#[derive(Debug)]
pub(crate) enum Parents {
    /// For every 64th state, how many states there were before its steps were taken.
    Sampled(Mutex<Vec<u32>>),
    /// For every name one more than its parent; 0 for initial states, `UNUSED` for names without
    /// a state.
    Each(Box<Chunked<AtomicU32>>),
}

const UNUSED: u32 = u32::MAX;

const SAMPLE: u32 = 64;

const NO_PANIC: &str = "no thread panics while it holds the samples";

impl Parents {
    /// For a search by one thread, or by several.
    pub(crate) fn new(several_threads: bool) -> Self {
        if several_threads {
            Self::Each(Box::new(Chunked::new(1)))
        } else {
            Self::Sampled(Mutex::new(Vec::new()))
        }
    }

    /// The steps of `source` will be taken now; there are `n_states` states.
    pub(crate) fn begin(&self, source: StateIndex, n_states: usize) {
        if let Self::Sampled(starts) = self
            && source.is_multiple_of(SAMPLE)
        {
            starts.lock().expect(NO_PANIC).push(n_states as u32);
        }
    }

    /// The state is new and was reached from `parent`, or is initial.
    pub(crate) fn set(&self, state: StateIndex, parent: Option<StateIndex>) {
        if let Self::Each(parents) = self {
            let parent = parent.map_or(0, |parent| parent + 1);
            parents.row(state)[0].store(parent, Ordering::Relaxed);
        }
    }

    /// The name belongs to no state.
    pub(crate) fn set_unused(&self, name: StateIndex) {
        if let Self::Each(parents) = self {
            parents.row(name)[0].store(UNUSED, Ordering::Relaxed);
        }
    }

    /// Does the name belong to no state?
    pub(crate) fn is_unused(&self, name: StateIndex) -> bool {
        match self {
            Self::Sampled(_) => false,
            Self::Each(parents) => parents.row(name)[0].load(Ordering::Relaxed) == UNUSED,
        }
    }

    /// The states among which the parent is; it is the first that leads to the state. Nothing for
    /// an initial state.
    pub(crate) fn candidates(&self, state: StateIndex) -> Option<Range<StateIndex>> {
        match self {
            Self::Sampled(starts) => {
                let starts = starts.lock().expect(NO_PANIC);
                let block = starts.partition_point(|start| *start <= state) as u32;
                let block = block.checked_sub(1)?;
                Some(block * SAMPLE..(block + 1) * SAMPLE)
            }
            Self::Each(parents) => {
                let stored = parents.row(state)[0].load(Ordering::Relaxed);
                let parent = stored.checked_sub(1)?;
                Some(parent..parent + 1)
            }
        }
    }

    /// The bytes in use for so many states.
    pub(crate) fn memory(&self, n_states: usize) -> u64 {
        match self {
            Self::Sampled(_) => n_states as u64 / u64::from(SAMPLE) * 4,
            Self::Each(parents) => parents.memory(n_states),
        }
    }
}
