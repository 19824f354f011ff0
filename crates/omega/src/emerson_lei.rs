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
use std::rc::Rc;

use base::{bits, put_list as put, take_list as take};

use crate::closure::is_closed;
use crate::exploration::{Exploration, Observer, SearchStats};
use crate::path_based::{Event, PathSearch, Scope};
use crate::{Acceptance, Closure, Graph, MarkId, NodeId};

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
    let mut emptiness = Emptiness {
        ctx: Exploration::new(graph, &mut observe),
        search: state.search,
        unfinished: state.unfinished,
        acceptance,
        closure,
    };
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

/// A component together with what is still asked of a part of it.
///
/// Invariant: `component` itself does not satisfy `formula`, and every literal of `formula` is
/// about a mark of `component`.
pub(crate) struct Obligation {
    /// The component.
    pub component: Rc<Component>,
    /// What is asked.
    pub formula: Acceptance,
}

/// What to do about an obligation.
pub(crate) enum Move {
    /// No part satisfies it.
    Drop,
    /// Consider each formula by itself.
    Split(Vec<Acceptance>),
    /// No witness has any of these marks.
    Remove(Vec<MarkId>),
    /// Consider parts without this mark, then forget this `Fin`.
    Pick(MarkId),
}

/// A search in progress.
pub(crate) struct Emptiness<'a, G: Graph> {
    /// The graph.
    pub ctx: Exploration<'a, G>,
    search: PathSearch,
    unfinished: Option<Component>,
    acceptance: &'a Acceptance,
    closure: Closure,
}

impl<'a, G: Graph> Emptiness<'a, G> {
    /// For looking into components that another search has found; `search` is one that
    /// [`PathSearch::inside`] has made.
    pub fn inside(
        ctx: Exploration<'a, G>,
        search: PathSearch,
        acceptance: &'a Acceptance,
        closure: Closure,
    ) -> Self {
        Self {
            ctx,
            search,
            unfinished: None,
            acceptance,
            closure,
        }
    }

    /// What can be used for the next one.
    pub fn into_search(self) -> PathSearch {
        self.search
    }

    fn run(&mut self) -> Result<Option<Component>, G::Stop> {
        let mut initial = Vec::new();
        self.ctx.graph.initial(&mut initial)?;
        if let Some(component) = self.unfinished.take() {
            let formula = self.acceptance.within(&component.marks);
            if let Some(found) = self.discharge(Some((component, formula)))? {
                return Ok(Some(found));
            }
        }
        if let Some(found) = self.search_from_path()? {
            return Ok(Some(found));
        }
        for node in initial {
            if !self.search.is_unseen(node) {
                continue;
            }
            self.search.start(&mut self.ctx, node)?;
            if let Some(found) = self.search_from_path()? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Searches until the path is empty.
    fn search_from_path(&mut self) -> Result<Option<Component>, G::Stop> {
        let everything = Scope {
            allowed: None,
            base_depth: 0,
        };
        loop {
            match self.search.advance(&mut self.ctx, everything)? {
                Event::Exhausted => return Ok(None),
                Event::Grown if self.youngest_suffices() => return Ok(Some(self.youngest())),
                Event::Grown => {}
                Event::Complete => {
                    self.ctx.stats.n_components += 1;
                    let obligation = self.close_youngest(self.acceptance);
                    if let Some(found) = self.discharge(obligation)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
    }

    /// May the youngest component be reported although it may still grow?
    fn youngest_suffices(&self) -> bool {
        self.closure == Closure::None && self.acceptance.accepts(self.search.youngest_marks())
    }

    fn youngest(&self) -> Component {
        Component {
            nodes: self.search.youngest_nodes().to_vec(),
            marks: self.search.youngest_marks().to_vec(),
        }
    }

    /// Closes the youngest component. Returns it unless it is clear that it has no witness.
    fn close_youngest(&mut self, formula: &Acceptance) -> Option<(Component, Acceptance)> {
        let mut promising = None;
        if !self.search.youngest_is_trivial() {
            let formula = formula.within(self.search.youngest_marks());
            promising = (formula != Acceptance::False).then(|| (self.youngest(), formula));
        }
        self.search.close();
        promising
    }

    /// Is the complete component a witness, or may a part of it be?
    fn judge(&mut self, component: Component, formula: Acceptance) -> Result<Judgement, G::Stop> {
        let on_system = self.closure == Closure::OnSystem;
        if on_system && !is_closed(&mut self.search, &mut self.ctx, &component)? {
            return Ok(Judgement::Hopeless);
        }
        if self.acceptance.accepts(&component.marks) {
            return Ok(Judgement::Witness(component));
        }
        let component = Rc::new(component);
        Ok(Judgement::Open(Obligation { component, formula }))
    }

    /// Finds a witness within a complete component of the whole graph.
    pub fn discharge(
        &mut self,
        promising: Option<(Component, Acceptance)>,
    ) -> Result<Option<Component>, G::Stop> {
        let Some((component, formula)) = promising else {
            return Ok(None);
        };
        let was_revisiting = std::mem::replace(&mut self.ctx.revisiting, true);
        let (before, whole) = (self.search.mark(), component.clone());
        let found = self.look_into(component, formula);
        self.ctx.revisiting = was_revisiting;
        if found.is_err() {
            self.search.rewind(&before, &whole.nodes);
            self.unfinished = Some(whole);
        }
        found
    }

    fn look_into(
        &mut self,
        component: Component,
        formula: Acceptance,
    ) -> Result<Option<Component>, G::Stop> {
        Ok(match self.judge(component, formula)? {
            Judgement::Hopeless => None,
            Judgement::Witness(component) => Some(component),
            Judgement::Open(obligation) => self.refine(obligation)?,
        })
    }

    fn refine(&mut self, obligation: Obligation) -> Result<Option<Component>, G::Stop> {
        let mut open = vec![obligation];
        while let Some(Obligation { component, formula }) = open.pop() {
            let removed = match next_move(&formula, &component.marks) {
                Move::Drop => continue,
                Move::Split(parts) => {
                    open.extend(parts.into_iter().rev().map(|formula| Obligation {
                        component: Rc::clone(&component),
                        formula,
                    }));
                    continue;
                }
                Move::Remove(marks) => marks,
                Move::Pick(mark) => {
                    open.push(Obligation {
                        component: Rc::clone(&component),
                        formula: formula.without_fin(mark),
                    });
                    vec![mark]
                }
            };
            if let Some(found) = self.decompose(&component, &formula, &removed, &mut open)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Searches the components that are left when all edges with a removed mark are gone. Those
    /// that are undecided become open obligations.
    fn decompose(
        &mut self,
        component: &Component,
        formula: &Acceptance,
        removed: &[MarkId],
        open: &mut Vec<Obligation>,
    ) -> Result<Option<Component>, G::Stop> {
        let mut allowed = component.marks.clone();
        for mark in removed {
            bits::clear(&mut allowed, mark.index());
        }
        let scope = Scope {
            allowed: Some(&allowed),
            base_depth: self.search.depth(),
        };
        self.search.reopen(&component.nodes);
        let mut parts = Vec::new();
        for &node in &component.nodes {
            if !self.search.is_unseen(node) {
                continue;
            }
            self.search.start(&mut self.ctx, node)?;
            loop {
                match self.search.advance(&mut self.ctx, scope)? {
                    Event::Exhausted => break,
                    Event::Grown if self.youngest_suffices() => return Ok(Some(self.youngest())),
                    Event::Grown => {}
                    Event::Complete => parts.extend(self.close_youngest(formula)),
                }
            }
        }
        // The closure test needs all nodes closed, hence only now.
        for (part, formula) in parts {
            match self.judge(part, formula)? {
                Judgement::Hopeless => {}
                Judgement::Witness(component) => return Ok(Some(component)),
                Judgement::Open(obligation) => open.push(obligation),
            }
        }
        Ok(None)
    }
}

/// What is known about a complete component.
enum Judgement {
    /// It contains no witness.
    Hopeless,
    /// It is one.
    Witness(Component),
    /// A proper part of it may be one.
    Open(Obligation),
}

/// The next move for an obligation; its invariant is the precondition.
pub(crate) fn next_move(formula: &Acceptance, marks: &[u64]) -> Move {
    match formula {
        Acceptance::False => Move::Drop,
        Acceptance::Or(parts) => Move::Split(parts.clone()),
        Acceptance::Fin(mark) => Move::Remove(vec![*mark]),
        Acceptance::And(parts) => {
            let forced: Vec<_> = parts.iter().filter_map(bare_fin).collect();
            if forced.is_empty() {
                Move::Pick(violated_fin(parts, marks))
            } else {
                Move::Remove(forced)
            }
        }
        Acceptance::True | Acceptance::Inf(_) => {
            unreachable!("the component would satisfy {formula:?}")
        }
    }
}

fn bare_fin(formula: &Acceptance) -> Option<MarkId> {
    match formula {
        Acceptance::Fin(mark) => Some(*mark),
        _ => None,
    }
}

/// A `Fin` in a conjunct that `marks` violate. Since every `Inf` of the formula is among the marks,
/// only a `Fin` can be the cause.
fn violated_fin(parts: &[Acceptance], marks: &[u64]) -> MarkId {
    parts
        .iter()
        .find(|part| !part.accepts(marks))
        .and_then(Acceptance::first_fin)
        .expect("an obligation is violated by its component")
}
