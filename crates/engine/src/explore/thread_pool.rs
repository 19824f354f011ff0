//! The threads of a breadth-first search besides the first.
//!
//! A level often takes less time than starting a thread, so they are started once and wait for
//! tasks: awake for a moment, because the next one usually comes soon, then asleep.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;

use base::NoProgress;

use super::{Shared, Task, Worker};

/// How often a thread looks for the next task before it sleeps.
const N_LOOKS: u32 = 1 << 12;

const NO_PANIC: &str = "no thread panics while it reads or writes a task";

/// What the threads and the first one tell each other.
///
/// Invariant: between tasks `n_busy` is zero, and no thread but the first uses the search.
#[derive(Debug, Default)]
pub(super) struct ThreadPool {
    /// How many tasks were handed out; one more at the end.
    n_tasks: AtomicU32,
    /// What is to be done; nothing before the first time.
    task: Mutex<Option<Task>>,
    /// How many threads are not done with it.
    n_busy: AtomicU32,
    is_dismissed: AtomicBool,
    /// How many steps the threads have counted.
    n_transitions: AtomicU64,
}

/// Sends the threads home, also if the first one panics.
pub(super) struct Members<'a> {
    pool: &'a ThreadPool,
    threads: Vec<Thread>,
}

/// Tells the others if a thread panics.
struct Alive<'a>(&'a ThreadPool);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_dismissed.store(true, Ordering::Release);
        }
    }
}

impl ThreadPool {
    /// The life of a thread: does tasks until the pool is dismissed.
    pub(super) fn serve<'m>(
        &self,
        shared: &Shared<'_>,
        new_worker: &dyn Fn() -> Worker<'m>,
    ) -> Worker<'m> {
        let _alive = Alive(self);
        let mut worker = new_worker();
        let mut n_served = 0;
        loop {
            let mut n_looks = 0;
            while self.n_tasks.load(Ordering::Acquire) == n_served {
                n_looks += 1;
                if n_looks < N_LOOKS {
                    std::hint::spin_loop()
                } else {
                    std::thread::park()
                }
            }
            if self.is_dismissed.load(Ordering::Relaxed) {
                return worker;
            }
            n_served += 1;
            let before = worker.n_transitions;
            let task = *self.task.lock().expect(NO_PANIC);
            if let Some(task) = task {
                worker.serve(shared, task, 0, &mut NoProgress);
                worker.end_level(shared);
            }
            let n_new = worker.n_transitions - before;
            self.n_transitions.fetch_add(n_new, Ordering::Relaxed);
            self.n_busy.fetch_sub(1, Ordering::Release);
        }
    }
}

impl<'a> Members<'a> {
    /// Threads that [`ThreadPool::serve`].
    pub(super) fn new(pool: &'a ThreadPool, threads: Vec<Thread>) -> Self {
        Self { pool, threads }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// How many steps the threads have counted in the levels before.
    pub(super) fn n_transitions(&self) -> u64 {
        self.pool.n_transitions.load(Ordering::Relaxed)
    }

    /// Hands out a task, and does `own` meanwhile; returns when all threads are done.
    pub(super) fn share(&self, task: Task, own: impl FnOnce()) {
        let pool = self.pool;
        *pool.task.lock().expect(NO_PANIC) = Some(task);
        pool.n_busy
            .store(self.threads.len() as u32, Ordering::Relaxed);
        self.wake();
        own();
        let mut n_looks = 0;
        while pool.n_busy.load(Ordering::Acquire) > 0 {
            let has_panicked = pool.is_dismissed.load(Ordering::Acquire);
            assert!(!has_panicked, "a thread of the search has panicked");
            n_looks += 1;
            if n_looks < N_LOOKS {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        }
    }

    /// What was written before is seen by those who wake up.
    fn wake(&self) {
        self.pool.n_tasks.fetch_add(1, Ordering::Release);
        self.threads.iter().for_each(Thread::unpark);
    }
}

impl Drop for Members<'_> {
    fn drop(&mut self) {
        self.pool.is_dismissed.store(true, Ordering::Relaxed);
        self.wake();
    }
}
