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
