//! The table that finds the names of states.
//!
//! It consists of buckets of one cache line each, with 16 slots of 32 bits. A slot holds
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

use crate::prefetch::{prefetch, prefetch_to_write};
use crate::region::Region;
use crate::scan::{BUCKET_LEN, Bucket, Scan};
use crate::state_store::StateIndex;

/// The slots. Invariant: at least an eighth of them is empty, so probing ends.
#[derive(Debug)]
pub(crate) struct Table {
    buckets: Region<Bucket>,
    /// The number of slots is two to the power of this.
    pub(crate) name_bits: u32,
    /// Names up to this one fit.
    pub(crate) capacity: u32,
}

/// How many upper bits of a hash bucket and tag make up: the bits of a slot less those of a name,
/// the bit for states in other buckets, and those that tell the slots of a bucket apart.
const HASH_BITS: u32 = 32 - 1 - BUCKET_LEN.ilog2();

/// The least logarithm of the number of slots: small where every step is slow.
pub(crate) const FIRST_NAME_BITS: u32 = if cfg!(loom) {
    3
} else if cfg!(miri) {
    6
} else {
    10
};

impl Table {
    /// Then tags have no bits left.
    pub(crate) const MAX_NAME_BITS: u32 = 31;

    pub(crate) fn new() -> Self {
        let n_slots = 1_usize << FIRST_NAME_BITS;
        Self {
            buckets: Region::new(n_slots / BUCKET_LEN),
            name_bits: FIRST_NAME_BITS,
            capacity: (n_slots / 8 * 7) as u32,
        }
    }

    /// All buckets.
    #[inline]
    pub(crate) fn buckets(&self) -> &[Bucket] {
        self.buckets.slice()
    }

    #[inline]
    pub(crate) fn name_mask(&self) -> u32 {
        (1 << self.name_bits) - 1
    }

    /// The bit of states that are not in their own bucket.
    #[inline]
    pub(crate) fn displaced(&self) -> u32 {
        1 << self.name_bits
    }

    #[inline]
    pub(crate) fn tag_mask(&self) -> u32 {
        !(self.name_mask() | self.displaced())
    }

    /// The bucket that a state belongs to, and its tag where it stands in a slot.
    #[inline]
    pub(crate) fn home(&self, hash: u64) -> (usize, u32) {
        let upper = hash >> (64 - HASH_BITS);
        let tag_bits = Self::MAX_NAME_BITS - self.name_bits;
        let bucket = upper >> tag_bits;
        let tag = (upper << (self.name_bits + 1)) as u32;
        (bucket as usize, tag)
    }

    #[inline]
    pub(crate) fn next(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.buckets().len() - 1)
    }

    /// The name of the first state in its own bucket that may have this hash.
    #[inline]
    pub(crate) fn first_candidate(&self, hash: u64) -> Option<StateIndex> {
        let (bucket, tag) = self.home(hash);
        let bucket = &self.buckets()[bucket];
        let Scan { matches, .. } = bucket.scan(self.tag_mask(), tag);
        if matches == 0 {
            return None;
        }
        let entry = bucket.entry(matches.trailing_zeros() as usize);
        Some((entry & self.name_mask()) - 1)
    }

    /// The same, or a default. Nothing here depends on what is foreseen.
    #[inline]
    pub(crate) fn first_candidate_or(&self, hash: u64, default: StateIndex) -> StateIndex {
        let (bucket, tag) = self.home(hash);
        let bucket = &self.buckets()[bucket];
        let Scan { matches, .. } = bucket.scan(self.tag_mask(), tag);
        let entry = bucket.entry(matches.trailing_zeros() as usize % BUCKET_LEN);
        let name = (entry & self.name_mask()).wrapping_sub(1);
        if matches == 0 { default } else { name }
    }

    /// Enters a state that is not in the table, which no other thread uses.
    pub(crate) fn put_new(&mut self, index: StateIndex, hash: u64) {
        let (home, tag) = self.home(hash);
        let mut at = home;
        loop {
            let displaced = if at == home { 0 } else { self.displaced() };
            let bucket = &self.buckets()[at];
            if let Some(slot) = bucket.entries().iter().position(|entry| *entry == 0) {
                bucket.fill_alone(slot, tag | displaced | (index + 1));
                return;
            }
            at = self.next(at);
        }
    }

    /// Twice as many slots. Gives the names of the states that have to be entered again.
    pub(crate) fn double(&mut self) -> Vec<StateIndex> {
        let (old_displaced, old_names) = (self.displaced(), self.name_mask());
        let n_buckets = self.buckets().len();
        self.buckets.grow(2 * n_buckets);
        self.name_bits += 1;
        self.capacity = ((1_u64 << self.name_bits) / 8 * 7) as u32;

        let mut homeless = Vec::new();
        let buckets = self.buckets.slice_mut();
        for position in (0..n_buckets).rev() {
            let mut halves = [[0; BUCKET_LEN]; 2];
            let mut used = [0, 0];
            for entry in buckets[position].entries() {
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
                halves[half][used[half]] = tag | entry & old_names;
                used[half] += 1;
            }
            let [first, second] = halves;
            buckets[2 * position] = Bucket::of(first);
            buckets[2 * position + 1] = Bucket::of(second);
        }
        homeless
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        size_of_val(self.buckets()) as u64
    }

    /// Asks the processor for the bucket that a hash belongs to. A little later the state is looked
    /// up, and by then the bucket has arrived from memory; without this, waiting for it is most of
    /// the time of a search.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&raw const self.buckets()[self.home(hash).0]);
    }

    /// Asks the processor for the bucket that a hash belongs to, in which a state will be entered.
    #[inline]
    pub(crate) fn prefetch_to_write(&self, hash: u64) {
        prefetch_to_write(&raw const self.buckets()[self.home(hash).0]);
    }
}
