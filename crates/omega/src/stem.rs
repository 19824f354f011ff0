//! The way from an initial node to a component.

use std::fmt;

use crate::inner_edges::Places;
use crate::{Component, EdgeBuffer, Graph, LassoStep, NodeId};

/// Shortest paths from the initial nodes of one graph, as far as they have been looked for: a breadth-first
/// search that goes on where it stopped, so that several components cost as much as the farthest of them.
#[derive(Default)]
pub struct Stems {
    reached: Reached,
    /// The nodes that have been reached, nearest first. Empty before the first question.
    queue: Vec<NodeId>,
    /// How many of them have been expanded.
    n_expanded: usize,
}

impl fmt::Debug for Stems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shortest paths to {} nodes", self.queue.len())
    }
}

impl Stems {
    /// A shortest path to the component, and the place of its end in [`Component::nodes`]. The graph is
    /// always the same.
    pub(crate) fn shortest_to<G: Graph>(
        &mut self,
        graph: &mut G,
        component: &Component,
    ) -> Result<(Vec<LassoStep>, u32), G::Stop> {
        if self.queue.is_empty() {
            let mut initial = Vec::new();
            graph.initial(&mut initial)?;
            initial.retain(|&node| self.reached.note(node, (INITIAL, 0)));
            self.queue = initial;
        }

        let places = Places::new(&component.nodes);
        let mut edges = EdgeBuffer::new(graph.n_mark_words());
        let mut n_compared = 0;
        loop {
            // Nearer nodes come first, whichever question they were reached for.
            while let Some(&node) = self.queue.get(n_compared) {
                n_compared += 1;
                if let Some(place) = places.of(node) {
                    return Ok((self.reached.path_to(node), place));
                }
            }
            let source = self.queue.get(self.n_expanded).copied();
            let source = source.expect("the component is reachable");
            edges.truncate(0);
            graph.successors(source, &mut edges)?;
            self.n_expanded += 1;
            for (edge, position) in (0..edges.len()).zip(0..) {
                let target = edges.target(edge);
                if self.reached.note(target, (source, position)) {
                    self.queue.push(target);
                }
            }
        }
    }
}

/// In place of the source of an edge: the node has not been reached.
const UNREACHED: NodeId = NodeId(u32::MAX);
/// In place of the source of an edge: the node is initial.
const INITIAL: NodeId = NodeId(u32::MAX - 1);

/// By which edge a node was first reached: the source and the position of the edge there.
#[derive(Default)]
struct Reached(Vec<(NodeId, u32)>);

impl Reached {
    /// Says whether that is news.
    fn note(&mut self, node: NodeId, by: (NodeId, u32)) -> bool {
        let unreached = (UNREACHED, 0);
        if node.index() >= self.0.len() {
            self.0.resize(node.index() + 1, unreached);
        }
        let entry = &mut self.0[node.index()];
        let news = *entry == unreached;
        if news {
            *entry = by;
        }
        news
    }

    fn path_to(&self, mut node: NodeId) -> Vec<LassoStep> {
        let mut path = Vec::new();
        while self.0[node.index()].0 != INITIAL {
            let (source, position) = self.0[node.index()];
            let target = node;
            path.push(LassoStep {
                source,
                position,
                target,
            });
            node = source;
        }
        path.reverse();
        path
    }
}
