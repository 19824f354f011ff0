//! The edges of one component, and shortest walks along them.

use crate::{Component, EdgeBuffer, Graph, NodeId};

/// Components with at most this many nodes keep their edges in memory; the edges of larger ones are
/// computed again whenever they are needed.
const MAX_NODES_KEPT: usize = 1 << 16;
const NOT_LOADED: (usize, usize) = (usize::MAX, usize::MAX);
/// Limits are looked at whenever this many edges that are kept have been looked at.
const EFFORT_BETWEEN_LIMITS: u64 = 1 << 16;
/// The place of nodes that are not in the list.
const NOWHERE: u32 = u32::MAX;

/// Where each node stands in a list of nodes.
pub(crate) struct Places(Vec<u32>);

impl Places {
    /// The places in this list, which holds each node at most once.
    pub fn new(nodes: &[NodeId]) -> Self {
        let n_numbers = nodes.iter().map(|node| node.index() + 1).max();
        let mut places = vec![NOWHERE; n_numbers.unwrap_or(0)];
        for (place, node) in (0..).zip(nodes) {
            places[node.index()] = place;
        }
        Self(places)
    }

    /// The place of `node`, if it is in the list.
    pub fn of(&self, node: NodeId) -> Option<u32> {
        let place = self.0.get(node.index()).copied();
        place.filter(|&place| place != NOWHERE)
    }
}

/// A component seen from inside: its nodes are numbered `0..n_nodes` in the order of
/// [`Component::nodes`].
pub(crate) struct InnerGraph<'a, G> {
    /// The whole graph.
    pub graph: &'a mut G,
    /// The component.
    pub component: &'a Component,
    /// How many edges have been looked at.
    pub effort: u64,
    /// The effort after which limits are looked at.
    next_check: u64,
    places: Places,
    buffer: EdgeBuffer,
    edges: InnerEdges,
    /// Where the edges of a node are in `edges`.
    loaded: Vec<(usize, usize)>,
}

/// Edges in columns. Invariant: all columns have the same length, `marks` times the words per edge.
#[derive(Default)]
pub(crate) struct InnerEdges {
    targets: Vec<u32>,
    positions: Vec<u32>,
    steps: Vec<u32>,
    marks: Vec<u64>,
}

/// One edge inside the component.
#[derive(Clone, Copy)]
pub(crate) struct InnerEdge<'a> {
    /// Where it begins.
    pub source: u32,
    /// Where it leads.
    pub target: u32,
    /// Which of the edges of its source it is, in the order of [`Graph::successors`].
    pub position: u32,
    /// The step of the system that it takes.
    pub step: u32,
    /// The marks that it carries.
    pub marks: &'a [u64],
}

impl<'a, G: Graph> InnerGraph<'a, G> {
    /// Looks at the component from inside.
    pub fn new(graph: &'a mut G, component: &'a Component) -> Self {
        let kept = if component.nodes.len() <= MAX_NODES_KEPT {
            component.nodes.len()
        } else {
            0
        };
        Self {
            buffer: EdgeBuffer::new(graph.n_mark_words()),
            graph,
            component,
            effort: 0,
            next_check: EFFORT_BETWEEN_LIMITS,
            places: Places::new(&component.nodes),
            edges: InnerEdges::default(),
            loaded: vec![NOT_LOADED; kept],
        }
    }

    /// How many nodes the component has.
    pub fn n_nodes(&self) -> usize {
        self.component.nodes.len()
    }

    /// Makes the edges of `source` available; [`InnerGraph::edge`] takes their indices.
    pub fn load(&mut self, source: u32) -> Result<std::ops::Range<usize>, G::Stop> {
        let kept = self.loaded.get(source as usize).copied();
        let (start, end) = match kept {
            Some(NOT_LOADED) => {
                let range = self.compute(source)?;
                self.loaded[source as usize] = range;
                range
            }
            Some(range) => {
                if self.effort >= self.next_check {
                    self.next_check = self.effort + EFFORT_BETWEEN_LIMITS;
                    self.graph.check_limits()?;
                }
                range
            }
            None => {
                self.edges.clear();
                self.compute(source)?
            }
        };
        self.effort += (end - start) as u64;
        Ok(start..end)
    }

    /// The loaded edge with this index; it must be one of `source`.
    pub fn edge(&self, source: u32, index: usize) -> InnerEdge<'_> {
        let words = self.component.marks.len();
        InnerEdge {
            source,
            target: self.edges.targets[index],
            position: self.edges.positions[index],
            step: self.edges.steps[index],
            marks: &self.edges.marks[index * words..][..words],
        }
    }

    fn compute(&mut self, source: u32) -> Result<(usize, usize), G::Stop> {
        let start = self.edges.targets.len();
        self.buffer.truncate(0);
        let node = self.component.nodes[source as usize];
        self.graph.successors(node, &mut self.buffer)?;
        for (edge, position) in (0..self.buffer.len()).zip(0..) {
            let Some(target) = self.places.of(self.buffer.target(edge)) else {
                continue;
            };
            let marks = self.buffer.marks(edge);
            if self.component.allows(marks) {
                self.edges.targets.push(target);
                self.edges.positions.push(position);
                self.edges.steps.push(self.buffer.step(edge));
                self.edges.marks.extend_from_slice(marks);
            }
        }
        Ok((start, self.edges.targets.len()))
    }
}

impl InnerEdges {
    fn clear(&mut self) {
        self.targets.clear();
        self.positions.clear();
        self.steps.clear();
        self.marks.clear();
    }
}

/// A sequence of edges, each beginning where the one before ends.
///
/// Invariant: `marks` holds one mark set per step.
#[derive(Clone, Default)]
pub(crate) struct Walk {
    /// The edges.
    pub steps: Vec<WalkStep>,
    marks: Vec<u64>,
}

/// An edge of a walk.
#[derive(Clone, Copy)]
pub(crate) struct WalkStep {
    /// Where it begins.
    pub source: u32,
    /// Where it leads.
    pub target: u32,
    /// Which of the edges of its source it is.
    pub position: u32,
    /// The step of the system that it takes.
    pub step: u32,
}

impl Walk {
    fn push(&mut self, edge: InnerEdge<'_>) {
        self.steps.push(WalkStep {
            source: edge.source,
            target: edge.target,
            position: edge.position,
            step: edge.step,
        });
        self.marks.extend_from_slice(edge.marks);
    }

    /// The marks of the step with this index.
    pub fn marks(&self, index: usize) -> &[u64] {
        let words = self.marks.len() / self.steps.len();
        &self.marks[index * words..][..words]
    }

    /// The walk without the steps of the range, which must begin and end at the same node.
    pub fn without(&self, range: std::ops::Range<usize>) -> Self {
        let words = self.marks.len() / self.steps.len();
        let mut rest = self.clone();
        rest.marks.drain(range.start * words..range.end * words);
        rest.steps.drain(range);
        rest
    }
}

/// Breadth-first search inside a component, reusable without clearing.
pub(crate) struct BreadthFirst {
    /// Invariant: a node is reached in the current round iff its stamp is `round`.
    stamps: Vec<u32>,
    round: u32,
    /// The edge by which a node was reached: its source, and its rank among the loaded edges.
    reached_by: Vec<(u32, u32)>,
    distances: Vec<u32>,
    queue: Vec<u32>,
}

impl BreadthFirst {
    /// For components with this many nodes.
    pub fn new(n_nodes: usize) -> Self {
        Self {
            stamps: vec![0; n_nodes],
            round: 0,
            reached_by: vec![(0, 0); n_nodes],
            distances: vec![0; n_nodes],
            queue: Vec::new(),
        }
    }

    /// Appends to `walk` a shortest walk from `from` whose last edge is wanted. Returns its end, or
    /// nothing if no edge is wanted.
    pub fn extend_to<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        from: u32,
        wanted: impl Fn(InnerEdge<'_>) -> bool,
        walk: &mut Walk,
    ) -> Result<Option<u32>, G::Stop> {
        self.begin(from);
        let mut head = 0;
        while let Some(&source) = self.queue.get(head) {
            head += 1;
            let edges = inner.load(source)?;
            for (rank, index) in (0..).zip(edges) {
                let edge = inner.edge(source, index);
                let target = edge.target;
                if wanted(edge) {
                    self.append(inner, from, (source, rank), walk)?;
                    return Ok(Some(target));
                }
                self.reach(source, rank, target);
            }
        }
        Ok(None)
    }

    /// The distance of every node from `from`. All must be reachable.
    pub fn distances_from<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        from: u32,
    ) -> Result<Vec<u32>, G::Stop> {
        self.extend_to(inner, from, |_| false, &mut Walk::default())?;
        Ok(self.distances.clone())
    }

    fn begin(&mut self, from: u32) {
        // After a new start no node has a stamp that could be mistaken for a later one.
        if self.round == u32::MAX {
            self.stamps.fill(0);
            self.round = 0;
        }
        self.round += 1;
        self.queue.clear();
        self.queue.push(from);
        self.stamps[from as usize] = self.round;
        self.distances[from as usize] = 0;
    }

    fn reach(&mut self, source: u32, rank: u32, target: u32) {
        let place = target as usize;
        if self.stamps[place] != self.round {
            self.stamps[place] = self.round;
            self.reached_by[place] = (source, rank);
            self.distances[place] = self.distances[source as usize] + 1;
            self.queue.push(target);
        }
    }

    /// Appends the walk from `from` that ends with the given edge.
    fn append<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        from: u32,
        last: (u32, u32),
        walk: &mut Walk,
    ) -> Result<(), G::Stop> {
        let mut backwards = vec![last];
        let mut node = last.0;
        while node != from {
            let reached_by = self.reached_by[node as usize];
            backwards.push(reached_by);
            node = reached_by.0;
        }
        for (source, rank) in backwards.into_iter().rev() {
            let edges = inner.load(source)?;
            walk.push(inner.edge(source, edges.start + rank as usize));
        }
        Ok(())
    }
}
