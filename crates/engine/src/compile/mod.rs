//! From expressions and statements to instructions.
//!
//! Every command is compiled with its process index and parameters known, so most indices are
//! constants and most quantifiers unfold. What does not unfold within [`MAX_UNFOLDING`] instances
//! becomes a loop.

mod condition;
mod effect;
mod pinned;
mod place;
mod timer;
mod value;

use model::{BinaryOp, BoundId, InstanceId, Model};

pub(crate) use self::place::ChannelAccess;

use crate::footprint::Footprint;
use crate::layout::Layout;
use crate::sharing::Sharing;
use jit::{Arith, Op, Reg, Tables};

/// How many instances nested quantifiers and loops may unfold to.
const MAX_UNFOLDING: u64 = 128;

/// A jump target that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// A value: known now, or in a register when the code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Const(i64),
    Reg(Reg),
}

/// A place in the code that is not known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(usize);

/// Why a model cannot be compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// A guard or effect needs more than 65,000 registers.
    TooManyRegisters,
    /// A state takes more than 65,535 words, which is what instructions can address.
    StateTooLarge,
    /// A search on sets of states would have to look for too many kinds of runs, one after the other.
    TooManyAlternatives,
}

/// A piece of code: where it begins and what it touches.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) start: u32,
    pub(crate) footprint: Footprint,
    /// May running it be a run-time error?
    pub(crate) can_fail: bool,
    /// May it turn out not to be possible?
    pub(crate) can_reject: bool,
}

/// Compiles the code of one command, proposition or constraint after another into shared tables.
pub(crate) struct Compiler<'a> {
    pub(crate) model: &'a Model,
    pub(crate) layout: &'a Layout,
    pub(crate) tables: &'a mut Tables,
    instance: Option<InstanceId>,
    bindings: Vec<(BoundId, Operand)>,
    /// The least and greatest values of names whose values are in registers.
    ranges: Vec<(BoundId, i64, i64)>,
    labels: Vec<u32>,
    patches: Vec<(usize, Label)>,
    next_register: usize,
    unfolding: u64,
    /// Code before this position may be jumped into from elsewhere: nothing is merged across it.
    barrier: usize,
    pub(crate) sharing: Option<&'a Sharing>,
    /// The values of the choices to come, if they are made now.
    pub(crate) made_choices: Option<std::vec::IntoIter<i64>>,
    /// What the code since `begin` reads and writes.
    pub(crate) footprint: Footprint,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(model: &'a Model, layout: &'a Layout, tables: &'a mut Tables) -> Self {
        Self {
            model,
            layout,
            tables,
            instance: None,
            bindings: Vec::new(),
            ranges: Vec::new(),
            labels: Vec::new(),
            patches: Vec::new(),
            next_register: 0,
            unfolding: 1,
            barrier: 0,
            sharing: None,
            made_choices: None,
            footprint: Footprint::new(layout.n_words),
        }
    }

    /// Starts a piece of code for a process with known bindings; says where it begins.
    pub(crate) fn begin(
        &mut self,
        instance: Option<InstanceId>,
        bindings: &[(BoundId, i64)],
    ) -> u32 {
        self.next_register = 0;
        self.enter(instance, bindings);
        self.barrier = self.tables.ops.len();
        self.footprint = Footprint::new(self.layout.n_words);
        self.tables.ops.len() as u32
    }

    /// Goes on for another process, with the registers computed so far. Used where a sender's
    /// message is computed in the receiver's code.
    pub(crate) fn enter(&mut self, instance: Option<InstanceId>, bindings: &[(BoundId, i64)]) {
        self.instance = instance;
        let known = |&(bound, value): &(BoundId, i64)| (bound, Operand::Const(value));
        self.bindings = bindings.iter().map(known).collect();
        self.unfolding = 1;
    }

    /// Ends a piece of code: all labels are known now.
    pub(crate) fn end(&mut self) -> Result<(), CompileError> {
        for (position, label) in self.patches.drain(..) {
            let target = self.labels[label.0];
            match &mut self.tables.ops[position] {
                Op::Jump { to }
                | Op::JumpIf { to, .. }
                | Op::JumpCompare { to, .. }
                | Op::JumpMasked { to, .. } => *to = target,
                // The first patch is for `to`, the second for `otherwise`.
                Op::Recall { to, .. } if *to == UNKNOWN => *to = target,
                Op::Recall { otherwise, .. } => *otherwise = target,
                other => unreachable!("{other:?} does not jump"),
            }
        }
        self.labels.clear();
        self.tables.n_registers = self.tables.n_registers.max(self.next_register);
        if self.next_register > usize::from(u16::MAX) {
            return Err(CompileError::TooManyRegisters);
        }
        Ok(())
    }

    /// Ends a piece of code that began at `start`.
    pub(crate) fn finish(mut self, start: u32) -> Result<Code, CompileError> {
        self.end()?;
        let ops = &self.tables.ops[start as usize..];
        Ok(Code {
            start,
            can_fail: ops.iter().any(jit::Op::can_fail),
            can_reject: ops.iter().any(jit::Op::can_reject),
            footprint: self.footprint,
        })
    }

    pub(crate) fn emit(&mut self, op: Op) {
        self.tables.ops.push(op);
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() - 1)
    }

    pub(crate) fn place_label(&mut self, label: Label) {
        self.labels[label.0] = self.tables.ops.len() as u32;
        self.barrier = self.tables.ops.len();
    }

    pub(super) fn jump_op(&mut self, op: Op, label: Label) {
        self.patches.push((self.tables.ops.len(), label));
        self.emit(op);
    }

    pub(crate) fn register(&mut self) -> Reg {
        self.next_register += 1;
        // `end` reports the overflow; until then the number only has to be some number.
        (self.next_register - 1).min(usize::from(u16::MAX)) as Reg
    }

    /// Fresh registers that follow each other.
    pub(crate) fn registers(&mut self, n: usize) -> Reg {
        let first = self.register();
        (1..n).for_each(|_| {
            self.register();
        });
        first
    }

    pub(crate) fn in_register(&mut self, operand: Operand) -> Reg {
        match operand {
            Operand::Reg(reg) => reg,
            Operand::Const(value) => {
                let dst = self.register();
                self.emit(Op::Const { dst, value });
                dst
            }
        }
    }

    pub(crate) fn copy_to(&mut self, dst: Reg, operand: Operand) {
        match operand {
            Operand::Const(value) => self.emit(Op::Const { dst, value }),
            Operand::Reg(src) => self.emit(Op::Copy { dst, src }),
        }
    }
}

/// The machine's operator and whether its operands are exchanged; nothing for Boolean operators.
fn arithmetic(op: BinaryOp) -> Option<(Arith, bool)> {
    Some(match op {
        BinaryOp::Add => (Arith::Add, false),
        BinaryOp::Sub => (Arith::Sub, false),
        BinaryOp::Mul => (Arith::Mul, false),
        BinaryOp::Div => (Arith::Div, false),
        BinaryOp::Mod => (Arith::Mod, false),
        BinaryOp::Quot => (Arith::Quot, false),
        BinaryOp::Rem => (Arith::Rem, false),
        BinaryOp::BitAnd => (Arith::BitAnd, false),
        BinaryOp::BitOr => (Arith::BitOr, false),
        BinaryOp::BitXor => (Arith::BitXor, false),
        BinaryOp::Shl => (Arith::Shl, false),
        BinaryOp::Shr => (Arith::Shr, false),
        BinaryOp::Eq => (Arith::Eq, false),
        BinaryOp::Ne => (Arith::Ne, false),
        BinaryOp::Lt => (Arith::Lt, false),
        BinaryOp::Le => (Arith::Le, false),
        BinaryOp::Gt => (Arith::Lt, true),
        BinaryOp::Ge => (Arith::Le, true),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => return None,
    })
}
