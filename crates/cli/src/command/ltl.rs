//! `fair ltl`: the automaton of a formula.

use base::{Source, SourceId};

use crate::failure::{Failure, Status};
use crate::options::{AutomatonFormat, LtlOptions};
use crate::{diagnostics, output};

/// Prints an automaton that accepts exactly the words that satisfy the formula.
///
/// # Errors
/// The formula is wrong, or its automaton too large.
pub fn run(options: &LtlOptions) -> Result<Status, Failure> {
    let source = Source {
        name: "<formula>".to_owned(),
        text: options.formula.clone(),
    };
    let (formula, atoms, found) = logic::parse(&source, SourceId(0));
    let sources = [source];
    for diagnostic in &found {
        diagnostics::show(diagnostic, &sources);
    }
    let formula = formula.ok_or(Failure::Diagnosed)?;
    let too_large = |error: logic::TranslateError| Failure::Stopped(error.to_string());
    let automaton = logic::translate(&formula).map_err(too_large)?;
    let text = match options.format {
        AutomatonFormat::Hoa => omega::to_hoa(&automaton, &atoms).map_err(|error| {
            Failure::wrong(format!("{error}; a drawing (`--format dot`) lists them"))
        })?,
        AutomatonFormat::Dot => omega::to_dot(&automaton, &atoms),
    };
    output::print(&text)?;
    Ok(Status::Success)
}
