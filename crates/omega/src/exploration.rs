//! How far a search has come, and who listens.

use crate::{EdgeBuffer, Graph, MAX_NODES, NodeId};

/// The observer is called every time this many nodes have been expanded.
const REPORT_INTERVAL: u64 = 4096;

/// What a fair-cycle search has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchStats {
    /// Distinct nodes reached.
    pub n_nodes: u64,
    /// Edges that leave them.
    pub n_edges: u64,
    /// Expansions of nodes that had been expanded before, to look into components again.
    pub n_revisits: u64,
    /// Complete components of the whole graph, trivial ones included.
    pub n_components: u64,
    /// Length of the depth-first path.
    pub depth: u64,
    /// The longest that it has been.
    pub max_depth: u64,
    /// Was a complete component being looked into at the last report? A search that is stopped then
    /// looks into it afresh when it goes on.
    pub is_inside: bool,
    /// Bytes in the structures of the search, at the last report. What the graph stores is not
    /// included.
    pub memory_bytes: u64,
}

impl SearchStats {
    /// Adds what another thread, or the same one later, has done.
    pub(crate) fn add(&mut self, other: &Self) {
        self.n_nodes += other.n_nodes;
        self.n_edges += other.n_edges;
        self.n_revisits += other.n_revisits;
        self.n_components += other.n_components;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
    }
}

/// Listens to a search every few thousand nodes and may stop it.
pub type Observer<'a, S> = dyn FnMut(&SearchStats) -> Result<(), S> + 'a;

/// A graph that is being explored, with the account of it.
pub(crate) struct Exploration<'a, G: Graph> {
    /// The graph.
    pub graph: &'a mut G,
    /// The account.
    pub stats: SearchStats,
    /// Are nodes being expanded again?
    pub revisiting: bool,
    observer: &'a mut Observer<'a, G::Stop>,
}

impl<'a, G: Graph> Exploration<'a, G> {
    /// Nothing is explored yet.
    pub fn new(graph: &'a mut G, observer: &'a mut Observer<'a, G::Stop>) -> Self {
        Self {
            graph,
            stats: SearchStats::default(),
            revisiting: false,
            observer,
        }
    }

    /// The initial nodes.
    pub fn initial(&mut self) -> Result<Vec<NodeId>, G::Stop> {
        initial_nodes(self.graph)
    }

    /// Appends the edges of `node` to `edges`.
    pub fn expand(&mut self, node: NodeId, edges: &mut EdgeBuffer) -> Result<(), G::Stop> {
        let before = edges.len();
        self.graph.successors(node, edges)?;
        if !edges.are_numbered(before) {
            return Err(self.graph.out_of_numbers());
        }
        if self.revisiting {
            self.stats.n_revisits += 1;
        } else {
            self.stats.n_nodes += 1;
            self.stats.n_edges += (edges.len() - before) as u64;
        }
        Ok(())
    }

    /// The depth-first path has this many nodes.
    pub fn reached_depth(&mut self, depth: usize) {
        self.stats.depth = depth as u64;
        self.stats.max_depth = self.stats.max_depth.max(self.stats.depth);
    }

    /// Should the observer be called?
    pub fn report_is_due(&self) -> bool {
        (self.stats.n_nodes + self.stats.n_revisits + 1).is_multiple_of(REPORT_INTERVAL)
    }

    /// Calls the observer.
    pub fn report(&mut self, memory_bytes: usize) -> Result<(), G::Stop> {
        self.stats.memory_bytes = memory_bytes as u64;
        self.stats.is_inside = self.revisiting;
        (self.observer)(&self.stats)
    }
}

/// The initial nodes of a graph.
pub(crate) fn initial_nodes<G: Graph>(graph: &mut G) -> Result<Vec<NodeId>, G::Stop> {
    let mut initial = Vec::new();
    graph.initial(&mut initial)?;
    if initial.iter().any(|node| node.0 >= MAX_NODES) {
        return Err(graph.out_of_numbers());
    }
    Ok(initial)
}
