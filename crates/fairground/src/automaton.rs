//! The automaton of a formula.

use base::{Source, SourceId};

use crate::error::{Error, WrongText};

/// How automata are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutomatonFormat {
    /// The Hanoi Omega-Automata format.
    Hoa,
    /// A drawing for Graphviz.
    Dot,
}

/// An automaton that accepts exactly the words that satisfy a formula of LTL, as text.
///
/// # Errors
/// The formula is wrong, or its automaton is too large.
pub fn automaton(formula: &str, format: AutomatonFormat) -> Result<String, Error> {
    let source = Source {
        name: "<formula>".to_owned(),
        text: formula.to_owned(),
    };
    let (parsed, atoms, diagnostics) = logic::parse(&source, SourceId(0));
    let Some(parsed) = parsed else {
        return Err(Error::Text(WrongText {
            sources: vec![source],
            diagnostics,
        }));
    };

    let too_large = |error: logic::TranslateError| Error::Stopped(error.to_string());
    let automaton = logic::translate(&parsed).map_err(too_large)?;
    match format {
        AutomatonFormat::Hoa => omega::to_hoa(&automaton, &atoms).map_err(|error| {
            Error::Call(format!("{error}; a drawing (`--format dot`) lists them"))
        }),
        AutomatonFormat::Dot => Ok(omega::to_dot(&automaton, &atoms)),
    }
}
