//! The set of states met so far.
//!
//! States are named by the order of their arrival; [`crate::table`] finds the name of a state. Short
//! states are kept as they are. Of longer ones the two halves are kept, each once, and a state is
//! the names of its halves: a step changes little, so there are far fewer halves than states (one
//! level of the tree compression of Laarman, van de Pol and Weber, *Parallel recursive state
//! compression for free*, 2011, DOI 10.1007/978-3-642-22306-8_4). Both ways are exact.
//!
//! Several threads may insert at once; only growing needs the tables alone.

use std::ops::Range;

use crate::gate::{Gate, Reading};
use crate::rows::{self, Inserted, Rows};
use crate::table::Table;

/// The name of a stored state.
pub type StateIndex = u32;

/// No name: the place of a state that was not found.
pub const NOBODY: StateIndex = StateIndex::MAX;

/// An exact set of states of equal length.
#[derive(Debug)]
pub struct StateStore {
    kept: Kept,
    tables: Gate<Index>,
    /// For a single thread.
    names: Names,
    /// There are fewer names than two to the power of this.
    max_name_bits: u32,
}

/// The states, without the tables that find them.
#[derive(Debug)]
struct Kept {
    n_words: usize,
    /// The states, or the names of their halves: the first in the upper half of a word.
    states: Rows,
    halves: Option<[Rows; 2]>,
}

/// The tables of states and of halves.
#[derive(Debug)]
pub struct Index {
    states: Table,
    halves: Vec<Table>,
}

/// Names that a thread has taken and not used yet.
#[derive(Clone, Debug)]
pub struct Names {
    states: rows::Names,
    /// Nobody runs through the halves, so names among them may stay without one.
    halves: [rows::Names; 2],
    /// The halves of a state from which the next ones are a step away, so that they often share
    /// one of them.
    near: [StateIndex; 2],
}

impl Names {
    /// For a search by one thread, or by several.
    pub fn new(several_threads: bool) -> Self {
        let names = if several_threads {
            rows::Names::in_blocks()
        } else {
            rows::Names::one_by_one()
        };
        Self {
            halves: [names.clone(), names.clone()],
            states: names,
            near: [NOBODY; 2],
        }
    }

    /// Gives up the names of states that were not used.
    pub fn give_up(&mut self) -> Range<StateIndex> {
        self.states.give_up()
    }
}

/// Shorter states are not torn apart: it would save little, and looking up halves takes time.
const MIN_SPLIT_WORDS: usize = 6;

/// Smaller tables and their states stay in the caches anyway.
const MIN_PREFETCHED_BITS: u32 = 16;

impl Index {
    /// Asks the processor for where a state with this hash is looked up first. Halves are looked up
    /// for new states only, and there are few of them.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.states.prefetch(hash);
    }

    /// Asks the processor for where a state with this hash will be entered.
    #[inline]
    pub fn prefetch_to_write(&self, hash: u64) {
        self.states.prefetch_to_write(hash);
    }
}

impl StateStore {
    /// Names always have fewer bits than a slot of the table.
    pub const MAX_NAME_BITS: u32 = Table::MAX_NAME_BITS;

    /// An empty set of states of so many words.
    #[must_use]
    pub fn new(n_words: usize) -> Self {
        Self::limited(n_words, Self::MAX_NAME_BITS)
    }

    /// An empty set of states of so many words with fewer names than two to the power of
    /// `max_name_bits`.
    #[must_use]
    pub fn limited(n_words: usize, max_name_bits: u32) -> Self {
        let first = n_words / 2;
        let halves =
            (n_words >= MIN_SPLIT_WORDS).then(|| [Rows::new(first), Rows::new(n_words - first)]);
        let n_halves = if halves.is_some() { 2 } else { 0 };
        Self {
            kept: Kept {
                n_words,
                states: Rows::new(if halves.is_some() { 1 } else { n_words }),
                halves,
            },
            tables: Gate::new(Index {
                states: Table::new(),
                halves: (0..n_halves).map(|_| Table::new()).collect(),
            }),
            names: Names::new(false),
            max_name_bits: max_name_bits.min(Self::MAX_NAME_BITS),
        }
    }

    /// How many names are given away.
    #[inline]
    pub fn len(&self) -> usize {
        self.kept.states.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies a state.
    #[inline]
    pub fn read(&self, index: StateIndex, out: &mut [u64]) {
        self.kept.read(index, out);
    }

    /// A copy of a state.
    pub fn get(&self, index: StateIndex) -> Vec<u64> {
        let mut words = vec![0; self.kept.n_words];
        self.read(index, &mut words);
        words
    }

    /// The hash by which states are found.
    #[inline]
    #[must_use]
    pub fn hash(state: &[u64]) -> u64 {
        hash(state)
    }

    /// The tables, shared with other threads that insert.
    #[inline]
    pub fn table(&self) -> Reading<'_, Index> {
        self.tables.read()
    }

    /// The tables, for the only thread.
    #[inline]
    pub fn table_mut(&mut self) -> &mut Index {
        self.tables.get_mut()
    }

    /// The state that probably is the one with this hash, or [`NOBODY`]; the processor is asked for
    /// it. The place in the table should have arrived before.
    #[inline]
    pub fn guess(&self, index: &Index, hash: u64) -> StateIndex {
        let Some(guess) = index.states.first_candidate(hash) else {
            return NOBODY;
        };
        if index.states.name_bits >= MIN_PREFETCHED_BITS {
            self.kept.states.prefetch(guess);
        }
        guess
    }

    /// The name of the state, and whether it is new; `None` if there are no names left. For a
    /// single thread.
    pub fn insert(&mut self, state: &[u64], hash: u64) -> Option<(StateIndex, bool)> {
        loop {
            let index = self.tables.get_mut();
            let inserted = if self.kept.halves.is_none() {
                let names = &mut self.names.states;
                self.kept.states.insert(&index.states, state, hash, names)
            } else {
                // A good guess spares looking up halves.
                let guess = index.states.first_candidate(hash).unwrap_or(NOBODY);
                self.kept.insert(index, state, hash, guess, &mut self.names)
            };
            let (index, is_new) = match inserted {
                Inserted::New(index) => (index, true),
                Inserted::Old(index) => (index, false),
                Inserted::Full => {
                    self.grow()?;
                    continue;
                }
            };
            self.names.near = self.kept.halves_of(index);
            return Some((index, is_new));
        }
    }

    /// For each hash, the state that probably has it; the processor is asked for them. The places
    /// in the table should have arrived before.
    ///
    /// The first name must have been given away, and no thread may still be writing its vector: it is
    /// the guess where there is no other, and is compared without having been found in the table.
    /// So initial states are looked up otherwise; when levels are expanded, the thread that took the first
    /// names has used or given them up. Were it given up, its vector is that of a state which was
    /// found under another name.
    pub fn guess_all(&self, index: &Index, hashes: &[u64], guesses: &mut Vec<StateIndex>) {
        let states = &index.states;
        guesses.clear();
        // The first state is as good a guess as any.
        let guess = |hash: &u64| states.first_candidate_or(*hash, 0);
        if states.name_bits < MIN_PREFETCHED_BITS {
            guesses.extend(hashes.iter().map(guess));
            return;
        }
        guesses.extend(hashes.iter().map(guess).inspect(|guess| {
            self.kept.states.prefetch(*guess);
        }));
    }

    /// The positions of those states that are not where they were guessed. Most states were met
    /// before, and most guesses are right, so there is not much left to be looked up.
    pub fn select_unknown(&self, states: &[u64], guesses: &[StateIndex], unknown: &mut Vec<u32>) {
        unknown.clear();
        let kept = &self.kept;
        if kept.halves.is_none() && kept.n_words > 0 {
            return kept.states.select_unknown(states, guesses, unknown);
        }
        let state = |position: usize| &states[position * kept.n_words..][..kept.n_words];
        let is_unknown = |position: usize| !kept.is_at(guesses[position], state(position));
        rows::select((0..guesses.len()).map(is_unknown), unknown);
    }

    /// Asks the processor for the halves of the guessed states, which should have arrived before.
    /// The guesses are those of [`Self::guess_all`].
    pub fn prefetch_halves(&self, index: &Index, guesses: &[StateIndex]) {
        let Some([first, second]) = &self.kept.halves else {
            return;
        };
        if index.states.name_bits < MIN_PREFETCHED_BITS {
            return;
        }
        for guess in guesses {
            let [left, right] = self.kept.halves_of(*guess);
            first.prefetch(left);
            second.prefetch(right);
        }
    }

    /// Asks the processor for where the halves of a state are looked up that differ from those of
    /// a state one step before, with which it is compared when it is inserted.
    #[inline]
    pub fn prefetch_to_insert(&self, index: &Index, state: &[u64], before: &[u64]) {
        let Some([first, _]) = &self.kept.halves else {
            return;
        };
        let (left, right) = state.split_at(first.width());
        let (old_left, old_right) = before.split_at(first.width());
        for (table, half, old) in [
            (&index.halves[0], left, old_left),
            (&index.halves[1], right, old_right),
        ] {
            if half != old && table.name_bits >= MIN_PREFETCHED_BITS {
                table.prefetch(hash(half));
            }
        }
    }

    /// Are the halves of states kept instead of states?
    #[must_use]
    pub fn has_halves(&self) -> bool {
        self.kept.halves.is_some()
    }

    /// Inserts, perhaps while other threads do. The guess may be wrong, and may be [`NOBODY`].
    #[inline]
    pub fn insert_shared(
        &self,
        index: &Index,
        state: &[u64],
        hash: u64,
        guess: StateIndex,
        names: &mut Names,
    ) -> Inserted {
        self.kept.insert(index, state, hash, guess, names)
    }

    /// The next states to be inserted with these names are a step away from this one.
    #[inline]
    pub fn stay_near(&self, index: StateIndex, names: &mut Names) {
        names.near = self.kept.halves_of(index);
    }

    /// Makes room, unless another thread has done so. `None` if there are no names left.
    pub fn grow(&self) -> Option<()> {
        let mut index = self.tables.write();
        let Index { states, halves } = &mut *index;
        let max_bits = self.max_name_bits;
        let kept = &self.kept;
        let read = |index: StateIndex, words: &mut [u64]| self.read(index, words);
        make_room(&kept.states, states, (kept.n_words, max_bits), read)?;
        for (rows, table) in kept.halves.iter().flatten().zip(halves) {
            let read = |index: StateIndex, words: &mut [u64]| rows.read(index, words);
            make_room(rows, table, (rows.width(), max_bits), read)?;
        }
        Some(())
    }

    /// The bytes in use.
    pub fn memory(&self) -> u64 {
        let tables = self.table();
        let rows = self.kept.halves.iter().flatten().chain([&self.kept.states]);
        let tables = tables.halves.iter().chain([&tables.states]);
        rows.map(Rows::memory).sum::<u64>() + tables.map(Table::memory).sum::<u64>()
    }
}

impl Kept {
    /// Copies a state.
    #[inline]
    fn read(&self, index: StateIndex, out: &mut [u64]) {
        let Some([first, second]) = &self.halves else {
            return self.states.read(index, out);
        };
        let [left, right] = self.halves_of(index);
        let (left_out, right_out) = out.split_at_mut(first.width());
        first.read(left, left_out);
        second.read(right, right_out);
    }

    /// The names of the halves of a state, if states are kept so.
    #[inline]
    fn halves_of(&self, index: StateIndex) -> [StateIndex; 2] {
        if self.halves.is_none() {
            return [NOBODY; 2];
        }
        let mut pair = [0];
        self.states.read(index, &mut pair);
        [(pair[0] >> 32) as u32, pair[0] as u32]
    }

    /// Does a name that is in the table, or [`NOBODY`], stand for this state?
    #[inline]
    fn is_at(&self, index: StateIndex, state: &[u64]) -> bool {
        if index == NOBODY {
            return false;
        }
        let Some([first, second]) = &self.halves else {
            return self.states.is_at(index, state);
        };
        let names = self.halves_of(index);
        let (left, right) = state.split_at(first.width());
        first.is_at(names[0], left) && second.is_at(names[1], right)
    }

    /// Inserts, perhaps while other threads do.
    #[inline]
    fn insert(
        &self,
        index: &Index,
        state: &[u64],
        hash: u64,
        guess: StateIndex,
        names: &mut Names,
    ) -> Inserted {
        // Most states were met before, and most guesses are right: then nothing is looked up.
        if self.is_at(guess, state) {
            return Inserted::Old(guess);
        }

        let Some(halves) = &self.halves else {
            return self
                .states
                .insert(&index.states, state, hash, &mut names.states);
        };
        let (left, right) = state.split_at(halves[0].width());
        let mut pair = names.near;

        for (i, half) in [left, right].into_iter().enumerate() {
            if halves[i].has(pair[i], half) {
                continue;
            }
            let hash = self::hash(half);
            match halves[i].insert(&index.halves[i], half, hash, &mut names.halves[i]) {
                Inserted::New(name) | Inserted::Old(name) => pair[i] = name,
                Inserted::Full => return Inserted::Full,
            }
        }

        let pair = u64::from(pair[0]) << 32 | u64::from(pair[1]);
        self.states
            .insert(&index.states, &[pair], hash, &mut names.states)
    }
}

/// Doubles a table if there is not enough room. `read` gives the words that are hashed.
fn make_room(
    rows: &Rows,
    table: &mut Table,
    (n_words, max_name_bits): (usize, u32),
    read: impl Fn(StateIndex, &mut [u64]),
) -> Option<()> {
    if rows.has_room(table) {
        return Some(());
    }
    if table.name_bits >= max_name_bits {
        return None;
    }
    let mut words = vec![0; n_words];
    for index in table.double() {
        read(index, &mut words);
        table.put_new(index, hash(&words));
    }
    Some(())
}

/// Folded multiplication, two words at a time (as in wyhash, https://github.com/wangyi-fudan/wyhash);
/// all bits of the input reach all bits of the output.
#[inline]
fn hash(words: &[u64]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = SEED;
    let mut pairs = words.chunks_exact(2);
    for pair in &mut pairs {
        state = fold(pair[0] ^ FACTOR, pair[1] ^ state).wrapping_add(SEED);
    }
    for word in pairs.remainder() {
        state = fold(state ^ word, FACTOR).wrapping_add(SEED);
    }
    fold(state, FACTOR)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::table::FIRST_NAME_BITS;

    /// How many states are inserted: enough for the table to grow, also where every step is slow.
    const N_STATES: u64 = if cfg!(miri) { 300 } else { 100_000 };

    fn state(i: u64) -> [u64; 2] {
        [i % 317, i / 317]
    }

    #[test]
    fn halves_make_the_states_that_were_stored() {
        let mut store = StateStore::new(7);
        let state = |i: u64| [i % 3, i % 317, 0, 0, i / 317, 5, i % 2];
        for round in 0..2 {
            for i in 0..N_STATES {
                let state = state(i);
                let inserted = store.insert(&state, StateStore::hash(&state));
                assert_eq!(inserted, Some((i as u32, round == 0)));
                assert_eq!(store.get(i as u32), state);
            }
        }
        // Few halves: the states take little more than their names and the table.
        let memory = store.memory();
        assert!(cfg!(miri) || memory < 20 * N_STATES, "{memory}");
    }

    #[test]
    fn every_state_has_one_name() {
        let mut store = StateStore::new(2);
        for round in 0..2 {
            for i in 0..N_STATES {
                let state = state(i);
                let inserted = store.insert(&state, StateStore::hash(&state));
                assert_eq!(inserted, Some((i as u32, round == 0)));
                assert_eq!(store.get(i as u32), state);
            }
        }
        assert_eq!(store.len() as u64, N_STATES);
    }

    #[test]
    fn there_is_an_end_of_names() {
        for n_words in [1, 7] {
            let mut store = StateStore::limited(n_words, FIRST_NAME_BITS);
            let state = |i: u64| vec![i; n_words];
            let mut insert = |i: u64| store.insert(&state(i), StateStore::hash(&state(i)));
            // An eighth of the slots stays empty.
            let end = 7 << (FIRST_NAME_BITS - 3);
            for i in 0..end {
                assert_eq!(insert(i), Some((i as u32, true)));
            }
            assert_eq!(insert(end), None);
            assert_eq!(insert(5), Some((5, false)));
        }
    }

    #[test]
    fn threads_agree_on_names() {
        let store = StateStore::new(2);
        let insert_all = |from: u64| {
            let mut found = Vec::new();
            let mut names = Names::new(true);
            for i in (0..N_STATES).map(|i| (i + from) % N_STATES) {
                let state = state(i);
                let name = loop {
                    let inserted = {
                        let table = store.table();
                        let hash = StateStore::hash(&state);
                        let guess = store.guess(&table, hash);
                        store.insert_shared(&table, &state, hash, guess, &mut names)
                    };
                    match inserted {
                        Inserted::New(name) | Inserted::Old(name) => break name,
                        Inserted::Full => store.grow().expect("there are names left"),
                    }
                };
                found.push((i, name));
            }
            found.sort_unstable();
            (found, names.give_up().len())
        };

        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| insert_all(N_STATES / 3));
            (insert_all(0), other.join().expect("no panic"))
        });
        assert_eq!(first.0, second.0);
        assert_eq!(store.len(), N_STATES as usize + first.1 + second.1);
    }

    #[test]
    fn hashes_of_neighbours_differ_in_both_halves() {
        for half in [0, 32] {
            let tags: std::collections::BTreeSet<u32> =
                (0..N_STATES).map(|i| (hash(&[i]) >> half) as u32).collect();
            // Random 32-bit numbers would collide about once.
            assert!(tags.len() as u64 > N_STATES - 10, "{}", tags.len());
        }
    }
}
