//! The branching route: CTL* on state graphs and on may/must systems.
//!
//! The whole graph is kept in memory and quantified formulas are decided at every node, inner ones
//! before outer ones. What to read: `quantifier.rs` (where `E ψ` holds), `concrete.rs` (formulas on
//! state graphs), `may_must.rs` (three-valued answers on abstractions).

mod concrete;
mod frame;
mod lost;
mod may_must;
mod node_set;
mod quantifier;
mod witness;

pub(crate) use concrete::FairGraph;
pub(crate) use frame::{Frame, Product};
pub(crate) use may_must::check as check_may_must;
pub(crate) use node_set::NodeSet;
pub(crate) use quantifier::Obstacle as BranchingObstacle;
