//! The cells of expressions that make new sets, bags, maps and sequences.

use base::{Diagnostic, Span};
use model::{BEYOND_ROOM, BinaryOp, Expr, Quantifier, Scalar, Type};

use super::Lowerer;
use super::constants::{literal, simplify};
use super::elements::BoundRange;
use super::names::{Binding, Ty, Value};
use super::room::may_be_beyond;
use super::types::ty_of;
use super::values::{IMPOSSIBLE, MAX_LENGTH, Special, all, any, choice, join_sets};
use crate::ast::{self, ExprKind};

impl<'a> Lowerer<'a> {
    pub(super) fn listed_set(&mut self, elements: &'a [ast::Expr], ty: &Type) -> Option<Vec<Expr>> {
        let listed = self.listed(elements, ty)?;
        let mut cells = Vec::new();
        for value in self.all_values(ty) {
            let equal = listed.iter().map(|cells| self.same_cells(cells, &value));
            cells.push(any(equal.collect()));
        }
        Some(cells)
    }

    /// The cells of elements that are listed. What is not a value of the type is an error if that is
    /// known, and else not an element.
    fn listed(&mut self, elements: &'a [ast::Expr], ty: &Type) -> Option<Vec<Vec<Expr>>> {
        let mut listed = Vec::new();
        for element in elements {
            let mut cells = Vec::new();
            self.cell_values(element, ty, &mut cells)?;
            listed.push(cells);
        }
        let n_values = self.all_values(ty).len();
        self.spend(
            n_values.saturating_mul(elements.len().max(1)),
            0,
            Span::nowhere(),
        )?;
        Some(listed)
    }

    pub(super) fn listed_bag(&mut self, elements: &'a [ast::Expr], ty: &Type) -> Option<Vec<Expr>> {
        let listed = self.listed(elements, ty)?;
        let mut counts = Vec::new();
        for value in self.all_values(ty) {
            let here: Vec<Expr> = listed
                .iter()
                .map(|cells| self.same_cells(cells, &value))
                .collect();
            counts.push(sum(here.into_iter().map(one_if)));
        }
        Some(self.with_size(counts))
    }

    /// The cells of a bag, of which the first says how many elements there are.
    fn with_size(&mut self, counts: Vec<Expr>) -> Vec<Expr> {
        let copies: Vec<Expr> = counts.iter().map(|count| self.copy_of(count)).collect();
        let mut cells = vec![sum(copies.into_iter())];
        cells.extend(counts);
        cells
    }

    /// A bag with one element more or less. What cannot be an element and what is not one has a bag of
    /// impossible size.
    pub(super) fn changed_bag(
        &mut self,
        whole: &'a ast::Expr,
        element: &'a ast::Expr,
        ty: &Type,
        adds: bool,
    ) -> Option<Vec<Expr>> {
        let Some(Special::Bag(_, element_ty)) = self.special(ty) else {
            return None;
        };
        let mut old = Vec::new();
        self.cell_values(whole, ty, &mut old)?;
        let element = self.element_cells(element, &element_ty)?;
        let op = if adds { BinaryOp::Add } else { BinaryOp::Sub };
        self.spend(old.len() * 3, 0, whole.span)?;

        let mut is_possible = self.within(&element, &element_ty);
        if !adds {
            let mut copies = Vec::new();
            for (value, count) in self.all_values(&element_ty).iter().zip(&old[1..]) {
                let here = self.same_cells(&element, value);
                let some = Expr::binary(BinaryOp::Gt, self.copy_of(count), Expr::Int(0));
                copies.push(all(vec![here, simplify(some, Ty::Bool)]));
            }
            is_possible = any(copies);
        }
        let size = simplify(Expr::binary(op, old[0].clone(), Expr::Int(1)), Ty::Int);
        let mut cells = vec![choice(is_possible, size, Expr::Int(IMPOSSIBLE))];
        for (value, count) in self.all_values(&element_ty).iter().zip(&old[1..]) {
            let here = self.same_cells(&element, value);
            let changed = Expr::binary(op, self.copy_of(count), Expr::Int(1));
            cells.push(choice(here, simplify(changed, Ty::Int), count.clone()));
        }
        Some(cells)
    }

    pub(super) fn bag_operation(
        &mut self,
        op: ast::BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Vec<Expr>> {
        let (a, b) = self.both_of(left, right, ty)?;
        let mut sizes = Vec::new();
        for size in [&a[0], &b[0]] {
            let possible = Expr::binary(BinaryOp::Ge, self.copy_of(size), Expr::Int(0));
            // shape: of any other expression it is not known.
            if !matches!(size, Expr::Read(_) | Expr::Int(0..)) {
                sizes.push(simplify(possible, Ty::Bool));
            }
        }
        let mut counts = Vec::new();
        for (a, b) in a.into_iter().zip(b).skip(1) {
            counts.push(match op {
                ast::BinaryOp::Union => sum([a, b].into_iter()),
                ast::BinaryOp::Intersection => {
                    let less = Expr::binary(BinaryOp::Le, self.copy_of(&a), self.copy_of(&b));
                    choice(simplify(less, Ty::Bool), a, b)
                }
                _ => {
                    let more = Expr::binary(BinaryOp::Gt, self.copy_of(&a), self.copy_of(&b));
                    let rest = simplify(Expr::binary(BinaryOp::Sub, a, b), Ty::Int);
                    choice(simplify(more, Ty::Bool), rest, Expr::Int(0))
                }
            });
        }

        let mut cells = self.with_size(counts);
        let size = std::mem::replace(&mut cells[0], Expr::Int(0));
        cells[0] = choice(all(sizes), size, Expr::Int(IMPOSSIBLE));
        Some(cells)
    }

    /// `{k: v, l: w}`; of entries with the same key the last one counts.
    pub(super) fn listed_map(
        &mut self,
        entries: &'a [(ast::Expr, ast::Expr)],
        key: &Type,
        value: &Type,
    ) -> Option<Vec<Expr>> {
        let mut listed = Vec::new();
        for (key_expr, value_expr) in entries {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            self.cell_values(key_expr, key, &mut keys)?;
            self.cell_values(value_expr, value, &mut values)?;
            listed.push((keys, values));
        }

        let (mut present, mut cells) = (Vec::new(), Vec::new());
        for number in self.all_values(key) {
            let here: Vec<Expr> = listed
                .iter()
                .map(|(keys, _)| self.same_cells(keys, &number))
                .collect();
            let mut values = self.default_cells(value);
            for (is_here, (_, own)) in here.iter().zip(&listed) {
                for (cell, own) in values.iter_mut().zip(own) {
                    let old = std::mem::replace(cell, Expr::Int(0));
                    *cell = choice(self.copy_of(is_here), self.copy_of(own), old);
                }
            }
            present.push(any(here));
            cells.extend(values);
        }
        present.extend(cells);
        Some(present)
    }

    /// `{ k in S where p: v }`.
    pub(super) fn map_over(
        &mut self,
        binder: &'a ast::Binder,
        body: &'a ast::Expr,
        key: &Type,
        value: &Type,
    ) -> Option<Vec<Expr>> {
        let present = self.filtered_set(binder, key)?;

        let mut cells = Vec::new();
        for (number, is_present) in self.all_values(key).into_iter().zip(&present) {
            let defaults = self.default_cells(value);
            if is_present.is_bool(false) {
                cells.extend(defaults);
                continue;
            }

            self.scope
                .push(self.values_binding(&binder.names[0].text, number, key));
            let mut values = Vec::new();
            let done = self.cell_values(body, value, &mut values);
            self.scope.pop();
            done?;

            // The value of an absent key must not distinguish states.
            for (value, default) in values.into_iter().zip(defaults) {
                cells.push(choice(self.copy_of(is_present), value, default));
            }
        }

        Some(present.into_iter().chain(cells).collect())
    }

    /// `remove(m, k)`.
    pub(super) fn without_key(
        &mut self,
        whole: &'a ast::Expr,
        key: &'a ast::Expr,
        ty: &Type,
    ) -> Option<Vec<Expr>> {
        let Some(Special::Map(key_ty, value_ty)) = self.special(ty) else {
            return None;
        };
        let mut old = Vec::new();
        self.cell_values(whole, ty, &mut old)?;
        let key = self.element_cells(key, &key_ty)?;
        let numbers = self.all_values(&key_ty);
        let defaults = self.default_cells(&value_ty);

        let mut cells = Vec::new();
        for (number, present) in numbers.iter().zip(&old) {
            let other = Expr::not(self.same_cells(&key, number));
            cells.push(all(vec![simplify(other, Ty::Bool), present.clone()]));
        }
        let values = old[numbers.len()..].chunks(defaults.len());
        for (number, values) in numbers.iter().zip(values) {
            let here = self.same_cells(&key, number);
            for (value, default) in values.iter().zip(&defaults) {
                cells.push(choice(self.copy_of(&here), default.clone(), value.clone()));
            }
        }
        Some(cells)
    }

    /// `keys(m)`.
    pub(super) fn keys(&mut self, map: &'a ast::Expr) -> Option<Vec<Expr>> {
        let (mut cells, ty) = self.cells_of_shaped(map)?;
        let Some(Special::Map(key, _)) = self.special(&ty) else {
            return None;
        };
        cells.truncate(self.all_values(&key).len());
        Some(cells)
    }

    /// `{ x in S where p }`.
    pub(super) fn filtered_set(&mut self, binder: &'a ast::Binder, ty: &Type) -> Option<Vec<Expr>> {
        let [name] = binder.names.as_slice() else {
            let message = "a set is made of one name";
            self.report(Diagnostic::error("syntax", binder.lo.span, message));
            return None;
        };
        let is_range = !matches!(binder.lo.kind, ExprKind::First(_));
        let range = if is_range {
            Some(self.constant_range(&binder.lo, &binder.hi, MAX_LENGTH)?)
        } else {
            None
        };

        let mut cells = Vec::new();
        for value in self.all_values(ty) {
            let number = value.first().and_then(Expr::as_literal);
            let is_outside = range.is_some_and(|(lo, hi)| number < Some(lo) || number > Some(hi));
            if is_outside {
                cells.push(Expr::Bool(false));
                continue;
            }
            self.scope.push(self.values_binding(&name.text, value, ty));
            let cell = match &binder.condition {
                Some(condition) => self.bool_expr(condition),
                None => Some(Expr::Bool(true)),
            };
            self.scope.pop();
            cells.push(cell?);
        }
        Some(cells)
    }

    /// `{ e for x in S where p }`: for each value, is there such an element?
    pub(super) fn image(
        &mut self,
        image: &'a ast::Expr,
        binder: &'a ast::Binder,
        ty: &Type,
    ) -> Option<Vec<Expr>> {
        let mut cells = Vec::new();
        for value in self.all_values(ty) {
            let name = &binder.names[0].text;
            let (ranges, binding) = self.ranges_of(name, &binder.lo, &binder.hi)?;
            self.scope.push(binding);

            let condition = match &binder.condition {
                Some(condition) => self.bool_expr(condition),
                None => Some(Expr::Bool(true)),
            };
            let element = self.element_cells(image, ty);
            self.scope.pop();

            let same = self.same_cells(&element?, &value);
            let body = all(vec![condition?, same]);
            cells.push(quantified(Quantifier::Exists, ranges, body));
        }
        Some(cells)
    }

    /// The type of the set that it is, if its elements tell.
    pub(super) fn shape_of_image(
        &mut self,
        image: &'a ast::Expr,
        binder: &'a ast::Binder,
    ) -> Option<Type> {
        let name = &binder.names[0].text;
        let (_, binding) = self.ranges_of(name, &binder.lo, &binder.hi)?;
        self.scope.push(binding);
        let element = self.type_of_element(image);
        self.scope.pop();
        let element = element?;
        self.check_elements(&element, image.span)?;
        Some(self.set_of(element))
    }

    /// The type of an expression of which there is a set.
    fn type_of_element(&mut self, expr: &'a ast::Expr) -> Option<Type> {
        if let Some(ty) = self.shape_of(expr) {
            return Some(ty);
        }
        if let ExprKind::Field(base, field) = &expr.kind
            && let Some(Type::Record(id)) = self.shape_of(base)
        {
            let fields = &self.parts.records[id.index()].fields;
            let (_, ty) = fields.iter().find(|(name, _)| *name == field.text)?;
            return Some(ty.clone());
        }
        let (value, ty) = self.scalar(expr, None)?;
        // shape: the type of anything else has to be known from elsewhere.
        if let Expr::Read(place) = &value {
            return self.scalar_at(place).map(Type::Scalar);
        }
        match ty {
            Ty::Enum(id) => self.enum_scalar(id).map(Type::Scalar),
            Ty::Bool => Some(Type::Scalar(Scalar::Bool)),
            Ty::Int => None,
        }
    }

    /// A name that stands for one value, given by its cells.
    fn values_binding(&self, name: &str, mut value: Vec<Expr>, ty: &Type) -> Binding {
        if let (Type::Scalar(scalar), Some(number)) = (ty, value.first().and_then(Expr::as_literal))
        {
            return self.constant_binding(name, number, ty_of(*scalar));
        }
        value.shrink_to_fit();
        self.resolution.bound(name);
        Binding {
            name: name.to_owned(),
            origin: name.as_ptr().addr(),
            size: (1, value.len()),
            value: Value::Cells(value, ty.clone()),
            text: None,
        }
    }

    /// A name that stands for one value.
    pub(super) fn constant_binding(&self, name: &str, value: i64, ty: Ty) -> Binding {
        let expr = literal(value, ty);
        let text = self.literal_text(&expr);
        self.resolution.bound(name);
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
        let (a, b) = self.both_of(left, right, ty)?;
        Some(join_sets(op, a, b))
    }

    pub(super) fn listed_sequence(
        &mut self,
        elements: &'a [ast::Expr],
        (most, ty): (usize, &Type),
        element: &Type,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let has_no_bound = self.has_no_bound(ty);
        if elements.len() > most && !has_no_bound {
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

        // A longer one is equal to none that there is room for.
        if elements.len() > most {
            cells.truncate(ty.n_cells(&self.parts.records));
            if self.is_stored {
                cells[0] = Expr::Int(BEYOND_ROOM);
            }
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

    /// `append(q, x)`. If there is no room, the length is impossible.
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
        let is_full = Expr::binary(BinaryOp::Eq, self.copy_of(&length), Expr::Int(most as i64));
        let longer = simplify(
            Expr::binary(BinaryOp::Add, length.clone(), Expr::Int(1)),
            Ty::Int,
        );
        let too_long = if self.has_no_bound(ty) {
            self.no_room(sequence.span)?
        } else {
            Expr::Int(IMPOSSIBLE)
        };

        // The new element goes behind the last one; which position that is depends on the state.
        let mut cells = vec![choice(simplify(is_full, Ty::Bool), too_long, longer)];
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

    /// `tail(q)`. Of an empty sequence it has an impossible length.
    pub(super) fn tail(&mut self, sequence: &'a ast::Expr, ty: &Type) -> Option<Vec<Expr>> {
        let Some(Special::Sequence(most, element)) = self.special(ty) else {
            return None;
        };

        let mut old = Vec::new();
        self.cell_values(sequence, ty, &mut old)?;
        let n_cells = (old.len() - 1) / most;

        let shorter = Expr::binary(BinaryOp::Sub, old[0].clone(), Expr::Int(1));
        let is_some = Expr::binary(BinaryOp::Gt, self.copy_of(&old[0]), Expr::Int(0));

        // A sequence that has outgrown its room stays beyond it: its length is unknown, not wrong.
        let mut none = Expr::Int(IMPOSSIBLE);
        if may_be_beyond(&old[0]) {
            let beyond = Expr::binary(BinaryOp::Lt, self.copy_of(&old[0]), none.clone());
            none = choice(beyond, Expr::Int(BEYOND_ROOM), none);
        }

        let mut cells = vec![choice(
            simplify(is_some, Ty::Bool),
            simplify(shorter, Ty::Int),
            none,
        )];
        cells.extend(old.drain(1 + n_cells..));
        cells.extend(self.default_cells(&element));
        Some(cells)
    }
}

/// 1 for true, 0 for false.
pub(super) fn one_if(condition: Expr) -> Expr {
    choice(condition, Expr::Int(1), Expr::Int(0))
}

pub(super) fn sum(parts: impl Iterator<Item = Expr>) -> Expr {
    let parts = parts.filter(|part| part.as_literal() != Some(0));
    let add = |a, b| simplify(Expr::binary(BinaryOp::Add, a, b), Ty::Int);
    parts.reduce(add).unwrap_or(Expr::Int(0))
}

/// A quantifier over several names.
pub(super) fn quantified(quantifier: Quantifier, ranges: Vec<BoundRange>, body: Expr) -> Expr {
    let wrap = |body, (bound, lo, hi)| Expr::Quantified {
        quantifier,
        bound,
        lo: Box::new(lo),
        hi: Box::new(hi),
        body: Box::new(body),
    };
    ranges.into_iter().rev().fold(body, wrap)
}
