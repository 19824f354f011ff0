//! Fair cycles of a graph whose nodes stand for others: symmetric components.
//!
//! Problem: a *quotient* keeps one node for all that differ only by a permutation, say of
//! processes. Marks have names that permutations change ("process 2 moves"), so an edge comes with
//! a [`Renaming`]: what the marks behind it are called before it. The graph that is meant, the
//! *covering*, has as nodes the pairs (n, r) of a node and a renaming, and for every edge n → n' with
//! marks M and renaming v an edge (n, r) → (n', r∘v) with marks r(M). Has the covering a reachable
//! strongly connected set of edges whose marks are accepted? The acceptance must be the same under
//! all renamings that occur.
//!
//! Algorithm: after E. A. Emerson, A. P. Sistla, "Utilizing symmetry when model-checking under
//! fairness assumptions: an automata-theoretic approach", TOPLAS 19 (1997), section 4,
//! doi:10.1145/262004.262008: components of the quotient are *threaded*.
//!
//! ```text
//! thread(C):   g(root) := identity; walk over C, and for each edge n → n' with renaming v
//!                n' is new: g(n') := g(n)∘v;   else: add g(n)∘v∘g(n')⁻¹ to the generators of H
//!              marks(C) := the H-orbits of all g(n)(m), m a mark of an edge of C that leaves n
//! ```
//!
//! Above C lie components of the covering that are images of one another, and one of them consists
//! of the pairs (n, h∘g(n)), h in H; its marks are marks(C). The rest is the recursion of
//! `emerson_lei.rs`, with these marks, and with g(n)(m) in place of the marks m of an edge that
//! leaves n. What it removes is a union of H-orbits:
//! * marks e of pairs (e, t) with e in marks(C) and t not, and these pairs are permuted by H;
//! * marks of the rest of the acceptance, which are never renamed. Only this rest is ever split, and
//!   only from it a `Fin` is picked, since the components satisfy all other conjuncts by then.
//!
//! So an edge is removed together with all edges above it, and what is left is the covering of what
//! is left of C. A part D is threaded beginning with the g of its root; this may change g by factors
//! from H on the left, which makes no difference to unions of H-orbits, so C itself can be taken
//! apart again afterwards. `SOUNDNESS.md` has the proof.
//!
//! Deviations: the paper threads Büchi automata for each process; here marks and pairs take their
//! place, so that strong fairness, too, costs no copies. The group need not be known: the
//! components generate what matters of it.
//!
//! Postcondition of [`find_fair_cycle_symmetric`]: if a component is returned, the covering has an accepted
//! strongly connected set of edges above it, and [`symmetric_lasso`] finds a path into one. If none is
//! returned, there is none.
//!
//! Cost: every complete component is expanded once more to be threaded, and each of its parts once
//! more for every removal that led to it. A node on the way costs a number of a renaming. Each time
//! the number of nodes has doubled, the largest component so far is threaded although it may not be
//! complete, so a witness is met before much more has been explored than it needs.
//!
//! Rejected: searching the covering itself, which is the graph without reduction.

mod covering;
mod evidence;
mod names;
mod renaming;
#[cfg(test)]
mod tests;

use base::bits;

use crate::emerson_lei::{Emptiness, Goal};
use crate::exploration::{Exploration, Observer, SearchStats};
use crate::path_based::PathSearch;
use crate::{Acceptance, Closure, Component, EdgeBuffer, Graph, MarkId, NodeId};

use self::names::{Framed, Interruption, SymmetricNames};
use self::renaming::{RenamingId, Renamings};

pub use self::evidence::symmetric_lasso;
pub use self::renaming::Renaming;

/// A graph each of whose edges says what the marks behind it are called before it.
pub trait SymmetricGraph: Graph {
    /// Appends to `out` what [`Graph::successors`] does, and to `renamings` one number for each of
    /// these edges.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn symmetric_successors(
        &mut self,
        node: NodeId,
        out: &mut EdgeBuffer,
        renamings: &mut Vec<u32>,
    ) -> Result<(), Self::Stop>;

    /// The renaming with this number: from the names of marks on edges that leave the target of an
    /// edge to their names at its source. Renamings are numbered from 0 on as they are met.
    fn renaming(&self, number: u32) -> &Renaming;
}

/// An acceptance condition that is the same whatever marks are called: a conjunction.
///
/// Invariant, up to the caller: the renamings of the graph permute the members of `infinitely` and
/// those of `pairs`, and leave the marks in `fixed` alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymmetricAcceptance {
    /// Each of these infinitely often.
    pub infinitely: Vec<MarkId>,
    /// If the first is seen infinitely often, so is the second.
    pub pairs: Vec<(MarkId, MarkId)>,
    /// Anything about other marks.
    pub fixed: Acceptance,
}

impl SymmetricAcceptance {
    /// The same as a formula.
    #[must_use]
    pub fn formula(&self) -> Acceptance {
        let pairs = self.pairs.iter();
        let pairs = pairs.map(|&(enabled, taken)| Acceptance::streett_pair(enabled, taken));
        let infinitely = self.infinitely.iter().copied().map(Acceptance::Inf);
        Acceptance::all(infinitely.chain(pairs).chain([self.fixed.clone()]))
    }
}

/// A component of the quotient above which there is an accepted one.
#[derive(Debug)]
pub struct SymmetricComponent {
    /// Its marks, all those of the component above it, and those of its edges are in terms of the
    /// frames.
    part: Component,
    /// g, by position in the nodes of the part.
    frames: Vec<RenamingId>,
    renamings: Renamings,
}

impl SymmetricComponent {
    /// Does an edge between its nodes belong to it that leaves the node at this place and carries
    /// these marks there?
    fn allows(&self, place: u32, marks: &[u64]) -> bool {
        let mut at_root = vec![0; marks.len()];
        let frame = self.renamings.get(self.frames[place as usize]);
        frame.apply(marks, &mut at_root);
        bits::is_subset(&at_root, &self.part.marks)
    }
}

/// How a search ended.
#[derive(Debug)]
pub struct SymmetricSearch<S> {
    /// The component found, nothing if there is none, or the reason for which the search stopped.
    pub result: Result<Option<SymmetricComponent>, S>,
    /// What was done.
    pub stats: SearchStats,
}

/// Searches a reachable component above which the covering has an accepted one.
///
/// `observer` is called every 4096 nodes; it may stop the search.
pub fn find_fair_cycle_symmetric<G: SymmetricGraph>(
    graph: &mut G,
    acceptance: &SymmetricAcceptance,
    observer: &mut Observer<'_, G::Stop>,
) -> SymmetricSearch<G::Stop> {
    let search = PathSearch::new(graph.n_mark_words());
    let mut framed = Framed::new(graph);
    let mut observe = |stats: &SearchStats| observer(stats).map_err(Interruption::Stop);
    let goal = Goal {
        acceptance: &acceptance.formula(),
        closure: Closure::None,
    };

    let ctx = Exploration::new(&mut framed, &mut observe);
    let mut emptiness = Emptiness::new(ctx, search, SymmetricNames::default(), goal);
    let result = emptiness.run().map_err(|interruption| match interruption {
        Interruption::Stop(stop) => stop,
        Interruption::Pause => unreachable!("a pause is over before the search is"),
    });
    let stats = emptiness.ctx.stats;

    let component = |part: Component| SymmetricComponent {
        frames: part.nodes.iter().map(|node| framed.frame(*node)).collect(),
        part,
        renamings: framed.into_renamings(),
    };
    SymmetricSearch {
        result: result.map(|found| found.map(component)),
        stats,
    }
}

/// Our number for the renaming that the graph gives this number; `numbers` are those known before.
fn known<G: SymmetricGraph>(
    graph: &G,
    renamings: &mut Renamings,
    numbers: &mut Vec<RenamingId>,
    number: u32,
) -> RenamingId {
    while numbers.len() <= number as usize {
        let renaming = graph.renaming(numbers.len() as u32);
        numbers.push(renamings.number(renaming));
    }
    numbers[number as usize]
}
