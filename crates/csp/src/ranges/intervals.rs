//! Values of expressions over intervals.

use std::collections::HashMap;

use super::{FULL, Interval, Ranges, join};
use crate::ast::{BinaryOp, Expr, ExprKind, ExprRef, MacroBody};
use crate::functions::POWER;
use crate::lexer::Name;
use crate::scope::Scope;

/// Evaluates expressions over intervals.
pub(crate) struct Evaluation<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) ranges: &'a Ranges,
    pub(crate) def: usize,
    pub(crate) known: &'a HashMap<Name, Interval>,
    pub(crate) locals: Vec<(Name, Option<Interval>)>,
    pub(crate) depth: usize,
}

impl Evaluation<'_> {
    /// The values of an expression; nothing if it is never evaluated.
    pub(crate) fn eval(&mut self, expr: &Expr) -> Option<Interval> {
        if self.depth > 200 {
            return Some(FULL);
        }
        self.depth += 1;
        let values = self.eval_kind(expr);
        self.depth -= 1;
        values.map(|(lo, hi)| {
            (
                lo.max(i64::from(i32::MIN) * 4),
                hi.min(i64::from(i32::MAX) * 4),
            )
        })
    }

    fn eval_kind(&mut self, expr: &Expr) -> Option<Interval> {
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, *value)),
            ExprKind::Bool(value) => Some((i64::from(*value), i64::from(*value))),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Index(name, _) if self.ranges.is_array(self.def, name) => self.name(name),
            ExprKind::Index(name, _) => {
                let var = *self.scope.var_by_name.get(name)?;
                self.ranges.vars[var].values
            }
            ExprKind::Indexed(BinaryOp::Add, ..) => Some(FULL),
            ExprKind::Not(_) | ExprKind::Indexed(..) => Some((0, 1)),
            ExprKind::Neg(inner) => self.eval(inner).map(|(lo, hi)| (-hi, -lo)),
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                Some(operate(*op, a, b))
            }
            ExprKind::Call(name, arguments) => self.call(&name.text, arguments),
            ExprKind::Assign(_, value) => self.eval(value),
            ExprKind::Increment(target, by) => self.eval(target).map(|(lo, hi)| (lo + by, hi + by)),
        }
    }

    fn name(&mut self, name: &Name) -> Option<Interval> {
        // The order is that of hiding: the innermost meaning of the name counts.
        if let Some((_, values)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return *values;
        }
        if let Some(values) = self.known.get(name) {
            return Some(*values);
        }
        if let Some(info) = self.ranges.names.get(&(self.def, name.clone())) {
            return info.values;
        }

        if let Some((value, _)) = self.scope.constants.get(name) {
            return Some((*value, *value));
        }
        if let Some(&var) = self.scope.var_by_name.get(name) {
            return self.ranges.vars[var].values;
        }

        match self.scope.macros.get(name).map(|decl| &decl.body) {
            Some(MacroBody::Expr(body)) => self.eval(body),
            _ => Some(FULL),
        }
    }

    fn call(&mut self, name: &Name, arguments: &[ExprRef]) -> Option<Interval> {
        let channel = arguments.first().and_then(|channel| match &channel.kind {
            ExprKind::Name(name) | ExprKind::Index(name, _) => {
                self.scope.channel_by_name.get(name).copied()
            }
            _ => None,
        });

        match (&**name, channel) {
            ("if", _) => {
                let branches = arguments.iter().skip(1);
                let values: Vec<_> = branches.map(|branch| self.eval(branch)).collect();
                return values.into_iter().flatten().reduce(join);
            }
            (POWER, _) if !self.scope.macros.contains_key(name) && arguments.len() == 2 => {
                let (base, exponent) = (self.eval(&arguments[0])?, self.eval(&arguments[1])?);
                return Some(power(base, exponent));
            }
            ("cfull" | "cempty", _) => return Some((0, 1)),
            ("ccount" | "csize", Some(channel)) => {
                return Some((0, self.scope.channels[channel].size));
            }
            ("cpeek", Some(channel)) => {
                let values = self.ranges.messages[channel]
                    .iter()
                    .filter_map(|m| m.values);
                return values.reduce(join).map(|values| join(values, (0, 0)));
            }
            _ => {}
        }

        let Some(decl) = self.scope.macros.get(name) else {
            return Some(FULL);
        };
        let MacroBody::Expr(body) = &decl.body else {
            return Some(FULL);
        };
        let n_locals = self.locals.len();
        let values: Vec<_> = arguments
            .iter()
            .map(|argument| self.eval(argument))
            .collect();
        let names = decl.parameters.iter().map(|p| p.text.clone());
        self.locals.extend(names.zip(values));

        let result = self.eval(body);
        self.locals.truncate(n_locals);
        result
    }
}

/// The values of a power; negative bases are not looked at more closely.
fn power(base: Interval, (_, most): Interval) -> Interval {
    let most = u32::try_from(most).unwrap_or(0);
    let highest = base.1.checked_pow(most).filter(|value| *value <= FULL.1);
    if base.0 >= 0 {
        (0, highest.unwrap_or(FULL.1).max(1))
    } else {
        FULL
    }
}

fn operate(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    let corners = |f: fn(i64, i64) -> i64| {
        let values = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        let lo = values.into_iter().min().unwrap_or(0);
        (lo, values.into_iter().max().unwrap_or(0))
    };

    match op {
        BinaryOp::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
        BinaryOp::Sub => (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)),
        BinaryOp::Mul => corners(i64::saturating_mul),
        BinaryOp::Div if b.0 > 0 => corners(|x, y| x / y),
        // Smaller than the divisor, and negative only if both operands are.
        BinaryOp::Rem => {
            let divisor = b.0.saturating_abs().max(b.1.saturating_abs());
            let most = (divisor - 1).max(0);
            let least = if b.0 < 0 && a.0 < 0 { b.0 - most } else { 0 };
            (least, if a.0 >= 0 { a.1.min(most) } else { most })
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor if a.0 >= 0 && b.0 >= 0 => {
            let most = a.1.max(b.1).max(1) as u64;
            (0, (most + 1).next_power_of_two() as i64 - 1)
        }
        BinaryOp::Div => {
            let most = a.0.abs().max(a.1.abs());
            (-most, most)
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => FULL,
        _ => (0, 1),
    }
}
