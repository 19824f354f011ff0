//! From expressions and statements to instructions.
//!
//! Every command is compiled with its process index and parameters known, so most indices are
//! constants and most quantifiers unfold. What does not unfold within [`MAX_UNFOLDING`] instances
//! becomes a loop.

use model::{
    Access, BinaryOp, BoundId, ChannelRef, Expr, InstanceId, Model, Owner, Place, ProcessId,
    Quantifier, Stmt, StmtKind, Type, VarId,
};

use crate::code::{Arith, Indexing, Op, Reg, Tables, arith};
use crate::layout::{Field, Layout};
use crate::sharing::Sharing;

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

/// A field that is known now, or at a distance in a register.
enum Target {
    Field(u32),
    At(u32, Reg),
}

/// Why a model cannot be compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// A guard or effect needs more than 65,000 registers.
    TooManyRegisters,
}

/// Compiles the code of one command, proposition or constraint after another into shared tables.
pub(crate) struct Compiler<'a> {
    pub(crate) model: &'a Model,
    pub(crate) layout: &'a Layout,
    pub(crate) tables: &'a mut Tables,
    instance: Option<InstanceId>,
    bindings: Vec<(BoundId, Operand)>,
    labels: Vec<u32>,
    patches: Vec<(usize, Label)>,
    next_register: usize,
    unfolding: u64,
    /// Code before this position may be jumped into from elsewhere: nothing is merged across it.
    barrier: usize,
    pub(crate) sharing: Option<&'a Sharing>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(model: &'a Model, layout: &'a Layout, tables: &'a mut Tables) -> Self {
        Self {
            model,
            layout,
            tables,
            instance: None,
            bindings: Vec::new(),
            labels: Vec::new(),
            patches: Vec::new(),
            next_register: 0,
            unfolding: 1,
            barrier: 0,
            sharing: None,
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

    fn jump_op(&mut self, op: Op, label: Label) {
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

    /// The value of an expression that does not depend on the state and cannot fail.
    fn fold(&self, expr: &Expr) -> Option<i64> {
        Some(match expr {
            Expr::Int(value) => *value,
            Expr::Bool(value) => i64::from(*value),
            Expr::Enum(_, variant) => i64::from(*variant),
            Expr::Bound(bound) => match self.binding(*bound) {
                Operand::Const(value) => value,
                Operand::Reg(_) => return None,
            },
            Expr::Not(inner) => 1 - self.fold(inner)?,
            Expr::Neg(inner) => self.fold(inner)?.checked_neg()?,
            Expr::Binary(op, left, right) => {
                let a = self.fold(left)?;
                match (op, a) {
                    (BinaryOp::And, 0) => return Some(0),
                    (BinaryOp::Or, 1) | (BinaryOp::Implies, 0) => return Some(1),
                    _ => {}
                }
                let b = self.fold(right)?;
                match arithmetic(*op) {
                    Some((op, false)) => arith(op, a, b)?,
                    Some((op, true)) => arith(op, b, a)?,
                    // The left side is not decisive, so the right side is the value.
                    None => b,
                }
            }
            Expr::Ite(condition, then, otherwise) => match self.fold(condition)? {
                0 => self.fold(otherwise)?,
                _ => self.fold(then)?,
            },
            Expr::Read(_) | Expr::Quantified { .. } | Expr::At { .. } | Expr::Length(_) => {
                return None;
            }
        })
    }

    fn binding(&self, bound: BoundId) -> Operand {
        let found = self.bindings.iter().rev().find(|(name, _)| *name == bound);
        found.expect("front ends bind every name").1
    }

    /// Emits code that computes the value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Operand {
        if let Some(value) = self.fold(expr) {
            return Operand::Const(value);
        }
        match expr {
            Expr::Bound(bound) => self.binding(*bound),
            Expr::Read(place) => {
                let target = self.target(place);
                Operand::Reg(self.load(&target))
            }
            Expr::Neg(inner) => {
                let src = self.value(inner);
                let src = self.in_register(src);
                let dst = self.register();
                self.emit(Op::Neg { dst, src });
                Operand::Reg(dst)
            }
            Expr::Binary(op, left, right) => match arithmetic(*op) {
                Some((op, swapped)) => {
                    let a = self.value(left);
                    let a = self.in_register(a);
                    let b = self.value(right);
                    let b = self.in_register(b);
                    let (a, b) = if swapped { (b, a) } else { (a, b) };
                    let dst = self.register();
                    self.emit(Op::Arith { op, dst, a, b });
                    Operand::Reg(dst)
                }
                None => self.truth_value(expr),
            },
            Expr::Ite(condition, then, otherwise) => self.ite(condition, then, otherwise),
            Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound,
                lo,
                hi,
                body,
            } => self.sum(*bound, lo, hi, body),
            Expr::Length(channel) => {
                let (first, index) = self.channel(channel);
                let dst = self.register();
                self.emit(Op::Length { dst, first, index });
                Operand::Reg(dst)
            }
            _ => self.truth_value(expr),
        }
    }

    /// The value of a Boolean expression, by way of its jumps.
    fn truth_value(&mut self, expr: &Expr) -> Operand {
        let dst = self.register();
        let (is_false, done) = (self.label(), self.label());
        self.jump_if(expr, false, is_false);
        self.emit(Op::Const { dst, value: 1 });
        self.jump_op(Op::Jump { to: 0 }, done);
        self.place_label(is_false);
        self.emit(Op::Const { dst, value: 0 });
        self.place_label(done);
        Operand::Reg(dst)
    }

    fn ite(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Operand {
        let dst = self.register();
        let (is_false, done) = (self.label(), self.label());
        self.jump_if(condition, false, is_false);
        let value = self.value(then);
        self.copy_to(dst, value);
        self.jump_op(Op::Jump { to: 0 }, done);
        self.place_label(is_false);
        let value = self.value(otherwise);
        self.copy_to(dst, value);
        self.place_label(done);
        Operand::Reg(dst)
    }

    fn sum(&mut self, bound: BoundId, lo: &Expr, hi: &Expr, body: &Expr) -> Operand {
        let dst = self.register();
        self.emit(Op::Const { dst, value: 0 });
        self.repeat(bound, lo, hi, |compiler| {
            let value = compiler.value(body);
            let b = compiler.in_register(value);
            let op = Arith::Add;
            compiler.emit(Op::Arith { op, dst, a: dst, b });
        });
        Operand::Reg(dst)
    }

    /// Emits `body` for every value of `bound` between the bounds: unfolded, or as a loop.
    fn repeat(&mut self, bound: BoundId, lo: &Expr, hi: &Expr, mut body: impl FnMut(&mut Self)) {
        if let (Some(lo), Some(hi)) = (self.fold(lo), self.fold(hi)) {
            let n_instances = hi.saturating_sub(lo).saturating_add(1).max(0) as u64;
            let unfolding = self.unfolding.saturating_mul(n_instances.max(1));
            if unfolding <= MAX_UNFOLDING {
                let outer = std::mem::replace(&mut self.unfolding, unfolding);
                for value in lo..=hi {
                    self.bindings.push((bound, Operand::Const(value)));
                    body(self);
                    self.bindings.pop();
                }
                self.unfolding = outer;
                return;
            }
        }
        self.repeat_in_loop(bound, lo, hi, body);
    }

    fn repeat_in_loop(
        &mut self,
        bound: BoundId,
        lo: &Expr,
        hi: &Expr,
        mut body: impl FnMut(&mut Self),
    ) {
        let counter = self.register();
        let lo = self.value(lo);
        self.copy_to(counter, lo);
        let hi = self.value(hi);
        let hi = self.in_register(hi);
        let one = self.in_register(Operand::Const(1));
        let (again, done) = (self.label(), self.label());
        self.place_label(again);
        let past = Op::JumpCompare {
            op: Arith::Lt,
            sense: true,
            a: hi,
            b: counter,
            to: 0,
        };
        self.jump_op(past, done);
        self.bindings.push((bound, Operand::Reg(counter)));
        body(self);
        self.bindings.pop();
        let same = Op::JumpCompare {
            op: Arith::Eq,
            sense: true,
            a: hi,
            b: counter,
            to: 0,
        };
        self.jump_op(same, done);
        let op = Arith::Add;
        self.emit(Op::Arith {
            op,
            dst: counter,
            a: counter,
            b: one,
        });
        self.jump_op(Op::Jump { to: 0 }, again);
        self.place_label(done);
    }

    /// Emits code that jumps to `to` iff the Boolean expression has the value `sense`.
    pub(crate) fn jump_if(&mut self, expr: &Expr, sense: bool, to: Label) {
        if let Some(value) = self.fold(expr) {
            if (value != 0) == sense {
                self.jump_op(Op::Jump { to: 0 }, to);
            }
            return;
        }
        match self
            .sharing
            .and_then(|sharing| sharing.slot(expr, &self.bindings))
        {
            Some(slot) => self.jump_if_shared(slot, expr, sense, to),
            None => self.jump_if_computed(expr, sense, to),
        }
    }

    /// A condition that several guards share: it is computed once for each state.
    fn jump_if_shared(&mut self, slot: u16, expr: &Expr, sense: bool, to: Label) {
        let (is_true, is_false, done) = (self.label(), self.label(), self.label());
        let recall = Op::Recall {
            slot,
            to: UNKNOWN,
            otherwise: UNKNOWN,
        };
        self.patches.push((self.tables.ops.len(), is_true));
        self.jump_op(recall, is_false);
        let not = self.label();
        self.jump_if_computed(expr, false, not);
        self.emit(Op::Remember { slot, value: true });
        self.place_label(is_true);
        self.jump_op(Op::Jump { to: 0 }, if sense { to } else { done });
        self.place_label(not);
        self.emit(Op::Remember { slot, value: false });
        self.place_label(is_false);
        if !sense {
            self.jump_op(Op::Jump { to: 0 }, to);
        }
        self.place_label(done);
    }

    fn jump_if_computed(&mut self, expr: &Expr, sense: bool, to: Label) {
        match expr {
            Expr::Not(inner) => self.jump_if(inner, !sense, to),
            Expr::Binary(BinaryOp::And, left, right) => {
                self.jump_if_both((left, true), (right, true), sense, to);
            }
            Expr::Binary(BinaryOp::Or, left, right) => {
                self.jump_if_both((left, false), (right, false), !sense, to);
            }
            Expr::Binary(BinaryOp::Implies, left, right) => {
                self.jump_if_both((left, true), (right, false), !sense, to);
            }
            Expr::Binary(op, left, right) => self.jump_if_compare(*op, left, right, sense, to),
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } if *quantifier != Quantifier::Sum => {
                // `exists` is decided by the first true instance, `forall` by the first false one.
                let decisive = *quantifier == Quantifier::Exists;
                if sense == decisive {
                    self.repeat(*bound, lo, hi, |compiler| compiler.jump_if(body, sense, to));
                } else {
                    let decided = self.label();
                    self.repeat(*bound, lo, hi, |compiler| {
                        compiler.jump_if(body, decisive, decided);
                    });
                    self.jump_op(Op::Jump { to: 0 }, to);
                    self.place_label(decided);
                }
            }
            Expr::Read(place) => match self.target(place) {
                Target::Field(field) => self.jump_if_field(field, 1, sense, to),
                target => {
                    let src = self.load(&target);
                    self.jump_op(Op::JumpIf { src, sense, to: 0 }, to);
                }
            },
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let target = self.location(*process, owner);
                self.jump_if_at(&target, locations, sense, to);
            }
            _ => {
                let src = self.value(expr);
                let src = self.in_register(src);
                self.jump_op(Op::JumpIf { src, sense, to: 0 }, to);
            }
        }
    }

    /// Jumps iff (left has its value and right has its value) is `sense`, left first.
    fn jump_if_both(&mut self, left: (&Expr, bool), right: (&Expr, bool), sense: bool, to: Label) {
        if sense {
            let no = self.label();
            self.jump_if(left.0, !left.1, no);
            self.jump_if(right.0, right.1, to);
            self.place_label(no);
        } else {
            self.jump_if(left.0, !left.1, to);
            self.jump_if(right.0, !right.1, to);
        }
    }

    fn jump_if_compare(&mut self, op: BinaryOp, left: &Expr, right: &Expr, sense: bool, to: Label) {
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let sense = sense == (op == BinaryOp::Eq);
            for (read, constant) in [(left, right), (right, left)] {
                if let (Expr::Read(place), Some(value)) = (read, self.fold(constant))
                    && self.jump_if_equal(place, value, sense, to)
                {
                    return;
                }
            }
        }
        let (op, swapped) = arithmetic(op).expect("Boolean operators are handled before");
        let a = self.value(left);
        let a = self.in_register(a);
        let b = self.value(right);
        let b = self.in_register(b);
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        self.jump_op(
            Op::JumpCompare {
                op,
                sense,
                a,
                b,
                to: 0,
            },
            to,
        );
    }

    /// Tests a known field against a constant that it can hold, without a load. False if that is
    /// not possible; then nothing was emitted.
    fn jump_if_equal(&mut self, place: &Place, value: i64, sense: bool, to: Label) -> bool {
        let Some(field) = self.known_field(place) else {
            return false;
        };
        let description = self.tables.fields[field as usize];
        if !description.contains(value) {
            return false;
        }
        self.jump_if_field(field, description.encode(value), sense, to);
        true
    }

    /// Jumps iff (the bits of the field equal `raw`) is `sense`.
    fn jump_if_field(&mut self, field: u32, raw: u64, sense: bool, to: Label) {
        let Field {
            word, shift, mask, ..
        } = self.tables.fields[field as usize];
        // Of one bit, "is not" is "is the other"; tests that jump on a difference can be merged.
        let (raw, sense) = match (mask, sense) {
            (1, true) => (1 - raw, false),
            other => (raw, other.1),
        };
        let (word, mask, value) = (word as u16, mask << shift, raw << shift);
        if !sense && self.merge_test(word, mask, value, to) {
            return;
        }
        let test = Op::JumpMasked {
            word,
            sense,
            to: 0,
            mask,
            value,
        };
        self.jump_op(test, to);
    }

    /// Adds a test to the instruction before, if that jumps to the same place on a difference in
    /// the same word.
    fn merge_test(&mut self, word: u16, mask: u64, value: u64, to: Label) -> bool {
        let position = self.tables.ops.len();
        let same_target = self
            .patches
            .last()
            .is_some_and(|&(at, label)| at + 1 == position && label == to);
        if position <= self.barrier || !same_target {
            return false;
        }
        match self.tables.ops.last_mut() {
            Some(Op::JumpMasked {
                word: other,
                sense: false,
                mask: before,
                value: wanted,
                ..
            }) if *other == word && *before & mask & (*wanted ^ value) == 0 => {
                *before |= mask;
                *wanted |= value;
                true
            }
            _ => false,
        }
    }

    fn known_field(&mut self, place: &Place) -> Option<u32> {
        let indices = place.path.iter().filter_map(|access| match access {
            Access::Index(index) => Some(index),
            Access::Field(_) => None,
        });
        let owner = place.owner.iter().filter_map(|owner| match owner {
            Owner::Indexed(index) => Some(&**index),
            Owner::Own | Owner::Single => None,
        });
        if !indices.chain(owner).all(|index| self.fold(index).is_some()) {
            return None;
        }
        match self.target(place) {
            Target::Field(field) => Some(field),
            Target::At(..) => None,
        }
    }

    fn jump_if_at(
        &mut self,
        target: &Target,
        locations: &[model::LocationId],
        sense: bool,
        to: Label,
    ) {
        match (locations, target) {
            ([location], Target::Field(field)) => {
                self.jump_if_field(*field, u64::from(location.0), sense, to);
            }
            _ if sense => self.jump_if_among(target, locations, to),
            _ => {
                let found = self.label();
                self.jump_if_among(target, locations, found);
                self.jump_op(Op::Jump { to: 0 }, to);
                self.place_label(found);
            }
        }
    }

    /// Jumps iff the value at `target` is one of the locations.
    fn jump_if_among(&mut self, target: &Target, locations: &[model::LocationId], to: Label) {
        match *target {
            Target::Field(field) => {
                for location in locations {
                    self.jump_if_field(field, u64::from(location.0), true, to);
                }
            }
            Target::At(..) => {
                let a = self.load(target);
                for location in locations {
                    let b = self.in_register(Operand::Const(i64::from(location.0)));
                    let op = Arith::Eq;
                    self.jump_op(
                        Op::JumpCompare {
                            op,
                            sense: true,
                            a,
                            b,
                            to: 0,
                        },
                        to,
                    );
                }
            }
        }
    }

    fn load(&mut self, target: &Target) -> Reg {
        let dst = self.register();
        match *target {
            Target::Field(field) => {
                let Field {
                    word,
                    shift,
                    mask,
                    offset,
                    ..
                } = self.tables.fields[field as usize];
                let (word, shift) = (word as u16, shift as u8);
                self.emit(Op::Load {
                    dst,
                    word,
                    shift,
                    mask,
                    offset,
                });
            }
            Target::At(base, offset) => self.emit(Op::LoadAt { dst, base, offset }),
        }
        dst
    }

    /// The field of a place. Constant indices are checked now, the others when the code runs.
    fn target(&mut self, place: &Place) -> Target {
        let variable = &self.model.parts().vars[place.var.index()];
        let records = &self.model.parts().records;
        let mut address = Address::default();
        if let (Some(owner), Some(process)) = (&place.owner, variable.owner) {
            let stride = variable.ty.n_cells(records);
            self.add_owner(&mut address, process, owner, stride);
        }
        let first = self.first_copy(place.var, variable.owner);
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let indexing = Indexing {
                        lo: array.lo,
                        len: array.len as u64,
                        stride: array.element.n_cells(records) as i64,
                    };
                    self.add_index(&mut address, index, indexing);
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    address.known += skipped
                        .map(|(_, ty)| ty.n_cells(records) as i64)
                        .sum::<i64>();
                    ty = &fields[*field].1;
                }
                _ => unreachable!("front ends check that accesses fit the type"),
            }
        }
        address.target(self.layout.first_cell + first)
    }

    /// The first cell of the first copy of a variable; the copies of all instances follow it.
    fn first_copy(&self, var: VarId, owner: Option<ProcessId>) -> u32 {
        let instances = self.model.instances();
        let first = owner.map(|process| {
            let position = instances
                .iter()
                .position(|instance| instance.process == process);
            InstanceId::new(position.expect("a process with variables has an instance"))
        });
        self.model.first_cell(var, first) as u32
    }

    fn location(&mut self, process: ProcessId, owner: &Owner) -> Target {
        let instances = self.model.instances();
        let first = instances
            .iter()
            .position(|instance| instance.process == process);
        let first = first.unwrap_or(0) as u32;
        let mut address = Address::default();
        self.add_owner(&mut address, process, owner, 1);
        address.target(self.layout.first_location + first)
    }

    fn add_owner(
        &mut self,
        address: &mut Address,
        process: ProcessId,
        owner: &Owner,
        stride: usize,
    ) {
        let range = self.model.parts().processes[process.index()].index;
        let (lo, hi) = range.map_or((0, 0), |range| (range.lo, range.hi));
        let indexing = Indexing {
            lo,
            len: (hi - lo + 1).max(0) as u64,
            stride: stride as i64,
        };
        match owner {
            Owner::Single => {}
            Owner::Own => {
                let own = self.instance.expect("only processes have own variables");
                let index = self.model.instances()[own.index()].index;
                address.known += index.map_or(0, |index| (index - lo) * indexing.stride);
            }
            Owner::Indexed(index) => self.add_index(address, index, indexing),
        }
    }

    fn add_index(&mut self, address: &mut Address, index: &Expr, indexing: Indexing) {
        match self.value(index) {
            Operand::Const(value) => match value.checked_sub(indexing.lo) {
                Some(offset) if (offset as u64) < indexing.len => {
                    address.known += offset * indexing.stride;
                }
                _ => self.emit(Op::Fail),
            },
            Operand::Reg(src) => {
                let position = self.indexing(indexing);
                let dst = self.register();
                self.emit(Op::Index {
                    dst,
                    src,
                    indexing: position,
                });
                address.computed = Some(match address.computed {
                    None => dst,
                    Some(other) => {
                        let sum = self.register();
                        let op = Arith::Add;
                        self.emit(Op::Arith {
                            op,
                            dst: sum,
                            a: dst,
                            b: other,
                        });
                        sum
                    }
                });
            }
        }
    }

    pub(crate) fn indexing(&mut self, indexing: Indexing) -> u32 {
        let known = &mut self.tables.indexings;
        let position = known.iter().position(|other| *other == indexing);
        position.unwrap_or_else(|| {
            known.push(indexing);
            known.len() - 1
        }) as u32
    }

    /// The first single channel and the distance to the one that is meant.
    pub(crate) fn channel(&mut self, reference: &ChannelRef) -> (u32, Reg) {
        let first = self.model.first_single_channel(reference.channel) as u32;
        let description = &self.model.parts().channels[reference.channel.index()];
        let mut address = Address::default();
        if let (Some(index), Some((lo, _))) = (&reference.index, description.indices) {
            let len = description.n_single() as u64;
            self.add_index(&mut address, index, Indexing { lo, len, stride: 1 });
        }
        let computed = match address.computed {
            Some(register) => register,
            None => self.in_register(Operand::Const(address.known)),
        };
        (first, computed)
    }

    /// Emits code for a sequence of statements.
    pub(crate) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(&statement.kind);
        }
    }

    fn statement(&mut self, statement: &StmtKind) {
        match statement {
            StmtKind::Assign(place, value) => {
                let value = self.value(value);
                self.store(place, value);
            }
            StmtKind::If(condition, then, otherwise) => {
                let (is_false, done) = (self.label(), self.label());
                self.jump_if(condition, false, is_false);
                self.scoped(then);
                self.jump_op(Op::Jump { to: 0 }, done);
                self.place_label(is_false);
                self.scoped(otherwise);
                self.place_label(done);
            }
            StmtKind::For(bound, lo, hi, body) => {
                self.repeat(*bound, lo, hi, |compiler| compiler.scoped(body));
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let lo = self.value(lo);
                let lo = self.in_register(lo);
                let hi = self.value(hi);
                let hi = self.in_register(hi);
                let dst = self.register();
                self.emit(Op::Choose { dst, lo, hi });
                self.bindings.push((*bound, Operand::Reg(dst)));
                let possible = self.label();
                self.jump_if(condition, true, possible);
                self.emit(Op::Reject);
                self.place_label(possible);
            }
            StmtKind::Assert(condition) => {
                let fine = self.label();
                self.jump_if(condition, true, fine);
                self.emit(Op::Fail);
                self.place_label(fine);
            }
        }
    }

    /// Statements whose choices are not known behind them.
    fn scoped(&mut self, statements: &[Stmt]) {
        let n_bindings = self.bindings.len();
        self.statements(statements);
        self.bindings.truncate(n_bindings);
    }

    pub(crate) fn store(&mut self, place: &Place, value: Operand) {
        match (self.target(place), value) {
            (Target::Field(field), Operand::Const(value)) => self.store_constant(field, value),
            (Target::Field(field), Operand::Reg(src)) => self.emit(Op::Store { field, src }),
            (Target::At(base, offset), value) => {
                let src = self.in_register(value);
                self.emit(Op::StoreAt { base, offset, src });
            }
        }
    }

    fn store_constant(&mut self, field: u32, value: i64) {
        let description = &self.tables.fields[field as usize];
        if !description.contains(value) {
            self.emit(Op::Fail);
            return;
        }
        let raw = description.encode(value);
        self.store_raw(field, raw);
    }

    /// Stores known bits; stores to the same word without anything but stores between are merged.
    fn store_raw(&mut self, field: u32, raw: u64) {
        let Field {
            word, shift, mask, ..
        } = self.tables.fields[field as usize];
        let (word, mask, bits) = (word as u16, mask << shift, raw << shift);
        for position in (self.barrier..self.tables.ops.len()).rev() {
            match &mut self.tables.ops[position] {
                Op::StoreMasked {
                    word: other,
                    mask: before,
                    bits: stored,
                } if *other == word => {
                    *stored = *stored & !mask | bits;
                    *before |= mask;
                    return;
                }
                Op::StoreMasked { .. } => {}
                _ => break,
            }
        }
        self.emit(Op::StoreMasked { word, mask, bits });
    }

    /// Sets the location of an instance.
    pub(crate) fn store_location(&mut self, instance: InstanceId, location: model::LocationId) {
        let field = self.layout.first_location + instance.0;
        self.store_raw(field, u64::from(location.0));
    }

    /// Jumps iff the register does not equal the operand.
    pub(crate) fn jump_unless_equal(&mut self, a: Reg, b: Operand, to: Label) {
        let b = self.in_register(b);
        let op = Arith::Eq;
        self.jump_op(
            Op::JumpCompare {
                op,
                sense: false,
                a,
                b,
                to: 0,
            },
            to,
        );
    }
}

/// A distance from the first field: a part known now and a part in a register.
#[derive(Default)]
struct Address {
    known: i64,
    computed: Option<Reg>,
}

impl Address {
    fn target(&self, first: u32) -> Target {
        let base = first + self.known as u32;
        match self.computed {
            None => Target::Field(base),
            Some(register) => Target::At(base, register),
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
        BinaryOp::Eq => (Arith::Eq, false),
        BinaryOp::Ne => (Arith::Ne, false),
        BinaryOp::Lt => (Arith::Lt, false),
        BinaryOp::Le => (Arith::Le, false),
        BinaryOp::Gt => (Arith::Lt, true),
        BinaryOp::Ge => (Arith::Le, true),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => return None,
    })
}
