//! Where a product keeps its states and nodes: together with other threads.
//!
//! A state has its letter, with a bit that says that it is known, and a word of facts: how many
//! steps it has, and what was decided about them. A thread that meets a state whose letter another
//! thread has not finished computes it for itself.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use base::bits;
use omega::NodeId;

use crate::system::{Steps, System};
use store::Chunked;
use store::Reading;
use store::{Index, Inserted, Names, StateIndex, StateStore};

use super::selection::Selection;
use super::space::{Nodes, Space, pair_word};

/// In the last word of a letter: it is known. Names without a state never have this.
const HAS_LETTER: u64 = 1 << 63;
/// A thread decides, or has decided, about the steps.
const IS_CLAIMED: u32 = 1 << 30;
/// Two bits: the decision; 0 if there is none yet.
const SELECTION_SHIFT: u32 = 28;
const SELECTION_MASK: u32 = 3 << SELECTION_SHIFT;
/// The other bits: one more than the number of steps.
const STEPS_MASK: u32 = (1 << SELECTION_SHIFT) - 1;

/// After so many expansions a thread asks again how much memory is in use.
const MEMORY_INTERVAL: u32 = 64;

/// What all threads share.
pub(crate) struct SharedSpace {
    store: StateStore,
    nodes: Nodes,
    letters: Chunked<AtomicU64>,
    facts: Chunked<AtomicU32>,
}

impl SharedSpace {
    pub(crate) fn new(system: &System<'_>, n_atoms: usize, n_automaton_states: usize) -> Self {
        Self {
            store: system.new_store(),
            nodes: Nodes::new(n_automaton_states, system.limits),
            letters: Chunked::new(bits::words_for(n_atoms + 1)),
            facts: Chunked::new(1),
        }
    }

    fn fact(&self, state: StateIndex) -> &AtomicU32 {
        &self.facts.row(state)[0]
    }

    /// Does the name belong to a state? Only while no thread inserts.
    pub(crate) fn is_state(&self, name: StateIndex) -> bool {
        let letter = self.letters.row(name);
        letter[letter.len() - 1].load(Ordering::Acquire) & HAS_LETTER != 0
    }

    /// How many names of states are given away.
    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    /// How many names of pairs are given away; nothing if nodes are states.
    pub(crate) fn n_pairs(&self) -> Option<usize> {
        match &self.nodes {
            Nodes::Identity => None,
            Nodes::Pairs(pairs) => Some(pairs.len()),
        }
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let n_states = self.store.len();
        let per_state = self.letters.memory(n_states) + self.facts.memory(n_states);
        self.store.memory() + self.nodes.memory() + per_state
    }
}

/// The view of one thread.
pub(crate) struct ParallelSpace<'c> {
    shared: &'c SharedSpace,
    state_names: Names,
    pair_names: Names,
    memory: u64,
    n_expansions: u32,
}

/// The tables of states and of pairs, which must not be enlarged meanwhile. Nothing if they were
/// let go.
///
/// Invariant: a thread that waits for the first holds none, one that waits for the second at most
/// the first, and one that enlarges a table holds none. So threads never wait for each other in a
/// circle.
pub(crate) type Held<'c> = Option<(Reading<'c, Index>, Option<Reading<'c, Index>>)>;

impl SharedSpace {
    fn hold(&self) -> (Reading<'_, Index>, Option<Reading<'_, Index>>) {
        let states = self.store.table();
        let pairs = match &self.nodes {
            Nodes::Identity => None,
            Nodes::Pairs(pairs) => Some(pairs.table()),
        };
        (states, pairs)
    }
}

impl<'c> ParallelSpace<'c> {
    pub(crate) fn new(shared: &'c SharedSpace) -> Self {
        Self {
            shared,
            state_names: Names::new(true),
            pair_names: Names::new(true),
            memory: shared.memory(),
            n_expansions: 0,
        }
    }

    /// Gives up names that were not used, and says how many of states and of nodes. Without that,
    /// states that are found later may have names before those found now.
    pub(crate) fn give_up_names(&mut self) -> (usize, usize) {
        let states = self.state_names.give_up().len();
        (states, self.pair_names.give_up().len())
    }
}

impl<'c> Space for ParallelSpace<'c> {
    type Held = Held<'c>;

    fn hold(&self) -> Held<'c> {
        Some(self.shared.hold())
    }

    fn n_states(&self) -> usize {
        self.shared.store.len()
    }

    fn read(&self, state: StateIndex, out: &mut [u64]) {
        self.shared.store.read(state, out);
    }

    fn insert(
        &mut self,
        held: &mut Held<'c>,
        words: &[u64],
        hash: u64,
    ) -> Option<(StateIndex, bool)> {
        let shared = self.shared;
        loop {
            let table = &held.get_or_insert_with(|| shared.hold()).0;
            let names = &mut self.state_names;
            let guess = shared.store.guess(table, hash);
            let inserted = shared.store.insert_shared(table, words, hash, guess, names);
            let (index, is_new) = match inserted {
                Inserted::New(index) => (index, true),
                Inserted::Old(index) => (index, false),
                Inserted::Full => {
                    *held = None;
                    shared.store.grow()?;
                    continue;
                }
            };
            shared.store.stay_near(index, names);
            return Some((index, is_new));
        }
    }

    fn hash_targets(&mut self, held: &mut Held<'c>, steps: &Steps, hashes: &mut Vec<u64>) {
        let shared = self.shared;
        self.n_expansions += 1;
        if self.n_expansions == MEMORY_INTERVAL {
            self.n_expansions = 0;
            *held = None;
            self.memory = shared.memory();
        }
        let table = &held.get_or_insert_with(|| shared.hold()).0;
        steps.hash_targets(hashes, table);
    }

    fn set_letter(&mut self, state: StateIndex, letter: &[u64]) {
        let stored = self.shared.letters.row(state);
        for (word, stored) in letter.iter().zip(stored) {
            stored.store(*word, Ordering::Relaxed);
        }
        stored[stored.len() - 1].fetch_or(HAS_LETTER, Ordering::Release);
    }

    fn letter(&self, state: StateIndex, out: &mut [u64]) -> bool {
        let stored = self.shared.letters.row(state);
        let last = stored[stored.len() - 1].load(Ordering::Acquire);
        if last & HAS_LETTER == 0 {
            return false;
        }
        for (word, stored) in out.iter_mut().zip(stored) {
            *word = stored.load(Ordering::Relaxed);
        }
        if out.len() == stored.len() {
            out[stored.len() - 1] = last & !HAS_LETTER;
        }
        true
    }

    fn n_steps(&self, state: StateIndex) -> Option<u32> {
        let facts = self.shared.fact(state).load(Ordering::Acquire);
        (facts & STEPS_MASK).checked_sub(1)
    }

    fn set_n_steps(&mut self, state: StateIndex, n_steps: u32) -> bool {
        debug_assert!(n_steps < STEPS_MASK, "see `Limits::max_steps`");
        if self.n_steps(state).is_some() {
            return false;
        }
        // All threads that get here say the same number.
        let before = self
            .shared
            .fact(state)
            .fetch_or(n_steps + 1, Ordering::AcqRel);
        before & STEPS_MASK == 0
    }

    fn begin_selection(&mut self, held: &mut Held<'c>, state: StateIndex) -> Selection {
        let fact = self.shared.fact(state);
        // In one order with the questions of `is_decided`: of two threads that decide about
        // neighbours at the same time, one sees the other.
        let mut facts = fact.load(Ordering::SeqCst);
        if facts & IS_CLAIMED == 0 {
            facts = fact.fetch_or(IS_CLAIMED, Ordering::SeqCst);
            if facts & IS_CLAIMED == 0 {
                return Selection::Undecided;
            }
        }
        while facts & SELECTION_MASK == 0 {
            // Another thread decides, and may have to enlarge the tables for that.
            *held = None;
            std::thread::yield_now();
            facts = fact.load(Ordering::SeqCst);
        }
        let number = (facts & SELECTION_MASK) >> SELECTION_SHIFT;
        Selection::from_number(u64::from(number)).expect("two bits are a decision")
    }

    fn set_selection(&mut self, state: StateIndex, selection: Selection) {
        let number = selection as u32;
        self.shared
            .fact(state)
            .fetch_or(number << SELECTION_SHIFT, Ordering::SeqCst);
    }

    fn is_decided(&self, state: StateIndex) -> bool {
        self.shared.fact(state).load(Ordering::SeqCst) & IS_CLAIMED != 0
    }

    fn node(
        &mut self,
        held: &mut Held<'c>,
        state: StateIndex,
        automaton_state: u32,
    ) -> Option<NodeId> {
        let shared = self.shared;
        let Nodes::Pairs(pairs) = &shared.nodes else {
            return Some(NodeId(state));
        };
        let pair = pair_word(state, automaton_state);
        let hash = StateStore::hash(&pair);

        loop {
            let tables = held.get_or_insert_with(|| shared.hold());
            let table = tables
                .1
                .as_ref()
                .expect("the pairs are held with the states");
            let guess = pairs.guess(table, hash);
            match pairs.insert_shared(table, &pair, hash, guess, &mut self.pair_names) {
                Inserted::New(node) | Inserted::Old(node) => return Some(NodeId(node)),
                Inserted::Full => {
                    *held = None;
                    pairs.grow()?;
                }
            }
        }
    }

    fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        self.shared.nodes.pair(node)
    }

    fn n_nodes(&self) -> usize {
        self.shared.nodes.len(self.shared.store.len())
    }

    fn memory(&self) -> u64 {
        self.memory
    }
}
