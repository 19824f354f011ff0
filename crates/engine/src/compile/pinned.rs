//! Quantifiers of which only one instance can decide.
//!
//! `exists p in messages where p.to == i: …` is, cell by cell, an `exists` over all values of `p.to` whose
//! body demands one of them. If every other instance is known to be false, and known not to fail on
//! the way to the equation, the quantifier is that one instance: the one-point rule. Conditions over
//! sets of records become short by it, however many values their components have.

use model::{Access, BinaryOp, BoundId, Expr, Owner, Place, Quantifier, Type};

use super::{Compiler, Label, Operand};
use jit::{Arith, Op, Reg};

/// A name with its least and greatest value.
type Ranged = (BoundId, i64, i64);

/// What is known about an expression that must have a certain truth value.
enum Demand {
    /// Only if the name has this value; nothing before the equation that says so can fail.
    Pins(Operand),
    /// It cannot fail, and says nothing about the name.
    Total,
    /// Nothing.
    Unknown,
}

impl Compiler<'_> {
    /// Emits `emit` for all instances of `body` that may have the truth value `decisive`.
    pub(super) fn instances(
        &mut self,
        (bound, lo, hi): (BoundId, &Expr, &Expr),
        (body, decisive): (&Expr, bool),
        mut emit: impl FnMut(&mut Self),
    ) {
        let range = self.fold(lo).zip(self.fold(hi));
        let Some((first, last)) = range.filter(|(first, last)| first < last) else {
            return self.repeat(bound, lo, hi, emit);
        };
        let open = &mut vec![(bound, first, last)];
        match self.demand(body, decisive, bound, open) {
            Demand::Pins(Operand::Const(value)) if !(first..=last).contains(&value) => {}
            Demand::Pins(value) => {
                let outside = self.label();
                if let Operand::Reg(value) = value {
                    self.skip_outside(value, (first, last), outside);
                }
                self.ranges.push((bound, first, last));
                self.bindings.push((bound, value));
                emit(self);
                self.bindings.pop();
                self.ranges.pop();
                self.place_label(outside);
            }
            Demand::Total | Demand::Unknown => self.repeat(bound, lo, hi, emit),
        }
    }

    fn skip_outside(&mut self, value: Reg, (first, last): (i64, i64), to: Label) {
        let first = self.in_register(Operand::Const(first));
        let last = self.in_register(Operand::Const(last));
        for (a, b) in [(value, first), (last, value)] {
            let op = Arith::Lt;
            let sense = true;
            let jump = Op::JumpCompare {
                op,
                sense,
                a,
                b,
                to: 0,
            };
            self.jump_op(jump, to);
        }
    }

    /// What it takes for the expression to have the truth value. Parts are looked at in the order in
    /// which they are evaluated; `open` has the names that have no value yet.
    fn demand(&self, expr: &Expr, truth: bool, bound: BoundId, open: &mut Vec<Ranged>) -> Demand {
        match expr {
            Expr::Bound(name) if *name == bound => Demand::Pins(Operand::Const(i64::from(truth))),
            Expr::Not(inner) => self.demand(inner, !truth, bound, open),
            Expr::Binary(BinaryOp::And, a, b) if truth => {
                self.demand_both((a, true), (b, true), bound, open)
            }
            Expr::Binary(BinaryOp::Or, a, b) if !truth => {
                self.demand_both((a, false), (b, false), bound, open)
            }
            Expr::Binary(BinaryOp::Implies, a, b) if !truth => {
                self.demand_both((a, true), (b, false), bound, open)
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if truth == (*op == BinaryOp::Eq)
                    && let Some(value) = self.equated(bound, a, b, open) =>
            {
                Demand::Pins(value)
            }
            Expr::Quantified {
                quantifier,
                bound: inner,
                lo,
                hi,
                body,
            } if *quantifier != Quantifier::Sum && truth == (*quantifier == Quantifier::Exists) => {
                let range = self.known(lo, open).zip(self.known(hi, open));
                let Some((first, last)) = range else {
                    return Demand::Unknown;
                };
                open.push((*inner, first, last));
                let demand = self.demand(body, truth, bound, open);
                open.pop();
                demand
            }
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Read(_)
            | Expr::Bound(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Ite(..)
            | Expr::Quantified { .. }
            | Expr::At { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => {
                if self.is_total(expr, open) {
                    Demand::Total
                } else {
                    Demand::Unknown
                }
            }
        }
    }

    fn demand_both(
        &self,
        first: (&Expr, bool),
        second: (&Expr, bool),
        bound: BoundId,
        open: &mut Vec<Ranged>,
    ) -> Demand {
        match self.demand(first.0, first.1, bound, open) {
            Demand::Total => self.demand(second.0, second.1, bound, open),
            found @ (Demand::Pins(_) | Demand::Unknown) => found,
        }
    }

    /// The value that one of two expressions has if the other one is the name.
    fn equated(&self, bound: BoundId, a: &Expr, b: &Expr, open: &[Ranged]) -> Option<Operand> {
        for (name, other) in [(a, b), (b, a)] {
            if name.as_bound() != Some(bound) {
                continue;
            }
            let is_open = |name: BoundId| open.iter().any(|(open, ..)| *open == name);
            let value = match other.as_bound() {
                Some(other) if !is_open(other) => Some(self.binding(other)),
                _ => self.known(other, open).map(Operand::Const),
            };
            if value.is_some() {
                return value;
            }
        }
        None
    }

    /// The value of an expression without open names, if it is known now.
    fn known(&self, expr: &Expr, open: &[Ranged]) -> Option<i64> {
        let is_open = |inner: &Expr| {
            let name = inner.as_bound().or_else(|| inner.binder());
            name.is_some_and(|name| open.iter().any(|(open, ..)| *open == name))
        };
        if expr.any(&mut |inner| is_open(inner) || inner.binder().is_some()) {
            return None;
        }
        self.fold(expr)
    }

    /// Is it known that the expression has a value, whatever the open names and the state are?
    fn is_total(&self, expr: &Expr, open: &mut Vec<Ranged>) -> bool {
        match expr {
            Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) | Expr::Bound(_) => true,
            Expr::Not(inner) | Expr::Wrap { inner, .. } => self.is_total(inner, open),
            Expr::Binary(op, a, b) if op.is_boolean() => {
                self.is_total(a, open) && self.is_total(b, open)
            }
            Expr::Ite(a, b, c) => [a, b, c].into_iter().all(|part| self.is_total(part, open)),
            Expr::Read(place) => self.is_inside(place, open),
            Expr::At { process, owner, .. } => self.is_member(*process, owner, open),
            Expr::Quantified {
                quantifier: Quantifier::Forall | Quantifier::Exists,
                bound,
                lo,
                hi,
                body,
            } => {
                let Some((first, last)) = self.known(lo, open).zip(self.known(hi, open)) else {
                    return false;
                };
                open.push((*bound, first, last));
                let is_total = self.is_total(body, open);
                open.pop();
                is_total
            }
            Expr::Neg(_) | Expr::Binary(..) | Expr::Quantified { .. } | Expr::Length(_) => {
                self.known(expr, open).is_some()
            }
        }
    }

    /// Are all indices of the place known to be inside of their arrays?
    fn is_inside(&self, place: &Place, open: &[Ranged]) -> bool {
        let variable = &self.model.parts().vars[place.var.index()];
        if let (Some(owner), Some(process)) = (&place.owner, variable.owner)
            && !self.is_member(process, owner, open)
        {
            return false;
        }
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let last = array.lo.saturating_add(array.len as i64 - 1);
                    if !self.is_between(index, (array.lo, last), open) {
                        return false;
                    }
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    ty = &self.model.parts().records[record.index()].fields[*field].1;
                }
                (Access::Index(_) | Access::Field(_), _) => return false,
            }
        }
        true
    }

    fn is_member(&self, process: model::ProcessId, owner: &Owner, open: &[Ranged]) -> bool {
        let range = self.model.parts().processes[process.index()].index;
        match owner {
            Owner::Own | Owner::Single => true,
            Owner::Indexed(index) => {
                range.is_some_and(|range| self.is_between(index, (range.lo, range.hi), open))
            }
        }
    }

    fn is_between(&self, expr: &Expr, (lo, hi): (i64, i64), open: &[Ranged]) -> bool {
        let named = expr.as_bound().and_then(|name| {
            let mut ranges = open.iter().chain(&self.ranges).rev();
            ranges.find(|(open, ..)| *open == name)
        });
        match (named, self.known(expr, open)) {
            (_, Some(value)) => (lo..=hi).contains(&value),
            (Some((_, first, last)), None) => lo <= *first && *last <= hi,
            (None, None) => false,
        }
    }
}
