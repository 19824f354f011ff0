//! Values of expressions: folded where they are known, else computed into registers.

use model::{BinaryOp, BoundId, Expr, Quantifier};

use super::{ChannelAccess, Compiler, MAX_UNFOLDING, Operand, arithmetic};
use jit::{Arith, Op, arith, wrap};

impl Compiler<'_> {
    /// The value of an expression that does not depend on the state and cannot fail.
    pub(super) fn fold(&self, expr: &Expr) -> Option<i64> {
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
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => wrap(self.fold(inner)?, 64 - bits, *signed),
            Expr::Read(_) | Expr::Quantified { .. } | Expr::At { .. } | Expr::Length(_) => {
                return None;
            }
        })
    }

    pub(super) fn binding(&self, bound: BoundId) -> Operand {
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
                match self.only_value(&target) {
                    Some(value) => Operand::Const(value),
                    None => Operand::Reg(self.load(&target)),
                }
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

                    // Operands are evaluated from left to right, whatever the instruction wants:
                    // the first error counts.
                    let (a, b) = if swapped { (b, a) } else { (a, b) };
                    let dst = self.register();
                    self.emit(Op::Arith { op, dst, a, b });
                    Operand::Reg(dst)
                }
                None => self.truth_value(expr),
            },
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => {
                let src = self.value(inner);
                let src = self.in_register(src);
                let dst = self.register();
                self.emit(Op::Wrap {
                    dst,
                    src,
                    unused: 64 - bits,
                    signed: *signed,
                });
                Operand::Reg(dst)
            }
            Expr::Ite(condition, then, otherwise) => self.ite(condition, then, otherwise),
            Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound,
                lo,
                hi,
                body,
            } => self.sum(*bound, lo, hi, body),
            Expr::Length(channel) => {
                let (first, index) = self.channel(channel, ChannelAccess::Length);
                let dst = self.register();
                self.emit(Op::Length { dst, first, index });
                Operand::Reg(dst)
            }
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Not(_)
            | Expr::Quantified {
                quantifier: Quantifier::Forall | Quantifier::Exists,
                ..
            }
            | Expr::At { .. } => self.truth_value(expr),
        }
    }

    /// The value of a Boolean expression, by way of its jumps.
    pub(super) fn truth_value(&mut self, expr: &Expr) -> Operand {
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

    pub(super) fn ite(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Operand {
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

    pub(super) fn sum(&mut self, bound: BoundId, lo: &Expr, hi: &Expr, body: &Expr) -> Operand {
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
    pub(super) fn repeat(
        &mut self,
        bound: BoundId,
        lo: &Expr,
        hi: &Expr,
        mut body: impl FnMut(&mut Self),
    ) {
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

    pub(super) fn repeat_in_loop(
        &mut self,
        bound: BoundId,
        lo: &Expr,
        hi: &Expr,
        mut body: impl FnMut(&mut Self),
    ) {
        let range = self.fold(lo).zip(self.fold(hi));
        let counter = self.register();
        let lo = self.value(lo);
        self.copy_to(counter, lo);

        // The body may change what the last value is computed from.
        let last = self.value(hi);
        let hi = self.register();
        self.copy_to(hi, last);

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
        let n_ranges = self.ranges.len();
        let ranged = range.map(|(first, last)| (bound, first, last));
        self.ranges.extend(ranged);
        body(self);
        self.ranges.truncate(n_ranges);
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
}
