//! Where a product keeps its states and nodes if all its edges are stored, for any number of threads.
//!
//! A node needs no name: it is a bit of its state. Of each state it is known which atoms hold (as the
//! number of its letter), with which automaton states it has been reached, and with which of these it
//! has been expanded.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use omega::{MAX_NODES, MarkSets, NodeId};
use rustc_hash::FxHashMap;

use crate::system::{Steps, System};
use store::{Bytes, Chunked, Index, Inserted, Names, Reading, StateIndex, StateStore};

use super::selection::Selection;
use super::space::Space;

/// No automaton may have more states: two bits for each, and the rest is the letter.
pub(crate) const MAX_COPIES: usize = 12;

/// So many bytes of records wait until they are kept, so that threads seldom meet.
const PENDING_BYTES: usize = 1 << 16;

const NO_PANIC: &str = "no thread panics while it holds what is shared";

/// Sets of bits, named by numbers that all threads agree on.
#[derive(Debug, Default)]
pub(super) struct Numbering(Mutex<Numbered>);

/// The numbers of sets, and the sets by number.
type Numbered = (FxHashMap<Box<[u64]>, u32>, Vec<Box<[u64]>>);

impl Numbering {
    fn number(&self, words: &[u64]) -> u32 {
        let (numbers, sets) = &mut *self.0.lock().expect(NO_PANIC);
        if let Some(number) = numbers.get(words) {
            return *number;
        }
        let number = sets.len() as u32;
        numbers.insert(words.into(), number);
        sets.push(words.into());
        number
    }

    /// All of them, as sets of marks.
    fn mark_sets(&self, n_words: usize) -> MarkSets {
        let mut all = MarkSets::new(n_words);
        let sets = &self.0.lock().expect(NO_PANIC).1;
        sets.iter().for_each(|set| all.push(set));
        all
    }
}

/// What one thread knows of a numbering.
#[derive(Debug)]
pub(super) struct Numbers<'c> {
    shared: &'c Numbering,
    /// The sets that it has met, once there is one, and their numbers. There may be about as many as
    /// states.
    met: Option<StateStore>,
    numbers: Vec<u32>,
    sets: Vec<Box<[u64]>>,
    /// Often it is the same set again.
    last: Option<(Box<[u64]>, u32)>,
}

impl<'c> Numbers<'c> {
    pub(super) fn new(shared: &'c Numbering) -> Self {
        Self {
            shared,
            met: None,
            numbers: Vec::new(),
            sets: Vec::new(),
            last: None,
        }
    }

    /// The number of a set.
    pub(super) fn number(&mut self, words: &[u64]) -> u32 {
        if let Some((last, number)) = &self.last
            && **last == *words
        {
            return *number;
        }
        let met = self.met.get_or_insert_with(|| StateStore::new(words.len()));
        let number = match met.insert(words, StateStore::hash(words)) {
            Some((name, false)) => self.numbers[name as usize],
            Some((_, true)) => {
                self.numbers.push(self.shared.number(words));
                self.numbers[self.numbers.len() - 1]
            }
            None => self.shared.number(words),
        };
        match &mut self.last {
            Some((last, last_number)) => {
                last.copy_from_slice(words);
                *last_number = number;
            }
            None => self.last = Some((words.into(), number)),
        }
        number
    }

    /// The set with this number.
    pub(super) fn set(&mut self, number: u32) -> &[u64] {
        if number as usize >= self.sets.len() {
            self.sets
                .clone_from(&self.shared.0.lock().expect(NO_PANIC).1);
        }
        &self.sets[number as usize]
    }
}

/// What all threads share.
pub(crate) struct Grid {
    pub(super) store: StateStore,
    /// For each state, from the lowest bit on: with which automaton states it was reached, with which
    /// of these it was expanded, and one more than the number of its letter.
    facts: Chunked<AtomicU32>,
    /// For each node with an automaton state that can be on an accepted cycle, one more than the place of
    /// its record.
    places: Chunked<AtomicU32>,
    n_copies: u32,
    n_recurrent: u32,
    letters: Numbering,
    pub(super) source_numbering: Numbering,
    pub(super) edge_numbering: Numbering,
    /// How many nodes the threads have said they found.
    pub(super) n_nodes: AtomicU64,
    n_edge_bytes: AtomicU64,
    records: Mutex<Bytes>,
    /// Are there more letters than there are numbers for?
    pub(super) is_exhausted: AtomicBool,
}

/// What is known of a state.
#[derive(Clone, Copy)]
pub(super) struct Fact {
    pub(super) reached: u32,
    pub(super) expanded: u32,
    /// One more than the number of its letter; 0 if that is not known.
    pub(super) letter: u32,
}

impl Fact {
    /// Is there nothing to be done about the state?
    pub(super) fn is_settled(self) -> bool {
        self.reached == self.expanded
    }
}

impl Grid {
    /// For a product with an automaton of so many states, so many of which can be on accepted cycles.
    pub(crate) fn new(system: &System<'_>, n_copies: usize, n_recurrent: usize) -> Self {
        assert!(n_copies <= MAX_COPIES && n_recurrent <= n_copies);
        Self {
            store: system.new_store(),
            facts: Chunked::new(1),
            places: Chunked::new(1),
            n_copies: n_copies as u32,
            n_recurrent: n_recurrent as u32,
            letters: Numbering::default(),
            source_numbering: Numbering::default(),
            edge_numbering: Numbering::default(),
            n_nodes: AtomicU64::new(0),
            n_edge_bytes: AtomicU64::new(0),
            records: Mutex::default(),
            is_exhausted: AtomicBool::new(false),
        }
    }

    /// How many names of states are given away.
    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    /// How many automaton states can be on accepted cycles.
    pub(crate) fn n_recurrent(&self) -> u32 {
        self.n_recurrent
    }

    /// How many nodes there are.
    pub(crate) fn n_nodes(&self) -> u64 {
        self.n_nodes.load(Ordering::Relaxed)
    }

    /// The marks that all edges of a node have, by number.
    pub(crate) fn source_sets(&self, n_words: usize) -> MarkSets {
        self.source_numbering.mark_sets(n_words)
    }

    /// The marks that edges have besides, by number.
    pub(crate) fn edge_sets(&self, n_words: usize) -> MarkSets {
        self.edge_numbering.mark_sets(n_words)
    }

    fn fact_word(&self, state: StateIndex) -> &AtomicU32 {
        &self.facts.row(state)[0]
    }

    #[inline]
    fn fact_of(&self, word: u32) -> Fact {
        let mask = (1 << self.n_copies) - 1;
        Fact {
            reached: word & mask,
            expanded: word >> self.n_copies & mask,
            letter: word >> (2 * self.n_copies),
        }
    }

    /// What is known of a state. A name without a state has no letter.
    #[inline]
    pub(super) fn fact(&self, state: StateIndex) -> Fact {
        self.fact_of(self.fact_word(state).load(Ordering::Acquire))
    }

    /// Asks the processor for what is known of these states.
    pub(super) fn prefetch_facts(&self, states: &[StateIndex]) {
        states.iter().for_each(|state| self.facts.prefetch(*state));
    }

    /// Does the name belong to a state? Only while no thread inserts.
    pub(crate) fn is_state(&self, name: StateIndex) -> bool {
        self.fact(name).letter != 0
    }

    /// Was the state expanded?
    pub(crate) fn is_expanded(&self, state: StateIndex) -> bool {
        self.fact(state).expanded != 0
    }

    /// A state was reached with these automaton states. Returns what was known before.
    #[inline]
    pub(super) fn reach(&self, state: StateIndex, copies: u32) -> Fact {
        self.fact_of(self.fact_word(state).fetch_or(copies, Ordering::AcqRel))
    }

    /// Says with which automaton states the state is to be expanded by the caller, and whether it was
    /// never expanded before.
    pub(super) fn claim(&self, state: StateIndex) -> (u32, bool) {
        let fact = self.fact(state);
        let open = fact.reached & !fact.expanded;
        if open == 0 {
            return (0, false);
        }
        let word = self.fact_word(state);
        let before = word.fetch_or(open << self.n_copies, Ordering::AcqRel);
        let before = self.fact_of(before).expanded;
        (open & !before, before == 0)
    }

    /// The number of the node of a state and of the automaton state with this rank among those that
    /// can be on accepted cycles.
    #[inline]
    pub(super) fn node(&self, state: StateIndex, rank: u32) -> NodeId {
        NodeId(state * self.n_recurrent + rank)
    }

    /// The state and the rank of a node.
    #[inline]
    pub(crate) fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        if self.n_recurrent == 1 {
            (node.0, 0)
        } else {
            (node.0 / self.n_recurrent, node.0 % self.n_recurrent)
        }
    }

    /// Keeps some bytes of records, and says where their first one is; nothing if there is no room.
    fn keep(&self, bytes: &[u8]) -> Option<u32> {
        let n_bytes = bytes.len() as u64;
        self.n_edge_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        self.records.lock().expect(NO_PANIC).append(bytes)
    }

    /// The records that have been kept; they are put back with [`Grid::put_records`].
    pub(crate) fn take_records(&self) -> Bytes {
        std::mem::take(&mut *self.records.lock().expect(NO_PANIC))
    }

    /// Puts back what was taken.
    pub(crate) fn put_records(&self, records: Bytes) {
        *self.records.lock().expect(NO_PANIC) = records;
    }

    /// Where the record of a node is.
    #[inline]
    pub(crate) fn record(&self, node: NodeId) -> Option<u32> {
        let place = self.places.row(node.0)[0].load(Ordering::Relaxed);
        place.checked_sub(1)
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let n_states = self.store.len();
        let n_nodes = n_states * self.n_recurrent as usize;
        let per_state = self.facts.memory(n_states) + self.places.memory(n_nodes);
        self.store.memory() + per_state + self.n_edge_bytes.load(Ordering::Relaxed)
    }
}

/// Records of one thread that wait to be kept.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) bytes: Vec<u8>,
    /// The nodes, each with the place of its record among the bytes.
    places: Vec<(NodeId, u32)>,
}

impl Pending {
    /// The record of this node begins here.
    pub(super) fn note(&mut self, node: NodeId) {
        self.places.push((node, self.bytes.len() as u32));
    }

    /// Is there enough to be kept?
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= PENDING_BYTES
    }

    /// Keeps everything. Says whether there was room.
    pub(super) fn flush(&mut self, grid: &Grid) -> bool {
        if self.bytes.is_empty() {
            return true;
        }
        let Some(start) = grid.keep(&self.bytes) else {
            return false;
        };
        for (node, at) in self.places.drain(..) {
            let entry = &grid.places.row(node.0)[0];
            entry.store(start + at + 1, Ordering::Relaxed);
        }
        self.bytes.clear();
        true
    }
}

/// The view of one thread.
pub(crate) struct GridSpace<'c> {
    pub(super) grid: &'c Grid,
    pub(super) names: Names,
    pub(super) letters: Numbers<'c>,
    /// The bytes in use a little while ago.
    pub(super) memory: u64,
}

/// The table of states, which must not be enlarged meanwhile. Nothing if it was let go.
pub(super) type Held<'c> = Option<Reading<'c, Index>>;

impl<'c> GridSpace<'c> {
    pub(crate) fn new(grid: &'c Grid, several_threads: bool) -> Self {
        Self {
            grid,
            names: Names::new(several_threads),
            letters: Numbers::new(&grid.letters),
            memory: grid.memory(),
        }
    }

    /// The name of a state that is guessed to be some stored one, and whether it is new.
    #[inline]
    pub(super) fn insert_guessed(
        &mut self,
        held: &mut Held<'c>,
        words: &[u64],
        (hash, guess): (u64, StateIndex),
    ) -> Option<(StateIndex, bool)> {
        let store = &self.grid.store;
        loop {
            let table = held.get_or_insert_with(|| store.table());
            match store.insert_shared(table, words, hash, guess, &mut self.names) {
                Inserted::New(index) => return Some((index, true)),
                Inserted::Old(index) => return Some((index, false)),
                Inserted::Full => {
                    *held = None;
                    store.grow()?;
                }
            }
        }
    }
}

impl<'c> Space for GridSpace<'c> {
    type Held = Held<'c>;

    fn hold(&self) -> Held<'c> {
        Some(self.grid.store.table())
    }

    fn n_states(&self) -> usize {
        self.grid.store.len()
    }

    fn read(&self, state: StateIndex, out: &mut [u64]) {
        self.grid.store.read(state, out);
    }

    fn insert(
        &mut self,
        held: &mut Held<'c>,
        words: &[u64],
        hash: u64,
    ) -> Option<(StateIndex, bool)> {
        let table = held.get_or_insert_with(|| self.grid.store.table());
        let guess = self.grid.store.guess(table, hash);
        self.insert_guessed(held, words, (hash, guess))
    }

    fn hash_targets(&mut self, held: &mut Held<'c>, steps: &Steps, hashes: &mut Vec<u64>) {
        let table = held.get_or_insert_with(|| self.grid.store.table());
        steps.hash_targets(hashes, table);
    }

    fn set_letter(&mut self, state: StateIndex, letter: &[u64]) {
        let grid = self.grid;
        let number = self.letters.number(letter) + 1;
        let shift = 2 * grid.n_copies;
        if u64::from(number) >> (32 - shift) != 0 {
            grid.is_exhausted.store(true, Ordering::Relaxed);
            return;
        }
        // All threads that get here say the same number.
        grid.fact_word(state)
            .fetch_or(number << shift, Ordering::AcqRel);
    }

    fn letter(&self, state: StateIndex, out: &mut [u64]) -> bool {
        let number = self.grid.fact(state).letter;
        let known = number
            .checked_sub(1)
            .and_then(|number| self.letters.sets.get(number as usize));
        if let Some(letter) = known {
            out.copy_from_slice(letter);
        }
        known.is_some()
    }

    fn n_steps(&self, _: StateIndex) -> Option<u32> {
        None
    }

    // Steps are counted where states are expanded for the first time: in `harvest.rs`.

    fn set_n_steps(&mut self, _: StateIndex, _: u32) -> bool {
        false
    }

    // All steps of all states are taken.

    fn begin_selection(&mut self, _: &mut Held<'c>, _: StateIndex) -> Selection {
        Selection::All
    }

    fn set_selection(&mut self, _: StateIndex, _: Selection) {}

    fn is_decided(&self, _: StateIndex) -> bool {
        false
    }

    fn node(
        &mut self,
        _: &mut Held<'c>,
        state: StateIndex,
        automaton_state: u32,
    ) -> Option<NodeId> {
        let node = u64::from(state) * u64::from(self.grid.n_copies) + u64::from(automaton_state);
        (node < u64::from(MAX_NODES)).then_some(NodeId(node as u32))
    }

    fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        let n_copies = self.grid.n_copies;
        (node.0 / n_copies, node.0 % n_copies)
    }

    fn n_nodes(&self) -> usize {
        self.grid.n_nodes() as usize
    }

    fn memory(&self) -> u64 {
        self.memory
    }
}
