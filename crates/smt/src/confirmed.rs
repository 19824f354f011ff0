//! Two solvers instead of one.

use crate::solver::{Answer, Solver};
use crate::term::Term;

/// Asks a second solver whenever the first says "unsatisfiable"; only if both say so it counts.
pub struct Confirmed<A, B> {
    first: A,
    second: B,
}

impl<A: Solver, B: Solver> Confirmed<A, B> {
    /// Both solvers must be fresh.
    #[must_use]
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A: Solver, B: Solver> Solver for Confirmed<A, B> {
    fn name(&self) -> String {
        format!(
            "{}, confirmed with {}",
            self.first.name(),
            self.second.name()
        )
    }

    fn assert(&mut self, term: &Term) {
        self.first.assert(term);
        self.second.assert(term);
    }

    fn push(&mut self) {
        self.first.push();
        self.second.push();
    }

    fn pop(&mut self) {
        self.first.pop();
        self.second.pop();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        match self.first.check(assumptions) {
            Answer::Unsat => match self.second.check(assumptions) {
                Answer::Unsat => Answer::Unsat,
                Answer::Sat(_) => Answer::Unknown(format!(
                    "{} and {} contradict each other",
                    self.first.name(),
                    self.second.name()
                )),
                Answer::Unknown(why) => {
                    Answer::Unknown(format!("{} does not confirm: {why}", self.second.name()))
                }
            },
            other => other,
        }
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        // A core of one solver need not be one of the other.
        None
    }
}
