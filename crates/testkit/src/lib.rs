//! What tests of several crates share: random models, programs and formulas, and a naive oracle.
//!
//! The oracle follows the definitions of fairness word by word on the reference semantics. It
//! enumerates sets of edges, so it is only usable on tiny systems; it shares neither the marks nor
//! the search with the tool.

mod branching;
mod cases;
mod formula;
mod models;
mod oracle;
pub mod programs;
mod random;

pub use branching::{BranchingOracle, random_ctl_star};
pub use cases::cases;
pub use formula::random_formula;
pub use models::{ModelShape, random_model};
pub use oracle::{Judgement, ReferenceGraph, fair_run_exists};
pub use random::Random;
