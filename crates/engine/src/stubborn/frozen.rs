//! Which processes keep a system going: if one of them never moves, everything comes to a stand
//! still.
//!
//! In an infinite run in which a process never moves, some units happen infinitely often. None of
//! them moves that process; and each participant of such a unit goes round a cycle of its control
//! graph by such units. The greatest set with (nearly) these properties is computed by throwing out
//! what has not: a command is thrown out if it leads to a location that none that is left leaves,
//! or leaves one that none that is left leads to; a unit is thrown out if a participant has no
//! command left for it. Guards over data are taken to be true. If nothing is left, there is no such
//! run.

use crate::system::System;

use super::units::Units;

/// Larger systems are not looked at: instances times commands.
const MAX_EFFORT: usize = 2_000_000;

/// For every instance: does every run end in which it does not move?
pub(super) fn stops_without(system: &System<'_>, units: &Units) -> Vec<bool> {
    let n_instances = system.model.instances().len();
    if n_instances * units.n_units > MAX_EFFORT {
        return vec![false; n_instances];
    }
    let members = Members::new(system, units);
    (0..n_instances)
        .map(|instance| !Left::without(&members, units, instance as u32).has_cycle(&members))
        .collect()
}

/// Who takes part in what, with rows of instances and locations.
struct Members {
    /// By unit and participant: its commands.
    roles: Vec<Vec<Vec<u32>>>,
    /// By command: the row that it leaves and the row that it leads to.
    rows: Vec<(u32, u32)>,
    n_rows: usize,
}

impl Members {
    fn new(system: &System<'_>, units: &Units) -> Self {
        let n_commands = system.commands.len();
        let roles = |unit: usize| match unit.checked_sub(n_commands) {
            None if system.commands[unit].alone.is_none() => vec![],
            None => vec![vec![unit as u32]],
            Some(team) => {
                let members = system.teams[team].members.iter();
                members
                    .map(|alternatives| alternatives.iter().map(|m| m.command).collect())
                    .collect()
            }
        };

        let rows = |command: usize| {
            let id = model::CommandId::new(command);
            let instance = system.model.commands()[command].instance.index();
            let step = system.model.step_of(id);
            let first = system.first_row[instance];
            (first + step.source.0, first + step.target.0)
        };

        Self {
            roles: (0..units.n_units).map(roles).collect(),
            rows: (0..n_commands).map(rows).collect(),
            n_rows: system.rows.len(),
        }
    }
}

/// What is left.
struct Left {
    units: Vec<bool>,
    /// By command: in how many units that are left.
    commands: Vec<u32>,
    leaving: Vec<u32>,
    arriving: Vec<u32>,
}

impl Left {
    fn without(members: &Members, units: &Units, frozen: u32) -> Self {
        let keep = |unit: usize| !members.roles[unit].is_empty() && !units.moves(unit, frozen);
        let mut left = Self {
            units: (0..units.n_units).map(keep).collect(),
            commands: vec![0; members.rows.len()],
            leaving: vec![0; members.n_rows],
            arriving: vec![0; members.n_rows],
        };
        for unit in (0..units.n_units).filter(|&unit| left.units[unit]) {
            for &command in members.roles[unit].iter().flatten() {
                left.commands[command as usize] += 1;
            }
        }
        for (command, &(source, target)) in members.rows.iter().enumerate() {
            let counts = u32::from(left.commands[command] > 0);
            left.leaving[source as usize] += counts;
            left.arriving[target as usize] += counts;
        }
        left
    }

    fn has_cycle(mut self, members: &Members) -> bool {
        let mut changed = true;
        while changed {
            changed = false;
            for (command, &(source, target)) in members.rows.iter().enumerate() {
                let stuck =
                    self.leaving[target as usize] == 0 || self.arriving[source as usize] == 0;
                if self.commands[command] > 0 && stuck {
                    self.drop_command(members, command);
                    changed = true;
                }
            }
            for unit in 0..self.units.len() {
                let lost = |role: &Vec<u32>| role.iter().all(|&c| self.commands[c as usize] == 0);
                if self.units[unit] && members.roles[unit].iter().any(lost) {
                    self.drop_unit(members, unit);
                    changed = true;
                }
            }
        }
        self.units.iter().any(|left| *left)
    }

    fn drop_command(&mut self, members: &Members, command: usize) {
        let (source, target) = members.rows[command];
        self.commands[command] = 0;
        self.leaving[source as usize] -= 1;
        self.arriving[target as usize] -= 1;
    }

    fn drop_unit(&mut self, members: &Members, unit: usize) {
        self.units[unit] = false;
        for &command in members.roles[unit].iter().flatten() {
            match self.commands[command as usize] {
                0 => {}
                1 => self.drop_command(members, command as usize),
                n => self.commands[command as usize] = n - 1,
            }
        }
    }
}
