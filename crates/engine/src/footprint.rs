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
        bits::intersects(&self.writes, &other.writes)
            || bits::intersects(&self.writes, &other.reads)
            || bits::intersects(&self.reads, &other.writes)
    }
}

fn add(masks: &mut [u64], fields: &[Field], range: Range<u32>) {
    for field in &fields[range.start as usize..range.end as usize] {
        masks[field.word as usize] |= field.mask << field.shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_together_is_no_interference() {
        let footprint = |reads, writes| Footprint {
            reads: vec![reads],
            writes: vec![writes],
        };
        assert!(!footprint(1, 2).interferes(&footprint(1, 4)));
        assert!(footprint(1, 2).interferes(&footprint(2, 0)));
        assert!(footprint(2, 0).interferes(&footprint(1, 2)));
        assert!(footprint(0, 2).interferes(&footprint(0, 2)));
    }
}
