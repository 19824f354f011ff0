//! Certificates of what was found to hold, for the checker in crate `certify`.
//!
//! The search is not asked: the states are listed again by the reference semantics, in the order and
//! in the terms of the checker, without any reduction. `graph.rs` builds the product, `refutation.rs`
//! finds the numbers and reasons. Nothing here has to be right for a certificate to be believed.

mod family;
mod graph;
mod refutation;

use base::{Budget, Fairness, StopReason};
use certify::{
    Certificate, CertifiedOptions, Claim, DataRuns, Letter, NoRun, Obligation, Proof, StateWalk,
    data_core, obligations,
};
use evidence::{Verdict, ViolationKind};
use logic::{Ltl, Property};
use model::Model;
use rustc_hash::FxHashSet;
use source::{Options, Question, QuestionKind, System};

pub use self::family::certificate_for_all;
pub(crate) use self::family::family_proof;
use self::graph::Product;
use crate::{Outcome, Route};

/// Larger systems get no certificates: the reference semantics would take hours to list their states.
const MAX_STATES: usize = 16_000_000;

/// Why a verdict has no certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Uncertified {
    /// There are none for such verdicts.
    Unsupported(String),
    /// It did not fit into the budget.
    Stopped(StopReason),
    /// The verdict is wrong. This is a bug in the tool.
    Contradicted(String),
}

impl std::fmt::Display for Uncertified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(why) | Self::Contradicted(why) => f.write_str(why),
            Self::Stopped(reason) => write!(f, "{}", reason.name()),
        }
    }
}

impl From<certify::Failure> for Uncertified {
    fn from(failure: certify::Failure) -> Self {
        match failure {
            certify::Failure::Wrong(why) | certify::Failure::Unconfirmed(why) => {
                Self::Unsupported(why)
            }
            certify::Failure::Stopped(reason) => Self::Stopped(reason),
        }
    }
}

/// The certificate of an outcome that [`crate::answer`] gave. `options` are those that the text of the
/// model was read with, and `asked_for` is the fairness of the plan.
///
/// # Errors
/// Why there is none.
pub fn certificate(
    systems: &[System],
    question: &Question,
    outcome: &Outcome,
    asked_for: Option<Fairness>,
    options: &Options,
    budget: &Budget,
) -> Result<Certificate, Uncertified> {
    let claim = claim_of(&outcome.verdict)?;
    match (outcome.route, &outcome.proof) {
        (Route::Explicit, _) | (Route::Predicate, Some(_)) => {}
        (Route::Predicate, None) => {
            let why = "predicate abstraction has certificates where an invariant of numbers and \
                       locations was found";
            return Err(Uncertified::Unsupported(why.to_owned()));
        }
        (route, _) => {
            let why = format!("there are no certificates for the route `{}`", route.name());
            return Err(Uncertified::Unsupported(why));
        }
    }
    match question.kind {
        QuestionKind::Property | QuestionKind::EndStates => {}
        QuestionKind::Optimum { .. }
        | QuestionKind::Deterministic { .. }
        | QuestionKind::Refines { .. } => {
            let why = "there are no certificates for such questions";
            return Err(Uncertified::Unsupported(why.to_owned()));
        }
    }

    let model = &systems[question.system].model;
    let property = &question.property;
    let has_abstract_timers = model.abstract_timers().next().is_some();
    let mut fairness = crate::effective_fairness(model, property, asked_for);
    // For abstract timers, t-fairness is part of what has to be shown, not of what is claimed.
    fairness.timers &= !has_abstract_timers;
    let proofs = match &outcome.proof {
        Some(Proof::Graph(found)) => {
            let (core, formula) = data_core(model, &property.property, fairness, found)?;
            let run = graph_run(&core, formula, budget)?;
            vec![Proof::Graph(DataRuns {
                run,
                ..found.clone()
            })]
        }
        Some(proof) => vec![proof.clone()],
        None => prove(model, &property.property, fairness, claim, budget)?,
    };
    Ok(Certificate {
        property: property.name.clone(),
        options: CertifiedOptions::new(options),
        fairness,
        claim,
        proofs,
    })
}

/// Why no run on a graph is forbidden.
fn graph_run(core: &Model, formula: Ltl, budget: &Budget) -> Result<NoRun, Uncertified> {
    let property = Property::Ltl(formula);
    let proofs = prove(core, &property, Fairness::NONE, Claim::Holds, budget);
    match proofs.as_deref() {
        Ok([Proof::Runs(run)]) => Ok(run.clone()),
        // The checker may make less of a condition than the abstraction does.
        Ok(_) | Err(Uncertified::Contradicted(_)) => {
            let why = "the graph needs a condition that certificates do not express";
            Err(Uncertified::Unsupported(why.to_owned()))
        }
        Err(why) => Err(why.clone()),
    }
}

fn claim_of(verdict: &Verdict) -> Result<Claim, Uncertified> {
    let unsupported = |why: &str| Err(Uncertified::Unsupported(why.to_owned()));
    match verdict {
        Verdict::Holds { .. } => Ok(Claim::Holds),
        Verdict::Violated(violation) if violation.kind == ViolationKind::Unreachable => {
            Ok(Claim::Unreachable)
        }
        Verdict::Violated(_) => unsupported("the run that is shown is evidence enough"),
        Verdict::Unknown(_) => unsupported("there is no verdict"),
    }
}

/// Proofs of all obligations. An invariant is proved by its positions, unless only fair runs keep it.
fn prove(
    model: &Model,
    property: &Property,
    fairness: Fairness,
    claim: Claim,
    budget: &Budget,
) -> Result<Vec<Proof>, Uncertified> {
    let is_invariant = matches!(property, Property::Invariant(_));
    let prove_by = |by_runs: bool| {
        let wanted = obligations(model, property, fairness, claim, by_runs);
        let wanted = wanted.map_err(Uncertified::Unsupported)?;
        let proofs = wanted.iter().map(|o| proof(model, o, budget));
        proofs.collect::<Result<Vec<Proof>, Uncertified>>()
    };
    let has_abstract_timers = model.abstract_timers().next().is_some();
    match prove_by(false) {
        // Such a verdict may rest on a case that certificates do not know.
        Err(Uncertified::Contradicted(_)) if has_abstract_timers => {
            let why = "there are no certificates for abstract timers in models where time stops";
            Err(Uncertified::Unsupported(why.to_owned()))
        }
        Err(Uncertified::Contradicted(_)) if is_invariant => prove_by(true),
        proved => proved,
    }
}

fn proof(model: &Model, obligation: &Obligation, budget: &Budget) -> Result<Proof, Uncertified> {
    match obligation {
        Obligation::Positions(formula) => {
            let atoms = formula.atoms();
            let mut walk = StateWalk::new(model, atoms, MAX_STATES, budget)?;
            let mut satisfying: FxHashSet<Letter> = FxHashSet::default();
            let mut satisfies = |walk: &StateWalk<'_>, letter: Letter| {
                let holds = |_: usize, atom| walk.holds(letter, atom);
                let is_known = satisfying.contains(&letter);
                is_known
                    || logic::holds_on_lasso(formula, 1, 0, &holds) && satisfying.insert(letter)
            };
            let mut initial = (0..walk.n_initial()).map(|state| walk.initial_letter(state));
            let mut is_satisfied = initial.all(|letter| satisfies(&walk, letter));
            let mut n_new = Vec::new();
            loop {
                let visits = walk.next_visits()?;
                if visits.is_empty() {
                    break;
                }
                for visit in &visits {
                    let mut letters = visit.letters.iter();
                    is_satisfied &= letters.all(|letter| satisfies(&walk, *letter));
                    n_new.push(visit.n_new);
                }
                if !is_satisfied {
                    let why = "a reachable position does not satisfy the formula";
                    return Err(Uncertified::Contradicted(why.to_owned()));
                }
            }
            Ok(Proof::Positions(n_new))
        }
        Obligation::NoDeadlock => {
            let mut walk = StateWalk::new(model, Vec::new(), MAX_STATES, budget)?;
            let mut n_new = Vec::new();
            loop {
                let visits = walk.next_visits()?;
                if visits.is_empty() {
                    return Ok(Proof::Positions(n_new));
                }
                let mut steps = visits.iter().flat_map(|visit| &visit.steps);
                if steps.any(|step| step.commands.is_empty()) {
                    let why = "a reachable state has no step";
                    return Err(Uncertified::Contradicted(why.to_owned()));
                }
                n_new.extend(visits.iter().map(|visit| visit.n_new));
            }
        }
        Obligation::NoRun {
            bad,
            fairness,
            atoms,
        } => {
            let product = Product::new(model, bad, *fairness, atoms, budget)?;
            let reasons = refutation::refute(&product, budget)?;
            Ok(Proof::Runs(product.proof(reasons)))
        }
    }
}
