//! Memory that holds machine code.

/// What generated code and its caller tell each other.
///
/// Invariant of every call: the pointers have room as [`crate::Routine::run`] states it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Context {
    /// The words of the state.
    pub(crate) state: *const u64,
    /// Registers and remembered conditions.
    pub(crate) frame: *mut u64,
    /// Where the next target goes; moved on by the code.
    pub(crate) words: *mut u64,
    /// Where the next label goes; moved on by the code.
    pub(crate) labels: *mut u32,
    /// Where the next unit goes.
    pub(crate) units: *mut u32,
    /// Not zero if the first step is enough.
    pub(crate) is_hurried: u64,
}

#[cfg(all(feature = "native", target_arch = "x86_64", unix))]
pub(crate) use mapped::Executable;
#[cfg(not(all(feature = "native", target_arch = "x86_64", unix)))]
pub(crate) use missing::Executable;

#[cfg(all(feature = "native", target_arch = "x86_64", unix))]
mod mapped {
    use libc::{MAP_ANON, MAP_FAILED, MAP_PRIVATE, PROT_EXEC, PROT_READ, PROT_WRITE};

    use super::Context;

    /// Machine code that can be called.
    #[derive(Debug)]
    pub(crate) struct Executable {
        start: *mut u8,
        len: usize,
    }

    // SAFETY: the memory is never written after `new`.
    unsafe impl Send for Executable {}
    // SAFETY: as above.
    unsafe impl Sync for Executable {}

    impl Executable {
        /// Makes code callable; nothing if the system does not allow it.
        pub(crate) fn new(code: &[u8]) -> Option<Self> {
            let len = code.len().max(1);
            // SAFETY: a new private mapping touches no memory in use; the bytes are copied into it
            // before it is made executable, and it is never writable again.
            unsafe {
                let start = libc::mmap(
                    std::ptr::null_mut(),
                    len,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANON,
                    -1,
                    0,
                );
                if start == MAP_FAILED {
                    return None;
                }
                let executable = Self {
                    start: start.cast(),
                    len,
                };
                std::ptr::copy_nonoverlapping(code.as_ptr(), executable.start, code.len());
                (libc::mprotect(start, len, PROT_READ | PROT_EXEC) == 0).then_some(executable)
            }
        }

        /// Calls the code at its beginning, which goes on at `entry`.
        ///
        /// # Safety
        /// The code must be what [`crate::generator`] generates, `entry` one of its entries, and the
        /// context as that entry needs it.
        pub(crate) unsafe fn call(&self, context: &mut Context, entry: usize) -> u64 {
            debug_assert!(entry < self.len);
            // SAFETY: the code begins with a function of this type; the rest is the caller's promise.
            unsafe {
                let function: extern "sysv64" fn(*mut Context, *const u8) -> u64 =
                    std::mem::transmute(self.start);
                function(context, self.start.add(entry))
            }
        }
    }

    impl Drop for Executable {
        fn drop(&mut self) {
            // SAFETY: the mapping is this object's own, and no thread runs it any more.
            unsafe {
                libc::munmap(self.start.cast(), self.len);
            }
        }
    }
}

#[cfg(not(all(feature = "native", target_arch = "x86_64", unix)))]
mod missing {
    use super::Context;

    /// Machine code for another processor or system: there is none.
    #[derive(Debug)]
    pub(crate) enum Executable {}

    impl Executable {
        /// Nothing: the code cannot be called here.
        pub(crate) fn new(_: &[u8]) -> Option<Self> {
            None
        }

        /// Calls the code.
        ///
        /// # Safety
        /// Always safe: there is no code.
        pub(crate) unsafe fn call(&self, _: &mut Context, _: usize) -> u64 {
            match *self {}
        }
    }
}
