//! Explicit-state exploration.
//!
//! A [`System`] is a model compiled for speed: states packed into words, guards and effects as
//! straight-line code. [`explore`] visits its states breadth first (reachability, invariants,
//! deadlocks); [`find_run`] searches its product with an automaton for a fair run; [`state_graph`]
//! keeps everything, for questions about every state. [`explore_on_sets`] and [`find_run_on_sets`] do what
//! the first two do with sets of states that may be on disk. All are exact or say why they stopped.
//!
//! This crate knows no formulas and no fairness notions, only automata and elementary conditions;
//! which ones a property needs is decided in crate `check`. Everything here is tested against the
//! reference semantics of crate `model`.

mod agenda;
mod bitstate;
mod canonicalize;
mod claims;
mod compile;
mod constant;
mod elimination;
mod explore;
mod footprint;
mod initial;
mod interference;
mod label;
mod layout;
mod letters;
mod native;
mod parallel_search;
mod parents;
mod passage;
mod prefix;
mod priority;
mod product;
mod program;
mod ranges;
mod search;
mod set_search;
mod sharing;
mod state_graph;
mod stepping;
mod stored_search;
mod stubborn;
mod symmetric_search;
mod symmetry;
mod system;
mod teams;
mod waiting;
mod weak;

pub use bitstate::explore_bitstate;
pub use canonicalize::{Differences, concrete_run};
pub use claims::{Claims, Component, SubjectClaims, UnitClaims};
pub use compile::CompileError;
pub use explore::{Exploration, Explored, Found, Goal, Met, Stats, explore};
pub use label::{Label, LabelId};
pub use search::{Alternative, Outcome, Query, find_run};
pub use set_search::{SetCarrier, explore_on_sets, find_run_on_sets};
pub use state_graph::{Built, StateGraph, state_graph};
pub use stubborn::Refusal;
pub use symmetry::{Asymmetry, Obstacle};
pub use system::{Failed, Limits, Steps, System};
