//! Runs in names and readable values: what files and reports hold, with no model behind it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use model::{ActionId, InstanceId, Model, State};
use rustc_hash::FxHashMap;

use crate::{Trace, TraceStep, Value, View, communication};

/// A run in names and readable values.
///
/// Invariant: every state has one value per variable; `loop_start` is a position of `states`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedRun {
    /// The names of the variables, or of their components.
    pub vars: Vec<String>,
    /// How long the name of the variable is that each of them is a part of; where nothing is said, it
    /// is not a part.
    pub wholes: Vec<usize>,
    /// The states.
    pub states: Vec<NamedState>,
    /// Where the last step leads back to; nothing for a finite run.
    pub loop_start: Option<usize>,
}

/// A state and the step that leaves it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedState {
    /// The values of the variables.
    pub values: Vec<Value>,
    /// The step that leaves it. Long runs take few different ones, which they share.
    pub step: Arc<NamedStep>,
}

/// A step, but for where it leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct NamedStep {
    /// What happens; empty for an idle step, nothing if the run ends here or a file does not say.
    pub actions: Option<Vec<String>>,
    /// The processes that take part in the step.
    pub movers: Vec<String>,
    /// What the step sends or receives.
    pub communication: Option<Communication>,
}

/// A message on its way. Both ends are known in a rendezvous only.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Communication {
    /// The channel.
    pub channel: String,
    /// The message, readable.
    pub message: String,
    /// Which process sends, if this step sends.
    pub from: Option<String>,
    /// Which process receives, if this step receives.
    pub to: Option<String>,
}

/// Why a named run cannot be one of a model: something that the model does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit(pub(crate) String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

fn misfit<T>(message: String) -> Result<T, Misfit> {
    Err(Misfit(message))
}

impl NamedRun {
    /// A trace of a model in names. Nothing is replayed.
    ///
    /// # Panics
    /// If the trace is not one of the model; [`crate::validate_run`] finds that out.
    #[must_use]
    pub fn new(model: &Model, trace: &Trace) -> Self {
        let view = View::new(model);
        let mut known: FxHashMap<_, Arc<NamedStep>> = FxHashMap::default();

        let state = |(index, state): (usize, &State)| {
            let step = trace.steps.get(index).map(|step| {
                let communication = communication::of_step(model, &view, trace, index);
                let key = (&**step, communication);
                if let Some(named) = known.get(&key) {
                    return Arc::clone(named);
                }
                let named = Arc::new(NamedStep::new(model, step, key.1.clone()));
                known.insert(key, Arc::clone(&named));
                named
            });
            NamedState {
                values: view.values(state),
                step: step.unwrap_or_default(),
            }
        };

        Self {
            vars: view.names().to_vec(),
            wholes: view.wholes().to_vec(),
            states: trace.states.iter().enumerate().map(state).collect(),
            loop_start: trace.loop_start,
        }
    }

    /// How many steps the run has.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        match self.loop_start {
            Some(_) => self.states.len(),
            None => self.states.len().saturating_sub(1),
        }
    }

    /// The position that a step leads to.
    #[must_use]
    pub fn after(&self, step: usize) -> usize {
        match self.loop_start {
            Some(start) if step + 1 == self.states.len() => start,
            _ => step + 1,
        }
    }

    /// The run as a trace of the model, to be judged. Steps without actions become any step of the
    /// model that leads to the next state.
    ///
    /// # Errors
    /// What the model does not have.
    pub fn to_trace(&self, model: &Model) -> Result<Trace, Misfit> {
        let view = View::new(model);
        if self.vars.iter().any(|name| !view.names().contains(name)) {
            // Files hold variables as wholes.
            return self.split(view.names())?.to_trace(model);
        }
        let order = self.order_of_variables(&view)?;

        let mut states = Vec::new();
        for (index, named) in self.states.iter().enumerate() {
            let state = state_of(&view, &order, named);
            states.push(state.map_err(|reason| Misfit(format!("state {index}: {reason}")))?);
        }

        let names = Names::new(model);
        let mut steps = Vec::new();
        for index in 0..self.n_steps() {
            let target = &states[self.after(index)];
            let step = self.step(&names, index, &states[index], target)?;
            steps.push(Arc::new(step));
        }

        Ok(Trace {
            states,
            steps,
            loop_start: self.loop_start,
        })
    }

    /// Where the variables of the model stand in this run.
    fn order_of_variables(&self, view: &View<'_>) -> Result<Vec<usize>, Misfit> {
        let position = |name: &String| {
            let found = self.vars.iter().position(|other| other == name);
            found.ok_or_else(|| Misfit(format!("the trace has no variable `{name}`")))
        };
        view.names().iter().map(position).collect()
    }

    fn step(
        &self,
        names: &Names<'_>,
        index: usize,
        state: &State,
        target: &State,
    ) -> Result<TraceStep, Misfit> {
        // An error of the model leaves the step without commands; the judge will say so.
        let steps = names.model.steps_or_idle(state).unwrap_or_default();
        let mut leading = steps.iter().filter(|step| step.target == *target);

        let named = &self.states[index].step;
        let Some(actions) = &named.actions else {
            return match leading.next() {
                Some(step) => Ok(TraceStep::from(step)),
                None => misfit(format!(
                    "no step leads from state {index} to the next state"
                )),
            };
        };

        let in_state = |reason: String| Misfit(format!("state {index}: {reason}"));
        let actions = names.actions(actions).map_err(in_state)?;
        let movers = names.movers(&named.movers).map_err(in_state)?;
        let same =
            leading.find(|step| step.actions[..] == actions[..] && step.movers[..] == movers[..]);
        Ok(TraceStep {
            commands: same.map(|step| step.commands.to_vec()).unwrap_or_default(),
            actions,
            movers,
        })
    }
}

impl NamedStep {
    fn new(model: &Model, step: &TraceStep, communication: Option<Communication>) -> Self {
        let action = |id: &ActionId| model.action_name(*id).to_owned();
        let mover = |id: &InstanceId| model.instance_name(*id).to_owned();
        Self {
            actions: Some(step.actions.iter().map(action).collect()),
            movers: step.movers.iter().map(mover).collect(),
            communication,
        }
    }
}

/// The actions and processes of a model by their names.
struct Names<'a> {
    model: &'a Model,
    actions: BTreeMap<&'a str, ActionId>,
    instances: BTreeMap<&'a str, InstanceId>,
}

impl<'a> Names<'a> {
    fn new(model: &'a Model) -> Self {
        let actions = model.actions().iter().enumerate();
        let instances = model.instances().iter().enumerate();
        Self {
            model,
            actions: actions
                .map(|(index, action)| (action.name.as_str(), ActionId::new(index)))
                .collect(),
            instances: instances
                .map(|(index, instance)| (instance.name.as_str(), InstanceId::new(index)))
                .collect(),
        }
    }

    fn actions(&self, names: &[String]) -> Result<Vec<ActionId>, String> {
        find_all(&self.actions, "action", names)
    }

    fn movers(&self, names: &[String]) -> Result<Vec<InstanceId>, String> {
        find_all(&self.instances, "process", names)
    }
}

/// The things with these names, in ascending order.
fn find_all<T: Copy + Ord>(
    by_name: &BTreeMap<&str, T>,
    what: &str,
    names: &[String],
) -> Result<Vec<T>, String> {
    let find = |name: &String| {
        let found = by_name.get(name.as_str()).copied();
        found.ok_or_else(|| format!("the model has no {what} `{name}`"))
    };
    let mut found: Vec<T> = names.iter().map(find).collect::<Result<_, _>>()?;
    found.sort_unstable();
    Ok(found)
}

fn state_of(view: &View<'_>, order: &[usize], named: &NamedState) -> Result<State, String> {
    let values: Vec<Value> = order.iter().map(|at| named.values[*at].clone()).collect();
    view.state(&values)
}
