//! Initial states, as long as there are not too many to be listed.

use base::Source;
use model::{Model, RunTimeError, State};

use crate::failure::Failure;

/// More candidates than this are not enumerated.
const MAX_CANDIDATES: f64 = 1_000_000.0;

/// Why there is no list of initial states.
pub enum NoStart {
    /// There are too many candidates.
    TooMany,
    /// An initial value or constraint fails.
    Error(RunTimeError),
}

impl NoStart {
    /// The failure of a command that needs initial states.
    pub fn into_failure(self, sources: &[Source]) -> Failure {
        match self {
            Self::TooMany => Failure::Stopped(format!(
                "more than {MAX_CANDIDATES} combinations of initial values: give more variables a value"
            )),
            Self::Error(error) => {
                Failure::wrong(format!("no initial state: {}", error_text(&error, sources)))
            }
        }
    }
}

/// All initial states.
///
/// # Errors
/// There is no list of them.
pub fn initial_states(model: &Model) -> Result<Vec<State>, NoStart> {
    if candidates(model).map_err(NoStart::Error)? > MAX_CANDIDATES {
        return Err(NoStart::TooMany);
    }
    model.initial_states().map_err(NoStart::Error)
}

/// How many states the reference semantics tries.
fn candidates(model: &Model) -> Result<f64, RunTimeError> {
    let locations = (0..model.instances().len()).map(|i| model.initial_locations(i).len() as f64);
    let mut product: f64 = locations.product();
    for (position, cell) in model.cells().iter().enumerate() {
        if model.initial_value(position)?.is_none() {
            let (lo, hi) = cell.ty.bounds();
            product *= hi as f64 - lo as f64 + 1.0;
        }
    }
    Ok(product)
}

/// A run-time error with its place.
pub fn error_text(error: &RunTimeError, sources: &[Source]) -> String {
    let source = sources.get(error.span.source.index());
    match source.filter(|_| error.span != base::Span::nowhere()) {
        Some(source) => {
            let (line, column) = source.line_column(error.span.start as usize);
            format!("{}, at {}:{line}:{column}", error.kind, source.name)
        }
        None => error.kind.to_string(),
    }
}
