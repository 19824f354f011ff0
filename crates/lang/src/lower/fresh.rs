//! Copies of expressions: their size, new binders for them, and whether two mean the same.

use model::{AtomMeaning, BoundId, Expr};

/// How deep and how large an expression is.
pub(super) fn measure(expr: &Expr) -> (usize, usize) {
    let (mut depth, mut size) = (0, 0);
    expr.for_each_operand(&mut |operand| {
        let (d, s) = measure(operand);
        depth = depth.max(d);
        size += s;
    });
    (depth + 1, size + 1)
}

/// Does the expression bind names? Copies of it then need names of their own.
pub(super) fn has_binder(expr: &Expr) -> bool {
    expr.any(&mut |inner| inner.binder().is_some())
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
        Expr::Bound(bound) => {
            if let Some((_, to)) = renamed.iter().rev().find(|(from, _)| from == bound) {
                *bound = *to;
            }
        }
        // The name is known in the body only.
        Expr::Quantified {
            quantifier: _,
            bound,
            lo,
            hi,
            body,
        } => {
            rename_in(lo, renamed, fresh);
            rename_in(hi, renamed, fresh);
            let to = fresh(*bound);
            renamed.push((*bound, to));
            *bound = to;
            rename_in(body, renamed, fresh);
            renamed.pop();
        }
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => {
            expr.for_each_operand_mut(&mut |operand| rename_in(operand, renamed, fresh));
        }
    }
}

/// A text that two meanings share iff they differ in the names of bound variables at most.
pub(super) fn canonical_text(meaning: &AtomMeaning) -> String {
    let mut meaning = meaning.clone();
    let mut next = 0;
    meaning.for_each_operand_mut(&mut |expr| {
        rename(expr, &mut |_| {
            next += 1;
            BoundId(next - 1)
        });
    });
    format!("{meaning:?}")
}
