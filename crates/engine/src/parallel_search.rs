//! The search for a fair run by several threads.
//!
//! Each thread has a view of the product of its own, with its own copy of the system; what states
//! and nodes are called is the same for all ([`ParallelSpace`]). The search itself is
//! [`omega::find_fair_cycle_parallel`].

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use base::{Budget, Progress};

use crate::explore::Stats;
use crate::product::{Gauge, Halt, ParallelSpace, Plan, Product, SharedSpace, Space as _};
use crate::search::{Outcome, Query, evidence_of, observed};
use crate::system::System;
use store::StateIndex;

/// How many states a thread takes at a time when the rest is explored.
const BATCH: u32 = 256;

/// The view of one thread.
type View<'a, 'm> = Product<'a, 'm, ParallelSpace<'a>>;

/// Searches a fair run with as many threads as the budget grants. Its state cannot be kept.
pub(crate) fn find_run_parallel(
    system: &System<'_>,
    query: &Query<'_>,
    plan: &Plan,
    (budget, gauge): (&Budget, &Gauge),
    progress: &mut dyn Progress,
) -> (Outcome, Stats) {
    let n_automaton_states = query.automaton.n_states();
    let shared = SharedSpace::new(system, query.atoms.len(), n_automaton_states);
    let mut systems = vec![system.clone(); budget.n_threads()];
    let new_view = |system| {
        let space = ParallelSpace::new(&shared);
        Product::new(system, query, plan.clone(), space, (budget, gauge))
    };
    let mut parallel = ParallelSearch {
        views: systems.iter_mut().map(new_view).collect(),
        shared: &shared,
        n_unused: (0, 0),
    };
    let outcome = parallel
        .run(query, gauge, progress)
        .unwrap_or_else(Outcome::from);
    let mut stats = parallel.stats(query);
    stats.is_partial = outcome == Outcome::NoRun && !parallel.is_explored();
    stats.memory_bytes += gauge.search_bytes.load(Ordering::Relaxed);
    (outcome, stats)
}

struct ParallelSearch<'a, 'm> {
    views: Vec<View<'a, 'm>>,
    shared: &'a SharedSpace,
    /// How many names of states and of nodes belong to none.
    n_unused: (usize, usize),
}

impl ParallelSearch<'_, '_> {
    fn run(
        &mut self,
        query: &Query<'_>,
        gauge: &Gauge,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Halt> {
        let acceptance = self.views[0].acceptance.clone();
        let mut observe = |stats: &omega::SearchStats| {
            observed(stats, gauge, progress);
            Ok(())
        };
        let closure = query.closure();
        let views = &mut self.views;
        let search = omega::find_fair_cycle_parallel(views, &acceptance, closure, &mut observe);
        match search.result? {
            Some(component) => evidence_of(&mut self.views[0], query, &component),
            None if query.all_states => self.explore_rest().map(|()| Outcome::NoRun),
            None => Ok(Outcome::NoRun),
        }
    }

    /// Explores what the automaton did not lead to, in rounds: in each, the states that there were
    /// at its beginning.
    fn explore_rest(&mut self) -> Result<(), Halt> {
        let mut first = 0;
        loop {
            self.give_up_names();
            let end = self.shared.n_states() as StateIndex;
            if first == end {
                return Ok(());
            }
            self.explore_range(first, end)?;
            first = end;
        }
    }

    /// Were the steps of all states computed that were met?
    fn is_explored(&self) -> bool {
        let space = &self.views[0].space;
        let mut names = 0..self.shared.n_states() as StateIndex;
        names.all(|name| !self.shared.is_state(name) || space.n_steps(name).is_some())
    }

    fn explore_range(&mut self, first: StateIndex, end: StateIndex) -> Result<(), Halt> {
        let cursor = AtomicU32::new(first);
        let is_over = AtomicBool::new(false);
        let shared = self.shared;
        let (cursor, is_over) = (&cursor, &is_over);
        let run = |view: &mut View<'_, '_>| {
            while !is_over.load(Ordering::Relaxed) {
                // Passes the end by at most a batch for each thread, and names have 31 bits.
                let first = cursor.fetch_add(BATCH, Ordering::Relaxed);
                if first >= end {
                    break;
                }
                let mut names = first..end.min(first + BATCH);
                let mut explore = |name| view.explore_from(name);
                let result = names
                    .by_ref()
                    .filter(|name| shared.is_state(*name))
                    .try_for_each(&mut explore);
                if result.is_err() {
                    is_over.store(true, Ordering::Relaxed);
                    return result;
                }
            }
            Ok(())
        };

        let run = &run;
        std::thread::scope(|scope| {
            let (own, others) = self.views.split_first_mut().expect("there is a thread");
            let others: Vec<_> = others
                .iter_mut()
                .map(|view| scope.spawn(move || run(view)))
                .collect();
            let own = run(own);
            let join = |other: std::thread::ScopedJoinHandle<'_, _>| match other.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            others.into_iter().map(join).fold(own, Result::and)
        })
    }

    fn give_up_names(&mut self) {
        for view in &mut self.views {
            let (n_states, n_nodes) = view.space.give_up_names();
            self.n_unused.0 += n_states;
            self.n_unused.1 += n_nodes;
        }
    }

    fn stats(&mut self, query: &Query<'_>) -> Stats {
        self.give_up_names();
        let mut views = self.views.iter();
        let first = views.next().expect("there is a thread");
        let mut all = first.stats(query.atoms);
        let mut n_transient = first.n_transient;

        for view in views {
            all.merge(&view.stats(query.atoms));
            n_transient += view.n_transient;
        }

        let n_states = (self.shared.n_states() - self.n_unused.0) as u64;
        let n_nodes = match self.shared.n_pairs() {
            Some(n_pairs) => (n_pairs - self.n_unused.1) as u64,
            None => n_states,
        };
        Stats {
            n_states: n_states - n_transient,
            n_product_states: Some(n_nodes),
            memory_bytes: self.shared.memory(),
            ..all
        }
    }
}
