//! Memory for a table: zeroed, aligned to cache lines, and growing without being copied.
//!
//! On Linux a region is a mapping of its own. Large ones ask for huge pages, because a table is
//! read at random places and page tables would not stay in the caches; growing moves the pages to
//! another address and leaves them where they are in memory. Elsewhere growing copies.

#[cfg(not(loom))]
pub(crate) use self::mapped::Region;
#[cfg(loom)]
pub(crate) use self::plain::Region;

/// A type that may be all zero bytes.
///
/// # Safety
/// All-zero bytes must be its default, it must not need more alignment than a cache line, its size
/// must be a multiple of that, and dropping it must do nothing.
pub(crate) unsafe trait Zero: Default {}

#[cfg(not(loom))]
const CACHE_LINE: usize = 64;

#[cfg(not(loom))]
mod mapped {
    use std::marker::PhantomData;
    use std::ptr::NonNull;

    use super::{CACHE_LINE, Zero, system};

    /// Zeroed memory that a table grows in.
    ///
    /// Invariant: `start` points to `len` entries that belong to this region alone.
    #[derive(Debug)]
    pub(crate) struct Region<T: Zero> {
        start: NonNull<u8>,
        len: usize,
        entries: PhantomData<T>,
    }

    // SAFETY: the region owns its memory, as a box does.
    unsafe impl<T: Zero + Send> Send for Region<T> {}
    // SAFETY: as above; the entries are shared as those of a slice.
    unsafe impl<T: Zero + Sync> Sync for Region<T> {}

    impl<T: Zero> Region<T> {
        const IS_SUITABLE: () = assert!(
            align_of::<T>() <= CACHE_LINE
                && size_of::<T>() > 0
                && size_of::<T>().is_multiple_of(CACHE_LINE)
        );

        /// A region of `len` entries, more than none.
        pub(crate) fn new(len: usize) -> Self {
            let () = Self::IS_SUITABLE;
            assert!(len > 0);
            Self {
                start: system::allocate(n_bytes::<T>(len)),
                len,
                entries: PhantomData,
            }
        }

        /// Makes the region larger. What it had stays; the rest is zero.
        pub(crate) fn grow(&mut self, len: usize) {
            assert!(len > self.len);
            // SAFETY: the old memory is this region's own and is not used again.
            self.start =
                unsafe { system::grow(self.start, n_bytes::<T>(self.len), n_bytes::<T>(len)) };
            self.len = len;
        }

        /// The entries.
        #[inline]
        pub(crate) fn slice(&self) -> &[T] {
            // SAFETY: the memory is aligned, large enough, and zero or written as this type before.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len) }
        }

        /// The same for the only user.
        #[inline]
        pub(crate) fn slice_mut(&mut self) -> &mut [T] {
            // SAFETY: as in `slice`, and the region is borrowed uniquely.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
        }
    }

    impl<T: Zero> Drop for Region<T> {
        fn drop(&mut self) {
            // SAFETY: the memory is this region's own.
            unsafe { system::free(self.start, n_bytes::<T>(self.len)) }
        }
    }

    fn n_bytes<T>(len: usize) -> usize {
        let n_bytes = len.checked_mul(size_of::<T>());
        n_bytes.expect("regions are smaller than memory")
    }
}

/// Loom has to be told of every entry, so they are made one by one.
#[cfg(loom)]
mod plain {
    use super::Zero;

    #[derive(Debug)]
    pub(crate) struct Region<T: Zero>(Vec<T>);

    impl<T: Zero> Region<T> {
        pub(crate) fn new(len: usize) -> Self {
            Self((0..len).map(|_| T::default()).collect())
        }

        pub(crate) fn grow(&mut self, len: usize) {
            self.0.resize_with(len, T::default);
        }

        pub(crate) fn slice(&self) -> &[T] {
            &self.0
        }

        pub(crate) fn slice_mut(&mut self) -> &mut [T] {
            &mut self.0
        }
    }
}

#[cfg(all(target_os = "linux", not(any(miri, loom))))]
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

#[cfg(all(any(miri, not(target_os = "linux")), not(loom)))]
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Default)]
    #[repr(align(64))]
    struct Line(u64);

    // SAFETY: zero is a number.
    unsafe impl Zero for Line {}

    #[test]
    fn growing_keeps_what_was_there() {
        let mut region = Region::<Line>::new(64);
        let mut len = 64;
        // Beyond the size from which huge pages are asked for.
        let max_len = if cfg!(miri) { 512 } else { 1 << 18 };
        while len < max_len {
            for (i, entry) in region.slice_mut().iter_mut().enumerate() {
                entry.0 = i as u64 + 1;
            }
            let used = len;
            len *= 2;
            region.grow(len);
            let entries = region.slice();
            assert_eq!(entries.len(), 2 * used);
            assert!((0..used).all(|i| entries[i].0 == i as u64 + 1));
            assert!(entries[used..].iter().all(|entry| entry.0 == 0));
        }
    }
}
