//! What can be asked: `POST /api/NAME` with an object in JSON, answered by an object.

mod check;
mod document;
mod graph;
mod json;
mod simulate;
mod trace;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use fairground::Error;

use crate::folder::{Folder, Refusal};
use crate::http::Response;
use crate::projects::{Projects, wrong_text};
use crate::tab::Tabs;

pub(crate) use check::Results;

/// Everything that requests share.
pub(crate) struct Studios {
    pub(crate) folder: Folder,
    /// The file that is opened first.
    file: Option<String>,
    max_memory: u64,
    pub(crate) projects: Projects,
    pub(crate) tabs: Tabs,
    results: Results,
}

impl Studios {
    pub(crate) fn new(folder: Folder, file: Option<String>, max_memory: u64) -> Self {
        Self {
            folder,
            file,
            max_memory,
            projects: Projects::default(),
            tabs: Tabs::default(),
            results: Results::default(),
        }
    }
}

/// Why there is no result.
pub(crate) struct Failure {
    status: u16,
    message: String,
    /// What else the page should know.
    details: Option<(&'static str, Json)>,
}

impl Failure {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            details: None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Bug(_) => 500,
            Error::Call(_) | Error::Text(_) | Error::Stopped(_) | Error::Limit(_) => 422,
        };
        let mut failure = Self::new(status, error.to_string());
        if let Some(text) = wrong_text(&error) {
            failure.details = Some(("diagnostics", document::diagnostics(text)));
        }
        failure
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::Outside => 403,
            Refusal::Missing => 404,
            Refusal::Changed(_) => 409,
            Refusal::Other(_) => 422,
        };
        let mut failure = Self::new(status, refusal.to_string());
        if let Refusal::Changed(text) = refusal {
            failure.details = Some(("text", Json::String(text)));
        }
        failure
    }
}

/// What comes out of a request.
type Answer = Result<Json, Failure>;

/// Answers a request.
pub(crate) fn answer(studios: &Studios, name: &str, body: &[u8]) -> Response {
    let answer = match name {
        "hello" => document::hello(studios),
        "files" => document::files(studios),
        "open" => with(body, |request| document::open(studios, request)),
        "example" => with(body, document::example),
        "save" => with(body, |request| document::save(studios, request)),
        "analyse" => with(body, |request| document::analyse(studios, request)),
        "check" => with(body, |request| check::check(studios, request)),
        "cancel" => with(body, |request| check::cancel(studios, request)),
        "results" => with(body, |request| check::results(studios, request)),
        "trace" => with(body, |request| trace::trace(studios, request)),
        "stored" => with(body, |request| trace::stored(studios, request)),
        "follow" => with(body, |request| trace::follow(studios, request)),
        "picture" => with(body, |request| trace::picture(studios, request)),
        "itf" => with(body, |request| trace::itf(studios, request)),
        "simulate" => with(body, |request| simulate::simulate(studios, request)),
        "graph" => with(body, |request| graph::graph(studios, request)),
        _ => Err(Failure::new(404, "there is no such question")),
    };
    match answer {
        Ok(answer) => Response::json(200, &answer),
        Err(failure) => {
            let mut body = serde_json::json!({ "error": failure.message });
            if let Some((name, value)) = failure.details {
                body[name] = value;
            }
            Response::json(failure.status, &body)
        }
    }
}

/// Reads the body of a request.
fn with<T: DeserializeOwned>(body: &[u8], answer: impl FnOnce(T) -> Answer) -> Answer {
    match serde_json::from_slice(body) {
        Ok(request) => answer(request),
        Err(error) => Err(Failure::new(
            400,
            format!("the request is not understood: {error}"),
        )),
    }
}
