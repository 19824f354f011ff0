//! Why a piece of evidence is refused.

use std::fmt;

use model::RunTimeError;

use crate::ComponentSize;

/// Why a piece of evidence is refused. Positions count states and steps of the trace from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Invalid {
    /// Numbers that do not fit together, so that nothing can be replayed.
    Malformed(String),
    /// There is no run, but this kind of violation needs one.
    NoTrace,
    /// A lasso where a finite run is needed.
    UnexpectedLoop,
    /// A finite run where a lasso is needed.
    NoLoop,
    /// This kind of violation says nothing about this kind of property.
    KindDoesNotFit,
    /// The first state is not initial.
    NotInitial,
    /// The model has a run-time error at a position where the evidence goes on.
    Error {
        /// The position.
        at: usize,
        /// The error.
        error: RunTimeError,
    },
    /// The run idles although the state has steps.
    IdleButEnabled {
        /// The position.
        at: usize,
    },
    /// The state has no step with these actions.
    NotEnabled {
        /// The position.
        at: usize,
        /// The actions.
        actions: String,
    },
    /// The actions are possible, but they do not lead to the next state of the run.
    WrongTarget {
        /// The position.
        at: usize,
        /// The actions.
        actions: String,
    },
    /// The last step of the loop does not lead back to its start.
    LoopNotClosed {
        /// The actions of the last step.
        actions: String,
    },
    /// Other processes take part in the step.
    WrongMovers {
        /// The position.
        at: usize,
    },
    /// The step does not execute one of the commands that are listed.
    WrongCommands {
        /// The position.
        at: usize,
    },
    /// The loop is not fair to this condition.
    Unfair {
        /// The condition, such as `wf(P.enter)`.
        condition: String,
    },
    /// The loop does not satisfy this assumption.
    AssumptionFails {
        /// The assumption.
        assumption: String,
    },
    /// Strong global fairness: the loop visits the state but never takes this step of it.
    NotCovered {
        /// A position of the state.
        at: usize,
        /// The actions of the step.
        actions: String,
    },
    /// The loop that is shown visits a state outside the covering loop.
    OutsideComponent {
        /// The position.
        at: usize,
    },
    /// The component has another size.
    WrongComponentSize {
        /// The size that was claimed.
        claimed: ComponentSize,
        /// The size that the covering loop has.
        actual: ComponentSize,
    },
    /// A round of an endless run is not like the one before.
    RoundsDiffer {
        /// The position.
        at: usize,
    },
    /// Strong global fairness: an endless run visits a state twice.
    StateReturns {
        /// The second position.
        at: usize,
    },
    /// The run satisfies the property.
    PropertyHolds,
    /// The last position of a witness does not satisfy what is to be reached.
    NotReached,
    /// The last state has a step.
    NotDeadlocked,
    /// A verdict is contradicted by the attempt to certify it.
    Uncertified(String),
    /// The last state has no run-time error, or another one.
    OtherError {
        /// What happens instead.
        found: Option<RunTimeError>,
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "the trace is malformed: {what}"),
            Self::NoTrace => write!(f, "there is no trace"),
            Self::UnexpectedLoop => write!(f, "the trace has a loop where it must end"),
            Self::NoLoop => write!(f, "the trace ends where it must have a loop"),
            Self::KindDoesNotFit => {
                write!(f, "the kind of violation does not fit the kind of property")
            }
            Self::NotInitial => write!(f, "state 0 is not an initial state"),
            Self::Error { at, error } => write!(f, "in state {at}: {}", error.kind),
            Self::IdleButEnabled { at } => {
                write!(f, "step {at} is idle, but state {at} has steps")
            }
            Self::NotEnabled { at, actions } => {
                write!(f, "step {at}: `{actions}` is not possible in state {at}")
            }
            Self::WrongTarget { at, actions } => {
                write!(f, "step {at}: `{actions}` does not lead to the next state")
            }
            Self::LoopNotClosed { actions } => write!(
                f,
                "the last step `{actions}` does not lead back to the start of the loop"
            ),
            Self::WrongMovers { at } => write!(f, "step {at}: other processes take part"),
            Self::WrongCommands { at } => {
                write!(f, "step {at}: a listed command is not executed")
            }
            Self::Unfair { condition } => write!(f, "the loop is not fair: it breaks {condition}"),
            Self::AssumptionFails { assumption } => {
                write!(f, "the loop breaks the assumption {assumption}")
            }
            Self::NotCovered { at, actions } => write!(
                f,
                "the loop visits state {at} but never takes its step `{actions}`"
            ),
            Self::OutsideComponent { at } => {
                write!(f, "state {at} of the loop is outside the closed component")
            }
            Self::WrongComponentSize { claimed, actual } => write!(
                f,
                "the component has {} states and {} steps, not {} and {}",
                actual.n_states, actual.n_steps, claimed.n_states, claimed.n_steps
            ),
            Self::RoundsDiffer { at } => {
                write!(f, "at state {at} a round is not like the one before")
            }
            Self::StateReturns { at } => write!(f, "state {at} has been visited before"),
            Self::PropertyHolds => write!(f, "the trace satisfies the property"),
            Self::NotReached => write!(f, "the last state does not satisfy the goal"),
            Self::NotDeadlocked => write!(f, "the last state has steps"),
            Self::Uncertified(why) => f.write_str(why),
            Self::OtherError { found: None } => {
                write!(f, "the last state has no run-time error")
            }
            Self::OtherError { found: Some(error) } => {
                write!(f, "the last state has another error: {}", error.kind)
            }
        }
    }
}

impl std::error::Error for Invalid {}
