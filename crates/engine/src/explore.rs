//! Breadth-first exploration: reachability, invariants, deadlocks, and exact counts.
//!
//! Level by level: the states of a level are shared among the threads, and the next level starts
//! when all of them are expanded. So the first goal met is nearest to the initial states, and the
//! run that leads to it is shortest, whatever the number of threads. With one thread everything is
//! deterministic.
//!
//! States in which some process has control are not kept unless steps are left out or looked at: they
//! are passed through ([`crate::passage`]), so that a level is one long step away from the one before.

mod checkpoint;
mod meetings;
mod outcome;
mod selection;
mod thread_pool;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread::ScopedJoinHandle;

use base::{AtomId, Budget, Checkpoints, Progress, StopReason};
use evidence::{Trace, TraceStep};
use omega::Prop;

use self::meetings::Meetings;
use self::thread_pool::{Members, ThreadPool};
use crate::compile::CompileError;
use crate::label::{Label, LabelId};
use crate::letters::Letters;
use crate::parents::Parents;
use crate::passage::Passage;
use crate::stubborn::{Demands, Refusal, Stubborn};
use crate::system::{Steps, System};
use store::Reading;
use store::{Index, Names, OwnLine, StateIndex, StateStore};

/// What an exploration looks for.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Nothing: explore everything.
    Nothing,
    /// A position that satisfies the formula.
    Satisfies(Prop),
    /// A state without steps.
    Deadlock,
    /// Each of these, whichever comes first: the exploration goes on until all are met. What is met
    /// is in [`Explored::met`]. Not for searches that keep their state.
    Several(Vec<Goal>),
}

/// Where one of several goals was met first.
#[derive(Clone, Debug)]
pub struct Met {
    /// A run to it.
    pub trace: Trace,
    /// How many states had been seen by then.
    pub n_states: u64,
    /// How many steps had been seen by then.
    pub n_transitions: u64,
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
    /// Steps that leave them, idle steps included. (What a process does while it has control is not
    /// counted: the number would depend on whether such states are stored.)
    pub n_transitions: u64,
    /// Distinct states of the product with the automaton, if there is one.
    pub n_product_states: Option<u64>,
    /// Is there no run of the kind that was looked for, and was that known before all states were
    /// visited? Then everything here is about the states that were.
    pub is_partial: bool,
    /// Were steps left out that could not change the answer? Then everything here is about what is
    /// left.
    pub reduced: bool,
    /// In how many states steps were left out.
    pub n_reduced_states: u64,
    /// Why no steps were left out although that was asked for.
    pub refusal: Option<Refusal>,
    /// Bytes in the structures of the search.
    pub memory_bytes: u64,
    /// Which commands were executed, by command.
    pub commands_taken: Vec<bool>,
    /// In how many of these steps an action was taken, by action. Empty if actions were not counted.
    pub action_counts: Vec<u64>,
    /// Which atoms of interest were true somewhere, by atom.
    pub atoms_seen: Vec<bool>,
}

impl Stats {
    /// Adds what was counted elsewhere: transitions, commands, actions, atoms.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_transitions += other.n_transitions;
        self.n_reduced_states += other.n_reduced_states;
        merge(&mut self.commands_taken, &other.commands_taken, |a, b| {
            a | b
        });
        merge(&mut self.action_counts, &other.action_counts, |a, b| a + b);
        merge(&mut self.atoms_seen, &other.atoms_seen, |a, b| a | b);
    }
}

fn merge<T: Copy>(all: &mut [T], more: &[T], combine: impl Fn(T, T) -> T) {
    for (own, other) in all.iter_mut().zip(more) {
        *own = combine(*own, *other);
    }
}

/// The end of an exploration and what it has seen.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The end.
    pub found: Found,
    /// For [`Goal::Several`], what was met, by goal; else empty.
    pub met: Vec<Option<Met>>,
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

    // A refused reduction is not an error: the full search answers, and the statistics say why.
    let stubborn = reduce.then(|| Stubborn::new(system, &demands));
    let (stubborn, refusal) = match stubborn.transpose() {
        Ok(stubborn) => (stubborn, None),
        Err(refusal) => (None, Some(refusal)),
    };

    // Everything that threads share is here; each worker has its own copy of the rest.
    let shared = Shared {
        store: system.new_store(),
        parents: Parents::new(budget.n_threads() > 1 || checkpoints.is_some()),
        n_states: OwnLine::default(),
        cursor: OwnLine::default(),
        commands_taken: (0..system.model().commands().len())
            .map(|_| AtomicBool::new(false))
            .collect(),
        atoms_seen: (0..letters.n_words).map(|_| AtomicU64::new(0)).collect(),
        is_over: AtomicBool::new(false),
        end: Mutex::new(None),
        goal,
        met: Meetings::new(goal),
        is_passing: system.has_control() && stubborn.is_none() && !letters.has_step_atoms(),
        is_late: letters.can_wait(),
        budget,
        search_id: exploration.fingerprint(system),
        initial: RwLock::default(),
    };

    let names = Names::new(budget.n_threads() > 1);
    let new_worker = || {
        let (letters, stubborn) = (letters.clone(), stubborn.clone());
        Worker::new(system.clone(), letters, stubborn, names.clone())
    };
    let workers = shared.run(&new_worker, checkpoints, progress);
    let end = shared.end.lock().expect(NO_PANIC).take();

    // The run to a state is reconstructed only now, by following parents backwards.
    let found = match end {
        None | Some(End::AllMet) => Found::Nothing,
        Some(End::Stopped(reason)) => Found::Stopped(reason),
        Some(End::Goal(place, last)) => shared
            .trace(system, &place, last.map(|last| *last))
            .map_or(DAMAGED, Found::Goal),
        Some(End::Failure(None)) => Found::Failure(None),
        Some(End::Failure(Some(place))) => shared
            .trace(system, &place, None)
            .map_or(DAMAGED, |trace| Found::Failure(Some(trace))),
    };

    let met = shared.met.traces(&shared, system);
    let stats = Stats {
        refusal,
        ..shared.stats(&workers, atoms)
    };
    Ok(Explored { found, met, stats })
}

const NO_PANIC: &str = "no thread panics while it holds the result";

/// The checkpoint that the search went on from was wrong.
const DAMAGED: Found = Found::Stopped(StopReason::DamagedCheckpoint);

const NO_PANIC_INITIAL: &str = "no thread panics while it writes initial states";

/// Why a breadth-first search ends early.
enum End {
    Stopped(StopReason),
    /// At this place, reached by this step from that state (if it matters which).
    Goal(Place, Option<Box<(StateIndex, Label)>>),
    /// All of several goals were met.
    AllMet,
    Failure(Option<Place>),
}

/// Where something was met: at a state that is kept, or at one that is passed through behind it.
#[derive(Clone, Debug)]
struct Place {
    kept: StateIndex,
    passed: Option<Box<[u64]>>,
}

impl Place {
    fn kept(state: StateIndex) -> Self {
        Self {
            kept: state,
            passed: None,
        }
    }
}

/// How many states a thread takes from a level at a time, at most.
const MAX_BATCH: u32 = 64;

/// And at least: towards the end of a level threads wait for the one that has the last batch.
const MIN_BATCH: u32 = 16;

/// How many steps are computed before the first of their targets is looked up: enough for what was
/// asked for to arrive from memory.
const N_AHEAD: usize = 64;

/// Smaller levels are expanded by one thread; waking another would take longer.
const MIN_SHARED_LEVEL: u32 = 256;

/// What the threads have in common.
struct Shared<'a> {
    store: StateStore,
    /// From where each state was reached first.
    parents: Parents,
    /// How many states the threads have said they found.
    n_states: OwnLine<AtomicU64>,
    /// The next state of the level to be expanded.
    cursor: OwnLine<AtomicU32>,
    /// Which commands were executed, by command.
    commands_taken: Vec<AtomicBool>,
    /// Which atoms of interest were true somewhere, as a bit set.
    atoms_seen: Vec<AtomicU64>,
    is_over: AtomicBool,
    end: Mutex<Option<End>>,
    goal: &'a Goal,
    /// Which of several goals were met.
    met: Meetings,
    /// Are states in which some process has control passed through, not kept?
    is_passing: bool,
    /// Are states looked at when they are expanded, not when they are reached?
    is_late: bool,
    budget: &'a Budget,
    /// What tells this search from all others, if its state is kept.
    search_id: u64,
    /// The words of the initial states, one after the other, while they are added.
    initial: RwLock<Vec<u64>>,
}

/// What the threads do together, some states at a time.
#[derive(Clone, Copy, Debug)]
struct Task {
    kind: TaskKind,
    /// It ends before this state.
    end: StateIndex,
    /// How many states to take at a time.
    batch: u32,
}

#[derive(Clone, Copy, Debug)]
enum TaskKind {
    /// To add initial states.
    Begin,
    /// To expand the states of a level.
    Expand,
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
    ahead: Ahead,
    /// Which steps of the current state were taken.
    taken: Vec<bool>,
    letter: Vec<u64>,
    /// The letter of the last position that was looked at, which is not the goal; at first empty.
    last_letter: Vec<u64>,
    /// Which atoms were true somewhere, as far as this thread has told the others.
    seen: Vec<u64>,
    /// By label: zero if it was not met, else one more than in how many steps that count.
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

/// Some states and their steps, which are not taken yet.
#[derive(Default)]
struct Ahead {
    sources: Vec<Source>,
    /// The words of the states, one after the other.
    states: Vec<u64>,
    steps: Steps,
    hashes: Vec<u64>,
    /// For each target, the stored state that it probably is.
    guesses: Vec<StateIndex>,
    /// The positions of the targets for which the guess is wrong, in ascending order.
    unknown: Vec<u32>,
    /// Why the steps of what comes next cannot be computed.
    obstacle: Option<End>,
    spare: Steps,
    /// What is passed behind the current state.
    passage: Passage,
    /// What was passed behind all of them: the words of states, and the labels of steps that lead there.
    passed: Vec<u64>,
    passed_labels: Vec<LabelId>,
}

/// A state that is expanded, and the positions behind its last long step and behind what was passed. The
/// first ones are its own steps: so many lead to where no process has control, and so many others.
#[derive(Clone, Copy, Default, Debug)]
struct Source {
    state: StateIndex,
    n_own: (usize, usize),
    end: usize,
    passed_end: usize,
    labels_end: usize,
}

/// The table, while a thread inserts.
type Guard<'s> = Option<Reading<'s, Index>>;

impl<'a> Shared<'a> {
    /// Searches. Every thread makes its worker itself: what threads write all the time must not lie
    /// side by side in memory.
    fn run<'m>(
        &self,
        new_worker: &(dyn Fn() -> Worker<'m> + Sync),
        checkpoints: Option<&dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) -> Vec<Worker<'m>> {
        let mut first = new_worker();
        let pool = ThreadPool::default();
        std::thread::scope(|scope| {
            let start = |_| scope.spawn(|| pool.serve(self, new_worker));
            let threads: Vec<_> = (1..self.budget.n_threads()).map(start).collect();
            let handles = threads.iter().map(|thread| thread.thread().clone());
            let members = Members::new(&pool, handles.collect());
            match self.first_position(&mut first, &members, checkpoints, progress) {
                Ok(position) => {
                    self.expand_all(&mut first, &members, position, checkpoints, progress);
                }
                Err(end) => self.finish(end),
            }
            drop(members);
            let join = |thread: ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(worker) => worker,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            [first]
                .into_iter()
                .chain(threads.into_iter().map(join))
                .collect()
        })
    }

    /// Expands level after level, beginning with one.
    fn expand_all(
        &self,
        first: &mut Worker<'_>,
        members: &Members<'_>,
        position: Position,
        checkpoints: Option<&dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) {
        let Position {
            mut level,
            mut depth,
        } = position;
        while level.0 < level.1 && !self.is_over.load(Ordering::Relaxed) {
            let position = Position { level, depth };
            let n_transitions = first.n_transitions + members.n_transitions();
            if let Some(checkpoints) = checkpoints.filter(|c| c.is_due()) {
                self.keep(first, position, n_transitions, checkpoints);
            }
            self.share(first, members, (TaskKind::Expand, level), depth, progress);
            if let (Some(checkpoints), true) = (checkpoints, self.is_stopped()) {
                self.keep(first, position, n_transitions, checkpoints);
            }
            level = (level.1, self.store.len() as StateIndex);
            depth += 1;
        }
    }

    /// Does something with some states: with the first thread alone if they are few, else with all.
    fn share(
        &self,
        first: &mut Worker<'_>,
        members: &Members<'_>,
        (kind, states): (TaskKind, (StateIndex, StateIndex)),
        depth: u64,
        progress: &mut dyn Progress,
    ) {
        self.cursor.0.store(states.0, Ordering::Relaxed);
        let len = states.1 - states.0;
        let task = Task {
            kind,
            end: states.1,
            batch: (len / (8 * members.len() as u32 + 8)).clamp(MIN_BATCH, MAX_BATCH),
        };
        if len < MIN_SHARED_LEVEL {
            first.serve(self, task, depth, progress)
        } else {
            members.share(task, || first.serve(self, task, depth, progress))
        }
        first.end_level(self);
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
