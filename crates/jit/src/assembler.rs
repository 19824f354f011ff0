//! Machine instructions of x86-64, as bytes.
//!
//! Only what [`crate::translate`] needs. Encodings follow the Intel 64 manual, volume 2: a REX
//! prefix, an opcode, a ModRM byte with SIB and displacement, an immediate value. Jumps have 32-bit
//! distances, filled in when their label is bound.

/// A register of the processor.
#[allow(dead_code, reason = "the stack pointer has a number too")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum R {
    Rax,
    Rcx,
    Rdx,
    Rbx,
    Rsp,
    Rbp,
    Rsi,
    Rdi,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
}

/// A place in memory: a register and a distance in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem(pub(crate) R, pub(crate) i32);

/// Operations of two operands; the discriminant is the operation's number in its opcodes.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Operations of one operand, with their number behind opcode F7.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Unary {
    Not = 2,
    Neg = 3,
    /// Divides RDX:RAX; quotient to RAX, remainder to RDX.
    Idiv = 7,
}

/// Shifts, with their number behind opcodes C1 and D3.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Shift {
    Left = 4,
    Right = 5,
    RightSigned = 7,
}

/// Conditions of jumps, with their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Cond {
    Overflow = 0x0,
    AboveOrEqual = 0x3,
    Equal = 0x4,
    NotEqual = 0x5,
    Above = 0x7,
    Less = 0xc,
    GreaterOrEqual = 0xd,
    LessOrEqual = 0xe,
    Greater = 0xf,
}

impl Cond {
    /// The opposite condition.
    pub(crate) fn negate(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::Overflow | Self::AboveOrEqual | Self::Above => {
                unreachable!("{self:?} is only used to leave")
            }
        }
    }
}

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// Code under construction.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pub(crate) bytes: Vec<u8>,
    labels: Vec<u32>,
    /// Where a distance belongs, from where it counts, and to which label.
    fixups: Vec<(u32, u32, Label)>,
}

impl Assembler {
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is here.
    pub(crate) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.bytes.len() as u32;
    }

    /// A label that is here.
    pub(crate) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Where a bound label is.
    pub(crate) fn offset(&self, label: Label) -> usize {
        self.labels[label.0 as usize] as usize
    }

    /// The finished code: all distances are known now.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        for &(at, from, label) in &self.fixups {
            let target = self.labels[label.0 as usize];
            assert_ne!(target, UNBOUND, "every label is bound");
            let distance = target.wrapping_sub(from);
            self.bytes[at as usize..at as usize + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.bytes
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn imm32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn distance_to(&mut self, label: Label) {
        let at = self.bytes.len() as u32;
        self.fixups.push((at, at + 4, label));
        self.imm32(0);
    }

    /// The REX prefix, unless it says nothing.
    fn rex(&mut self, wide: bool, reg: u8, rm: R) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | (rm as u8) >> 3;
        if rex != 0x40 {
            self.byte(rex);
        }
    }

    fn modrm_register(&mut self, reg: u8, rm: R) {
        self.byte(0xc0 | (reg & 7) << 3 | (rm as u8 & 7));
    }

    fn modrm_memory(&mut self, reg: u8, Mem(base, distance): Mem) {
        let short = i8::try_from(distance);
        let mode = if short.is_ok() { 0x40 } else { 0x80 };
        self.byte(mode | (reg & 7) << 3 | (base as u8 & 7));
        if base as u8 & 7 == 4 {
            self.byte(0x24);
        }
        match short {
            Ok(distance) => self.byte(distance as u8),
            Err(_) => self.imm32(distance),
        }
    }

    fn op_rr(&mut self, opcode: u8, reg: R, rm: R) {
        self.rex(true, reg as u8, rm);
        self.byte(opcode);
        self.modrm_register(reg as u8, rm);
    }

    fn op_rm(&mut self, wide: bool, opcode: u8, reg: u8, mem: Mem) {
        self.rex(wide, reg, mem.0);
        self.byte(opcode);
        self.modrm_memory(reg, mem);
    }

    pub(crate) fn mov(&mut self, dst: R, src: R) {
        if dst != src {
            self.op_rr(0x89, src, dst);
        }
    }

    pub(crate) fn load(&mut self, dst: R, mem: Mem) {
        self.op_rm(true, 0x8b, dst as u8, mem);
    }

    /// Loads 32 bits; the upper half becomes zero.
    pub(crate) fn load32(&mut self, dst: R, mem: Mem) {
        self.op_rm(false, 0x8b, dst as u8, mem);
    }

    /// Loads a byte; the rest becomes zero.
    pub(crate) fn load8(&mut self, dst: R, mem: Mem) {
        self.rex(false, dst as u8, mem.0);
        self.bytes.extend([0x0f, 0xb6]);
        self.modrm_memory(dst as u8, mem);
    }

    pub(crate) fn store(&mut self, mem: Mem, src: R) {
        self.op_rm(true, 0x89, src as u8, mem);
    }

    pub(crate) fn store8_imm(&mut self, mem: Mem, value: u8) {
        self.op_rm(false, 0xc6, 0, mem);
        self.byte(value);
    }

    pub(crate) fn store32_imm(&mut self, mem: Mem, value: u32) {
        self.op_rm(false, 0xc7, 0, mem);
        self.imm32(value as i32);
    }

    pub(crate) fn mov_imm(&mut self, dst: R, value: i64) {
        if let Ok(value) = u32::try_from(value) {
            self.rex(false, 0, dst);
            self.byte(0xb8 | (dst as u8 & 7));
            self.imm32(value as i32);
        } else if let Ok(value) = i32::try_from(value) {
            self.rex(true, 0, dst);
            self.byte(0xc7);
            self.modrm_register(0, dst);
            self.imm32(value);
        } else {
            self.rex(true, 0, dst);
            self.byte(0xb8 | (dst as u8 & 7));
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub(crate) fn alu(&mut self, op: Alu, dst: R, src: R) {
        self.op_rr((op as u8) << 3 | 1, src, dst);
    }

    pub(crate) fn alu_mem(&mut self, op: Alu, dst: R, mem: Mem) {
        self.op_rm(true, (op as u8) << 3 | 3, dst as u8, mem);
    }

    /// With a value that fits into 32 signed bits.
    pub(crate) fn alu_imm(&mut self, op: Alu, dst: R, value: i32) {
        self.alu_imm_sized(true, op, dst, value);
    }

    /// Of the lower 32 bits only.
    pub(crate) fn alu32_imm(&mut self, op: Alu, dst: R, value: u32) {
        self.alu_imm_sized(false, op, dst, value as i32);
    }

    fn alu_imm_sized(&mut self, wide: bool, op: Alu, dst: R, value: i32) {
        self.rex(wide, 0, dst);
        match i8::try_from(value) {
            Ok(value) => {
                self.byte(0x83);
                self.modrm_register(op as u8, dst);
                self.byte(value as u8);
            }
            Err(_) => {
                self.byte(0x81);
                self.modrm_register(op as u8, dst);
                self.imm32(value);
            }
        }
    }

    pub(crate) fn shift(&mut self, op: Shift, dst: R, by: u32) {
        if by != 0 {
            self.rex(true, 0, dst);
            self.byte(0xc1);
            self.modrm_register(op as u8, dst);
            self.byte(by as u8);
        }
    }

    /// Shifts by the lowest byte of RCX.
    pub(crate) fn shift_by_rcx(&mut self, op: Shift, dst: R) {
        self.rex(true, 0, dst);
        self.byte(0xd3);
        self.modrm_register(op as u8, dst);
    }

    pub(crate) fn unary(&mut self, op: Unary, dst: R) {
        self.rex(true, 0, dst);
        self.byte(0xf7);
        self.modrm_register(op as u8, dst);
    }

    /// Extends the sign of RAX to RDX.
    pub(crate) fn cqo(&mut self) {
        self.bytes.extend([0x48, 0x99]);
    }

    pub(crate) fn imul(&mut self, dst: R, src: R) {
        self.rex(true, dst as u8, src);
        self.bytes.extend([0x0f, 0xaf]);
        self.modrm_register(dst as u8, src);
    }

    pub(crate) fn imul_imm(&mut self, dst: R, src: R, value: i32) {
        self.rex(true, dst as u8, src);
        self.byte(0x69);
        self.modrm_register(dst as u8, src);
        self.imm32(value);
    }

    pub(crate) fn test(&mut self, a: R, b: R) {
        self.op_rr(0x85, b, a);
    }

    /// Compares bits of a byte in memory with zero.
    pub(crate) fn test8_imm(&mut self, mem: Mem, bits: u8) {
        self.op_rm(false, 0xf6, 0, mem);
        self.byte(bits);
    }

    /// RAX becomes 1 if the condition holds, else 0.
    pub(crate) fn set_rax(&mut self, cond: Cond) {
        self.bytes.extend([0x0f, 0x90 | cond as u8, 0xc0]);
        self.bytes.extend([0x0f, 0xb6, 0xc0]);
    }

    pub(crate) fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.distance_to(to);
    }

    pub(crate) fn jump_if(&mut self, cond: Cond, to: Label) {
        self.bytes.extend([0x0f, 0x80 | cond as u8]);
        self.distance_to(to);
    }

    pub(crate) fn jump_register(&mut self, to: R) {
        self.rex(false, 0, to);
        self.byte(0xff);
        self.modrm_register(4, to);
    }

    /// Jumps to the label at position RAX of a table, which is put here. RCX is lost.
    pub(crate) fn jump_by_rax(&mut self, targets: &[Label]) {
        let table = self.label();
        // lea rcx, [rip + table]; movsxd rax, dword [rcx + 4 rax]; add rax, rcx; jmp rax
        self.bytes.extend([0x48, 0x8d, 0x0d]);
        self.distance_to(table);
        self.bytes.extend([0x48, 0x63, 0x04, 0x81]);
        self.alu(Alu::Add, R::Rax, R::Rcx);
        self.jump_register(R::Rax);
        self.bind(table);
        let start = self.bytes.len() as u32;
        for &target in targets {
            let at = self.bytes.len() as u32;
            self.fixups.push((at, start, target));
            self.imm32(0);
        }
    }

    pub(crate) fn push(&mut self, register: R) {
        self.rex(false, 0, register);
        self.byte(0x50 | (register as u8 & 7));
    }

    pub(crate) fn pop(&mut self, register: R) {
        self.rex(false, 0, register);
        self.byte(0x58 | (register as u8 & 7));
    }

    pub(crate) fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// Copies 16 bytes by way of XMM0.
    pub(crate) fn copy16(&mut self, dst: Mem, src: Mem) {
        for (opcode, mem) in [(0x6f, src), (0x7f, dst)] {
            self.byte(0xf3);
            self.rex(false, 0, mem.0);
            self.bytes.extend([0x0f, opcode]);
            self.modrm_memory(0, mem);
        }
    }

    /// Copies RCX words from where RSI points to where RDI points.
    pub(crate) fn copy_words(&mut self) {
        self.bytes.extend([0xf3, 0x48, 0xa5]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(build: impl Fn(&mut Assembler), expected: &[u8]) {
        let mut assembler = Assembler::default();
        build(&mut assembler);
        assert_eq!(assembler.finish(), expected);
    }

    // The expected bytes are those that the GNU assembler gives.
    #[test]
    fn operands_are_encoded_as_the_manual_says() {
        check(|a| a.mov(R::R8, R::Rax), &[0x49, 0x89, 0xc0]);
        check(|a| a.load(R::Rax, Mem(R::Rbx, 8)), &[0x48, 0x8b, 0x43, 8]);
        check(
            |a| a.load(R::R9, Mem(R::R12, 0)),
            &[0x4d, 0x8b, 0x4c, 0x24, 0],
        );
        check(
            |a| a.store(Mem(R::R12, 1024), R::Rdi),
            &[0x49, 0x89, 0xbc, 0x24, 0, 4, 0, 0],
        );
        check(|a| a.mov_imm(R::Rax, 7), &[0xb8, 7, 0, 0, 0]);
        check(
            |a| a.mov_imm(R::R10, -1),
            &[0x49, 0xc7, 0xc2, 0xff, 0xff, 0xff, 0xff],
        );
        check(
            |a| a.mov_imm(R::Rcx, 1 << 40),
            &[0x48, 0xb9, 0, 0, 0, 0, 0, 1, 0, 0],
        );
        check(|a| a.alu(Alu::Sub, R::Rcx, R::R8), &[0x4c, 0x29, 0xc1]);
        check(
            |a| a.alu_imm(Alu::Cmp, R::Rsi, 300),
            &[0x48, 0x81, 0xfe, 0x2c, 1, 0, 0],
        );
        check(
            |a| a.test8_imm(Mem(R::Rbx, 3), 0x80),
            &[0xf6, 0x43, 3, 0x80],
        );
        check(
            |a| a.load8(R::Rax, Mem(R::R12, 1)),
            &[0x41, 0x0f, 0xb6, 0x44, 0x24, 1],
        );
        check(|a| a.shift(Shift::Right, R::Rax, 5), &[0x48, 0xc1, 0xe8, 5]);
        check(|a| a.unary(Unary::Idiv, R::Rcx), &[0x48, 0xf7, 0xf9]);
        check(|a| a.imul(R::Rax, R::Rdi), &[0x48, 0x0f, 0xaf, 0xc7]);
    }

    #[test]
    fn distances_count_from_the_end_of_the_jump() {
        check(
            |a| {
                let label = a.here();
                a.jump(label);
                let end = a.label();
                a.jump_if(Cond::Equal, end);
                a.bind(end);
            },
            &[0xe9, 0xfb, 0xff, 0xff, 0xff, 0x0f, 0x84, 0, 0, 0, 0],
        );
    }
}
