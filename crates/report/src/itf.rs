//! The Informal Trace Format, as written by Apalache and Quint and read by many tools.
//!
//! See ADR 015 of Apalache. Ours has additional keys inside `#meta`, which other tools skip.
//! Locations are variables named after their process; channels are sequences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evidence::{Trace, TraceStep, View};
use model::{ActionId, InstanceId, Model, State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::{Communication, ItfValue, StoredState, StoredTrace};

/// What is wrong with an ITF file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItfError(String);

impl fmt::Display for ItfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for ItfError {}

fn error<T>(message: impl Into<String>) -> Result<T, ItfError> {
    Err(ItfError(message.into()))
}

/// What the `#meta` of a state holds.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct StateMeta {
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    movers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    communication: Option<Communication>,
}

/// The trace as the text of an ITF file.
#[must_use]
pub fn write_itf(trace: &StoredTrace) -> String {
    let mut text = serde_json::to_string_pretty(&to_json(trace)).expect("all keys are strings");
    text.push('\n');
    text
}

/// The trace as an ITF object.
pub(crate) fn to_json(trace: &StoredTrace) -> Json {
    let mut meta = Map::new();
    meta.insert("format".to_owned(), json!("ITF"));
    let own = serde_json::to_value(&trace.meta).expect("all keys are strings");
    if let Json::Object(own) = own {
        meta.extend(own);
    }
    let states = trace.states.iter().enumerate();
    let states: Vec<Json> = states
        .map(|(index, state)| state_to_json(&trace.vars, index, state))
        .collect();
    let mut object = Map::new();
    object.insert("#meta".to_owned(), Json::Object(meta));
    object.insert("vars".to_owned(), json!(trace.vars));
    object.insert("states".to_owned(), Json::Array(states));
    if let Some(start) = trace.loop_start {
        object.insert("loop".to_owned(), json!(start));
    }
    Json::Object(object)
}

fn state_to_json(vars: &[String], index: usize, state: &StoredState) -> Json {
    let meta = StateMeta {
        index: Some(index),
        actions: state.actions.clone(),
        movers: state.movers.clone(),
        communication: state.communication.clone(),
    };
    let meta = serde_json::to_value(meta).expect("all keys are strings");
    let mut object = Map::new();
    object.insert("#meta".to_owned(), meta);
    let values = vars.iter().zip(&state.values);
    object.extend(values.map(|(name, value)| (name.clone(), value.to_json())));
    Json::Object(object)
}

/// Reads the text of an ITF file.
///
/// # Errors
/// What is wrong with it.
pub fn read_itf(text: &str) -> Result<StoredTrace, ItfError> {
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(reason) => return error(format!("the ITF file is not JSON: {reason}")),
    };
    let Json::Object(object) = json else {
        return error("the ITF file is not a JSON object");
    };
    let vars = read_vars(&object)?;
    let Some(states) = object.get("states").and_then(Json::as_array) else {
        return error("the ITF file has no `states`");
    };
    if states.is_empty() {
        return error("`states` is empty");
    }
    let states: Result<Vec<_>, _> = states
        .iter()
        .enumerate()
        .map(|(index, state)| read_state(&vars, index, state))
        .collect();
    let states = states?;
    let meta = match object.get("#meta") {
        None => Default::default(),
        Some(meta) => serde_json::from_value(meta.clone())
            .map_err(|reason| ItfError(format!("`#meta` is wrong: {reason}")))?,
    };
    let loop_start = read_loop(&object, states.len())?;
    Ok(StoredTrace {
        meta,
        vars,
        states,
        loop_start,
    })
}

fn read_vars(object: &Map<String, Json>) -> Result<Vec<String>, ItfError> {
    let Some(names) = object.get("vars").and_then(Json::as_array) else {
        return error("the ITF file has no `vars`");
    };
    let mut vars = Vec::new();
    let mut seen = BTreeSet::new();
    for name in names {
        let Some(name) = name.as_str() else {
            return error(format!("`vars` contains {name}, which is not a name"));
        };
        if name.starts_with('#') {
            return error(format!("`{name}` cannot be a variable"));
        }
        if !seen.insert(name) {
            return error(format!("`vars` contains `{name}` twice"));
        }
        vars.push(name.to_owned());
    }
    Ok(vars)
}

fn read_loop(object: &Map<String, Json>, n_states: usize) -> Result<Option<usize>, ItfError> {
    match object.get("loop") {
        None | Some(Json::Null) => Ok(None),
        Some(start) => match start.as_u64().and_then(|start| usize::try_from(start).ok()) {
            Some(start) if start < n_states => Ok(Some(start)),
            _ => error(format!("`loop` is {start}, which is not a state")),
        },
    }
}

fn read_state(vars: &[String], index: usize, json: &Json) -> Result<StoredState, ItfError> {
    let Json::Object(object) = json else {
        return error(format!("state {index} is not an object"));
    };
    let meta: StateMeta = match object.get("#meta") {
        None => StateMeta::default(),
        Some(meta) => serde_json::from_value(meta.clone())
            .map_err(|reason| ItfError(format!("`#meta` of state {index} is wrong: {reason}")))?,
    };
    let mut values = Vec::new();
    for name in vars {
        let Some(value) = object.get(name) else {
            return error(format!("state {index} has no `{name}`"));
        };
        let value = ItfValue::from_json(value)
            .map_err(|reason| ItfError(format!("`{name}` in state {index}: {reason}")))?;
        values.push(value);
    }
    let known = |key: &&String| vars.contains(key) || key.as_str() == "#meta";
    if object.len() > vars.len() + usize::from(object.contains_key("#meta")) {
        let other = object.keys().find(|key| !known(key));
        let other = other.map_or("", String::as_str);
        return error(format!(
            "state {index} has `{other}`, which is not in `vars`"
        ));
    }
    Ok(StoredState {
        values,
        actions: meta.actions,
        movers: meta.movers,
        communication: meta.communication,
    })
}

impl StoredTrace {
    /// The trace as a trace of the model, to be judged by crate `evidence`. Steps without actions
    /// become any step of the model that leads to the next state.
    ///
    /// # Errors
    /// What the model does not have.
    pub fn to_trace(&self, model: &Model) -> Result<Trace, ItfError> {
        let view = View::new(model);
        let order = self.order_of_variables(&view)?;
        let mut states = Vec::new();
        for (index, stored) in self.states.iter().enumerate() {
            let state = state_of(&view, &order, stored);
            states.push(state.map_err(|reason| ItfError(format!("state {index}: {reason}")))?);
        }
        let names = Names::new(model);
        let mut steps = Vec::new();
        for index in 0..self.n_steps() {
            let target = &states[self.after(index)];
            let step = self.step(&names, index, &states[index], target)?;
            steps.push(step);
        }
        Ok(Trace {
            states,
            steps,
            loop_start: self.loop_start,
        })
    }

    /// Where the variables of the model stand in this trace.
    fn order_of_variables(&self, view: &View<'_>) -> Result<Vec<usize>, ItfError> {
        if let Some(other) = self.vars.iter().find(|name| !view.names().contains(name)) {
            return error(format!("the model has no variable `{other}`"));
        }
        let position = |name: &String| {
            let found = self.vars.iter().position(|other| other == name);
            found.ok_or_else(|| ItfError(format!("the trace has no variable `{name}`")))
        };
        view.names().iter().map(position).collect()
    }

    fn step(
        &self,
        names: &Names<'_>,
        index: usize,
        state: &State,
        target: &State,
    ) -> Result<TraceStep, ItfError> {
        // An error of the model leaves the step without commands; the judge will say so.
        let steps = names.model.steps_or_idle(state).unwrap_or_default();
        let mut leading = steps.iter().filter(|step| step.target == *target);
        let stored = &self.states[index];
        let Some(actions) = &stored.actions else {
            return match leading.next() {
                Some(step) => Ok(TraceStep::from(step)),
                None => error(format!(
                    "no step leads from state {index} to the next state"
                )),
            };
        };
        let in_state = |reason: String| ItfError(format!("state {index}: {reason}"));
        let actions = names.actions(actions).map_err(in_state)?;
        let movers = names.movers(&stored.movers).map_err(in_state)?;
        let same = leading.find(|step| step.actions == actions && step.movers == movers);
        Ok(TraceStep {
            commands: same.map(|step| step.commands.clone()).unwrap_or_default(),
            actions,
            movers,
        })
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

fn state_of(view: &View<'_>, order: &[usize], stored: &StoredState) -> Result<State, String> {
    let mut values = Vec::new();
    for (name, position) in view.names().iter().zip(order) {
        let value = &stored.values[*position];
        let readable = value.to_value();
        values.push(readable.ok_or_else(|| format!("`{name}` cannot be {value}"))?);
    }
    view.state(&values)
}
