//! Why something has no result.

use std::fmt;

use base::{Diagnostic, Severity, Source, StopReason};
use check::Bug;

/// Why something has no result.
#[derive(Clone, Debug)]
pub enum Error {
    /// The call does not fit: a file that cannot be read, options that make no sense.
    Call(String),
    /// A text is wrong.
    Text(WrongText),
    /// No method applies, or one gave up.
    Stopped(String),
    /// A limit was reached.
    Limit(StopReason),
    /// The tool is wrong.
    Bug(Bug),
}

/// A text that is wrong, and why.
#[derive(Clone, Debug)]
pub struct WrongText {
    /// All texts; the position of a text is its [`base::SourceId`].
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(message) | Self::Stopped(message) => f.write_str(message),
            Self::Limit(reason) => f.write_str(reason.name()),
            Self::Text(text) => text.fmt(f),
            Self::Bug(bug) => bug.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// One line for each error, with its place.
impl fmt::Display for WrongText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.diagnostics.iter();
        let errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error);
        for (position, diagnostic) in errors.enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            let place = report::warning(diagnostic, &self.sources).position;
            match place {
                Some(place) => write!(f, "{place}: {}", diagnostic.message)?,
                None => f.write_str(&diagnostic.message)?,
            }
        }
        Ok(())
    }
}

impl From<Bug> for Error {
    fn from(bug: Bug) -> Self {
        Self::Bug(bug)
    }
}
