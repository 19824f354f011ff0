//! The way from an initial node to a component.

use crate::inner_edges::Places;
use crate::{Component, EdgeBuffer, Graph, LassoStep, NodeId};

/// A shortest path from an initial node to the component, and the place of its end in
/// [`Component::nodes`].
pub(crate) fn shortest_stem<G: Graph>(
    graph: &mut G,
    component: &Component,
) -> Result<(Vec<LassoStep>, u32), G::Stop> {
    let places = Places::new(&component.nodes);
    let mut queue = Vec::new();
    graph.initial(&mut queue)?;
    if let Some(place) = queue.iter().find_map(|&node| places.of(node)) {
        return Ok((Vec::new(), place));
    }
    let mut reached = Reached::default();
    for &node in &queue {
        reached.note(node, (INITIAL, 0));
    }
    let mut edges = EdgeBuffer::new(graph.n_mark_words());
    let mut head = 0;

    while let Some(&source) = queue.get(head) {
        head += 1;
        edges.truncate(0);
        graph.successors(source, &mut edges)?;
        for (edge, position) in (0..edges.len()).zip(0..) {
            let target = edges.target(edge);
            if reached.note(target, (source, position)) {
                queue.push(target);
            }
            if let Some(place) = places.of(target) {
                return Ok((reached.path_to(target), place));
            }
        }
    }

    panic!("the component is not reachable");
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
