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

/// What a verdict rests on beyond the definitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RestsOn {
    /// How far it can be trusted; nothing if there is no verdict.
    pub confidence: Option<Confidence>,
    /// The reductions that its searches made use of, by their names in calls.
    pub reductions: Vec<String>,
    /// The solvers that it needs.
    pub solvers: Vec<SolverUse>,
    /// For a proof about all values of a parameter: the values for which a search agrees.
    pub instances: Vec<i64>,
}

/// What stands behind a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidence {
    /// A certificate that was checked by a program that does not search.
    Certified,
    /// A run that was replayed on the reference semantics. However it was found does not matter.
    Replayed,
    /// A complete search.
    Searched,
    /// A complete search that left out what cannot change the verdict.
    SearchedWithReduction,
    /// Answers of a solver, each of which was confirmed by another procedure.
    ConfirmedSolver,
    /// Answers of a solver that were not all confirmed.
    UnconfirmedSolver,
    /// An abstraction of all instances that a decision procedure for WS1S made.
    Ws1s,
}

impl Confidence {
    /// The stable name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Replayed => "replayed",
            Self::Searched => "searched",
            Self::SearchedWithReduction => "searched-with-reduction",
            Self::ConfirmedSolver => "confirmed-solver",
            Self::UnconfirmedSolver => "unconfirmed-solver",
            Self::Ws1s => "ws1s",
        }
    }
}
