//! Solvers for data: the embedded one, or programs that are installed.

use std::sync::Arc;
use std::time::Duration;

use check::predicate::MakeSolver;
use smt::{Answer, Confirmed, Embedded, External, Program, Solver, SystemProcesses};

use crate::options::{DataOptions, SolverName};

/// Makes the solvers that the command line asks for.
pub fn maker(options: &DataOptions) -> MakeSolver {
    let (name, second, patience) = (options.solver, options.confirm_with, options.solver_timeout);
    Arc::new(move || {
        let first = solver(name, patience);
        match second {
            None => first,
            Some(second) => Box::new(Confirmed::new(first, solver(second, patience))),
        }
    })
}

fn solver(name: SolverName, patience: Duration) -> Box<dyn Solver> {
    match name {
        SolverName::Embedded => Box::new(Embedded::new(patience)),
        SolverName::Z3 => Box::new(external(Program::z3(), patience)),
        SolverName::Cvc5 => Box::new(external(Program::cvc5(), patience)),
        SolverName::Auto => {
            installed(patience).unwrap_or_else(|| Box::new(Embedded::new(patience)))
        }
    }
}

fn external(program: Program, patience: Duration) -> External {
    External::new(program, Arc::new(SystemProcesses), patience)
}

/// A program that can be started and answers.
fn installed(patience: Duration) -> Option<Box<dyn Solver>> {
    for program in [Program::z3(), Program::cvc5()] {
        let mut solver = external(program, patience);
        if matches!(solver.check(&[]), Answer::Sat(_)) {
            return Some(Box::new(solver));
        }
    }
    None
}
