//! Initial states and steps, straight from their meaning.

use base::Span;
use smallvec::{SmallVec, smallvec};

use crate::eval::{Evaluation, Fault};
use crate::execute::{self, Branch, Branches, Located};
use crate::priority::Ruling;
use crate::{
    Command, CommandId, Composition, Env, ErrorKind, Expr, Few, Initial, InstanceId, Model,
    Pattern, RunTimeError, State, Step, Successor, Sync, Transition,
};

/// What a handshake hands over.
type Message = Vec<i64>;

impl Model {
    /// Is this an initial state?
    ///
    /// # Errors
    /// A run-time error in an initial value or constraint.
    pub fn is_initial(&self, state: &State) -> Result<bool, RunTimeError> {
        for start in self.before_normalisation(state) {
            if self.is_start(&start)? && self.normalised(start) == *state {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Is this an initial state, before it is normalised?
    fn is_start(&self, state: &State) -> Result<bool, RunTimeError> {
        let starts = |(instance, location)| self.initial_locations(instance).contains(location);
        if !state.locations.iter().enumerate().all(starts)
            || state.channels.iter().any(|channel| !channel.is_empty())
        {
            return Ok(false);
        }
        for (position, cell) in self.cells().iter().enumerate() {
            let value = state.cells[position];
            let expected = self.initial_value(position)?;
            if expected.is_some_and(|expected| expected != value) || !cell.ty.contains(value) {
                return Ok(false);
            }
        }
        self.satisfies_init(state)
    }

    /// All initial states, in a fixed order. There may be very many.
    ///
    /// # Errors
    /// A run-time error in an initial value or constraint.
    pub fn initial_states(&self) -> Result<Vec<State>, RunTimeError> {
        let empty = State {
            locations: Vec::new(),
            cells: vec![0; self.cells().len()],
            channels: vec![Vec::new(); self.n_single_channels()],
        };
        let mut states = vec![empty];

        for instance in 0..self.instances().len() {
            states = branch(
                states,
                self.initial_locations(instance),
                |state, location| {
                    state.locations.push(*location);
                },
            );
        }

        for position in 0..self.cells().len() {
            let (lo, hi) = self.cells()[position].ty.bounds();
            let values: Vec<i64> = match self.initial_value(position)? {
                Some(value) => vec![value],
                None => (lo..=hi).collect(),
            };
            states = branch(states, &values, |state, value| {
                state.cells[position] = *value
            });
        }

        let mut kept = Vec::new();
        for state in states {
            if self.satisfies_init(&state)? {
                kept.push(self.normalised(state));
            }
        }
        if self.parts().control.is_some() {
            kept = sorted(kept);
        }
        Ok(kept)
    }

    /// The value that a cell starts with, or nothing if it may start with any value of its type.
    ///
    /// # Errors
    /// A run-time error in the initial value.
    pub fn initial_value(&self, position: usize) -> Result<Option<i64>, RunTimeError> {
        let cell = &self.cells()[position];
        let variable = &self.parts().vars[cell.var.index()];
        let Initial::Values(values) = &variable.initial else {
            return Ok(None);
        };
        let mut env = match cell.instance {
            Some(instance) => Env::of(instance, &self.index_binding(instance)),
            None => Env::empty(),
        };
        let offset = position - self.first_cell(cell.var, cell.instance);
        let value = self.eval(&values[offset], &State::nowhere(), &mut env, variable.span)?;
        if cell.ty.contains(value) {
            return Ok(Some(value));
        }
        let kind = ErrorKind::out_of_range(&cell.name, value);
        Err(error(kind, variable.span))
    }

    /// Does the state satisfy the initial constraints (whatever its values)?
    ///
    /// # Errors
    /// A run-time error in a constraint.
    pub fn satisfies_init(&self, state: &State) -> Result<bool, RunTimeError> {
        for constraint in &self.parts().init {
            if self.eval(constraint, state, &mut Env::empty(), Span::nowhere())? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All steps that leave a state, each once, in a fixed order. None means deadlock.
    ///
    /// # Errors
    /// A run-time error in a guard or effect.
    pub fn successors(&self, state: &State) -> Result<Vec<Successor>, RunTimeError> {
        let mut found = match self.ruling_steps(state)? {
            Ruling::Steps(found) => found,
            Ruling::Others => Vec::new(),
        };
        for step in &mut found {
            let target = std::mem::replace(&mut step.target, State::nowhere());
            step.target = self.normalised(target);
        }
        merge_equal_steps(&mut found);
        Ok(found)
    }

    /// The possible steps of one transition, whatever others there are: priorities and control are
    /// not looked at.
    ///
    /// # Errors
    /// A run-time error in a guard or effect.
    pub fn steps_of(
        &self,
        transition: &Transition,
        state: &State,
    ) -> Result<Vec<Successor>, RunTimeError> {
        let mut found = Vec::new();
        for &level in self.levels() {
            self.take(transition, level, state, &mut found)?;
        }
        Ok(found)
    }

    /// The possible steps of exactly one priority: all of them, or only those in which `mover` moves.
    pub(crate) fn steps_of_level(
        &self,
        state: &State,
        level: i8,
        mover: Option<InstanceId>,
    ) -> Result<Vec<Successor>, RunTimeError> {
        let mut found = Vec::new();
        match self.parts().composition {
            Composition::Interleaving => {
                // Most transitions start elsewhere. None of their guards is looked at, so nothing is lost.
                let mut last = None;
                for &(transition, instance, source) in &self.starts {
                    if state.locations[instance.index()] != source || last == Some(transition) {
                        continue;
                    }
                    last = Some(transition);
                    let transition = &self.transitions()[transition];
                    let takes_part = |p: InstanceId| {
                        let mut participants = transition.participants.iter();
                        participants.any(|participant| participant.instance == p)
                    };
                    if mover.is_none_or(takes_part) {
                        self.take(transition, level, state, &mut found)?;
                    }
                }
            }
            Composition::Synchronous => {
                found = self.take_together(level, state)?;
                found.retain(|step| mover.is_none_or(|p| step.movers.contains(&p)));
            }
        }
        Ok(found)
    }

    /// The steps of a run: those of [`Model::successors`], or the idle step in a deadlock.
    ///
    /// # Errors
    /// A run-time error in a guard or effect.
    pub fn steps_or_idle(&self, state: &State) -> Result<Vec<Successor>, RunTimeError> {
        let mut steps = self.successors(state)?;
        if steps.is_empty() {
            steps.push(Successor {
                actions: Few::new(),
                movers: Few::new(),
                commands: Few::new(),
                timers_set: Vec::new(),
                target: state.clone(),
            });
        }
        Ok(steps)
    }

    /// The guards of commands that only take part in steps of lower priority are not evaluated.
    fn take(
        &self,
        transition: &Transition,
        level: i8,
        state: &State,
        found: &mut Vec<Successor>,
    ) -> Result<(), RunTimeError> {
        let with_action = |mut error: RunTimeError| {
            error.action = Some(transition.action);
            error
        };
        let mut enabled: Few<Few<CommandId>> = Few::new();
        for participant in &transition.participants {
            let mut alternatives = Few::new();
            for &command in &participant.alternatives {
                if self.reach(command) >= level
                    && self.is_enabled(command, state).map_err(with_action)?
                {
                    alternatives.push(command);
                }
            }
            enabled.push(alternatives);
        }

        // A command may be part of teams of several priorities.
        let mut add_steps = |team: &[CommandId]| {
            if self.team_priority(team) != Some(level) {
                return Ok(());
            }
            let add = &mut |target, timers_set| {
                found.push(Successor {
                    actions: smallvec![transition.action],
                    movers: self.movers(team),
                    commands: in_order(Few::from_slice(team)),
                    timers_set,
                    target,
                });
            };
            self.execute_team(team, state, add).map_err(with_action)
        };
        match enabled.as_slice() {
            [alone] => alone.chunks(1).try_for_each(&mut add_steps),
            _ => combinations(&enabled)
                .iter()
                .try_for_each(|team| add_steps(team)),
        }
    }

    /// Synchronous composition: every process that can move does; the others stay.
    fn take_together(&self, level: i8, state: &State) -> Result<Vec<Successor>, RunTimeError> {
        let mut enabled: Vec<Vec<CommandId>> = vec![Vec::new(); self.instances().len()];
        for (position, command) in self.commands().iter().enumerate() {
            let id = CommandId::new(position);
            if self.is_enabled(id, state)? {
                enabled[command.instance.index()].push(id);
            }
        }

        enabled.retain(|alternatives| !alternatives.is_empty());
        if enabled.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let at_level = |team: &Vec<CommandId>| self.team_priority(team) == Some(level);

        for team in combinations(&enabled).into_iter().filter(at_level) {
            self.execute_team(&team, state, &mut |target, timers_set| {
                found.push(Successor {
                    actions: in_order(team.iter().map(|c| self.action_of(*c)).collect()),
                    movers: self.movers(&team),
                    commands: in_order(Few::from_slice(&team)),
                    timers_set,
                    target,
                });
            })?;
        }

        Ok(found)
    }

    pub(crate) fn movers(&self, team: &[CommandId]) -> Few<InstanceId> {
        let instance = |command: &CommandId| self.commands()[command.index()].instance;
        in_order(team.iter().map(instance).collect())
    }

    /// Location and guard; for a buffered channel also room or a matching message.
    pub(crate) fn is_enabled(&self, id: CommandId, state: &State) -> Result<bool, RunTimeError> {
        let (command, step) = (&self.commands()[id.index()], self.step_of(id));
        if state.locations[command.instance.index()] != step.source {
            return Ok(false);
        }
        let mut env = self.env_of(command);
        if self.eval(&step.guard, state, &mut env, step.span)? == 0 {
            return Ok(false);
        }
        self.channel_allows(step, state, &mut env)
            .map_err(|fault| error(fault, step.span))
    }

    fn channel_allows(&self, step: &Step, state: &State, env: &mut Env) -> Result<bool, Fault> {
        let evaluation = Evaluation { model: self, state };
        match &step.sync {
            Sync::Send { channel, .. } => {
                let capacity = self.parts().channels[channel.channel.index()].capacity;
                let single = evaluation.single_channel(channel, env)?;
                Ok(capacity == 0 || state.channels[single].len() < capacity)
            }
            Sync::Receive { channel, patterns } => {
                let capacity = self.parts().channels[channel.channel.index()].capacity;
                let single = evaluation.single_channel(channel, env)?;
                match state.channels[single].first() {
                    _ if capacity == 0 => Ok(true),
                    None => Ok(false),
                    Some(message) => matches(&evaluation, patterns, message, env),
                }
            }
            Sync::Internal | Sync::Event { .. } => Ok(true),
        }
    }

    /// Visits all states in which a team of commands may leave `state`, each command reading `state`
    /// and its own writes only; and which abstract timers are set on the way.
    pub(crate) fn execute_team(
        &self,
        team: &[CommandId],
        state: &State,
        visit: &mut dyn FnMut(State, Vec<usize>),
    ) -> Result<(), RunTimeError> {
        let execute = |id: CommandId, message: Option<&Message>, branches: &mut Branches| {
            let executed = self.execute(id, state, message, branches);
            executed.map_err(|(fault, span)| error(fault, span))
        };

        // What one command did need not be merged with what others did.
        if let [id] = team {
            let mut branches = Branches::new();
            execute(*id, None, &mut branches)?;
            for branch in &mut branches {
                let target = std::mem::replace(&mut branch.state, State::nowhere());
                visit(target, sorted(std::mem::take(&mut branch.timers_set)));
            }
            return Ok(());
        }

        let message = match team {
            [sender, receiver] if self.is_handshake(*sender) => {
                let Some(message) = self.rendezvous(*sender, *receiver, state)? else {
                    return Ok(());
                };
                Some(message)
            }
            _ => None,
        };

        let mut members = Vec::new();
        for &id in team {
            let mut branches = Branches::new();
            execute(id, message.as_ref(), &mut branches)?;
            members.push(branches);
        }

        // A step that some member cannot take does not happen, so it has no conflicts either.
        if members.iter().any(Branches::is_empty) {
            return Ok(());
        }

        let mut results = vec![(state.clone(), Vec::new(), Vec::new())];
        for (&id, branches) in team.iter().zip(&members) {
            let mut merged = Vec::new();
            for (so_far, written, timers_set) in &results {
                for branch in branches {
                    let (state, written) = self.combine(so_far, written, branch, id)?;
                    let timers_set = [timers_set.as_slice(), &branch.timers_set].concat();
                    merged.push((state, written, timers_set));
                }
            }
            results = merged;
        }

        for (state, _, timers_set) in results {
            visit(state, sorted(timers_set));
        }
        Ok(())
    }

    /// The message that the first of two commands hands to the second; nothing if they do not fit.
    pub(crate) fn rendezvous(
        &self,
        sender: CommandId,
        receiver: CommandId,
        state: &State,
    ) -> Result<Option<Message>, RunTimeError> {
        let (send, receive) = (self.step_of(sender), self.step_of(receiver));
        let (
            Sync::Send { channel, payload },
            Sync::Receive {
                channel: other,
                patterns,
            },
        ) = (&send.sync, &receive.sync)
        else {
            unreachable!("a rendezvous pairs a sender with a receiver");
        };

        let in_send = |fault: Fault| error(fault, send.span);
        let in_receive = |fault: Fault| error(fault, receive.span);
        let evaluation = Evaluation { model: self, state };
        let mut send_env = self.env_of(&self.commands()[sender.index()]);
        let mut receive_env = self.env_of(&self.commands()[receiver.index()]);
        let from = evaluation
            .single_channel(channel, &mut send_env)
            .map_err(in_send)?;
        let to = evaluation
            .single_channel(other, &mut receive_env)
            .map_err(in_receive)?;
        if from != to {
            return Ok(None);
        }
        let message = self
            .message(channel, payload, state, &mut send_env)
            .map_err(in_send)?;
        let fits =
            matches(&evaluation, patterns, &message, &mut receive_env).map_err(in_receive)?;
        Ok(fits.then_some(message))
    }

    /// The components of a message, checked against the types of the channel.
    fn message(
        &self,
        channel: &crate::ChannelRef,
        payload: &[Expr],
        state: &State,
        env: &mut Env,
    ) -> Result<Message, Fault> {
        let evaluation = Evaluation { model: self, state };
        let declared = &self.parts().channels[channel.channel.index()];
        let mut message = Vec::new();
        for (expr, ty) in payload.iter().zip(&declared.payload) {
            let value = evaluation.eval(expr, env)?;
            if !ty.contains(value) {
                Err(ErrorKind::out_of_range(&declared.name, value))?;
            }
            message.push(value);
        }
        Ok(message)
    }

    /// Adds the ways of executing one command from `state`: its communication, then its effect, then
    /// its new location.
    fn execute(
        &self,
        id: CommandId,
        state: &State,
        handed_over: Option<&Message>,
        branches: &mut Branches,
    ) -> Result<(), Located> {
        let command = &self.commands()[id.index()];
        let step = self.step_of(id);

        branches.push(Branch {
            state: state.clone(),
            env: self.env_of(command),
            written: SmallVec::new(),
            timers_set: Vec::new(),
        });

        for start in branches.iter_mut() {
            self.communicate(step, start, handed_over)
                .map_err(|fault| (fault, step.span))?;
        }

        execute::run(self, &step.effect, branches)?;
        for branch in branches {
            branch.state.locations[command.instance.index()] = step.target;
        }

        Ok(())
    }

    fn communicate(
        &self,
        step: &Step,
        branch: &mut Branch,
        handed_over: Option<&Message>,
    ) -> Result<(), Fault> {
        match (&step.sync, handed_over) {
            (Sync::Receive { patterns, .. }, Some(message)) => {
                self.store_message(patterns, message, branch)
            }
            (Sync::Send { .. }, Some(_)) | (Sync::Internal | Sync::Event { .. }, _) => Ok(()),
            (Sync::Send { channel, payload }, None) => {
                let state = branch.state.clone();
                let message = self.message(channel, payload, &state, &mut branch.env)?;
                let evaluation = Evaluation {
                    model: self,
                    state: &state,
                };
                let single = evaluation.single_channel(channel, &mut branch.env)?;
                branch.state.channels[single].push(message);
                Ok(())
            }
            (Sync::Receive { channel, patterns }, None) => {
                let state = branch.state.clone();
                let evaluation = Evaluation {
                    model: self,
                    state: &state,
                };
                let single = evaluation.single_channel(channel, &mut branch.env)?;
                let message = branch.state.channels[single].remove(0);
                self.store_message(patterns, &message, branch)
            }
        }
    }

    fn store_message(
        &self,
        patterns: &[Pattern],
        message: &Message,
        branch: &mut Branch,
    ) -> Result<(), Fault> {
        for (pattern, value) in patterns.iter().zip(message) {
            if let Pattern::Store(place) = pattern {
                branch.store(self, place, *value)?;
            }
        }
        Ok(())
    }

    /// Adds what one command did to what the others did.
    fn combine(
        &self,
        so_far: &State,
        written: &[usize],
        branch: &Branch,
        id: CommandId,
    ) -> Result<(State, Vec<usize>), RunTimeError> {
        let instance = self.commands()[id.index()].instance.index();
        let mut state = so_far.clone();
        let mut all_written = written.to_vec();
        state.locations[instance] = branch.state.locations[instance];
        for &cell in &branch.written {
            let value = branch.state.cells[cell];
            if written.contains(&cell) && state.cells[cell] != value {
                let kind = ErrorKind::WriteConflict {
                    cell: self.cells()[cell].name.clone(),
                };
                return Err(error(kind, self.step_of(id).span));
            }
            state.cells[cell] = value;
            all_written.push(cell);
        }
        // Only commands that move alone use buffered channels, so copying is merging.
        state.channels.clone_from(&branch.state.channels);
        Ok((state, all_written))
    }

    pub(crate) fn env_of(&self, command: &Command) -> Env {
        Env::of(command.instance, &command.bindings)
    }
}

/// Does a message look as the patterns demand?
fn matches(
    evaluation: &Evaluation<'_>,
    patterns: &[Pattern],
    message: &Message,
    env: &mut Env,
) -> Result<bool, Fault> {
    for (pattern, value) in patterns.iter().zip(message) {
        if let Pattern::Match(expected) = pattern
            && evaluation.eval(expected, env)? != *value
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn error(kind: impl Into<Fault>, span: Span) -> RunTimeError {
    RunTimeError {
        kind: *kind.into(),
        span,
        action: None,
    }
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

fn in_order<T: Ord>(mut items: Few<T>) -> Few<T> {
    if items.len() > 1 {
        items.sort_unstable();
        items.dedup();
    }
    items
}

fn branch<T>(states: Vec<State>, choices: &[T], apply: impl Fn(&mut State, &T)) -> Vec<State> {
    let mut result = Vec::with_capacity(states.len() * choices.len());
    for state in states {
        for choice in choices {
            let mut next = state.clone();
            apply(&mut next, choice);
            result.push(next);
        }
    }
    result
}

/// One element of each list, in all ways; the last list varies fastest.
pub(crate) fn combinations(lists: &[impl AsRef<[CommandId]>]) -> Vec<Vec<CommandId>> {
    let mut teams = vec![Vec::new()];
    for list in lists {
        let extend = |team: &Vec<CommandId>| -> Vec<Vec<CommandId>> {
            let with = |command: &CommandId| [team.as_slice(), &[*command]].concat();
            list.as_ref().iter().map(with).collect()
        };
        teams = teams.iter().flat_map(extend).collect();
    }
    teams
}

/// Steps with the same actions, movers and target are one step.
fn merge_equal_steps(found: &mut Vec<Successor>) {
    let mut n_different = 0;

    for position in 0..found.len() {
        let (before, rest) = found.split_at_mut(position);
        let step = &rest[0];
        let same = |other: &&mut Successor| {
            other.actions == step.actions
                && other.movers == step.movers
                && other.target == step.target
        };

        match before[..n_different].iter_mut().find(same) {
            Some(other) => {
                other.commands.extend_from_slice(&step.commands);
                other.commands = in_order(std::mem::take(&mut other.commands));
                other.timers_set.extend_from_slice(&step.timers_set);
                other.timers_set = sorted(std::mem::take(&mut other.timers_set));
            }
            None => {
                found.swap(n_different, position);
                n_different += 1;
            }
        }
    }

    found.truncate(n_different);
}
