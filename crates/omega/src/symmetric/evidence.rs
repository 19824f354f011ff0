//! From a symmetric component to a lasso of the quotient.
//!
//! The covering of the component has an accepted cycle. If it is small, a short one is looked for
//! there (`covering.rs`). But the covering may be larger than the quotient by as much as the group
//! has members, so there is another way, which walks in the quotient only: from a node n, with its
//! frame r, go to an edge with a mark that is still missing, and so on, and then back to n. That may
//! end in another frame h∘r, h in H. But when the walk is gone through again, it has the marks of the
//! first round, renamed by h, and these are marks of the component, too. So the walk is repeated
//! until the frame is r again; then it is a cycle of the covering, and accepted, because it has all
//! marks that are wanted and none that the component has not.
//!
//! The way to an edge with the mark w is a shortest one among pairs of a node and a name of w: at
//! the node n with the frame r it is called r⁻¹(w), behind an edge with the renaming v it has the
//! name that v renames to that. So a search has at most as many places as the component has nodes,
//! times the marks in the orbit of w.

use std::collections::HashMap;
use std::rc::Rc;

use base::bits;

use crate::inner_edges::Places;
use crate::stem::Stems;
use crate::{EdgeBuffer, Lasso, LassoStep, NodeId, Observer};

use super::covering::{Covering, Stop};
use super::renaming::RenamingId;
use super::{SymmetricAcceptance, SymmetricComponent, SymmetricGraph};

/// Components with at most this many nodes keep their edges in memory.
const MAX_NODES_KEPT: usize = 1 << 16;

/// A lasso of the quotient. Its cycle, gone through again and again from any node of the covering
/// above its beginning until that node is reached again at its end, is accepted.
///
/// The component must be one that [`super::find_fair_cycle_symmetric`] has found. A short lasso is looked
/// for among at most `effort` nodes of the covering.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn symmetric_lasso<G: SymmetricGraph>(
    graph: &mut G,
    component: SymmetricComponent,
    acceptance: &SymmetricAcceptance,
    effort: usize,
    observer: &mut Observer<'_, G::Stop>,
) -> Result<Lasso, G::Stop> {
    let (mut stem, entry) = Stems::default().shortest_to(graph, &component.part)?;
    let mut inside = Inside {
        places: Places::new(&component.part.nodes),
        kept: HashMap::new(),
        numbers: Vec::new(),
        graph,
        component,
    };
    let short = Covering::new(&mut inside, effort).lasso(entry, acceptance, observer);
    let lasso = match short {
        Ok(lasso) => lasso,
        Err(Stop::TooLarge) => Lasso {
            stem: Vec::new(),
            cycle: inside.rounds(entry, acceptance)?,
        },
        Err(Stop::Graph(stop)) => return Err(stop),
    };
    stem.extend(lasso.stem);
    let cycle = lasso.cycle;
    Ok(Lasso { stem, cycle })
}

/// A symmetric component seen from inside; its nodes are numbered by their places in it.
pub(super) struct Inside<'a, G> {
    pub(super) graph: &'a mut G,
    pub(super) component: SymmetricComponent,
    places: Places,
    /// By number of the graph.
    numbers: Vec<RenamingId>,
    kept: HashMap<u32, Rc<[InnerEdge]>>,
}

/// An edge inside a component.
pub(super) struct InnerEdge {
    pub(super) target: u32,
    /// Which of the edges of its source it is.
    pub(super) position: u32,
    pub(super) renaming: RenamingId,
    /// As they are called at its source.
    pub(super) marks: Vec<u64>,
}

/// A place, and what a mark is called there if one is looked for.
type Whereabouts = (u32, Option<u32>);

impl<G: SymmetricGraph> Inside<'_, G> {
    /// The edges of a node that belong to the component.
    pub(super) fn inner_edges(&mut self, place: u32) -> Result<Rc<[InnerEdge]>, G::Stop> {
        if let Some(kept) = self.kept.get(&place) {
            return Ok(Rc::clone(kept));
        }
        let n_mark_words = self.graph.n_mark_words();
        let mut edges = EdgeBuffer::new(n_mark_words);
        let mut numbers = Vec::new();
        let node = self.component.part.nodes[place as usize];
        self.graph
            .symmetric_successors(node, &mut edges, &mut numbers)?;

        let mut inner_edges = Vec::new();
        for (edge, number) in numbers.into_iter().enumerate() {
            let Some(target) = self.places.of(edges.target(edge)) else {
                continue;
            };
            let component = &mut self.component;
            if !component.allows(place, edges.marks(edge)) {
                continue;
            }
            let known = &mut self.numbers;
            inner_edges.push(InnerEdge {
                target,
                position: edge as u32,
                renaming: super::known(self.graph, &mut component.renamings, known, number),
                marks: edges.marks(edge).to_vec(),
            });
        }

        let inner_edges: Rc<[InnerEdge]> = inner_edges.into();
        if self.component.part.nodes.len() <= MAX_NODES_KEPT {
            self.kept.insert(place, Rc::clone(&inner_edges));
        }
        Ok(inner_edges)
    }

    fn node(&self, place: u32) -> NodeId {
        self.component.part.nodes[place as usize]
    }

    /// A closed walk from a node that has all marks that are wanted, in terms of the frame of the
    /// node.
    fn rounds(
        &mut self,
        start: u32,
        acceptance: &SymmetricAcceptance,
    ) -> Result<Vec<LassoStep>, G::Stop> {
        let marks = &self.component.part.marks;
        let wanted = acceptance.formula().sufficient_marks(marks);
        let mut missing = wanted.expect("the marks of the component are accepted");
        let mut at_root = missing.clone();
        let (mut place, mut frame) = (start, self.component.frames[start as usize]);
        let mut walk = Vec::new();

        loop {
            let mark = bits::iter(&missing).next();
            if mark.is_none() && place == start && !walk.is_empty() {
                return Ok(walk);
            }
            let renamings = &mut self.component.renamings;
            let back = renamings.inverse(frame);
            let name = mark.map(|mark| renamings.get(back).image(mark as u32));
            for edge in self.way((place, name), start)? {
                let inner = &self.inner_edges(place)?[edge];
                walk.push(LassoStep {
                    source: self.node(place),
                    position: inner.position,
                    target: self.node(inner.target),
                });
                let renamings = &mut self.component.renamings;
                renamings.get(frame).apply(&inner.marks, &mut at_root);
                for (word, seen) in missing.iter_mut().zip(&at_root) {
                    *word &= !seen;
                }
                frame = renamings.product(frame, inner.renaming);
                place = inner.target;
            }
        }
    }

    /// A shortest way to the end of an edge that carries the mark that is looked for, or that leads
    /// to `end` if none is: the numbers of its edges.
    fn way(&mut self, from: Whereabouts, end: u32) -> Result<Vec<usize>, G::Stop> {
        let mut reached: HashMap<Whereabouts, Option<(Whereabouts, usize)>> =
            HashMap::from([(from, None)]);
        let mut queue = vec![from];
        let mut head = 0;

        while let Some(&(place, name)) = queue.get(head) {
            head += 1;
            for (edge, inner) in self.inner_edges(place)?.iter().enumerate() {
                let is_last = match name {
                    Some(name) => bits::get(&inner.marks, name as usize),
                    None => inner.target == end,
                };
                if is_last {
                    return Ok(way_back(&reached, (place, name), edge));
                }
                let renamings = &mut self.component.renamings;
                let behind = renamings.inverse(inner.renaming);
                let name_behind = name.map(|name| renamings.get(behind).image(name));
                let next = (inner.target, name_behind);
                if let std::collections::hash_map::Entry::Vacant(entry) = reached.entry(next) {
                    entry.insert(Some(((place, name), edge)));
                    queue.push(next);
                }
            }
        }

        unreachable!("a symmetric component has what it is said to have");
    }
}

/// The numbers of the edges that lead to this edge.
fn way_back(
    reached: &HashMap<Whereabouts, Option<(Whereabouts, usize)>>,
    mut at: Whereabouts,
    last: usize,
) -> Vec<usize> {
    let mut edges = vec![last];
    while let Some((before, edge)) = reached[&at] {
        edges.push(edge);
        at = before;
    }
    edges.reverse();
    edges
}
