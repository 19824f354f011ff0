//! What a model consists of, for tables of contents.

use base::{Source, Span};
use model::Model;
use report::Position;

use crate::project::Project;
use crate::trace_details::position;

/// What a model consists of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// Everything with a name, in the order of the text within each kind.
    pub entries: Vec<OutlineEntry>,
}

/// Something with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineEntry {
    /// What it is.
    pub kind: OutlineKind,
    /// Its name.
    pub name: String,
    /// What else is to be said: the instances of a process, how often something exists.
    pub detail: String,
    /// Where it is written.
    pub position: Option<Position>,
}

/// What something with a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutlineKind {
    /// A process or family of processes.
    Process,
    /// A variable.
    Variable,
    /// A channel.
    Channel,
    /// An event.
    Event,
    /// A question.
    Property,
}

impl OutlineKind {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Variable => "variable",
            Self::Channel => "channel",
            Self::Event => "event",
            Self::Property => "property",
        }
    }
}

impl Project {
    /// What the first system consists of, and the questions. Of a family only the questions are
    /// listed.
    #[must_use]
    pub fn outline(&self) -> Outline {
        let mut outline = Outline::default();
        if let Ok(model) = self.model() {
            outline.entries.extend(of_model(model, &self.sources));
        }
        for question in self.questions() {
            outline.entries.push(OutlineEntry {
                kind: OutlineKind::Property,
                name: question.name.clone(),
                detail: question.text.clone(),
                position: position(&self.sources, question.span),
            });
        }
        outline
    }
}

fn of_model(model: &Model, sources: &[Source]) -> Vec<OutlineEntry> {
    let parts = model.parts();
    let entry = |kind, name: &str, detail: String, span: Span| OutlineEntry {
        kind,
        name: name.to_owned(),
        detail,
        position: position(sources, span),
    };
    let mut entries = Vec::new();

    for process in &parts.processes {
        let detail = match process.index {
            Some(range) => format!("{}..{}", range.lo, range.hi),
            None => String::new(),
        };
        entries.push(entry(
            OutlineKind::Process,
            &process.name,
            detail,
            process.span,
        ));
    }
    for variable in &parts.vars {
        let owner = variable
            .owner
            .map(|owner| &parts.processes[owner.index()].name);
        let detail = owner.map_or(String::new(), |owner| format!("of {owner}"));
        entries.push(entry(
            OutlineKind::Variable,
            &variable.name,
            detail,
            variable.span,
        ));
    }
    for channel in &parts.channels {
        let detail = match channel.capacity {
            0 => "rendezvous".to_owned(),
            capacity => format!("capacity {capacity}"),
        };
        entries.push(entry(
            OutlineKind::Channel,
            &channel.name,
            detail,
            channel.span,
        ));
    }
    for event in &parts.events {
        entries.push(entry(
            OutlineKind::Event,
            &event.name,
            String::new(),
            event.span,
        ));
    }

    // What no author has written, such as the variables of a front end.
    entries.retain(|entry| entry.position.is_some());
    entries
}
