//! Counterexamples and stored traces.

use fairground::report::{StoredTrace, read_itf, value_to_json, write_itf};
use fairground::{Value, formulas_of_trace};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::check::ResultKey;
use super::{Answer, Failure, Studios, json as plain};
use crate::projects::ModelRequest;

/// Which trace of which result.
#[derive(Deserialize)]
pub(super) struct TraceRequest {
    #[serde(flatten)]
    model: ModelRequest,
    #[serde(default)]
    property: String,
    /// `default` or the name of a notion.
    #[serde(default)]
    asked: String,
    /// Which run of a formula with path quantifiers; nothing for the run of the result.
    branch: Option<usize>,
    /// For `follow`: up to which state.
    #[serde(default)]
    step: usize,
}

/// A stored trace, and the model that it may be one of.
#[derive(Deserialize)]
pub(super) struct StoredRequest {
    #[serde(flatten)]
    model: ModelRequest,
    /// The file with the trace.
    trace: String,
    /// Up to which state a simulation is to follow it; nothing if it is to be shown.
    step: Option<usize>,
}

/// A state of a trace of a result or of a file.
#[derive(Deserialize)]
pub(super) struct PictureRequest {
    #[serde(flatten)]
    of: TraceRequest,
    file: Option<String>,
}

/// The trace of a result, with everything that is shown about it.
pub(super) fn trace(studios: &Studios, request: TraceRequest) -> Answer {
    let stored = find(studios, &request)?;
    let mut json = document(&stored);
    add_details(studios, &request.model, &stored, &mut json);
    Ok(json)
}

/// The trace of a result as the text of an ITF file.
pub(super) fn itf(studios: &Studios, request: TraceRequest) -> Answer {
    let stored = find(studios, &request)?;
    Ok(json!({ "text": write_itf(&stored) }))
}

/// How a simulation gets to a state of the trace of a result.
pub(super) fn follow(studios: &Studios, request: TraceRequest) -> Answer {
    let stored = find(studios, &request)?;
    way_along(studios, &request.model, &stored, request.step)
}

/// A trace that was stored in a file. Without its model it is shown as it is.
pub(super) fn stored(studios: &Studios, request: StoredRequest) -> Answer {
    let stored = read(studios, &request.trace)?;
    if let Some(step) = request.step {
        return way_along(studios, &request.model, &stored, step);
    }
    let mut json = document(&stored);
    if !request.model.path.is_empty() {
        add_details(studios, &request.model, &stored, &mut json);
    }
    Ok(json)
}

/// The picture of a state of a trace.
pub(super) fn picture(studios: &Studios, request: PictureRequest) -> Answer {
    let stored = match &request.file {
        Some(file) => read(studios, file)?,
        None => find(studios, &request.of)?,
    };
    let opened = studios.projects.open(&studios.folder, &request.of.model)?;
    let picture = opened.project.picture_of(&stored.run, request.of.step);
    Ok(json!({ "picture": picture.as_ref().map(plain::picture) }))
}

fn read(studios: &Studios, path: &str) -> Result<StoredTrace, Failure> {
    let text = studios.folder.read(path)?;
    read_itf(&text).map_err(|error| Failure::new(422, error.to_string()))
}

fn find(studios: &Studios, request: &TraceRequest) -> Result<StoredTrace, Failure> {
    let key = ResultKey {
        model: request.model.key(),
        property: request.property.clone(),
        asked: request.asked.clone(),
    };
    let Some(result) = studios.results.find(&key) else {
        return Err(Failure::new(
            404,
            "there is no result for this text: check it first",
        ));
    };
    let trace = match request.branch {
        Some(branch) => result.branches.get(branch).map(|branch| &branch.trace),
        None => result.trace.as_ref(),
    };
    trace
        .cloned()
        .ok_or_else(|| Failure::new(404, "the result shows no run"))
}

fn way_along(studios: &Studios, model: &ModelRequest, stored: &StoredTrace, step: usize) -> Answer {
    let opened = studios.projects.open(&studios.folder, model)?;
    let (start, choices) = opened.project.choices_along(stored, step)?;
    Ok(json!({ "start": start, "choices": choices }))
}

/// The trace: its first state, and what each step changes.
fn document(stored: &StoredTrace) -> Json {
    let run = &stored.run;

    let mut steps = Vec::new();

    for at in 0..run.n_steps() {
        let state = &run.states[at];
        let next = &run.states[run.after(at)];
        steps.push(json!({
            "actions": state.step.actions,
            "movers": state.step.movers,
            "communication": plain::communication(state.step.communication.as_ref()),
            "changes": changes(&state.values, &next.values),
        }));
    }

    let first = run.states.first();
    json!({
        "meta": serde_json::to_value(&stored.meta).unwrap_or_default(),
        "vars": run.vars,
        "first": plain::values(first.map_or(&[], |state| &state.values)),
        "steps": steps,
        "loop": run.loop_start,
    })
}

/// The positions of the values that differ, with the new ones.
fn changes(before: &[Value], after: &[Value]) -> Json {
    let pairs = before.iter().zip(after).enumerate();
    let differing = pairs.filter(|(_, (before, after))| before != after);
    differing
        .map(|(position, (_, after))| json!([position, value_to_json(after)]))
        .collect()
}

/// Adds what only the model knows. A trace that does not fit it is shown without that, and says so.
fn add_details(studios: &Studios, model: &ModelRequest, stored: &StoredTrace, json: &mut Json) {
    let mut model = model.clone();
    let mut options = fairground::Options::default();
    formulas_of_trace(&mut options, &stored.meta);
    model.formulas.extend(options.ltl);

    let opened = studios.projects.open(&studios.folder, &model);
    let details = opened.and_then(|opened| {
        let has_picture = opened.project.has_picture();
        Ok((opened.project.trace_details(stored)?, has_picture))
    });
    match details {
        Ok((details, has_picture)) => {
            json["picture"] = json!(has_picture);
            let places = details.places.iter();
            json["places"] = places.map(|places| plain::positions(places)).collect();
            json["rows"] = plain::truths(&details.truths);
            json["simulable"] = json!(details.is_simulable);
        }
        Err(error) => json["misfit"] = json!(error.to_string()),
    }
}
