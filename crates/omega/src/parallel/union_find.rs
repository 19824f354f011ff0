//! Strongly connected sets of nodes that several threads merge.
//!
//! Every node starts as a set of its own. A set knows which threads have entered it, the union of
//! the marks on edges inside it, its members, and which of them are not fully explored: these are
//! on a ring, from which the others are taken out as they are met.
//!
//! After V. Bloemen, A. Laarman, J. van de Pol, "Multi-core on-the-fly SCC decomposition", PPoPP
//! 2016, section 4, doi:10.1145/2851141.2851161. Deviations:
//! * A merge locks the two roots, in the order of their numbers. Looking up a set, entering it
//!   and choosing an unexplored member need no lock. The paper locks one root and two members.
//! * A set has marks and a second ring, with all its members.
//!
//! Why locking roots protects the ring of unexplored members: a merge names two members `u` and `v`
//! that are not explored as long as their sets differ (see [`Sets::unite`]) and swaps their
//! successors. Successors of unexplored members are changed by merges of their set only, and those
//! of explored ones only to leave other explored ones out. So at every moment each unexplored
//! member, or one that a merge in progress names, can be reached along the ring, and a ring that
//! consists of one explored member has no unexplored one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use base::bits;

use super::chunks::Chunks;
use crate::{Component, MAX_NODES, NodeId};

/// The node is not a root; the lower half of its word is another member, nearer to the root.
const CHILD: u64 = 1 << 63;
/// A thread changes the set.
const LOCKED: u64 = 1 << 62;
/// The set is a complete component, and done with.
const DEAD: u64 = 1 << 61;
/// There is an edge inside.
const HAS_EDGE: u64 = 1 << 60;
/// The other bits of a root are those of the threads that have entered the set.
pub(super) const MAX_THREADS: usize = 60;

/// The node is fully explored. The other bits: the next node of the ring, xor this node.
const EXPLORED: u32 = MAX_NODES;

/// How often a lock is tried before the processor is left to others.
const N_SPINS: u32 = 100;

/// What is known about a node. All zero: a set of its own that no thread has entered.
#[derive(Default)]
struct Entry {
    /// Flags, and threads or a parent.
    word: AtomicU64,
    /// The ring of unexplored members.
    unexplored: AtomicU32,
    /// The ring of members: the next one, xor this node.
    members: AtomicU32,
}

/// What a thread learns about a node that it comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeClaim {
    /// Its component is complete.
    Dead,
    /// The thread has now entered its set.
    Entered,
    /// The thread had entered its set before.
    Known,
}

/// Where a node is, seen from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// In another set, or so it seemed.
    Apart,
    /// In a complete component.
    Dead,
    /// In the same set.
    United,
}

/// The sets.
///
/// Invariant: the members of a set are in one component, and the marks of the set are those of edges
/// inside that component.
///
/// Edges inside the set need not connect all members: a thread that unites the sets on its path, from
/// its end on, stops as soon as the last one is united with the target of its edge. If another thread
/// has united these two meanwhile, sets in between are left for later, although ways between members
/// lead through them. A set without unexplored members has no such gaps.
pub(super) struct Sets {
    entries: Chunks<Entry>,
    marks: Chunks<AtomicU64>,
    n_mark_words: usize,
}

impl Sets {
    /// Every node by itself.
    pub fn new(n_mark_words: usize) -> Self {
        Self {
            entries: Chunks::new(1),
            marks: Chunks::new(n_mark_words),
            n_mark_words,
        }
    }

    /// The bytes in use.
    pub fn memory_bytes(&self) -> usize {
        self.entries.memory_bytes() + self.marks.memory_bytes()
    }

    fn entry(&self, node: u32) -> &Entry {
        debug_assert!(node < MAX_NODES, "explorations stop before");
        &self.entries.row(node)[0]
    }

    fn word(&self, node: u32) -> u64 {
        self.entry(node).word.load(Ordering::Acquire)
    }

    /// The root of a node and its word at that moment.
    fn find(&self, node: u32) -> (u32, u64) {
        let mut node = node;
        let mut word = self.word(node);
        while word & CHILD != 0 {
            let parent = word as u32;
            let above = self.word(parent);
            if above & CHILD != 0 {
                // Half of the way is enough next time. A child stays one, so nothing is lost.
                self.entry(node).word.store(above, Ordering::Release);
            }
            (node, word) = (parent, above);
        }
        (node, word)
    }

    /// The root of the set of a node, as a name for the set.
    pub fn root(&self, node: NodeId) -> NodeId {
        NodeId(self.find(node.0).0)
    }

    /// Are the nodes in one set?
    pub fn are_united(&self, a: NodeId, b: NodeId) -> bool {
        loop {
            let (root_a, _) = self.find(a.0);
            let (root_b, _) = self.find(b.0);
            if root_a == root_b {
                return true;
            }
            // If the first is still a root, the two were apart a moment ago.
            if self.word(root_a) & CHILD == 0 {
                return false;
            }
        }
    }

    /// Where `target` is, seen from `node`.
    pub fn relation(&self, node: NodeId, target: NodeId) -> Relation {
        let (root, word) = self.find(target.0);
        if word & DEAD != 0 {
            Relation::Dead
        } else if self.find(node.0).0 == root {
            Relation::United
        } else {
            Relation::Apart
        }
    }

    /// A thread, given by its bit, comes to a node.
    pub fn claim(&self, node: NodeId, thread: u64) -> NodeClaim {
        let mut spins = 0;
        loop {
            let (root, word) = self.find(node.0);
            if word & DEAD != 0 {
                return NodeClaim::Dead;
            }
            if word & thread != 0 {
                return NodeClaim::Known;
            }
            if word & LOCKED != 0 {
                pause(&mut spins);
                continue;
            }
            if self.exchange(root, word, word | thread) {
                return NodeClaim::Entered;
            }
        }
    }

    fn exchange(&self, node: u32, old: u64, new: u64) -> bool {
        let word = &self.entry(node).word;
        word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Locks a root. Returns its word, or nothing if it is none any more, or is dead.
    fn lock(&self, root: u32) -> Option<u64> {
        let mut spins = 0;
        loop {
            let word = self.word(root);
            if word & (CHILD | DEAD) != 0 {
                return None;
            }
            if word & LOCKED != 0 {
                pause(&mut spins);
            } else if self.exchange(root, word, word | LOCKED) {
                return Some(word);
            }
        }
    }

    fn unlock(&self, root: u32, word: u64) {
        self.entry(root).word.store(word, Ordering::Release);
    }

    /// Unites the sets of `u` and `v`, which an edge with these marks connects, unless that of `v`
    /// is the one of `target` by now. Says whether it did, or they were united.
    ///
    /// An edge of `v` must lead to `target`, and one of `u` into the set of `v`. Then neither
    /// counts as explored when their rings are made one: before a node does, each of its edges
    /// leads into its own set or into a dead one, a set on the path of a thread is dead only if all
    /// those above it are, and no thread can unite a set whose root is locked with another.
    pub fn unite(&self, u: NodeId, v: NodeId, target: NodeId, marks: &[u64]) -> bool {
        loop {
            let (a, b) = (self.find(u.0).0, self.find(v.0).0);
            if a == b {
                self.add_marks(u, marks);
                return true;
            }
            let (older, younger) = (a.min(b), a.max(b));
            let Some(older_word) = self.lock(older) else {
                continue;
            };
            let Some(younger_word) = self.lock(younger) else {
                self.unlock(older, older_word);
                continue;
            };
            if self.find(target.0).0 == b {
                // Another thread has, on another way; perhaps it has explored `v` as well.
                self.unlock(younger, younger_word);
                self.unlock(older, older_word);
                return false;
            }
            self.or_marks(older, marks);
            if younger_word & HAS_EDGE != 0 {
                let row = self.marks.row(younger);
                for (word, own) in row.iter().zip(self.marks.row(older)) {
                    own.fetch_or(word.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            self.splice(older, younger, (u.0, v.0));
            self.unlock(younger, CHILD | u64::from(older));
            self.unlock(older, older_word | younger_word | HAS_EDGE);
            return true;
        }
    }

    /// Makes one ring of two, twice: of all members, and of the unexplored ones.
    fn splice(&self, a: u32, b: u32, (u, v): (u32, u32)) {
        let exchange = |a: &AtomicU32, b: &AtomicU32, distance: u32| {
            let (old_a, old_b) = (a.load(Ordering::Relaxed), b.load(Ordering::Relaxed));
            // What is stored is relative to the node.
            a.store(old_b ^ distance, Ordering::Release);
            b.store(old_a ^ distance, Ordering::Release);
        };
        exchange(&self.entry(a).members, &self.entry(b).members, a ^ b);
        let (at_u, at_v) = (&self.entry(u).unexplored, &self.entry(v).unexplored);
        debug_assert_eq!(at_u.load(Ordering::Relaxed) & EXPLORED, 0);
        debug_assert_eq!(at_v.load(Ordering::Relaxed) & EXPLORED, 0);
        exchange(at_u, at_v, u ^ v);
    }

    fn or_marks(&self, root: u32, marks: &[u64]) -> bool {
        let mut grown = false;
        for (word, own) in marks.iter().zip(self.marks.row(root)) {
            grown |= own.fetch_or(*word, Ordering::Relaxed) & word != *word;
        }
        grown
    }

    /// There is an edge with these marks inside the set of `node`. Is that its first edge, or one
    /// with a new mark?
    pub fn add_marks(&self, node: NodeId, marks: &[u64]) -> bool {
        loop {
            let (root, word) = self.find(node.0);
            if word & DEAD != 0 {
                return false;
            }
            let mut known = marks.iter().zip(self.marks.row(root));
            let is_known = known.all(|(word, own)| own.load(Ordering::Relaxed) & word == *word);
            if word & HAS_EDGE != 0 && is_known {
                return false;
            }
            if let Some(word) = self.lock(root) {
                let grown = self.or_marks(root, marks) || word & HAS_EDGE == 0;
                self.unlock(root, word | HAS_EDGE);
                return grown;
            }
        }
    }

    /// The marks of the set of `node`, into `out`. Says whether there is an edge inside.
    pub fn marks(&self, node: NodeId, out: &mut Vec<u64>) -> bool {
        let (root, word) = self.find(node.0);
        let row = self.marks.row(root).iter();
        out.clear();
        out.extend(row.map(|word| word.load(Ordering::Relaxed)));
        word & HAS_EDGE != 0
    }

    /// Is the node fully explored?
    pub fn is_explored(&self, node: NodeId) -> bool {
        let ring = self.entry(node.0).unexplored.load(Ordering::Acquire);
        ring & EXPLORED != 0
    }

    /// Every edge of the node leads into its own set or into a dead one.
    pub fn set_explored(&self, node: NodeId) {
        let ring = &self.entry(node.0).unexplored;
        ring.fetch_or(EXPLORED, Ordering::AcqRel);
    }

    /// A member of the set of `node` that is not fully explored, if there is one.
    pub fn unexplored(&self, node: NodeId) -> Option<NodeId> {
        let mut here = node.0;
        loop {
            let ring = self.entry(here).unexplored.load(Ordering::Acquire);
            if ring & EXPLORED == 0 {
                return Some(NodeId(here));
            }
            let next = here ^ (ring & !EXPLORED);
            if next == here {
                return None;
            }
            let after = self.entry(next).unexplored.load(Ordering::Acquire);
            if after & EXPLORED == 0 {
                return Some(NodeId(next));
            }
            let after = next ^ (after & !EXPLORED);
            let shortcut = EXPLORED | (here ^ after);
            let at_here = &self.entry(here).unexplored;
            at_here.store(shortcut, Ordering::Release);
            here = after;
        }
    }

    /// Declares the set of `node`, which has no unexplored member, a complete component. Says
    /// whether no other thread has done so.
    pub fn kill(&self, node: NodeId) -> bool {
        let mut spins = 0;
        loop {
            let (root, word) = self.find(node.0);
            if word & DEAD != 0 {
                return false;
            }
            if word & LOCKED != 0 {
                pause(&mut spins);
            } else if self.exchange(root, word, word | DEAD) {
                return true;
            }
        }
    }

    /// The set of `node` as a component. No other thread may change it.
    pub fn component(&self, node: NodeId) -> Component {
        let root = self.root(node);
        let mut component = Component {
            nodes: vec![root],
            marks: Vec::with_capacity(self.n_mark_words),
        };
        self.marks(root, &mut component.marks);
        let next = |node: u32| node ^ self.entry(node).members.load(Ordering::Acquire);
        let mut node = next(root.0);
        while node != root.0 {
            component.nodes.push(NodeId(node));
            node = next(node);
        }
        component
    }

    /// Makes every one of these nodes a set of its own again. No other thread may use them.
    pub fn reset(&self, nodes: &[NodeId]) {
        for node in nodes {
            let entry = self.entry(node.0);
            entry.unexplored.store(0, Ordering::Relaxed);
            entry.members.store(0, Ordering::Relaxed);
            for word in self.marks.row(node.0) {
                word.store(0, Ordering::Relaxed);
            }
            entry.word.store(0, Ordering::Release);
        }
    }

    /// Is `node` in the set with this root?
    pub fn is_member(&self, node: NodeId, root: NodeId) -> bool {
        self.root(node) == root
    }
}

/// Waits for a lock.
fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < N_SPINS {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// Do these marks lie within the allowed ones, if some are not?
pub(super) fn is_allowed(marks: &[u64], allowed: Option<&[u64]>) -> bool {
    allowed.is_none_or(|allowed| bits::is_subset(marks, allowed))
}
