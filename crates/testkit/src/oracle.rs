//! Fair runs by definition.

use std::collections::BTreeMap;

use base::{AtomId, Fairness, FairnessKind};
use model::{Assumption, Condition, ConditionKind, Model, RunTimeError, State, Subject, Successor};
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
        for subset in 1_u32..1 << inner.len() {
            let chosen: Vec<&ProductEdge> = (0..inner.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| inner[i])
                .collect();
            if is_strongly_connected(&chosen)
                && is_accepted(automaton, &chosen)
                && is_fair(model, graph, fairness, &chosen)
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
    conditions
        .iter()
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
