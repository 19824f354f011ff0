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

use std::sync::atomic::{AtomicU32, Ordering};

use crate::region::{Region, Zero};
use crate::store::StateIndex;

/// The slots. Invariant: at least an eighth of them is empty, so probing ends.
#[derive(Debug)]
pub(crate) struct Table {
    region: Region,
    /// The number of slots is two to the power of this.
    pub(crate) name_bits: u32,
    /// Names up to this one fit.
    pub(crate) capacity: u32,
    /// Can a bucket be looked at in one step?
    #[cfg(target_arch = "x86_64")]
    has_long_vectors: bool,
}

/// Slots that share a cache line. They are filled from the first on.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Bucket {
    pub(crate) slots: [AtomicU32; BUCKET_LEN],
}

// SAFETY: numbers may be zero.
#[allow(unsafe_code, reason = "tells which type a table has")]
unsafe impl Zero for Bucket {}

const BUCKET_LEN: usize = 16;

/// How many upper bits of a hash bucket and tag make up: the bits of a slot less those of a name,
/// the bit for states in other buckets, and those that tell the slots of a bucket apart.
const HASH_BITS: u32 = 32 - 1 - BUCKET_LEN.ilog2();

/// What a look at a bucket shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scan {
    /// The slots with the right tag, as bits.
    pub(crate) matches: u32,
    /// Slots from this one on are empty.
    pub(crate) n_used: usize,
}

impl Scan {
    /// From the slots that are empty and those with the right tag, as bits.
    #[inline]
    fn new(empty: u32, matches: u32) -> Self {
        Self {
            matches: matches & !empty,
            n_used: (empty | 1 << BUCKET_LEN).trailing_zeros() as usize,
        }
    }
}

/// The least logarithm of the number of slots.
const FIRST_NAME_BITS: u32 = 10;

impl Table {
    /// Then tags have no bits left.
    pub(crate) const MAX_NAME_BITS: u32 = 31;

    pub(crate) fn new() -> Self {
        let name_bits = FIRST_NAME_BITS;
        let n_slots = 1_usize << name_bits;
        Self {
            region: Region::new(n_slots * size_of::<AtomicU32>()),
            name_bits,
            capacity: (n_slots / 8 * 7) as u32,
            #[cfg(target_arch = "x86_64")]
            has_long_vectors: has_long_vectors(),
        }
    }

    /// All buckets.
    #[inline]
    pub(crate) fn buckets(&self) -> &[Bucket] {
        self.region.slice()
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

    pub(crate) fn next(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.buckets().len() - 1)
    }

    /// The name of the first state in its own bucket that may have this hash.
    pub(crate) fn first_candidate(&self, hash: u64) -> Option<StateIndex> {
        let (bucket, tag) = self.home(hash);
        let Scan { matches, .. } = self.scan(bucket, tag);
        let slot = self.buckets()[bucket]
            .slots
            .get(matches.trailing_zeros() as usize)?;
        // Whoever finds a name finds the whole state.
        Some((slot.load(Ordering::Acquire) & self.name_mask()) - 1)
    }

    /// The same, or a default. Nothing here depends on what is foreseen.
    #[inline]
    pub(crate) fn first_candidate_or(&self, hash: u64, default: StateIndex) -> StateIndex {
        let (bucket, tag) = self.home(hash);
        let Scan { matches, .. } = self.scan(bucket, tag);
        let slot = matches.trailing_zeros() as usize % BUCKET_LEN;
        let entry = self.buckets()[bucket].slots[slot].load(Ordering::Acquire);
        let name = (entry & self.name_mask()).wrapping_sub(1);
        if matches == 0 { default } else { name }
    }

    /// Looks at a whole bucket at once. Other threads may fill slots meanwhile, so what is found is
    /// looked at again.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn scan(&self, bucket: usize, tag: u32) -> Scan {
        let bucket = &self.buckets()[bucket];
        if self.has_long_vectors {
            scan_together(bucket, self.tag_mask(), tag)
        } else {
            scan_in_quarters(bucket, self.tag_mask(), tag)
        }
    }

    /// Looks at a whole bucket at once. Other threads may fill slots meanwhile, so what is found is
    /// looked at again.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn scan(&self, bucket: usize, tag: u32) -> Scan {
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
    pub(crate) fn put_new(&mut self, index: StateIndex, hash: u64) {
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
    pub(crate) fn double(&mut self) -> Vec<StateIndex> {
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

/// Looks at all slots of a bucket with one instruction each for loading, masking and comparing. Only
/// for processors with vectors of 64 bytes.
#[inline]
#[cfg(target_arch = "x86_64")]
fn scan_together(bucket: &Bucket, mask: u32, tag: u32) -> Scan {
    let (empty, matches): (u32, u32);
    // SAFETY: the bucket is aligned, and the processor reads each slot as one; in Rust, slots that
    // others may write must not be read together. The vector and mask registers named here are not
    // used by code for processors in general, and are not preserved by anybody.
    unsafe {
        std::arch::asm!(
            "vmovdqa64 zmm16, [{bucket}]",
            "vpbroadcastd zmm17, {mask:e}",
            "vpbroadcastd zmm18, {tag:e}",
            "vptestnmd k1, zmm16, zmm16",
            "vpandd zmm16, zmm16, zmm17",
            "vpcmpeqd k2, zmm16, zmm18",
            "kmovw {empty:e}, k1",
            "kmovw {matches:e}, k2",
            bucket = in(reg) bucket,
            mask = in(reg) mask,
            tag = in(reg) tag,
            empty = out(reg) empty,
            matches = out(reg) matches,
            options(nostack, readonly, preserves_flags)
        );
    }

    Scan::new(empty, matches)
}

/// Looks at all slots of a bucket in four steps.
#[inline]
#[cfg(target_arch = "x86_64")]
fn scan_in_quarters(bucket: &Bucket, mask: u32, tag: u32) -> Scan {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16,
        _mm_packs_epi32, _mm_set1_epi32, _mm_setzero_si128,
    };
    let bucket: *const Bucket = bucket;
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
        let (mask, tag) = (_mm_set1_epi32(mask as i32), _mm_set1_epi32(tag as i32));
        let gather = |quarters: [__m128i; 4]| {
            let [a, b, c, d] = quarters;
            let bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
            _mm_movemask_epi8(bytes) as u32
        };
        let matching = quarters.map(|slots| _mm_cmpeq_epi32(_mm_and_si128(slots, mask), tag));
        let empty = quarters.map(|slots| _mm_cmpeq_epi32(slots, _mm_setzero_si128()));
        Scan::new(gather(empty), gather(matching))
    }
}

/// Does the processor have vectors of 64 bytes? If the compiler knows that it does, it may use
/// their registers itself, and is left to do so.
#[cfg(target_arch = "x86_64")]
fn has_long_vectors() -> bool {
    cfg!(not(target_feature = "avx512f")) && std::arch::is_x86_feature_detected!("avx512f")
}

/// Asks the processor for a place in memory that will be written: other processors give it up, which
/// takes as long as fetching it.
pub(crate) fn prefetch_to_write<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on caches, wherever the pointer points.
    unsafe {
        std::arch::asm!(
            "prefetchw [{place}]",
            place = in(reg) place,
            options(nostack, readonly, preserves_flags)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Asks the processor for a place in memory.
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on caches, wherever the pointer points.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn both_ways_to_look_at_a_bucket_show_the_same() {
        if !has_long_vectors() {
            return;
        }
        let mut random = 1_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as u32
        };

        for round in 0..10_000 {
            let bucket = Bucket::default();
            // Few values, so that many are equal; the first bit is never that of an empty slot.
            for slot in &bucket.slots[..round % (BUCKET_LEN + 1)] {
                slot.store((next() << 28) | (1 + next() % 3), Ordering::Relaxed);
            }
            for name_bits in [2, 10, 27] {
                let mask = !((2 << name_bits) - 1);
                let tag = (next() << 28) & mask;
                let long = scan_together(&bucket, mask, tag);
                assert_eq!(long, scan_in_quarters(&bucket, mask, tag));
            }
        }
    }
}
