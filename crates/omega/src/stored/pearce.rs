//! Strongly connected components of a stored graph, in little memory.
//!
//! Algorithm: D. J. Pearce, "A space-efficient algorithm for finding strongly connected components",
//! Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2015.08.010, the version with a stack of its own.
//! One number per node serves for its place on the path and, later, for its component.
//!
//! Deviations:
//! * Components of a single node without a loop are of no interest and share a number. Many are known
//!   before the search begins ([`Components::close_if_trivial`]).
//! * A part of the graph can be searched again, without some marks: its nodes are made unseen, and
//!   whatever has the number of a component counts as outside. So numbers of components are never used
//!   twice.
//!
//! Cost: linear in nodes and edges; four bytes per node, and twelve more per node on the path.

use super::records::{self, Edges};
use super::{Allowed, StoredGraph};
use crate::{MAX_NODES, NodeId};

/// Not reached yet.
const UNSEEN: u32 = 0;
/// Alone, without a loop.
const TRIVIAL: u32 = u32::MAX;

/// The graph is asked whether the search may go on every time this many nodes have been entered.
const LIMIT_INTERVAL: u64 = 4096;

/// A flag beside a number of 31 bits.
const FLAG: u32 = 1 << 31;

/// A node on the depth-first path, that has edges.
#[derive(Clone, Copy)]
struct Frame {
    /// The node, and whether no node is known that is older and in the same component.
    node: u32,
    /// Where its record is.
    place: u32,
    /// The number of its next edge, and whether it leads to itself.
    next: u32,
}

impl Frame {
    fn new(node: NodeId, place: u32) -> Self {
        Self {
            node: node.0 | FLAG,
            place,
            next: 0,
        }
    }

    #[inline]
    fn node(self) -> NodeId {
        NodeId(self.node & !FLAG)
    }

    fn is_root(self) -> bool {
        self.node & FLAG != 0
    }

    fn has_loop(self) -> bool {
        self.next & FLAG != 0
    }

    /// It has turned out that an older node is in the same component.
    fn has_older(&mut self) {
        self.node &= !FLAG;
    }
}

/// What is known about components.
///
/// Invariant: numbers from 1 to `next_place` − 1 are places of nodes whose components are not
/// complete; numbers above `next_component` are those of components.
pub(super) struct Components {
    number: Vec<u32>,
    next_place: u32,
    next_component: u32,
    frames: Vec<Frame>,
    /// Nodes that have been left, and whose components are not complete.
    waiting: Vec<NodeId>,
    n_entered: u64,
}

impl Components {
    /// Nothing is known.
    pub fn new(n_nodes: usize) -> Self {
        Self {
            number: vec![UNSEEN; n_nodes],
            next_place: 1,
            next_component: TRIVIAL - 1,
            frames: Vec::new(),
            waiting: Vec::new(),
            n_entered: 0,
        }
    }

    /// The number of the component of a node; nothing if it is trivial.
    #[inline]
    pub fn of(&self, node: NodeId) -> Option<u32> {
        let number = self.number[node.index()];
        (number != TRIVIAL).then_some(number)
    }

    /// Makes a node searchable again.
    pub fn reopen(&mut self, node: NodeId) {
        self.number[node.index()] = UNSEEN;
    }

    /// Closes an unseen node if it has no edge that is allowed to an unseen one: then it lies on no cycle.
    ///
    /// Most edges lead to larger numbers. So where this is done with the largest first, much of what lies
    /// on no cycle is known after a single pass over the records in their order, which the search would
    /// read at random places.
    pub fn close_if_trivial<G: StoredGraph>(
        &mut self,
        graph: &G,
        node: NodeId,
        allowed: Option<&Allowed>,
    ) {
        let may_lie_on_cycle = graph.record(node).is_some_and(|place| {
            let edges = edges_of(graph, node, place);
            let is_followed = |(target, marks): (NodeId, u32)| {
                allowed.is_none_or(|allowed| allowed.edge[marks as usize])
                    && self.number[target.index()] == UNSEEN
            };
            allowed.is_none_or(|allowed| allowed.source[edges.source_marks as usize])
                && edges.iter().any(is_followed)
        });
        if !may_lie_on_cycle {
            self.number[node.index()] = TRIVIAL;
        }
    }

    /// The number of the component that is found next; those that follow have smaller ones.
    pub fn next(&self) -> u32 {
        self.next_component
    }

    /// The bytes in use.
    pub fn memory_bytes(&self) -> usize {
        (self.number.capacity() + self.waiting.capacity()) * size_of::<u32>()
            + self.frames.capacity() * size_of::<Frame>()
    }

    /// Finds the components of all nodes that can be reached from this one by edges that are allowed
    /// through unseen nodes, for which [`Self::close_if_trivial`] has been called before.
    pub fn search_from<G: StoredGraph>(
        &mut self,
        graph: &G,
        start: NodeId,
        allowed: Option<&Allowed>,
    ) -> Result<(), G::Stop> {
        if self.number[start.index()] == UNSEEN {
            self.enter(graph, start)?;
        }
        while let Some(mut frame) = self.frames.pop() {
            let target = self.follow(graph, &mut frame, allowed);
            match target {
                Some(target) => {
                    self.frames.push(frame);
                    self.enter(graph, target)?;
                }
                None => self.leave(graph, frame)?,
            }
        }
        Ok(())
    }

    /// Follows the edges of a node up to the first that leads to an unseen one.
    #[inline]
    fn follow<G: StoredGraph>(
        &mut self,
        graph: &G,
        frame: &mut Frame,
        allowed: Option<&Allowed>,
    ) -> Option<NodeId> {
        let node = frame.node();
        let edges = edges_of(graph, node, frame.place);
        let before = self.number[node.index()];
        let mut own = before;
        let mut unseen = None;
        let (mut next, mut flag) = (frame.next & !FLAG, frame.next & FLAG);
        while next < edges.len {
            let (target, marks) = edges.get(next);
            next += 1;
            if allowed.is_some_and(|allowed| !allowed.edge[marks as usize]) {
                continue;
            }
            let number = self.number[target.index()];
            if number == UNSEEN {
                unseen = Some(target);
                break;
            }
            if target == node {
                flag = FLAG;
            }
            own = own.min(number);
        }

        frame.next = next | flag;
        if own != before {
            self.number[node.index()] = own;
            frame.has_older();
        }
        unseen
    }

    /// Puts a node at the end of the path.
    fn enter<G: StoredGraph>(&mut self, graph: &G, node: NodeId) -> Result<(), G::Stop> {
        self.n_entered += 1;
        if self.n_entered.is_multiple_of(LIMIT_INTERVAL) {
            graph.check_limits(self.memory_bytes())?;
        }

        let place = graph.record(node).expect("others were closed");
        self.number[node.index()] = self.next_place;
        self.next_place += 1;
        self.frames.push(Frame::new(node, place));
        Ok(())
    }

    /// A node has been taken off the path.
    fn leave<G: StoredGraph>(&mut self, graph: &G, frame: Frame) -> Result<(), G::Stop> {
        let node = frame.node();
        if frame.is_root() {
            self.complete(graph, node, frame.has_loop())?;
        } else {
            self.waiting.push(node);
        }

        // What can be reached from a node can be reached from the one before it.
        let number = self.number[node.index()];
        if let Some(before) = self.frames.last_mut()
            && number < self.number[before.node().index()]
        {
            self.number[before.node().index()] = number;
            before.has_older();
        }
        Ok(())
    }

    /// A component is complete: this node, and those that wait and are not older.
    fn complete<G: StoredGraph>(
        &mut self,
        graph: &G,
        root: NodeId,
        has_loop: bool,
    ) -> Result<(), G::Stop> {
        let own = self.number[root.index()];
        let is_member = |number: &[u32], node: &NodeId| number[node.index()] >= own;
        let waiting = self.waiting.last();
        let has_others = waiting.is_some_and(|node| is_member(&self.number, node));
        self.next_place -= 1;
        if !has_others && !has_loop {
            self.number[root.index()] = TRIVIAL;
            return Ok(());
        }

        // Places are at most as many as nodes, and must stay below the numbers of components.
        let component = self.next_component;
        if component <= MAX_NODES {
            return Err(graph.out_of_numbers());
        }
        self.next_component -= 1;
        self.number[root.index()] = component;
        while let Some(node) = self.waiting.pop_if(|node| is_member(&self.number, node)) {
            self.number[node.index()] = component;
            self.next_place -= 1;
        }
        Ok(())
    }
}

/// The edges of a node, whose record is at this place.
#[inline]
fn edges_of<G: StoredGraph>(graph: &G, node: NodeId, place: u32) -> Edges<'_> {
    records::open(graph.bytes(place), node, graph.keeps_steps())
}
