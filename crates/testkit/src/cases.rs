use std::sync::atomic::{AtomicUsize, Ordering};

/// How many random cases a test tries: `normal`, times the factor in the environment variable
/// `FAIR_CASES` (1 if there is none), and at least one.
///
/// # Panics
/// If `FAIR_CASES` is not a finite number that is at least 0.
#[must_use]
pub fn cases(normal: u32) -> u32 {
    let factor = std::env::var("FAIR_CASES").map_or(1.0, |text| {
        let factor: f64 = text.parse().expect("FAIR_CASES is a number");
        assert!(
            factor.is_finite() && factor >= 0.0,
            "FAIR_CASES is a finite number and at least 0"
        );
        factor
    });
    scaled(normal, factor)
}

/// A number of cases, times a factor, and at least one.
///
/// ```
/// use testkit::scaled;
///
/// assert_eq!(scaled(200, 1.0), 200);
/// assert_eq!(scaled(200, 2.5), 500);
/// assert_eq!(scaled(200, 0.001), 1);
/// // As many as there can be.
/// assert_eq!(scaled(200, 1e30), u32::MAX);
/// ```
#[must_use]
pub fn scaled(normal: u32, factor: f64) -> u32 {
    ((f64::from(normal) * factor) as u32).max(1)
}

/// What two threads make of their halves of the work, 0 and 1: a long loop in one test would leave
/// the other core idle.
///
/// # Panics
/// If one of them panics.
///
/// ```
/// let sums = testkit::halves(|half| (half..10).step_by(2).sum::<u64>());
/// assert_eq!(sums, [20, 25]);
/// ```
pub fn halves<T: Send>(work: impl Fn(u64) -> T + Sync) -> [T; 2] {
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|half| {
            let work = &work;
            scope.spawn(move || work(half))
        });
        threads.map(|thread| {
            let result = thread.join();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// What two threads make of each item, in the order of the items. Each takes the next item as soon as
/// it is free, so they end at about the same time even if some items take much longer than others.
///
/// # Panics
/// If one of them panics.
///
/// ```
/// let lengths = testkit::side_by_side(&["a", "", "ab"], |text| text.len());
/// assert_eq!(lengths, [1, 0, 2]);
/// ```
pub fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let made = halves(|_| {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| Some((number, work(items.get(number)?))));
        own.collect::<Vec<_>>()
    });

    let mut made: Vec<(usize, R)> = made.into_iter().flatten().collect();
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, result)| result).collect()
}
