//! Memory for a table: zeroed, aligned to cache lines, and growing without being copied.
//!
//! On Linux a region is a mapping of its own. Large ones ask for huge pages, because a table is
//! read at random places and page tables would not stay in the caches; growing moves the pages to
//! another address and leaves them where they are in memory. Elsewhere growing copies.

#![allow(unsafe_code, reason = "memory comes from the operating system")]

use std::ptr::NonNull;

/// Zeroed memory that a table grows in.
///
/// Invariant: `start` points to `len` bytes that belong to this region alone.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    len: usize,
}

/// A type that may be all zero bytes.
///
/// # Safety
/// All-zero bytes must be a value of the type, which needs no more alignment than a cache line and
/// does nothing when dropped.
pub(crate) unsafe trait Zero {}

const CACHE_LINE: usize = 64;

// SAFETY: the region owns its memory, as a box does.
unsafe impl Send for Region {}
// SAFETY: as above; what is shared through `slice` is the business of the entries' type.
unsafe impl Sync for Region {}

impl Region {
    /// A region of `len` bytes, more than none.
    pub(crate) fn new(len: usize) -> Self {
        assert!(len > 0 && len.is_multiple_of(CACHE_LINE));
        Self {
            start: system::allocate(len),
            len,
        }
    }

    /// Makes the region larger. What it had stays; the rest is zero.
    pub(crate) fn grow(&mut self, len: usize) {
        assert!(len > self.len && len.is_multiple_of(CACHE_LINE));
        // SAFETY: the old memory is this region's own and is not used again.
        self.start = unsafe { system::grow(self.start, self.len, len) };
        self.len = len;
    }

    /// The region as entries of a type. All calls must name the same type.
    #[inline]
    pub(crate) fn slice<T: Zero>(&self) -> &[T] {
        assert!(align_of::<T>() <= CACHE_LINE);
        // SAFETY: the memory is aligned, large enough, and zero or written as this type before.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / size_of::<T>()) }
    }

    /// The same for the only user.
    pub(crate) fn slice_mut<T: Zero>(&mut self) -> &mut [T] {
        assert!(align_of::<T>() <= CACHE_LINE);
        // SAFETY: as in `slice`, and nobody else has a reference.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len / size_of::<T>())
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the memory is this region's own.
        unsafe { system::free(self.start, self.len) }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::alloc::{Layout, handle_alloc_error};
    use std::ptr::{NonNull, null_mut};

    use libc::{
        MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, MREMAP_FIXED,
        MREMAP_MAYMOVE, PROT_READ, PROT_WRITE,
    };

    const HUGE_PAGE: usize = 2 << 20;

    /// A mapping; if it is large, one that huge pages fit into exactly.
    pub(super) fn allocate(len: usize) -> NonNull<u8> {
        let spare = if len >= HUGE_PAGE { HUGE_PAGE } else { 0 };
        // SAFETY: a new mapping touches no memory in use; what is given back is part of it.
        unsafe {
            let start = libc::mmap(
                null_mut(),
                len + spare,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1,
                0,
            );
            if start == MAP_FAILED {
                let layout = Layout::from_size_align(len, super::CACHE_LINE);
                handle_alloc_error(layout.expect("regions are smaller than memory"));
            }
            let start = start.cast::<u8>();
            if spare == 0 {
                return NonNull::new_unchecked(start);
            }
            let head = start.align_offset(HUGE_PAGE);
            let aligned = start.add(head);
            if head > 0 {
                libc::munmap(start.cast(), head);
            }
            if spare > head {
                libc::munmap(aligned.add(len).cast(), spare - head);
            }
            // Where there are no huge pages, small ones do.
            libc::madvise(aligned.cast(), len, MADV_HUGEPAGE);
            NonNull::new_unchecked(aligned)
        }
    }

    /// # Safety
    /// `old` must come from `allocate` or `grow` with length `old_len`, and is not to be used again.
    pub(super) unsafe fn grow(old: NonNull<u8>, old_len: usize, len: usize) -> NonNull<u8> {
        let new = allocate(len);
        // SAFETY: both mappings are ours; the pages of the old one replace the first of the new one.
        unsafe {
            let moved = libc::mremap(
                old.as_ptr().cast(),
                old_len,
                old_len,
                MREMAP_MAYMOVE | MREMAP_FIXED,
                new.as_ptr(),
            );
            if moved == MAP_FAILED {
                new.copy_from_nonoverlapping(old, old_len);
                free(old, old_len);
            }
        }
        new
    }

    /// # Safety
    /// The memory must come from `allocate` or `grow`, and is not to be used again.
    pub(super) unsafe fn free(start: NonNull<u8>, len: usize) {
        // SAFETY: the caller gives up the mapping.
        unsafe {
            libc::munmap(start.as_ptr().cast(), len);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
    use std::ptr::NonNull;

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, super::CACHE_LINE).expect("regions are smaller than memory")
    }

    pub(super) fn allocate(len: usize) -> NonNull<u8> {
        // SAFETY: the length is not zero.
        let start = unsafe { alloc_zeroed(layout(len)) };
        NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout(len)))
    }

    /// # Safety
    /// `old` must come from `allocate` or `grow` with length `old_len`, and is not to be used again.
    pub(super) unsafe fn grow(old: NonNull<u8>, old_len: usize, len: usize) -> NonNull<u8> {
        let new = allocate(len);
        // SAFETY: the two do not overlap, and the new one is longer.
        unsafe {
            new.copy_from_nonoverlapping(old, old_len);
            free(old, old_len);
        }
        new
    }

    /// # Safety
    /// The memory must come from `allocate` or `grow`, and is not to be used again.
    pub(super) unsafe fn free(start: NonNull<u8>, len: usize) {
        // SAFETY: the caller gives up the memory.
        unsafe { dealloc(start.as_ptr(), layout(len)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Entry(u64);

    // SAFETY: zero is a number.
    unsafe impl Zero for Entry {}

    #[test]
    fn growing_keeps_what_was_there() {
        let mut region = Region::new(4096);
        let mut len = 4096;
        while len < 16 << 20 {
            for (i, entry) in region.slice_mut::<Entry>().iter_mut().enumerate() {
                entry.0 = i as u64 + 1;
            }
            let used = len / 8;
            len *= 2;
            region.grow(len);
            let entries = region.slice::<Entry>();
            assert_eq!(entries.len(), 2 * used);
            assert!((0..used).all(|i| entries[i].0 == i as u64 + 1));
            assert!(entries[used..].iter().all(|entry| entry.0 == 0));
        }
    }
}
