//! The intermediate model of every front end and abstraction, and its reference semantics.
//!
//! A [`Model`] is a set of processes with locations and guarded steps over shared and local
//! variables, channels and events. Front ends describe one as a [`ModelParts`]; only
//! [`ModelParts::finish`] yields a `Model`, whose instances, actions and cells are then fixed.
//!
//! [`Model::is_initial`], [`Model::initial_states`], [`Model::successors`] and [`Model::eval`] are
//! slow, obvious and the definition of truth: every faster way of computing steps is tested
//! against them, and every counterexample is replayed on them.
//!
//! This crate refuses to know texts, formulas, searches and reports.
//!
//! ```
//! use model::*;
//! # use base::Span;
//! // One process that toggles one Boolean forever.
//! let x = VarId(0);
//! let place = Place { var: x, owner: None, path: vec![] };
//! let toggle = Step {
//!     effect: vec![Stmt::new(
//!         StmtKind::Assign(place.clone(), Expr::not(Expr::Read(place))),
//!         Span::nowhere(),
//!     )],
//!     ..Step::new("toggle", LocationId(0), LocationId(0), Span::nowhere())
//! };
//! let parts = ModelParts {
//!     vars: vec![Variable {
//!         name: "x".into(),
//!         ty: Type::Scalar(Scalar::Bool),
//!         owner: None,
//!         initial: Initial::Values(vec![Expr::Bool(false)]),
//!         span: Span::nowhere(),
//!     }],
//!     processes: vec![Process::new("T", vec!["here".into()], vec![toggle], Span::nowhere())],
//!     ..ModelParts::default()
//! };
//! let model = parts.finish().unwrap();
//! let initial = model.initial_states().unwrap();
//! let next = model.successors(&initial[0]).unwrap();
//! assert_eq!(model.action_name(next[0].actions[0]), "T.toggle");
//! assert_eq!(next[0].target.cells, [1]);
//! ```

mod atoms;
mod elaborate;
mod eval;
mod execute;
mod expr;
mod fairness;
mod interference;
mod may_must;
mod model;
mod parts;
mod priority;
pub mod sketch;
mod state;
mod steps;
mod template;
pub mod threshold;
mod timer;
mod tree;
mod types;
mod unbounded;
mod validate;

pub use eval::{BEYOND_ROOM, Env, ErrorKind, RunTimeError};
pub use expr::{Access, BinaryOp, BoundId, ChannelRef, Expr, Owner, Place, Quantifier};
pub use fairness::{
    Annotation, AnnotationKind, Assumption, Condition, ConditionKind, Subject, Target,
};
pub use interference::{Interference, Needs, Resource};
pub use may_must::{MayMust, MayMustParts, Proposition};
pub use model::{
    Action, ActionId, Cell, Command, CommandId, Instance, InstanceId, Model, ModelError,
    Participant, StepSet, Transition,
};
pub use parts::{
    Atom, AtomMeaning, Channel, ChannelId, Composition, Event, EventId, IndexRange, Initial,
    LocationId, MAX_ITERATIONS, ModelParts, Parameter, Pattern, Process, ProcessId, Shown, Step,
    StepPattern, Stmt, StmtKind, Sync, VarId, Variable,
};
pub use state::{Few, State, Successor};
pub use template::{
    Distinguished, Hint, Hints, Scope, Template, as_open_end, as_open_index, open_end, open_index,
};
pub use timer::{Clock, Reach, Setting, Timer, is_inexact};
pub use types::{ArrayType, EnumId, EnumType, RecordForm, RecordId, RecordType, Scalar, Type};
pub use unbounded::{
    EVERY_INDEX, OPEN_VALUES, Sample, Unbounded, is_endless_choice, is_unbounded_array,
};
