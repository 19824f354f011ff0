//! Arrays that grow without moving, and that several threads may fill.
//!
//! The first chunk holds 1024 entries, each further one twice as many as the one before, so two
//! dozen chunks hold everything that 32 bits can name. Entries never move: growing copies nothing,
//! and a reader needs no lock. Memory of a chunk comes zeroed from the system and is not touched
//! before it is used.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64};

const FIRST_LEN: usize = 1024;
const N_CHUNKS: usize = 23;

/// A type whose all-zero bytes are its zero, shared between threads by atomic operations.
pub(crate) trait Entry: Sized {
    /// `len` zero entries.
    fn zeroed(len: usize) -> Box<[Self]>;
}

impl Entry for AtomicU64 {
    fn zeroed(len: usize) -> Box<[Self]> {
        let raw = Box::into_raw(vec![0_u64; len].into_boxed_slice());
        ask_for_huge_pages(raw.cast(), len * size_of::<Self>());
        // SAFETY: `AtomicU64` has the same size, alignment and bit validity as `u64`, and the box
        // is given up here.
        unsafe { Box::from_raw(raw as *mut [Self]) }
    }
}

impl Entry for AtomicU32 {
    fn zeroed(len: usize) -> Box<[Self]> {
        let raw = Box::into_raw(vec![0_u32; len].into_boxed_slice());
        // SAFETY: `AtomicU32` has the same size, alignment and bit validity as `u32`, and the box
        // is given up here.
        unsafe { Box::from_raw(raw as *mut [Self]) }
    }
}

/// Large arrays are read at random places; with huge pages, finding these costs less.
fn ask_for_huge_pages(start: *const u8, len: usize) {
    #[cfg(target_os = "linux")]
    if len >= 32 << 20 {
        let page = 2 << 20;
        let head = start.align_offset(page);
        let whole = (len - head) / page * page;
        // SAFETY: advice changes nothing but the size of pages, and the range lies inside the array.
        unsafe {
            libc::madvise(
                start.add(head).cast_mut().cast(),
                whole,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

/// Rows of `width` entries each, named by 32-bit numbers. Every entry is zero until it is written.
#[derive(Debug)]
pub(crate) struct Chunked<T> {
    width: usize,
    chunks: [OnceLock<Box<[T]>>; N_CHUNKS],
}

impl<T: Entry> Chunked<T> {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            chunks: [const { OnceLock::new() }; N_CHUNKS],
        }
    }

    /// The entries of row `index`.
    #[inline]
    pub(crate) fn row(&self, index: u32) -> &[T] {
        let position = index as usize / FIRST_LEN + 1;
        let chunk = position.ilog2() as usize;
        let offset = index as usize - FIRST_LEN * ((1 << chunk) - 1);
        let entries = match self.chunks[chunk].get() {
            Some(entries) => entries,
            None => self.create(chunk),
        };
        &entries[offset * self.width..][..self.width]
    }

    #[cold]
    fn create(&self, chunk: usize) -> &[T] {
        self.chunks[chunk].get_or_init(|| T::zeroed((FIRST_LEN << chunk) * self.width))
    }

    /// The bytes that `len` rows take.
    pub(crate) fn memory(&self, len: usize) -> u64 {
        (len * self.width * size_of::<T>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn rows_do_not_overlap_across_chunks() {
        let rows = Chunked::<AtomicU64>::new(3);
        for index in 0..10_000 {
            for (column, entry) in rows.row(index).iter().enumerate() {
                assert_eq!(entry.load(Ordering::Relaxed), 0);
                entry.store(u64::from(index) * 3 + column as u64 + 1, Ordering::Relaxed);
            }
        }
        for index in 0..10_000 {
            let first = rows.row(index)[0].load(Ordering::Relaxed);
            assert_eq!(first, u64::from(index) * 3 + 1);
        }
    }

    #[test]
    fn the_largest_index_has_a_chunk() {
        let position = u32::MAX as usize / FIRST_LEN + 1;
        assert!((position.ilog2() as usize) < N_CHUNKS);
    }
}
