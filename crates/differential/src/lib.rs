//! Every route against every other.
//!
//! A [`Case`] is a model with a question. [`compare`] asks it in all ways that must give the same
//! answer: with and without each reduction, by one and two threads, with machine code and
//! interpreted, stopped and resumed, with fairness as an option, as annotations, as assumptions and
//! as a premise of the formula, in linear and branching time, and by the naive oracles of `testkit`
//! where the system is small. Every comparison is counted by its [`RouteKind`] in a [`Tally`]; a
//! disagreement is a [`Finding`], which [`minimise`] makes small.
//!
//! Cases come from [`random_case`], from the files of the repository ([`files`]), and from texts
//! that also have other routes: [`families`] for all numbers of processes, [`predicates`] for
//! abstract data, [`twins`] in other languages.
//!
//! This crate is for development only: its test runs with all others, `cargo xtask fuzz` runs its
//! program for as long as asked.

mod answer;
mod case;
pub mod families;
pub mod files;
mod formulations;
mod generate;
mod minimise;
mod native;
mod notions;
mod oracle;
pub mod predicates;
mod routes;
mod stored;
mod tally;
pub mod twins;

pub use answer::{Answer, Finding};
pub use case::{Case, compare, random_case};
pub use minimise::{minimise, size};
pub use native::native_text;
pub use tally::{Counts, RouteKind, Tally};
