//! ω-automata, acceptance conditions and the search for fair cycles.
//!
//! This crate decides whether a graph whose edges carry *marks* has a reachable cycle that
//! satisfies a Boolean combination of "mark m infinitely often" and "mark m finitely often"
//! (Emerson–Lei acceptance). It knows neither models nor formulas: everything here is tested on
//! graphs written down by hand or drawn at random.

mod acceptance;
mod automaton;
mod closure;
mod dot;
mod emerson_lei;
mod explicit;
mod exploration;
mod graph;
mod hoa;
mod inner_edges;
mod lasso;
mod path_based;

pub use acceptance::{Acceptance, MarkId};
pub use automaton::{Automaton, Cube, Edge, LetterMark, Prop, StateId};
pub use closure::Closure;
pub use dot::to_dot;
pub use emerson_lei::{Component, FairCycleSearch, find_fair_cycle};
pub use explicit::ExplicitGraph;
pub use exploration::{Observer, SearchStats};
pub use graph::{EdgeBuffer, Graph, NodeId};
pub use hoa::{HoaAutomaton, HoaError, TooManyLetterAtoms, from_hoa, to_hoa};
pub use lasso::{Lasso, LassoStep, covering_lasso, shortest_lasso};
