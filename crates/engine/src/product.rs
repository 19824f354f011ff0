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
//! | weak | disabled in the source, or taken (see `weak.rs`) | enabled set of the source, label; of justness: both states (`interference.rs`) |
//! | enabled | enabled in the source | enabled set of the source |
//! | taken | taken (strong) | label |
//! | unconditional | taken | label |
//! | control | what weak fairness needs where processes have control | as weak |
//! | automaton | its edge and letter marks | letter |
//!
//! The enabled set of a state is the union over the labels of its steps, which the search has
//! computed anyway: a condition costs one bit, not a copy of the state space.

mod checkpoint;
mod grid;
mod harvest;
mod parallel_space;
mod passing;
mod selection;
mod space;
mod symmetric;
mod tables;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AtomId, Budget, Snapshot, StopReason, bits};
use model::{Condition, ConditionKind, Subject};
use omega::{Acceptance, EdgeBuffer, Graph, NodeId, Prop};

use crate::compile::CompileError;
use crate::explore::{Stats, count_actions};
use crate::initial::{Interrupted, initial_states};
use crate::interference::Justness;
use crate::label::{Label, LabelId, LabelTable};
use crate::letters::Letters;
use crate::search::{Outcome, Query};
use crate::stubborn::{Demands, Refusal, Stubborn};
use crate::system::{Failed, Steps, System};
use crate::waiting::{Waiting, waiting_timers};
use crate::weak::WeakMarks;
use store::{StateIndex, StateStore};

pub(crate) use self::grid::{Grid, GridSpace, MAX_COPIES};
pub(crate) use self::harvest::{Harvester, Recurrence, Task};
pub(crate) use self::parallel_space::{ParallelSpace, SharedSpace};
pub(crate) use self::passing::Passing;
pub(crate) use self::space::{OwnSpace, Space};
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

impl From<Halt> for Outcome {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped(reason) => Self::Stopped(reason),
            Halt::Failed => Self::Failed,
            Halt::Pause => unreachable!("a pause is over before the search is"),
        }
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
///
/// Several products of the same system and automaton that share a space are views of one graph.
pub(crate) struct Product<'a, 'm, S> {
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
    pub(crate) space: S,
    /// For each label, the conditions (weak, strong, unconditional) whose subject takes part.
    label_subjects: Vec<u64>,
    n_labels: usize,
    /// The weak conditions of abstract timers: their bits, and when they count as enabled.
    waiting: Vec<(usize, Waiting)>,
    /// The weak conditions of justness.
    justness: Option<Justness<'m>>,
    /// Whose subjects take part in the current step.
    taken: Vec<u64>,
    n_transitions: u64,
    /// Does it go on from numbers that may be wrong?
    pub(crate) is_restored: bool,
    /// States in which some process has control.
    pub(crate) n_transient: u64,
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
    hashes: Vec<u64>,
    gauge: &'a Gauge,
    n_expansions: u64,
    bound: Option<u64>,
}

/// What the product tells those who watch the search while the search holds the product.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) snapshot: Mutex<Snapshot>,
    /// Bytes in the structures of the search outside the product.
    pub(crate) search_bytes: AtomicU64,
}

const NO_PANIC: &str = "no thread panics while it holds the snapshot";

impl Gauge {
    pub(crate) fn snapshot(&self) -> Snapshot {
        *self.snapshot.lock().expect(NO_PANIC)
    }
}

/// What is worked out before a product is explored, for all its views.
#[derive(Clone)]
pub(crate) struct Plan {
    letters: Letters,
    stubborn: Option<Stubborn>,
    refusal: Option<Refusal>,
}

impl Plan {
    /// Prepares the system, too.
    pub(crate) fn new(system: &mut System<'_>, query: &Query<'_>) -> Result<Self, CompileError> {
        let letters = Letters::new(system, query.atoms)?;
        system.translate();
        let demands = Demands {
            letters: &letters,
            conditions: query.conditions,
            strong_global: query.strong_global,
            infinite_runs: true,
        };
        let stubborn = query.reduce.then(|| Stubborn::new(system, &demands));
        let (stubborn, refusal) = match stubborn.transpose() {
            Ok(stubborn) => (stubborn, None),
            Err(refusal) => (None, Some(refusal)),
        };
        Ok(Self {
            letters,
            stubborn,
            refusal,
        })
    }

    /// Do marks of a step depend on more than its source, its label and the letter of its target?
    pub(crate) fn needs_targets(system: &System<'_>, query: &Query<'_>) -> bool {
        let is_weak = |condition: &&Condition| condition.kind == ConditionKind::Weak;
        let weak: Vec<Condition> = query.conditions.iter().filter(is_weak).cloned().collect();
        Justness::new(system, &weak).is_some()
    }

    /// Are steps left out?
    pub(crate) fn is_reduced(&self) -> bool {
        self.stubborn.is_some()
    }

    /// How many words say which atoms hold in a state.
    pub(crate) fn n_letter_words(&self) -> usize {
        self.letters.n_words
    }
}

impl<'a, 'm, S: Space> Product<'a, 'm, S> {
    /// The system must be the one of the plan, or a clone of it.
    pub(crate) fn new(
        system: &'a mut System<'m>,
        query: &Query<'_>,
        plan: Plan,
        space: S,
        (budget, gauge): (&'a Budget, &'a Gauge),
    ) -> Self {
        let &Query {
            automaton,
            conditions,
            ..
        } = query;
        let Plan {
            letters,
            stubborn,
            refusal,
        } = plan;

        // Conditions are grouped by kind, so that the marks of one kind are consecutive.
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

        // The layout of the mark words: fairness first, then what weak fairness adds, then the
        // automaton. Acceptance and edges are compiled against it.
        let sections = Sections::new(&conditions);
        let weak = WeakMarks::new(system, &conditions[0], sections.control);
        let sections = sections.followed_by(&weak, automaton.n_marks);
        let n_letter_words = letters.n_words;
        let n_subject_words = conditions.iter().map(|c| bits::words_for(c.len())).sum();
        let mut product = Self {
            acceptance: acceptance(&conditions, &weak, sections, query),
            initial: automaton.initial.iter().map(|state| state.0).collect(),
            edges: compile_edges(automaton, &letters, sections),
            letter_marks: Vec::new(),
            space,
            label_subjects: Vec::new(),
            n_labels: 0,
            waiting: waiting_timers(system, &conditions[0]),
            justness: Justness::new(system, &conditions[0]),
            taken: vec![0; n_subject_words],
            n_transitions: 0,
            is_restored: false,
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
        product
    }

    /// The state of the system that a node stands for.
    pub(crate) fn words(&self, node: NodeId) -> Vec<u64> {
        let mut words = vec![0; self.system.n_words()];
        self.space.read(self.space.pair(node).0, &mut words);
        words
    }

    /// The label of the `step`-th step of the state of `node`.
    pub(crate) fn step_label(&mut self, node: NodeId, step: u32) -> Result<&Label, Halt> {
        let mut held = self.space.hold();
        self.expand(&mut held, self.space.pair(node).0)?;
        let label = self.steps.labels.get(step as usize);
        Ok(self
            .system
            .label(label.copied().unwrap_or(LabelTable::IDLE)))
    }

    fn node(
        &mut self,
        held: &mut S::Held,
        state: StateIndex,
        automaton_state: u32,
    ) -> Result<NodeId, Halt> {
        let full = Halt::Stopped(StopReason::StateLimit);
        let node = self.space.node(held, state, automaton_state);
        node.ok_or(full)
    }

    /// Stores a state and works out which atoms hold in it.
    fn intern(&mut self, held: &mut S::Held, words: &[u64], hash: u64) -> Result<StateIndex, Halt> {
        let full = Halt::Stopped(StopReason::StateLimit);
        let (index, is_new) = self.space.insert(held, words, hash).ok_or(full)?;
        if is_new {
            self.n_transient += u64::from(self.system.is_transient(words));
            bits::clear_all(&mut self.letter);
            self.letters
                .of_state(self.system, words, &mut self.letter)?;
            self.space.set_letter(index, &self.letter);
            bits::union_into(&mut self.seen, &self.letter);
        }
        Ok(index)
    }

    /// Computes the steps of a state into `self.steps`, those that can wait left out, and what is
    /// enabled into `self.enabled`.
    fn expand(&mut self, held: &mut S::Held, state: StateIndex) -> Result<(), Halt> {
        let (n_nodes, memory) = self.spent();
        self.budget.check(n_nodes, memory).map_err(Halt::Stopped)?;
        self.n_expansions += 1;

        if self.n_expansions.is_multiple_of(1024) {
            *self.gauge.snapshot.lock().expect(NO_PANIC) = Snapshot {
                phase: "searching fair cycles",
                n_states: n_nodes,
                n_transitions: self.n_transitions,
                memory_bytes: memory,
                depth: 0,
                bound: self.bound,
                shares: None,
            };
        }

        self.space.read(state, &mut self.state);
        self.system.steps(&self.state, &mut self.steps)?;
        let steps = std::mem::take(&mut self.steps);

        // What can wait is enabled all the same.
        self.compute_enabled(&steps.labels);
        self.steps = steps;
        self.leave_out(held, state)?;

        // Beside other facts about a state there is room for so many only.
        if self.steps.len() > self.system.limits.max_steps as usize {
            return Err(Halt::Stopped(StopReason::StateLimit));
        }
        let n_steps = self.steps.len().max(1) as u32;
        if self.space.set_n_steps(state, n_steps) {
            let is_counted = !self.system.is_transient(&self.state);
            if is_counted {
                self.n_transitions += u64::from(n_steps);
            }
            let labels = std::mem::take(&mut self.steps.labels);
            self.note_labels(&labels, is_counted);
            self.steps.labels = labels;
        }

        Ok(())
    }

    /// How many nodes there are, and the bytes they occupy with what the search keeps.
    fn spent(&self) -> (u64, u64) {
        let search_bytes = self.gauge.search_bytes.load(Ordering::Relaxed);
        let n_nodes = self.space.n_nodes() as u64;
        (n_nodes, self.space.memory() + search_bytes)
    }

    fn note_labels(&mut self, labels: &[LabelId], is_counted: bool) {
        for label in labels {
            if self.labels_seen.len() <= label.index() {
                self.labels_seen.resize(label.index() + 1, false);
                self.label_counts.resize(label.index() + 1, 0);
            }
            self.label_counts[label.index()] += u64::from(is_counted);
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
        bits::clear_all(&mut self.enabled);
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
        if let Some(justness) = &mut self.justness {
            let labels = labels.iter().map(|label| self.system.label(*label));
            justness.enter(self.system, &self.state, labels, &mut self.enabled);
        }
    }

    /// Sets the marks of the fairness conditions for a step from the current state to `target`.
    fn mark_conditions(&mut self, label: LabelId, target: &[u64]) {
        let range = self.subjects(label);
        bits::assign(&mut self.taken, &self.label_subjects[range]);
        if let Some(justness) = &mut self.justness {
            let label = (label, self.system.label(label));
            justness.mark(&self.state, target, label, &mut self.taken);
        }
        let is_free = !self.weak.needs_control() || !self.system.is_transient(&self.state);
        self.combine_marks(is_free);
    }

    /// Sets the marks of the fairness conditions: what the source enables, whose subjects take part,
    /// and whether no process has control in the source.
    fn combine_marks(&mut self, is_free: bool) {
        let subjects = &self.taken;
        let Sections {
            enabled,
            taken,
            unconditional,
            control,
            ..
        } = self.sections;
        bits::clear_all(&mut self.marks);
        self.weak
            .set(&mut self.marks, &self.enabled, subjects, is_free);
        let n_weak = enabled;
        let n_strong = taken - enabled;
        let strong = n_weak..n_weak + n_strong;
        bits::assign(
            &mut self.marks[enabled..taken],
            &self.enabled[strong.clone()],
        );
        bits::assign(&mut self.marks[taken..unconditional], &subjects[strong]);
        bits::assign(
            &mut self.marks[unconditional..control],
            &subjects[n_weak + n_strong..],
        );
    }

    /// The letter of a state reached by a step with this label, into `self.letter`.
    fn compute_letter(
        &mut self,
        state: StateIndex,
        words: &[u64],
        label: LabelId,
    ) -> Result<(), Halt> {
        if !self.space.letter(state, &mut self.letter) {
            bits::clear_all(&mut self.letter);
            self.letters
                .of_state(self.system, words, &mut self.letter)?;
        }
        if self.letters.has_step_atoms() {
            let more = self.letters.of_label(self.system, label);
            bits::union_into(&mut self.letter, more);
        }
        Ok(())
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
            n_states: self.space.n_states() as u64 - self.n_transient,
            n_transitions: self.n_transitions,
            n_product_states: Some(self.space.n_nodes() as u64),
            is_partial: false,
            reduced: self.stubborn.is_some(),
            n_reduced_states: self.stubborn.as_ref().map_or(0, Stubborn::n_reduced),
            refusal: self.refusal,
            memory_bytes: self.space.memory(),
            commands_taken: self.commands_taken.clone(),
            atoms_seen,
        }
    }

    /// Explores what the automaton did not lead to, so that the counts are those of the system.
    pub(crate) fn explore_rest(&mut self) -> Result<(), Halt> {
        let mut state = 0;
        while (state as usize) < self.space.n_states() {
            self.explore_from(state)?;
            state += 1;
        }
        Ok(())
    }

    /// Were the steps of all states computed that were met?
    pub(crate) fn is_explored(&self) -> bool {
        let n_states = self.space.n_states() as StateIndex;
        (0..n_states).all(|state| self.space.n_steps(state).is_some())
    }

    /// Expands a state, unless that was done, and stores where its steps lead.
    pub(crate) fn explore_from(&mut self, state: StateIndex) -> Result<(), Halt> {
        if self.space.n_steps(state).is_some() {
            return Ok(());
        }
        let mut held = self.space.hold();
        self.expand(&mut held, state)?;
        let steps = std::mem::take(&mut self.steps);
        let mut hashes = std::mem::take(&mut self.hashes);
        self.space.hash_targets(&mut held, &steps, &mut hashes);
        for (position, hash) in hashes.iter().enumerate() {
            let target = steps.target(position, self.state.len());
            self.intern(&mut held, target, *hash)?;
        }
        (self.steps, self.hashes) = (steps, hashes);
        Ok(())
    }
}

impl<S: Space> Graph for Product<'_, '_, S> {
    type Stop = Halt;

    fn n_mark_words(&self) -> usize {
        self.sections.end
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Halt> {
        let n_words = self.system.n_words();
        let initial = initial_states(self.system, self.budget)?;
        let mut held = self.space.hold();
        for words in initial.chunks_exact(n_words) {
            let state = self.intern(&mut held, words, StateStore::hash(words))?;
            self.compute_letter(state, words, LabelTable::IDLE)?;
            for position in 0..self.initial.len() {
                let start = self.initial[position] as usize;
                for edge in 0..self.edges[start].len() {
                    if self.edges[start][edge].reads(&self.letter) {
                        let target = self.edges[start][edge].target;
                        out.push(self.node(&mut held, state, target)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Halt> {
        let n_before = out.len();
        let (state, automaton_state) = self.space.pair(node);
        let mut held = self.space.hold();
        self.expand(&mut held, state)?;

        let mut steps = std::mem::take(&mut self.steps);
        self.space.hash_targets(&mut held, &steps, &mut self.hashes);
        if steps.is_empty() {
            // A deadlocked state idles: no action, no mover, the same state.
            steps.push(&self.state, LabelTable::IDLE, 0);
            self.hashes.push(StateStore::hash(&self.state));
        }

        for position in 0..steps.len() {
            let label = steps.labels[position];
            let words = steps.target(position, self.state.len());
            let target = self.intern(&mut held, words, self.hashes[position])?;
            self.compute_letter(target, words, label)?;
            self.mark_conditions(label, words);
            self.mark_letter();
            for edge in 0..self.edges[automaton_state as usize].len() {
                let edge = &self.edges[automaton_state as usize][edge];
                if !edge.reads(&self.letter) {
                    continue;
                }
                bits::assign(&mut self.edge_marks, &self.marks);
                bits::union_into(&mut self.edge_marks[self.sections.automaton..], &edge.marks);
                let edge_target = edge.target;
                let next = self.node(&mut held, target, edge_target)?;
                out.push(next, position as u32, &self.edge_marks);
            }
        }

        self.steps = steps;
        if out.len() - n_before > self.system.limits.max_edges as usize {
            return Err(Halt::Stopped(StopReason::StateLimit));
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.space.pair(node).0
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Halt> {
        let state = self.space.pair(node).0;
        // Numbers of steps that were restored only say that the state was expanded.
        if let Some(n_steps) = self.space.n_steps(state)
            && !self.is_restored
        {
            return Ok(n_steps);
        }
        let mut held = self.space.hold();
        self.expand(&mut held, state)?;
        Ok(self.steps.len().max(1) as u32)
    }

    fn check_limits(&mut self) -> Result<(), Halt> {
        let (n_nodes, memory) = self.spent();
        self.budget.check(n_nodes, memory).map_err(Halt::Stopped)
    }

    fn out_of_numbers(&self) -> Halt {
        Halt::Stopped(StopReason::StateLimit)
    }
}

pub(crate) fn takes_part(label: &Label, subject: &Subject) -> bool {
    match subject {
        Subject::Process(instance) => label.movers.contains(instance),
        Subject::Action(action) => label.actions.contains(action),
        Subject::Choice(command) => label.commands.contains(command),
        Subject::Timer(cell) => label.timers_set.contains(&(*cell as u32)),
        // Other steps that interfere depend on states, too: see `interference.rs`.
        Subject::Team(team) => {
            label.commands.len() == team.len() && team.iter().all(|id| label.commands.contains(id))
        }
    }
}
