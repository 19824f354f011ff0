//! Symbolic search: sets of states as binary decision diagrams.
//!
//! Decides the same questions as the searches of crate `engine`, from the same model and with the same
//! meaning, by fixpoints over sets of states instead of visiting states one by one: [`explore`] looks
//! for a state, [`find_run`] for a fair run that an automaton accepts. What they find is a run of the
//! reference semantics; what they count is exact.
//!
//! `system.rs` makes relations over bits of a model, `product.rs` adds automaton and marks, `hull.rs`
//! is the fixpoint, `walk.rs` makes runs of it.
//!
//! This crate refuses to know formulas, front ends and reports. It does not treat abstract timers and
//! justness, fields with more than 4096 different values, and choices, loops and teams beyond the
//! bounds that are named where they are used: those end with [`Halt::Unsupported`], never with an
//! answer.

mod bdd;
mod branch;
mod commands;
mod encoding;
mod evaluate;
mod graph;
mod hull;
mod initial;
mod labels;
mod node_table;
mod order;
mod priority;
mod product;
mod search;
mod strong_global;
mod system;
mod value;
mod walk;

pub use bdd::Halt;
pub use product::Query;
pub use search::{Explored, Found, Goal, explore, find_run};
