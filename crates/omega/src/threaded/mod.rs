//! Fair cycles of a graph whose nodes stand for others: threaded components.
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
//! doi:10.1145/262004.262008: components of the quotient are threaded.
//!
//! ```text
//! thread(C):   g(root) := identity; walk over C, and for each edge n → n' with renaming v
//!                n' is new: g(n') := g(n)∘v;   else: add g(n)∘v∘g(n')⁻¹ to the generators of H
//!              marks(C) := the H-orbits of all g(n)(m), m a mark of an edge of C that leaves n
//! examine(C):  thread(C)
//!   a mark that is wanted infinitely often is not in marks(C)          : no witness in C
//!   pairs (e, t) with e in marks(C) and t not                          : examine each component
//!                  of C without the edges that leave some n with marks m, g(n)(m) among these e
//!   the rest of the acceptance, about marks that are never renamed, is
//!   satisfied: C is a witness; not satisfied: as in `emerson_lei.rs`
//! ```
//!
//! Above C lie components of the covering that are images of one another, and one of them consists
//! of the pairs (n, h∘g(n)), h in H; its marks are marks(C). What is removed is a union of orbits,
//! so an edge is removed together with all edges above it, and what is left is the covering of what
//! is left of C. `SOUNDNESS.md` has the proof.
//!
//! Deviations: the paper threads Büchi automata for each process; here marks and pairs take their
//! place, so that strong fairness, too, costs no copies. The group need not be known: the
//! components generate what matters of it.
//!
//! Postcondition of [`find_threaded_cycle`]: if a component is returned, the covering has an accepted
//! strongly connected set of edges above it, and [`threaded_lasso`] finds a path into one. If none is
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
mod renaming;

use base::bits;

use crate::emerson_lei::{Move, next_move};
use crate::exploration::{Exploration, Observer, SearchStats};
use crate::path_based::{Event, PathSearch, Scope};
use crate::{Acceptance, EdgeBuffer, Graph, MarkId, NodeId};

use self::renaming::{IDENTITY, Orbits, RenamingId, Renamings};

pub use self::evidence::threaded_lasso;
pub use self::renaming::Renaming;

/// A graph each of whose edges says what the marks behind it are called before it.
pub trait ThreadedGraph: Graph {
    /// Appends to `out` what [`Graph::successors`] does, and to `renamings` one number for each of
    /// these edges.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn threaded_successors(
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

    /// What these marks of a component mean for it, if `fixed` is asked for in place of the own.
    fn judge(&self, fixed: &Acceptance, marks: &[u64]) -> Judgement {
        let has = |mark: MarkId| bits::get(marks, mark.index());
        if !self.infinitely.iter().all(|mark| has(*mark)) {
            return Judgement::Hopeless;
        }
        let pairs = self.pairs.iter();
        let bad = pairs.filter(|(enabled, taken)| has(*enabled) && !has(*taken));
        let bad: Vec<MarkId> = bad.map(|pair| pair.0).collect();
        if !bad.is_empty() {
            return Judgement::Open(Move::Remove(bad), fixed.clone());
        }
        if fixed.accepts(marks) {
            return Judgement::Fair;
        }
        let left = fixed.within(marks);
        Judgement::Open(next_move(&left, marks), left)
    }
}

/// What the marks of a component mean for it.
enum Judgement {
    /// It contains no witness.
    Hopeless,
    /// It is one.
    Fair,
    /// What to do, and what remains to be asked of marks that are never renamed.
    Open(Move, Acceptance),
}

/// A component of the quotient above which there is an accepted one.
#[derive(Debug)]
pub struct ThreadedComponent {
    nodes: Vec<NodeId>,
    /// g, by position in `nodes`.
    frames: Vec<RenamingId>,
    renamings: Renamings,
    /// Edges with one of these marks, in terms of the frames, do not belong to it.
    excluded: Vec<u64>,
    /// All marks of the component above it.
    marks: Vec<u64>,
}

/// A strongly connected part of the quotient.
///
/// Invariant: `excluded` is a union of orbits of the group of the part.
struct Part {
    nodes: Vec<NodeId>,
    /// g of the first node.
    frame: RenamingId,
    excluded: Vec<u64>,
    /// What is asked of marks that are never renamed.
    fixed: Acceptance,
}

/// A part above which there is an accepted component, and the marks of that.
type Found = (Part, Vec<u64>);

/// How a search ended.
#[derive(Debug)]
pub struct ThreadedSearch<S> {
    /// The component found, nothing if there is none, or the reason for which the search stopped.
    pub result: Result<Option<ThreadedComponent>, S>,
    /// What was done.
    pub stats: SearchStats,
}

/// Searches a reachable component above which the covering has an accepted one.
///
/// `observer` is called every 4096 nodes; it may stop the search.
pub fn find_threaded_cycle<G: ThreadedGraph>(
    graph: &mut G,
    acceptance: &SymmetricAcceptance,
    observer: &mut Observer<'_, G::Stop>,
) -> ThreadedSearch<G::Stop> {
    let n_mark_words = graph.n_mark_words();
    let mut framed = Framed {
        graph,
        frames: Vec::new(),
        renamings: Renamings::new(),
        numbers: Vec::new(),
        is_renaming: false,
        until_pause: FIRST_PAUSE,
        marks: vec![0; n_mark_words],
    };
    let mut observe = |stats: &SearchStats| observer(stats).map_err(Interruption::Stop);
    let mut threading = Threading {
        ctx: Exploration::new(&mut framed, &mut observe),
        search: PathSearch::new(n_mark_words),
        acceptance,
        stamps: Vec::new(),
        round: 0,
    };
    let result = threading.run().map_err(|interruption| match interruption {
        Interruption::Stop(stop) => stop,
        Interruption::Pause => unreachable!("a pause is over before the search is"),
    });
    let stats = threading.ctx.stats;
    let component = |(part, marks): Found| ThreadedComponent {
        frames: part.nodes.iter().map(|node| framed.frame(*node)).collect(),
        nodes: part.nodes,
        renamings: std::mem::replace(&mut framed.renamings, Renamings::new()),
        excluded: part.excluded,
        marks,
    };
    ThreadedSearch {
        result: result.map(|found| found.map(component)),
        stats,
    }
}

/// After so many nodes an incomplete component is looked at for the first time.
const FIRST_PAUSE: u64 = 16;

/// Why a search is interrupted.
enum Interruption<S> {
    /// The graph, or who watches, stops it.
    Stop(S),
    /// It is time to look at a component that may not be complete.
    Pause,
}

/// A graph with the frames of nodes: what marks at a node are called at the root of the part that
/// was threaded last and contains it.
struct Framed<'a, G> {
    graph: &'a mut G,
    frames: Vec<RenamingId>,
    renamings: Renamings,
    /// By number of the graph.
    numbers: Vec<RenamingId>,
    /// Are marks of edges called as at the root?
    is_renaming: bool,
    /// How many nodes are expanded before the search is to pause; while components are taken apart
    /// nobody counts.
    until_pause: u64,
    /// A set of marks.
    marks: Vec<u64>,
}

impl<G: ThreadedGraph> Framed<'_, G> {
    fn frame(&self, node: NodeId) -> RenamingId {
        self.frames.get(node.index()).copied().unwrap_or(IDENTITY)
    }

    fn set_frame(&mut self, node: NodeId, frame: RenamingId) {
        if node.index() >= self.frames.len() {
            self.frames.resize(node.index() + 1, IDENTITY);
        }
        self.frames[node.index()] = frame;
    }

    /// Our number for a renaming of the graph.
    fn known(&mut self, number: u32) -> RenamingId {
        known(self.graph, &mut self.renamings, &mut self.numbers, number)
    }

    /// The marks of an edge that leaves `node`, as they are called at the root, into `self.marks`.
    fn rename(&mut self, node: NodeId, marks: &[u64]) {
        let frame = self.frame(node);
        self.renamings.get(frame).apply(marks, &mut self.marks);
    }
}

/// Our number for the renaming that the graph gives this number; `numbers` are those known before.
fn known<G: ThreadedGraph>(
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

impl<G: ThreadedGraph> Graph for Framed<'_, G> {
    type Stop = Interruption<G::Stop>;

    fn n_mark_words(&self) -> usize {
        self.graph.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        self.graph.initial(out).map_err(Interruption::Stop)
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        if !self.is_renaming {
            let left = self.until_pause.checked_sub(1);
            self.until_pause = left.ok_or(Interruption::Pause)?;
        }
        let before = out.len();
        self.graph
            .successors(node, out)
            .map_err(Interruption::Stop)?;
        if self.is_renaming {
            for edge in before..out.len() {
                self.rename(node, out.marks(edge));
                out.set_marks(edge, &self.marks);
            }
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.graph.origin(node)
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Self::Stop> {
        self.graph.n_steps(node).map_err(Interruption::Stop)
    }
}

/// A search in progress.
struct Threading<'a, 'g, G: ThreadedGraph> {
    ctx: Exploration<'a, Framed<'g, G>>,
    search: PathSearch,
    acceptance: &'a SymmetricAcceptance,
    /// Invariant: of the part being threaded, the nodes that have been reached have the stamp
    /// `round`, the others the stamp before it; all other nodes have smaller ones.
    stamps: Vec<u32>,
    round: u32,
}

/// What a search comes to, or why it is interrupted.
type Interruptible<T, G> = Result<T, Interruption<<G as Graph>::Stop>>;

impl<G: ThreadedGraph> Threading<'_, '_, G> {
    fn run(&mut self) -> Interruptible<Option<Found>, G> {
        let mut initial = Vec::new();
        self.ctx.graph.initial(&mut initial)?;
        let everything = Scope {
            allowed: None,
            base_depth: 0,
        };
        for node in initial {
            if !self.search.is_unseen(node) {
                continue;
            }
            while let Err(interruption) = self.search.start(&mut self.ctx, node) {
                self.begin_again(interruption)?;
            }
            loop {
                let found = match self.search.advance(&mut self.ctx, everything) {
                    Ok(Event::Exhausted) => break,
                    Ok(Event::Grown) => None,
                    Ok(Event::Complete) => self.complete()?,
                    Err(interruption) => {
                        self.begin_again(interruption)?;
                        self.attempt()?
                    }
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// After a pause, goes on until there are twice as many nodes.
    fn begin_again(&mut self, interruption: Interruption<G::Stop>) -> Interruptible<(), G> {
        match interruption {
            Interruption::Pause => self.ctx.graph.until_pause = self.ctx.stats.n_nodes,
            stop => return Err(stop),
        }
        Ok(())
    }

    /// A component of the whole quotient, complete or not.
    fn whole(&self, nodes: &[NodeId]) -> Part {
        Part {
            nodes: nodes.to_vec(),
            frame: IDENTITY,
            excluded: vec![0; self.ctx.graph.n_mark_words()],
            fixed: self.acceptance.fixed.clone(),
        }
    }

    /// Looks at the largest component on the path, which may not be complete.
    fn attempt(&mut self) -> Interruptible<Option<Found>, G> {
        let part = self.whole(self.search.largest_nodes());
        if part.nodes.len() < 2 {
            // It may have no edge at all.
            return Ok(None);
        }
        self.ctx.revisiting = true;
        let marks = self.thread(&part);
        self.ctx.revisiting = false;
        let marks = marks?;
        let judgement = self.acceptance.judge(&part.fixed, &marks);
        Ok(matches!(judgement, Judgement::Fair).then_some((part, marks)))
    }

    fn complete(&mut self) -> Interruptible<Option<Found>, G> {
        self.ctx.stats.n_components += 1;
        let is_trivial = self.search.youngest_is_trivial();
        let part = (!is_trivial).then(|| self.whole(self.search.youngest_nodes()));
        self.search.close();
        let Some(part) = part else {
            return Ok(None);
        };
        self.ctx.revisiting = true;
        let found = self.examine(part);
        self.ctx.revisiting = false;
        found
    }

    fn examine(&mut self, part: Part) -> Interruptible<Option<Found>, G> {
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            let marks = self.thread(&part)?;
            let (next, fixed) = match self.acceptance.judge(&part.fixed, &marks) {
                Judgement::Hopeless => continue,
                Judgement::Fair => return Ok(Some((part, marks))),
                Judgement::Open(next, fixed) => (next, fixed),
            };
            match next {
                Move::Drop => {}
                Move::Split(formulas) => {
                    open.extend(formulas.into_iter().map(|fixed| part.asking(fixed)));
                }
                Move::Remove(marks) => self.decompose(&part, &fixed, &marks, &mut open)?,
                Move::Pick(mark) => {
                    open.push(part.asking(fixed.without_fin(mark)));
                    self.decompose(&part, &fixed, &[mark], &mut open)?;
                }
            }
        }
        Ok(None)
    }

    /// Gives every node of the part a frame. Returns the marks of the part in terms of its root.
    fn thread(&mut self, part: &Part) -> Interruptible<Vec<u64>, G> {
        let n_mark_words = self.ctx.graph.n_mark_words();
        let mut orbits = Orbits::new(n_mark_words);
        let mut marks = vec![0; n_mark_words];
        let mut edges = EdgeBuffer::new(n_mark_words);
        let mut numbers = Vec::new();
        self.begin_round(part);
        let mut queue = vec![part.nodes[0]];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            edges.truncate(0);
            numbers.clear();
            self.expand(node, &mut edges, &mut numbers)?;
            let framed = &mut *self.ctx.graph;
            for (edge, &number) in numbers.iter().enumerate() {
                let target = edges.target(edge);
                let stamp = self.stamps.get(target.index()).copied().unwrap_or(0);
                framed.rename(node, edges.marks(edge));
                if stamp + 1 < self.round || bits::intersects(&framed.marks, &part.excluded) {
                    continue;
                }
                bits::union_into(&mut marks, &framed.marks);
                let number = framed.known(number);
                let frame = framed.renamings.product(framed.frame(node), number);
                if stamp != self.round {
                    self.stamps[target.index()] = self.round;
                    framed.set_frame(target, frame);
                    queue.push(target);
                } else if frame != framed.frame(target) {
                    let back = framed.renamings.inverse(framed.frame(target));
                    let generator = framed.renamings.product(frame, back);
                    orbits.add(generator, &framed.renamings);
                }
            }
        }
        debug_assert_eq!(queue.len(), part.nodes.len(), "a part is connected");
        debug_assert_eq!(orbits.closure(&part.excluded), part.excluded);
        Ok(orbits.closure(&marks))
    }

    /// Stamps the nodes of a part and reaches the first.
    fn begin_round(&mut self, part: &Part) {
        self.round += 2;
        for node in &part.nodes {
            if node.index() >= self.stamps.len() {
                self.stamps.resize(node.index() + 1, 0);
            }
            self.stamps[node.index()] = self.round - 1;
        }
        self.stamps[part.nodes[0].index()] = self.round;
        self.ctx.graph.set_frame(part.nodes[0], part.frame);
    }

    fn expand(
        &mut self,
        node: NodeId,
        edges: &mut EdgeBuffer,
        numbers: &mut Vec<u32>,
    ) -> Interruptible<(), G> {
        if self.ctx.report_is_due() {
            let framed = &*self.ctx.graph;
            let numbers = (self.stamps.capacity() + framed.frames.capacity()) * size_of::<u32>();
            let own = numbers + framed.renamings.memory_bytes();
            self.ctx.report(self.search.memory_bytes() + own)?;
        }
        self.ctx.stats.n_revisits += 1;
        let graph = &mut self.ctx.graph.graph;
        graph
            .threaded_successors(node, edges, numbers)
            .map_err(Interruption::Stop)
    }

    /// Takes the edges with one of these marks, as they are called at the root, out of the part,
    /// which was threaded last. What is left of it in components is to be examined.
    fn decompose(
        &mut self,
        part: &Part,
        fixed: &Acceptance,
        removed: &[MarkId],
        open: &mut Vec<Part>,
    ) -> Interruptible<(), G> {
        let mut excluded = part.excluded.clone();
        for mark in removed {
            bits::set(&mut excluded, mark.index());
        }
        let allowed: Vec<u64> = excluded.iter().map(|word| !word).collect();
        let scope = Scope {
            allowed: Some(&allowed),
            base_depth: self.search.depth(),
        };
        self.ctx.graph.is_renaming = true;
        self.search.reopen(&part.nodes);
        for &node in &part.nodes {
            if !self.search.is_unseen(node) {
                continue;
            }
            self.search.start(&mut self.ctx, node)?;
            loop {
                match self.search.advance(&mut self.ctx, scope)? {
                    Event::Exhausted => break,
                    Event::Grown => {}
                    Event::Complete => {
                        if !self.search.youngest_is_trivial() {
                            let nodes = self.search.youngest_nodes().to_vec();
                            open.push(Part {
                                frame: self.ctx.graph.frame(nodes[0]),
                                nodes,
                                excluded: excluded.clone(),
                                fixed: fixed.clone(),
                            });
                        }
                        self.search.close();
                    }
                }
            }
        }
        self.ctx.graph.is_renaming = false;
        Ok(())
    }
}

impl Part {
    /// The same part, of which something else is asked.
    fn asking(&self, fixed: Acceptance) -> Self {
        Self {
            nodes: self.nodes.clone(),
            frame: self.frame,
            excluded: self.excluded.clone(),
            fixed,
        }
    }
}
