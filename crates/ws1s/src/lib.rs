//! Decides weak monadic second-order logic of one successor (WS1S) and M2L-Str.
//!
//! This crate knows formulas over positions and finite sets of positions, and the automata that
//! decide them. It reads MONA's language and answers as MONA does. It knows no models, touches no
//! files and no clock: included files come through a callback.
//!
//! ```
//! use base::{Budget, Source};
//!
//! let text = "var2 X; ex1 x: x in X & x + 1 in X;".to_owned();
//! let source = Source { name: "pair.mona".into(), text };
//! let mut no_files = |path: &str| Err(format!("no file {path}"));
//! let report = ws1s::run(source, &mut no_files, &ws1s::Options::default(), &Budget::unlimited());
//! assert_eq!(report.answers[0].verdict, ws1s::Verdict::Satisfiable);
//! assert_eq!(report.answers[0].example.as_ref().unwrap().letters.len(), 2);
//! ```
//!
//! Read next: [`run`] for files; [`Formulas`] with [`Position`] and [`Set`] to build formulas without
//! text; [`Automaton`] for what they denote.

mod ast;
mod atoms;
mod automaton;
mod build;
mod dot;
mod elaborate;
#[cfg(test)]
mod exhaustive;
mod formula;
mod lazy;
mod lexer;
mod machine;
mod meter;
mod minimise;
mod models;
mod mtbdd;
mod naming;
mod outermost;
mod pairs;
mod parser;
mod print;
mod product;
mod projection;
mod reorder;
mod run;
mod schedule;
mod solver;
mod table;
mod text;
mod vector;
mod words;

pub use automaton::Automaton;
pub use build::{Position, Set};
pub use formula::{Formula, Formulas, Var, VarKind};
pub use machine::{FALSE, TRUE, UNDEFINED};
pub use meter::{MAX_TRACKS, Statistics, Unknown};
pub use models::Models;
pub use parser::{Loader, MAX_DEPTH};
pub use print::{print_answers, print_statistics};
pub use run::{Answer, Options, Report, Verdict, run};
pub use vector::{VectorMachine, reachable_vectors};
pub use words::{Value, Word};

/// The program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
