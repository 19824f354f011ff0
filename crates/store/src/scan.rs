//! A bucket of the table, and looking at all its slots at once.
//!
//! Two slots share a word, and words are all that is ever read or written: the slots that a thread
//! fills are never read with another size than they were written with, which neither Rust nor C++
//! gives a meaning to. (Two words are loaded by one instruction where the processor promises that this
//! is the same as loading each.) Slots are filled from the first on, so a thread that wants to fill the slot
//! behind those in use fails only if another thread has filled that very slot.

#[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
use std::arch::x86_64::__m128i;
use std::sync::atomic::Ordering;

use crate::region::Zero;
use crate::sync::AtomicU64;

/// How many slots share a cache line; few where interleavings are explored.
pub(crate) const BUCKET_LEN: usize = if cfg!(loom) { 4 } else { 16 };

/// Slots that share a cache line. They are filled from the first on.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Bucket {
    words: [AtomicU64; BUCKET_LEN / 2],
}

// SAFETY: numbers may be zero.
unsafe impl Zero for Bucket {}

/// What a look at a bucket shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scan {
    /// The slots with the right tag, as bits.
    pub(crate) matches: u32,
    /// Slots from this one on are empty.
    pub(crate) n_used: usize,
}

/// The position of a slot in its word.
#[inline]
fn shift(slot: usize) -> u32 {
    slot as u32 % 2 * 32
}

impl Bucket {
    /// What a slot holds. A thread that finds a name here finds the whole state.
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> u32 {
        (self.words[slot / 2].load(Ordering::Acquire) >> shift(slot)) as u32
    }

    /// Fills an empty slot behind those in use, perhaps while other threads want to. Otherwise, what
    /// another thread has put there.
    #[inline]
    pub(crate) fn fill(&self, slot: usize, entry: u32) -> Result<(), u32> {
        let word = &self.words[slot / 2];
        let seen = word.load(Ordering::Acquire);
        let there = (seen >> shift(slot)) as u32;
        if there != 0 {
            return Err(there);
        }
        let new = seen | u64::from(entry) << shift(slot);
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match word.compare_exchange(seen, new, success, failure) {
            Ok(_) => Ok(()),
            Err(seen) => Err((seen >> shift(slot)) as u32),
        }
    }

    /// Fills a slot while no other thread writes to the table.
    #[inline]
    pub(crate) fn fill_alone(&self, slot: usize, entry: u32) {
        let word = &self.words[slot / 2];
        let other = word.load(Ordering::Relaxed) & !(u64::from(u32::MAX) << shift(slot));
        word.store(other | u64::from(entry) << shift(slot), Ordering::Release);
    }

    /// What all slots hold, while no other thread writes to the table.
    pub(crate) fn entries(&self) -> [u32; BUCKET_LEN] {
        std::array::from_fn(|slot| self.entry(slot))
    }

    /// A bucket with these entries.
    pub(crate) fn of(entries: [u32; BUCKET_LEN]) -> Self {
        let word = |i: usize| u64::from(entries[2 * i]) | u64::from(entries[2 * i + 1]) << 32;
        Self {
            words: std::array::from_fn(|i| AtomicU64::new(word(i))),
        }
    }

    /// Looks at all slots. Other threads may fill slots meanwhile, so what is found is looked at
    /// again.
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
    #[inline]
    pub(crate) fn scan(&self, mask: u32, tag: u32) -> Scan {
        if std::arch::is_x86_feature_detected!("avx") {
            compare(self.load_pairs(), mask, tag)
        } else {
            compare(self.load_words(), mask, tag)
        }
    }

    /// All words, two by two.
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
    #[inline]
    fn load_words(&self) -> [__m128i; BUCKET_LEN / 4] {
        use std::arch::x86_64::_mm_set_epi64x;

        let load = |word: usize| self.words[word].load(Ordering::Relaxed) as i64;
        // SAFETY: every processor of this kind has these instructions.
        std::array::from_fn(|pair| unsafe { _mm_set_epi64x(load(2 * pair + 1), load(2 * pair)) })
    }

    /// The same by one instruction for two words. Only for processors with AVX.
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
    #[inline]
    fn load_pairs(&self) -> [__m128i; BUCKET_LEN / 4] {
        let pairs: *const __m128i = self.words.as_ptr().cast();
        std::array::from_fn(|pair| {
            let value: __m128i;
            // SAFETY: the pair lies in the bucket, which is aligned. For Rust the instruction is two
            // relaxed loads of whole words, `self.words[2 * pair]` and the next, and it never does
            // what these could not: processors with AVX load 16 aligned bytes of ordinary memory as
            // one (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3A,
            // "Guaranteed Atomic Operations"; AMD64 Architecture Programmer's Manual, volume 2,
            // "Access Atomicity"), and so each of the two words.
            unsafe {
                std::arch::asm!(
                    "movdqa {value}, [{pair}]",
                    value = out(xmm_reg) value,
                    pair = in(reg) pairs.add(pair),
                    options(nostack, readonly, preserves_flags)
                );
            }
            value
        })
    }

    /// Looks at all slots. Other threads may fill slots meanwhile, so what is found is looked at
    /// again.
    #[cfg(not(all(target_arch = "x86_64", not(any(miri, loom)))))]
    #[inline]
    pub(crate) fn scan(&self, mask: u32, tag: u32) -> Scan {
        self.scan_one_by_one(mask, tag)
    }

    /// The same, slot by slot.
    #[cfg(any(test, miri, loom, not(target_arch = "x86_64")))]
    fn scan_one_by_one(&self, mask: u32, tag: u32) -> Scan {
        let mut scan = Scan {
            matches: 0,
            n_used: 0,
        };
        for word in &self.words {
            let word = word.load(Ordering::Relaxed);
            for entry in [word as u32, (word >> 32) as u32] {
                if entry == 0 {
                    return scan;
                }
                let is_match = entry & mask == tag;
                scan.matches |= u32::from(is_match) << scan.n_used;
                scan.n_used += 1;
            }
        }
        scan
    }
}

/// Compares all slots with a tag at once.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom))))]
#[inline]
fn compare(quarters: [__m128i; BUCKET_LEN / 4], mask: u32, tag: u32) -> Scan {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
        _mm_set1_epi32, _mm_setzero_si128,
    };

    // SAFETY: every processor of this kind has these instructions.
    unsafe {
        let (mask, tag) = (_mm_set1_epi32(mask as i32), _mm_set1_epi32(tag as i32));

        // One bit for each slot whose comparison was true.
        let gather = |quarters: [__m128i; 4]| {
            let [a, b, c, d] = quarters;
            let bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
            _mm_movemask_epi8(bytes) as u32
        };
        let matching = quarters.map(|slots| _mm_cmpeq_epi32(_mm_and_si128(slots, mask), tag));
        let empty = quarters.map(|slots| _mm_cmpeq_epi32(slots, _mm_setzero_si128()));
        let (empty, matches) = (gather(empty), gather(matching));
        Scan {
            matches: matches & !empty,
            n_used: (empty | 1 << BUCKET_LEN).trailing_zeros() as usize,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn random_numbers() -> impl FnMut() -> u32 {
        let mut random = 1_u64;
        move || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as u32
        }
    }

    #[test]
    fn all_ways_to_look_at_a_bucket_show_the_same() {
        let n_rounds = if cfg!(miri) { 100 } else { 10_000 };
        let mut next = random_numbers();
        for round in 0..n_rounds {
            // Few values, so that many are equal; none is that of an empty slot.
            let mut entries = [0; BUCKET_LEN];
            for entry in &mut entries[..round % (BUCKET_LEN + 1)] {
                *entry = (next() << 28) | (1 + next() % 3);
            }
            let bucket = Bucket::of(entries);
            for name_bits in [2, 10, 27] {
                let mask = !((2 << name_bits) - 1);
                let tag = (next() << 28) & mask;
                let scan = bucket.scan(mask, tag);
                assert_eq!(scan, bucket.scan_one_by_one(mask, tag));
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                assert_eq!(scan, compare(bucket.load_words(), mask, tag));
                assert_eq!(scan.n_used, round % (BUCKET_LEN + 1));
            }
        }
    }

    #[test]
    fn slots_are_filled_one_after_the_other() {
        let bucket = Bucket::default();
        for slot in 0..BUCKET_LEN {
            assert_eq!(bucket.fill(slot, slot as u32 + 1), Ok(()));
            assert_eq!(bucket.fill(slot, 99), Err(slot as u32 + 1));
        }
        bucket.fill_alone(3, 77);
        let expected = |slot: usize| if slot == 3 { 77 } else { slot as u32 + 1 };
        assert_eq!(bucket.entries(), std::array::from_fn(expected));
    }
}
