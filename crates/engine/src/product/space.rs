//! Where a product keeps its states and nodes: for one thread.

use base::bits;
use omega::NodeId;

use crate::system::{Limits, Steps};
use store::{StateIndex, StateStore};

use super::selection::Selection;

/// The states and nodes that a product knows. Names of both are given in order of discovery.
pub(crate) trait Space {
    /// What keeps others from changing where names are looked up.
    type Held;

    /// Keeps others from that until the value is dropped, soon.
    fn hold(&self) -> Self::Held;

    /// How many names of states are given away.
    fn n_states(&self) -> usize;

    /// Copies a state.
    fn read(&self, state: StateIndex, out: &mut [u64]);

    /// The name of a state, and whether it is new; nothing if there are no names left.
    fn insert(
        &mut self,
        held: &mut Self::Held,
        words: &[u64],
        hash: u64,
    ) -> Option<(StateIndex, bool)>;

    /// Hashes the targets of steps, and asks the processor for their places.
    fn hash_targets(&mut self, held: &mut Self::Held, steps: &Steps, hashes: &mut Vec<u64>);

    /// Which atoms hold in a state that is new.
    fn set_letter(&mut self, state: StateIndex, letter: &[u64]);

    /// Copies which atoms hold in a state. False if that is not known yet.
    fn letter(&self, state: StateIndex, out: &mut [u64]) -> bool;

    /// How many steps a state has, if it was expanded.
    fn n_steps(&self, state: StateIndex) -> Option<u32>;

    /// A state was expanded. Says whether for the first time.
    fn set_n_steps(&mut self, state: StateIndex, n_steps: u32) -> bool;

    /// What was decided about the steps of a state. If nothing was, no other thread decides before
    /// [`Space::set_selection`] is called, and from now on [`Space::is_decided`] holds.
    fn begin_selection(&mut self, held: &mut Self::Held, state: StateIndex) -> Selection;

    /// Decides about the steps of a state.
    fn set_selection(&mut self, state: StateIndex, selection: Selection);

    /// Was it decided about the steps of a state, or is it about to be?
    fn is_decided(&self, state: StateIndex) -> bool;

    /// The node of a state and an automaton state; nothing if there are no names left.
    fn node(
        &mut self,
        held: &mut Self::Held,
        state: StateIndex,
        automaton_state: u32,
    ) -> Option<NodeId>;

    /// The state and the automaton state of a node.
    fn pair(&self, node: NodeId) -> (StateIndex, u32);

    /// How many names of nodes are given away.
    fn n_nodes(&self) -> usize;

    /// The bytes in use, perhaps a little while ago.
    fn memory(&self) -> u64;
}

/// Pairs of a state and an automaton state, named in order of discovery. With a single automaton
/// state no table is needed: the name of the state is the name of the node.
pub(super) enum Nodes {
    Identity,
    Pairs(Box<StateStore>),
}

impl Nodes {
    pub(super) fn new(n_automaton_states: usize, limits: Limits) -> Self {
        match n_automaton_states {
            1 => Self::Identity,
            _ => Self::Pairs(Box::new(StateStore::limited(1, limits.max_name_bits))),
        }
    }

    pub(super) fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        match self {
            Self::Identity => (node.0, 0),
            Self::Pairs(pairs) => {
                let mut pair = [0];
                pairs.read(node.0, &mut pair);
                (pair[0] as u32, (pair[0] >> 32) as u32)
            }
        }
    }

    pub(super) fn len(&self, n_states: usize) -> usize {
        match self {
            Self::Identity => n_states,
            Self::Pairs(pairs) => pairs.len(),
        }
    }

    pub(super) fn memory(&self) -> u64 {
        match self {
            Self::Identity => 0,
            Self::Pairs(pairs) => pairs.memory(),
        }
    }
}

/// The word that stands for a pair.
pub(super) fn pair_word(state: StateIndex, automaton_state: u32) -> [u64; 1] {
    [u64::from(automaton_state) << 32 | u64::from(state)]
}

/// What one thread keeps for itself.
pub(crate) struct OwnSpace {
    pub(super) store: StateStore,
    n_letter_words: usize,
    state_letters: Vec<u64>,
    /// Steps of each state, or `UNEXPANDED`.
    pub(super) n_steps: Vec<u32>,
    pub(super) nodes: Nodes,
    /// What was decided for each state of a reduced search.
    pub(super) selections: Vec<Selection>,
}

pub(super) const UNEXPANDED: u32 = u32::MAX;

impl OwnSpace {
    /// For states of so many words, with numbers for so much.
    pub(crate) fn new(
        (n_words, limits): (usize, Limits),
        n_letter_words: usize,
        n_automaton_states: usize,
    ) -> Self {
        Self {
            store: StateStore::limited(n_words, limits.max_name_bits),
            n_letter_words,
            state_letters: Vec::new(),
            n_steps: Vec::new(),
            nodes: Nodes::new(n_automaton_states, limits),
            selections: Vec::new(),
        }
    }
}

impl Space for OwnSpace {
    type Held = ();

    fn hold(&self) {}

    fn n_states(&self) -> usize {
        self.store.len()
    }

    fn read(&self, state: StateIndex, out: &mut [u64]) {
        self.store.read(state, out);
    }

    fn insert(&mut self, (): &mut (), words: &[u64], hash: u64) -> Option<(StateIndex, bool)> {
        let inserted = self.store.insert(words, hash)?;
        if inserted.1 {
            self.n_steps.push(UNEXPANDED);
            let len = self.state_letters.len() + self.n_letter_words;
            self.state_letters.resize(len, 0);
        }
        Some(inserted)
    }

    fn hash_targets(&mut self, (): &mut (), steps: &Steps, hashes: &mut Vec<u64>) {
        steps.hash_targets(hashes, self.store.table_mut());
    }

    fn set_letter(&mut self, state: StateIndex, letter: &[u64]) {
        let start = state as usize * self.n_letter_words;
        bits::union_into(&mut self.state_letters[start..], letter);
    }

    fn letter(&self, state: StateIndex, out: &mut [u64]) -> bool {
        let start = state as usize * self.n_letter_words;
        bits::assign(out, &self.state_letters[start..][..self.n_letter_words]);
        true
    }

    fn n_steps(&self, state: StateIndex) -> Option<u32> {
        let n_steps = self.n_steps[state as usize];
        (n_steps != UNEXPANDED).then_some(n_steps)
    }

    fn set_n_steps(&mut self, state: StateIndex, n_steps: u32) -> bool {
        let stored = &mut self.n_steps[state as usize];
        let is_first = *stored == UNEXPANDED;
        *stored = n_steps;
        is_first
    }

    fn begin_selection(&mut self, (): &mut (), state: StateIndex) -> Selection {
        self.selections
            .resize(self.store.len(), Selection::Undecided);
        self.selections[state as usize]
    }

    fn set_selection(&mut self, state: StateIndex, selection: Selection) {
        self.selections[state as usize] = selection;
    }

    fn is_decided(&self, state: StateIndex) -> bool {
        self.n_steps[state as usize] != UNEXPANDED
    }

    fn node(&mut self, (): &mut (), state: StateIndex, automaton_state: u32) -> Option<NodeId> {
        match &mut self.nodes {
            Nodes::Identity => Some(NodeId(state)),
            Nodes::Pairs(pairs) => {
                let pair = pair_word(state, automaton_state);
                let (node, _) = pairs.insert(&pair, StateStore::hash(&pair))?;
                Some(NodeId(node))
            }
        }
    }

    fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        self.nodes.pair(node)
    }

    fn n_nodes(&self) -> usize {
        self.nodes.len(self.store.len())
    }

    fn memory(&self) -> u64 {
        let letters = self.state_letters.capacity() as u64 * 8;
        let per_state = self.n_steps.capacity() as u64 * 4 + self.selections.capacity() as u64;
        self.store.memory() + self.nodes.memory() + letters + per_state
    }
}
