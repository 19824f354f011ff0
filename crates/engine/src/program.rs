//! Compiling the commands of a model, alone and in teams, its initial constraint and its atoms.

use base::{AtomId, bits};
use model::{
    AtomMeaning, Command, CommandId, InstanceId, Model, Pattern, Setting, Step, Stmt, StmtKind,
    Sync,
};

use crate::compile::{ChannelAccess, Code, CompileError, Compiler, Operand};
use crate::footprint::Footprint;
use crate::sharing::Sharing;
use crate::system::{CompiledCommand, Member, System, Team};
use jit::{Indexing, Op, Reg};

/// Effects with more combinations of choices keep them for when they are executed.
const MAX_UNFOLDED_CHOICES: usize = 32;

impl System<'_> {
    pub(crate) fn compile_commands(&mut self) -> Result<(), CompileError> {
        let model = self.model;
        let sharing = Sharing::new(model);
        self.tables.n_shared = sharing.n_slots();
        for (position, command) in model.commands().iter().enumerate() {
            let id = CommandId::new(position);
            let step = model.step_of(id);
            // shape: rendezvous are asked for beside; all other steps are taken alone.
            let alone = !is_rendezvous(model, step) && !matches!(step.sync, Sync::Event { .. });
            let guard = self.compile_guard(command, step, &sharing)?;
            let effect = self.compile_effect(command, step, alone, None, None)?;
            let unfolded = if alone {
                self.unfold_choices(command, step)?
            } else {
                Vec::new()
            };
            let has_choice = chooses(model, &step.effect);
            let mut condition_reads = guard.footprint.reads.clone();
            // A choice of one value has a condition, too.
            if effect.can_reject {
                bits::union_into(&mut condition_reads, &effect.footprint.reads);
            }
            self.effect_footprints
                .insert(effect.start, effect.footprint.clone());
            let mut footprint = guard.footprint;
            footprint.union(&effect.footprint);
            // The location was looked at to find the command.
            let location = self.layout.first_location + command.instance.0;
            footprint.read_fields(&self.tables.fields, location..location + 1);
            let is_dead = self.elimination.never_executed[position];
            let label = (alone && !is_dead).then(|| {
                self.labels
                    .of_team(model, vec![model.action_of(id)], vec![id], Vec::new())
            });
            self.commands.push(CompiledCommand {
                guard: guard.start,
                effect: effect.start,
                footprint,
                condition_reads,
                guard_can_fail: guard.can_fail && !is_dead,
                effect_can_fail: effect.can_fail && !is_dead,
                effect_can_reject: effect.can_reject,
                has_choice,
                unfolded,
                alone: label,
                leads: Vec::new(),
                priority: step.priority,
                reach: model.reach(id),
            });
        }

        Ok(())
    }

    /// Lists the commands that start at each location. A sender or receiver that no process can
    /// ever meet is left out, as it is in the reference semantics: not even its guard is evaluated.
    /// And so are commands that are never executed.
    pub(crate) fn index_by_location(&mut self) {
        let model = self.model;
        let mut in_team = vec![false; self.commands.len()];
        // The guard of a member is evaluated even if the others can never be in place.
        let teams = model.transitions().iter();
        for member in teams.flat_map(|team| &team.participants) {
            for command in &member.alternatives {
                in_team[command.index()] = true;
            }
        }

        let mut lists = Vec::new();
        for instance in 0..model.instances().len() {
            let n_locations = model.process_of(InstanceId::new(instance)).locations.len();
            self.first_row.push(lists.len() as u32);
            lists.resize(lists.len() + n_locations, Vec::new());
        }

        for (position, command) in model.commands().iter().enumerate() {
            let is_dead = self.elimination.never_executed[position];
            if !is_dead && (in_team[position] || self.commands[position].alone.is_some()) {
                let source = model.step_of(CommandId::new(position)).source;
                let row = self.first_row[command.instance.index()] as usize + source.index();
                lists[row].push(position as u32);
            }
        }

        for list in lists {
            self.rows.push(self.by_location.len() as u32);
            self.by_location.extend(list);
        }

        self.rows.push(self.by_location.len() as u32);
    }

    fn compiler(&mut self) -> Compiler<'_> {
        Compiler::new(self.model, &self.layout, &mut self.tables)
    }

    /// Guard and, for a buffered channel, room or a matching message.
    fn compile_guard(
        &mut self,
        command: &Command,
        step: &Step,
        sharing: &Sharing,
    ) -> Result<Code, CompileError> {
        let model = self.model;
        let mut compiler = Compiler::new(model, &self.layout, &mut self.tables);
        compiler.sharing = Some(sharing);

        let start = compiler.begin(Some(command.instance), &command.bindings);
        let reject = compiler.label();
        compiler.jump_if(&step.guard, false, reject);
        match &step.sync {
            Sync::Send { channel, .. } if !is_rendezvous(model, step) => {
                let capacity = model.parts().channels[channel.channel.index()].capacity;
                let (first, index) = compiler.channel(channel, ChannelAccess::Length);
                let dst = compiler.register();
                compiler.emit(Op::Length { dst, first, index });
                let room = compiler.label();
                compiler.jump_unless_equal(dst, Operand::Const(capacity as i64), room);
                compiler.emit(Op::Reject);
                compiler.place_label(room);
            }
            Sync::Receive { channel, patterns } if !is_rendezvous(model, step) => {
                let (first, index) = compiler.channel(channel, receipt_condition(patterns));
                let length = compiler.register();
                compiler.emit(Op::Length {
                    dst: length,
                    first,
                    index,
                });
                let message = compiler.label();
                compiler.jump_unless_equal(length, Operand::Const(0), message);
                compiler.emit(Op::Reject);
                compiler.place_label(message);
                for (component, pattern) in patterns.iter().enumerate() {
                    if let Some(expected) = pattern.matched() {
                        let dst = compiler.register();
                        let component = component as u16;
                        compiler.emit(Op::Head {
                            dst,
                            first,
                            index,
                            component,
                        });
                        let expected = compiler.value(expected);
                        compiler.jump_unless_equal(dst, expected, reject);
                    }
                }
            }
            Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } | Sync::Event { .. } => {}
        }

        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.finish(start)
    }

    /// The effects of a command that moves alone, one for each combination of choices; none if
    /// there are no choices, or many, or some that are not known now.
    fn unfold_choices(&mut self, command: &Command, step: &Step) -> Result<Vec<u32>, CompileError> {
        if !chooses(self.model, &step.effect) {
            return Ok(Vec::new());
        }
        let mut compiler = self.compiler();
        compiler.enter(Some(command.instance), &command.bindings);
        let combinations = compiler.choices_of(&step.effect, MAX_UNFOLDED_CHOICES);
        let mut unfolded = Vec::new();
        for choices in combinations.unwrap_or_default() {
            let effect = self.compile_effect(command, step, true, None, Some(choices))?;
            unfolded.push(effect.start);
        }
        Ok(unfolded)
    }

    /// Communication, effect, new location. In a rendezvous `sender` is set for the receiver. With
    /// `choices`, these are made.
    fn compile_effect(
        &mut self,
        command: &Command,
        step: &Step,
        buffered: bool,
        sender: Option<CommandId>,
        choices: Option<Vec<i64>>,
    ) -> Result<Code, CompileError> {
        let model = self.model;
        let mut compiler = self.compiler();
        let start = compiler.begin(Some(command.instance), &command.bindings);
        match (&step.sync, sender) {
            (Sync::Receive { patterns, .. }, Some(sender)) => {
                let sending = &model.commands()[sender.index()];
                compiler.enter(Some(sending.instance), &sending.bindings);
                let message = compile_message(&mut compiler, model, sender);
                compiler.enter(Some(command.instance), &command.bindings);
                store_message(&mut compiler, patterns, message);
            }
            (Sync::Send { channel, .. }, None) if buffered => {
                let id = command_id(model, command);
                let src = compile_message(&mut compiler, model, id);
                let (first, index) = compiler.channel(channel, ChannelAccess::Append);
                compiler.emit(Op::Append { first, index, src });
            }
            (Sync::Receive { channel, patterns }, None) if buffered => {
                let (first, index) = compiler.channel(channel, ChannelAccess::Take);
                let message = compiler.registers(patterns.len().max(1));
                for component in 0..patterns.len() as u16 {
                    let dst = message.wrapping_add(component);
                    compiler.emit(Op::Head {
                        dst,
                        first,
                        index,
                        component,
                    });
                }
                compiler.emit(Op::Drop { first, index });
                store_message(&mut compiler, patterns, message);
            }
            _ => {}
        }

        compiler.made_choices = choices.map(Vec::into_iter);
        compiler.statements(&step.effect);
        compiler.store_location(command.instance, step.target);
        compiler.emit(Op::Accept);
        compiler.finish(start)
    }

    pub(crate) fn compile_teams(&mut self) -> Result<(), CompileError> {
        let model = self.model;
        for (position, transition) in model.transitions().iter().enumerate() {
            if transition.participants.len() == 1
                && self.commands[transition.participants[0].alternatives[0].index()]
                    .alone
                    .is_some()
            {
                continue;
            }
            let is_dead = |id: &CommandId| self.elimination.never_executed[id.index()];
            let mut members = transition.participants.iter();
            if members.any(|member| member.alternatives.iter().all(is_dead)) {
                continue;
            }
            let mut team = Team {
                action: transition.action,
                transition: position,
                members: Vec::new(),
                agreement: None,
                can_fail: false,
                footprint: Footprint::new(self.layout.n_words),
            };
            for participant in &transition.participants {
                let member = |id: &CommandId| Member {
                    command: id.0,
                    effect: self.commands[id.index()].effect,
                };
                let alternatives = participant.alternatives.iter();
                let possible = alternatives.filter(|id| !is_dead(id));
                team.members.push(possible.map(member).collect());
            }
            let first = transition.participants[0].alternatives[0];
            if model.is_handshake(first) {
                let receiver = transition.participants[1].alternatives[0];
                let (command, step) =
                    (&model.commands()[receiver.index()], model.step_of(receiver));
                let agreement = self.compile_agreement(first, receiver)?;
                let effect = self.compile_effect(command, step, false, Some(first), None)?;
                team.agreement = Some(agreement.start);
                team.can_fail = agreement.can_fail || effect.can_fail;
                team.footprint.union(&agreement.footprint);
                team.footprint.union(&effect.footprint);
                team.members[1][0].effect = effect.start;
                self.effect_footprints
                    .insert(effect.start, effect.footprint);
            }
            let leaders = transition.participants[0].alternatives.iter();
            for leader in leaders.filter(|id| !self.elimination.never_executed[id.index()]) {
                self.commands[leader.index()]
                    .leads
                    .push(self.teams.len() as u32);
            }
            self.teams.push(team);
        }

        Ok(())
    }

    /// Do the channels of sender and receiver agree, and does the message match?
    fn compile_agreement(
        &mut self,
        sender: CommandId,
        receiver: CommandId,
    ) -> Result<Code, CompileError> {
        let model = self.model;
        // shape: the caller names a sender and a receiver.
        let (
            Sync::Send {
                channel: sent_on, ..
            },
            Sync::Receive { channel, patterns },
        ) = (&model.step_of(sender).sync, &model.step_of(receiver).sync)
        else {
            unreachable!("a rendezvous pairs a sender with a receiver");
        };

        let (sending, receiving) = (
            &model.commands()[sender.index()],
            &model.commands()[receiver.index()],
        );
        let mut compiler = self.compiler();
        let start = compiler.begin(Some(sending.instance), &sending.bindings);
        let reject = compiler.label();
        let (_, from) = compiler.channel(sent_on, ChannelAccess::Name);
        compiler.enter(Some(receiving.instance), &receiving.bindings);

        let (_, to) = compiler.channel(channel, ChannelAccess::Name);
        compiler.jump_unless_equal(from, Operand::Reg(to), reject);
        compiler.enter(Some(sending.instance), &sending.bindings);

        let message = compile_message(&mut compiler, model, sender);
        compiler.enter(Some(receiving.instance), &receiving.bindings);
        for (component, pattern) in patterns.iter().enumerate() {
            if let Some(expected) = pattern.matched() {
                let expected = compiler.value(expected);
                compiler.jump_unless_equal(
                    message.wrapping_add(component as Reg),
                    expected,
                    reject,
                );
            }
        }

        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.finish(start)
    }

    pub(crate) fn compile_init(&mut self) -> Result<(), CompileError> {
        let constraints = &self.model.parts().init;
        if constraints.is_empty() {
            return Ok(());
        }
        let mut compiler = self.compiler();
        let start = compiler.begin(None, &[]);
        let reject = compiler.label();
        for constraint in constraints {
            compiler.jump_if(constraint, false, reject);
        }
        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.end()?;
        self.init = Some(start);
        Ok(())
    }

    /// Compiles a state proposition; [`System::holds`] evaluates it.
    pub(crate) fn compile_atom(&mut self, atom: AtomId) -> Result<Option<Code>, CompileError> {
        let model = self.model;
        let expr = match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::State(expr) => expr,
            AtomMeaning::Certainly(expr, value) => &model.certainly(expr, *value),
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::TimerSet(_) => return Ok(None),
        };
        let mut compiler = self.compiler();
        let start = compiler.begin(None, &[]);
        let reject = compiler.label();
        compiler.jump_if(expr, false, reject);
        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        let code = compiler.finish(start)?;
        self.machine.registers.resize(self.tables.n_registers, 0);
        self.propositions.push(code.start);
        Ok(Some(code))
    }
}

/// Emits the components of a sender's message into registers that follow each other, checked
/// against the types of the channel.
fn compile_message(compiler: &mut Compiler<'_>, model: &Model, sender: CommandId) -> Reg {
    // shape: the caller names a sender.
    let Sync::Send { channel, payload } = &model.step_of(sender).sync else {
        unreachable!("the sender sends");
    };
    let types = &model.parts().channels[channel.channel.index()].payload;
    let first = compiler.registers(payload.len().max(1));

    for (position, (expr, ty)) in payload.iter().zip(types).enumerate() {
        let value = compiler.value(expr);
        let dst = first.wrapping_add(position as Reg);
        compiler.copy_to(dst, value);
        let (lo, hi) = ty.bounds();
        if (lo, hi) != (i64::MIN, i64::MAX) {
            let range = Indexing {
                lo,
                len: hi.wrapping_sub(lo) as u64 + 1,
                stride: 0,
            };
            let indexing = compiler.indexing(range);
            let unused = compiler.register();
            compiler.emit(Op::Index {
                dst: unused,
                src: dst,
                indexing,
            });
        }
    }

    first
}

/// What decides whether a message can be received.
fn receipt_condition(patterns: &[Pattern]) -> ChannelAccess {
    let looks = |pattern: &Pattern| match pattern {
        Pattern::Match(_) => true,
        Pattern::Store(_) | Pattern::Ignore => false,
    };
    if patterns.iter().any(looks) {
        ChannelAccess::Oldest
    } else {
        ChannelAccess::Length
    }
}

fn store_message(compiler: &mut Compiler<'_>, patterns: &[Pattern], message: Reg) {
    for (component, pattern) in patterns.iter().enumerate() {
        if let Some(place) = pattern.stored() {
            compiler.store(place, Operand::Reg(message.wrapping_add(component as Reg)));
        }
    }
}

fn command_id(model: &Model, command: &Command) -> CommandId {
    let position = model
        .commands()
        .iter()
        .position(|other| std::ptr::eq(other, command));
    CommandId::new(position.expect("commands come from the model"))
}

fn is_rendezvous(model: &Model, step: &Step) -> bool {
    match &step.sync {
        Sync::Send { channel, .. } | Sync::Receive { channel, .. } => {
            model.parts().channels[channel.channel.index()].capacity == 0
        }
        Sync::Internal | Sync::Event { .. } => false,
    }
}

pub(crate) fn chooses(model: &Model, statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        // A choice of one value is a name for it.
        StmtKind::Choose(_, lo, hi, _) => lo != hi,
        StmtKind::If(_, then, otherwise) => chooses(model, then) || chooses(model, otherwise),
        StmtKind::For(_, _, _, body) | StmtKind::While(_, body) => chooses(model, body),
        StmtKind::SetTimer(place, Setting::To(_)) => {
            let timer = model.timer(place.var);
            timer.is_some_and(|timer| timer.stretched_from.is_some())
        }
        StmtKind::SetTimer(place, Setting::Any) => model
            .timer(place.var)
            .is_some_and(|timer| timer.any.is_some()),
        StmtKind::Tick => model.abstract_timers().next().is_some(),
        StmtKind::Assign(..)
        | StmtKind::Assert(_)
        | StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::Fail(_)
        | StmtKind::Exhausted => false,
    })
}
