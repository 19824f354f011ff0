//! What a text asks.

use base::Expected;
use logic::NamedProperty;
use model::{Expr, Scope};

use crate::doubts::Doubts;

/// A question about a system or a family.
#[derive(Clone, Debug)]
pub struct Question {
    /// Of which system: a position among those of the text.
    pub system: usize,
    /// In which way.
    pub kind: QuestionKind,
    /// Its name, its text and where it was written. For all kinds but [`QuestionKind::Deterministic`]
    /// and [`QuestionKind::Refines`] its meaning as well. Its atoms are those of the system.
    pub property: NamedProperty,
    /// The processes that it is about, and what its author says about the abstraction for it.
    pub scope: Scope,
    /// What its answer may depend on although the front end does not know it.
    pub doubts: Doubts,
    /// The verdict that its author expects, if the text says so.
    pub expected: Option<Expected>,
}

impl Question {
    /// A property of the first system.
    #[must_use]
    pub fn about(property: NamedProperty, scope: Scope) -> Self {
        let kind = match property.property {
            logic::Property::DeadlockFree => QuestionKind::EndStates,
            _ => QuestionKind::Property,
        };
        Self {
            system: 0,
            kind,
            property,
            scope,
            doubts: Doubts::default(),
            expected: None,
        }
    }

    /// Is a violation more than a run can show?
    #[must_use]
    pub fn needs_search(&self) -> bool {
        match self.kind {
            QuestionKind::Property | QuestionKind::EndStates | QuestionKind::Optimum { .. } => {
                false
            }
            QuestionKind::Deterministic { .. } | QuestionKind::Refines { .. } => true,
        }
    }
}

/// How a question is answered.
#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// As a property of the system.
    Property,
    /// Does every run that ends do so where it may? The property says where that is.
    EndStates,
    /// A reachable position, and a number that is to be least or greatest there.
    Optimum {
        /// The number.
        value: Expr,
        /// Greatest, not least?
        greatest: bool,
    },
    /// Is the system deterministic?
    Deterministic {
        /// What invisible steps are called.
        silent: String,
    },
    /// Does the system refine another?
    Refines {
        /// In which model of processes.
        refinement: Refinement,
        /// The other system.
        specification: usize,
        /// What invisible steps are called.
        silent: String,
    },
}

/// In which model of processes a refinement is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refinement {
    /// Every trace of the implementation is one of the specification.
    Traces,
    /// Besides, what the implementation can refuse in a stable state the specification can refuse
    /// after the same trace.
    Failures,
    /// The same where the specification does not diverge, and the implementation diverges only
    /// where the specification does.
    FailuresDivergences,
}
