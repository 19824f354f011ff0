//! Multi-terminal binary decision diagrams: the transition functions of automata.
//!
//! A diagram maps a letter (one bit per track) to a state. This is the representation of
//! J. Henriksen, J. Jensen, M. Jørgensen, N. Klarlund, R. Paige, T. Rauhe, A. Sandholm, *Mona:
//! Monadic second-order logic in practice*, TACAS 1995, doi:10.1007/3-540-60630-0_5, section 4,
//! built on the reduced ordered diagrams of R. Bryant, *Graph-based algorithms for Boolean function
//! manipulation*, IEEE Transactions on Computers 35(8), 1986, doi:10.1109/TC.1986.1676819.
//!
//! Why not a crate, and why one arena per automaton rather than one for the process: the general
//! packages know no terminals beyond true and false (or only numbers), and the terminals here are
//! state numbers, which mean nothing outside their automaton, so that two automata hardly ever
//! share a node. An arena of its own is freed as a whole when the automaton is, and needs no
//! reference counts and no garbage collector.
//!
//! Invariant of every arena: for each node `(track, low, high)`, `low != high`; every decision
//! node below it has a greater track and a smaller index; no two nodes are equal. Hence two
//! references of one arena are equal iff they denote the same function.

use crate::table::spread;

/// A decision node (an index into the arena) or, with the top bit set, a terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeRef(pub(crate) u32);

const TERMINAL: u32 = 1 << 31;

impl NodeRef {
    /// The terminal that carries `value`.
    pub(crate) fn terminal(value: usize) -> Self {
        debug_assert!((value as u64) < u64::from(TERMINAL));
        Self(value as u32 | TERMINAL)
    }

    /// The value, if this is a terminal.
    pub(crate) fn value(self) -> Option<usize> {
        (self.0 & TERMINAL != 0).then_some((self.0 & !TERMINAL) as usize)
    }

    /// Is this a terminal?
    pub(crate) fn is_terminal(self) -> bool {
        self.0 & TERMINAL != 0
    }

    /// The index of a decision node.
    pub(crate) fn index(self) -> usize {
        debug_assert!(!self.is_terminal());
        self.0 as usize
    }
}

/// Reads track `track`: on 0 go to `low`, on 1 to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Node {
    pub(crate) track: u32,
    pub(crate) low: NodeRef,
    pub(crate) high: NodeRef,
}

/// Bytes of one node together with its share of the unique table.
const NODE_BYTES: u64 = 24;

/// An arena under construction: nodes with the table that keeps them unique.
pub(crate) struct Arena {
    nodes: Vec<Node>,
    /// Open addressing; `u32::MAX` is free. Invariant: the length is a power of two and at most
    /// half of the slots are taken.
    slots: Vec<u32>,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self::with_capacity(32)
    }

    /// An arena with room for this many nodes.
    pub(crate) fn with_capacity(n_nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(n_nodes),
            slots: vec![u32::MAX; (n_nodes.max(8) * 2).next_power_of_two()],
        }
    }

    /// The node `(track, low, high)`, or `low` where there is nothing to decide.
    pub(crate) fn node(&mut self, track: u32, low: NodeRef, high: NodeRef) -> NodeRef {
        if low == high {
            return low;
        }
        let node = Node { track, low, high };
        let mask = self.slots.len() - 1;
        let mut slot = hash(node) as usize & mask;

        loop {
            let index = self.slots[slot];
            if index == u32::MAX {
                break;
            }
            if self.nodes[index as usize] == node {
                return NodeRef(index);
            }
            slot = (slot + 1) & mask;
        }

        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^31 nodes");
        self.slots[slot] = index;
        self.nodes.push(node);
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        NodeRef(index)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, u32::MAX);
        for (index, &node) in self.nodes.iter().enumerate() {
            let mut slot = hash(node) as usize & mask;
            while self.slots[slot] != u32::MAX {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = index as u32;
        }
    }

    pub(crate) fn get(&self, index: usize) -> Node {
        self.nodes[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.nodes.len() as u64 * NODE_BYTES
    }

    /// The nodes without the table.
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}

fn hash(node: Node) -> u64 {
    let children = u64::from(node.low.0) << 32 | u64::from(node.high.0);
    spread(spread(children) ^ u64::from(node.track))
}

/// Panics unless the arena invariant holds for `nodes`.
#[cfg(test)]
pub(crate) fn check_invariants(nodes: &[Node]) {
    let mut seen = std::collections::BTreeSet::new();
    for (index, node) in nodes.iter().enumerate() {
        assert_ne!(node.low, node.high, "node {index} decides nothing");
        for child in [node.low, node.high] {
            if !child.is_terminal() {
                assert!(child.index() < index, "node {index} precedes its child");
                let below = nodes[child.index()].track;
                assert!(node.track < below, "node {index} is out of order");
            }
        }
        let fresh = seen.insert((node.track, node.low, node.high));
        assert!(fresh, "node {index} repeats an earlier one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_are_one_node() {
        let mut arena = Arena::new();
        let (a, b) = (NodeRef::terminal(0), NodeRef::terminal(7));
        let lower = arena.node(3, a, b);
        assert_eq!(arena.node(3, a, b), lower);
        assert_eq!(arena.node(1, lower, lower), lower);
        let upper = arena.node(1, lower, a);
        assert_eq!((upper.index(), arena.len()), (1, 2));
        check_invariants(&arena.into_nodes());
    }

    #[test]
    fn the_table_survives_growth() {
        let mut arena = Arena::new();
        let refs: Vec<_> = (0..1000)
            .map(|i| arena.node(0, NodeRef::terminal(i), NodeRef::terminal(i + 1)))
            .collect();
        for (i, &node) in refs.iter().enumerate() {
            let again = arena.node(0, NodeRef::terminal(i), NodeRef::terminal(i + 1));
            assert_eq!(again, node);
        }
        assert_eq!(arena.len(), 1000);
    }
}
