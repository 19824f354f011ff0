//! What the static analyses claim about a model, told in the terms of the model.
//!
//! Reductions and machine code rest on claims such as "this step reads nothing else" or "these two
//! steps do not disturb each other". They are computed from compiled code and from the text of
//! commands. Here they are laid open, so that tests can compare them with the reference semantics,
//! which knows nothing of them: see `tests/claims`.

use base::{AtomId, bits};
use model::{CommandId, Condition, InstanceId, Model};

use crate::compile::CompileError;
use crate::layout::Layout;
use crate::letters::Letters;
use crate::stubborn::{Demands, StepClaims};
use crate::symmetry::Permutation;
use crate::system::System;

/// A part of a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Component {
    /// Where a process is.
    Location(InstanceId),
    /// The value of a cell.
    Cell(usize),
    /// How many messages a single channel contains.
    Length(usize),
    /// A component of a message.
    Message {
        /// The single channel.
        channel: usize,
        /// The place of the message, the oldest first.
        slot: usize,
        /// Which component.
        component: usize,
    },
}

/// What is claimed about a unit: a command that moves alone, or a team.
#[derive(Clone, Debug)]
pub struct UnitClaims {
    /// Its position in [`Model::transitions`].
    pub transition: usize,
    /// Nothing else decides what it does.
    pub reads: Vec<Component>,
    /// Nothing else is changed by it.
    pub writes: Vec<Component>,
    /// Nothing else decides whether it is possible where its participants are in place.
    pub condition: Vec<Component>,
    /// May it be a run-time error?
    pub can_fail: bool,
    /// By unit: may it matter in which order the two happen?
    pub interferes: Vec<bool>,
    /// By unit: may that one make this one possible, where the participants of this one are in place?
    pub enabled_by: Vec<bool>,
    /// Does the property see it?
    pub is_visible: bool,
}

/// What is claimed about a fairness condition.
#[derive(Clone, Debug)]
pub struct SubjectClaims {
    /// By unit: may it take the subject, or change whether the subject is enabled?
    pub relevant: Vec<bool>,
    /// Does the subject stay enabled until it is taken?
    pub is_steady: bool,
}

/// What is claimed about a model and a question to it.
#[derive(Clone, Debug)]
pub struct Claims {
    /// The units that may be executed.
    pub units: Vec<UnitClaims>,
    /// By instance, location and unit: can the unit move the process from there?
    pub moving: Vec<Vec<Vec<bool>>>,
    /// By instance: does every run end in which it never moves?
    pub vital: Vec<bool>,
    /// For each condition.
    pub subjects: Vec<SubjectClaims>,
    /// For each atom, what it reads, if it is a state proposition.
    pub atoms: Vec<Option<Vec<Component>>>,
    /// By command: is it never executed?
    pub never_executed: Vec<bool>,
    /// By cell: the only value that it has in states that can be reached.
    pub constants: Vec<Option<i64>>,
    /// By cell: the least and the greatest value that it has in states that can be reached, or
    /// something beyond.
    pub ranges: Vec<(i64, i64)>,
    /// By channel and component: the same of what messages have in channels.
    pub messages: Vec<Vec<(i64, i64)>>,
}

impl System<'_> {
    /// What is claimed about the model, these atoms and these conditions.
    ///
    /// # Errors
    /// An atom is too large to be compiled.
    pub fn claims(
        &mut self,
        atoms: &[AtomId],
        conditions: &[Condition],
    ) -> Result<Claims, CompileError> {
        let mut atom_reads = Vec::new();
        for atom in atoms {
            let code = self.compile_atom(*atom)?;
            let reads = |masks: &[u64]| components(self.model, &self.layout, masks);
            atom_reads.push(code.map(|code| reads(&code.footprint.reads)));
        }

        let letters = Letters::new(self, atoms)?;
        let steps = StepClaims::new(
            self,
            &Demands {
                letters: &letters,
                conditions,
                strong_global: false,
                infinite_runs: true,
            },
        );

        // Only units with steps of their own are told about.
        let transitions: Vec<Option<usize>> =
            (0..self.n_units()).map(|u| self.transition_of(u)).collect();
        let shown: Vec<usize> = (0..self.n_units())
            .filter(|unit| transitions[*unit].is_some())
            .collect();
        let of_shown = |set: &[u64]| shown.iter().map(|unit| bits::get(set, *unit)).collect();
        let reads = |masks: &[u64]| components(self.model, &self.layout, masks);
        let unit_claims = |&unit: &usize| UnitClaims {
            transition: transitions[unit].expect("those without are not shown"),
            reads: reads(&steps.units.footprints[unit].reads),
            writes: reads(&steps.units.footprints[unit].writes),
            condition: reads(&steps.condition_reads(self, unit)),
            can_fail: steps.units.can_fail[unit],
            interferes: of_shown(&steps.interfering[unit]),
            enabled_by: of_shown(&steps.enablers[unit]),
            is_visible: bits::get(&steps.visible, unit),
        };

        let rows_of = |instance: usize| {
            let first = self.first_row[instance] as usize;
            let n_locations = self
                .model
                .process_of(InstanceId::new(instance))
                .locations
                .len();
            let rows = &steps.units.moving[first..first + n_locations];
            rows.iter().map(|row| of_shown(row)).collect()
        };

        let subject_claims = |(relevant, is_steady): &(Vec<u64>, bool)| SubjectClaims {
            relevant: of_shown(relevant),
            is_steady: *is_steady,
        };

        Ok(Claims {
            units: shown.iter().map(unit_claims).collect(),
            moving: (0..self.model.instances().len()).map(rows_of).collect(),
            vital: steps.vital.clone(),
            subjects: steps.subjects.iter().map(subject_claims).collect(),
            atoms: atom_reads,
            never_executed: self.elimination.never_executed.clone(),
            constants: self.elimination.constants.clone(),
            ranges: self.elimination.ranges.cells.clone(),
            messages: self.elimination.ranges.messages.clone(),
        })
    }

    /// The images of a state and of all commands under each exchange of two processes that is
    /// claimed to make no difference, after [`System::forget`].
    #[must_use]
    pub fn exchanged(&self, words: &[u64]) -> Vec<(Vec<u64>, Vec<Option<CommandId>>)> {
        let form = self.canonicalizer.as_ref();
        let Some(symmetry) = form.and_then(|form| form.symmetry.as_ref()) else {
            return Vec::new();
        };
        let images = |exchange: &Permutation| {
            let command = |position: usize| {
                symmetry.permuted_command(self.model, exchange, CommandId::new(position))
            };
            (
                symmetry.permuted(&self.layout, exchange, words),
                (0..self.model.commands().len()).map(command).collect(),
            )
        };
        symmetry.exchanges().iter().map(images).collect()
    }

    /// The transition of the model that a unit takes; nothing for commands that take no steps alone.
    fn transition_of(&self, unit: usize) -> Option<usize> {
        let Some(team) = unit.checked_sub(self.commands.len()) else {
            self.commands[unit].alone?;
            let id = CommandId::new(unit);
            return self.model.transitions().iter().position(|transition| {
                transition.participants.len() == 1
                    && transition.participants[0].alternatives == [id]
            });
        };
        Some(self.teams[team].transition)
    }
}

/// The components of states to which some of these bits belong.
fn components(model: &Model, layout: &Layout, masks: &[u64]) -> Vec<Component> {
    let is_in = |field: u32| {
        let field = &layout.fields[field as usize];
        masks[field.word as usize] & (field.mask << field.shift) != 0
    };
    let mut found = Vec::new();
    for instance in 0..model.instances().len() {
        if is_in(layout.first_location + instance as u32) {
            found.push(Component::Location(InstanceId::new(instance)));
        }
    }
    for cell in 0..model.cells().len() {
        if is_in(layout.first_cell + cell as u32) {
            found.push(Component::Cell(cell));
        }
    }

    for (channel, fields) in layout.channels.iter().enumerate() {
        let has_length = is_in(fields.length);
        if has_length {
            found.push(Component::Length(channel));
        }
        let n_components = fields.n_components as usize;
        for position in 0..fields.capacity as usize * n_components {
            let field = fields.first_slot + position as u32;
            // What has only one value takes no room: it comes and goes with its message.
            let is_fixed = layout.fields[field as usize].mask == 0;
            if is_in(field) || is_fixed && has_length {
                found.push(Component::Message {
                    channel,
                    slot: position / n_components,
                    component: position % n_components,
                });
            }
        }
    }

    found
}
