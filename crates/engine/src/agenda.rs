//! What is looked at to find the steps of a state, and in which order.
//!
//! A *sequence* is a list of visits: a process is visited for the commands that it executes alone,
//! then for the teams that it leads. If all possible steps exist, there is one sequence. Else there
//! is one for each priority, and, where processes can have control, one for each process and
//! priority, with the steps in which that process moves.
//!
//! Guards of commands that move in teams are evaluated where they are needed, unless they can fail:
//! then they are evaluated wherever the reference semantics does so.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::priority::Selection;
use crate::system::System;

/// What a process is visited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// The commands that it executes alone, and guards that may fail.
    Alone,
    /// The teams that it leads.
    Teams,
}

/// The visit of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) instance: u32,
    pub(crate) round: Round,
    /// The steps that are looked for; all if nothing is said.
    pub(crate) only: Option<Selection>,
}

/// All sequences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    pub(crate) visits: Vec<Visit>,
    /// Where each sequence begins, and where the last one ends.
    first_visits: Vec<usize>,
    /// Which commands that can fail belong to teams of which process. Only where control exists.
    checked: FxHashSet<(u32, u32)>,
}

impl Agenda {
    /// A sequence for all steps, or for each priority and then for each process and priority.
    pub(crate) fn new(system: &System<'_>) -> Self {
        let mut agenda = Self::default();
        let n_instances = system.first_row.len() as u32;
        let Some(ruling) = &system.ruling else {
            agenda.add(system, None, 0..n_instances, 0..n_instances);
            agenda.first_visits.push(agenda.visits.len());
            return agenda;
        };
        for &level in &ruling.levels {
            let only = Some(Selection { level, mover: None });
            agenda.add(system, only, 0..n_instances, 0..n_instances);
        }

        if ruling.has_control() {
            agenda.checked = checked(system);
            let checked_by = system.partners(agenda.checked.iter().copied());
            let leaders = system.partners(system.leaders());
            for mover in 0..n_instances {
                for &level in &ruling.levels {
                    let only = Some(Selection {
                        level,
                        mover: Some(mover),
                    });
                    let mut alone = checked_by[mover as usize].clone();
                    alone.push(mover);
                    alone.sort_unstable();
                    alone.dedup();
                    let teams = leaders[mover as usize].iter().copied();
                    agenda.add(system, only, alone.into_iter(), teams);
                }
            }
        }

        agenda.first_visits.push(agenda.visits.len());
        agenda
    }

    fn add(
        &mut self,
        system: &System<'_>,
        only: Option<Selection>,
        alone: impl Iterator<Item = u32>,
        teams: impl Iterator<Item = u32>,
    ) {
        self.first_visits.push(self.visits.len());
        let alone = alone.map(|instance| (instance, Round::Alone));
        let teams = teams.map(|instance| (instance, Round::Teams));
        for (instance, round) in alone.chain(teams) {
            let visit = Visit {
                instance,
                round,
                only,
            };
            let mut rows = system.rows_of(instance as usize);
            if rows.any(|row| self.has_work(system, &visit, row)) {
                self.visits.push(visit);
            }
        }
    }

    pub(crate) fn n_sequences(&self) -> usize {
        self.first_visits.len() - 1
    }

    /// The positions of the visits of a sequence.
    pub(crate) fn sequence(&self, sequence: usize) -> Range<usize> {
        self.first_visits[sequence]..self.first_visits[sequence + 1]
    }

    /// Is there anything to do in a visit where the process is at this place?
    pub(crate) fn has_work(&self, system: &System<'_>, visit: &Visit, row: usize) -> bool {
        let mut commands = system.commands_at(row).iter();
        match visit.round {
            Round::Alone => commands
                .any(|id| self.is_tried(system, visit, *id) || self.is_checked(system, visit, *id)),
            Round::Teams => commands.any(|id| self.may_lead(system, visit, *id)),
        }
    }

    /// Is the command one that the process executes alone in this visit?
    pub(crate) fn is_tried(&self, system: &System<'_>, visit: &Visit, id: u32) -> bool {
        let command = &system.commands[id as usize];
        let is_selected = |only: Selection| {
            command.priority == only.level && only.mover.is_none_or(|mover| mover == visit.instance)
        };
        command.alone.is_some() && visit.only.is_none_or(is_selected)
    }

    /// Is the guard of a command evaluated in this visit because it can fail? It was evaluated
    /// before if the command reaches higher.
    pub(crate) fn is_checked(&self, system: &System<'_>, visit: &Visit, id: u32) -> bool {
        let command = &system.commands[id as usize];
        let is_selected = |only: Selection| {
            let belongs = |mover| self.checked.contains(&(mover, id));
            command.reach == only.level && only.mover.is_none_or(belongs)
        };
        command.alone.is_none() && command.guard_can_fail && visit.only.is_none_or(is_selected)
    }

    /// May the command lead a team in this visit?
    pub(crate) fn may_lead(&self, system: &System<'_>, visit: &Visit, id: u32) -> bool {
        let command = &system.commands[id as usize];
        let mut teams = command.leads.iter();
        let is_selected = |only: Selection| command.reach >= only.level;
        visit.only.is_none_or(is_selected)
            && teams.any(|&team| system.takes_part(team as usize, visit.only))
    }
}

/// The commands that can fail, with each process that has a transition with them.
fn checked(system: &System<'_>) -> FxHashSet<(u32, u32)> {
    let mut checked = FxHashSet::default();
    for transition in system.model.transitions() {
        let members = transition.participants.iter();
        for id in members.flat_map(|member| &member.alternatives) {
            let command = &system.commands[id.index()];
            if command.alone.is_none() && command.guard_can_fail {
                let movers = transition.participants.iter();
                checked.extend(movers.map(|mover| (mover.instance.0, id.0)));
            }
        }
    }
    checked
}

impl System<'_> {
    /// The rows of the locations of an instance.
    pub(crate) fn rows_of(&self, instance: usize) -> Range<usize> {
        let end = self.first_row.get(instance + 1);
        let end = end.map_or(self.rows.len() - 1, |row| *row as usize);
        self.first_row[instance] as usize..end
    }

    /// The commands that start in a row.
    pub(crate) fn commands_at(&self, row: usize) -> &[u32] {
        &self.by_location[self.rows[row] as usize..self.rows[row + 1] as usize]
    }

    /// Every process with the commands that lead teams in which it takes part.
    fn leaders(&self) -> impl Iterator<Item = (u32, u32)> {
        self.teams.iter().flat_map(move |team| {
            let leader = team.members[0][0].command;
            let members = team.members.iter();
            members.map(move |member| (self.mover(member[0].command), leader))
        })
    }

    /// For every process, the processes of some commands, in order.
    fn partners(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
        let mut partners = vec![Vec::new(); self.first_row.len()];
        for (process, command) in pairs {
            partners[process as usize].push(self.mover(command));
        }
        for others in &mut partners {
            others.sort_unstable();
            others.dedup();
        }
        partners
    }

    /// The process that executes a command.
    pub(crate) fn mover(&self, command: u32) -> u32 {
        self.model.commands()[command as usize].instance.0
    }

    /// Does the mover of the selection take part in a team?
    pub(crate) fn takes_part(&self, team: usize, only: Option<Selection>) -> bool {
        let Some(mover) = only.and_then(|only| only.mover) else {
            return true;
        };
        let mut members = self.teams[team].members.iter();
        members.any(|member| self.mover(member[0].command) == mover)
    }
}
