//! The marks of justness: which steps exist, and which of them a step interferes with.
//!
//! What is necessary for a step is a mask over the packed state: a step interferes with it iff a mover
//! takes part in both, a bit under the mask changes, or the model declares it. Packing makes equal
//! values of equal bits, so bits change iff values do.
//!
//! A step is *plain* if it is taken by one command alone and always reads the same where it is possible:
//! its indices and ranges are constants, its effect is always possible. Then the labels
//! of a state tell whether it exists, and its mask is worked out once. What is read by other steps
//! depends on the state, and the reference semantics is asked. With priorities or control no step is
//! plain, because the guards of others take part, or a step can be possible and not exist.

use base::bits;
use model::{
    CommandId, Condition, Expr, InstanceId, Interference, Model, Needs, Resource, Subject, Sync,
};

use crate::label::Label;
use crate::layout::Layout;
use crate::system::System;

/// A team of commands that a run must be just to.
#[derive(Clone, Debug)]
struct Obligation {
    /// The bit of its condition among the weak ones.
    bit: usize,
    /// Its position in [`Interference::teams`].
    team: usize,
    movers: Vec<InstanceId>,
    /// The command of a plain step.
    plain: Option<CommandId>,
    /// What is necessary for a plain step, once it is known.
    mask: Option<Vec<u64>>,
}

/// The conditions of justness among the weak ones, and what is known about the current state.
#[derive(Clone, Debug)]
pub(crate) struct Justness<'m> {
    interference: Interference<'m>,
    obligations: Vec<Obligation>,
    /// Does a single level without control rule, so that every possible step exists?
    is_flat: bool,
    /// The possible steps of the current state: positions in `obligations`, and their masks.
    possible: Vec<(usize, Vec<u64>)>,
}

impl<'m> Justness<'m> {
    /// The conditions of justness among these weak ones; nothing if there are none.
    pub(crate) fn new(system: &System<'m>, conditions: &[Condition]) -> Option<Self> {
        let is_team = |condition: &Condition| matches!(condition.subject, Subject::Team(_));
        if !conditions.iter().any(is_team) {
            return None;
        }

        let model = system.model();
        let interference = Interference::new(model);
        let is_flat = model.levels().len() < 2 && model.parts().control.is_none();
        let mut obligations = Vec::new();
        for (bit, condition) in conditions.iter().enumerate() {
            let Subject::Team(commands) = &condition.subject else {
                continue;
            };
            let found = interference
                .teams()
                .iter()
                .position(|team| team == commands);
            let mover = |id: &CommandId| model.commands()[id.index()].instance;
            obligations.extend(found.map(|team| Obligation {
                bit,
                team,
                movers: commands.iter().map(mover).collect(),
                plain: match commands[..] {
                    [id] if is_flat && is_plain(model, &interference, id) => Some(id),
                    _ => None,
                },
                mask: None,
            }));
        }

        Some(Self {
            interference,
            obligations,
            is_flat,
            possible: Vec::new(),
        })
    }

    /// Looks at a state with steps of these labels; sets the bits of what exists, clears others.
    pub(crate) fn enter<'l>(
        &mut self,
        system: &System<'_>,
        words: &[u64],
        labels: impl Iterator<Item = &'l Label>,
        enabled: &mut [u64],
    ) {
        let n_commands = system.model().commands().len();
        let mut executed = vec![0; bits::words_for(n_commands)];
        for command in labels.flat_map(|label| &label.commands) {
            bits::set(&mut executed, command.index());
        }

        self.possible.clear();
        let mut unpacked = None;
        let mut all_needs = None;
        for (position, obligation) in self.obligations.iter_mut().enumerate() {
            bits::clear(enabled, obligation.bit);
            // A single level: what is not executed alone or in a team is not possible.
            if self.is_flat && !is_ready(&self.interference, obligation, &executed) {
                continue;
            }
            if let (Some(_), Some(mask)) = (obligation.plain, &obligation.mask) {
                bits::set(enabled, obligation.bit);
                self.possible.push((position, mask.clone()));
                continue;
            }

            let state = unpacked.get_or_insert_with(|| system.unpack(words));
            let needs = if self.is_flat {
                self.interference.needs_of(obligation.team, state)
            } else {
                let all = all_needs.get_or_insert_with(|| self.interference.needs(state));
                let found = all.binary_search_by_key(&obligation.team, |needs| needs.team);
                found.ok().map(|found| all[found].clone())
            };
            let Some(needs) = needs else {
                continue;
            };
            let mask = mask_of(&system.layout, &needs);
            if obligation.plain.is_some() {
                obligation.mask = Some(mask.clone());
            }
            let in_control = system.model().in_control(state);
            if in_control.is_none_or(|id| obligation.movers.contains(&id)) {
                bits::set(enabled, obligation.bit);
            }
            self.possible.push((position, mask));
        }
    }

    /// Sets the bits of what a step from the state that was entered last interferes with, clears
    /// those of other conditions of justness.
    pub(crate) fn mark(&self, from: &[u64], to: &[u64], label: &Label, taken: &mut [u64]) {
        for obligation in &self.obligations {
            bits::clear(taken, obligation.bit);
        }
        for (position, mask) in &self.possible {
            let obligation = &self.obligations[*position];
            let mut words = from.iter().zip(to).zip(mask);
            let is_moved = || label.movers.iter().any(|id| obligation.movers.contains(id));
            let is_declared = || {
                self.interference
                    .is_declared(&label.commands, obligation.team)
            };
            if words.any(|((from, to), mask)| (from ^ to) & mask != 0)
                || is_moved()
                || is_declared()
            {
                bits::set(taken, obligation.bit);
            }
        }
    }
}

/// Is every command of the team part of some step of the state? Without this the team is not
/// possible where every possible step exists.
fn is_ready(interference: &Interference<'_>, obligation: &Obligation, executed: &[u64]) -> bool {
    let mut commands = interference.teams()[obligation.team].iter();
    commands.all(|id| bits::get(executed, id.index()))
}

/// The bits of what is necessary.
fn mask_of(layout: &Layout, needs: &Needs) -> Vec<u64> {
    let mut mask = vec![0; layout.n_words];
    let mut add = |field: usize| {
        let field = &layout.fields[field];
        mask[field.word as usize] |= field.mask << field.shift;
    };
    for resource in &needs.reads {
        match resource {
            Resource::Location(instance) => add(layout.first_location as usize + instance.index()),
            Resource::Cell(cell) => add(layout.first_cell as usize + cell),
            Resource::Channel(channel) => {
                let channel = &layout.channels[*channel];
                let n_slots = channel.capacity * channel.n_components;
                let last = channel.first_slot + n_slots;
                add(channel.length as usize);
                (channel.first_slot..last).for_each(|slot| add(slot as usize));
            }
        }
    }
    mask
}

/// Does a command that moves alone always read the same where it is possible?
fn is_plain(model: &Model, interference: &Interference<'_>, id: CommandId) -> bool {
    let step = model.step_of(id);
    let is_constant = |index: Option<&Expr>| index.is_none_or(|index| !index.mentions_state());
    let reads_all = match &step.sync {
        Sync::Internal => true,
        Sync::Send { channel, .. } => is_constant(channel.index.as_deref()),
        Sync::Receive { channel, patterns } => {
            let mut matched = patterns.iter().filter_map(model::Pattern::matched);
            is_constant(channel.index.as_deref()) && matched.all(reads_the_same)
        }
        Sync::Event { .. } => false,
    };
    reads_all && !interference.may_refuse(id) && reads_the_same(&step.guard)
}

/// Does the expression read the same in all states? It does if no index and no range depends on them.
fn reads_the_same(expr: &Expr) -> bool {
    let depends = |expr: &Expr| match expr {
        Expr::Read(_) | Expr::At { .. } | Expr::Length(_) => {
            expr.operands().iter().any(|index| index.mentions_state())
        }
        Expr::Quantified { lo, hi, .. } => lo.mentions_state() || hi.mentions_state(),
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Bound(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Wrap { .. } => false,
    };
    !expr.any(&mut { depends })
}
