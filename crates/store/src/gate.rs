//! A lock for what many threads read all the time and one changes now and then.
//!
//! A common lock counts its readers in one place, which then travels from processor to processor.
//! Here every thread has a counter of its own on a cache line of its own, and a writer closes
//! the gate and waits until all counters are zero. No thread sleeps while waiting: it is not for long,
//! and a thread that is woken up may find itself on the processor of the one that woke it.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use crate::rows::OwnLine;
use crate::sync::{
    AtomicBool, AtomicU32, ConstPtr, MutPtr, UnsafeCell, stay_sequential, thread_number, wait_while,
};

/// More threads than this share counters.
const N_COUNTERS: usize = if cfg!(loom) { 2 } else { 16 };

/// A value behind a gate.
///
/// Invariant: a shared reference to the value exists only while its holder is counted as a reader
/// and has found the gate open since; a unique one only while its holder has closed the gate and
/// has found all counters zero since, or the gate is borrowed uniquely. Counting and closing are
/// sequentially consistent with looking at the other, so of a reader and a writer that come at once
/// at least one sees the other.
#[derive(Debug, Default)]
pub struct Gate<T> {
    n_readers: [OwnLine<AtomicU32>; N_COUNTERS],
    is_closed: OwnLine<AtomicBool>,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`; by the invariant the value is used by several threads only while all of
// them read it.
unsafe impl<T: Send + Sync> Sync for Gate<T> {}

// SAFETY: as for `RwLock`; the value is handed over with the gate.
unsafe impl<T: Send> Send for Gate<T> {}

/// Lets read. Fields are dropped in their order: the value is let go before the thread is no longer
/// counted.
#[derive(Debug)]
pub struct Reading<'a, T> {
    value: ConstPtr<T>,
    _counted: Counted<'a>,
}

/// Counted as a reader.
#[derive(Debug)]
struct Counted<'a>(&'a AtomicU32);

/// Lets write. The value is let go before the gate is opened.
#[derive(Debug)]
pub struct Writing<'a, T> {
    value: MutPtr<T>,
    _closed: Closed<'a>,
}

/// Has closed the gate.
#[derive(Debug)]
struct Closed<'a>(&'a AtomicBool);

impl<T> Gate<T> {
    /// A gate that is open.
    pub fn new(value: T) -> Self {
        Self {
            n_readers: Default::default(),
            is_closed: OwnLine::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until no thread writes. A thread that reads must not ask to read again: a writer may be
    /// waiting.
    #[inline]
    pub fn read(&self) -> Reading<'_, T> {
        let n_readers = &self.n_readers[thread_number() % N_COUNTERS].0;
        let is_closed = &self.is_closed.0;
        loop {
            n_readers.fetch_add(1, Ordering::SeqCst);
            stay_sequential();
            if !is_closed.load(Ordering::SeqCst) {
                break;
            }
            n_readers.fetch_sub(1, Ordering::Release);
            wait_while(|| is_closed.load(Ordering::Relaxed));
        }
        Reading {
            value: self.value.get(),
            _counted: Counted(n_readers),
        }
    }

    /// Waits until no thread reads or writes.
    pub fn write(&self) -> Writing<'_, T> {
        let is_closed = &self.is_closed.0;
        // While the gate is closed it is only looked at, which leaves its cache line to others.
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        let close = || is_closed.compare_exchange(false, true, success, failure);
        wait_while(|| is_closed.load(Ordering::Relaxed) || close().is_err());
        stay_sequential();
        for n_readers in &self.n_readers {
            wait_while(|| n_readers.0.load(Ordering::SeqCst) > 0);
        }
        Writing {
            value: self.value.get_mut(),
            _closed: Closed(is_closed),
        }
    }

    /// The value, for the only user.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        let value: *mut T = {
            let pointer = self.value.get_mut();
            // SAFETY: the gate is borrowed uniquely.
            unsafe { pointer.deref() }
        };
        // SAFETY: as above, and for as long as the reference exists.
        unsafe { &mut *value }
    }
}

impl Drop for Counted<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by the invariant of the gate; this thread stays counted as long as `self` exists.
        unsafe { self.value.deref() }
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: by the invariant of the gate; it stays closed as long as `self` exists.
        unsafe { self.value.deref() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed uniquely.
        unsafe { self.value.deref() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const N_TURNS: u64 = if cfg!(miri) { 20 } else { 1_000 };

    #[test]
    fn readers_see_whole_changes() {
        let gate = Gate::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..N_TURNS {
                        let pair = gate.read();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
            for i in 0..N_TURNS {
                let mut pair = gate.write();
                pair.0 = i;
                pair.1 = i;
            }
        });
        assert_eq!(gate.read().0, N_TURNS - 1);
    }

    #[test]
    fn writers_exclude_each_other() {
        let gate = Gate::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    for _ in 0..N_TURNS {
                        let mut count = gate.write();
                        let before = *count;
                        std::hint::spin_loop();
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*gate.read(), 20 * N_TURNS);
    }
}
