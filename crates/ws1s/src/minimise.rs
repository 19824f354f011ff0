//! Minimisation: the coarsest partition of the states that respects outputs and transitions.
//!
//! Hopcroft's "process the smaller half" (*An n log n algorithm for minimizing states in a finite
//! automaton*, Theory of Machines and Computations, 1971) carried over to transitions that are shared decision diagrams, in the spirit of
//! A. Valmari, P. Lehtinen, *Efficient minimization of DFAs with partial transition functions*, STACS
//! 2008, doi:10.4230/LIPIcs.STACS.2008.1328, whose cost depends on the number of
//! transitions rather than on the size of the alphabet; here nodes take the part of transitions.
//!
//! Every node carries a *value*: the hash-consed diagram that it becomes when states are replaced by
//! their classes. When a class is split, its largest part keeps the class number, so only the nodes
//! above the states of the smaller parts change their values; these are recomputed from the bottom
//! up, and the states whose root changed are the ones that may have to be separated from their
//! class. A state changes its class at most log n times. Moore's algorithm (and MONA's) rebuilds
//! every diagram in every round instead.
//!
//! Precondition: every state is reachable from state 0. Postcondition: the result is the minimal
//! machine, with states and nodes numbered in the order of a breadth-first search from state 0, so
//! that two machines of equal behaviour become equal values.

use crate::machine::{Machine, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::mtbdd::{Arena, Node, NodeRef};

/// The minimal machine for states given by roots and outputs over `nodes`.
pub(crate) fn minimise(
    nodes: &[Node],
    roots: &[NodeRef],
    outputs: &[u32],
    n_tracks: usize,
    meter: &mut Meter<'_>,
) -> Result<Machine, Unknown> {
    let parents = Parents::new(nodes, roots);
    let mut refinement = Refinement::new(nodes, roots, outputs, n_tracks, &parents);
    while refinement.split() {
        let bytes = refinement.values.bytes() + nodes.len() as u64 * 32;
        meter.check(roots.len(), bytes)?;
        refinement.propagate();
    }
    let undefined = parents.may_reach(nodes.len(), outputs, UNDEFINED);
    let machine = refinement.quotient(&undefined);
    meter.note_minimal(machine.n_states(), machine.nodes.len());
    Ok(machine)
}

/// Who refers to a node or to a state, in compressed rows. Rows `0..n_nodes` are nodes, the others
/// are states; an entry with the terminal bit is a state whose root refers to it.
struct Parents {
    starts: Vec<u32>,
    entries: Vec<NodeRef>,
}

impl Parents {
    fn new(nodes: &[Node], roots: &[NodeRef]) -> Self {
        let row = |at: NodeRef| {
            at.value()
                .map_or(at.0 as usize, |state| nodes.len() + state)
        };
        let mut starts = vec![0; nodes.len() + roots.len() + 2];
        let edges = |visit: &mut dyn FnMut(NodeRef, NodeRef)| {
            for (index, node) in nodes.iter().enumerate() {
                visit(node.low, NodeRef(index as u32));
                visit(node.high, NodeRef(index as u32));
            }
            for (state, &root) in roots.iter().enumerate() {
                visit(root, NodeRef::terminal(state));
            }
        };

        edges(&mut |child, _| starts[row(child) + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut entries = vec![NodeRef(0); nodes.len() * 2 + roots.len()];
        edges(&mut |child, parent| {
            let next = &mut starts[row(child) + 1];
            entries[*next as usize] = parent;
            *next += 1;
        });
        Self { starts, entries }
    }

    fn of(&self, row: usize) -> &[NodeRef] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The states from which a state with this output can be reached.
    fn may_reach(&self, n_nodes: usize, outputs: &[u32], output: u32) -> Vec<bool> {
        let mut reaching: Vec<bool> = outputs.iter().map(|&found| found == output).collect();
        let mut stack: Vec<usize> = (0..outputs.len())
            .filter(|&state| reaching[state])
            .map(|state| n_nodes + state)
            .collect();
        let mut seen = vec![false; n_nodes];
        while let Some(row) = stack.pop() {
            for parent in self.of(row) {
                let (known, row) = match parent.value() {
                    Some(state) => (&mut reaching[state], n_nodes + state),
                    None => (&mut seen[parent.index()], parent.index()),
                };
                if !std::mem::replace(known, true) {
                    stack.push(row);
                }
            }
        }
        reaching
    }
}

/// A class is the range of `members` between its bounds; its touched members come first.
struct Class {
    start: usize,
    end: usize,
    n_touched: usize,
}

struct Refinement<'m> {
    nodes: &'m [Node],
    roots: &'m [NodeRef],
    outputs: &'m [u32],
    n_tracks: usize,
    parents: &'m Parents,
    /// The diagrams over classes.
    values: Arena,
    value_of_node: Vec<NodeRef>,
    /// Value of the root of each state.
    value_of_state: Vec<NodeRef>,
    class_of: Vec<u32>,
    classes: Vec<Class>,
    members: Vec<u32>,
    /// Where each state stands in `members`.
    position: Vec<u32>,
    /// Classes with touched members.
    touched: Vec<u32>,
    /// States that have just got a new class.
    moved: Vec<u32>,
    dirty: Vec<bool>,
    dirty_by_track: Vec<Vec<u32>>,
}

impl<'m> Refinement<'m> {
    /// The partition by outputs, every state touched.
    fn new(
        nodes: &'m [Node],
        roots: &'m [NodeRef],
        outputs: &'m [u32],
        n_tracks: usize,
        parents: &'m Parents,
    ) -> Self {
        let n_states = roots.len();
        let mut members: Vec<u32> = (0..n_states as u32).collect();
        members.sort_by_key(|&state| outputs[state as usize]);

        let mut refinement = Self {
            nodes,
            roots,
            outputs,
            n_tracks,
            parents,
            values: Arena::with_capacity(nodes.len()),
            value_of_node: Vec::with_capacity(nodes.len()),
            value_of_state: Vec::new(),
            class_of: vec![0; n_states],
            classes: Vec::new(),
            position: vec![0; n_states],
            touched: Vec::new(),
            moved: Vec::new(),
            dirty: vec![false; nodes.len()],
            dirty_by_track: vec![Vec::new(); n_tracks],
            members,
        };

        let mut start = 0;
        while start < n_states {
            let output = outputs[refinement.members[start] as usize];
            let same = |&&state: &&u32| outputs[state as usize] == output;
            let end = start + refinement.members[start..].iter().take_while(same).count();
            refinement.new_class(start, end);
            start = end;
        }

        for class in 0..refinement.classes.len() {
            let Class { start, end, .. } = refinement.classes[class];
            refinement.classes[class].n_touched = end - start;
            refinement.touched.push(class as u32);
        }
        for index in 0..nodes.len() {
            let value = refinement.evaluate(index);
            refinement.value_of_node.push(value);
        }

        let values = roots.iter().map(|&root| refinement.value(root)).collect();
        refinement.value_of_state = values;
        refinement
    }

    fn new_class(&mut self, start: usize, end: usize) {
        let class = self.classes.len() as u32;
        for position in start..end {
            let state = self.members[position] as usize;
            self.class_of[state] = class;
            self.position[state] = position as u32;
        }
        self.classes.push(Class {
            start,
            end,
            n_touched: 0,
        });
    }

    fn value(&self, at: NodeRef) -> NodeRef {
        match at.value() {
            Some(state) => NodeRef::terminal(self.class_of[state] as usize),
            None => self.value_of_node[at.index()],
        }
    }

    fn evaluate(&mut self, index: usize) -> NodeRef {
        let node = self.nodes[index];
        let (low, high) = (self.value(node.low), self.value(node.high));
        self.values.node(node.track, low, high)
    }

    /// Splits every class by the values of its touched members. Says whether any state moved.
    fn split(&mut self) -> bool {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        for class in touched {
            self.split_class(class as usize);
        }
        !self.moved.is_empty()
    }

    fn split_class(&mut self, class: usize) {
        let Class {
            start,
            end,
            n_touched,
        } = self.classes[class];
        self.classes[class].n_touched = 0;

        let untouched = start + n_touched;
        let values = &self.value_of_state;
        self.members[start..untouched]
            .sort_unstable_by_key(|&state| (values[state as usize], state));

        // The touched members got values that mention new classes, which the common value of the
        // untouched ones does not: the untouched ones are a part of their own.
        let mut parts = Vec::new();
        let mut from = start;

        while from < untouched {
            let value = values[self.members[from] as usize];
            let same = |&&state: &&u32| values[state as usize] == value;
            let n = self.members[from..untouched]
                .iter()
                .take_while(same)
                .count();
            parts.push((from, from + n));
            from += n;
        }

        if untouched < end {
            parts.push((untouched, end));
        }
        for position in start..untouched {
            self.position[self.members[position] as usize] = position as u32;
        }
        if parts.len() < 2 {
            return;
        }
        let largest = (0..parts.len())
            .max_by_key(|&part| (parts[part].1 - parts[part].0, std::cmp::Reverse(part)))
            .expect("there are parts");

        for (part, &(from, to)) in parts.iter().enumerate() {
            if part == largest {
                (self.classes[class].start, self.classes[class].end) = (from, to);
            } else {
                self.new_class(from, to);
                self.moved.extend_from_slice(&self.members[from..to]);
            }
        }
    }

    /// Recomputes the values above all moved states and touches the states whose value changes.
    fn propagate(&mut self) {
        let parents = self.parents;
        for state in std::mem::take(&mut self.moved) {
            self.mark(parents.of(self.nodes.len() + state as usize));
        }
        for track in (0..self.n_tracks).rev() {
            for index in std::mem::take(&mut self.dirty_by_track[track]) {
                let index = index as usize;
                self.dirty[index] = false;
                let value = self.evaluate(index);
                if value != self.value_of_node[index] {
                    self.value_of_node[index] = value;
                    self.mark(parents.of(index));
                }
            }
        }
    }

    fn mark(&mut self, parents: &[NodeRef]) {
        for parent in parents {
            match parent.value() {
                Some(state) => self.touch(state),
                None if self.dirty[parent.index()] => {}
                None => {
                    self.dirty[parent.index()] = true;
                    let track = self.nodes[parent.index()].track as usize;
                    self.dirty_by_track[track].push(parent.0);
                }
            }
        }
    }

    /// The root of `state` has a new value. A state has one root, whose value is final when it is
    /// reported, so no state is touched twice in a round.
    fn touch(&mut self, state: usize) {
        self.value_of_state[state] = self.value(self.roots[state]);
        let class = self.class_of[state];
        let Class {
            start, n_touched, ..
        } = self.classes[class as usize];
        let (from, to) = (self.position[state] as usize, start + n_touched);
        let other = self.members[to] as usize;
        self.members.swap(from, to);
        (self.position[state], self.position[other]) = (to as u32, from as u32);
        self.classes[class as usize].n_touched += 1;
        if n_touched == 0 {
            self.touched.push(class);
        }
    }

    /// The machine whose states are the classes.
    fn quotient(self, undefined: &[bool]) -> Machine {
        let mut numbering = Numbering {
            values: &self.values,
            copies: vec![NodeRef(u32::MAX); self.values.len()],
            state_of_class: vec![u32::MAX; self.classes.len()],
            order: Vec::new(),
            nodes: Vec::new(),
        };

        numbering.state(self.class_of[0] as usize);
        let mut roots = Vec::new();
        while roots.len() < numbering.order.len() {
            let class = numbering.order[roots.len()];
            let first = self.members[self.classes[class].start] as usize;
            roots.push(numbering.copy(self.value_of_state[first]));
        }

        let representative = |&class: &usize| self.members[self.classes[class].start] as usize;
        let states: Vec<usize> = numbering.order.iter().map(representative).collect();
        Machine {
            nodes: numbering.nodes,
            roots,
            outputs: states.iter().map(|&state| self.outputs[state]).collect(),
            may_be_undefined: states.iter().map(|&state| undefined[state]).collect(),
            n_tracks: self.n_tracks,
        }
    }
}

/// Numbers classes and nodes in the order in which a breadth-first search meets them.
struct Numbering<'m> {
    values: &'m Arena,
    copies: Vec<NodeRef>,
    state_of_class: Vec<u32>,
    order: Vec<usize>,
    nodes: Vec<Node>,
}

impl Numbering<'_> {
    fn state(&mut self, class: usize) -> usize {
        if self.state_of_class[class] == u32::MAX {
            self.state_of_class[class] = self.order.len() as u32;
            self.order.push(class);
        }
        self.state_of_class[class] as usize
    }

    /// Copies a diagram; the depth of the recursion is the number of tracks.
    fn copy(&mut self, at: NodeRef) -> NodeRef {
        if let Some(class) = at.value() {
            return NodeRef::terminal(self.state(class));
        }
        if self.copies[at.index()] != NodeRef(u32::MAX) {
            return self.copies[at.index()];
        }
        let Node { track, low, high } = self.values.get(at.index());
        let (low, high) = (self.copy(low), self.copy(high));
        let copy = NodeRef(self.nodes.len() as u32);
        self.nodes.push(Node { track, low, high });
        self.copies[at.index()] = copy;
        copy
    }
}
