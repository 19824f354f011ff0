//! Access to bits of the state, to fields whose place is computed, and to channels.

use super::{Piece, Translator, word_of};
use crate::assembler::{Alu, Cond, Mem, R, Shift, Unary};
use crate::code::Reg;
use crate::field::{Field, Segment};

/// A field as generated code finds it in memory, for accesses whose place is computed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct FieldRecord {
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
    pub(crate) fn new(field: &Field) -> Self {
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

impl Translator<'_> {
    /// RAX becomes bits of a word. RCX may be lost.
    pub(super) fn load_bits(&mut self, word: Mem, shift: u32, mask: u64) {
        self.asm.load(R::Rax, word);
        self.asm.shift(Shift::Right, R::Rax, shift);
        if mask != u64::MAX >> shift {
            self.keep_bits(mask);
        }
    }

    /// RAX keeps only the bits of a mask. RCX may be lost.
    pub(super) fn keep_bits(&mut self, mask: u64) {
        match u32::try_from(mask) {
            Ok(mask) => self.asm.alu32_imm(Alu::And, R::Rax, mask),
            Err(_) => self.alu_constant(Alu::And, R::Rax, mask as i64),
        }
    }

    pub(super) fn load_field(&mut self, words: R, field: u32) {
        let field = self.tables.fields[field as usize];
        self.load_bits(word_of(words, field.word), field.shift, field.mask);
        self.add_constant(R::Rax, field.offset);
    }

    /// Compares bits of a word with a value; gives the condition of their being equal.
    pub(crate) fn test_bits(&mut self, Mem(base, start): Mem, mask: u64, value: u64) -> Cond {
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
    pub(super) fn store_bits(&mut self, word: Mem, mask: u64, bits: u64) {
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
    pub(super) fn merge_bits(&mut self, word: Mem, mask: u64) {
        if mask != u64::MAX {
            self.asm.load(R::Rax, word);
            self.alu_constant(Alu::And, R::Rax, !mask as i64);
            self.asm.alu(Alu::Or, R::Rdx, R::Rax);
        }
        self.asm.store(word, R::Rdx);
    }

    pub(super) fn store(&mut self, piece: &Piece, field: u32, src: Reg) {
        let field = self.tables.fields[field as usize];
        let word = word_of(piece.words, field.word);
        if let Some(value) = piece.allocation.constant(src) {
            if field.contains(value) {
                self.store_bits(
                    word,
                    field.mask << field.shift,
                    field.encode(value) << field.shift,
                )
            } else {
                self.asm.jump(piece.exits.fail)
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
    pub(super) fn record_at(&mut self, piece: &Piece, base: u32, offset: Reg) {
        let offset = self.get(piece, R::Rax, offset);
        self.asm.imul_imm(R::Rdx, offset, RECORD_SIZE);
        self.add_record_address(base);
    }

    /// Adds the address of a field's record to RDX. RAX is lost.
    pub(super) fn add_record_address(&mut self, field: u32) {
        let address = &raw const self.records[field as usize];
        self.asm.mov_imm(R::Rax, address as i64);
        self.asm.alu(Alu::Add, R::Rdx, R::Rax);
    }

    /// RAX becomes the value of the field whose record RDX points to. RCX is lost.
    pub(super) fn load_from_record(&mut self, words: R) {
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
    pub(super) fn store_to_record(&mut self, piece: &Piece, position: i32) {
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

    pub(super) fn channel(&self, piece: &Piece, first: u32, index: Reg) -> usize {
        let index = piece.allocation.constant(index);
        first as usize + index.expect("the channel is known") as usize
    }

    pub(super) fn append(&mut self, piece: &Piece, channel: usize, src: Reg) {
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

    pub(super) fn drop_oldest(&mut self, words: R, channel: usize) {
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

    pub(super) fn mask_by_rcx(&mut self, dst: R, mask: u64) {
        self.asm.mov_imm(R::Rcx, mask as i64);
        self.asm.alu(Alu::And, dst, R::Rcx);
    }
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
