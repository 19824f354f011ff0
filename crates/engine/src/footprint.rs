//! Which bits of a state a piece of code may read and write.

use std::ops::Range;

use base::bits;

use jit::Field;

/// Masks over the words of a state. What is written is not necessarily in `reads`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Footprint {
    pub(crate) reads: Vec<u64>,
    pub(crate) writes: Vec<u64>,
}

impl Footprint {
    pub(crate) fn new(n_words: usize) -> Self {
        Self {
            reads: vec![0; n_words],
            writes: vec![0; n_words],
        }
    }

    pub(crate) fn read_fields(&mut self, fields: &[Field], range: Range<u32>) {
        add(&mut self.reads, fields, range);
    }

    pub(crate) fn write_fields(&mut self, fields: &[Field], range: Range<u32>) {
        add(&mut self.writes, fields, range);
    }

    /// Adds everything that the other touches.
    pub(crate) fn union(&mut self, other: &Self) {
        bits::union_into(&mut self.reads, &other.reads);
        bits::union_into(&mut self.writes, &other.writes);
    }

    /// May it matter in which order the two happen?
    pub(crate) fn interferes(&self, other: &Self) -> bool {
        bits::conflict([&self.reads, &self.writes], [&other.reads, &other.writes])
    }
}

fn add(masks: &mut [u64], fields: &[Field], range: Range<u32>) {
    for field in &fields[range.start as usize..range.end as usize] {
        masks[field.word as usize] |= field.mask << field.shift;
    }
}
