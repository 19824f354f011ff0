//! A model compiled for exploration: initial states and steps over packed words.

use base::AtomId;
use model::{
    ActionId, Command, CommandId, Composition, InstanceId, Model, Pattern, Scalar, State, Step,
    StepSet, Stmt, StmtKind, Sync,
};

use crate::code::{End, Indexing, Machine, Op, Reg, Tables};
use crate::compile::{CompileError, Compiler, Operand};
use crate::label::{Label, LabelId, LabelTable};
use crate::layout::Layout;
use crate::sharing::Sharing;
use crate::store::StateStore;

/// A model compiled for exploration.
///
/// Invariant: its initial states and steps are exactly those of the model's reference semantics.
/// It fails on a state iff the reference semantics does.
#[derive(Debug)]
pub struct System<'m> {
    pub(crate) model: &'m Model,
    pub(crate) layout: Layout,
    pub(crate) tables: Tables,
    pub(crate) machine: Machine,
    pub(crate) labels: LabelTable,
    pub(crate) commands: Vec<CompiledCommand>,
    /// The commands by instance and location: row `r` is `by_location[rows[r]..rows[r + 1]]`, and
    /// location `l` of instance `i` is row `first_row[i] + l`.
    pub(crate) by_location: Vec<u32>,
    pub(crate) rows: Vec<u32>,
    pub(crate) first_row: Vec<u32>,
    pub(crate) teams: Vec<Team>,
    pub(crate) synchronous: bool,
    /// Can one state have the same step in two ways?
    pub(crate) may_repeat: bool,
    pub(crate) init: Option<u32>,
    pub(crate) scratch: Scratch,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledCommand {
    pub(crate) guard: u32,
    pub(crate) effect: u32,
    pub(crate) has_choice: bool,
    /// The label, if the command moves alone.
    pub(crate) alone: Option<LabelId>,
    /// The teams in which this command belongs to the first participant.
    pub(crate) leads: Vec<u32>,
}

/// Commands that move together.
#[derive(Clone, Debug)]
pub(crate) struct Team {
    pub(crate) action: ActionId,
    pub(crate) members: Vec<Vec<Member>>,
    /// Whether a sender and a receiver fit together.
    pub(crate) agreement: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) command: u32,
    pub(crate) effect: u32,
}

/// Buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) current: Vec<u64>,
    pub(crate) target: Vec<u64>,
    pub(crate) written: Vec<u64>,
    pub(crate) enabled: Vec<bool>,
    /// The commands enabled in the current state, by instance (synchronous composition only).
    pub(crate) enabled_by_instance: Vec<Vec<Member>>,
    pub(crate) outcomes: Vec<Vec<u64>>,
    pub(crate) merged: Vec<u64>,
}

/// The steps that leave a state.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub(crate) words: Vec<u64>,
    pub(crate) labels: Vec<LabelId>,
}

impl Steps {
    /// How many steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Is the state deadlocked?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.labels.clear();
    }

    pub(crate) fn target(&self, position: usize, n_words: usize) -> &[u64] {
        &self.words[position * n_words..][..n_words]
    }

    /// Hashes all targets and prefetches their slots.
    pub(crate) fn hash_targets(&self, hashes: &mut Vec<u64>, store: &StateStore) {
        hashes.clear();
        if self.labels.is_empty() {
            return;
        }
        for target in self
            .words
            .chunks_exact(self.words.len() / self.labels.len())
        {
            let hash = StateStore::hash(target);
            store.prefetch(hash);
            hashes.push(hash);
        }
    }

    pub(crate) fn push(&mut self, words: &[u64], label: LabelId) {
        self.words.extend_from_slice(words);
        self.labels.push(label);
    }
}

/// A run-time error of the model. The reference semantics, asked about the same state, says which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed;

impl<'m> System<'m> {
    /// Compiles a model.
    ///
    /// # Errors
    /// The model has a guard or effect that is too large.
    pub fn new(model: &'m Model) -> Result<Self, CompileError> {
        let layout = Layout::new(model);
        let tables = Tables {
            fields: layout.fields.clone(),
            channels: layout.channels.clone(),
            ..Tables::default()
        };
        let mut system = Self {
            model,
            tables,
            machine: Machine::default(),
            labels: LabelTable::new(),
            commands: Vec::new(),
            by_location: Vec::new(),
            rows: Vec::new(),
            first_row: Vec::new(),
            teams: Vec::new(),
            synchronous: model.parts().composition == Composition::Synchronous,
            may_repeat: false,
            init: None,
            scratch: Scratch::default(),
            layout,
        };
        system.compile_commands()?;
        system.compile_teams()?;
        system.index_by_location();
        system.compile_init()?;
        system.may_repeat = system.steps_may_repeat();
        system.prepare_scratch();
        Ok(system)
    }

    /// The model that was compiled.
    #[must_use]
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How many words a packed state has.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.layout.n_words
    }

    /// The state that packed words stand for.
    #[must_use]
    pub fn unpack(&self, words: &[u64]) -> State {
        self.layout.unpack(self.model, words)
    }

    /// The packed words of a state.
    #[must_use]
    pub fn pack(&self, state: &State) -> Vec<u64> {
        self.layout.pack(state)
    }

    /// What a label means.
    #[must_use]
    pub fn label(&self, id: LabelId) -> &Label {
        self.labels.get(id)
    }

    /// The label of a step.
    #[must_use]
    pub fn step_label(&self, steps: &Steps, position: usize) -> &Label {
        self.labels.get(steps.labels[position])
    }

    /// The packed target of a step.
    #[must_use]
    pub fn step_target<'s>(&self, steps: &'s Steps, position: usize) -> &'s [u64] {
        steps.target(position, self.layout.n_words)
    }

    /// Does a step with this label execute one of the commands?
    pub(crate) fn executes(&self, label: LabelId, set: &StepSet) -> bool {
        self.labels
            .get(label)
            .commands
            .iter()
            .any(|command| set.contains(*command))
    }

    fn compile_commands(&mut self) -> Result<(), CompileError> {
        let model = self.model;
        let sharing = Sharing::new(model);
        self.tables.n_shared = sharing.n_slots();
        for (position, command) in model.commands().iter().enumerate() {
            let id = CommandId::new(position);
            let step = model.step_of(id);
            let alone = !is_rendezvous(model, step) && !matches!(step.sync, Sync::Event { .. });
            let guard = self.compile_guard(command, step, &sharing)?;
            let effect = self.compile_effect(command, step, alone, None)?;
            let label = alone.then(|| {
                self.labels
                    .of_team(model, vec![model.action_of(id)], vec![id])
            });
            self.commands.push(CompiledCommand {
                guard,
                effect,
                has_choice: chooses(&step.effect),
                alone: label,
                leads: Vec::new(),
            });
        }
        Ok(())
    }

    /// Lists the commands that start at each location. A sender or receiver that nobody can ever
    /// meet is left out, as it is in the reference semantics: not even its guard is evaluated.
    fn index_by_location(&mut self) {
        let model = self.model;
        let mut in_team = vec![false; self.commands.len()];
        for member in self
            .teams
            .iter()
            .flat_map(|team| team.members.iter().flatten())
        {
            in_team[member.command as usize] = true;
        }
        let mut lists = Vec::new();
        for instance in 0..model.instances().len() {
            let n_locations = model.process_of(InstanceId::new(instance)).locations.len();
            self.first_row.push(lists.len() as u32);
            lists.resize(lists.len() + n_locations, Vec::new());
        }
        for (position, command) in model.commands().iter().enumerate() {
            if in_team[position] || self.commands[position].alone.is_some() {
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
    ) -> Result<u32, CompileError> {
        let model = self.model;
        let mut compiler = Compiler::new(model, &self.layout, &mut self.tables);
        compiler.sharing = Some(sharing);
        let start = compiler.begin(Some(command.instance), &command.bindings);
        let reject = compiler.label();
        compiler.jump_if(&step.guard, false, reject);
        match &step.sync {
            Sync::Send { channel, .. } if !is_rendezvous(model, step) => {
                let capacity = model.parts().channels[channel.channel.index()].capacity;
                let (first, index) = compiler.channel(channel);
                let dst = compiler.register();
                compiler.emit(Op::Length { dst, first, index });
                let room = compiler.label();
                compiler.jump_unless_equal(dst, Operand::Const(capacity as i64), room);
                compiler.emit(Op::Reject);
                compiler.place_label(room);
            }
            Sync::Receive { channel, patterns } if !is_rendezvous(model, step) => {
                let (first, index) = compiler.channel(channel);
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
                    if let Pattern::Match(expected) = pattern {
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
            _ => {}
        }
        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.end()?;
        Ok(start)
    }

    /// Communication, effect, new location. In a rendezvous `sender` is set for the receiver.
    fn compile_effect(
        &mut self,
        command: &Command,
        step: &Step,
        buffered: bool,
        sender: Option<CommandId>,
    ) -> Result<u32, CompileError> {
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
                let (first, index) = compiler.channel(channel);
                compiler.emit(Op::Append { first, index, src });
            }
            (Sync::Receive { channel, patterns }, None) if buffered => {
                let (first, index) = compiler.channel(channel);
                let message = compiler.registers(patterns.len().max(1));
                for component in 0..patterns.len() as u16 {
                    let dst = message + component;
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
        compiler.statements(&step.effect);
        compiler.store_location(command.instance, step.target);
        compiler.emit(Op::Accept);
        compiler.end()?;
        Ok(start)
    }

    fn compile_teams(&mut self) -> Result<(), CompileError> {
        let model = self.model;
        for transition in model.transitions() {
            if transition.participants.len() == 1
                && self.commands[transition.participants[0].alternatives[0].index()]
                    .alone
                    .is_some()
            {
                continue;
            }
            let mut team = Team {
                action: transition.action,
                members: Vec::new(),
                agreement: None,
            };
            for participant in &transition.participants {
                let member = |id: &CommandId| Member {
                    command: id.0,
                    effect: self.commands[id.index()].effect,
                };
                team.members
                    .push(participant.alternatives.iter().map(member).collect());
            }
            let first = transition.participants[0].alternatives[0];
            if model.is_handshake(first) {
                let receiver = transition.participants[1].alternatives[0];
                let (command, step) =
                    (&model.commands()[receiver.index()], model.step_of(receiver));
                team.agreement = Some(self.compile_agreement(first, receiver)?);
                team.members[1][0].effect =
                    self.compile_effect(command, step, false, Some(first))?;
            }
            for leader in &transition.participants[0].alternatives {
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
    ) -> Result<u32, CompileError> {
        let model = self.model;
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
        let (_, from) = compiler.channel(sent_on);
        compiler.enter(Some(receiving.instance), &receiving.bindings);
        let (_, to) = compiler.channel(channel);
        compiler.jump_unless_equal(from, Operand::Reg(to), reject);
        compiler.enter(Some(sending.instance), &sending.bindings);
        let message = compile_message(&mut compiler, model, sender);
        compiler.enter(Some(receiving.instance), &receiving.bindings);
        for (component, pattern) in patterns.iter().enumerate() {
            if let Pattern::Match(expected) = pattern {
                let expected = compiler.value(expected);
                compiler.jump_unless_equal(message + component as Reg, expected, reject);
            }
        }
        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.end()?;
        Ok(start)
    }

    fn compile_init(&mut self) -> Result<(), CompileError> {
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
    pub(crate) fn compile_atom(&mut self, atom: AtomId) -> Result<Option<u32>, CompileError> {
        let model = self.model;
        let model::AtomMeaning::State(expr) = &model.parts().atoms[atom.index()].meaning else {
            return Ok(None);
        };
        let mut compiler = self.compiler();
        let start = compiler.begin(None, &[]);
        let reject = compiler.label();
        compiler.jump_if(expr, false, reject);
        compiler.emit(Op::Accept);
        compiler.place_label(reject);
        compiler.emit(Op::Reject);
        compiler.end()?;
        self.machine.registers.resize(self.tables.n_registers, 0);
        Ok(Some(start))
    }

    /// Evaluates a compiled proposition.
    pub(crate) fn holds(&mut self, code: u32, words: &[u64]) -> Result<bool, Failed> {
        let Scratch {
            current, written, ..
        } = &mut self.scratch;
        current.copy_from_slice(words);
        match self
            .machine
            .run::<false>(&self.tables, code, current, written)
        {
            End::Accept => Ok(true),
            End::Reject => Ok(false),
            End::Fail => Err(Failed),
        }
    }

    fn steps_may_repeat(&self) -> bool {
        let model = self.model;
        let alternatives = |team: &Team| team.members.iter().any(|member| member.len() > 1);
        self.commands.iter().any(|command| command.has_choice)
            || model.actions().len() < model.transitions().len()
            || self.teams.iter().any(alternatives)
    }

    fn prepare_scratch(&mut self) {
        let n_words = self.layout.n_words;
        self.machine.registers = vec![0; self.tables.n_registers];
        self.machine.recalled = vec![None; self.tables.n_shared];
        self.scratch = Scratch {
            current: vec![0; n_words],
            target: vec![0; n_words],
            written: vec![0; n_words],
            enabled: vec![false; self.commands.len()],
            enabled_by_instance: vec![Vec::new(); self.model.instances().len()],
            outcomes: Vec::new(),
            merged: vec![0; n_words],
        };
    }

    /// Calls `visit` with every initial state, in a fixed order, until it returns an error.
    ///
    /// # Errors
    /// The error of `visit`; a constraint or value that fails is handed to it as [`Failed`] with
    /// the words of the state.
    pub fn for_each_initial<E>(
        &mut self,
        visit: &mut impl FnMut(&mut Self, &[u64], Result<(), Failed>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut words = vec![0; self.layout.n_words];
        // Every component with its choices; an odometer runs through all combinations.
        let mut wheels: Vec<(u32, Vec<i64>, i64, i64)> = Vec::new();
        for instance in 0..self.model.instances().len() {
            let locations = self.model.initial_locations(instance);
            let values: Vec<i64> = locations
                .iter()
                .map(|location| i64::from(location.0))
                .collect();
            let last = values.len() as i64 - 1;
            wheels.push((
                self.layout.first_location + instance as u32,
                values,
                0,
                last,
            ));
        }
        for cell in 0..self.model.cells().len() {
            let field = self.layout.first_cell + cell as u32;
            let (lo, hi) = match self.model.initial_value(cell) {
                Ok(Some(value)) => (value, value),
                Ok(None) => self.model.cells()[cell].ty.bounds(),
                Err(_) => return visit(self, &words, Err(Failed)),
            };
            wheels.push((field, Vec::new(), lo, hi));
        }
        let mut positions: Vec<i64> = wheels.iter().map(|wheel| wheel.2).collect();
        let put = |system: &Self, words: &mut [u64], wheel: &(u32, Vec<i64>, i64, i64), at: i64| {
            let field = &system.tables.fields[wheel.0 as usize];
            let value = if wheel.1.is_empty() {
                at
            } else {
                wheel.1[at as usize]
            };
            field.set_raw(words, field.encode(value));
        };
        for (wheel, &position) in wheels.iter().zip(&positions) {
            put(self, &mut words, wheel, position);
        }
        loop {
            match self.init.map_or(Ok(true), |init| self.holds(init, &words)) {
                Ok(true) => visit(self, &words, Ok(()))?,
                Ok(false) => {}
                Err(failed) => visit(self, &words, Err(failed))?,
            }
            let mut turning = wheels.len();
            loop {
                if turning == 0 {
                    return Ok(());
                }
                turning -= 1;
                let wheel = &wheels[turning];
                if positions[turning] < wheel.3 {
                    positions[turning] += 1;
                    put(self, &mut words, wheel, positions[turning]);
                    break;
                }
                positions[turning] = wheel.2;
                put(self, &mut words, wheel, wheel.2);
            }
        }
    }
}

/// Emits the components of a sender's message into registers that follow each other, checked
/// against the types of the channel.
fn compile_message(compiler: &mut Compiler<'_>, model: &Model, sender: CommandId) -> Reg {
    let Sync::Send { channel, payload } = &model.step_of(sender).sync else {
        unreachable!("the sender sends");
    };
    let types = &model.parts().channels[channel.channel.index()].payload;
    let first = compiler.registers(payload.len().max(1));
    for (position, (expr, ty)) in payload.iter().zip(types).enumerate() {
        let value = compiler.value(expr);
        let dst = first + position as Reg;
        compiler.copy_to(dst, value);
        if *ty != Scalar::Int {
            let (lo, hi) = ty.bounds();
            let range = Indexing {
                lo,
                len: (hi - lo) as u64 + 1,
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

fn store_message(compiler: &mut Compiler<'_>, patterns: &[Pattern], message: Reg) {
    for (component, pattern) in patterns.iter().enumerate() {
        if let Pattern::Store(place) = pattern {
            compiler.store(place, Operand::Reg(message + component as Reg));
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

fn chooses(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Choose(..) => true,
        StmtKind::If(_, then, otherwise) => chooses(then) || chooses(otherwise),
        StmtKind::For(_, _, _, body) => chooses(body),
        StmtKind::Assign(..) | StmtKind::Assert(_) => false,
    })
}
