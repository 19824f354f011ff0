//! The vector-valued product: all output vectors that a family of automata has together.
//!
//! An abstraction by predicates asks, for a transition relation ρ and abstract predicates α₁…αₙ over
//! the variables before and after, which pairs of truth vectors occur on words that satisfy ρ. One
//! query per vector would be 4ⁿ queries. Instead the predicates are multiplied once into a
//! [`VectorMachine`], a Moore machine whose outputs are whole vectors, minimised on them; the
//! primed copy is a renaming; and a single walk over the reachable tuples of states of ρ and both
//! copies meets every pair of vectors. All variables are quantified outermost, so nothing is
//! determinised.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::Budget;
use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::formula::Var;
use crate::machine::{Machine, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::minimise::minimise;
use crate::mtbdd::{Arena, NodeRef};
use crate::projection::Sets;
use crate::reorder::reorder;

/// A minimal Moore machine whose outputs are vectors: entry `i` is the output of automaton `i`.
#[derive(Clone, Debug)]
pub struct VectorMachine {
    machine: Rc<Machine>,
    vars: Vec<Var>,
    /// What the outputs of the machine stand for.
    vectors: Rc<Vec<Vec<u32>>>,
}

impl VectorMachine {
    /// The product of a family of automata. Where `guard` is not true the output is the empty vector.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn new(guard: &Automaton, family: &[&Automaton], budget: &Budget) -> Result<Self, Unknown> {
        let mut all = vec![guard];
        all.extend(family);
        let mut walk = MachineWalk::new(&all);
        walk.dead[0] = dead_states(&guard.machine, |output| output != crate::TRUE);

        let mut meter = Meter::new(budget);
        let mut builder = DiagramBuilder {
            arena: Arena::new(),
            diagrams: Vec::new(),
            walk,
        };
        builder
            .walk
            .states
            .intern(&vec![NodeRef::terminal(0); all.len()]);

        let mut roots = Vec::new();
        while roots.len() < builder.walk.states.len() {
            let state = roots.len();
            if builder.walk.is_dead(builder.walk.states.get(state as u32)) {
                roots.push(NodeRef::terminal(state));
                continue;
            }
            let places = builder.walk.roots(state as u32);
            let tuple = builder.walk.tuples.intern(&places);
            let root = builder.diagram(tuple);
            roots.push(root);
            meter.check(roots.len(), builder.arena.bytes() + builder.walk.bytes())?;
        }

        let mut vectors: Vec<Vec<u32>> = Vec::new();
        let mut numbers: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut outputs = Vec::new();
        for state in 0..roots.len() as u32 {
            let vector = match builder.walk.outputs(state) {
                outputs if outputs[0] == crate::TRUE => outputs[1..].to_vec(),
                _ => Vec::new(),
            };
            let next = vectors.len();
            let number = *numbers.entry(vector.clone()).or_insert(next);
            outputs.push(number as u32);
            if number == next {
                vectors.push(vector);
            }
        }

        let vars = builder.walk.vars;
        let nodes = builder.arena.into_nodes();
        let machine = minimise(&nodes, &roots, &outputs, vars.len(), &mut meter)?;
        Ok(Self {
            machine: Rc::new(machine),
            vars,
            vectors: Rc::new(vectors),
        })
    }

    /// The same machine over other variables, `vars[i]` for its `i`-th; any order will do. `None`
    /// if they are not as many, or one repeats.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn rename(&self, vars: &[Var], budget: &Budget) -> Result<Option<Self>, Unknown> {
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != self.vars.len() || vars.len() != self.vars.len() {
            return Ok(None);
        }
        let position = |var| sorted.binary_search(var).expect("just sorted") as u32;
        let tracks: Vec<u32> = vars.iter().map(position).collect();
        let mut meter = Meter::new(budget);
        let machine = reorder(&self.machine, &tracks, vars.len(), &mut meter)?;
        Ok(Some(Self {
            machine: Rc::new(machine),
            vars: sorted,
            vectors: Rc::clone(&self.vectors),
        }))
    }

    /// Its variables, in ascending order.
    #[must_use]
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// The number of states.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.machine.n_states()
    }
}

/// All tuples of vectors that the machines have together after words that satisfy `relation`;
/// tuples with an empty vector (a guard that is not true) are left out.
///
/// # Errors
/// If the budget does not suffice.
pub fn reachable_vectors(
    relation: &Automaton,
    machines: &[&VectorMachine],
    budget: &Budget,
) -> Result<BTreeSet<Vec<Vec<u32>>>, Unknown> {
    let as_automaton = |machine: &&VectorMachine| Automaton {
        machine: Rc::clone(&machine.machine),
        vars: machine.vars.clone(),
    };
    let copies: Vec<Automaton> = machines.iter().map(as_automaton).collect();
    let mut all = vec![relation];
    all.extend(&copies);

    let mut walk = MachineWalk::new(&all);
    walk.dead[0] = dead_states(&relation.machine, |output| output != crate::TRUE);
    for (dead, machine) in walk.dead[1..].iter_mut().zip(machines) {
        let is_empty = |output: u32| machine.vectors[output as usize].is_empty();
        *dead = dead_states(&machine.machine, is_empty);
    }

    let mut meter = Meter::new(budget);
    let mut found = BTreeSet::new();
    let mut stack = Vec::new();
    let initial = all.iter().map(|automaton| automaton.machine.roots[0]);
    walk.meet(initial.collect(), &mut stack);

    let mut next = 0;
    loop {
        while let Some(places) = stack.pop() {
            walk.descend(places, &mut stack);
        }
        if next == walk.states.len() {
            return Ok(found);
        }
        let outputs = walk.outputs(next as u32);
        if outputs[0] == crate::TRUE {
            let vector = |(machine, &output): (&&VectorMachine, &u32)| {
                machine.vectors[output as usize].clone()
            };
            let tuple: Vec<Vec<u32>> = machines.iter().zip(&outputs[1..]).map(vector).collect();
            if tuple.iter().all(|vector| !vector.is_empty()) {
                found.insert(tuple);
            }
        }
        // Nodes below different states are hardly ever the same, so they need not be remembered.
        walk.tuples = Sets::new();
        let places = walk.roots(next as u32);
        walk.meet(places, &mut stack);
        if next % 256 == 0 {
            meter.check(walk.states.len(), walk.bytes())?;
        }
        next += 1;
    }
}

/// Walks several machines together.
struct MachineWalk<'a> {
    machines: Vec<&'a Machine>,
    /// For each machine the common track of each of its tracks.
    tracks: Vec<Vec<u32>>,
    vars: Vec<Var>,
    /// For each machine the states from which no output of interest can be reached: a tuple with one
    /// of them leads nowhere.
    dead: Vec<Vec<bool>>,
    tuples: Sets,
    states: Sets,
}

/// The states from which no output of interest can be reached.
fn dead_states(machine: &Machine, is_idle: impl Fn(u32) -> bool) -> Vec<bool> {
    let mut dead: Vec<bool> = machine
        .outputs
        .iter()
        .map(|output| is_idle(*output))
        .collect();

    loop {
        // Nodes come after those below them.
        let mut dead_nodes: Vec<bool> = Vec::with_capacity(machine.nodes.len());
        let is_dead = |at: NodeRef, nodes: &[bool], states: &[bool]| match at.value() {
            Some(state) => states[state],
            None => nodes[at.index()],
        };
        for node in &machine.nodes {
            let below = [node.low, node.high];
            dead_nodes.push(below.iter().all(|at| is_dead(*at, &dead_nodes, &dead)));
        }
        let mut changed = false;
        for (state, root) in machine.roots.iter().enumerate() {
            if dead[state] && !is_dead(*root, &dead_nodes, &dead) {
                dead[state] = false;
                changed = true;
            }
        }
        if !changed {
            return dead;
        }
    }
}

impl<'a> MachineWalk<'a> {
    fn new(automata: &[&'a Automaton]) -> Self {
        let mut vars: Vec<Var> = automata.iter().flat_map(|a| a.vars.clone()).collect();
        vars.sort_unstable();
        vars.dedup();

        let track = |var| vars.binary_search(var).expect("just collected") as u32;
        let tracks = automata
            .iter()
            .map(|a| a.vars.iter().map(track).collect())
            .collect();

        Self {
            machines: automata
                .iter()
                .map(|automaton| &*automaton.machine)
                .collect(),
            tracks,
            vars,
            dead: vec![Vec::new(); automata.len()],
            tuples: Sets::new(),
            states: Sets::new(),
        }
    }

    fn roots(&self, state: u32) -> Vec<NodeRef> {
        let states = self.states.get(state).iter().zip(&self.machines);
        let root =
            |(at, machine): (&NodeRef, &&Machine)| machine.roots[at.value().expect("a state")];
        states.map(root).collect()
    }

    fn outputs(&self, state: u32) -> Vec<u32> {
        let states = self.states.get(state).iter().zip(&self.machines);
        let output = |(at, machine): (&NodeRef, &&Machine)| {
            at.value().map_or(UNDEFINED, |state| machine.outputs[state])
        };
        states.map(output).collect()
    }

    /// The first track that a tuple reads, and the tuples below it; `None` for a tuple of states.
    fn split(&self, places: &[NodeRef]) -> Option<(u32, [Vec<NodeRef>; 2])> {
        let top = |index: usize| {
            if places[index].is_terminal() {
                u32::MAX
            } else {
                let node = self.machines[index].nodes[places[index].index()];
                self.tracks[index][node.track as usize]
            }
        };

        let track = (0..places.len())
            .map(top)
            .min()
            .filter(|&track| track != u32::MAX)?;

        let (mut low, mut high) = (places.to_vec(), places.to_vec());
        for index in 0..places.len() {
            if top(index) == track {
                let node = self.machines[index].nodes[places[index].index()];
                (low[index], high[index]) = (node.low, node.high);
            }
        }
        Some((track, [low, high]))
    }

    /// Is one of the machines in a state that leads nowhere?
    fn is_dead(&self, places: &[NodeRef]) -> bool {
        let is_dead = |(at, dead): (&NodeRef, &Vec<bool>)| {
            at.value()
                .is_some_and(|state| dead.get(state) == Some(&true))
        };
        places.iter().zip(&self.dead).any(is_dead)
    }

    /// Notes a tuple of nodes; goes on below it if it is new and leads somewhere.
    fn meet(&mut self, places: Vec<NodeRef>, stack: &mut Vec<Vec<NodeRef>>) {
        if self.is_dead(&places) {
            return;
        }
        let known = self.tuples.len();
        if self.tuples.intern(&places) as usize == known {
            stack.push(places);
        }
    }

    fn descend(&mut self, places: Vec<NodeRef>, stack: &mut Vec<Vec<NodeRef>>) {
        match self.split(&places) {
            None => {
                self.states.intern(&places);
            }
            Some((_, [low, high])) => {
                self.meet(high, stack);
                self.meet(low, stack);
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.tuples.bytes() + self.states.bytes()
    }
}

/// Builds the transition diagrams of a product.
struct DiagramBuilder<'a> {
    arena: Arena,
    diagrams: Vec<Option<NodeRef>>,
    walk: MachineWalk<'a>,
}

impl DiagramBuilder<'_> {
    /// The diagram of a tuple of nodes; the recursion is as deep as there are tracks.
    fn diagram(&mut self, tuple: u32) -> NodeRef {
        self.diagrams.resize(self.walk.tuples.len(), None);
        if let Some(known) = self.diagrams[tuple as usize] {
            return known;
        }
        let mut places = self.walk.tuples.get(tuple).to_vec();
        if self.walk.is_dead(&places) {
            // Only the guard has dead states here; what the others do below does not matter.
            places[1..].fill(NodeRef::terminal(0));
        }
        let diagram = match self.walk.split(&places) {
            None => NodeRef::terminal(self.walk.states.intern(&places) as usize),
            Some((track, [low, high])) => {
                let low = self.walk.tuples.intern(&low);
                let high = self.walk.tuples.intern(&high);
                let (low, high) = (self.diagram(low), self.diagram(high));
                self.arena.node(track, low, high)
            }
        };
        self.diagrams[tuple as usize] = Some(diagram);
        diagram
    }
}
