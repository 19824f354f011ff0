//! The answer to a property.

use base::{Diagnostic, Fairness, Route};
use engine::{Asymmetry, Stats};
use evidence::{
    Branching, Confidence, Explanation, Judge, RestsOn, RunKind, Shown, SolverUse, UnknownReason,
    Verdict, ViolationKind,
};
use logic::NamedProperty;
use model::{ErrorKind, Model};

use crate::{Bug, Reductions};

/// The answer to a property.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict with its evidence.
    pub verdict: Verdict,
    /// What the evidence shows, as plain data: made by the replay that confirmed it, so nothing has
    /// to be replayed again. It shows nothing before that, and where there is nothing to be shown.
    pub explanation: Explanation,
    /// How many runs were replayed for the evidence, wherever that was done.
    pub n_replays: usize,
    /// Which route gave it.
    pub route: Route,
    /// The fairness under which it holds.
    pub fairness: Fairness,
    /// What was explored.
    pub stats: Stats,
    /// The reductions that the search made use of.
    pub reduced: Reductions,
    /// Reductions of other searches that the verdict rests on.
    pub other_reductions: Reductions,
    /// The solvers whose answers the verdict rests on.
    pub solvers: Vec<SolverUse>,
    /// The instances that agree with a proof for all values of a parameter.
    pub agreeing: Vec<i64>,
    /// Runs that show why a formula of CTL* holds in the first initial state.
    pub branching: Option<Branching>,
    /// What else is to be said about the verdict: what it rests on, how far it carries.
    pub remarks: Vec<String>,
    /// Why processes were not exchanged for each other, if that was asked for.
    pub not_symmetric: Option<Asymmetry>,
    /// Reasons to distrust the question, not the answer.
    pub warnings: Vec<Diagnostic>,
    /// The sample of the model that the run of a violation or witness belongs to, if data is left
    /// open in the model itself.
    pub sample: Option<Box<Model>>,
    /// The values of the parameters for which that is the system, if they are several.
    pub sample_values: Vec<i64>,
    /// What an abstraction has found to be true of all states, if the verdict follows from it.
    pub proof: Option<certify::Proof>,
}

impl Outcome {
    /// A verdict about which nothing else is known yet.
    #[must_use]
    pub fn new(route: Route, fairness: Fairness, verdict: Verdict) -> Self {
        Self {
            verdict,
            explanation: Explanation::default(),
            n_replays: 0,
            route,
            fairness,
            stats: Stats::default(),
            reduced: Reductions::NONE,
            other_reductions: Reductions::NONE,
            solvers: Vec::new(),
            agreeing: Vec::new(),
            branching: None,
            remarks: Vec::new(),
            not_symmetric: None,
            warnings: Vec::new(),
            proof: None,
            sample: None,
            sample_values: Vec::new(),
        }
    }

    /// No verdict, and why.
    #[must_use]
    pub fn unknown(route: Route, fairness: Fairness, reason: UnknownReason) -> Self {
        Self::new(route, fairness, Verdict::Unknown(reason))
    }

    /// Does the property hold?
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self.verdict, Verdict::Holds { .. })
    }

    /// Is the property violated?
    #[must_use]
    pub fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated(_))
    }

    /// Does a larger bound on what comes into being while the system runs promise an answer?
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.verdict == Verdict::Unknown(UnknownReason::Exhausted)
    }

    /// How many states the search has visited: those of the product where there is one.
    pub(crate) fn n_visited(&self) -> u64 {
        let n_product_states = self.stats.n_product_states.unwrap_or(0);
        n_product_states.max(self.stats.n_states)
    }

    /// What the verdict rests on.
    #[must_use]
    pub fn rests_on(&self) -> RestsOn {
        let reductions = self.reduced.or(self.other_reductions);
        RestsOn {
            confidence: self.confidence(reductions),
            reductions: reductions.names().into_iter().map(str::to_owned).collect(),
            solvers: self.solvers.clone(),
            instances: self.agreeing.clone(),
        }
    }

    fn confidence(&self, reductions: Reductions) -> Option<Confidence> {
        if let Verdict::Unknown(_) = self.verdict {
            return None;
        }
        if self.is_replayed() {
            return Some(Confidence::Replayed);
        }
        Some(match self.route {
            Route::Predicate | Route::Schemas => {
                let is_confirmed = |solver: &SolverUse| solver.confirmed == solver.answers;
                let all = !self.solvers.is_empty() && self.solvers.iter().all(is_confirmed);
                if all {
                    Confidence::ConfirmedSolver
                } else {
                    Confidence::UnconfirmedSolver
                }
            }
            Route::Ws1s => Confidence::Ws1s,
            Route::Symbolic | Route::Race => Confidence::Searched,
            Route::Explicit | Route::MayMust if reductions == Reductions::NONE => {
                Confidence::Searched
            }
            Route::Explicit | Route::MayMust => Confidence::SearchedWithReduction,
        })
    }

    /// Does the reference semantics alone show the verdict?
    fn is_replayed(&self) -> bool {
        match self.explanation.shown() {
            // That the rounds go on forever is proved with a solver.
            Shown::Run(run) => run.kind != RunKind::Endless,
            Shown::InitialError(_) => true,
            // What holds must hold in every initial state, and one is shown.
            Shown::Branching(shown) => self.is_violated() && shown.n_claims == 0,
            Shown::Nothing | Shown::Unreachable | Shown::NegationHolds => false,
        }
    }

    /// Takes the verdict back, with all that it shows.
    pub(crate) fn give_up(&mut self, reason: UnknownReason) {
        self.verdict = Verdict::Unknown(reason);
        self.explanation = Explanation::default();
        self.branching = None;
        self.sample = None;
    }

    /// A run to the end of what was provided for says nothing about the system.
    pub(crate) fn give_up_where_exhausted(&mut self) {
        let Verdict::Violated(violation) = &self.verdict else {
            return;
        };
        if let ViolationKind::RunTimeError(error) = &violation.kind
            && error.kind == ErrorKind::Exhausted
        {
            self.give_up(UnknownReason::Exhausted);
        }
    }

    /// Has the evidence confirmed and explained, unless that has been done where it was found.
    pub(crate) fn confirm(&mut self, model: &Model, property: &NamedProperty) -> Result<(), Bug> {
        if *self.explanation.shown() != Shown::Nothing {
            return Ok(());
        }
        let model = self.sample.as_deref().unwrap_or(model);
        let assumptions = &model.parts().assumptions;
        let judge = Judge::new(model, &property.property, self.fairness, assumptions);
        let judged = judge.verdict(&self.verdict, self.branching.as_ref());
        self.explain(judged.map_err(|invalid| Bug {
            property: property.name.clone(),
            invalid,
        })?);
        Ok(())
    }

    /// Adds what the judge of evidence says.
    pub(crate) fn explain(&mut self, explanation: Explanation) {
        self.n_replays += explanation.n_replays();
        self.explanation = explanation;
    }
}
