//! Files, and what the library says about a text while it is being written.

use fairground::report::Position;
use fairground::{
    Diagnostic, Error, Fairness, Label, OutlineEntry, Project, Question, Severity, Source, Span,
    WrongText, fixes,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Answer, Failure, Studios, json};
use crate::folder::fingerprint;
use crate::projects::ModelRequest;

/// An example of the repository (a link to it: packages have files below their own folder only).
macro_rules! example {
    ($path:literal, $title:literal) => {
        ($path, $title, include_str!(concat!("../../shown/", $path)))
    };
}
/// Models that can be opened without any file: name, title, text.
const EXAMPLES: [(&str, &str, &str); 9] = [
    example!("peterson.fair", "Peterson's mutual exclusion"),
    example!("philosophers.fair", "Dining philosophers, with a deadlock"),
    example!(
        "leader_election.fair",
        "Leader election that needs strong global fairness"
    ),
    example!(
        "alternating_bit.fair",
        "Alternating bit protocol over lossy channels"
    ),
    example!("milner.fair", "Milner's scheduler"),
    example!("barrier.fair", "A barrier"),
    example!(
        "studio/philosophers_table.fair",
        "Dining philosophers, with a picture"
    ),
    example!("studio/token_ring.fair", "Token ring, with a picture"),
    example!("studio/elevator.fair", "Elevator, with a picture"),
];

/// What a new user reads first.
const TUTORIAL: &str = include_str!("../../shown/first-model.md");

/// What the page has to know first.
pub(super) fn hello(studios: &Studios) -> Answer {
    let example = |(name, title, _): &(&str, &str, &str)| json!({ "name": name, "title": title });
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "folder": studios.folder.name(),
        "file": studios.file,
        "files": studios.folder.list(),
        "examples": EXAMPLES.iter().map(example).collect::<Vec<_>>(),
        "notions": Fairness::ALL.map(Fairness::name),
        "max_memory": studios.max_memory,
    }))
}

/// The files of the folder.
pub(super) fn files(studios: &Studios) -> Answer {
    Ok(json!({ "files": studios.folder.list() }))
}

#[derive(Deserialize)]
pub(super) struct OpenRequest {
    tab: Option<String>,
    path: String,
}

/// The text of a file. From now on the tab is told when it changes.
pub(super) fn open(studios: &Studios, request: OpenRequest) -> Answer {
    let text = studios.folder.read(&request.path)?;
    let tab = request.tab.and_then(|tab| studios.tabs.find(&tab));
    if let Some(tab) = tab {
        tab.watch(&request.path, &text);
    }
    Ok(json!({ "text": text, "hash": fingerprint(&text) }))
}

#[derive(Deserialize)]
pub(super) struct ExampleRequest {
    name: String,
}

/// The text of an example, or of the tutorial.
pub(super) fn example(request: ExampleRequest) -> Answer {
    if request.name == "tutorial" {
        return Ok(json!({ "text": TUTORIAL }));
    }
    let found = EXAMPLES.iter().find(|(name, _, _)| *name == request.name);
    match found {
        Some((_, _, text)) => Ok(json!({ "text": text })),
        None => Err(Failure::new(404, "there is no such example")),
    }
}

#[derive(Deserialize)]
pub(super) struct SaveRequest {
    tab: Option<String>,
    path: String,
    text: String,
    /// The fingerprint of the text that was edited; nothing for a new file.
    base: Option<String>,
}

/// Writes a file, unless it has changed underneath.
pub(super) fn save(studios: &Studios, request: SaveRequest) -> Answer {
    let SaveRequest {
        tab,
        path,
        text,
        base,
    } = request;
    studios.folder.write(&path, &text, base.as_deref())?;
    let tab = tab.and_then(|tab| studios.tabs.find(&tab));
    if let Some(tab) = tab {
        tab.watch(&path, &text);
    }
    Ok(json!({ "hash": fingerprint(&text), "files": studios.folder.list() }))
}

/// What is to be said about a text, and what it consists of.
pub(super) fn analyse(studios: &Studios, request: ModelRequest) -> Answer {
    match studios.projects.open(&studios.folder, &request) {
        Ok(opened) => {
            let project = &opened.project;
            let said = diagnostics_of(project.diagnostics(), project.sources());
            Ok(json!({ "diagnostics": said, "model": describe(project) }))
        }
        Err(Error::Text(text)) => Ok(json!({ "diagnostics": diagnostics(&text), "model": null })),
        Err(other) => Err(other.into()),
    }
}

/// What a model consists of.
fn describe(project: &Project) -> Json {
    let outline = project.outline();

    let entry = |entry: &OutlineEntry| {
        json!({
            "kind": entry.kind.name(),
            "name": entry.name,
            "detail": entry.detail,
            "position": entry.position.as_ref().map(json::position),
        })
    };

    let question = |question: &Question| {
        json!({
            "name": question.name,
            "text": question.text,
            "kind": format!("{:?}", question.kind),
            "system": question.system,
            "position": place(project.sources(), question.span),
        })
    };

    let fairness = project.fairness(None).map(Fairness::name);
    let model = project.model();
    let processes = model.as_ref().map(|model| {
        let names = model
            .instances()
            .iter()
            .map(|instance| instance.name.clone());
        names.collect::<Vec<_>>()
    });

    json!({
        "outline": outline.entries.iter().map(entry).collect::<Vec<_>>(),
        "questions": project.questions().iter().map(question).collect::<Vec<_>>(),
        "family": project.is_family(),
        "fairness": fairness.unwrap_or_else(|_| "none".to_owned()),
        "processes": processes.unwrap_or_default(),
    })
}

fn place(sources: &[Source], span: Span) -> Option<Json> {
    let source = sources.get(span.source.index())?;
    let (line, column) = source.line_column(span.start as usize);
    let file = source.name.clone();
    Some(json::position(&Position { file, line, column }))
}

/// What is wrong with a text.
pub(super) fn diagnostics(text: &WrongText) -> Json {
    diagnostics_of(&text.diagnostics, &text.sources)
}

fn diagnostics_of(diagnostics: &[Diagnostic], sources: &[Source]) -> Json {
    let one = |diagnostic: &Diagnostic| {
        let label = |label: &Label| {
            let mut json = range(sources, label.span);
            json["text"] = Json::String(label.text.clone());
            json
        };
        let fix = |fix: &fairground::Fix| {
            let mut json = range(sources, fix.span);
            json["text"] = Json::String(fix.text.clone());
            json["title"] = Json::String(fix.title.clone());
            json
        };
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        json!({
            "severity": severity,
            "code": diagnostic.code,
            "message": diagnostic.message,
            "labels": diagnostic.labels.iter().map(label).collect::<Vec<_>>(),
            "help": diagnostic.help,
            "fixes": fixes(diagnostic, sources).iter().map(fix).collect::<Vec<_>>(),
        })
    };
    diagnostics.iter().map(one).collect()
}

/// A range of a text, counted as scripts of a page count it: in units of UTF-16.
fn range(sources: &[Source], span: Span) -> Json {
    let Some(source) = sources.get(span.source.index()) else {
        return json!({ "source": span.source.index() });
    };
    let units = |offset: u32| {
        let mut offset = (offset as usize).min(source.text.len());
        while !source.text.is_char_boundary(offset) {
            offset -= 1;
        }
        source.text[..offset].encode_utf16().count()
    };

    let (line, column) = source.line_column(span.start as usize);
    json!({
        "source": span.source.index(),
        "file": source.name,
        "from": units(span.start),
        "to": units(span.end),
        "line": line,
        "column": column,
    })
}
