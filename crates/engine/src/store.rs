//! The set of states met so far.
//!
//! States lie one after the other in one array and are named by their position in it. An
//! open-addressing table maps their words back to that name. A slot holds 32 bits of the hash next
//! to the name: they choose the slot, they spare most comparisons, and the table can grow without
//! looking at a state again.

/// The name of a stored state.
pub(crate) type StateIndex = u32;

const EMPTY: u64 = u64::MAX;

/// An exact set of states of equal length.
#[derive(Clone, Debug)]
pub(crate) struct StateStore {
    n_words: usize,
    words: Vec<u64>,
    /// Hash bits in the upper half, name in the lower half, or `EMPTY`. Invariant: the length is a
    /// power of two and at least a quarter of the slots is empty, so probing ends.
    slots: Vec<u64>,
    len: usize,
}

impl StateStore {
    pub(crate) fn new(n_words: usize) -> Self {
        Self {
            n_words,
            words: Vec::new(),
            slots: vec![EMPTY; 1024],
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, index: StateIndex) -> &[u64] {
        &self.words[index as usize * self.n_words..][..self.n_words]
    }

    /// The hash by which [`StateStore::insert_hashed`] finds the state.
    pub(crate) fn hash(state: &[u64]) -> u64 {
        hash(state)
    }

    /// Asks the processor for the slot that a hash belongs to. A step later the state is looked up,
    /// and by then the slot has arrived from memory; without this, waiting for it is most of the
    /// time of a search.
    pub(crate) fn prefetch(&self, hash: u64) {
        let slot = self.first_slot(hash >> 32);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching has no effect but on caches, and `slot` lies inside the table.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.slots.as_ptr().add(slot).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }

    /// The name of the state, and whether it is new. `None` if there are no names left.
    pub(crate) fn insert(&mut self, state: &[u64]) -> Option<(StateIndex, bool)> {
        self.insert_hashed(state, hash(state))
    }

    /// The same for a state whose hash is known.
    pub(crate) fn insert_hashed(&mut self, state: &[u64], hash: u64) -> Option<(StateIndex, bool)> {
        let tag = hash >> 32;
        let mask = self.slots.len() - 1;
        let mut slot = self.first_slot(tag);
        loop {
            let entry = self.slots[slot];
            if entry == EMPTY {
                break;
            }
            if entry >> 32 == tag && equal(self.get(entry as u32), state) {
                return Some((entry as u32, false));
            }
            slot = (slot + 1) & mask;
        }
        // The largest name is kept free, so that no entry looks like `EMPTY`.
        if self.len >= u32::MAX as usize {
            return None;
        }
        let index = self.len as u32;
        self.slots[slot] = tag << 32 | u64::from(index);
        self.words.extend_from_slice(state);
        self.len += 1;
        if self.len * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Some((index, true))
    }

    /// The bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        (self.words.capacity() * 8 + self.slots.len() * 8) as u64
    }

    fn first_slot(&self, tag: u64) -> usize {
        ((tag * self.slots.len() as u64) >> 32) as usize
    }

    fn grow(&mut self) {
        let bigger = vec![EMPTY; self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, bigger);
        let mask = self.slots.len() - 1;
        for entry in old.into_iter().filter(|&entry| entry != EMPTY) {
            let mut slot = self.first_slot(entry >> 32);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = entry;
        }
    }
}

/// States are a word or two long; a loop is faster than a call to compare memory.
fn equal(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// Folded multiplication, word by word; all bits of the input reach the upper half.
fn hash(words: &[u64]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let mut state = SEED;
    for word in words {
        let product = u128::from(state ^ word).wrapping_mul(u128::from(FACTOR));
        state = (product as u64 ^ (product >> 64) as u64).wrapping_add(SEED);
    }
    let product = u128::from(state) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_one_name() {
        let mut store = StateStore::new(2);
        for round in 0..2 {
            for i in 0..100_000_u64 {
                let state = [i % 317, i / 317];
                assert_eq!(store.insert(&state), Some((i as u32, round == 0)));
                assert_eq!(store.get(i as u32), state);
            }
        }
        assert_eq!(store.len(), 100_000);
    }

    #[test]
    fn hashes_of_neighbours_differ_in_their_upper_half() {
        let tags: std::collections::BTreeSet<u64> =
            (0..100_000_u64).map(|i| hash(&[i]) >> 32).collect();
        // Random 32-bit numbers would collide about once.
        assert!(tags.len() > 99_990, "{}", tags.len());
    }
}
