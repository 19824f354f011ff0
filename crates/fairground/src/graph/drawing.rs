//! A part of the state graph that is small enough to be drawn.
//!
//! States are explored breadth first up to a limit, from the initial states or around one state. What
//! was not followed is said, so a drawing never looks more complete than it is. States that agree on
//! chosen components can be drawn as one node.

use std::collections::HashMap;

use base::{Fairness, Source};
use evidence::{Value, View};
use model::{Model, State, Successor};

use super::{fair_components, tarjan};
use crate::error::Error;
use crate::project::Project;
use crate::simulation::start::{error_text, initial_states};
use crate::simulation::step_name;

/// What is to be drawn.
#[derive(Clone, Debug, Default)]
pub struct DrawingRequest {
    /// Begin here instead of in the initial states.
    pub around: Option<State>,
    /// Visit at most this many states.
    pub max_states: usize,
    /// Draw at most this many nodes.
    pub max_nodes: usize,
    /// Draw states as one node that agree on the components with these names; nothing means all.
    pub keep: Option<Vec<String>>,
    /// Which loops are fair.
    pub fairness: Fairness,
    /// States to be marked, such as those of a counterexample.
    pub highlighted: Vec<State>,
}

/// A part of the state graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Drawing {
    /// The names of the components that the nodes show.
    pub names: Vec<String>,
    /// The nodes, breadth first.
    pub nodes: Vec<DrawnNode>,
    /// Between these.
    pub edges: Vec<DrawnEdge>,
    /// How many states were visited.
    pub n_states: usize,
    /// Is everything that can be reached drawn?
    pub is_complete: bool,
}

/// A state, or several that agree on what is shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DrawnNode {
    /// The values of the components that are shown.
    pub values: Vec<Value>,
    /// For how many states it stands.
    pub n_states: usize,
    /// Is one of them initial?
    pub is_initial: bool,
    /// Does one of them have no step?
    pub is_deadlock: bool,
    /// Why the steps of one of them cannot be computed.
    pub error: Option<String>,
    /// Does one of them have steps that are not drawn?
    pub is_frontier: bool,
    /// Is one of them to be marked?
    pub is_highlighted: bool,
    /// Its strongly connected component; later ones have smaller numbers.
    pub component: usize,
    /// Does its component contain a fair loop? Nothing if that is not known: if states are merged or
    /// steps are missing, and if assumptions or control have a say.
    pub is_fair: Option<bool>,
    /// Which initial state the way to it starts in; nothing if the drawing begins elsewhere.
    pub start: Option<usize>,
    /// Which of the possible steps the way to it takes.
    pub choices: Vec<usize>,
}

/// Steps from one node to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DrawnEdge {
    /// The node that they leave.
    pub source: usize,
    /// The node that they lead to.
    pub target: usize,
    /// The names of their actions.
    pub actions: Vec<String>,
    /// Does one of them join two marked states that follow each other?
    pub is_highlighted: bool,
}

impl Project {
    /// Draws a part of the state graph of the first system.
    ///
    /// # Errors
    /// A component is not one of the model, the initial states cannot be computed, or the project is
    /// a family.
    pub fn drawing(&self, request: &DrawingRequest) -> Result<Drawing, Error> {
        let model = self.model()?;
        let view = View::new(model);
        let shown = shown_components(&view, request.keep.as_deref())?;
        let roots = match &request.around {
            Some(state) => vec![state.clone()],
            None => initial_states(model, &self.sources)?,
        };

        let part = VisitedPart::explore(model, &self.sources, roots, request.max_states.max(1));
        Ok(part.draw(&view, &shown, request))
    }
}

/// The positions of the components that are shown.
fn shown_components(view: &View<'_>, keep: Option<&[String]>) -> Result<Vec<usize>, Error> {
    let Some(keep) = keep else {
        return Ok((0..view.names().len()).collect());
    };
    let position = |name: &String| {
        let found = view.names().iter().position(|other| other == name);
        found.ok_or_else(|| Error::Call(format!("the model has no component `{name}`")))
    };
    keep.iter().map(position).collect()
}

/// A step, and the number of its target if that was visited.
type DrawnStep = (Successor, Option<usize>);

/// The part of the graph that was visited.
struct VisitedPart<'a> {
    model: &'a Model,
    states: Vec<State>,
    n_roots: usize,
    /// The steps of each state that was expanded, with their targets if these were visited.
    steps: Vec<Option<Vec<DrawnStep>>>,
    /// How each state was reached first: from which, by which of its steps.
    parents: Vec<Option<(usize, usize)>>,
    /// Why states could not be expanded.
    errors: HashMap<usize, String>,
}

impl<'a> VisitedPart<'a> {
    fn explore(model: &'a Model, sources: &[Source], roots: Vec<State>, max_states: usize) -> Self {
        let mut part = Self {
            model,
            states: Vec::new(),
            n_roots: 0,
            steps: Vec::new(),
            parents: Vec::new(),
            errors: HashMap::new(),
        };
        let mut number_by_state: HashMap<State, usize> = HashMap::new();
        for state in roots.into_iter().take(max_states) {
            part.visit(&mut number_by_state, state, None, max_states);
        }
        part.n_roots = part.states.len();

        let mut next = 0;
        while next < part.states.len() {
            match model.successors(&part.states[next]) {
                Ok(successors) => {
                    let mut leaving = Vec::new();
                    for (choice, step) in successors.into_iter().enumerate() {
                        let target = step.target.clone();
                        let parent = Some((next, choice));
                        let to = part.visit(&mut number_by_state, target, parent, max_states);
                        leaving.push((step, to));
                    }
                    part.steps.push(Some(leaving));
                }
                Err(error) => {
                    part.errors.insert(next, error_text(&error, sources));
                    part.steps.push(None);
                }
            }
            next += 1;
        }
        part
    }

    /// The number of a state; nothing if it is new and there are too many already.
    fn visit(
        &mut self,
        number_by_state: &mut HashMap<State, usize>,
        state: State,
        parent: Option<(usize, usize)>,
        max_states: usize,
    ) -> Option<usize> {
        if let Some(number) = number_by_state.get(&state) {
            return Some(*number);
        }
        if self.states.len() == max_states {
            return None;
        }
        let number = self.states.len();
        number_by_state.insert(state.clone(), number);
        self.states.push(state);
        self.parents.push(parent);
        Some(number)
    }

    /// The root above a state, and the steps from there.
    fn way_to(&self, mut state: usize) -> (usize, Vec<usize>) {
        let mut choices = Vec::new();
        while let Some((parent, choice)) = self.parents[state] {
            choices.push(choice);
            state = parent;
        }
        choices.reverse();
        (state, choices)
    }

    fn draw(&self, view: &View<'_>, shown: &[usize], request: &DrawingRequest) -> Drawing {
        let is_merged = shown.len() < view.names().len();
        let node_of = self.node_of_states(view, shown);
        let n_nodes = node_of.iter().max().map_or(0, |node| node + 1);
        let n_drawn = n_nodes.min(request.max_nodes.max(1));

        // The nodes, with what their states have in common.
        let mut nodes: Vec<DrawnNode> = vec![DrawnNode::default(); n_drawn];
        for (number, state) in self.states.iter().enumerate() {
            let Some(node) = nodes.get_mut(node_of[number]) else {
                continue;
            };
            if node.n_states == 0 {
                node.values = shown.iter().map(|c| view.value(state, *c)).collect();
                let (start, choices) = self.way_to(number);
                node.start = request.around.is_none().then_some(start);
                node.choices = choices;
            }
            node.n_states += 1;
            node.is_initial |= number < self.n_roots && request.around.is_none();
            node.is_highlighted |= request.highlighted.contains(state);
            node.error = node.error.take().or(self.errors.get(&number).cloned());
            let steps = self.steps[number].as_deref();
            node.is_deadlock |= steps.is_some_and(<[_]>::is_empty);
            let is_drawn = |target: usize| node_of[target] < n_drawn;
            let leaves = |to: &Option<usize>| !to.is_some_and(is_drawn);
            node.is_frontier |= steps.is_some_and(|steps| steps.iter().any(|(_, to)| leaves(to)));
        }

        let edges = self.edges(&node_of, n_drawn, request);
        let is_complete = n_drawn == n_nodes && nodes.iter().all(|node| !node.is_frontier);
        let names = shown.iter().map(|c| view.names()[*c].clone()).collect();
        let mut drawing = Drawing {
            names,
            nodes,
            edges,
            n_states: self.states.len(),
            is_complete,
        };
        self.mark_components(&mut drawing, is_merged, request.fairness);
        drawing
    }

    /// Which node each state belongs to.
    fn node_of_states(&self, view: &View<'_>, shown: &[usize]) -> Vec<usize> {
        if shown.len() == view.names().len() {
            return (0..self.states.len()).collect();
        }
        let mut node_by_text: HashMap<String, usize> = HashMap::new();
        let node = |state: &State| {
            let values: Vec<String> = shown
                .iter()
                .map(|component| view.value(state, *component).to_string())
                .collect();
            let fresh = node_by_text.len();
            *node_by_text.entry(values.join("\n")).or_insert(fresh)
        };
        self.states.iter().map(node).collect()
    }

    fn edges(&self, node_of: &[usize], n_drawn: usize, request: &DrawingRequest) -> Vec<DrawnEdge> {
        let marked = &request.highlighted;
        let follow = |from: &State, to: &State| {
            let mut pairs = marked.windows(2);
            pairs.any(|pair| pair[0] == *from && pair[1] == *to)
        };
        let mut edges: Vec<DrawnEdge> = Vec::new();
        let mut edge_by_ends: HashMap<(usize, usize), usize> = HashMap::new();
        for (number, steps) in self.steps.iter().enumerate() {
            for (step, target) in steps.iter().flatten() {
                let Some(to) = *target else {
                    continue;
                };
                let ends = (node_of[number], node_of[to]);
                if ends.0 >= n_drawn || ends.1 >= n_drawn {
                    continue;
                }

                let place = *edge_by_ends.entry(ends).or_insert(edges.len());
                if place == edges.len() {
                    edges.push(DrawnEdge {
                        source: ends.0,
                        target: ends.1,
                        ..DrawnEdge::default()
                    });
                }
                let name = step_name(self.model, step);
                let edge = &mut edges[place];
                if !edge.actions.contains(&name) {
                    edge.actions.push(name);
                }
                edge.is_highlighted |= follow(&self.states[number], &step.target);
            }
        }
        edges
    }

    /// Finds the strongly connected components of the drawing, and which of them have fair loops.
    fn mark_components(&self, drawing: &mut Drawing, is_merged: bool, fairness: Fairness) {
        let mut successors = vec![Vec::new(); drawing.nodes.len()];
        for edge in &drawing.edges {
            successors[edge.source].push(edge.target);
        }
        let (component, n_components) = tarjan::components(&successors);
        for (node, component) in drawing.nodes.iter_mut().zip(&component) {
            node.component = *component;
        }
        if is_merged || drawing.nodes.len() < self.states.len() {
            return;
        }

        let mut members = vec![Vec::new(); n_components];
        for (node, component) in component.iter().enumerate() {
            members[*component].push(node);
        }
        for nodes in members {
            let is_expanded = |node: &usize| self.steps[*node].is_some();
            let is_whole =
                { nodes.iter() }.all(|node| is_expanded(node) && !drawing.nodes[*node].is_frontier);
            let steps = |node: usize| self.steps[node].as_deref().unwrap_or_default();
            let is_fair = is_whole
                .then(|| fair_components::has_fair_loop(self.model, &nodes, &steps, fairness));
            // What is not drawn may lead back, so only a loop that is there can be told.
            let is_fair = is_fair
                .flatten()
                .filter(|fair| *fair || drawing.is_complete);
            for node in nodes {
                drawing.nodes[node].is_fair = is_fair;
            }
        }
    }
}
