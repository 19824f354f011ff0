//! Which runs are considered: elementary conditions, annotations and assumptions.

use std::collections::BTreeSet;

use base::{AtomId, Fairness, FairnessKind, Span};

use crate::{ActionId, CommandId, EventId, InstanceId, Model, ProcessId};

/// How strictly one condition demands its subject.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConditionKind {
    /// Taken infinitely often, whatever is enabled.
    Unconditional,
    /// Taken infinitely often if enabled from some point on forever. States in which a process has
    /// control ([`crate::ModelParts::control`]) are passed through and do not count, unless the run
    /// is from some point on made of them; abstract timers are looked at in every state.
    Weak,
    /// Taken infinitely often if enabled infinitely often.
    Strong,
}

/// How strictly an annotation demands its target; weaker ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AnnotationKind {
    /// Each step of the target that exists is interfered with later, or taken (justness).
    Just,
    /// As [`ConditionKind::Weak`].
    Weak,
    /// As [`ConditionKind::Strong`].
    Strong,
    /// As [`ConditionKind::Unconditional`].
    Unconditional,
}

impl AnnotationKind {
    /// All of them, weaker ones first.
    pub const ALL: [Self; 4] = [Self::Just, Self::Weak, Self::Strong, Self::Unconditional];

    /// The kind of the elementary conditions that it stands for. Justness is weak fairness to teams
    /// of commands ([`Subject::Team`]).
    #[must_use]
    pub const fn elementary(self) -> ConditionKind {
        match self {
            Self::Just | Self::Weak => ConditionKind::Weak,
            Self::Strong => ConditionKind::Strong,
            Self::Unconditional => ConditionKind::Unconditional,
        }
    }

    /// The words of the native language.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Just => "just fair",
            Self::Weak => "weak fair",
            Self::Strong => "strong fair",
            Self::Unconditional => "fair",
        }
    }
}

impl From<ConditionKind> for AnnotationKind {
    fn from(kind: ConditionKind) -> Self {
        match kind {
            ConditionKind::Weak => Self::Weak,
            ConditionKind::Strong => Self::Strong,
            ConditionKind::Unconditional => Self::Unconditional,
        }
    }
}

/// What an annotation stands at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A process: each of its instances for itself.
    Process(ProcessId),
    /// All actions of a process with this name: each for itself.
    Action(ProcessId, String),
    /// An event: each of its argument lists for itself.
    Event(EventId),
    /// One step of a process, told apart from others with the same name; each instance and each
    /// parameter list for itself.
    Choice(ProcessId, usize),
    /// One subject alone, such as one instance of a process. No language can write this; it is for
    /// those who try out conditions. What does not exist makes an annotation that does not demand
    /// anything.
    Subject(Subject),
}

/// A fairness condition written into the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// How strict.
    pub kind: AnnotationKind,
    /// What for.
    pub target: Target,
    /// Where it is written.
    pub span: Span,
}

/// An assumption about runs: a Boolean combination of "infinitely often" and "from some point on
/// forever" over atoms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// `[]<> atom`, or `[]<> !atom` if the flag is false.
    Infinitely(AtomId, bool),
    /// `<>[] atom`, or `<>[] !atom` if the flag is false.
    Eventually(AtomId, bool),
    /// All of them.
    All(Vec<Assumption>),
    /// At least one of them.
    Any(Vec<Assumption>),
}

/// What a single condition is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// A process moves.
    Process(InstanceId),
    /// An action is taken.
    Action(ActionId),
    /// A command is executed.
    Choice(CommandId),
    /// The abstract timer in this cell is set. It counts as enabled where its value is the
    /// threshold, which stands for all values from there on. Weak fairness to it is t-fairness: a
    /// timer does not stay there forever unless it is set again and again.
    Timer(usize),
    /// A step interferes with the step of this team of commands ([`crate::Interference`]), or is that
    /// step. It counts as enabled where the step of the team exists. Weak fairness to all teams is
    /// justness: a step that exists and that nothing interferes with exists forever.
    Team(Vec<CommandId>),
}

/// One elementary fairness condition on runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// How strict.
    pub kind: ConditionKind,
    /// What for.
    pub subject: Subject,
    /// The annotation it comes from, if it is not part of a notion for the whole system.
    pub span: Option<Span>,
}

impl Model {
    /// The elementary conditions that `fairness` stands for, in a fixed order.
    ///
    /// Strong global fairness contributes none: it is a condition on sets of steps, not on marks.
    #[must_use]
    pub fn fairness_conditions(&self, fairness: Fairness) -> Vec<Condition> {
        let processes = (0..self.instances().len()).map(|i| Subject::Process(InstanceId::new(i)));
        let actions = (0..self.actions().len()).map(|i| Subject::Action(ActionId::new(i)));
        let (kind, subjects): (_, Vec<Subject>) = match fairness.kind {
            FairnessKind::None | FairnessKind::StrongGlobal => (ConditionKind::Weak, vec![]),
            FairnessKind::Just => {
                let teams = self.teams().into_iter();
                (ConditionKind::Weak, teams.map(Subject::Team).collect())
            }
            FairnessKind::WeakProcess => (ConditionKind::Weak, processes.collect()),
            FairnessKind::StrongProcess => (ConditionKind::Strong, processes.collect()),
            FairnessKind::Weak => (ConditionKind::Weak, actions.collect()),
            FairnessKind::Strong => (ConditionKind::Strong, actions.collect()),
        };

        let whole = subjects.into_iter().map(|subject| Condition {
            kind,
            subject,
            span: None,
        });
        let mut conditions: Vec<Condition> = whole.collect();
        if fairness.annotated {
            for annotation in &self.parts().annotations {
                conditions.extend(self.annotated_conditions(annotation));
            }
        }

        if fairness.timers {
            conditions.extend(self.abstract_timers().map(|(cell, _)| Condition {
                kind: ConditionKind::Weak,
                subject: Subject::Timer(cell),
                span: None,
            }));
        }

        conditions
    }

    /// The elementary conditions that an annotation stands for, in a fixed order.
    #[must_use]
    pub fn annotated_conditions(&self, annotation: &Annotation) -> Vec<Condition> {
        let commands = || (0..self.commands().len()).map(CommandId::new);
        let step_of = |command: CommandId| {
            let command = &self.commands()[command.index()];
            let process = self.instances()[command.instance.index()].process;
            (process, command.step)
        };
        let mut subjects: Vec<Subject> = match &annotation.target {
            Target::Process(process) => (0..self.instances().len())
                .filter(|&i| self.instances()[i].process == *process)
                .map(|i| Subject::Process(InstanceId::new(i)))
                .collect(),
            Target::Choice(process, step) => commands()
                .filter(|&command| step_of(command) == (*process, *step))
                .map(Subject::Choice)
                .collect(),
            Target::Action(process, name) => {
                let named = |command: &CommandId| {
                    let (owner, step) = step_of(*command);
                    owner == *process
                        && self.parts().processes[owner.index()].steps[step].name == *name
                };
                self.actions_of_commands(&commands().filter(named).collect::<Vec<_>>())
            }
            Target::Event(event) => {
                let of_event = |command: &CommandId| {
                    let (owner, step) = step_of(*command);
                    let step = &self.parts().processes[owner.index()].steps[step];
                    matches!(&step.sync, crate::Sync::Event { event: e, .. } if e == event)
                };
                self.actions_of_commands(&commands().filter(of_event).collect::<Vec<_>>())
            }
            Target::Subject(subject) => {
                let exists = self.has_subject(subject);
                exists.then(|| subject.clone()).into_iter().collect()
            }
        };

        subjects.dedup();

        // Justness is about teams of commands, not about processes or actions.
        if annotation.kind == AnnotationKind::Just {
            subjects = self.teams_of(&subjects);
        }
        let condition = |subject| Condition {
            kind: annotation.kind.elementary(),
            subject,
            span: Some(annotation.span),
        };
        subjects.into_iter().map(condition).collect()
    }

    /// The teams of commands whose steps take one of the subjects.
    fn teams_of(&self, subjects: &[Subject]) -> Vec<Subject> {
        let is_meant = |action: ActionId, team: &[CommandId]| {
            let instance = |id: &CommandId| self.commands()[id.index()].instance;
            subjects.iter().any(|subject| match subject {
                Subject::Process(mover) => team.iter().any(|id| instance(id) == *mover),
                Subject::Action(wanted) => *wanted == action,
                Subject::Choice(command) => team.contains(command),
                Subject::Team(other) => other == team,
                Subject::Timer(_) => false,
            })
        };
        let teams = self.teams_by_action().into_iter();
        let meant = teams.filter(|(action, team)| is_meant(*action, team));
        let mut seen = BTreeSet::new();
        meant
            .map(|(_, team)| team)
            .filter(|team| seen.insert(team.clone()))
            .map(Subject::Team)
            .collect()
    }

    /// Do the conditions that `fairness` stands for speak of interference?
    #[must_use]
    pub fn is_just(&self, fairness: Fairness) -> bool {
        let is_about_teams = |annotation: &Annotation| {
            annotation.kind == AnnotationKind::Just
                || matches!(annotation.target, Target::Subject(Subject::Team(_)))
        };
        fairness.kind == FairnessKind::Just
            || (fairness.annotated && self.parts().annotations.iter().any(is_about_teams))
    }

    fn has_subject(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Process(instance) => instance.index() < self.instances().len(),
            Subject::Action(action) => action.index() < self.actions().len(),
            Subject::Choice(command) => command.index() < self.commands().len(),
            Subject::Timer(cell) => self.abstract_timers().any(|timer| timer.0 == *cell),
            Subject::Team(team) => self.teams().contains(team),
        }
    }

    fn actions_of_commands(&self, commands: &[CommandId]) -> Vec<Subject> {
        let mut actions: Vec<ActionId> = self
            .transitions()
            .iter()
            .filter(|transition| {
                let mut alternatives = transition.participants.iter().flat_map(|p| &p.alternatives);
                alternatives.any(|command| commands.contains(command))
            })
            .map(|transition| transition.action)
            .collect();
        actions.sort_unstable();
        actions.dedup();
        actions.into_iter().map(Subject::Action).collect()
    }

    /// What the subject of a condition is called in reports.
    #[must_use]
    pub fn subject_name(&self, subject: &Subject) -> String {
        match subject {
            Subject::Process(instance) => self.instance_name(*instance).to_owned(),
            Subject::Action(action) => self.action_name(*action).to_owned(),
            Subject::Choice(command) => self.command_name(*command),
            Subject::Timer(cell) => self.cells()[*cell].name.clone(),
            Subject::Team(team) => {
                let names: Vec<String> = team.iter().map(|id| self.command_name(*id)).collect();
                names.join("/")
            }
        }
    }
}
