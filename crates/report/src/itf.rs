//! The Informal Trace Format, as written by Apalache and Quint and read by many tools.
//!
//! See ADR 015 of Apalache. Ours has additional keys inside `#meta`, which other tools skip.
//! Locations are variables named after their process; channels are sequences. Arrays and records are one
//! variable each; `components` in `#meta` says which components reports show.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use evidence::{Communication, NamedRun, NamedState, NamedStep, Structure};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::StoredTrace;
use crate::itf_value::{from_json, value_to_json};

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
    communication: Option<Message>,
}

/// A communication as the `#meta` of a state holds it.
#[derive(Serialize, Deserialize)]
struct Message {
    channel: String,
    message: String,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    to: Option<String>,
}

impl From<Communication> for Message {
    fn from(communication: Communication) -> Self {
        let Communication {
            channel,
            message,
            from,
            to,
        } = communication;
        Self {
            channel,
            message,
            from,
            to,
        }
    }
}

impl From<Message> for Communication {
    fn from(read: Message) -> Self {
        let Message {
            channel,
            message,
            from,
            to,
        } = read;
        Self {
            channel,
            message,
            from,
            to,
        }
    }
}

/// The trace as the text of an ITF file.
#[must_use]
pub fn write_itf(trace: &StoredTrace) -> String {
    let mut text = serde_json::to_string_pretty(&Itf(trace)).expect("all keys are strings");
    text.push('\n');
    text
}

/// A trace as an ITF object. It is written state by state: as one value of JSON, a long run would
/// need much more memory than as a text.
pub(crate) struct Itf<'a>(pub(crate) &'a StoredTrace);

impl Serialize for Itf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut meta = Map::new();
        meta.insert("format".to_owned(), json!("ITF"));
        let own = serde_json::to_value(&self.0.meta).expect("all keys are strings");
        if let Json::Object(own) = own {
            meta.extend(own);
        }
        let run = &self.0.run;
        let structure = Structure::new(run);
        let names = structure.names();
        let is_split =
            names.len() != run.vars.len() || names.iter().zip(&run.vars).any(|(a, b)| a != b);
        if is_split {
            meta.insert("components".to_owned(), json!(run.vars));
        }

        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("#meta", &meta)?;
        object.serialize_entry("vars", &names)?;
        let states = ItfStates {
            run,
            structure: &structure,
            names: &names,
        };
        object.serialize_entry("states", &states)?;
        if let Some(start) = run.loop_start {
            object.serialize_entry("loop", &start)?;
        }
        object.end()
    }
}

/// The states of a run, one after the other.
struct ItfStates<'a> {
    run: &'a NamedRun,
    structure: &'a Structure,
    names: &'a [&'a str],
}

impl Serialize for ItfStates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let states = self.run.states.iter().enumerate();
        serializer.collect_seq(states.map(|(index, state)| ItfState {
            states: self,
            index,
            state,
        }))
    }
}

struct ItfState<'a> {
    states: &'a ItfStates<'a>,
    index: usize,
    state: &'a NamedState,
}

impl Serialize for ItfState<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let step = &self.state.step;
        let meta = StateMeta {
            index: Some(self.index),
            actions: step.actions.clone(),
            movers: step.movers.clone(),
            communication: step.communication.clone().map(Into::into),
        };
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("#meta", &meta)?;
        let values = self.states.structure.values(self.state);
        for (name, value) in self.states.names.iter().zip(&values) {
            object.serialize_entry(name, &value_to_json(value))?;
        }
        object.end()
    }
}

/// Reads the text of an ITF file.
///
/// # Errors
/// What is wrong with it.
pub fn read_itf(text: &str) -> Result<StoredTrace, ItfError> {
    // A long run would need much more memory as one value of JSON than it needs as a run. What is not
    // written in the usual order, or wrong, is read as such a value; then it can be said what is wrong.
    if let Ok(document) = serde_json::from_str(text) {
        let Document { object, states } = document;
        return finish(&object, states);
    }
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
    let mut pool = StepPool::default();
    let states: Result<Vec<_>, _> = states
        .iter()
        .enumerate()
        .map(|(index, state)| read_state(&vars, index, state, &mut pool))
        .collect();
    finish(&object, states?)
}

/// Steps that are equal, kept once.
type StepPool = HashSet<Arc<NamedStep>>;

/// What a file holds in the usual order: variables before states, and nothing twice.
struct Document {
    /// Everything but the states.
    object: Map<String, Json>,
    states: Vec<NamedState>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ITF object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut object = Map::new();
        let mut states: Vec<NamedState> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "states" && states.is_empty() {
                let vars = read_vars(&object).map_err(A::Error::custom)?;
                states = map.next_value_seed(StatesSeed(&vars))?;
            } else if key == "states" || object.contains_key(&key) {
                return Err(A::Error::custom("a key occurs twice"));
            } else {
                object.insert(key, map.next_value()?);
            }
        }
        if states.is_empty() {
            return Err(A::Error::custom("there are no states"));
        }
        Ok(Document { object, states })
    }
}

/// Reads states one after the other, given the variables.
struct StatesSeed<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for StatesSeed<'_> {
    type Value = Vec<NamedState>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for StatesSeed<'_> {
    type Value = Vec<NamedState>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of states")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut pool = StepPool::default();
        let mut states = Vec::new();
        while let Some(json) = seq.next_element::<Json>()? {
            let state = read_state(self.0, states.len(), &json, &mut pool);
            states.push(state.map_err(A::Error::custom)?);
        }
        Ok(states)
    }
}

/// The trace with these states; `object` is what the file says besides.
fn finish(object: &Map<String, Json>, states: Vec<NamedState>) -> Result<StoredTrace, ItfError> {
    let vars = read_vars(object)?;

    let meta = match object.get("#meta") {
        None => Default::default(),
        Some(meta) => serde_json::from_value(meta.clone())
            .map_err(|reason| ItfError(format!("`#meta` is wrong: {reason}")))?,
    };

    let loop_start = read_loop(object, states.len())?;
    let run = NamedRun {
        wholes: vars.iter().map(String::len).collect(),
        vars,
        states,
        loop_start,
    };

    let components = object.get("#meta").and_then(|meta| meta.get("components"));
    let run = match components {
        None => run,
        Some(names) => {
            let names: Vec<String> = serde_json::from_value(names.clone())
                .map_err(|reason| ItfError(format!("`components` is wrong: {reason}")))?;
            run.split(&names)
                .map_err(|reason| ItfError(format!("`components` does not fit: {reason}")))?
        }
    };

    Ok(StoredTrace {
        meta,
        run: Arc::new(run),
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

fn read_state(
    vars: &[String],
    index: usize,
    json: &Json,
    pool: &mut StepPool,
) -> Result<NamedState, ItfError> {
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
        let value = from_json(value)
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

    let step = NamedStep {
        actions: meta.actions,
        movers: meta.movers,
        communication: meta.communication.map(Into::into),
    };
    let step = match pool.get(&step) {
        Some(known) => Arc::clone(known),
        None => {
            let step = Arc::new(step);
            pool.insert(Arc::clone(&step));
            step
        }
    };
    Ok(NamedState { values, step })
}
