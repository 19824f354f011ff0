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
//! | R15 | which commands are enabled |
//! | RSI, RDI, R10, R11 | registers of the machine |
//! | the others | free within the translation of one instruction |

use std::ops::Range;

use super::allocation::{Allocation, Place, jump_targets};
use super::assembler::{Alu, Assembler, Cond, Label, Mem, R, Shift, Unary};
use crate::code::{Arith, Op, Reg, Tables};
use crate::layout::{Field, Segment};

/// The words of the state.
pub(super) const STATE: R = R::Rbx;
/// The frame.
pub(super) const FRAME: R = R::Rbp;
/// The words of the target.
pub(super) const TARGET: R = R::R12;

/// A field as generated code finds it in memory, for accesses whose place is computed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct FieldRecord {
    /// The distance of its word in bytes.
    byte: u64,
    shift: u64,
    mask: u64,
    offset: i64,
    lo: i64,
    span: u64,
}

const RECORD_SIZE: i32 = size_of::<FieldRecord>() as i32;

impl FieldRecord {
    pub(super) fn new(field: &Field) -> Self {
        Self {
            byte: u64::from(field.word) * 8,
            shift: u64::from(field.shift),
            mask: field.mask,
            offset: field.offset,
            lo: field.lo,
            span: field.hi.wrapping_sub(field.lo) as u64,
        }
    }
}

/// Where a piece of code goes if it does not end in `Accept`; then it goes on behind itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exits {
    pub(super) reject: Label,
    pub(super) fail: Label,
}

/// Translates one piece of code after another.
pub(super) struct Translator<'a> {
    pub(super) tables: &'a Tables,
    /// Invariant: not moved as long as the code may run.
    pub(super) records: &'a [FieldRecord],
    pub(super) asm: Assembler,
    /// How many instructions were translated.
    pub(super) n_ops: usize,
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

impl Translator<'_> {
    /// Can the piece that starts here be translated? What cannot is interpreted.
    pub(super) fn can_translate(&self, start: u32) -> bool {
        let code = extent(self.tables, start);
        let allocation = Allocation::new(self.tables, code.clone());
        self.tables.ops[code].iter().all(|op| match *op {
            Op::Choose { .. } | Op::NoteTimer { .. } => false,
            Op::Length { index, .. } | Op::Head { index, .. } | Op::Append { index, .. } => {
                allocation.constant(index).is_some()
            }
            Op::Drop { first, index } => {
                allocation.constant(index).is_some()
                    && self.tables.channels[first as usize].segments.is_some()
            }
            Op::JumpCompare { op, .. } => condition(op).is_some(),
            Op::Arith { op, .. } => !matches!(op, Arith::Shl | Arith::Shr),
            _ => true,
        })
    }

    /// Translates the piece that starts here, working on the state that `words` points to.
    pub(super) fn piece(&mut self, start: u32, words: R, exits: Exits) {
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
        match is_quotient {
            true => self.asm.alu_imm(Alu::Sub, R::Rax, 1),
            false => self.asm.alu(Alu::Add, R::Rax, R::Rcx),
        }
        self.asm.jump(done);
        self.asm.bind(below);
        match is_quotient {
            true => self.asm.alu_imm(Alu::Add, R::Rax, 1),
            false => self.asm.alu(Alu::Sub, R::Rax, R::Rcx),
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

    /// RAX becomes bits of a word. RCX may be lost.
    fn load_bits(&mut self, word: Mem, shift: u32, mask: u64) {
        self.asm.load(R::Rax, word);
        self.asm.shift(Shift::Right, R::Rax, shift);
        if mask != u64::MAX >> shift {
            self.keep_bits(mask);
        }
    }

    /// RAX keeps only the bits of a mask. RCX may be lost.
    fn keep_bits(&mut self, mask: u64) {
        match u32::try_from(mask) {
            Ok(mask) => self.asm.alu32_imm(Alu::And, R::Rax, mask),
            Err(_) => self.alu_constant(Alu::And, R::Rax, mask as i64),
        }
    }

    fn load_field(&mut self, words: R, field: u32) {
        let field = self.tables.fields[field as usize];
        self.load_bits(word_of(words, field.word), field.shift, field.mask);
        self.add_constant(R::Rax, field.offset);
    }

    /// Compares bits of a word with a value; gives the condition of their being equal.
    fn test_bits(&mut self, Mem(base, start): Mem, mask: u64, value: u64) -> Cond {
        if mask == 0 {
            // Nothing to look at: zero equals zero.
            self.asm.mov_imm(R::Rax, value as i64);
            self.asm.test(R::Rax, R::Rax);
            return Cond::Equal;
        }
        let (lowest, highest) = (mask.trailing_zeros(), 63 - mask.leading_zeros());
        let byte = lowest / 8;
        if highest / 8 == byte {
            let word = Mem(base, start + byte as i32);
            let (mask, value) = ((mask >> (byte * 8)) as u8, (value >> (byte * 8)) as u8);
            if value == 0 || value == mask && mask.is_power_of_two() {
                self.asm.test8_imm(word, mask);
                return [Cond::NotEqual, Cond::Equal][usize::from(value == 0)];
            }
            self.asm.load8(R::Rax, word);
            self.asm.alu32_imm(Alu::And, R::Rax, mask.into());
            self.asm.alu32_imm(Alu::Cmp, R::Rax, value.into());
            return Cond::Equal;
        }
        let byte = byte.min(4);
        if highest < 8 * (byte + 4) {
            let (mask, value) = ((mask >> (byte * 8)) as u32, (value >> (byte * 8)) as u32);
            self.asm.load32(R::Rax, Mem(base, start + byte as i32));
            self.asm.alu32_imm(Alu::And, R::Rax, mask);
            self.asm.alu32_imm(Alu::Cmp, R::Rax, value);
            return Cond::Equal;
        }
        self.asm.load(R::Rax, Mem(base, start));
        self.keep_bits(mask);
        self.alu_constant(Alu::Cmp, R::Rax, value as i64);
        Cond::Equal
    }

    /// Replaces bits of a word by known ones.
    fn store_bits(&mut self, word: Mem, mask: u64, bits: u64) {
        if mask == 0 {
            return;
        }
        self.asm.load(R::Rax, word);
        if bits != mask {
            self.alu_constant(Alu::And, R::Rax, !mask as i64);
        }
        if bits != 0 {
            self.alu_constant(Alu::Or, R::Rax, bits as i64);
        }
        self.asm.store(word, R::Rax);
    }

    /// Replaces the masked bits of a word by those of RDX, which has no others.
    fn merge_bits(&mut self, word: Mem, mask: u64) {
        if mask != u64::MAX {
            self.asm.load(R::Rax, word);
            self.alu_constant(Alu::And, R::Rax, !mask as i64);
            self.asm.alu(Alu::Or, R::Rdx, R::Rax);
        }
        self.asm.store(word, R::Rdx);
    }

    fn store(&mut self, piece: &Piece, field: u32, src: Reg) {
        let field = self.tables.fields[field as usize];
        let word = word_of(piece.words, field.word);
        if let Some(value) = piece.allocation.constant(src) {
            match field.contains(value) {
                true => self.store_bits(
                    word,
                    field.mask << field.shift,
                    field.encode(value) << field.shift,
                ),
                false => self.asm.jump(piece.exits.fail),
            }
            return;
        }
        self.get_into(piece, R::Rdx, src);
        if (field.lo, field.hi) != (i64::MIN, i64::MAX) {
            if field.lo != 0 {
                self.alu_constant(Alu::Sub, R::Rdx, field.lo);
            }
            self.alu_constant(Alu::Cmp, R::Rdx, field.hi.wrapping_sub(field.lo));
            self.asm.jump_if(Cond::Above, piece.exits.fail);
            // A field of 64 bits holds the value itself, any other the distance from the least.
            if field.offset != field.lo {
                self.alu_constant(Alu::Add, R::Rdx, field.lo.wrapping_sub(field.offset));
            }
        }
        if field.mask != 0 {
            self.asm.shift(Shift::Left, R::Rdx, field.shift);
            self.merge_bits(word, field.mask << field.shift);
        }
    }

    /// RDX becomes the address of the record of field `base + offset`. RAX is lost.
    fn record_at(&mut self, piece: &Piece, base: u32, offset: Reg) {
        let offset = self.get(piece, R::Rax, offset);
        self.asm.imul_imm(R::Rdx, offset, RECORD_SIZE);
        self.add_record_address(base);
    }

    /// Adds the address of a field's record to RDX. RAX is lost.
    fn add_record_address(&mut self, field: u32) {
        let address = &raw const self.records[field as usize];
        self.asm.mov_imm(R::Rax, address as i64);
        self.asm.alu(Alu::Add, R::Rdx, R::Rax);
    }

    /// RAX becomes the value of the field whose record RDX points to. RCX is lost.
    fn load_from_record(&mut self, words: R) {
        self.asm.load(R::Rax, record_byte(0));
        self.asm.alu(Alu::Add, R::Rax, words);
        self.asm.load(R::Rax, Mem(R::Rax, 0));
        self.asm.load(R::Rcx, record_shift(0));
        self.asm.shift_by_rcx(Shift::Right, R::Rax);
        self.asm.alu_mem(Alu::And, R::Rax, record_mask(0));
        self.asm.alu_mem(Alu::Add, R::Rax, record_offset(0));
    }

    /// RAX goes into the field whose record is `position` records behind the one that RDX points
    /// to. RAX, RCX, R8 and R9 are lost.
    fn store_to_record(&mut self, piece: &Piece, position: i32) {
        let asm = &mut self.asm;
        asm.mov(R::R8, R::Rax);
        asm.alu_mem(Alu::Sub, R::R8, record_lo(position));
        asm.alu_mem(Alu::Cmp, R::R8, record_span(position));
        asm.jump_if(Cond::Above, piece.exits.fail);
        asm.alu_mem(Alu::Sub, R::Rax, record_offset(position));
        asm.alu_mem(Alu::And, R::Rax, record_mask(position));
        asm.load(R::Rcx, record_shift(position));
        asm.shift_by_rcx(Shift::Left, R::Rax);
        asm.load(R::R8, record_mask(position));
        asm.shift_by_rcx(Shift::Left, R::R8);
        asm.unary(Unary::Not, R::R8);
        asm.load(R::Rcx, record_byte(position));
        asm.alu(Alu::Add, R::Rcx, piece.words);
        asm.load(R::R9, Mem(R::Rcx, 0));
        asm.alu(Alu::And, R::R9, R::R8);
        asm.alu(Alu::Or, R::R9, R::Rax);
        asm.store(Mem(R::Rcx, 0), R::R9);
    }

    fn channel(&self, piece: &Piece, first: u32, index: Reg) -> usize {
        let index = piece.allocation.constant(index);
        first as usize + index.expect("the channel is known") as usize
    }

    fn append(&mut self, piece: &Piece, channel: usize, src: Reg) {
        let channel = self.tables.channels[channel];
        let length = self.tables.fields[channel.length as usize];
        let word = word_of(piece.words, length.word);
        if channel.n_components > 0 {
            self.load_bits(word, length.shift, length.mask);
            let size = channel.n_components as i32 * RECORD_SIZE;
            self.asm.imul_imm(R::Rdx, R::Rax, size);
            self.add_record_address(channel.first_slot);
        }
        for component in 0..channel.n_components as Reg {
            self.get_into(piece, R::Rax, src + component);
            self.store_to_record(piece, i32::from(component));
        }
        self.asm.load(R::Rax, word);
        self.alu_constant(Alu::Add, R::Rax, 1_i64 << length.shift);
        self.asm.store(word, R::Rax);
    }

    fn drop_oldest(&mut self, words: R, channel: usize) {
        let channel = self.tables.channels[channel];
        let segments = channel.segments.expect("only such channels are translated");
        let segments = &self.tables.segments[segments.range()];
        for (position, segment) in segments.iter().enumerate() {
            self.asm.load(R::Rdx, word_of(words, segment.word));
            self.asm.shift(Shift::Right, R::Rdx, segment.width);
            self.mask_by_rcx(R::Rdx, segment.moved_mask());
            if let Some(next) = segments.get(position + 1) {
                self.load_bits(
                    word_of(words, next.word),
                    next.shift,
                    Segment::ones(next.width),
                );
                self.asm.shift(Shift::Left, R::Rax, segment.last_shift());
                self.asm.alu(Alu::Or, R::Rdx, R::Rax);
            }
            self.merge_bits(word_of(words, segment.word), segment.mask());
        }
        let length = self.tables.fields[channel.length as usize];
        let word = word_of(words, length.word);
        self.asm.load(R::Rax, word);
        self.alu_constant(Alu::Sub, R::Rax, 1_i64 << length.shift);
        self.asm.store(word, R::Rax);
    }

    fn mask_by_rcx(&mut self, dst: R, mask: u64) {
        self.asm.mov_imm(R::Rcx, mask as i64);
        self.asm.alu(Alu::And, dst, R::Rcx);
    }
}

const REMEMBERED_FALSE: u8 = 1;
const REMEMBERED_TRUE: u8 = 2;

/// Where remembered conditions begin in the frame, in bytes.
pub(super) fn flags_offset(tables: &Tables) -> i32 {
    tables.n_registers as i32 * 8
}

fn frame_slot(register: Reg) -> Mem {
    Mem(FRAME, i32::from(register) * 8)
}

fn word_of(base: R, word: u32) -> Mem {
    Mem(base, word as i32 * 8)
}

fn record_byte(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE)
}

fn record_shift(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE + 8)
}

fn record_mask(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE + 16)
}

fn record_offset(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE + 24)
}

fn record_lo(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE + 32)
}

fn record_span(position: i32) -> Mem {
    Mem(R::Rdx, position * RECORD_SIZE + 40)
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
pub(super) fn extent(tables: &Tables, start: u32) -> Range<usize> {
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
