//! What a reduction must preserve, told in units.
//!
//! - A unit is *visible* if the propositions of the property may tell: it writes what they read, it
//!   is named by one, or it may change whether a step named by `enabled` is possible.
//! - A unit is *relevant* to a fairness condition if it may take the subject of the condition or
//!   change whether the subject is enabled.
//! - The visible units are a *class*: the order in which they happen is preserved. So are the units
//!   relevant to a condition, unless its subject is *steady*: once a participant is ready for it,
//!   it stays ready until the subject is taken. Then only what each participant does for itself
//!   matters, and it is preserved anyway.
//! - A unit is *concerned* if it is visible or relevant, or if it can fail.
//! - A unit is *harmless* if a run that does not have it may be given it: it is neither visible nor
//!   relevant. So is a unit of a process without which the system comes to a stand still
//!   ([`super::frozen`]): no infinite run does without moving that process.

use std::collections::BTreeMap;

use base::bits;
use model::{CommandId, Condition, Subject, Sync};

use crate::system::System;

use super::Demands;
use super::frozen::stops_without;
use super::units::Units;

/// See the module; all sets are over units.
#[derive(Debug)]
pub(super) struct Concern {
    pub(super) visible: Vec<u64>,
    pub(super) concerned: Vec<u64>,
    pub(super) harmless: Vec<u64>,
    pub(super) classes: Vec<Vec<u64>>,
}

impl Concern {
    pub(super) fn new(system: &System<'_>, units: &Units, demands: &Demands<'_>) -> Self {
        let visible = visible(system, units, demands);
        let mut classes = vec![visible.clone()];
        let mut seen = visible.clone();
        for (relevant, is_steady) in subjects(system, units, demands.conditions) {
            bits::union_into(&mut seen, &relevant);
            if !is_steady {
                classes.push(relevant);
            }
        }

        let mut concerned = seen.clone();
        bits::union_into(&mut concerned, &units.set_of(|unit| units.can_fail[unit]));
        let harmless = if demands.infinite_runs {
            let stops = stops_without(system, units);
            let vital = |unit: usize| {
                let mut members = units.participations[unit].iter();
                members.any(|member| stops[member.instance as usize])
            };
            units.set_of(|unit| !bits::get(&seen, unit) || vital(unit))
        } else {
            units.set_of(|_| true)
        };

        Self {
            visible,
            concerned,
            harmless,
            classes,
        }
    }
}

/// For each condition: the units that are relevant to it, and whether its subject is steady.
pub(super) fn subjects(
    system: &System<'_>,
    units: &Units,
    conditions: &[Condition],
) -> Vec<(Vec<u64>, bool)> {
    let claims = |condition: &Condition| {
        let subject = SubjectUnits::new(system, units, condition);
        (subject.relevant(units), subject.is_steady(units))
    };
    conditions.iter().map(claims).collect()
}

/// What decides whether a unit is possible where its participants are in place.
pub(super) fn condition_reads(system: &System<'_>, unit: usize) -> Vec<u64> {
    let mut reads = match unit.checked_sub(system.commands.len()) {
        None => vec![0; system.layout.n_words],
        Some(team) => system.teams[team].footprint.reads.clone(),
    };
    for command in system.unit_commands(unit) {
        let compiled = &system.commands[command as usize];
        bits::union_into(&mut reads, &compiled.condition_reads);
    }
    reads
}

pub(super) fn visible(system: &System<'_>, units: &Units, demands: &Demands<'_>) -> Vec<u64> {
    let letters = demands.letters;
    let has_command = |set: &model::StepSet, unit: usize| {
        let commands = system.unit_commands(unit);
        commands.iter().any(|&c| set.contains(CommandId(c)))
    };
    let mut visible =
        units.set_of(|u| bits::intersects(&units.footprints[u].writes, &letters.footprint.reads));

    for set in letters.taken_sets() {
        // Two ways of taking the same action to the same state are one step.
        let named = units.set_of(|unit| has_command(set, unit));
        let actions: Vec<_> = bits::iter(&named).map(|u| system.unit_action(u)).collect();
        let same_action = |unit: usize| actions.contains(&system.unit_action(unit));
        bits::union_into(&mut visible, &units.set_of(same_action));
    }

    for set in letters.enabled_sets() {
        let mut reads = vec![0; system.layout.n_words];
        for unit in bits::iter(&units.set_of(|unit| has_command(set, unit))) {
            bits::union_into(&mut reads, &units.footprints[unit].reads);
        }
        let changes = |unit: usize| bits::intersects(&units.footprints[unit].writes, &reads);
        bits::union_into(&mut visible, &units.set_of(changes));
    }

    visible
}

/// The ways in which a process at some location is ready for the subject of a condition: in which
/// role of which team (or alone), by a command that the condition names or by another one, under
/// which guard. Equal sets mean: as far as this process is concerned, the subject is enabled in the
/// same states.
type Readiness = Vec<Way>;

/// One way of being ready: the team (or the number of commands, if alone), the role, whether the
/// subject is the choice of this very command, the guard.
type Way = (usize, usize, bool, String);

/// The subject of a condition.
struct SubjectUnits {
    /// The units that may take it.
    units: Vec<u64>,
    /// The command, if the subject is the choice of one: the other commands that take part in its
    /// units say nothing about it.
    choice: Option<CommandId>,
    /// Is every step of these units a step of the subject?
    always: bool,
    /// What their guards read, beyond the locations of those who take part.
    reads: Vec<u64>,
    /// Readiness by instance and location, where there is any.
    readiness: BTreeMap<(u32, usize), Readiness>,
}

impl SubjectUnits {
    fn new(system: &System<'_>, units: &Units, condition: &Condition) -> Self {
        let takes = |unit: usize| match condition.subject {
            Subject::Process(instance) => units.moves(unit, instance.0),
            Subject::Action(action) => system.unit_action(unit) == Some(action),
            Subject::Choice(command) => system.unit_commands(unit).contains(&command.0),
            // Every step may set a timer. Time has the lowest priority, so this is met only in
            // models in which nothing but time passes.
            Subject::Timer(_) => true,
            Subject::Team(_) => unreachable!("justness is refused"),
        };

        let mut taking = units.set_of(takes);
        let choice = match condition.subject {
            Subject::Choice(command) => Some(command),
            Subject::Process(_) | Subject::Action(_) | Subject::Timer(_) | Subject::Team(_) => None,
        };
        let mut always = !matches!(condition.subject, Subject::Timer(_));

        if choice.is_some() && system.may_repeat {
            // A step may happen in several ways at once, and not every step of a team with
            // alternatives executes this one.
            always = false;
            let actions: Vec<_> = bits::iter(&taking).map(|u| system.unit_action(u)).collect();
            taking = units.set_of(|unit| actions.contains(&system.unit_action(unit)));
        }

        let mut subject = Self {
            units: taking,
            choice,
            always,
            reads: vec![0; system.layout.n_words],
            readiness: BTreeMap::new(),
        };

        let taking = subject.units.clone();
        bits::iter(&taking).for_each(|unit| subject.add(system, unit));
        subject.readiness.values_mut().for_each(|ready| {
            ready.sort_unstable();
            ready.dedup();
        });
        subject
    }

    fn add(&mut self, system: &System<'_>, unit: usize) {
        bits::union_into(&mut self.reads, &condition_reads(system, unit));
        let n_commands = system.commands.len();
        let Some(team) = unit.checked_sub(n_commands) else {
            return self.add_command(system, unit as u32, (n_commands, 0));
        };
        let team = &system.teams[team];
        for (role, alternatives) in team.members.iter().enumerate() {
            for member in alternatives {
                self.add_command(system, member.command, (unit, role));
            }
        }
    }

    fn add_command(&mut self, system: &System<'_>, command: u32, (unit, role): (usize, usize)) {
        let id = CommandId(command);
        let compiled = &system.commands[command as usize];
        let step = system.model.step_of(id);
        let is_plain = !compiled.effect_can_reject
            && match step.sync {
                Sync::Internal | Sync::Event { .. } => true,
                Sync::Send { .. } | Sync::Receive { .. } => false,
            };
        let guard = if !is_plain {
            // Whether the step is possible depends on more than its guard.
            format!("command {command}")
        } else if step.guard.is_bool(true) {
            String::new()
        } else {
            let bindings = &system.model.commands()[id.index()].bindings;
            format!("{:?} {bindings:?}", step.guard)
        };

        let instance = system.model.commands()[id.index()].instance;
        let place = (instance.0, step.source.index());
        self.readiness
            .entry(place)
            .or_default()
            .push((unit, role, self.choice == Some(id), guard));
    }

    /// How a unit changes the readiness of the processes that it moves: before and after.
    fn changes<'a>(
        &'a self,
        units: &'a Units,
        unit: usize,
    ) -> impl Iterator<Item = (&'a [Way], &'a [Way])> {
        let ready = |instance: u32, location: usize| {
            let ready = self.readiness.get(&(instance, location));
            ready.map_or(&[][..], Vec::as_slice)
        };
        let ways = units.ways[unit].iter();
        ways.map(move |&(instance, source, target)| {
            (ready(instance, source), ready(instance, target))
        })
    }

    fn relevant(&self, units: &Units) -> Vec<u64> {
        units.set_of(|unit| {
            bits::get(&self.units, unit)
                || bits::intersects(&units.footprints[unit].writes, &self.reads)
                || self
                    .changes(units, unit)
                    .any(|(before, after)| before != after)
        })
    }

    fn is_steady(&self, units: &Units) -> bool {
        let keeps_ready = |unit: usize| {
            let stays =
                |(before, after): (&[Way], &[Way])| before.iter().all(|way| after.contains(way));
            !bits::intersects(&units.footprints[unit].writes, &self.reads)
                && self.changes(units, unit).all(stays)
        };
        self.always
            && (0..units.n_units)
                .filter(|&unit| units.exists[unit] && !bits::get(&self.units, unit))
                .all(keeps_ready)
    }
}
