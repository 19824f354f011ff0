//! From instructions of the machine to instructions of the processor.
//!
//! One piece of code (a guard, an effect, a proposition) at a time. What it does is what
//! [`crate::code::Machine::run`] does; the random tests compare the two.
//!
//! | register | what for |
//! | --- | --- |
//! | RBX | the words of the state |
//! | RBP | the frame: registers that are in no register of the processor, remembered conditions |
//! | R12 | the words of the target that is being computed |
//! | R13, R14 | where the next label and unit go |
//! | R15 | whether one step is enough |
//! | RSI, RDI, R10, R11 | registers of the machine |
//! | the others | free within the translation of one instruction |

mod access;

use std::ops::Range;

pub(crate) use self::access::FieldRecord;
use crate::allocation::{Allocation, Place, jump_targets};
use crate::assembler::{Alu, Assembler, Cond, Label, Mem, R, Shift, Unary};
use crate::code::{Arith, Op, Reg, Tables};

/// The words of the state.
pub(crate) const STATE: R = R::Rbx;
/// The frame.
pub(crate) const FRAME: R = R::Rbp;
/// The words of the target.
pub(crate) const TARGET: R = R::R12;

/// Where a piece of code goes if it does not end in `Accept`; then it goes on behind itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exits {
    pub(crate) reject: Label,
    pub(crate) fail: Label,
}

/// Translates one piece of code after another.
pub(crate) struct Translator<'a> {
    pub(crate) tables: &'a Tables,
    /// Invariant: not moved as long as the code may run.
    pub(crate) records: &'a [FieldRecord],
    pub(crate) asm: Assembler,
    /// How many instructions were translated.
    pub(crate) n_ops: usize,
}

/// What belongs to the piece that is being translated.
struct Piece {
    code: Range<usize>,
    allocation: Allocation,
    /// Where the state is that the code works on.
    words: R,
    accept: Label,
    exits: Exits,
    labels: Vec<Option<Label>>,
}

/// Can the piece that starts here be translated? What cannot is interpreted.
#[must_use]
pub fn can_translate(tables: &Tables, start: u32) -> bool {
    let code = extent(tables, start);
    let allocation = Allocation::new(tables, code.clone());
    tables.ops[code].iter().all(|op| match *op {
        Op::Choose { .. } | Op::NoteTimer { .. } => false,
        Op::Length { index, .. } | Op::Head { index, .. } | Op::Append { index, .. } => {
            allocation.constant(index).is_some()
        }
        Op::Drop { first, index } => {
            allocation.constant(index).is_some()
                && tables.channels[first as usize].segments.is_some()
        }
        Op::JumpCompare { op, .. } => condition(op).is_some(),
        Op::Arith { op, .. } => !matches!(op, Arith::Shl | Arith::Shr),
        _ => true,
    })
}

impl Translator<'_> {
    /// Translates the piece that starts here, working on the state that `words` points to.
    pub(crate) fn piece(&mut self, start: u32, words: R, exits: Exits) {
        let code = extent(self.tables, start);
        self.n_ops += code.len();
        let mut piece = Piece {
            allocation: Allocation::new(self.tables, code.clone()),
            words,
            accept: self.asm.label(),
            exits,
            labels: vec![None; code.len()],
            code,
        };

        // At the end stand only ends, which jumps reach directly.
        let ops = &self.tables.ops[piece.code.clone()];
        let is_end = |op: &&Op| matches!(op, Op::Accept | Op::Reject | Op::Fail);
        let tail = piece.code.end - ops.iter().rev().take_while(is_end).count();
        for at in piece.code.start..tail {
            let label =
                *piece.labels[at - piece.code.start].get_or_insert_with(|| self.asm.label());
            self.asm.bind(label);
            self.instruction(&mut piece, at);
        }

        match self.tables.ops.get(tail) {
            Some(Op::Reject) if tail < piece.code.end => self.asm.jump(exits.reject),
            Some(Op::Fail) if tail < piece.code.end => self.asm.jump(exits.fail),
            _ => {}
        }

        self.asm.bind(piece.accept);
    }

    /// Where a jump to an instruction leads in the end.
    fn target(&mut self, piece: &mut Piece, mut to: usize) -> Label {
        for _ in 0..=piece.code.len() {
            match self.tables.ops[to] {
                Op::Accept => return piece.accept,
                Op::Reject => return piece.exits.reject,
                Op::Fail => return piece.exits.fail,
                Op::Jump { to: next } => to = next as usize,
                _ => break,
            }
        }
        *piece.labels[to - piece.code.start].get_or_insert_with(|| self.asm.label())
    }

    fn instruction(&mut self, piece: &mut Piece, at: usize) {
        let words = piece.words;
        match self.tables.ops[at] {
            Op::Const { dst, value } => {
                if piece.allocation.constant(dst).is_none() {
                    self.asm.mov_imm(R::Rax, value);
                    self.put(piece, dst);
                }
            }
            Op::Copy { dst, src } => {
                self.get_into(piece, R::Rax, src);
                self.put(piece, dst);
            }
            Op::Load {
                dst,
                word,
                shift,
                mask,
                offset,
            } => {
                self.load_bits(word_of(words, u32::from(word)), u32::from(shift), mask);
                self.add_constant(R::Rax, offset);
                self.put(piece, dst);
            }
            Op::LoadAt { dst, base, offset } => {
                self.record_at(piece, base, offset);
                self.load_from_record(words);
                self.put(piece, dst);
            }
            Op::Index { dst, src, indexing } => self.index(piece, dst, src, indexing),
            Op::Arith { op, dst, a, b } => self.arith(piece, op, dst, (a, b)),
            Op::Neg { dst, src } => {
                self.get_into(piece, R::Rax, src);
                self.asm.unary(Unary::Neg, R::Rax);
                self.asm.jump_if(Cond::Overflow, piece.exits.fail);
                self.put(piece, dst);
            }
            Op::Wrap {
                dst,
                src,
                unused,
                signed,
            } => {
                self.get_into(piece, R::Rax, src);
                let back = [Shift::Right, Shift::RightSigned][usize::from(signed)];
                self.asm.shift(Shift::Left, R::Rax, unused.into());
                self.asm.shift(back, R::Rax, unused.into());
                self.put(piece, dst);
            }
            Op::Jump { to } => {
                let to = self.target(piece, to as usize);
                self.asm.jump(to);
            }
            Op::JumpIf { src, sense, to } => {
                let to = self.target(piece, to as usize);
                let src = self.get(piece, R::Rax, src);
                self.asm.test(src, src);
                let cond = [Cond::Equal, Cond::NotEqual][usize::from(sense)];
                self.asm.jump_if(cond, to);
            }
            Op::JumpCompare {
                op,
                sense,
                a,
                b,
                to,
            } => {
                let to = self.target(piece, to as usize);
                let cond = condition(op).expect("only comparisons are translated");
                self.compare(piece, a, b);
                let cond = if sense { cond } else { cond.negate() };
                self.asm.jump_if(cond, to);
            }
            Op::JumpMasked {
                word,
                sense,
                to,
                mask,
                value,
            } => {
                let to = self.target(piece, to as usize);
                let equal = self.test_bits(word_of(words, u32::from(word)), mask, value);
                self.asm
                    .jump_if(if sense { equal } else { equal.negate() }, to);
            }
            Op::Recall {
                slot,
                to,
                otherwise,
            } => {
                let (to, otherwise) = (
                    self.target(piece, to as usize),
                    self.target(piece, otherwise as usize),
                );
                self.asm.load8(R::Rax, self.remembered(slot));
                self.asm
                    .alu32_imm(Alu::Cmp, R::Rax, REMEMBERED_FALSE.into());
                self.asm.jump_if(Cond::Above, to);
                self.asm.jump_if(Cond::Equal, otherwise);
            }
            Op::Remember { slot, value } => {
                let value = [REMEMBERED_FALSE, REMEMBERED_TRUE][usize::from(value)];
                self.asm.store8_imm(self.remembered(slot), value);
            }
            Op::Store { field, src } => self.store(piece, field, src),
            Op::StoreMasked { word, mask, bits } => {
                self.store_bits(word_of(words, u32::from(word)), mask, bits);
            }
            Op::StoreAt { base, offset, src } => {
                self.record_at(piece, base, offset);
                self.get_into(piece, R::Rax, src);
                self.store_to_record(piece, 0);
            }
            Op::Length { dst, first, index } => {
                let channel = self.channel(piece, first, index);
                self.load_field(words, self.tables.channels[channel].length);
                self.put(piece, dst);
            }
            Op::Head {
                dst,
                first,
                index,
                component,
            } => {
                let channel = self.channel(piece, first, index);
                let field = self.tables.channels[channel].first_slot + u32::from(component);
                self.load_field(words, field);
                self.put(piece, dst);
            }
            Op::Append { first, index, src } => {
                let channel = self.channel(piece, first, index);
                self.append(piece, channel, src);
            }
            Op::Drop { first, index } => {
                let channel = self.channel(piece, first, index);
                self.drop_oldest(words, channel);
            }
            Op::Accept => self.asm.jump(piece.accept),
            Op::Reject => self.asm.jump(piece.exits.reject),
            Op::Fail => self.asm.jump(piece.exits.fail),
            Op::Choose { .. } | Op::NoteTimer { .. } => {
                unreachable!("code with choices and abstract timers is not translated")
            }
        }
    }

    /// Where it stands what is known of a shared condition.
    fn remembered(&self, slot: u16) -> Mem {
        Mem(FRAME, flags_offset(self.tables) + i32::from(slot))
    }

    /// The processor's register that holds a value; `scratch` if it has to be fetched.
    fn get(&mut self, piece: &Piece, scratch: R, register: Reg) -> R {
        match piece.allocation.place(register) {
            Place::Register(place) => place,
            Place::Const(_) | Place::Frame => {
                self.get_into(piece, scratch, register);
                scratch
            }
        }
    }

    fn get_into(&mut self, piece: &Piece, dst: R, register: Reg) {
        match piece.allocation.place(register) {
            Place::Const(value) => self.asm.mov_imm(dst, value),
            Place::Register(place) => self.asm.mov(dst, place),
            Place::Frame => self.asm.load(dst, frame_slot(register)),
        }
    }

    /// RAX becomes the value of a register.
    fn put(&mut self, piece: &Piece, register: Reg) {
        match piece.allocation.place(register) {
            Place::Register(place) => self.asm.mov(place, R::Rax),
            Place::Frame => self.asm.store(frame_slot(register), R::Rax),
            Place::Const(_) => unreachable!("a constant is not written"),
        }
    }

    /// RAX with the value of a register as second operand. RCX may be lost.
    fn alu(&mut self, piece: &Piece, op: Alu, register: Reg) {
        match piece.allocation.place(register) {
            Place::Register(place) => self.asm.alu(op, R::Rax, place),
            Place::Frame => self.asm.alu_mem(op, R::Rax, frame_slot(register)),
            Place::Const(value) => self.alu_constant(op, R::Rax, value),
        }
    }

    /// RCX may be lost.
    fn alu_constant(&mut self, op: Alu, dst: R, value: i64) {
        match i32::try_from(value) {
            Ok(value) => self.asm.alu_imm(op, dst, value),
            Err(_) => {
                self.asm.mov_imm(R::Rcx, value);
                self.asm.alu(op, dst, R::Rcx);
            }
        }
    }

    fn add_constant(&mut self, dst: R, value: i64) {
        if value != 0 {
            self.alu_constant(Alu::Add, dst, value);
        }
    }

    fn compare(&mut self, piece: &Piece, a: Reg, b: Reg) {
        self.get_into(piece, R::Rax, a);
        self.alu(piece, Alu::Cmp, b);
    }

    fn arith(&mut self, piece: &Piece, op: Arith, dst: Reg, (a, b): (Reg, Reg)) {
        if let Some(cond) = condition(op) {
            self.compare(piece, a, b);
            self.asm.set_rax(cond);
            self.put(piece, dst);
            return;
        }

        self.get_into(piece, R::Rax, a);
        match op {
            Arith::Add => self.alu(piece, Alu::Add, b),
            Arith::Sub => self.alu(piece, Alu::Sub, b),
            Arith::BitAnd => self.alu(piece, Alu::And, b),
            Arith::BitOr => self.alu(piece, Alu::Or, b),
            Arith::BitXor => self.alu(piece, Alu::Xor, b),
            Arith::Mul => {
                let b = self.get(piece, R::Rcx, b);
                self.asm.imul(R::Rax, b);
            }
            Arith::Div | Arith::Mod | Arith::Quot | Arith::Rem => {
                self.get_into(piece, R::Rcx, b);
                self.divide(piece, op);
            }
            Arith::Shl | Arith::Shr | Arith::Eq | Arith::Ne | Arith::Lt | Arith::Le => {
                unreachable!("{op:?} is not translated, or is a comparison")
            }
        }

        if matches!(op, Arith::Add | Arith::Sub | Arith::Mul) {
            self.asm.jump_if(Cond::Overflow, piece.exits.fail);
        }
        self.put(piece, dst);
    }

    /// RAX becomes the quotient or remainder of RAX by RCX: Euclidean, or that of C.
    fn divide(&mut self, piece: &Piece, op: Arith) {
        let is_quotient = matches!(op, Arith::Div | Arith::Quot);
        let (ordinary, done) = (self.asm.label(), self.asm.label());
        self.asm.test(R::Rcx, R::Rcx);
        self.asm.jump_if(Cond::Equal, piece.exits.fail);

        // The processor does not survive the quotient of the least number by -1.
        self.asm.alu_imm(Alu::Cmp, R::Rcx, -1);
        self.asm.jump_if(Cond::NotEqual, ordinary);
        if is_quotient {
            self.asm.unary(Unary::Neg, R::Rax);
            self.asm.jump_if(Cond::Overflow, piece.exits.fail);
        } else {
            self.asm.mov_imm(R::Rax, 0);
        }

        self.asm.jump(done);
        self.asm.bind(ordinary);
        self.asm.cqo();
        self.asm.unary(Unary::Idiv, R::Rcx);
        if !is_quotient {
            self.asm.mov(R::Rax, R::Rdx);
        }
        if matches!(op, Arith::Div | Arith::Mod) {
            self.make_euclidean(is_quotient, done);
        }
        self.asm.bind(done);
    }

    /// A remainder below zero, in RDX, becomes positive; the quotient follows. RAX has one of them.
    fn make_euclidean(&mut self, is_quotient: bool, done: Label) {
        let below = self.asm.label();
        self.asm.test(R::Rdx, R::Rdx);
        self.asm.jump_if(Cond::GreaterOrEqual, done);
        self.asm.test(R::Rcx, R::Rcx);
        self.asm.jump_if(Cond::Less, below);
        if is_quotient {
            self.asm.alu_imm(Alu::Sub, R::Rax, 1)
        } else {
            self.asm.alu(Alu::Add, R::Rax, R::Rcx)
        }
        self.asm.jump(done);
        self.asm.bind(below);
        if is_quotient {
            self.asm.alu_imm(Alu::Add, R::Rax, 1)
        } else {
            self.asm.alu(Alu::Sub, R::Rax, R::Rcx)
        }
    }

    fn index(&mut self, piece: &Piece, dst: Reg, src: Reg, indexing: u32) {
        let indexing = self.tables.indexings[indexing as usize];
        self.get_into(piece, R::Rax, src);
        if indexing.lo != 0 {
            self.alu_constant(Alu::Sub, R::Rax, indexing.lo);
        }
        self.alu_constant(Alu::Cmp, R::Rax, indexing.len as i64);
        self.asm.jump_if(Cond::AboveOrEqual, piece.exits.fail);
        if indexing.stride != 1 {
            self.asm.mov_imm(R::Rcx, indexing.stride);
            self.asm.imul(R::Rax, R::Rcx);
        }
        self.put(piece, dst);
    }
}

const REMEMBERED_FALSE: u8 = 1;
const REMEMBERED_TRUE: u8 = 2;

/// Where remembered conditions begin in the frame, in bytes.
pub(crate) fn flags_offset(tables: &Tables) -> i32 {
    tables.n_registers as i32 * 8
}

fn frame_slot(register: Reg) -> Mem {
    Mem(FRAME, i32::from(register) * 8)
}

fn word_of(base: R, word: u32) -> Mem {
    Mem(base, word as i32 * 8)
}

/// The condition that a comparison stands for.
fn condition(op: Arith) -> Option<Cond> {
    match op {
        Arith::Eq => Some(Cond::Equal),
        Arith::Ne => Some(Cond::NotEqual),
        Arith::Lt => Some(Cond::Less),
        Arith::Le => Some(Cond::LessOrEqual),
        _ => None,
    }
}

/// The piece of code that starts here: up to the first end that no jump passes.
pub fn extent(tables: &Tables, start: u32) -> Range<usize> {
    let start = start as usize;
    let mut furthest = start;
    for at in start.. {
        let op = &tables.ops[at];
        furthest = jump_targets(op).fold(furthest, usize::max);
        let is_end = matches!(op, Op::Accept | Op::Reject | Op::Fail | Op::Jump { .. });
        if is_end && furthest <= at {
            return start..at + 1;
        }
    }
    unreachable!("code ends")
}
