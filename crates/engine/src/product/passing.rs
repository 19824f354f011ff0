//! A product that keeps nothing: a search on sets has its states elsewhere.

use base::{AtomId, bits};
use omega::{NodeId, Prop};
use sets::{Meter, Remark, Successors};

use std::sync::atomic::Ordering;

use crate::initial::initial_states;
use crate::label::LabelTable;
use crate::system::Steps;
use store::StateIndex;

use super::selection::Selection;
use super::space::Space;
use super::{Halt, Product};

/// A state and the targets of its steps, until the next state is looked at.
pub(crate) struct Passing<'a> {
    n_words: usize,
    n_letter_words: usize,
    words: Vec<u64>,
    letters: Vec<u64>,
    /// Is the state met for the first time?
    is_new: bool,
    /// What the search has stored elsewhere.
    meter: &'a Meter,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(n_words: usize, n_letter_words: usize, meter: &'a Meter) -> Self {
        Self {
            n_words,
            n_letter_words,
            words: Vec::new(),
            letters: Vec::new(),
            is_new: false,
            meter,
        }
    }

    fn clear(&mut self) {
        self.words.clear();
        self.letters.clear();
    }

    /// The name of a state that is appended.
    fn append(&mut self, words: &[u64]) -> StateIndex {
        let name = self.words.len() / self.n_words;
        self.words.extend_from_slice(words);
        self.letters.resize((name + 1) * self.n_letter_words, 0);
        name as StateIndex
    }
}

impl Space for Passing<'_> {
    type Held = ();

    fn hold(&self) {}

    fn n_states(&self) -> usize {
        self.words.len() / self.n_words
    }

    fn read(&self, state: StateIndex, out: &mut [u64]) {
        out.copy_from_slice(&self.words[state as usize * self.n_words..][..self.n_words]);
    }

    fn insert(&mut self, (): &mut (), words: &[u64], _: u64) -> Option<(StateIndex, bool)> {
        Some((self.append(words), true))
    }

    fn hash_targets(&mut self, (): &mut (), steps: &Steps, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.resize(steps.len(), 0);
    }

    fn set_letter(&mut self, state: StateIndex, letter: &[u64]) {
        let start = state as usize * self.n_letter_words;
        self.letters[start..][..self.n_letter_words].copy_from_slice(letter);
    }

    fn letter(&self, state: StateIndex, out: &mut [u64]) -> bool {
        let start = state as usize * self.n_letter_words;
        out.copy_from_slice(&self.letters[start..][..self.n_letter_words]);
        true
    }

    fn n_steps(&self, _: StateIndex) -> Option<u32> {
        None
    }

    fn set_n_steps(&mut self, _: StateIndex, _: u32) -> bool {
        self.is_new
    }

    // All steps of all states are taken.

    fn begin_selection(&mut self, (): &mut (), _: StateIndex) -> Selection {
        Selection::All
    }

    fn set_selection(&mut self, _: StateIndex, _: Selection) {}

    fn is_decided(&self, _: StateIndex) -> bool {
        false
    }

    fn node(&mut self, (): &mut (), state: StateIndex, _: u32) -> Option<NodeId> {
        Some(NodeId(state))
    }

    fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        (node.0, 0)
    }

    fn n_nodes(&self) -> usize {
        self.meter.n_states.load(Ordering::Relaxed) as usize
    }

    fn memory(&self) -> u64 {
        self.meter.memory.load(Ordering::Relaxed)
    }
}

/// A run-time error is something to be remarked, not a reason to stop.
fn or_failed<T>(result: Result<T, Halt>) -> Result<Option<T>, Halt> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Halt::Failed) => Ok(None),
        Err(halt) => Err(halt),
    }
}

const FAILED: Remark = Remark {
    step: None,
    is_goal: false,
};

impl Product<'_, '_, Passing<'_>> {
    /// Has the state that was looked at last no steps of its own?
    pub(crate) fn is_deadlocked(&self) -> bool {
        self.steps.labels == [LabelTable::IDLE]
    }

    /// How many states the automaton has.
    pub(crate) fn n_copies(&self) -> usize {
        self.edges.len()
    }

    /// The initial states, with the automaton states that have read them.
    pub(crate) fn pass_initial(
        &mut self,
        goal: Option<&Prop>,
        out: &mut Successors,
    ) -> Result<(), Halt> {
        let n_words = self.system.n_words();
        let Some(initial) =
            or_failed(initial_states(self.system, self.budget).map_err(Halt::from))?
        else {
            out.remark = Some(FAILED);
            return Ok(());
        };
        for words in initial.chunks_exact(n_words) {
            self.space.clear();
            let step = out.push_step(words);
            let looked = self.look_at(words, LabelTable::IDLE);
            if !self.is_worth_going_on(or_failed(looked)?.is_none(), goal, Some(step), out) {
                return Ok(());
            }
            for &start in &self.initial {
                for edge in &self.edges[start as usize] {
                    if edge.reads(&self.letter) {
                        out.push_edge(0, edge.target, &self.edge_marks);
                    }
                }
            }
        }
        Ok(())
    }

    /// The steps of a state, with the edges of the automaton states that are wanted.
    pub(crate) fn pass(
        &mut self,
        (words, is_new): (&[u64], bool),
        wanted: &dyn Fn(usize) -> bool,
        goal: Option<&Prop>,
        out: &mut Successors,
    ) -> Result<(), Halt> {
        self.space.clear();
        self.space.is_new = is_new;
        let state = self.space.append(words);
        if or_failed(self.expand(&mut (), state))?.is_none() {
            out.remark = Some(FAILED);
            return Ok(());
        }
        let mut steps = std::mem::take(&mut self.steps);
        if steps.is_empty() {
            // A deadlocked state idles: no action, no mover, the same state.
            steps.push(&self.state, LabelTable::IDLE, 0);
        }

        let copies: Vec<usize> = (0..self.n_copies()).filter(|copy| wanted(*copy)).collect();
        for position in 0..steps.len() {
            let label = steps.labels[position];
            let target = steps.target(position, words.len());
            let step = out.push_step(target);
            let looked = self.look_at(target, label);
            if !self.is_worth_going_on(or_failed(looked)?.is_none(), goal, Some(step), out) {
                break;
            }
            if copies.is_empty() {
                continue;
            }
            self.mark_conditions(label, target);
            self.mark_letter();
            for &copy in &copies {
                for edge in &self.edges[copy] {
                    if edge.reads(&self.letter) {
                        self.edge_marks.copy_from_slice(&self.marks);
                        let own = &mut self.edge_marks[self.sections.automaton..];
                        bits::union_into(own, &edge.marks);
                        out.push_edge(copy as u32, edge.target, &self.edge_marks);
                    }
                }
            }
        }
        self.steps = steps;
        Ok(())
    }

    /// Does what is looked for speak of steps?
    pub(crate) fn reads_steps(&self) -> bool {
        self.letters.has_step_atoms()
    }

    /// The steps of a state in an exploration without conditions that does not speak of steps: what is
    /// looked for is looked for in the state itself, so once for each state and not for each step.
    pub(crate) fn pass_state(
        &mut self,
        (words, is_new): (&[u64], bool),
        goal: Option<&Prop>,
        out: &mut Successors,
    ) -> Result<(), Halt> {
        self.space.clear();
        self.space.is_new = is_new;
        let has_failed = or_failed(self.look_at(words, LabelTable::IDLE))?.is_none();
        if !self.is_worth_going_on(has_failed, goal, None, out) {
            return Ok(());
        }
        if or_failed(self.expand(&mut (), 0))?.is_none() {
            out.remark = Some(FAILED);
            return Ok(());
        }

        if self.steps.is_empty() {
            self.steps.push(words, LabelTable::IDLE, 0);
        }
        for position in 0..self.steps.len() {
            out.push_step(self.steps.target(position, words.len()));
        }
        Ok(())
    }

    /// Works out the letter of a position.
    fn look_at(&mut self, words: &[u64], label: crate::label::LabelId) -> Result<(), Halt> {
        let n_transient = self.n_transient;
        let state = self.intern(&mut (), words, 0);
        // States are counted when they are met for the first time.
        self.n_transient = n_transient;
        self.compute_letter(state?, words, label)
    }

    /// Remarks a run-time error or the goal; else the search goes on.
    fn is_worth_going_on(
        &self,
        has_failed: bool,
        goal: Option<&Prop>,
        step: Option<u32>,
        out: &mut Successors,
    ) -> bool {
        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        let is_goal = !has_failed && goal.is_some_and(|goal| goal.holds(&holds));
        if has_failed || is_goal {
            out.remark = Some(Remark { step, is_goal });
        }
        !has_failed && !is_goal
    }
}
