//! What a verdict rests on.

/// A solver whose answers a verdict rests on.
///
/// Only answers "impossible" count: where a solver says "possible", it gives values, and these are
/// evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolverUse {
    /// The solver.
    pub name: String,
    /// How often it said "impossible".
    pub answers: u64,
    /// How many of these answers were confirmed by another procedure.
    pub confirmed: u64,
    /// By which; several are separated by commas. Nothing if none was confirmed.
    pub confirmed_by: Option<String>,
}
