//! The covering of a symmetric component, as far as it is walked through.

use std::collections::HashMap;

use crate::{
    Closure, EdgeBuffer, Graph, Lasso, LassoStep, MAX_NODES, NodeId, Observer, find_fair_cycle,
    shortest_lasso,
};

use super::evidence::Inside;
use super::renaming::RenamingId;
use super::{SymmetricAcceptance, SymmetricGraph};

/// Why the covering cannot be explored further.
pub(super) enum Stop<S> {
    Graph(S),
    TooLarge,
}

/// The covering of a component: pairs of places in it and renamings.
pub(super) struct Covering<'a, 'g, G> {
    inside: &'a mut Inside<'g, G>,
    /// No more nodes than this are met.
    max_nodes: usize,
    /// By node of the covering; the first is the initial one.
    pairs: Vec<(u32, RenamingId)>,
    by_pair: HashMap<(u32, RenamingId), NodeId>,
}

impl<'a, 'g, G: SymmetricGraph> Covering<'a, 'g, G> {
    pub(super) fn new(inside: &'a mut Inside<'g, G>, max_nodes: usize) -> Self {
        Self {
            inside,
            max_nodes,
            pairs: Vec::new(),
            by_pair: HashMap::new(),
        }
    }

    /// A lasso that begins at this place with its frame, in terms of the quotient.
    pub(super) fn lasso(
        &mut self,
        start: u32,
        acceptance: &SymmetricAcceptance,
        observer: &mut Observer<'_, G::Stop>,
    ) -> Result<Lasso, Stop<G::Stop>> {
        let frame = self.inside.component.frames[start as usize];
        self.node((start, frame))?;
        let formula = acceptance.formula();
        let mut observe = |stats: &_| observer(stats).map_err(Stop::Graph);
        let search = find_fair_cycle(self, &formula, Closure::None, &mut observe);
        let component = search
            .result?
            .expect("above a symmetric component there is an accepted one");
        let lasso = shortest_lasso(self, &component, &formula)?;
        let mut below = |steps: &[LassoStep]| {
            let steps = steps.iter().map(|step| self.below(*step));
            steps.collect::<Result<Vec<_>, _>>()
        };
        Ok(Lasso {
            stem: below(&lasso.stem)?,
            cycle: below(&lasso.cycle)?,
        })
    }

    fn node(&mut self, pair: (u32, RenamingId)) -> Result<NodeId, Stop<G::Stop>> {
        if let Some(node) = self.by_pair.get(&pair) {
            return Ok(*node);
        }
        if self.pairs.len() >= self.max_nodes.min(MAX_NODES as usize) {
            return Err(Stop::TooLarge);
        }
        let node = NodeId::new(self.pairs.len());
        self.pairs.push(pair);
        self.by_pair.insert(pair, node);
        Ok(node)
    }

    /// The edge of the quotient that an edge lies above.
    fn below(&mut self, step: LassoStep) -> Result<LassoStep, Stop<G::Stop>> {
        let mut edges = EdgeBuffer::new(self.n_mark_words());
        self.successors(step.source, &mut edges)?;
        let node =
            |node: NodeId| self.inside.component.part.nodes[self.pairs[node.index()].0 as usize];
        Ok(LassoStep {
            source: node(step.source),
            position: edges.step(step.position as usize),
            target: node(step.target),
        })
    }
}

impl<G: SymmetricGraph> Graph for Covering<'_, '_, G> {
    type Stop = Stop<G::Stop>;

    fn n_mark_words(&self) -> usize {
        self.inside.graph.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        out.push(NodeId(0));
        Ok(())
    }

    /// In place of steps of a system, edges name the positions of the edges below them.
    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        let (place, frame) = self.pairs[node.index()];
        let mut marks = vec![0; self.n_mark_words()];
        for inner in self.inside.inner_edges(place).map_err(Stop::Graph)?.iter() {
            let renamings = &mut self.inside.component.renamings;
            renamings.get(frame).apply(&inner.marks, &mut marks);
            let behind = renamings.product(frame, inner.renaming);
            let target = self.node((inner.target, behind))?;
            out.push(target, inner.position, &marks);
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, _node: NodeId) -> Result<u32, Self::Stop> {
        // Never asked for without closure; names of edges are below this.
        Ok(u32::MAX)
    }

    fn check_limits(&mut self) -> Result<(), Self::Stop> {
        self.inside.graph.check_limits().map_err(Stop::Graph)
    }

    fn out_of_numbers(&self) -> Self::Stop {
        Stop::TooLarge
    }
}
