//! Abstractions: functions from a model to a model, with what they preserve.
//!
//! [`parameterized`] abstracts a family of any number of processes, [`predicate`] abstracts
//! unbounded data. Which one answers a property is decided in crate `check`.

pub mod parameterized;
pub mod predicate;
