//! The whole state graph in memory, for questions about every state.
//!
//! A *node* is a position of a run: a state together with those step propositions of interest that
//! hold on entering it. Without step propositions nodes are states. Two nodes of one state have the
//! same steps, so these are stored once for each state: 8 bytes a step.
//!
//! The marks of a step are not stored. They follow from the enabled set of its source and from its
//! label, in the sections of `product.rs`: weak, enabled and taken (strong), unconditional,
//! control.

use base::{AtomId, Budget, Progress, Snapshot, StopReason, bits};
use evidence::TraceStep;
use model::{Condition, ConditionKind, State};
use omega::{Acceptance, MarkId};
use rustc_hash::FxHashMap;

use crate::compile::CompileError;
use crate::explore::{Stats, trace_step};
use crate::interference::Justness;
use crate::label::{LabelId, LabelTable};
use crate::letters::Letters;
use crate::product::takes_part;
use crate::system::{Failed, Steps, System};
use crate::waiting::{Waiting, waiting_timers};
use crate::weak::WeakMarks;
use store::{StateIndex, StateStore};

/// The state graph of a system. Nodes are numbered from 0, the initial ones first.
pub struct StateGraph {
    store: StateStore,
    /// The state of each node; empty if nodes are states.
    state_of: Vec<StateIndex>,
    n_initial: usize,
    n_letter_words: usize,
    letters: Vec<u64>,
    bit_by_atom: FxHashMap<AtomId, usize>,
    /// The steps of state `s` are `first_step[s]..first_step[s + 1]`.
    first_step: Vec<usize>,
    targets: Vec<u32>,
    labels: Vec<LabelId>,
    marks: Marks,
}

/// What the marks of steps are computed from.
struct Marks {
    /// The conditions of each kind (weak, strong, unconditional), as positions among all.
    positions: [Vec<usize>; 3],
    /// For each label, whose subjects take part: words for the three kinds in this order.
    label_subjects: Vec<u64>,
    /// For each state, whose subjects are enabled.
    enabled: Vec<u64>,
    n_subject_words: usize,
    weak: WeakMarks,
    /// The states in which no process has control, if that matters.
    free: Vec<u64>,
    /// Under justness, whose subjects take part in each step, by the words of weak conditions.
    interfered: Vec<u64>,
}

/// What became of an attempt to build a state graph.
pub enum Built {
    /// The whole graph.
    Graph(Box<StateGraph>),
    /// The model has a run-time error in some reachable state; [`crate::explore`] finds the way.
    Failed,
    /// The construction was stopped.
    Stopped(StopReason),
}

/// Explores everything. The atoms are evaluated everywhere; the conditions become marks.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn state_graph(
    system: &mut System<'_>,
    conditions: &[Condition],
    atoms: &[AtomId],
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Built, Stats), CompileError> {
    let letters = Letters::new(system, atoms)?;
    system.translate();
    let mut builder = StateGraphBuilder::new(system, letters, conditions, atoms);
    let built = match builder.run(budget, progress) {
        Ok(()) => None,
        Err(Halt::Failed) => Some(Built::Failed),
        Err(Halt::Stopped(reason)) => Some(Built::Stopped(reason)),
    };
    let stats = builder.stats(atoms);
    let graph = builder.graph;
    Ok((
        built.unwrap_or_else(|| Built::Graph(Box::new(graph))),
        stats,
    ))
}

enum Halt {
    Failed,
    Stopped(StopReason),
}

impl From<Failed> for Halt {
    fn from(_: Failed) -> Self {
        Self::Failed
    }
}

struct StateGraphBuilder<'a, 'm> {
    system: &'a mut System<'m>,
    evaluation: Letters,
    conditions: [Vec<Condition>; 3],
    /// The weak conditions of abstract timers.
    waiting: Vec<(usize, Waiting)>,
    /// The weak conditions of justness.
    justness: Option<Justness<'m>>,
    graph: StateGraph,
    /// The letter of each state, without step propositions.
    state_letters: Vec<u64>,
    node_by_entry: FxHashMap<(StateIndex, Vec<u64>), u32>,
    n_labels: usize,
    commands_taken: Vec<bool>,
    /// States in which some process has control.
    n_transient: u64,
    n_transitions: u64,
    seen: Vec<u64>,
}

impl<'a, 'm> StateGraphBuilder<'a, 'm> {
    fn new(
        system: &'a mut System<'m>,
        evaluation: Letters,
        conditions: &[Condition],
        atoms: &[AtomId],
    ) -> Self {
        let kinds = [
            ConditionKind::Weak,
            ConditionKind::Strong,
            ConditionKind::Unconditional,
        ];
        let positions = kinds.map(|kind| {
            let fits = |&position: &usize| conditions[position].kind == kind;
            (0..conditions.len()).filter(fits).collect::<Vec<_>>()
        });
        let conditions = [0, 1, 2].map(|kind: usize| {
            let of_kind = positions[kind].iter();
            of_kind
                .map(|&position| conditions[position].clone())
                .collect::<Vec<_>>()
        });

        let [weak, strong, unconditional] =
            [0, 1, 2].map(|kind: usize| bits::words_for(conditions[kind].len()));
        let behind = weak + 2 * strong + unconditional;
        let bit = |atom: &AtomId| (*atom, evaluation.bit(*atom));
        let graph = StateGraph {
            store: system.new_store(),
            state_of: Vec::new(),
            n_initial: 0,
            n_letter_words: evaluation.n_words,
            letters: Vec::new(),
            bit_by_atom: atoms.iter().map(bit).collect(),
            first_step: vec![0],
            targets: Vec::new(),
            labels: Vec::new(),
            marks: Marks {
                positions,
                label_subjects: Vec::new(),
                enabled: Vec::new(),
                n_subject_words: weak + strong + unconditional,
                weak: WeakMarks::new(system, &conditions[0], behind),
                free: Vec::new(),
                interfered: Vec::new(),
            },
        };

        Self {
            waiting: waiting_timers(system, &conditions[0]),
            justness: Justness::new(system, &conditions[0]),
            conditions,
            graph,
            state_letters: Vec::new(),
            node_by_entry: FxHashMap::default(),
            n_labels: 0,
            commands_taken: vec![false; system.model().commands().len()],
            n_transient: 0,
            n_transitions: 0,
            seen: vec![0; evaluation.n_words],
            system,
            evaluation,
        }
    }

    fn run(&mut self, budget: &Budget, progress: &mut dyn Progress) -> Result<(), Halt> {
        self.add_initial_states(budget)?;
        let mut steps = Steps::default();
        let mut hashes = Vec::new();
        let mut words = vec![0; self.system.n_words()];
        let mut state: StateIndex = 0;

        while (state as usize) < self.graph.store.len() {
            let (n_nodes, memory) = (self.graph.n_nodes() as u64, self.memory());
            budget.check(n_nodes, memory).map_err(Halt::Stopped)?;
            if state.is_multiple_of(1024) {
                progress.report(&self.snapshot());
            }
            self.graph.store.read(state, &mut words);
            self.system.steps(&words, &mut steps)?;
            steps.hash_targets(&mut hashes, self.graph.store.table_mut());
            for (position, &hash) in hashes.iter().enumerate() {
                let target = steps.target(position, words.len());
                let target = self.intern(target, hash)?;
                self.add_step(target, steps.labels[position])?;
            }
            if steps.is_empty() {
                self.add_step(state, LabelTable::IDLE)?;
            }
            if !self.system.is_transient(&words) {
                self.n_transitions += steps.len().max(1) as u64;
            }
            self.note_enabled(&words, &steps.labels);
            self.note_interference(&words, &steps);
            self.graph.first_step.push(self.graph.targets.len());
            state += 1;
        }

        Ok(())
    }

    fn add_initial_states(&mut self, budget: &Budget) -> Result<(), Halt> {
        let mut initial = self.system.new_store();
        let mut n_checked = 0_u64;
        self.system.for_each_initial(&mut |_, words, result| {
            n_checked += 1;
            if n_checked.is_multiple_of(1024) {
                budget.check(0, initial.memory()).map_err(Halt::Stopped)?;
            }
            if !result? {
                return Ok(());
            }
            let full = Halt::Stopped(StopReason::StateLimit);
            let inserted = initial.insert(words, StateStore::hash(words));
            inserted.ok_or(full).map(|_| ())
        })?;
        for index in 0..initial.len() as StateIndex {
            let words = initial.get(index);
            let state = self.intern(&words, StateStore::hash(&words))?;
            self.node(state, LabelTable::IDLE)?;
        }

        self.graph.n_initial = self.graph.n_nodes();
        Ok(())
    }

    fn intern(&mut self, words: &[u64], hash: u64) -> Result<StateIndex, Halt> {
        let full = Halt::Stopped(StopReason::StateLimit);
        let (index, is_new) = self.graph.store.insert(words, hash).ok_or(full)?;
        if is_new {
            self.n_transient += u64::from(self.system.is_transient(words));
            let letters = if self.evaluation.has_step_atoms() {
                &mut self.state_letters
            } else {
                &mut self.graph.letters
            };
            let start = letters.len();
            letters.resize(start + self.evaluation.n_words, 0);
            let letter = &mut letters[start..];
            self.evaluation.of_state(self.system, words, letter)?;
            bits::union_into(&mut self.seen, letter);
        }
        Ok(index)
    }

    /// The node of a state that is entered by a step with this label.
    fn node(&mut self, state: StateIndex, label: LabelId) -> Result<u32, Halt> {
        if !self.evaluation.has_step_atoms() {
            return Ok(state);
        }
        let n_words = self.evaluation.n_words;
        let entered = self.evaluation.of_label(self.system, label);
        bits::union_into(&mut self.seen, entered);
        let key = (state, entered.to_vec());
        if let Some(&node) = self.node_by_entry.get(&key) {
            return Ok(node);
        }
        let full = Halt::Stopped(StopReason::StateLimit);
        let node = self.graph.state_of.len() as u32;
        if node >= self.system.limits.max_nodes {
            return Err(full);
        }
        let stored = &self.state_letters[state as usize * n_words..][..n_words];
        let letter = stored.iter().zip(&key.1).map(|(own, more)| own | more);
        self.graph.letters.extend(letter);
        self.graph.state_of.push(state);
        self.node_by_entry.insert(key, node);
        Ok(node)
    }

    fn add_step(&mut self, target: StateIndex, label: LabelId) -> Result<(), Halt> {
        let node = self.node(target, label)?;
        self.graph.targets.push(node);
        self.graph.labels.push(label);
        Ok(())
    }

    fn note_enabled(&mut self, state: &[u64], labels: &[LabelId]) {
        let n_words = self.graph.marks.n_subject_words;
        for label in labels {
            self.know_label(*label);
        }
        let Marks {
            label_subjects,
            enabled,
            ..
        } = &mut self.graph.marks;
        let first = enabled.len();
        enabled.resize(first + n_words, 0);
        let enabled = &mut enabled[first..];
        for label in labels {
            let subjects = &label_subjects[label.index() * n_words..][..n_words];
            bits::union_into(enabled, subjects);
        }

        // A timer counts as enabled by its value, not by steps that can set it.
        for (bit, waiting) in &self.waiting {
            if waiting.holds(state) {
                bits::set(enabled, *bit);
            } else {
                bits::clear(enabled, *bit);
            }
        }

        if let Some(justness) = &mut self.justness {
            let labels = labels.iter().map(|label| self.system.label(*label));
            justness.enter(self.system, state, labels, enabled);
        }
        self.know_label(LabelTable::IDLE);
        if self.graph.marks.weak.needs_control() {
            let at = self.graph.first_step.len() - 1;
            self.graph.marks.free.resize(bits::words_for(at + 1), 0);
            if !self.system.is_transient(state) {
                bits::set(&mut self.graph.marks.free, at);
            }
        }
    }

    /// Notes what the steps of the state that was noted last take part in under justness.
    fn note_interference(&mut self, state: &[u64], steps: &Steps) {
        let Some(justness) = &mut self.justness else {
            return;
        };
        let n_weak = bits::words_for(self.conditions[0].len());
        let Marks {
            label_subjects,
            n_subject_words,
            interfered,
            ..
        } = &mut self.graph.marks;
        let subjects =
            |label: LabelId| &label_subjects[label.index() * *n_subject_words..][..n_weak];
        if steps.is_empty() {
            interfered.extend_from_slice(subjects(LabelTable::IDLE));
        }
        for (position, &label) in steps.labels.iter().enumerate() {
            let start = interfered.len();
            interfered.extend_from_slice(subjects(label));
            let target = steps.target(position, state.len());
            let taken = &mut interfered[start..];
            justness.mark(state, target, (label, self.system.label(label)), taken);
        }
    }

    /// Works out which subjects take part in steps with this label and all labels before it.
    fn know_label(&mut self, label: LabelId) {
        while self.n_labels <= label.index() {
            let next = self.system.label(LabelId::new(self.n_labels));
            for section in &self.conditions {
                let mut words = vec![0; bits::words_for(section.len())];
                for (bit, condition) in section.iter().enumerate() {
                    if takes_part(next, &condition.subject) {
                        bits::set(&mut words, bit);
                    }
                }
                self.graph.marks.label_subjects.extend(words);
            }
            self.n_labels += 1;
        }
    }

    fn memory(&self) -> u64 {
        let letters = self.state_letters.capacity() + self.graph.letters.capacity();
        let entries = self.node_by_entry.capacity() * (48 + 8 * self.evaluation.n_words);
        self.graph.memory_without_letters() + letters as u64 * 8 + entries as u64
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: "building the state graph",
            n_states: self.graph.store.len() as u64,
            n_transitions: self.n_transitions,
            memory_bytes: self.memory(),
            depth: 0,
            bound: self.system.state_bound(),
            shares: None,
        }
    }

    fn stats(&mut self, atoms: &[AtomId]) -> Stats {
        let mut labels_seen = vec![false; self.n_labels];
        for label in &self.graph.labels {
            labels_seen.resize(labels_seen.len().max(label.index() + 1), false);
            labels_seen[label.index()] = true;
        }
        for (label, _) in labels_seen.iter().enumerate().filter(|(_, seen)| **seen) {
            for command in &self.system.label(LabelId::new(label)).commands {
                self.commands_taken[command.index()] = true;
            }
        }

        let mut atoms_seen = vec![false; self.system.model().parts().atoms.len()];
        for atom in atoms {
            atoms_seen[atom.index()] = bits::get(&self.seen, self.evaluation.bit(*atom));
        }
        Stats {
            n_states: self.graph.store.len() as u64 - self.n_transient,
            n_transitions: self.n_transitions,
            n_product_states: None,
            memory_bytes: self.memory(),
            commands_taken: self.commands_taken.clone(),
            atoms_seen,
            is_partial: false,
            reduced: false,
            n_reduced_states: 0,
            refusal: None,
            action_counts: Vec::new(),
        }
    }
}

impl StateGraph {
    /// How many nodes there are.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        if self.has_copies() {
            self.state_of.len()
        } else {
            self.store.len()
        }
    }

    /// How many of them, from 0 on, are initial.
    #[must_use]
    pub fn n_initial(&self) -> usize {
        self.n_initial
    }

    /// The number of the state that a node stands for.
    #[must_use]
    pub fn state_number(&self, node: u32) -> u32 {
        if self.has_copies() {
            self.state_of[node as usize]
        } else {
            node
        }
    }

    /// The state that a node stands for.
    #[must_use]
    pub fn state(&self, system: &System<'_>, node: u32) -> State {
        system.unpack(&self.store.get(self.state_number(node)))
    }

    /// Does an atom of interest hold at a node?
    #[must_use]
    pub fn holds(&self, node: u32, atom: AtomId) -> bool {
        self.holding(atom)(node)
    }

    /// At which nodes an atom of interest holds.
    pub fn holding(&self, atom: AtomId) -> impl Fn(u32) -> bool + '_ {
        let (bit, n_words) = (self.bit_by_atom[&atom], self.n_letter_words);
        move |node| bits::get(&self.letters[node as usize * n_words..][..n_words], bit)
    }

    /// The nodes that the steps of a node lead to. Deadlocked states idle.
    #[must_use]
    pub fn targets(&self, node: u32) -> &[u32] {
        &self.targets[self.steps(node)]
    }

    /// What labels the `step`-th step of a node.
    #[must_use]
    pub fn trace_step(&self, system: &System<'_>, node: u32, step: usize) -> TraceStep {
        let label = self.labels[self.steps(node).start + step];
        trace_step(system.label(label))
    }

    /// How many words the marks of a step have.
    #[must_use]
    pub fn n_mark_words(&self) -> usize {
        let [weak, strong, unconditional] = self.marks.words();
        weak + 2 * strong + unconditional + self.marks.weak.n_words_behind()
    }

    /// Sets the marks of the `step`-th step of a node; `out` has [`StateGraph::n_mark_words`]
    /// words.
    pub fn step_marks(&self, node: u32, step: usize, out: &mut [u64]) {
        let n_words = self.marks.n_subject_words;
        if n_words == 0 {
            return;
        }
        let number = self.steps(node).start + step;
        let label = self.labels[number];
        let subjects = &self.marks.label_subjects[label.index() * n_words..][..n_words];
        let state = self.state_number(node) as usize;
        let enabled = &self.marks.enabled[state * n_words..][..n_words];
        let [weak, strong, unconditional] = self.marks.words();
        let is_free = !self.marks.weak.needs_control() || bits::get(&self.marks.free, state);
        let of_step = self.marks.interfered.chunks_exact(weak.max(1)).nth(number);
        let weakly = of_step.unwrap_or(subjects);
        self.marks.weak.set(out, enabled, weakly, is_free);
        out[weak..weak + strong].copy_from_slice(&enabled[weak..weak + strong]);
        let taken = &mut out[weak + strong..weak + 2 * strong + unconditional];
        taken.copy_from_slice(&subjects[weak..]);
    }

    /// Which sets of marks are fair to all conditions.
    #[must_use]
    pub fn acceptance(&self) -> Acceptance {
        self.acceptance_of(&|_| true)
    }

    /// Which sets of marks are fair to those conditions that are chosen, by their positions among the
    /// conditions that the graph was made for.
    #[must_use]
    pub fn acceptance_of(&self, is_chosen: &dyn Fn(usize) -> bool) -> Acceptance {
        let [weak, strong, _] = self.marks.words();
        let [weakly, strongly, always] = &self.marks.positions;
        let mark = |word: usize, bit: usize| MarkId::new(word * 64 + bit);
        let bits = |positions: &[usize]| {
            let chosen = (0..positions.len()).filter(|&bit| is_chosen(positions[bit]));
            chosen.collect::<Vec<_>>()
        };

        let weakly = self.marks.weak.acceptance_of(&|bit| is_chosen(weakly[bit]));
        let strongly = bits(strongly)
            .into_iter()
            .map(|bit| Acceptance::streett_pair(mark(weak, bit), mark(weak + strong, bit)));
        let always = bits(always)
            .into_iter()
            .map(|bit| Acceptance::Inf(mark(weak + 2 * strong, bit)));
        Acceptance::all([weakly].into_iter().chain(strongly).chain(always))
    }

    /// In steps with which labels the subject of a condition takes part, by the position of the
    /// condition; of a team of commands the labels of its own steps. Conditions on processes, actions
    /// and commands, or on teams, of the same kind that agree in this are the same condition on the
    /// runs of this graph.
    #[must_use]
    pub fn takers(&self, position: usize) -> Vec<bool> {
        let mut bit = 0;
        for (positions, n_words) in self.marks.positions.iter().zip(self.marks.words()) {
            if let Some(within) = positions.iter().position(|&other| other == position) {
                bit += within;
                break;
            }
            bit += n_words * 64;
        }
        let n_words = self.marks.n_subject_words.max(1);
        let labels = self.marks.label_subjects.chunks_exact(n_words);
        labels.map(|subjects| bits::get(subjects, bit)).collect()
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory_without_letters() + self.letters.capacity() as u64 * 8
    }

    fn memory_without_letters(&self) -> u64 {
        let words = self.first_step.capacity()
            + self.marks.enabled.capacity()
            + self.marks.free.capacity()
            + self.marks.interfered.capacity();
        let halves = self.targets.capacity() + self.labels.capacity() + self.state_of.capacity();
        self.store.memory() + words as u64 * 8 + halves as u64 * 4
    }

    fn has_copies(&self) -> bool {
        !self.state_of.is_empty()
    }

    fn steps(&self, node: u32) -> std::ops::Range<usize> {
        let state = self.state_number(node) as usize;
        self.first_step[state]..self.first_step[state + 1]
    }
}

impl Marks {
    fn words(&self) -> [usize; 3] {
        [0, 1, 2].map(|kind: usize| bits::words_for(self.positions[kind].len()))
    }
}
