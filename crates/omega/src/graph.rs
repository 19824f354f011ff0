//! Graphs that are explored while they are searched.

use base::bits;

base::define_index! {
    /// A node. Graphs number their nodes densely in the order in which they are first seen.
    pub struct NodeId;
}

/// Nodes have smaller numbers than this: the searches need a bit for themselves.
pub const MAX_NODES: u32 = 1 << 31;

/// No more edges leave a node.
const MAX_EDGES: usize = u32::MAX as usize;

/// A graph with marked edges, computed on demand.
///
/// A graph may be the product of a system and an automaton. Then several nodes stand for the same
/// system state; [`Graph::origin`] and the step numbers say which, and strong global fairness is
/// judged on these.
///
/// Searches have numbers for so many nodes ([`MAX_NODES`]), edges of a node and renamings of marks
/// only. Where these run out they stop, with the reason that [`Graph::out_of_numbers`] gives.
pub trait Graph {
    /// Why the graph cannot be explored further (a limit, a run-time error of the model).
    type Stop;

    /// How many words the mark set of an edge has.
    fn n_mark_words(&self) -> usize;

    /// Appends the initial nodes to `out`.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop>;

    /// Appends all edges that leave `node` to `out`, always the same edges in the same order.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop>;

    /// The system state that `node` stands for.
    fn origin(&self, node: NodeId) -> u32;

    /// How many steps the system has in the state that `node` stands for. Edges name these steps
    /// by numbers below this.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn n_steps(&mut self, node: NodeId) -> Result<u32, Self::Stop>;

    /// Must exploration stop? Asked now and then where edges that were computed before are looked at
    /// again, so that this takes no longer than the graph allows.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn check_limits(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// Why a search stops that has no numbers left.
    fn out_of_numbers(&self) -> Self::Stop;
}

/// Edges in one flat buffer, without an allocation per edge.
#[derive(Clone, Debug)]
pub struct EdgeBuffer {
    targets: Vec<NodeId>,
    steps: Vec<u32>,
    marks: Vec<u64>,
    n_mark_words: usize,
}

impl EdgeBuffer {
    /// An empty buffer for edges whose mark sets have this many words.
    #[must_use]
    pub fn new(n_mark_words: usize) -> Self {
        Self {
            targets: Vec::new(),
            steps: Vec::new(),
            marks: Vec::new(),
            n_mark_words,
        }
    }

    /// How many edges it holds.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Does it hold no edge?
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Forgets all edges from position `len` on.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.targets.truncate(len);
        self.steps.truncate(len);
        self.marks.truncate(len * self.n_mark_words);
    }

    /// Forgets the last edge. Must not be empty.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(!self.is_empty());
        self.truncate(self.len() - 1);
    }

    /// Exchanges two edges.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        self.targets.swap(a, b);
        self.steps.swap(a, b);
        for word in 0..self.n_mark_words {
            self.marks
                .swap(a * self.n_mark_words + word, b * self.n_mark_words + word);
        }
    }

    /// Forgets an edge; the last one takes its place.
    pub(crate) fn swap_remove(&mut self, edge: usize) {
        self.swap(edge, self.len() - 1);
        self.pop();
    }

    /// Gives an edge other marks.
    #[inline]
    pub(crate) fn set_marks(&mut self, edge: usize, marks: &[u64]) {
        bits::assign(
            &mut self.marks[edge * self.n_mark_words..][..self.n_mark_words],
            marks,
        );
    }

    /// How many words a mark set has.
    pub(crate) fn n_mark_words(&self) -> usize {
        self.n_mark_words
    }

    /// Do the edges from position `first` on, all of one node, have numbers, and their targets, too?
    #[inline]
    pub(crate) fn are_numbered(&self, first: usize) -> bool {
        let targets = &self.targets[first..];
        targets.len() <= MAX_EDGES && targets.iter().all(|target| target.0 < MAX_NODES)
    }

    /// Appends an edge. `step` is the number of the system step that it takes in its source;
    /// `marks` has as many words as the buffer was made for.
    #[inline]
    pub fn push(&mut self, target: NodeId, step: u32, marks: &[u64]) {
        debug_assert_eq!(marks.len(), self.n_mark_words);
        self.targets.push(target);
        self.steps.push(step);
        if let [only] = marks {
            self.marks.push(*only);
        } else {
            self.marks.extend_from_slice(marks);
        }
    }

    /// Adds marks to the edge that was appended last, from word `first` on.
    #[inline]
    pub fn add_marks(&mut self, first: usize, marks: &[u64]) {
        let start = self.marks.len() - self.n_mark_words + first;
        bits::union_into(&mut self.marks[start..], marks);
    }

    /// How many bytes it occupies, spare capacity included.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        (self.targets.capacity() + self.steps.capacity()) * size_of::<u32>()
            + self.marks.capacity() * size_of::<u64>()
    }

    /// Where edge `position` leads.
    #[must_use]
    #[inline]
    pub fn target(&self, position: usize) -> NodeId {
        self.targets[position]
    }

    /// Which step of the system it takes.
    #[must_use]
    #[inline]
    pub fn step(&self, position: usize) -> u32 {
        self.steps[position]
    }

    /// The marks that it carries.
    #[must_use]
    #[inline]
    pub fn marks(&self, position: usize) -> &[u64] {
        &self.marks[position * self.n_mark_words..][..self.n_mark_words]
    }
}
