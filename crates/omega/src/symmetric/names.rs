//! SymmetricNames: the frames of the nodes of a component, and its marks in terms of its root.

use base::bits;

use crate::exploration::Exploration;
use crate::mark_names::MarkNames;
use crate::path_based::PathSearch;
use crate::{Component, EdgeBuffer, Graph, NodeId};

use super::renaming::{IDENTITY, Orbits, RenamingId, Renamings};
use super::{SymmetricGraph, known};

/// After so many nodes an incomplete component is looked at for the first time.
const FIRST_PAUSE: u64 = 16;

/// Why a search is interrupted.
pub(super) enum Interruption<S> {
    /// The graph, or who watches, stops it.
    Stop(S),
    /// It is time to look at a component that may not be complete.
    Pause,
}

/// A graph with the frames of nodes: what marks at a node are called at the root of the component
/// that was threaded last and contains it.
pub(super) struct Framed<'a, G> {
    graph: &'a mut G,
    frames: Vec<RenamingId>,
    renamings: Renamings,
    /// By number of the graph.
    numbers: Vec<RenamingId>,
    /// Are marks of edges called as at the root?
    is_renaming: bool,
    /// How many nodes are expanded before the search is to pause; this is not counted while
    /// components are taken apart.
    until_pause: u64,
    /// A set of marks.
    marks: Vec<u64>,
}

impl<'a, G: SymmetricGraph> Framed<'a, G> {
    /// Nothing is threaded yet.
    pub(super) fn new(graph: &'a mut G) -> Self {
        Self {
            marks: vec![0; graph.n_mark_words()],
            graph,
            frames: Vec::new(),
            renamings: Renamings::new(),
            numbers: Vec::new(),
            is_renaming: false,
            until_pause: FIRST_PAUSE,
        }
    }

    pub(super) fn frame(&self, node: NodeId) -> RenamingId {
        self.frames.get(node.index()).copied().unwrap_or(IDENTITY)
    }

    /// What the numbers of frames mean.
    pub(super) fn into_renamings(self) -> Renamings {
        self.renamings
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

impl<G: SymmetricGraph> Graph for Framed<'_, G> {
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

    fn check_limits(&mut self) -> Result<(), Self::Stop> {
        self.graph.check_limits().map_err(Interruption::Stop)
    }

    fn out_of_numbers(&self) -> Self::Stop {
        Interruption::Stop(self.graph.out_of_numbers())
    }
}

/// Which nodes of a component have been reached.
#[derive(Default)]
pub(super) struct SymmetricNames {
    /// Invariant: of the component being threaded, the nodes that have been reached have the stamp
    /// `round`, the others the stamp before it; all other nodes have smaller ones.
    stamps: Vec<u32>,
    round: u32,
}

impl<G: SymmetricGraph> MarkNames<Framed<'_, G>> for SymmetricNames {
    const ARE_FIXED: bool = false;

    fn look_inside(&mut self, graph: &mut Framed<'_, G>, is_inside: bool) {
        graph.is_renaming = is_inside;
    }

    /// Gives every node of the component a frame, too. The frame of the first is that which it had
    /// in the component around this one.
    fn settle(
        &mut self,
        ctx: &mut Exploration<'_, Framed<'_, G>>,
        search: &PathSearch,
        component: &mut Component,
        allowed: Option<&[u64]>,
    ) -> Result<(), Interruption<G::Stop>> {
        let n_mark_words = ctx.graph.n_mark_words();
        let mut orbits = Orbits::new(n_mark_words);
        let mut marks = vec![0; n_mark_words];
        let mut edges = EdgeBuffer::new(n_mark_words);
        let mut numbers = Vec::new();

        let root = component.nodes[0];
        if allowed.is_none() {
            ctx.graph.set_frame(root, IDENTITY);
        }
        self.begin_round(&component.nodes);

        let mut queue = vec![root];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            edges.truncate(0);
            numbers.clear();
            self.expand(ctx, search, node, (&mut edges, &mut numbers))?;

            let framed = &mut *ctx.graph;
            for (edge, &number) in numbers.iter().enumerate() {
                let target = edges.target(edge);
                let stamp = self.stamps.get(target.index()).copied().unwrap_or(0);
                framed.rename(node, edges.marks(edge));
                let is_allowed =
                    allowed.is_none_or(|allowed| bits::is_subset(&framed.marks, allowed));
                if stamp + 1 < self.round || !is_allowed {
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

        debug_assert_eq!(queue.len(), component.nodes.len(), "it is connected");
        debug_assert!(
            allowed.is_none_or(|allowed| orbits.closure(allowed) == allowed),
            "what is removed is a union of orbits"
        );
        component.marks = orbits.closure(&marks);
        Ok(())
    }

    /// After a pause, goes on until there are twice as many nodes.
    fn go_on(
        &mut self,
        ctx: &mut Exploration<'_, Framed<'_, G>>,
        stop: Interruption<G::Stop>,
    ) -> Result<(), Interruption<G::Stop>> {
        match stop {
            Interruption::Pause => ctx.graph.until_pause = ctx.stats.n_nodes,
            Interruption::Stop(_) => return Err(stop),
        }
        Ok(())
    }
}

impl SymmetricNames {
    /// Stamps the nodes of a component and reaches the first.
    fn begin_round(&mut self, nodes: &[NodeId]) {
        // After a new start no node has a stamp that could be mistaken for a later one.
        if self.round > u32::MAX - 2 {
            self.stamps.fill(0);
            self.round = 0;
        }
        self.round += 2;
        for node in nodes {
            if node.index() >= self.stamps.len() {
                self.stamps.resize(node.index() + 1, 0);
            }
            self.stamps[node.index()] = self.round - 1;
        }
        self.stamps[nodes[0].index()] = self.round;
    }

    /// Appends the edges of a node and the numbers of their renamings.
    fn expand<G: SymmetricGraph>(
        &self,
        ctx: &mut Exploration<'_, Framed<'_, G>>,
        search: &PathSearch,
        node: NodeId,
        (edges, numbers): (&mut EdgeBuffer, &mut Vec<u32>),
    ) -> Result<(), Interruption<G::Stop>> {
        if ctx.report_is_due() {
            let framed = &*ctx.graph;
            let numbers = (self.stamps.capacity() + framed.frames.capacity()) * size_of::<u32>();
            let own = numbers + framed.renamings.memory_bytes();
            ctx.report(search.memory_bytes() + own)?;
        }
        ctx.stats.n_revisits += 1;
        if ctx.graph.renamings.is_full() {
            return Err(ctx.graph.out_of_numbers());
        }
        let graph = &mut ctx.graph.graph;
        graph
            .symmetric_successors(node, edges, numbers)
            .map_err(Interruption::Stop)?;
        if !edges.are_numbered(0) {
            return Err(ctx.graph.out_of_numbers());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_told_apart_when_their_numbers_begin_anew() {
        let [a, b, c] = [NodeId(0), NodeId(1), NodeId(2)];
        let mut names = SymmetricNames {
            stamps: Vec::new(),
            round: u32::MAX - 5,
        };
        names.begin_round(&[a, b]);
        names.begin_round(&[c]);
        names.begin_round(&[b, a]);
        assert_eq!((names.round, names.stamps), (2, vec![1, 2, 0]));
    }
}
