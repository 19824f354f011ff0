//! The model: its instances, commands, actions and cells, and how to find one's way among them.

use base::Span;

use crate::{
    BoundId, Channel, ChannelId, LocationId, ModelParts, Process, ProcessId, Scalar, Step,
    StepPattern, Sync, VarId,
};

base::define_index! {
    /// A single process: a process without index, or a member of a family.
    pub struct InstanceId;
}

base::define_index! {
    /// A step of an instance with values for its parameters.
    pub struct CommandId;
}

base::define_index! {
    /// An action: what labels steps and what action fairness is about.
    pub struct ActionId;
}

/// A single process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The process or family.
    pub process: ProcessId,
    /// The index in the family.
    pub index: Option<i64>,
    /// `P` or `P[3]`.
    pub name: String,
}

/// A step of an instance with values for the process index and all parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Who takes it.
    pub instance: InstanceId,
    /// Which step of its process.
    pub step: usize,
    /// The process index (if any), then the parameters.
    pub bindings: Vec<(BoundId, i64)>,
}

/// An action. Steps with the same name and arguments are the same action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// `P[3].enter`, `Node[0].meet(1)`, `S.send/R.get` for a rendezvous, `go(2)` for an event.
    pub name: String,
    /// Where it is written (first).
    pub span: Span,
}

/// One member of a team that moves together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Participant {
    /// Who.
    pub instance: InstanceId,
    /// What it can contribute: any one of these commands.
    pub alternatives: Vec<CommandId>,
}

/// A way of taking an action: every participant executes one of its alternatives.
///
/// A rendezvous has two participants with one command each, the sender first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The action.
    pub action: ActionId,
    /// Who takes part.
    pub participants: Vec<Participant>,
}

/// A scalar component of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// `x`, `leader[2]`, `P[1].count`.
    pub name: String,
    /// Its type.
    pub ty: Scalar,
    /// The variable that it belongs to.
    pub var: VarId,
    /// Whose copy of a local variable.
    pub instance: Option<InstanceId>,
}

/// Commands, as a set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepSet(Vec<CommandId>);

impl StepSet {
    /// Is the command in the set?
    #[must_use]
    pub fn contains(&self, command: CommandId) -> bool {
        self.0.binary_search(&command).is_ok()
    }

    /// The commands in ascending order.
    #[must_use]
    pub fn commands(&self) -> &[CommandId] {
        &self.0
    }
}

/// Why parts do not make up a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelError {
    /// A stable name such as `unknown-variable`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What it is about.
    pub span: Span,
}

/// A model whose instances, commands, actions and cells are fixed.
///
/// Invariant: only [`ModelParts::finish`] makes one, and nothing changes it afterwards.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) parts: ModelParts,
    pub(crate) instances: Vec<Instance>,
    pub(crate) commands: Vec<Command>,
    pub(crate) actions: Vec<Action>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) cells: Vec<Cell>,
    /// The first instance of each process; the others follow it in the order of their indices.
    pub(crate) first_instances: Vec<usize>,
    /// For each variable, the first cell of its first copy, and how many cells a copy has.
    pub(crate) copies: Vec<(usize, usize)>,
    /// Where commands of transitions start: the transition, who moves, and from which location. In the
    /// order of the transitions.
    pub(crate) starts: Vec<(usize, InstanceId, LocationId)>,
    pub(crate) command_actions: Vec<Option<ActionId>>,
    pub(crate) reach: Vec<i8>,
    pub(crate) levels: Vec<i8>,
    /// The cells of timers, with the thresholds of abstract ones.
    pub(crate) timer_cells: Vec<(usize, Option<i64>)>,
}

impl Model {
    /// What the front end wrote.
    #[must_use]
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// All single processes.
    #[must_use]
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// All commands.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// All actions.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// All ways of taking actions. In a synchronous composition each command is a transition of
    /// its own here, and a step of the system takes several of them together.
    #[must_use]
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// All cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The name of an instance.
    #[must_use]
    pub fn instance_name(&self, instance: InstanceId) -> &str {
        &self.instances[instance.index()].name
    }

    /// The name of an action.
    #[must_use]
    pub fn action_name(&self, action: ActionId) -> &str {
        &self.actions[action.index()].name
    }

    /// The name of a command: its instance, its step and its parameters.
    #[must_use]
    pub fn command_name(&self, id: CommandId) -> String {
        let command = &self.commands[id.index()];
        let step = self.step_of(id);
        let skipped = command.bindings.len() - step.parameters.len();
        let arguments = command.bindings[skipped..].iter();
        let arguments = arguments.map(|(bound, value)| self.bound_text(*bound, *value));
        let instance = self.instance_name(command.instance);
        format!("{instance}.{}{}", step.name, argument_list(arguments))
    }

    /// How the value of a bound name is written.
    fn bound_text(&self, bound: BoundId, value: i64) -> String {
        let mut types = self.parts.bound_types.iter();
        match types.find(|(other, _)| *other == bound) {
            Some((_, Scalar::Bool)) => (value != 0).to_string(),
            Some((_, Scalar::Enum(id, _))) => self.parts.index_text(Some(*id), value),
            Some((_, Scalar::Range(..) | Scalar::Int)) | None => value.to_string(),
        }
    }

    /// The process that an instance belongs to.
    #[must_use]
    pub fn process_of(&self, instance: InstanceId) -> &Process {
        &self.parts.processes[self.instances[instance.index()].process.index()]
    }

    /// The step that a command takes.
    #[must_use]
    pub fn step_of(&self, id: CommandId) -> &Step {
        let command = &self.commands[id.index()];
        &self.process_of(command.instance).steps[command.step]
    }

    /// The action of a command that moves alone. Commands of a rendezvous or event have none of
    /// their own.
    #[must_use]
    pub fn action_of(&self, id: CommandId) -> ActionId {
        self.command_actions[id.index()].expect("the command moves alone")
    }

    /// Is this the sending half of a rendezvous?
    #[must_use]
    pub fn is_handshake(&self, id: CommandId) -> bool {
        match &self.step_of(id).sync {
            Sync::Send { channel, .. } => self.channel(channel.channel).capacity == 0,
            _ => false,
        }
    }

    /// The instance of a process with this index, if it exists.
    #[must_use]
    pub fn instance_of(&self, process: ProcessId, index: Option<i64>) -> Option<InstanceId> {
        let offset = match (self.parts.processes[process.index()].index, index) {
            (None, None) => 0,
            (Some(range), Some(index)) if (range.lo..=range.hi).contains(&index) => {
                (index - range.lo) as usize
            }
            _ => return None,
        };
        Some(InstanceId::new(
            self.first_instances[process.index()] + offset,
        ))
    }

    /// The first cell of a variable; of a local one, of the copy of this instance of its process.
    #[must_use]
    pub fn first_cell(&self, var: VarId, instance: Option<InstanceId>) -> usize {
        let (first, n_cells) = self.copies[var.index()];
        let Some(instance) = instance else {
            return first;
        };
        let process = self.instances[instance.index()].process;
        first + (instance.index() - self.first_instances[process.index()]) * n_cells
    }

    /// The position of the first single channel of a channel in `State::channels`.
    #[must_use]
    pub fn first_single_channel(&self, channel: ChannelId) -> usize {
        let before = &self.parts.channels[..channel.index()];
        before.iter().map(Channel::n_single).sum()
    }

    /// How many single channels there are.
    #[must_use]
    pub fn n_single_channels(&self) -> usize {
        self.parts.channels.iter().map(Channel::n_single).sum()
    }

    /// Where an instance may start.
    #[must_use]
    pub fn initial_locations(&self, instance: usize) -> &[LocationId] {
        &self.process_of(InstanceId::new(instance)).initial
    }

    /// The binding of the process index of an instance, if it has one.
    #[must_use]
    pub fn index_binding(&self, instance: InstanceId) -> Vec<(BoundId, i64)> {
        let index = self.instances[instance.index()].index;
        let range = self.process_of(instance).index;
        range
            .zip(index)
            .map(|(range, value)| (range.bound, value))
            .into_iter()
            .collect()
    }

    /// The commands that a pattern names.
    #[must_use]
    pub fn step_set(&self, pattern: &StepPattern) -> StepSet {
        let ids = (0..self.commands.len()).map(CommandId::new);
        StepSet(ids.filter(|&id| self.pattern_fits(pattern, id)).collect())
    }

    fn pattern_fits(&self, pattern: &StepPattern, id: CommandId) -> bool {
        let command = &self.commands[id.index()];
        let instance = &self.instances[command.instance.index()];
        let step = self.step_of(id);
        let skipped = command.bindings.len() - step.parameters.len();
        let (event, arguments) = match &step.sync {
            Sync::Event { event, arguments } => {
                let value = |expr| self.static_value(expr, command);
                (Some(*event), arguments.iter().map(value).collect())
            }
            _ => (
                None,
                command.bindings[skipped..].iter().map(|b| b.1).collect(),
            ),
        };

        let arguments: Vec<i64> = arguments;
        pattern
            .process
            .is_none_or(|process| process == instance.process)
            && pattern
                .index
                .is_none_or(|index| Some(index) == instance.index)
            && pattern
                .action
                .as_ref()
                .is_none_or(|name| *name == step.name)
            && pattern.event.is_none_or(|wanted| Some(wanted) == event)
            && pattern
                .arguments
                .as_ref()
                .is_none_or(|wanted| *wanted == arguments)
    }

    pub(crate) fn channel(&self, id: ChannelId) -> &Channel {
        &self.parts.channels[id.index()]
    }
}

pub(crate) fn argument_list(arguments: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = arguments.collect();
    if list.is_empty() {
        return String::new();
    }
    format!("({})", list.join(", "))
}
