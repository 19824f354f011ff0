//! Arithmetic as in C, with the ranges of results.

use model::{BinaryOp, Expr};

use super::expr::Val;
use crate::ast::Binary;

/// The least and the greatest `int`.
const INT: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// A comparison.
pub(super) fn compare(op: BinaryOp, a: Val, b: Val) -> Val {
    Val::truth(Expr::binary(op, a.expr, b.expr))
}

/// Wraps a value that may not be an `int`.
pub(super) fn within_int(value: Val) -> Val {
    if INT.0 <= value.lo && value.hi <= INT.1 {
        return value;
    }
    let inner = Box::new(value.expr);
    let expr = Expr::Wrap {
        bits: 32,
        signed: true,
        inner,
    };
    Val::new(expr, INT)
}

/// An operation of C on `int`s, with the range of its results before they are wrapped.
pub(super) fn arithmetic(op: Binary, a: Val, b: Val) -> Val {
    let corners = |f: fn(i64, i64) -> i64| {
        let all = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
        let lo = all.into_iter().min().expect("there are four");
        let hi = all.into_iter().max().expect("there are four");
        (lo, hi)
    };

    let largest = a.lo.abs().max(a.hi.abs());
    let are_positive = a.lo >= 0 && b.lo >= 0;
    let (model_op, range) = match op {
        Binary::Add => (BinaryOp::Add, (a.lo + b.lo, a.hi + b.hi)),
        Binary::Sub => (BinaryOp::Sub, (a.lo - b.hi, a.hi - b.lo)),
        Binary::Mul => (BinaryOp::Mul, corners(|x, y| x * y)),
        Binary::Div if b.lo > 0 => (BinaryOp::Quot, corners(|x, y| x / y)),
        Binary::Div => (BinaryOp::Quot, (-largest, largest)),
        Binary::Mod => {
            let most = b.lo.abs().max(b.hi.abs()).saturating_sub(1).max(0);
            let hi = most.min(a.hi.max(0));
            let lo = if a.lo >= 0 { 0 } else { -most.min(a.lo.abs()) };
            (BinaryOp::Rem, (lo, hi))
        }
        Binary::BitAnd if are_positive => (BinaryOp::BitAnd, (0, a.hi.min(b.hi))),
        Binary::BitAnd if a.lo >= 0 => (BinaryOp::BitAnd, (0, a.hi)),
        Binary::BitAnd if b.lo >= 0 => (BinaryOp::BitAnd, (0, b.hi)),
        Binary::BitAnd => (BinaryOp::BitAnd, INT),
        Binary::BitOr if are_positive => (BinaryOp::BitOr, (0, ones(a.hi | b.hi))),
        Binary::BitOr => (BinaryOp::BitOr, INT),
        Binary::BitXor if are_positive => (BinaryOp::BitXor, (0, ones(a.hi | b.hi))),
        Binary::BitXor => (BinaryOp::BitXor, INT),
        Binary::Shl => {
            let range = match b.constant() {
                Some(by @ 0..=31) => (a.lo << by, a.hi << by),
                _ => (i64::MIN, i64::MAX),
            };
            (BinaryOp::Shl, range)
        }
        _ => (BinaryOp::Shr, (a.lo.min(0), a.hi.max(0))),
    };

    Val::new(Expr::binary(model_op, a.expr, b.expr), range)
}

/// The least number of the form 2ⁿ−1 that is not smaller.
fn ones(value: i64) -> i64 {
    match value {
        0 => 0,
        _ => (1_i64 << (64 - value.leading_zeros())) - 1,
    }
}
