//! Does what excludes one counterexample exclude them all?
//!
//! A loop that violates a property says which fairness it is not fair to. That fairness need not
//! suffice, because there may be other loops; it is tried out on a small graph.

use base::{Fairness, FairnessKind, NoProgress};
use evidence::{Exclusion, Shown};
use logic::NamedProperty;
use model::{ActionId, Condition, ConditionKind, InstanceId, Model, Subject};

use super::bad_loops::{BadLoops, forbidden_runs};
use super::notions::{atoms, closure, is_finite};
use super::{Survey, Surveyed};
use crate::{Outcome, Plan};

/// Larger systems are not explored once more for advice.
const MAX_STATES: u64 = 20_000;

/// A notion of fairness that a loop is not fair to, and whether it makes the property true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestedExclusion {
    /// What excludes the loop.
    pub exclusion: Exclusion,
    /// Does the property hold with this condition alone, besides what is assumed anyway?
    pub alone: bool,
    /// Does it hold under the notion for the whole system?
    pub notion: bool,
}

/// Tries out what excludes the loop of a counterexample. Nothing if the outcome does not show a fair
/// loop, or if the system is not small.
#[must_use]
pub fn test_exclusions(
    model: &Model,
    property: &NamedProperty,
    outcome: &Outcome,
    plan: &Plan,
) -> Option<Vec<TestedExclusion>> {
    let Shown::Run(run) = outcome.explanation.shown() else {
        return None;
    };
    let is_small = outcome.stats.n_states <= MAX_STATES;
    if run.excluded_by.is_empty() || !is_small || !is_finite(model, plan) {
        return None;
    }
    let automaton = forbidden_runs(&property.property)?.ok()?;

    // Where weak fairness of a subject excludes the loop, strong fairness of it may be needed.
    let exclusions: Vec<Exclusion> = run.excluded_by.iter().flat_map(with_stronger).collect();

    let assumed = model.fairness_conditions(outcome.fairness);
    let under = |notion: FairnessKind| Fairness {
        kind: notion,
        ..outcome.fairness
    };
    let mut conditions = assumed.clone();
    conditions.extend(exclusions.iter().filter_map(|e| condition(model, e)));
    conditions.extend(
        exclusions
            .iter()
            .flat_map(|e| model.fairness_conditions(under(e.notion))),
    );

    let plan = Plan {
        budget: plan.budget.clone().with_trial_states(2 * MAX_STATES),
        ..plan.clone()
    };
    let mut silent = NoProgress;
    let mentioned = atoms(&property.property);
    let surveyed = Survey::explore(model, &conditions, &mentioned, &plan, &mut silent);
    let Surveyed::Graph(survey) = surveyed else {
        return None;
    };
    let mut loops = BadLoops::new(&survey, automaton, &[]).ok()?;
    let mut holds = |conditions: &[Condition], fairness: Fairness| {
        let chosen = survey.positions(conditions);
        let demanded = survey
            .graph
            .acceptance_of(&|position| chosen.contains(&position));
        Some(loops.find(&demanded, closure(fairness)).ok()?.is_none())
    };

    let mut tested: Vec<TestedExclusion> = Vec::new();
    let mut notions: Vec<(FairnessKind, bool)> = Vec::new();
    for exclusion in exclusions {
        let is_weaker = |other: &TestedExclusion| {
            let is_same = other.exclusion.subject == exclusion.subject;
            is_same && exclusion.notion.implies(other.exclusion.notion)
        };
        let helps = |other: &TestedExclusion| other.alone || other.notion;
        if tested.iter().any(|other| is_weaker(other) && helps(other)) {
            continue;
        }
        let notion = under(exclusion.notion);
        let known = notions.iter().find(|(kind, _)| *kind == notion.kind);
        let whole = match known {
            Some((_, whole)) => *whole,
            None => holds(&model.fairness_conditions(notion), notion)?,
        };
        notions.push((notion.kind, whole));
        let alone = match condition(model, &exclusion) {
            None => false,
            Some(condition) => {
                let mut more = assumed.clone();
                more.push(condition);
                holds(&more, outcome.fairness)?
            }
        };
        tested.push(TestedExclusion {
            exclusion,
            alone,
            notion: whole,
        });
    }
    Some(tested)
}

/// What excludes a loop, and the next stronger fairness of the same subject.
fn with_stronger(exclusion: &Exclusion) -> Vec<Exclusion> {
    let stronger = match exclusion.notion {
        FairnessKind::Weak => Some(FairnessKind::Strong),
        FairnessKind::WeakProcess => Some(FairnessKind::StrongProcess),
        FairnessKind::None
        | FairnessKind::Just
        | FairnessKind::StrongProcess
        | FairnessKind::Strong
        | FairnessKind::StrongGlobal => None,
    };
    let stronger = stronger.map(|notion| Exclusion {
        notion,
        ..exclusion.clone()
    });
    [exclusion.clone()].into_iter().chain(stronger).collect()
}

/// The condition of one subject; nothing for strong global fairness.
fn condition(model: &Model, exclusion: &Exclusion) -> Option<Condition> {
    let instance = || {
        let mut all = (0..model.instances().len()).map(InstanceId::new);
        all.find(|id| model.instance_name(*id) == exclusion.subject)
            .map(Subject::Process)
    };
    let action = || {
        let mut all = (0..model.actions().len()).map(ActionId::new);
        all.find(|id| model.action_name(*id) == exclusion.subject)
            .map(Subject::Action)
    };
    let (kind, subject) = match exclusion.notion {
        FairnessKind::WeakProcess => (ConditionKind::Weak, instance()),
        FairnessKind::StrongProcess => (ConditionKind::Strong, instance()),
        FairnessKind::Weak => (ConditionKind::Weak, action()),
        FairnessKind::Strong => (ConditionKind::Strong, action()),
        FairnessKind::None | FairnessKind::Just | FairnessKind::StrongGlobal => return None,
    };
    Some(Condition {
        kind,
        subject: subject?,
        span: None,
    })
}
