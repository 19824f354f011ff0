//! Partial-order reduction with strong stubborn sets.
//!
//! In many states it is enough to take some of the steps, because the others can wait: they do not
//! interfere. The set of steps to be taken is computed as in Valmari, *Stubborn sets for reduced
//! state space generation* (1991, DOI 10.1007/3-540-53863-1_36): starting from an enabled unit,
//!
//! - with an enabled unit, every unit that interferes with it is in the set;
//! - with a disabled unit, a set of units is in the set without one of which it stays disabled: if a
//!   participant is at another location, all units that can move it from there; else all units that
//!   write what the disabled one reads.
//!
//! A *unit* is a command that moves alone, or a team. Two units interfere if they share a process,
//! or if one writes a bit of the state that the other reads or writes ([`Footprint`]).
//!
//! For deadlocks this is all. For propositions about states two more conditions hold of a set that
//! leaves out an enabled unit (Clarke, Grumberg, Peled, *Model Checking*, chapter 10); the second
//! also makes sure that no run-time error is put off for ever:
//!
//! - *invisibility*: none of its enabled units writes a bit that a proposition reads;
//! - *no ignoring*: none of its enabled units is *sticky*. Every cycle of the control graph of every
//!   process contains a sticky command (a back edge of a depth-first search), so every cycle of the
//!   system contains a state from which all steps are taken (Kurshan, Levin, Minea, Peled,
//!   Yenigün, *Static partial order reduction*, 1998, DOI 10.1007/BFb0054182). This needs no
//!   knowledge of the search order.
//!
//! What this preserves, and for which fairness, is argued in `SOUNDNESS.md`.

use base::bits;
use model::{InstanceId, Model, Process};

use crate::footprint::Footprint;
use crate::system::{Steps, System};

/// Systems with more units than this are not reduced: the relation between them would not fit.
const MAX_UNITS: usize = 4096;

/// Who must be where for a unit to be enabled.
#[derive(Clone, Debug)]
struct Participation {
    instance: u32,
    /// The locations at which it has something to contribute.
    locations: Vec<u64>,
}

/// The relations between the units of a system, and which of them may be left out.
#[derive(Clone, Debug)]
pub(crate) struct Stubborn {
    n_words: usize,
    participations: Vec<Vec<Participation>>,
    /// For every unit, the units that interfere with it.
    interfering: Vec<Vec<u64>>,
    /// For every unit, the units that may make it enabled where all its participants are in place.
    enablers: Vec<Vec<u64>>,
    /// For every instance and location, the units that can move it from there.
    moving: Vec<Vec<u64>>,
    /// Units that no reduced set may contain while they are enabled.
    conspicuous: Vec<u64>,
    enabled: Vec<u64>,
    chosen: Vec<u64>,
    best: Vec<u64>,
    open: Vec<usize>,
}

impl Stubborn {
    /// Works out the relations; nothing if the system cannot be reduced. `observed` is what the
    /// propositions read that the reduction must preserve.
    pub(crate) fn new(system: &System<'_>, observed: &Footprint) -> Option<Self> {
        let n_units = system.n_units();
        if system.synchronous || system.ruling.is_some() || n_units > MAX_UNITS {
            return None;
        }
        let n_words = bits::words_for(n_units);
        let footprints: Vec<Footprint> = (0..n_units).map(|u| system.unit_footprint(u)).collect();
        let participations: Vec<Vec<Participation>> = (0..n_units)
            .map(|unit| participations(system, unit))
            .collect();
        // Commands that only move in teams are no units of their own.
        let exists = |unit: usize| {
            system
                .commands
                .get(unit)
                .is_none_or(|command| command.alone.is_some())
        };
        let related = |relation: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<u64>> {
            let row = |unit| {
                let mut row = vec![0; n_words];
                (0..n_units)
                    .filter(|&other| exists(other) && relation(unit, other))
                    .for_each(|o| bits::set(&mut row, o));
                row
            };
            (0..n_units).map(row).collect()
        };
        let share_process = |a: usize, b: usize| {
            let has =
                |p: &Participation| participations[b].iter().any(|q| q.instance == p.instance);
            participations[a].iter().any(has)
        };
        let interfering =
            related(&|a, b| share_process(a, b) || footprints[a].interferes(&footprints[b]));
        let enablers = related(&|a, b| {
            bits::intersects(&footprints[b].writes, &footprints[a].reads)
                || bits::intersects(&footprints[b].writes, &footprints[a].writes)
        });
        let mut moving = vec![vec![0; n_words]; system.rows.len()];
        for (unit, members) in participations
            .iter()
            .enumerate()
            .filter(|(unit, _)| exists(*unit))
        {
            for member in members {
                for location in bits::iter(&member.locations) {
                    let row = system.first_row[member.instance as usize] as usize + location;
                    bits::set(&mut moving[row], unit);
                }
            }
        }
        let sticky = sticky_steps(system.model);
        let mut conspicuous = vec![0; n_words];
        for (unit, footprint) in footprints.iter().enumerate() {
            let is_sticky = system.unit_commands(unit).iter().any(|&command| {
                let command = &system.model.commands()[command as usize];
                let process = system.model.instances()[command.instance.index()].process;
                sticky[process.index()][command.step]
            });
            if is_sticky || bits::intersects(&footprint.writes, &observed.reads) {
                bits::set(&mut conspicuous, unit);
            }
        }
        Some(Self {
            n_words,
            participations,
            interfering,
            enablers,
            moving,
            conspicuous,
            enabled: vec![0; n_words],
            chosen: vec![0; n_words],
            best: vec![0; n_words],
            open: Vec::new(),
        })
    }

    /// Leaves out the steps that can wait.
    pub(crate) fn reduce(&mut self, system: &System<'_>, state: &[u64], steps: &mut Steps) {
        self.enabled.fill(0);
        for &unit in &steps.units {
            bits::set(&mut self.enabled, unit as usize);
        }
        let n_enabled: u32 = self.enabled.iter().map(|word| word.count_ones()).sum();
        if n_enabled < 2 {
            return;
        }
        let mut fewest = n_enabled;
        let seeds = self.enabled.clone();
        for seed in bits::iter(&seeds) {
            if bits::get(&self.conspicuous, seed) || !self.close(system, state, seed) {
                continue;
            }
            let kept =
                (0..self.n_words).map(|word| (self.chosen[word] & self.enabled[word]).count_ones());
            let kept: u32 = kept.sum();
            if kept < fewest {
                fewest = kept;
                self.best.copy_from_slice(&self.chosen);
                if kept == 1 {
                    break;
                }
            }
        }
        if fewest < n_enabled {
            let best = &self.best;
            steps.retain_units(|unit| bits::get(best, unit as usize));
        }
    }

    /// The smallest stubborn set that contains the seed, into `self.chosen`; false as soon as it
    /// contains an enabled unit that must not be in a reduced set.
    fn close(&mut self, system: &System<'_>, state: &[u64], seed: usize) -> bool {
        self.chosen.fill(0);
        bits::set(&mut self.chosen, seed);
        self.open.clear();
        self.open.push(seed);
        while let Some(unit) = self.open.pop() {
            let more = if bits::get(&self.enabled, unit) {
                if bits::get(&self.conspicuous, unit) {
                    return false;
                }
                &self.interfering[unit]
            } else {
                // Any participant that is elsewhere will do; the one that adds least is best.
                let misplaced = self.participations[unit].iter().filter_map(|member| {
                    let location = system.location(member.instance as usize, state);
                    let row = system.first_row[member.instance as usize] as usize + location;
                    (!bits::get(&member.locations, location)).then_some(row)
                });
                let n_added = |row: &usize| -> u32 {
                    let words = self.moving[*row].iter().zip(&self.chosen);
                    words
                        .map(|(more, chosen)| (more & !chosen).count_ones())
                        .sum()
                };
                match misplaced.min_by_key(n_added) {
                    Some(row) => &self.moving[row],
                    None => &self.enablers[unit],
                }
            };
            for (word, (chosen, more)) in self.chosen.iter_mut().zip(more).enumerate() {
                let added = [more & !*chosen];
                *chosen |= more;
                self.open
                    .extend(bits::iter(&added).map(|bit| word * 64 + bit));
            }
        }
        true
    }
}

fn participations(system: &System<'_>, unit: usize) -> Vec<Participation> {
    let mut members: Vec<Participation> = Vec::new();
    for command in system.unit_commands(unit) {
        let command = model::CommandId(command);
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

/// For every process, which of its steps are back edges of a depth-first search of its control
/// graph. Steps that no path from an initial location reaches count too; they are never taken.
fn sticky_steps(model: &Model) -> Vec<Vec<bool>> {
    model
        .parts()
        .processes
        .iter()
        .map(sticky_steps_of)
        .collect()
}

fn sticky_steps_of(process: &Process) -> Vec<bool> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut color = vec![NEW; process.locations.len()];
    let mut sticky = vec![true; process.steps.len()];
    for start in &process.initial {
        // A location and the number of steps looked at.
        let mut path = vec![(start.index(), 0)];
        while let Some((location, next)) = path.pop() {
            if next == 0 && color[location] != NEW {
                continue;
            }
            color[location] = ON_PATH;
            let leaving = |step: &usize| process.steps[*step].source.index() == location;
            match (next..process.steps.len()).find(leaving) {
                None => color[location] = DONE,
                Some(step) => {
                    let target = process.steps[step].target.index();
                    sticky[step] = color[target] == ON_PATH;
                    path.push((location, step + 1));
                    path.push((target, 0));
                }
            }
        }
    }
    sticky
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

    fn unit_commands(&self, unit: usize) -> Vec<u32> {
        match unit.checked_sub(self.commands.len()) {
            None => vec![unit as u32],
            Some(team) => {
                let members = self.teams[team].members.iter().flatten();
                members.map(|member| member.command).collect()
            }
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

    fn location(&self, instance: usize, state: &[u64]) -> usize {
        let instance = InstanceId::new(instance);
        let field = self.layout.first_location as usize + instance.index();
        self.layout.fields[field].raw(state) as usize
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use model::{LocationId, Step};

    use super::*;

    #[test]
    fn every_cycle_of_a_control_graph_has_a_sticky_step() {
        let step =
            |from: u32, to: u32| Step::new("s", LocationId(from), LocationId(to), Span::nowhere());
        let edges = [(0, 1), (1, 2), (2, 0), (1, 1), (0, 2), (2, 1), (3, 0)];
        let steps = edges.iter().map(|&(from, to)| step(from, to)).collect();
        let locations = (0..4).map(|i| i.to_string()).collect();
        let process = Process::new("P", locations, steps, Span::nowhere());
        let sticky = sticky_steps_of(&process);
        // 0 -> 1 -> 2 is the path of the search; what leads back onto it is sticky.
        assert_eq!(sticky, [false, false, true, true, false, true, true]);
    }
}
