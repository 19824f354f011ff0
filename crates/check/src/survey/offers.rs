//! What can be assumed about the scheduler of a model, and what the caller offers besides.

use std::collections::BTreeSet;

use base::Span;
use evidence::assumption_name;
use model::{
    ActionId, Annotation, AnnotationKind, Assumption, CommandId, Condition, EventId, InstanceId,
    Model, ProcessId, Subject, Target,
};

use crate::fairness::MAX_TEAMS;

/// Are conditions offered for all instances of a process together, or for each alone?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// For all of them together, as annotations of a model speak of them.
    Family,
    /// For each alone.
    Each,
}

/// Something that can be assumed, in one or more strengths.
#[derive(Clone, PartialEq, Debug)]
pub struct Offer {
    /// The strengths, weaker ones first: each implies those before it. Not empty.
    pub levels: Vec<Level>,
}

/// Something that can be assumed.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// What reports call it, such as `strong fair take of every Worker`.
    pub name: String,
    /// As an annotation of the model, unless it is an assumption.
    pub annotation: Option<Annotation>,
    /// The elementary conditions that it stands for.
    pub conditions: Vec<Condition>,
    /// The assumption, if it is one.
    pub assumption: Option<Assumption>,
}

impl Level {
    fn annotated(model: &Model, kind: AnnotationKind, target: Target) -> Self {
        let annotation = Annotation {
            kind,
            target,
            span: Span::nowhere(),
        };
        Self {
            name: annotation_name(model, &annotation),
            conditions: model.annotated_conditions(&annotation),
            annotation: Some(annotation),
            assumption: None,
        }
    }

    /// The single processes, actions or steps that it is about; none if it is an assumption.
    pub(super) fn subjects(&self, model: &Model) -> Vec<Subject> {
        let weak = self.annotation.as_ref().map(|annotation| Annotation {
            kind: AnnotationKind::Weak,
            ..annotation.clone()
        });
        let conditions = weak.map(|weak| model.annotated_conditions(&weak));
        let conditions = conditions.into_iter().flatten();
        conditions.map(|condition| condition.subject).collect()
    }

    /// The same for one of its subjects alone.
    pub(super) fn alone(&self, model: &Model, subject: &Subject) -> Self {
        let annotation = self.annotation.as_ref();
        let kind = annotation.expect("assumptions have no subjects").kind;
        Self::annotated(model, kind, Target::Subject(subject.clone()))
    }
}

impl Level {
    /// Is it justness?
    pub(super) fn is_just(&self) -> bool {
        let mut annotation = self.annotation.iter();
        annotation.any(|annotation| annotation.kind == AnnotationKind::Just)
    }
}

impl Offer {
    /// An annotation of this kind, and what it implies: weaker forms for the same target.
    pub(super) fn up_to(model: &Model, kind: AnnotationKind, target: &Target) -> Self {
        let is_implied = |weaker: &AnnotationKind| match weaker {
            AnnotationKind::Just => {
                kind == AnnotationKind::Just || weak_implies_just(model, target)
            }
            AnnotationKind::Weak | AnnotationKind::Strong | AnnotationKind::Unconditional => true,
        };
        let kinds = AnnotationKind::ALL.into_iter();
        let kinds = kinds.filter(|weaker| *weaker <= kind && is_implied(weaker));
        Self {
            levels: kinds
                .map(|kind| Level::annotated(model, kind, target.clone()))
                .collect(),
        }
    }

    /// Everything that can be assumed of a target: justness, weak and strong fairness. Where weak
    /// fairness does not imply justness, it is something else.
    fn fair(model: &Model, target: &Target) -> Vec<Self> {
        let fair = Self::up_to(model, AnnotationKind::Strong, target);
        let has_just = fair.levels[0].is_just();
        if has_just || model.n_teams() > MAX_TEAMS {
            return vec![fair];
        }
        let just = Self::up_to(model, AnnotationKind::Just, target);
        let is_empty = just.levels[0].conditions.is_empty();
        if is_empty {
            vec![fair]
        } else {
            vec![just, fair]
        }
    }

    /// An assumption.
    #[must_use]
    pub fn assumption(model: &Model, assumption: Assumption) -> Self {
        let level = Level {
            name: format!("assume {}", assumption_name(model, &assumption)),
            annotation: None,
            conditions: Vec::new(),
            assumption: Some(assumption),
        };
        Self {
            levels: vec![level],
        }
    }
}

/// Does weak fairness to a target imply justness to its steps, and is there something to be just to?
/// A step that nothing interferes with stays enabled, and with it its movers, its commands and its
/// action. A process or a command that is taken then interferes, because it moves. An action does if
/// all its steps have a mover in common: other steps with the same label need not interfere.
fn weak_implies_just(model: &Model, target: &Target) -> bool {
    if model.n_teams() > MAX_TEAMS {
        return false;
    }
    let annotation = |kind| Annotation {
        kind,
        target: target.clone(),
        span: Span::nowhere(),
    };
    let weak = model.annotated_conditions(&annotation(AnnotationKind::Weak));
    let teams = model.teams_by_action();
    let has_common_mover = |action: ActionId| {
        let movers = teams.iter().filter(|(other, _)| *other == action);
        let movers = movers.map(|(_, team)| {
            let mover = |id: &CommandId| model.commands()[id.index()].instance;
            team.iter().map(mover).collect::<BTreeSet<InstanceId>>()
        });
        let common = movers.reduce(|common, movers| &common & &movers);
        common.is_none_or(|common| !common.is_empty())
    };
    let mut subjects = weak.iter().map(|condition| &condition.subject);
    let is_implied = subjects.all(|subject| match subject {
        Subject::Action(action) => has_common_mover(*action),
        Subject::Process(_) | Subject::Choice(_) | Subject::Team(_) => true,
        Subject::Timer(_) => false,
    });
    is_implied
        && !model
            .annotated_conditions(&annotation(AnnotationKind::Just))
            .is_empty()
}

/// Justness, weak and strong fairness of every event, action and process, and of every step that an
/// annotation of the model singles out.
#[must_use]
pub fn offers(model: &Model, granularity: Granularity) -> Vec<Offer> {
    let targets = match granularity {
        Granularity::Family => family_targets(model),
        Granularity::Each => single_targets(model),
    };
    targets
        .iter()
        .flat_map(|target| Offer::fair(model, target))
        .collect()
}

fn family_targets(model: &Model) -> Vec<Target> {
    let parts = model.parts();
    let mut targets: Vec<Target> = (0..parts.events.len())
        .map(|event| Target::Event(EventId::new(event)))
        .collect();
    for (number, process) in parts.processes.iter().enumerate() {
        for step in &process.steps {
            let target = Target::Action(ProcessId::new(number), step.name.clone());
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }
    let processes = 0..parts.processes.len();
    targets.extend(processes.map(|process| Target::Process(ProcessId::new(process))));
    targets.extend(annotated_choices(model));
    targets
}

fn single_targets(model: &Model) -> Vec<Target> {
    let actions = (0..model.actions().len()).map(|i| Subject::Action(ActionId::new(i)));
    let processes = (0..model.instances().len()).map(|i| Subject::Process(InstanceId::new(i)));
    let mut subjects: Vec<Subject> = actions.chain(processes).collect();
    for target in annotated_choices(model) {
        let annotation = Annotation {
            kind: AnnotationKind::Weak,
            target,
            span: Span::nowhere(),
        };
        let conditions = model.annotated_conditions(&annotation);
        subjects.extend(conditions.into_iter().map(|condition| condition.subject));
    }
    subjects.into_iter().map(Target::Subject).collect()
}

fn annotated_choices(model: &Model) -> Vec<Target> {
    let mut choices = Vec::new();
    for annotation in &model.parts().annotations {
        let is_choice = matches!(annotation.target, Target::Choice(..));
        if is_choice && !choices.contains(&annotation.target) {
            choices.push(annotation.target.clone());
        }
    }
    choices
}

/// What reports call an annotation.
pub(super) fn annotation_name(model: &Model, annotation: &Annotation) -> String {
    let parts = model.parts();
    let process_name = |process: &ProcessId| parts.processes[process.index()].name.as_str();
    let of_process = |process: &ProcessId| {
        let mut instances = model.instances().iter();
        let n_instances = instances.by_ref().filter(|i| i.process == *process).count();
        let every = if n_instances > 1 { "every " } else { "" };
        format!("{every}{}", process_name(process))
    };
    let strength = annotation.kind.words();
    let what = match &annotation.target {
        Target::Process(process) => format!("process {}", of_process(process)),
        Target::Action(process, name) => format!("{name} of {}", of_process(process)),
        Target::Event(event) => format!("event {}", parts.events[event.index()].name),
        Target::Choice(process, step) => {
            let name = &parts.processes[process.index()].steps[*step].name;
            format!("choice {name} of {}", of_process(process))
        }
        Target::Subject(subject @ Subject::Process(_)) => {
            format!("process {}", model.subject_name(subject))
        }
        Target::Subject(Subject::Choice(command)) => {
            format!(
                "choice {}",
                model.command_name(CommandId::new(command.index()))
            )
        }
        Target::Subject(subject) => model.subject_name(subject),
    };
    format!("{strength} {what}")
}
