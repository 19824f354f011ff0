//! Fair cycles in a graph whose edges are stored.
//!
//! Problem and answer are those of `emerson_lei.rs`; here the graph has been explored before, and its
//! edges are a few bytes each (`records.rs`), so that no step is computed again however often a
//! component is taken apart. Components are found by numbers alone (`pearce.rs`); their marks are
//! gathered in a second pass over the edges inside.
//!
//! The marks of an edge are the union of a set of its source and a set of its own: what a node enables
//! is the same for all its edges, and what an edge takes is one of a few sets, so both are numbers.
//!
//! Nodes that the caller knows to lie on no cycle of interest need no record.

mod pearce;
mod records;

use std::collections::HashMap;

use base::bits;

use self::pearce::Components;
pub use self::records::RecordWriter;
use crate::refinement::Refinement;
use crate::{Acceptance, Closure, Component, NodeId};

/// Mark sets of equal length, named by numbers.
#[derive(Clone, Debug)]
pub struct MarkSets {
    n_words: usize,
    n_sets: usize,
    words: Vec<u64>,
}

impl MarkSets {
    /// No sets, of so many words.
    #[must_use]
    pub fn new(n_words: usize) -> Self {
        Self {
            n_words,
            n_sets: 0,
            words: Vec::new(),
        }
    }

    /// Adds the set that has the next number.
    pub fn push(&mut self, marks: &[u64]) {
        debug_assert_eq!(marks.len(), self.n_words);
        self.words.extend_from_slice(marks);
        self.n_sets += 1;
    }

    /// The set with this number.
    #[must_use]
    #[inline]
    pub fn get(&self, number: u32) -> &[u64] {
        &self.words[number as usize * self.n_words..][..self.n_words]
    }

    /// Which of the sets lie within `allowed`, by number.
    fn within(&self, allowed: &[u64]) -> Vec<bool> {
        let sets = 0..self.n_sets as u32;
        sets.map(|set| bits::is_subset(self.get(set), allowed))
            .collect()
    }
}

/// A graph that has been explored. What a node is called is up to the caller.
pub trait StoredGraph {
    /// Why the search must stop.
    type Stop;

    /// Nodes have smaller numbers than this, which is at most [`crate::MAX_NODES`].
    fn n_nodes(&self) -> usize;

    /// Where the record of a node is; nothing if no edge leaves it.
    fn record(&self, node: NodeId) -> Option<u32>;

    /// What a [`RecordWriter`] has written at this place, and at least [`RecordWriter::PADDING`] other
    /// bytes behind it.
    fn bytes(&self, place: u32) -> &[u8];

    /// Were the records written with steps?
    fn keeps_steps(&self) -> bool;

    /// The sets that all edges of a node have.
    fn source_sets(&self) -> &MarkSets;

    /// The sets that edges have besides.
    fn edge_sets(&self) -> &MarkSets;

    /// The system state that `node` stands for. Nodes with the same origin have consecutive numbers.
    fn origin(&self, node: NodeId) -> u32;

    /// Must a search stop that occupies so many bytes?
    ///
    /// # Errors
    /// The reason.
    fn check_limits(&self, bytes: usize) -> Result<(), Self::Stop>;

    /// Why a search stops that has no numbers left.
    fn out_of_numbers(&self) -> Self::Stop;
}

/// Which numbers of mark sets edges may have.
struct Allowed {
    source: Vec<bool>,
    edge: Vec<bool>,
}

/// Searches a component that satisfies `acceptance` and `closure`, anywhere in the graph: every node
/// that has a record counts as reachable. With [`Closure::OnSystem`] records must have steps.
///
/// # Errors
/// The reason for which the search must stop.
pub fn find_fair_cycle_stored<G: StoredGraph>(
    graph: &G,
    acceptance: &Acceptance,
    closure: Closure,
) -> Result<Option<Component>, G::Stop> {
    let mut search = StoredSearch {
        components: Components::new(graph.n_nodes()),
        graph,
        acceptance,
        closure,
    };
    let mut open = Refinement::default();
    let everything = (0..graph.n_nodes()).map(NodeId::new);
    let mut found = search.decompose(everything, None, acceptance, &mut open)?;
    while found.is_none() {
        let Some(removal) = open.next_removal() else {
            break;
        };
        let nodes = &removal.component.nodes;
        nodes
            .iter()
            .for_each(|node| search.components.reopen(*node));
        let allowed = Some(removal.allowed.as_slice());
        found = search.decompose(nodes.iter().copied(), allowed, &removal.formula, &mut open)?;
    }
    Ok(found)
}

struct StoredSearch<'a, G> {
    components: Components,
    graph: &'a G,
    acceptance: &'a Acceptance,
    closure: Closure,
}

impl<G: StoredGraph> StoredSearch<'_, G> {
    /// Searches the components of these nodes by edges whose marks are allowed. Those that are
    /// undecided become open.
    fn decompose(
        &mut self,
        nodes: impl DoubleEndedIterator<Item = NodeId> + Clone,
        allowed: Option<&[u64]>,
        formula: &Acceptance,
        open: &mut Refinement,
    ) -> Result<Option<Component>, G::Stop> {
        let allowed = allowed.map(|allowed| Allowed {
            source: self.graph.source_sets().within(allowed),
            edge: self.graph.edge_sets().within(allowed),
        });
        let first = self.components.next();
        for node in nodes.clone().rev() {
            self.components
                .close_if_trivial(self.graph, node, allowed.as_ref());
        }
        // Most edges lead to larger numbers. With these first, paths are short, and what is read next
        // lies beside what was read before.
        for node in nodes.clone().rev() {
            self.components
                .search_from(self.graph, node, allowed.as_ref())?;
        }

        if self.components.next() == first {
            return Ok(None);
        }

        let marks = self.marks(nodes.clone(), first, allowed.as_ref())?;
        for (part, formula) in self.promising(nodes, first, &marks, formula) {
            if self.closure == Closure::OnSystem && !self.is_closed(&part, allowed.as_ref())? {
                continue;
            }
            if self.acceptance.accepts(&part.marks) {
                return Ok(Some(part));
            }
            open.add(part, formula);
        }
        Ok(None)
    }

    /// The marks inside each component, from the first one on.
    fn marks(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        first: u32,
        allowed: Option<&Allowed>,
    ) -> Result<Vec<u64>, G::Stop> {
        let graph = self.graph;
        let (source_sets, edge_sets) = (graph.source_sets(), graph.edge_sets());
        let n_words = source_sets.n_words;
        let n_parts = (first - self.components.next()) as usize;
        let mut marks = vec![0; n_parts * n_words];

        // Numbers of sets are mostly small; then a bit for each says which there are in a component.
        let mut few = vec![0_u64; n_parts];

        for node in nodes {
            let Some(component) = self.components.of(node) else {
                continue;
            };
            let place = graph.record(node).expect("it has an edge");
            let edges = records::open(graph.bytes(place), node, graph.keeps_steps());
            let part = (first - component) as usize;
            let own = &mut marks[part * n_words..][..n_words];
            bits::union_into(own, source_sets.get(edges.source_marks));
            let mut seen = 0;
            for (target, set) in edges.iter() {
                let is_allowed = allowed.is_none_or(|allowed| allowed.edge[set as usize]);
                if is_allowed && self.components.of(target) == Some(component) {
                    if set < u64::BITS {
                        seen |= 1_u64 << set;
                    } else {
                        bits::union_into(own, edge_sets.get(set));
                    }
                }
            }
            few[part] |= seen;
        }
        for (part, seen) in few.iter().enumerate() {
            let own = &mut marks[part * n_words..][..n_words];
            for set in bits::iter(&[*seen]) {
                bits::union_into(own, edge_sets.get(set as u32));
            }
        }
        graph.check_limits(self.components.memory_bytes() + marks.capacity() * 8)?;
        Ok(marks)
    }

    /// The components, from the first one on, that may contain a witness, with what is asked of them.
    fn promising(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        first: u32,
        marks: &[u64],
        formula: &Acceptance,
    ) -> Vec<(Component, Acceptance)> {
        let n_words = self.graph.source_sets().n_words;
        let n_parts = (first - self.components.next()) as usize;
        let marks_of = |part: usize| &marks[part * n_words..][..n_words];

        // Many components have the same marks.
        let mut asked: HashMap<&[u64], Acceptance> = HashMap::new();
        let mut place = vec![None; n_parts];
        let mut parts: Vec<(Component, Acceptance)> = Vec::new();
        for (part, place) in place.iter_mut().enumerate() {
            let marks = marks_of(part);
            let formula = asked.entry(marks).or_insert_with(|| formula.within(marks));
            if *formula == Acceptance::False {
                continue;
            }
            *place = Some(parts.len());
            let component = Component {
                nodes: Vec::new(),
                marks: marks.to_vec(),
            };
            parts.push((component, formula.clone()));
        }
        if parts.is_empty() {
            return parts;
        }

        for node in nodes {
            let part = self.components.of(node).map(|id| (first - id) as usize);
            if let Some(place) = part.and_then(|part| place[part]) {
                parts[place].0.nodes.push(node);
            }
        }
        parts
    }

    /// Does the component take every step of its origins? Why one that does not contains no other
    /// that does: see `closure.rs`.
    fn is_closed(&self, part: &Component, allowed: Option<&Allowed>) -> Result<bool, G::Stop> {
        let graph = self.graph;
        let own = part
            .nodes
            .first()
            .and_then(|node| self.components.of(*node));
        let (mut taken, mut steps) = (Vec::new(), Vec::new());
        let mut nodes = part.nodes.iter().copied().peekable();
        while let Some(node) = nodes.next() {
            let record = graph.bytes(graph.record(node).expect("it has an edge"));
            let n_steps = records::steps(record, &mut steps);
            taken.resize(n_steps as usize, false);
            let edges = records::open(record, node, true);
            for (step, (target, set)) in steps.iter().zip(edges.iter()) {
                let is_allowed = allowed.is_none_or(|allowed| allowed.edge[set as usize]);
                taken[*step as usize] |= is_allowed && self.components.of(target) == own;
            }
            let is_last = nodes
                .peek()
                .is_none_or(|next| graph.origin(*next) != graph.origin(node));
            if is_last {
                if taken.contains(&false) {
                    return Ok(false);
                }
                taken.clear();
            }
        }
        Ok(true)
    }
}
