//! A part of the state graph, small enough to be drawn.

use fairground::{DrawingRequest, DrawnEdge, DrawnNode, Fairness};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Answer, Failure, Studios, json as plain};
use crate::projects::ModelRequest;

/// More nodes than these are never sent.
const MAX_NODES: usize = 400;
/// More states than these are never visited for a drawing.
const MAX_STATES: usize = 20_000;

#[derive(Deserialize)]
pub(super) struct GraphRequest {
    #[serde(flatten)]
    model: ModelRequest,
    #[serde(default)]
    max_nodes: Option<usize>,
    /// Which components tell nodes apart; nothing means all.
    keep: Option<Vec<String>>,
    fairness: Option<String>,
    /// The way to a state around which to look; nothing to look from the start.
    around: Option<Way>,
    /// The way of a run that is to be marked.
    marked: Option<Way>,
}

#[derive(Deserialize)]
struct Way {
    start: usize,
    choices: Vec<usize>,
}

/// Draws a part of the state graph.
pub(super) fn graph(studios: &Studios, mut request: GraphRequest) -> Answer {
    request.model.closed = true;
    let opened = studios.projects.open(&studios.folder, &request.model)?;
    let project = &opened.project;
    let fairness = match &request.fairness {
        None => project.fairness(None)?,
        Some(name) => Fairness::parse(name)
            .ok_or_else(|| Failure::new(422, format!("there is no fairness `{name}`")))?,
    };

    let initial = opened.initial_states()?;
    let states_along = |way: &Way| {
        let Some(first) = initial.get(way.start) else {
            return Err(Failure::new(422, "there is no such initial state"));
        };
        let mut run = project.simulate(first.clone())?;
        let mut states = vec![first.clone()];
        for choice in &way.choices {
            if *choice >= run.n_possible() {
                return Err(Failure::new(422, "the way is not possible"));
            }
            run.take(*choice);
            states.push(run.walk().state(run.n_steps()).clone());
        }
        Ok(states)
    };
    let around = request.around.as_ref().map(&states_along).transpose()?;
    let highlighted = request.marked.as_ref().map(&states_along).transpose()?;

    let max_nodes = request.max_nodes.unwrap_or(MAX_NODES).clamp(1, MAX_NODES);
    let max_states = if request.keep.is_some() {
        MAX_STATES
    } else {
        max_nodes
    };

    let drawing = project.drawing(&DrawingRequest {
        around: around.and_then(|mut states| states.pop()),
        max_states,
        max_nodes,
        keep: request.keep,
        fairness,
        highlighted: highlighted.unwrap_or_default(),
    })?;
    Ok(json!({
        "names": drawing.names,
        "nodes": drawing.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": drawing.edges.iter().map(edge).collect::<Vec<_>>(),
        "states": drawing.n_states,
        "complete": drawing.is_complete,
        "fairness": fairness.name(),
    }))
}

fn node(node: &DrawnNode) -> Json {
    json!({
        "values": plain::values(&node.values),
        "states": node.n_states,
        "initial": node.is_initial,
        "deadlock": node.is_deadlock,
        "error": node.error,
        "frontier": node.is_frontier,
        "marked": node.is_highlighted,
        "component": node.component,
        "fair": node.is_fair,
        "start": node.start,
        "choices": node.choices,
    })
}

fn edge(edge: &DrawnEdge) -> Json {
    json!({
        "source": edge.source,
        "target": edge.target,
        "actions": edge.actions,
        "marked": edge.is_highlighted,
    })
}
