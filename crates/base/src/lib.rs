//! Vocabulary that every other crate of Fairground may use.
//!
//! Typed indices, source positions, diagnostics, budgets and progress. This crate decides nothing
//! and knows neither models nor formulas.
//!
//! ```
//! use base::{Budget, StopReason};
//!
//! let budget = Budget::unlimited().with_max_states(10);
//! assert_eq!(budget.check(10, 0), Ok(()));
//! assert_eq!(budget.check(11, 0), Err(StopReason::StateLimit));
//! ```

pub mod bits;
mod budget;
mod checkpoint;
mod diagnostic;
mod expected;
mod fairness;
mod folder;
mod index;
mod links;
mod progress;
mod route;
mod suggest;

pub use budget::{Budget, Review, StopReason, Stopper};
pub use checkpoint::{Checkpoints, Inherited, fingerprint, put_list, take_list};
pub use diagnostic::{Diagnostic, Label, Severity, Source, SourceId, Span, cap_errors};
pub use expected::Expected;
pub use fairness::{Fairness, FairnessKind};
pub use folder::{Folder, NewFile};
pub use links::Links;
pub use progress::{NoProgress, Progress, Shares, Snapshot};
pub use route::Route;
pub use suggest::closest_name;

define_index! {
    /// An atomic proposition. The model owns the table that says what an atom means, so formulas
    /// and automata can speak of atoms without knowing models.
    pub struct AtomId;
}
