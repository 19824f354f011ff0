//! Graphs that are written down edge by edge.

use std::convert::Infallible;

use base::bits;

use crate::{EdgeBuffer, Graph, MAX_NODES, MarkId, NodeId};

/// A graph in memory: for examples, tests and small inputs.
///
/// ```
/// use omega::{Acceptance, Closure, ExplicitGraph, MarkId, NodeId, find_fair_cycle};
///
/// let mut graph = ExplicitGraph::new(2, 1);
/// graph.add_initial(NodeId(0));
/// graph.add_edge(NodeId(0), 0, NodeId(1), &[]);
/// graph.add_edge(NodeId(1), 0, NodeId(1), &[MarkId(0)]);
/// let seen_forever = Acceptance::Inf(MarkId(0));
/// let search = find_fair_cycle(&mut graph, &seen_forever, Closure::None, &mut |_| Ok(()));
/// let Ok(found) = search.result;
/// assert_eq!(found.unwrap().nodes, [NodeId(1)]);
/// ```
#[derive(Clone, Debug)]
pub struct ExplicitGraph {
    initial: Vec<NodeId>,
    nodes: Vec<ExplicitNode>,
    n_mark_words: usize,
}

#[derive(Clone, Debug)]
struct ExplicitNode {
    edges: EdgeBuffer,
    origin: u32,
    n_steps: u32,
}

impl ExplicitGraph {
    /// A graph without edges. Each node is its own origin.
    ///
    /// # Panics
    /// With more than [`MAX_NODES`] nodes, which would need more memory than machines have.
    #[must_use]
    pub fn new(n_nodes: usize, n_marks: usize) -> Self {
        assert!(n_nodes <= MAX_NODES as usize);
        let n_mark_words = bits::words_for(n_marks);
        let node = |index| ExplicitNode {
            edges: EdgeBuffer::new(n_mark_words),
            origin: NodeId::new(index).0,
            n_steps: 0,
        };
        Self {
            initial: Vec::new(),
            nodes: (0..n_nodes).map(node).collect(),
            n_mark_words,
        }
    }

    /// Makes `node` an initial one.
    pub fn add_initial(&mut self, node: NodeId) {
        self.initial.push(node);
    }

    /// Adds an edge that takes the given step of the system. The source is taken to have at least
    /// as many steps as its edges mention.
    pub fn add_edge(&mut self, source: NodeId, step: u32, target: NodeId, marks: &[MarkId]) {
        let mut words = vec![0; self.n_mark_words];
        for mark in marks {
            bits::set(&mut words, mark.index());
        }
        let node = &mut self.nodes[source.index()];
        node.edges.push(target, step, &words);
        node.n_steps = node.n_steps.max(step + 1);
    }

    /// Says that `node` stands for a system state that has `n_steps` steps.
    pub fn set_origin(&mut self, node: NodeId, origin: u32, n_steps: u32) {
        let node = &mut self.nodes[node.index()];
        (node.origin, node.n_steps) = (origin, n_steps);
    }

    /// How many nodes it has.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The edges that leave `node`.
    #[must_use]
    pub fn edges(&self, node: NodeId) -> &EdgeBuffer {
        &self.nodes[node.index()].edges
    }
}

impl Graph for ExplicitGraph {
    type Stop = Infallible;

    fn n_mark_words(&self) -> usize {
        self.n_mark_words
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        out.extend_from_slice(&self.initial);
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Infallible> {
        let edges = &self.nodes[node.index()].edges;
        for edge in 0..edges.len() {
            out.push(edges.target(edge), edges.step(edge), edges.marks(edge));
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].origin
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Infallible> {
        Ok(self.nodes[node.index()].n_steps)
    }

    fn out_of_numbers(&self) -> Infallible {
        unreachable!("the nodes were counted when the graph was made, and 2^32 edges do not fit")
    }
}
