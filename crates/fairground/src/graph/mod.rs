//! All reachable states and steps, by the reference semantics.

mod dot;
mod drawing;
mod fair_components;
mod tarjan;

use std::collections::{BTreeMap, HashMap};

use base::{Budget, Source};
use model::{Model, RunTimeError, State};

pub use drawing::{Drawing, DrawingRequest, DrawnEdge, DrawnNode};

use crate::error::Error;
use crate::project::Project;
use crate::simulation::start::{error_text, initial_states};
use crate::simulation::step_name;

/// The reachable part of a model. States are numbered in breadth-first order, so that the same
/// model always gives the same drawing.
///
/// Invariant: `steps` has one list for each state; targets are positions in `states`.
pub struct StateGraph<'a> {
    model: &'a Model,
    sources: &'a [Source],
    /// The states; the initial ones come first.
    states: Vec<State>,
    /// How many states are initial.
    n_initial: usize,
    /// The names of the actions and the target of each step that leaves a state.
    steps: Vec<Vec<(String, usize)>>,
    /// States whose steps cannot be computed.
    errors: BTreeMap<usize, RunTimeError>,
}

impl Project {
    /// Everything that can be reached in the first system.
    ///
    /// # Errors
    /// There are too many states, the initial ones cannot be computed, or the project is a family.
    pub fn graph(&self, budget: &Budget) -> Result<StateGraph<'_>, Error> {
        let model = self.model()?;
        let initial = initial_states(model, &self.sources)?;
        StateGraph::explore(model, &self.sources, initial, budget)
    }
}

impl<'a> StateGraph<'a> {
    /// How many states there are.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// How many steps there are.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }

    /// A drawing of states and steps for Graphviz.
    #[must_use]
    pub fn states_dot(&self) -> String {
        dot::states(self)
    }

    /// A drawing of strongly connected components for Graphviz.
    #[must_use]
    pub fn components_dot(&self) -> String {
        dot::components(self)
    }

    /// The run-time errors of states that were reached, with their places.
    pub fn errors(&self) -> impl Iterator<Item = String> {
        let errors = self.errors.values();
        errors.map(|error| error_text(error, self.sources))
    }

    fn explore(
        model: &'a Model,
        sources: &'a [Source],
        initial: Vec<State>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut graph = Self {
            model,
            sources,
            states: Vec::new(),
            n_initial: 0,
            steps: Vec::new(),
            errors: BTreeMap::new(),
        };

        let mut number_by_state: HashMap<State, usize> = HashMap::new();
        for state in initial {
            graph.number(&mut number_by_state, state);
        }
        graph.n_initial = graph.states.len();

        let mut next = 0;
        while next < graph.states.len() {
            let spent = budget.check(graph.states.len() as u64, 0);
            spent.map_err(Error::Limit)?;
            let mut leaving = Vec::new();
            match model.successors(&graph.states[next]) {
                Ok(successors) => {
                    for step in successors {
                        let name = step_name(model, &step);
                        leaving.push((name, graph.number(&mut number_by_state, step.target)));
                    }
                }
                Err(error) => {
                    graph.errors.insert(next, error);
                }
            }
            graph.steps.push(leaving);
            next += 1;
        }

        Ok(graph)
    }

    fn number(&mut self, number_by_state: &mut HashMap<State, usize>, state: State) -> usize {
        let fresh = self.states.len();
        let number = *number_by_state.entry(state.clone()).or_insert(fresh);
        if number == fresh {
            self.states.push(state);
        }
        number
    }
}
