//! The routine that computes all steps of a state, put together from translated pieces.

use std::mem::offset_of;

use crate::assembler::{Alu, Assembler, Cond, Label, Mem, R, Shift};
use crate::executable::{Context, Executable};
use crate::field::Field;
use crate::routine::{
    Attempt, DONE, FAILED, FIRST_STOP, HOLDS, HOLDS_NOT, NOWHERE, Plan, Routine, Sequence, Step,
    Then, Visit,
};
use crate::translate::{Exits, FRAME, FieldRecord, STATE, TARGET, Translator, can_translate};

/// Where the next label and the next unit are, and whether one step is enough.
const LABELS: R = R::R13;
const UNITS: R = R::R14;
const IS_HURRIED: R = R::R15;

/// After so many instructions the rest is interpreted: more code would not stay in any cache.
const MAX_OPS: usize = 1 << 18;

/// Nor is there a point in more targets than this for one state, in words.
const MAX_TARGET_WORDS: usize = 1 << 20;

/// States up to this length are copied without a loop.
const MAX_UNROLLED_WORDS: usize = 16;

/// So many locations are told apart by comparisons, more by a table of jumps.
const MAX_COMPARED: usize = 2;

pub(crate) struct Generator<'a> {
    n_words: usize,
    code: Translator<'a>,
    exit: Label,
    fail: Label,
    /// Everything is computed.
    done: Label,
    /// Is the sequence one that can stop early?
    can_stop_early: bool,
}

/// Says what can be tried in a visit at a location.
type Source<'s> = &'s mut dyn FnMut(usize, u32) -> Option<Vec<Attempt>>;

impl<'a> Generator<'a> {
    /// Generates the code of a plan and of some propositions.
    pub(crate) fn generate(
        plan: &Plan<'a>,
        attempts: Source<'_>,
        propositions: &[u32],
    ) -> Option<Routine> {
        let tables = plan.tables;
        let records: Box<[FieldRecord]> = tables.fields.iter().map(FieldRecord::new).collect();
        let mut generator = Generator::new(plan, &records);
        generator.enter_and_leave();
        let (stops, max_steps) = generator.all_steps(&plan.sequences, attempts);
        let propositions = generator.propositions(propositions);

        // What was given names has places now.
        let asm = generator.code.asm;
        let stops: Vec<usize> = stops.iter().map(|stop| asm.offset(*stop)).collect();
        let mut first_stops = vec![0];
        for sequence in &plan.sequences {
            first_stops.push(first_stops.last().unwrap_or(&0) + sequence.visits.len());
        }
        let mut places = vec![NOWHERE; tables.ops.len()];
        for (code, label) in propositions {
            places[code as usize] = asm.offset(label) as u32;
        }
        if max_steps * plan.n_words > MAX_TARGET_WORDS {
            return None;
        }
        Some(Routine {
            executable: Executable::new(&asm.finish())?,
            _records: records,
            stops,
            first_stops,
            propositions: places.into(),
            max_steps,
            n_words: plan.n_words,
            frame_len: tables.n_registers + tables.n_shared.div_ceil(8),
            remembered_from: tables.n_registers,
        })
    }

    fn new<'r>(plan: &Plan<'r>, records: &'r [FieldRecord]) -> Generator<'r> {
        let mut asm = Assembler::default();
        let (exit, fail, done) = (asm.label(), asm.label(), asm.label());
        let code = Translator {
            tables: plan.tables,
            records,
            asm,
            n_ops: 0,
        };
        Generator {
            n_words: plan.n_words,
            code,
            exit,
            fail,
            done,
            can_stop_early: false,
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
        fetch(IS_HURRIED, offset_of!(Context, is_hurried));
        asm.jump_register(R::Rsi);
        asm.bind(self.done);
        asm.mov_imm(R::Rax, DONE.into());
        asm.jump(self.exit);
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

    /// Where every visit begins, and how many steps a call computes at most.
    fn all_steps(&mut self, sequences: &[Sequence], attempts: Source<'_>) -> (Vec<Label>, usize) {
        let mut stops = Vec::new();
        let mut max_steps = 0;
        for sequence in sequences {
            self.can_stop_early = sequence.can_stop_early;
            let mut n_steps = 0;
            for visit in &sequence.visits {
                let (number, stop) = (stops.len(), self.code.asm.here());
                let next = self.code.asm.label();
                n_steps += self.visit(visit, &mut |row| attempts(number, row), number, next);
                self.code.asm.bind(next);
                stops.push(stop);
            }
            self.code.asm.jump(self.done);
            max_steps = max_steps.max(n_steps);
        }
        (stops, max_steps)
    }

    /// Jumps to what can be tried at the process's location. Gives the most steps of any of them.
    fn visit(
        &mut self,
        visit: &Visit,
        attempts: &mut dyn FnMut(u32) -> Option<Vec<Attempt>>,
        number: usize,
        next: Label,
    ) -> usize {
        // Locations without anything to do need no code.
        let label = |row: &Option<u32>| row.map_or(next, |_| self.code.asm.label());
        let labels: Vec<Label> = visit.rows.iter().map(label).collect();
        if labels.iter().all(|label| *label == next) {
            return 0;
        }
        self.dispatch(visit.location, &labels, next);
        let mut max_steps = 0;
        for (row, label) in visit.rows.iter().zip(labels) {
            if let Some(row) = row {
                self.code.asm.bind(label);
                let is_too_long = self.code.n_ops > MAX_OPS;
                let attempts = if is_too_long { None } else { attempts(*row) };
                let n_steps = match attempts {
                    Some(attempts) => self.attempts(&attempts),
                    None => {
                        self.leave(FIRST_STOP + number as u32);
                        0
                    }
                };
                max_steps = max_steps.max(n_steps);
                self.code.asm.jump(next);
            }
        }
        max_steps
    }

    fn dispatch(&mut self, field: Field, labels: &[Label], next: Label) {
        if let [only] = labels {
            self.code.asm.jump(*only);
            return;
        }
        let asm = &mut self.code.asm;
        asm.load(R::Rax, Mem(STATE, field.word as i32 * 8));
        asm.shift(Shift::Right, R::Rax, field.shift);
        // Locations are few; their mask fits.
        asm.alu32_imm(Alu::And, R::Rax, field.mask as u32);

        let some = labels.iter().enumerate();
        let some: Vec<(usize, Label)> = some
            .filter(|(_, label)| **label != next)
            .map(|(location, label)| (location, *label))
            .collect();
        if some.len() > MAX_COMPARED {
            asm.jump_by_rax(labels);
            return;
        }
        for (location, label) in some {
            asm.alu32_imm(Alu::Cmp, R::Rax, location as u32);
            asm.jump_if(Cond::Equal, label);
        }
        asm.jump(next);
    }

    /// Tries one thing after the other. Gives the number of steps at most.
    fn attempts(&mut self, attempts: &[Attempt]) -> usize {
        let mut n_steps = 0;
        for attempt in attempts {
            let next = self.code.asm.label();
            // Bits that are not there have the only value that they can have.
            if let Some((field, value)) = attempt.field.filter(|(field, _)| field.mask != 0) {
                let word = Mem(STATE, field.word as i32 * 8);
                let (mask, value) = (field.mask << field.shift, value << field.shift);
                let equal = self.code.test_bits(word, mask, value);
                self.code.asm.jump_if(equal.negate(), next);
            }
            if let Some(condition) = attempt.condition {
                self.code.piece(condition, STATE, self.exits(next));
            }
            match &attempt.then {
                Then::Nothing => {}
                Then::Steps(steps) => {
                    n_steps += steps.len();
                    for step in steps {
                        self.step(step);
                    }
                }
                Then::Try(more) => n_steps += self.attempts(more),
            }
            self.code.asm.bind(next);
        }
        n_steps
    }

    fn exits(&self, reject: Label) -> Exits {
        Exits {
            reject,
            fail: self.fail,
        }
    }

    /// Writes one step: a copy of the state, the effects upon it, label and unit.
    fn step(&mut self, step: &Step) {
        let next = self.code.asm.label();
        self.copy_state();
        for &effect in &step.effects {
            self.code.piece(effect, TARGET, self.exits(next));
        }
        let asm = &mut self.code.asm;
        asm.store32_imm(Mem(LABELS, 0), step.label.0);
        asm.store32_imm(Mem(UNITS, 0), step.unit);
        asm.alu_imm(Alu::Add, LABELS, 4);
        asm.alu_imm(Alu::Add, UNITS, 4);
        asm.alu_imm(Alu::Add, TARGET, self.n_words as i32 * 8);
        if self.can_stop_early {
            asm.test(IS_HURRIED, IS_HURRIED);
            asm.jump_if(Cond::NotEqual, self.done);
        }
        asm.bind(next);
    }

    fn copy_state(&mut self) {
        let n_words = self.n_words;
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
            if can_translate(self.code.tables, proposition) {
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
