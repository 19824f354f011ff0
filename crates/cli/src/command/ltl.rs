//! `fair ltl`: the automaton of a formula.

use fairground::report::Escape;

use crate::failure::{Failure, Status};
use crate::options::LtlOptions;
use crate::output;

/// Prints an automaton that accepts exactly the words that satisfy the formula.
///
/// # Errors
/// The formula is wrong, or its automaton too large.
pub fn run(options: &LtlOptions) -> Result<Status, Failure> {
    let text = fairground::automaton(&options.formula, options.format.into())?;
    output::print_document(&text, Escape::Replacement)?;
    Ok(Status::Success)
}
