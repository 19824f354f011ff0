//! The instructions that guards and effects are compiled to, and the machine that runs them.
//!
//! A register machine over the packed words of one state. Everything known when the model is
//! compiled (process indices, parameters, quantified ranges) has been folded away by then; what
//! remains are field tests, field stores and the arithmetic that depends on the state. A run never
//! allocates.

use crate::field::{ChannelFields, Field, Segment};

/// A register.
pub type Reg = u16;

/// Arithmetic and comparisons; comparisons yield 0 or 1.
#[allow(missing_docs, reason = "the operators that their names say")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Quot,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
}

/// One instruction. `to` is a position in the code.
#[allow(missing_docs, reason = "`dst` is written, `src`, `a` and `b` are read")]
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Const {
        dst: Reg,
        value: i64,
    },
    Copy {
        dst: Reg,
        src: Reg,
    },
    /// Loads a field whose place is known.
    Load {
        dst: Reg,
        word: u16,
        shift: u8,
        mask: u64,
        offset: i64,
    },
    /// Loads field `base + offset`.
    LoadAt {
        dst: Reg,
        base: u32,
        offset: Reg,
    },
    /// Checks an index and turns it into a distance between fields.
    Index {
        dst: Reg,
        src: Reg,
        indexing: u32,
    },
    Arith {
        op: Arith,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Neg {
        dst: Reg,
        src: Reg,
    },
    /// The low bits that are left after a shift by `unused` bits to the left and back.
    Wrap {
        dst: Reg,
        src: Reg,
        unused: u8,
        signed: bool,
    },
    Jump {
        to: u32,
    },
    JumpIf {
        src: Reg,
        sense: bool,
        to: u32,
    },
    JumpCompare {
        op: Arith,
        sense: bool,
        a: Reg,
        b: Reg,
        to: u32,
    },
    /// Jumps iff (the masked bits of a word equal `value`) is `sense`. Tests of several fields of
    /// one word are one such instruction.
    JumpMasked {
        word: u16,
        sense: bool,
        to: u32,
        mask: u64,
        value: u64,
    },
    /// Jumps to `to` if the shared condition `slot` is known to be true in the current state, to
    /// `otherwise` if it is known to be false, and goes on to compute it if it is not known.
    Recall {
        slot: u16,
        to: u32,
        otherwise: u32,
    },
    /// Remembers the value of a shared condition for the current state.
    Remember {
        slot: u16,
        value: bool,
    },
    Store {
        field: u32,
        src: Reg,
    },
    /// Replaces the masked bits of a word. Stores of constants to several fields of one word are
    /// one such instruction.
    StoreMasked {
        word: u16,
        mask: u64,
        bits: u64,
    },
    StoreAt {
        base: u32,
        offset: Reg,
        src: Reg,
    },
    /// Picks a value between two registers; every value leads to an outcome of its own.
    Choose {
        dst: Reg,
        lo: Reg,
        hi: Reg,
    },
    /// The length of channel `first + index`.
    Length {
        dst: Reg,
        first: u32,
        index: Reg,
    },
    /// Component `component` of the oldest message.
    Head {
        dst: Reg,
        first: u32,
        index: Reg,
        component: u16,
    },
    /// Appends the message in the registers from `src` on.
    Append {
        first: u32,
        index: Reg,
        src: Reg,
    },
    /// Drops the oldest message.
    Drop {
        first: u32,
        index: Reg,
    },
    /// An abstract timer is set: the one in this cell, or at a distance from it.
    NoteTimer {
        cell: u32,
        offset: Option<Reg>,
    },
    /// The step is possible, or the effect is complete.
    Accept,
    /// The step is not possible.
    Reject,
    /// A run-time error of the model.
    Fail,
}

impl Op {
    /// May running it be a run-time error?
    #[must_use]
    pub fn can_fail(&self) -> bool {
        match self {
            Self::Arith { op, .. } => !matches!(op, Arith::Eq | Arith::Ne | Arith::Lt | Arith::Le),
            Self::Index { .. }
            | Self::Neg { .. }
            | Self::Store { .. }
            | Self::StoreAt { .. }
            | Self::Fail => true,
            Self::Const { .. }
            | Self::Copy { .. }
            | Self::Load { .. }
            | Self::LoadAt { .. }
            | Self::Wrap { .. }
            | Self::Jump { .. }
            | Self::JumpIf { .. }
            | Self::JumpCompare { .. }
            | Self::JumpMasked { .. }
            | Self::Recall { .. }
            | Self::Remember { .. }
            | Self::StoreMasked { .. }
            | Self::Choose { .. }
            | Self::Length { .. }
            | Self::Head { .. }
            | Self::Append { .. }
            | Self::Drop { .. }
            | Self::NoteTimer { .. }
            | Self::Accept
            | Self::Reject => false,
        }
    }

    /// May it end the code without result? A choice does so if there is nothing to choose from.
    #[must_use]
    pub fn can_reject(&self) -> bool {
        matches!(self, Self::Reject | Self::Choose { .. })
    }
}

/// An array or family that is indexed with a computed index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Indexing {
    /// The least index.
    pub lo: i64,
    /// How many there are.
    pub len: u64,
    /// The distance between fields of neighbours.
    pub stride: i64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// In `Op::Accept`.
    Accept,
    /// In `Op::Reject`, or without anything to choose from.
    Reject,
    /// A run-time error of the model. The reference semantics says which.
    Fail,
}

/// What all code of a model shares.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// All code.
    pub ops: Vec<Op>,
    /// The fields of a state.
    pub fields: Vec<Field>,
    /// The single channels.
    pub channels: Vec<ChannelFields>,
    /// The segments of channels.
    pub segments: Vec<Segment>,
    /// What is indexed.
    pub indexings: Vec<Indexing>,
    /// How many registers the code uses.
    pub n_registers: usize,
    /// How many shared conditions there are.
    pub n_shared: usize,
}

/// The values picked by the `Choose` instructions of one run, and how far each can still go.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    picked: Vec<(i64, i64)>,
    next: usize,
}

impl Choices {
    /// Before the first run.
    pub fn reset(&mut self) {
        self.picked.clear();
        self.next = 0;
    }

    /// Moves on to the next combination of picks; false when there is none.
    pub fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((value, hi)) = self.picked.pop() {
            if value < hi {
                self.picked.push((value + 1, hi));
                return true;
            }
        }
        false
    }

    fn pick(&mut self, lo: i64, hi: i64) -> i64 {
        if self.next == self.picked.len() {
            self.picked.push((lo, hi));
        }
        self.next += 1;
        self.picked[self.next - 1].0
    }
}

/// Registers and choices, reused from run to run.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The registers.
    pub registers: Vec<i64>,
    /// What was picked.
    pub choices: Choices,
    /// What is known of the shared conditions in the current state.
    pub recalled: Vec<Option<bool>>,
    /// The cells of the abstract timers that were set since this was cleared.
    pub timers_set: Vec<u32>,
}

impl Machine {
    /// Runs the code at `start` on `words`. With `TRACK`, `written` collects the bits of all fields
    /// stored to, changed or not.
    pub fn run<const TRACK: bool>(
        &mut self,
        tables: &Tables,
        start: u32,
        words: &mut [u64],
        written: &mut [u64],
    ) -> End {
        let regs = &mut self.registers[..];
        let mut at = start as usize;
        loop {
            let op = tables.ops[at];
            at += 1;
            match op {
                Op::Const { dst, value } => regs[dst as usize] = value,
                Op::Copy { dst, src } => regs[dst as usize] = regs[src as usize],
                Op::Load {
                    dst,
                    word,
                    shift,
                    mask,
                    offset,
                } => {
                    let raw = (words[word as usize] >> shift) & mask;
                    regs[dst as usize] = (raw as i64).wrapping_add(offset);
                }
                Op::LoadAt { dst, base, offset } => {
                    let field = base as usize + regs[offset as usize] as usize;
                    regs[dst as usize] = tables.fields[field].get(words);
                }
                Op::Index { dst, src, indexing } => {
                    let indexing = &tables.indexings[indexing as usize];
                    let offset = regs[src as usize].wrapping_sub(indexing.lo);
                    if offset as u64 >= indexing.len {
                        return End::Fail;
                    }
                    regs[dst as usize] = offset * indexing.stride;
                }
                Op::Arith { op, dst, a, b } => {
                    match arith(op, regs[a as usize], regs[b as usize]) {
                        Some(value) => regs[dst as usize] = value,
                        None => return End::Fail,
                    }
                }
                Op::Neg { dst, src } => match regs[src as usize].checked_neg() {
                    Some(value) => regs[dst as usize] = value,
                    None => return End::Fail,
                },
                Op::Wrap {
                    dst,
                    src,
                    unused,
                    signed,
                } => regs[dst as usize] = wrap(regs[src as usize], unused, signed),
                Op::Jump { to } => at = to as usize,
                Op::JumpIf { src, sense, to } => {
                    if (regs[src as usize] != 0) == sense {
                        at = to as usize;
                    }
                }
                Op::JumpCompare {
                    op,
                    sense,
                    a,
                    b,
                    to,
                } => {
                    let value = arith(op, regs[a as usize], regs[b as usize]);
                    if (value == Some(1)) == sense {
                        at = to as usize;
                    }
                }
                Op::JumpMasked {
                    word,
                    sense,
                    to,
                    mask,
                    value,
                } => {
                    if (words[word as usize] & mask == value) == sense {
                        at = to as usize;
                    }
                }
                Op::Recall {
                    slot,
                    to,
                    otherwise,
                } => match self.recalled[slot as usize] {
                    None => {}
                    Some(true) => at = to as usize,
                    Some(false) => at = otherwise as usize,
                },
                Op::Remember { slot, value } => self.recalled[slot as usize] = Some(value),
                Op::Store { field, src } => {
                    let value = regs[src as usize];
                    if !store::<TRACK>(tables, field, value, words, written) {
                        return End::Fail;
                    }
                }
                Op::StoreMasked { word, mask, bits } => {
                    let target = &mut words[word as usize];
                    *target = *target & !mask | bits;
                    if TRACK {
                        written[word as usize] |= mask;
                    }
                }
                Op::StoreAt { base, offset, src } => {
                    let field = base + regs[offset as usize] as u32;
                    if !store::<TRACK>(tables, field, regs[src as usize], words, written) {
                        return End::Fail;
                    }
                }
                Op::Choose { dst, lo, hi } => {
                    let (lo, hi) = (regs[lo as usize], regs[hi as usize]);
                    if lo > hi {
                        return End::Reject;
                    }
                    regs[dst as usize] = self.choices.pick(lo, hi);
                }
                Op::Length { dst, first, index } => {
                    let channel = &tables.channels[first as usize + regs[index as usize] as usize];
                    regs[dst as usize] = tables.fields[channel.length as usize].get(words);
                }
                Op::Head {
                    dst,
                    first,
                    index,
                    component,
                } => {
                    let channel = &tables.channels[first as usize + regs[index as usize] as usize];
                    let field = channel.first_slot as usize + component as usize;
                    regs[dst as usize] = tables.fields[field].get(words);
                }
                Op::Append { first, index, src } => {
                    let channel = &tables.channels[first as usize + regs[index as usize] as usize];
                    let message = &regs[src as usize..][..channel.n_components as usize];
                    if !append(tables, channel, message, words) {
                        return End::Fail;
                    }
                }
                Op::Drop { first, index } => {
                    let channel = &tables.channels[first as usize + regs[index as usize] as usize];
                    drop_oldest(tables, channel, words);
                }
                Op::NoteTimer { cell, offset } => {
                    let offset = offset.map_or(0, |offset| regs[offset as usize] as u32);
                    self.timers_set.push(cell + offset);
                }
                Op::Accept => return End::Accept,
                Op::Reject => return End::Reject,
                Op::Fail => return End::Fail,
            }
        }
    }
}

fn store<const TRACK: bool>(
    tables: &Tables,
    field: u32,
    value: i64,
    words: &mut [u64],
    written: &mut [u64],
) -> bool {
    let field = &tables.fields[field as usize];
    if !field.contains(value) {
        return false;
    }
    field.set_raw(words, field.encode(value));
    if TRACK {
        written[field.word as usize] |= field.mask << field.shift;
    }
    true
}

fn append(tables: &Tables, channel: &ChannelFields, message: &[i64], words: &mut [u64]) -> bool {
    let length = &tables.fields[channel.length as usize];
    let used = length.raw(words);
    let first = channel.first_slot as usize + used as usize * channel.n_components as usize;
    for (field, value) in tables.fields[first..].iter().zip(message) {
        if !field.contains(*value) {
            return false;
        }
        field.set_raw(words, field.encode(*value));
    }
    length.set_raw(words, used + 1);
    true
}

fn drop_oldest(tables: &Tables, channel: &ChannelFields, words: &mut [u64]) {
    let length = &tables.fields[channel.length as usize];
    let used = length.raw(words);
    match channel.segments {
        Some(segments) => move_segments(&tables.segments[segments.range()], words),
        None => move_slots(tables, channel, used as usize, words),
    }
    length.set_raw(words, used - 1);
}

/// Moves all messages by one. Unused slots are zero, so the slot behind the last message becomes
/// zero, and equal contents are equal words.
fn move_segments(segments: &[Segment], words: &mut [u64]) {
    for (position, segment) in segments.iter().enumerate() {
        let incoming = segments.get(position + 1).map_or(0, |next| {
            (words[next.word as usize] >> next.shift) & Segment::ones(next.width)
        });
        let word = &mut words[segment.word as usize];
        let moved = word.checked_shr(segment.width).unwrap_or(0) & segment.moved_mask();
        *word = *word & !segment.mask() | moved | incoming << segment.last_shift();
    }
}

/// The same for messages that are longer than a word.
fn move_slots(tables: &Tables, channel: &ChannelFields, used: usize, words: &mut [u64]) {
    let width = channel.n_components as usize;
    let slots = &tables.fields[channel.first_slot as usize..][..channel.capacity as usize * width];
    for position in 0..used * width {
        let next = if position + width < used * width {
            slots[position + width].raw(words)
        } else {
            0
        };
        slots[position].set_raw(words, next);
    }
}

/// The low bits of a value, without the `unused` highest ones.
#[must_use]
pub fn wrap(value: i64, unused: u8, signed: bool) -> i64 {
    let shifted = value << unused;
    if signed {
        shifted >> unused
    } else {
        (shifted as u64 >> unused) as i64
    }
}

/// The value of an operator, or nothing for a run-time error.
#[must_use]
pub fn arith(op: Arith, a: i64, b: i64) -> Option<i64> {
    match op {
        Arith::Add => a.checked_add(b),
        Arith::Sub => a.checked_sub(b),
        Arith::Mul => a.checked_mul(b),
        Arith::Div => a.checked_div_euclid(b),
        Arith::Mod if b == 0 => None,
        Arith::Mod => Some(a.checked_rem_euclid(b).unwrap_or(0)),
        Arith::Quot => a.checked_div(b),
        Arith::Rem if b == 0 => None,
        Arith::Rem => Some(a.wrapping_rem(b)),
        Arith::BitAnd => Some(a & b),
        Arith::BitOr => Some(a | b),
        Arith::BitXor => Some(a ^ b),
        Arith::Shl => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
        Arith::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        Arith::Eq => Some(i64::from(a == b)),
        Arith::Ne => Some(i64::from(a != b)),
        Arith::Lt => Some(i64::from(a < b)),
        Arith::Le => Some(i64::from(a <= b)),
    }
}
