//! What the machine code of a system consists of.
//!
//! Crate `jit` generates it; here it is told which commands and teams are tried at which location.

use base::bits;
use jit::{Attempt, LabelId, Op, Plan, Process, Routine, Step, Then, can_translate, extent};
use model::CommandId;

use crate::footprint::Footprint;
use crate::label::LabelTable;
use crate::system::{Member, System, Team};

/// Teams with more combinations of members are interpreted.
const MAX_COMBINATIONS: usize = 64;

/// All processes are visited twice: for the commands that move alone, then for the teams they lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    Alone,
    Teams,
}

const ROUNDS: [Round; 2] = [Round::Alone, Round::Teams];

struct Planner<'a, 'm> {
    system: &'a System<'m>,
    labels: &'a mut LabelTable,
}

/// Commands of different processes that move together.
struct Combination {
    /// In an order in which none reads or writes what one before it has written.
    members: Vec<Member>,
    label: LabelId,
}

/// Generates code for a system and for the propositions at these positions of its code.
pub(crate) fn generate(system: &mut System<'_>, propositions: &[u32]) -> Option<Routine> {
    let mut labels = std::mem::replace(&mut system.labels, LabelTable::new());
    let mut planner = Planner {
        system,
        labels: &mut labels,
    };
    let plan = planner.plan();
    let mut attempts = |round: usize, row: u32| planner.attempts(ROUNDS[round], row as usize);
    let routine = Routine::new(&plan, &mut attempts, propositions);
    system.labels = labels;
    routine
}

impl<'a> Planner<'a, '_> {
    /// The processes. Where not every possible step exists, and where all processes move together,
    /// only guards and propositions are translated.
    fn plan(&self) -> Plan<'a> {
        let system = self.system;
        let n_rounds = if system.synchronous || system.ruling.is_some() {
            0
        } else if system.teams.is_empty() {
            1
        } else {
            2
        };
        let instances = 0..system.first_row.len();
        let processes = |round: &Round| {
            let process = |instance: usize| self.process(*round, instance);
            instances.clone().map(process).collect()
        };
        Plan {
            tables: &system.tables,
            n_words: system.layout.n_words,
            n_flags: system.commands.len(),
            rounds: ROUNDS[..n_rounds].iter().map(processes).collect(),
        }
    }

    fn process(&self, round: Round, instance: usize) -> Process {
        let system = self.system;
        let first_row = system.first_row[instance];
        let end = system.first_row.get(instance + 1);
        let end = end.map_or(system.rows.len() as u32 - 1, |row| *row);
        let field = system.layout.first_location as usize + instance;
        let row = |row: u32| self.has_work(round, row as usize).then_some(row);
        Process {
            location: system.tables.fields[field],
            rows: (first_row..end).map(row).collect(),
        }
    }

    fn commands(&self, row: usize) -> &'a [u32] {
        let range = self.system.rows[row] as usize..self.system.rows[row + 1] as usize;
        &self.system.by_location[range]
    }

    fn has_work(&self, round: Round, row: usize) -> bool {
        let leads = |command: &u32| !self.system.commands[*command as usize].leads.is_empty();
        match round {
            Round::Alone => !self.commands(row).is_empty(),
            Round::Teams => self.commands(row).iter().any(leads),
        }
    }

    /// What can be tried at a location; nothing if it is left to the interpreter.
    fn attempts(&mut self, round: Round, row: usize) -> Option<Vec<Attempt>> {
        match round {
            Round::Alone => self.row_alone(row),
            Round::Teams => self.row_of_leaders(row),
        }
    }

    fn row_alone(&self, row: usize) -> Option<Vec<Attempt>> {
        let attempt = |&id: &u32| {
            let command = &self.system.commands[id as usize];
            let then = match command.alone {
                None => Then::Flag(id),
                Some(label) => {
                    let step = |effect: &u32| Step {
                        effects: vec![*effect],
                        label,
                        unit: id,
                    };
                    let effects = command.outcomes()?;
                    if !effects.iter().all(|effect| self.can_translate(*effect)) {
                        return None;
                    }
                    Then::Steps(effects.iter().map(step).collect())
                }
            };
            self.can_translate(command.guard).then_some(Attempt {
                flags: Vec::new(),
                condition: Some(command.guard),
                then,
            })
        };
        self.commands(row).iter().map(attempt).collect()
    }

    fn row_of_leaders(&mut self, row: usize) -> Option<Vec<Attempt>> {
        let mut attempts = Vec::new();
        for &leader in self.commands(row) {
            for &team in &self.system.commands[leader as usize].leads {
                let team = team as usize;
                let unit = self.system.team_unit(team);
                for Combination { members, label } in self.combinations(leader, team)? {
                    // The leader takes part in all of them; the others are looked at anew.
                    let mut flags: Vec<u32> = members.iter().map(|m| m.command).collect();
                    flags.sort_by_key(|command| *command != leader);
                    let effects = members.iter().map(|member| member.effect).collect();
                    attempts.push(Attempt {
                        flags,
                        condition: self.system.teams[team].agreement,
                        then: Then::Steps(vec![Step {
                            effects,
                            label,
                            unit,
                        }]),
                    });
                }
            }
        }
        Some(attempts)
    }

    fn can_translate(&self, code: u32) -> bool {
        can_translate(&self.system.tables, code)
    }

    /// The combinations of members of a team that a command leads, in the order in which the
    /// interpreter takes them; nothing if it must be left to the interpreter.
    fn combinations(&mut self, leader: u32, team: usize) -> Option<Vec<Combination>> {
        let team = &self.system.teams[team];
        let sizes = team.members[1..].iter().map(Vec::len);
        let n_combinations = sizes.fold(1_usize, usize::saturating_mul);
        let is_simple = n_combinations <= MAX_COMBINATIONS
            && team
                .agreement
                .is_none_or(|code| n_combinations == 1 && self.can_translate(code))
            && team
                .members
                .iter()
                .flatten()
                .all(|member| self.is_plain(member));
        if !is_simple {
            return None;
        }
        let mut combinations = Vec::new();
        for number in 0..n_combinations {
            let members = pick(team, leader, number);
            let commands = members.iter().map(|m| CommandId(m.command)).collect();
            let label =
                self.labels
                    .of_team(self.system.model, vec![team.action], commands, Vec::new());
            let members = self.in_order(members)?;
            combinations.push(Combination { members, label });
        }
        Some(combinations)
    }

    /// Does its effect have one outcome, or fail? If it could be impossible, whether another fails
    /// would depend on which comes first.
    fn is_plain(&self, member: &Member) -> bool {
        let ops = &self.system.tables.ops[extent(&self.system.tables, member.effect)];
        !ops.iter()
            .any(|op| matches!(op, Op::Reject | Op::Choose { .. }))
            && self.can_translate(member.effect)
    }

    /// The members in an order in which one after the other has the effect of all at once: none
    /// reads or writes what one before it has written.
    fn in_order(&self, mut members: Vec<Member>) -> Option<Vec<Member>> {
        let touched = |member: &Member| &self.system.effect_footprints[&member.effect];
        let disturbs = |a: &Footprint, b: &Footprint| {
            bits::intersects(&a.writes, &b.reads) || bits::intersects(&a.writes, &b.writes)
        };
        let mut ordered = Vec::new();
        while !members.is_empty() {
            let is_first = |position: &usize| {
                let others = members.iter().enumerate().filter(|(i, _)| i != position);
                !others
                    .map(|(_, other)| touched(other))
                    .any(|other| disturbs(touched(&members[*position]), other))
            };
            let first = (0..members.len()).find(is_first)?;
            ordered.push(members.remove(first));
        }
        Some(ordered)
    }
}

/// The combination with this number: members with the leader first, the last one changing fastest.
fn pick(team: &Team, leader: u32, mut number: usize) -> Vec<Member> {
    let mut members = Vec::new();
    for alternatives in team.members[1..].iter().rev() {
        members.push(alternatives[number % alternatives.len()]);
        number /= alternatives.len();
    }
    members.extend(
        team.members[0]
            .iter()
            .find(|member| member.command == leader),
    );
    members.reverse();
    members
}
