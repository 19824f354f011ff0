//! The product of a system and an automaton, with the marks of all fairness conditions.
//!
//! A node is a system state together with an automaton state that has already read the letter of
//! that state. A step of the system to a state `t` with label `a` reads the letter of `(t, a)`.
//!
//! Marks of an edge, section by section (every section starts at a word of its own, so that whole
//! words are combined):
//!
//! | section | marks | computed from |
//! | --- | --- | --- |
//! | weak | disabled in the source, or taken (see `weak.rs`) | enabled set of the source, label |
//! | enabled | enabled in the source | enabled set of the source |
//! | taken | taken (strong) | label |
//! | unconditional | taken | label |
//! | control | what weak fairness needs where processes have control | as weak |
//! | automaton | its edge and letter marks | letter |
//!
//! The enabled set of a state is the union over the labels of its steps, which the search has
//! computed anyway: a condition costs one bit, not a copy of the state space.

mod checkpoint;
mod selection;
mod tables;

use std::cell::Cell;

use base::{AtomId, Budget, Snapshot, StopReason, bits};
use model::{Condition, ConditionKind, Subject};
use omega::{Acceptance, EdgeBuffer, Graph, NodeId, Prop};

use crate::compile::CompileError;
use crate::explore::{Stats, count_actions};
use crate::initial::{Interrupted, initial_states};
use crate::label::{Label, LabelId, LabelTable};
use crate::letters::Letters;
use crate::search::Query;
use crate::store::{StateIndex, StateStore};
use crate::stubborn::{Demands, Refusal, Stubborn};
use crate::system::{Failed, Steps, System};
use crate::waiting::{Waiting, waiting_timers};
use crate::weak::WeakMarks;

use self::selection::Selection;
use self::tables::{acceptance, compile_edges};

/// Why the exploration of a product ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    Stopped(StopReason),
    /// A run-time error of the model.
    Failed,
    /// Only to keep what has been done so far.
    Pause,
}

impl From<Interrupted> for Halt {
    fn from(interrupted: Interrupted) -> Self {
        match interrupted {
            Interrupted::Stopped(reason) => Self::Stopped(reason),
            Interrupted::Failed => Self::Failed,
        }
    }
}

impl From<Failed> for Halt {
    fn from(_: Failed) -> Self {
        Self::Failed
    }
}

/// Where the sections of a mark set begin, in words.
#[derive(Clone, Copy, Debug)]
struct Sections {
    enabled: usize,
    taken: usize,
    unconditional: usize,
    control: usize,
    automaton: usize,
    end: usize,
}

/// An automaton edge over letter words.
#[derive(Clone, Debug)]
struct CompiledEdge {
    care: Vec<u64>,
    value: Vec<u64>,
    marks: Vec<u64>,
    target: u32,
}

/// The product of a system and an automaton.
pub(crate) struct Product<'a, 'm> {
    pub(crate) system: &'a mut System<'m>,
    letters: Letters,
    budget: &'a Budget,
    sections: Sections,
    conditions: Vec<Vec<Condition>>,
    weak: WeakMarks,
    pub(crate) acceptance: Acceptance,
    initial: Vec<u32>,
    edges: Vec<Vec<CompiledEdge>>,
    letter_marks: Vec<(usize, Prop)>,
    store: StateStore,
    state_letters: Vec<u64>,
    /// Steps of each state, or `UNEXPANDED`.
    n_steps: Vec<u32>,
    nodes: Nodes,
    /// For each label, the conditions (weak, strong, unconditional) whose subject takes part.
    label_subjects: Vec<u64>,
    n_labels: usize,
    /// The weak conditions of abstract timers: their bits, and when they count as enabled.
    waiting: Vec<(usize, Waiting)>,
    n_transitions: u64,
    /// States in which some process has control.
    n_transient: u64,
    commands_taken: Vec<bool>,
    labels_seen: Vec<bool>,
    label_counts: Vec<u64>,
    seen: Vec<u64>,
    steps: Steps,
    state: Vec<u64>,
    letter: Vec<u64>,
    marks: Vec<u64>,
    edge_marks: Vec<u64>,
    enabled: Vec<u64>,
    stubborn: Option<Stubborn>,
    refusal: Option<Refusal>,
    /// What was decided for each state of a reduced search.
    selections: Vec<Selection>,
    hashes: Vec<u64>,
    gauge: &'a Gauge,
    n_expansions: u64,
    bound: Option<u64>,
}

/// What the product tells those who watch the search while the search holds the product.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) snapshot: Cell<Snapshot>,
    /// Bytes in the structures of the search outside the product.
    pub(crate) search_bytes: Cell<u64>,
}

const UNEXPANDED: u32 = u32::MAX;

/// Pairs of a state and an automaton state, named in order of discovery. With a single automaton
/// state no table is needed: the name of the state is the name of the node.
enum Nodes {
    Identity,
    Pairs(Box<StateStore>),
}

impl<'a, 'm> Product<'a, 'm> {
    pub(crate) fn new(
        system: &'a mut System<'m>,
        query: &Query<'_>,
        budget: &'a Budget,
        gauge: &'a Gauge,
    ) -> Result<Self, CompileError> {
        let &Query {
            automaton,
            conditions,
            ..
        } = query;
        let letters = Letters::new(system, query.atoms)?;
        system.translate();
        let demands = Demands {
            letters: &letters,
            conditions,
            strong_global: query.strong_global,
            infinite_runs: true,
        };
        let stubborn = query.reduce.then(|| Stubborn::new(system, &demands));
        let (stubborn, refusal) = match stubborn.transpose() {
            Ok(stubborn) => (stubborn, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let of_kind = |kind| {
            let fits = |condition: &&Condition| condition.kind == kind;
            conditions.iter().filter(fits).cloned().collect::<Vec<_>>()
        };
        let conditions: Vec<Vec<Condition>> = [
            ConditionKind::Weak,
            ConditionKind::Strong,
            ConditionKind::Unconditional,
        ]
        .map(of_kind)
        .into();
        let sections = Sections::new(&conditions);
        let weak = WeakMarks::new(system, &conditions[0], sections.control);
        let sections = sections.followed_by(&weak, automaton.n_marks);
        let n_letter_words = letters.n_words;
        let n_subject_words = conditions.iter().map(|c| bits::words_for(c.len())).sum();
        let mut product = Self {
            acceptance: acceptance(&conditions, &weak, sections, automaton),
            initial: automaton.initial.iter().map(|state| state.0).collect(),
            edges: compile_edges(automaton, &letters, sections),
            letter_marks: Vec::new(),
            store: StateStore::new(system.n_words()),
            state_letters: Vec::new(),
            n_steps: Vec::new(),
            nodes: if automaton.n_states() == 1 {
                Nodes::Identity
            } else {
                Nodes::Pairs(Box::new(StateStore::new(1)))
            },
            label_subjects: Vec::new(),
            n_labels: 0,
            waiting: waiting_timers(system, &conditions[0]),
            n_transitions: 0,
            n_transient: 0,
            commands_taken: vec![false; system.model().commands().len()],
            labels_seen: Vec::new(),
            label_counts: Vec::new(),
            seen: vec![0; n_letter_words],
            steps: Steps::default(),
            state: vec![0; system.n_words()],
            letter: vec![0; n_letter_words],
            marks: vec![0; sections.end],
            edge_marks: vec![0; sections.end],
            enabled: vec![0; n_subject_words],
            stubborn,
            refusal,
            selections: Vec::new(),
            hashes: Vec::new(),
            gauge,
            n_expansions: 0,
            bound: system
                .state_bound()
                .and_then(|n| n.checked_mul(automaton.n_states() as u64)),
            system,
            letters,
            budget,
            sections,
            conditions,
            weak,
        };
        product.letter_marks = automaton
            .letter_marks
            .iter()
            .map(|letter_mark| {
                let bit = sections.automaton * 64 + letter_mark.mark.index();
                (bit, letter_mark.when.clone())
            })
            .collect();
        Ok(product)
    }

    /// The state of the system that a node stands for.
    pub(crate) fn words(&self, node: NodeId) -> Vec<u64> {
        self.store.get(self.pair(node).0)
    }

    /// The label of the `step`-th step of the state of `node`.
    pub(crate) fn step_label(&mut self, node: NodeId, step: u32) -> Result<&Label, Halt> {
        self.expand(self.pair(node).0)?;
        let label = self.steps.labels.get(step as usize);
        Ok(self
            .system
            .label(label.copied().unwrap_or(LabelTable::IDLE)))
    }

    /// The system state and automaton state of a node.
    fn pair(&self, node: NodeId) -> (StateIndex, u32) {
        match &self.nodes {
            Nodes::Identity => (node.0, 0),
            Nodes::Pairs(pairs) => {
                let mut pair = [0];
                pairs.read(node.0, &mut pair);
                (pair[0] as u32, (pair[0] >> 32) as u32)
            }
        }
    }

    fn node(&mut self, state: StateIndex, automaton_state: u32) -> Result<NodeId, Halt> {
        match &mut self.nodes {
            Nodes::Identity => Ok(NodeId(state)),
            Nodes::Pairs(pairs) => {
                let pair = [u64::from(automaton_state) << 32 | u64::from(state)];
                let full = Halt::Stopped(StopReason::StateLimit);
                let (node, _) = pairs.insert(&pair, StateStore::hash(&pair)).ok_or(full)?;
                Ok(NodeId(node))
            }
        }
    }

    fn n_nodes(&self) -> usize {
        match &self.nodes {
            Nodes::Identity => self.store.len(),
            Nodes::Pairs(pairs) => pairs.len(),
        }
    }

    fn memory(&self) -> u64 {
        let pairs = match &self.nodes {
            Nodes::Identity => 0,
            Nodes::Pairs(pairs) => pairs.memory(),
        };
        let letters = self.state_letters.capacity() as u64 * 8;
        let per_state = self.n_steps.capacity() as u64 * 4 + self.selections.capacity() as u64;
        self.store.memory() + pairs + letters + per_state
    }

    /// Stores a state and works out which atoms hold in it.
    fn intern(&mut self, words: &[u64], hash: u64) -> Result<StateIndex, Halt> {
        let full = Halt::Stopped(StopReason::StateLimit);
        let (index, is_new) = self.store.insert(words, hash).ok_or(full)?;
        if is_new {
            self.n_transient += u64::from(self.system.is_transient(words));
            let start = self.state_letters.len();
            self.state_letters.resize(start + self.letters.n_words, 0);
            let letter = &mut self.state_letters[start..];
            self.letters.of_state(self.system, words, letter)?;
            bits::union_into(&mut self.seen, letter);
            self.n_steps.push(UNEXPANDED);
        }
        Ok(index)
    }

    /// Computes the steps of a state into `self.steps`, those that can wait left out, and what is
    /// enabled into `self.enabled`.
    fn expand(&mut self, state: StateIndex) -> Result<(), Halt> {
        let memory = self.memory() + self.gauge.search_bytes.get();
        self.budget
            .check(self.n_nodes() as u64, memory)
            .map_err(Halt::Stopped)?;
        self.n_expansions += 1;
        if self.n_expansions.is_multiple_of(1024) {
            self.gauge.snapshot.set(Snapshot {
                phase: "searching fair cycles",
                n_states: self.n_nodes() as u64,
                n_transitions: self.n_transitions,
                memory_bytes: memory,
                depth: 0,
                bound: self.bound,
            });
        }
        self.store.read(state, &mut self.state);
        self.system.steps(&self.state, &mut self.steps)?;
        let steps = std::mem::take(&mut self.steps);
        // What can wait is enabled all the same.
        self.compute_enabled(&steps.labels);
        self.steps = steps;
        self.leave_out(state)?;
        let n_steps = self.steps.len().max(1) as u32;
        if self.n_steps[state as usize] == UNEXPANDED {
            self.n_steps[state as usize] = n_steps;
            self.n_transitions += u64::from(n_steps);
            self.note_labels();
        }
        Ok(())
    }

    fn note_labels(&mut self) {
        for label in &self.steps.labels {
            if self.labels_seen.len() <= label.index() {
                self.labels_seen.resize(label.index() + 1, false);
                self.label_counts.resize(label.index() + 1, 0);
            }
            self.label_counts[label.index()] += 1;
            if !std::mem::replace(&mut self.labels_seen[label.index()], true) {
                for command in &self.system.labels.get(*label).commands {
                    self.commands_taken[command.index()] = true;
                }
                let letter = self.letters.of_label(self.system, *label);
                bits::union_into(&mut self.seen, letter);
            }
        }
    }

    /// The bits of the conditions whose subject takes part in steps with this label: words for the
    /// weak, strong and unconditional conditions in this order.
    fn subjects(&mut self, label: LabelId) -> std::ops::Range<usize> {
        let n_words = self.subject_words();
        while self.n_labels <= label.index() {
            let next = LabelId::new(self.n_labels);
            let start = self.label_subjects.len();
            self.label_subjects.resize(start + n_words, 0);
            let mut word = start;
            for section in &self.conditions {
                let n_section = bits::words_for(section.len());
                let bitset = &mut self.label_subjects[word..word + n_section];
                for (bit, condition) in section.iter().enumerate() {
                    if takes_part(self.system.label(next), &condition.subject) {
                        bits::set(bitset, bit);
                    }
                }
                word += n_section;
            }
            self.n_labels += 1;
        }
        let start = label.index() * n_words;
        start..start + n_words
    }

    fn subject_words(&self) -> usize {
        self.conditions
            .iter()
            .map(|section| bits::words_for(section.len()))
            .sum()
    }

    /// The union of the subjects of all steps: what is enabled.
    fn compute_enabled(&mut self, labels: &[LabelId]) {
        self.enabled.fill(0);
        for label in labels {
            let range = self.subjects(*label);
            bits::union_into(&mut self.enabled, &self.label_subjects[range]);
        }
        // A timer counts as enabled by its value, not by steps that can set it.
        for (bit, waiting) in &self.waiting {
            if waiting.holds(&self.state) {
                bits::set(&mut self.enabled, *bit);
            } else {
                bits::clear(&mut self.enabled, *bit);
            }
        }
    }

    /// Sets the marks of the fairness conditions for a step from the current state.
    fn mark_conditions(&mut self, label: LabelId) {
        let range = self.subjects(label);
        let subjects = &self.label_subjects[range];
        let Sections {
            enabled,
            taken,
            unconditional,
            control,
            ..
        } = self.sections;
        self.marks.fill(0);
        let is_free = !self.weak.needs_control() || !self.system.is_transient(&self.state);
        self.weak
            .set(&mut self.marks, &self.enabled, subjects, is_free);
        let n_weak = enabled;
        let n_strong = taken - enabled;
        self.marks[enabled..taken].copy_from_slice(&self.enabled[n_weak..n_weak + n_strong]);
        self.marks[taken..unconditional].copy_from_slice(&subjects[n_weak..n_weak + n_strong]);
        self.marks[unconditional..control].copy_from_slice(&subjects[n_weak + n_strong..]);
    }

    /// The letter of a state reached by a step with this label, into `self.letter`.
    fn compute_letter(&mut self, state: StateIndex, label: LabelId) {
        let n_words = self.letters.n_words;
        let stored = &self.state_letters[state as usize * n_words..][..n_words];
        self.letter.copy_from_slice(stored);
        if self.letters.has_step_atoms() {
            let more = self.letters.of_label(self.system, label);
            bits::union_into(&mut self.letter, more);
        }
    }

    fn mark_letter(&mut self) {
        for (bit, when) in &self.letter_marks {
            let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
            if when.holds(&holds) {
                bits::set(&mut self.marks, *bit);
            }
        }
    }

    /// What the search has seen so far.
    pub(crate) fn stats(&self, atoms: &[AtomId]) -> Stats {
        let mut atoms_seen = vec![false; self.system.model().parts().atoms.len()];
        for atom in atoms {
            atoms_seen[atom.index()] = bits::get(&self.seen, self.letters.bit(*atom));
        }
        let mut action_counts = vec![0; self.system.model().actions().len()];
        count_actions(self.system, &self.label_counts, &mut action_counts);
        Stats {
            action_counts,
            n_states: self.store.len() as u64 - self.n_transient,
            n_transitions: self.n_transitions,
            n_product_states: Some(self.n_nodes() as u64),
            reduced: self.stubborn.is_some(),
            refusal: self.refusal,
            memory_bytes: self.memory(),
            commands_taken: self.commands_taken.clone(),
            atoms_seen,
        }
    }

    /// Explores what the automaton did not lead to, so that the counts are those of the system.
    pub(crate) fn explore_rest(&mut self) -> Result<(), Halt> {
        let mut state = 0;
        while (state as usize) < self.store.len() {
            if self.n_steps[state as usize] == UNEXPANDED {
                self.expand(state)?;
                let steps = std::mem::take(&mut self.steps);
                for position in 0..steps.len() {
                    let target = steps.target(position, self.state.len());
                    self.intern(target, StateStore::hash(target))?;
                }
                self.steps = steps;
            }
            state += 1;
        }
        Ok(())
    }
}

impl Graph for Product<'_, '_> {
    type Stop = Halt;

    fn n_mark_words(&self) -> usize {
        self.sections.end
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Halt> {
        let n_words = self.system.n_words();
        let initial = initial_states(self.system, self.budget)?;
        for words in initial.chunks_exact(n_words) {
            let state = self.intern(words, StateStore::hash(words))?;
            self.compute_letter(state, LabelTable::IDLE);
            for position in 0..self.initial.len() {
                let start = self.initial[position] as usize;
                for edge in 0..self.edges[start].len() {
                    if self.edges[start][edge].reads(&self.letter) {
                        let target = self.edges[start][edge].target;
                        out.push(self.node(state, target)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Halt> {
        let (state, automaton_state) = self.pair(node);
        self.expand(state)?;
        let steps = std::mem::take(&mut self.steps);
        steps.hash_targets(&mut self.hashes, self.store.table_mut());
        for position in 0..steps.len().max(1) {
            // A deadlocked state idles: no action, no mover, the same state.
            let (label, target) = if steps.is_empty() {
                (LabelTable::IDLE, state)
            } else {
                let words = steps.target(position, self.state.len());
                let target = self.intern(words, self.hashes[position])?;
                (steps.labels[position], target)
            };
            self.compute_letter(target, label);
            self.mark_conditions(label);
            self.mark_letter();
            for edge in 0..self.edges[automaton_state as usize].len() {
                let edge = &self.edges[automaton_state as usize][edge];
                if !edge.reads(&self.letter) {
                    continue;
                }
                self.edge_marks.copy_from_slice(&self.marks);
                bits::union_into(&mut self.edge_marks[self.sections.automaton..], &edge.marks);
                let next = self.node(target, edge.target)?;
                out.push(next, position as u32, &self.edge_marks);
            }
        }
        self.steps = steps;
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.pair(node).0
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Halt> {
        let state = self.pair(node).0;
        if self.n_steps[state as usize] == UNEXPANDED {
            self.expand(state)?;
        }
        Ok(self.n_steps[state as usize])
    }
}

pub(crate) fn takes_part(label: &Label, subject: &Subject) -> bool {
    match subject {
        Subject::Process(instance) => label.movers.contains(instance),
        Subject::Action(action) => label.actions.contains(action),
        Subject::Choice(command) => label.commands.contains(command),
        Subject::Timer(cell) => label.timers_set.contains(&(*cell as u32)),
    }
}
