//! Looking again at a component that a search has found.
//!
//! A search that goes on from stored numbers reports what these numbers say. They may be wrong, so
//! before anything is made of the component its nodes are reached from the initial ones, and it is
//! searched afresh, with nothing but its nodes taken over. What several threads know of a component
//! that they have not completed is searched afresh, too.

use crate::{Acceptance, Closure, Component, EdgeBuffer, Graph, NodeId, find_fair_cycle};

/// A reachable component among the nodes of `component` that satisfies `acceptance` and `closure`;
/// nothing if there is none.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn confirm<G: Graph>(
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
    closure: Closure,
) -> Result<Option<Component>, G::Stop> {
    let mut within = Within::new(graph, component);
    within.reach()?;
    within.search(acceptance, closure)
}

/// The same if all nodes of the component are known to be reachable. Its marks do not matter.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn confirm_reached<G: Graph>(
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
    closure: Closure,
) -> Result<Option<Component>, G::Stop> {
    let mut within = Within::new(graph, component);
    within.reached.clone_from(&component.nodes);
    within.search(acceptance, closure)
}

/// The part of a graph that a component says it consists of.
struct Within<'g, G> {
    graph: &'g mut G,
    is_member: Vec<bool>,
    n_members: usize,
    /// The members that can be reached in the whole graph.
    reached: Vec<NodeId>,
}

impl<'g, G: Graph> Within<'g, G> {
    fn new(graph: &'g mut G, component: &Component) -> Self {
        let len = component.nodes.iter().map(|node| node.index() + 1).max();
        let mut is_member = vec![false; len.unwrap_or(0)];
        for node in &component.nodes {
            is_member[node.index()] = true;
        }
        let n_members = is_member.iter().filter(|is| **is).count();
        Self {
            graph,
            is_member,
            n_members,
            reached: Vec::new(),
        }
    }

    fn contains(&self, node: NodeId) -> bool {
        self.is_member.get(node.index()) == Some(&true)
    }

    fn search(
        &mut self,
        acceptance: &Acceptance,
        closure: Closure,
    ) -> Result<Option<Component>, G::Stop> {
        find_fair_cycle(self, acceptance, closure, &mut |_| Ok(())).result
    }

    /// Searches the whole graph breadth first until all members have been met.
    fn reach(&mut self) -> Result<(), G::Stop> {
        let (mut queue, mut is_known) = (Vec::new(), Vec::new());
        let mut targets = Vec::new();
        self.graph.initial(&mut targets)?;

        let mut edges = EdgeBuffer::new(self.graph.n_mark_words());
        let mut head = 0;
        loop {
            for node in targets.drain(..) {
                if node.index() >= is_known.len() {
                    is_known.resize(node.index() + 1, false);
                }
                if !std::mem::replace(&mut is_known[node.index()], true) {
                    queue.push(node);
                    if self.contains(node) {
                        self.reached.push(node);
                    }
                }
            }
            let Some(&source) = queue.get(head) else {
                return Ok(());
            };
            if self.reached.len() == self.n_members {
                return Ok(());
            }
            head += 1;
            edges.truncate(0);
            self.graph.successors(source, &mut edges)?;
            targets.extend((0..edges.len()).map(|edge| edges.target(edge)));
        }
    }
}

impl<G: Graph> Graph for Within<'_, G> {
    type Stop = G::Stop;

    fn n_mark_words(&self) -> usize {
        self.graph.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), G::Stop> {
        out.extend_from_slice(&self.reached);
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), G::Stop> {
        let mut edges = EdgeBuffer::new(self.graph.n_mark_words());
        self.graph.successors(node, &mut edges)?;
        for edge in (0..edges.len()).filter(|&edge| self.contains(edges.target(edge))) {
            out.push(edges.target(edge), edges.step(edge), edges.marks(edge));
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.graph.origin(node)
    }

    fn check_limits(&mut self) -> Result<(), G::Stop> {
        self.graph.check_limits()
    }

    fn out_of_numbers(&self) -> G::Stop {
        self.graph.out_of_numbers()
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, G::Stop> {
        self.graph.n_steps(node)
    }
}
