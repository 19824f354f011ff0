//! Does what excludes one counterexample exclude them all?
//!
//! A loop that violates a property says which fairness it is not fair to. That fairness need not
//! suffice, because there may be other loops; it is tried out on a small graph.

use base::{Fairness, FairnessKind, NoProgress, Span};
use evidence::{Exclusion, Shown};
use logic::NamedProperty;
use model::{ActionId, Annotation, AnnotationKind, Condition, InstanceId, Model, Subject, Target};

use super::bad_loops::{BadLoops, forbidden_runs};
use super::notions::{atoms, closure, is_finite};
use super::{Survey, Surveyed};
use crate::{Outcome, Plan};

/// Of larger systems than this, no more is explored for advice than the search has visited.
const FEW_STATES: u64 = 3_000;

/// Larger systems are not explored once more for advice.
const MANY_STATES: u64 = 20_000;

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
///
/// Advice is to cost little compared with the answer: a system that is larger than what was visited
/// to find the loop is explored only if it has few states.
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
    let n_visited = outcome.n_visited();
    let is_small = n_visited <= MANY_STATES;
    if run.excluded_by.is_empty() || !is_small || !is_finite(model, plan) {
        return None;
    }
    let automaton = forbidden_runs(&property.property)?.ok()?;

    // Where weak fairness of a subject excludes the loop, strong fairness of it may be needed.
    let found = run.excluded_by.iter();
    let mut exclusions: Vec<Exclusion> = found.flat_map(|e| with_stronger(model, e)).collect();
    let rank = |kind: FairnessKind| FairnessKind::ALL.iter().position(|other| *other == kind);
    exclusions.sort_by_key(|exclusion| rank(exclusion.notion));

    let assumed = model.fairness_conditions(outcome.fairness);
    let under = |notion: FairnessKind| Fairness {
        kind: notion,
        ..outcome.fairness
    };
    let mut conditions = assumed.clone();
    conditions.extend(exclusions.iter().flat_map(|e| conditions_of(model, e)));
    conditions.extend(
        exclusions
            .iter()
            .flat_map(|e| model.fairness_conditions(under(e.notion))),
    );

    let n_explored = n_visited.max(FEW_STATES);
    let plan = Plan {
        budget: plan.budget.clone().with_trial_states(n_explored),
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
        let demanded = survey.demanded(conditions);
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
        let own = conditions_of(model, &exclusion);
        let alone = !own.is_empty() && holds(&[&assumed[..], &own].concat(), outcome.fairness)?;
        tested.push(TestedExclusion {
            exclusion,
            alone,
            notion: whole,
        });
    }
    Some(tested)
}

/// What excludes a loop, and stronger fairness of the same subject.
fn with_stronger(model: &Model, exclusion: &Exclusion) -> Vec<Exclusion> {
    let is_process = instance(model, &exclusion.subject).is_some();
    let stronger: &[FairnessKind] = match exclusion.notion {
        FairnessKind::Just if is_process => {
            &[FairnessKind::WeakProcess, FairnessKind::StrongProcess]
        }
        FairnessKind::Just => &[FairnessKind::Weak, FairnessKind::Strong],
        FairnessKind::Weak => &[FairnessKind::Strong],
        FairnessKind::WeakProcess => &[FairnessKind::StrongProcess],
        FairnessKind::None
        | FairnessKind::StrongProcess
        | FairnessKind::Strong
        | FairnessKind::StrongGlobal => &[],
    };
    let stronger = stronger.iter().map(|&notion| Exclusion {
        notion,
        ..exclusion.clone()
    });
    [exclusion.clone()].into_iter().chain(stronger).collect()
}

/// The conditions of one subject; none for strong global fairness.
fn conditions_of(model: &Model, exclusion: &Exclusion) -> Vec<Condition> {
    let process = || instance(model, &exclusion.subject);
    let action = || {
        let mut all = (0..model.actions().len()).map(ActionId::new);
        all.find(|id| model.action_name(*id) == exclusion.subject)
            .map(Subject::Action)
    };
    let (kind, subject) = match exclusion.notion {
        FairnessKind::Just => (AnnotationKind::Just, process().or_else(action)),
        FairnessKind::WeakProcess => (AnnotationKind::Weak, process()),
        FairnessKind::StrongProcess => (AnnotationKind::Strong, process()),
        FairnessKind::Weak => (AnnotationKind::Weak, action()),
        FairnessKind::Strong => (AnnotationKind::Strong, action()),
        FairnessKind::None | FairnessKind::StrongGlobal => return Vec::new(),
    };
    let conditions = subject.map(|subject| {
        model.annotated_conditions(&Annotation {
            kind,
            target: Target::Subject(subject),
            span: Span::nowhere(),
        })
    });
    conditions.unwrap_or_default()
}

fn instance(model: &Model, name: &str) -> Option<Subject> {
    let mut all = (0..model.instances().len()).map(InstanceId::new);
    all.find(|id| model.instance_name(*id) == name)
        .map(Subject::Process)
}
