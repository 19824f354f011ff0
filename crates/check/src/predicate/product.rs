//! The product of an abstract graph and an automaton, with marks for fairness and rankings.
//!
//! A node is an abstract state and what the automaton has made of the run so far, the letter of
//! that state included. The conditions of `semantics.md`, section 2, are read with *certain*
//! enabledness: where a subject is enabled in all concrete states that an abstract state
//! describes. A concrete run that is disabled infinitely often is then not certainly enabled
//! infinitely often, so fair runs map to fair runs, whether or not enabledness is kept exactly; where it is,
//! nothing is lost.

use abstraction::predicate::{AbstractGraph, Abstraction, Effect};
use model::{Condition, ConditionKind, Subject};
use omega::{Acceptance, Automaton, Closure, ExplicitGraph, Lasso, MarkId, NodeId, StateId};
use rustc_hash::FxHashMap;
use smt::Term;

use super::setup::Letters;

/// A ranking with what every step of the graph does to it.
pub(super) struct Ranked {
    /// By state and position of the edge.
    pub(super) effects: Vec<Vec<Effect>>,
}

impl Ranked {
    /// Works out the effect of every step.
    pub(super) fn new(
        abstraction: &mut Abstraction<'_>,
        graph: &AbstractGraph,
        rank: &Term,
    ) -> Self {
        let mut effects = Vec::new();
        for (source, edges) in graph.edges.iter().enumerate() {
            let mut row = Vec::new();
            for edge in edges {
                row.push(match edge.transition {
                    None => Effect::Quiet,
                    Some(transition) => abstraction.effect(
                        rank,
                        &graph.states[source],
                        transition,
                        &graph.states[edge.target],
                    ),
                });
            }
            effects.push(row);
        }
        Self { effects }
    }
}

/// A lasso of the abstract graph: states, and the edges between them.
pub(super) struct AbstractLasso {
    /// Source state and position of the edge.
    pub(super) stem: Vec<(usize, usize)>,
    pub(super) cycle: Vec<(usize, usize)>,
}

/// What a product is made of.
pub(super) struct Product<'a, 'p> {
    pub(super) abstraction: &'a Abstraction<'p>,
    pub(super) graph: &'a AbstractGraph,
    pub(super) automaton: &'a Automaton,
    pub(super) letters: &'a Letters,
    pub(super) conditions: &'a [Condition],
    pub(super) rankings: &'a [Ranked],
    /// A transition that lassos have to take on their loops.
    pub(super) through: Option<usize>,
}

/// A node, and how it is left: edge of the graph, marks, target.
type Edges = Vec<(usize, usize, Vec<MarkId>, usize)>;

impl Product<'_, '_> {
    /// A fair accepted lasso; also how many nodes there are.
    pub(super) fn find_lasso(&self) -> (Option<AbstractLasso>, usize) {
        let (nodes, n_initial, edges) = self.build();
        let acceptance = self.acceptance();
        let mut product = ExplicitGraph::new(nodes.len().max(1), self.n_marks());
        for node in 0..n_initial {
            product.add_initial(NodeId::new(node));
        }
        let mut edges_of: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (source, edge, marks, target) in &edges {
            let step = edges_of[*source].len() as u32;
            edges_of[*source].push(*edge);
            product.add_edge(NodeId::new(*source), step, NodeId::new(*target), marks);
        }

        let found =
            omega::find_fair_cycle(&mut product, &acceptance, Closure::None, &mut |_| Ok(()));
        let Ok(component) = found.result;
        let lasso = component.map(|component| {
            let Ok(lasso) = omega::shortest_lasso(&mut product, &component, &acceptance);
            let Lasso { stem, cycle } = lasso;
            let edge = |step: &omega::LassoStep| {
                let source = step.source.index();
                (nodes[source].0, edges_of[source][step.position as usize])
            };
            AbstractLasso {
                stem: stem.iter().map(edge).collect(),
                cycle: cycle.iter().map(edge).collect(),
            }
        });

        (lasso, nodes.len())
    }

    fn n_marks(&self) -> usize {
        self.through_mark().index() + 1
    }

    fn through_mark(&self) -> MarkId {
        MarkId::new(self.automaton.n_marks + 2 * self.conditions.len() + 2 * self.rankings.len())
    }

    fn condition_mark(&self, condition: usize, second: bool) -> MarkId {
        MarkId::new(self.automaton.n_marks + 2 * condition + usize::from(second))
    }

    fn ranking_mark(&self, ranking: usize, second: bool) -> MarkId {
        let first = self.automaton.n_marks + 2 * self.conditions.len();
        MarkId::new(first + 2 * ranking + usize::from(second))
    }

    fn acceptance(&self) -> Acceptance {
        let mut parts = vec![self.automaton.acceptance.clone()];
        for (position, condition) in self.conditions.iter().enumerate() {
            let (first, second) = (
                self.condition_mark(position, false),
                self.condition_mark(position, true),
            );
            parts.push(match condition.kind {
                ConditionKind::Weak | ConditionKind::Unconditional => Acceptance::Inf(second),
                ConditionKind::Strong => Acceptance::streett_pair(first, second),
            });
        }
        for position in 0..self.rankings.len() {
            let falls = self.ranking_mark(position, false);
            let grows = self.ranking_mark(position, true);
            parts.push(Acceptance::streett_pair(falls, grows));
        }
        if self.through.is_some() {
            parts.push(Acceptance::Inf(self.through_mark()));
        }
        Acceptance::all(parts)
    }

    fn is_taken(&self, subject: &Subject, transition: usize) -> bool {
        let description = &self.abstraction.program.transitions[transition];
        match subject {
            Subject::Process(instance) => description.movers.contains(instance),
            Subject::Action(action) => description.actions.contains(action),
            Subject::Choice(command) => description.commands.contains(command),
            Subject::Timer(_) => unreachable!("models with timers are refused"),
            Subject::Team(_) => unreachable!("justness is refused"),
        }
    }

    /// Is the subject enabled in every concrete state that an abstract one describes?
    pub(super) fn is_certain(&self, subject: &Subject, state: &[i64]) -> bool {
        let transitions = 0..self.abstraction.commands.len();
        let mut own = transitions.filter(|t| self.is_taken(subject, *t));
        own.any(|t| self.abstraction.is_certainly_enabled(t, state))
    }

    /// The marks of a step of the graph, whatever the automaton does.
    fn step_marks(&self, source: usize, position: usize, certain: &[bool]) -> Vec<MarkId> {
        let edge = self.graph.edges[source][position];
        let mut marks = Vec::new();
        for (number, condition) in self.conditions.iter().enumerate() {
            let taken = edge
                .transition
                .is_some_and(|t| self.is_taken(&condition.subject, t));
            // An idle step is taken only where nothing is enabled.
            let enabled = edge.transition.is_some() && certain[number];
            let (first, second) = match condition.kind {
                ConditionKind::Weak => (false, taken || !enabled),
                ConditionKind::Strong => (enabled, taken),
                ConditionKind::Unconditional => (false, taken),
            };
            if first {
                marks.push(self.condition_mark(number, false));
            }
            if second {
                marks.push(self.condition_mark(number, true));
            }
        }

        for (number, ranked) in self.rankings.iter().enumerate() {
            match ranked.effects[source][position] {
                Effect::Decreasing => marks.push(self.ranking_mark(number, false)),
                Effect::Increasing => marks.push(self.ranking_mark(number, true)),
                Effect::Quiet | Effect::Falling => {}
            }
        }
        if self.through.is_some() && edge.transition == self.through {
            marks.push(self.through_mark());
        }

        marks
    }

    /// Where the automaton goes when it reads the letter of a state, with the marks it sees.
    fn read(
        &self,
        from: StateId,
        state: &[i64],
        transition: Option<usize>,
    ) -> Vec<(StateId, Vec<MarkId>)> {
        let letter = |atom| self.letters.holds(atom, state, transition);
        let mut of_letter = Vec::new();
        for mark in &self.automaton.letter_marks {
            if mark.when.holds(&letter) {
                of_letter.push(mark.mark);
            }
        }
        let edges = self.automaton.edges[from.index()].iter();
        let fitting = edges.filter(|edge| edge.guard.contains(&letter));
        fitting
            .map(|edge| (edge.target, [edge.marks.as_slice(), &of_letter].concat()))
            .collect()
    }

    fn build(&self) -> (Vec<(usize, StateId)>, usize, Edges) {
        let mut numbers: FxHashMap<(usize, StateId), usize> = FxHashMap::default();
        let mut nodes = Vec::new();
        let mut number = |node: (usize, StateId), nodes: &mut Vec<(usize, StateId)>| {
            *numbers.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };

        for state in 0..self.graph.n_initial {
            for &start in &self.automaton.initial {
                for (target, _) in self.read(start, &self.graph.states[state], None) {
                    number((state, target), &mut nodes);
                }
            }
        }

        let n_initial = nodes.len();
        let mut edges = Edges::new();
        let mut at = 0;
        while at < nodes.len() {
            let (state, automaton_state) = nodes[at];
            let values = &self.graph.states[state];
            let certain: Vec<bool> = self
                .conditions
                .iter()
                .map(|condition| self.is_certain(&condition.subject, values))
                .collect();
            for (position, edge) in self.graph.edges[state].iter().enumerate() {
                let marks = self.step_marks(state, position, &certain);
                let target_values = &self.graph.states[edge.target];
                for (next, more) in self.read(automaton_state, target_values, edge.transition) {
                    let target = number((edge.target, next), &mut nodes);
                    let marks = [marks.as_slice(), &more].concat();
                    edges.push((at, position, marks, target));
                }
            }
            at += 1;
        }

        (nodes, n_initial, edges)
    }
}
