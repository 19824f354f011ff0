//! The search for a fair run that an automaton accepts.

use base::{AtomId, Budget, Checkpoints, Progress, StopReason};
use evidence::{ComponentSize, Trace};
use model::Condition;
use omega::{Automaton, Closure, Component, Graph, Lasso, LassoStep, NodeId, SearchState};
use rustc_hash::FxHashSet;

use crate::compile::CompileError;
use crate::explore::{Stats, trace_step};
use crate::product::{Gauge, Halt, Product};
use crate::system::System;

/// Which runs are looked for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// Runs that this automaton accepts,
    pub automaton: &'a Automaton,
    /// that are fair to each of these,
    pub conditions: &'a [Condition],
    /// and strong-global fair if this is set.
    pub strong_global: bool,
    /// The atoms that the automaton mentions, and any others to be evaluated everywhere.
    pub atoms: &'a [AtomId],
    /// May steps be left out that make no difference? The automaton must not be able to count steps
    /// that it does not see: its language must be closed under adding and removing positions that
    /// repeat the state propositions of the one before and at which no step proposition holds.
    /// Counts are then those of the reduced system. [`Stats::refusal`] says why it was not done.
    pub reduce: bool,
    /// Where the search keeps its state, and goes on from.
    pub checkpoints: Option<&'a dyn Checkpoints>,
}

impl Query<'_> {
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
    /// There is no such run. The whole system was explored.
    NoRun,
    /// This is one.
    Run {
        /// A short lasso.
        trace: Trace,
        /// Under strong global fairness: a lasso whose loop takes every step of its component.
        covering: Option<Trace>,
        /// Under strong global fairness: the size of the closed component.
        component: Option<ComponentSize>,
    },
    /// The model has a run-time error in some reachable state; [`crate::explore`] finds the way to
    /// it.
    Failed,
    /// The search was stopped.
    Stopped(StopReason),
}

/// Searches a fair run that the automaton accepts.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn find_run(
    system: &mut System<'_>,
    query: &Query<'_>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Stats), CompileError> {
    let gauge = Gauge::default();
    let atoms = query.atoms;
    let mut product = Product::new(system, query, budget, &gauge)?;
    let mut state = None;
    let search_id = query.fingerprint(product.system);
    if let Some(kept) = query
        .checkpoints
        .zip(search_id)
        .and_then(|(c, id)| c.take(id))
    {
        let mut words = kept.as_slice();
        state = product
            .restore(&mut words)
            .and_then(|()| SearchState::decode(product.n_mark_words(), &mut words));
        if state.is_none() {
            // Kept by another search; this one starts afresh.
            product = Product::new(product.system, query, budget, &gauge)?;
        }
    }
    let state = state.unwrap_or_else(|| SearchState::new(product.n_mark_words()));
    let outcome = match search(&mut product, query, search_id, state, &gauge, progress) {
        Ok(outcome) => outcome,
        Err(Halt::Stopped(reason)) => Outcome::Stopped(reason),
        Err(Halt::Failed) => Outcome::Failed,
        Err(Halt::Pause) => unreachable!("a pause is over before the search is"),
    };
    let mut stats = product.stats(atoms);
    stats.memory_bytes += gauge.search_bytes.get();
    Ok((outcome, stats))
}

fn search(
    product: &mut Product<'_, '_>,
    query: &Query<'_>,
    search_id: Option<u64>,
    state: SearchState,
    gauge: &Gauge,
    progress: &mut dyn Progress,
) -> Result<Outcome, Halt> {
    let closure = if query.strong_global {
        Closure::OnSystem
    } else {
        Closure::None
    };
    let acceptance = product.acceptance.clone();
    let checkpoints = query.checkpoints;
    let kept_as = checkpoints.zip(search_id);
    let mut observe = |stats: &omega::SearchStats| {
        gauge.search_bytes.set(stats.memory_bytes);
        let mut snapshot = gauge.snapshot.get();
        snapshot.depth = stats.depth;
        progress.report(&snapshot);
        match checkpoints {
            Some(checkpoints) if !stats.is_inside && checkpoints.is_due() => Err(Halt::Pause),
            _ => Ok(()),
        }
    };
    let mut state = state;
    let found = loop {
        let search = omega::resume_fair_cycle(product, &acceptance, closure, &mut observe, state);
        state = search.state;
        match search.result {
            Err(Halt::Pause) => keep(product, &state, kept_as),
            Err(halt) => {
                keep(product, &state, kept_as);
                return Err(halt);
            }
            Ok(found) => break found,
        }
    };
    let Some(component) = found else {
        let explored = product.explore_rest();
        if explored.is_err() {
            keep(product, &state, kept_as);
        }
        return explored.map(|()| Outcome::NoRun);
    };
    let lasso = omega::shortest_lasso(product, &component, &acceptance)?;
    let (mut covering, mut size) = (None, None);
    if query.strong_global {
        let cover = omega::covering_lasso(product, &component, &acceptance)?;
        covering = Some(to_trace(product, &cover)?);
        size = Some(system_size(product, &component)?);
    }
    Ok(Outcome::Run {
        trace: to_trace(product, &lasso)?,
        covering,
        component: size,
    })
}

fn keep(product: &Product<'_, '_>, state: &SearchState, kept_as: Option<(&dyn Checkpoints, u64)>) {
    if let Some((checkpoints, search_id)) = kept_as {
        let mut words = Vec::new();
        product.encode(&mut words);
        state.encode(&mut words);
        checkpoints.keep(search_id, &words);
    }
}

fn system_size(
    product: &mut Product<'_, '_>,
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
fn to_trace(product: &mut Product<'_, '_>, lasso: &Lasso) -> Result<Trace, Halt> {
    let mut trace = Trace {
        states: Vec::new(),
        steps: Vec::new(),
        loop_start: Some(lasso.stem.len()),
    };
    let mut edges = omega::EdgeBuffer::new(product.n_mark_words());
    for LassoStep {
        source, position, ..
    } in lasso.stem.iter().chain(&lasso.cycle)
    {
        trace.states.push(unpack(product, *source));
        edges.truncate(0);
        product.successors(*source, &mut edges)?;
        let step = edges.step(*position as usize);
        trace
            .steps
            .push(trace_step(product.step_label(*source, step)?));
    }
    Ok(trace)
}

fn unpack(product: &Product<'_, '_>, node: NodeId) -> model::State {
    product.system.unpack(&product.words(node))
}
