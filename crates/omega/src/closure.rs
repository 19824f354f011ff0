//! Is a component closed on the system that it projects to?
//!
//! Strong global fairness wants every step of every system state that is visited infinitely often.
//! It is judged on the system: nodes of the graph are copies of system states (their *origins*),
//! and it does not matter which copy takes a step.

use crate::exploration::Exploration;
use crate::path_based::PathSearch;
use crate::{Component, EdgeBuffer, Graph, NodeId};

/// Which components count as fair, beyond their acceptance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closure {
    /// All of them.
    None,
    /// Those that take every step of each of their origins (strong global fairness).
    OnSystem,
}

/// Does the component, whose nodes are all closed in `search`, take every step of its origins?
///
/// Why one strongly connected set C whose projection misses a step contains no closed W at all: a
/// system path along C leads from an origin of W to the state s whose step is missing. W takes all
/// steps of that path, being closed, so it visits s and takes the missing step, but W ⊆ C.
pub(crate) fn is_closed<G: Graph>(
    search: &mut PathSearch,
    ctx: &mut Exploration<'_, G>,
    component: &Component,
) -> Result<bool, G::Stop> {
    let nodes = by_origin(ctx.graph, component);
    search.with_members(&component.nodes, |members, edges| {
        let is_member = |node: NodeId| members.contain(node);
        take_all_steps(ctx, (component, &is_member), &nodes, edges)
    })
}

/// The nodes of a component, those with the same origin next to each other.
pub(crate) fn by_origin<G: Graph>(graph: &G, component: &Component) -> Vec<NodeId> {
    let mut nodes = component.nodes.clone();
    nodes.sort_unstable_by_key(|&node| (graph.origin(node), node));
    nodes
}

/// Does the component, given with its members, take every step of the origins of these nodes? They
/// come with all other members of the same origins, which are next to each other.
pub(crate) fn take_all_steps<G: Graph>(
    ctx: &mut Exploration<'_, G>,
    component: (&Component, &dyn Fn(NodeId) -> bool),
    nodes: &[NodeId],
    edges: &mut EdgeBuffer,
) -> Result<bool, G::Stop> {
    let mut taken = Vec::new();
    let mut rest = nodes;
    while let Some(&first) = rest.first() {
        let origin = ctx.graph.origin(first);
        let n_copies = rest.partition_point(|&node| ctx.graph.origin(node) == origin);
        let (copies, others) = rest.split_at(n_copies);
        rest = others;
        let n_steps = ctx.graph.n_steps(first)?;
        taken.clear();
        taken.resize(n_steps as usize, false);
        for &copy in copies {
            note_steps(ctx, copy, component, edges, &mut taken)?;
        }
        if taken.contains(&false) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Notes which steps the edges take that lead from `node` to another member.
fn note_steps<G: Graph>(
    ctx: &mut Exploration<'_, G>,
    node: NodeId,
    (component, is_member): (&Component, &dyn Fn(NodeId) -> bool),
    edges: &mut EdgeBuffer,
    taken: &mut [bool],
) -> Result<(), G::Stop> {
    let before = edges.len();
    ctx.expand(node, edges)?;
    for edge in before..edges.len() {
        if is_member(edges.target(edge)) && component.allows(edges.marks(edge)) {
            taken[edges.step(edge) as usize] = true;
        }
    }
    edges.truncate(before);
    Ok(())
}
