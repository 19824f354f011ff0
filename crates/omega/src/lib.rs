//! ω-automata, acceptance conditions and the search for fair cycles.
//!
//! This crate decides whether a graph whose edges carry *marks* has a reachable cycle that
//! satisfies a Boolean combination of "mark m infinitely often" and "mark m finitely often"
//! (Emerson–Lei acceptance). It knows neither models nor formulas: everything here is tested on
//! graphs written down by hand or drawn at random.
//!
//! ```
//! use omega::{Acceptance, Closure, ExplicitGraph, MarkId, NodeId};
//! use omega::{find_fair_cycle, shortest_lasso};
//!
//! // Node 0 may wait forever, although the step to node 1 is enabled (mark 0) all the time.
//! let (enabled, taken) = (MarkId(0), MarkId(1));
//! let mut graph = ExplicitGraph::new(2, 2);
//! graph.add_initial(NodeId(0));
//! graph.add_edge(NodeId(0), 0, NodeId(0), &[enabled]);
//! graph.add_edge(NodeId(0), 1, NodeId(1), &[enabled, taken]);
//! graph.add_edge(NodeId(1), 0, NodeId(1), &[]);
//!
//! // Under strong fairness it may not: only the loop at node 1 is fair.
//! let strong = Acceptance::streett_pair(enabled, taken);
//! let search = find_fair_cycle(&mut graph, &strong, Closure::None, &mut |_| Ok(()));
//! let Ok(found) = search.result;
//! let Ok(lasso) = shortest_lasso(&mut graph, &found.unwrap(), &strong);
//! assert_eq!(lasso.stem.len(), 1);
//! assert_eq!(lasso.cycle[0].source, NodeId(1));
//! ```
//!
//! Read next: [`Acceptance`], then [`Graph`] (what a caller implements), then
//! [`find_fair_cycle`].

mod acceptance;
mod automaton;
mod closure;
mod confirm;
mod dot;
mod emerson_lei;
mod explicit;
mod exploration;
mod fair_nodes;
mod graph;
mod hoa;
mod inner_edges;
mod lasso;
mod mark_names;
mod parallel;
mod path_based;
mod refinement;
mod stem;
mod stored;
mod symmetric;

pub use acceptance::{Acceptance, MarkId};
pub use automaton::{Automaton, Cube, Edge, LetterMark, Prop, StateId};
pub use closure::Closure;
pub use confirm::{confirm, confirm_reached};
pub use dot::to_dot;
pub use emerson_lei::{
    Component, FairCycleSearch, SearchState, find_fair_cycle, resume_fair_cycle,
};
pub use explicit::ExplicitGraph;
pub use exploration::{Observer, SearchStats};
pub use fair_nodes::{fair_nodes, promising_components};
pub use graph::{EdgeBuffer, Graph, MAX_NODES, NodeId};
pub use hoa::{HoaAutomaton, HoaError, TooManyLetterAtoms, from_hoa, to_hoa};
pub use lasso::{Lasso, LassoStep, covering_lasso, shortest_lasso, shortest_lasso_after};
pub use parallel::{ParallelSearch, find_fair_cycle_parallel};
pub use stem::Stems;
pub use stored::{MarkSets, RecordWriter, StoredGraph, find_fair_cycle_stored};
pub use symmetric::{
    Renaming, SymmetricAcceptance, SymmetricComponent, SymmetricGraph, SymmetricSearch,
    find_fair_cycle_symmetric, symmetric_lasso,
};

/// The program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
