//! How often a solver was asked.

use crate::solver::{Answer, Solver};
use crate::term::Term;

/// How often a solver was asked, and what it said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Questions.
    pub n_calls: u64,
    /// Questions without an answer.
    pub n_unknown: u64,
}

/// A solver that counts.
pub struct Counted<S> {
    inner: S,
    tally: Tally,
    last_reason: Option<String>,
}

impl<S: Solver> Counted<S> {
    /// A solver that has not been asked yet.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            tally: Tally::default(),
            last_reason: None,
        }
    }

    /// How often it was asked so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Why it had no answer, the last time that it had none.
    #[must_use]
    pub fn last_reason(&self) -> Option<&str> {
        self.last_reason.as_deref()
    }
}

impl<S: Solver> Solver for Counted<S> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn assert(&mut self, term: &Term) {
        self.inner.assert(term);
    }

    fn push(&mut self) {
        self.inner.push();
    }

    fn pop(&mut self) {
        self.inner.pop();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        self.tally.n_calls += 1;
        let answer = self.inner.check(assumptions);
        if let Answer::Unknown(why) = &answer {
            self.tally.n_unknown += 1;
            self.last_reason = Some(why.clone());
        }
        answer
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        self.inner.core()
    }
}
