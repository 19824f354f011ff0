//! Sets of small integers as slices of machine words.
//!
//! Marks, enabled actions and atom valuations are all such sets. The words are plain `u64` slices,
//! so that the engine can keep millions of them in one flat array.

/// How many words a set over `n_bits` elements needs.
#[must_use]
pub const fn words_for(n_bits: usize) -> usize {
    n_bits.div_ceil(64)
}

/// Is `bit` in the set?
#[must_use]
#[inline]
pub fn get(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Adds `bit` to the set.
#[inline]
pub fn set(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

/// Removes `bit` from the set.
#[inline]
pub fn clear(words: &mut [u64], bit: usize) {
    words[bit / 64] &= !(1 << (bit % 64));
}

/// Removes all elements.
///
/// Most sets fit into one word, and a call of the C library that clears or copies a few bytes costs
/// more than they do: it was a fifth of some searches for fair loops.
#[inline]
pub fn clear_all(words: &mut [u64]) {
    match words {
        [] => {}
        [only] => *only = 0,
        [first, second] => (*first, *second) = (0, 0),
        _ => words.fill(0),
    }
}

/// Makes the set equal to `other`, which has as many words.
#[inline]
pub fn assign(words: &mut [u64], other: &[u64]) {
    match (&mut *words, other) {
        ([], []) => {}
        ([only], [new]) => *only = *new,
        ([first, second], [new_first, new_second]) => {
            (*first, *second) = (*new_first, *new_second);
        }
        _ => words.copy_from_slice(other),
    }
}

/// Adds every element of `other` to the set; says whether that changed it.
#[inline]
pub fn union_into(words: &mut [u64], other: &[u64]) -> bool {
    let mut changed = false;
    for (word, &more) in words.iter_mut().zip(other) {
        changed |= more & !*word != 0;
        *word |= more;
    }
    changed
}

/// Do the sets share an element?
#[must_use]
#[inline]
pub fn intersects(words: &[u64], other: &[u64]) -> bool {
    words.iter().zip(other).any(|(a, b)| a & b != 0)
}

/// Is every element of `words` in `other`?
#[must_use]
#[inline]
pub fn is_subset(words: &[u64], other: &[u64]) -> bool {
    words.iter().zip(other).all(|(a, b)| a & !b == 0)
}

/// The elements in ascending order.
pub fn iter(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(position, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                position * 64 + bit
            })
        })
    })
}

/// Two pieces of code read and write these elements, in this order: may it matter which of the two
/// happens first?
#[must_use]
pub fn conflict([reads, writes]: [&[u64]; 2], [other_reads, other_writes]: [&[u64]; 2]) -> bool {
    intersects(writes, other_writes)
        || intersects(writes, other_reads)
        || intersects(reads, other_writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_together_is_not_a_conflict() {
        let conflict = |reads, writes, other_reads, other_writes| {
            super::conflict([&[reads], &[writes]], [&[other_reads], &[other_writes]])
        };
        assert!(!conflict(1, 2, 1, 4));
        assert!(conflict(1, 2, 2, 0));
        assert!(conflict(2, 0, 1, 2));
        assert!(conflict(0, 2, 0, 2));
    }

    #[test]
    fn elements_survive_word_boundaries() {
        let mut words = [0; 2];
        for bit in [0, 63, 64, 100] {
            set(&mut words, bit);
        }
        assert_eq!(iter(&words).collect::<Vec<_>>(), [0, 63, 64, 100]);
        clear(&mut words, 64);
        assert!(!get(&words, 64) && get(&words, 100));
    }

    #[test]
    fn union_reports_growth_only() {
        let mut words = [0b01];
        assert!(union_into(&mut words, &[0b10]));
        assert!(!union_into(&mut words, &[0b11]));
        assert!(is_subset(&[0b10], &words) && intersects(&words, &[0b10]));
    }

    #[test]
    fn sets_of_any_length_are_assigned_and_cleared() {
        for n_words in 0..5 {
            let other: Vec<u64> = (0..n_words).map(|word| 3 << word).collect();
            let mut words = vec![u64::MAX; n_words];
            assign(&mut words, &other);
            assert_eq!(words, other);
            clear_all(&mut words);
            assert_eq!(words, vec![0; n_words]);
        }
    }
}
