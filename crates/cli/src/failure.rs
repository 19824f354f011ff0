//! Exit statuses, and the ways in which a call can fail.

use std::fmt::Display;

use fairground::{Bug, Error};

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
    /// A text is wrong, and its diagnostics have been shown.
    Diagnosed,
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

    /// Tells the user, and says how the program ends.
    pub fn report(self) -> Status {
        match self {
            Self::Wrong(error) => {
                output::error(&format!("{error:#}"));
                Status::Wrong
            }
            Self::Diagnosed => Status::Wrong,
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

/// Diagnostics are shown on the way.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Call(message) => Self::wrong(message),
            Error::Text(text) => {
                loading::show(&text.diagnostics, &text.sources, true);
                Self::Diagnosed
            }
            Error::Stopped(message) => Self::Stopped(message),
            Error::Limit(reason) => Self::Stopped(reason.name().to_owned()),
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
        assert_eq!(Failure::from(Error::Bug(bug)).report().code(), 101);
    }
}
