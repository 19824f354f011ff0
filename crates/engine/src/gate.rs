//! A lock for what many threads read all the time and one changes now and then.
//!
//! A common lock counts its readers in one place, which then travels from processor to processor.
//! Here every thread has a counter of its own on a cache line of its own, and whoever writes closes
//! the gate and waits until all counters are zero. Nobody sleeps while waiting: it is not for long,
//! and a thread that is woken up may find itself on the processor of the one that woke it.

#![allow(
    unsafe_code,
    reason = "the counters guard a value that lies beside them"
)]

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::rows::OwnLine;

/// More threads than this share counters.
const N_COUNTERS: usize = 16;

/// How often to look before others are let run.
const N_LOOKS: u32 = 1 << 12;

/// A value behind a gate.
///
/// Invariant: a shared reference to the value exists only while its holder is counted as a reader
/// and has found the gate open since; a unique one only while its holder has closed the gate and
/// has found all counters zero since, or the gate is borrowed uniquely. Counting and closing are
/// sequentially consistent with looking at the other, so of a reader and a writer that come at once
/// at least one sees the other.
#[derive(Debug, Default)]
pub(crate) struct Gate<T> {
    n_readers: [OwnLine<AtomicU32>; N_COUNTERS],
    is_closed: OwnLine<AtomicBool>,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`; by the invariant the value is used by several threads only while all of
// them read it.
unsafe impl<T: Send + Sync> Sync for Gate<T> {}

/// Lets read.
#[derive(Debug)]
pub(crate) struct Reading<'a, T> {
    value: &'a T,
    n_readers: &'a AtomicU32,
}

/// Lets write.
#[derive(Debug)]
pub(crate) struct Writing<'a, T> {
    value: &'a mut T,
    is_closed: &'a AtomicBool,
}

thread_local! {
    /// Which counter this thread uses.
    static OWN_COUNTER: Cell<Option<usize>> = const { Cell::new(None) };
}

fn own_counter() -> usize {
    static N_THREADS: AtomicUsize = AtomicUsize::new(0);
    OWN_COUNTER.with(|own| {
        own.get().unwrap_or_else(|| {
            let counter = N_THREADS.fetch_add(1, Ordering::Relaxed) % N_COUNTERS;
            own.set(Some(counter));
            counter
        })
    })
}

fn wait_while(is_so: impl Fn() -> bool) {
    let mut n_looks = 0;
    while is_so() {
        n_looks += 1;
        if n_looks < N_LOOKS {
            std::hint::spin_loop()
        } else {
            std::thread::yield_now()
        }
    }
}

impl<T> Gate<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            n_readers: Default::default(),
            is_closed: OwnLine::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until nobody writes. Whoever reads must not ask to read again: a writer may be waiting.
    pub(crate) fn read(&self) -> Reading<'_, T> {
        let n_readers = &self.n_readers[own_counter()].0;
        let is_closed = &self.is_closed.0;
        loop {
            n_readers.fetch_add(1, Ordering::SeqCst);
            if !is_closed.load(Ordering::SeqCst) {
                break;
            }
            n_readers.fetch_sub(1, Ordering::Release);
            wait_while(|| is_closed.load(Ordering::Relaxed));
        }
        Reading {
            // SAFETY: by the invariant; this thread stays counted as long as the reference exists.
            value: unsafe { &*self.value.get() },
            n_readers,
        }
    }

    /// Waits until nobody reads or writes.
    pub(crate) fn write(&self) -> Writing<'_, T> {
        let is_closed = &self.is_closed.0;
        wait_while(|| is_closed.swap(true, Ordering::SeqCst));
        for n_readers in &self.n_readers {
            wait_while(|| n_readers.0.load(Ordering::SeqCst) > 0);
        }
        Writing {
            // SAFETY: by the invariant; the gate stays closed as long as the reference exists.
            value: unsafe { &mut *self.value.get() },
            is_closed,
        }
    }

    /// The value, for the only user.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        self.n_readers.fetch_sub(1, Ordering::Release);
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.is_closed.store(false, Ordering::Release);
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_whole_changes() {
        let gate = Gate::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let pair = gate.read();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
            for i in 0..500 {
                let mut pair = gate.write();
                pair.0 = i;
                pair.1 = i;
            }
        });
        assert_eq!(gate.read().0, 499);
    }

    #[test]
    fn writers_exclude_each_other() {
        let gate = Gate::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let mut count = gate.write();
                        let before = *count;
                        std::hint::spin_loop();
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*gate.read(), 10_000);
    }
}
