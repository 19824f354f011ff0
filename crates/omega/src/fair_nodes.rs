//! All nodes from which a fair path starts.
//!
//! Problem: mark every node from which some infinite path satisfies an Emerson–Lei acceptance. That
//! is what a path quantifier asks at every state, see E. A. Emerson, C.-L. Lei, "Modalities for model
//! checking: branching time logic strikes back", Science of Computer Programming 8, 1987,
//! doi:10.1016/0167-6423(87)90036-0, sections 3 and 4.
//!
//! A node starts a fair path iff it reaches a strongly connected set that satisfies the acceptance.
//! Inside a component all nodes reach the same sets, so one bit for each component is enough:
//!
//! ```text
//! for each component C, successors first (R. Tarjan, SIAM J. Comput. 1, 1972, doi:10.1137/0201010):
//!   fair(C) := some edge leaves C to a fair component, or C contains a witness
//! ```
//!
//! Whether C contains a witness is decided by the refinement of `emerson_lei.rs` (the table of moves
//! is the same), here on a component that is known completely. With [`Closure::OnSystem`] each part
//! that is not closed on the system is dropped, for the reason given in `closure.rs`.
//!
//! Cost: two expansions of every node, plus one for each refinement that it takes part in; three
//! words for each node, no edges stored. Nothing recurses.

use base::bits;

use crate::emerson_lei::{Move, next_move};
use crate::{Acceptance, Closure, EdgeBuffer, Graph, MarkId, NodeId};

/// Which nodes start a path that satisfies `acceptance` (and `closure`), among those reachable from
/// the initial nodes of the graph; by number, as a bit set. Nodes have numbers below `n_nodes`.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn fair_nodes<G: Graph>(
    graph: &mut G,
    n_nodes: usize,
    acceptance: &Acceptance,
    closure: Closure,
) -> Result<Vec<u64>, G::Stop> {
    let mut roots = Vec::new();
    graph.initial(&mut roots)?;
    let n_words = graph.n_mark_words();
    let mut fair = FairNodes {
        graph,
        acceptance,
        closure,
        fair: vec![0; bits::words_for(n_nodes)],
        scope: vec![0; n_nodes],
        n_scopes: 0,
        edges: EdgeBuffer::new(n_words),
    };
    let mut tarjan = Tarjan::new(n_nodes);
    let mut inner = Tarjan::new(n_nodes);
    for root in roots {
        tarjan.start(root);
        while let Some(component) = tarjan.next_component(&mut fair, None)? {
            if fair.is_fair(&component, &mut inner)? {
                for node in &component {
                    bits::set(&mut fair.fair, node.index());
                }
            }
        }
    }
    Ok(fair.fair)
}

struct FairNodes<'a, G> {
    graph: &'a mut G,
    acceptance: &'a Acceptance,
    closure: Closure,
    fair: Vec<u64>,
    /// The part of the graph that each node was last put into.
    scope: Vec<u32>,
    n_scopes: u32,
    edges: EdgeBuffer,
}

/// A strongly connected part with what is still asked of a part of it.
struct Obligation {
    nodes: Vec<NodeId>,
    marks: Vec<u64>,
    formula: Acceptance,
}

/// A part of the graph: the nodes with this scope and the edges with only these marks.
#[derive(Clone, Copy)]
struct Part<'a> {
    scope: u32,
    allowed: &'a [u64],
}

impl<G: Graph> FairNodes<'_, G> {
    fn expand(&mut self, node: NodeId) -> Result<(), G::Stop> {
        self.edges.truncate(0);
        self.graph.successors(node, &mut self.edges)
    }

    /// Makes the nodes a scope of their own.
    fn enter(&mut self, nodes: &[NodeId]) -> u32 {
        self.n_scopes += 1;
        for node in nodes {
            self.scope[node.index()] = self.n_scopes;
        }
        self.n_scopes
    }

    /// Is a complete component of the whole graph fair?
    fn is_fair(&mut self, nodes: &[NodeId], inner: &mut Tarjan) -> Result<bool, G::Stop> {
        let scope = self.enter(nodes);
        let mut marks = vec![0; self.graph.n_mark_words()];
        let mut has_edge = false;
        for &node in nodes {
            self.expand(node)?;
            for edge in 0..self.edges.len() {
                let target = self.edges.target(edge);
                if self.scope[target.index()] == scope {
                    has_edge = true;
                    bits::union_into(&mut marks, self.edges.marks(edge));
                } else if bits::get(&self.fair, target.index()) {
                    return Ok(true);
                }
            }
        }
        if !has_edge {
            return Ok(false);
        }
        let formula = self.acceptance.within(&marks);
        self.has_witness(
            Obligation {
                nodes: nodes.to_vec(),
                marks,
                formula,
            },
            inner,
        )
    }

    /// Does a component contain a witness?
    fn has_witness(&mut self, whole: Obligation, inner: &mut Tarjan) -> Result<bool, G::Stop> {
        let mut candidates = vec![whole];
        let mut open: Vec<Obligation> = Vec::new();
        loop {
            while let Some(candidate) = candidates.pop() {
                if candidate.formula == Acceptance::False || !self.is_closed(&candidate)? {
                    continue;
                }
                if self.acceptance.accepts(&candidate.marks) {
                    return Ok(true);
                }
                open.push(candidate);
            }
            let Some(obligation) = open.pop() else {
                return Ok(false);
            };
            let removed = match next_move(&obligation.formula, &obligation.marks) {
                Move::Drop => continue,
                Move::Split(parts) => {
                    open.extend(parts.into_iter().rev().map(|formula| Obligation {
                        nodes: obligation.nodes.clone(),
                        marks: obligation.marks.clone(),
                        formula,
                    }));
                    continue;
                }
                Move::Remove(marks) => marks,
                Move::Pick(mark) => {
                    open.push(Obligation {
                        nodes: obligation.nodes.clone(),
                        marks: obligation.marks.clone(),
                        formula: obligation.formula.without_fin(mark),
                    });
                    vec![mark]
                }
            };
            candidates = self.decompose(&obligation, &removed, inner)?;
        }
    }

    /// The non-trivial components that are left when the edges with a removed mark are gone.
    fn decompose(
        &mut self,
        whole: &Obligation,
        removed: &[MarkId],
        inner: &mut Tarjan,
    ) -> Result<Vec<Obligation>, G::Stop> {
        let mut allowed = whole.marks.clone();
        for mark in removed {
            bits::clear(&mut allowed, mark.index());
        }
        let scope = self.enter(&whole.nodes);
        inner.forget(&whole.nodes);
        let part = Part {
            scope,
            allowed: &allowed,
        };
        let mut components = Vec::new();
        for &node in &whole.nodes {
            inner.start(node);
            while let Some(component) = inner.next_component(self, Some(part))? {
                components.push(component);
            }
        }
        let mut parts = Vec::new();
        for nodes in components {
            if let Some(marks) = self.inner_marks(&nodes, &allowed)? {
                let formula = whole.formula.within(&marks);
                parts.push(Obligation {
                    nodes,
                    marks,
                    formula,
                });
            }
        }
        parts.reverse();
        Ok(parts)
    }

    /// The union of the marks of the allowed edges among the nodes; nothing without such an edge.
    fn inner_marks(
        &mut self,
        nodes: &[NodeId],
        allowed: &[u64],
    ) -> Result<Option<Vec<u64>>, G::Stop> {
        let scope = self.enter(nodes);
        let mut union = vec![0; allowed.len()];
        let mut has_edge = false;
        for &node in nodes {
            self.expand(node)?;
            for edge in 0..self.edges.len() {
                let marks = self.edges.marks(edge);
                let target = self.edges.target(edge).index();
                if self.scope[target] == scope && bits::is_subset(marks, allowed) {
                    has_edge = true;
                    bits::union_into(&mut union, marks);
                }
            }
        }
        Ok(has_edge.then_some(union))
    }

    /// Does the part take every step of its origins, if that is asked for?
    fn is_closed(&mut self, part: &Obligation) -> Result<bool, G::Stop> {
        if self.closure == Closure::None {
            return Ok(true);
        }
        let scope = self.enter(&part.nodes);
        let mut nodes = part.nodes.clone();
        nodes.sort_unstable_by_key(|&node| (self.graph.origin(node), node));
        let mut taken: Vec<bool> = Vec::new();
        let mut origin = None;
        for node in nodes {
            if origin != Some(self.graph.origin(node)) {
                if taken.contains(&false) {
                    return Ok(false);
                }
                origin = Some(self.graph.origin(node));
                taken = vec![false; self.graph.n_steps(node)? as usize];
            }
            self.expand(node)?;
            for edge in 0..self.edges.len() {
                let inside = self.scope[self.edges.target(edge).index()] == scope;
                if inside && bits::is_subset(self.edges.marks(edge), &part.marks) {
                    taken[self.edges.step(edge) as usize] = true;
                }
            }
        }
        Ok(!taken.contains(&false))
    }
}

/// In place of the number of a node: not seen yet.
const UNSEEN: u32 = 0;
/// In place of the number of a node: its component is complete.
const CLOSED: u32 = u32::MAX;

/// Tarjan's algorithm, resumable after every component.
struct Tarjan {
    /// The number of each node in the order of discovery, counted from 1.
    number: Vec<u32>,
    n_seen: u32,
    /// Nodes whose component is not complete.
    stack: Vec<NodeId>,
    calls: Vec<Call>,
    /// The targets that open calls have not looked at.
    targets: Vec<NodeId>,
}

/// A node on the depth-first path.
struct Call {
    node: NodeId,
    low: u32,
    first_target: usize,
    is_expanded: bool,
}

impl Tarjan {
    fn new(n_nodes: usize) -> Self {
        Self {
            number: vec![UNSEEN; n_nodes],
            n_seen: 0,
            stack: Vec::new(),
            calls: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Makes the nodes unseen again.
    fn forget(&mut self, nodes: &[NodeId]) {
        debug_assert!(self.calls.is_empty());
        self.n_seen = 0;
        for node in nodes {
            self.number[node.index()] = UNSEEN;
        }
    }

    /// Goes on at `node`, unless it has been seen.
    fn start(&mut self, node: NodeId) {
        if self.number[node.index()] == UNSEEN {
            self.n_seen += 1;
            self.number[node.index()] = self.n_seen;
            self.stack.push(node);
            self.calls.push(Call {
                node,
                low: self.n_seen,
                first_target: self.targets.len(),
                is_expanded: false,
            });
        }
    }

    /// The next component that is complete; nothing when everything reachable is.
    fn next_component<G: Graph>(
        &mut self,
        part_of: &mut FairNodes<'_, G>,
        part: Option<Part<'_>>,
    ) -> Result<Option<Vec<NodeId>>, G::Stop> {
        while let Some(call) = self.calls.last_mut() {
            if !call.is_expanded {
                call.is_expanded = true;
                part_of.expand(call.node)?;
                self.push_targets(part_of, part);
                continue;
            }
            if self.targets.len() > call.first_target {
                let target = self.targets.pop().expect("there is one");
                match self.number[target.index()] {
                    CLOSED => {}
                    UNSEEN => self.start(target),
                    number => call.low = call.low.min(number),
                }
                continue;
            }
            let Call { node, low, .. } = self.calls.pop().expect("there is one");
            if let Some(caller) = self.calls.last_mut() {
                caller.low = caller.low.min(low);
            }
            if low == self.number[node.index()] {
                return Ok(Some(self.close(node)));
            }
        }
        Ok(None)
    }

    fn push_targets<G: Graph>(&mut self, from: &FairNodes<'_, G>, part: Option<Part<'_>>) {
        for edge in (0..from.edges.len()).rev() {
            let target = from.edges.target(edge);
            let belongs = part.is_none_or(|part| {
                from.scope[target.index()] == part.scope
                    && bits::is_subset(from.edges.marks(edge), part.allowed)
            });
            if belongs && self.number[target.index()] != CLOSED {
                self.targets.push(target);
            }
        }
    }

    /// Takes the component that `root` was the first of.
    fn close(&mut self, root: NodeId) -> Vec<NodeId> {
        let position = self.stack.iter().rposition(|&node| node == root);
        let component = self.stack.split_off(position.expect("it is on the stack"));
        for node in &component {
            self.number[node.index()] = CLOSED;
        }
        component
    }
}
