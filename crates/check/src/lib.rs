//! From a model and a property to a verdict with its evidence.
//!
//! [`check`] is *the* boundary between those who ask (the command line, tests) and those who
//! search. It decides which route answers a property, under which fairness, and lets nothing
//! through that the reference semantics does not confirm: a violation that does not validate is a
//! [`Bug`], never a verdict.
//!
//! What to read next: `SOUNDNESS.md` says for every route which properties it decides and why.

mod branching;
mod explicit;
mod fairness;
mod silence;
mod timers;
mod warnings;

use std::sync::Arc;

use base::{Budget, Checkpoints, Diagnostic, Fairness, Progress};
use engine::Stats;
use evidence::{Branching, Invalid, Verdict};
use logic::{NamedProperty, Property};
use model::Model;

pub use fairness::effective_fairness;
pub use timers::TimerFairness;
pub use warnings::needless_annotations;

/// How a property is to be checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The fairness that the user asks for; without it, what the property or the model says.
    pub fairness: Option<Fairness>,
    /// May steps be left out where that cannot change the verdict (partial-order reduction)? Counts
    /// are then those of the reduced system and runs are not always shortest.
    pub reduce: bool,
    /// Keep only a few bits of each state, in this many bytes? Then nothing follows from finding
    /// nothing.
    pub bitstate: Option<u64>,
    /// Where searches keep their state, and go on from.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    /// What the check may spend.
    pub budget: Budget,
    /// How abstract timers are kept from staying above their thresholds for ever.
    pub timer_fairness: TimerFairness,
    /// Read fairness on may/must systems as if nothing were unknown. Unsound; for demonstrations.
    pub naive: bool,
}

/// The answer to a property.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict with its evidence.
    pub verdict: Verdict,
    /// Which route gave it.
    pub route: &'static str,
    /// The fairness under which it holds.
    pub fairness: Fairness,
    /// What was explored.
    pub stats: Stats,
    /// Runs that show why a formula of CTL* holds in the first initial state.
    pub branching: Option<Branching>,
    /// What else is to be said about the verdict.
    pub remarks: Vec<String>,
    /// Reasons to distrust the question, not the answer.
    pub warnings: Vec<Diagnostic>,
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
        return Ok(branching::check_may_must(model, property, question, plan));
    }
    if model.abstract_timers().next().is_some() {
        return timers::check(model, property, fairness, plan, progress);
    }
    check_explicitly(model, property, fairness, plan, progress)
}

/// Decides by visiting every state, and has violations confirmed.
fn check_explicitly(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let mut outcome = explicit::check(model, property, fairness, plan, progress);
    confirm(model, property, &outcome)?;
    if matches!(outcome.verdict, Verdict::Holds { .. }) {
        let found = warnings::warnings(model, property, fairness, &outcome.stats, plan);
        outcome.warnings.extend(found);
    }
    Ok(outcome)
}

fn confirm(model: &Model, property: &NamedProperty, outcome: &Outcome) -> Result<(), Bug> {
    let assumptions = &model.parts().assumptions;
    let fairness = outcome.fairness;
    let confirmed = match (&outcome.verdict, &property.property) {
        (Verdict::Violated(violation), question) => {
            evidence::validate(model, question, fairness, assumptions, violation)
        }
        (
            Verdict::Holds {
                witness: Some(witness),
            },
            question,
        ) => evidence::validate_witness(model, question, witness),
        (Verdict::Holds { witness: None }, Property::CtlStar(formula)) => {
            let shown = outcome.branching.as_ref();
            shown.map_or(Ok(()), |shown| {
                evidence::validate_branching(model, formula, fairness, assumptions, shown)
            })
        }
        (Verdict::Holds { witness: None } | Verdict::Unknown(_), _) => Ok(()),
    };
    confirmed.map_err(|invalid| Bug {
        property: property.name.clone(),
        invalid,
    })
}
