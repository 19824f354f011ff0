//! Breadth-first exploration: reachability, invariants, deadlocks, and exact counts.
//!
//! Level by level: the states of a level are shared among the threads, and the next level starts
//! when all of them are expanded. So the first goal met is nearest to the initial states, and the
//! run that leads to it is shortest, whatever the number of threads. With one thread everything is
//! deterministic.

mod checkpoint;
mod outcome;

use std::sync::Mutex;
use std::sync::RwLockReadGuard;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use base::{AtomId, Budget, Checkpoints, NoProgress, Progress, Snapshot, StopReason, bits};
use evidence::{Trace, TraceStep};
use omega::Prop;

use crate::chunked::Chunked;
use crate::compile::CompileError;
use crate::initial::{Interrupted, initial_states};
use crate::label::{Label, LabelId, LabelTable};
use crate::letters::Letters;
use crate::store::{Inserted, Spare, StateIndex, StateStore, Table};
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
    /// Distinct states of the system.
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
        parents: Chunked::new(1),
        n_unused: AtomicU32::new(0),
        cursor: AtomicU32::new(0),
        is_over: AtomicBool::new(false),
        end: Mutex::new(None),
        goal,
        budget,
    };
    let new_worker = |_| Worker::new(system.clone(), letters.clone(), stubborn.clone());
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

/// The parent of a name that two threads took for the same state.
const UNUSED: u32 = u32::MAX;

/// How many states a thread takes from a level at a time.
const BATCH: u32 = 64;

/// Smaller levels are expanded by one thread; starting another would take longer.
const MIN_SHARED_LEVEL: u32 = 1024;

/// What the threads have in common.
struct Shared<'a> {
    store: StateStore,
    /// One more than the state from which each state was reached first; 0 for initial states,
    /// `UNUSED` for names without a state.
    parents: Chunked<AtomicU32>,
    n_unused: AtomicU32,
    /// The next state of the level to be expanded.
    cursor: AtomicU32,
    is_over: AtomicBool,
    end: Mutex<Option<End>>,
    goal: &'a Goal,
    budget: &'a Budget,
}

/// What each thread has for itself.
struct Worker<'m> {
    system: System<'m>,
    letters: Letters,
    stubborn: Option<Stubborn>,
    spare: Spare,
    /// Bytes in the structures of the search, a little while ago.
    memory: u64,
    steps: Steps,
    state: Vec<u64>,
    hashes: Vec<u64>,
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
}

/// Where a search is: the states of a level, and how many steps away from the initial ones.
#[derive(Clone, Copy)]
struct Position {
    level: (StateIndex, StateIndex),
    depth: u64,
}

/// The table, while a thread inserts.
type Guard<'s> = Option<RwLockReadGuard<'s, Table>>;

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
            self.cursor.store(level.0, Ordering::Relaxed);
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
            // A name left over belongs to this level, which is done: it stays without a state.
            for name in workers.iter_mut().filter_map(|worker| worker.spare.take()) {
                self.parents.row(name)[0].store(UNUSED, Ordering::Relaxed);
                self.n_unused.fetch_add(1, Ordering::Relaxed);
            }
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

    /// Was the search stopped from outside?
    fn is_stopped(&self) -> bool {
        let end = self.end.lock().expect(NO_PANIC);
        matches!(*end, Some(End::Stopped(_)))
    }

    /// The first reason to end is the one that counts.
    fn finish(&self, end: End) {
        self.end.lock().expect(NO_PANIC).get_or_insert(end);
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn n_states(&self) -> u64 {
        (self.store.len() - self.n_unused.load(Ordering::Relaxed) as usize) as u64
    }

    fn memory(&self) -> u64 {
        self.store.memory() + self.parents.memory(self.store.len())
    }
}

impl<'m> Worker<'m> {
    fn new(system: System<'m>, letters: Letters, stubborn: Option<Stubborn>) -> Self {
        Self {
            stubborn,
            spare: None,
            memory: 0,
            steps: Steps::default(),
            state: vec![0; system.n_words()],
            hashes: Vec::new(),
            taken: Vec::new(),
            letter: vec![0; letters.n_words],
            seen: vec![0; letters.n_words],
            commands_taken: vec![false; system.model().commands().len()],
            labels_seen: Vec::new(),
            label_counts: Vec::new(),
            n_transitions: 0,
            bound: system.state_bound(),
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
        for words in initial.chunks_exact(self.system.n_words()) {
            self.reach(shared, &mut guard, words, StateStore::hash(words), None)?;
        }
        Ok(())
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
            let first = shared.cursor.fetch_add(BATCH, Ordering::Relaxed);
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
            for source in first..end.min(first.saturating_add(BATCH)) {
                if let Err(end) = self.expand(shared, &mut guard, source) {
                    shared.finish(end);
                    return;
                }
            }
        }
    }

    fn expand<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
    ) -> Result<(), End> {
        if shared.parents.row(source)[0].load(Ordering::Relaxed) == UNUSED {
            return Ok(());
        }
        let spent = shared.budget.check(shared.n_states(), self.memory);
        spent.map_err(End::Stopped)?;
        shared.store.read(source, &mut self.state);
        let mut steps = std::mem::take(&mut self.steps);
        let expanded = self.system.steps(&self.state, &mut steps);
        expanded.map_err(|Failed| End::Failure(Some(source)))?;
        // The idle step of a deadlock.
        self.n_transitions += u64::from(steps.is_empty());
        if steps.is_empty() && matches!(shared.goal, Goal::Deadlock) {
            return Err(End::Goal(source, None));
        }
        let table = guard.get_or_insert_with(|| shared.store.table());
        steps.hash_targets(&mut self.hashes, table);
        self.take_steps(shared, guard, source, &steps)?;
        if steps.is_empty() && self.letters.has_step_atoms() {
            // The idle step leads to a position at which no step proposition holds.
            let state = std::mem::take(&mut self.state);
            let idle = Some((source, LabelTable::IDLE));
            self.reach(shared, guard, &state, StateStore::hash(&state), idle)?;
            self.state = state;
        }
        self.steps = steps;
        Ok(())
    }

    /// Takes the steps of a state, or those that cannot wait; see [`crate::stubborn`]. States are
    /// expanded in the order of their names, whatever the number of threads.
    fn take_steps<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        steps: &Steps,
    ) -> Result<(), End> {
        self.taken.clear();
        self.taken.resize(steps.len(), false);
        let mut reduced = match &mut self.stubborn {
            Some(stubborn) => {
                stubborn.is_worth_trying() && stubborn.choose(&self.system, &self.state, steps)
            }
            None => false,
        };
        let leads_on = self.take_chosen(shared, guard, source, steps, reduced)?;
        if let Some(stubborn) = self.stubborn.as_mut().filter(|s| s.needs_attention())
            && reduced
            && !leads_on
        {
            reduced = stubborn.attend(&self.system, &self.state);
            self.take_chosen(shared, guard, source, steps, reduced)?;
        }
        Ok(())
    }

    /// Takes the steps of the chosen set, or all. Says whether one that the property does not see
    /// leads to a state that is expanded later.
    fn take_chosen<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        steps: &Steps,
        reduced: bool,
    ) -> Result<bool, End> {
        let mut leads_on = false;
        for position in 0..steps.len() {
            let unit = steps.units[position];
            let stubborn = self.stubborn.as_ref().filter(|_| reduced);
            if self.taken[position] || stubborn.is_some_and(|stubborn| !stubborn.keeps(unit)) {
                continue;
            }
            let is_invisible = stubborn.is_some_and(|stubborn| stubborn.is_invisible(unit));
            self.taken[position] = true;
            self.n_transitions += 1;
            let label = steps.labels[position];
            self.note_label(label);
            let (target, hash) = (
                steps.target(position, self.state.len()),
                self.hashes[position],
            );
            let index = self.reach(shared, guard, target, hash, Some((source, label)))?;
            leads_on |= is_invisible && index > source;
        }
        Ok(leads_on)
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
            let parent = from.map_or(0, |(parent, _)| parent + 1);
            shared.parents.row(index)[0].store(parent, Ordering::Relaxed);
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
            match shared
                .store
                .states
                .insert(table, words, hash, &mut self.spare)
            {
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
