//! Fair runs by definition.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Fairness, FairnessKind};
use model::{
    Assumption, CommandId, Condition, ConditionKind, Interference, Model, Needs, RunTimeError,
    State, Subject, Successor,
};
use omega::Automaton;

/// All reachable states of a model and the steps between them, from the reference semantics.
#[derive(Clone, Debug)]
pub struct ReferenceGraph {
    /// The states; the initial ones first.
    pub states: Vec<State>,
    /// How many of them are initial.
    pub n_initial: usize,
    /// The steps that leave each state (idle in a deadlock), with the number of the target.
    pub steps: Vec<Vec<(Successor, usize)>>,
}

impl ReferenceGraph {
    /// Explores a model; nothing if it has more than `max_states` states.
    ///
    /// # Errors
    /// A run-time error of the model in some reachable state.
    pub fn explore(model: &Model, max_states: usize) -> Result<Option<Self>, RunTimeError> {
        let mut states = model.initial_states()?;
        let n_initial = states.len();
        let numbered = states.iter().cloned().enumerate();
        let mut number_by_state: BTreeMap<State, usize> = numbered.map(|(n, s)| (s, n)).collect();
        let mut steps = Vec::new();

        while steps.len() < states.len() {
            if states.len() > max_states {
                return Ok(None);
            }
            let mut leaving = Vec::new();
            for step in model.steps_or_idle(&states[steps.len()])? {
                let next = states.len();
                let number = *number_by_state
                    .entry(step.target.clone())
                    .or_insert_with(|| {
                        states.push(step.target.clone());
                        next
                    });
                leaving.push((step, number));
            }
            steps.push(leaving);
        }

        Ok(Some(Self {
            states,
            n_initial,
            steps,
        }))
    }

    /// How many steps there are, idle steps included.
    #[must_use]
    pub fn n_transitions(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }
}

/// What the oracle says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// There is such a run.
    Exists,
    /// There is none.
    None,
    /// The system is too large to enumerate its cycles.
    TooLarge,
}

/// An edge of the product of the graph and the automaton.
struct ProductEdge {
    source: usize,
    target: usize,
    state: usize,
    step: usize,
    letter: Vec<bool>,
    marks: Vec<usize>,
}

/// More edges than this in one component are not enumerated.
const MAX_EDGES: usize = 13;

/// Graphs with more nodes than this are not unfolded by their histories.
const MAX_HISTORIES: usize = 400;

/// A graph unfolded by what justness remembers: which steps have existed somewhere before, also long
/// before, and have not been interfered with since.
struct History<'m> {
    interference: Interference<'m>,
    /// A node is a state with a set of such steps.
    graph: ReferenceGraph,
    pending: Vec<BTreeSet<Needs>>,
    is_free: Vec<bool>,
}

impl<'m> History<'m> {
    /// Nothing if the fairness is not justness. Ends early where there are too many nodes.
    fn new(model: &'m Model, graph: &ReferenceGraph, fairness: Fairness) -> Option<Self> {
        if !model.is_just(fairness) {
            return None;
        }

        let interference = Interference::new(model);
        let demanded: BTreeSet<Vec<CommandId>> = model
            .fairness_conditions(fairness)
            .into_iter()
            .filter_map(|condition| match condition.subject {
                Subject::Team(team) => Some(team),
                _ => None,
            })
            .collect();
        let is_demanded = |needs: &Needs| demanded.contains(&interference.teams()[needs.team]);

        let existing: Vec<BTreeSet<Needs>> = graph
            .states
            .iter()
            .map(|state| {
                let control = model.in_control(state);
                let exists = |needs: &Needs| control.is_none_or(|id| needs.movers.contains(&id));
                interference
                    .needs(state)
                    .into_iter()
                    .filter(|needs| is_demanded(needs) && exists(needs))
                    .collect()
            })
            .collect();

        // A history: which steps have waited without interference since they became possible.
        let mut nodes: Vec<(usize, BTreeSet<Needs>)> = Vec::new();
        nodes.extend((0..graph.n_initial).map(|state| (state, existing[state].clone())));
        let mut steps = Vec::new();
        while steps.len() < nodes.len() && nodes.len() <= MAX_HISTORIES {
            let (state, pending) = nodes[steps.len()].clone();
            let mut leaving = Vec::new();
            for (step, target) in &graph.steps[state] {
                let before = &graph.states[state];
                let mut later = pending.clone();
                later.retain(|needs| !interference.interferes(before, step, needs));
                later.extend(existing[*target].iter().cloned());
                let node = (*target, later);
                let known = nodes.iter().position(|other| *other == node);
                leaving.push((step.clone(), known.unwrap_or(nodes.len())));
                if known.is_none() {
                    nodes.push(node);
                }
            }
            steps.push(leaving);
        }

        let states = nodes.iter().map(|(state, _)| graph.states[*state].clone());
        let states: Vec<State> = states.collect();
        Some(Self {
            interference,
            is_free: states
                .iter()
                .map(|s| model.in_control(s).is_none())
                .collect(),
            graph: ReferenceGraph {
                states,
                n_initial: graph.n_initial,
                steps,
            },
            pending: nodes.into_iter().map(|(_, pending)| pending).collect(),
        })
    }

    /// Is every step that exists somewhere interfered with later, in a run that takes these edges again
    /// and again? A process that has control forever is excused.
    fn is_just(&self, edges: &[&ProductEdge]) -> bool {
        let ignored = |needs: &Needs| {
            edges.iter().all(|edge| {
                let (step, _) = &self.graph.steps[edge.state][edge.step];
                let before = &self.graph.states[edge.state];
                self.pending[edge.state].contains(needs)
                    && !self.interference.interferes(before, step, needs)
            })
        };
        let is_ever_free = edges.iter().any(|edge| self.is_free[edge.state]);
        !is_ever_free || !self.pending[edges[0].state].iter().any(ignored)
    }
}

/// Is there a run that the automaton accepts and that is fair, judged by enumerating all strongly
/// connected sets of edges of the product?
///
/// # Errors
/// A run-time error in an atom.
pub fn fair_run_exists(
    model: &Model,
    graph: &ReferenceGraph,
    automaton: &Automaton,
    fairness: Fairness,
) -> Result<Judgement, RunTimeError> {
    let history = History::new(model, graph, fairness);
    let graph = match &history {
        Some(history) if history.graph.states.len() > MAX_HISTORIES => {
            return Ok(Judgement::TooLarge);
        }
        Some(history) => &history.graph,
        None => graph,
    };
    let (edges, n_nodes) = product(model, graph, automaton)?;
    let reach = reachability(&edges, n_nodes);
    let mut judgement = Judgement::None;
    let mut done = vec![false; n_nodes];

    for node in 0..n_nodes {
        if done[node] {
            continue;
        }
        let mutual = |other: usize| reach[node][other] && reach[other][node];
        (0..n_nodes)
            .filter(|&other| mutual(other))
            .for_each(|other| done[other] = true);
        let inner: Vec<&ProductEdge> = edges
            .iter()
            .filter(|edge| mutual(edge.source) && mutual(edge.target))
            .collect();
        if inner.len() > MAX_EDGES {
            judgement = Judgement::TooLarge;
            continue;
        }

        // All subsets of edges: slow, but free of the algorithms that are tested.
        for subset in 1_u32..1 << inner.len() {
            let chosen: Vec<&ProductEdge> = (0..inner.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| inner[i])
                .collect();
            if is_strongly_connected(&chosen)
                && is_accepted(automaton, &chosen)
                && is_fair(model, graph, fairness, &chosen)
                && history
                    .as_ref()
                    .is_none_or(|history| history.is_just(&chosen))
            {
                return Ok(Judgement::Exists);
            }
        }
    }

    Ok(judgement)
}

/// The reachable part of the product, built breadth first from the definitions.
fn product(
    model: &Model,
    graph: &ReferenceGraph,
    automaton: &Automaton,
) -> Result<(Vec<ProductEdge>, usize), RunTimeError> {
    let n_atoms = model.parts().atoms.len();
    let letter = |state: usize, step: Option<&Successor>| -> Result<Vec<bool>, RunTimeError> {
        let commands = step.map_or(&[][..], |step| &step.commands);
        let holds = |atom| model.atom_holds(AtomId::new(atom), &graph.states[state], commands);
        (0..n_atoms).map(holds).collect()
    };
    let mut nodes: Vec<(usize, usize)> = Vec::new();
    let mut number: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut intern = |node: (usize, usize), nodes: &mut Vec<(usize, usize)>| {
        *number.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    };

    // A run begins with the letter of its first state, at which no step has been taken.
    for state in 0..graph.n_initial {
        let first = letter(state, None)?;
        for start in &automaton.initial {
            for edge in &automaton.edges[start.index()] {
                if edge.guard.contains(&|atom: AtomId| first[atom.index()]) {
                    intern((state, edge.target.index()), &mut nodes);
                }
            }
        }
    }

    // The letter of an edge is that of its target, with the step that leads there.
    let mut edges = Vec::new();
    let mut next = 0;
    while next < nodes.len() {
        let (state, automaton_state) = nodes[next];
        for (position, (step, target)) in graph.steps[state].iter().enumerate() {
            let letter = letter(*target, Some(step))?;
            let holds = |atom: AtomId| letter[atom.index()];
            for edge in &automaton.edges[automaton_state] {
                if !edge.guard.contains(&holds) {
                    continue;
                }
                let mut marks: Vec<usize> = edge.marks.iter().map(|mark| mark.index()).collect();
                let by_letter = automaton
                    .letter_marks
                    .iter()
                    .filter(|m| m.when.holds(&holds));
                marks.extend(by_letter.map(|m| m.mark.index()));
                edges.push(ProductEdge {
                    source: next,
                    target: intern((*target, edge.target.index()), &mut nodes),
                    state,
                    step: position,
                    letter: letter.clone(),
                    marks,
                });
            }
        }
        next += 1;
    }

    Ok((edges, nodes.len()))
}

fn reachability(edges: &[ProductEdge], n_nodes: usize) -> Vec<Vec<bool>> {
    let mut successors = vec![Vec::new(); n_nodes];
    for edge in edges {
        successors[edge.source].push(edge.target);
    }
    let from = |start: usize| {
        let mut reached = vec![false; n_nodes];
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &next in &successors[node] {
                if !std::mem::replace(&mut reached[next], true) {
                    open.push(next);
                }
            }
        }
        reached
    };
    (0..n_nodes).map(from).collect()
}

fn is_strongly_connected(edges: &[&ProductEdge]) -> bool {
    let reaches = |from: usize, forward: bool| {
        let mut reached = vec![from];
        let mut next = 0;
        while next < reached.len() {
            for edge in edges {
                let (a, b) = if forward {
                    (edge.source, edge.target)
                } else {
                    (edge.target, edge.source)
                };
                if a == reached[next] && !reached.contains(&b) {
                    reached.push(b);
                }
            }
            next += 1;
        }
        reached
    };

    let start = edges[0].source;
    let (there, back) = (reaches(start, true), reaches(start, false));
    let covered = |edge: &&ProductEdge| {
        [edge.source, edge.target]
            .iter()
            .all(|node| there.contains(node) && back.contains(node))
    };
    edges.iter().all(covered)
}

fn is_accepted(automaton: &Automaton, edges: &[&ProductEdge]) -> bool {
    let mut marks = vec![0_u64; automaton.n_marks.div_ceil(64)];
    for mark in edges.iter().flat_map(|edge| &edge.marks) {
        marks[mark / 64] |= 1 << (mark % 64);
    }
    automaton.acceptance.accepts(&marks)
}

fn is_fair(
    model: &Model,
    graph: &ReferenceGraph,
    fairness: Fairness,
    edges: &[&ProductEdge],
) -> bool {
    let conditions = model.fairness_conditions(fairness);
    // Justness is judged on the unfolded graph.
    conditions
        .iter()
        .filter(|condition| !matches!(condition.subject, Subject::Team(_)))
        .all(|condition| is_fair_to(model, graph, condition, edges))
        && model
            .parts()
            .assumptions
            .iter()
            .all(|assumption| is_assumed(assumption, edges))
        && (fairness.kind != FairnessKind::StrongGlobal || is_closed(graph, edges))
}

/// Section 2 of the semantics, applied to the steps that a run takes infinitely often.
fn is_fair_to(
    model: &Model,
    graph: &ReferenceGraph,
    condition: &Condition,
    edges: &[&ProductEdge],
) -> bool {
    let involves = |step: &Successor| match &condition.subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(cell) => step.timers_set.contains(cell),
        Subject::Team(_) => false,
    };

    let enabled = |edge: &&ProductEdge| match condition.subject {
        Subject::Timer(cell) => {
            let value = graph.states[edge.state].cells[cell];
            model.abstract_timers().any(|timer| timer == (cell, value))
        }
        _ => graph.steps[edge.state].iter().any(|(s, _)| involves(s)),
    };

    let taken = edges
        .iter()
        .any(|edge| involves(&graph.steps[edge.state][edge.step].0));
    match condition.kind {
        ConditionKind::Unconditional => taken,
        ConditionKind::Weak => {
            // States in which a process has control count only if all do.
            let is_free =
                |edge: &&&ProductEdge| model.in_control(&graph.states[edge.state]).is_none();
            let is_timer = matches!(condition.subject, Subject::Timer(_));
            let all_count = is_timer || !edges.iter().any(|edge| is_free(&edge));
            let mut counted = edges.iter().filter(|edge| all_count || is_free(edge));
            taken || !counted.all(enabled)
        }
        ConditionKind::Strong => taken || !edges.iter().any(enabled),
    }
}

fn is_assumed(assumption: &Assumption, edges: &[&ProductEdge]) -> bool {
    match assumption {
        Assumption::Infinitely(atom, value) => {
            edges.iter().any(|edge| edge.letter[atom.index()] == *value)
        }
        Assumption::Eventually(atom, value) => {
            edges.iter().all(|edge| edge.letter[atom.index()] == *value)
        }
        Assumption::All(parts) => parts.iter().all(|part| is_assumed(part, edges)),
        Assumption::Any(parts) => parts.iter().any(|part| is_assumed(part, edges)),
    }
}

/// Every step of every state in the set is in the set.
fn is_closed(graph: &ReferenceGraph, edges: &[&ProductEdge]) -> bool {
    edges.iter().all(|edge| {
        let all = 0..graph.steps[edge.state].len();
        let is_taken = |step| {
            edges
                .iter()
                .any(|e| e.state == edge.state && e.step == step)
        };
        { all }.all(is_taken)
    })
}
