//! Automata over variables: what formulas denote, and operations on them.

use std::rc::Rc;

use base::Budget;

use crate::formula::{Formula, Formulas, Var};
use crate::machine::{FALSE, Machine, TRUE, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::minimise::minimise;
use crate::mtbdd::{Arena, NodeRef};
use crate::product::{Connective, Operand, product};
use crate::projection::{project, quotient_outputs};
use crate::reorder::reorder;
use crate::solver::Solver;
use crate::words::{Graph, Word, shortest_word};

/// A minimal deterministic automaton over some variables, with an output per state: a formula's
/// automaton has the outputs [`UNDEFINED`], [`FALSE`] and [`TRUE`].
///
/// Invariant: the variables ascend, one per track; the machine is minimal and canonically numbered,
/// so automata over the same variables are equal iff they have the same outputs for all words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    pub(crate) machine: Rc<Machine>,
    pub(crate) vars: Vec<Var>,
}

impl Formulas {
    /// The automaton of a formula.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn automaton(&self, formula: &Formula, budget: &Budget) -> Result<Automaton, Unknown> {
        let mut solver = Solver::new(budget);
        let machine = solver.machine(self, formula.shape)?;
        let machine = if formula.negated {
            Rc::new((*machine).clone().complement())
        } else {
            machine
        };
        Ok(Automaton {
            machine,
            vars: formula.vars.to_vec(),
        })
    }

    /// An automaton as a formula.
    pub fn from_automaton(&mut self, automaton: &Automaton) -> Formula {
        self.given(Rc::clone(&automaton.machine), automaton.vars.clone())
    }
}

impl Automaton {
    /// The minimal automaton of a graph in which the full track, if any, is 1 at every position.
    pub(crate) fn from_graph(
        graph: &Graph<'_>,
        vars: Vec<Var>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Unknown> {
        let Some(track) = graph.full_track else {
            let machine = minimise(graph.nodes, graph.roots, graph.outputs, vars.len(), meter)?;
            return Ok(Self {
                machine: Rc::new(machine),
                vars,
            });
        };

        let (nodes, roots, outputs) = with_full_track(graph, track);
        let machine = minimise(&nodes.into_nodes(), &roots, &outputs, vars.len(), meter)?;
        // No state reads the track any more.
        let mut erased = vec![false; vars.len()];
        erased[track as usize] = true;

        let kept = vars.iter().enumerate().filter(|(index, _)| !erased[*index]);
        let vars = kept.map(|(_, var)| *var).collect();
        let mut tracks = Vec::new();
        for index in 0..erased.len() as u32 {
            tracks.push(if index > track { index - 1 } else { index });
        }
        let machine = reorder(&machine, &tracks, erased.len() - 1, meter)?;
        Ok(Self {
            machine: Rc::new(machine),
            vars,
        })
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

    /// The number of decision nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.machine.nodes.len()
    }

    /// The output after a word: the letter of the Booleans, then one letter per position; a letter
    /// has one bit per variable. The empty list has no output and yields [`UNDEFINED`].
    #[must_use]
    pub fn run(&self, word: &[Vec<bool>]) -> u32 {
        match word {
            [] => UNDEFINED,
            _ => self.machine.run(word),
        }
    }

    /// Exchanges true and false.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self {
            machine: Rc::new((*self.machine).clone().complement()),
            vars: self.vars.clone(),
        }
    }

    /// Conjunction; undefined where an operand is.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn and(&self, other: &Self, budget: &Budget) -> Result<Self, Unknown> {
        self.combine(Connective::And, other, budget)
    }

    /// Disjunction; undefined where an operand is.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn or(&self, other: &Self, budget: &Budget) -> Result<Self, Unknown> {
        let neither = self.complement().and(&other.complement(), budget)?;
        Ok(neither.complement())
    }

    /// Equivalence; undefined where an operand is.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn iff(&self, other: &Self, budget: &Budget) -> Result<Self, Unknown> {
        self.combine(Connective::Iff, other, budget)
    }

    fn combine(
        &self,
        connective: Connective,
        other: &Self,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let mut vars = [&self.vars[..], &other.vars].concat();
        vars.sort_unstable();
        vars.dedup();

        let map = |automaton: &Self| -> Vec<u32> {
            let position = |var| vars.binary_search(var).expect("in the union") as u32;
            automaton.vars.iter().map(position).collect()
        };
        let (left, right) = (map(self), map(other));
        let operand = |automaton, tracks| Operand {
            machine: automaton,
            negated: false,
            tracks,
        };
        let (left, right) = (
            operand(&*self.machine, &left),
            operand(&other.machine, &right),
        );

        let mut meter = Meter::new(budget);
        let product = product(connective, left, right, &mut meter)?;
        let nodes = product.nodes;
        let machine = minimise(
            &nodes,
            &product.roots,
            &product.outputs,
            vars.len(),
            &mut meter,
        )?;

        Ok(Self {
            machine: Rc::new(machine),
            vars,
        })
    }

    /// Existential projection of variables.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn project(&self, bound: &[Var], budget: &Budget) -> Result<Self, Unknown> {
        let erased: Vec<bool> = self.vars.iter().map(|var| bound.contains(var)).collect();
        let mut meter = Meter::new(budget);
        let machine = project(&self.machine, false, &erased, &mut meter)?;
        let vars: Vec<Var> = self
            .vars
            .iter()
            .copied()
            .filter(|var| !bound.contains(var))
            .collect();
        Ok(Self {
            machine: Rc::new(machine),
            vars,
        })
    }

    /// The right quotient: the best output (undefined < false < true) that a word can get by
    /// appending letters that are 0 outside `free`.
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn quotient(&self, free: &[Var], budget: &Budget) -> Result<Self, Unknown> {
        let erased: Vec<bool> = self.vars.iter().map(|var| free.contains(var)).collect();
        let outputs = quotient_outputs(&self.machine, false, &erased);
        self.with_outputs(&outputs, budget)
    }

    fn with_outputs(&self, outputs: &[u32], budget: &Budget) -> Result<Self, Unknown> {
        let machine = &self.machine;
        let mut meter = Meter::new(budget);
        let (nodes, roots) = (&machine.nodes, &machine.roots);
        let machine = minimise(nodes, roots, outputs, machine.n_tracks, &mut meter)?;
        Ok(Self {
            machine: Rc::new(machine),
            vars: self.vars.clone(),
        })
    }

    /// The same automaton over other variables, `vars[i]` for its `i`-th; any order will do.
    /// `None` if they are not as many, or one repeats.
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
        let machine = if tracks.is_sorted() {
            Rc::clone(&self.machine)
        } else {
            Rc::new(reorder(&self.machine, &tracks, vars.len(), &mut meter)?)
        };
        Ok(Some(Self {
            machine,
            vars: sorted,
        }))
    }

    /// Is every word that satisfies this automaton also one that satisfies `other`?
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn is_included_in(&self, other: &Self, budget: &Budget) -> Result<bool, Unknown> {
        let total = |output: &u32| if *output == TRUE { TRUE } else { FALSE };
        let ours: Vec<u32> = self.machine.outputs.iter().map(total).collect();
        let theirs: Vec<u32> = other.machine.outputs.iter().map(total).collect();
        let ours = self.with_outputs(&ours, budget)?;
        let theirs = other.with_outputs(&theirs, budget)?.complement();
        Ok(ours.and(&theirs, budget)?.shortest(TRUE).is_none())
    }

    /// Do both automata satisfy the same words?
    ///
    /// # Errors
    /// If the budget does not suffice.
    pub fn is_equivalent_to(&self, other: &Self, budget: &Budget) -> Result<bool, Unknown> {
        Ok(self.is_included_in(other, budget)? && other.is_included_in(self, budget)?)
    }

    /// A shortest word with this output.
    #[must_use]
    pub fn shortest(&self, output: u32) -> Option<Word> {
        shortest_word(&self.graph(), output)
    }

    pub(crate) fn graph(&self) -> Graph<'_> {
        Graph {
            nodes: &self.machine.nodes,
            roots: &self.machine.roots,
            outputs: &self.machine.outputs,
            n_tracks: self.vars.len(),
            full_track: None,
        }
    }
}

/// The graph without the letters that are 0 on `track`, except for the first letter, which does not
/// depend on it: reachable part only.
fn with_full_track(graph: &Graph<'_>, track: u32) -> (Arena, Vec<NodeRef>, Vec<u32>) {
    let mut arena = Arena::new();
    let mut images: Vec<NodeRef> = Vec::with_capacity(graph.nodes.len());
    let image = |images: &[NodeRef], at: NodeRef| {
        if at.is_terminal() {
            at
        } else {
            images[at.index()]
        }
    };

    for node in graph.nodes {
        let (low, high) = (image(&images, node.low), image(&images, node.high));
        images.push(if node.track == track {
            high
        } else {
            arena.node(node.track, low, high)
        });
    }

    let roots: Vec<NodeRef> = graph
        .roots
        .iter()
        .map(|&root| image(&images, root))
        .collect();
    let machine = Machine {
        nodes: arena.into_nodes(),
        roots,
        outputs: graph.outputs.to_vec(),
        may_be_undefined: Vec::new(),
        n_tracks: graph.n_tracks,
    };

    machine.reachable()
}
