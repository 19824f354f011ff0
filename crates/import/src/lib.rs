//! Front ends for the languages of other checkers: CSP# ([`csp`]) and Promela ([`promela`]).
//!
//! Each reads a text and returns a [`model::Model`] with its properties, or diagnostics; neither
//! knows files, searches or reports.

pub mod csp;
pub mod promela;
