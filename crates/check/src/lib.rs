//! From a model and a property to a verdict with its evidence.
//!
//! [`check`] is *the* boundary between those who ask (the command line, tests) and those who
//! search. It decides which route answers a property, under which fairness, and lets nothing
//! through that the reference semantics does not confirm: a violation that does not validate is a
//! [`Bug`], never a verdict.
//!
//! What to read next: `SOUNDNESS.md` says for every route which properties it decides and why.

mod answer;
mod branching;
mod certificate;
mod counting;
mod explicit;
mod fairness;
mod optimum;
mod outcome;
mod parameterized;
pub mod predicate;
mod reduction;
pub mod refinement;
mod stutter_invariance;
mod survey;
mod symbolic;
mod synthesis;
mod thresholds;
mod timer_cutoff;
mod timer_quantifiers;
mod timers;
mod together;
mod warnings;

use std::sync::Arc;

use base::{Budget, Checkpoints, Fairness, Progress};
use evidence::{Invalid, UnknownReason, Verdict};
use logic::{NamedProperty, Property};
use model::Model;

pub use answer::{answer, answer_together};
pub use base::Route;
pub use certificate::{Uncertified, certificate, certificate_for_all};
pub use counting::{count_failures, count_violations, unreached};
pub use engine::{Asymmetry, SetCarrier};
pub use fairness::{effective_fairness, is_broken_by_states};
pub use optimum::optimum;
pub use outcome::Outcome;
pub use parameterized::{Answer, ForAll, Instances, check_for_all, template_fairness};
pub use reduction::{REDUCE_AFTER, Reduction, Reductions};
pub use survey::{
    Audit, AuditEntry, Granularity, Inference, Left, Level, Member, MinimalSet, Offer,
    TestedExclusion, Use, audit, check_notions, infer, offers, test_exclusions,
};
pub use synthesis::{Synthesis, synthesise};
pub use thresholds::check_thresholds;
pub use timers::TimerFairness;
pub use warnings::needless_annotations;

/// How a property is to be checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The fairness that the user asks for; without it, what the property or the model says.
    pub fairness: Option<Fairness>,
    /// Which steps may be left out, and which differences between states be forgotten.
    pub reduction: Reduction,
    /// Compile code that is never executed, and store variables that never change? That makes no
    /// difference to any answer.
    pub all_code: bool,
    /// Visit all states even if a property is known to hold before? Then counts are those of the model,
    /// warnings speak of all of it, and run-time errors are met wherever they are.
    pub all_states: bool,
    /// Interpret the code instead of translating it to machine code? That makes no difference to any
    /// answer.
    pub interpreted: bool,
    /// After how many nodes of a search for fair runs its edges are stored, if not after as many as the
    /// engine thinks; never with `u64::MAX`. That makes no difference to any answer.
    pub n_depth_first: Option<u64>,
    /// Keep only a few bits of each state, in this many bytes? Then nothing follows from finding
    /// nothing.
    pub bitstate: Option<u64>,
    /// Search with operations on sets of states that are kept there? Then nothing is left out, and
    /// questions that need a state looked up are not answered.
    pub sets: Option<SetCarrier>,
    /// Where searches keep their state, and go on from.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    /// What the check may spend.
    pub budget: Budget,
    /// How abstract timers are kept from staying above their thresholds forever.
    pub timer_fairness: TimerFairness,
    /// Read fairness on may/must systems as if nothing were unknown. Unsound; for demonstrations.
    pub naive: bool,
    /// Which route to take; without it, one that fits the model.
    pub route: Option<Route>,
    /// How unbounded data is abstracted.
    pub predicate: predicate::Options,
    /// Do not compare what is proved for all numbers of processes with small instances.
    pub no_cross_check: bool,
}

/// A violation that the reference semantics does not confirm: the search is wrong.
#[derive(Clone, Debug)]
pub struct Bug {
    /// The property that was checked.
    pub property: String,
    /// What the reference semantics says.
    pub invalid: Invalid,
}

impl std::fmt::Display for Bug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { property, invalid } = self;
        if let Invalid::Uncertified(why) = invalid {
            return write!(f, "the verdict on `{property}` is wrong: {why}");
        }
        write!(
            f,
            "the counterexample found for `{property}` is wrong: {invalid}"
        )
    }
}

impl std::error::Error for Bug {}

/// Checks one property of a model.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn check(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let fairness = effective_fairness(model, property, plan.fairness);
    if let Property::MayMust(question) = &property.property {
        let mut outcome = branching::check_may_must(model, property, question, plan);
        outcome.confirm(model, property)?;
        return Ok(outcome);
    }
    if let Some(why) = fairness::has_too_many_conditions(model, fairness) {
        let route = plan.route.unwrap_or(Route::Explicit);
        return Ok(Outcome::unknown(
            route,
            fairness,
            UnknownReason::Unsupported(why),
        ));
    }
    if model.abstract_timers().next().is_some() {
        if plan.route == Some(Route::Symbolic) {
            let reason = UnknownReason::Unsupported(symbolic::NO_TIMERS.to_owned());
            return Ok(Outcome::unknown(Route::Symbolic, fairness, reason));
        }
        if predicate::has_past(&property.property) {
            let reason = UnknownReason::Unsupported(predicate::NO_PAST.to_owned());
            return Ok(Outcome::unknown(Route::Explicit, fairness, reason));
        }
        return timers::check(model, property, fairness, plan, progress);
    }
    let outcome = decide(model, property, fairness, plan, progress);
    judged(model, property, plan, outcome)
}

/// Decides by visiting every state, and has violations confirmed.
fn check_explicitly(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let outcome = reduction::check(model, property, fairness, plan, progress);
    judged(model, property, plan, outcome)
}

/// Has evidence confirmed, and adds the warnings that a proof calls for.
fn judged(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
    mut outcome: Outcome,
) -> Result<Outcome, Bug> {
    // Nothing is claimed then, so nothing needs to be confirmed.
    outcome.give_up_where_exhausted();
    outcome.confirm(model, property)?;
    if outcome.holds() && outcome.route == Route::Explicit {
        let fairness = outcome.fairness;
        let plan = &reduction::going_on(plan, outcome.reduced);
        let found = warnings::warnings(model, property, fairness, &outcome.stats, plan);
        outcome.warnings.extend(found);
    }
    Ok(outcome)
}

/// States that are visited before a model with unbounded integers is taken to have too many.
const MAX_TRIAL_STATES: u64 = 100_000;

/// Takes the route that the plan names, else one that fits: finite models are explored; where data
/// is left open, predicates are used; where only integers are unbounded, a small state space is
/// looked for first.
fn decide(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Outcome {
    let open = model.unbounded();
    let route = match plan.route {
        None if plan.sets.is_some() => Some(Route::Explicit),
        Some(Route::Predicate) if plan.sets.is_some() => {
            let why = "sets of states (`--disk`) are those of the route `explicit`";
            let reason = UnknownReason::Unsupported(why.to_owned());
            return Outcome::unknown(Route::Predicate, fairness, reason);
        }
        route => route,
    };
    match (route, &open) {
        (Some(Route::Predicate), _) => {
            return predicate::check(model, property, fairness, plan, progress);
        }
        (Some(Route::Explicit | Route::Symbolic | Route::Race), Some(reason)) => {
            return predicate::not_explicit(fairness, reason);
        }
        (Some(Route::Symbolic), None) => {
            return symbolic::check(model, property, fairness, &plan.budget);
        }
        (Some(Route::Race), None) => {
            return symbolic::race(model, property, fairness, plan, progress);
        }
        (Some(Route::Explicit), None) => {
            return reduction::check(model, property, fairness, plan, progress);
        }
        (Some(route @ (Route::Ws1s | Route::MayMust | Route::Schemas)), _) => {
            let why = "the model is neither a family with a free parameter nor a may/must system nor a threshold automaton; \
                use the route `explicit` or `predicate`";
            let reason = UnknownReason::Unsupported(why.to_owned());
            return Outcome::unknown(route, fairness, reason);
        }
        (None, Some(_)) => return predicate::check(model, property, fairness, plan, progress),
        (None, None) => {}
    }
    if !predicate::has_unbounded_integers(model) {
        return reduction::check(model, property, fairness, plan, progress);
    }
    let trial = Plan {
        budget: plan.budget.clone().with_trial_states(MAX_TRIAL_STATES),
        ..plan.clone()
    };
    let tried = reduction::check(model, property, fairness, &trial, progress);
    match tried.verdict {
        Verdict::Unknown(UnknownReason::Stopped(base::StopReason::StateLimit)) => {
            let abstracted = predicate::check(model, property, fairness, plan, progress);
            match abstracted.verdict {
                // What was seen of the state space says more than that the method does not apply.
                Verdict::Unknown(UnknownReason::Unsupported(_)) => {
                    reduction::check(model, property, fairness, plan, progress)
                }
                _ => abstracted,
            }
        }
        _ => tried,
    }
}
