//! The set of states met so far.
//!
//! States lie one after the other and are named by their position. A table maps their words back to
//! that name. It consists of buckets of one cache line each, with 16 slots of 32 bits. A slot holds
//!
//! | bits | what |
//! | --- | --- |
//! | as many as the number of slots needs | the name plus one, or zero: an empty slot |
//! | one more | is the state in another bucket than its own, because that was full? |
//! | the rest | the tag: bits of the hash, which spare most comparisons |
//!
//! The upper bits of the hash say which bucket a state belongs to, and the tag is what follows
//! them. So bucket and tag together always are the upper [`HASH_BITS`] bits of the hash, and a table
//! of twice the size needs no hashes to be filled: the first bit of the tag tells to which half of
//! its bucket a state goes, and becomes a bit of the name. Doubling is one pass over the table, in
//! place, from its end to its beginning; only the few states that are not in their own bucket are
//! looked at again.
//!
//! Several threads may insert at once. A state is written before its name is published, and names
//! are published by compare-and-swap, so a reader that finds a name finds the whole state. Only
//! growing needs the table for itself.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

use crate::chunked::Chunked;
use crate::region::{Region, Zero};

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
    len: OwnLine<AtomicU32>,
}

/// Something that threads write often, on a cache line of its own: otherwise whoever reads what is
/// next to it would wait for them.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct OwnLine<T>(pub(crate) T);

/// The slots. Invariant: at least an eighth of them is empty, so probing ends.
#[derive(Debug)]
pub(crate) struct Table {
    region: Region,
    /// The number of slots is two to the power of this.
    name_bits: u32,
    /// Names up to this one fit.
    capacity: u32,
}

/// Slots that share a cache line. They are filled from the first on.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket {
    slots: [AtomicU32; BUCKET_LEN],
}

// SAFETY: numbers may be zero.
#[allow(unsafe_code, reason = "tells which type a table has")]
unsafe impl Zero for Bucket {}

const BUCKET_LEN: usize = 16;

/// How many upper bits of a hash bucket and tag make up: the bits of a slot less those of a name,
/// the bit for states in other buckets, and those that tell the slots of a bucket apart.
const HASH_BITS: u32 = 32 - 1 - BUCKET_LEN.ilog2();

/// What a look at a bucket shows.
#[derive(Clone, Copy, Debug)]
struct Scan {
    /// The slots with the right tag, as bits.
    matches: u32,
    /// Slots from this one on are empty.
    n_used: usize,
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

/// The least logarithm of the number of slots.
const FIRST_NAME_BITS: u32 = 10;

/// Smaller tables and their states stay in the caches anyway.
const MIN_PREFETCHED_BITS: u32 = 16;

const NO_PANIC: &str = "no thread panics while it holds the table";

impl StateStore {
    pub(crate) fn new(n_words: usize) -> Self {
        Self {
            states: States {
                n_words,
                rows: Chunked::new(n_words),
                len: OwnLine(AtomicU32::new(0)),
            },
            table: RwLock::new(Table::new(FIRST_NAME_BITS)),
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

    /// Asks the processor for the state that will be compared with one of this hash, if any. Its
    /// bucket should have arrived before.
    pub(crate) fn prefetch_row(&self, table: &Table, hash: u64) {
        if table.name_bits >= MIN_PREFETCHED_BITS
            && let Some(index) = table.first_candidate(hash)
        {
            prefetch(self.states.rows.row(index).as_ptr());
        }
    }

    /// The name of the state, and whether it is new; `None` if there are no names left. For a
    /// single thread.
    pub(crate) fn insert(&mut self, state: &[u64], hash: u64) -> Option<(StateIndex, bool)> {
        loop {
            let table = self.table.get_mut().expect(NO_PANIC);
            match self
                .states
                .insert(table, state, hash, &mut Names::one_by_one())
            {
                Inserted::New(index) => return Some((index, true)),
                Inserted::Old(index) => return Some((index, false)),
                Inserted::Full => self.grow()?,
            }
        }
    }

    /// Makes room, unless another thread has done so. `None` if there are no names left.
    pub(crate) fn grow(&self) -> Option<()> {
        let mut table = self.table.write().expect(NO_PANIC);
        if self.len() + Names::MAX_BLOCK as usize <= table.capacity as usize {
            return Some(());
        }
        if table.name_bits == Table::MAX_NAME_BITS {
            return None;
        }
        let mut words = vec![0; self.states.n_words];
        for index in table.double() {
            self.read(index, &mut words);
            table.put_new(index, hash(&words));
        }
        Some(())
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        let table = self.table().buckets().len() as u64 * size_of::<Bucket>() as u64;
        self.states.rows.memory(self.len()) + table
    }
}

/// Names that a thread has taken and not given to states yet.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    taken: Range<StateIndex>,
    block: u32,
}

impl Names {
    const MAX_BLOCK: u32 = 64;

    /// Takes names when they are needed. Without other threads, all are used.
    pub(crate) fn one_by_one() -> Self {
        Self {
            taken: 0..0,
            block: 1,
        }
    }

    /// Takes many at once, so that threads do not disturb each other.
    pub(crate) fn in_blocks() -> Self {
        Self {
            taken: 0..0,
            block: Self::MAX_BLOCK,
        }
    }

    /// Gives up the names that were not used.
    pub(crate) fn give_up(&mut self) -> Range<StateIndex> {
        std::mem::replace(&mut self.taken, 0..0)
    }
}

impl States {
    fn len(&self) -> usize {
        self.len.0.load(Ordering::Acquire) as usize
    }

    fn read(&self, index: StateIndex, out: &mut [u64]) {
        for (word, stored) in out.iter_mut().zip(self.rows.row(index)) {
            *word = stored.load(Ordering::Relaxed);
        }
    }

    /// Inserts, perhaps while other threads do.
    pub(crate) fn insert(
        &self,
        table: &Table,
        state: &[u64],
        hash: u64,
        names: &mut Names,
    ) -> Inserted {
        let (mut bucket, tag) = table.home(hash);
        let mut displaced = 0;
        loop {
            let slots = &table.buckets()[bucket].slots;
            let Scan {
                mut matches,
                n_used,
            } = table.scan(bucket, tag);
            while matches != 0 {
                let entry = slots[matches.trailing_zeros() as usize].load(Ordering::Acquire);
                if let Some(index) = self.found(table, entry, tag, state) {
                    return Inserted::Old(index);
                }
                matches &= matches - 1;
            }
            for slot in &slots[n_used..] {
                let Some(index) = self.reserve(table, names) else {
                    return Inserted::Full;
                };
                for (word, stored) in state.iter().zip(self.rows.row(index)) {
                    stored.store(*word, Ordering::Relaxed);
                }
                let new = tag | displaced | (index + 1);
                match slot.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        names.taken.start += 1;
                        return Inserted::New(index);
                    }
                    // Another thread was faster; look at what it has put here.
                    Err(entry) => {
                        if let Some(index) = self.found(table, entry, tag, state) {
                            return Inserted::Old(index);
                        }
                    }
                }
            }
            bucket = table.next(bucket);
            displaced = table.displaced();
        }
    }

    /// The name in a slot, if it is that of the state.
    fn found(&self, table: &Table, entry: u32, tag: u32, state: &[u64]) -> Option<StateIndex> {
        let index = (entry & table.name_mask()) - 1;
        let is_same = (entry ^ tag) & table.tag_mask() == 0 && self.is_at(index, state);
        is_same.then_some(index)
    }

    /// The next name; it is not used up yet.
    fn reserve(&self, table: &Table, names: &mut Names) -> Option<StateIndex> {
        if names.taken.is_empty() {
            let next = self.len.0.fetch_add(names.block, Ordering::AcqRel);
            if next + names.block > table.capacity {
                self.len.0.fetch_sub(names.block, Ordering::AcqRel);
                return None;
            }
            names.taken = next..next + names.block;
        }
        Some(names.taken.start)
    }

    fn is_at(&self, index: StateIndex, state: &[u64]) -> bool {
        let stored = self.rows.row(index);
        if let ([word], [only]) = (state, stored) {
            return *word == only.load(Ordering::Relaxed);
        }
        state
            .iter()
            .zip(stored)
            .all(|(a, b)| *a == b.load(Ordering::Relaxed))
    }
}

impl Table {
    /// Then tags have no bits left.
    const MAX_NAME_BITS: u32 = 31;

    fn new(name_bits: u32) -> Self {
        let n_slots = 1_usize << name_bits;
        Self {
            region: Region::new(n_slots * size_of::<AtomicU32>()),
            name_bits,
            capacity: (n_slots / 8 * 7) as u32,
        }
    }

    fn buckets(&self) -> &[Bucket] {
        self.region.slice()
    }

    fn name_mask(&self) -> u32 {
        (1 << self.name_bits) - 1
    }

    /// The bit of states that are not in their own bucket.
    fn displaced(&self) -> u32 {
        1 << self.name_bits
    }

    fn tag_mask(&self) -> u32 {
        !(self.name_mask() | self.displaced())
    }

    /// The bucket that a state belongs to, and its tag where it stands in a slot.
    fn home(&self, hash: u64) -> (usize, u32) {
        let upper = hash >> (64 - HASH_BITS);
        let tag_bits = Self::MAX_NAME_BITS - self.name_bits;
        let bucket = upper >> tag_bits;
        let tag = (upper << (self.name_bits + 1)) as u32;
        (bucket as usize, tag)
    }

    fn next(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.buckets().len() - 1)
    }

    /// The name of the first state in its own bucket that may have this hash.
    fn first_candidate(&self, hash: u64) -> Option<StateIndex> {
        let (bucket, tag) = self.home(hash);
        let Scan { matches, .. } = self.scan(bucket, tag);
        let slot = self.buckets()[bucket]
            .slots
            .get(matches.trailing_zeros() as usize)?;
        Some((slot.load(Ordering::Relaxed) & self.name_mask()) - 1)
    }

    /// Looks at a whole bucket at once. Other threads may fill slots meanwhile, so what is found is
    /// looked at again.
    #[cfg(target_arch = "x86_64")]
    fn scan(&self, bucket: usize, tag: u32) -> Scan {
        use std::arch::asm;
        use std::arch::x86_64::{
            __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16,
            _mm_packs_epi32, _mm_set1_epi32, _mm_setzero_si128,
        };
        let bucket: *const Bucket = &raw const self.buckets()[bucket];
        let load = |quarter: usize| {
            let value: __m128i;
            // SAFETY: the quarter lies in the bucket and is aligned. The processor reads each of its
            // four slots as one; in Rust, slots that others may write must not be read together.
            unsafe {
                asm!(
                    "movdqa {value}, [{place}]",
                    value = out(xmm_reg) value,
                    place = in(reg) bucket.cast::<__m128i>().add(quarter),
                    options(nostack, readonly, preserves_flags)
                );
            }
            value
        };
        let quarters = [load(0), load(1), load(2), load(3)];
        // SAFETY: every processor of this kind has these instructions.
        unsafe {
            let (mask, tag) = (
                _mm_set1_epi32(self.tag_mask() as i32),
                _mm_set1_epi32(tag as i32),
            );
            let gather = |quarters: [__m128i; 4]| {
                let [a, b, c, d] = quarters;
                let bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
                _mm_movemask_epi8(bytes) as u32
            };
            let matching = quarters.map(|slots| _mm_cmpeq_epi32(_mm_and_si128(slots, mask), tag));
            let empty = quarters.map(|slots| _mm_cmpeq_epi32(slots, _mm_setzero_si128()));
            let empty = gather(empty);
            Scan {
                matches: gather(matching) & !empty,
                n_used: (empty | 1 << BUCKET_LEN).trailing_zeros() as usize,
            }
        }
    }

    /// Looks at a whole bucket at once. Other threads may fill slots meanwhile, so what is found is
    /// looked at again.
    #[cfg(not(target_arch = "x86_64"))]
    fn scan(&self, bucket: usize, tag: u32) -> Scan {
        let mut scan = Scan {
            matches: 0,
            n_used: 0,
        };
        for slot in &self.buckets()[bucket].slots {
            let entry = slot.load(Ordering::Relaxed);
            if entry == 0 {
                break;
            }
            let matches = (entry ^ tag) & self.tag_mask() == 0;
            scan.matches |= u32::from(matches) << scan.n_used;
            scan.n_used += 1;
        }
        scan
    }

    /// Enters a state that is not in the table, which nobody else uses.
    fn put_new(&mut self, index: StateIndex, hash: u64) {
        let (home, tag) = self.home(hash);
        let mut bucket = home;
        loop {
            let displaced = if bucket == home { 0 } else { self.displaced() };
            let slots = &mut self.region.slice_mut::<Bucket>()[bucket].slots;
            let is_empty = |slot: &&mut u32| **slot == 0;
            if let Some(slot) = slots.iter_mut().map(AtomicU32::get_mut).find(is_empty) {
                *slot = tag | displaced | (index + 1);
                return;
            }
            bucket = self.next(bucket);
        }
    }

    /// Twice as many slots. Gives the names of the states that have to be entered again.
    fn double(&mut self) -> Vec<StateIndex> {
        let (old_displaced, old_names) = (self.displaced(), self.name_mask());
        let n_buckets = self.buckets().len();
        self.region.grow(2 * n_buckets * size_of::<Bucket>());
        self.name_bits += 1;
        self.capacity = ((1_u64 << self.name_bits) / 8 * 7) as u32;
        let mut homeless = Vec::new();
        let buckets = self.region.slice_mut::<Bucket>();
        for position in (0..n_buckets).rev() {
            let mut bucket = std::mem::take(&mut buckets[position]);
            let mut halves = [Bucket::default(), Bucket::default()];
            let mut used = [0, 0];
            for slot in &mut bucket.slots {
                let entry = *slot.get_mut();
                if entry == 0 {
                    break;
                }
                if entry & old_displaced != 0 {
                    homeless.push((entry & old_names) - 1);
                    continue;
                }
                // The first bit of the tag now belongs to the bucket; the others move up by one.
                let half = (entry >> 31) as usize;
                let tag = (entry & !old_names) << 1;
                *halves[half].slots[used[half]].get_mut() = tag | entry & old_names;
                used[half] += 1;
            }
            let [first, second] = halves;
            buckets[2 * position] = first;
            buckets[2 * position + 1] = second;
        }
        homeless
    }

    /// Asks the processor for the bucket that a hash belongs to. A little later the state is looked
    /// up, and by then the bucket has arrived from memory; without this, waiting for it is most of
    /// the time of a search.
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&raw const self.buckets()[self.home(hash).0]);
    }
}

fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on caches, wherever the pointer points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
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
            let mut found = Vec::new();
            let mut names = Names::in_blocks();
            for i in (0..50_000).map(|i| (i + from) % 50_000) {
                let state = state(i);
                let name = loop {
                    let inserted = {
                        let table = store.table();
                        store
                            .states
                            .insert(&table, &state, StateStore::hash(&state), &mut names)
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
