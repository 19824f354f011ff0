//! Justness: what is necessary for a step, what a step affects, and which steps interfere.
//!
//! A step `u` *interferes* with a step `t` iff something that `u` affects is necessary for `t`.
//! Affected by `u` are the processes that move in it and whatever it changes: variables, channels and
//! locations. Necessary for `t` are the processes that move in it and whatever is read to decide that
//! it exists. That is
//!
//! - its guard and the channels that it uses, with the indices that find them; all of the guard is read:
//!   `p || q` reads `q` also where `p` is true;
//! - the values that a receiver compares with a message, and those components of the message;
//! - what its effect may read if it contains a choice that may be impossible;
//! - the same of every step of higher priority, which must not be possible.
//!
//! Reading affects nothing. A model can declare that more steps interfere
//! ([`crate::ModelParts::interferences`]), not fewer: a step that nothing interferes with stays enabled,
//! because what decides that it exists stays as it is. The weaker relations of the literature are
//! such declarations. See R. van Glabbeek and P. Höfner, *Progress, Justness and Fairness*, ACM
//! Computing Surveys 52(4), 2019, <https://doi.org/10.1145/3329125>; M. Bouwman, B. Luttik and
//! T. Willemse, *Off-the-shelf automated analysis of liveness properties for just paths*, Acta
//! Informatica 57, 2020, <https://doi.org/10.1007/s00236-020-00371-w>.
//!
//! The steps of one *team* of commands are one step here, whatever they choose. In a synchronous
//! composition every process that can move does, so every enabled step is interfered with at once:
//! there are no teams to be just to.

use std::collections::BTreeSet;

use crate::eval::Evaluation;
use crate::steps::combinations;
use crate::{
    ActionId, ChannelRef, CommandId, Composition, Env, Expr, Few, InstanceId, Model, Owner,
    Pattern, Place, RunTimeError, State, StepSet, Stmt, StmtKind, Successor, Sync,
};

/// A part of a state that can be read and changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// The location of a process.
    Location(InstanceId),
    /// A cell, by its position in [`Model::cells`].
    Cell(usize),
    /// A single channel, by its position in [`State::channels`].
    Channel(usize),
}

/// What is necessary for a step that is possible in a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Needs {
    /// The position of its team in [`Interference::teams`].
    pub team: usize,
    /// The processes that move in it. Sorted.
    pub movers: Few<InstanceId>,
    /// What is read to decide that it exists.
    pub reads: BTreeSet<Resource>,
}

/// Which steps of a model interfere with which others.
#[derive(Clone, Debug)]
pub struct Interference<'m> {
    model: &'m Model,
    teams: Vec<Vec<CommandId>>,
    /// For each command whose effect may turn out not to be possible, what the effect may read.
    refusals: Vec<Option<BTreeSet<Resource>>>,
    /// The declared pairs: steps with one of the first commands interfere with those with one of
    /// the second.
    declared: Vec<(StepSet, StepSet)>,
}

impl Model {
    /// The commands that can move together, in all ways. None in a synchronous composition.
    #[must_use]
    pub fn teams(&self) -> Vec<Vec<CommandId>> {
        let teams = self.teams_by_action().into_iter();
        let mut seen = BTreeSet::new();
        teams
            .map(|(_, team)| team)
            .filter(|team| seen.insert(team.clone()))
            .collect()
    }

    /// The same with the actions that they take; a team may take several.
    #[must_use]
    pub fn teams_by_action(&self) -> Vec<(ActionId, Vec<CommandId>)> {
        if self.parts().composition == Composition::Synchronous {
            return Vec::new();
        }
        let mut teams = Vec::new();
        for transition in self.transitions() {
            let members = transition.participants.iter();
            let members: Vec<_> = members.map(|member| member.alternatives.clone()).collect();
            let of_transition = combinations(&members).into_iter();
            teams.extend(of_transition.map(|team| (transition.action, team)));
        }
        teams
    }

    /// How many teams there are at most; [`Model::teams`] lists them.
    #[must_use]
    pub fn n_teams(&self) -> usize {
        let of_transition = |transition: &crate::Transition| {
            let members = transition.participants.iter();
            let alternatives = members.map(|member| member.alternatives.len());
            alternatives.fold(1, usize::saturating_mul)
        };
        let counts = self.transitions().iter().map(of_transition);
        counts.fold(0, usize::saturating_add)
    }

    /// What changes from a state to another.
    #[must_use]
    pub fn changes(&self, before: &State, after: &State) -> BTreeSet<Resource> {
        let locations = (0..before.locations.len())
            .filter(|&at| before.locations[at] != after.locations[at])
            .map(|at| Resource::Location(InstanceId::new(at)));
        let cells = (0..before.cells.len())
            .filter(|&at| before.cells[at] != after.cells[at])
            .map(Resource::Cell);
        let channels = (0..before.channels.len())
            .filter(|&at| before.channels[at] != after.channels[at])
            .map(Resource::Channel);
        locations.chain(cells).chain(channels).collect()
    }
}

impl<'m> Interference<'m> {
    /// What does not depend on the state.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let commands = (0..model.commands().len()).map(CommandId::new);
        let declared = model.parts().interferences.iter();
        let declared = declared.map(|(by, with)| (model.step_set(by), model.step_set(with)));
        Self {
            model,
            teams: model.teams(),
            refusals: commands.map(|id| refusal(model, id)).collect(),
            declared: declared.collect(),
        }
    }

    /// The teams that a run must be just to, as [`Model::teams`] lists them.
    #[must_use]
    pub fn teams(&self) -> &[Vec<CommandId>] {
        &self.teams
    }

    /// What is necessary for each step that is possible in a state, whichever process has control.
    ///
    /// A step whose guard fails is not possible: the error is reported as what it is where the
    /// guard counts. In the order of the teams.
    #[must_use]
    pub fn needs(&self, state: &State) -> Vec<Needs> {
        let mut above = BTreeSet::new();
        for &level in self.model.levels() {
            let mut found = Vec::new();
            let mut refuted = BTreeSet::new();
            for (team, commands) in self.teams.iter().enumerate() {
                if self.model.team_priority(commands) != Some(level) {
                    continue;
                }
                let mut reads = BTreeSet::new();
                if self.decide(commands, state, &mut reads).unwrap_or(false) {
                    reads.extend(above.iter().copied());
                    found.push(Needs {
                        team,
                        movers: self.model.movers(commands),
                        reads,
                    });
                } else {
                    refuted.extend(reads);
                }
            }

            // Only steps of the highest priority that any team has are possible.
            if !found.is_empty() {
                return found;
            }
            above.extend(refuted);
        }

        Vec::new()
    }

    /// The same for one team, in a model without priorities.
    #[must_use]
    pub fn needs_of(&self, team: usize, state: &State) -> Option<Needs> {
        let commands = &self.teams[team];
        let mut reads = BTreeSet::new();
        let is_possible = self.decide(commands, state, &mut reads).unwrap_or(false);
        is_possible.then(|| Needs {
            team,
            movers: self.model.movers(commands),
            reads,
        })
    }

    /// Does the step interfere with one for which this is necessary? `before` is where both start.
    #[must_use]
    pub fn interferes(&self, before: &State, step: &Successor, needs: &Needs) -> bool {
        let changed = self.model.changes(before, &step.target);
        step.movers.iter().any(|mover| needs.movers.contains(mover))
            || !changed.is_disjoint(&needs.reads)
            || self.is_declared(&step.commands, needs.team)
    }

    /// May the effect of a command turn out not to be possible, although its guard is true?
    #[must_use]
    pub fn may_refuse(&self, command: CommandId) -> bool {
        self.refusals[command.index()].is_some()
    }

    /// What the indices and ranges may read that say what a command reads. Among states that agree in
    /// this, a step of the command alone reads the same wherever it is possible, unless its effect may
    /// refuse: its guard is read to the end, and its channel has a message to be compared.
    #[must_use]
    pub fn found_by(&self, id: CommandId) -> BTreeSet<Resource> {
        let step = self.model.step_of(id);
        let own = self.model.commands()[id.index()].instance;
        let mut reads = BTreeSet::new();
        let mut note = |index: &Expr| {
            index.walk(&mut |expr| may_read(self.model, own, expr, &mut reads));
        };

        let mut look = |expr: &Expr| match expr {
            Expr::Read(_) | Expr::At { .. } | Expr::Length(_) => expr.for_each_operand(&mut note),
            Expr::Quantified { lo, hi, .. } => [lo, hi].into_iter().for_each(|limit| note(limit)),
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Bound(_)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Wrap { .. }
            | Expr::Binary(..)
            | Expr::Ite(..) => {}
        };
        step.guard.walk(&mut look);
        if let Sync::Receive { patterns, .. } = &step.sync {
            let matched = patterns.iter().filter_map(Pattern::matched);
            matched.for_each(|value| value.walk(&mut look));
        }

        let channel = step
            .sync
            .channel()
            .and_then(|channel| channel.index.as_deref());
        channel.into_iter().for_each(note);
        reads
    }

    /// Is it declared that a step with these commands interferes with the team?
    #[must_use]
    pub fn is_declared(&self, commands: &[CommandId], team: usize) -> bool {
        let any = |set: &StepSet, commands: &[CommandId]| {
            commands.iter().any(|command| set.contains(*command))
        };
        let mut declared = self.declared.iter();
        declared.any(|(by, with)| any(by, commands) && any(with, &self.teams[team]))
    }

    /// Is a step of these commands possible, whatever others there are? Notes what decides it.
    fn decide(
        &self,
        team: &[CommandId],
        state: &State,
        reads: &mut BTreeSet<Resource>,
    ) -> Result<bool, RunTimeError> {
        let model = self.model;
        for &id in team {
            let instance = model.commands()[id.index()].instance;
            reads.insert(Resource::Location(instance));
            if state.locations[instance.index()] != model.step_of(id).source {
                return Ok(false);
            }
            self.reader(state).guard(id, reads)?;
            if !model.is_enabled(id, state)? {
                return Ok(false);
            }
        }

        // A rendezvous also needs a receiver that accepts the message.
        if let [sender, receiver] = team
            && model.is_handshake(*sender)
        {
            self.reader(state).message(*sender, *receiver, reads);
            if model.rendezvous(*sender, *receiver, state)?.is_none() {
                return Ok(false);
            }
        }

        // An effect may turn out to be impossible, so it is tried unless no command can refuse.
        let mut refusals = team.iter().map(|id| &self.refusals[id.index()]);
        if refusals.clone().all(Option::is_none) {
            return Ok(true);
        }
        refusals
            .by_ref()
            .flatten()
            .for_each(|may_read| reads.extend(may_read));
        let mut is_possible = false;
        model.execute_team(team, state, &mut |_, _| is_possible = true)?;
        Ok(is_possible)
    }

    fn reader<'a>(&'a self, state: &'a State) -> Reader<'a> {
        Reader {
            evaluation: Evaluation {
                model: self.model,
                state,
            },
        }
    }
}

/// Notes what evaluation reads in a state.
struct Reader<'a> {
    evaluation: Evaluation<'a>,
}

impl Reader<'_> {
    /// The guard of a command, and what it asks about its channel. It is in place.
    fn guard(&self, id: CommandId, reads: &mut BTreeSet<Resource>) -> Result<(), RunTimeError> {
        let (model, state) = (self.evaluation.model, self.evaluation.state);
        let step = model.step_of(id);
        let mut env = model.env_of(&model.commands()[id.index()]);
        self.expr(&step.guard, &mut env, reads);
        if model.eval(&step.guard, state, &mut env, step.span)? == 0 {
            return Ok(());
        }

        let Some(channel) = step.sync.channel() else {
            return Ok(());
        };
        let single = self.channel(channel, &mut env, reads);
        let Some(single) = single.filter(|_| model.channel(channel.channel).capacity > 0) else {
            return Ok(());
        };
        reads.insert(Resource::Channel(single));
        if let Sync::Receive { patterns, .. } = &step.sync
            && !state.channels[single].is_empty()
        {
            let matched = patterns.iter().filter_map(Pattern::matched);
            matched.for_each(|value| self.expr(value, &mut env, reads));
        }
        Ok(())
    }

    /// What tells whether a message fits its receiver: what it is compared with, and those
    /// components. Their channels are among what the guards read.
    fn message(&self, sender: CommandId, receiver: CommandId, reads: &mut BTreeSet<Resource>) {
        let model = self.evaluation.model;
        let env_of = |id: CommandId| model.env_of(&model.commands()[id.index()]);
        let (mut send_env, mut receive_env) = (env_of(sender), env_of(receiver));
        let (Sync::Send { payload, .. }, Sync::Receive { patterns, .. }) =
            (&model.step_of(sender).sync, &model.step_of(receiver).sync)
        else {
            unreachable!("a rendezvous pairs a sender with a receiver");
        };
        for (component, pattern) in payload.iter().zip(patterns) {
            if let Some(value) = pattern.matched() {
                self.expr(component, &mut send_env, reads);
                self.expr(value, &mut receive_env, reads);
            }
        }
    }

    /// The single channel that a reference names, if its index can be evaluated.
    fn channel(
        &self,
        reference: &ChannelRef,
        env: &mut Env,
        reads: &mut BTreeSet<Resource>,
    ) -> Option<usize> {
        if let Some(index) = &reference.index {
            self.expr(index, env, reads);
        }
        self.evaluation.single_channel(reference, env).ok()
    }

    /// Everything in an expression that is there to be read, whatever its value; not what an index
    /// or a range that cannot be evaluated would lead to.
    fn expr(&self, expr: &Expr, env: &mut Env, reads: &mut BTreeSet<Resource>) {
        match expr {
            Expr::Read(place) => return self.place(place, env, reads),
            Expr::At { process, owner, .. } => {
                self.owner(owner, env, reads);
                let instance = self.evaluation.instance(*process, owner, env);
                reads.extend(instance.ok().map(Resource::Location));
                return;
            }
            Expr::Length(channel) => {
                let single = self.channel(channel, env, reads);
                reads.extend(single.map(Resource::Channel));
                return;
            }
            Expr::Quantified {
                bound,
                lo,
                hi,
                body,
                ..
            } => {
                self.expr(lo, env, reads);
                self.expr(hi, env, reads);
                let limits = [lo, hi].map(|limit| self.evaluation.eval(limit, env).ok());
                let [Some(lo), Some(hi)] = limits else {
                    return;
                };
                for value in lo..=hi {
                    env.bind(*bound, value);
                    self.expr(body, env, reads);
                    env.unbind();
                }
                return;
            }
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Bound(_)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Wrap { .. }
            | Expr::Binary(..)
            | Expr::Ite(..) => {}
        }
        for operand in expr.operands() {
            self.expr(operand, env, reads);
        }
    }

    fn place(&self, place: &Place, env: &mut Env, reads: &mut BTreeSet<Resource>) {
        place.for_each_operand(&mut |index| self.expr(index, env, reads));
        let cell = self.evaluation.cell(place, env);
        reads.extend(cell.ok().map(Resource::Cell));
    }

    fn owner(&self, owner: &Owner, env: &mut Env, reads: &mut BTreeSet<Resource>) {
        match owner {
            Owner::Own | Owner::Single => {}
            Owner::Indexed(index) => self.expr(index, env, reads),
        }
    }
}

/// What the effect of a command may read, if it may turn out not to be possible: then all of it
/// takes part in the decision.
fn refusal(model: &Model, id: CommandId) -> Option<BTreeSet<Resource>> {
    let step = model.step_of(id);
    let mut may_refuse = false;
    Stmt::walk_all(&step.effect, &mut |statement| {
        may_refuse |= matches!(statement, StmtKind::Choose(_, lo, hi, condition)
            if !always_chooses(model, id, [lo, hi, condition]));
    });
    if !may_refuse {
        return None;
    }

    let own = model.commands()[id.index()].instance;
    let mut reads = BTreeSet::new();
    Stmt::for_each_expr(&step.effect, &mut |expr| {
        expr.walk(&mut |expr| may_read(model, own, expr, &mut reads));
    });
    Some(reads)
}

/// Is there a value to be chosen in every state?
fn always_chooses(model: &Model, id: CommandId, [lo, hi, condition]: [&Expr; 3]) -> bool {
    let command = &model.commands()[id.index()];
    let known = |expr: &Expr| {
        let is_known = |bound| command.bindings.iter().any(|(known, _)| *known == bound);
        let mut is_open = |expr: &Expr| expr.as_bound().is_some_and(|bound| !is_known(bound));
        if expr.mentions_state() || expr.any(&mut is_open) {
            return None;
        }
        let span = model.step_of(id).span;
        let value = model.eval(expr, &State::nowhere(), &mut model.env_of(command), span);
        value.ok()
    };
    let bounds = known(lo).zip(known(hi));
    condition.is_bool(true) && bounds.is_some_and(|(lo, hi)| lo <= hi)
}

/// Adds everything that an expression itself may read in some state, not what is inside of it.
fn may_read(model: &Model, own: InstanceId, expr: &Expr, reads: &mut BTreeSet<Resource>) {
    match expr {
        Expr::Read(place) => {
            let is_own = place.owner == Some(Owner::Own);
            let cells = model.cells().iter().enumerate();
            let cells = cells.filter(|(_, cell)| {
                cell.var == place.var && (!is_own || cell.instance == Some(own))
            });
            reads.extend(cells.map(|(at, _)| Resource::Cell(at)));
        }
        Expr::At { process, .. } => {
            let instances = model.instances().iter().enumerate();
            let instances = instances.filter(|(_, instance)| instance.process == *process);
            reads.extend(instances.map(|(at, _)| Resource::Location(InstanceId::new(at))));
        }
        Expr::Length(channel) => {
            let first = model.first_single_channel(channel.channel);
            let n_single = model.channel(channel.channel).n_single();
            reads.extend((first..first + n_single).map(Resource::Channel));
        }
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Bound(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::Wrap { .. } => {}
    }
}
