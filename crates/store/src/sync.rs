//! Atomic operations and shared cells: those of the standard library, or those of loom, which
//! explores interleavings (`loom/tests/loom.rs` says which).

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

#[cfg(loom)]
pub(crate) use loom::cell::{ConstPtr, MutPtr, UnsafeCell};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

#[cfg(not(loom))]
pub(crate) use self::cell::{ConstPtr, MutPtr, UnsafeCell};

/// What loom's cells offer, on top of the standard library's.
#[cfg(not(loom))]
mod cell {
    #[derive(Debug, Default)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    /// A pointer to what is read.
    #[derive(Debug)]
    pub(crate) struct ConstPtr<T>(*const T);

    /// A pointer to what is written.
    #[derive(Debug)]
    pub(crate) struct MutPtr<T>(*mut T);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn get(&self) -> ConstPtr<T> {
            ConstPtr(self.0.get())
        }

        #[inline]
        pub(crate) fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }
    }

    impl<T> ConstPtr<T> {
        /// # Safety
        /// As for a raw pointer.
        #[inline]
        pub(crate) unsafe fn deref(&self) -> &T {
            // SAFETY: the caller's promise.
            unsafe { &*self.0 }
        }
    }

    impl<T> MutPtr<T> {
        /// # Safety
        /// As for a raw pointer.
        #[allow(clippy::mut_from_ref, reason = "as a raw pointer, and as loom's")]
        #[inline]
        pub(crate) unsafe fn deref(&self) -> &mut T {
            // SAFETY: the caller's promise.
            unsafe { &mut *self.0 }
        }
    }
}

/// Stands between two sequentially consistent operations.
///
/// They are in one order with all others of their kind, and nothing is needed between them. Loom
/// takes them for mere acquire and release operations, but knows such fences.
#[inline]
pub(crate) fn stay_sequential() {
    #[cfg(loom)]
    loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// How often to look before others are let run.
#[cfg(not(loom))]
const N_LOOKS: u32 = 1 << 12;

/// Looks again and again until it is not so any more.
#[cfg(not(loom))]
#[inline]
pub(crate) fn wait_while(is_so: impl Fn() -> bool) {
    let mut n_looks = 0;
    while is_so() {
        n_looks += 1;
        if n_looks < N_LOOKS && !cfg!(miri) {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// Looks again and again until it is not so any more.
#[cfg(loom)]
pub(crate) fn wait_while(is_so: impl Fn() -> bool) {
    while is_so() {
        loom::thread::yield_now();
    }
}

/// The number of this thread among those that have asked.
#[cfg(not(loom))]
#[inline]
pub(crate) fn thread_number() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static N_THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.with(|own| {
        own.get().unwrap_or_else(|| {
            let number = N_THREADS.fetch_add(1, Ordering::Relaxed);
            own.set(Some(number));
            number
        })
    })
}

/// The number of this thread among those that have asked, in this run of the test.
#[cfg(loom)]
pub(crate) fn thread_number() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Giving numbers is not what is tested, so loom need not see it.
    loom::lazy_static! {
        static ref N_THREADS: AtomicUsize = AtomicUsize::new(0);
    }
    loom::thread_local! {
        static OWN: Cell<Option<usize>> = Cell::new(None);
    }
    OWN.with(|own| {
        own.get().unwrap_or_else(|| {
            let number = N_THREADS.fetch_add(1, Ordering::Relaxed);
            own.set(Some(number));
            number
        })
    })
}
