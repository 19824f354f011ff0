//! All reachable states and steps, by the reference semantics.

use std::collections::{BTreeMap, HashMap};

use base::{Budget, StopReason};
use model::{Model, RunTimeError, State, Successor};

/// The reachable part of a model. States are numbered in breadth-first order, so that the same
/// model always gives the same drawing.
///
/// Invariant: `steps` has one list for each state; targets are positions in `states`.
pub struct StateGraph {
    /// The states; the initial ones come first.
    pub states: Vec<State>,
    /// How many states are initial.
    pub n_initial: usize,
    /// The names of the actions and the target of each step that leaves a state.
    pub steps: Vec<Vec<(String, usize)>>,
    /// States whose steps cannot be computed.
    pub errors: BTreeMap<usize, RunTimeError>,
}

impl StateGraph {
    /// Visits everything that can be reached.
    ///
    /// # Errors
    /// The reason for which the exploration had to stop.
    pub fn explore(
        model: &Model,
        initial: Vec<State>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut graph = Self {
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
            budget.check(graph.states.len() as u64, 0)?;
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

/// What a step is called: its actions.
pub fn step_name(model: &Model, step: &Successor) -> String {
    let names = step.actions.iter().map(|action| model.action_name(*action));
    names.collect::<Vec<_>>().join(" & ")
}
