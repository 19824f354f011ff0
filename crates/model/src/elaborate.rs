//! From the parts of a model to its instances, commands, actions and cells.

use std::collections::BTreeMap;

use base::Span;

use crate::eval::Evaluation;
use crate::{
    BoundId, Channel, ChannelId, Composition, Env, Expr, Initial, LocationId, ModelParts, Process,
    ProcessId, Quantifier, Scalar, State, Step, StepPattern, Sync, VarId,
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
    parts: ModelParts,
    instances: Vec<Instance>,
    commands: Vec<Command>,
    actions: Vec<Action>,
    transitions: Vec<Transition>,
    cells: Vec<Cell>,
    first_cells: BTreeMap<(VarId, Option<InstanceId>), usize>,
    command_actions: Vec<Option<ActionId>>,
}

/// More commands than this are refused: the model would not be explored in a lifetime, and a typo
/// in a range is the likelier reason.
const MAX_COMMANDS: usize = 4_000_000;

impl ModelParts {
    /// Works out instances, commands, actions and cells.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn finish(self) -> Result<Model, ModelError> {
        let mut model = Model {
            parts: self,
            instances: Vec::new(),
            commands: Vec::new(),
            actions: Vec::new(),
            transitions: Vec::new(),
            cells: Vec::new(),
            first_cells: BTreeMap::new(),
            command_actions: Vec::new(),
        };
        model.check_parts()?;
        model.make_instances();
        model.make_cells();
        model.make_commands()?;
        model.make_transitions()?;
        Ok(model)
    }
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
        let arguments: Vec<i64> = command.bindings[skipped..].iter().map(|b| b.1).collect();
        let instance = self.instance_name(command.instance);
        format!("{instance}.{}{}", step.name, argument_list(&arguments))
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
        let fits = |instance: &Instance| instance.process == process && instance.index == index;
        self.instances.iter().position(fits).map(InstanceId::new)
    }

    /// The first cell of a variable.
    #[must_use]
    pub fn first_cell(&self, var: VarId, instance: Option<InstanceId>) -> usize {
        self.first_cells[&(var, instance)]
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

    fn channel(&self, id: ChannelId) -> &Channel {
        &self.parts.channels[id.index()]
    }

    fn check_parts(&self) -> Result<(), ModelError> {
        for variable in &self.parts.vars {
            if let Initial::Values(values) = &variable.initial
                && values.iter().any(mentions_state)
            {
                return Err(ModelError {
                    message: format!(
                        "the initial value of `{}` depends on the state",
                        variable.name
                    ),
                    span: variable.span,
                });
            }
            if variable.initial == Initial::Any {
                let mut unbounded = false;
                let mut visit = |_, ty| unbounded |= ty == Scalar::Int;
                variable
                    .ty
                    .for_each_cell(&self.parts.records, "", &mut visit);
                if unbounded {
                    let name = &variable.name;
                    let message =
                        format!("`{name}` has no bounds, so it cannot start with any value");
                    return Err(ModelError {
                        message,
                        span: variable.span,
                    });
                }
            }
        }
        for step in self
            .parts
            .processes
            .iter()
            .flat_map(|process| &process.steps)
        {
            self.check_step(step)?;
        }
        Ok(())
    }

    fn check_step(&self, step: &Step) -> Result<(), ModelError> {
        let fail = |message: &str| {
            let message = message.to_owned();
            Err(ModelError {
                message,
                span: step.span,
            })
        };
        if self.parts.composition == Composition::Synchronous
            && !matches!(step.sync, Sync::Internal)
        {
            return fail("channels and events cannot be used in a synchronous composition");
        }
        let ranges = step.parameters.iter().flat_map(|p| [&p.lo, &p.hi]);
        if ranges.chain([&step.condition]).any(mentions_state) {
            return fail("the range of an action parameter must not depend on the state");
        }
        match &step.sync {
            Sync::Event { arguments, .. } if arguments.iter().any(mentions_state) => {
                fail("the arguments of an event must not depend on the state")
            }
            _ => Ok(()),
        }
    }

    fn make_instances(&mut self) {
        for (position, process) in self.parts.processes.iter().enumerate() {
            let id = ProcessId::new(position);
            let mut add = |index: Option<i64>, name: String| {
                self.instances.push(Instance {
                    process: id,
                    index,
                    name,
                });
            };
            match process.index {
                None => add(None, process.name.clone()),
                Some(range) => (range.lo..=range.hi)
                    .for_each(|index| add(Some(index), format!("{}[{index}]", process.name))),
            }
        }
    }

    fn make_cells(&mut self) {
        for (position, variable) in self.parts.vars.iter().enumerate() {
            let var = VarId::new(position);
            let mut add = |instance: Option<InstanceId>, prefix: &str| {
                self.first_cells.insert((var, instance), self.cells.len());
                let name = format!("{prefix}{}", variable.name);
                let records = &self.parts.records;
                variable.ty.for_each_cell(records, &name, &mut |name, ty| {
                    self.cells.push(Cell {
                        name,
                        ty,
                        var,
                        instance,
                    });
                });
            };
            let Some(process) = variable.owner else {
                add(None, "");
                continue;
            };
            for (position, instance) in self.instances.iter().enumerate() {
                if instance.process == process {
                    add(
                        Some(InstanceId::new(position)),
                        &format!("{}.", instance.name),
                    );
                }
            }
        }
    }

    fn make_commands(&mut self) -> Result<(), ModelError> {
        for position in 0..self.instances.len() {
            let instance = InstanceId::new(position);
            for step in 0..self.process_of(instance).steps.len() {
                self.make_commands_of_step(instance, step)?;
            }
        }
        Ok(())
    }

    fn make_commands_of_step(
        &mut self,
        instance: InstanceId,
        step: usize,
    ) -> Result<(), ModelError> {
        let description = &self.process_of(instance).steps[step];
        let span = description.span;
        let start = Command {
            instance,
            step,
            bindings: self.index_binding(instance),
        };
        let mut commands = vec![start];
        for parameter in &description.parameters {
            let mut longer = Vec::new();
            for command in commands {
                let lo = self.checked_static_value(&parameter.lo, &command, span)?;
                let hi = self.checked_static_value(&parameter.hi, &command, span)?;
                for value in lo..=hi {
                    let mut next = command.clone();
                    next.bindings.push((parameter.bound, value));
                    longer.push(next);
                    if self.commands.len() + longer.len() > MAX_COMMANDS {
                        let message = format!("the model has more than {MAX_COMMANDS} actions");
                        return Err(ModelError { message, span });
                    }
                }
            }
            commands = longer;
        }
        let mut kept = Vec::new();
        for command in commands {
            if self.checked_static_value(&description.condition, &command, span)? != 0 {
                kept.push(command);
            }
        }
        self.commands.extend(kept);
        Ok(())
    }

    fn checked_static_value(
        &self,
        expr: &Expr,
        command: &Command,
        span: Span,
    ) -> Result<i64, ModelError> {
        let state = State::nowhere();
        let mut env = Env::of(command.instance, command.bindings.clone());
        let evaluation = Evaluation {
            model: self,
            state: &state,
        };
        evaluation.eval(expr, &mut env).map_err(|kind| {
            let message = format!("cannot work out a parameter or argument: {kind}");
            ModelError { message, span }
        })
    }

    /// The value of an expression without state that [`Model::make_transitions`] has evaluated.
    fn static_value(&self, expr: &Expr, command: &Command) -> i64 {
        self.checked_static_value(expr, command, Span::nowhere())
            .expect("evaluated before")
    }

    fn make_transitions(&mut self) -> Result<(), ModelError> {
        self.command_actions = vec![None; self.commands.len()];
        let mut actions_by_name = BTreeMap::new();
        // An event with its arguments, and who can contribute what.
        let mut events: BTreeMap<_, BTreeMap<InstanceId, Vec<CommandId>>> = BTreeMap::new();
        for position in 0..self.commands.len() {
            let id = CommandId::new(position);
            let command = &self.commands[position];
            let span = self.step_of(id).span;
            match &self.step_of(id).sync {
                Sync::Event { event, arguments } => {
                    let mut values = Vec::new();
                    for argument in arguments {
                        values.push(self.checked_static_value(argument, command, span)?);
                    }
                    let team = events.entry((*event, values)).or_default();
                    team.entry(command.instance).or_default().push(id);
                }
                Sync::Receive { channel, .. } | Sync::Send { channel, .. }
                    if self.channel(channel.channel).capacity == 0 =>
                {
                    if self.is_handshake(id) {
                        self.make_rendezvous(id, &mut actions_by_name);
                    }
                }
                _ => {
                    let name = self.command_name(id);
                    let action = self.action(name, span, &mut actions_by_name);
                    self.command_actions[position] = Some(action);
                    self.add_transition(action, &[(self.commands[position].instance, vec![id])]);
                }
            }
        }
        for ((event, arguments), team) in events {
            let event = &self.parts.events[event.index()];
            let name = format!("{}{}", event.name, argument_list(&arguments));
            let span = event.span;
            let action = self.action(name, span, &mut actions_by_name);
            self.add_transition(action, &team.into_iter().collect::<Vec<_>>());
        }
        Ok(())
    }

    fn make_rendezvous(&mut self, sender: CommandId, actions: &mut BTreeMap<String, ActionId>) {
        let Sync::Send {
            channel: sent_on, ..
        } = &self.step_of(sender).sync
        else {
            unreachable!("the sender sends");
        };
        let channel = sent_on.channel;
        for position in 0..self.commands.len() {
            let receiver = CommandId::new(position);
            let fits = match &self.step_of(receiver).sync {
                Sync::Receive { channel: other, .. } => other.channel == channel,
                _ => false,
            };
            let (from, to) = (
                self.commands[sender.index()].instance,
                self.commands[position].instance,
            );
            if fits && from != to {
                let name = format!(
                    "{}/{}",
                    self.command_name(sender),
                    self.command_name(receiver)
                );
                let action = self.action(name, self.step_of(sender).span, actions);
                self.add_transition(action, &[(from, vec![sender]), (to, vec![receiver])]);
            }
        }
    }

    fn action(
        &mut self,
        name: String,
        span: Span,
        by_name: &mut BTreeMap<String, ActionId>,
    ) -> ActionId {
        *by_name.entry(name.clone()).or_insert_with(|| {
            self.actions.push(Action { name, span });
            ActionId::new(self.actions.len() - 1)
        })
    }

    fn add_transition(&mut self, action: ActionId, team: &[(InstanceId, Vec<CommandId>)]) {
        let participant = |(instance, alternatives): &(InstanceId, Vec<CommandId>)| Participant {
            instance: *instance,
            alternatives: alternatives.clone(),
        };
        let participants = team.iter().map(participant).collect();
        self.transitions.push(Transition {
            action,
            participants,
        });
    }
}

fn argument_list(arguments: &[i64]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    let list: Vec<String> = arguments.iter().map(i64::to_string).collect();
    format!("({})", list.join(", "))
}

fn mentions_state(expr: &Expr) -> bool {
    match expr {
        Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) | Expr::Bound(_) => false,
        Expr::Read(_) | Expr::At { .. } | Expr::Length(_) => true,
        Expr::Not(inner) | Expr::Neg(inner) => mentions_state(inner),
        Expr::Binary(_, left, right) => mentions_state(left) || mentions_state(right),
        Expr::Ite(a, b, c) => [a, b, c].into_iter().any(|part| mentions_state(part)),
        Expr::Quantified {
            quantifier: Quantifier::Forall | Quantifier::Exists | Quantifier::Sum,
            lo,
            hi,
            body,
            ..
        } => [lo, hi, body].into_iter().any(|part| mentions_state(part)),
    }
}
