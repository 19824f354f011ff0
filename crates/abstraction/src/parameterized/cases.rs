//! Values that depend on the state: cases with terms.

use model::{BinaryOp, BoundId, Expr};

use super::logic::{Base, Logic, Term};

/// Conditions, exactly one of which holds, with the value that an expression then has.
pub(super) type Cases = Vec<(Logic, Term)>;

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
    match (op, constant(x), constant(y)) {
        (BinaryOp::Add, _, Some(n)) => Some(Term {
            offset: x.offset.checked_add(n)?,
            ..x
        }),
        (BinaryOp::Add, Some(n), _) => Some(Term {
            offset: y.offset.checked_add(n)?,
            ..y
        }),
        (BinaryOp::Sub, _, Some(n)) => Some(Term {
            offset: x.offset.checked_sub(n)?,
            ..x
        }),
        (BinaryOp::Sub, ..) if x.base == y.base => {
            Some(Term::number(x.offset.checked_sub(y.offset)?))
        }
        (BinaryOp::Mul, Some(a), Some(b)) => Some(Term::number(a.checked_mul(b)?)),
        (BinaryOp::Div, Some(a), Some(b)) => Some(Term::number(a.checked_div_euclid(b)?)),
        _ => None,
    }
}

/// The sum without the parameter, which makes no difference modulo the parameter.
pub(super) fn without(expr: &Expr, parameter: BoundId) -> Expr {
    match expr {
        Expr::Bound(bound) if *bound == parameter => Expr::Int(0),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
            Expr::binary(*op, without(left, parameter), without(right, parameter))
        }
        other => other.clone(),
    }
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
        _ => unreachable!("only comparisons get here"),
    }
}

/// The comparison with its sides exchanged.
pub(super) fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}
