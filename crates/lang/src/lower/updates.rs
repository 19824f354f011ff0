//! Statements that change a part of a set, bag, map or sequence, and choices of elements with several
//! components.
//!
//! `s := s union {x}` stores one cell, where any other new value of `s` stores all of them. What is
//! stored is the same.

use base::Span;
use model::{BinaryOp, Expr, Place, Stmt, StmtKind, Type};

use super::Lowerer;
use super::effect::{Sink, cells_of};
use super::names::{Binding, Value};
use super::values::{Special, length_of};
use crate::ast::{self, ExprKind};

/// What is stored in a cell.
pub(super) struct Store {
    pub place: Place,
    pub value: Expr,
    /// May the value be computed when it is stored, after what is stored before?
    pub is_simple: bool,
}

impl Store {
    /// Of a value that earlier statements have computed, or that no statement changes.
    pub fn simple(place: Place, value: Expr) -> Self {
        Self {
            place,
            value,
            is_simple: true,
        }
    }

    /// Of a value that is computed before anything is stored, if it depends on the state.
    pub fn of(place: Place, value: Expr) -> Self {
        Self {
            is_simple: !value.mentions_state(),
            place,
            value,
        }
    }
}

/// How a value changes.
enum Change<'a> {
    Adds(&'a [ast::Expr]),
    Removes(&'a [ast::Expr]),
    Appends(&'a ast::Expr),
}

impl<'a> Lowerer<'a> {
    /// What is assigned to. If it belongs to a key of a map, the map has the key from now on.
    pub(super) fn assigned_place(
        &mut self,
        target: &'a ast::Expr,
        stores: &mut Vec<Store>,
        out: &mut Vec<Stmt>,
    ) -> Option<(Place, Type)> {
        let map = match &target.kind {
            ExprKind::Index(map, key) => self.special_of(map).map(|special| (map, key, special)),
            _ => None,
        };
        let Some((map, key, Special::Map(key_ty, value_ty))) = map else {
            return self.place(target);
        };

        let (mut whole, _) = self.place(map)?;
        self.settle(&mut whole, target.span, out);
        // The key is computed before it is stored that there is one.
        let key = self.element_cells(key, &key_ty)?;
        let key = self.remembered(key, true, &mut Sink::new(target.span, out));
        let present = self.place_of((&whole, 0), &key, &key_ty);
        stores.push(Store::simple(present, Expr::Bool(true)));
        let mut place = self.place_of((&whole, 1), &key, &key_ty);
        place.path.push(model::Access::Index(Expr::Int(0)));
        Some((place, value_ty))
    }

    /// A change of a part of the target; nothing if all of it may change.
    pub(super) fn update_in_place(
        &mut self,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<()>> {
        let (old, change) = self.change(value)?;
        let special = self.special_of(target)?;

        // Only a change of the target's own value leaves the other cells as they are.
        let same = self.is_variable(target)
            && self.is_variable(old)
            && match (self.operand(target, None), self.operand(old, None)) {
                (Some(Value::Composite(a, _)), Some(Value::Composite(b, _))) => a == b,
                _ => false,
            };
        if !same {
            return None;
        }

        let out = &mut Sink::new(span, out);
        match (&special, change) {
            (Special::Set(ty), Change::Adds(listed)) => {
                Some(self.store_members(target, (listed, ty), true, out))
            }
            (Special::Set(ty), Change::Removes(listed)) => {
                Some(self.store_members(target, (listed, ty), false, out))
            }
            (Special::Bag(_, ty), Change::Adds([element])) => {
                Some(self.store_count(target, (element, ty), BinaryOp::Add, out))
            }
            (Special::Bag(_, ty), Change::Removes([element])) if is_call(value) => {
                Some(self.store_count(target, (element, ty), BinaryOp::Sub, out))
            }
            (Special::Sequence(_, ty), Change::Appends(element)) => {
                Some(self.store_item(target, (element, ty), out))
            }
            _ => None,
        }
    }

    /// The old value and its change, by what the expression looks like.
    fn change(&self, value: &'a ast::Expr) -> Option<(&'a ast::Expr, Change<'a>)> {
        match &value.kind {
            ExprKind::Binary(op, old, listed) => {
                let ExprKind::Set(listed) = &listed.kind else {
                    return None;
                };
                match op {
                    ast::BinaryOp::Union => Some((old, Change::Adds(listed))),
                    ast::BinaryOp::Difference => Some((old, Change::Removes(listed))),
                    _ => None,
                }
            }
            ExprKind::Call(function, arguments) => {
                let ExprKind::Name(name) = &function.kind else {
                    return None;
                };
                let [old, element] = arguments.as_slice() else {
                    return None;
                };
                match name.as_str() {
                    _ if !self.is_unknown(name) => None,
                    "add" => Some((old, Change::Adds(&arguments[1..]))),
                    "remove" => Some((old, Change::Removes(&arguments[1..]))),
                    "append" => Some((old, Change::Appends(element))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn store_members(
        &mut self,
        target: &'a ast::Expr,
        (listed, ty): (&'a [ast::Expr], &Type),
        is_member: bool,
        out: &mut Sink<'_>,
    ) -> Option<()> {
        let (mut whole, _) = self.place(target)?;
        self.settle(&mut whole, out.span, out.statements);
        let mut elements = Vec::new();
        for element in listed {
            let mut cells = Vec::new();
            self.cell_values(element, ty, &mut cells)?;
            // Elements are computed before the first one is stored.
            elements.push(self.remembered(cells, listed.len() > 1, out));
        }

        for cells in elements {
            let inside = self.within(&cells, ty);
            let place = self.place_of((&whole, 0), &cells, ty);
            let store = StmtKind::Assign(place, Expr::Bool(is_member));
            // What is not a value of the element type is not an element.
            if inside.is_bool(true) {
                out.push(store);
            } else {
                let store = out.statement(store);
                out.push(StmtKind::If(inside, vec![store], Vec::new()));
            }
        }
        Some(())
    }

    /// One element more or less in a bag. If that is not possible, a number leaves its range.
    fn store_count(
        &mut self,
        target: &'a ast::Expr,
        (element, ty): (&'a ast::Expr, &Type),
        op: BinaryOp,
        out: &mut Sink<'_>,
    ) -> Option<()> {
        let (mut whole, _) = self.place(target)?;
        self.settle(&mut whole, out.span, out.statements);
        let cells = self.element_cells(element, ty)?;
        let cells = self.remembered(cells, true, out);

        let mut size = whole.clone();
        size.path.push(model::Access::Field(0));
        if op == BinaryOp::Add {
            self.demand_room(target, &whole, out)?;
        }
        for place in [size, self.place_of((&whole, 1), &cells, ty)] {
            let changed = Expr::binary(op, Expr::Read(place.clone()), Expr::Int(1));
            out.push(StmtKind::Assign(place, changed));
        }
        Some(())
    }

    /// One element more at the end of a sequence. Without room, the length leaves its range.
    fn store_item(
        &mut self,
        target: &'a ast::Expr,
        (element, ty): (&'a ast::Expr, &Type),
        out: &mut Sink<'_>,
    ) -> Option<()> {
        let (mut whole, _) = self.place(target)?;
        self.settle(&mut whole, out.span, out.statements);
        let mut cells = Vec::new();
        self.stored_values(element, ty, &mut cells)?;
        let cells = self.remembered(cells, true, out);
        self.demand_room(target, &whole, out)?;

        let mut length = whole.clone();
        length.path.push(model::Access::Field(0));
        let longer = Expr::binary(BinaryOp::Add, length_of(&whole), Expr::Int(1));
        out.push(StmtKind::Assign(length, longer));

        let mut item = whole.clone();
        let last = Expr::binary(BinaryOp::Sub, length_of(&whole), Expr::Int(1));
        item.path.push(model::Access::Field(1));
        item.path.push(model::Access::Index(last));
        let places = cells_of(&item, ty, &self.parts.records);
        for ((place, _), cell) in places.into_iter().zip(cells) {
            out.push(StmtKind::Assign(place, cell));
        }
        Some(())
    }

    /// One element more in something without a bound ends the step if there is no room.
    fn demand_room(
        &mut self,
        target: &'a ast::Expr,
        whole: &Place,
        out: &mut Sink<'_>,
    ) -> Option<()> {
        let ty = self.shape_of(target)?;
        if self.has_no_bound(&ty) {
            let room = Expr::Int(self.room as i64);
            let is_full = Expr::binary(BinaryOp::Eq, length_of(whole), room);
            out.statements.push(Self::exhausted_if(is_full, out.span));
        }
        Some(())
    }

    /// Names for the present values of cells that later statements could change.
    pub(super) fn remembered(
        &mut self,
        cells: Vec<Expr>,
        is_needed: bool,
        out: &mut Sink<'_>,
    ) -> Vec<Expr> {
        let mut kept = Vec::new();
        for cell in cells {
            if !is_needed || !cell.mentions_state() {
                kept.push(cell);
                continue;
            }
            let bound = self.fresh_bound("value");
            out.statements.push(self.remember(bound, cell, out.span));
            kept.push(Expr::Bound(bound));
        }
        kept
    }

    /// The type of what is chosen, if it has several cells.
    pub(super) fn chosen_element(&mut self, value: &'a ast::Value) -> Option<Type> {
        let ast::Value::Choose { domain, .. } = value else {
            return None;
        };
        let ast::TypeKind::Chosen(domain) = &domain.kind else {
            return None;
        };
        self.composite_domain(domain)
    }

    /// Chooses an element with several cells, one after the other. The last choice has the condition;
    /// choices that no last one completes lead nowhere.
    pub(super) fn choose_element(
        &mut self,
        value: &'a ast::Value,
        out: &mut Vec<Stmt>,
    ) -> Option<Binding> {
        let ty = self.chosen_element(value)?;
        let ast::Value::Choose {
            name,
            domain,
            condition,
            span,
        } = value
        else {
            return None;
        };
        let name = name.as_ref().map_or("chosen", |name| &name.text);
        let (mut ranges, binding) = self.ranges_of_type(name, ty);

        let mut conditions = Vec::new();
        if let (ast::TypeKind::Chosen(domain), Value::Cells(cells, _)) =
            (&domain.kind, &binding.value)
        {
            let cells = cells.clone();
            if let Some(set) = self.set_of_subsets(domain) {
                conditions.push(self.is_subset(&cells, set)?);
            } else if let Some(special) = self.special_of(domain) {
                conditions.push(self.member(&cells, domain, &special, true)?);
            }
        }

        if let Some(condition) = condition {
            self.scope.push(binding.clone());
            let lowered = self.bool_expr(condition);
            self.scope.pop();
            conditions.push(lowered?);
        }

        let last = ranges.pop()?;
        for (bound, lo, hi) in ranges {
            let kind = StmtKind::Choose(bound, lo, hi, Expr::Bool(true));
            out.push(Stmt::new(kind, *span));
        }
        let condition = super::values::all(conditions);
        let kind = StmtKind::Choose(last.0, last.1, last.2, condition);
        out.push(Stmt::new(kind, *span));
        Some(binding)
    }
}

fn is_call(value: &ast::Expr) -> bool {
    matches!(value.kind, ExprKind::Call(..))
}
