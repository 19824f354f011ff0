//! What the machine code of a system consists of.
//!
//! Crate `jit` generates it; here it is told which commands and teams are tried at which location.

use base::bits;
use jit::{Attempt, Field, Op, Plan, Routine, Sequence, Step, Then, can_translate, extent};
use model::CommandId;

use crate::agenda::{Round, Visit};
use crate::footprint::Footprint;
use crate::label::LabelTable;
use crate::priority::Selection;
use crate::system::{Member, System, Team};

/// Teams with more combinations of members are interpreted.
const MAX_COMBINATIONS: usize = 64;

struct Planner<'a, 'm> {
    system: &'a System<'m>,
    labels: &'a mut LabelTable,
    /// Where a process can be while it has control, by row: code for other places is not worth it.
    controlled: Vec<bool>,
}

/// Generates code for a system and for the propositions at these positions of its code.
pub(crate) fn generate(system: &mut System<'_>, propositions: &[u32]) -> Option<Routine> {
    let mut labels = std::mem::replace(&mut system.labels, LabelTable::new());
    let mut planner = Planner {
        system,
        labels: &mut labels,
        controlled: controlled(system),
    };
    let plan = planner.plan();
    let mut attempts = |visit: usize, row: u32| {
        let visit = system.agenda.visits[visit];
        planner.attempts(&visit, row as usize)
    };
    let routine = Routine::new(&plan, &mut attempts, propositions);
    system.labels = labels;
    routine
}

/// The rows that a command leads to which gives its own process control, or to which it belongs
/// to.
fn controlled(system: &System<'_>) -> Vec<bool> {
    let mut controlled = vec![false; system.rows.len()];
    let control = system.ruling.as_ref().and_then(|ruling| ruling.control);
    let Some(control) = control else {
        return controlled;
    };
    for position in 0..system.commands.len() {
        let id = CommandId::new(position);
        let writes = &system.commands[position].footprint.writes;
        if writes[control.word as usize] & (control.mask << control.shift) != 0 {
            let instance = system.mover(position as u32) as usize;
            let target = system.model.step_of(id).target.index();
            controlled[system.first_row[instance] as usize + target] = true;
        }
    }
    controlled
}

impl<'a> Planner<'a, '_> {
    /// The visits of all sequences. Where all processes move together, only guards and propositions
    /// are translated.
    fn plan(&self) -> Plan<'a> {
        let system = self.system;
        let n_sequences = if system.synchronous {
            0
        } else {
            system.agenda.n_sequences()
        };
        let sequence = |number: usize| {
            let visits = &system.agenda.visits[system.agenda.sequence(number)];
            let has_mover = |visit: &Visit| visit.only.is_some_and(|only| only.mover.is_some());
            Sequence {
                can_stop_early: visits.iter().any(has_mover),
                visits: visits.iter().map(|visit| self.visit(visit)).collect(),
            }
        };
        Plan {
            tables: &system.tables,
            n_words: system.layout.n_words,
            sequences: (0..n_sequences).map(sequence).collect(),
        }
    }

    fn visit(&self, visit: &Visit) -> jit::Visit {
        let system = self.system;
        let has_work = |row: usize| system.agenda.has_work(system, visit, row);
        let row = |row: usize| has_work(row).then_some(row as u32);
        jit::Visit {
            location: self.location(visit.instance),
            rows: system.rows_of(visit.instance as usize).map(row).collect(),
        }
    }

    /// Where a process is.
    fn location(&self, instance: u32) -> Field {
        self.system.tables.fields[(self.system.layout.first_location + instance) as usize]
    }

    /// What can be tried at a location; nothing if it is left to the interpreter.
    fn attempts(&mut self, visit: &Visit, row: usize) -> Option<Vec<Attempt>> {
        if let Some(Selection { mover, .. }) = visit.only
            && mover == Some(visit.instance)
            && !self.controlled[row]
        {
            return None;
        }
        match visit.round {
            Round::Alone => self.row_alone(visit, row),
            Round::Teams => self.row_of_leaders(visit, row),
        }
    }

    fn row_alone(&self, visit: &Visit, row: usize) -> Option<Vec<Attempt>> {
        let agenda = &self.system.agenda;
        let mut attempts = Vec::new();
        for &id in self.system.commands_at(row) {
            let command = &self.system.commands[id as usize];
            let then = match command.alone {
                Some(label) if agenda.is_tried(self.system, visit, id) => {
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
                _ if agenda.is_checked(self.system, visit, id) => Then::Nothing,
                _ => continue,
            };
            attempts.push(self.guarded(command.guard, then)?);
        }
        Some(attempts)
    }

    fn guarded(&self, guard: u32, then: Then) -> Option<Attempt> {
        self.can_translate(guard).then_some(Attempt {
            field: None,
            condition: Some(guard),
            then,
        })
    }

    fn row_of_leaders(&mut self, visit: &Visit, row: usize) -> Option<Vec<Attempt>> {
        let mut attempts = Vec::new();
        for &leader in self.system.commands_at(row) {
            if !self.system.agenda.may_lead(self.system, visit, leader) {
                continue;
            }
            let mut teams = Vec::new();
            for &team in &self.system.commands[leader as usize].leads {
                if self.system.takes_part(team as usize, visit.only) {
                    teams.extend(self.team(leader, team as usize, visit.only)?);
                }
            }
            if !teams.is_empty() {
                let guard = self.system.commands[leader as usize].guard;
                attempts.push(self.guarded(guard, Then::Try(by_place(teams)))?);
            }
        }
        Some(attempts)
    }

    /// The steps of a team that a command leads, in the order in which the interpreter takes them;
    /// nothing if they must be left to the interpreter.
    fn team(&mut self, leader: u32, team: usize, only: Option<Selection>) -> Option<Vec<Attempt>> {
        let compiled = &self.system.teams[team];
        if !self.is_simple(compiled) {
            return None;
        }
        let first = compiled.members[0].iter();
        let mut chosen: Vec<Member> = first.filter(|m| m.command == leader).copied().collect();
        self.roles_from(1, team, &mut chosen, only)
    }

    /// What is tried for all roles from one on, where the ones before are filled.
    fn roles_from(
        &mut self,
        role: usize,
        team: usize,
        chosen: &mut Vec<Member>,
        only: Option<Selection>,
    ) -> Option<Vec<Attempt>> {
        let compiled = &self.system.teams[team];
        if role == compiled.members.len() {
            if !self.system.fits(chosen.iter(), only) {
                return Some(Vec::new());
            }
            let step = self.team_step(team, chosen)?;
            return Some(vec![Attempt {
                field: None,
                condition: compiled.agreement,
                then: Then::Steps(vec![step]),
            }]);
        }
        let mut attempts = Vec::new();
        for &member in &compiled.members[role] {
            chosen.push(member);
            let more = self.roles_from(role + 1, team, chosen, only);
            chosen.pop();
            let more = more?;
            if more.is_empty() {
                continue;
            }
            let source = self.system.model.step_of(CommandId(member.command)).source;
            let location = self.location(self.system.mover(member.command));
            let guard = self.system.commands[member.command as usize].guard;
            attempts.push(Attempt {
                field: Some((location, u64::from(source.0))),
                ..self.guarded(guard, Then::Try(more))?
            });
        }
        Some(by_place(attempts))
    }

    /// The step in which these members move together.
    fn team_step(&mut self, team: usize, members: &[Member]) -> Option<Step> {
        let action = self.system.teams[team].action;
        let commands = members.iter().map(|m| CommandId(m.command)).collect();
        let label = self
            .labels
            .of_team(self.system.model, vec![action], commands, Vec::new());
        let ordered = self.in_order(members.to_vec())?;
        Some(Step {
            effects: ordered.iter().map(|member| member.effect).collect(),
            label,
            unit: self.system.team_unit(team),
        })
    }

    fn can_translate(&self, code: u32) -> bool {
        can_translate(&self.system.tables, code)
    }

    /// Does every way to fill the roles give one step at most, and are they few?
    fn is_simple(&self, team: &Team) -> bool {
        let sizes = team.members[1..].iter().map(Vec::len);
        let n_combinations = sizes.fold(1_usize, usize::saturating_mul);
        n_combinations <= MAX_COMBINATIONS
            && team
                .agreement
                .is_none_or(|code| n_combinations == 1 && self.can_translate(code))
            && team
                .members
                .iter()
                .flatten()
                .all(|member| self.is_plain(member))
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

/// Looks once at a field that attempts one after the other ask for.
fn by_place(attempts: Vec<Attempt>) -> Vec<Attempt> {
    let mut grouped: Vec<Attempt> = Vec::new();
    for mut attempt in attempts {
        match (grouped.last_mut(), &mut attempt.field) {
            (
                Some(Attempt {
                    field: Some(asked),
                    then: Then::Try(same),
                    ..
                }),
                field @ Some(_),
            ) if field.as_ref() == Some(asked) => {
                *field = None;
                same.push(attempt);
            }
            (_, field) => {
                let field = field.take();
                grouped.push(Attempt {
                    field,
                    condition: None,
                    then: Then::Try(vec![attempt]),
                });
            }
        }
    }
    grouped
}
