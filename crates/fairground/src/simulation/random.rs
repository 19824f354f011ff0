//! Repeatable choices.
//!
//! SplitMix64: G. L. Steele Jr., D. Lea, C. H. Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014, figure 16, doi:10.1145/2660193.2660195. Chosen because the same seed
//! must give the same run in every version of the tool.

/// A source of choices that depend on a seed only.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The choices of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of the numbers below `n`, which must not be 0. The bias is below `n / 2^64`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_differ() {
        let choices = |seed| {
            let mut random = Random::new(seed);
            (0..20).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
        assert!(choices(3).iter().all(|choice| *choice < 10));
    }
}
