//! Why a loop is fair, and which stronger fairness would exclude it.

use base::{Fairness, FairnessKind};
use model::{
    ActionId, Assumption, CommandId, Condition, ConditionKind, InstanceId, Model, Subject,
};
use rustc_hash::FxHashSet;

use crate::loop_usage::LoopUsage;
use crate::replay::{Replay, StepLabel, StepRef, actions_name};
use crate::word::{Word, assumption_atoms};
use crate::{Invalid, Trace};

/// Why a loop satisfies a condition. Positions count the states and steps of the trace from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Because {
    /// The step at this position takes what the condition is about.
    Taken(usize),
    /// Justness: the step at this position interferes with the step that the condition is about.
    Interfered(usize),
    /// The state at this position does not enable it.
    Disabled(usize),
    /// No state of the loop enables it.
    NeverEnabled,
    /// An assumption `[]<> p`: the state at this position satisfies `p` as it demands.
    HoldsAt(usize),
    /// An assumption `<>[] p`: every position of the loop does.
    HoldsThroughout,
    /// It does not.
    Broken,
}

/// A condition and why a loop satisfies it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Justification {
    /// The condition, such as `wf(P.enter)` or `[]<> p`.
    pub condition: String,
    /// Is it an assumption and not a condition on a process, action or step?
    pub is_assumption: bool,
    /// Why.
    pub because: Because,
}

/// A notion of fairness that a loop is not fair to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exclusion {
    /// The notion that excludes the loop.
    pub notion: FairnessKind,
    /// The process or action it would be unfair to, or the step of strong global fairness.
    pub subject: String,
    /// A position of the loop at which the subject is enabled.
    pub at: usize,
}

/// Why the loop of a trace is fair: one entry for each elementary condition of `fairness` and each
/// conjunct of the assumptions. Strong global fairness has no elementary conditions.
///
/// # Errors
/// The trace is not an infinite run of the model.
pub fn explain_fairness(
    model: &Model,
    fairness: Fairness,
    assumptions: &[Assumption],
    trace: &Trace,
) -> Result<Vec<Justification>, Invalid> {
    trace.loop_start.ok_or(Invalid::NoLoop)?;
    judge_loop(&Replay::new(model, trace)?, fairness, assumptions)
}

/// [`explain_fairness`] for a trace that has been replayed.
pub(crate) fn judge_loop(
    replay: &Replay<'_>,
    fairness: Fairness,
    assumptions: &[Assumption],
) -> Result<Vec<Justification>, Invalid> {
    let usage = LoopUsage::new(replay, fairness);
    let mut justifications = condition_notes(replay.model, fairness, &usage);
    let atoms = assumptions.iter().flat_map(assumption_atoms).collect();
    let word = Word::new(replay, atoms)?;
    justifications.extend(judge_assumptions(replay.model, &word, assumptions));
    Ok(justifications)
}

/// What the steps of a loop say about every elementary condition.
pub(crate) fn condition_notes(
    model: &Model,
    fairness: Fairness,
    usage: &LoopUsage,
) -> Vec<Justification> {
    let mut seen = FxHashSet::default();
    let mut justifications = Vec::new();
    for condition in model.fairness_conditions(fairness) {
        if seen.insert((condition.kind, condition.subject.clone())) {
            justifications.push(Justification {
                condition: condition_name(model, &condition),
                is_assumption: false,
                because: usage.judge(&condition),
            });
        }
    }
    justifications
}

/// What the loop of a word says about every conjunct of the assumptions.
pub(crate) fn judge_assumptions(
    model: &Model,
    word: &Word,
    assumptions: &[Assumption],
) -> Vec<Justification> {
    let conjuncts = assumptions.iter().flat_map(conjuncts);
    let judged = conjuncts.map(|assumption| Justification {
        condition: assumption_name(model, assumption),
        is_assumption: true,
        because: judge_assumption(word, assumption),
    });
    judged.collect()
}

fn conjuncts(assumption: &Assumption) -> Vec<&Assumption> {
    match assumption {
        Assumption::All(parts) => parts.iter().flat_map(conjuncts).collect(),
        other @ (Assumption::Infinitely(..) | Assumption::Eventually(..) | Assumption::Any(_)) => {
            vec![other]
        }
    }
}

fn judge_assumption(word: &Word, assumption: &Assumption) -> Because {
    match assumption {
        Assumption::Infinitely(atom, value) => match word.find_in_loop(*atom, *value) {
            Some(at) => Because::HoldsAt(at),
            None => Because::Broken,
        },
        Assumption::Eventually(atom, value) => match word.find_in_loop(*atom, !*value) {
            Some(_) => Because::Broken,
            None => Because::HoldsThroughout,
        },
        Assumption::All(parts) => {
            let judged = parts.iter().map(|part| judge_assumption(word, part));
            judged.max().unwrap_or(Because::HoldsThroughout)
        }
        Assumption::Any(parts) => {
            let mut judged = parts.iter().map(|part| judge_assumption(word, part));
            let met = judged.find(|because| *because != Because::Broken);
            met.unwrap_or(Because::Broken)
        }
    }
}

/// How reports call an elementary condition: as an annotation of the model would.
#[must_use]
pub fn condition_name(model: &Model, condition: &Condition) -> String {
    let kind = match (condition.kind, &condition.subject) {
        (_, Subject::Timer(_)) => "tf",
        (_, Subject::Team(_)) => "just",
        (ConditionKind::Unconditional, _) => "f",
        (ConditionKind::Weak, _) => "wf",
        (ConditionKind::Strong, _) => "sf",
    };
    format!("{kind}({})", model.subject_name(&condition.subject))
}

/// How reports call an assumption.
#[must_use]
pub fn assumption_name(model: &Model, assumption: &Assumption) -> String {
    let literal = |atom: &base::AtomId, value: bool| {
        let name = &model.parts().atoms[atom.index()].name;
        format!("{}({name})", if value { "" } else { "!" })
    };
    let list = |parts: &[Assumption], operator: &str, empty: &str| {
        let names: Vec<String> = parts.iter().map(|p| assumption_name(model, p)).collect();
        match names.as_slice() {
            [] => empty.to_owned(),
            [single] => single.clone(),
            several => format!("({})", several.join(operator)),
        }
    };
    match assumption {
        Assumption::Infinitely(atom, value) => format!("[]<> {}", literal(atom, *value)),
        Assumption::Eventually(atom, value) => format!("<>[] {}", literal(atom, *value)),
        Assumption::All(parts) => list(parts, " && ", "true"),
        Assumption::Any(parts) => list(parts, " || ", "false"),
    }
}

/// The notions of fairness, stronger than `fairness`, that exclude the loop of a trace: justness to
/// what exists forever and nothing interferes with, weak fairness of what every state of the loop enables and no step takes, strong fairness of what some
/// state enables and no step takes, and strong global fairness if a step of some state is missing.
///
/// # Errors
/// The trace is not an infinite run of the model.
pub fn stronger_fairness(
    model: &Model,
    fairness: Fairness,
    trace: &Trace,
) -> Result<Vec<Exclusion>, Invalid> {
    trace.loop_start.ok_or(Invalid::NoLoop)?;
    Ok(exclusions(&Replay::new(model, trace)?, fairness))
}

/// [`stronger_fairness`] for a trace that has been replayed.
pub(crate) fn exclusions(replay: &Replay<'_>, fairness: Fairness) -> Vec<Exclusion> {
    // Nothing is stronger than strong global fairness.
    if fairness.kind == FairnessKind::StrongGlobal {
        return Vec::new();
    }
    let mut exclusions = elementary_exclusions(replay, fairness);
    if let Some((at, step)) = uncovered_step(replay) {
        exclusions.push(Exclusion {
            notion: FairnessKind::StrongGlobal,
            subject: actions_name(replay.model, &step.actions),
            at,
        });
    }
    exclusions
}

/// For every process and action that the loop treats unfairly, the weakest notion that says so.
fn elementary_exclusions(replay: &Replay<'_>, fairness: Fairness) -> Vec<Exclusion> {
    let model = replay.model;
    let usage = LoopUsage::new(replay, Fairness::NONE);
    let unjust = Unjust::new(replay, fairness);
    let processes = (0..model.instances().len()).map(|i| Subject::Process(InstanceId::new(i)));
    let actions = (0..model.actions().len()).map(|i| Subject::Action(ActionId::new(i)));
    let assumed = model.fairness_conditions(fairness).into_iter();
    let assumed: FxHashSet<_> = assumed.map(|c| (c.kind, c.subject)).collect();
    let mut exclusions = Vec::new();

    for subject in processes.chain(actions) {
        let kinds = [ConditionKind::Weak, ConditionKind::Strong];
        let breaks =
            |kind: &ConditionKind| usage.judge(&elementary(*kind, &subject)) == Because::Broken;
        // What is assumed of the subject already says more.
        let is_assumed = kinds
            .iter()
            .any(|kind| assumed.contains(&(*kind, subject.clone())));
        if let Some(at) = unjust.to(&subject).filter(|_| !is_assumed) {
            exclusions.push(Exclusion {
                notion: FairnessKind::Just,
                subject: model.subject_name(&subject),
                at,
            });
            continue;
        }
        let broken = kinds.into_iter().find(breaks);
        if let Some(kind) = broken.filter(|kind| !assumed.contains(&(*kind, subject.clone()))) {
            exclusions.push(Exclusion {
                notion: notion(kind, &subject),
                subject: model.subject_name(&subject),
                at: usage.enabled_at(&subject).unwrap_or_default(),
            });
        }
    }

    exclusions
}

/// What a loop is not just to: processes and actions, and where steps of theirs are enabled.
struct Unjust {
    found: Vec<(Subject, usize)>,
}

impl Unjust {
    /// More looks at teams of commands than this are not worth the advice.
    const MAX_LOOKS: usize = 200_000;

    fn new(replay: &Replay<'_>, fairness: Fairness) -> Self {
        let mut found = Vec::new();
        let model = replay.model;
        let n_looks = model.n_teams().saturating_mul(replay.trace.states.len());
        if model.is_just(Fairness {
            annotated: false,
            ..fairness
        }) || n_looks > Self::MAX_LOOKS
        {
            return Self { found };
        }

        let usage = LoopUsage::new(replay, Fairness::of(FairnessKind::Just));
        for (action, team) in model.teams_by_action() {
            let subject = Subject::Team(team.clone());
            if usage.judge(&elementary(ConditionKind::Weak, &subject)) != Because::Broken {
                continue;
            }
            let at = usage.enabled_at(&subject).unwrap_or_default();
            let mover = |id: &CommandId| model.commands()[id.index()].instance;
            found.extend(team.iter().map(|id| (Subject::Process(mover(id)), at)));
            found.push((Subject::Action(action), at));
        }
        Self { found }
    }

    fn to(&self, subject: &Subject) -> Option<usize> {
        let mut found = self.found.iter();
        found.find(|(other, _)| other == subject).map(|(_, at)| *at)
    }
}

fn elementary(kind: ConditionKind, subject: &Subject) -> Condition {
    Condition {
        kind,
        subject: subject.clone(),
        span: None,
    }
}

fn notion(kind: ConditionKind, subject: &Subject) -> FairnessKind {
    match (kind, subject) {
        (_, Subject::Team(_)) => FairnessKind::Just,
        (ConditionKind::Weak, Subject::Process(_)) => FairnessKind::WeakProcess,
        (ConditionKind::Weak, _) => FairnessKind::Weak,
        (_, Subject::Process(_)) => FairnessKind::StrongProcess,
        (_, _) => FairnessKind::Strong,
    }
}

/// A step of a state of the loop that the loop does not take, and a position of the state.
pub(crate) fn uncovered_step<'a>(replay: &'a Replay<'_>) -> Option<(usize, &'a StepLabel)> {
    let positions = replay.trace.loop_range();
    let taken: FxHashSet<StepRef> = positions.clone().map(|at| replay.step_at(at)).collect();
    let mut seen = vec![false; replay.n_nodes()];
    for at in positions {
        let node = replay.node(at);
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for (index, step) in replay.steps(node).enumerate() {
            if !taken.contains(&(node, index)) {
                return Some((at, step));
            }
        }
    }
    None
}
