//! Reductions of searches, and when a search makes use of them without being asked to.
//!
//! The counts of a complete search are exact and its runs are shortest, so a search starts complete.
//! If it becomes large ([`REDUCE_AFTER`]), it is interrupted once to find out which reductions make a
//! difference to this question; where one does, the search is given up and started again with these,
//! else it goes on as if nothing had happened. So little is lost where nothing can be won, and at
//! most the time for that many states where it can.
//!
//! *Does it make a difference?* Both kinds of reductions are tried on the beginning of the state
//! space ([`TRIAL_STATES`]):
//!
//! - leaving out steps, if it is possible in a good part of the states that a reduced search meets;
//! - taking states for one, by comparing how many states there are up to some distance from the
//!   initial ones. Representatives are as far from initial states as what they stand for, because
//!   both have the same steps, so the numbers are about the same part of the system.
//!
//! Where none does, what is asked for may lie deep: a breadth-first search meets it only after
//! everything above. So a search depth first visits some states ([`DIVE_STATES`]), with bits for
//! them; if that meets a goal, a deadlock or an error, the large search is not needed any more.
//!
//! Soundness is not a concern of this module: what a reduced search answers is as trustworthy as if the
//! reduction had been asked for (`SOUNDNESS.md`).

use std::sync::{Arc, OnceLock};

use base::{Budget, Fairness, Progress, Review, Snapshot, StopReason};
use engine::{Differences, Exploration, Goal, System};
use evidence::{UnknownReason, Verdict};
use logic::{NamedProperty, Property};
use model::Model;

use crate::explicit::{self, Check};
use crate::{Outcome, Plan};

/// After how many states (product states where there is a product) a search should look for
/// reductions: some seconds of time, and less memory than any machine has.
pub const REDUCE_AFTER: u64 = 10_000_000;

/// On how many states reductions are tried.
const TRIAL_STATES: u64 = 100_000;

/// How many states are visited depth first: less than half of those that were visited before.
const DIVE_STATES: u64 = 4_000_000;

/// The bytes of bits for these states: hardly any two share all their bits.
const DIVE_BYTES: u64 = 32 << 20;

/// Steps are left out if that is possible in one of this many states, and states taken for one if at
/// least one of this many disappears.
const MIN_SHARE: u64 = 10;

/// Whether searches leave anything out. Verdicts do not depend on it; where something is left out,
/// counts are those of the reduced system and runs are not always shortest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reduction {
    /// Nothing is left out.
    #[default]
    None,
    /// What these reductions leave out, where that is sound.
    Chosen(Reductions),
    /// Nothing at first. A search that becomes large is started again with the reductions that make
    /// it smaller, if there are any.
    Auto {
        /// After how many states; [`REDUCE_AFTER`] is a good number.
        after: u64,
    },
}

impl Reduction {
    /// All reductions from the start.
    pub const ALL: Self = Self::Chosen(Reductions::ALL);

    /// The reductions that a search begins with.
    #[must_use]
    pub fn chosen(self) -> Reductions {
        match self {
            Self::Chosen(reductions) => reductions,
            Self::None | Self::Auto { .. } => Reductions::NONE,
        }
    }
}

/// Ways of making a search smaller without changing its verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Leave out steps that can wait.
    pub partial_order: bool,
    /// Take states for one that differ in which of several interchangeable processes plays which
    /// part.
    pub symmetry: bool,
    /// Take states for one that differ in values that are never read again.
    pub dead_variables: bool,
}

impl Reductions {
    /// None of them.
    pub const NONE: Self = Self {
        partial_order: false,
        symmetry: false,
        dead_variables: false,
    };

    /// All of them.
    pub const ALL: Self = Self {
        partial_order: true,
        symmetry: true,
        dead_variables: true,
    };

    /// These and others.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            partial_order: self.partial_order || others.partial_order,
            symmetry: self.symmetry || others.symmetry,
            dead_variables: self.dead_variables || others.dead_variables,
        }
    }

    /// Their names on the command line and in reports.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.partial_order, "partial-order"),
            (self.symmetry, "symmetry"),
            (self.dead_variables, "dead-variables"),
        ];
        all.into_iter().filter(|(on, _)| *on).map(|n| n.1).collect()
    }
}

/// Checks a property by visiting states: all, or if the plan provides for that and they are many,
/// those that are left by the reductions that make a difference.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Outcome {
    let Some(after) = switches_after(property, plan) else {
        return explicit::check(model, property, fairness, plan, progress);
    };
    let found = Arc::new(OnceLock::new());
    let trial = Trial {
        model: model.clone(),
        property: property.clone(),
        fairness,
        all_code: plan.all_code,
        budget: plan.budget.clone().with_threads(1),
    };

    let answer = Arc::clone(&found);
    let shall_end = move || !matches!(answer.get_or_init(|| trial.advice()), Advice::GoOn);
    let review = Arc::new(Review::new(after, Box::new(shall_end)));
    let first = Plan {
        budget: plan.budget.clone().with_review(Arc::clone(&review)),
        ..plan.clone()
    };
    let outcome = explicit::check(model, property, fairness, &first, progress);

    if !review.has_ended() || !is_given_up(&outcome) {
        return outcome;
    }
    match found.get() {
        Some(&Advice::Reduce(reductions)) => {
            let plan = going_on(plan, reductions);
            let mut again = Again(progress);
            let mut reduced = explicit::check(model, property, fairness, &plan, &mut again);
            reduced
                .remarks
                .push(remark(after, outcome.stats.n_states, reductions));
            let peak = outcome.stats.memory_bytes.max(reduced.stats.memory_bytes);
            reduced.stats.memory_bytes = peak;
            reduced
        }
        Some(Advice::Done(dived)) => {
            let mut dived = Outcome::clone(dived);
            // Its counts are not those of the system.
            dived.stats.reduced = true;
            let after = stopped_after(after, outcome.stats.n_states);
            dived.remarks.push(format!(
                "after {after} the search was started again depth first; the run is not a shortest one"
            ));
            dived
        }
        Some(Advice::GoOn) | None => outcome,
    }
}

/// What a large search should do.
enum Advice {
    GoOn,
    /// Start again with these reductions.
    Reduce(Reductions),
    /// The question is answered.
    Done(Box<Outcome>),
}

/// The plan for further searches about a question whose search made use of these reductions.
pub(crate) fn going_on(plan: &Plan, reductions: Reductions) -> Plan {
    let mut further = plan.clone();
    if reductions != Reductions::NONE && plan.reduction.chosen() == Reductions::NONE {
        further.reduction = Reduction::Chosen(reductions);
    }
    further
}

/// After how many states to look for reductions, if at all: not where they are used anyway or cannot
/// be, and not where the state of the search is kept, which belongs to one search.
fn switches_after(property: &NamedProperty, plan: &Plan) -> Option<u64> {
    let Reduction::Auto { after } = plan.reduction else {
        return None;
    };
    let is_hopeless = matches!(
        property.property,
        Property::CtlStar(_) | Property::MayMust(_)
    );
    let is_elsewhere = plan.bitstate.is_some() || plan.sets.is_some();
    let is_fixed = is_elsewhere || plan.checkpoints.is_some() || is_hopeless;
    (!is_fixed).then_some(after)
}

/// Did the search end for lack of room, as one does that is told to?
fn is_given_up(outcome: &Outcome) -> bool {
    let Verdict::Unknown(UnknownReason::Stopped(reason)) = outcome.verdict else {
        return false;
    };
    matches!(reason, StopReason::StateLimit | StopReason::MemoryLimit)
}

/// What was done; fewer states than there might have been are due to the memory that they took.
fn remark(after: u64, n_states: u64, reductions: Reductions) -> String {
    let names: Vec<&str> = reductions
        .names()
        .into_iter()
        .map(|name| match name {
            "partial-order" => "partial-order reduction",
            "dead-variables" => "reduction by dead variables",
            _ => "symmetry reduction",
        })
        .collect();
    let when = stopped_after(after, n_states);
    format!(
        "after {when} the search was started again with {}; \
         counts are those of the reduced system, `--reduce=none` gives exact ones",
        names.join(" and ")
    )
}

fn stopped_after(after: u64, n_states: u64) -> String {
    if n_states < after {
        format!(
            "{} states, which took half of the memory,",
            with_commas(n_states)
        )
    } else {
        format!("{} states", with_commas(after))
    }
}

/// A number with its digits in groups of three.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Says in the progress of a search that it is the second one.
struct Again<'a>(&'a mut dyn Progress);

impl Progress for Again<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        let phase = match snapshot.phase {
            "exploring" => "exploring again, reduced",
            "searching fair cycles" => "searching fair cycles again, reduced",
            other => other,
        };
        self.0.report(&Snapshot { phase, ..*snapshot });
    }
}

/// What a trial of the reductions needs to know about a question.
struct Trial {
    model: Model,
    property: NamedProperty,
    fairness: Fairness,
    all_code: bool,
    budget: Budget,
}

impl Trial {
    fn advice(&self) -> Advice {
        let reductions = self.reductions();
        if reductions != Reductions::NONE {
            return Advice::Reduce(reductions);
        }
        self.dive().map_or(Advice::GoOn, Advice::Done)
    }

    /// What a search depth first finds. Loops are not found like this.
    fn dive(&self) -> Option<Box<Outcome>> {
        match self.property.property {
            Property::Reachable(_) | Property::Invariant(_) | Property::DeadlockFree => {}
            Property::Ltl(_) | Property::Never(_) | Property::CtlStar(_) | Property::MayMust(_) => {
                return None;
            }
        }
        let plan = Plan {
            bitstate: Some(DIVE_BYTES),
            all_code: self.all_code,
            budget: self.budget.clone().with_trial_states(DIVE_STATES),
            ..Plan::default()
        };
        let mut silence = base::NoProgress;
        let dived = explicit::check(
            &self.model,
            &self.property,
            self.fairness,
            &plan,
            &mut silence,
        );
        (!matches!(dived.verdict, Verdict::Unknown(_))).then(|| Box::new(dived))
    }

    /// The reductions that make a difference.
    fn reductions(&self) -> Reductions {
        let plan = Plan {
            reduction: Reduction::ALL,
            all_code: self.all_code,
            budget: self.budget.clone().with_trial_states(TRIAL_STATES),
            ..Plan::default()
        };

        let mut silence = base::NoProgress;
        let check = Check::new(
            &self.model,
            &self.property.property,
            self.fairness,
            &plan,
            &mut silence,
        );

        let Ok(mut check) = check else {
            return Reductions::NONE;
        };
        let Ok((verdict, stats)) = check.decide(&self.property.property) else {
            return Reductions::NONE;
        };
        let found = check.reduced(&stats);

        // If it was, a small search is enough where the one that asks is large already.
        let is_decided = !matches!(verdict, Verdict::Unknown(_));
        let is_common = stats.n_reduced_states.saturating_mul(MIN_SHARE) >= stats.n_states;
        let merges = self.merges_states(&mut check.system, &plan);
        Reductions {
            partial_order: found.partial_order && (is_decided || is_common),
            symmetry: found.symmetry && merges,
            dead_variables: found.dead_variables && merges,
        }
    }

    /// Are there fewer representatives than states, up to the same distance?
    fn merges_states(&self, reduced: &mut System<'_>, plan: &Plan) -> bool {
        if reduced.forgotten() == Differences::default() {
            return false;
        }
        let Ok(mut complete) = explicit::compiled(&self.model, plan) else {
            return false;
        };
        let some = Levels::of(reduced, &plan.budget).0;
        let all = Levels::of(&mut complete, &plan.budget).0;
        let counts = some.iter().zip(&all).next_back();
        counts
            .is_some_and(|(some, all)| all.saturating_sub(*some).saturating_mul(MIN_SHARE) >= *all)
    }
}

/// How many states there are up to each distance from the initial ones.
struct Levels(Vec<u64>);

impl Levels {
    fn of(system: &mut System<'_>, budget: &Budget) -> Self {
        let mut levels = Self(Vec::new());
        let exploration = Exploration {
            atoms: &[],
            goal: &Goal::Nothing,
            reduce: false,
            checkpoints: None,
        };
        // What is compiled here was compiled before; as far as the search came is far enough.
        let _ = engine::explore(system, &exploration, budget, &mut levels);
        levels
    }
}

/// When a level is begun, its states are stored and none behind it.
impl Progress for Levels {
    fn report(&mut self, snapshot: &Snapshot) {
        if snapshot.depth == self.0.len() as u64 {
            self.0.push(snapshot.n_states);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remark_says_what_was_done() {
        let reductions = Reductions {
            dead_variables: false,
            ..Reductions::ALL
        };
        assert_eq!(
            remark(REDUCE_AFTER, REDUCE_AFTER + 1, reductions),
            "after 10,000,000 states the search was started again with partial-order reduction \
             and symmetry reduction; counts are those of the reduced system, \
             `--reduce=none` gives exact ones"
        );
        let shown: Vec<String> = [7, 999, 1000, 12_345_678].map(with_commas).into();
        assert_eq!(shown, ["7", "999", "1,000", "12,345,678"]);
    }
}
