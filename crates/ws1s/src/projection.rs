//! Existential projection of tracks: right quotient by zeros, then the subset construction.
//!
//! J. R. Büchi, *Weak second-order arithmetic and finite automata*, Zeitschrift für mathematische
//! Logik und Grundlagen der Mathematik 6, 1960, doi:10.1002/malq.19600060105, and C. Elgot, *Decision
//! problems of finite automata design and related arithmetics*, Transactions of the American
//! Mathematical Society 98, 1961, doi:10.1090/S0002-9947-1961-0139530-9: the models of `∃X φ` are the words of φ with the track of X erased. A witness for X may reach beyond
//! the other sets, so a state first takes the output that it can still get by letters in which all
//! other tracks are 0; then sets of states are followed (M. Rabin,
//! D. Scott, *Finite automata and their decision problems*, IBM Journal of Research and Development
//! 3, 1959, doi:10.1147/rd.32.0114). All tracks of a quantifier block go at once, unless that leads to many
//! more sets than there were states: then one track goes alone, and the others are tried again on
//! the minimal automaton that is left.
//!
//! The output of a set is the greatest of its members' (undefined < false < true), so states that
//! cannot matter are left out of sets: next to a true sink everything, an undefined sink always,
//! a false sink next to a state that stays defined.
//!
//! Sets of *nodes* are interned, and the diagram of a set of nodes is computed once, so equal
//! sub-diagrams of different sets are shared (MONA computes pairwise unions instead).

use crate::machine::{FALSE, Machine, TRUE, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::minimise::minimise;
use crate::mtbdd::{Arena, Node, NodeRef};
use crate::table::spread;

/// Of how many nodes, in sets, the tracks of a block may be erased together: this many, and this many
/// for each state and node of the automaton.
const MIN_TOGETHER: usize = 5_000;
const TOGETHER_PER_NODE: usize = 4;

/// The minimal machine after the tracks for which `erased` is true are gone. The tracks left over
/// are renumbered.
pub(crate) fn project(
    machine: &Machine,
    negated: bool,
    erased: &[bool],
    meter: &mut Meter<'_>,
) -> Result<Machine, Unknown> {
    let mut left = erased.to_vec();
    let mut reduced: Option<Machine> = None;

    loop {
        let (machine, negated) = match &reduced {
            Some(machine) => (machine, false),
            None => (machine, negated),
        };

        let Some(last) = left.iter().rposition(|&erased| erased) else {
            return Ok(machine.clone());
        };

        let is_block = left[..last].contains(&true);
        let size = machine.nodes.len() + machine.n_states();
        let limit = is_block.then_some(MIN_TOGETHER + TOGETHER_PER_NODE * size);
        if let Some(all) = erase(machine, negated, &left, limit, meter)? {
            return Ok(all);
        }

        // Together the tracks led to too many sets: the last goes alone, and the rest is tried again.
        let mut alone = vec![false; left.len()];
        alone[last] = true;
        let next = erase(machine, negated, &alone, None, meter)?;
        reduced = Some(next.expect("without a limit"));
        left.remove(last);
    }
}

/// Erases tracks by one subset construction; `None` if the sets have more members than `limit`.
fn erase(
    machine: &Machine,
    negated: bool,
    erased: &[bool],
    limit: Option<usize>,
    meter: &mut Meter<'_>,
) -> Result<Option<Machine>, Unknown> {
    meter.statistics.n_projections += 1;
    let outputs = quotient_outputs(machine, negated, erased);
    let mut new_track = Vec::with_capacity(erased.len());
    let mut n_left = 0;
    for &erased in erased {
        new_track.push(n_left);
        n_left += u32::from(!erased);
    }

    let mut subsets = Subsets {
        machine,
        outputs: &outputs,
        negated,
        erased,
        new_track,
        sets: Sets::new(),
        diagrams: Vec::new(),
        state_of_set: Vec::new(),
        set_of_state: Vec::new(),
        arena: Arena::new(),
        next_check: 2048,
        meter,
    };

    subsets.state(vec![NodeRef::terminal(0)]);
    let mut roots = Vec::new();
    while roots.len() < subsets.set_of_state.len() {
        let mut set: Vec<NodeRef> = subsets
            .sets
            .get(subsets.set_of_state[roots.len()])
            .iter()
            .map(|state| machine.roots[state.value().expect("a set of states")])
            .collect();
        normalise(&mut set);
        let set = subsets.intern(&set);
        let root = subsets.diagram(set)?;
        roots.push(root);
        if limit.is_some_and(|limit| subsets.sets.n_elements() > limit) {
            return Ok(None);
        }
    }

    let outputs: Vec<u32> = (0..roots.len())
        .map(|state| subsets.output(state))
        .collect();
    let nodes = subsets.arena.into_nodes();
    minimise(&nodes, &roots, &outputs, n_left as usize, meter).map(Some)
}

/// The output that each state can still get by letters that are 0 outside the erased tracks.
pub(crate) fn quotient_outputs(machine: &Machine, negated: bool, erased: &[bool]) -> Vec<u32> {
    let successors = machine.successors(|track, bit| !bit || erased[track as usize]);
    let mut predecessors = vec![Vec::new(); machine.n_states()];
    for (state, successors) in successors.iter().enumerate() {
        for &next in successors {
            predecessors[next as usize].push(state);
        }
    }

    let mut outputs = vec![UNDEFINED; machine.n_states()];
    for wanted in [TRUE, FALSE] {
        let raw = |state: usize| match machine.outputs[state] {
            UNDEFINED => UNDEFINED,
            output if negated => TRUE + FALSE - output,
            output => output,
        };
        let mut stack: Vec<usize> = (0..machine.n_states())
            .filter(|&state| raw(state) == wanted)
            .collect();
        while let Some(state) = stack.pop() {
            if outputs[state] == UNDEFINED {
                outputs[state] = wanted;
                stack.extend(&predecessors[state]);
            }
        }
    }

    outputs
}

fn normalise(set: &mut Vec<NodeRef>) {
    set.sort_unstable();
    set.dedup();
}

/// Leaves out states that cannot change the output of the set or of any of its successors.
pub(crate) fn reduce(machine: &Machine, negated: bool, set: &mut Vec<NodeRef>) {
    if set.len() < 2 {
        return;
    }

    // The output of a set is the greatest of its members: undefined, false, true.
    let state = |at: &NodeRef| at.value().expect("a set of states");
    let sink = |at: &NodeRef| match machine.sink_output(state(at))? {
        UNDEFINED => Some(UNDEFINED),
        output if negated => Some(TRUE + FALSE - output),
        output => Some(output),
    };

    if let Some(&winner) = set.iter().find(|at| sink(at) == Some(TRUE)) {
        set.clear();
        set.push(winner);
        return;
    }

    if set.iter().any(|at| sink(at) != Some(UNDEFINED)) {
        set.retain(|at| sink(at) != Some(UNDEFINED));
    }

    // A state that stays defined is at least false.
    let defined = |at: &NodeRef| sink(at).is_none() && !machine.may_be_undefined[state(at)];
    if set.iter().any(defined) {
        set.retain(|at| sink(at) != Some(FALSE));
    }
}

/// Replaces nodes that read an erased track by both their children, until there are none.
pub(crate) fn close_erased(machine: &Machine, erased: &[bool], set: &mut Vec<NodeRef>) {
    let mut index = 0;
    while index < set.len() {
        let at = set[index];
        if !at.is_terminal() {
            let node = machine.nodes[at.index()];
            if erased[node.track as usize] {
                set[index] = node.low;
                set.push(node.high);
                continue;
            }
        }
        index += 1;
    }
    normalise(set);
}

struct Subsets<'m, 'b, 'c> {
    machine: &'m Machine,
    outputs: &'m [u32],
    negated: bool,
    erased: &'m [bool],
    new_track: Vec<u32>,
    sets: Sets,
    /// The diagram of each interned set of nodes, once known.
    diagrams: Vec<Option<NodeRef>>,
    /// The state of each interned set of terminals, once it is one.
    state_of_set: Vec<Option<u32>>,
    set_of_state: Vec<u32>,
    arena: Arena,
    next_check: usize,
    meter: &'c mut Meter<'b>,
}

impl Subsets<'_, '_, '_> {
    fn intern(&mut self, set: &[NodeRef]) -> u32 {
        let index = self.sets.intern(set);
        if index as usize == self.diagrams.len() {
            self.diagrams.push(None);
            self.state_of_set.push(None);
        }
        index
    }

    /// The state that stands for a set of terminals.
    fn state(&mut self, mut set: Vec<NodeRef>) -> usize {
        reduce(self.machine, self.negated, &mut set);
        let index = self.intern(&set);
        if let Some(state) = self.state_of_set[index as usize] {
            return state as usize;
        }
        let state = self.set_of_state.len();
        self.state_of_set[index as usize] = Some(state as u32);
        self.set_of_state.push(index);
        state
    }

    fn output(&self, state: usize) -> u32 {
        let set = self.sets.get(self.set_of_state[state]);
        let outputs = set.iter().filter_map(|at| at.value());
        outputs
            .map(|state| self.outputs[state])
            .max()
            .unwrap_or(UNDEFINED)
    }

    /// The diagram of the union of a set of diagrams; the recursion is as deep as there are tracks.
    fn diagram(&mut self, index: u32) -> Result<NodeRef, Unknown> {
        if let Some(known) = self.diagrams[index as usize] {
            return Ok(known);
        }
        if let &[at] = self.sets.get(index)
            && !at.is_terminal()
        {
            let diagram = self.single(at)?;
            self.diagrams[index as usize] = Some(diagram);
            return Ok(diagram);
        }

        let set = self.sets.get(index).to_vec();
        let track = |at: &NodeRef| {
            if at.is_terminal() {
                u32::MAX
            } else {
                self.machine.nodes[at.index()].track
            }
        };

        let top = set.iter().map(track).min().expect("sets are not empty");
        let diagram = if top == u32::MAX {
            NodeRef::terminal(self.state(set))
        } else {
            let (mut low, mut high) = (Vec::new(), Vec::new());
            for at in set {
                let (low_child, high_child) = if track(&at) == top {
                    let node = self.machine.nodes[at.index()];
                    (node.low, node.high)
                } else {
                    (at, at)
                };
                low.push(low_child);
                high.push(high_child);
            }
            self.branch(top as usize, low, high)?
        };

        self.diagrams[index as usize] = Some(diagram);
        if self.sets.n_elements() + self.arena.len() >= self.next_check {
            self.next_check += 2048;
            let bytes = self.arena.bytes() + self.sets.bytes();
            self.meter.check_nodes(self.arena.len())?;
            self.meter.check(self.set_of_state.len(), bytes)?;
            let size = self.machine.nodes.len() + self.machine.n_states();
            self.meter.check_sets(self.sets.n_elements(), size)?;
        }

        Ok(diagram)
    }

    /// The diagram of a single node that decides: the commonest set by far.
    fn single(&mut self, at: NodeRef) -> Result<NodeRef, Unknown> {
        let Node { track, low, high } = self.machine.nodes[at.index()];
        if self.erased[track as usize] {
            let mut both = [low, high];
            both.sort_unstable();
            let both = self.intern(&both);
            return self.diagram(both);
        }
        let (low, high) = (self.intern(&[low]), self.intern(&[high]));
        let (low, high) = (self.diagram(low)?, self.diagram(high)?);
        Ok(self.arena.node(self.new_track[track as usize], low, high))
    }

    fn branch(
        &mut self,
        track: usize,
        mut low: Vec<NodeRef>,
        mut high: Vec<NodeRef>,
    ) -> Result<NodeRef, Unknown> {
        if self.erased[track] {
            low.extend(high);
            normalise(&mut low);
            let both = self.intern(&low);
            return self.diagram(both);
        }
        normalise(&mut low);
        normalise(&mut high);
        let (low, high) = (self.intern(&low), self.intern(&high));
        let (low, high) = (self.diagram(low)?, self.diagram(high)?);
        Ok(self.arena.node(self.new_track[track], low, high))
    }
}

/// Interned sets of references.
pub(crate) struct Sets {
    elements: Vec<NodeRef>,
    /// Set `i` is `elements[bounds[i]..bounds[i + 1]]`.
    bounds: Vec<usize>,
    /// The hash of each set.
    hashes: Vec<u32>,
    /// Open addressing; `u32::MAX` is free. Invariant: at most half of the slots are taken.
    slots: Vec<u32>,
}

impl Sets {
    pub(crate) fn new() -> Self {
        Self {
            elements: Vec::new(),
            bounds: vec![0],
            hashes: Vec::new(),
            slots: vec![u32::MAX; 64],
        }
    }

    pub(crate) fn get(&self, index: u32) -> &[NodeRef] {
        &self.elements[self.bounds[index as usize]..self.bounds[index as usize + 1]]
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// How many members all sets have together.
    pub(crate) fn n_elements(&self) -> usize {
        self.elements.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.elements.len() as u64 * 4 + self.bounds.len() as u64 * 32
    }

    pub(crate) fn intern(&mut self, set: &[NodeRef]) -> u32 {
        let hash = set
            .iter()
            .fold(0, |hash, at| spread(hash ^ u64::from(at.0)));
        let hash = hash as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;

        while self.slots[slot] != u32::MAX {
            let known = self.slots[slot];
            if self.hashes[known as usize] == hash && self.get(known) == set {
                return known;
            }
            slot = (slot + 1) & mask;
        }

        let index = self.len() as u32;
        self.slots[slot] = index;
        self.hashes.push(hash);
        self.elements.extend_from_slice(set);
        self.bounds.push(self.elements.len());
        if self.bounds.len() * 2 > self.slots.len() {
            self.grow();
        }
        index
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, u32::MAX);
        for (index, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & mask;
            while self.slots[slot] != u32::MAX {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = index as u32;
        }
    }
}
