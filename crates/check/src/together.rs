//! One exploration for all invariants, reachability and deadlock questions about a system.
//!
//! The questions are goals of one breadth-first search ([`Goal::Several`]), which goes on until all
//! are met. A goal is met first where a search for it alone would meet it, so verdicts, shortest runs
//! and counts are the same; only the time is shared. Where a search for one question would do
//! something else (leave steps out, keep its state, go on after a run-time error in the atoms of
//! another question), the question is left to a search of its own.

use base::{AtomId, Fairness, Progress, Route, StopReason};
use engine::{Exploration, Explored, Found, Goal, Met, Stats};
use evidence::{UnknownReason, Verdict, ViolationKind};
use logic::{NamedProperty, Property};
use model::Model;

use crate::explicit::{self, violated};
use crate::fairness::{has_too_many_conditions, is_machine_closed};
use crate::{Outcome, Plan, Reduction, effective_fairness, predicate};

/// A question that an exploration can answer.
pub(crate) struct Asked<'q> {
    property: &'q NamedProperty,
    fairness: Fairness,
    goal: Goal,
}

impl<'q> Asked<'q> {
    /// The question about this property, if an exploration answers it.
    pub(crate) fn new(model: &Model, property: &'q NamedProperty, plan: &Plan) -> Option<Self> {
        let fairness = effective_fairness(model, property, plan.fairness);
        let goal = match &property.property {
            Property::Invariant(_) if has_too_many_conditions(model, fairness).is_some() => {
                return None;
            }
            Property::Invariant(formula) => {
                let conditions = model.fairness_conditions(fairness);
                if !is_machine_closed(model, &conditions) {
                    return None;
                }
                Goal::Satisfies(logic::propositional(&formula.negate())?)
            }
            Property::Reachable(formula) => Goal::Satisfies(logic::propositional(formula)?),
            Property::DeadlockFree => Goal::Deadlock,
            Property::Ltl(_) | Property::Never(_) | Property::CtlStar(_) | Property::MayMust(_) => {
                return None;
            }
        };
        Some(Self {
            property,
            fairness,
            goal,
        })
    }

    fn atoms(&self) -> Vec<AtomId> {
        match &self.property.property {
            Property::Invariant(formula) | Property::Reachable(formula) => formula.atoms(),
            _ => Vec::new(),
        }
    }

    /// The answer, given where the goal was met in an exploration that came to its end.
    fn outcome(&self, met: Option<Met>, stats: &Stats) -> Outcome {
        let mut stats = stats.clone();
        let verdict = match (&self.property.property, met) {
            (Property::Reachable(_), None) => violated(ViolationKind::Unreachable, None),
            (_, None) => Verdict::Holds { witness: None },
            (property, Some(met)) => {
                stats.n_states = met.n_states;
                stats.n_transitions = met.n_transitions;
                match property {
                    Property::Reachable(_) => Verdict::Holds {
                        witness: Some(met.trace),
                    },
                    Property::DeadlockFree => violated(ViolationKind::Deadlock, Some(met.trace)),
                    _ => violated(ViolationKind::BadPrefix, Some(met.trace)),
                }
            }
        };
        Outcome {
            stats,
            ..Outcome::new(Route::Explicit, self.fairness, verdict)
        }
    }
}

/// Do searches of this plan visit all states of the model, one after the other?
pub(crate) fn is_possible(model: &Model, plan: &Plan) -> bool {
    let is_explicit = match plan.route {
        None => !predicate::has_unbounded_integers(model),
        Some(route) => route == Route::Explicit,
    };
    let is_complete = match plan.reduction {
        Reduction::None | Reduction::Auto { .. } => true,
        Reduction::Chosen(_) => false,
    };
    is_explicit
        && is_complete
        && plan.bitstate.is_none()
        && plan.sets.is_none()
        && plan.checkpoints.is_none()
        && model.abstract_timers().next().is_none()
        && model.unbounded().is_none()
}

/// Explores once for several questions; nothing for those that need a search of their own.
pub(crate) fn explore(
    model: &Model,
    asked: &[Asked<'_>],
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Vec<Option<Outcome>> {
    let nothing = || asked.iter().map(|_| None).collect();
    let Ok(mut system) = explicit::compiled(model, plan) else {
        return nothing();
    };
    let mut atoms: Vec<AtomId> = asked.iter().flat_map(Asked::atoms).collect();
    atoms.sort_unstable();
    atoms.dedup();

    // A search that becomes large shall look for reductions, which differ from question to question.
    let budget = match plan.reduction {
        Reduction::Auto { after } => plan.budget.clone().with_trial_states(after),
        Reduction::None | Reduction::Chosen(_) => plan.budget.clone(),
    };
    let goal = Goal::Several(asked.iter().map(|asked| asked.goal.clone()).collect());
    let exploration = Exploration {
        atoms: &atoms,
        goal: &goal,
        reduce: false,
        checkpoints: None,
    };
    let Ok(explored) = engine::explore(&mut system, &exploration, &budget, progress) else {
        return nothing();
    };

    let Explored { found, met, stats } = explored;
    let unknown = |asked: &Asked<'_>, reason| Outcome {
        stats: stats.clone(),
        ..Outcome::unknown(
            Route::Explicit,
            asked.fairness,
            UnknownReason::Stopped(reason),
        )
    };
    let is_full = |reason| matches!(reason, StopReason::StateLimit | StopReason::MemoryLimit);
    let answers = asked
        .iter()
        .zip(met)
        .map(|(asked, met)| match (met, &found) {
            (Some(met), _) => Some(asked.outcome(Some(met), &stats)),
            (None, Found::Nothing) => Some(asked.outcome(None, &stats)),
            (None, Found::Stopped(reason))
                if plan.reduction == Reduction::None || !is_full(*reason) =>
            {
                Some(unknown(asked, *reason))
            }
            // Which atoms a run-time error is in matters, and so does what a single search would do next.
            (None, Found::Stopped(_) | Found::Failure(_) | Found::Goal(_)) => None,
        });
    answers.collect()
}
