//! Claims of static analyses against the reference semantics, which knows nothing of them.
//!
//! Footprints, independence, visibility, relevance, steadiness, live variables, symmetry and code
//! that is never executed: whatever is claimed is compared with what the steps of `model` do, on
//! states that can be reached and on arbitrary ones. `mutants` sees to it that false claims are
//! noticed.

mod footprints;
mod forms;
mod imported;
mod mutants;
mod orbits;
mod relations;
mod sources;
mod states;
