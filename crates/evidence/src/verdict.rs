//! What a check can come to.

use base::StopReason;
use model::RunTimeError;

use crate::{Branching, Endless, Trace};

/// What a check says about a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The property holds.
    Holds {
        /// A run that shows it, for a property that demands one ([`logic::Property::Reachable`]).
        witness: Option<Trace>,
    },
    /// The property does not hold.
    Violated(Box<Violation>),
    /// The check could not decide. Nothing turns this into one of the others.
    Unknown(UnknownReason),
}

impl Verdict {
    /// The stable name used in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Holds { .. } => "holds",
            Self::Violated(_) => "violated",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Why a check could not decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnknownReason {
    /// It was stopped.
    Stopped(StopReason),
    /// The abstraction has violations, and none of those examined is one of the model.
    AbstractionTooCoarse,
    /// A decision procedure had no answer.
    SolverGaveUp,
    /// The route cannot treat this model or property, and why.
    Unsupported(String),
    /// More comes into being while the system runs than the model provides for. A larger bound may
    /// help.
    Exhausted,
    /// Nothing was found by a search that may have overlooked something.
    NotExact,
    /// Time stops in this run ([`ViolationKind::ZeroTime`]), so abstract timers do not decide.
    ZeroTime(Box<Violation>),
    /// Two decision procedures contradict each other: which, and on what question.
    SolversDisagree(String),
}

impl UnknownReason {
    /// The stable name used in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stopped(reason) => reason.name(),
            Self::AbstractionTooCoarse => "abstraction-too-coarse",
            Self::SolverGaveUp => "solver-gave-up",
            Self::Unsupported(_) | Self::Exhausted => "unsupported",
            Self::NotExact => "not-exact",
            Self::ZeroTime(_) => "zero-time",
            Self::SolversDisagree(_) => "solvers-disagree",
        }
    }

    /// What is to be said beyond the name, if anything.
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        match self {
            Self::Unsupported(why) => Some(why),
            Self::Exhausted => Some(
                "the model creates more processes, or longer sequences, than are provided for where its text gives no bound",
            ),
            Self::Stopped(_)
            | Self::AbstractionTooCoarse
            | Self::SolverGaveUp
            | Self::NotExact
            | Self::ZeroTime(_)
            | Self::SolversDisagree(_) => None,
        }
    }
}

/// In which way a property is violated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ViolationKind {
    /// A fair run, given as a lasso, does not satisfy the property.
    FairLoop,
    /// A fair run, given as a stem and some rounds that are alike but for their numbers, does not
    /// satisfy the property. That it goes on like this forever is proved with a solver.
    Endless(Box<Endless>),
    /// In a fair run, given as a lasso, time stops. That is not a violation of the property, but
    /// a reason for which abstract timers may not decide it ([`UnknownReason::ZeroTime`]).
    ZeroTime,
    /// The last position of a finite run breaks an invariant.
    BadPrefix,
    /// The last state of a finite run has no step.
    Deadlock,
    /// In the last state of a finite run, a guard, an effect or a proposition has no value. Without
    /// a run: already an initial value has none.
    RunTimeError(RunTimeError),
    /// No reachable position is as the property demands. There is no run to show for it.
    Unreachable,
    /// An initial state does not satisfy a formula of CTL*.
    Branching(Box<Branching>),
    /// The negation holds in an initial state of a may/must system, so in every system that it
    /// describes.
    NegationHolds,
}

/// A violated property, and the evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// In which way.
    pub kind: ViolationKind,
    /// The run. Invariant: absent only for [`ViolationKind::Unreachable`],
    /// [`ViolationKind::Branching`], [`ViolationKind::NegationHolds`] and for run-time errors in
    /// initial values.
    pub trace: Option<Trace>,
    /// Under strong global fairness: a lasso whose loop takes every step of every state that it
    /// visits. Without it, `trace` must be such a lasso; with it, `trace` is a shorter lasso that
    /// violates the property inside the same states.
    pub covering: Option<Trace>,
    /// Under strong global fairness: how large the closed component is.
    pub component: Option<ComponentSize>,
}

/// The size of a closed component of the system (not of a product with an automaton).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ComponentSize {
    /// How many states it has.
    pub n_states: usize,
    /// How many steps leave these states; all of them stay inside.
    pub n_steps: usize,
}
