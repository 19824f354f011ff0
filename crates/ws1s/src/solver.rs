//! From formulas to automata: shapes are translated bottom-up, each once.
//!
//! Conjunctions are multiplied in the order of their sizes, preferring operands that share tracks.
//! A closed quantifier block is never determinised: whether the automaton below it can reach a true
//! state, or else a false one, decides it, and the last product below it is only searched.

use std::rc::Rc;

use base::Budget;

use crate::formula::{Child, Formula, Formulas, Shape, ShapeId, Var};
use crate::machine::{FALSE, Machine, TRUE, UNDEFINED, complement_output};
use crate::meter::{Growth, MAX_TRACKS, Meter, Statistics, Unknown};
use crate::minimise::minimise;
use crate::pairs;
use crate::product::{Connective, Operand, Product, product};
use crate::projection::project;

/// An automaton with the tracks of the enclosing shape that it reads.
pub(crate) struct TrackedMachine {
    pub(crate) machine: Rc<Machine>,
    pub(crate) negated: bool,
    pub(crate) tracks: Vec<u32>,
}

impl TrackedMachine {
    pub(crate) fn operand<'m>(&'m self, tracks: &'m [u32]) -> Operand<'m> {
        Operand {
            machine: &self.machine,
            negated: self.negated,
            tracks,
        }
    }
}

/// How far subset constructions may grow while there is a choice.
const GROWTHS: [Growth; 4] = [
    Growth::new(50_000, 4_000_000),
    Growth::new(500_000, 16_000_000),
    Growth::new(5_000_000, 64_000_000),
    Growth::new(50_000_000, 256_000_000),
];

/// Translates formulas of one store and remembers their automata.
pub(crate) struct Solver<'b> {
    machines: Vec<Option<Rc<Machine>>>,
    /// How many translations still need each shape; its automaton is dropped at 0.
    n_uses: Vec<u32>,
    pub(crate) meter: Meter<'b>,
}

impl<'b> Solver<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Self {
        Self {
            machines: Vec::new(),
            n_uses: Vec::new(),
            meter: Meter::new(budget),
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.meter.statistics
    }

    /// The minimal automaton of a shape. It stays remembered.
    pub(crate) fn machine(
        &mut self,
        formulas: &Formulas,
        root: ShapeId,
    ) -> Result<Rc<Machine>, Unknown> {
        self.prepare(formulas, &[root])?;
        Ok(self.get(root))
    }

    /// Formulas as automata over the tracks of `vars`, none of them multiplied yet.
    pub(crate) fn parts(
        &mut self,
        formulas: &Formulas,
        conjuncts: &[Formula],
        vars: &[Var],
    ) -> Result<Vec<TrackedMachine>, Unknown> {
        let shapes: Vec<ShapeId> = conjuncts.iter().map(|f| f.shape).collect();
        self.prepare(formulas, &shapes)?;
        let track = |var| vars.binary_search(var).expect("a variable of the whole") as u32;
        Ok(conjuncts
            .iter()
            .map(|conjunct| TrackedMachine {
                machine: self.get(conjunct.shape),
                negated: conjunct.negated,
                tracks: conjunct.vars.iter().map(track).collect(),
            })
            .collect())
    }

    pub(crate) fn get(&self, shape: ShapeId) -> Rc<Machine> {
        let machine = self.machines[shape.index()].as_ref();
        Rc::clone(machine.expect("shapes are translated in order"))
    }

    /// Translates everything below `roots`.
    pub(crate) fn prepare(
        &mut self,
        formulas: &Formulas,
        roots: &[ShapeId],
    ) -> Result<(), Unknown> {
        self.machines.resize(formulas.shapes.len(), None);
        self.n_uses.resize(formulas.shapes.len(), 0);
        let mut needed = Vec::new();
        let mut stack = Vec::new();
        for &root in roots {
            self.n_uses[root.index()] += 1;
            stack.push(root);
        }

        let mut seen = vec![false; formulas.shapes.len()];
        while let Some(shape) = stack.pop() {
            let known = self.machines[shape.index()].is_some();
            if known || std::mem::replace(&mut seen[shape.index()], true) {
                continue;
            }
            needed.push(shape);
            for child in dependencies(formulas, shape) {
                self.n_uses[child.shape.index()] += 1;
                stack.push(child.shape);
            }
        }

        // Children are interned before their parents.
        needed.sort_unstable();
        for shape in needed {
            // A choice made meanwhile may have needed it, too.
            if self.machines[shape.index()].is_none() {
                let machine = self.translate(formulas, shape)?;
                self.meter.statistics.n_automata += 1;
                self.meter.keep(machine.bytes());
                self.machines[shape.index()] = Some(machine);
            }
            for child in dependencies(formulas, shape) {
                self.release(child.shape);
            }
        }

        Ok(())
    }

    fn release(&mut self, shape: ShapeId) {
        let n_uses = &mut self.n_uses[shape.index()];
        *n_uses -= 1;
        if *n_uses > 0 {
            return;
        }
        if let Some(machine) = self.machines[shape.index()].take() {
            self.meter.drop_bytes(machine.bytes());
        }
    }

    fn translate(&mut self, formulas: &Formulas, id: ShapeId) -> Result<Rc<Machine>, Unknown> {
        let info = formulas.info(id);
        if info.n_tracks > MAX_TRACKS {
            return Err(Unknown::TooManyTracks);
        }
        let machine = match &info.shape {
            Shape::True => Ok(Machine::constant(TRUE)),
            Shape::Choice(children) => return self.choose(formulas, children),
            Shape::Atom { atom, roles } => atom.machine(roles, info.n_tracks, &mut self.meter),
            Shape::And(children) => {
                let parts = children.iter().map(|child| self.part(child)).collect();
                self.conjunction(parts, info.n_tracks)
            }
            Shape::Iff(children) => {
                let [left, right] = [self.part(&children[0]), self.part(&children[1])];
                let (left, right) = (left.operand(&left.tracks), right.operand(&right.tracks));
                let product = product(Connective::Iff, left, right, &mut self.meter)?;
                self.minimal(product, info.n_tracks)
            }
            Shape::Exists { child, bound } => self.exists(formulas, child, bound, info.n_tracks),
            Shape::Restrict(child) => {
                let machine = self.get(child.shape);
                let output = |&output: &u32| match signed(output, child.negated) {
                    TRUE => TRUE,
                    _ => UNDEFINED,
                };
                self.with_outputs(&machine, machine.outputs.iter().map(output).collect())
            }
            Shape::Prefix(child) => {
                let machine = self.get(child.shape);
                let outputs = prefix_outputs(&machine, child.negated);
                self.with_outputs(&machine, outputs)
            }
            Shape::Given(number) => return Ok(Rc::clone(&formulas.given[*number as usize])),
        };

        machine.map(Rc::new)
    }

    /// Translates one of two formulas that mean the same: in turn, as far as constructions stay
    /// within ever larger limits, at last without. The size of products is limited in the second
    /// only, because the first was preferred to keep them small.
    fn choose(
        &mut self,
        formulas: &Formulas,
        children: &[Child; 2],
    ) -> Result<Rc<Machine>, Unknown> {
        for growth in GROWTHS {
            let any_nodes = Growth {
                nodes: usize::MAX,
                ..growth
            };
            for (child, growth) in children.iter().zip([any_nodes, growth]) {
                if self.attempt(formulas, child.shape, growth)? {
                    return Ok(self.take(child));
                }
            }
        }
        self.prepare(formulas, &[children[0].shape])?;
        Ok(self.take(&children[0]))
    }

    /// Translates a shape unless a construction gets out of hand.
    pub(crate) fn attempt(
        &mut self,
        formulas: &Formulas,
        shape: ShapeId,
        growth: Growth,
    ) -> Result<bool, Unknown> {
        let outer = self.meter.max_growth;
        if outer.members < growth.members {
            // Who set that limit is to hear of it.
            self.prepare(formulas, &[shape])?;
            return Ok(true);
        }
        self.meter.max_growth = Growth {
            nodes: growth.nodes.min(outer.nodes),
            ..growth
        };
        let result = self.prepare(formulas, &[shape]);
        self.meter.max_growth = outer;
        match result {
            Ok(()) => Ok(true),
            Err(_) if std::mem::take(&mut self.meter.is_out_of_hand) => Ok(false),
            Err(Unknown::TooManyTracks) => Ok(false),
            Err(unknown) => Err(unknown),
        }
    }

    /// The automaton of a child that was prepared for this use only.
    fn take(&mut self, child: &Child) -> Rc<Machine> {
        let machine = self.get(child.shape);
        self.release(child.shape);
        if child.negated {
            Rc::new((*machine).clone().complement())
        } else {
            machine
        }
    }

    fn part(&self, child: &Child) -> TrackedMachine {
        TrackedMachine {
            machine: self.get(child.shape),
            negated: child.negated,
            tracks: child.tracks.to_vec(),
        }
    }

    fn with_outputs(&mut self, machine: &Machine, outputs: Vec<u32>) -> Result<Machine, Unknown> {
        let (nodes, roots) = (&machine.nodes, &machine.roots);
        minimise(nodes, roots, &outputs, machine.n_tracks, &mut self.meter)
    }

    fn minimal(&mut self, product: Product, n_tracks: usize) -> Result<Machine, Unknown> {
        let Product {
            nodes,
            roots,
            outputs,
        } = product;
        minimise(&nodes, &roots, &outputs, n_tracks, &mut self.meter)
    }

    fn conjunction(
        &mut self,
        parts: Vec<TrackedMachine>,
        n_tracks: usize,
    ) -> Result<Machine, Unknown> {
        let [left, right] = self.reduce(parts)?;
        let tracks: Vec<u32> = (0..n_tracks as u32).collect();
        debug_assert_eq!(union(&left.tracks, &right.tracks), tracks);
        let (left, right) = (left.operand(&left.tracks), right.operand(&right.tracks));
        let product = product(Connective::And, left, right, &mut self.meter)?;
        self.minimal(product, n_tracks)
    }

    /// Multiplies parts until two are left (the constant true stands in for a missing one).
    pub(crate) fn reduce(
        &mut self,
        mut parts: Vec<TrackedMachine>,
    ) -> Result<[TrackedMachine; 2], Unknown> {
        parts.sort_by(|a, b| a.tracks.cmp(&b.tracks));
        while parts.len() > 24 {
            // Far too many to compare all pairs: neighbours share their first tracks.
            let mut halved = Vec::new();
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => self.multiply(left, right)?,
                    None => left,
                });
            }
            parts = halved;
        }

        while parts.len() > 2 {
            let (i, j) = best_pair(&parts);
            let right = parts.remove(j);
            let left = parts.remove(i);
            let product = self.multiply(left, right)?;
            parts.push(product);
        }

        while parts.len() < 2 {
            parts.push(TrackedMachine {
                machine: Rc::new(Machine::constant(TRUE)),
                negated: false,
                tracks: Vec::new(),
            });
        }

        Ok(parts
            .try_into()
            .unwrap_or_else(|_| unreachable!("two parts")))
    }

    pub(crate) fn multiply(
        &mut self,
        left: TrackedMachine,
        right: TrackedMachine,
    ) -> Result<TrackedMachine, Unknown> {
        let tracks = union(&left.tracks, &right.tracks);
        let map = |part: &TrackedMachine| -> Vec<u32> {
            let position = |track| tracks.binary_search(track).expect("in the union") as u32;
            part.tracks.iter().map(position).collect()
        };
        let (left_map, right_map) = (map(&left), map(&right));
        let (l, r) = (left.operand(&left_map), right.operand(&right_map));
        let product = product(Connective::And, l, r, &mut self.meter)?;
        let machine = self.minimal(product, tracks.len())?;
        Ok(TrackedMachine {
            machine: Rc::new(machine),
            negated: false,
            tracks,
        })
    }

    fn exists(
        &mut self,
        formulas: &Formulas,
        child: &Child,
        bound: &[u32],
        n_tracks: usize,
    ) -> Result<Machine, Unknown> {
        if n_tracks == 0 {
            return self.closed(formulas, child);
        }
        let machine = self.get(child.shape);
        let mut erased = vec![false; machine.n_tracks];
        for &track in bound {
            erased[track as usize] = true;
        }
        debug_assert_eq!(n_tracks + bound.len(), machine.n_tracks);
        project(&machine, child.negated, &erased, &mut self.meter)
    }

    /// A quantifier block over all variables: the best output that any word gets.
    fn closed(&mut self, formulas: &Formulas, child: &Child) -> Result<Machine, Unknown> {
        let info = formulas.info(child.shape);
        let best = match &info.shape {
            Shape::And(children) if !child.negated => {
                let parts = children.iter().map(|child| self.part(child)).collect();
                let [left, right] = self.reduce(parts)?;
                let (left, right) = (left.operand(&left.tracks), right.operand(&right.tracks));
                let goal = pairs::Goal {
                    only_true: true,
                    n_tracks: info.n_tracks,
                    full_track: None,
                };
                let found = pairs::search(left, right, &goal, &mut self.meter)?;
                match (found.example, found.counterexample) {
                    (Some(_), _) => Some(TRUE),
                    (None, Some(_)) => Some(FALSE),
                    (None, None) => None,
                }
            }
            _ => {
                let machine = self.get(child.shape);
                let reached = machine.successors(|_, _| true);
                let mut states: Vec<u32> = reached.into_iter().flatten().collect();
                states.sort_unstable();
                states.dedup();
                let outputs = states.iter().map(|&state| machine.outputs[state as usize]);
                outputs.map(|output| signed(output, child.negated)).max()
            }
        };

        Ok(Machine::constant(best.unwrap_or(UNDEFINED)))
    }
}

/// The shapes whose automata the translation of a shape reads.
fn dependencies(formulas: &Formulas, shape: ShapeId) -> &[Child] {
    match &formulas.info(shape).shape {
        // A choice prepares what it needs.
        Shape::True | Shape::Atom { .. } | Shape::Given(_) | Shape::Choice(_) => &[],
        Shape::And(children) => children,
        Shape::Iff(children) => children.as_slice(),
        Shape::Exists { child, .. } if formulas.info(shape).n_tracks == 0 && !child.negated => {
            match &formulas.info(child.shape).shape {
                Shape::And(children) => children,
                _ => std::slice::from_ref(child),
            }
        }
        Shape::Exists { child, .. } | Shape::Restrict(child) | Shape::Prefix(child) => {
            std::slice::from_ref(child)
        }
    }
}

fn signed(output: u32, negated: bool) -> u32 {
    if negated {
        complement_output(output)
    } else {
        output
    }
}

/// The union of two ascending lists.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The pair whose product promises to be smallest: few states, few tracks that only one has.
pub(crate) fn best_pair(parts: &[TrackedMachine]) -> (usize, usize) {
    let mut best = (0, 1);
    let mut best_cost = u128::MAX;
    for j in 1..parts.len() {
        for i in 0..j {
            let (a, b) = (&parts[i], &parts[j]);
            let n_all = union(&a.tracks, &b.tracks).len();
            let n_shared = a.tracks.len() + b.tracks.len() - n_all;
            let states = a.machine.n_states() as u128 * b.machine.n_states() as u128;
            let cost = (states << 16) / (1 + n_shared as u128) + n_all as u128;
            if cost < best_cost {
                best_cost = cost;
                best = (i, j);
            }
        }
    }
    best
}

/// A state satisfies `prefix(φ)` if a true state can be reached from it.
fn prefix_outputs(machine: &Machine, negated: bool) -> Vec<u32> {
    let mut outputs: Vec<u32> = machine
        .outputs
        .iter()
        .map(|&output| signed(output, negated))
        .collect();
    let mut predecessors = vec![Vec::new(); machine.n_states()];
    for (state, successors) in machine.successors(|_, _| true).iter().enumerate() {
        for &next in successors {
            predecessors[next as usize].push(state);
        }
    }

    let is_true = |state: &usize| outputs[*state] == TRUE;
    let mut stack: Vec<usize> = (0..machine.n_states()).filter(is_true).collect();
    while let Some(state) = stack.pop() {
        for &before in &predecessors[state] {
            if outputs[before] != TRUE {
                outputs[before] = TRUE;
                stack.push(before);
            }
        }
    }

    outputs
}
