//! What is asked of sets, bags, maps and sequences: elements, sizes, and whether two are the same.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, Expr, Place, Quantifier, Scalar, Type};

use super::Lowerer;
use super::built::{one_if, quantified, sum};
use super::constants::simplify;
use super::names::{Ty, Value};
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
        if self.domain_bounds_of_name(domain).is_some() || self.record_named(domain).is_some() {
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

        if let Some(set) = self.set_of_subsets(domain) {
            let ty = self.shape_of(set)?;
            let mut cells = Vec::new();
            self.cell_values(element, &ty, &mut cells)?;
            return self.is_subset(&cells, set);
        }

        let ty = match self.shape_of(domain) {
            Some(ty) => ty,
            None => return self.cells_of_shaped(domain).and(None),
        };
        let special = self.special(&ty);
        match &special {
            Some(Special::Sequence(_, element_ty)) => {
                self.member_of_sequence(element, domain, element_ty)
            }
            Some(
                Special::Set(element_ty)
                | Special::Bag(_, element_ty)
                | Special::Map(element_ty, _),
            ) => {
                let cells = self.element_cells(element, element_ty)?;
                self.member(&cells, domain, special.as_ref()?, is_bound)
            }
            None => {
                let message = "only sets, bags, maps and sequences have elements";
                self.report(Diagnostic::error("not-a-set", domain.span, message));
                None
            }
        }
    }

    fn member_of_sequence(
        &mut self,
        element: &'a ast::Expr,
        domain: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Expr> {
        let value = self.element_cells(element, ty)?;
        let (cells, _) = self.cells_of_shaped(domain)?;
        let mut found = Vec::new();
        for (position, item) in cells[1..].chunks(value.len()).enumerate() {
            let length = self.copy_of(&cells[0]);
            let counts = Expr::binary(BinaryOp::Gt, length, Expr::Int(position as i64));
            let same = self.same_cells(item, &value);
            found.push(all(vec![simplify(counts, Ty::Bool), same]));
        }
        Some(any(found))
    }

    /// Is it an element of a set or bag, or a key of a map?
    pub(super) fn member(
        &mut self,
        element: &[Expr],
        domain: &'a ast::Expr,
        special: &Special,
        is_bound: bool,
    ) -> Option<Expr> {
        let there_is = |cell: Expr| match special {
            Special::Bag(..) => Expr::binary(BinaryOp::Gt, cell, Expr::Int(0)),
            Special::Set(_) | Special::Map(..) | Special::Sequence(..) => cell,
        };
        let ty = special.element()?;
        let (field, first) = special.members();
        if let Value::Composite(place, _) = self.whole_of(domain)? {
            // What is not a value of the element type is not an element.
            let inside = if is_bound {
                Expr::Bool(true)
            } else {
                self.within(element, &ty)
            };
            let place = self.place_of((&place, field), element, &ty);
            return Some(all(vec![inside, there_is(Expr::Read(place))]));
        }

        let (cells, _) = self.cells_of_shaped(domain)?;
        let mut parts = Vec::new();
        for (value, cell) in self.all_values(&ty).iter().zip(&cells[first..]) {
            let same = self.same_cells(element, value);
            let there = simplify(there_is(cell.clone()), Ty::Bool);
            parts.push(all(vec![same, there]));
        }
        Some(any(parts))
    }

    /// `copies(b, x)`: how often a bag has an element.
    pub(super) fn copies(&mut self, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let special = match arguments {
            [bag, _] => self.special_of(bag),
            _ => None,
        };
        let ([bag, element], Some(Special::Bag(_, ty))) = (arguments, special) else {
            if !self.has_errors() {
                let message = "`copies(b, x)` says how often a bag has an element";
                self.report(Diagnostic::error("wrong-arguments", span, message));
            }
            return None;
        };
        let element = self.element_cells(element, &ty)?;

        if let Value::Composite(place, _) = self.whole_of(bag)? {
            let inside = self.within(&element, &ty);
            let count = Expr::Read(self.place_of((&place, 1), &element, &ty));
            return Some(Value::Scalar(choice(inside, count, Expr::Int(0)), Ty::Int));
        }
        let (cells, _) = self.cells_of_shaped(bag)?;
        let mut number = Expr::Int(0);
        for (value, count) in self.all_values(&ty).iter().zip(&cells[1..]) {
            let here = self.same_cells(&element, value);
            number = choice(here, count.clone(), number);
        }
        Some(Value::Scalar(number, Ty::Int))
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
        let shape = match self.shape_of(left) {
            Some(shape) => Some(shape),
            None => self.shape_of(right),
        };
        let Some(ty) = shape else {
            return self.cells_of_shaped(left).and(None);
        };
        let special = self.special(&ty);
        if !matches!(special, Some(Special::Set(_) | Special::Bag(..))) {
            let message = "`subset` compares two sets or two bags";
            self.report(Diagnostic::error(
                "not-a-set",
                left.span.to(right.span),
                message,
            ));
            return None;
        }

        let (a, b) = self.both_of(left, right, &ty)?;
        let within = |(a, b)| match special {
            Some(Special::Bag(..)) => simplify(Expr::binary(BinaryOp::Le, a, b), Ty::Bool),
            _ => any(vec![simplify(Expr::not(a), Ty::Bool), b]),
        };
        Some(all(a.into_iter().zip(b).map(within).collect()))
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

        // Arrays without a bound have too many cells to compare one by one.
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
            ("full", Special::Sequence(..) | Special::Bag(..)) if self.has_no_bound(ty) => {
                let message = "without a bound this is never full";
                let help = "say how many elements there can be: `seq[4] of T`, `bag[4] of T`";
                self.report(Diagnostic::error("missing-bound", span, message).help(help));
                None
            }
            ("full", Special::Sequence(most, _) | Special::Bag(most, _)) => {
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
        if let (Value::Composite(place, _), Special::Set(element) | Special::Map(element, _)) =
            (self.whole_of(argument)?, special)
        {
            // A sum over the members, not a list of them: that processes can be exchanged stays
            // visible.
            let (ranges, binding) = self.ranges_of_type("member", element.clone());
            let Value::Cells(cells, _) = binding.value else {
                return None;
            };
            let read = Expr::Read(self.place_of((&place, 0), &cells, element));
            return Some(quantified(Quantifier::Sum, ranges, read));
        }

        let mut cells = Vec::new();
        self.cell_values(argument, ty, &mut cells)?;
        match special {
            Special::Sequence(..) | Special::Bag(..) => Some(cells.swap_remove(0)),
            Special::Set(element) | Special::Map(element, _) => {
                cells.truncate(self.all_values(element).len());
                Some(sum(cells.into_iter().map(one_if)))
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
