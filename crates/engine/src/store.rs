//! The set of states met so far.
//!
//! States lie one after the other and are named by their position. An open-addressing table maps
//! their words back to that name. A slot has 32 bits: the name in as many low bits as the table's
//! size needs, and bits of the hash above it, which spare most comparisons. The table grows by half
//! when it is three quarters full; it is filled again from the states, which are read in order.
//!
//! Several threads may insert at once. A state is written before its name is published, and names
//! are published by compare-and-swap, so a reader that finds a name finds the whole state. Only
//! growing needs the table for itself.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

use crate::chunked::{Chunked, Entry};

/// The name of a stored state.
pub(crate) type StateIndex = u32;

/// An exact set of states of equal length.
#[derive(Debug)]
pub(crate) struct StateStore {
    pub(crate) states: States,
    table: RwLock<Table>,
}

/// The states, by name.
#[derive(Debug)]
pub(crate) struct States {
    n_words: usize,
    rows: Chunked<AtomicU64>,
    /// How many names are given away.
    len: AtomicU32,
}

/// The slots. Invariant: at least a quarter of them is empty, so probing ends.
#[derive(Debug)]
pub(crate) struct Table {
    /// Zero, or a name plus one with hash bits above it.
    slots: Box<[AtomicU32]>,
    name_bits: u32,
    /// Names up to this one fit.
    capacity: u32,
}

/// How an insertion ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// The state is new and has this name.
    New(StateIndex),
    /// The state was there.
    Old(StateIndex),
    /// The table must grow first.
    Full,
}

/// A name taken but not given to a state yet; one for each inserting thread.
pub(crate) type Spare = Option<StateIndex>;

const FIRST_SLOTS: usize = 1024;

/// How many states are on their way into a growing table at once.
const N_AHEAD: usize = 32;

const NO_PANIC: &str = "no thread panics while it holds the table";

impl StateStore {
    pub(crate) fn new(n_words: usize) -> Self {
        Self {
            states: States {
                n_words,
                rows: Chunked::new(n_words),
                len: AtomicU32::new(0),
            },
            table: RwLock::new(Table::new(FIRST_SLOTS)),
        }
    }

    /// How many names are given away.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Copies a state.
    pub(crate) fn read(&self, index: StateIndex, out: &mut [u64]) {
        self.states.read(index, out);
    }

    /// A copy of a state.
    pub(crate) fn get(&self, index: StateIndex) -> Vec<u64> {
        let mut words = vec![0; self.states.n_words];
        self.read(index, &mut words);
        words
    }

    /// The hash by which states are found.
    pub(crate) fn hash(state: &[u64]) -> u64 {
        hash(state)
    }

    /// The table, shared with other threads that insert.
    pub(crate) fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().expect(NO_PANIC)
    }

    /// The table, for the only thread.
    pub(crate) fn table_mut(&mut self) -> &mut Table {
        self.table.get_mut().expect(NO_PANIC)
    }

    /// The name of the state, and whether it is new; `None` if there are no names left. For a
    /// single thread.
    pub(crate) fn insert(&mut self, state: &[u64], hash: u64) -> Option<(StateIndex, bool)> {
        loop {
            let table = self.table.get_mut().expect(NO_PANIC);
            match self.states.insert(table, state, hash, &mut None) {
                Inserted::New(index) => return Some((index, true)),
                Inserted::Old(index) => return Some((index, false)),
                Inserted::Full => self.grow()?,
            }
        }
    }

    /// Makes room, unless another thread has done so. `None` if there are no names left.
    pub(crate) fn grow(&self) -> Option<()> {
        let mut table = self.table.write().expect(NO_PANIC);
        if self.len() < table.capacity as usize {
            return Some(());
        }
        if table.capacity == Table::MAX_CAPACITY {
            return None;
        }
        let bigger = Table::new(table.slots.len() + table.slots.len() / 2);
        let mut words = vec![0; self.states.n_words];
        // Unused spare names are not in the table, so the table says which states exist. Reading
        // the states in order of their names is what makes this fast.
        let mut exists = vec![0_u64; self.len().div_ceil(64)];
        for slot in &table.slots {
            let name = slot.load(Ordering::Relaxed) & table.name_mask();
            if name != 0 {
                base::bits::set(&mut exists, name as usize - 1);
            }
        }
        // Slots are asked for a while before they are filled; waiting for each would be most of the
        // time.
        let mut ahead = VecDeque::with_capacity(N_AHEAD);
        for index in base::bits::iter(&exists) {
            self.read(index as u32, &mut words);
            let hash = hash(&words);
            bigger.prefetch(hash);
            if ahead.len() == N_AHEAD
                && let Some((index, hash)) = ahead.pop_front()
            {
                bigger.put_new(index, hash);
            }
            ahead.push_back((index as u32, hash));
        }
        ahead
            .into_iter()
            .for_each(|(index, hash)| bigger.put_new(index, hash));
        *table = bigger;
        Some(())
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let slots = self.table().slots.len() as u64 * 4;
        self.states.rows.memory(self.len()) + slots
    }
}

impl States {
    fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    fn read(&self, index: StateIndex, out: &mut [u64]) {
        for (word, stored) in out.iter_mut().zip(self.rows.row(index)) {
            *word = stored.load(Ordering::Relaxed);
        }
    }

    /// Inserts, perhaps while other threads do. A name left in `spare` belongs to the caller, who
    /// gives it back by inserting again, or must count it as unused.
    pub(crate) fn insert(
        &self,
        table: &Table,
        state: &[u64],
        hash: u64,
        spare: &mut Spare,
    ) -> Inserted {
        let tag = table.tag(hash);
        let mut position = table.first_slot(hash);
        loop {
            let slot = &table.slots[position];
            let entry = slot.load(Ordering::Acquire);
            if entry == 0 {
                let Some(index) = self.reserve(table, spare) else {
                    return Inserted::Full;
                };
                for (word, stored) in state.iter().zip(self.rows.row(index)) {
                    stored.store(*word, Ordering::Relaxed);
                }
                let entry = tag | (index + 1);
                let published =
                    slot.compare_exchange(0, entry, Ordering::AcqRel, Ordering::Acquire);
                if published.is_ok() {
                    *spare = None;
                    return Inserted::New(index);
                }
                // Another thread was faster; look at what it has put here.
                continue;
            }
            if entry & !table.name_mask() == tag {
                let index = (entry & table.name_mask()) - 1;
                if self.is_at(index, state) {
                    return Inserted::Old(index);
                }
            }
            position += 1;
            if position == table.slots.len() {
                position = 0;
            }
        }
    }

    fn reserve(&self, table: &Table, spare: &mut Spare) -> Option<StateIndex> {
        if spare.is_none() {
            let next = self.len.fetch_add(1, Ordering::AcqRel);
            if next >= table.capacity {
                self.len.fetch_sub(1, Ordering::AcqRel);
                return None;
            }
            *spare = Some(next);
        }
        *spare
    }

    fn is_at(&self, index: StateIndex, state: &[u64]) -> bool {
        let stored = self.rows.row(index);
        state
            .iter()
            .zip(stored)
            .all(|(a, b)| *a == b.load(Ordering::Relaxed))
    }
}

impl Table {
    const MAX_CAPACITY: u32 = u32::MAX - 1;

    fn new(n_slots: usize) -> Self {
        let capacity = u32::try_from(n_slots / 4 * 3).unwrap_or(Self::MAX_CAPACITY);
        let capacity = capacity.min(Self::MAX_CAPACITY);
        Self {
            slots: AtomicU32::zeroed(n_slots),
            name_bits: 32 - capacity.leading_zeros(),
            capacity,
        }
    }

    fn name_mask(&self) -> u32 {
        u32::MAX >> (32 - self.name_bits)
    }

    fn tag(&self, hash: u64) -> u32 {
        hash as u32 & !self.name_mask()
    }

    fn first_slot(&self, hash: u64) -> usize {
        // The upper half of the hash as a fraction of the table.
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// Enters a state that is not in the table, which nobody else uses.
    fn put_new(&self, index: StateIndex, hash: u64) {
        let mut position = self.first_slot(hash);
        while self.slots[position].load(Ordering::Relaxed) != 0 {
            position += 1;
            if position == self.slots.len() {
                position = 0;
            }
        }
        self.slots[position].store(self.tag(hash) | (index + 1), Ordering::Relaxed);
    }

    /// Asks the processor for the slot that a hash belongs to. A little later the state is looked
    /// up, and by then the slot has arrived from memory; without this, waiting for it is most of
    /// the time of a search.
    pub(crate) fn prefetch(&self, hash: u64) {
        let slot = self.first_slot(hash);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching has no effect but on caches, and `slot` lies inside the table.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.slots.as_ptr().add(slot).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }
}

/// Folded multiplication, word by word; all bits of the input reach all bits of the output.
fn hash(words: &[u64]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = SEED;
    for word in words {
        state = fold(state ^ word, FACTOR).wrapping_add(SEED);
    }
    fold(state, FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(i: u64) -> [u64; 2] {
        [i % 317, i / 317]
    }

    #[test]
    fn every_state_has_one_name() {
        let mut store = StateStore::new(2);
        for round in 0..2 {
            for i in 0..100_000 {
                let state = state(i);
                let inserted = store.insert(&state, StateStore::hash(&state));
                assert_eq!(inserted, Some((i as u32, round == 0)));
                assert_eq!(store.get(i as u32), state);
            }
        }
        assert_eq!(store.len(), 100_000);
    }

    #[test]
    fn threads_agree_on_names() {
        let store = StateStore::new(2);
        let insert_all = |from: u64| {
            let mut names = Vec::new();
            let mut spare = None;
            for i in (0..50_000).map(|i| (i + from) % 50_000) {
                let state = state(i);
                let name = loop {
                    let inserted = {
                        let table = store.table();
                        store
                            .states
                            .insert(&table, &state, StateStore::hash(&state), &mut spare)
                    };
                    match inserted {
                        Inserted::New(name) | Inserted::Old(name) => break name,
                        Inserted::Full => store.grow().expect("there are names left"),
                    }
                };
                names.push((i, name));
            }
            names.sort_unstable();
            (names, usize::from(spare.is_some()))
        };
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| insert_all(20_000));
            (insert_all(0), other.join().expect("no panic"))
        });
        assert_eq!(first.0, second.0);
        assert_eq!(store.len(), 50_000 + first.1 + second.1);
    }

    #[test]
    fn hashes_of_neighbours_differ_in_both_halves() {
        for half in [0, 32] {
            let tags: std::collections::BTreeSet<u32> = (0..100_000_u64)
                .map(|i| (hash(&[i]) >> half) as u32)
                .collect();
            // Random 32-bit numbers would collide about once.
            assert!(tags.len() > 99_990, "{}", tags.len());
        }
    }
}
