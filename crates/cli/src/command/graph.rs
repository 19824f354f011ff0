//! `fair graph`: the reachable states and steps of a model as a drawing for Graphviz.

use fairground::report::Escape;
use fairground::{Error, StopReason};

use crate::failure::{Failure, Status};
use crate::options::GraphOptions;
use crate::{limits, loading, output};

/// Explores the model with the reference semantics and draws it.
///
/// # Errors
/// The model is wrong, or has too many states.
pub fn run(options: &GraphOptions) -> Result<Status, Failure> {
    let model = &options.model;
    let project = loading::open_closed(&model.file, model.for_front_end())?;
    let budget = limits::budget().with_max_states(options.max_states);

    let graph = project.graph(&budget).map_err(|error| match error {
        Error::Limit(StopReason::StateLimit) => Failure::Stopped(format!(
            "more than {} states; raise --max-states to draw them all",
            options.max_states
        )),
        Error::Limit(reason) => Failure::Stopped(format!("no drawing: {}", reason.name())),
        other => other.into(),
    })?;

    let dot = if options.condense {
        graph.components_dot()
    } else {
        graph.states_dot()
    };
    output::print_document(&dot, Escape::Replacement)?;

    let mut status = Status::Success;
    for error in graph.errors() {
        status = Status::Violated;
        output::error(&format!("run-time error in a state that is drawn: {error}"));
    }

    Ok(status)
}
