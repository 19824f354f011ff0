//! A lock for what many threads read all the time and one changes now and then.
//!
//! A common lock counts its readers in one place, which then travels from processor to processor.
//! Here every thread has a lock of its own on a cache line of its own, and whoever writes takes them
//! all, in order.

#![allow(unsafe_code, reason = "the locks guard a value that lies beside them")]

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::rows::OwnLine;

/// More threads than this share locks.
const N_LOCKS: usize = 16;

const NO_PANIC: &str = "no thread panics while it holds a lock";

/// A value behind a gate.
///
/// Invariant: a shared reference to the value exists only while its holder has read-locked one of
/// the locks, a unique one only while its holder has write-locked all of them, or the gate is
/// borrowed uniquely.
#[derive(Debug, Default)]
pub(crate) struct Gate<T> {
    locks: [OwnLine<RwLock<()>>; N_LOCKS],
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`; by the invariant the value is used by several threads only while all of
// them read it.
unsafe impl<T: Send + Sync> Sync for Gate<T> {}

/// Lets read.
#[derive(Debug)]
pub(crate) struct Reading<'a, T> {
    value: &'a T,
    _lock: RwLockReadGuard<'a, ()>,
}

/// Lets write.
#[derive(Debug)]
pub(crate) struct Writing<'a, T> {
    value: &'a mut T,
    _locks: [RwLockWriteGuard<'a, ()>; N_LOCKS],
}

thread_local! {
    /// Which lock this thread uses.
    static OWN_LOCK: Cell<Option<usize>> = const { Cell::new(None) };
}

fn own_lock() -> usize {
    static N_THREADS: AtomicUsize = AtomicUsize::new(0);
    OWN_LOCK.with(|own| {
        own.get().unwrap_or_else(|| {
            let lock = N_THREADS.fetch_add(1, Ordering::Relaxed) % N_LOCKS;
            own.set(Some(lock));
            lock
        })
    })
}

impl<T> Gate<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            locks: Default::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until nobody writes.
    pub(crate) fn read(&self) -> Reading<'_, T> {
        let lock = self.locks[own_lock()].0.read().expect(NO_PANIC);
        Reading {
            // SAFETY: the lock is held as long as the reference exists.
            value: unsafe { &*self.value.get() },
            _lock: lock,
        }
    }

    /// Waits until nobody reads or writes.
    pub(crate) fn write(&self) -> Writing<'_, T> {
        let locks = self.locks.each_ref();
        let locks = locks.map(|lock| lock.0.write().expect(NO_PANIC));
        Writing {
            // SAFETY: all locks are held as long as the reference exists.
            value: unsafe { &mut *self.value.get() },
            _locks: locks,
        }
    }

    /// The value, for the only user.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
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
}
