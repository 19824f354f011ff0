//! The refinement loop, which all questions of the predicate route share.

use evidence::{Explanation, UnknownReason, Verdict};
use model::Model;

use super::setup::Check;

/// A confirmed run of a sample of the model.
pub(super) struct Found {
    /// The sample.
    pub(super) sample: Box<Model>,
    /// What the judge of evidence says about the run.
    pub(super) explanation: Explanation,
}

/// How a round ended.
pub(super) enum Round {
    /// With an answer, and the run that shows it.
    Decided(Verdict, Option<Box<Found>>),
    /// Predicates were added.
    Refined,
}

impl Round {
    /// No answer, and why.
    pub(super) fn undecided(reason: UnknownReason) -> Self {
        Self::Decided(Verdict::Unknown(reason), None)
    }
}

/// What a loop of refinements came to: the answer, and the run that shows it.
pub(super) type Decision = (Verdict, Option<Box<Found>>);

impl Check<'_> {
    /// Abstracts, asks and refines until there is an answer or the patience is at its end. `ask` is
    /// told which round it is, from 1 on. Returns how many rounds followed the first, too.
    pub(super) fn refine(&self, mut ask: impl FnMut(usize) -> Round) -> (Decision, usize) {
        let n_rounds = self.plan.predicate.max_refinements + 1;
        for round in 1..=n_rounds {
            if let Round::Decided(verdict, found) = ask(round) {
                return ((verdict, found), round - 1);
            }
        }

        let too_coarse = Verdict::Unknown(UnknownReason::AbstractionTooCoarse);
        ((too_coarse, None), n_rounds - 1)
    }
}
