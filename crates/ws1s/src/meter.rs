//! What a construction may spend, and what it has spent.

use base::{Budget, StopReason};

/// Why no answer could be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The budget is used up.
    Stopped(StopReason),
    /// An automaton would need more tracks than [`MAX_TRACKS`].
    TooManyTracks,
}

impl Unknown {
    /// The stable name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stopped(reason) => reason.name(),
            Self::TooManyTracks => "too-many-tracks",
        }
    }
}

impl From<StopReason> for Unknown {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// How many variables one automaton may have. Decision diagrams are walked recursively, one call
/// per track, so this bounds the depth of the call stack.
pub const MAX_TRACKS: usize = 5_000;

/// How many nodes a construction may number, with room for those made between two questions.
const MAX_NODES: usize = (1 << 31) - (1 << 20);

/// How far constructions may grow before another plan is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// How many members all sets of a subset construction may have, beyond [`MEMBERS_PER_NODE`] for
    /// each state and node of its automaton.
    pub(crate) members: usize,
    /// How many nodes a product may have.
    pub(crate) nodes: usize,
}

/// This many members of sets are usual.
const MEMBERS_PER_NODE: usize = 4;

impl Growth {
    pub(crate) const UNLIMITED: Self = Self::new(usize::MAX, usize::MAX);

    pub(crate) const fn new(members: usize, nodes: usize) -> Self {
        Self { members, nodes }
    }
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Automata built.
    pub n_automata: u64,
    /// Products formed.
    pub n_products: u64,
    /// Projections done.
    pub n_projections: u64,
    /// Minimisations done.
    pub n_minimisations: u64,
    /// States of the largest automaton after minimisation.
    pub largest_states: u64,
    /// Decision nodes of the largest automaton after minimisation.
    pub largest_nodes: u64,
    /// States of the largest automaton before minimisation.
    pub peak_states: u64,
    /// Most bytes in automata and tables at one time.
    pub peak_bytes: u64,
}

/// A budget together with the counters.
pub(crate) struct Meter<'b> {
    budget: &'b Budget,
    /// Bytes in automata that are kept.
    live_bytes: u64,
    /// Invariant: an error while `is_out_of_hand` is meant for who has set this limit.
    pub(crate) max_growth: Growth,
    /// A construction has exceeded `max_growth`.
    pub(crate) is_out_of_hand: bool,
    pub(crate) statistics: Statistics,
}

impl<'b> Meter<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Self {
            budget,
            live_bytes: 0,
            max_growth: Growth::UNLIMITED,
            is_out_of_hand: false,
            statistics: Statistics::default(),
        }
    }

    /// May a construction with `n_states` states and `bytes` bytes of its own go on?
    pub(crate) fn check(&mut self, n_states: usize, bytes: u64) -> Result<(), Unknown> {
        let bytes = self.live_bytes + bytes;
        let statistics = &mut self.statistics;
        statistics.peak_bytes = statistics.peak_bytes.max(bytes);
        statistics.peak_states = statistics.peak_states.max(n_states as u64);
        Ok(self.budget.check(n_states as u64, bytes)?)
    }

    /// May a subset construction with this many members in its sets go on, for an automaton of this
    /// size?
    pub(crate) fn check_sets(&mut self, n_members: usize, size: usize) -> Result<(), Unknown> {
        let limit = self
            .max_growth
            .members
            .saturating_add(MEMBERS_PER_NODE * size);
        self.check_growth(n_members, limit)
    }

    fn check_growth(&mut self, n: usize, limit: usize) -> Result<(), Unknown> {
        self.is_out_of_hand |= n > limit;
        if self.is_out_of_hand {
            Err(Unknown::Stopped(StopReason::StateLimit))
        } else {
            Ok(())
        }
    }

    /// Can one more batch of nodes be numbered? The limit is met only with tens of gigabytes.
    pub(crate) fn check_nodes(&mut self, n_nodes: usize) -> Result<(), Unknown> {
        if n_nodes >= MAX_NODES {
            return Err(Unknown::Stopped(StopReason::MemoryLimit));
        }
        self.check_growth(n_nodes, self.max_growth.nodes)
    }

    /// An automaton of this size is kept from now on.
    pub(crate) fn keep(&mut self, bytes: u64) {
        self.live_bytes += bytes;
    }

    /// An automaton of this size is dropped.
    pub(crate) fn drop_bytes(&mut self, bytes: u64) {
        self.live_bytes -= bytes;
    }

    /// A minimal automaton has been built.
    pub(crate) fn note_minimal(&mut self, n_states: usize, n_nodes: usize) {
        let statistics = &mut self.statistics;
        statistics.n_minimisations += 1;
        statistics.largest_states = statistics.largest_states.max(n_states as u64);
        statistics.largest_nodes = statistics.largest_nodes.max(n_nodes as u64);
    }
}
