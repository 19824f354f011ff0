//! Which registers of the machine stay in registers of the processor.
//!
//! Linear scan (Poletto and Sarkar, *Linear scan register allocation*, 1999,
//! DOI 10.1145/330249.330250) over one piece of code. A register set once, to a constant, needs no
//! place at all. Where a jump leads backwards, everything alive inside is alive all the way.

use std::ops::Range;

use crate::assembler::R;
use crate::code::{Op, Reg, Tables};

/// Registers that nothing else uses.
const POOL: [R; 4] = [R::Rsi, R::Rdi, R::R10, R::R11];

/// Where the value of a register of the machine is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// It is always this.
    Const(i64),
    /// In a register of the processor.
    Register(R),
    /// In memory.
    Frame,
}

/// The places of all registers of a piece of code, from register 0 on.
#[derive(Debug, Default)]
pub(crate) struct Allocation {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    register: usize,
    first: usize,
    last: usize,
}

impl Allocation {
    pub(crate) fn new(tables: &Tables, code: Range<usize>) -> Self {
        let mut allocation = Self::default();
        let mut n_writes: Vec<u32> = Vec::new();
        let mut intervals: Vec<Option<Interval>> = Vec::new();
        for at in code.clone() {
            let op = &tables.ops[at];
            for_each_register(tables, op, &mut |register, writes| {
                let register = usize::from(register);
                if intervals.len() <= register {
                    intervals.resize(register + 1, None);
                    n_writes.resize(register + 1, 0);
                    allocation.places.resize(register + 1, Place::Frame);
                }
                n_writes[register] += u32::from(writes);
                let interval = intervals[register].get_or_insert(Interval {
                    register,
                    first: at,
                    last: at,
                });
                interval.last = at;
            });
        }

        for at in code.clone() {
            if let Op::Const { dst, value } = tables.ops[at]
                && n_writes[usize::from(dst)] == 1
            {
                allocation.places[usize::from(dst)] = Place::Const(value);
                intervals[usize::from(dst)] = None;
            }
        }

        let mut intervals: Vec<Interval> = intervals.into_iter().flatten().collect();
        extend_over_loops(tables, code, &mut intervals);
        allocation.scan(intervals);
        allocation
    }

    pub(crate) fn place(&self, register: Reg) -> Place {
        self.places[usize::from(register)]
    }

    /// The value of a register that is always the same.
    pub(crate) fn constant(&self, register: Reg) -> Option<i64> {
        match self.place(register) {
            Place::Const(value) => Some(value),
            Place::Register(_) | Place::Frame => None,
        }
    }

    fn scan(&mut self, mut intervals: Vec<Interval>) {
        intervals.sort_by_key(|interval| (interval.first, interval.register));
        let mut busy_until = [None; POOL.len()];
        for interval in intervals {
            let is_free = |until: &Option<usize>| until.is_none_or(|last| last < interval.first);
            if let Some(free) = busy_until.iter().position(is_free) {
                busy_until[free] = Some(interval.last);
                self.places[interval.register] = Place::Register(POOL[free]);
            }
        }
    }
}

fn extend_over_loops(tables: &Tables, code: Range<usize>, intervals: &mut [Interval]) {
    let mut loops = Vec::new();
    for at in code {
        for target in jump_targets(&tables.ops[at]) {
            if target <= at {
                loops.push((target, at));
            }
        }
    }

    // Extending over one loop may reach into another; there are few, so go on until nothing moves.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &(start, end) in &loops {
            for interval in &mut *intervals {
                let meets = interval.first <= end && interval.last >= start;
                if meets && (interval.first > start || interval.last < end) {
                    interval.first = interval.first.min(start);
                    interval.last = interval.last.max(end);
                    changed = true;
                }
            }
        }
    }
}

/// Where an instruction may jump to.
pub(crate) fn jump_targets(op: &Op) -> impl Iterator<Item = usize> {
    let (to, otherwise) = match *op {
        Op::Jump { to }
        | Op::JumpIf { to, .. }
        | Op::JumpCompare { to, .. }
        | Op::JumpMasked { to, .. } => (Some(to), None),
        Op::Recall { to, otherwise, .. } => (Some(to), Some(otherwise)),
        _ => (None, None),
    };
    to.into_iter().chain(otherwise).map(|to| to as usize)
}

/// Calls `visit` with every register of an instruction, and whether it is written.
fn for_each_register(tables: &Tables, op: &Op, visit: &mut impl FnMut(Reg, bool)) {
    let mut read_all = |registers: &[Reg]| registers.iter().for_each(|r| visit(*r, false));
    match *op {
        Op::Const { dst, .. } | Op::Load { dst, .. } => visit(dst, true),
        Op::Copy { dst, src }
        | Op::Neg { dst, src }
        | Op::Wrap { dst, src, .. }
        | Op::Index { dst, src, .. } => {
            read_all(&[src]);
            visit(dst, true);
        }
        Op::LoadAt { dst, offset, .. } => {
            read_all(&[offset]);
            visit(dst, true);
        }
        Op::Arith { dst, a, b, .. } => {
            read_all(&[a, b]);
            visit(dst, true);
        }
        Op::JumpIf { src, .. } | Op::Store { src, .. } => read_all(&[src]),
        Op::JumpCompare { a, b, .. } => read_all(&[a, b]),
        Op::StoreAt { offset, src, .. } => read_all(&[offset, src]),
        Op::Choose { dst, lo, hi } => {
            read_all(&[lo, hi]);
            visit(dst, true);
        }
        Op::Length { dst, index, .. } | Op::Head { dst, index, .. } => {
            read_all(&[index]);
            visit(dst, true);
        }
        Op::Append { first, index, src } => {
            read_all(&[index]);
            let n_components = tables.channels[first as usize].n_components as Reg;
            (0..n_components).for_each(|component| visit(src + component, false));
        }
        Op::Drop { index, .. } => read_all(&[index]),
        Op::NoteTimer { offset, .. } => offset.into_iter().for_each(|r| visit(r, false)),
        Op::Jump { .. }
        | Op::JumpMasked { .. }
        | Op::Recall { .. }
        | Op::Remember { .. }
        | Op::StoreMasked { .. }
        | Op::Accept
        | Op::Reject
        | Op::Fail => {}
    }
}
