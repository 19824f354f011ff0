//! What came out of a call of the tool.

use base::Route;
use evidence::{Confidence, RestsOn, SolverUse};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::itf;
use crate::{Finding, StoredTrace};

/// Everything that one call found out about one file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The file, as the user called it.
    pub file: String,
    /// One result for each property, in the order of the properties.
    pub results: Vec<PropertyResult>,
    /// What is to be said about the model as a whole.
    pub warnings: Vec<Warning>,
    /// What is wrong with the file or the call; there are no results then.
    pub diagnostics: Vec<Finding>,
}

impl Report {
    /// The exit status of a call that ends with this report: 2 if something is wrong, 1 if a verdict is not as expected (a
    /// violation, where nothing is expected), else 3 if one is undecided without being expected to
    /// be, else 0.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        let any = |success| self.results.iter().any(|r| r.success() == success);
        if !self.diagnostics.is_empty() {
            2
        } else if any(Success::Failed) {
            1
        } else if any(Success::Open) {
            3
        } else {
            0
        }
    }
}

/// A verdict without its evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The property holds.
    Holds,
    /// The property does not hold.
    Violated,
    /// Not known.
    Unknown,
}

impl Outcome {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
        }
    }
}

/// Is a verdict what it should be?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Success {
    /// It is as expected, or the property holds and nothing is expected.
    Passed,
    /// It is not as expected, or the property is violated and nothing is expected.
    Failed,
    /// The property is undecided and nothing is expected.
    Open,
}

/// What came out for one property.
#[derive(Clone, PartialEq, Debug)]
pub struct PropertyResult {
    /// Its name.
    pub property: String,
    /// Its text.
    pub formula: String,
    /// Where it is written.
    pub position: Option<Position>,
    /// How it was checked.
    pub route: Route,
    /// Under which fairness.
    pub fairness: String,
    /// The verdict.
    pub verdict: Outcome,
    /// The verdict that the author expects, if that is known.
    pub expected: Option<Outcome>,
    /// Why it is unknown.
    pub reason: Option<String>,
    /// How many states of the system were seen.
    pub states: Option<u64>,
    /// How many steps of the system were seen.
    pub transitions: Option<u64>,
    /// How many states of the product with the automaton of the property were seen.
    pub product_states: Option<u64>,
    /// Was it known that the property holds before all states were visited? Counts are those of what
    /// was visited.
    pub is_partial: bool,
    /// How long it took.
    pub seconds: f64,
    /// How much memory it took at most.
    pub peak_memory_bytes: Option<u64>,
    /// The reductions that the search made use of, if any: counts are those of what is left.
    pub reduced: Option<Vec<String>>,
    /// What the verdict rests on.
    pub rests_on: RestsOn,
    /// What the user should know about this result.
    pub warnings: Vec<Warning>,
    /// The counterexample, or the witness of a property that asks for one.
    pub trace: Option<StoredTrace>,
    /// For a formula with path quantifiers: further runs that show its parts.
    pub branches: Vec<BranchNote>,
    /// What else is to be said about the verdict: in place of a counterexample where there can be
    /// none, and what supports it.
    pub remarks: Vec<String>,
}

impl PropertyResult {
    /// Is the verdict what it should be?
    #[must_use]
    pub fn success(&self) -> Success {
        match (self.expected, self.verdict) {
            (Some(expected), verdict) if expected == verdict => Success::Passed,
            (Some(_), _) | (None, Outcome::Violated) => Success::Failed,
            (None, Outcome::Holds) => Success::Passed,
            (None, Outcome::Unknown) => Success::Open,
        }
    }

    /// What is to be said about the expectation after the verdict; nothing if there is none.
    pub(crate) fn expectation_text(&self) -> String {
        match self.expected {
            None => String::new(),
            Some(expected) if expected == self.verdict => ", as expected".to_owned(),
            Some(expected) => format!(", but expected: {}", expected.name()),
        }
    }
}

/// A run that shows a part of a formula.
#[derive(Clone, PartialEq, Debug)]
pub struct BranchNote {
    /// What it shows at its first state.
    pub shows: String,
    /// The run.
    pub trace: StoredTrace,
}

impl Serialize for BranchNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("branch", 2)?;
        object.serialize_field("shows", &self.shows)?;
        object.serialize_field("trace", &itf::Itf(&self.trace))?;
        object.end()
    }
}

/// The schema of a result: exactly the keys that the manual promises, in its order; `expected`,
/// `partial`, `branches` and `remarks` only where there are any.
impl Serialize for PropertyResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The number of fields comes first in some formats, so those that may be missing are counted.
        let n_more = usize::from(self.expected.is_some())
            + usize::from(self.is_partial)
            + usize::from(!self.branches.is_empty())
            + usize::from(!self.remarks.is_empty());
        let mut object = serializer.serialize_struct("result", 15 + n_more)?;

        object.serialize_field("property", &self.property)?;
        object.serialize_field("formula", &self.formula)?;
        object.serialize_field("route", self.route.name())?;
        object.serialize_field("fairness", &self.fairness)?;
        object.serialize_field("verdict", &self.verdict)?;
        if let Some(expected) = &self.expected {
            object.serialize_field("expected", expected)?;
        }
        object.serialize_field("reason", &self.reason)?;
        object.serialize_field("states", &self.states)?;
        object.serialize_field("transitions", &self.transitions)?;
        object.serialize_field("product_states", &self.product_states)?;
        if self.is_partial {
            object.serialize_field("partial", &true)?;
        }
        object.serialize_field("seconds", &self.seconds)?;
        object.serialize_field("peak_memory_bytes", &self.peak_memory_bytes)?;
        object.serialize_field("reduced", &self.reduced)?;
        object.serialize_field("rests_on", &RestsOnKeys::from(&self.rests_on))?;
        object.serialize_field("warnings", &self.warnings)?;
        object.serialize_field("trace", &self.trace.as_ref().map(itf::Itf))?;
        if !self.branches.is_empty() {
            object.serialize_field("branches", &self.branches)?;
        }
        if !self.remarks.is_empty() {
            object.serialize_field("remarks", &self.remarks)?;
        }

        object.end()
    }
}

/// The schema of what a verdict rests on.
#[derive(Serialize)]
struct RestsOnKeys<'a> {
    confidence: Option<&'static str>,
    reductions: &'a [String],
    solvers: Vec<SolverKeys<'a>>,
    instances: &'a [i64],
}

/// The schema of a solver that a verdict rests on.
#[derive(Serialize)]
struct SolverKeys<'a> {
    name: &'a str,
    answers: u64,
    confirmed: u64,
    confirmed_by: Option<&'a str>,
}

impl<'a> From<&'a RestsOn> for RestsOnKeys<'a> {
    fn from(rests_on: &'a RestsOn) -> Self {
        let solver = |solver: &'a SolverUse| SolverKeys {
            name: &solver.name,
            answers: solver.answers,
            confirmed: solver.confirmed,
            confirmed_by: solver.confirmed_by.as_deref(),
        };
        Self {
            confidence: rests_on.confidence.map(Confidence::name),
            reductions: &rests_on.reductions,
            solvers: rests_on.solvers.iter().map(solver).collect(),
            instances: &rests_on.instances,
        }
    }
}

/// A place in a text, counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// The name of the text.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something worth knowing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// A stable name.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// What it is about.
    pub position: Option<Position>,
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let position = self.position.as_ref();
        let mut object = serializer.serialize_struct("warning", 5)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("file", &position.map(|p| &p.file))?;
        object.serialize_field("line", &position.map(|p| p.line))?;
        object.serialize_field("column", &position.map(|p| p.column))?;
        object.end()
    }
}
