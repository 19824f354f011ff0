//! Exit statuses, and the ways in which a call can fail.

use std::fmt::Display;

use fairground::report::{self, Finding, Report};
use fairground::{Bug, Error, StopReason, WrongText};

use crate::options::OutputFormat;
use crate::{loading, output};

/// How the program ends. The numbers are part of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Every property holds, or the command did what it was asked to.
    Success,
    /// Some property is violated, some step is not one of the model.
    Violated,
    /// The model, the formula or the call is wrong.
    Wrong,
    /// Nothing is violated, but something is undecided.
    Undecided,
    /// The tool is wrong.
    Bug,
}

impl Status {
    /// The status of two calls together: that of the one that ended worse.
    pub fn worse(self, other: Self) -> Self {
        let order = [
            Self::Success,
            Self::Undecided,
            Self::Violated,
            Self::Wrong,
            Self::Bug,
        ];
        let place = |status| order.iter().position(|s| *s == status);
        if place(other) > place(self) {
            other
        } else {
            self
        }
    }

    /// The exit status of the process.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Violated => 1,
            Self::Wrong => 2,
            Self::Undecided => 3,
            Self::Bug => 101,
        }
    }
}

/// Why a command has no result.
#[derive(Debug)]
pub enum Failure {
    /// The call, or a file that it names, is wrong.
    Wrong(anyhow::Error),
    /// A text is wrong. The warnings about it are shown if they are wanted.
    Text(Box<WrongText>, bool),
    /// A limit was reached before there was anything to show.
    Stopped(String),
    /// The tool is wrong.
    Bug(Bug),
}

impl Failure {
    /// A wrong call.
    pub fn wrong(message: impl Display) -> Self {
        Self::Wrong(anyhow::anyhow!("{message}"))
    }

    /// A limit that was reached before there was anything to show.
    pub fn stopped(reason: StopReason) -> Self {
        let reason = reason.name();
        Self::Stopped(format!(
            "stopped before there was anything to show: {reason}"
        ))
    }

    /// Tells the user on standard error, prints what is wrong in the format of the answer, and says
    /// how the program ends.
    pub fn report(self, wanted: Option<(OutputFormat, &str)>) -> Status {
        if let Some((format, file)) = wanted {
            // Standard error says the same, and the status stays what it is.
            let _ = format.print(&self.in_format(format, file));
        }
        self.show()
    }

    /// What is wrong, as a document in this format; nothing in the format for people.
    pub fn in_format(&self, format: OutputFormat, file: &str) -> String {
        let report = self.as_report(file);
        match format {
            OutputFormat::Text => String::new(),
            OutputFormat::Json => report::json(&report),
            OutputFormat::JsonLines => report::json_lines(&report),
            OutputFormat::Junit => report::junit(&[report]),
            OutputFormat::Sarif => report::sarif(&[report]),
        }
    }

    /// What is wrong, as a report that has diagnostics instead of results.
    pub fn as_report(&self, file: &str) -> Report {
        let diagnostics = match self {
            Self::Text(text, warnings) => {
                let shown = loading::shown(&text.diagnostics, *warnings);
                shown.map(|d| Finding::new(d, &text.sources)).collect()
            }
            Self::Wrong(error) => vec![Finding::of_call("wrong-call", format!("{error:#}"))],
            Self::Stopped(message) => vec![Finding::of_call("stopped", message.clone())],
            Self::Bug(bug) => vec![Finding::of_call("bug", bug.to_string())],
        };
        Report {
            file: file.to_owned(),
            diagnostics,
            ..Report::default()
        }
    }

    /// Tells the user, and says how the program ends.
    pub fn show(self) -> Status {
        match self {
            Self::Wrong(error) => {
                output::error(&format!("{error:#}"));
                Status::Wrong
            }
            Self::Text(text, warnings) => {
                loading::show(&text.diagnostics, &text.sources, warnings);
                Status::Wrong
            }
            Self::Stopped(message) => {
                output::error(&message);
                Status::Undecided
            }
            Self::Bug(bug) => {
                output::error(&bug.to_string());
                output::note(ASK_TO_REPORT);
                Status::Bug
            }
        }
    }
}

/// What to do about a bug in the tool.
pub const ASK_TO_REPORT: &str = "this is a bug in fair, not in the model; \
    please report it together with the model and the command line";

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Wrong(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Call(message) => Self::wrong(message),
            Error::Text(text) => Self::Text(Box::new(text), true),
            Error::Stopped(message) => Self::Stopped(message),
            Error::Limit(reason) => Self::stopped(reason),
            Error::Bug(bug) => Self::Bug(bug),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unconfirmed_evidence_ends_with_101() {
        let bug = Bug {
            property: "p".into(),
            invalid: fairground::Invalid::NotInitial,
        };
        assert_eq!(Failure::from(Error::Bug(bug)).show().code(), 101);
    }
}
