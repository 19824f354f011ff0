//! Coefficients of threshold automata that make all their properties true.

use std::path::Path;

use base::{Diagnostic, Progress, Source};
use check::Plan;
use source::{Files, Options};

use crate::error::{Error, WrongText};

pub use check::Synthesis;

/// What a search for coefficients came to.
#[derive(Clone, Debug)]
pub struct Coefficients {
    /// The coefficients, by name.
    pub names: Vec<String>,
    /// Their values, in this order.
    pub found: Synthesis,
    /// Warnings about the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The text.
    pub source: Source,
}

/// Looks for values of the `unknowns` of a threshold automaton for which all its properties hold for all
/// parameters: the first that are found, or all.
///
/// # Errors
/// The file cannot be read, its text is wrong, or there is nothing to be found.
pub fn synthesise(
    files: &dyn Files,
    path: &Path,
    options: &Options,
    plan: &Plan,
    is_for_all: bool,
    progress: &mut dyn Progress,
) -> Result<Coefficients, Error> {
    let text = files.read(path);
    let text = text.map_err(|error| Error::Call(error.to_string()))?;
    let source = Source {
        name: path.display().to_string(),
        text,
    };
    let read = match ta::read_sketch(&source, options) {
        Ok(read) => read,
        Err(wrong) => {
            return Err(Error::Text(WrongText {
                sources: vec![source],
                diagnostics: vec![wrong],
            }));
        }
    };
    if read.sketch.unknowns.is_empty() {
        return Err(Error::Call(
            "the automaton has no `unknowns` without values, so there is nothing to be found"
                .to_owned(),
        ));
    }

    let found = check::synthesise(&read.sketch, &read.properties, plan, is_for_all, progress)?;
    Ok(Coefficients {
        names: read.sketch.unknowns,
        found,
        diagnostics: read.diagnostics,
        source,
    })
}
