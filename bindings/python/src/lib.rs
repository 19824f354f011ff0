//! The library for Python: answers are JSON, of which `fairground/__init__.py` makes objects.

use std::time::Duration;
use std::{sync::mpsc, thread};

use fairground::report::{self, Report, Style};
use fairground::{
    Budget, Disk, Error, Fairness, Here, Memory, NoProgress, Options, Plan, Project, Random,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value as Json, json};

/// Deep models need deep stacks.
const STACK_BYTES: usize = 256 << 20;

/// What is asked: a model, and what is said about it.
struct Call {
    name: String,
    text: Option<String>,
    defines: Vec<(String, String)>,
}

impl Call {
    fn open(&self, closed: bool) -> Result<Project, Error> {
        let options = Options {
            defines: self.defines.clone(),
            closed,
            ..Options::default()
        };
        match &self.text {
            Some(text) => {
                let files = Memory::new([(self.name.as_str(), text.as_str())]);
                Project::open(&files, &self.name, &options)
            }
            None => Project::open(&Disk, &self.name, &options),
        }
    }
}

/// Runs something with a deep stack, while other threads of Python go on.
fn deep<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let result = py.detach(|| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        thread.map(thread::JoinHandle::join)
    });
    match result {
        Ok(Ok(answer)) => answer.map_err(|error| failure(&error)),
        Ok(Err(_)) => Err(PyRuntimeError::new_err(
            "this is a bug in fair; please report it",
        )),
        Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
    }
}

/// A wrong model or call, with everything that is known about it.
fn failure(error: &Error) -> PyErr {
    let Error::Text(wrong) = error else {
        return PyValueError::new_err(error.to_string());
    };
    let mut lines = Vec::new();
    for diagnostic in &wrong.diagnostics {
        let span = diagnostic.labels.first().map(|label| label.span);
        let place = span.and_then(|span| {
            let source = wrong.sources.get(span.source.index())?;
            let (line, column) = source.line_column(span.start as usize);
            Some(format!("{}:{line}:{column}: ", source.name))
        });
        lines.push(format!(
            "{}{}",
            place.unwrap_or_default(),
            diagnostic.message
        ));
        lines.extend(diagnostic.help.iter().map(|help| format!("  help: {help}")));
    }
    PyValueError::new_err(lines.join("\n"))
}

/// Decides properties; returns the report of `fair check` as JSON, and as text for each property.
#[pyfunction]
#[pyo3(signature = (name, text, defines, properties, fairness, max_states, timeout))]
#[expect(clippy::too_many_arguments, reason = "called from Python by name only")]
fn check(
    py: Python<'_>,
    name: String,
    text: Option<String>,
    defines: Vec<(String, String)>,
    properties: Option<Vec<String>>,
    fairness: Option<String>,
    max_states: Option<u64>,
    timeout: Option<f64>,
) -> PyResult<(String, Vec<String>)> {
    let fairness = match fairness {
        Some(text) => Some(
            Fairness::parse(&text)
                .ok_or_else(|| PyValueError::new_err(format!("there is no fairness `{text}`")))?,
        ),
        None => None,
    };
    let call = Call {
        name,
        text,
        defines,
    };
    deep(py, move || {
        let project = call.open(false)?;
        let mut budget = Budget::unlimited();
        if let Some(max_states) = max_states {
            budget = budget.with_max_states(max_states);
        }
        let stopper = budget.stopper();
        let (done, is_done) = mpsc::channel::<()>();
        if let Some(seconds) = timeout {
            let limit = Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
            thread::spawn(move || {
                if is_done.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    stopper.time_out();
                }
            });
        }

        let plan = Plan {
            fairness,
            budget,
            ..Plan::default()
        };
        let names = properties.unwrap_or_else(|| {
            project
                .questions()
                .iter()
                .map(|question| question.name.clone())
                .collect()
        });
        let mut results = Vec::new();
        for name in names {
            let Some(question) = project.question(&name) else {
                return Err(Error::Call(format!("there is no property `{name}`")));
            };
            results.push(project.check(question, &plan, &mut NoProgress)?.result);
        }
        drop(done);

        let one = |results| Report {
            file: call.name.clone(),
            results,
            ..Report::default()
        };
        let texts = results
            .iter()
            .map(|result| report::text(&one(vec![result.clone()]), Style::Plain));
        let texts = texts.collect();
        Ok((report::json(&one(results)), texts))
    })
}

/// Takes random steps; returns the states and the steps between them as JSON.
#[pyfunction]
fn simulate(
    py: Python<'_>,
    name: String,
    text: Option<String>,
    defines: Vec<(String, String)>,
    steps: usize,
    seed: u64,
) -> PyResult<String> {
    let call = Call {
        name,
        text,
        defines,
    };
    deep(py, move || {
        let project = call.open(true)?;
        let mut random = Random::new(seed);
        let initial = project.initial_states()?;
        if initial.is_empty() {
            return Err(Error::Call("the model has no initial state".to_owned()));
        }
        let mut run = project.simulate(initial[random.below(initial.len())].clone())?;
        for _ in 0..steps {
            match run.here() {
                Here::Deadlock | Here::Error(_) => break,
                Here::Steps(n_possible) => run.take(random.below(n_possible)),
            }
        }
        let rows: Vec<Json> = (0..=run.n_steps())
            .map(|at| {
                let values = run.values(at);
                let names = run.names().iter().cloned();
                let state: Map<String, Json> = names
                    .zip(values.iter().map(report::value_to_json))
                    .collect();
                let actions = (at < run.n_steps()).then(|| run.taken_details(at).actions);
                json!({ "state": state, "actions": actions })
            })
            .collect();
        Ok(json!(rows).to_string())
    })
}

/// The text in canonical layout; nothing if its syntax is wrong.
#[pyfunction]
fn format(text: &str) -> PyResult<Option<String>> {
    let formatted = fairground::format("model.fair".as_ref(), text);
    formatted.map_err(|error| failure(&error))
}

#[pymodule]
fn _fairground(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(format, module)?)
}
