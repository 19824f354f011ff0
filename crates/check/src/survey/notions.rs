//! Properties under several notions of fairness, from one exploration.

use std::rc::Rc;

use base::{Fairness, FairnessKind, Progress, Route};
use engine::Stats;
use evidence::{UnknownReason, Verdict};
use logic::{CtlStar, NamedProperty, Property};
use model::{Condition, Model};
use omega::{Acceptance, Closure, Component};

use super::bad_loops::{BadLoops, forbidden_runs, meets};
use super::{Survey, Surveyed};
use crate::branching::{BranchingObstacle, FairGraph};
use crate::fairness::{has_too_many_conditions, is_machine_closed};
use crate::{Bug, Outcome, Plan, warnings};

/// Checks each property under each notion: one row for each property, one outcome for each notion.
///
/// The system is explored once for all of them, without reductions, where every state can be
/// visited; else each question is asked for itself.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn check_notions(
    model: &Model,
    properties: &[&NamedProperty],
    notions: &[Fairness],
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Vec<Vec<Outcome>>, Bug> {
    let one_by_one = |property: &NamedProperty, progress: &mut dyn Progress| {
        let outcomes = notions.iter().map(|&fairness| {
            let plan = Plan {
                fairness: Some(fairness),
                ..plan.clone()
            };
            crate::check(model, property, &plan, progress)
        });
        outcomes.collect::<Result<Vec<_>, Bug>>()
    };

    let has_too_many = |notion: &Fairness| has_too_many_conditions(model, *notion).is_some();
    let can_share = is_finite(model, plan) && !notions.iter().any(has_too_many);
    let is_shared = |property: &NamedProperty| {
        can_share && depends_on_fairness(model, &property.property, notions)
    };
    let shared: Vec<&NamedProperty> = properties
        .iter()
        .copied()
        .filter(|p| is_shared(p))
        .collect();
    let mut decided = Vec::new();
    if !shared.is_empty() {
        decided = check_shared(model, &shared, notions, plan, progress)?;
    }

    let mut decided = decided.into_iter();
    let mut rows = Vec::new();
    for &property in properties {
        rows.push(if is_shared(property) {
            decided.next().expect("one row for each shared property")
        } else if can_share && !matches!(property.property, Property::MayMust(_)) {
            once_for_all(model, property, notions, plan, progress)?
        } else {
            one_by_one(property, progress)?
        });
    }

    Ok(rows)
}

/// Can every state be visited and kept?
pub(super) fn is_finite(model: &Model, plan: &Plan) -> bool {
    let is_explicit = matches!(plan.route, None | Some(Route::Explicit));
    let is_kept = plan.bitstate.is_none() && plan.sets.is_none() && plan.checkpoints.is_none();
    let has_timers = model.abstract_timers().next().is_some();
    let is_open = model.unbounded().is_some() || crate::predicate::has_unbounded_integers(model);
    is_explicit && is_kept && !has_timers && !is_open
}

/// Can the verdict differ from notion to notion?
fn depends_on_fairness(model: &Model, property: &Property, notions: &[Fairness]) -> bool {
    match property {
        Property::Ltl(_) | Property::Never(_) | Property::CtlStar(_) => true,
        // Where every finite run can be continued to a fair one, each bad state is on a fair run.
        Property::Invariant(_) => notions
            .iter()
            .any(|&notion| !is_machine_closed(model, &model.fairness_conditions(notion))),
        Property::Reachable(_) | Property::DeadlockFree | Property::MayMust(_) => false,
    }
}

/// Fairness makes no difference to the property.
fn once_for_all(
    model: &Model,
    property: &NamedProperty,
    notions: &[Fairness],
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Vec<Outcome>, Bug> {
    let plan = Plan {
        fairness: notions.first().copied(),
        ..plan.clone()
    };
    let outcome = crate::check(model, property, &plan, progress)?;
    let under = |&fairness: &Fairness| Outcome {
        fairness,
        ..outcome.clone()
    };
    Ok(notions.iter().map(under).collect())
}

fn check_shared(
    model: &Model,
    properties: &[&NamedProperty],
    notions: &[Fairness],
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Vec<Vec<Outcome>>, Bug> {
    let all: Vec<Condition> = notions
        .iter()
        .flat_map(|&notion| model.fairness_conditions(notion))
        .collect();
    let mut atoms: Vec<_> = properties
        .iter()
        .flat_map(|property| atoms(&property.property))
        .collect();
    atoms.sort_unstable();
    atoms.dedup();

    let surveyed = Survey::explore(model, &all, &atoms, plan, progress);
    // An error in a proposition of one property says nothing about the others.
    let is_error = matches!(surveyed, Surveyed::Decided(Verdict::Violated(_), _));
    if is_error && properties.len() > 1 {
        drop(surveyed);
        let mut rows = Vec::new();
        for property in properties {
            rows.extend(check_shared(model, &[*property], notions, plan, progress)?);
        }
        return Ok(rows);
    }

    let mut survey = match surveyed {
        Surveyed::Graph(survey) => survey,
        Surveyed::Decided(verdict, stats) => {
            let outcome = |&fairness: &Fairness| Outcome {
                stats: stats.clone(),
                ..Outcome::new(Route::Explicit, fairness, verdict.clone())
            };
            let row = |property: &&NamedProperty| {
                let outcomes = notions.iter().map(outcome);
                outcomes
                    .map(|found| finished(model, property, found))
                    .collect()
            };
            return properties.iter().map(row).collect();
        }
    };

    let mut rows = Vec::new();
    for property in properties {
        let verdicts = match &property.property {
            Property::CtlStar(formula) => branching_verdicts(&mut survey, formula, notions),
            other => linear_verdicts(&survey, other, notions),
        };
        rows.push(row(
            model,
            property,
            notions,
            plan,
            &survey.stats,
            verdicts,
        )?);
    }
    Ok(rows)
}

/// A verdict, with runs that show why a formula with path quantifiers holds.
type Found = (Verdict, Option<evidence::Branching>);

/// Has the verdicts confirmed, and adds warnings.
fn row(
    model: &Model,
    property: &NamedProperty,
    notions: &[Fairness],
    plan: &Plan,
    stats: &Stats,
    verdicts: Vec<Found>,
) -> Result<Vec<Outcome>, Bug> {
    let mut outcomes = Vec::new();
    let mut is_warned = false;
    for (&fairness, (verdict, branching)) in notions.iter().zip(verdicts) {
        let outcome = Outcome {
            stats: stats.clone(),
            branching,
            ..Outcome::new(Route::Explicit, fairness, verdict)
        };
        let mut outcome = finished(model, property, outcome)?;
        if outcome.holds() {
            let found = if is_warned {
                warnings::vacuous(model, property, fairness, stats, plan)
                    .into_iter()
                    .collect()
            } else {
                warnings::warnings(model, property, fairness, stats, plan)
            };
            outcome.warnings.extend(found);
            is_warned = true;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn finished(model: &Model, property: &NamedProperty, mut outcome: Outcome) -> Result<Outcome, Bug> {
    outcome.give_up_where_exhausted();
    outcome.confirm(model, property)?;
    Ok(outcome)
}

fn unknown(reason: UnknownReason) -> Found {
    (Verdict::Unknown(reason), None)
}

/// A property of single runs under each notion.
fn linear_verdicts(
    survey: &Survey<'_, '_>,
    property: &Property,
    notions: &[Fairness],
) -> Vec<Found> {
    let forbidden = forbidden_runs(property).expect("the property is about single runs");
    let loops = match forbidden {
        Ok(automaton) => BadLoops::new(survey, automaton, &[]).map_err(UnknownReason::Stopped),
        Err(why) => Err(UnknownReason::Unsupported(why)),
    };
    let mut loops = match loops {
        Ok(loops) => loops,
        Err(reason) => return notions.iter().map(|_| unknown(reason.clone())).collect(),
    };

    let mut judged = Judged {
        survey,
        found: Vec::new(),
        holding: Vec::new(),
    };
    let mut verdicts: Vec<Option<Verdict>> = vec![None; notions.len()];
    let mut violated = Vec::new();
    for position in strongest_first(notions) {
        match judged.judge(&mut loops, notions[position]) {
            Ok(None) => verdicts[position] = Some(Verdict::Holds { witness: None }),
            Ok(Some(component)) => violated.push((position, component)),
            Err(stop) => verdicts[position] = Some(Verdict::Unknown(UnknownReason::Stopped(stop))),
        }
    }

    // A run that takes every step can be long, so that others are made before it.
    violated.sort_by_key(|(position, _)| closure(notions[*position]) == Closure::OnSystem);
    for (position, component) in violated {
        let notion = notions[position];
        let shown = loops.violation(&component, &judged.fairness(notion), closure(notion));
        verdicts[position] = Some(match shown {
            Ok(violation) => Verdict::Violated(Box::new(violation)),
            Err(stop) => Verdict::Unknown(UnknownReason::Stopped(stop)),
        });
    }

    let decided = verdicts.into_iter();
    decided
        .map(|verdict| (verdict.expect("each notion is judged"), None))
        .collect()
}

/// `none` first, because what holds under it holds under all; then stronger ones before weaker ones,
/// because a loop that a stronger notion allows is allowed by the weaker.
fn strongest_first(notions: &[Fairness]) -> Vec<usize> {
    let rank = |kind: FairnessKind| FairnessKind::ALL.iter().position(|other| *other == kind);
    let mut order: Vec<usize> = (0..notions.len()).collect();
    order.sort_by_key(|&position| {
        let notion = notions[position];
        (
            notion != Fairness::NONE,
            std::cmp::Reverse(rank(notion.kind)),
            !notion.annotated,
        )
    });
    order
}

/// What is known about some notions helps with others.
struct Judged<'s, 'a, 'm> {
    survey: &'s Survey<'a, 'm>,
    /// Forbidden parts of the product that some notion allows.
    found: Vec<Rc<Component>>,
    /// Notions under which the property holds: their conditions, and whether they are global.
    holding: Vec<(Vec<usize>, bool)>,
}

impl Judged<'_, '_, '_> {
    /// What the conditions of a notion demand of the marks of a loop.
    fn fairness(&self, notion: Fairness) -> Acceptance {
        let conditions = self.survey.check.model.fairness_conditions(notion);
        self.survey.demanded(&conditions)
    }

    /// A forbidden part of the product that the notion allows.
    fn judge(
        &mut self,
        loops: &mut BadLoops<'_, '_, '_>,
        notion: Fairness,
    ) -> Result<Option<Rc<Component>>, base::StopReason> {
        let conditions = self.survey.check.model.fairness_conditions(notion);
        let chosen = self.survey.positions(&conditions);
        let fairness = self.fairness(notion);
        let closure = closure(notion);
        let is_global = closure == Closure::OnSystem;

        // What demands more allows fewer runs.
        let is_weaker = |(known, global): &(Vec<usize>, bool)| {
            (is_global || !global) && known.iter().all(|position| chosen.contains(position))
        };
        if self.holding.iter().any(is_weaker) {
            return Ok(None);
        }

        let known = self
            .found
            .iter()
            .find(|component| !is_global && meets(component, &fairness));
        if let Some(component) = known {
            return Ok(Some(Rc::clone(component)));
        }
        let found = loops.find(&fairness, closure)?.map(Rc::new);
        if found.is_none() {
            self.holding.push((chosen, is_global));
        }
        self.found.extend(found.clone());
        Ok(found)
    }
}

/// A formula with path quantifiers under each notion.
fn branching_verdicts(
    survey: &mut Survey<'_, '_>,
    formula: &CtlStar,
    notions: &[Fairness],
) -> Vec<Found> {
    let mut verdicts = Vec::new();
    for &notion in notions {
        let conditions = survey.check.model.fairness_conditions(notion);
        let chosen = survey.positions(&conditions);
        let frame = FairGraph {
            graph: &survey.graph,
            acceptance: survey
                .graph
                .acceptance_of(&|position| chosen.contains(&position)),
            closure: closure(notion),
            always_continues: is_machine_closed(survey.check.model, &conditions),
        };
        survey.check.branching = None;
        let judged = survey
            .check
            .judge(&frame, formula, &survey.atoms, &mut survey.stats);
        verdicts.push(match judged {
            Ok(verdict) => (verdict, survey.check.branching.take()),
            Err(BranchingObstacle::Stopped(reason)) => unknown(UnknownReason::Stopped(reason)),
            Err(BranchingObstacle::Unsupported(why)) => unknown(UnknownReason::Unsupported(why)),
        });
    }
    verdicts
}

pub(super) fn closure(notion: Fairness) -> Closure {
    if notion.kind == FairnessKind::StrongGlobal {
        Closure::OnSystem
    } else {
        Closure::None
    }
}

pub(super) fn atoms(property: &Property) -> Vec<base::AtomId> {
    match property {
        Property::Ltl(f) | Property::Invariant(f) | Property::Reachable(f) => f.atoms(),
        Property::CtlStar(formula) => formula.atoms(),
        Property::Never(claim) => claim.atoms(),
        Property::DeadlockFree | Property::MayMust(_) => Vec::new(),
    }
}
