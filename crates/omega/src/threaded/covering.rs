//! From a threaded component to a lasso: a part of the covering, walked through as it is needed.

use std::collections::HashMap;

use base::bits;

use crate::inner_edges::Places;
use crate::stem::shortest_stem;
use crate::{
    Closure, Component, EdgeBuffer, Graph, Lasso, LassoStep, NodeId, Observer, find_fair_cycle,
    shortest_lasso,
};

use super::renaming::{RenamingId, Renamings};
use super::{SymmetricAcceptance, ThreadedComponent, ThreadedGraph, known};

/// No more nodes of the covering than this are met.
const MAX_NODES: usize = 8_000_000;

/// A lasso of the quotient whose cycle, taken from some node of the covering, leads back to that
/// node and is accepted. Nothing if it is too far to seek.
///
/// The component must be one that [`super::find_threaded_cycle`] has found.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn threaded_lasso<G: ThreadedGraph>(
    graph: &mut G,
    component: ThreadedComponent,
    acceptance: &SymmetricAcceptance,
    observer: &mut Observer<'_, G::Stop>,
) -> Result<Option<Lasso>, G::Stop> {
    let ThreadedComponent {
        nodes,
        frames,
        renamings,
        excluded,
    } = component;
    let below = Component {
        nodes,
        marks: Vec::new(),
    };
    let (mut stem, entry) = shortest_stem(graph, &below)?;
    let start = (below.nodes[entry as usize], frames[entry as usize]);
    let mut covering = Covering {
        n_mark_words: graph.n_mark_words(),
        graph,
        places: Places::new(&below.nodes),
        renamings,
        numbers: Vec::new(),
        excluded,
        pairs: Vec::new(),
        by_pair: HashMap::new(),
    };
    match covering.lasso(start, acceptance, observer) {
        Ok(lasso) => {
            stem.extend(lasso.stem);
            let cycle = lasso.cycle;
            Ok(Some(Lasso { stem, cycle }))
        }
        Err(Stop::TooLarge) => Ok(None),
        Err(Stop::Graph(stop)) => Err(stop),
    }
}

/// Why the covering cannot be explored further.
enum Stop<S> {
    Graph(S),
    TooLarge,
}

/// The covering of a component.
struct Covering<'a, G> {
    graph: &'a mut G,
    n_mark_words: usize,
    places: Places,
    renamings: Renamings,
    /// By number of the graph.
    numbers: Vec<RenamingId>,
    excluded: Vec<u64>,
    /// By node of the covering; the first is the initial one.
    pairs: Vec<(NodeId, RenamingId)>,
    by_pair: HashMap<(NodeId, RenamingId), NodeId>,
}

impl<G: ThreadedGraph> Covering<'_, G> {
    /// A lasso from this pair, in terms of the quotient.
    fn lasso(
        &mut self,
        start: (NodeId, RenamingId),
        acceptance: &SymmetricAcceptance,
        observer: &mut Observer<'_, G::Stop>,
    ) -> Result<Lasso, Stop<G::Stop>> {
        self.node(start)?;
        let formula = acceptance.formula();
        let mut observe = |stats: &_| observer(stats).map_err(Stop::Graph);
        let search = find_fair_cycle(self, &formula, Closure::None, &mut observe);
        let component = search
            .result?
            .expect("above a threaded component there is an accepted one");
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

    fn node(&mut self, pair: (NodeId, RenamingId)) -> Result<NodeId, Stop<G::Stop>> {
        if let Some(node) = self.by_pair.get(&pair) {
            return Ok(*node);
        }
        if self.pairs.len() >= MAX_NODES {
            return Err(Stop::TooLarge);
        }
        let node = NodeId::new(self.pairs.len());
        self.pairs.push(pair);
        self.by_pair.insert(pair, node);
        Ok(node)
    }

    /// The edge of the quotient that an edge lies above.
    fn below(&mut self, step: LassoStep) -> Result<LassoStep, Stop<G::Stop>> {
        let mut edges = EdgeBuffer::new(self.n_mark_words);
        self.successors(step.source, &mut edges)?;
        Ok(LassoStep {
            source: self.pairs[step.source.index()].0,
            position: edges.step(step.position as usize),
            target: self.pairs[step.target.index()].0,
        })
    }
}

impl<G: ThreadedGraph> Graph for Covering<'_, G> {
    type Stop = Stop<G::Stop>;

    fn n_mark_words(&self) -> usize {
        self.n_mark_words
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        out.push(NodeId(0));
        Ok(())
    }

    /// In place of steps of a system, edges name the positions of the edges below them.
    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        let (below, frame) = self.pairs[node.index()];
        let mut edges = EdgeBuffer::new(self.n_mark_words);
        let mut numbers = Vec::new();
        self.graph
            .threaded_successors(below, &mut edges, &mut numbers)
            .map_err(Stop::Graph)?;
        let mut marks = vec![0; self.n_mark_words];
        for (edge, number) in numbers.into_iter().enumerate() {
            let target = edges.target(edge);
            let renaming = self.renamings.get(frame);
            renaming.apply(edges.marks(edge), &mut marks);
            if self.places.of(target).is_none() || bits::intersects(&marks, &self.excluded) {
                continue;
            }
            let (renamings, numbers) = (&mut self.renamings, &mut self.numbers);
            let number = known(self.graph, renamings, numbers, number as usize);
            let behind = self.renamings.product(frame, number);
            let target = self.node((target, behind))?;
            out.push(target, edge as u32, &marks);
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
}
