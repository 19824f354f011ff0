//! A hash table from pairs of 32-bit numbers to 32-bit numbers.
//!
//! Products and subset constructions spend most of their time in such look-ups; nothing is ever
//! removed. Linear probing over one flat array beats a general map by a factor of two here.

/// Mixes the bits of a key: one multiplication, then the well-mixed high half is folded down.
pub(crate) fn spread(key: u64) -> u64 {
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key ^ (key >> 32)
}

/// Marks a free slot. The pair of two `u32::MAX` is therefore no key.
const FREE: u64 = u64::MAX;

/// Invariant: the length of `slots` is a power of two, and at most half of them are taken.
pub(crate) struct PairTable {
    slots: Vec<(u64, u32)>,
    n_taken: usize,
}

impl PairTable {
    pub(crate) fn new() -> Self {
        Self::with_capacity(32)
    }

    /// A table with room for this many pairs.
    pub(crate) fn with_capacity(n_pairs: usize) -> Self {
        Self {
            slots: vec![(FREE, 0); (n_pairs * 2).next_power_of_two()],
            n_taken: 0,
        }
    }

    /// The value stored for the pair; if there is none, stores `value`. Says whether it did.
    pub(crate) fn entry(&mut self, a: u32, b: u32, value: u32) -> (u32, bool) {
        let key = u64::from(a) << 32 | u64::from(b);
        debug_assert_ne!(key, FREE);
        let slot = self.find(key);
        if self.slots[slot].0 == key {
            return (self.slots[slot].1, false);
        }
        self.slots[slot] = (key, value);
        self.n_taken += 1;
        if self.n_taken * 2 > self.slots.len() {
            self.grow();
        }
        (value, true)
    }

    /// The value stored for the pair.
    pub(crate) fn get(&self, a: u32, b: u32) -> Option<u32> {
        let key = u64::from(a) << 32 | u64::from(b);
        let (found, value) = self.slots[self.find(key)];
        (found == key).then_some(value)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.len() as u64 * 16
    }

    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = spread(key) as usize & mask;
        while self.slots[slot].0 != FREE && self.slots[slot].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = vec![(FREE, 0); self.slots.len() * 2];
        for (key, value) in std::mem::replace(&mut self.slots, larger) {
            if key != FREE {
                let slot = self.find(key);
                self.slots[slot] = (key, value);
            }
        }
    }
}

/// A set of pairs of 32-bit numbers.
///
/// Invariant: the length of `slots` is a power of two, and at most half of them are taken.
pub(crate) struct PairSet {
    slots: Vec<u64>,
    n_taken: usize,
}

impl PairSet {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![FREE; 64],
            n_taken: 0,
        }
    }

    /// Adds a pair and says whether it is new. The pair of two `u32::MAX` is not a member.
    pub(crate) fn insert(&mut self, a: u32, b: u32) -> bool {
        let key = u64::from(a) << 32 | u64::from(b);
        debug_assert_ne!(key, FREE);
        let slot = self.find(key);
        if self.slots[slot] == key {
            return false;
        }
        self.slots[slot] = key;
        self.n_taken += 1;
        if self.n_taken * 2 > self.slots.len() {
            self.grow();
        }
        true
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.len() as u64 * 8
    }

    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = spread(key) as usize & mask;
        while self.slots[slot] != FREE && self.slots[slot] != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = vec![FREE; self.slots.len() * 4];
        for key in std::mem::replace(&mut self.slots, larger) {
            if key != FREE {
                let slot = self.find(key);
                self.slots[slot] = key;
            }
        }
    }
}
