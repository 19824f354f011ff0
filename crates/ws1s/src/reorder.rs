//! Tracks in another order.

use crate::machine::Machine;
use crate::meter::{Meter, Unknown};
use crate::minimise::minimise;
use crate::mtbdd::{Arena, NodeRef};
use crate::table::PairTable;

/// The machine with track `i` read from track `tracks[i]`, over `n_tracks`. The new tracks must
/// differ from each other but may be in any order.
pub(crate) fn reorder(
    machine: &Machine,
    tracks: &[u32],
    n_tracks: usize,
    meter: &mut Meter<'_>,
) -> Result<Machine, Unknown> {
    let mut arena = Arena::new();
    let mut images: Vec<NodeRef> = Vec::with_capacity(machine.nodes.len());
    for node in &machine.nodes {
        let image = |at: NodeRef| {
            if at.is_terminal() {
                at
            } else {
                images[at.index()]
            }
        };
        let (low, high) = (image(node.low), image(node.high));
        let mut cache = PairTable::new();
        images.push(choose(
            &mut arena,
            &mut cache,
            tracks[node.track as usize],
            low,
            high,
        ));
        meter.check(machine.n_states(), arena.bytes())?;
    }

    let root = |at: &NodeRef| {
        if at.is_terminal() {
            *at
        } else {
            images[at.index()]
        }
    };

    let roots: Vec<NodeRef> = machine.roots.iter().map(root).collect();
    let nodes = arena.into_nodes();
    minimise(&nodes, &roots, &machine.outputs, n_tracks, meter)
}

/// `low` where `track` is 0 and `high` where it is 1; neither depends on `track`.
fn choose(
    arena: &mut Arena,
    cache: &mut PairTable,
    track: u32,
    low: NodeRef,
    high: NodeRef,
) -> NodeRef {
    let top = |arena: &Arena, at: NodeRef| {
        if at.is_terminal() {
            u32::MAX
        } else {
            arena.get(at.index()).track
        }
    };

    let first = top(arena, low).min(top(arena, high));
    if low == high || track < first {
        return arena.node(track, low, high);
    }
    if let Some(known) = cache.get(low.0, high.0) {
        return NodeRef(known);
    }
    let split = |arena: &Arena, at: NodeRef| {
        if top(arena, at) == first {
            let node = arena.get(at.index());
            (node.low, node.high)
        } else {
            (at, at)
        }
    };

    let ((low0, low1), (high0, high1)) = (split(arena, low), split(arena, high));
    let zero = choose(arena, cache, track, low0, high0);
    let one = choose(arena, cache, track, low1, high1);
    let node = arena.node(first, zero, one);
    cache.entry(low.0, high.0, node.0);
    node
}
