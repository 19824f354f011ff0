//! Solvers for data: the embedded one, or programs that a face can start.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use check::predicate::MakeSolver;
use smt::{Answer, Confirmed, Connection, Embedded, External, Launch, Program, Solver};

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
    /// Starts programs. Without it, a program that is asked for never answers.
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
        let embedded = || Box::new(Embedded::new(self.patience));
        match name {
            SolverName::Embedded => embedded(),
            SolverName::Z3 => Box::new(self.external(Program::z3())),
            SolverName::Cvc5 => Box::new(self.external(Program::cvc5())),
            SolverName::Auto => self.installed().unwrap_or_else(|| embedded()),
        }
    }

    fn external(&self, program: Program) -> External {
        let launch: Arc<dyn Launch> = match &self.launch {
            Some(launch) => launch.clone(),
            None => Arc::new(NoPrograms),
        };
        External::new(program, launch, self.patience)
    }

    /// A program that can be started and answers.
    fn installed(&self) -> Option<Box<dyn Solver>> {
        for program in [Program::z3(), Program::cvc5()] {
            let mut solver = self.external(program);
            if matches!(solver.check(&[]), Answer::Sat(_)) {
                return Some(Box::new(solver));
            }
        }
        None
    }
}

/// Starts nothing.
struct NoPrograms;

impl Launch for NoPrograms {
    fn launch(&self, _program: &str, _arguments: &[String]) -> io::Result<Box<dyn Connection>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
