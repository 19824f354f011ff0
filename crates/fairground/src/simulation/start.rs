//! Initial states, as long as there are not too many to be listed.

use base::Source;
use model::{Model, RunTimeError, State};

use crate::error::Error;

/// More candidates than this are not enumerated.
const MAX_CANDIDATES: f64 = 1_000_000.0;

/// All initial states.
pub(crate) fn initial_states(model: &Model, sources: &[Source]) -> Result<Vec<State>, Error> {
    let no_start =
        |error| Error::Call(format!("no initial state: {}", error_text(&error, sources)));
    if candidates(model).map_err(no_start)? > MAX_CANDIDATES {
        return Err(Error::Stopped(format!(
            "more than {MAX_CANDIDATES} combinations of initial values: give more variables a value"
        )));
    }
    model.initial_states().map_err(no_start)
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
pub(crate) fn error_text(error: &RunTimeError, sources: &[Source]) -> String {
    let source = sources.get(error.span.source.index());
    match source.filter(|_| error.span != base::Span::nowhere()) {
        Some(source) => {
            let (line, column) = source.line_column(error.span.start as usize);
            format!("{}, at {}:{line}:{column}", error.kind, source.name)
        }
        None => error.kind.to_string(),
    }
}
