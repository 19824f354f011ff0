//! A trace, step by step, on the reference semantics.
//!
//! A run may have a million steps, so little is kept of each: what steps do is kept once for all that
//! do the same, and which steps there are besides the one that is taken only for the states of the
//! loop, which fairness is about. These are expanded once, however often they occur. The cost is
//! linear in the length of the trace plus the number of steps of the states of its loop.

use std::ops::Range;

use model::{ActionId, CommandId, Few, InstanceId, Model, State, Successor};
use rustc_hash::FxHashMap;

use crate::{Invalid, Trace, TraceStep};

/// A distinct state of the loop of a trace.
pub(crate) type Node = usize;

/// A step of a distinct state: the state, and the position among its steps.
pub(crate) type StepRef = (Node, usize);

/// What a step does, but for where it leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StepLabel {
    pub(crate) actions: Few<ActionId>,
    pub(crate) movers: Few<InstanceId>,
    pub(crate) commands: Few<CommandId>,
    pub(crate) timers_set: Vec<usize>,
}

/// A number among the labels of a replay.
type LabelId = u32;

/// A step of a distinct state.
struct NodeStep {
    label: LabelId,
    /// Where it leads, unless that is not a state of the loop.
    target: Option<u32>,
}

/// A trace that is known to be a run of the model.
///
/// Invariant: `label_at[i]` labels a step from state `i` to the next; for positions of `kept`,
/// `taken` says which one of its node.
pub(crate) struct Replay<'a> {
    pub(crate) model: &'a Model,
    pub(crate) trace: &'a Trace,
    labels: Vec<StepLabel>,
    /// What the step that is taken at every position does.
    label_at: Vec<LabelId>,
    /// The positions whose states are kept with all of their steps.
    kept: Range<usize>,
    /// The distinct state at every kept position, in the order of first occurrence.
    node_at: Vec<u32>,
    /// Which step is taken at every kept position.
    taken: Vec<u32>,
    /// Where the steps of each node begin, and where the last ones end.
    first_step: Vec<usize>,
    steps: Vec<NodeStep>,
}

impl<'a> Replay<'a> {
    /// Replays a trace from its first state on.
    pub(crate) fn new(model: &'a Model, trace: &'a Trace) -> Result<Self, Invalid> {
        Self::keeping(model, trace, trace.loop_range())
    }

    /// The same, and keeps the steps of the states at these positions, not of those of the loop.
    pub(crate) fn keeping(
        model: &'a Model,
        trace: &'a Trace,
        kept: Range<usize>,
    ) -> Result<Self, Invalid> {
        check_shape(model, trace)?;
        let at_start = |error| Invalid::Error { at: 0, error };
        if !model.is_initial(&trace.states[0]).map_err(at_start)? {
            return Err(Invalid::NotInitial);
        }
        Self::walk(model, trace, kept)
    }

    /// Replays a trace that may start in any state.
    pub(crate) fn anywhere(model: &'a Model, trace: &'a Trace) -> Result<Self, Invalid> {
        check_shape(model, trace)?;
        Self::walk(model, trace, trace.loop_range())
    }

    fn walk(model: &'a Model, trace: &'a Trace, kept: Range<usize>) -> Result<Self, Invalid> {
        let node_by_state = number_states(&trace.states[kept.clone()]);
        let node_of = |state: &State| node_by_state.get(state).copied();
        let kept_states = trace.states[kept.clone()].iter();
        let mut replay = Self {
            model,
            trace,
            labels: Vec::new(),
            label_at: Vec::with_capacity(trace.steps.len()),
            kept,
            node_at: kept_states.filter_map(node_of).collect(),
            taken: Vec::new(),
            first_step: vec![0],
            steps: Vec::new(),
        };

        let mut label_ids = FxHashMap::default();
        for at in 0..trace.steps.len() {
            let label = if replay.kept.contains(&at) {
                replay.expand(at, &node_of, &mut label_ids)?;
                replay.take_kept(at)?
            } else {
                replay.take(at, &mut label_ids)?
            };
            replay.label_at.push(label);
        }
        Ok(replay)
    }

    /// What the step taken at a position does.
    pub(crate) fn label(&self, at: usize) -> &StepLabel {
        &self.labels[self.label_at[at] as usize]
    }

    /// The step taken at a position, with where it leads.
    pub(crate) fn successor(&self, at: usize) -> Successor {
        let label = self.label(at).clone();
        Successor {
            actions: label.actions,
            movers: label.movers,
            commands: label.commands,
            timers_set: label.timers_set,
            target: self.trace.states[self.trace.after(at)].clone(),
        }
    }

    /// How many distinct states are kept.
    pub(crate) fn n_nodes(&self) -> usize {
        self.first_step.len() - 1
    }

    /// The distinct state at a kept position.
    pub(crate) fn node(&self, at: usize) -> Node {
        self.node_at[at - self.kept.start] as usize
    }

    /// The step taken at a kept position.
    pub(crate) fn step_at(&self, at: usize) -> StepRef {
        (self.node(at), self.taken[at - self.kept.start] as usize)
    }

    /// What the steps of a distinct state do.
    pub(crate) fn steps(&self, node: Node) -> impl ExactSizeIterator<Item = &StepLabel> {
        let steps = &self.steps[self.first_step[node]..self.first_step[node + 1]];
        steps.iter().map(|step| &self.labels[step.label as usize])
    }

    /// Finds the steps of the state at a kept position, unless that has been done.
    fn expand(
        &mut self,
        at: usize,
        node_of: &dyn Fn(&State) -> Option<u32>,
        label_ids: &mut FxHashMap<StepLabel, LabelId>,
    ) -> Result<(), Invalid> {
        // Nodes are numbered in the order in which this function meets them.
        if self.node(at) < self.n_nodes() {
            return Ok(());
        }
        for step in self.steps_from(at)? {
            let target = node_of(&step.target);
            let label = self.label_id(StepLabel::from(step), label_ids);
            self.steps.push(NodeStep { label, target });
        }
        self.first_step.push(self.steps.len());
        Ok(())
    }

    /// Finds the step that is taken at a kept position.
    fn take_kept(&mut self, at: usize) -> Result<LabelId, Invalid> {
        let (node, after) = (self.node(at), self.trace.after(at));
        let target = self
            .kept
            .contains(&after)
            .then(|| self.node_at[after - self.kept.start]);
        let steps = &self.steps[self.first_step[node]..self.first_step[node + 1]];
        let leads_there = |step: &NodeStep| target.is_some() && step.target == target;
        let candidates = steps
            .iter()
            .map(|step| (&self.labels[step.label as usize], leads_there(step)));
        let position = self.choose(at, &candidates.collect::<Vec<_>>())?;
        let label = steps[position].label;
        self.taken.push(position as u32);
        Ok(label)
    }

    /// Finds the step that is taken at a position of which nothing else is kept.
    fn take(
        &mut self,
        at: usize,
        label_ids: &mut FxHashMap<StepLabel, LabelId>,
    ) -> Result<LabelId, Invalid> {
        let target = &self.trace.states[self.trace.after(at)];
        let steps = self.steps_from(at)?.into_iter();
        let steps = steps.map(|step| (step.target == *target, StepLabel::from(step)));
        let mut steps: Vec<(bool, StepLabel)> = steps.collect();
        let candidates = steps
            .iter()
            .map(|(leads_there, label)| (label, *leads_there));
        let position = self.choose(at, &candidates.collect::<Vec<_>>())?;
        let (_, label) = steps.swap_remove(position);
        Ok(self.label_id(label, label_ids))
    }

    fn steps_from(&self, at: usize) -> Result<Vec<Successor>, Invalid> {
        let steps = self.model.steps_or_idle(&self.trace.states[at]);
        steps.map_err(|error| Invalid::Error { at, error })
    }

    fn label_id(
        &mut self,
        label: StepLabel,
        label_ids: &mut FxHashMap<StepLabel, LabelId>,
    ) -> LabelId {
        if let Some(id) = label_ids.get(&label) {
            return *id;
        }
        let id = self.labels.len() as LabelId;
        self.labels.push(label.clone());
        label_ids.insert(label, id);
        id
    }

    /// Which of the steps of a state is the one that the trace takes? Of each is said what it does,
    /// and whether it leads to the next state of the trace.
    fn choose(&self, at: usize, candidates: &[(&StepLabel, bool)]) -> Result<usize, Invalid> {
        let step = &self.trace.steps[at];
        let same = |(other, leads_there): &(&StepLabel, bool)| {
            *leads_there && other.actions[..] == step.actions[..]
        };

        // Several processes may take one action to one state, each by itself.
        let position = candidates
            .iter()
            .position(|other| same(other) && other.0.movers[..] == step.movers[..]);
        let Some(position) = position else {
            return Err(if candidates.iter().any(same) {
                Invalid::WrongMovers { at }
            } else {
                self.why_no_step(at, step, candidates)
            });
        };

        let executed = &candidates[position].0.commands;
        if step.commands.iter().any(|c| !executed.contains(c)) {
            return Err(Invalid::WrongCommands { at });
        }
        Ok(position)
    }

    fn why_no_step(
        &self,
        at: usize,
        step: &TraceStep,
        candidates: &[(&StepLabel, bool)],
    ) -> Invalid {
        let actions = actions_name(self.model, &step.actions);
        let mut candidates = candidates.iter();
        let possible = candidates.any(|(other, _)| other.actions[..] == step.actions[..]);
        match (possible, step.is_idle()) {
            (false, true) => Invalid::IdleButEnabled { at },
            (false, false) => Invalid::NotEnabled { at, actions },
            (true, _) if at + 1 == self.trace.states.len() => Invalid::LoopNotClosed { actions },
            (true, _) => Invalid::WrongTarget { at, actions },
        }
    }
}

impl From<Successor> for StepLabel {
    fn from(step: Successor) -> Self {
        Self {
            actions: step.actions,
            movers: step.movers,
            commands: step.commands,
            timers_set: step.timers_set,
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
fn number_states(states: &[State]) -> FxHashMap<&State, u32> {
    let mut node_by_state: FxHashMap<&State, u32> = FxHashMap::default();
    for state in states {
        let fresh = node_by_state.len() as u32;
        node_by_state.entry(state).or_insert(fresh);
    }
    node_by_state
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
