//! The cells of expressions that make new sets and sequences.

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, Scalar, Type};

use super::Lowerer;
use super::constants::{literal, simplify};
use super::names::{Binding, Ty, Value};
use super::types::ty_of;
use super::values::{MAX_LENGTH, Special, all, any, choice};
use crate::ast::{self, ExprKind};

impl<'a> Lowerer<'a> {
    pub(super) fn listed_set(
        &mut self,
        elements: &'a [ast::Expr],
        scalar: Scalar,
    ) -> Option<Vec<Expr>> {
        let mut values = Vec::new();
        for element in elements {
            values.push(self.value_for(element, scalar)?);
        }
        let (lo, hi) = scalar.bounds();
        let n_cells = (hi - lo + 1) as usize;
        self.spend(
            n_cells.saturating_mul(values.len().max(1)),
            0,
            Span::nowhere(),
        )?;
        let member = |lowerer: &mut Self, value: i64| {
            let equal = values.iter().map(|element| {
                let element = lowerer.copy_of(element);
                let value = literal(value, ty_of(scalar));
                simplify(Expr::binary(BinaryOp::Eq, element, value), Ty::Bool)
            });
            any(equal.collect())
        };
        Some((lo..=hi).map(|value| member(self, value)).collect())
    }

    /// `{ x in S where p }`.
    pub(super) fn filtered_set(
        &mut self,
        binder: &'a ast::Binder,
        scalar: Scalar,
    ) -> Option<Vec<Expr>> {
        let (lo, hi) = scalar.bounds();
        let [name] = binder.names.as_slice() else {
            let message = "a set is made of one name";
            self.report(Diagnostic::error("syntax", binder.lo.span, message));
            return None;
        };
        let is_range = !matches!(binder.lo.kind, ExprKind::First(_));
        let bounds = if is_range {
            self.constant_range(&binder.lo, &binder.hi, MAX_LENGTH)?
        } else {
            (lo, hi)
        };

        let mut cells = Vec::new();
        for value in lo..=hi {
            if !(bounds.0..=bounds.1).contains(&value) {
                cells.push(Expr::Bool(false));
                continue;
            }
            let binding = self.constant_binding(&name.text, value, ty_of(scalar));
            self.scope.push(binding);
            let cell = match &binder.condition {
                Some(condition) => self.bool_expr(condition),
                None => Some(Expr::Bool(true)),
            };
            self.scope.pop();
            cells.push(cell?);
        }
        Some(cells)
    }

    /// A name that stands for one value.
    pub(super) fn constant_binding(&self, name: &str, value: i64, ty: Ty) -> Binding {
        let expr = literal(value, ty);
        let text = self.literal_text(&expr);
        Binding {
            name: name.to_owned(),
            origin: name.as_ptr().addr(),
            value: Value::Scalar(expr, ty),
            text,
            size: (1, 1),
        }
    }

    pub(super) fn set_operation(
        &mut self,
        op: ast::BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Vec<Expr>> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.cell_values(left, ty, &mut a)?;
        self.cell_values(right, ty, &mut b)?;
        let join = |(a, b): (Expr, Expr)| match op {
            ast::BinaryOp::Union => any(vec![a, b]),
            ast::BinaryOp::Intersection => all(vec![a, b]),
            _ => all(vec![a, simplify(Expr::not(b), Ty::Bool)]),
        };
        Some(a.into_iter().zip(b).map(join).collect())
    }

    pub(super) fn listed_sequence(
        &mut self,
        elements: &'a [ast::Expr],
        most: usize,
        element: &Type,
        span: Span,
    ) -> Option<Vec<Expr>> {
        if elements.len() > most {
            let message = format!(
                "there is room for {most} element(s), not for {}",
                elements.len()
            );
            self.report(Diagnostic::error("wrong-length", span, message));
            return None;
        }
        let mut cells = vec![Expr::Int(elements.len() as i64)];
        for listed in elements {
            self.cell_values(listed, element, &mut cells)?;
        }
        for _ in elements.len()..most {
            cells.extend(self.default_cells(element));
        }
        Some(cells)
    }

    /// What cells of this type hold of which nothing is said.
    pub(super) fn default_cells(&self, ty: &Type) -> Vec<Expr> {
        let mut cells = Vec::new();
        ty.for_each_cell(&self.parts.records, "", &mut |_, scalar| {
            cells.push(literal(scalar.default_value(), ty_of(scalar)));
        });
        cells
    }

    /// `append(q, x)`. If there is no room, the length leaves its range, which is a run-time error.
    pub(super) fn appended(
        &mut self,
        sequence: &'a ast::Expr,
        added: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Vec<Expr>> {
        let Some(Special::Sequence(most, element)) = self.special(ty) else {
            return None;
        };
        let mut old = Vec::new();
        self.cell_values(sequence, ty, &mut old)?;
        let mut new = Vec::new();
        self.cell_values(added, &element, &mut new)?;

        let length = old[0].clone();
        self.spend(old.len() * 3, 0, sequence.span)?;
        let mut cells = vec![simplify(
            Expr::binary(BinaryOp::Add, length.clone(), Expr::Int(1)),
            Ty::Int,
        )];
        for position in 0..most {
            for (offset, value) in new.iter().enumerate() {
                let here = Expr::binary(
                    BinaryOp::Eq,
                    self.copy_of(&length),
                    Expr::Int(position as i64),
                );
                let kept = self.copy_of(&old[1 + position * new.len() + offset]);
                let value = self.copy_of(value);
                cells.push(choice(simplify(here, Ty::Bool), value, kept));
            }
        }
        Some(cells)
    }

    /// `tail(q)`. Of an empty sequence it has the length -1, which is a run-time error.
    pub(super) fn tail(&mut self, sequence: &'a ast::Expr, ty: &Type) -> Option<Vec<Expr>> {
        let Some(Special::Sequence(most, element)) = self.special(ty) else {
            return None;
        };
        let mut old = Vec::new();
        self.cell_values(sequence, ty, &mut old)?;
        let n_cells = (old.len() - 1) / most;
        let shorter = Expr::binary(BinaryOp::Sub, old[0].clone(), Expr::Int(1));
        let mut cells = vec![simplify(shorter, Ty::Int)];
        cells.extend(old.drain(1 + n_cells..));
        cells.extend(self.default_cells(&element));
        Some(cells)
    }
}
