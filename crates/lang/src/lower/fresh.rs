//! Copies of expressions: their size, new binders for them, and whether two mean the same.

use model::{Access, AtomMeaning, BoundId, Expr, Owner, Place};

use super::constants::for_each_operand;

/// How deep and how large an expression is.
pub(super) fn measure(expr: &Expr) -> (usize, usize) {
    let (mut depth, mut size) = (0, 0);
    for_each_operand(expr, &mut |operand| {
        let (d, s) = measure(operand);
        depth = depth.max(d);
        size += s;
    });
    (depth + 1, size + 1)
}

/// Does the expression bind names? Copies of it then need names of their own.
pub(super) fn has_binder(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Quantified { .. });
    for_each_operand(expr, &mut |operand| found = found || has_binder(operand));
    found
}

/// Replaces every name bound inside by what `fresh` returns for it.
pub(super) fn rename(expr: &mut Expr, fresh: &mut dyn FnMut(BoundId) -> BoundId) {
    rename_in(expr, &mut Vec::new(), fresh);
}

fn rename_in(
    expr: &mut Expr,
    renamed: &mut Vec<(BoundId, BoundId)>,
    fresh: &mut dyn FnMut(BoundId) -> BoundId,
) {
    match expr {
        Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) => {}
        Expr::Bound(bound) => {
            if let Some((_, to)) = renamed.iter().rev().find(|(from, _)| from == bound) {
                *bound = *to;
            }
        }
        Expr::Read(place) => rename_in_place(place, renamed, fresh),
        Expr::Not(inner) | Expr::Neg(inner) | Expr::Wrap { inner, .. } => {
            rename_in(inner, renamed, fresh);
        }
        Expr::Binary(_, left, right) => {
            rename_in(left, renamed, fresh);
            rename_in(right, renamed, fresh);
        }
        Expr::Ite(a, b, c) => {
            rename_in(a, renamed, fresh);
            rename_in(b, renamed, fresh);
            rename_in(c, renamed, fresh);
        }
        Expr::Quantified {
            bound,
            lo,
            hi,
            body,
            ..
        } => {
            rename_in(lo, renamed, fresh);
            rename_in(hi, renamed, fresh);
            let to = fresh(*bound);
            renamed.push((*bound, to));
            *bound = to;
            rename_in(body, renamed, fresh);
            renamed.pop();
        }
        Expr::At { owner, .. } => {
            if let Owner::Indexed(index) = owner {
                rename_in(index, renamed, fresh);
            }
        }
        Expr::Length(channel) => {
            if let Some(index) = &mut channel.index {
                rename_in(index, renamed, fresh);
            }
        }
    }
}

fn rename_in_place(
    place: &mut Place,
    renamed: &mut Vec<(BoundId, BoundId)>,
    fresh: &mut dyn FnMut(BoundId) -> BoundId,
) {
    if let Some(Owner::Indexed(index)) = &mut place.owner {
        rename_in(index, renamed, fresh);
    }
    for access in &mut place.path {
        if let Access::Index(index) = access {
            rename_in(index, renamed, fresh);
        }
    }
}

/// A text that two meanings share iff they differ in the names of bound variables at most.
pub(super) fn canonical_text(meaning: &AtomMeaning) -> String {
    let mut meaning = meaning.clone();
    if let AtomMeaning::State(expr) = &mut meaning {
        let mut next = 0;
        rename(expr, &mut |_| {
            next += 1;
            BoundId(next - 1)
        });
    }
    format!("{meaning:?}")
}
