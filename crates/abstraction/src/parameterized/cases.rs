//! Values that depend on the state: cases with terms.

use model::{BinaryOp, BoundId, Expr};

use super::logic::{Base, Logic, Term};

/// Conditions, exactly one of which holds, with the value that an expression then has.
pub(super) type Cases = Vec<(Logic, Term)>;

/// Larger numbers are refused, so that sums of a few of them never overflow.
pub(super) const MAX_NUMBER: i64 = 1 << 40;

/// The cases where a condition holds.
pub(super) fn under(condition: &Logic, cases: Cases) -> Cases {
    let add = |(inner, term)| (Logic::all([condition.clone(), inner]), term);
    cases.into_iter().map(add).collect()
}

/// Have the cases this constant value?
pub(super) fn is_value(cases: &Cases, value: i64) -> Logic {
    let parts = cases.iter().map(|(condition, term)| {
        Logic::all([condition.clone(), Logic::equal(*term, Term::number(value))])
    });
    Logic::any(parts.collect::<Vec<_>>())
}

/// The result of an arithmetic operator, if it is a term.
pub(super) fn combine(op: BinaryOp, x: Term, y: Term) -> Option<Term> {
    let constant = |term: Term| (term.base == Base::Zero).then_some(term.offset);
    let shifted = |term: Term, offset| Term { offset, ..term };
    let result = match op {
        BinaryOp::Add => match (constant(x), constant(y)) {
            (_, Some(n)) => shifted(x, x.offset.checked_add(n)?),
            (Some(n), None) => shifted(y, y.offset.checked_add(n)?),
            (None, None) => return None,
        },
        BinaryOp::Sub if x.base == y.base => Term::number(x.offset.checked_sub(y.offset)?),
        BinaryOp::Sub => shifted(x, x.offset.checked_sub(constant(y)?)?),
        BinaryOp::Mul => Term::number(constant(x)?.checked_mul(constant(y)?)?),
        BinaryOp::Div => Term::number(constant(x)?.checked_div_euclid(constant(y)?)?),
        BinaryOp::Mod
        | BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Implies
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => return None,
    };

    let is_small = result.offset.unsigned_abs() <= MAX_NUMBER.unsigned_abs();
    is_small.then_some(result)
}

/// The sum without the parameter, which makes no difference modulo the parameter.
pub(super) fn without(expr: &Expr, parameter: BoundId) -> Expr {
    if expr.as_bound() == Some(parameter) {
        return Expr::Int(0);
    }
    // shape: in every other expression the parameter has to stay.
    if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = expr {
        return Expr::binary(*op, without(left, parameter), without(right, parameter));
    }
    expr.clone()
}

/// A comparison of two terms.
pub(super) fn compare(op: BinaryOp, x: Term, y: Term) -> Logic {
    match op {
        BinaryOp::Eq => Logic::equal(x, y),
        BinaryOp::Ne => Logic::not(Logic::equal(x, y)),
        BinaryOp::Lt => Logic::less(x, y),
        BinaryOp::Le => Logic::at_most(x, y),
        BinaryOp::Gt => Logic::less(y, x),
        BinaryOp::Ge => Logic::at_most(y, x),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Implies => unreachable!("only comparisons get here"),
    }
}
