//! From the parts of a model to its instances, commands, actions and cells.

use std::collections::BTreeMap;

use base::Span;

use crate::eval::Evaluation;
use crate::model::argument_list;
use crate::validate;
use crate::{
    Action, ActionId, Cell, Command, CommandId, Composition, Env, Expr, Initial, Instance,
    InstanceId, Model, ModelError, ModelParts, Participant, ProcessId, State, Step, Sync,
    Transition, VarId,
};

/// More commands than this are refused: the model would not be explored in a lifetime, and a typo
/// in a range is the likelier reason.
const MAX_COMMANDS: usize = 4_000_000;

impl ModelParts {
    /// Checks that the parts fit together and works out instances, commands, actions and cells.
    ///
    /// # Errors
    /// The first thing that does not fit: an id, a type, a name, a count. There are no parts that make
    /// this function panic, or the reference semantics of a model that it has made.
    pub fn finish(self) -> Result<Model, ModelError> {
        validate::timers(&self)?;
        let mut model = Model {
            parts: self,
            instances: Vec::new(),
            commands: Vec::new(),
            actions: Vec::new(),
            transitions: Vec::new(),
            cells: Vec::new(),
            first_instances: Vec::new(),
            copies: Vec::new(),
            starts: Vec::new(),
            command_actions: Vec::new(),
            reach: Vec::new(),
            levels: Vec::new(),
            timer_cells: Vec::new(),
        };

        model.type_timers();
        model.check_parts()?;
        validate::all(&model.parts)?;
        model.make_instances();
        model.make_cells();
        model.find_timer_cells();
        model.make_commands()?;
        model.make_transitions()?;
        model.rank_commands();
        Ok(model)
    }
}

impl Model {
    fn check_parts(&self) -> Result<(), ModelError> {
        for variable in &self.parts.vars {
            if let Initial::Values(values) = &variable.initial
                && values.iter().any(Expr::mentions_state)
            {
                return Err(ModelError {
                    code: "state-in-initial",
                    message: format!(
                        "the initial value of `{}` depends on the state",
                        variable.name
                    ),
                    span: variable.span,
                });
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
        let fail = |code, message: &str| {
            let message = message.to_owned();
            Err(ModelError {
                code,
                message,
                span: step.span,
            })
        };

        if self.parts.composition == Composition::Synchronous
            && !matches!(step.sync, Sync::Internal)
        {
            return fail(
                "synchronous-partners",
                "channels and events cannot be used in a synchronous composition",
            );
        }

        let ranges = step.parameters.iter().flat_map(|p| [&p.lo, &p.hi]);
        if ranges.chain([&step.condition]).any(Expr::mentions_state) {
            return fail(
                "state-in-parameter",
                "the range of an action parameter must not depend on the state",
            );
        }

        match &step.sync {
            Sync::Event { arguments, .. } if arguments.iter().any(Expr::mentions_state) => fail(
                "state-in-argument",
                "the arguments of an event must not depend on the state",
            ),
            _ => Ok(()),
        }
    }

    fn make_instances(&mut self) {
        for (position, process) in self.parts.processes.iter().enumerate() {
            let id = ProcessId::new(position);
            self.first_instances.push(self.instances.len());
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
                    .for_each(|index| add(Some(index), self.parts.instance_name(id, index))),
            }
        }
    }

    fn make_cells(&mut self) {
        for (position, variable) in self.parts.vars.iter().enumerate() {
            let var = VarId::new(position);
            let n_cells = variable.ty.n_cells(&self.parts.records);
            self.copies.push((self.cells.len(), n_cells));
            let mut add = |instance: Option<InstanceId>, prefix: &str| {
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
                let n_values = (i128::from(hi) - i128::from(lo) + 1).max(0);
                self.check_n_commands(longer.len() as i128 + n_values, span)?;
                for value in lo..=hi {
                    let mut next = command.clone();
                    next.bindings.push((parameter.bound, value));
                    longer.push(next);
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

        self.check_n_commands(kept.len() as i128, span)?;
        self.commands.extend(kept);
        Ok(())
    }

    /// Can there be this many more commands?
    fn check_n_commands(&self, n_more: i128, span: Span) -> Result<(), ModelError> {
        if self.commands.len() as i128 + n_more > MAX_COMMANDS as i128 {
            let message = format!("the model has more than {MAX_COMMANDS} actions");
            let code = "too-many-actions";
            return Err(ModelError {
                code,
                message,
                span,
            });
        }
        Ok(())
    }

    fn checked_static_value(
        &self,
        expr: &Expr,
        command: &Command,
        span: Span,
    ) -> Result<i64, ModelError> {
        let state = State::nowhere();
        let mut env = Env::of(command.instance, &command.bindings);
        let evaluation = Evaluation {
            model: self,
            state: &state,
        };

        evaluation.eval(expr, &mut env).map_err(|kind| {
            let message = format!("cannot work out a parameter or argument: {kind}");
            ModelError {
                code: "static-value",
                message,
                span,
            }
        })
    }

    /// The value of an expression without state that [`Model::make_transitions`] has evaluated.
    pub(crate) fn static_value(&self, expr: &Expr, command: &Command) -> i64 {
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
                    let label = self.step_of(id).label.clone();
                    let name = label.unwrap_or_else(|| self.command_name(id));
                    let action = self.action(name, span, &mut actions_by_name);
                    self.command_actions[position] = Some(action);
                    self.add_transition(action, &[(self.commands[position].instance, vec![id])]);
                }
            }
        }

        for ((event, arguments), team) in events {
            let event = &self.parts.events[event.index()];
            let name = format!(
                "{}{}",
                event.name,
                argument_list(arguments.iter().map(i64::to_string))
            );
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
        for id in team.iter().flat_map(|(_, alternatives)| alternatives) {
            let instance = self.commands[id.index()].instance;
            let start = (self.transitions.len(), instance, self.step_of(*id).source);
            self.starts.push(start);
        }
        let participants = team.iter().map(participant).collect();
        self.transitions.push(Transition {
            action,
            participants,
        });
    }
}
