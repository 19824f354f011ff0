//! Strongly connected components of a stored graph, in little memory.
//!
//! Algorithm: D. J. Pearce, "A space-efficient algorithm for finding strongly connected components",
//! Inf. Process. Lett. 116 (2016), doi:10.1016/j.ipl.2015.08.010, the version with a stack of its own.
//! One number per node serves for its place on the path and, later, for its component.
//!
//! Deviations:
//! * Components of a single node without a loop are of no interest and share a number.
//! * A part of the graph can be searched again, without some marks: its nodes are made unseen, and
//!   whatever has the number of a component counts as outside. So numbers of components are never used
//!   twice.
//!
//! Cost: linear in nodes and edges; four bytes per node, and twenty per node on the path.

use super::records::{self, Cursor};
use super::{Allowed, StoredGraph};
use crate::{MAX_NODES, NodeId};

/// Not reached yet.
const UNSEEN: u32 = 0;
/// Alone, without a loop.
const TRIVIAL: u32 = u32::MAX;

/// The graph is asked whether the search may go on every time this many nodes have been entered.
const LIMIT_INTERVAL: u64 = 4096;

/// A node on the depth-first path.
struct Frame {
    /// The node, and its next edge.
    cursor: Cursor,
    /// Is no node known that is older and in the same component?
    is_root: bool,
    /// Does it lead to itself?
    has_loop: bool,
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

    /// The number of the component that is found next; those that follow have smaller ones.
    pub fn next(&self) -> u32 {
        self.next_component
    }

    /// Makes a node searchable again.
    pub fn reopen(&mut self, node: NodeId) {
        self.number[node.index()] = UNSEEN;
    }

    /// The bytes in use.
    pub fn memory_bytes(&self) -> usize {
        (self.number.capacity() + self.waiting.capacity()) * size_of::<u32>()
            + self.frames.capacity() * size_of::<Frame>()
    }

    /// Finds the components of all nodes that can be reached from this one by edges that are allowed
    /// through nodes that are not in a component yet.
    pub fn search_from<G: StoredGraph>(
        &mut self,
        graph: &G,
        start: NodeId,
        allowed: Option<&Allowed>,
    ) -> Result<(), G::Stop> {
        if self.number[start.index()] == UNSEEN {
            self.enter(graph, start, allowed)?;
        }
        while let Some(mut frame) = self.frames.pop() {
            match self.follow(graph, &mut frame, allowed) {
                Some(target) => {
                    self.frames.push(frame);
                    self.enter(graph, target, allowed)?;
                }
                None => self.leave(graph, &frame)?,
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
        let node = frame.cursor.node;
        let record = graph.record(node);
        let mut own = self.number[node.index()];
        while let Some((target, marks)) = frame.cursor.next(record) {
            if allowed.is_some_and(|allowed| !allowed.edge[marks as usize]) {
                continue;
            }
            let number = self.number[target.index()];
            if number == UNSEEN {
                self.number[node.index()] = own;
                return Some(target);
            }
            frame.has_loop |= target == node;
            if number < own {
                own = number;
                frame.is_root = false;
            }
        }
        self.number[node.index()] = own;
        None
    }

    /// Puts a node at the end of the path, unless it leads nowhere.
    fn enter<G: StoredGraph>(
        &mut self,
        graph: &G,
        node: NodeId,
        allowed: Option<&Allowed>,
    ) -> Result<(), G::Stop> {
        self.n_entered += 1;
        if self.n_entered.is_multiple_of(LIMIT_INTERVAL) {
            graph.check_limits(self.memory_bytes())?;
        }

        let header = records::open(graph.record(node), node, graph.keeps_steps());
        let is_allowed = |header: &records::Header| {
            allowed.is_none_or(|allowed| allowed.source[header.source_marks as usize])
        };
        let Some(header) = header.filter(is_allowed) else {
            self.number[node.index()] = TRIVIAL;
            return Ok(());
        };
        self.number[node.index()] = self.next_place;
        self.next_place += 1;
        self.frames.push(Frame {
            cursor: header.cursor,
            is_root: true,
            has_loop: false,
        });
        Ok(())
    }

    /// A node has been taken off the path.
    fn leave<G: StoredGraph>(&mut self, graph: &G, frame: &Frame) -> Result<(), G::Stop> {
        let node = frame.cursor.node;
        let own = self.number[node.index()];
        if frame.is_root {
            self.complete(graph, node, frame.has_loop)?;
        } else {
            self.waiting.push(node);
        }

        // What can be reached from a node can be reached from the one before it.
        let number = self.number[node.index()];
        debug_assert!(frame.is_root || number == own);
        if let Some(before) = self.frames.last_mut() {
            let place = &mut self.number[before.cursor.node.index()];
            if number < *place {
                *place = number;
                before.is_root = false;
            }
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
        let has_others = self
            .waiting
            .last()
            .is_some_and(|node| is_member(&self.number, node));
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
