//! Arrays that several threads fill, and that grow without moving.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first chunk has this many entries, each further one twice as many,
const FIRST_LEN: usize = 1 << 10;
/// up to this many.
const MAX_LEN: usize = 1 << 20;
/// How many chunks are shorter than `MAX_LEN`.
const N_SHORT: usize = (MAX_LEN / FIRST_LEN).ilog2() as usize;
/// How many entries they have together.
const SHORT_LEN: usize = MAX_LEN - FIRST_LEN;
/// Enough for everything that 32 bits can name.
const N_CHUNKS: usize = N_SHORT + (u32::MAX as usize / MAX_LEN) + 1;

/// Rows of `width` entries each. Every entry has its default value until it is written.
pub(super) struct Chunks<T> {
    width: usize,
    chunks: Box<[OnceLock<Box<[T]>>]>,
    n_entries: AtomicUsize,
}

impl<T: Default> Chunks<T> {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            chunks: (0..N_CHUNKS).map(|_| OnceLock::new()).collect(),
            n_entries: AtomicUsize::new(0),
        }
    }

    /// The entries of row `index`.
    pub fn row(&self, index: u32) -> &[T] {
        let (chunk, len, offset) = place(index as usize);
        let entries = self.chunks[chunk].get_or_init(|| self.create(len));
        &entries[offset * self.width..][..self.width]
    }

    #[cold]
    fn create(&self, len: usize) -> Box<[T]> {
        let n_entries = len * self.width;
        self.n_entries.fetch_add(n_entries, Ordering::Relaxed);
        (0..n_entries).map(|_| T::default()).collect()
    }

    /// The bytes in use.
    pub fn memory_bytes(&self) -> usize {
        self.n_entries.load(Ordering::Relaxed) * size_of::<T>()
    }
}

/// The chunk of a row, how many rows that has, and which of them it is.
fn place(index: usize) -> (usize, usize, usize) {
    if index < SHORT_LEN {
        let chunk = (index / FIRST_LEN + 1).ilog2() as usize;
        let before = FIRST_LEN * ((1 << chunk) - 1);
        return (chunk, FIRST_LEN << chunk, index - before);
    }
    let index = index - SHORT_LEN;
    (N_SHORT + index / MAX_LEN, MAX_LEN, index % MAX_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other() {
        let mut expected = (0, 0);
        for index in 0..4 * MAX_LEN {
            let (chunk, len, offset) = place(index);
            assert_eq!((chunk, offset), expected, "{index}");
            expected.1 += 1;
            if expected.1 == len {
                expected = (chunk + 1, 0);
            }
        }
        assert!(place(u32::MAX as usize).0 < N_CHUNKS);
    }
}
