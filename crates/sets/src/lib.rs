//! Reachability and fair cycles by operations on sets of states.
//!
//! Depth-first searches for fair cycles need all states in memory, and one thread after the other.
//! The search here goes through sets of states in rounds, in whatever order, and only forwards, so sets
//! may be kept where states cannot be looked up one by one: sorted on disk, or on another machine.
//! It is exact for conjunctions of generalized Büchi and Streett conditions, and for few alternatives
//! of such conjunctions; strong global fairness is not among them.
//!
//! [`Search`] is the algorithm, written once. [`Expand`] is the graph: steps are computed from a
//! state alone. [`Carrier`] keeps a part of a set: [`InMemory`] or [`OnDisk`]. Each part has a thread of
//! its own; states belong to parts by their hash. Several processes may search together, connected by
//! [`base::Links`].
//!
//! This crate knows no models; files come from a [`base::Folder`].

mod carrier;
mod conjunction;
mod crew;
mod cycle;
mod disk;
mod graph;
mod inheritance;
mod memory;
mod rules;
mod run;
mod search;
mod team;

pub use carrier::{Batch, Carrier, Change, Mail, Rule};
pub use crew::Meter;
pub use disk::{DiskList, OnDisk};
pub use graph::{Edge, Expand, Remark, Successors};
pub use inheritance::Earlier;
pub use memory::{InMemory, MemoryList};
pub use search::{Answer, Counts, Keeper, Open, Path, Question, Search, is_supported};
