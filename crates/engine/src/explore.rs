//! Breadth-first exploration: reachability, invariants, deadlocks, and exact counts.
//!
//! Level by level: the states of a level are shared among the threads, and the next level starts
//! when all of them are expanded. So the first goal met is nearest to the initial states, and the
//! run that leads to it is shortest, whatever the number of threads. With one thread everything is
//! deterministic.

mod checkpoint;
mod outcome;
mod selection;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::RwLockReadGuard;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use base::{AtomId, Budget, Checkpoints, NoProgress, Progress, Snapshot, StopReason, bits};
use evidence::{Trace, TraceStep};
use omega::Prop;

use crate::compile::CompileError;
use crate::initial::{Interrupted, initial_states};
use crate::label::{Label, LabelId, LabelTable};
use crate::letters::Letters;
use crate::parents::Parents;
use crate::store::{Index, Inserted, Names, OwnLine, StateIndex, StateStore};
use crate::stubborn::{Demands, Refusal, Stubborn};
use crate::system::{Failed, Steps, System};

/// What an exploration looks for.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Nothing: explore everything.
    Nothing,
    /// A position that satisfies the formula.
    Satisfies(Prop),
    /// A state without steps.
    Deadlock,
}

/// What is explored, and how.
#[derive(Clone, Copy, Debug)]
pub struct Exploration<'a> {
    /// Atoms to be evaluated everywhere; among them those of the goal.
    pub atoms: &'a [AtomId],
    /// What to look for.
    pub goal: &'a Goal,
    /// May steps be left out that cannot change the answer? Then counts are those of the reduced
    /// system, and runs are not always shortest. Ignored where it would be unsound.
    pub reduce: bool,
    /// Where the search keeps its state, and goes on from.
    pub checkpoints: Option<&'a dyn Checkpoints>,
}

impl Exploration<'_> {
    fn fingerprint(&self, system: &System<'_>) -> u64 {
        if self.checkpoints.is_none() {
            return 0;
        }
        let exploration = Self {
            checkpoints: None,
            ..*self
        };
        base::fingerprint(&(system.model().parts(), exploration, system.forgotten()))
    }
}

/// How an exploration ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Everything was explored and the goal is nowhere.
    Nothing,
    /// The goal is at the end of this run.
    Goal(Trace),
    /// In the last state of this run, a guard, effect or atom has no value; without a run, already
    /// an initial value has none.
    Failure(Option<Trace>),
    /// The search was stopped.
    Stopped(StopReason),
}

/// What a search has seen. Counts are exact if the search was complete.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Distinct states of the system, without those in which some process has control: they are
    /// passed through as part of a longer step (see [`model::ModelParts::control`]).
    pub n_states: u64,
    /// Steps that leave them, idle steps included.
    pub n_transitions: u64,
    /// Distinct states of the product with the automaton, if there is one.
    pub n_product_states: Option<u64>,
    /// Were steps left out that could not change the answer? Then everything here is about what is
    /// left.
    pub reduced: bool,
    /// Why no steps were left out although that was asked for.
    pub refusal: Option<Refusal>,
    /// Bytes in the structures of the search.
    pub memory_bytes: u64,
    /// Which commands were executed, by command.
    pub commands_taken: Vec<bool>,
    /// How often an action was taken, by action. Empty if nobody counted.
    pub action_counts: Vec<u64>,
    /// Which atoms of interest were true somewhere, by atom.
    pub atoms_seen: Vec<bool>,
}

/// The end of an exploration and what it has seen.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The end.
    pub found: Found,
    /// What was seen.
    pub stats: Stats,
}

/// Explores breadth first until the goal is met, on as many threads as the budget grants.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn explore(
    system: &mut System<'_>,
    exploration: &Exploration<'_>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<Explored, CompileError> {
    let &Exploration {
        atoms,
        goal,
        reduce,
        checkpoints,
    } = exploration;
    let letters = Letters::new(system, atoms)?;
    system.translate();
    let demands = Demands {
        letters: &letters,
        conditions: &[],
        strong_global: false,
        infinite_runs: false,
    };
    let stubborn = reduce.then(|| Stubborn::new(system, &demands));
    let (stubborn, refusal) = match stubborn.transpose() {
        Ok(stubborn) => (stubborn, None),
        Err(refusal) => (None, Some(refusal)),
    };
    let shared = Shared {
        store: StateStore::new(system.n_words()),
        parents: Parents::new(budget.n_threads() > 1 || checkpoints.is_some()),
        n_states: OwnLine::default(),
        cursor: OwnLine::default(),
        is_over: AtomicBool::new(false),
        end: Mutex::new(None),
        goal,
        budget,
        search_id: exploration.fingerprint(system),
    };
    let names = Names::new(budget.n_threads() > 1);
    let new_worker = |_| {
        let names = names.clone();
        Worker::new(system.clone(), letters.clone(), stubborn.clone(), names)
    };
    let mut workers: Vec<Worker<'_>> = (0..budget.n_threads()).map(new_worker).collect();
    shared.run(&mut workers, checkpoints, progress);
    let end = shared.end.lock().expect(NO_PANIC).take();
    let found = match end {
        None => Found::Nothing,
        Some(End::Stopped(reason)) => Found::Stopped(reason),
        Some(End::Goal(state, last)) => Found::Goal(shared.trace(system, state, last)),
        Some(End::Failure(None)) => Found::Failure(None),
        Some(End::Failure(Some(state))) => Found::Failure(Some(shared.trace(system, state, None))),
    };
    let stats = Stats {
        refusal,
        ..shared.stats(&workers, atoms)
    };
    Ok(Explored { found, stats })
}

const NO_PANIC: &str = "no thread panics while it holds the result";

/// Why a breadth-first search ends early.
enum End {
    Stopped(StopReason),
    /// At this state, reached by this step from that state (if it matters which).
    Goal(StateIndex, Option<(StateIndex, Label)>),
    Failure(Option<StateIndex>),
}

/// How many states a thread takes from a level at a time.
const BATCH: u32 = 64;

/// How many states are expanded before the first of their successors is looked up: long enough for
/// what was asked for to arrive from memory.
const N_AHEAD: u32 = 16;

/// Smaller levels are expanded by one thread; starting another would take longer.
const MIN_SHARED_LEVEL: u32 = 1024;

/// What the threads have in common.
struct Shared<'a> {
    store: StateStore,
    /// From where each state was reached first.
    parents: Parents,
    /// How many states the threads have said they found.
    n_states: OwnLine<AtomicU64>,
    /// The next state of the level to be expanded.
    cursor: OwnLine<AtomicU32>,
    is_over: AtomicBool,
    end: Mutex<Option<End>>,
    goal: &'a Goal,
    budget: &'a Budget,
    /// What tells this search from all others, if its state is kept.
    search_id: u64,
}

/// What each thread has for itself.
struct Worker<'m> {
    system: System<'m>,
    letters: Letters,
    stubborn: Option<Stubborn>,
    names: Names,
    /// New states that were not counted for all threads yet.
    n_uncounted: u64,
    /// Bytes in the structures of the search, a little while ago.
    memory: u64,
    /// States that are expanded, and whose steps are not taken yet.
    ahead: Vec<Ahead>,
    /// Which steps of the current state were taken.
    taken: Vec<bool>,
    letter: Vec<u64>,
    seen: Vec<u64>,
    commands_taken: Vec<bool>,
    labels_seen: Vec<bool>,
    /// How often steps with each label were taken.
    label_counts: Vec<u64>,
    n_transitions: u64,
    bound: Option<u64>,
    /// States met first here in which some process has control.
    n_transient: u64,
}

/// Where a search is: the states of a level, and how many steps away from the initial ones.
#[derive(Clone, Copy)]
struct Position {
    level: (StateIndex, StateIndex),
    depth: u64,
}

/// A state and its steps.
#[derive(Debug, Default)]
struct Ahead {
    source: StateIndex,
    state: Vec<u64>,
    steps: Steps,
    hashes: Vec<u64>,
    /// Are there no steps because of a run-time error?
    has_failed: bool,
}

/// The table, while a thread inserts.
type Guard<'s> = Option<RwLockReadGuard<'s, Index>>;

impl<'a> Shared<'a> {
    fn run(
        &self,
        workers: &mut [Worker<'_>],
        checkpoints: Option<&dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) {
        let Position {
            mut level,
            mut depth,
        } = match self.first_position(workers, checkpoints) {
            Ok(position) => position,
            Err(end) => return self.finish(end),
        };
        while level.0 < level.1 && !self.is_over.load(Ordering::Relaxed) {
            self.cursor.0.store(level.0, Ordering::Relaxed);
            let n_transitions = workers.iter().map(|worker| worker.n_transitions).sum();
            if let Some(checkpoints) = checkpoints.filter(|c| c.is_due()) {
                self.keep(
                    &workers[0],
                    Position { level, depth },
                    n_transitions,
                    checkpoints,
                );
            }
            let (first, others) = workers.split_at_mut(1);
            let others = match level.1 - level.0 < MIN_SHARED_LEVEL {
                true => &mut [],
                false => others,
            };
            std::thread::scope(|scope| {
                for worker in others {
                    scope.spawn(move || worker.expand_level(self, level.1, 0, &mut NoProgress));
                }
                first[0].expand_level(self, level.1, depth, progress);
            });
            self.end_level(workers);
            if let (Some(checkpoints), true) = (checkpoints, self.is_stopped()) {
                self.keep(
                    &workers[0],
                    Position { level, depth },
                    n_transitions,
                    checkpoints,
                );
            }
            level = (level.1, self.store.len() as StateIndex);
            depth += 1;
        }
    }

    /// A name left over belongs to this level, which is done: it stays without a state.
    fn end_level(&self, workers: &mut [Worker<'_>]) {
        for name in workers.iter_mut().flat_map(|worker| worker.names.give_up()) {
            self.parents.set_unused(name);
        }
    }

    /// The first reason to end is the one that counts.
    fn finish(&self, end: End) {
        self.end.lock().expect(NO_PANIC).get_or_insert(end);
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn n_states(&self) -> u64 {
        self.n_states.0.load(Ordering::Relaxed)
    }

    fn memory(&self) -> u64 {
        self.store.memory() + self.parents.memory(self.store.len())
    }
}

impl<'m> Worker<'m> {
    fn new(system: System<'m>, letters: Letters, stubborn: Option<Stubborn>, names: Names) -> Self {
        let new_ahead = |_| Ahead {
            state: vec![0; system.n_words()],
            ..Ahead::default()
        };
        Self {
            stubborn,
            names,
            n_uncounted: 0,
            memory: 0,
            ahead: (0..N_AHEAD).map(new_ahead).collect(),
            taken: Vec::new(),
            letter: vec![0; letters.n_words],
            seen: vec![0; letters.n_words],
            commands_taken: vec![false; system.model().commands().len()],
            labels_seen: Vec::new(),
            label_counts: Vec::new(),
            n_transitions: 0,
            bound: system.state_bound(),
            n_transient: 0,
            system,
            letters,
        }
    }

    fn add_initial_states(&mut self, shared: &Shared<'_>) -> Result<(), End> {
        let initial = initial_states(&mut self.system, shared.budget);
        let initial = initial.map_err(|interrupted| match interrupted {
            Interrupted::Stopped(reason) => End::Stopped(reason),
            Interrupted::Failed => End::Failure(None),
        })?;
        let mut guard = Some(shared.store.table());
        let mut states = initial.chunks_exact(self.system.n_words());
        let reached = states.try_for_each(|words| {
            let hash = StateStore::hash(words);
            self.reach(shared, &mut guard, words, hash, None).map(drop)
        });
        self.count(shared);
        reached
    }

    /// Tells all threads how many states were found.
    fn count(&mut self, shared: &Shared<'_>) {
        let n_new = std::mem::take(&mut self.n_uncounted);
        shared.n_states.0.fetch_add(n_new, Ordering::Relaxed);
    }

    /// Expands states of the level, which ends before `end`, until none is left.
    fn expand_level(
        &mut self,
        shared: &Shared<'_>,
        end: StateIndex,
        depth: u64,
        progress: &mut dyn Progress,
    ) {
        while !shared.is_over.load(Ordering::Relaxed) {
            // The cursor never overflows: it passes `end` by at most one batch for each thread.
            let first = shared.cursor.0.fetch_add(BATCH, Ordering::Relaxed);
            if first >= end {
                return;
            }
            self.memory = shared.memory();
            progress.report(&Snapshot {
                phase: "exploring",
                n_states: shared.n_states(),
                n_transitions: self.n_transitions,
                memory_bytes: self.memory,
                depth,
                bound: self.bound,
            });
            let mut guard = Some(shared.store.table());
            let end = end.min(first.saturating_add(BATCH));
            let result = self.expand_batch(shared, &mut guard, first..end);
            self.count(shared);
            if let Err(end) = result {
                shared.finish(end);
                return;
            }
        }
    }

    /// Expands some states and takes their steps, in order. What is looked up is asked for as early
    /// as possible.
    fn expand_batch<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        sources: Range<StateIndex>,
    ) -> Result<(), End> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let mut sources = sources.filter(|&source| !shared.parents.is_unused(source));
        loop {
            let mut n_ahead = 0;
            for (entry, source) in ahead.iter_mut().zip(&mut sources) {
                self.look_ahead(shared, source, entry);
                n_ahead += 1;
            }
            if n_ahead == 0 {
                break;
            }
            let table = guard.get_or_insert_with(|| shared.store.table());
            for entry in &mut ahead[..n_ahead] {
                entry.steps.hash_targets(&mut entry.hashes, table);
            }
            for hash in ahead[..n_ahead].iter().flat_map(|entry| &entry.hashes) {
                shared.store.prefetch_row(table, *hash);
            }
            for entry in &ahead[..n_ahead] {
                self.expand(shared, guard, entry)?;
            }
        }
        self.ahead = ahead;
        Ok(())
    }

    /// Computes the steps of a state.
    fn look_ahead(&mut self, shared: &Shared<'_>, source: StateIndex, entry: &mut Ahead) {
        entry.source = source;
        shared.store.read(source, &mut entry.state);
        let expanded = self.system.steps(&entry.state, &mut entry.steps);
        entry.has_failed = expanded.is_err();
        if entry.has_failed {
            entry.steps.clear();
        }
    }

    fn expand<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
    ) -> Result<(), End> {
        let &Ahead {
            source, ref steps, ..
        } = entry;
        let n_states = shared.n_states() + self.n_uncounted;
        let spent = shared.budget.check(n_states, self.memory);
        spent.map_err(End::Stopped)?;
        if entry.has_failed {
            return Err(End::Failure(Some(source)));
        }
        // The idle step of a deadlock.
        self.n_transitions += u64::from(steps.is_empty());
        if steps.is_empty() && matches!(shared.goal, Goal::Deadlock) {
            return Err(End::Goal(source, None));
        }
        shared.parents.begin(source, shared.store.len());
        self.take_steps(shared, guard, entry)?;
        if steps.is_empty() && self.letters.has_step_atoms() {
            // The idle step leads to a position at which no step proposition holds.
            let idle = Some((source, LabelTable::IDLE));
            let hash = StateStore::hash(&entry.state);
            self.reach(shared, guard, &entry.state, hash, idle)?;
        }
        Ok(())
    }

    /// Takes one step. Returns the name of its target.
    fn take<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
        position: usize,
    ) -> Result<StateIndex, End> {
        self.n_transitions += 1;
        let label = entry.steps.labels[position];
        self.note_label(label);
        let target = entry.steps.target(position, entry.state.len());
        let from = Some((entry.source, label));
        self.reach(shared, guard, target, entry.hashes[position], from)
    }

    fn note_label(&mut self, label: LabelId) {
        if self.labels_seen.len() <= label.index() {
            self.labels_seen.resize(label.index() + 1, false);
            self.label_counts.resize(label.index() + 1, 0);
        }
        self.label_counts[label.index()] += 1;
        if !std::mem::replace(&mut self.labels_seen[label.index()], true) {
            for command in &self.system.label(label).commands {
                self.commands_taken[command.index()] = true;
            }
        }
    }

    /// A state is reached: by a step, or as an initial state. Returns its name.
    fn reach<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        words: &[u64],
        hash: u64,
        from: Option<(StateIndex, LabelId)>,
    ) -> Result<StateIndex, End> {
        let (index, is_new) = self.insert(shared, guard, words, hash)?;
        if is_new {
            self.n_transient += u64::from(self.system.is_transient(words));
            self.n_uncounted += 1;
            shared.parents.set(index, from.map(|(parent, _)| parent));
        } else if !self.letters.has_step_atoms() {
            return Ok(index);
        }
        self.inspect(shared, index, words, from)?;
        Ok(index)
    }

    /// Looks whether a state is the goal.
    fn inspect(
        &mut self,
        shared: &Shared<'_>,
        index: StateIndex,
        words: &[u64],
        from: Option<(StateIndex, LabelId)>,
    ) -> Result<(), End> {
        self.letter.fill(0);
        let failed = |Failed| End::Failure(Some(index));
        self.letters
            .of_state(&mut self.system, words, &mut self.letter)
            .map_err(failed)?;
        if let (true, Some((_, label))) = (self.letters.has_step_atoms(), from) {
            let more = self.letters.of_label(&self.system, label);
            bits::union_into(&mut self.letter, more);
        }
        bits::union_into(&mut self.seen, &self.letter);
        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        match shared.goal {
            Goal::Satisfies(goal) if goal.holds(&holds) => {
                let label = |(source, label)| (source, self.system.label(label).clone());
                Err(End::Goal(index, from.map(label)))
            }
            _ => Ok(()),
        }
    }

    fn insert<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        words: &[u64],
        hash: u64,
    ) -> Result<(StateIndex, bool), End> {
        loop {
            let table = guard.get_or_insert_with(|| shared.store.table());
            let inserted = shared
                .store
                .insert_shared(table, words, hash, &mut self.names);
            match inserted {
                Inserted::New(index) => return Ok((index, true)),
                Inserted::Old(index) => return Ok((index, false)),
                Inserted::Full => {
                    // Growing needs the table for itself.
                    *guard = None;
                    let full = End::Stopped(StopReason::StateLimit);
                    shared.store.grow().ok_or(full)?;
                }
            }
        }
    }
}

/// Adds how often actions were taken, given how often labels were met.
pub(crate) fn count_actions(system: &System<'_>, label_counts: &[u64], counts: &mut [u64]) {
    for (label, count) in label_counts.iter().enumerate() {
        for action in &system.label(LabelId::new(label)).actions {
            counts[action.index()] += count;
        }
    }
}

/// A label as evidence shows it.
pub(crate) fn trace_step(label: &Label) -> TraceStep {
    TraceStep {
        actions: label.actions.clone(),
        movers: label.movers.clone(),
        commands: label.commands.clone(),
    }
}
