//! From a component to a lasso that one can read.
//!
//! Problem: given a component found by `emerson_lei.rs`, find a short path from an initial node to
//! a short cycle inside it that satisfies the acceptance by itself. The shortest such cycle is
//! NP-hard to find already for generalized Büchi, see E. Clarke, O. Grumberg, K. McMillan, X. Zhao,
//! "Efficient generation of counterexamples and witnesses in symbolic model checking", DAC 1995,
//! doi:10.1145/217474.217565. As there, the cycle greedily visits the nearest thing that is
//! missing. In addition:
//! * only the marks of one sufficient set are visited ([`Acceptance::sufficient_marks`]);
//! * the shortest cycle through the start is tried first: it may avoid what needs an answer;
//! * sub-cycles that turn out needless are cut out;
//! * in small components every node is tried as start, and the lasso with the fewest steps wins.
//!
//! Postcondition: the cycle is not empty, uses edges of the component only, and the union of its
//! marks is accepted. A covering cycle takes every step of the system that the component takes.
//!
//! Cost: one breadth-first search of the graph down to the component, then for each start tried
//! one search inside the component per mark (per step of the system, if covering).

use base::bits;

use crate::inner_edges::{BreadthFirst, InnerEdge, InnerGraph, Walk, WalkStep};
use crate::stem::Stems;
use crate::{Acceptance, Component, Graph, NodeId};

/// In components with at most this many nodes every node is tried as start of the cycle.
const MAX_NODES_TO_TRY: usize = 256;
/// No further start is tried once this many edges have been looked at.
const MAX_EFFORT: u64 = 5_000_000;
/// Cutting out sub-cycles stops when it has looked at this many steps.
const MAX_CUTTING_EFFORT: usize = 5_000_000;

/// A path from an initial node that ends in a cycle.
///
/// Invariant: each step begins where the one before ends, the stem begins at an initial node (if it
/// is empty, the cycle does), and the last step of the cycle leads to the source of its first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// What happens once.
    pub stem: Vec<LassoStep>,
    /// What is repeated forever; not empty.
    pub cycle: Vec<LassoStep>,
}

/// An edge of a lasso.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LassoStep {
    /// Where it begins.
    pub source: NodeId,
    /// Which of the edges of `source` it is, in the order of [`Graph::successors`].
    pub position: u32,
    /// Where it leads.
    pub target: NodeId,
}

/// A short lasso whose cycle lies in the component and is accepted.
///
/// The component must be reachable and satisfy `acceptance`, as [`crate::find_fair_cycle`] returns
/// it.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn shortest_lasso<G: Graph>(
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
) -> Result<Lasso, G::Stop> {
    shortest_lasso_after(&mut Stems::default(), graph, component, acceptance)
}

/// The same, if several lassos of one graph are asked for.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn shortest_lasso_after<G: Graph>(
    stems: &mut Stems,
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
) -> Result<Lasso, G::Stop> {
    let stem = stems.shortest_to(graph, component)?;
    build(graph, component, acceptance, stem, None)
}

/// A lasso whose cycle lies in the component, is accepted, and takes every step of the system that
/// some edge of the component takes.
///
/// For a component closed on the system ([`crate::Closure::OnSystem`]) the cycle is closed too.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn covering_lasso<G: Graph>(
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
) -> Result<Lasso, G::Stop> {
    let stem = Stems::default().shortest_to(graph, component)?;
    let cover = Cover::new(&mut InnerGraph::new(graph, component))?;
    build(graph, component, acceptance, stem, Some(&cover))
}

fn build<G: Graph>(
    graph: &mut G,
    component: &Component,
    acceptance: &Acceptance,
    (mut stem, entry): (Vec<LassoStep>, u32),
    cover: Option<&Cover>,
) -> Result<Lasso, G::Stop> {
    let mut inner = InnerGraph::new(graph, component);
    let mut search = CycleSearch {
        bfs: BreadthFirst::new(inner.n_nodes()),
        sufficient: acceptance
            .sufficient_marks(&component.marks)
            .expect("the component satisfies the acceptance"),
        acceptance,
        cover,
    };

    let (start, cycle) = search.best_cycle(&mut inner, entry)?;
    let mut approach = Walk::default();
    if start != entry {
        let arrives = |edge: InnerEdge<'_>| edge.target == start;
        search
            .bfs
            .extend_to(&mut inner, entry, arrives, &mut approach)?;
    }

    let outer = |step: &WalkStep| LassoStep {
        source: component.nodes[step.source as usize],
        position: step.position,
        target: component.nodes[step.target as usize],
    };
    stem.extend(approach.steps.iter().map(outer));

    let cycle = cycle.steps.iter().map(outer).collect();
    Ok(Lasso { stem, cycle })
}

/// The system steps that a component takes, numbered densely.
struct Cover {
    /// The number of step 0 of the origin of each node.
    first: Vec<usize>,
    /// By number: does the component take it?
    taken: Vec<bool>,
    n_taken: usize,
}

impl Cover {
    fn new<G: Graph>(inner: &mut InnerGraph<'_, G>) -> Result<Self, G::Stop> {
        let mut by_origin: Vec<(u32, usize)> = (0..inner.n_nodes())
            .map(|place| (inner.graph.origin(inner.component.nodes[place]), place))
            .collect();
        by_origin.sort_unstable();

        let mut cover = Self {
            first: vec![0; inner.n_nodes()],
            taken: Vec::new(),
            n_taken: 0,
        };
        let mut previous = None;
        let mut first = 0;

        for (origin, place) in by_origin {
            if previous != Some(origin) {
                previous = Some(origin);
                first = cover.taken.len();
                let n_steps = inner.graph.n_steps(inner.component.nodes[place])?;
                cover.taken.resize(first + n_steps as usize, false);
            }
            cover.first[place] = first;
        }

        for source in 0..NodeId::new(inner.n_nodes()).0 {
            for index in inner.load(source)? {
                let number = cover.number(source, inner.edge(source, index).step);
                cover.n_taken += usize::from(!std::mem::replace(&mut cover.taken[number], true));
            }
        }

        Ok(cover)
    }

    fn number(&self, source: u32, step: u32) -> usize {
        self.first[source as usize] + step as usize
    }
}

/// What a walk has seen, and what it still has to.
struct Missing<'a> {
    marks: Vec<u64>,
    cover: Option<&'a Cover>,
    /// By number: still to be taken?
    steps: Vec<bool>,
    n_steps: usize,
}

impl Missing<'_> {
    fn is_nothing(&self) -> bool {
        self.n_steps == 0 && self.marks.iter().all(|&word| word == 0)
    }

    fn wants(&self, edge: InnerEdge<'_>) -> bool {
        let new_step = |cover: &Cover| self.steps[cover.number(edge.source, edge.step)];
        bits::intersects(edge.marks, &self.marks) || self.cover.is_some_and(new_step)
    }

    fn strike(&mut self, step: WalkStep, marks: &[u64]) {
        for (word, seen) in self.marks.iter_mut().zip(marks) {
            *word &= !seen;
        }
        if let Some(cover) = self.cover {
            let wanted = &mut self.steps[cover.number(step.source, step.step)];
            self.n_steps -= usize::from(std::mem::replace(wanted, false));
        }
    }
}

struct CycleSearch<'a> {
    bfs: BreadthFirst,
    /// A cycle with these marks is accepted, whatever other marks of the component it has.
    sufficient: Vec<u64>,
    acceptance: &'a Acceptance,
    cover: Option<&'a Cover>,
}

impl<'a> CycleSearch<'a> {
    /// The cycle for which the way to it from `entry` plus one round is shortest, and its start.
    fn best_cycle<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        entry: u32,
    ) -> Result<(u32, Walk), G::Stop> {
        let approach = self.bfs.distances_from(inner, entry)?;
        let mut starts = self.promising_starts(inner, entry)?;
        starts.sort_by_key(|&start| approach[start as usize]);
        let length =
            |start: u32, cycle: &Walk| approach[start as usize] as usize + cycle.steps.len();
        let mut best: Option<(u32, Walk)> = None;
        for start in starts {
            let shortest = best.as_ref().map(|(start, cycle)| length(*start, cycle));
            // Starts come in the order of their distance, so a farther one cannot win any more.
            let hopeless = |shortest| approach[start as usize] as usize + 1 >= shortest;
            if shortest.is_some_and(hopeless) || best.is_some() && inner.effort > MAX_EFFORT {
                break;
            }
            let cycle = self.short_cycle(inner, start)?;
            if shortest.is_none_or(|shortest| length(start, &cycle) < shortest) {
                best = Some((start, cycle));
            }
        }
        Ok(best.expect("the entry is among the starts"))
    }

    /// All nodes of a small component. In a large one the entry and the nearest node with an edge
    /// that the cycle needs.
    fn promising_starts<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        entry: u32,
    ) -> Result<Vec<u32>, G::Stop> {
        if inner.n_nodes() <= MAX_NODES_TO_TRY {
            return Ok((0..NodeId::new(inner.n_nodes()).0).collect());
        }
        let missing = self.missing();
        let wanted = |edge: InnerEdge<'_>| missing.wants(edge);
        let end = self
            .bfs
            .extend_to(inner, entry, wanted, &mut Walk::default())?;
        let mut starts = vec![entry];
        starts.extend(end.filter(|&end| end != entry));
        Ok(starts)
    }

    /// A short accepted cycle through `start`.
    fn short_cycle<G: Graph>(
        &mut self,
        inner: &mut InnerGraph<'_, G>,
        start: u32,
    ) -> Result<Walk, G::Stop> {
        let returns = |edge: InnerEdge<'_>| edge.target == start;
        let mut direct = Walk::default();
        self.bfs.extend_to(inner, start, returns, &mut direct)?;
        if self.suffices(&direct) {
            return Ok(direct);
        }
        let mut missing = self.missing();
        let mut walk = Walk::default();
        let mut here = start;

        while !missing.is_nothing() {
            let n_before = walk.steps.len();
            let wanted = |edge: InnerEdge<'_>| missing.wants(edge);
            here = self
                .bfs
                .extend_to(inner, here, wanted, &mut walk)?
                .expect("a component has what it is said to have");
            for index in n_before..walk.steps.len() {
                missing.strike(walk.steps[index], walk.marks(index));
            }
        }

        if here != start || walk.steps.is_empty() {
            self.bfs.extend_to(inner, here, returns, &mut walk)?;
        }
        Ok(self.cut_needless(walk))
    }

    fn missing(&self) -> Missing<'a> {
        Missing {
            marks: self.sufficient.clone(),
            cover: self.cover,
            steps: self.cover.map_or(Vec::new(), |cover| cover.taken.clone()),
            n_steps: self.cover.map_or(0, |cover| cover.n_taken),
        }
    }

    /// Is the cycle accepted, and covering if it should be?
    fn suffices(&self, cycle: &Walk) -> bool {
        let mut seen = vec![0; self.sufficient.len()];
        let mut missing = self.missing();
        for (index, &step) in cycle.steps.iter().enumerate() {
            bits::union_into(&mut seen, cycle.marks(index));
            missing.strike(step, cycle.marks(index));
        }
        missing.n_steps == 0 && self.acceptance.accepts(&seen)
    }

    /// Removes sub-cycles, longest first from each node on, as long as the rest still suffices.
    fn cut_needless(&self, mut cycle: Walk) -> Walk {
        let mut effort = 0;
        let mut first = 0;
        while first < cycle.steps.len() {
            let node = cycle.steps[first].source;
            let is_return = |&end: &usize| cycle.steps[end - 1].target == node;
            let len = cycle.steps.len();
            let mut ends = (first + 1..=len).rev().filter(|&end| end - first < len);
            let shorter = loop {
                let Some(end) = ends.by_ref().find(is_return) else {
                    break None;
                };
                effort += len;
                let rest = cycle.without(first..end);
                if self.suffices(&rest) {
                    break Some(rest);
                }
                if effort > MAX_CUTTING_EFFORT {
                    return cycle;
                }
            };
            match shorter {
                Some(rest) => cycle = rest,
                None => first += 1,
            }
        }

        cycle
    }
}
