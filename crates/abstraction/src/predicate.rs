//! Predicate abstraction of unbounded data.
