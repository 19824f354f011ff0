//! Fair cycles, searched by several threads.
//!
//! Problem and answer are those of `emerson_lei.rs`. Every thread searches depth first, in an order
//! of its own, and all share what they know about components: V. Bloemen, A. Laarman, J. van de
//! Pol, "Multi-core on-the-fly SCC decomposition", PPoPP 2016, doi:10.1145/2851141.2851161 (UFSCC),
//! here with marks, as in their "Multi-core SCC-based LTL model checking", HVC 2016,
//! doi:10.1007/978-3-319-49052-6_2.
//!
//! ```text
//! search(v):  enter the set of v                        (sets: union_find.rs)
//!   while the set has an unexplored member u
//!     for each edge u → w
//!       w in a dead set          : nothing
//!       w in a set not entered   : search(w)
//!       else                     : unite all sets on the path down to that of w
//!     u is explored
//!   the set is a complete component; it is dead
//! ```
//!
//! The set of an edge's end has its marks as soon as both ends are in it. What follows when a
//! component satisfies the formula, or may contain a part that does, is the same as with one
//! thread, with these differences:
//! * A partial component that seems to satisfy the formula makes all threads pause, so that no set is
//!   about to be united with another. Then it is searched afresh, by one thread: its members are in
//!   one component, but the ways between them may lead through sets that are not united with it yet
//!   (see `Sets`). Without a witness among the members the search goes on.
//! * A small complete component is looked into by the thread that completed it, with the sequential
//!   algorithm, while the others go on. For a large one all pause, and it is taken apart by all of
//!   them, with the search above restricted to it: every other component that can be reached from
//!   it is dead. Its test for closure is shared out by origins.
//!
//! Deviations from the paper: see `union_find.rs`. Besides, a member is chosen again only when the
//! frame below is in another set (as in the authors' implementation; else that frame goes on with
//! the work), and a thread leaves a node at once that others have explored.
//!
//! Which component is found depends on the threads; whether there is one does not.
//!
//! Cost: as with one thread, plus at most one expansion of each node for each further thread; 16
//! bytes and a mark set per node.

mod chunks;
mod union_find;
mod worker;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use self::union_find::{MAX_THREADS, Sets};
use self::worker::{NO_PANIC, News, Round, Worker};
use crate::closure::{by_origin, take_all_steps};
use crate::confirm::confirm_reached;
use crate::emerson_lei::{Emptiness, Goal, Promising};
use crate::exploration::{Exploration, Observer, SearchStats, initial_nodes};
use crate::mark_names::FixedNames;
use crate::path_based::PathSearch;
use crate::refinement::{Refinement, Removal};
use crate::{Acceptance, Closure, Component, EdgeBuffer, Graph, NodeId};

/// Complete components with at least this many nodes are looked into by all threads together.
const MIN_SHARED: usize = 1 << 14;

/// How many nodes a thread tests for closure at a time, at least.
const CLOSURE_BATCH: usize = 1 << 10;

/// How a fair-cycle search by several threads ended.
#[derive(Debug)]
pub struct ParallelSearch<S> {
    /// The component found, nothing if there is none, or the reason for which the search stopped.
    pub result: Result<Option<Component>, S>,
    /// What was done, by all threads together. A node that several threads came to at the same time
    /// counts for each of them.
    pub stats: SearchStats,
}

/// Searches a reachable component that satisfies `acceptance` and `closure`, with one thread for
/// each graph (at most 60).
///
/// The graphs must be views of one graph: what is said about a node by one, all say. `observer` is
/// called by the calling thread every 4096 nodes that it expands; it may stop the search.
///
/// # Panics
/// There is no graph.
pub fn find_fair_cycle_parallel<G: Graph<Stop: Send> + Send>(
    graphs: &mut [G],
    acceptance: &Acceptance,
    closure: Closure,
    observer: &mut Observer<'_, G::Stop>,
) -> ParallelSearch<G::Stop> {
    search(graphs, acceptance, closure, observer, MIN_SHARED)
}

fn search<G: Graph<Stop: Send> + Send>(
    graphs: &mut [G],
    acceptance: &Acceptance,
    closure: Closure,
    observer: &mut Observer<'_, G::Stop>,
    min_shared: usize,
) -> ParallelSearch<G::Stop> {
    let n_mark_words = graphs.first().expect("there is a graph").n_mark_words();
    let n_threads = graphs.len().min(MAX_THREADS);
    let mut emptiness = ParallelEmptiness {
        sets: &Sets::new(n_mark_words),
        graphs: &mut graphs[..n_threads],
        // Nothing but the component that is looked into is open for the nested searches.
        nested: (0..n_threads)
            .map(|_| PathSearch::inside(n_mark_words))
            .collect(),
        acceptance,
        closure,
        min_shared,
        stats: SearchStats::default(),
    };
    let result = emptiness.run(observer);
    ParallelSearch {
        result,
        stats: emptiness.stats,
    }
}

/// The threads and what they have in common.
struct ParallelEmptiness<'a, G> {
    graphs: &'a mut [G],
    sets: &'a Sets,
    /// For each thread, its nested search.
    nested: Vec<PathSearch>,
    acceptance: &'a Acceptance,
    closure: Closure,
    min_shared: usize,
    stats: SearchStats,
}

/// What is searched: from these nodes, along edges with these marks, for parts that satisfy this.
struct Task<'a> {
    starts: &'a [NodeId],
    allowed: Option<&'a [u64]>,
    formula: &'a Acceptance,
}

/// What a search comes to: a witness, or large components that may contain one.
enum Decomposition {
    Witness(Component),
    Open(Vec<Promising>),
}

impl<G: Graph<Stop: Send> + Send> ParallelEmptiness<'_, G> {
    fn run(&mut self, observer: &mut Observer<'_, G::Stop>) -> Result<Option<Component>, G::Stop> {
        let starts = initial_nodes(&mut self.graphs[0])?;
        let everything = Task {
            starts: &starts,
            allowed: None,
            formula: self.acceptance,
        };
        Ok(match self.decompose(&everything, true, observer)? {
            Decomposition::Witness(component) => Some(component),
            Decomposition::Open(_) => None,
        })
    }

    /// Searches all components. Large ones are looked into as soon as they are complete, or are
    /// what is returned.
    fn decompose(
        &mut self,
        task: &Task<'_>,
        at_once: bool,
        observer: &mut Observer<'_, G::Stop>,
    ) -> Result<Decomposition, G::Stop> {
        let sets = self.sets;
        let n_threads = self.graphs.len();
        let n_mark_words = self.graphs[0].n_mark_words();
        let mut workers: Vec<Worker> = (0..n_threads)
            .map(|index| Worker::new(index, n_threads, task.starts.len(), n_mark_words))
            .collect();
        let round = Round {
            sets,
            starts: task.starts,
            allowed: task.allowed,
            formula: task.formula,
            acceptance: self.acceptance,
            closure: self.closure,
            min_shared: self.min_shared,
            at_once,
            is_paused: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            news: Mutex::default(),
            bytes: AtomicUsize::new(0),
        };

        let mut open = Vec::new();
        while !round.is_over.load(Ordering::Acquire) {
            round.is_paused.store(false, Ordering::Release);
            self.advance(&round, &mut workers, !at_once, observer);
            let News {
                stop,
                witness,
                candidates,
                shared,
            } = std::mem::take(&mut *round.news.lock().expect(NO_PANIC));
            if let Some(component) = witness {
                return Ok(Decomposition::Witness(component));
            }
            for node in candidates {
                if let Some(component) = self.confirm_partial(node)? {
                    return Ok(Decomposition::Witness(component));
                }
            }
            if let Some(stop) = stop {
                return Err(stop);
            }
            if !at_once {
                open.extend(shared);
                continue;
            }
            for (component, formula) in shared {
                if let Some(found) = self.look_into(component, formula, observer)? {
                    return Ok(Decomposition::Witness(found));
                }
            }
        }

        Ok(Decomposition::Open(open))
    }

    /// A witness among the members of a set that may still grow. No thread may be searching.
    fn confirm_partial(&mut self, node: NodeId) -> Result<Option<Component>, G::Stop> {
        let component = self.sets.component(node);
        if !self.acceptance.accepts(&component.marks) {
            return Ok(None);
        }
        confirm_reached(
            &mut self.graphs[0],
            &component,
            self.acceptance,
            Closure::None,
        )
    }

    /// Lets all threads search until they pause.
    fn advance(
        &mut self,
        round: &Round<'_, G::Stop>,
        workers: &mut [Worker],
        is_nested: bool,
        observer: &mut Observer<'_, G::Stop>,
    ) {
        let Self {
            graphs,
            nested,
            acceptance,
            closure,
            ..
        } = self;

        let goal = Goal {
            acceptance,
            closure: *closure,
        };
        let threads = graphs.iter_mut().zip(nested).zip(workers);
        let run = |((graph, nested), worker): ((&mut G, &mut PathSearch), &mut Worker),
                   observer: &mut Observer<'_, G::Stop>| {
            let mut observe = |stats: &SearchStats| observer(stats);
            let mut ctx = Exploration::new(graph, &mut observe);
            ctx.revisiting = is_nested;
            let search = std::mem::replace(nested, PathSearch::inside(0));
            let mut inner = Emptiness::new(ctx, search, FixedNames, goal);
            worker.run(round, &mut inner);
            let stats = inner.ctx.stats;
            *nested = inner.into_search();
            stats
        };

        let all_stats = std::thread::scope(|scope| {
            let mut threads = threads;
            let first = threads.next().expect("there is a graph");
            let run = &run;
            let others: Vec<_> = threads
                .map(|thread| scope.spawn(move || run(thread, &mut |_| Ok(()))))
                .collect();
            let first = run(first, observer);
            let others = others.into_iter().map(|other| match other.join() {
                Ok(stats) => stats,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            others.chain([first]).collect::<Vec<_>>()
        });

        for stats in &all_stats {
            self.stats.add(stats);
        }
    }

    /// Looks into a large complete component.
    fn look_into(
        &mut self,
        component: Component,
        formula: Acceptance,
        observer: &mut Observer<'_, G::Stop>,
    ) -> Result<Option<Component>, G::Stop> {
        let mut parts = vec![(component, formula)];
        let mut open = Refinement::default();
        loop {
            for (component, formula) in parts {
                if self.closure == Closure::OnSystem && !self.is_closed(&component)? {
                    continue;
                }
                if self.acceptance.accepts(&component.marks) {
                    return Ok(Some(component));
                }
                open.add(component, formula);
            }

            let Some(removal) = open.next_removal() else {
                return Ok(None);
            };
            match self.take_apart(&removal, observer)? {
                Decomposition::Witness(found) => return Ok(Some(found)),
                Decomposition::Open(undecided) => parts = undecided,
            }
        }
    }

    /// The components that are left of a complete one when all edges with a removed mark are gone.
    fn take_apart(
        &mut self,
        removal: &Removal,
        observer: &mut Observer<'_, G::Stop>,
    ) -> Result<Decomposition, G::Stop> {
        self.sets.reset(&removal.component.nodes);
        let task = Task {
            starts: &removal.component.nodes,
            allowed: Some(&removal.allowed),
            formula: &removal.formula,
        };
        self.decompose(&task, false, observer)
    }

    /// Does a component, which is a set, take every step of its origins?
    fn is_closed(&mut self, component: &Component) -> Result<bool, G::Stop> {
        let sets = self.sets;
        let root = sets.root(component.nodes[0]);
        let nodes = by_origin(&self.graphs[0], component);
        let cursor = AtomicUsize::new(0);
        let is_open = AtomicBool::new(false);
        let batch = CLOSURE_BATCH.max(nodes.len() / 256);
        let nodes = nodes.as_slice();
        let run = |graph: &mut G| -> Result<u64, G::Stop> {
            let mut n_revisits = 0;
            let mut observe = |_: &SearchStats| Ok(());
            let mut ctx = Exploration::new(graph, &mut observe);
            ctx.revisiting = true;
            let mut edges = EdgeBuffer::new(ctx.graph.n_mark_words());
            while !is_open.load(Ordering::Relaxed) {
                let first = cursor.fetch_add(batch, Ordering::Relaxed);
                if first >= nodes.len() {
                    break;
                }
                let origin = |position: usize| ctx.graph.origin(nodes[position]);
                // All copies of a state are looked at by the thread that has the first of them.
                let boundary = |position: usize| {
                    (position..nodes.len())
                        .find(|&p| p == 0 || origin(p) != origin(p - 1))
                        .unwrap_or(nodes.len())
                };
                let part = &nodes[boundary(first)..boundary(nodes.len().min(first + batch))];
                let is_member = |node: NodeId| sets.is_member(node, root);
                if !take_all_steps(&mut ctx, (component, &is_member), part, &mut edges)? {
                    is_open.store(true, Ordering::Relaxed);
                }
                n_revisits += part.len() as u64;
            }
            Ok(n_revisits)
        };

        let results = std::thread::scope(|scope| {
            let run = &run;
            let threads = self.graphs.iter_mut();
            let threads: Vec<_> = threads
                .map(|graph| scope.spawn(move || run(graph)))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect::<Vec<_>>()
        });

        for result in results {
            self.stats.n_revisits += result?;
        }
        Ok(!is_open.into_inner())
    }
}

#[cfg(test)]
mod tests;
