//! The Hanoi Omega-Automata format, version 1.
//!
//! T. Babiak, F. Blahoudek, A. Duret-Lutz, J. Klein, J. Křetínský, D. Müller, D. Parker,
//! J. Strejček, "The Hanoi Omega-Automata format", CAV 2015, doi:10.1007/978-3-319-21690-4_31, and
//! <https://adl.github.io/hoaf/>.
//!
//! Read: one automaton without universal branching; labels on transitions, on states or implicit;
//! marks on transitions or states; any acceptance formula, complemented sets and aliases included.
//! Written: labels and marks on transitions.

mod lexer;
mod parser;
mod reader;
mod split;
mod writer;

use std::fmt;

use crate::Automaton;

pub(crate) use writer::{acceptance_text, escape, marks_text};

pub use reader::from_hoa;
pub use writer::{TooManyLetterAtoms, to_hoa};

/// An automaton as it was written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoaAutomaton {
    /// The automaton. Its atoms are positions in `atoms`.
    pub automaton: Automaton,
    /// The names of the atoms.
    pub atoms: Vec<String>,
}

/// What is wrong with a text that should be an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoaError {
    /// Where, counted from 1.
    pub line: usize,
    /// What.
    pub message: String,
}

impl fmt::Display for HoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for HoaError {}
