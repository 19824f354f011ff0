//! Deterministic machines with an output per state, over anonymous tracks.
//!
//! A machine reads a word of letters; a letter has one bit per track. The first letter carries the
//! Boolean variables only, letter `i + 1` says which sets contain position `i`. State 0 is the
//! initial one. Outputs of formulas are [`UNDEFINED`], [`FALSE`] and [`TRUE`]: a formula is
//! undefined where a restriction is violated (a first-order variable with an empty track, a `where`
//! clause), and undefinedness is strict in every connective. Other machines (see
//! [`crate::VectorMachine`]) use outputs of their own.
//!
//! Invariant: every state is reachable, the nodes satisfy the invariant of [`crate::mtbdd`], every
//! node is reachable from a root, and all tracks are below `n_tracks`. The output of the initial
//! state has no meaning unless a transition leads back to it.

use crate::mtbdd::{Arena, Node, NodeRef};

/// The output of states in which a formula has no value.
pub const UNDEFINED: u32 = 0;
/// The output of states in which a formula is false.
pub const FALSE: u32 = 1;
/// The output of states in which a formula is true.
pub const TRUE: u32 = 2;

/// A deterministic, complete Moore machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Machine {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<NodeRef>,
    pub(crate) outputs: Vec<u32>,
    /// Can a state with output [`UNDEFINED`] be reached from here (in zero or more steps)?
    pub(crate) may_be_undefined: Vec<bool>,
    pub(crate) n_tracks: usize,
}

impl Machine {
    /// One state forever.
    pub(crate) fn constant(output: u32) -> Self {
        Self {
            nodes: Vec::new(),
            roots: vec![NodeRef::terminal(0)],
            outputs: vec![output],
            may_be_undefined: vec![output == UNDEFINED],
            n_tracks: 0,
        }
    }

    /// Over one track: true of words that end with the first 1, undefined otherwise.
    pub(crate) fn ends_at_first_one() -> Self {
        let state = NodeRef::terminal;
        Self {
            nodes: vec![Node {
                track: 0,
                low: state(1),
                high: state(2),
            }],
            roots: vec![state(1), NodeRef(0), state(3), state(3)],
            outputs: vec![UNDEFINED, UNDEFINED, TRUE, UNDEFINED],
            may_be_undefined: vec![true; 4],
            n_tracks: 1,
        }
    }

    pub(crate) fn n_states(&self) -> usize {
        self.roots.len()
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> u64 {
        self.nodes.len() as u64 * 12 + self.roots.len() as u64 * 9
    }

    /// Is this a state that is never left? Then its output.
    pub(crate) fn sink_output(&self, state: usize) -> Option<u32> {
        (self.roots[state] == NodeRef::terminal(state)).then(|| self.outputs[state])
    }

    /// Exchanges true and false.
    pub(crate) fn complement(mut self) -> Self {
        for output in &mut self.outputs {
            *output = complement_output(*output);
        }
        self
    }

    /// The successor of a state under the letter `bit`.
    pub(crate) fn step(&self, state: usize, bit: impl Fn(u32) -> bool) -> usize {
        let mut at = self.roots[state];
        loop {
            match at.value() {
                Some(state) => return state,
                None => {
                    let node = self.nodes[at.index()];
                    at = if bit(node.track) { node.high } else { node.low };
                }
            }
        }
    }

    /// The output after reading a word.
    pub(crate) fn run(&self, word: &[Vec<bool>]) -> u32 {
        let state = word.iter().fold(0, |state, letter| {
            self.step(state, |track| letter[track as usize])
        });
        self.outputs[state]
    }

    /// The successors of every state under letters that satisfy `allows(track, bit)`, without
    /// repetition and in ascending order.
    pub(crate) fn successors(&self, allows: impl Fn(u32, bool) -> bool) -> Vec<Vec<u32>> {
        let mut seen = vec![usize::MAX; self.nodes.len()];
        let mut stack = Vec::new();
        let mut all = Vec::with_capacity(self.n_states());
        for (state, &root) in self.roots.iter().enumerate() {
            let mut successors = Vec::new();
            stack.push(root);
            while let Some(at) = stack.pop() {
                if let Some(target) = at.value() {
                    successors.push(target as u32);
                } else if std::mem::replace(&mut seen[at.index()], state) != state {
                    let node = self.nodes[at.index()];
                    for (bit, child) in [(true, node.high), (false, node.low)] {
                        if allows(node.track, bit) {
                            stack.push(child);
                        }
                    }
                }
            }
            successors.sort_unstable();
            successors.dedup();
            all.push(successors);
        }

        all
    }

    /// The part that can be reached from state 0, as the minimiser wants it.
    pub(crate) fn reachable(&self) -> (Arena, Vec<NodeRef>, Vec<u32>) {
        let successors = self.successors(|_, _| true);
        let mut number = vec![usize::MAX; self.n_states()];
        let mut order = vec![0];
        number[0] = 0;

        let mut next = 0;
        while next < order.len() {
            for &state in &successors[order[next]] {
                if number[state as usize] == usize::MAX {
                    number[state as usize] = order.len();
                    order.push(state as usize);
                }
            }
            next += 1;
        }

        let mut arena = Arena::new();
        let mut images = Vec::with_capacity(self.nodes.len());
        let image = |images: &[NodeRef], at: NodeRef| match at.value() {
            // Nodes that only unreachable states use may get any terminal.
            Some(state) => NodeRef::terminal(number[state].min(order.len() - 1)),
            None => images[at.index()],
        };
        for node in &self.nodes {
            let (low, high) = (image(&images, node.low), image(&images, node.high));
            images.push(arena.node(node.track, low, high));
        }

        let roots = order.iter().map(|&state| image(&images, self.roots[state]));
        let roots = roots.collect();
        let outputs = order.iter().map(|&state| self.outputs[state]).collect();
        (arena, roots, outputs)
    }

    /// Panics unless the invariant of this module holds.
    #[cfg(test)]
    pub(crate) fn check_invariants(&self) {
        crate::mtbdd::check_invariants(&self.nodes);
        assert_eq!(self.roots.len(), self.outputs.len());

        let successors = self.successors(|_, _| true);
        let mut reached = vec![false; self.n_states()];
        let mut stack = vec![0];
        while let Some(state) = stack.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                stack.extend(successors[state].iter().map(|&next| next as usize));
            }
        }
        assert!(reached.iter().all(|&reached| reached));

        for node in &self.nodes {
            assert!((node.track as usize) < self.n_tracks);
        }

        for (state, successors) in successors.iter().enumerate() {
            let undefined = |&next: &u32| self.may_be_undefined[next as usize];
            let expected = self.outputs[state] == UNDEFINED || successors.iter().any(undefined);
            assert_eq!(self.may_be_undefined[state], expected, "state {state}");
        }
    }
}

/// Exchanges true and false, keeps undefined.
pub(crate) fn complement_output(output: u32) -> u32 {
    match output {
        FALSE => TRUE,
        TRUE => FALSE,
        other => other,
    }
}
