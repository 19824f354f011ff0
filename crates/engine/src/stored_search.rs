//! The search for a fair run on stored edges.
//!
//! A run that violates a property is often found soon, so the search begins depth first, on the fly.
//! If it has found nothing after a few thousand nodes, the product is explored breadth first, as fast as
//! reachability and by all threads, and the edges that can be on accepted cycles are stored
//! (`product/harvest.rs`); then [`omega::find_fair_cycle_stored`] decides. While the exploration goes
//! on, it stops at times to look for a cycle in what is there, and to go on depth first a little.
//!
//! What this cannot hold is left to the other searches: see [`is_possible`].

use std::sync::atomic::{AtomicBool, AtomicU32};

use base::{Budget, NoProgress, Progress, StopReason};
use omega::{Closure, Component, MarkSets, NodeId, StoredGraph};

use crate::explore::Stats;
use crate::product::{
    Gauge, Grid, GridSpace, Halt, Harvester, MAX_COPIES, Plan, Product, Recurrence, Task,
};
use crate::search::{Outcome, Query, evidence_of};
use crate::system::System;
use store::{Bytes, StateIndex};

/// When there are so many times as many states as nodes were searched depth first, what is there is
/// searched for the first time,
const FIRST_STAGE: usize = 32;
/// and when there are so many times as many, again.
const STAGE_FACTOR: usize = 4;
/// For each so many nodes the search that goes on depth first may visit one.
const MEANWHILE: u64 = 32;

/// Can the product be explored in this way, and is it worth it? Strong global fairness is judged on whole
/// components of systems that often have many edges; there one thread needs twice the memory for hardly less
/// time (LE_R with 7 processes: 903 MB instead of 405 MB, 15.1 s instead of 16.9 s).
pub(crate) fn is_possible(
    system: &System<'_>,
    query: &Query<'_>,
    plan: &Plan,
    n_threads: usize,
) -> bool {
    query.checkpoints.is_none()
        && (!query.strong_global || n_threads > 1)
        && system.limits.n_depth_first < u64::MAX
        && query.automaton.n_states() <= MAX_COPIES
        && !plan.is_reduced()
        && !Plan::needs_targets(system, query)
}

/// What another search does meanwhile: it may use so many nodes more, and says if it has come to an end.
pub(crate) type Meanwhile<'a> =
    dyn FnMut(u64, &mut dyn Progress) -> Option<Result<Outcome, Halt>> + 'a;

/// Searches a fair run. Nothing if there are not enough numbers, or not enough memory: then another
/// search has to be made.
pub(crate) fn find_run_stored(
    system: &System<'_>,
    query: &Query<'_>,
    plan: &Plan,
    (budget, gauge): (&Budget, &Gauge),
    meanwhile: &mut Meanwhile<'_>,
    progress: &mut dyn Progress,
) -> Option<(Outcome, Stats)> {
    let recurrence = {
        let mut system = system.clone();
        let grid = Grid::new(&system, query.automaton.n_states(), 0);
        let space = GridSpace::new(&grid, false);
        let product = Product::new(&mut system, query, plan.clone(), space, (budget, gauge));
        Recurrence::new(&product)
    };

    let n_recurrent = recurrence.states.len();
    let grid = Grid::new(system, query.automaton.n_states(), n_recurrent);
    let n_threads = budget.n_threads();
    let mut systems = vec![system.clone(); n_threads];
    let new_harvester = |system| {
        let space = GridSpace::new(&grid, n_threads > 1);
        let product = Product::new(system, query, plan.clone(), space, (budget, gauge));
        Harvester::new(product, recurrence.clone(), query.strong_global)
    };
    let mut search = StoredSearch {
        harvesters: systems.iter_mut().map(new_harvester).collect(),
        grid: &grid,
        budget,
        closure: query.closure(),
        n_unused: 0,
        min_shared: system.limits.n_depth_first.min(1 << 12) as u32,
        next_stage: system.limits.n_depth_first as usize * FIRST_STAGE,
        has_explored_rest: false,
    };
    let result = search.run(query, meanwhile, progress);
    if matches!(
        result,
        Err(Halt::Pause | Halt::Stopped(StopReason::MemoryLimit))
    ) {
        return None;
    }
    let outcome = result.unwrap_or_else(Outcome::from);
    let mut stats = search.stats(query);
    stats.is_partial = outcome == Outcome::NoRun && !search.is_explored();
    Some((outcome, stats))
}

struct StoredSearch<'a, 'm> {
    harvesters: Vec<Harvester<'a, 'm>>,
    grid: &'a Grid,
    budget: &'a Budget,
    closure: Closure,
    /// How many names of states belong to none.
    n_unused: usize,
    /// Fewer states are expanded by one thread; starting another would take longer.
    min_shared: u32,
    next_stage: usize,
    /// Were the states explored that the automaton does not lead to?
    has_explored_rest: bool,
}

impl StoredSearch<'_, '_> {
    fn run(
        &mut self,
        query: &Query<'_>,
        meanwhile: &mut Meanwhile<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Halt> {
        self.harvesters[0].begin()?;
        let mut first = 0;
        while let Some(end) = self.expand_level(first, progress)? {
            first = end;
            if self.grid.n_states() >= self.next_stage {
                self.next_stage = self.grid.n_states() * STAGE_FACTOR;
                if let Some(component) = self.find_component()? {
                    return self.evidence(query, component);
                }
                let n_nodes = self.grid.n_nodes() / MEANWHILE;
                if let Some(result) = meanwhile(n_nodes, progress) {
                    return result;
                }
            }
        }

        if let Some(component) = self.find_component()? {
            return self.evidence(query, component);
        }
        if query.all_states {
            self.explore_rest(progress)?;
        }
        Ok(Outcome::NoRun)
    }

    /// Expands the states from `first` on that there are, and those that have to be expanded again.
    /// Says where the next ones begin; nothing if there was nothing to do.
    fn expand_level(
        &mut self,
        first: StateIndex,
        progress: &mut dyn Progress,
    ) -> Result<Option<StateIndex>, Halt> {
        self.give_up_names();
        let end = self.grid.n_states() as StateIndex;
        let harvesters = self.harvesters.iter_mut();
        let again: Vec<StateIndex> = harvesters.flat_map(|h| h.again.drain(..)).collect();
        if first == end && again.is_empty() {
            return Ok(None);
        }
        self.share(&task(first, end, end, None), progress)?;
        let n_again = again.len() as u32;
        self.share(&task(0, n_again, end, Some(&again)), progress)?;
        Ok(Some(end))
    }

    /// Explores what the automaton did not lead to, so that the counts are those of the system.
    fn explore_rest(&mut self, progress: &mut dyn Progress) -> Result<(), Halt> {
        let mut first = 0;
        loop {
            self.give_up_names();
            let end = self.grid.n_states() as StateIndex;
            if first == end {
                self.has_explored_rest = true;
                return Ok(());
            }
            let rest = Task {
                is_rest: true,
                ..task(first, end, end, None)
            };
            self.share(&rest, progress)?;
            first = end;
        }
    }

    /// Lets the threads do a task together.
    fn share(&mut self, task: &Task<'_>, progress: &mut dyn Progress) -> Result<(), Halt> {
        let (own, others) = self
            .harvesters
            .split_first_mut()
            .expect("there is a thread");
        if others.is_empty() || task.items.len() < self.min_shared as usize {
            return own.serve(task, progress);
        }
        std::thread::scope(|scope| {
            let start = |other| scope.spawn(move || Harvester::serve(other, task, &mut NoProgress));
            let others: Vec<_> = others.iter_mut().map(start).collect();
            let own = own.serve(task, progress);
            let join = |other: std::thread::ScopedJoinHandle<'_, _>| match other.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            others.into_iter().map(join).fold(own, Result::and)
        })
    }

    /// Were the steps of all states computed that were met?
    fn is_explored(&self) -> bool {
        let mut names = 0..self.grid.n_states() as StateIndex;
        self.has_explored_rest
            || names.all(|name| !self.grid.is_state(name) || self.grid.is_expanded(name))
    }

    /// A component in what has been explored so far.
    fn find_component(&mut self) -> Result<Option<Component>, Halt> {
        // Without an edge to a node with the same or a smaller number there is no cycle.
        if !self.harvesters.iter().any(|h| h.leads_back) {
            return Ok(None);
        }
        for harvester in &mut self.harvesters {
            harvester.flush()?;
        }
        let product = &self.harvesters[0].product;
        let n_words = omega::Graph::n_mark_words(product);
        let edges = StoredEdges {
            grid: self.grid,
            records: self.grid.take_records(),
            source_sets: self.grid.source_sets(n_words),
            edge_sets: self.grid.edge_sets(n_words),
            keeps_steps: self.closure == Closure::OnSystem,
            budget: self.budget,
            memory: self.grid.memory(),
        };
        let found = omega::find_fair_cycle_stored(&edges, &product.acceptance, self.closure);
        self.grid.put_records(edges.records);
        found
    }

    /// The runs that show what was found.
    fn evidence(&mut self, query: &Query<'_>, mut component: Component) -> Result<Outcome, Halt> {
        let harvester = &mut self.harvesters[0];
        for node in &mut component.nodes {
            *node = harvester.product_node(*node);
        }
        evidence_of(&mut harvester.product, query, &component)
    }

    /// States that are found later have names behind those found now.
    fn give_up_names(&mut self) {
        let harvesters = self.harvesters.iter_mut();
        self.n_unused += harvesters.map(Harvester::give_up_names).sum::<usize>();
    }

    fn stats(&mut self, query: &Query<'_>) -> Stats {
        self.give_up_names();
        let mut products = self.harvesters.iter().map(|harvester| &harvester.product);
        let first = products.next().expect("there is a thread");
        let mut all = first.stats(query.atoms);
        let mut n_transient = first.n_transient;
        for product in products {
            all.merge(&product.stats(query.atoms));
            n_transient += product.n_transient;
        }
        let n_states = (self.grid.n_states() - self.n_unused) as u64;
        // As the other searches count: there, with a single automaton state, each state is a node.
        let n_nodes = match query.automaton.n_states() {
            1 => n_states,
            _ => self.grid.n_nodes(),
        };
        Stats {
            n_states: n_states - n_transient,
            n_product_states: Some(n_nodes),
            memory_bytes: self.grid.memory(),
            ..all
        }
    }
}

fn task(first: u32, end: u32, next: StateIndex, list: Option<&[StateIndex]>) -> Task<'_> {
    Task {
        items: first..end,
        list,
        next,
        is_rest: false,
        cursor: AtomicU32::new(first),
        is_over: AtomicBool::new(false),
    }
}

/// The edges of a product, and what limits a search in them.
struct StoredEdges<'a> {
    grid: &'a Grid,
    records: Bytes,
    source_sets: MarkSets,
    edge_sets: MarkSets,
    keeps_steps: bool,
    budget: &'a Budget,
    memory: u64,
}

impl StoredGraph for StoredEdges<'_> {
    type Stop = Halt;

    fn n_nodes(&self) -> usize {
        self.grid.n_states() * self.grid.n_recurrent() as usize
    }

    fn record(&self, node: NodeId) -> Option<u32> {
        self.grid.record(node)
    }

    #[inline]
    fn bytes(&self, place: u32) -> &[u8] {
        self.records.from(place)
    }

    fn keeps_steps(&self) -> bool {
        self.keeps_steps
    }

    fn source_sets(&self) -> &MarkSets {
        &self.source_sets
    }

    fn edge_sets(&self) -> &MarkSets {
        &self.edge_sets
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.grid.pair(node).0
    }

    fn check_limits(&self, bytes: usize) -> Result<(), Halt> {
        let n_nodes = self.grid.n_nodes();
        let spent = self.budget.check(n_nodes, self.memory + bytes as u64);
        spent.map_err(Halt::Stopped)
    }

    fn out_of_numbers(&self) -> Halt {
        Halt::Pause
    }
}
