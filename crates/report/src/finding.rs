//! Diagnostics in the formats that programs read.

use base::{Diagnostic, Severity, Source, Span};
use serde::Serialize;

use crate::{Escape, printable};

/// A diagnostic as plain data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The stable name of what is wrong.
    pub code: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// The text that it is about, as the user called it.
    pub file: Option<String>,
    /// Where it begins.
    pub start: Option<Place>,
    /// One past its end.
    pub end: Option<Place>,
    /// What to do about it.
    pub help: Vec<String>,
}

/// A place in a text. Both numbers count from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Finding {
    /// What a diagnostic says about one of these texts.
    #[must_use]
    pub fn new(diagnostic: &Diagnostic, sources: &[Source]) -> Self {
        let span = diagnostic.labels.first().map(|label| label.span);
        let span = span.filter(|span| *span != Span::nowhere());
        let source = span.and_then(|span| sources.get(span.source.index()));
        let place = |offset: fn(Span) -> u32| {
            let (line, column) = source?.line_column(offset(span?) as usize);
            Some(Place { line, column })
        };

        Self {
            code: diagnostic.code.to_owned(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            file: source.map(|source| source.name.clone()),
            start: place(|span| span.start),
            end: place(|span| span.end),
            help: diagnostic.help.clone(),
        }
    }

    /// Something that is wrong with the call, or why it ended without a result.
    #[must_use]
    pub fn of_call(code: &str, message: String) -> Self {
        Self {
            code: code.to_owned(),
            severity: "error",
            message,
            file: None,
            start: None,
            end: None,
            help: Vec::new(),
        }
    }

    /// One sentence with its place and the advice, in lines.
    pub(crate) fn text(&self) -> String {
        let place = match (&self.file, self.start) {
            (Some(file), Some(start)) => format!("{file}:{}:{}: ", start.line, start.column),
            _ => String::new(),
        };
        let mut text = format!("{place}{}[{}]: {}", self.severity, self.code, self.message);
        for help in &self.help {
            text += &format!("\nhelp: {help}");
        }
        printable(&text, Escape::Text).into_owned()
    }
}
