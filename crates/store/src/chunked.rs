//! Arrays that grow without moving, and that several threads may fill.
//!
//! The first chunk holds 1024 entries, each further one twice as many as the one before, so two
//! dozen chunks hold everything that 32 bits can name. Entries never move: growing copies nothing,
//! and a reader needs no lock. Memory of a chunk comes zeroed from the system and is not touched
//! before it is used.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use crate::prefetch::prefetch;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64};

/// Few where interleavings are explored.
const FIRST_LEN: usize = if cfg!(loom) { 4 } else { 1024 };
const N_CHUNKS: usize = if cfg!(loom) { 3 } else { 23 };

/// A type whose all-zero bytes are its zero, shared between threads by atomic operations.
pub trait Entry: Sized + Send + Sync {
    /// `len` zero entries.
    fn zeroed(len: usize) -> Box<[Self]>;
}

#[cfg(not(loom))]
impl Entry for AtomicU64 {
    fn zeroed(len: usize) -> Box<[Self]> {
        let raw = Box::into_raw(vec![0_u64; len].into_boxed_slice());
        ask_for_huge_pages(raw.cast(), len * size_of::<Self>());
        // SAFETY: `AtomicU64` has the same size, alignment and bit validity as `u64`, and the box
        // is given up here.
        unsafe { Box::from_raw(raw as *mut [Self]) }
    }
}

#[cfg(not(loom))]
impl Entry for AtomicU32 {
    fn zeroed(len: usize) -> Box<[Self]> {
        let raw = Box::into_raw(vec![0_u32; len].into_boxed_slice());
        ask_for_huge_pages(raw.cast(), len * size_of::<Self>());
        // SAFETY: `AtomicU32` has the same size, alignment and bit validity as `u32`, and the box
        // is given up here.
        unsafe { Box::from_raw(raw as *mut [Self]) }
    }
}

#[cfg(loom)]
impl Entry for AtomicU64 {
    fn zeroed(len: usize) -> Box<[Self]> {
        (0..len).map(|_| Self::new(0)).collect()
    }
}

#[cfg(loom)]
impl Entry for AtomicU32 {
    fn zeroed(len: usize) -> Box<[Self]> {
        (0..len).map(|_| Self::new(0)).collect()
    }
}

/// Large arrays are read at random places; with huge pages, finding these costs less, and so does
/// touching them first.
pub(crate) fn ask_for_huge_pages(start: *const u8, len: usize) {
    #[cfg(all(target_os = "linux", not(miri), not(loom)))]
    if len >= 8 << 20 {
        let page = 2 << 20;
        let head = start.align_offset(page);
        let whole = (len - head) / page * page;
        // SAFETY: advice changes nothing but the size of pages, and the range lies inside the
        // array.
        unsafe {
            libc::madvise(
                start.add(head).cast_mut().cast(),
                whole,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri), not(loom))))]
    let _ = (start, len);
}

/// Rows of `width` entries each, named by 32-bit numbers. Every entry is zero until it is written.
///
/// Invariant: each pointer is null or that of a boxed slice with room for all rows of its chunk,
/// which is not given back before the whole array is.
#[derive(Debug)]
pub struct Chunked<T: Entry> {
    width: usize,
    chunks: [AtomicPtr<T>; N_CHUNKS],
}

impl<T: Entry> Chunked<T> {
    /// An array without chunks.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            chunks: std::array::from_fn(|_| AtomicPtr::new(null_mut())),
        }
    }

    /// The chunk of a row, and which of its rows it is.
    #[inline]
    fn place(index: u32) -> (usize, usize) {
        let position = index as usize / FIRST_LEN + 1;
        let chunk = position.ilog2() as usize;
        (chunk, index as usize - FIRST_LEN * ((1 << chunk) - 1))
    }

    /// Where row `index` is, to be asked for from memory; anywhere if it is not there yet.
    #[inline]
    pub(crate) fn address(&self, index: u32) -> *const T {
        let (chunk, offset) = Self::place(index);
        let start = self.chunks[chunk].load(Ordering::Relaxed);
        start.wrapping_add(offset * self.width)
    }

    /// Asks the processor for row `index`.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch(self.address(index));
    }

    /// The entries of row `index`.
    #[inline]
    pub fn row(&self, index: u32) -> &[T] {
        let (chunk, offset) = Self::place(index);
        let mut start = self.chunks[chunk].load(Ordering::Acquire);
        if start.is_null() {
            start = self.create(chunk);
        }
        // SAFETY: by the invariant; the chunk has `FIRST_LEN << chunk` rows, and `offset` is less.
        unsafe { std::slice::from_raw_parts(start.add(offset * self.width), self.width) }
    }

    fn chunk_len(&self, chunk: usize) -> usize {
        (FIRST_LEN << chunk) * self.width
    }

    #[cold]
    fn create(&self, chunk: usize) -> *mut T {
        let new = Box::into_raw(T::zeroed(self.chunk_len(chunk)));
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match self.chunks[chunk].compare_exchange(null_mut(), new.cast(), success, failure) {
            Ok(_) => new.cast(),
            Err(existing) => {
                // SAFETY: another thread was faster, so no thread has seen the new one.
                drop(unsafe { Box::from_raw(new) });
                existing
            }
        }
    }

    /// The bytes that `len` rows take.
    pub fn memory(&self, len: usize) -> u64 {
        (len * self.width * size_of::<T>()) as u64
    }
}

impl<T: Entry> Drop for Chunked<T> {
    fn drop(&mut self) {
        for chunk in 0..N_CHUNKS {
            let start = self.chunks[chunk].load(Ordering::Relaxed);
            if !start.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(start, self.chunk_len(chunk));
                // SAFETY: by the invariant this is the box that was given up in `create`.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_overlap_across_chunks() {
        let n_rows = if cfg!(miri) { 3_100 } else { 10_000 };
        let rows = Chunked::<AtomicU64>::new(3);
        for index in 0..n_rows {
            for (column, entry) in rows.row(index).iter().enumerate() {
                assert_eq!(entry.load(Ordering::Relaxed), 0);
                entry.store(u64::from(index) * 3 + column as u64 + 1, Ordering::Relaxed);
            }
        }
        for index in 0..n_rows {
            let first = rows.row(index)[0].load(Ordering::Relaxed);
            assert_eq!(first, u64::from(index) * 3 + 1);
        }
    }

    #[test]
    fn threads_that_create_a_chunk_at_once_share_it() {
        for _ in 0..if cfg!(miri) { 5 } else { 200 } {
            let rows = Chunked::<AtomicU32>::new(1);
            let barrier = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    let (rows, barrier) = (&rows, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        rows.row(5000 + thread)[0].store(thread + 1, Ordering::Relaxed);
                    });
                }
            });
            let entries = [5000, 5001].map(|index| rows.row(index)[0].load(Ordering::Relaxed));
            assert_eq!(entries, [1, 2]);
        }
    }

    #[test]
    fn the_largest_index_has_a_chunk() {
        let position = u32::MAX as usize / FIRST_LEN + 1;
        assert!((position.ilog2() as usize) < N_CHUNKS);
    }
}
