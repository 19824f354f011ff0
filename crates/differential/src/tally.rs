//! How many comparisons were made, and what came out.

use std::collections::BTreeMap;
use std::fmt;

/// What two answers to one question differ in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RouteKind {
    /// Partial-order reduction alone.
    PartialOrder,
    /// Symmetry reduction alone.
    Symmetry,
    /// Dead variables forgotten.
    DeadVariables,
    /// All reductions together.
    AllReductions,
    /// A search that is started again with reductions.
    StartedAgain,
    /// Two threads.
    TwoThreads,
    /// Fair runs are searched on stored edges from the beginning.
    StoredEdges,
    /// No machine code.
    Interpreter,
    /// All code compiled and all variables stored.
    AllCode,
    /// A search that ends where the answer is known.
    EarlyEnd,
    /// Several of these at random.
    Mixed,
    /// A search that keeps a few bits of each state.
    Bitstate,
    /// By sets of states.
    Symbolic,
    /// A search on sets of states, in memory or in files.
    Sets,
    /// A search that is stopped at random moments and goes on.
    Resumed,
    /// The naive oracles.
    Oracle,
    /// The run as it is stored, read and replayed.
    Replay,
    /// The same question as a formula of linear time, an invariant or reachability.
    LinearTime,
    /// The same question with a path quantifier.
    BranchingTime,
    /// The same question as a Büchi automaton of bad runs.
    Claim,
    /// A formula and its negation, which both hold iff there is no fair run.
    Negation,
    /// Fairness of everything as annotations.
    Annotation,
    /// Fairness of everything as assumptions.
    Assumption,
    /// Fairness of everything as a premise of the formula.
    Premise,
    /// A stronger notion of fairness.
    Stronger,
    /// All numbers of processes.
    AllInstances,
    /// Predicate abstraction.
    Predicate,
    /// The same system in another language.
    Twin,
    /// A verdict worked out independently.
    Expected,
}

/// What became of the comparisons of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Both answers are known and agree.
    pub agreements: u64,
    /// One of them is unknown.
    pub undecided: u64,
    /// They contradict each other.
    pub disagreements: u64,
}

impl Counts {
    /// How many comparisons there were.
    #[must_use]
    pub fn comparisons(&self) -> u64 {
        self.agreements + self.undecided + self.disagreements
    }
}

/// Counts by kind.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<RouteKind, Counts>);

impl Tally {
    /// The counts of one kind.
    #[must_use]
    pub fn of(&self, kind: RouteKind) -> Counts {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// The counts of all kinds together.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in self.0.values() {
            total.agreements += counts.agreements;
            total.undecided += counts.undecided;
            total.disagreements += counts.disagreements;
        }
        total
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        for (kind, counts) in &other.0 {
            let sum = self.0.entry(*kind).or_default();
            sum.agreements += counts.agreements;
            sum.undecided += counts.undecided;
            sum.disagreements += counts.disagreements;
        }
    }

    pub(crate) fn count(&mut self, kind: RouteKind) -> &mut Counts {
        self.0.entry(kind).or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<14} {:>12} {:>12} {:>10} {:>13}",
            "kind", "comparisons", "agreements", "undecided", "disagreements"
        )?;
        let rows = self
            .0
            .iter()
            .map(|(kind, counts)| (format!("{kind:?}"), *counts));
        for (name, counts) in rows.chain([("total".to_owned(), self.total())]) {
            writeln!(
                f,
                "{name:<14} {:>12} {:>12} {:>10} {:>13}",
                counts.comparisons(),
                counts.agreements,
                counts.undecided,
                counts.disagreements
            )?;
        }
        Ok(())
    }
}
