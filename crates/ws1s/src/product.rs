//! The synchronous product of two machines, reachable part only.
//!
//! Bryant's `apply` (doi:10.1109/TC.1986.1676819, section 4.3) on the transition diagrams, with one
//! cache for all pairs of states. The operands may have different tracks; strictly increasing maps
//! say which tracks of the result theirs are, so renaming costs nothing.
//!
//! Deviation from the textbook: where the output of a pair can never again be anything but one
//! value (a false operand of a conjunction whose other operand stays defined, an undefined one), the
//! pair becomes the sink of that value at once.

use crate::machine::{FALSE, Machine, TRUE, UNDEFINED, complement_output};
use crate::meter::{Meter, Unknown};
use crate::mtbdd::{Arena, NodeRef};
use crate::table::PairTable;

/// How outputs are combined. Undefinedness is strict in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Connective {
    And,
    Iff,
}

/// An operand: a machine, whether it is complemented, and the track of the result for each of its
/// tracks. Invariant: `tracks` is strictly increasing.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) negated: bool,
    pub(crate) tracks: &'m [u32],
}

impl Operand<'_> {
    fn output(&self, state: u32) -> u32 {
        let output = self.machine.outputs[state as usize];
        if self.negated {
            complement_output(output)
        } else {
            output
        }
    }

    fn sink(&self, state: u32) -> Option<u32> {
        self.machine
            .sink_output(state as usize)
            .map(|_| self.output(state))
    }
}

/// What a product yields: not minimised, and with garbage among its nodes.
pub(crate) struct Product {
    pub(crate) nodes: Arena,
    pub(crate) roots: Vec<NodeRef>,
    pub(crate) outputs: Vec<u32>,
}

impl Product {
    /// The greatest output after a transition, of a product that was not stopped, or the goal.
    pub(crate) fn best_output(&self) -> u32 {
        let initial = NodeRef::terminal(0);
        let loops = self.roots[0] == initial
            || (0..self.nodes.len()).any(|index| {
                let node = self.nodes.get(index);
                node.low == initial || node.high == initial
            });
        let first = usize::from(!loops);
        self.outputs[first..]
            .iter()
            .copied()
            .max()
            .unwrap_or(UNDEFINED)
    }
}

/// Key of the pairs that stand for a sink; no machine has that many states.
const SINK: u32 = u32::MAX - 1;

/// The reachable product. With a `goal` it stops, with what it has, once a transition leads to a
/// state with that output.
pub(crate) fn product(
    connective: Connective,
    left: Operand<'_>,
    right: Operand<'_>,
    goal: Option<u32>,
    meter: &mut Meter<'_>,
) -> Result<Product, Unknown> {
    meter.statistics.n_products += 1;
    let n_nodes = 32 + left.machine.nodes.len().max(right.machine.nodes.len());
    let mut search = Search {
        connective,
        left,
        right,
        arena: Arena::with_capacity(n_nodes),
        cache: PairTable::with_capacity(n_nodes),
        states: PairTable::new(),
        pairs: Vec::new(),
        outputs: Vec::new(),
        goal,
        found: false,
        next_check: 4096,
        meter,
    };
    search.state(0, 0);
    let mut roots = Vec::new();
    while roots.len() < search.pairs.len() {
        let (a, b) = search.pairs[roots.len()];
        roots.push(if a == SINK {
            NodeRef::terminal(roots.len())
        } else {
            let from = (
                left.machine.roots[a as usize],
                right.machine.roots[b as usize],
            );
            search.apply(from.0, from.1)?
        });
        if search.found {
            break;
        }
    }
    roots.resize(search.pairs.len(), NodeRef::terminal(0));
    Ok(Product {
        nodes: search.arena,
        roots,
        outputs: search.outputs,
    })
}

struct Search<'m, 'b, 'c> {
    connective: Connective,
    left: Operand<'m>,
    right: Operand<'m>,
    arena: Arena,
    /// Nodes of the operands to nodes of the result.
    cache: PairTable,
    /// States of the operands to states of the result.
    states: PairTable,
    pairs: Vec<(u32, u32)>,
    outputs: Vec<u32>,
    goal: Option<u32>,
    found: bool,
    /// Number of nodes at which the budget is asked next.
    next_check: usize,
    meter: &'c mut Meter<'b>,
}

impl Search<'_, '_, '_> {
    /// The state of the result for a pair, new if need be.
    fn state(&mut self, a: u32, b: u32) -> usize {
        let sink = self.sink_of(a, b);
        let (a, b) = sink.map_or((a, b), |output| (SINK, output));
        let (state, fresh) = self.states.entry(a, b, self.pairs.len() as u32);
        if fresh {
            let output = match sink {
                Some(output) => output,
                None => combine(self.connective, self.left.output(a), self.right.output(b)),
            };
            // The initial state is no goal unless a transition leads back to it; that is left to
            // the caller, because it is rare.
            self.found |= !self.pairs.is_empty() && self.goal == Some(output);
            self.pairs.push((a, b));
            self.outputs.push(output);
        }
        state as usize
    }

    /// The output that this pair and all its successors have, as far as that is plain to see.
    fn sink_of(&self, a: u32, b: u32) -> Option<u32> {
        let (left, right) = (self.left.sink(a), self.right.sink(b));
        if left == Some(UNDEFINED) || right == Some(UNDEFINED) {
            return Some(UNDEFINED);
        }
        if let (Some(left), Some(right)) = (left, right) {
            return Some(combine(self.connective, left, right));
        }
        let decided = self.connective == Connective::And
            && (left == Some(FALSE) && !self.right.machine.may_be_undefined[b as usize]
                || right == Some(FALSE) && !self.left.machine.may_be_undefined[a as usize]);
        decided.then_some(FALSE)
    }

    /// The transition diagram of a pair of diagrams.
    fn apply(&mut self, a: NodeRef, b: NodeRef) -> Result<NodeRef, Unknown> {
        if let (Some(a), Some(b)) = (a.value(), b.value()) {
            return Ok(NodeRef::terminal(self.state(a as u32, b as u32)));
        }
        if let Some(known) = self.cache.get(a.0, b.0) {
            return Ok(NodeRef(known));
        }
        let split = |operand: &Operand<'_>, at: NodeRef| match at.is_terminal() {
            true => (u32::MAX, at, at),
            false => {
                let node = operand.machine.nodes[at.index()];
                (operand.tracks[node.track as usize], node.low, node.high)
            }
        };
        let (left, right) = (split(&self.left, a), split(&self.right, b));
        let track = left.0.min(right.0);
        let (a0, a1) = if left.0 == track {
            (left.1, left.2)
        } else {
            (a, a)
        };
        let (b0, b1) = if right.0 == track {
            (right.1, right.2)
        } else {
            (b, b)
        };
        let low = self.apply(a0, b0)?;
        let high = self.apply(a1, b1)?;
        let node = self.arena.node(track, low, high);
        self.cache.entry(a.0, b.0, node.0);
        if self.arena.len() >= self.next_check || self.pairs.len() >= self.next_check {
            self.next_check += 4096;
            let bytes = self.arena.bytes() + self.cache.bytes() + self.states.bytes();
            self.meter.check(self.pairs.len(), bytes)?;
        }
        Ok(node)
    }
}

fn combine(connective: Connective, left: u32, right: u32) -> u32 {
    if left == UNDEFINED || right == UNDEFINED {
        return UNDEFINED;
    }
    match connective {
        Connective::And => left.min(right),
        Connective::Iff if left == right => TRUE,
        Connective::Iff => FALSE,
    }
}
