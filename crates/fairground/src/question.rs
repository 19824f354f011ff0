//! Questions as faces see them.

use base::{Expected, Span};
use logic::Property;

/// Something that can be asked of a project. Made by a [`crate::Project`], and answered by it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it asks for.
    pub kind: QuestionKind,
    /// Where it is written.
    pub span: Span,
    /// What the system is called that it is about.
    pub system: String,
    /// The verdict that its author expects, if that is known.
    pub expected: Option<Expected>,
    /// The place among all questions of the project.
    pub(crate) position: usize,
}

/// What a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuestionKind {
    /// Do all fair runs satisfy a formula of linear time?
    LinearTime,
    /// Do all reachable states satisfy a condition?
    Invariant,
    /// Is some state reachable?
    Reachable,
    /// Does every run that ends do so where it may?
    EndStates,
    /// Does a formula with path quantifiers hold?
    BranchingTime,
    /// Does a may/must system satisfy a formula?
    MayMust,
    /// Which reachable state has the least or greatest value?
    Optimum,
    /// Is the system deterministic?
    Deterministic,
    /// Does the system refine another?
    Refinement,
}

impl QuestionKind {
    pub(crate) fn of(question: &source::Question) -> Self {
        use source::QuestionKind as Asked;
        match (&question.kind, &question.property.property) {
            (Asked::EndStates, _) | (Asked::Property, Property::DeadlockFree) => Self::EndStates,
            (Asked::Optimum { .. }, _) => Self::Optimum,
            (Asked::Deterministic { .. }, _) => Self::Deterministic,
            (Asked::Refines { .. }, _) => Self::Refinement,
            (Asked::Property, Property::Ltl(_) | Property::Never(_)) => Self::LinearTime,
            (Asked::Property, Property::Invariant(_)) => Self::Invariant,
            (Asked::Property, Property::Reachable(_)) => Self::Reachable,
            (Asked::Property, Property::CtlStar(_)) => Self::BranchingTime,
            (Asked::Property, Property::MayMust(_)) => Self::MayMust,
        }
    }
}
