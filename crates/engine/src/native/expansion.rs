//! The routine that computes all steps of a state, put together from translated pieces.

use std::mem::offset_of;

use base::bits;
use model::CommandId;

use super::assembler::{Alu, Assembler, Cond, Label, Mem, R, Shift};
use super::executable::{Context, Executable};
use super::translate::{Exits, FRAME, FieldRecord, STATE, TARGET, Translator, extent};
use super::{DONE, FAILED, FIRST_STOP, HOLDS, HOLDS_NOT, NOWHERE, Native};
use crate::code::Op;
use crate::footprint::Footprint;
use crate::label::{LabelId, LabelTable};
use crate::system::{Member, System, Team};

/// Where the next label, the next unit and the flags of enabled commands are.
const LABELS: R = R::R13;
const UNITS: R = R::R14;
const ENABLED: R = R::R15;

/// After so many instructions the rest is interpreted: more code would not stay in any cache.
const MAX_OPS: usize = 1 << 18;

/// Nor is there a point in more targets than this for one state, in words.
const MAX_TARGET_WORDS: usize = 1 << 20;

/// Teams with more combinations of members are interpreted.
const MAX_COMBINATIONS: usize = 64;

/// States up to this length are copied without a loop.
const MAX_UNROLLED_WORDS: usize = 16;

/// All processes are visited twice: for the commands that move alone, then for the teams they lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    Alone,
    Teams,
}

struct Generator<'a, 'm> {
    system: &'a System<'m>,
    labels: &'a mut LabelTable,
    code: Translator<'a>,
    exit: Label,
    fail: Label,
}

/// Commands of different processes that move together.
struct Combination {
    /// In an order in which none reads or writes what one before it has written.
    members: Vec<Member>,
    label: LabelId,
}

/// Generates the code of a system and of some propositions.
pub(super) fn generate(system: &mut System<'_>, propositions: &[u32]) -> Option<Native> {
    let records: Box<[FieldRecord]> = system.tables.fields.iter().map(FieldRecord::new).collect();
    let mut labels = std::mem::replace(&mut system.labels, LabelTable::new());
    let mut generator = Generator::new(system, &mut labels, &records);
    generator.enter_and_leave();

    let (stops, max_steps) = if generator.system.synchronous || generator.system.ruling.is_some() {
        (Vec::new(), 0)
    } else {
        generator.all_steps()
    };
    let propositions = generator.propositions(propositions);
    let asm = generator.code.asm;
    let stops: Vec<usize> = stops.iter().map(|stop| asm.offset(*stop)).collect();
    let mut places = vec![NOWHERE; system.tables.ops.len()];
    for (code, label) in propositions {
        places[code as usize] = asm.offset(label) as u32;
    }
    system.labels = labels;

    let n_words = system.layout.n_words;
    if max_steps * n_words > MAX_TARGET_WORDS {
        return None;
    }
    Some(Native {
        executable: Executable::new(&asm.finish())?,
        _records: records,
        stops,
        propositions: places.into(),
        max_steps,
        n_words,
        frame_len: system.tables.n_registers + system.tables.n_shared.div_ceil(8),
        remembered_from: system.tables.n_registers,
    })
}

impl<'a, 'm> Generator<'a, 'm> {
    fn new(system: &'a System<'m>, labels: &'a mut LabelTable, records: &'a [FieldRecord]) -> Self {
        let mut asm = Assembler::default();
        let (exit, fail) = (asm.label(), asm.label());
        let code = Translator {
            tables: &system.tables,
            records,
            asm,
            n_ops: 0,
        };
        Self {
            system,
            labels,
            code,
            exit,
            fail,
        }
    }

    /// The beginning, which goes on at the entry, and the end, to which everything comes back with
    /// its result in RAX.
    fn enter_and_leave(&mut self) {
        const SAVED: [R; 6] = [R::Rbx, R::Rbp, R::R12, R::R13, R::R14, R::R15];
        let asm = &mut self.code.asm;
        for register in SAVED {
            asm.push(register);
        }
        asm.push(R::Rdi);

        let mut fetch = |dst: R, offset: usize| asm.load(dst, Mem(R::Rdi, offset as i32));
        fetch(STATE, offset_of!(Context, state));
        fetch(FRAME, offset_of!(Context, frame));
        fetch(TARGET, offset_of!(Context, words));
        fetch(LABELS, offset_of!(Context, labels));
        fetch(UNITS, offset_of!(Context, units));
        fetch(ENABLED, offset_of!(Context, enabled));
        asm.jump_register(R::Rsi);
        asm.bind(self.fail);
        asm.mov_imm(R::Rax, FAILED.into());
        asm.bind(self.exit);
        asm.pop(R::Rdi);
        asm.store(Mem(R::Rdi, offset_of!(Context, labels) as i32), LABELS);
        for register in SAVED.into_iter().rev() {
            asm.pop(register);
        }
        asm.ret();
    }

    fn leave(&mut self, result: u32) {
        self.code.asm.mov_imm(R::Rax, result.into());
        self.code.asm.jump(self.exit);
    }

    /// Where every process begins in every round, and how many steps a state has at most.
    fn all_steps(&mut self) -> (Vec<Label>, usize) {
        let n_instances = self.system.first_row.len();
        let rounds: &[Round] = if self.system.teams.is_empty() {
            &[Round::Alone]
        } else {
            &[Round::Alone, Round::Teams]
        };
        let mut stops = Vec::new();
        let mut max_steps = 0;
        for round in rounds {
            for instance in 0..n_instances {
                let stop = self.code.asm.here();
                let next = self.code.asm.label();
                let result = FIRST_STOP + stops.len() as u32;
                max_steps += self.process(*round, instance, result, next);
                self.code.asm.bind(next);
                stops.push(stop);
            }
        }
        self.leave(DONE);
        (stops, max_steps)
    }

    /// Jumps to the commands of the process's location. Gives the most steps of any of them.
    fn process(&mut self, round: Round, instance: usize, stop: u32, next: Label) -> usize {
        let first_row = self.system.first_row[instance] as usize;
        let end = self.system.first_row.get(instance + 1);
        let end = end.map_or(self.system.rows.len() - 1, |row| *row as usize);

        // Locations without anything to do need no code.
        let labels: Vec<Label> = (first_row..end)
            .map(|row| {
                if self.has_work(round, row) {
                    self.code.asm.label()
                } else {
                    next
                }
            })
            .collect();

        if labels.iter().all(|label| *label == next) {
            return 0;
        }
        self.dispatch(instance, &labels);

        let mut max_steps = 0;
        for (row, label) in (first_row..end).zip(labels) {
            if label != next {
                self.code.asm.bind(label);
                max_steps = max_steps.max(self.row(round, row, stop));
                self.code.asm.jump(next);
            }
        }

        max_steps
    }

    fn dispatch(&mut self, instance: usize, labels: &[Label]) {
        if let [only] = labels {
            self.code.asm.jump(*only);
            return;
        }
        let field = self.system.layout.first_location as usize + instance;
        let field = self.system.tables.fields[field];
        let asm = &mut self.code.asm;
        asm.load(R::Rax, Mem(STATE, field.word as i32 * 8));
        asm.shift(Shift::Right, R::Rax, field.shift);
        // Locations are few; their mask fits.
        asm.alu32_imm(Alu::And, R::Rax, field.mask as u32);
        asm.jump_by_rax(labels);
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

    /// Gives the number of steps at most.
    fn row(&mut self, round: Round, row: usize, stop: u32) -> usize {
        let n_steps = match round {
            _ if self.code.n_ops > MAX_OPS => None,
            Round::Alone => self.row_alone(row),
            Round::Teams => self.row_of_leaders(row),
        };
        if n_steps.is_none() {
            self.leave(stop);
        }
        n_steps.unwrap_or(0)
    }

    fn row_alone(&mut self, row: usize) -> Option<usize> {
        for &command in self.commands(row) {
            let command = &self.system.commands[command as usize];
            let effects = match command.alone {
                Some(_) => command.outcomes()?,
                None => &[],
            };
            let mut pieces = effects.iter().chain([&command.guard]);
            if !pieces.all(|piece| self.code.can_translate(*piece)) {
                return None;
            }
        }

        let mut n_steps = 0;
        for &id in self.commands(row) {
            let command = &self.system.commands[id as usize];
            let next = self.code.asm.label();
            self.code.piece(command.guard, STATE, self.exits(next));
            match command.alone {
                None => self.code.asm.store8_imm(Mem(ENABLED, id as i32), 1),
                Some(label) => {
                    for &effect in command.outcomes().unwrap_or_default() {
                        self.step(&[effect], label, id);
                        n_steps += 1;
                    }
                }
            }
            self.code.asm.bind(next);
        }

        Some(n_steps)
    }

    fn row_of_leaders(&mut self, row: usize) -> Option<usize> {
        let mut led = Vec::new();
        for &leader in self.commands(row) {
            for &team in &self.system.commands[leader as usize].leads {
                led.push((
                    leader,
                    team as usize,
                    self.combinations(leader, team as usize)?,
                ));
            }
        }

        let mut n_steps = 0;
        for (leader, team, combinations) in led {
            let unit = self.system.team_unit(team);
            for combination in combinations {
                let next = self.code.asm.label();
                // The leader takes part in all of them; the others are looked at anew.
                let mut commands: Vec<u32> = combination
                    .members
                    .iter()
                    .map(|member| member.command)
                    .collect();
                commands.sort_by_key(|command| *command != leader);
                for command in commands {
                    self.code.asm.test8_imm(Mem(ENABLED, command as i32), 1);
                    self.code.asm.jump_if(Cond::Equal, next);
                }
                if let Some(agreement) = self.system.teams[team].agreement {
                    self.code.piece(agreement, STATE, self.exits(next));
                }
                let effects: Vec<u32> = combination
                    .members
                    .iter()
                    .map(|member| member.effect)
                    .collect();
                self.step(&effects, combination.label, unit);
                n_steps += 1;
                self.code.asm.bind(next);
            }
        }

        Some(n_steps)
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
                .is_none_or(|code| n_combinations == 1 && self.code.can_translate(code))
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
            && self.code.can_translate(member.effect)
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

    fn exits(&self, reject: Label) -> Exits {
        Exits {
            reject,
            fail: self.fail,
        }
    }

    /// Writes one step: a copy of the state, the effects upon it, label and unit.
    fn step(&mut self, effects: &[u32], label: LabelId, unit: u32) {
        let next = self.code.asm.label();
        self.copy_state();
        for &effect in effects {
            self.code.piece(effect, TARGET, self.exits(next));
        }
        let asm = &mut self.code.asm;
        asm.store32_imm(Mem(LABELS, 0), label.0);
        asm.store32_imm(Mem(UNITS, 0), unit);
        asm.alu_imm(Alu::Add, LABELS, 4);
        asm.alu_imm(Alu::Add, UNITS, 4);
        asm.alu_imm(Alu::Add, TARGET, self.system.layout.n_words as i32 * 8);
        asm.bind(next);
    }

    fn copy_state(&mut self) {
        let n_words = self.system.layout.n_words;
        let asm = &mut self.code.asm;
        if n_words > MAX_UNROLLED_WORDS {
            asm.mov(R::Rsi, STATE);
            asm.mov(R::Rdi, TARGET);
            asm.mov_imm(R::Rcx, n_words as i64);
            asm.copy_words();
            return;
        }
        for pair in 0..n_words / 2 {
            let offset = pair as i32 * 16;
            asm.copy16(Mem(TARGET, offset), Mem(STATE, offset));
        }
        if n_words % 2 == 1 {
            let offset = n_words as i32 * 8 - 8;
            asm.load(R::Rax, Mem(STATE, offset));
            asm.store(Mem(TARGET, offset), R::Rax);
        }
    }

    /// Where the code of each proposition begins.
    fn propositions(&mut self, propositions: &[u32]) -> Vec<(u32, Label)> {
        let mut entries = Vec::new();
        for &proposition in propositions {
            if self.code.can_translate(proposition) {
                entries.push((proposition, self.code.asm.here()));
                let not = self.code.asm.label();
                self.code.piece(proposition, STATE, self.exits(not));
                self.leave(HOLDS);
                self.code.asm.bind(not);
                self.leave(HOLDS_NOT);
            }
        }
        entries
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
