//! Predicate abstraction of unbounded data.
//!
//! S. Bensalem, Y. Lakhnech, S. Owre, *Computing abstractions of infinite state systems
//! compositionally and automatically*, CAV 1998, doi:10.1007/BFb0028757; S. Graf, H. Saïdi,
//! *Construction of abstract state graphs with PVS*, CAV 1997, doi:10.1007/3-540-63166-6_10.
//!
//! A model becomes a [`Program`]: guarded simultaneous assignments over solver terms. A [`Domain`]
//! says what abstract states remember: variables with few values are kept as they are, of the
//! others only the truth of *predicates*. Each transition is abstracted by itself
//! ([`AbstractCommand`]), by substitution first and with the solver where that does not decide, so
//! that the abstract model has the processes and actions of the original
//! ([`text`] prints it). [`Abstraction::explore`] visits its reachable states; [`execute`] replays
//! what it finds on the original; [`Abstraction::learn`] makes predicates from what is spurious;
//! [`Abstraction::effect`] finds expressions that cannot decrease forever,
//! [`Abstraction::recur`] loops that go on forever although their data grows.
//!
//! Direction: an over-approximation. Every run of the model is, seen through the predicates, a run
//! of the abstraction with the same actions. Properties of all runs carry over from the
//! abstraction to the model, never back. An answer "unknown" of the solver only adds steps.

mod abstract_term;
mod atoms;
mod channels;
mod command;
mod domain;
mod execute;
mod explore;
mod facts;
mod farkas;
mod must;
mod program;
mod questions;
mod ranking;
mod rational;
mod recurrence;
mod refine;
mod replay;
mod samples;
mod show;
mod symbolic;
mod teams;
pub mod text;

pub use abstract_term::Abstract;
pub use atoms::{AtomTerm, atom_term, state_term};
pub use command::{AbstractCommand, Assignments, Group, Update};
pub use domain::{Domain, Fact, MAX_KEPT_VALUES, Origin, Predicate};
pub use execute::program_of;
pub use explore::{AbstractGraph, AbstractPath, Abstraction, Edge, Goal, Halt};
pub use farkas::LoopStep;
pub use program::{Content, Failure, Local, Program, Refusal, StateVar, Transition};
pub use questions::Questions;
pub use ranking::Effect;
pub use recurrence::{Change, N_ROUNDS, Recurrence, Rounds};
pub use refine::Refined;
pub use replay::{Concrete, Execution, concretize, execute, has_endless_choices};
pub use show::show;
pub use teams::for_some_integer;
