//! What tests of several crates share: random models, programs and formulas, and a naive oracle.
//!
//! The oracle follows the definitions of fairness word by word on the reference semantics. It
//! enumerates sets of edges, so it is only usable on tiny systems; it shares neither the marks nor
//! the search with the tool.

mod branching;
mod cases;
pub mod census;
mod formula;
mod models;
mod oracle;
mod peer;
mod population;
pub mod programs;
mod properties;
mod random;
mod shelf;
pub mod text;
mod twins;
pub mod values;
mod wires;

pub use branching::{BranchingOracle, random_ctl_star};
pub use cases::{cases, halves, scaled, side_by_side};
pub use formula::random_formula;
pub use models::{
    ModelShape, RelatedText, communicating_text, random_model, related_constructs, related_model,
    related_text,
};
pub use oracle::{Judgement, ReferenceGraph, fair_run_exists};
pub use peer::has_peer;
pub use population::{Population, PopulationText, population_text};
pub use properties::{judge, random_claim, random_property};
pub use random::Random;
pub use shelf::Shelf;
pub use twins::{Twin, random_twin};
pub use wires::Wires;
