//! Graphs whose states are vectors of words.

use base::StopReason;

/// A graph that computes the steps of a state from the state itself, so that a search may keep states
/// wherever it likes. A thread has one for itself.
///
/// It is the product of a system and an automaton: every state has several *copies*, one for each
/// state of the automaton, and the nodes of the graph are the copies. A step of the system is one
/// of all copies; which copies it leads to is said by the edges.
pub trait Expand: Send {
    /// How many words a state has.
    fn n_words(&self) -> usize;

    /// How many copies a state has.
    fn n_copies(&self) -> usize;

    /// How many words the marks of an edge have.
    fn n_mark_words(&self) -> usize;

    /// The initial states, as if they were reached by steps; the edges say which copies are initial.
    ///
    /// # Errors
    /// The search has to stop.
    fn initial(&mut self, out: &mut Successors) -> Result<(), StopReason>;

    /// The steps of a state and the edges of those copies that are wanted. The same every time.
    ///
    /// With `is_new`, the state is met for the first time: a graph that counts counts it then.
    ///
    /// # Errors
    /// The search has to stop.
    fn successors(
        &mut self,
        state: &[u64],
        wanted: &dyn Fn(usize) -> bool,
        is_new: bool,
        out: &mut Successors,
    ) -> Result<(), StopReason>;

    /// Can these words be a state? What is read from files may be anything.
    fn is_state(&self, words: &[u64]) -> bool;

    /// What it has counted, to be kept with the states.
    fn notes(&self) -> Vec<u64>;

    /// Adds what another has counted; false if these are not notes.
    fn add_notes(&mut self, notes: &[u64]) -> bool;
}

/// An edge between copies of states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The step that it takes.
    pub step: u32,
    /// The copy of the source.
    pub from: u32,
    /// The copy of the target.
    pub to: u32,
}

/// What a search is to be told about a state, besides its steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remark {
    /// After this step; without one, about the state itself.
    pub step: Option<u32>,
    /// Is it what was looked for? Else the graph cannot go on there.
    pub is_goal: bool,
}

/// The steps of a state, and its edges in the order of their steps.
#[derive(Clone, Debug)]
pub struct Successors {
    n_words: usize,
    n_mark_words: usize,
    targets: Vec<u64>,
    edges: Vec<Edge>,
    marks: Vec<u64>,
    /// The reason for which an exploration ends here.
    pub remark: Option<Remark>,
}

impl Successors {
    /// An empty list for states and marks of this many words.
    #[must_use]
    pub fn new(n_words: usize, n_mark_words: usize) -> Self {
        Self {
            n_words,
            n_mark_words,
            targets: Vec::new(),
            edges: Vec::new(),
            marks: Vec::new(),
            remark: None,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.targets.clear();
        self.edges.clear();
        self.marks.clear();
        self.remark = None;
    }

    /// Adds a step, to which the edges that follow belong. Returns its number.
    pub fn push_step(&mut self, target: &[u64]) -> u32 {
        debug_assert_eq!(target.len(), self.n_words);
        self.targets.extend_from_slice(target);
        self.n_steps() as u32 - 1
    }

    /// Adds an edge of the last step.
    pub fn push_edge(&mut self, from: u32, to: u32, marks: &[u64]) {
        debug_assert_eq!(marks.len(), self.n_mark_words);
        let step = self.n_steps() as u32 - 1;
        self.edges.push(Edge { step, from, to });
        self.marks.extend_from_slice(marks);
    }

    /// How many steps there are.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.targets.len() / self.n_words
    }

    /// Where a step leads.
    #[must_use]
    pub fn target(&self, step: u32) -> &[u64] {
        &self.targets[step as usize * self.n_words..][..self.n_words]
    }

    /// The edges with their marks.
    pub fn edges(&self) -> impl Iterator<Item = (Edge, &[u64])> {
        let marks = |position| &self.marks[position * self.n_mark_words..][..self.n_mark_words];
        let edges = self.edges.iter().enumerate();
        edges.map(move |(position, edge)| (*edge, marks(position)))
    }
}
