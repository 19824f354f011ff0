//! A trace, step by step, on the reference semantics.
//!
//! States that occur several times are expanded once, so the cost is linear in the length of the
//! trace plus the number of steps of its distinct states.

use model::{ActionId, Model, State, Successor};
use rustc_hash::FxHashMap;

use crate::{Invalid, Trace, TraceStep};

/// A distinct state of a trace.
pub(crate) type Node = usize;

/// A step of a distinct state: the state, and the position among its steps.
pub(crate) type StepRef = (Node, usize);

/// A trace that is known to be a run of the model.
///
/// Invariant: `taken[i]` is a step of `steps[node_at[i]]`.
pub(crate) struct Replay<'a> {
    pub(crate) model: &'a Model,
    pub(crate) trace: &'a Trace,
    /// The distinct state at every position.
    pub(crate) node_at: Vec<Node>,
    /// The steps of every distinct state that some step of the trace leaves; empty for others.
    pub(crate) steps: Vec<Vec<Successor>>,
    /// Which step is taken at every position.
    taken: Vec<usize>,
}

impl<'a> Replay<'a> {
    /// Replays a trace from its first state on.
    pub(crate) fn new(model: &'a Model, trace: &'a Trace) -> Result<Self, Invalid> {
        check_shape(model, trace)?;
        let at_start = |error| Invalid::Error { at: 0, error };
        if !model.is_initial(&trace.states[0]).map_err(at_start)? {
            return Err(Invalid::NotInitial);
        }
        Self::anywhere(model, trace)
    }

    /// Replays a trace that may start in any state.
    pub(crate) fn anywhere(model: &'a Model, trace: &'a Trace) -> Result<Self, Invalid> {
        check_shape(model, trace)?;
        let (node_at, n_nodes) = number_states(&trace.states);
        let mut replay = Self {
            model,
            trace,
            node_at,
            steps: vec![Vec::new(); n_nodes],
            taken: Vec::new(),
        };
        for (at, step) in trace.steps.iter().enumerate() {
            let taken = replay.find_step(at, step)?;
            replay.taken.push(taken);
        }
        Ok(replay)
    }

    /// The step taken at a position.
    pub(crate) fn step_at(&self, at: usize) -> StepRef {
        (self.node_at[at], self.taken[at])
    }

    /// A step with everything the reference semantics says about it.
    pub(crate) fn successor(&self, (node, index): StepRef) -> &Successor {
        &self.steps[node][index]
    }

    fn find_step(&mut self, at: usize, step: &TraceStep) -> Result<usize, Invalid> {
        let node = self.node_at[at];
        if self.steps[node].is_empty() {
            let state = &self.trace.states[at];
            let steps = self.model.steps_or_idle(state);
            self.steps[node] = steps.map_err(|error| Invalid::Error { at, error })?;
        }

        let target = &self.trace.states[self.trace.after(at)];
        let same = |other: &Successor| other.actions == step.actions && other.target == *target;
        let candidates = &self.steps[node];

        // Several processes may take one action to one state, each by itself.
        let position = candidates
            .iter()
            .position(|other| same(other) && other.movers == step.movers);
        let Some(position) = position else {
            return Err(if candidates.iter().any(same) {
                Invalid::WrongMovers { at }
            } else {
                self.why_no_step(at, step)
            });
        };

        let executed = &candidates[position].commands;
        if step.commands.iter().any(|c| !executed.contains(c)) {
            return Err(Invalid::WrongCommands { at });
        }
        Ok(position)
    }

    fn why_no_step(&self, at: usize, step: &TraceStep) -> Invalid {
        let steps = &self.steps[self.node_at[at]];
        let actions = actions_name(self.model, &step.actions);
        let possible = steps.iter().any(|other| other.actions == step.actions);
        match (possible, step.is_idle()) {
            (false, true) => Invalid::IdleButEnabled { at },
            (false, false) => Invalid::NotEnabled { at, actions },
            (true, _) if at + 1 == self.trace.states.len() => Invalid::LoopNotClosed { actions },
            (true, _) => Invalid::WrongTarget { at, actions },
        }
    }
}

/// The names of actions that are taken together.
pub(crate) fn actions_name(model: &Model, actions: &[ActionId]) -> String {
    if actions.is_empty() {
        return "idle".to_owned();
    }
    let name = |action: &ActionId| match model.actions().get(action.index()) {
        Some(action) => action.name.clone(),
        None => format!("action {}", action.0),
    };
    let names: Vec<String> = actions.iter().map(name).collect();
    names.join(" & ")
}

/// Equal states get equal numbers, in the order of their first occurrence.
fn number_states(states: &[State]) -> (Vec<Node>, usize) {
    let mut node_by_state: FxHashMap<&State, Node> = FxHashMap::default();
    let mut node_at = Vec::with_capacity(states.len());
    for state in states {
        let fresh = node_by_state.len();
        node_at.push(*node_by_state.entry(state).or_insert(fresh));
    }
    (node_at, node_by_state.len())
}

/// What must be so before the reference semantics may look at the states at all.
fn check_shape(model: &Model, trace: &Trace) -> Result<(), Invalid> {
    let malformed = |what: String| Err(Invalid::Malformed(what));
    let (n_states, n_steps) = (trace.states.len(), trace.steps.len());
    if n_states == 0 {
        return malformed("it has no states".to_owned());
    }
    let expected = match trace.loop_start {
        Some(start) if start >= n_states => {
            return malformed(format!(
                "the loop starts at state {start} of only {n_states}"
            ));
        }
        Some(_) => n_states,
        None => n_states - 1,
    };

    if n_steps != expected {
        return malformed(format!("{n_states} states and {n_steps} steps"));
    }
    match trace.states.iter().position(|state| !fits(model, state)) {
        Some(at) => malformed(format!("state {at} is not a state of this model")),
        None => Ok(()),
    }
}

fn fits(model: &Model, state: &State) -> bool {
    let exists = |(instance, location): (&model::Instance, &model::LocationId)| {
        let process = &model.parts().processes[instance.process.index()];
        location.index() < process.locations.len()
    };
    state.locations.len() == model.instances().len()
        && state.cells.len() == model.cells().len()
        && state.channels.len() == model.n_single_channels()
        && model.instances().iter().zip(&state.locations).all(exists)
}
