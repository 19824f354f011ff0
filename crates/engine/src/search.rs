//! The search for a fair run that an automaton accepts.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use base::{AtomId, Budget, Checkpoints, Progress, StopReason};
use evidence::{ComponentSize, StepPool, Trace};
use model::Condition;
use omega::{
    Acceptance, Automaton, Closure, Component, Graph, Lasso, LassoStep, NodeId, SearchState,
};
use rustc_hash::FxHashSet;

use crate::canonicalize::concrete_run;
use crate::compile::CompileError;
use crate::explore::{Stats, trace_step};
use crate::initial::has_more_initial_states;
use crate::parallel_search::find_run_parallel;
use crate::prefix::run_among_first;
use crate::product::{Gauge, Halt, OwnSpace, Plan, Product, Space};
use crate::stored_search::{find_run_stored, is_possible};
use crate::symmetric_search::find_symmetric_run;
use crate::system::System;

/// Which runs are looked for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// Runs that this automaton accepts,
    pub automaton: &'a Automaton,
    /// that are fair to each of these,
    pub conditions: &'a [Condition],
    /// or only as one of these alternatives demands, if some are given. Then no step may be left out,
    /// and the system must not exchange processes.
    pub alternatives: &'a [Alternative],
    /// and strong-global fair if this is set.
    pub strong_global: bool,
    /// The atoms that the automaton mentions, and any others to be evaluated everywhere.
    pub atoms: &'a [AtomId],
    /// May steps be left out that make no difference? The automaton must not be able to count steps
    /// that it does not see: its language must be closed under adding and removing positions that
    /// repeat the state propositions of the one before and at which no step proposition holds.
    /// Counts are then those of the reduced system. [`Stats::refusal`] says why it was not done.
    pub reduce: bool,
    /// Are all states to be visited even if it is known before that there is no such run? Then counts
    /// are those of the system, and run-time errors are met wherever they are.
    pub all_states: bool,
    /// Where the search keeps its state, and goes on from.
    pub checkpoints: Option<&'a dyn Checkpoints>,
}

/// One of several demands on a run.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// It is fair to each of these, which are among the conditions of the query,
    pub conditions: Vec<Condition>,
    /// and the marks of the automaton satisfy this besides the automaton's own acceptance.
    pub demand: Acceptance,
}

impl Query<'_> {
    pub(crate) fn closure(&self) -> Closure {
        if self.strong_global {
            Closure::OnSystem
        } else {
            Closure::None
        }
    }

    /// What tells this search from all others, if its state is kept.
    fn fingerprint(&self, system: &System<'_>) -> Option<u64> {
        self.checkpoints?;
        let query = Self {
            checkpoints: None,
            ..self.clone()
        };
        Some(base::fingerprint(&(
            system.model().parts(),
            query,
            system.forgotten(),
        )))
    }
}

/// What the search came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There is no such run. [`Stats::is_partial`] says whether the whole system was explored.
    NoRun,
    /// This is one, of the model itself.
    Run {
        /// A short lasso.
        trace: Trace,
        /// Under strong global fairness: a lasso whose loop takes every step of its component.
        covering: Option<Trace>,
        /// Under strong global fairness: the size of the closed component.
        component: Option<ComponentSize>,
    },
    /// There is one, but the run that was found is one of representatives, and no run of the model
    /// is known that it stands for: the search has to be made again without representatives.
    NotConcrete,
    /// The model has a run-time error in some state that was visited; [`crate::explore`] finds the way to
    /// it.
    Failed,
    /// The search was stopped.
    Stopped(StopReason),
}

/// Searches a fair run that the automaton accepts, with as many threads as the budget grants; with
/// one if the search is to keep its state, or if the system exchanges processes that conditions are
/// about. In that case nothing is kept, and strong global fairness must not be asked for.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn find_run(
    system: &mut System<'_>,
    query: &Query<'_>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Stats), CompileError> {
    assert!(
        query.alternatives.is_empty() || !query.reduce && !system.forgotten().symmetry,
        "what may be left out is known for conditions that must all be met"
    );
    let (outcome, stats) = if system.forgotten().symmetry && !query.conditions.is_empty() {
        return find_symmetric_run(system, query, budget, progress);
    } else {
        find_ordinary_run(system, query, budget, progress)?
    };
    let outcome = match outcome {
        Outcome::Run {
            trace,
            covering,
            component,
        } => concrete_run(system, trace).map_or(Outcome::NotConcrete, |trace| Outcome::Run {
            trace,
            covering,
            component,
        }),
        other => other,
    };
    Ok((outcome, stats))
}

/// A run of representatives, if the system forgets differences between states.
fn find_ordinary_run(
    system: &mut System<'_>,
    query: &Query<'_>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Stats), CompileError> {
    let gauge = Gauge::default();
    let plan = Plan::new(system, query)?;
    let spending = (budget, &gauge);
    let is_parallel = budget.n_threads() > 1 && query.checkpoints.is_none();
    let may_store = is_possible(system, query, &plan, budget.n_threads());
    if is_parallel && !may_store {
        return Ok(find_run_parallel(system, query, &plan, spending, progress));
    }

    let room = (system.n_words(), system.limits);
    let new_space = || OwnSpace::new(room, plan.n_letter_words(), query.automaton.n_states());
    let mut product = Product::new(system, query, plan.clone(), new_space(), spending);
    if may_store {
        if let Some(ended) = search_storing(&mut product, query, &plan, spending, progress) {
            return Ok(ended);
        }
        // What was not enough for that may be enough for a search that stores no edges.
        let system = product.system;
        if is_parallel {
            return Ok(find_run_parallel(system, query, &plan, spending, progress));
        }
        product = Product::new(system, query, plan.clone(), new_space(), spending);
    }

    let mut state = None;
    let search_id = query.fingerprint(product.system);
    if let Some(kept) = query
        .checkpoints
        .zip(search_id)
        .and_then(|(c, id)| c.take(id))
    {
        let mut words = kept.as_slice();
        let restored = product.restore(&mut words);
        state = restored.and_then(|()| SearchState::decode(product.n_mark_words(), &mut words));
        let fits = |state: &SearchState| words.is_empty() && product.fits(state);
        if !state.as_ref().is_some_and(fits) {
            let outcome = Outcome::Stopped(StopReason::DamagedCheckpoint);
            return Ok((outcome, Stats::default()));
        }
    }

    let mut state = state.unwrap_or_else(|| SearchState::new(product.n_mark_words()));
    let kept_as = query.checkpoints.zip(search_id);
    let patience = (u64::MAX, kept_as);
    let outcome = search(&mut product, query, patience, &mut state, &gauge, progress);
    let outcome = outcome.unwrap_or_else(Outcome::from);
    let stats = stats_of(&product, query, &outcome, &gauge);
    Ok((outcome, stats))
}

fn stats_of(
    product: &Product<'_, '_, OwnSpace>,
    query: &Query<'_>,
    outcome: &Outcome,
    gauge: &Gauge,
) -> Stats {
    let mut stats = product.stats(query.atoms);
    stats.is_partial = *outcome == Outcome::NoRun && !product.is_explored();
    stats.memory_bytes += gauge.search_bytes.load(Ordering::Relaxed);
    stats
}

/// Searches depth first for a while, then on stored edges, with turns of the former. Nothing if there
/// are not enough numbers, or not enough memory.
fn search_storing(
    product: &mut Product<'_, '_, OwnSpace>,
    query: &Query<'_>,
    plan: &Plan,
    (budget, gauge): (&Budget, &Gauge),
    progress: &mut dyn Progress,
) -> Option<(Outcome, Stats)> {
    // A search depth first would begin with storing all initial states.
    let n_first = product.system.limits.n_depth_first;
    let begins_soon = !has_more_initial_states(product.system, n_first);
    let mut state = SearchState::new(product.n_mark_words());
    if begins_soon {
        let patience = (n_first, None);
        let begun = search(product, query, patience, &mut state, gauge, progress);
        if !matches!(begun, Err(Halt::Pause)) {
            let outcome = begun.unwrap_or_else(Outcome::from);
            let stats = stats_of(product, query, &outcome, gauge);
            return Some((outcome, stats));
        }
        if let Some(outcome) = run_among_first(product, query, n_first) {
            let stats = stats_of(product, query, &outcome, gauge);
            return Some((outcome, stats));
        }
    }

    // Not before: most products are small.
    let system = product.system.clone();
    let mut has_ended = false;
    let mut go_on = |n_nodes: u64, progress: &mut dyn Progress| {
        if !begins_soon {
            return None;
        }
        let patience = (n_nodes, None);
        match search(product, query, patience, &mut state, gauge, progress) {
            Err(Halt::Pause) => None,
            result => {
                has_ended = true;
                Some(result)
            }
        }
    };
    let spending = (budget, gauge);
    let (outcome, stats) = find_run_stored(&system, query, plan, spending, &mut go_on, progress)?;
    let stats = if has_ended {
        stats_of(product, query, &outcome, gauge)
    } else {
        stats
    };
    Some((outcome, stats))
}

/// Tells those who watch how far a search has come.
pub(crate) fn observed(stats: &omega::SearchStats, gauge: &Gauge, progress: &mut dyn Progress) {
    gauge
        .search_bytes
        .store(stats.memory_bytes, Ordering::Relaxed);
    let mut snapshot = gauge.snapshot();
    snapshot.depth = stats.depth;
    progress.report(&snapshot);
}

/// Goes on with a search on the fly, for about so many nodes: then it pauses. It keeps its state where
/// that is asked for.
fn search(
    product: &mut Product<'_, '_, OwnSpace>,
    query: &Query<'_>,
    (patience, kept_as): (u64, Option<(&dyn Checkpoints, u64)>),
    state: &mut SearchState,
    gauge: &Gauge,
    progress: &mut dyn Progress,
) -> Result<Outcome, Halt> {
    let closure = query.closure();
    let acceptance = product.acceptance.clone();
    let is_patient = Cell::new(true);
    let mut observe = |stats: &omega::SearchStats| {
        observed(stats, gauge, progress);
        is_patient.set(stats.n_nodes + stats.n_revisits + 1 < patience);
        match kept_as {
            Some((checkpoints, _)) if !stats.is_inside && checkpoints.is_due() => Err(Halt::Pause),
            _ if !is_patient.get() => Err(Halt::Pause),
            _ => Ok(()),
        }
    };

    let n_mark_words = product.n_mark_words();
    let found = loop {
        let before = std::mem::replace(state, SearchState::new(n_mark_words));
        let search = omega::resume_fair_cycle(product, &acceptance, closure, &mut observe, before);
        *state = search.state;
        let halt = match search.result {
            Ok(found) => break found,
            Err(halt) => halt,
        };
        keep(product, state, kept_as);
        if halt != Halt::Pause || !is_patient.get() {
            return Err(halt);
        }
    };

    let Some(component) = found else {
        let explored = if query.all_states {
            product.explore_rest()
        } else {
            Ok(())
        };
        if explored.is_err() {
            keep(product, state, kept_as);
        }
        return explored.map(|()| Outcome::NoRun);
    };

    // What was restored may say things about the component that are not so.
    if product.is_restored {
        let confirmed = omega::confirm(product, &component, &acceptance, closure)?;
        let damaged = Halt::Stopped(StopReason::DamagedCheckpoint);
        return evidence_of(product, query, &confirmed.ok_or(damaged)?);
    }

    evidence_of(product, query, &component)
}

/// The runs that show what was found.
pub(crate) fn evidence_of<S: Space>(
    product: &mut Product<'_, '_, S>,
    query: &Query<'_>,
    component: &Component,
) -> Result<Outcome, Halt> {
    let acceptance = product.acceptance.clone();
    let lasso = omega::shortest_lasso(product, component, &acceptance)?;
    let (mut covering, mut size) = (None, None);
    if query.strong_global {
        let cover = omega::covering_lasso(product, component, &acceptance)?;
        covering = Some(to_trace(product, &cover)?);
        size = Some(system_size(product, component)?);
    }
    Ok(Outcome::Run {
        trace: to_trace(product, &lasso)?,
        covering,
        component: size,
    })
}

fn keep(
    product: &Product<'_, '_, OwnSpace>,
    state: &SearchState,
    kept_as: Option<(&dyn Checkpoints, u64)>,
) {
    if let Some((checkpoints, search_id)) = kept_as {
        let mut words = Vec::new();
        product.encode(&mut words);
        state.encode(&mut words);
        checkpoints.keep(search_id, &words);
    }
}

fn system_size<S: Space>(
    product: &mut Product<'_, '_, S>,
    component: &Component,
) -> Result<ComponentSize, Halt> {
    let mut states = FxHashSet::default();
    let mut n_steps = 0;
    for &node in &component.nodes {
        if states.insert(product.origin(node)) {
            n_steps += product.n_steps(node)? as usize;
        }
    }
    Ok(ComponentSize {
        n_states: states.len(),
        n_steps,
    })
}

/// A lasso of the product as a run of the system.
pub(crate) fn to_trace<S: Space>(
    product: &mut Product<'_, '_, S>,
    lasso: &Lasso,
) -> Result<Trace, Halt> {
    let mut trace = Trace {
        states: Vec::new(),
        steps: Vec::new(),
        loop_start: Some(lasso.stem.len()),
    };
    let mut pool = StepPool::default();
    let mut edges = omega::EdgeBuffer::new(product.n_mark_words());
    for LassoStep {
        source, position, ..
    } in lasso.stem.iter().chain(&lasso.cycle)
    {
        trace.states.push(unpack(product, *source));
        edges.truncate(0);
        product.successors(*source, &mut edges)?;
        let step = edges.step(*position as usize);
        let step = trace_step(product.step_label(*source, step)?);
        trace.steps.push(pool.share(step));
    }
    Ok(trace)
}

fn unpack<S: Space>(product: &Product<'_, '_, S>, node: NodeId) -> model::State {
    product.system.unpack(&product.words(node))
}
