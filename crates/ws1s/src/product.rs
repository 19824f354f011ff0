//! The synchronous product of two machines, reachable part only.
//!
//! Bryant's `apply` (doi:10.1109/TC.1986.1676819, section 4.3) on the transition diagrams, with one
//! cache for all pairs of states. The operands may have different tracks; strictly increasing maps
//! say which tracks of the result theirs are, so renaming costs nothing.
//!
//! Deviations from the textbook. Where the output of a pair can never again be anything but one
//! value (a false operand of a conjunction whose other operand stays defined, an undefined one), the
//! pair becomes the sink of that value at once, be it a pair of states or of nodes on the way to
//! states. And nodes are not made unique: equal ones come from different pairs, which is rare, and
//! minimisation, which follows, merges them anyway.

use crate::machine::{FALSE, Machine, TRUE, UNDEFINED, complement_output};
use crate::meter::{Meter, Unknown};
use crate::mtbdd::{Node, NodeRef};
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
    pub(crate) fn output(&self, state: u32) -> u32 {
        let output = self.machine.outputs[state as usize];
        if self.negated {
            complement_output(output)
        } else {
            output
        }
    }

    /// The track that a place reads, `u32::MAX` if it is a state, and what is below.
    fn split(&self, at: NodeRef) -> (u32, NodeRef, NodeRef) {
        if at.is_terminal() {
            return (u32::MAX, at, at);
        }
        let node = self.machine.nodes[at.index()];
        (self.tracks[node.track as usize], node.low, node.high)
    }

    /// The first track that one of two places reads, and the pairs below for 0 and for 1.
    pub(crate) fn split_pair(
        left: &Self,
        right: &Self,
        a: NodeRef,
        b: NodeRef,
    ) -> (u32, (NodeRef, NodeRef), (NodeRef, NodeRef)) {
        let (a_track, a0, a1) = left.split(a);
        let (b_track, b0, b1) = right.split(b);
        let track = a_track.min(b_track);
        let (a0, a1) = if a_track == track { (a0, a1) } else { (a, a) };
        let (b0, b1) = if b_track == track { (b0, b1) } else { (b, b) };
        (track, (a0, b0), (a1, b1))
    }
}

/// The outputs of the states of an operand that are never left.
pub(crate) struct Sinks {
    /// `u32::MAX` for the other states.
    outputs: Vec<u32>,
}

impl Sinks {
    pub(crate) fn new(operand: &Operand<'_>) -> Self {
        let machine = operand.machine;
        let output = |state: usize| match machine.sink_output(state) {
            Some(_) => operand.output(state as u32),
            None => u32::MAX,
        };
        Self {
            outputs: (0..machine.n_states()).map(output).collect(),
        }
    }

    /// The output of a state that is never left.
    pub(crate) fn of(&self, state: usize) -> Option<u32> {
        let output = self.outputs[state];
        (output != u32::MAX).then_some(output)
    }

    /// Is this a state that is undefined forever?
    pub(crate) fn is_undefined(&self, at: NodeRef) -> bool {
        at.value()
            .is_some_and(|state| self.outputs[state] == UNDEFINED)
    }
}

/// The places of an operand from which an undefined state can be reached.
struct Undefined {
    states: Vec<bool>,
    nodes: Vec<bool>,
}

impl Undefined {
    fn new(machine: &Machine) -> Self {
        let states = machine.may_be_undefined.clone();
        let mut nodes: Vec<bool> = Vec::with_capacity(machine.nodes.len());
        for node in &machine.nodes {
            let reaches = |at: NodeRef| match at.value() {
                Some(state) => states[state],
                None => nodes[at.index()],
            };
            nodes.push(reaches(node.low) || reaches(node.high));
        }
        Self { states, nodes }
    }

    fn reaches(&self, at: NodeRef) -> bool {
        match at.value() {
            Some(state) => self.states[state],
            None => self.nodes[at.index()],
        }
    }
}

/// What a product yields: not minimised, and with nodes that repeat.
pub(crate) struct Product {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<NodeRef>,
    pub(crate) outputs: Vec<u32>,
}

/// Key of the pairs that stand for a sink; no machine has that many states.
const SINK: u32 = u32::MAX - 1;

/// The reachable product.
pub(crate) fn product(
    connective: Connective,
    left: Operand<'_>,
    right: Operand<'_>,
    meter: &mut Meter<'_>,
) -> Result<Product, Unknown> {
    meter.statistics.n_products += 1;
    let n_nodes = 32 + left.machine.nodes.len().max(right.machine.nodes.len());
    let mut search = ProductSearch {
        connective,
        left,
        right,
        sinks: [Sinks::new(&left), Sinks::new(&right)],
        undefined: [Undefined::new(left.machine), Undefined::new(right.machine)],
        nodes: Vec::with_capacity(n_nodes),
        cache: PairTable::with_capacity(n_nodes),
        states: PairTable::new(),
        pairs: Vec::new(),
        outputs: Vec::new(),
        next_check: 4096,
        meter,
    };

    let initial = NodeRef::terminal(0);
    match search.sink_of(initial, initial) {
        Some(output) => search.state(SINK, output),
        None => search.state(0, 0),
    };

    let mut roots = Vec::new();
    while roots.len() < search.pairs.len() {
        let (a, b) = search.pairs[roots.len()];
        roots.push(if a == SINK {
            NodeRef::terminal(roots.len())
        } else {
            let (a, b) = (a as usize, b as usize);
            search.apply(left.machine.roots[a], right.machine.roots[b])?
        });
    }

    Ok(Product {
        nodes: search.nodes,
        roots,
        outputs: search.outputs,
    })
}

struct ProductSearch<'m, 'b, 'c> {
    connective: Connective,
    left: Operand<'m>,
    right: Operand<'m>,
    sinks: [Sinks; 2],
    undefined: [Undefined; 2],
    nodes: Vec<Node>,
    /// Nodes of the operands to nodes of the result.
    cache: PairTable,
    /// States of the operands to states of the result.
    states: PairTable,
    pairs: Vec<(u32, u32)>,
    outputs: Vec<u32>,
    /// Number of nodes at which the budget is asked next.
    next_check: usize,
    meter: &'c mut Meter<'b>,
}

impl ProductSearch<'_, '_, '_> {
    /// The state of the result for a pair, new if need be.
    fn state(&mut self, a: u32, b: u32) -> NodeRef {
        let (state, fresh) = self.states.entry(a, b, self.pairs.len() as u32);
        if fresh {
            let output = match a {
                SINK => b,
                _ => combine(self.connective, self.left.output(a), self.right.output(b)),
            };
            self.pairs.push((a, b));
            self.outputs.push(output);
        }
        NodeRef::terminal(state as usize)
    }

    /// The output that this pair and all its successors have, as far as that is plain to see.
    fn sink_of(&self, a: NodeRef, b: NodeRef) -> Option<u32> {
        let left = a.value().and_then(|state| self.sinks[0].of(state));
        let right = b.value().and_then(|state| self.sinks[1].of(state));
        if left.is_none() && right.is_none() {
            return None;
        }
        if left == Some(UNDEFINED) || right == Some(UNDEFINED) {
            return Some(UNDEFINED);
        }
        if let (Some(left), Some(right)) = (left, right) {
            return Some(combine(self.connective, left, right));
        }
        let decided = self.connective == Connective::And
            && (left == Some(FALSE) && !self.undefined[1].reaches(b)
                || right == Some(FALSE) && !self.undefined[0].reaches(a));
        decided.then_some(FALSE)
    }

    /// The transition diagram of a pair of diagrams.
    fn apply(&mut self, a: NodeRef, b: NodeRef) -> Result<NodeRef, Unknown> {
        if let Some(output) = self.sink_of(a, b) {
            return Ok(self.state(SINK, output));
        }
        if let (Some(a), Some(b)) = (a.value(), b.value()) {
            return Ok(self.state(a as u32, b as u32));
        }
        if let Some(known) = self.cache.get(a.0, b.0) {
            return Ok(NodeRef(known));
        }
        let (track, low, high) = Operand::split_pair(&self.left, &self.right, a, b);
        let low = self.apply(low.0, low.1)?;
        let high = self.apply(high.0, high.1)?;
        let node = if low == high {
            low
        } else {
            self.nodes.push(Node { track, low, high });
            NodeRef(self.nodes.len() as u32 - 1)
        };

        self.cache.entry(a.0, b.0, node.0);
        if self.nodes.len() >= self.next_check || self.pairs.len() >= self.next_check {
            self.next_check += 4096;
            let nodes = self.nodes.len() as u64 * 12;
            let bytes = nodes + self.cache.bytes() + self.states.bytes();
            self.meter.check_nodes(self.nodes.len())?;
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
