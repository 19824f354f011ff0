//! How much a search may spend, and how it is stopped from outside.
//!
//! Only the binaries look at clocks and signals. They hold a [`Stopper`] and pull it; a search
//! polls its [`Budget`] every few thousand steps and ends with a [`StopReason`], which becomes the
//! verdict *unknown*. Nothing in the code base turns a `StopReason` into "holds".

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Why a search ended before it had decided anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// More states than allowed.
    StateLimit,
    /// More memory than allowed.
    MemoryLimit,
    /// The time given is over.
    Timeout,
    /// The user asked to stop.
    Interrupted,
    /// What it was to go on from cannot have been written by it.
    DamagedCheckpoint,
    /// There is no room left on the disk where it keeps states.
    DiskFull,
    /// The disk where it keeps states cannot be read or written.
    DiskFailure,
    /// Another process of the search has ended, is silent, or cannot be reached.
    ProcessLost,
    /// The processes of the search do not search for the same.
    ProcessesDiffer,
    /// Files of a process that the search was to go on from are not there.
    FilesMissing,
}

impl StopReason {
    /// All reasons, in a fixed order.
    pub const ALL: [Self; 10] = [
        Self::StateLimit,
        Self::MemoryLimit,
        Self::Timeout,
        Self::Interrupted,
        Self::DamagedCheckpoint,
        Self::DiskFull,
        Self::DiskFailure,
        Self::ProcessLost,
        Self::ProcessesDiffer,
        Self::FilesMissing,
    ];

    /// The stable name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StateLimit => "state-limit",
            Self::MemoryLimit => "memory-limit",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::DamagedCheckpoint => "damaged-checkpoint",
            Self::DiskFull => "disk-full",
            Self::DiskFailure => "disk-failure",
            Self::ProcessLost => "process-lost",
            Self::ProcessesDiffer => "processes-differ",
            Self::FilesMissing => "files-missing",
        }
    }
}

const RUNNING: u8 = 0;
const TIMEOUT: u8 = 1;
const INTERRUPTED: u8 = 2;
const OUT_OF_MEMORY: u8 = 3;

/// The switch of a budget, and that of the whole which the budget is a part of.
#[derive(Debug, Default)]
struct Switch {
    code: AtomicU8,
    whole: Option<Arc<Switch>>,
}

impl Switch {
    #[inline]
    fn reason(&self) -> Option<StopReason> {
        match self.code.load(Ordering::Relaxed) {
            RUNNING => self.whole.as_ref().and_then(|whole| whole.reason()),
            TIMEOUT => Some(StopReason::Timeout),
            OUT_OF_MEMORY => Some(StopReason::MemoryLimit),
            _ => Some(StopReason::Interrupted),
        }
    }
}

/// What a search may spend. Cloning shares the stop switch.
#[derive(Clone, Debug)]
pub struct Budget {
    max_states: Option<u64>,
    max_memory: Option<u64>,
    n_threads: usize,
    review: Option<Arc<Review>>,
    /// Up to this many states neither of both has anything to say; for speed.
    n_unasked: u64,
    /// Up to this many bytes neither the limit nor the review has anything to say; for speed.
    bytes_unasked: u64,
    stop: Arc<Switch>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_states: None,
            max_memory: None,
            n_threads: 1,
            review: None,
            n_unasked: u64::MAX,
            bytes_unasked: u64::MAX,
            stop: Arc::default(),
        }
    }
}

impl Budget {
    /// One thread, no limit; it can still be stopped by its [`Stopper`].
    #[must_use]
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// At most this many states (product states where there is a product).
    #[must_use]
    pub fn with_max_states(mut self, max_states: u64) -> Self {
        self.max_states = Some(max_states);
        self.asking_in_time()
    }

    /// At most this many states, unless the limit is lower already.
    #[must_use]
    pub fn with_trial_states(mut self, max_states: u64) -> Self {
        let limit = self.max_states.unwrap_or(max_states);
        self.max_states = Some(limit.min(max_states));
        self.asking_in_time()
    }

    /// At most this many bytes in the structures of the search.
    #[must_use]
    pub fn with_max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self.asking_in_time()
    }

    /// Up to this many threads; at least one.
    #[must_use]
    pub fn with_threads(mut self, n_threads: usize) -> Self {
        self.n_threads = n_threads.max(1);
        self
    }

    /// A search that stores more states than the review says, or that has used half of the memory
    /// it may use, is looked at, and ends if that is what the review decides.
    #[must_use]
    pub fn with_review(mut self, review: Arc<Review>) -> Self {
        self.review = Some(review);
        self.asking_in_time()
    }

    fn asking_in_time(mut self) -> Self {
        let limit = self.max_states.unwrap_or(u64::MAX);
        let review = self.review.as_ref().map_or(u64::MAX, |r| r.after);
        self.n_unasked = limit.min(review);

        let limit = self.max_memory.unwrap_or(u64::MAX);
        self.bytes_unasked = match &self.review {
            None => limit,
            Some(_) => limit / 2,
        };
        self
    }

    /// The same budget with a switch of its own: stopping the part leaves the whole running, and
    /// stopping the whole stops the part.
    #[must_use]
    pub fn part(&self) -> Self {
        let stop = Switch {
            code: AtomicU8::new(RUNNING),
            whole: Some(Arc::clone(&self.stop)),
        };
        Self {
            stop: Arc::new(stop),
            ..self.clone()
        }
    }

    /// How many bytes a search may use, if that is limited.
    #[must_use]
    pub fn max_memory(&self) -> Option<u64> {
        self.max_memory
    }

    /// How many threads a search may use.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        if cfg!(feature = "threads") {
            self.n_threads
        } else {
            1
        }
    }

    /// The switch that ends every search spending this budget.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// May a search that has spent this much go on?
    ///
    /// # Errors
    /// The reason for which it must stop.
    pub fn check(&self, n_states: u64, bytes: u64) -> Result<(), StopReason> {
        if let Some(reason) = self.stop.reason() {
            return Err(reason);
        }
        if n_states > self.n_unasked && self.has_too_many(n_states) {
            return Err(StopReason::StateLimit);
        }
        if bytes > self.bytes_unasked {
            return self.check_memory(bytes);
        }
        Ok(())
    }

    /// Is this too much memory, or so much that a review ends the search?
    #[cold]
    fn check_memory(&self, bytes: u64) -> Result<(), StopReason> {
        if self.max_memory.is_some_and(|limit| bytes > limit) {
            return Err(StopReason::MemoryLimit);
        }
        if self.review.as_ref().is_some_and(|review| review.ends()) {
            return Err(StopReason::StateLimit);
        }
        Ok(())
    }

    /// Are these states more than allowed, or so many that a review ends the search?
    #[cold]
    fn has_too_many(&self, n_states: u64) -> bool {
        self.max_states.is_some_and(|limit| n_states > limit)
            || self
                .review
                .as_ref()
                .is_some_and(|review| n_states > review.after && review.ends())
    }
}

/// Whether a search that has become large is to go on: a question that is asked once, in the middle
/// of the search, by the thread that notices first.
pub struct Review {
    after: u64,
    shall_end: Box<dyn Fn() -> bool + Send + Sync>,
    answer: OnceLock<bool>,
}

impl Review {
    /// Asks whether a search shall end that has stored more states than `after`, or that runs short
    /// of memory.
    #[must_use]
    pub fn new(after: u64, shall_end: Box<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self {
            after,
            shall_end,
            answer: OnceLock::new(),
        }
    }

    /// Was the search told to end?
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.answer.get() == Some(&true)
    }

    fn ends(&self) -> bool {
        *self.answer.get_or_init(&self.shall_end)
    }
}

impl fmt::Debug for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Review");
        debug.field("after", &self.after);
        debug.field("answer", &self.answer).finish_non_exhaustive()
    }
}

/// Ends searches from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Switch>);

impl Stopper {
    /// The time is over. An earlier stop keeps its reason.
    pub fn time_out(&self) {
        self.pull(TIMEOUT);
    }

    /// The user asked to stop. An earlier stop keeps its reason.
    pub fn interrupt(&self) {
        self.pull(INTERRUPTED);
    }

    /// The program as a whole has used up its memory. An earlier stop keeps its reason.
    pub fn run_out_of_memory(&self) {
        self.pull(OUT_OF_MEMORY);
    }

    /// Why what spends the budget has to end, if it has to.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        self.0.reason()
    }

    fn pull(&self, code: u8) {
        // Losing the race means that another reason came first; that reason stands.
        let _ = self
            .0
            .code
            .compare_exchange(RUNNING, code, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_stop_wins_and_reaches_clones() {
        let budget = Budget::unlimited();
        let clone = budget.clone().with_max_states(1);
        budget.stopper().interrupt();
        budget.stopper().time_out();
        assert_eq!(clone.check(0, 0), Err(StopReason::Interrupted));
    }

    #[test]
    fn a_large_search_is_reviewed_once() {
        for answer in [false, true] {
            let n_asked = Arc::new(AtomicU8::new(0));
            let counter = Arc::clone(&n_asked);
            let ask = move || {
                counter.fetch_add(1, Ordering::Relaxed);
                answer
            };
            let review = Arc::new(Review::new(10, Box::new(ask)));
            let budget = Budget::unlimited().with_review(Arc::clone(&review));
            assert_eq!(budget.check(10, 0), Ok(()));
            assert!(!review.has_ended());
            for _ in 0..2 {
                assert_eq!(budget.check(11, 0).is_err(), answer);
            }
            assert_eq!(review.has_ended(), answer);
            assert_eq!(n_asked.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn a_limit_comes_before_a_review() {
        let review = Arc::new(Review::new(10, Box::new(|| true)));
        let budget = Budget::unlimited().with_review(Arc::clone(&review));
        let budget = budget.with_max_states(10);
        assert_eq!(budget.check(11, 0), Err(StopReason::StateLimit));
        assert!(!review.has_ended());
    }

    #[test]
    fn a_part_stops_with_the_whole_but_not_the_whole_with_a_part() {
        let whole = Budget::unlimited();
        let (first, second) = (whole.part(), whole.part());
        first.stopper().time_out();
        assert_eq!(first.check(0, 0), Err(StopReason::Timeout));
        assert_eq!(second.check(0, 0), Ok(()));
        assert_eq!(whole.check(0, 0), Ok(()));
        whole.stopper().run_out_of_memory();
        assert_eq!(first.check(0, 0), Err(StopReason::Timeout));
        assert_eq!(second.part().check(0, 0), Err(StopReason::MemoryLimit));
        assert_eq!(second.stopper().reason(), Some(StopReason::MemoryLimit));
    }

    #[test]
    fn a_search_that_runs_short_of_memory_is_reviewed() {
        for answer in [false, true] {
            let review = Arc::new(Review::new(1000, Box::new(move || answer)));
            let budget = Budget::unlimited().with_max_memory(100);
            let budget = budget.with_review(Arc::clone(&review));
            assert_eq!(budget.check(1, 50), Ok(()));
            assert_eq!(budget.check(1, 51).is_err(), answer);
            assert_eq!(review.has_ended(), answer);
            assert_eq!(budget.check(1, 101), Err(StopReason::MemoryLimit));
        }
    }

    #[test]
    fn memory_is_limited() {
        let budget = Budget::unlimited().with_max_memory(100);
        assert_eq!(budget.check(1 << 40, 100), Ok(()));
        assert_eq!(budget.check(0, 101), Err(StopReason::MemoryLimit));
    }
}
