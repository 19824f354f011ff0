//! CSP#: what texts mean, what is said about wrong ones, and that nothing breaks the reader.

mod bad_input;
mod libraries;
mod merged;
mod refinement;
mod robust;
mod semantics;
mod support;
