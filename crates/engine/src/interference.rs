//! The marks of justness: which steps exist, and which of them a step interferes with.
//!
//! What is necessary for a step is a mask over the packed state: a step interferes with it iff a mover
//! takes part in both, a bit under the mask changes, or the model declares it. Packing makes equal
//! values of equal bits, so bits change iff values do.
//!
//! A step is *plain* if it is taken by one command alone whose effect is always possible. Then the
//! labels of a state tell whether it exists, and what it reads depends only on what finds it: the
//! values in its indices and ranges. So its mask is worked out once for all states that agree in
//! those. For other steps the reference semantics is asked in each state. With priorities or control
//! no step is plain, because the guards of others take part, or a step can be possible and not exist.

use std::collections::BTreeSet;

use base::bits;
use model::{CommandId, Condition, InstanceId, Interference, Model, Resource, Subject, Sync};
use rustc_hash::FxHashMap;

use crate::label::{Label, LabelId};
use crate::layout::Layout;
use crate::system::System;

/// So many masks are kept for a plain step.
const MAX_KNOWN: usize = 4096;

/// A team of commands that a run must be just to.
#[derive(Clone, Debug)]
struct Obligation {
    /// The bit of its condition among the weak ones.
    bit: usize,
    /// Its position in [`Interference::teams`].
    team: usize,
    movers: Vec<InstanceId>,
    plain: Option<Plain>,
}

/// What is known about a plain step.
#[derive(Clone, Debug)]
struct Plain {
    /// The bits of what finds what it reads.
    found_by: Vec<u64>,
    /// What is necessary for it, by the values of those bits.
    known: FxHashMap<Box<[u64]>, Box<[u64]>>,
    /// What is necessary for it in every state, where there are no such bits.
    fixed: Option<Box<[u64]>>,
}

/// The conditions of justness among the weak ones, and what is known about the current state.
#[derive(Clone, Debug)]
pub(crate) struct Justness<'m> {
    interference: Interference<'m>,
    obligations: Vec<Obligation>,
    /// The bits of all these conditions.
    own: Vec<u64>,
    /// Does a single level without control rule, so that every possible step exists?
    is_flat: bool,
    /// The possible steps of the current state, as positions in `obligations`,
    possible: Vec<usize>,
    /// their masks, one after another,
    masks: Vec<u64>,
    /// and the bits of their conditions.
    possible_bits: Vec<u64>,
    /// For each label, the bits of what its steps interfere with in every state: what has a mover in
    /// common with them, or is declared. Nothing where the label has not been seen.
    hindered: Vec<Option<Box<[u64]>>>,
    /// The commands of the steps of the current state.
    executed: Vec<u64>,
    /// The values of what finds the reads of a plain step in the current state.
    key: Vec<u64>,
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
        let mut own = vec![0; bits::words_for(conditions.len())];
        for (bit, condition) in conditions.iter().enumerate() {
            let Subject::Team(commands) = &condition.subject else {
                continue;
            };
            let found = interference
                .teams()
                .iter()
                .position(|team| team == commands);
            let mover = |id: &CommandId| model.commands()[id.index()].instance;
            let plain = |id: CommandId| Plain {
                found_by: mask_of(&system.layout, &interference.found_by(id)),
                known: FxHashMap::default(),
                fixed: None,
            };
            bits::set(&mut own, bit);
            obligations.extend(found.map(|team| Obligation {
                bit,
                team,
                movers: commands.iter().map(mover).collect(),
                plain: match commands[..] {
                    [id] if is_flat && is_plain(model, &interference, id) => Some(plain(id)),
                    _ => None,
                },
            }));
        }

        Some(Self {
            interference,
            obligations,
            possible_bits: vec![0; own.len()],
            own,
            is_flat,
            possible: Vec::new(),
            masks: Vec::new(),
            hindered: Vec::new(),
            executed: vec![0; bits::words_for(model.commands().len())],
            key: Vec::new(),
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
        self.executed.fill(0);
        for command in labels.flat_map(|label| &label.commands) {
            bits::set(&mut self.executed, command.index());
        }
        clear_all(enabled, &self.own);

        self.possible.clear();
        self.masks.clear();
        self.possible_bits.fill(0);
        let mut unpacked = None;
        let mut all_needs = None;
        for (position, obligation) in self.obligations.iter_mut().enumerate() {
            // A single level: what is not executed alone or in a team is not possible.
            if self.is_flat && !is_ready(&self.interference, obligation, &self.executed) {
                continue;
            }
            if let Some(plain) = &obligation.plain {
                self.key.clear();
                let found_by = words.iter().zip(&plain.found_by);
                self.key.extend(found_by.map(|(word, mask)| word & mask));
                let known = || plain.known.get(&self.key[..]);
                if let Some(mask) = plain.fixed.as_ref().or_else(known) {
                    bits::set(enabled, obligation.bit);
                    bits::set(&mut self.possible_bits, obligation.bit);
                    self.possible.push(position);
                    self.masks.extend_from_slice(mask);
                    continue;
                }
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
            let mask = mask_of(&system.layout, &needs.reads);
            let in_control = system.model().in_control(state);
            if in_control.is_none_or(|id| obligation.movers.contains(&id)) {
                bits::set(enabled, obligation.bit);
            }
            bits::set(&mut self.possible_bits, obligation.bit);
            self.possible.push(position);
            self.masks.extend_from_slice(&mask);
            let plain = obligation.plain.as_mut();
            if let Some(plain) = plain.filter(|plain| plain.known.len() < MAX_KNOWN) {
                if plain.found_by.iter().all(|word| *word == 0) {
                    plain.fixed = Some(mask.into());
                } else {
                    plain.known.insert(self.key[..].into(), mask.into());
                }
            }
        }
    }

    /// Sets the bits of what a step from the state that was entered last interferes with, clears
    /// those of other conditions of justness. The step goes from one state to the other, and has this
    /// label.
    pub(crate) fn mark(
        &mut self,
        from: &[u64],
        to: &[u64],
        (id, label): (LabelId, &Label),
        taken: &mut [u64],
    ) {
        if self.hindered.len() <= id.index() {
            self.hindered.resize(id.index() + 1, None);
        }
        if self.hindered[id.index()].is_none() {
            self.hindered[id.index()] = Some(self.hindered_by(label));
        }
        let hindered = self.hindered[id.index()].as_ref().expect("just made");

        for (word, taken) in taken.iter_mut().enumerate().take(self.own.len()) {
            *taken = *taken & !self.own[word] | hindered[word] & self.possible_bits[word];
        }
        let masks = self.masks.chunks_exact(from.len());
        for (position, mask) in self.possible.iter().zip(masks) {
            let mut words = from.iter().zip(to).zip(mask);
            if words.any(|((from, to), mask)| (from ^ to) & mask != 0) {
                bits::set(taken, self.obligations[*position].bit);
            }
        }
    }

    fn hindered_by(&self, label: &Label) -> Box<[u64]> {
        let mut hindered = vec![0; self.own.len()];
        for obligation in &self.obligations {
            let is_moved = label.movers.iter().any(|id| obligation.movers.contains(id));
            let is_declared = || {
                self.interference
                    .is_declared(&label.commands, obligation.team)
            };
            if is_moved || is_declared() {
                bits::set(&mut hindered, obligation.bit);
            }
        }
        hindered.into()
    }
}

fn clear_all(words: &mut [u64], those: &[u64]) {
    for (word, those) in words.iter_mut().zip(those) {
        *word &= !those;
    }
}

/// Is every command of the team part of some step of the state? Without this the team is not
/// possible where every possible step exists.
fn is_ready(interference: &Interference<'_>, obligation: &Obligation, executed: &[u64]) -> bool {
    let mut commands = interference.teams()[obligation.team].iter();
    commands.all(|id| bits::get(executed, id.index()))
}

/// The bits of parts of a state.
fn mask_of(layout: &Layout, parts: &BTreeSet<Resource>) -> Vec<u64> {
    let mut mask = vec![0; layout.n_words];
    let mut add = |field: usize| {
        let field = &layout.fields[field];
        mask[field.word as usize] |= field.mask << field.shift;
    };
    for resource in parts {
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

/// Do the labels tell whether a command that moves alone is possible, and does its guard alone tell
/// what it reads?
fn is_plain(model: &Model, interference: &Interference<'_>, id: CommandId) -> bool {
    let moves_alone = match &model.step_of(id).sync {
        Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } => true,
        Sync::Event { .. } => false,
    };
    moves_alone && !interference.may_refuse(id)
}
