//! Elements of sets and bags, keys of maps: values of types with few values, each cell of which is an
//! index of an array.
//!
//! A set of records with the components `a` and `b` is an array `members[a][b]`, not an array over
//! numbers that stand for records. So a process that is part of an element is an index as it is in any
//! array, and whether processes can be exchanged stays visible.

use base::{Diagnostic, Span};
use model::{Access, ArrayType, BinaryOp, BoundId, Expr, Place, Scalar, Type};

use super::Lowerer;
use super::built::one_if;
use super::constants::{literal, simplify};
use super::names::{Binding, Global, Ty, Value};
use super::types::ty_of;
use super::values::{Special, all};
use crate::ast::{self, ExprKind};

/// How many values a type may have of which there are sets, bags and maps.
const MAX_ELEMENTS: i128 = 4096;

/// How many cells an element may have.
const MAX_CELLS: usize = 24;

/// A bound name with its least and its greatest value.
pub(super) type BoundRange = (BoundId, Expr, Expr);

impl<'a> Lowerer<'a> {
    /// The types of the cells of something.
    pub(super) fn cell_types(&self, ty: &Type) -> Vec<Scalar> {
        let mut types = Vec::new();
        ty.for_each_cell(&self.parts.records, "", &mut |_, scalar| types.push(scalar));
        types
    }

    /// Reports a type with too many values, or with several cells that mean the same value.
    pub(super) fn check_elements(&mut self, ty: &Type, span: Span) -> Option<()> {
        if self.has_sequence(ty) {
            let message = "sequences, options, bags and maps cannot be elements or keys";
            let help = "elements are single values, records, arrays and sets";
            self.report(Diagnostic::error("set-element", span, message).help(help));
            return None;
        }

        let types = self.cell_types(ty);
        if types.len() > MAX_CELLS {
            let message = format!("an element or key consists of at most {MAX_CELLS} values");
            self.report(Diagnostic::error("set-element", span, message));
            return None;
        }

        let mut n_values = 1_i128;
        for scalar in types {
            let (lo, hi) = scalar.bounds();
            let n_own = i128::from(hi) - i128::from(lo) + 1;
            n_values = n_values.saturating_mul(n_own);
        }

        if n_values > MAX_ELEMENTS {
            let message = format!("there are at most {MAX_ELEMENTS} different elements or keys");
            let help = "give numbers a range such as `0..7`";
            self.report(Diagnostic::error("set-element", span, message).help(help));
            return None;
        }
        Some(())
    }

    /// The array with one `cell` for each value of a type.
    pub(super) fn over_values(&self, ty: &Type, cell: Type) -> Type {
        let wrap = |element: Type, scalar: &Scalar| {
            let (lo, hi) = scalar.bounds();
            let len = (hi - lo + 1) as usize;
            Type::Array(Box::new(ArrayType { lo, len, element }))
        };
        self.cell_types(ty).iter().rev().fold(cell, wrap)
    }

    /// All values of a type with few values, cell by cell, in the order of [`Self::over_values`].
    pub(super) fn all_values(&self, ty: &Type) -> Vec<Vec<Expr>> {
        let mut values = vec![Vec::new()];
        for scalar in self.cell_types(ty) {
            let (lo, hi) = scalar.bounds();
            let extend = |value: &Vec<Expr>| {
                let value = value.clone();
                (lo..=hi).map(move |number| {
                    let mut longer = value.clone();
                    longer.push(literal(number, ty_of(scalar)));
                    longer
                })
            };
            values = values.iter().flat_map(extend).collect();
        }
        values
    }

    /// The cells of an element.
    pub(super) fn element_cells(&mut self, element: &'a ast::Expr, ty: &Type) -> Option<Vec<Expr>> {
        if let Type::Scalar(scalar) = ty {
            return Some(vec![self.scalar_of(element, ty_of(*scalar))?]);
        }
        let mut cells = Vec::new();
        self.cell_values(element, ty, &mut cells)?;
        Some(cells)
    }

    /// The place of what belongs to an element of type `ty`, in a field of a set, bag or map.
    pub(super) fn place_of(
        &mut self,
        (whole, field): (&Place, usize),
        element: &[Expr],
        ty: &Type,
    ) -> Place {
        let mut place = whole.clone();
        place.path.push(Access::Field(field));
        for (cell, scalar) in element.iter().zip(self.cell_types(ty)) {
            let cell = self.copy_of(cell);
            // A Boolean is the index 0 or 1.
            let index = match scalar {
                Scalar::Bool => one_if(cell),
                Scalar::Range(..) | Scalar::Int | Scalar::Enum(..) => cell,
            };
            place.path.push(Access::Index(index));
        }
        place
    }

    /// That the cells are those of a value of the type, as far as that is not known.
    pub(super) fn within(&mut self, element: &[Expr], ty: &Type) -> Expr {
        let mut parts = Vec::new();
        for (cell, scalar) in element.iter().zip(self.cell_types(ty)) {
            let (lo, hi) = scalar.bounds();
            match cell.as_literal() {
                Some(value) if scalar.contains(value) => {}
                Some(_) => return Expr::Bool(false),
                None if self.is_within(cell, scalar) => {}
                None => {
                    let low = Expr::Int(lo);
                    parts.push(Expr::binary(BinaryOp::Ge, self.copy_of(cell), low));
                    let high = Expr::Int(hi);
                    parts.push(Expr::binary(BinaryOp::Le, self.copy_of(cell), high));
                }
            }
        }
        all(parts)
    }

    /// That two values are the same, cell by cell.
    pub(super) fn same_cells(&mut self, left: &[Expr], right: &[Expr]) -> Expr {
        let mut parts = Vec::new();
        for (a, b) in left.iter().zip(right) {
            let equal = Expr::binary(BinaryOp::Eq, self.copy_of(a), self.copy_of(b));
            parts.push(simplify(equal, Ty::Bool));
        }
        all(parts)
    }

    /// The type of the elements of a domain whose elements have several cells.
    pub(super) fn composite_domain(&mut self, domain: &'a ast::Expr) -> Option<Type> {
        if let Some(ty) = self.record_named(domain) {
            self.check_elements(&ty, domain.span)?;
            return Some(ty);
        }
        if let Some(set) = self.set_of_subsets(domain) {
            let ty = self.shape_of(set)?;
            self.check_elements(&ty, domain.span)?;
            return Some(ty);
        }
        let shape = self.shape_of(domain)?;
        let element = self.special(&shape)?.element()?;
        (!matches!(element, Type::Scalar(_))).then_some(element)
    }

    /// The record type with this name.
    pub(super) fn record_named(&self, domain: &ast::Expr) -> Option<Type> {
        let ExprKind::Name(name) = &domain.kind else {
            return None;
        };
        match self.unshadowed(name)? {
            Global::Record(id) => Some(Type::Record(id)),
            _ => None,
        }
    }

    /// The set in `subsets(set)`.
    pub(super) fn set_of_subsets(&self, domain: &'a ast::Expr) -> Option<&'a ast::Expr> {
        let ExprKind::Call(function, arguments) = &domain.kind else {
            return None;
        };
        match (&function.kind, arguments.as_slice()) {
            (ExprKind::Name(name), [set]) if name == "subsets" && self.is_unknown(name) => {
                Some(set)
            }
            _ => None,
        }
    }

    /// Is it a subset?
    pub(super) fn is_subset(&mut self, cells: &[Expr], set: &'a ast::Expr) -> Option<Expr> {
        let (whole, _) = self.cells_of_shaped(set)?;
        let mut parts = Vec::new();
        for (cell, own) in cells.iter().zip(whole) {
            let missing = simplify(Expr::not(self.copy_of(cell)), Ty::Bool);
            parts.push(super::values::any(vec![missing, own]));
        }
        Some(all(parts))
    }

    /// Names for everything that a bound name ranges over, and what it stands for.
    pub(super) fn ranges_of(
        &mut self,
        name: &str,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
    ) -> Option<(Vec<BoundRange>, Binding)> {
        let composite = match &lo.kind {
            ExprKind::First(domain) => self.composite_domain(domain),
            _ => None,
        };
        if let Some(ty) = composite {
            return Some(self.ranges_of_type(name, ty));
        }
        if self.has_errors() && matches!(lo.kind, ExprKind::First(_)) {
            return None;
        }

        let (first, last) = (self.int_expr(lo), self.int_expr(hi));
        let (first, last) = (first?, last?);
        self.check_range_size(&first, &last, lo.span.to(hi.span))?;
        let bound = self.fresh_bound(name);
        let ty = self.ty_of_domain(lo);
        let scalar = match ty {
            Ty::Int => None,
            Ty::Bool => Some(Scalar::Bool),
            Ty::Enum(id) => self.enum_scalar(id),
        };
        self.parts
            .bound_types
            .extend(scalar.map(|scalar| (bound, scalar)));
        let binding = Binding {
            value: bound_value(bound, ty),
            ..Binding::bound(name, bound, ty)
        };
        Some((vec![(bound, first, last)], binding))
    }

    /// One name for each cell of the type.
    pub(super) fn ranges_of_type(&mut self, name: &str, ty: Type) -> (Vec<BoundRange>, Binding) {
        let (mut ranges, mut cells) = (Vec::new(), Vec::new());
        for scalar in self.cell_types(&ty) {
            let bound = self.fresh_bound(name);
            self.parts.bound_types.push((bound, scalar));
            let (lo, hi) = scalar.bounds();
            ranges.push((bound, Expr::Int(lo), Expr::Int(hi)));
            cells.push(bound_cell(bound, ty_of(scalar)));
        }
        let binding = Binding {
            name: name.to_owned(),
            origin: name.as_ptr().addr(),
            size: (1, cells.len()),
            value: Value::Cells(cells, ty),
            text: None,
        };
        (ranges, binding)
    }
}

fn bound_value(bound: BoundId, ty: Ty) -> Value {
    Value::Scalar(bound_cell(bound, ty), ty)
}

/// What a name stands for that ranges over the numbers of the values of a type.
pub(super) fn bound_cell(bound: BoundId, ty: Ty) -> Expr {
    match ty {
        Ty::Bool => Expr::binary(BinaryOp::Eq, Expr::Bound(bound), Expr::Int(1)),
        Ty::Int | Ty::Enum(_) => Expr::Bound(bound),
    }
}

impl Special {
    /// The type of what a name ranges over that ranges over this; sequences are not ranged over.
    pub(super) fn element(&self) -> Option<Type> {
        match self {
            Self::Set(ty) | Self::Bag(_, ty) | Self::Map(ty, _) => Some(ty.clone()),
            Self::Sequence(..) => None,
        }
    }

    /// The field and the first cell of the array that says which elements there are.
    pub(super) fn members(&self) -> (usize, usize) {
        match self {
            Self::Set(_) | Self::Map(..) => (0, 0),
            Self::Bag(..) | Self::Sequence(..) => (1, 1),
        }
    }
}
