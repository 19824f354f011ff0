//! Graphs on which path quantifiers are decided, and their products with automata.

use std::rc::Rc;

use base::{AtomId, Budget, StopReason, bits};
use omega::{Acceptance, Automaton, Closure, EdgeBuffer, Graph, MAX_NODES, NodeId};

use super::node_set::NodeSet;

/// A graph whose infinite paths are quantified over.
pub(crate) trait Frame {
    /// How many nodes it has, numbered from 0.
    fn n_nodes(&self) -> usize;
    /// Where the steps of a node lead.
    fn targets(&self, node: u32) -> &[u32];
    /// How many words the marks of a step have; none unless a frame says so.
    fn n_mark_words(&self) -> usize {
        0
    }
    /// Sets the marks of a step, all words of them.
    fn marks(&self, _node: u32, _step: usize, _out: &mut [u64]) {}
    /// Which paths count, as a condition on marks; all unless a frame says so.
    fn acceptance(&self) -> Acceptance {
        Acceptance::True
    }
    /// What else is demanded of paths that count.
    fn closure(&self) -> Closure {
        Closure::None
    }
    /// The state that closure is judged on.
    fn origin(&self, node: u32) -> u32;
    /// Does every node start a path that counts, whatever the assumptions?
    fn always_continues(&self) -> bool;
}

/// The nodes at which each atom holds.
pub(crate) type Columns<'c> = dyn Fn(AtomId) -> Rc<NodeSet> + 'c;

/// An edge of the automaton over columns.
struct ColumnEdge {
    literals: Vec<(usize, bool)>,
    marks: Vec<u64>,
    target: u32,
}

/// The product of a frame and an automaton.
///
/// Node `n * q + i` is node `n` of the frame with state `i` of the automaton's `q` states, which has
/// read the letter of `n`. Marks of the frame come first, those of the automaton start at a word of
/// their own.
pub(crate) struct Product<'a, F> {
    frame: &'a F,
    budget: &'a Budget,
    columns: Vec<Rc<NodeSet>>,
    starts: Vec<Vec<ColumnEdge>>,
    edges: Vec<Vec<ColumnEdge>>,
    letter_marks: Vec<(usize, NodeSet)>,
    pub(crate) acceptance: Acceptance,
    roots: Vec<NodeId>,
    /// The marks of a step, without those of an edge of the automaton.
    marks: Vec<u64>,
    n_expansions: u64,
}

impl<'a, F: Frame> Product<'a, F> {
    /// The product in which the automaton starts at any of these nodes.
    pub(crate) fn new(
        frame: &'a F,
        automaton: &Automaton,
        columns: &Columns<'_>,
        roots: impl Iterator<Item = u32>,
        budget: &'a Budget,
    ) -> Result<Self, StopReason> {
        let n_states = automaton.n_states();
        if (frame.n_nodes() as u64).saturating_mul(n_states as u64) > u64::from(MAX_NODES) {
            return Err(StopReason::StateLimit);
        }

        // Marks of the automaton follow those of the frame, in words of their own.
        let first = frame.n_mark_words();
        let n_words = first + bits::words_for(automaton.n_marks);
        let mut atoms = Vec::new();
        let mut compile = |edges: &Vec<omega::Edge>| {
            let compile = |edge: &omega::Edge| compile_edge(edge, &mut atoms, n_words - first);
            edges.iter().map(compile).collect::<Vec<_>>()
        };
        let edges: Vec<_> = automaton.edges.iter().map(&mut compile).collect();
        let starts = automaton
            .initial
            .iter()
            .map(|start| &automaton.edges[start.index()]);
        let starts: Vec<_> = starts.map(&mut compile).collect();

        // Whether a node carries a mark depends on the node only, so it is computed once for all.
        let letter_marks = automaton.letter_marks.iter().map(|mark| {
            let mut mentioned = Vec::new();
            mark.when.collect_atoms(&mut mentioned);
            let sets: Vec<_> = mentioned
                .iter()
                .map(|atom| (*atom, columns(*atom)))
                .collect();
            let set_of = |wanted: AtomId| {
                &sets
                    .iter()
                    .find(|(atom, _)| *atom == wanted)
                    .expect("collected")
                    .1
            };
            let carries = |node| mark.when.holds(&|atom| set_of(atom).contains(node));
            let bit = first * 64 + mark.mark.index();
            (bit, NodeSet::those(frame.n_nodes(), carries))
        });

        let own = |mark: omega::MarkId| omega::MarkId::new(first * 64 + mark.index());
        let own = automaton.acceptance.map_marks(&mut { own });
        let mut product = Self {
            letter_marks: letter_marks.collect(),
            acceptance: Acceptance::all([frame.acceptance(), own]),
            columns: atoms.iter().map(|atom| columns(*atom)).collect(),
            marks: vec![0; n_words],
            roots: Vec::new(),
            n_expansions: 0,
            frame,
            budget,
            starts,
            edges,
        };

        for node in roots {
            let nodes: Vec<NodeId> = product.starts_at(node).collect();
            product.roots.extend(nodes);
        }

        Ok(product)
    }

    /// The product nodes at which the automaton starts at `node`.
    pub(crate) fn starts_at(&self, node: u32) -> impl Iterator<Item = NodeId> + '_ {
        let edges = self.starts.iter().flatten();
        let read = edges.filter(move |edge| edge.reads(&self.columns, node));
        read.map(move |edge| self.id(node, edge.target))
    }

    /// How many nodes the product has, reachable or not.
    pub(crate) fn n_nodes(&self) -> usize {
        self.frame.n_nodes() * self.edges.len()
    }

    /// The node of the frame.
    pub(crate) fn node(&self, id: NodeId) -> u32 {
        (id.index() / self.edges.len()) as u32
    }

    fn id(&self, node: u32, state: u32) -> NodeId {
        NodeId(node * self.edges.len() as u32 + state)
    }

    fn check_budget(&mut self) -> Result<(), StopReason> {
        self.n_expansions += 1;
        if self.n_expansions.is_multiple_of(1024) {
            self.check_limits()?;
        }
        Ok(())
    }
}

impl ColumnEdge {
    fn reads(&self, columns: &[Rc<NodeSet>], node: u32) -> bool {
        let mut literals = self.literals.iter();
        literals.all(|&(column, value)| columns[column].contains(node) == value)
    }
}

fn compile_edge(edge: &omega::Edge, atoms: &mut Vec<AtomId>, n_mark_words: usize) -> ColumnEdge {
    let mut column = |atom: AtomId| {
        let known = atoms.iter().position(|other| *other == atom);
        known.unwrap_or_else(|| {
            atoms.push(atom);
            atoms.len() - 1
        })
    };
    let literals = edge.guard.literals().iter();
    let literals = literals
        .map(|&(atom, value)| (column(atom), value))
        .collect();
    let mut marks = vec![0; n_mark_words];
    for mark in &edge.marks {
        bits::set(&mut marks, mark.index());
    }
    ColumnEdge {
        literals,
        marks,
        target: edge.target.0,
    }
}

impl<F: Frame> Graph for Product<'_, F> {
    type Stop = StopReason;

    fn n_mark_words(&self) -> usize {
        self.marks.len()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), StopReason> {
        out.extend_from_slice(&self.roots);
        Ok(())
    }

    fn successors(&mut self, id: NodeId, out: &mut EdgeBuffer) -> Result<(), StopReason> {
        self.check_budget()?;
        let (node, state) = (self.node(id), id.index() % self.edges.len());
        let first = self.frame.n_mark_words();
        for (step, &target) in self.frame.targets(node).iter().enumerate() {
            let (of_frame, own) = self.marks.split_at_mut(first);
            self.frame.marks(node, step, of_frame);
            own.fill(0);
            for (bit, nodes) in &self.letter_marks {
                if nodes.contains(target) {
                    bits::set(&mut self.marks, *bit);
                }
            }
            for edge in &self.edges[state] {
                if edge.reads(&self.columns, target) {
                    out.push(self.id(target, edge.target), step as u32, &self.marks);
                    out.add_marks(first, &edge.marks);
                }
            }
        }
        Ok(())
    }

    fn origin(&self, id: NodeId) -> u32 {
        self.frame.origin(self.node(id))
    }

    fn n_steps(&mut self, id: NodeId) -> Result<u32, StopReason> {
        Ok(self.frame.targets(self.node(id)).len() as u32)
    }

    fn check_limits(&mut self) -> Result<(), StopReason> {
        // Two words for each node are what the searches need.
        self.budget.check(0, self.n_nodes() as u64 * 16)
    }

    fn out_of_numbers(&self) -> StopReason {
        StopReason::StateLimit
    }
}
