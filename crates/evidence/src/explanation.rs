//! What a verdict shows, as plain data: no model is needed to print it, store it or draw it.
//!
//! An [`Explanation`] is the other side of a judgement. The replay that confirms a run also tells
//! why its loop is fair and what would exclude it, so what is explained has been confirmed.

use std::sync::Arc;

use base::Span;
use model::{Model, RunTimeError};

use crate::{ComponentSize, Endless, Exclusion, Justification, NamedRun, Trace};

/// What a verdict shows. Only the judge of evidence makes one that shows something.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    shown: Shown,
    n_replays: usize,
}

/// What is shown for a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Shown {
    /// Nothing: the verdict rests on a search, or there is none.
    #[default]
    Nothing,
    /// A run: a counterexample, or the witness of a property that asks for one.
    Run(Box<ExplainedRun>),
    /// Runs for parts of a formula with path quantifiers.
    Branching(ExplainedBranching),
    /// That no reachable position is as the property demands.
    Unreachable,
    /// That the negation holds in an initial state of a may/must system.
    NegationHolds,
    /// A run-time error in an initial value, before there is a state.
    InitialError(ExplainedError),
}

/// A run and why it is evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedRun {
    /// What it shows.
    pub kind: RunKind,
    /// The run in names and readable values.
    pub run: Arc<NamedRun>,
    /// All processes, in the order of the model.
    pub processes: Vec<String>,
    /// The error at the end of a [`RunKind::RunTimeError`].
    pub error: Option<ExplainedError>,
    /// Which parts of a violated conjunction or `forall` are broken: operands, or values of names.
    pub broken: Vec<String>,
    /// Why the loop meets every fairness condition and assumption.
    pub conditions: Vec<Justification>,
    /// Are the conditions met by a longer loop around the one that is shown? Their positions mean
    /// nothing here then.
    pub is_covered: bool,
    /// Which stronger fairness would exclude the loop.
    pub excluded_by: Vec<Exclusion>,
    /// Under strong global fairness: the closed component around the loop.
    pub component: Option<ComponentSize>,
    /// How the rounds of a [`RunKind::Endless`] go on.
    pub endless: Option<Endless>,
}

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// A fair lasso does not satisfy the property.
    FairLoop,
    /// A fair run whose rounds go on with ever new numbers does not satisfy the property.
    Endless,
    /// In a fair lasso, time stops.
    ZeroTime,
    /// Its last position breaks an invariant.
    BadPrefix,
    /// Its last state has no step.
    Deadlock,
    /// Its last state has a run-time error.
    RunTimeError,
    /// Its last position is what the property asks for.
    Witness,
    /// A part of a formula with path quantifiers.
    Branch,
}

impl RunKind {
    /// The stable name used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FairLoop => "fair-loop",
            Self::Endless => "endless-loop",
            Self::ZeroTime => "zero-time",
            Self::BadPrefix => "bad-prefix",
            Self::Deadlock => "deadlock",
            Self::RunTimeError => "run-time-error",
            Self::Witness => "witness",
            Self::Branch => "branch",
        }
    }
}

/// A run-time error of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedError {
    /// What happened.
    pub message: String,
    /// Where that is written.
    pub span: Span,
    /// The action that was being tried.
    pub action: Option<String>,
}

/// Why a formula with path quantifiers has its value in an initial state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExplainedBranching {
    /// Runs for parts of the formula. Those that start in the initial state first.
    pub branches: Vec<ExplainedBranch>,
    /// How many facts rest on the completeness of the search.
    pub n_claims: usize,
}

/// A run for a part of a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedBranch {
    /// The part that it satisfies at its first state.
    pub shows: String,
    /// The run.
    pub run: ExplainedRun,
}

impl Explanation {
    /// What was confirmed, and how many runs were replayed for it.
    pub(crate) fn new(shown: Shown, n_replays: usize) -> Self {
        Self { shown, n_replays }
    }

    /// What is shown.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// The run that is shown, if it is one.
    #[must_use]
    pub fn run(&self) -> Option<&ExplainedRun> {
        match &self.shown {
            Shown::Run(run) => Some(run),
            _ => None,
        }
    }

    /// How many runs were replayed on the reference semantics to make this explanation.
    #[must_use]
    pub fn n_replays(&self) -> usize {
        self.n_replays
    }

    /// The same run as one in which time stops: a fair loop that violates `[]<> tick` is that.
    #[must_use]
    pub fn stopping_time(mut self) -> Self {
        if let Shown::Run(run) = &mut self.shown
            && run.kind == RunKind::FairLoop
        {
            run.kind = RunKind::ZeroTime;
        }
        self
    }
}

impl ExplainedRun {
    /// A run of the model that has been replayed; why its loop is fair is still to be said.
    pub(crate) fn new(model: &Model, trace: &Trace, kind: RunKind) -> Self {
        let instances = model.instances().iter();
        Self {
            kind,
            run: Arc::new(NamedRun::new(model, trace)),
            processes: instances.map(|instance| instance.name.clone()).collect(),
            error: None,
            broken: Vec::new(),
            conditions: Vec::new(),
            is_covered: false,
            excluded_by: Vec::new(),
            component: None,
            endless: None,
        }
    }
}

impl ExplainedError {
    /// The error in the words of a model.
    pub(crate) fn new(model: &Model, error: &RunTimeError) -> Self {
        Self {
            message: error.kind.to_string(),
            span: error.span,
            action: error.action.map(|id| model.action_name(id).to_owned()),
        }
    }
}
