//! Fairground as a library: checks models under fairness, and explains the answers.
//!
//! A [`Project`] is a model with questions about it. It is opened from [`Files`] (a disk, a map in
//! memory, the buffers of an editor) in any language of the table in `languages.rs`, or built
//! from a [`model::Model`] without any text. [`Project::check`] answers a question;
//! [`Project::simulate`] walks step by step, [`Project::replay`] judges a stored run,
//! [`Project::graph`] visits all states, [`Project::abstraction`] prints the finite model behind a
//! verdict, [`Project::certificate`] and [`check_certificates`] make it independent of the search,
//! [`Project::advise`] says which fairness a property needs.
//!
//! ```
//! use fairground::{Memory, NoProgress, Options, Plan, Project};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let text = "var x : 0..3 = 0
//!         process P { step when x < 3 { x := x + 1 } }
//!         property top: eventually x == 3";
//!     let files = Memory::new([("count.fair", text)]);
//!     let project = Project::open(&files, "count.fair", &Options::default())?;
//!     for question in project.questions() {
//!         let answer = project.check(question, &Plan::default(), &mut NoProgress)?;
//!         println!("{}: {}", question.name, answer.verdict().name());
//! #       assert_eq!(answer.verdict(), fairground::Verdict::Holds);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! What comes out is plain data: [`Answer`] holds what [`report`] prints as text, JSON, JUnit and
//! SARIF. The library knows no terminals, signals and clocks; a face that wants the time in its
//! reports measures it and sets [`report::PropertyResult::seconds`]. Other programs are started
//! only through a [`Launch`] that the face hands over.
//!
//! Read next: `project.rs` for what is opened, `answer.rs` for what comes out.

mod abstract_model;
mod advice;
mod analysis;
mod answer;
mod automaton;
mod certificate;
mod disk;
mod error;
mod family;
mod fix;
mod folder;
mod formulas;
mod graph;
mod languages;
mod outline;
mod picture;
mod project;
mod question;
mod replay;
mod simulation;
mod solver;
mod synthesis;
mod trace_details;

pub use abstract_model::{AbstractionFormat, AbstractionText};
pub use advice::Search;
pub use analysis::{analyse, format, keywords};
pub use answer::Answer;
pub use automaton::{AutomatonFormat, automaton};
pub use disk::{Confined, Disk};
pub use error::{Error, WrongText};
pub use fix::{Fix, fixes};
pub use folder::DiskFolder;
pub use formulas::{formulas_of_trace, is_formula_name, name_formulas};
pub use graph::{Drawing, DrawingRequest, DrawnEdge, DrawnNode, StateGraph};
pub use languages::is_model;
pub use outline::{Outline, OutlineEntry, OutlineKind};
pub use picture::{DrawnPicture, DrawnShape};
pub use project::Project;
pub use question::{Question, QuestionKind};
pub use replay::{Judgement, Replay};
pub use simulation::{
    Breach, Evaluation, Here, LoopFairness, Obligation, Random, Sample, Sampling, Simulation,
    SimulationWalk, StepDetails, Watched,
};
pub use solver::{SolverChoice, SolverName, solver_maker};
pub use synthesis::{Coefficients, Synthesis, synthesise};
pub use trace_details::TraceDetails;

pub use base::{
    AtomId, Budget, Checkpoints, Diagnostic, Expected, Fairness, FairnessKind, Folder, Inherited,
    Label, Links, NewFile, NoProgress, Progress, Route, Severity, Shares, Snapshot, Source,
    SourceId, Span, StopReason, Stopper, closest_name,
};
pub use certify::{
    Certificate, Certified, Failure as CertificateFailure, Said, Solver as CertificateSolver,
    check_file as check_certificates, installed_solvers, write_packed as write_certificates,
};
pub use check::predicate::{MakeSolver, Options as PredicateOptions};
pub use check::{Bug, Plan, REDUCE_AFTER, Reduction, Reductions, SetCarrier, TimerFairness};
pub use evidence::{
    Because, Change, Communication, Invalid, Justification, NamedRun, RestsOn, Truth, Value,
};
pub use report::Outcome as Verdict;
#[cfg(feature = "processes")]
pub use smt::SystemProcesses;
pub use smt::{Connection, Launch};
pub use source::{
    Analysis, Files, Memory, Options, Overlay, Piece, PieceKind, Reference, Symbol, SymbolKind,
    Unreadable, Variation, scan,
};

pub use {logic, model, report, ws1s};

/// The program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
