//! Emptiness under arbitrary Emerson–Lei acceptance, while the graph is being explored.
//!
//! Problem: is there a reachable, non-trivial, strongly connected set of edges whose union of marks
//! satisfies a Boolean formula over `Inf` and `Fin`? With [`Closure::OnSystem`] the set must also
//! take every step of the system states that it visits.
//!
//! The outer search is Couvreur's (see `path_based.rs`): as soon as a *partial* component satisfies
//! the formula, it is reported. A complete component that does not is looked into as in C. Baier,
//! F. Blahoudek, A. Duret-Lutz, J. Klein, D. Müller, J. Strejček, "Generic emptiness check for fun
//! and profit", ATVA 2019, doi:10.1007/978-3-030-31784-3_26:
//!
//! ```text
//! refine(C, φ):  φ := φ with absent Inf false, absent Fin true      (marks of C)
//!   φ = false           : no witness in C
//!   φ = φ1 ∨ … ∨ φn     : refine(C, φ1), …, refine(C, φn)
//!   φ = Fin(a) ∧ Fin(b) ∧ ψ, ψ without conjuncts Fin : refine each component of C − {a, b}
//!   otherwise           : pick a Fin(a) in φ; refine each component of C − {a};
//!                         refine(C, φ with Fin(a) false)
//! ```
//!
//! For a Streett conjunction every pair whose `Inf` is absent leaves a bare `Fin`, so all of them
//! are removed at once and nothing is ever picked; a Rabin disjunction only splits. Both are
//! polynomial. The general problem is NP-complete; the exponent is the number of picked `Fin`s.
//! `refinement.rs` chooses these moves.
//!
//! The same recursion serves quotients by symmetry (`symmetric/`): how marks are named is a parameter
//! ([`MarkNames`]). Where names change from node to node, the marks of a component are known only
//! after it has been settled, so nothing is concluded from the union that the path search keeps.
//!
//! Deviations from the paper:
//! * The refinement is a worklist, not a recursion. It holds at most one entry per literal and
//!   component on the way down, and removals nest at most as deep as there are marks.
//! * A picked `Fin` comes from a conjunct that the component violates.
//! * Every component that appears on the way is tested against the *original* formula, and, with
//!   [`Closure::None`], already while it is partial.
//! * With [`Closure::OnSystem`] nothing is reported before it is complete, and each component is
//!   dropped if its projection is not closed (why that is right: `closure.rs`).
//!
//! Postcondition: the component returned is strongly connected, has an edge, satisfies the formula
//! with exactly its marks, and is closed if asked for. If none is returned, there is none.
//!
//! Rejected: nested depth-first search (needs copies of the state space per mark), and rewriting
//! to disjunctive normal form (exponential for Streett).

use std::fmt;

use base::{bits, put_list as put, take_list as take};

use crate::closure::is_closed;
use crate::exploration::{Exploration, Observer, SearchStats};
use crate::mark_names::{FixedNames, MarkNames};
use crate::path_based::{Event, PathSearch, Scope};
use crate::refinement::{Refinement, Removal};
use crate::{Acceptance, Closure, Graph, NodeId};

/// A strongly connected part of a graph.
///
/// Its edges are all edges between its nodes whose marks are a subset of `marks`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component {
    /// Its nodes, in the order in which the search met them.
    pub nodes: Vec<NodeId>,
    /// The union of the marks on its edges.
    pub marks: Vec<u64>,
}

impl Component {
    /// Does an edge between its nodes that carries these marks belong to it?
    #[must_use]
    pub fn allows(&self, marks: &[u64]) -> bool {
        bits::is_subset(marks, &self.marks)
    }
}

/// How a fair-cycle search ended.
#[derive(Debug)]
pub struct FairCycleSearch<S> {
    /// The component found, nothing if there is none, or the reason for which the search stopped.
    pub result: Result<Option<Component>, S>,
    /// What was done.
    pub stats: SearchStats,
    /// How to go on after a stop.
    pub state: SearchState,
}

/// A search that was stopped, and can go on with [`resume_fair_cycle`] on the same graph, or on one
/// that has been brought to the same state.
pub struct SearchState {
    search: PathSearch,
    /// A complete component that was being looked into. Looking into it starts afresh.
    unfinished: Option<Component>,
}

impl fmt::Debug for SearchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a search at depth {}", self.search.depth())
    }
}

impl SearchState {
    /// Nothing has been searched.
    #[must_use]
    pub fn new(n_mark_words: usize) -> Self {
        Self {
            search: PathSearch::new(n_mark_words),
            unfinished: None,
        }
    }

    /// Everything as numbers.
    pub fn encode(&self, out: &mut Vec<u64>) {
        self.search.encode(out);
        let component = self.unfinished.iter();
        put(
            out,
            component
                .clone()
                .flat_map(|c| c.nodes.iter().map(|n| u64::from(n.0))),
        );
        put(out, component.flat_map(|c| c.marks.iter().copied()));
    }

    /// What [`SearchState::encode`] has written, taken from the front of `words`; nothing if it is
    /// damaged.
    #[must_use]
    pub fn decode(n_mark_words: usize, words: &mut &[u64]) -> Option<Self> {
        let search = PathSearch::decode(n_mark_words, words)?;
        let (nodes, marks) = (take(words)?, take(words)?);
        let node = |node: &u64| u32::try_from(*node).ok().map(NodeId);
        let nodes: Vec<NodeId> = nodes.iter().map(node).collect::<Option<_>>()?;
        let has_marks = marks.len() == n_mark_words || nodes.is_empty() && marks.is_empty();
        let unfinished = (!nodes.is_empty()).then(|| Component {
            nodes,
            marks: marks.to_vec(),
        });
        has_marks.then_some(Self { search, unfinished })
    }

    /// Can this be the state of a search in a graph of which `n_nodes` nodes are known?
    #[must_use]
    pub fn is_consistent(&self, n_nodes: usize) -> bool {
        let nodes = self.unfinished.iter().flat_map(|c| &c.nodes);
        let is_closed = |node: &NodeId| node.index() < n_nodes && self.search.is_closed(*node);
        self.search.is_consistent(n_nodes) && nodes.clone().all(is_closed)
    }

    /// Has the search expanded this node?
    #[must_use]
    pub fn was_entered(&self, node: NodeId) -> bool {
        self.search.was_entered(node)
    }

    /// Is nothing left to do but to begin at further initial nodes?
    #[must_use]
    pub fn is_between_starts(&self) -> bool {
        self.search.depth() == 0 && self.unfinished.is_none()
    }
}

/// Searches a reachable component that satisfies `acceptance` and `closure`.
///
/// `observer` is called every 4096 nodes; it may stop the search. Every mark of the formula must
/// fit into the mark sets of the graph.
pub fn find_fair_cycle<G: Graph>(
    graph: &mut G,
    acceptance: &Acceptance,
    closure: Closure,
    observer: &mut Observer<'_, G::Stop>,
) -> FairCycleSearch<G::Stop> {
    let state = SearchState::new(graph.n_mark_words());
    resume_fair_cycle(graph, acceptance, closure, observer, state)
}

/// Goes on with a search that was stopped.
pub fn resume_fair_cycle<G: Graph>(
    graph: &mut G,
    acceptance: &Acceptance,
    closure: Closure,
    observer: &mut Observer<'_, G::Stop>,
    state: SearchState,
) -> FairCycleSearch<G::Stop> {
    // The reborrow shortens the lifetime inside the trait object to that of the reference.
    let mut observe = |stats: &SearchStats| observer(stats);
    let ctx = Exploration::new(graph, &mut observe);
    let goal = Goal {
        acceptance,
        closure,
    };
    let mut emptiness = Emptiness::new(ctx, state.search, FixedNames, goal);
    emptiness.unfinished = state.unfinished;
    let result = emptiness.run();
    FairCycleSearch {
        result,
        stats: emptiness.ctx.stats,
        state: SearchState {
            search: emptiness.search,
            unfinished: emptiness.unfinished,
        },
    }
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a> {
    /// What the marks must satisfy.
    pub acceptance: &'a Acceptance,
    /// What must hold beyond that.
    pub closure: Closure,
}

/// A complete component and what is asked of it or of a part of it.
pub(crate) type Promising = (Component, Acceptance);

/// A complete component of the whole graph.
pub(crate) struct Complete {
    /// Its nodes.
    pub nodes: Vec<NodeId>,
    /// The component itself, unless it is clear that it has no witness.
    pub promising: Option<Promising>,
}

/// A search in progress; `N` says how marks are named.
pub(crate) struct Emptiness<'a, G: Graph, N = FixedNames> {
    /// The graph.
    pub ctx: Exploration<'a, G>,
    search: PathSearch,
    names: N,
    unfinished: Option<Component>,
    goal: Goal<'a>,
}

impl<'a, G: Graph, N: MarkNames<G>> Emptiness<'a, G, N> {
    /// Goes on with this search, which may be one that [`PathSearch::inside`] has made for looking
    /// into components that another search has found.
    pub fn new(ctx: Exploration<'a, G>, search: PathSearch, names: N, goal: Goal<'a>) -> Self {
        Self {
            ctx,
            search,
            names,
            unfinished: None,
            goal,
        }
    }

    /// What can be used for the next one.
    pub fn into_search(self) -> PathSearch {
        self.search
    }

    /// Searches from all initial nodes.
    pub fn run(&mut self) -> Result<Option<Component>, G::Stop> {
        let initial = self.ctx.initial()?;

        // A search that was stopped goes on where it was.
        if let Some(component) = self.unfinished.take() {
            let formula = self.goal.acceptance.within(&component.marks);
            if let Some(found) = self.discharge(Some((component, formula)))? {
                return Ok(Some(found));
            }
        }

        if let Some(found) = self.search_from_path()? {
            return Ok(Some(found));
        }

        for node in initial {
            self.start(node)?;
            if let Some(found) = self.search_from_path()? {
                return Ok(Some(found));
            }
        }

        Ok(None)
    }

    /// Begins at a node, unless it has been reached; searching from the path does the rest.
    pub fn start(&mut self, node: NodeId) -> Result<(), G::Stop> {
        if self.search.is_unseen(node) {
            while let Err(stop) = self.search.start(&mut self.ctx, node) {
                self.names.go_on(&mut self.ctx, stop)?;
            }
        }
        Ok(())
    }

    /// The next component that is complete. Nothing when the path is empty.
    pub fn next_component(&mut self) -> Result<Option<Complete>, G::Stop> {
        loop {
            match self.search.advance(&mut self.ctx, Scope::EVERYTHING)? {
                Event::Exhausted => return Ok(None),
                Event::Grown => {}
                Event::Complete => {
                    let nodes = self.search.youngest_nodes().to_vec();
                    let promising = self.close_youngest(self.goal.acceptance);
                    return Ok(Some(Complete { nodes, promising }));
                }
            }
        }
    }

    /// Searches until the path is empty.
    fn search_from_path(&mut self) -> Result<Option<Component>, G::Stop> {
        loop {
            let found = match self.search.advance(&mut self.ctx, Scope::EVERYTHING) {
                Ok(Event::Exhausted) => return Ok(None),
                Ok(Event::Grown) => self.sufficient_youngest(),
                Ok(Event::Complete) => {
                    self.ctx.stats.n_components += 1;
                    let promising = self.close_youngest(self.goal.acceptance);
                    self.discharge(promising)?
                }
                Err(stop) => {
                    self.names.go_on(&mut self.ctx, stop)?;
                    self.sufficient_largest()?
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The youngest component, if it may be reported although it may still grow.
    fn sufficient_youngest(&self) -> Option<Component> {
        let marks_are_known = N::ARE_FIXED && self.goal.closure == Closure::None;
        let suffices =
            marks_are_known && self.goal.acceptance.accepts(self.search.youngest_marks());
        suffices.then(|| self.youngest())
    }

    /// The largest component on the path, if it may be reported although it may still grow.
    fn sufficient_largest(&mut self) -> Result<Option<Component>, G::Stop> {
        let nodes = self.search.largest_nodes();
        // A single node may have no edge at all.
        if nodes.len() < 2 || self.goal.closure != Closure::None {
            return Ok(None);
        }
        let mut component = Component {
            nodes: nodes.to_vec(),
            marks: vec![0; self.ctx.graph.n_mark_words()],
        };

        self.ctx.revisiting = true;
        let settled = self
            .names
            .settle(&mut self.ctx, &self.search, &mut component, None);
        self.ctx.revisiting = false;
        settled?;

        let suffices = self.goal.acceptance.accepts(&component.marks);
        Ok(suffices.then_some(component))
    }

    fn youngest(&self) -> Component {
        Component {
            nodes: self.search.youngest_nodes().to_vec(),
            marks: self.search.youngest_marks().to_vec(),
        }
    }

    /// Closes the youngest component. Returns it unless it is clear that it has no witness.
    fn close_youngest(&mut self, formula: &Acceptance) -> Option<Promising> {
        let mut promising = None;
        if !self.search.youngest_is_trivial() {
            let formula = if N::ARE_FIXED {
                formula.within(self.search.youngest_marks())
            } else {
                formula.clone()
            };
            promising = (formula != Acceptance::False).then(|| (self.youngest(), formula));
        }
        self.search.close();
        promising
    }

    /// Finds a witness within a complete component of the whole graph.
    pub fn discharge(
        &mut self,
        promising: Option<Promising>,
    ) -> Result<Option<Component>, G::Stop> {
        let Some(promising) = promising else {
            return Ok(None);
        };
        let was_revisiting = std::mem::replace(&mut self.ctx.revisiting, true);
        self.names.look_inside(self.ctx.graph, true);
        let (before, whole) = (self.search.mark(), promising.0.clone());

        let found = self.look_into(promising);

        self.ctx.revisiting = was_revisiting;
        self.names.look_inside(self.ctx.graph, false);
        if !matches!(found, Ok(None)) {
            // A part was not searched to its end.
            self.search.rewind(&before, &whole.nodes);
        }
        if found.is_err() {
            self.unfinished = Some(whole);
        }
        found
    }

    /// The refinement.
    fn look_into(&mut self, whole: Promising) -> Result<Option<Component>, G::Stop> {
        let mut open = Refinement::default();
        let mut found = self.judge(whole, None, &mut open)?;
        while found.is_none() {
            let Some(removal) = open.next_removal() else {
                break;
            };
            found = self.decompose(&removal, &mut open)?;
        }
        Ok(found)
    }

    /// Is the complete component, with edges whose marks are allowed, a witness? If a part of it may
    /// be one, it is added to the open ones.
    fn judge(
        &mut self,
        (mut component, mut formula): Promising,
        allowed: Option<&[u64]>,
        open: &mut Refinement,
    ) -> Result<Option<Component>, G::Stop> {
        if !N::ARE_FIXED {
            self.names
                .settle(&mut self.ctx, &self.search, &mut component, allowed)?;
            formula = formula.within(&component.marks);
        }
        let on_system = self.goal.closure == Closure::OnSystem;
        if on_system && !is_closed(&mut self.search, &mut self.ctx, &component)? {
            return Ok(None);
        }
        if self.goal.acceptance.accepts(&component.marks) {
            return Ok(Some(component));
        }
        open.add(component, formula);
        Ok(None)
    }

    /// Searches the components that are left when all edges with a removed mark are gone. Those
    /// that are undecided become open.
    fn decompose(
        &mut self,
        removal: &Removal,
        open: &mut Refinement,
    ) -> Result<Option<Component>, G::Stop> {
        let scope = Scope {
            allowed: Some(&removal.allowed),
            base_depth: self.search.depth(),
        };
        let nodes = &removal.component.nodes;
        self.search.reopen(nodes);

        let mut parts = Vec::new();
        for &node in nodes {
            if !self.search.is_unseen(node) {
                continue;
            }
            self.search.start(&mut self.ctx, node)?;
            loop {
                match self.search.advance(&mut self.ctx, scope)? {
                    Event::Exhausted => break,
                    Event::Grown => {
                        if let Some(found) = self.sufficient_youngest() {
                            return Ok(Some(found));
                        }
                    }
                    Event::Complete => parts.extend(self.close_youngest(&removal.formula)),
                }
            }
        }

        // The closure test needs all nodes closed, hence only now.
        for part in parts {
            let found = self.judge(part, scope.allowed, open)?;
            if found.is_some() {
                return Ok(found);
            }
        }

        Ok(None)
    }
}
