//! Verdicts, the evidence for them, and the judge of that evidence.
//!
//! A search that claims a violation hands over a [`Violation`]; a [`Judge`] replays it on the
//! reference semantics of crate `model` and on the definition of truth of crate `logic`. It shares
//! nothing with any search, so a wrong engine is found out instead of believed.
//! The same replay says why a loop is fair and what would exclude it: an [`Explanation`] is plain
//! data, names and readable values, and whatever prints it needs no model.
//! [`View`] gives the components of states their names and readable values.
//!
//! This crate refuses to know searches, files and formats.
//!
//! ```
//! use evidence::{Trace, TraceStep};
//! # use base::Span;
//! # use model::{LocationId, ModelParts, Process, Step};
//! // One process with one step that leads from its only location to itself.
//! # let step = Step::new("go", LocationId(0), LocationId(0), Span::nowhere());
//! # let process = Process::new("P", vec!["here".into()], vec![step], Span::nowhere());
//! # let model = ModelParts { processes: vec![process], ..ModelParts::default() }.finish().unwrap();
//! let start = model.initial_states().unwrap().remove(0);
//! let step = TraceStep::from(&model.successors(&start).unwrap()[0]);
//! let trace = Trace { states: vec![start], steps: vec![step.into()], loop_start: Some(0) };
//! assert_eq!(evidence::validate_run(&model, &trace), Ok(()));
//! ```

mod branching;
mod broken;
mod communication;
mod diff;
mod endless;
mod explain;
mod explanation;
mod invalid;
mod judge;
mod loop_judge;
mod loop_usage;
mod named;
mod replay;
mod rests_on;
mod shape;
mod structure;
mod trace;
mod truths;
mod validate;
mod value;
mod verdict;
mod view;
mod word;

pub use branching::{Branch, Branching, QuantifierClaim};
pub use diff::{Change, changes};
pub use endless::Endless;
pub use explain::{
    Because, Exclusion, Justification, assumption_name, condition_name, explain_fairness,
    stronger_fairness,
};
pub use explanation::{
    ExplainedBranch, ExplainedBranching, ExplainedError, ExplainedRun, Explanation, RunKind, Shown,
};
pub use invalid::Invalid;
pub use judge::Judge;
pub use named::{Communication, Misfit, NamedRun, NamedState, NamedStep};
pub use rests_on::{Confidence, RestsOn, SolverUse};
pub use structure::Structure;
pub use trace::{StepPool, Trace, TraceStep};
pub use truths::{Truth, truths};
pub use validate::{validate, validate_branching, validate_run, validate_witness};
pub use value::Value;
pub use verdict::{ComponentSize, UnknownReason, Verdict, Violation, ViolationKind};
pub use view::View;
