//! All nodes from which a fair path starts.
//!
//! Problem: mark every node from which some infinite path satisfies an Emerson–Lei acceptance. That
//! is what a path quantifier asks at every state, see E. A. Emerson, C.-L. Lei, "Modalities for model
//! checking: branching time logic strikes back", Science of Computer Programming 8, 1987,
//! doi:10.1016/0167-6423(87)90036-0, sections 3 and 4.
//!
//! A node starts a fair path iff it reaches a strongly connected set that satisfies the acceptance.
//! Inside a component all nodes reach the same sets, so one bit for each component is enough.
//! Components come successors first, as in R. Tarjan, "Depth-first search and linear graph
//! algorithms", SIAM J. Comput. 1, 1972, section 4, doi:10.1137/0201010:
//!
//! ```text
//! for each component C, successors first:
//!   fair(C) := some edge leaves C to a fair component, or C contains a witness
//! ```
//!
//! Whether C contains a witness is decided by the search of `emerson_lei.rs`, which closes components
//! in this order anyway and goes on after a witness here.
//!
//! Cost: two expansions of every node, plus one for each refinement that it takes part in. Nothing
//! recurses.

use base::bits;

use crate::emerson_lei::{Complete, Emptiness, Goal};
use crate::exploration::{Exploration, initial_nodes};
use crate::mark_names::FixedNames;
use crate::path_based::PathSearch;
use crate::{Acceptance, Closure, Component, EdgeBuffer, Graph, NodeId};

/// Which nodes start a path that satisfies `acceptance` (and `closure`), among those reachable from
/// the initial nodes of the graph; by number, as a bit set. Nodes have numbers below `n_nodes`.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn fair_nodes<G: Graph>(
    graph: &mut G,
    n_nodes: usize,
    acceptance: &Acceptance,
    closure: Closure,
) -> Result<Vec<u64>, G::Stop> {
    let initial = initial_nodes(graph)?;
    let search = PathSearch::new(graph.n_mark_words());
    let mut edges = EdgeBuffer::new(graph.n_mark_words());
    let mut observe = |_: &_| Ok(());
    let ctx = Exploration::new(graph, &mut observe);
    let goal = Goal {
        acceptance,
        closure,
    };
    let mut emptiness = Emptiness::new(ctx, search, FixedNames, goal);

    let mut fair = vec![0; bits::words_for(n_nodes)];
    for node in initial {
        emptiness.start(node)?;
        while let Some(Complete { nodes, promising }) = emptiness.next_component()? {
            let is_fair = leads_to(emptiness.ctx.graph, &nodes, &fair, &mut edges)?
                || emptiness.discharge(promising)?.is_some();
            if is_fair {
                for node in nodes {
                    bits::set(&mut fair, node.index());
                }
            }
        }
    }

    Ok(fair)
}

/// The maximal components, among those reachable from the initial nodes, that may contain a set that
/// satisfies `acceptance`; all such sets lie in one of them, for stronger conditions as well.
///
/// # Errors
/// The reason for which exploration must stop.
pub fn promising_components<G: Graph>(
    graph: &mut G,
    acceptance: &Acceptance,
) -> Result<Vec<Component>, G::Stop> {
    let mut initial = Vec::new();
    graph.initial(&mut initial)?;
    let search = PathSearch::new(graph.n_mark_words());
    let mut observe = |_: &_| Ok(());
    let ctx = Exploration::new(graph, &mut observe);
    let goal = Goal {
        acceptance,
        closure: Closure::None,
    };
    let mut emptiness = Emptiness::new(ctx, search, FixedNames, goal);

    let mut components = Vec::new();
    for node in initial {
        emptiness.start(node)?;
        while let Some(complete) = emptiness.next_component()? {
            components.extend(complete.promising.map(|(component, _)| component));
        }
    }

    Ok(components)
}

/// Does an edge lead from one of the nodes to one of the set?
fn leads_to<G: Graph>(
    graph: &mut G,
    nodes: &[NodeId],
    set: &[u64],
    edges: &mut EdgeBuffer,
) -> Result<bool, G::Stop> {
    for &node in nodes {
        edges.truncate(0);
        graph.successors(node, edges)?;
        let mut targets = (0..edges.len()).map(|edge| edges.target(edge));
        if targets.any(|target| bits::get(set, target.index())) {
            return Ok(true);
        }
    }
    Ok(false)
}
