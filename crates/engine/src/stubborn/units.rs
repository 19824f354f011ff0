//! The units of a system: what moves, what it touches, who takes part.

use base::bits;
use model::{ActionId, CommandId, InstanceId};

use crate::footprint::Footprint;
use crate::system::System;

/// Who must be where for a unit to be enabled.
#[derive(Clone, Debug)]
pub(super) struct Participation {
    pub(super) instance: u32,
    /// The locations at which it has something to contribute.
    pub(super) locations: Vec<u64>,
}

/// All units of a system, by number.
///
/// A command that moves in teams only is not a unit of its own, unless its guard can fail: guards
/// are evaluated wherever the process is in place, wherever its partners are. Then it is a unit
/// that is never enabled and stands for its failure.
#[derive(Debug)]
pub(crate) struct Units {
    pub(super) n_units: usize,
    pub(super) n_words: usize,
    pub(crate) footprints: Vec<Footprint>,
    pub(super) participations: Vec<Vec<Participation>>,
    /// For every unit, which instances its commands move: instance, source and target.
    pub(super) ways: Vec<Vec<(u32, usize, usize)>>,
    /// For every instance and location, the units that can move it from there.
    pub(crate) moving: Vec<Vec<u64>>,
    pub(super) exists: Vec<bool>,
    pub(crate) can_fail: Vec<bool>,
}

impl Units {
    pub(super) fn new(system: &System<'_>) -> Self {
        let n_units = system.n_units();
        let n_words = bits::words_for(n_units);
        let participations: Vec<Vec<Participation>> = (0..n_units)
            .map(|unit| participations(system, unit))
            .collect();
        let can_fail: Vec<bool> = (0..n_units)
            .map(|unit| system.unit_can_fail(unit))
            .collect();
        let exists = |unit: usize| {
            let command = system.commands.get(unit);
            command.is_none_or(|command| command.alone.is_some() || command.guard_can_fail)
        };
        let exists: Vec<bool> = (0..n_units).map(exists).collect();
        let mut moving = vec![vec![0; n_words]; system.rows.len()];

        for unit in (0..n_units).filter(|unit| exists[*unit]) {
            for member in &participations[unit] {
                for location in bits::iter(&member.locations) {
                    let row = system.first_row[member.instance as usize] as usize + location;
                    bits::set(&mut moving[row], unit);
                }
            }
        }

        Self {
            n_units,
            n_words,
            footprints: (0..n_units).map(|u| system.unit_footprint(u)).collect(),
            ways: (0..n_units).map(|unit| ways(system, unit)).collect(),
            participations,
            moving,
            exists,
            can_fail,
        }
    }

    /// For every unit, the existing units that it is related to.
    pub(super) fn related(&self, relation: impl Fn(usize, usize) -> bool) -> Vec<Vec<u64>> {
        let row = |unit| self.set_of(|other| relation(unit, other));
        (0..self.n_units).map(row).collect()
    }

    /// The existing units with a property.
    pub(super) fn set_of(&self, property: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut set = vec![0; self.n_words];
        (0..self.n_units)
            .filter(|&unit| self.exists[unit] && property(unit))
            .for_each(|unit| bits::set(&mut set, unit));
        set
    }

    pub(super) fn moves(&self, unit: usize, instance: u32) -> bool {
        let members = &self.participations[unit];
        members.iter().any(|member| member.instance == instance)
    }

    /// May it matter in which order the two happen?
    pub(super) fn interfere(&self, a: usize, b: usize) -> bool {
        let members = &self.participations[a];
        members.iter().any(|member| self.moves(b, member.instance))
            || self.footprints[a].interferes(&self.footprints[b])
    }

    /// May `a` make `b` enabled, or make it fail, where the participants of `b` are in place?
    pub(super) fn may_enable(&self, a: usize, b: usize) -> bool {
        let (writes, other) = (&self.footprints[a].writes, &self.footprints[b]);
        bits::intersects(writes, &other.reads) || bits::intersects(writes, &other.writes)
    }
}

fn participations(system: &System<'_>, unit: usize) -> Vec<Participation> {
    let mut members: Vec<Participation> = Vec::new();
    for command in system.unit_commands(unit) {
        let command = CommandId(command);
        let instance = system.model.commands()[command.index()].instance;
        let n_locations = system.model.process_of(instance).locations.len();
        let position = members
            .iter()
            .position(|member| member.instance == instance.0);
        let position = position.unwrap_or_else(|| {
            members.push(Participation {
                instance: instance.0,
                locations: vec![0; bits::words_for(n_locations)],
            });
            members.len() - 1
        });
        let source = system.model.step_of(command).source;
        bits::set(&mut members[position].locations, source.index());
    }
    members
}

fn ways(system: &System<'_>, unit: usize) -> Vec<(u32, usize, usize)> {
    let way = |command: u32| {
        let id = CommandId(command);
        let step = system.model.step_of(id);
        let instance = system.model.commands()[id.index()].instance.0;
        (instance, step.source.index(), step.target.index())
    };
    system.unit_commands(unit).into_iter().map(way).collect()
}

impl System<'_> {
    /// How many commands that move alone, and teams. Units are numbered in this order; commands
    /// that are in teams only are units that are never enabled.
    pub(crate) fn n_units(&self) -> usize {
        self.commands.len() + self.teams.len()
    }

    /// The number of a team as a unit.
    pub(crate) fn team_unit(&self, team: usize) -> u32 {
        (self.commands.len() + team) as u32
    }

    /// The commands that may take part in a unit.
    pub(super) fn unit_commands(&self, unit: usize) -> Vec<u32> {
        match unit.checked_sub(self.commands.len()) {
            None => vec![unit as u32],
            Some(team) => {
                let members = self.teams[team].members.iter().flatten();
                members.map(|member| member.command).collect()
            }
        }
    }

    /// The action that a unit takes.
    pub(super) fn unit_action(&self, unit: usize) -> Option<ActionId> {
        match unit.checked_sub(self.commands.len()) {
            None => {
                let alone = self.commands[unit].alone.is_some();
                alone.then(|| self.model.action_of(CommandId::new(unit)))
            }
            Some(team) => Some(self.teams[team].action),
        }
    }

    fn unit_footprint(&self, unit: usize) -> Footprint {
        let mut footprint = match unit.checked_sub(self.commands.len()) {
            None => Footprint::new(self.layout.n_words),
            Some(team) => self.teams[team].footprint.clone(),
        };
        for command in self.unit_commands(unit) {
            footprint.union(&self.commands[command as usize].footprint);
        }
        footprint
    }

    /// May executing the unit, or finding out whether it is possible, be a run-time error?
    fn unit_can_fail(&self, unit: usize) -> bool {
        let Some(team) = unit.checked_sub(self.commands.len()) else {
            let command = &self.commands[unit];
            return command.guard_can_fail || command.alone.is_some() && command.effect_can_fail;
        };
        let team = &self.teams[team];
        let fails = |member: &crate::system::Member| {
            let command = &self.commands[member.command as usize];
            command.guard_can_fail || command.effect_can_fail
        };

        // Members that write the same field may disagree about it.
        let writes: Vec<Vec<u64>> = team
            .members
            .iter()
            .map(|alternatives| {
                let mut writes = vec![0; self.layout.n_words];
                for member in alternatives {
                    let footprint = &self.commands[member.command as usize].footprint;
                    bits::union_into(&mut writes, &footprint.writes);
                }
                writes
            })
            .collect();

        let clash = |(position, own): (usize, &Vec<u64>)| {
            let mut others = writes[position + 1..].iter();
            others.any(|other| bits::intersects(own, other))
        };
        team.can_fail
            || team.members.iter().flatten().any(fails)
            || writes.iter().enumerate().any(clash)
    }

    /// Where an instance is.
    pub(super) fn location(&self, instance: usize, state: &[u64]) -> usize {
        let instance = InstanceId::new(instance);
        let field = self.layout.first_location as usize + instance.index();
        self.layout.fields[field].raw(state) as usize
    }
}
