//! What can be assumed about the scheduler of a model, and what the caller offers besides.

use base::Span;
use evidence::assumption_name;
use model::{
    ActionId, Annotation, Assumption, CommandId, Condition, ConditionKind, EventId, InstanceId,
    Model, ProcessId, Subject, Target,
};

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
    fn annotated(model: &Model, kind: ConditionKind, target: Target) -> Self {
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

    /// One condition of it alone.
    pub(super) fn alone(&self, model: &Model, condition: &Condition) -> Self {
        Self::annotated(
            model,
            condition.kind,
            Target::Subject(condition.subject.clone()),
        )
    }
}

impl Offer {
    /// A subject in the strengths weak and strong.
    pub(super) fn fair(model: &Model, target: &Target) -> Self {
        let kinds = [ConditionKind::Weak, ConditionKind::Strong];
        let level = |kind| Level::annotated(model, kind, target.clone());
        Self {
            levels: kinds.map(level).into(),
        }
    }

    /// A subject that is demanded whatever is enabled; weaker forms first.
    pub(super) fn demanded(model: &Model, target: &Target) -> Self {
        let mut offer = Self::fair(model, target);
        let demanded = Level::annotated(model, ConditionKind::Unconditional, target.clone());
        offer.levels.push(demanded);
        offer
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

/// Weak and strong fairness of every event, action and process, and of every step that an annotation
/// of the model singles out.
#[must_use]
pub fn offers(model: &Model, granularity: Granularity) -> Vec<Offer> {
    let targets = match granularity {
        Granularity::Family => family_targets(model),
        Granularity::Each => single_targets(model),
    };
    targets
        .iter()
        .map(|target| Offer::fair(model, target))
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
            kind: ConditionKind::Weak,
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
    let strength = match annotation.kind {
        ConditionKind::Weak => "weak fair",
        ConditionKind::Strong => "strong fair",
        ConditionKind::Unconditional => "fair",
    };
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
