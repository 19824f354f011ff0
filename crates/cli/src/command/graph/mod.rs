//! `fair graph`: the reachable states and steps of a model as a drawing for Graphviz.

mod dot;
mod state_graph;
mod tarjan;

use base::Budget;

use crate::failure::{Failure, Status};
use crate::options::GraphOptions;
use crate::{limits, loading, output, start};

use state_graph::StateGraph;

/// Explores the model with the reference semantics and draws it.
///
/// # Errors
/// The model is wrong, or has too many states.
pub fn run(options: &GraphOptions) -> Result<Status, Failure> {
    let loaded = loading::load(&options.model.file, &options.model.for_front_end())?;
    let budget = Budget::unlimited().with_max_states(options.max_states);
    limits::enforce(&budget, None)?;
    let initial = start::initial_states(loaded.model());
    let initial = initial.map_err(|reason| reason.into_failure(&loaded.sources))?;
    let graph = StateGraph::explore(loaded.model(), initial, &budget).map_err(|reason| {
        Failure::Stopped(match reason {
            base::StopReason::StateLimit => format!(
                "more than {} states; raise --max-states to draw them all",
                options.max_states
            ),
            other => format!("no drawing: {}", other.name()),
        })
    })?;
    output::print(&match options.condense {
        true => dot::components(&graph),
        false => dot::states(loaded.model(), &graph),
    })?;
    for error in graph.errors.values() {
        output::error(&format!(
            "run-time error in a state that is drawn: {}",
            start::error_text(error, &loaded.sources)
        ));
    }
    Ok(match graph.errors.is_empty() {
        true => Status::Success,
        false => Status::Violated,
    })
}
