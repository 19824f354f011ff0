//! Sets, sequences and options: values that consist of several cells and have operations of their own.
//!
//! A set over a type with few values is an array of Booleans, one for each value; a sequence is its
//! length and an array of elements; an option is a sequence of at most one element. Elements behind
//! the length of a sequence have their initial values, so that equal values have equal cells. All of
//! them become records of the model whose form says how they are shown, and every operation becomes
//! expressions over cells, so no other part of the tool knows more about them.

use base::{Diagnostic, Span};
use model::{
    Access, ArrayType, BinaryOp, Expr, Place, Quantifier, RecordForm, RecordId, RecordType, Scalar,
    Type,
};

use super::Lowerer;
use super::constants::{literal, simplify};
use super::names::{Binding, Global, Local, Ty, Value};
use super::types::ty_of;
use crate::ast::{self, ExprKind, TypeExpr};

/// How many values a type may have of which there are sets.
const MAX_ELEMENTS: i128 = 4096;

/// How many elements a sequence may have.
const MAX_LENGTH: i64 = 4096;

/// What a type with operations of its own is.
#[derive(Clone, Debug)]
pub(super) enum Special {
    /// Sets of values of this type.
    Set(Scalar),
    /// Sequences of at most this many elements; an option has at most one.
    Sequence(usize, Type),
}

impl<'a> Lowerer<'a> {
    /// What a type is, if it has operations of its own.
    pub(super) fn special(&self, ty: &Type) -> Option<Special> {
        let Type::Record(id) = ty else {
            return None;
        };
        let record = &self.parts.records[id.index()];
        match record.form {
            RecordForm::Components => None,
            RecordForm::Set(element) => Some(Special::Set(element)),
            RecordForm::Sequence | RecordForm::Option => match &record.fields[1].1 {
                Type::Array(array) => Some(Special::Sequence(array.len, array.element.clone())),
                Type::Scalar(_) | Type::Record(_) => None,
            },
        }
    }

    /// `set of T`.
    pub(super) fn set_type(&mut self, element: &'a TypeExpr) -> Option<Type> {
        let span = element.span;
        let ty = self.ty(element)?;
        let Type::Scalar(scalar) = ty else {
            let message = "the elements of a set are single values";
            self.report(Diagnostic::error("set-element", span, message));
            return None;
        };
        let (lo, hi) = scalar.bounds();
        let n_values = i128::from(hi) - i128::from(lo) + 1;
        if n_values > MAX_ELEMENTS {
            let message = format!("there are sets of at most {MAX_ELEMENTS} different elements");
            let help = "give the elements a range such as `0..7`";
            self.report(Diagnostic::error("set-element", span, message).help(help));
            return None;
        }

        let members = ArrayType {
            lo,
            len: n_values as usize,
            element: Type::Scalar(Scalar::Bool),
        };
        let fields = vec![("members".to_owned(), Type::Array(Box::new(members)))];
        Some(self.record_of_form("set", fields, RecordForm::Set(scalar)))
    }

    /// `seq[k] of T` and `option of T`.
    pub(super) fn sequence_type(
        &mut self,
        most: Option<&'a ast::Expr>,
        element: &'a TypeExpr,
    ) -> Option<Type> {
        let most_value = match most {
            None => Some(1),
            Some(most) => self.constant_int(most),
        };
        let ty = self.ty(element)?;
        let most_value = most_value?;
        if !(1..=MAX_LENGTH).contains(&most_value) {
            let span = most.map_or(element.span, |most| most.span);
            let message = format!("a sequence has room for 1 to {MAX_LENGTH} elements");
            self.report(Diagnostic::error("sequence-length", span, message));
            return None;
        }

        let items = ArrayType {
            lo: 0,
            len: most_value as usize,
            element: ty,
        };
        let fields = vec![
            (
                "length".to_owned(),
                Type::Scalar(Scalar::Range(0, most_value)),
            ),
            ("items".to_owned(), Type::Array(Box::new(items))),
        ];
        let (name, form) = match most {
            None => ("option", RecordForm::Option),
            Some(_) => ("seq", RecordForm::Sequence),
        };
        Some(self.record_of_form(name, fields, form))
    }

    /// The record type with these components; types that are written alike are one type.
    fn record_of_form(
        &mut self,
        name: &str,
        fields: Vec<(String, Type)>,
        form: RecordForm,
    ) -> Type {
        let same = |record: &RecordType| record.form == form && record.fields == fields;
        let position = self.parts.records.iter().position(same);
        Type::Record(RecordId::new(position.unwrap_or_else(|| {
            self.parts.records.push(RecordType {
                name: name.to_owned(),
                fields,
                form,
            });
            self.parts.records.len() - 1
        })))
    }

    /// The type of an expression whose value has several cells; nothing for single values, and where
    /// the expression alone does not tell (`{1, 2}` is a set of many types).
    pub(super) fn shape_of(&mut self, expr: &'a ast::Expr) -> Option<Type> {
        if !self.may_have_cells(expr, 0) {
            return None;
        }
        self.spend(1, 1, expr.span)?;
        self.depth += 1;
        let shape = self.shape_here(expr);
        self.depth -= 1;
        shape
    }

    /// Can the value of the expression have several cells, by what it looks like? Most cannot, and
    /// then nothing has to be translated to find that out.
    fn may_have_cells(&self, expr: &ast::Expr, depth: usize) -> bool {
        if depth > super::MAX_DEPTH {
            return false;
        }
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(binding) = self.binding(name) {
                    return !matches!(binding.value, Value::Scalar(..));
                }
                match (
                    self.definition_of(name),
                    self.local(name),
                    self.global(name),
                ) {
                    (Some(def), _, _) => self.may_have_cells(&def.body, depth + 1),
                    (None, Some(Local::Var(id)), _) | (None, None, Some(Global::Var(id))) => {
                        !matches!(self.parts.vars[id.index()].ty, Type::Scalar(_))
                    }
                    // A parameter of a definition, perhaps.
                    (None, None, None) => !self.variants.contains_key(name.as_str()),
                    _ => false,
                }
            }
            ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Filter(_) => true,
            ExprKind::Call(function, _) => match &function.kind {
                ExprKind::Name(name) => match self.definition_of(name) {
                    Some(def) => self.may_have_cells(&def.body, depth + 1),
                    None => ["append", "tail"].contains(&name.as_str()),
                },
                _ => false,
            },
            ExprKind::Binary(op, ..) => matches!(
                op,
                ast::BinaryOp::Union | ast::BinaryOp::Intersection | ast::BinaryOp::Difference
            ),
            ExprKind::If(_, then, otherwise) => {
                self.may_have_cells(then, depth + 1) || self.may_have_cells(otherwise, depth + 1)
            }
            _ => false,
        }
    }

    fn shape_here(&mut self, expr: &'a ast::Expr) -> Option<Type> {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(def) = self.definition_of(name) {
                    return self.with_arguments(def, &[], expr.span, |l| l.shape_of(&def.body));
                }
                self.is_place(expr).then(|| self.place_type(expr))?
            }
            ExprKind::Index(..) | ExprKind::Field(..) => {
                self.is_place(expr).then(|| self.place_type(expr))?
            }
            ExprKind::Call(function, arguments) => {
                let ExprKind::Name(name) = &function.kind else {
                    return None;
                };
                if let Some(def) = self.definition_of(name) {
                    let shape = |l: &mut Self| l.shape_of(&def.body);
                    return self.with_arguments(def, arguments, expr.span, shape);
                }
                match (name.as_str(), arguments.as_slice()) {
                    ("append" | "tail", [sequence, ..]) => self.shape_of(sequence),
                    _ => None,
                }
            }
            ExprKind::Binary(
                ast::BinaryOp::Union | ast::BinaryOp::Intersection | ast::BinaryOp::Difference,
                left,
                right,
            )
            | ExprKind::If(_, left, right) => match self.shape_of(left) {
                Some(shape) => Some(shape),
                None => self.shape_of(right),
            },
            ExprKind::Filter(binder) => match &binder.lo.kind {
                ExprKind::First(domain) => self.shape_of(domain),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn definition_of(&self, name: &str) -> Option<&'a ast::Def> {
        if self.binding(name).is_some() {
            return None;
        }
        match (self.local(name), self.unshadowed(name)) {
            (Some(Local::Def(def)), _) | (None, Some(Global::Def(def))) => Some(def),
            _ => None,
        }
    }

    /// Is it a variable, a bound name, or a part of one?
    fn is_place(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.binding(name).is_some() || self.is_variable(expr),
            // Of a process, perhaps.
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => match &base.kind {
                ExprKind::Name(name) => {
                    self.is_place(base)
                        || matches!(self.unshadowed(name), Some(Global::Process(_)))
                            && matches!(expr.kind, ExprKind::Field(..))
                }
                ExprKind::Index(inner, _) if matches!(expr.kind, ExprKind::Field(..)) => {
                    self.is_place(base)
                        || matches!(&inner.kind, ExprKind::Name(name)
                            if matches!(self.unshadowed(name), Some(Global::Process(_))))
                }
                _ => self.is_place(base),
            },
            _ => false,
        }
    }

    fn place_type(&mut self, expr: &'a ast::Expr) -> Option<Type> {
        match self.operand(expr, None)? {
            Value::Composite(_, ty) | Value::Cells(_, ty) => Some(ty),
            Value::Scalar(..) => None,
        }
    }

    /// The cells of an expression whose type it tells itself.
    pub(super) fn cells_of_shaped(&mut self, expr: &'a ast::Expr) -> Option<(Vec<Expr>, Type)> {
        let Some(ty) = self.shape_of(expr) else {
            if !self.has_errors() {
                let message = "what kind of value this is cannot be told from it alone";
                let help = "use it beside a variable of its type, or assign it to one";
                self.report(Diagnostic::error("unknown-shape", expr.span, message).help(help));
            }
            return None;
        };
        let mut cells = Vec::new();
        self.cell_values(expr, &ty, &mut cells)?;
        Some((cells, ty))
    }

    /// The cells of something with operations of its own; nothing if `expr` is not written as such.
    pub(super) fn special_cells(
        &mut self,
        expr: &'a ast::Expr,
        ty: &Type,
        special: &Special,
    ) -> Option<Option<Vec<Expr>>> {
        let cells = match (&expr.kind, special) {
            (ExprKind::Set(elements), Special::Set(scalar)) => self.listed_set(elements, *scalar),
            (ExprKind::Filter(binder), Special::Set(scalar)) => self.filtered_set(binder, *scalar),
            (ExprKind::Binary(op, left, right), Special::Set(_)) => {
                self.set_operation(*op, left, right, ty)
            }
            (ExprKind::Array(elements), Special::Sequence(most, element)) => {
                self.listed_sequence(elements, *most, element, expr.span)
            }
            (ExprKind::Name(name), Special::Sequence(most, element))
                if name == "none" && self.is_option(ty) && self.is_unknown(name) =>
            {
                self.listed_sequence(&[], *most, element, expr.span)
            }
            (ExprKind::Call(function, arguments), Special::Sequence(most, element)) => {
                let ExprKind::Name(name) = &function.kind else {
                    return None;
                };
                if !self.is_unknown(name) {
                    return None;
                }
                match (name.as_str(), arguments.as_slice()) {
                    ("some", [_]) if self.is_option(ty) => {
                        self.listed_sequence(arguments, *most, element, expr.span)
                    }
                    ("append", [sequence, added]) => self.appended(sequence, added, ty),
                    ("tail", [sequence]) => self.tail(sequence, ty),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(cells)
    }

    fn is_option(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(id) => self.parts.records[id.index()].form == RecordForm::Option,
            Type::Scalar(_) | Type::Array(_) => false,
        }
    }

    /// Is there a sequence or option in values of the type?
    pub(super) fn has_sequence(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) => false,
            Type::Array(array) => self.has_sequence(&array.element),
            Type::Record(id) => {
                let record = &self.parts.records[id.index()];
                matches!(record.form, RecordForm::Sequence | RecordForm::Option)
                    || record.fields.iter().any(|(_, ty)| self.has_sequence(ty))
            }
        }
    }

    /// The type of a component of a message.
    pub(super) fn message_type(&mut self, ty: &'a TypeExpr) -> Option<Type> {
        let lowered = self.ty(ty)?;
        if super::open::is_open(&lowered)
            || matches!(&lowered, Type::Array(array) if model::is_unbounded_array(array))
        {
            let message = "an array without bounds cannot be part of a message";
            self.report(Diagnostic::error("not-scalar", ty.span, message));
            return None;
        }
        Some(lowered)
    }

    /// Does the model declare nothing with this name?
    fn is_unknown(&self, name: &str) -> bool {
        self.binding(name).is_none()
            && self.local(name).is_none()
            && self.global(name).is_none()
            && !self.variants.contains_key(name)
    }

    fn listed_set(&mut self, elements: &'a [ast::Expr], scalar: Scalar) -> Option<Vec<Expr>> {
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
    fn filtered_set(&mut self, binder: &'a ast::Binder, scalar: Scalar) -> Option<Vec<Expr>> {
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
            value: Value::Scalar(expr, ty),
            text,
            size: (1, 1),
        }
    }

    fn set_operation(
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

    fn listed_sequence(
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
    fn appended(
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
    fn tail(&mut self, sequence: &'a ast::Expr, ty: &Type) -> Option<Vec<Expr>> {
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

    fn member_of_set(
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
    fn is_within(&self, value: &Expr, scalar: Scalar) -> bool {
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

    fn whole_of(&mut self, expr: &'a ast::Expr) -> Option<Value> {
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

    fn both(
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

    fn both_of(
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

    fn special_value(
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

    fn size(&mut self, argument: &'a ast::Expr, ty: &Type, special: &Special) -> Option<Expr> {
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
    fn item(
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

    /// The least and the greatest value of a domain that is not written as a range.
    pub(super) fn domain_bounds(&mut self, domain: &'a ast::Expr) -> Option<(i64, i64, Ty)> {
        if let Some(bounds) = self.domain_bounds_of_name(domain) {
            return Some(bounds);
        }
        let bounds = match &domain.kind {
            ExprKind::Set(listed) => self.bounds_of_list(listed),
            _ => {
                let ty = self.shape_of(domain);
                match ty.and_then(|ty| self.special(&ty)) {
                    Some(Special::Set(scalar)) => {
                        let (lo, hi) = scalar.bounds();
                        Some((lo, hi, ty_of(scalar)))
                    }
                    _ => None,
                }
            }
        };
        if bounds.is_none() && !self.has_errors() {
            let message = "a name ranges over `first..last`, the values of an enumeration, the indices \
                           of a family of processes, or the elements of a set";
            self.report(Diagnostic::error("not-a-domain", domain.span, message));
        }
        bounds
    }

    /// Of a type or a family of processes.
    fn domain_bounds_of_name(&self, domain: &ast::Expr) -> Option<(i64, i64, Ty)> {
        let ExprKind::Name(name) = &domain.kind else {
            return None;
        };
        match self.unshadowed(name)? {
            Global::Enum(id) => {
                let scalar = self.enum_scalar(id)?;
                let (lo, hi) = scalar.bounds();
                (!scalar.is_unbounded()).then_some((lo, hi, Ty::Enum(id)))
            }
            Global::Process(id) => {
                let range = self.parts.processes[id.index()].index?;
                let ty = self.processes[id.index()].index_ty;
                model::as_open_end(range.hi)
                    .is_none()
                    .then_some((range.lo, range.hi, ty))
            }
            _ => None,
        }
    }

    /// Of constants.
    fn bounds_of_list(&mut self, listed: &'a [ast::Expr]) -> Option<(i64, i64, Ty)> {
        let mut bounds: Option<(i64, i64, Ty)> = None;
        for element in listed {
            let (value, ty) = self.constant_value(element)?;
            bounds = Some(match bounds {
                None => (value, value, ty),
                Some((lo, hi, _)) => (lo.min(value), hi.max(value), ty),
            });
        }
        Some(bounds.unwrap_or((0, -1, Ty::Int)))
    }

    /// The type of the values that a name ranges over whose domain begins here.
    pub(super) fn ty_of_domain(&mut self, lo: &'a ast::Expr) -> Ty {
        match &lo.kind {
            ExprKind::First(domain) => match self.domain_bounds(domain) {
                Some((_, _, ty)) => ty,
                None => Ty::Int,
            },
            _ => Ty::Int,
        }
    }

    /// The set that a choice is from, if it is not from a type.
    pub(super) fn chosen_set(&self, domain: &'a TypeExpr) -> Option<&'a ast::Expr> {
        let ast::TypeKind::Chosen(expr) = &domain.kind else {
            return None;
        };
        let ExprKind::Name(name) = &expr.kind else {
            return Some(expr);
        };
        let is_set = self.is_place(expr) || self.definition_of(name).is_some();
        let is_family = matches!(self.unshadowed(name), Some(Global::Process(_)));
        (is_set || is_family).then_some(&**expr)
    }

    /// That a chosen value is an element of the set that it is from.
    pub(super) fn chosen_member(
        &mut self,
        bound: model::BoundId,
        ty: Ty,
        domain: &'a ast::Expr,
    ) -> Option<Expr> {
        if self.domain_bounds_of_name(domain).is_some() {
            return Some(Expr::Bool(true));
        }
        let value = Expr::Bound(bound);
        if let ExprKind::Set(listed) = &domain.kind {
            let mut equal = Vec::new();
            for other in listed {
                let other = self.scalar_of(other, ty)?;
                equal.push(Expr::binary(BinaryOp::Eq, value.clone(), other));
            }
            return Some(any(equal));
        }
        let shape = self.shape_of(domain)?;
        match self.special(&shape)? {
            Special::Set(scalar) => self.member_of_set(value, domain, scalar, true),
            Special::Sequence(..) => None,
        }
    }

    /// A copy with binders of its own.
    pub(super) fn copy_of(&mut self, expr: &Expr) -> Expr {
        match self.fresh_copy(Value::Scalar(expr.clone(), Ty::Int)) {
            Value::Scalar(copy, _) => copy,
            Value::Composite(..) | Value::Cells(..) => expr.clone(),
        }
    }
}

fn length_of(place: &Place) -> Expr {
    let mut length = place.clone();
    length.path.push(Access::Field(0));
    Expr::Read(length)
}

/// True iff one of them is; looked at from left to right, as far as it matters.
fn any(parts: Vec<Expr>) -> Expr {
    joined(parts, BinaryOp::Or, true)
}

/// True iff all of them are; looked at from left to right, as far as it matters.
fn all(parts: Vec<Expr>) -> Expr {
    joined(parts, BinaryOp::And, false)
}

/// Parts that decide nothing are left out, and so is what comes after one that decides.
fn joined(parts: Vec<Expr>, op: BinaryOp, decides: bool) -> Expr {
    let mut kept = Vec::new();
    for part in parts {
        if part.is_bool(!decides) {
            continue;
        }
        let is_last = part.is_bool(decides);
        kept.push(part);
        if is_last {
            break;
        }
    }
    let join = |a, b| Expr::binary(op, a, b);
    let parts = kept.into_iter();
    parts.reduce(join).unwrap_or(Expr::Bool(!decides))
}

/// One of two values.
fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    if condition.is_bool(true) {
        then
    } else if condition.is_bool(false) {
        otherwise
    } else {
        Expr::Ite(Box::new(condition), Box::new(then), Box::new(otherwise))
    }
}
