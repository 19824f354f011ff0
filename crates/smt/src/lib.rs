//! Decision procedures for quantifier-free formulas over integers, Booleans and arrays, behind one
//! interface.
//!
//! [`Term`] is the language that all backends understand: enumerations and locations are integers
//! with bounds, arrays map integers to integers. A [`Solver`] answers questions about terms; the
//! embedded one ([`Embedded`]) needs nothing but this binary, the external ones ([`External`])
//! talk SMT-LIB 2 with a process that a [`Launch`] starts.
//!
//! No solver is trusted more than necessary: "satisfiable" is believed only if the model that
//! comes with it satisfies what was asserted ([`Model::eval`]), silence, crashes and nonsense are
//! [`Answer::Unknown`], [`Confirmed`] repeats every "unsatisfiable" with other solvers, of which
//! [`CaseSplit`] is small enough to be read, and counts what they confirm ([`Trust`]).
//!
//! This crate refuses to know models of systems. It starts processes only through a [`Launch`]
//! that the caller hands over.
//!
//! ```
//! use smt::{Answer, Embedded, Solver, Sort, Term};
//! let x = Term::var("x", Sort::Int);
//! let mut solver = Embedded::new(std::time::Duration::from_secs(5));
//! solver.assert(&Term::lt(Term::Int(0), x.clone()));
//! assert!(matches!(solver.check(&[]), Answer::Sat(_)));
//! assert_eq!(solver.check(&[Term::lt(x, Term::Int(1))]), Answer::Unsat);
//! ```

mod arrays;
mod case_split;
mod confirmed;
mod counted;
mod embedded;
mod enumerate;
mod external;
mod fourier_motzkin;
mod launch;
mod linear;
mod print;
#[cfg(feature = "processes")]
mod processes;
mod sexpr;
mod solver;
mod term;
mod value;

pub use case_split::CaseSplit;
pub use confirmed::Confirmed;
pub use counted::{Counted, Tally};
pub use embedded::Embedded;
pub use enumerate::{Rows, enumerate};
pub use external::{External, Program};
pub use launch::{Connection, Launch};
pub use linear::Linear;
pub use print::to_smtlib;
#[cfg(feature = "processes")]
pub use processes::SystemProcesses;
pub use solver::{Answer, Solver, Trust};
pub use term::{Interval, Intervals, Sort, Term};
pub use value::{ArrayValue, Model, Value};
