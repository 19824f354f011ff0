//! How many cases random suites try.

/// The number of cases for a suite that normally tries `normal`, times the factor in the
/// environment variable `FAIR_CASES` (default 1); at least 1.
#[must_use]
pub fn cases(normal: u32) -> u32 {
    let factor = std::env::var("FAIR_CASES").ok();
    let factor: f64 = factor.and_then(|text| text.parse().ok()).unwrap_or(1.0);
    ((f64::from(normal) * factor) as u32).max(1)
}
