//! Searches of graphs with marks, and texts of automata, against a naive oracle.
//!
//! One program, because each would have a copy of the searches, compiled for speed.

mod exhaustive;
mod fair_nodes;
mod hoa;
mod numbers;
mod oracle;
mod random;
mod scale;
mod symmetric;
