//! Searches on sets of states, which may be larger than memory.
//!
//! The algorithm is [`sets::Search`]; here it gets the steps of a system and the marks of a product.
//! Nothing is left out: every state is visited, and conditions are judged as they are.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{
    AtomId, Budget, Checkpoints, Folder, Inherited, Links, Progress, StopReason, put_list,
    take_list,
};
use evidence::{StepPool, Trace};
use omega::{Automaton, ExplicitGraph, MarkId, NodeId};
use sets::{
    Answer, Carrier, Counts, Earlier, InMemory, Keeper, Meter, OnDisk, Open, Path, Question,
    Successors,
};

use crate::compile::CompileError;
use crate::explore::{Exploration, Explored, Found, Goal, Stats, trace_step};
use crate::label::LabelTable;
use crate::product::{Gauge, Halt, Passing, Plan, Product};
use crate::search::{Outcome, Query};
use crate::system::{Steps, System};

/// Where sets of states are kept.
#[derive(Clone, Debug)]
pub enum SetCarrier {
    /// In memory.
    Memory,
    /// In files.
    Disk(Arc<dyn Folder>),
    /// Shared out among processes that are connected; each keeps its part in memory or in files of its
    /// own. All must ask the same, with as many threads each.
    Processes(Arc<dyn Links>, Option<Arc<dyn Folder>>),
}

impl SetCarrier {
    fn folder(&self) -> Option<&Arc<dyn Folder>> {
        match self {
            Self::Memory => None,
            Self::Disk(folder) => Some(folder),
            Self::Processes(_, folder) => folder.as_ref(),
        }
    }

    fn links(&self) -> Option<&dyn Links> {
        match self {
            Self::Memory | Self::Disk(_) => None,
            Self::Processes(links, _) => Some(&**links),
        }
    }
}

/// The memory for messages if it is not limited.
const MEMORY: u64 = 1 << 31;

/// [`crate::find_run`] on sets of states. Steps are not left out and processes not exchanged; strong
/// global fairness must not be asked for.
///
/// # Errors
/// A proposition is too large to be compiled, or there are too many alternatives.
pub fn find_run_on_sets(
    system: &mut System<'_>,
    query: &Query<'_>,
    carrier: &SetCarrier,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Stats), CompileError> {
    let query = &Query {
        reduce: false,
        ..query.clone()
    };
    let search = SetSearch {
        query,
        goal: None,
        carrier,
        budget,
    };
    let (answer, stats) = search.run(system, progress)?;
    let outcome = match answer {
        Err(reason) => Outcome::Stopped(reason),
        Ok(Answer::Nothing) => Outcome::NoRun,
        Ok(Answer::Met { .. } | Answer::NoStart) => Outcome::Failed,
        Ok(Answer::Cycle { stem, cycle }) => {
            let mut trace = trace_of(system, &stem);
            let rest = trace_of(system, &cycle);
            trace.loop_start = Some(trace.steps.len());
            trace.states.pop();
            trace.steps.extend(rest.steps);
            trace.states.extend(rest.states);
            // The loop ends where it begins.
            trace.states.pop();
            Outcome::Run {
                trace,
                covering: None,
                component: None,
            }
        }
    };
    Ok((outcome, stats))
}

/// [`crate::explore`] on sets of states. Steps are not left out, and several goals must not be asked
/// for.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn explore_on_sets(
    system: &mut System<'_>,
    exploration: &Exploration<'_>,
    carrier: &SetCarrier,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<Explored, CompileError> {
    let query = Query {
        automaton: &Automaton::universal(),
        conditions: &[],
        alternatives: &[],
        strong_global: false,
        atoms: exploration.atoms,
        reduce: false,
        all_states: true,
        checkpoints: exploration.checkpoints,
    };
    let search = SetSearch {
        query: &query,
        goal: Some(exploration.goal),
        carrier,
        budget,
    };
    let (answer, mut stats) = search.run(system, progress)?;
    stats.n_product_states = None;
    let found = match answer {
        Err(reason) => Found::Stopped(reason),
        Ok(Answer::Nothing | Answer::Cycle { .. }) => Found::Nothing,
        Ok(Answer::NoStart) => Found::Failure(None),
        Ok(Answer::Met { path, is_goal }) => {
            let trace = trace_of(system, &path);
            if is_goal {
                Found::Goal(trace)
            } else {
                Found::Failure(Some(trace))
            }
        }
    };
    let met = Vec::new();
    Ok(Explored { found, met, stats })
}

/// A path as a run.
fn trace_of(system: &mut System<'_>, path: &Path) -> Trace {
    let mut pool = StepPool::default();
    let mut steps = Steps::default();
    let mut trace = Trace {
        states: Vec::new(),
        steps: Vec::new(),
        loop_start: None,
    };
    for (state, step) in &path.steps {
        trace.states.push(system.unpack(state));
        let computed = system.steps(state, &mut steps);
        debug_assert!(computed.is_ok(), "the steps were computed before");
        let label = steps.labels.get(*step as usize);
        let label = system.label(label.copied().unwrap_or(LabelTable::IDLE));
        trace.steps.push(pool.share(trace_step(label)));
    }
    trace.states.push(system.unpack(&path.end));
    trace
}

/// What is looked for, and with what.
struct SetSearch<'a> {
    query: &'a Query<'a>,
    /// What an exploration looks for; without it, a fair run is looked for.
    goal: Option<&'a Goal>,
    carrier: &'a SetCarrier,
    budget: &'a Budget,
}

impl SetSearch<'_> {
    fn run(
        &self,
        system: &mut System<'_>,
        progress: &mut dyn Progress,
    ) -> Result<(Result<Answer, StopReason>, Stats), CompileError> {
        let plan = Plan::new(system, self.query)?;
        let n_words = system.n_words();
        let search_id = self.fingerprint(system);
        let checkpoints = self.query.checkpoints;
        let inherited = checkpoints.map(|checkpoints| checkpoints.inherit(search_id));
        let inherited = inherited.unwrap_or_default();
        let Some(folder) = self.carrier.folder() else {
            let open = |_, _, _| InMemory::new(n_words);
            return self.run_on((system, search_id), &plan, &inherited, &open, progress);
        };

        let limit = self.budget.max_memory().unwrap_or(MEMORY);
        let max_bytes = limit / 2 / self.budget.n_threads() as u64;
        let open = |source: Option<usize>, generation: u64, part: usize| {
            let other = source.and_then(|source| inherited[source].folder.as_ref());
            let folder = Arc::clone(other.unwrap_or(folder));
            let prefix = format!("{search_id:016x}-{generation}-{part}-");
            OnDisk::new(folder, prefix, n_words, max_bytes, self.budget.clone())
        };
        self.run_on((system, search_id), &plan, &inherited, &open, progress)
    }

    /// What tells this search from all others.
    fn fingerprint(&self, system: &System<'_>) -> u64 {
        let query = Query {
            checkpoints: None,
            ..self.query.clone()
        };
        let goal = self.goal.map(|goal| goal as &dyn fmt::Debug);
        let model = system.model().parts();
        base::fingerprint(&(model, query, goal, "sets", system.forgotten()))
    }

    fn run_on<C: Carrier>(
        &self,
        (system, search_id): (&System<'_>, u64),
        plan: &Plan,
        inherited: &[Inherited],
        open: &Open<'_, C>,
        progress: &mut dyn Progress,
    ) -> Result<(Result<Answer, StopReason>, Stats), CompileError> {
        let (gauge, meter) = (Gauge::default(), Meter::default());
        let n_parts = self.budget.n_threads();
        let mut systems = vec![system.clone(); n_parts];
        let n_words = system.n_words();
        let new_view = |system| {
            let space = Passing::new(n_words, plan.n_letter_words(), &meter);
            let spending = (self.budget, &gauge);
            View {
                product: Product::new(system, self.query, plan.clone(), space, spending),
                goal: self.goal,
                n_transient: 0,
                earlier: Stats::default(),
                atoms: self.query.atoms,
            }
        };
        let views: Vec<View<'_, '_>> = systems.iter_mut().map(new_view).collect();
        let acceptance = views[0].product.acceptance.clone();
        if self.goal.is_none() && !sets::is_supported(&acceptance) {
            return Err(CompileError::TooManyAlternatives);
        }

        let kept = self.query.checkpoints.map(|checkpoints| Kept {
            checkpoints,
            search_id,
        });
        let earlier = inherited.iter().map(|inherited| Earlier {
            process: inherited.process,
            is_own: inherited.folder.is_none(),
            positions: inherited.state.clone(),
        });
        let earlier: Vec<Earlier> = earlier.collect();
        let question = Question {
            acceptance: self.goal.is_none().then_some(&acceptance),
            recurrent: &recurrent(self.query.automaton),
            all_states: self.query.all_states,
        };
        let keeper = kept.as_ref().map(|kept| kept as &dyn Keeper);
        let links = self.carrier.links();
        let mut search = sets::Search::new(question, views, open, links, &meter, progress, keeper);
        let answer = search.run(search_id, &earlier);

        let is_kept = kept.is_some() && answer.is_err();
        let (views, counts, failure) = search.finish(!is_kept);
        let answer = answer.and_then(|answer| failure.map_or(Ok(answer), Err));
        let mut stats = stats_of(&views, counts);
        stats.is_partial = answer == Ok(Answer::Nothing) && counts.n_unexplored > 0;
        stats.memory_bytes = meter.memory.load(Ordering::Relaxed);
        Ok((answer, stats))
    }
}

/// Which states of the automaton may occur again and again where its own acceptance is met. A cycle of
/// the product is one of the automaton, too, so it stays in a component of it.
fn recurrent(automaton: &Automaton) -> Vec<bool> {
    let mut graph = ExplicitGraph::new(automaton.n_states(), automaton.n_marks);
    let node = |state: usize| NodeId::new(state);
    for initial in &automaton.initial {
        graph.add_initial(node(initial.index()));
    }
    let of_letters: Vec<MarkId> = automaton.letter_marks.iter().map(|l| l.mark).collect();
    for (state, edges) in automaton.edges.iter().enumerate() {
        for edge in edges {
            // Letters are not known here: they may carry all of their marks, or none.
            let all = [edge.marks.as_slice(), &of_letters].concat();
            for marks in [&edge.marks, &all] {
                graph.add_edge(node(state), 0, node(edge.target.index()), marks);
            }
        }
    }

    let Ok(components) = omega::promising_components(&mut graph, &automaton.acceptance);
    let mut recurrent = vec![false; automaton.n_states()];
    for node in components.iter().flat_map(|component| &component.nodes) {
        recurrent[node.index()] = true;
    }
    recurrent
}

/// Where the position of a search is kept.
struct Kept<'a> {
    checkpoints: &'a dyn Checkpoints,
    search_id: u64,
}

impl Keeper for Kept<'_> {
    fn is_due(&self) -> bool {
        self.checkpoints.is_due()
    }

    fn keep(&self, position: &[u64]) -> bool {
        self.checkpoints.keep(self.search_id, position)
    }

    fn release(&self) {
        self.checkpoints.release();
    }
}

/// The product as one thread sees it.
struct View<'a, 'm> {
    product: Product<'a, 'm, Passing<'a>>,
    goal: Option<&'a Goal>,
    /// How many states it has met first in which some process has control.
    n_transient: u64,
    /// What was counted before the search was stopped.
    earlier: Stats,
    atoms: &'a [AtomId],
}

impl View<'_, '_> {
    fn stats(&self) -> Stats {
        let mut stats = self.product.stats(self.atoms);
        stats.merge(&self.earlier);
        stats
    }
}

/// The proposition that is looked for.
fn prop(goal: Option<&Goal>) -> Option<&omega::Prop> {
    match goal {
        Some(Goal::Satisfies(prop)) => Some(prop),
        None | Some(Goal::Nothing | Goal::Deadlock | Goal::Several(_)) => None,
    }
}

fn reason(halt: Halt) -> StopReason {
    match halt {
        Halt::Stopped(reason) => reason,
        Halt::Failed | Halt::Pause => unreachable!("a run-time error is remarked"),
    }
}

impl sets::Expand for View<'_, '_> {
    fn n_words(&self) -> usize {
        self.product.system.n_words()
    }

    fn n_copies(&self) -> usize {
        self.product.n_copies()
    }

    fn n_mark_words(&self) -> usize {
        omega::Graph::n_mark_words(&self.product)
    }

    fn initial(&mut self, out: &mut Successors) -> Result<(), StopReason> {
        let passed = self.product.pass_initial(prop(self.goal), out);
        passed.map_err(reason)
    }

    fn successors(
        &mut self,
        state: &[u64],
        wanted: &dyn Fn(usize) -> bool,
        is_new: bool,
        out: &mut Successors,
    ) -> Result<(), StopReason> {
        if is_new {
            let is_transient = self.product.system.is_transient(state);
            self.n_transient += u64::from(is_transient);
        }
        let goal = prop(self.goal);
        let passed = if self.goal.is_some() && !self.product.reads_steps() {
            self.product.pass_state((state, is_new), goal, out)
        } else {
            self.product.pass((state, is_new), wanted, goal, out)
        };
        passed.map_err(reason)?;
        if let (Some(Goal::Deadlock), true) = (self.goal, self.product.is_deadlocked()) {
            out.remark = out.remark.or(Some(sets::Remark {
                step: None,
                is_goal: true,
            }));
        }
        Ok(())
    }

    fn is_state(&self, words: &[u64]) -> bool {
        self.product.system.is_packed(words)
    }

    fn notes(&self) -> Vec<u64> {
        let stats = self.stats();
        let mut notes = Vec::new();
        put_list(&mut notes, [stats.n_transitions, self.n_transient]);
        let flags = |flags: &[bool]| flags.iter().map(|f| u64::from(*f)).collect::<Vec<_>>();
        put_list(&mut notes, flags(&stats.commands_taken));
        put_list(&mut notes, flags(&stats.atoms_seen));
        put_list(&mut notes, stats.action_counts.iter().copied());
        notes
    }

    fn add_notes(&mut self, notes: &[u64]) -> bool {
        let mut words = notes;
        let mut next = || take_list(&mut words).unwrap_or_default();
        let (numbers, taken, seen, counts) = (next(), next(), next(), next());
        let &[n_transitions, n_transient] = numbers else {
            return false;
        };
        let own = self.product.stats(self.atoms);
        let fits = taken.len() == own.commands_taken.len()
            && seen.len() == own.atoms_seen.len()
            && counts.len() == own.action_counts.len()
            && counts.iter().chain(numbers).all(|n| *n < 1 << 60);
        if !fits || !words.is_empty() {
            return false;
        }
        let flags = |words: &[u64]| words.iter().map(|word| *word != 0).collect();
        self.n_transient += n_transient;
        let mut all = Stats {
            n_transitions,
            commands_taken: flags(taken),
            atoms_seen: flags(seen),
            action_counts: counts.to_vec(),
            ..Stats::default()
        };
        all.merge(&self.earlier);
        self.earlier = all;
        true
    }
}

/// What all threads have seen.
fn stats_of(views: &[View<'_, '_>], counts: Counts) -> Stats {
    let (first, others) = views.split_first().expect("there is a thread");
    let mut stats = first.stats();
    others.iter().for_each(|view| stats.merge(&view.stats()));
    let n_transient: u64 = views.iter().map(|view| view.n_transient).sum();
    Stats {
        n_states: counts.n_states.saturating_sub(n_transient),
        n_product_states: Some(counts.n_nodes),
        ..stats
    }
}
