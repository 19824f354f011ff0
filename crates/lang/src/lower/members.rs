//! What is asked of sets and sequences: elements, sizes, and whether two are the same.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, Expr, Place, Quantifier, Scalar, Type};

use super::Lowerer;
use super::constants::{literal, simplify};
use super::names::{Ty, Value};
use super::types::ty_of;
use super::values::{Special, all, any, choice, length_of};
use crate::ast::{self, ExprKind};

impl<'a> Lowerer<'a> {
    /// `x in S`.
    pub(super) fn membership(
        &mut self,
        element: &'a ast::Expr,
        domain: &'a ast::Expr,
        is_bound: bool,
    ) -> Option<Expr> {
        if self.domain_bounds_of_name(domain).is_some() {
            return Some(Expr::Bool(true));
        }
        if let ExprKind::Set(listed) = &domain.kind {
            let mut equal = Vec::new();
            for other in listed {
                let (a, b) = self.comparable(element, other);
                equal.push(simplify(Expr::binary(BinaryOp::Eq, a?, b?), Ty::Bool));
            }
            return Some(any(equal));
        }

        let ty = match self.shape_of(domain) {
            Some(ty) => ty,
            None => return self.cells_of_shaped(domain).and(None),
        };
        match self.special(&ty) {
            Some(Special::Set(scalar)) => {
                let value = self.scalar_of(element, ty_of(scalar))?;
                self.member_of_set(value, domain, scalar, is_bound)
            }
            Some(Special::Sequence(most, Type::Scalar(scalar))) => {
                let value = self.scalar_of(element, ty_of(scalar))?;
                let (cells, _) = self.cells_of_shaped(domain)?;
                let mut found = Vec::new();
                for (position, item) in cells[1..].iter().enumerate().take(most) {
                    let counts = Expr::binary(
                        BinaryOp::Gt,
                        self.copy_of(&cells[0]),
                        Expr::Int(position as i64),
                    );
                    let same = Expr::binary(BinaryOp::Eq, item.clone(), self.copy_of(&value));
                    found.push(all(vec![
                        simplify(counts, Ty::Bool),
                        simplify(same, Ty::Bool),
                    ]));
                }
                Some(any(found))
            }
            _ => {
                let message = "only sets and sequences of single values have elements";
                self.report(Diagnostic::error("not-a-set", domain.span, message));
                None
            }
        }
    }

    pub(super) fn member_of_set(
        &mut self,
        value: Expr,
        domain: &'a ast::Expr,
        scalar: Scalar,
        is_bound: bool,
    ) -> Option<Expr> {
        let (lo, hi) = scalar.bounds();
        let is_plain = self.is_place(domain);
        if let (true, Value::Composite(mut place, _)) = (is_plain, self.whole_of(domain)?) {
            if value
                .as_literal()
                .is_some_and(|value| !scalar.contains(value))
            {
                return Some(Expr::Bool(false));
            }
            let is_inside =
                is_bound || value.as_literal().is_some() || self.is_within(&value, scalar);
            place.path.push(Access::Field(0));
            place.path.push(Access::Index(self.copy_of(&value)));
            let read = Expr::Read(place);
            if is_inside {
                return Some(read);
            }
            // What is not a value of the element type is not an element.
            let above = Expr::binary(BinaryOp::Ge, self.copy_of(&value), Expr::Int(lo));
            let below = Expr::binary(BinaryOp::Le, value, Expr::Int(hi));
            return Some(all(vec![above, below, read]));
        }

        let (cells, _) = self.cells_of_shaped(domain)?;
        let mut parts = Vec::new();
        for (number, cell) in (lo..=hi).zip(cells) {
            let same = Expr::binary(
                BinaryOp::Eq,
                self.copy_of(&value),
                literal(number, ty_of(scalar)),
            );
            parts.push(all(vec![simplify(same, Ty::Bool), cell]));
        }
        Some(any(parts))
    }

    /// Is the value of the expression always one of the type, by the type of what it reads?
    pub(super) fn is_within(&self, value: &Expr, scalar: Scalar) -> bool {
        // shape: any other expression is compared with the bounds when it is evaluated.
        let Expr::Read(place) = value else {
            return matches!(scalar, Scalar::Enum(..) | Scalar::Bool);
        };
        let (lo, hi) = scalar.bounds();
        match self.scalar_at(place) {
            Some(own) => own.bounds().0 >= lo && own.bounds().1 <= hi,
            None => false,
        }
    }

    pub(super) fn whole_of(&mut self, expr: &'a ast::Expr) -> Option<Value> {
        if self.is_place(expr) {
            self.operand(expr, None)
        } else {
            Some(Value::Scalar(Expr::Bool(false), Ty::Bool))
        }
    }

    /// `A subset B`.
    pub(super) fn subset(&mut self, left: &'a ast::Expr, right: &'a ast::Expr) -> Option<Expr> {
        let (a, b) = self.both(left, right)?;
        let implied = |(a, b)| any(vec![simplify(Expr::not(a), Ty::Bool), b]);
        Some(all(a.into_iter().zip(b).map(implied).collect()))
    }

    /// Two values with several cells that are compared as wholes, if that is what they are.
    pub(super) fn equal_cells(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> Option<Option<Expr>> {
        let shape = match self.shape_of(left) {
            Some(shape) => Some(shape),
            None => self.shape_of(right),
        };
        let ty = shape?;
        if matches!(&ty, Type::Array(array) if model::is_unbounded_array(array))
            || super::open::is_open(&ty)
        {
            return None;
        }
        let both = self.both_of(left, right, &ty);
        let equal = both.map(|(a, b)| {
            let same = |(a, b)| simplify(Expr::binary(BinaryOp::Eq, a, b), Ty::Bool);
            all(a.into_iter().zip(b).map(same).collect())
        });
        Some(equal)
    }

    pub(super) fn both(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let shape = match self.shape_of(left) {
            Some(shape) => Some(shape),
            None => self.shape_of(right),
        };
        let Some(ty) = shape else {
            return self.cells_of_shaped(left).and(None);
        };
        self.both_of(left, right, &ty)
    }

    pub(super) fn both_of(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        ty: &Type,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.cell_values(left, ty, &mut a)?;
        self.cell_values(right, ty, &mut b)?;
        Some((a, b))
    }

    /// `size(S)`, `len(q)`, `empty(x)`, `full(q)`, `head(q)`, `last(q)`, `value(o)`; nothing if the
    /// argument is not a set, sequence or option.
    pub(super) fn special_function(
        &mut self,
        name: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Value>> {
        let [argument] = arguments else {
            return None;
        };
        let ty = self.shape_of(argument)?;
        let special = self.special(&ty)?;
        Some(self.special_value(name, argument, (&ty, &special), span))
    }

    pub(super) fn special_value(
        &mut self,
        name: &str,
        argument: &'a ast::Expr,
        (ty, special): (&Type, &Special),
        span: Span,
    ) -> Option<Value> {
        let compare = |op, size, number| {
            let compared = simplify(Expr::binary(op, size, Expr::Int(number)), Ty::Bool);
            Some(Value::Scalar(compared, Ty::Bool))
        };
        match (name, special) {
            ("size" | "len", _) => Some(Value::Scalar(self.size(argument, ty, special)?, Ty::Int)),
            ("empty", _) => {
                let size = self.size(argument, ty, special)?;
                compare(BinaryOp::Eq, size, 0)
            }
            ("full", Special::Sequence(most, _)) => {
                let size = self.size(argument, ty, special)?;
                compare(BinaryOp::Eq, size, *most as i64)
            }
            ("head" | "value", Special::Sequence(..)) => {
                self.item(argument, ty, &|_| Expr::Int(0), span)
            }
            ("last", Special::Sequence(..)) => {
                let last = |length: Expr| Expr::binary(BinaryOp::Sub, length, Expr::Int(1));
                self.item(argument, ty, &last, span)
            }
            _ => {
                let message = format!("`{name}` cannot be asked of this");
                self.report(Diagnostic::error("wrong-arguments", span, message));
                None
            }
        }
    }

    pub(super) fn size(
        &mut self,
        argument: &'a ast::Expr,
        ty: &Type,
        special: &Special,
    ) -> Option<Expr> {
        if let (Value::Composite(mut place, _), Special::Set(scalar)) =
            (self.whole_of(argument)?, special)
        {
            // A sum over the members, not a list of them: that processes can be exchanged stays
            // visible.
            let (lo, hi) = scalar.bounds();
            let bound = self.fresh_bound("member");
            place.path.push(Access::Field(0));
            place.path.push(Access::Index(Expr::Bound(bound)));
            return Some(Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound,
                lo: Box::new(Expr::Int(lo)),
                hi: Box::new(Expr::Int(hi)),
                body: Box::new(Expr::Read(place)),
            });
        }

        let mut cells = Vec::new();
        self.cell_values(argument, ty, &mut cells)?;
        match special {
            Special::Sequence(..) => Some(cells.swap_remove(0)),
            Special::Set(_) => {
                let one = |cell| choice(cell, Expr::Int(1), Expr::Int(0));
                let sum = |a, b| simplify(Expr::binary(BinaryOp::Add, a, b), Ty::Int);
                Some(
                    cells
                        .into_iter()
                        .map(one)
                        .reduce(sum)
                        .unwrap_or(Expr::Int(0)),
                )
            }
        }
    }

    /// An element of a sequence. An index that is not below the length is a run-time error.
    pub(super) fn item(
        &mut self,
        argument: &'a ast::Expr,
        ty: &Type,
        index: &dyn Fn(Expr) -> Expr,
        span: Span,
    ) -> Option<Value> {
        let Value::Composite(place, _) = self.whole_of(argument)? else {
            let message = "elements can be read of variables only";
            let help = "assign it to a variable first";
            self.report(Diagnostic::error("not-a-variable", span, message).help(help));
            return None;
        };
        let length = length_of(&place);
        let position = index(length);
        self.item_at(place, ty, position)
    }

    /// The element of a sequence at an index.
    pub(super) fn item_at(&mut self, mut place: Place, ty: &Type, index: Expr) -> Option<Value> {
        let Some(Special::Sequence(most, element)) = self.special(ty) else {
            return None;
        };
        let length = length_of(&place);
        let counts = Expr::binary(BinaryOp::Lt, self.copy_of(&index), length);
        let checked = choice(counts, index, Expr::Int(most as i64));
        place.path.push(Access::Field(1));
        place.path.push(Access::Index(checked));
        Some(super::access::place_value(place, element))
    }
}
