//! ω-automata, acceptance conditions and the search for fair cycles.
//!
//! This crate decides whether a graph whose edges carry *marks* has a reachable cycle that
//! satisfies a Boolean combination of "mark m infinitely often" and "mark m finitely often"
//! (Emerson–Lei acceptance). It knows neither models nor formulas: everything here is tested on
//! graphs written down by hand or drawn at random.

mod acceptance;
mod automaton;
mod graph;

pub use acceptance::{Acceptance, MarkId};
pub use automaton::{Automaton, Cube, Edge, LetterMark, Prop, StateId};
pub use graph::{EdgeBuffer, Graph, NodeId};
