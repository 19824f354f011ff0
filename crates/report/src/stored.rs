//! A trace with everything that is ever printed about it, so that no model is needed to print it.

use std::sync::Arc;

use evidence::NamedRun;
use serde::{Deserialize, Serialize};

/// A trace as ITF files store it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredTrace {
    /// What the trace shows, and why.
    pub meta: TraceMeta,
    /// The run.
    pub run: Arc<NamedRun>,
}

/// What a trace shows, and why.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceMeta {
    /// The model's file.
    pub source: Option<String>,
    /// The name of the property.
    pub property: Option<String>,
    /// Its text.
    pub formula: Option<String>,
    /// The fairness under which it was checked.
    pub fairness: Option<String>,
    /// `fair-loop`, `endless-loop`, `zero-time`, `bad-prefix`, `deadlock`, `run-time-error` or `witness`.
    pub kind: Option<String>,
    /// The error of a `run-time-error`.
    pub error: Option<ErrorNote>,
    /// Which parts of a violated conjunction or `forall` are broken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
    /// Why the loop is fair to every fairness condition.
    pub conditions: Vec<ConditionNote>,
    /// Why the loop satisfies every assumption.
    pub assumptions: Vec<ConditionNote>,
    /// Which stronger fairness would exclude the loop.
    pub excluded_by: Vec<ExclusionNote>,
    /// Under strong global fairness: the closed component around the loop.
    pub component: Option<ComponentNote>,
    /// How the rounds of an `endless-loop` go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endless: Option<EndlessNote>,
    /// All processes, in the order of the model.
    pub processes: Vec<String>,
}

/// A run-time error of the model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorNote {
    /// What happened.
    pub message: String,
    /// In which text.
    pub file: Option<String>,
    /// At which line, counted from 1.
    pub line: Option<usize>,
    /// At which column, counted from 1.
    pub column: Option<usize>,
    /// The action that was being tried.
    pub action: Option<String>,
}

/// A condition and why the loop satisfies it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConditionNote {
    /// The condition, such as `wf(P.enter)`.
    pub condition: String,
    /// For a fairness condition `taken`, `interfered`, `disabled` or `never-enabled`; for an assumption `holds`
    /// or `holds-throughout`.
    pub fair_because: String,
    /// The step at which it is taken, disabled or true; nothing if there is no single one.
    #[serde(default)]
    pub at: Option<usize>,
}

/// A fairness that would exclude the loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExclusionNote {
    /// The notion, as `--fairness` reads it.
    pub fairness: String,
    /// What the loop is unfair to: a process or an action.
    pub subject: String,
    /// A state of the loop that enables it.
    pub at: usize,
    /// Does the property hold with this condition alone? Nothing if that was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suffices: Option<bool>,
    /// Does the property hold under the notion? Nothing if that was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notion_suffices: Option<bool>,
}

/// How a run goes on that never returns to a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EndlessNote {
    /// The state at which the first round starts.
    pub start: usize,
    /// How many steps a round has.
    pub length: usize,
    /// What holds at the start of every round.
    pub recurrent: Vec<String>,
    /// What a round changes.
    pub changes: Vec<String>,
}

/// The size of a closed component.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ComponentNote {
    /// How many states.
    pub states: usize,
    /// How many steps.
    pub steps: usize,
}
