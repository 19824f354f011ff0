//! What a route says, and when two of them agree.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base::{NoProgress, Span};
use check::{Bug, Outcome, Plan};
use evidence::{Verdict, ViolationKind};
use logic::{NamedProperty, Property};
use model::Model;

use crate::{RouteKind, Tally};

/// What a route says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The property holds.
    Holds,
    /// It does not.
    Violated,
    /// A run-time error of the model was met.
    Failed,
    /// Nothing is known.
    Unknown,
    /// The route broke down, or gave evidence that is not valid.
    Broken(String),
}

impl Answer {
    /// The answer that a verdict gives.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Holds { .. } => Self::Holds,
            Verdict::Violated(violation) => match violation.kind {
                ViolationKind::RunTimeError(_) => Self::Failed,
                ViolationKind::FairLoop
                | ViolationKind::Endless(_)
                | ViolationKind::ZeroTime
                | ViolationKind::BadPrefix
                | ViolationKind::Deadlock
                | ViolationKind::Unreachable
                | ViolationKind::Branching(_)
                | ViolationKind::NegationHolds => Self::Violated,
            },
            Verdict::Unknown(_) => Self::Unknown,
        }
    }

    /// The answer to a question that holds iff this one does not.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Holds => Self::Violated,
            Self::Violated => Self::Holds,
            other @ (Self::Failed | Self::Unknown | Self::Broken(_)) => other,
        }
    }

    /// The answer to a question that holds iff both do.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (broken @ Self::Broken(_), _) | (_, broken @ Self::Broken(_)) => broken,
            (Self::Violated, _) | (_, Self::Violated) => Self::Violated,
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Holds, Self::Holds) => Self::Holds,
        }
    }

    pub(crate) fn is_decided(&self) -> bool {
        *self != Self::Unknown
    }
}

/// A contradiction.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What differs.
    pub kind: RouteKind,
    /// How each answer was found.
    pub how: [String; 2],
    /// The answers.
    pub answers: [Answer; 2],
}

/// How strictly two answers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    /// The same question of the same model: one answer holds iff the other does. A run-time error
    /// may hide a violation and the other way round, depending on the order of the search.
    Same,
    /// Equivalent questions. Their searches visit different states, so an error that one of them
    /// meets may be of no concern to the other.
    Equivalent,
    /// The second holds if the first does.
    Implied,
}

impl Relation {
    /// Do the answers agree? Nothing if that is not known.
    fn agree(self, left: &Answer, right: &Answer) -> Option<bool> {
        use Answer::{Broken, Failed, Holds, Unknown, Violated};
        match (left, right) {
            (Broken(_), _) | (_, Broken(_)) => Some(false),
            (Unknown, _) | (_, Unknown) => None,
            (Holds, Failed) | (Failed, Holds) => (self == Self::Same).then_some(false),
            (Failed, Failed | Violated) | (Violated, Failed) => Some(true),
            (Holds, Holds) | (Violated, Violated) => Some(true),
            (Holds, Violated) => Some(false),
            (Violated, Holds) => Some(self == Self::Implied),
        }
    }
}

/// Compares answers, counts and remembers contradictions.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) tally: Tally,
    pub(crate) findings: Vec<Finding>,
}

impl Ledger {
    pub(crate) fn compare(
        &mut self,
        kind: RouteKind,
        relation: Relation,
        left: (&str, &Answer),
        right: (&str, &Answer),
    ) {
        let counts = self.tally.count(kind);
        match relation.agree(left.1, right.1) {
            Some(true) => counts.agreements += 1,
            None => counts.undecided += 1,
            Some(false) => {
                counts.disagreements += 1;
                self.findings.push(Finding {
                    kind,
                    how: [left.0.to_owned(), right.0.to_owned()],
                    answers: [left.1.clone(), right.1.clone()],
                });
            }
        }
    }
}

/// Asks a question; a route that panics or is refuted by the judge of evidence is broken.
pub(crate) fn ask(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
) -> (Answer, Option<Outcome>) {
    guarded(|| check::check(model, property, plan, &mut NoProgress))
}

/// The answer of a route, whatever becomes of it.
pub(crate) fn guarded(route: impl FnOnce() -> Result<Outcome, Bug>) -> (Answer, Option<Outcome>) {
    match catch_unwind(AssertUnwindSafe(route)) {
        Ok(Ok(outcome)) => (Answer::of(&outcome.verdict), Some(outcome)),
        Ok(Err(bug)) => (Answer::Broken(bug.to_string()), None),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|t| (*t).to_owned()));
            (
                Answer::Broken(format!("panic: {}", text.unwrap_or_default())),
                None,
            )
        }
    }
}

/// A property without a text.
pub(crate) fn named(property: Property) -> NamedProperty {
    NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    }
}
