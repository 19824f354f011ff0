//! How often a solver was asked, and when it is not asked any more.

use base::Budget;

use crate::solver::{Answer, STOPPED, Solver, Trust};
use crate::term::Term;

/// How often a solver was asked, and what it said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Questions.
    pub n_calls: u64,
    /// Questions without an answer.
    pub n_unknown: u64,
    /// Answers "unsatisfiable".
    pub n_unsat: u64,
}

/// A solver that counts, and is not asked after its budget is spent.
pub struct Counted<S> {
    inner: S,
    tally: Tally,
    last_reason: Option<String>,
    budget: Budget,
}

impl<S: Solver> Counted<S> {
    /// A solver that has not been asked yet.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            tally: Tally::default(),
            last_reason: None,
            budget: Budget::unlimited(),
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
        let answer = match self.budget.check(0, 0) {
            Ok(()) => self.inner.check(assumptions),
            Err(_) => Answer::Unknown(STOPPED.to_owned()),
        };
        match &answer {
            Answer::Sat(_) => {}
            Answer::Unsat => self.tally.n_unsat += 1,
            Answer::Unknown(why) => {
                self.tally.n_unknown += 1;
                self.last_reason = Some(why.clone());
            }
        }
        answer
    }

    fn obey(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.inner.obey(budget);
    }

    fn hurry(&mut self, is_hurried: bool) {
        self.inner.hurry(is_hurried);
    }

    fn trust(&self) -> Trust {
        self.inner.trust()
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        self.inner.core()
    }
}
