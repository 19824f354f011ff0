//! Solvers for data: the embedded one, or programs that a face can start.

use std::sync::Arc;
use std::time::Duration;

use check::predicate::MakeSolver;
use smt::{Answer, Confirmed, Embedded, External, Launch, Program, Solver};

/// A decision procedure for data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolverName {
    /// The one that is part of this library.
    Embedded,
    /// The program `z3`.
    Z3,
    /// The program `cvc5`.
    Cvc5,
    /// z3 or cvc5 if one of them can be started, else the embedded one.
    Auto,
}

/// Which solvers decide questions about data.
#[derive(Clone)]
pub struct SolverChoice {
    /// The one that is asked.
    pub solver: SolverName,
    /// Repeats every "impossible" of the first, which is believed only then.
    pub confirm_with: Option<SolverName>,
    /// How long a solver may think about one question.
    pub patience: Duration,
    /// Starts programs. Without it, the embedded solver takes their place.
    pub launch: Option<Arc<dyn Launch + Send + Sync>>,
}

/// Makes the solvers that were chosen, for [`crate::PredicateOptions::solver`].
#[must_use]
pub fn solver_maker(choice: SolverChoice) -> MakeSolver {
    Arc::new(move || {
        let first = choice.make(choice.solver);
        match choice.confirm_with {
            None => first,
            Some(second) => Box::new(Confirmed::new(first, choice.make(second))),
        }
    })
}

impl SolverChoice {
    fn make(&self, name: SolverName) -> Box<dyn Solver> {
        let program = |program| self.external(program).map(|solver| Box::new(solver) as _);
        let found: Option<Box<dyn Solver>> = match name {
            SolverName::Embedded => None,
            SolverName::Z3 => program(Program::z3()),
            SolverName::Cvc5 => program(Program::cvc5()),
            SolverName::Auto => self.installed(),
        };
        found.unwrap_or_else(|| Box::new(Embedded::new(self.patience)))
    }

    fn external(&self, program: Program) -> Option<External> {
        let launch = self.launch.clone()?;
        Some(External::new(program, launch, self.patience))
    }

    /// A program that can be started and answers.
    fn installed(&self) -> Option<Box<dyn Solver>> {
        for program in [Program::z3(), Program::cvc5()] {
            let mut solver = self.external(program)?;
            if matches!(solver.check(&[]), Answer::Sat(_)) {
                return Some(Box::new(solver));
            }
        }
        None
    }
}
