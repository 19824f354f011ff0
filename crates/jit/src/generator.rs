//! The routine that computes all steps of a state, put together from translated pieces.

use std::mem::offset_of;

use crate::assembler::{Alu, Assembler, Cond, Label, Mem, R, Shift};
use crate::executable::{Context, Executable};
use crate::field::Field;
use crate::routine::{
    Attempt, DONE, FAILED, FIRST_STOP, HOLDS, HOLDS_NOT, NOWHERE, Plan, Process, Routine, Step,
    Then,
};
use crate::translate::{Exits, FRAME, FieldRecord, STATE, TARGET, Translator, can_translate};

/// Where the next label, the next unit and the flags of enabled commands are.
const LABELS: R = R::R13;
const UNITS: R = R::R14;
const ENABLED: R = R::R15;

/// After so many instructions the rest is interpreted: more code would not stay in any cache.
const MAX_OPS: usize = 1 << 18;

/// Nor is there a point in more targets than this for one state, in words.
const MAX_TARGET_WORDS: usize = 1 << 20;

/// States up to this length are copied without a loop.
const MAX_UNROLLED_WORDS: usize = 16;

pub(crate) struct Generator<'a> {
    n_words: usize,
    n_flags: usize,
    code: Translator<'a>,
    exit: Label,
    fail: Label,
}

/// Says what can be tried in a round at a location.
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
        let (stops, max_steps) = generator.all_steps(&plan.rounds, attempts);
        let propositions = generator.propositions(propositions);

        // What was given names has places now.
        let asm = generator.code.asm;
        let stops: Vec<usize> = stops.iter().map(|stop| asm.offset(*stop)).collect();
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
            propositions: places.into(),
            max_steps,
            n_words: plan.n_words,
            n_flags: plan.n_flags,
            frame_len: tables.n_registers + tables.n_shared.div_ceil(8),
            remembered_from: tables.n_registers,
        })
    }

    fn new<'r>(plan: &Plan<'r>, records: &'r [FieldRecord]) -> Generator<'r> {
        let mut asm = Assembler::default();
        let (exit, fail) = (asm.label(), asm.label());
        let code = Translator {
            tables: plan.tables,
            records,
            asm,
            n_ops: 0,
        };
        Generator {
            n_words: plan.n_words,
            n_flags: plan.n_flags,
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
    fn all_steps(&mut self, rounds: &[Vec<Process>], attempts: Source<'_>) -> (Vec<Label>, usize) {
        if rounds.is_empty() {
            return (Vec::new(), 0);
        }
        let mut stops = Vec::new();
        let mut max_steps = 0;
        for (round, processes) in rounds.iter().enumerate() {
            for process in processes {
                let stop = self.code.asm.here();
                let next = self.code.asm.label();
                let result = FIRST_STOP + stops.len() as u32;
                max_steps += self.process(process, &mut |row| attempts(round, row), result, next);
                self.code.asm.bind(next);
                stops.push(stop);
            }
        }
        self.leave(DONE);
        (stops, max_steps)
    }

    /// Jumps to what can be tried at the process's location. Gives the most steps of any of them.
    fn process(
        &mut self,
        process: &Process,
        attempts: &mut dyn FnMut(u32) -> Option<Vec<Attempt>>,
        stop: u32,
        next: Label,
    ) -> usize {
        // Locations without anything to do need no code.
        let label = |row: &Option<u32>| row.map_or(next, |_| self.code.asm.label());
        let labels: Vec<Label> = process.rows.iter().map(label).collect();
        if labels.iter().all(|label| *label == next) {
            return 0;
        }
        self.dispatch(process.location, &labels);
        let mut max_steps = 0;
        for (row, label) in process.rows.iter().zip(labels) {
            if let Some(row) = row {
                self.code.asm.bind(label);
                let is_too_long = self.code.n_ops > MAX_OPS;
                let attempts = if is_too_long { None } else { attempts(*row) };
                max_steps = max_steps.max(self.row(attempts, stop));
                self.code.asm.jump(next);
            }
        }
        max_steps
    }

    fn dispatch(&mut self, field: Field, labels: &[Label]) {
        if let [only] = labels {
            self.code.asm.jump(*only);
            return;
        }
        let asm = &mut self.code.asm;
        asm.load(R::Rax, Mem(STATE, field.word as i32 * 8));
        asm.shift(Shift::Right, R::Rax, field.shift);
        // Locations are few; their mask fits.
        asm.alu32_imm(Alu::And, R::Rax, field.mask as u32);
        asm.jump_by_rax(labels);
    }

    /// Tries one thing after the other, or leaves them to the interpreter. Gives the number of steps
    /// at most.
    fn row(&mut self, attempts: Option<Vec<Attempt>>, stop: u32) -> usize {
        let Some(attempts) = attempts else {
            self.leave(stop);
            return 0;
        };
        let mut n_steps = 0;
        for attempt in attempts {
            let next = self.code.asm.label();
            for flag in attempt.flags {
                self.code.asm.test8_imm(self.flag(flag), 1);
                self.code.asm.jump_if(Cond::Equal, next);
            }
            if let Some(condition) = attempt.condition {
                self.code.piece(condition, STATE, self.exits(next));
            }
            match attempt.then {
                Then::Flag(flag) => self.code.asm.store8_imm(self.flag(flag), 1),
                Then::Steps(steps) => {
                    n_steps += steps.len();
                    for step in &steps {
                        self.step(step);
                    }
                }
            }
            self.code.asm.bind(next);
        }
        n_steps
    }

    fn flag(&self, flag: u32) -> Mem {
        assert!((flag as usize) < self.n_flags);
        Mem(ENABLED, flag as i32)
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
