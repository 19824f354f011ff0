//! The states that have come up, packed one after the other, and their numbers.

use std::hash::Hasher as _;

use model::State;
use rustc_hash::FxHasher;

use crate::bytes::{put, put_all_signed};

/// States with numbers from 0 on.
#[derive(Default)]
pub(crate) struct States {
    bytes: Vec<u8>,
    /// Where each state ends.
    ends: Vec<usize>,
    /// The number of a state and 32 bits of its hash, at a place that the other bits say, or behind
    /// it. Their number is a power of two, and at least half of them are empty.
    slots: Vec<Option<Slot>>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: std::num::NonZeroU32,
}

impl States {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a state that is known, or nothing, and then it has the next number from now on.
    /// There must be fewer than 2^32 - 1 states.
    pub(crate) fn find_or_add(&mut self, state: &State) -> Option<u32> {
        if 2 * (self.len() + 1) > self.slots.len() {
            self.enlarge();
        }
        let start = self.bytes.len();
        pack(state, &mut self.bytes);
        let hash = hash(&self.bytes[start..]);
        let mut at = self.first_place(hash);
        while let Some(slot) = self.slots[at] {
            let number = slot.number.get() - 1;
            if slot.hash == hash as u32 && self.packed(number) == &self.bytes[start..] {
                self.bytes.truncate(start);
                return Some(number);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.ends.push(self.bytes.len());
        self.slots[at] = Slot::new(hash, self.len());
        None
    }

    fn packed(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    fn first_place(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    fn enlarge(&mut self) {
        self.slots = vec![None; (2 * self.slots.len()).max(64)];
        for number in 0..self.len() {
            let hash = hash(self.packed(number as u32));
            let mut at = self.first_place(hash);
            while self.slots[at].is_some() {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = Slot::new(hash, number + 1);
        }
    }
}

impl Slot {
    /// Numbers are stored from 1 on.
    fn new(hash: u64, number: usize) -> Option<Self> {
        let number = std::num::NonZeroU32::new(number as u32)?;
        let hash = hash as u32;
        Some(Self { hash, number })
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A state as bytes. Different states of a model have different bytes: the numbers of locations, cells
/// and channels are those of the model, and everything else has its length before it.
fn pack(state: &State, bytes: &mut Vec<u8>) {
    for location in &state.locations {
        put(bytes, u64::from(location.0));
    }
    put_all_signed(bytes, &state.cells);
    for channel in &state.channels {
        put(bytes, channel.len() as u64);
        for message in channel {
            put(bytes, message.len() as u64);
            put_all_signed(bytes, message);
        }
    }
}
