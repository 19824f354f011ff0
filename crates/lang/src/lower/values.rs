//! Sets, bags, maps, sequences and options: values that consist of several cells and have operations of
//! their own.
//!
//! A set over a type with few values is an array of Booleans, one for each value; a bag is its size and
//! an array of numbers; a map is the set of its keys and an array of values; a sequence is its
//! length and an array of elements; an option is a sequence of at most one element. What does not
//! count, behind the length of a sequence or without key, has its initial value, so that equal values
//! have equal cells. All of
//! them become records of the model whose form says how they are shown, and every operation becomes
//! expressions over cells, so no other part of the tool knows more about them.

use base::{Diagnostic, Span};
use model::{
    Access, ArrayType, BinaryOp, Expr, Place, RecordForm, RecordId, RecordType, Scalar, Type,
};

use super::Lowerer;
use super::names::{Global, Local, Ty, Value};
use crate::ast::{self, ExprKind, TypeExpr};

/// Functions whose value may have several cells.
const SHAPED: [&str; 8] = [
    "append", "tail", "add", "remove", "keys", "head", "last", "value",
];

/// The length or size of a value that cannot be, such as the tail of an empty sequence. To store it is
/// a run-time error, also after further operations; it is equal to no other value.
pub(super) const IMPOSSIBLE: i64 = -1_000_000;

/// How many elements a sequence or bag may have, and values the range of the keys of a map.
pub(super) const MAX_LENGTH: i64 = 4096;

/// What a type with operations of its own is.
#[derive(Clone, Debug)]
pub(super) enum Special {
    /// Sets of values of this type.
    Set(Type),
    /// Bags of at most this many elements.
    Bag(usize, Type),
    /// Maps from keys of the first type to values of the second.
    Map(Type, Type),
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
        match &record.form {
            RecordForm::Components => None,
            RecordForm::Set(element) => Some(Special::Set(element.clone())),
            RecordForm::Bag(element) => match record.fields[0].1 {
                Type::Scalar(Scalar::Range(_, most)) => {
                    Some(Special::Bag(most as usize, element.clone()))
                }
                _ => None,
            },
            RecordForm::Map(key) => {
                let mut value = &record.fields[1].1;
                for _ in 0..key.n_cells(&self.parts.records) {
                    match value {
                        Type::Array(array) => value = &array.element,
                        Type::Scalar(_) | Type::Record(_) => return None,
                    }
                }
                match value {
                    Type::Array(slot) => Some(Special::Map(key.clone(), slot.element.clone())),
                    Type::Scalar(_) | Type::Record(_) => None,
                }
            }
            RecordForm::Sequence | RecordForm::Option => match &record.fields[1].1 {
                Type::Array(array) => Some(Special::Sequence(array.len, array.element.clone())),
                Type::Scalar(_) | Type::Record(_) => None,
            },
        }
    }

    /// `set of T`.
    pub(super) fn set_type(&mut self, element: &'a TypeExpr) -> Option<Type> {
        let ty = self.ty(element)?;
        self.check_elements(&ty, element.span)?;
        Some(self.set_of(ty))
    }

    /// The type of sets of values of a type.
    pub(super) fn set_of(&mut self, element: Type) -> Type {
        let members = self.over_values(&element, Type::Scalar(Scalar::Bool));
        let fields = vec![("members".to_owned(), members)];
        self.record_of_form("set", fields, RecordForm::Set(element))
    }

    /// `bag[k] of T` and `bag of T`.
    pub(super) fn bag_type(
        &mut self,
        most: Option<&'a ast::Expr>,
        element: &'a TypeExpr,
    ) -> Option<Type> {
        let (ty, room) = self.element_and_room(most, element)?;
        self.check_elements(&ty, element.span)?;

        let number = Type::Scalar(Scalar::Range(0, room));
        let counts = self.over_values(&ty, number.clone());
        let fields = vec![("size".to_owned(), number), ("counts".to_owned(), counts)];
        let form = RecordForm::Bag(ty);
        Some(self.record_with_bound("bag", fields, form, most.is_some()))
    }

    /// The type of the elements, and how many there can be.
    fn element_and_room(
        &mut self,
        most: Option<&'a ast::Expr>,
        element: &'a TypeExpr,
    ) -> Option<(Type, i64)> {
        let written = most.map(|most| (self.constant_int(most), most.span));
        let ty = self.ty(element)?;
        let room = match written {
            Some((most, span)) => self.check_room(most?, span)?,
            None => self.room as i64,
        };
        Some((ty, room))
    }

    /// `map[K] of T`.
    pub(super) fn map_type(
        &mut self,
        (lo, hi): (&'a ast::Expr, &'a ast::Expr),
        value: &'a TypeExpr,
    ) -> Option<Type> {
        self.check_indices(lo)?;
        let key = match &lo.kind {
            ExprKind::First(domain) => self.type_of_keys(domain)?,
            _ => {
                let (lo, hi) = self.constant_range(lo, hi, MAX_LENGTH)?;
                Type::Scalar(Scalar::Range(lo, hi))
            }
        };
        self.check_elements(&key, lo.span)?;
        let ty = self.ty(value)?;
        if super::open::is_open(&ty) {
            self.report_open_array(value.span);
            return None;
        }

        let present = self.over_values(&key, Type::Scalar(Scalar::Bool));
        // An array of one element, so that to read what is not there is to read beyond it.
        let slot = Type::Array(Box::new(ArrayType {
            lo: 0,
            len: 1,
            element: ty,
        }));
        let values = self.over_values(&key, slot);
        let fields = vec![
            ("present".to_owned(), present),
            ("values".to_owned(), values),
        ];
        Some(self.record_of_form("map", fields, RecordForm::Map(key)))
    }

    fn type_of_keys(&mut self, domain: &'a ast::Expr) -> Option<Type> {
        if let Some(ty) = self.record_named(domain) {
            return Some(ty);
        }
        let (lo, hi, ty) = self.domain_bounds(domain)?;
        Some(Type::Scalar(match ty {
            Ty::Enum(id) => self.enum_scalar(id)?,
            Ty::Bool => Scalar::Bool,
            Ty::Int => Scalar::Range(lo, hi),
        }))
    }

    fn check_room(&mut self, most: i64, span: Span) -> Option<i64> {
        if (1..=MAX_LENGTH).contains(&most) {
            return Some(most);
        }
        let message = format!("there is room for 1 to {MAX_LENGTH} elements");
        self.report(Diagnostic::error("sequence-length", span, message));
        None
    }

    /// `seq[k] of T` and `seq of T`.
    pub(super) fn sequence_type(
        &mut self,
        most: Option<&'a ast::Expr>,
        element: &'a TypeExpr,
    ) -> Option<Type> {
        let (ty, room) = self.element_and_room(most, element)?;
        let fields = items(ty, room);
        Some(self.record_with_bound("seq", fields, RecordForm::Sequence, most.is_some()))
    }

    /// `option of T`.
    pub(super) fn option_type(&mut self, element: &'a TypeExpr) -> Option<Type> {
        let fields = items(self.ty(element)?, 1);
        Some(self.record_of_form("option", fields, RecordForm::Option))
    }

    /// The record type with these components; types that are written alike are one type.
    pub(super) fn record_of_form(
        &mut self,
        name: &str,
        fields: Vec<(String, Type)>,
        form: RecordForm,
    ) -> Type {
        self.record_with_bound(name, fields, form, true)
    }

    /// The same, of a type whose bound is written or not: these are never one type.
    fn record_with_bound(
        &mut self,
        name: &str,
        fields: Vec<(String, Type)>,
        form: RecordForm,
        is_written: bool,
    ) -> Type {
        let records = &mut self.parts.records;
        let same = |(position, record): (usize, &RecordType)| {
            let id = RecordId::new(position);
            record.form == form
                && record.fields == fields
                && self.without_bound.contains(&id) != is_written
        };
        if let Some(position) = records.iter().enumerate().position(same) {
            return Type::Record(RecordId::new(position));
        }

        let id = RecordId::new(records.len());
        records.push(RecordType {
            name: name.to_owned(),
            fields,
            form,
        });
        if !is_written {
            self.without_bound.push(id);
        }
        Type::Record(id)
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
    pub(super) fn may_have_cells(&self, expr: &ast::Expr, depth: usize) -> bool {
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
                    self.unshadowed(name),
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
            ExprKind::Index(..)
            | ExprKind::Field(..)
            | ExprKind::Filter(_)
            | ExprKind::Image(..) => true,
            ExprKind::Call(function, _) => match &function.kind {
                ExprKind::Name(name) => match self.definition_of(name) {
                    Some(def) => self.may_have_cells(&def.body, depth + 1),
                    None => {
                        SHAPED.contains(&name.as_str())
                            || matches!(self.unshadowed(name), Some(Global::Record(_)))
                    }
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

    pub(super) fn shape_here(&mut self, expr: &'a ast::Expr) -> Option<Type> {
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
                if let Some(Global::Record(id)) = self.unshadowed(name) {
                    return Some(Type::Record(id));
                }
                match (name.as_str(), arguments.as_slice()) {
                    ("append" | "tail" | "add" | "remove", [whole, ..]) => self.shape_of(whole),
                    ("keys", [map]) => match self.special_of(map)? {
                        Special::Map(key, _) => Some(self.set_of(key)),
                        _ => None,
                    },
                    ("head" | "last" | "value", [sequence]) => match self.special_of(sequence)? {
                        Special::Sequence(_, element) if !matches!(element, Type::Scalar(_)) => {
                            Some(element)
                        }
                        _ => None,
                    },
                    _ => None,
                }
            }
            ExprKind::Image(element, binder) => self.shape_of_image(element, binder),
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
                ExprKind::First(domain) => match self.special_of(domain) {
                    Some(special) => special.element().map(|element| self.set_of(element)),
                    None => {
                        let element = self.composite_domain(domain)?;
                        Some(self.set_of(element))
                    }
                },
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn special_of(&mut self, expr: &'a ast::Expr) -> Option<Special> {
        let shape = self.shape_of(expr)?;
        self.special(&shape)
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
    pub(super) fn is_place(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.binding(name).is_some() || self.is_variable(expr),
            // Of a process, perhaps.
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => match &base.kind {
                ExprKind::Name(name) => {
                    self.is_place(base)
                        || matches!(self.unshadowed(name), Some(Global::Process(_)))
                            && matches!(expr.kind, ExprKind::Field(..))
                }
                ExprKind::Index(..) if matches!(expr.kind, ExprKind::Field(..)) => {
                    let (family, _) = super::access::with_indices(base);
                    self.is_place(base)
                        || matches!(&family.kind, ExprKind::Name(name)
                            if matches!(self.unshadowed(name), Some(Global::Process(_))))
                }
                _ => self.is_place(base),
            },
            _ => false,
        }
    }

    pub(super) fn place_type(&mut self, expr: &'a ast::Expr) -> Option<Type> {
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
            (ExprKind::Set(elements), Special::Set(element)) => self.listed_set(elements, element),
            (ExprKind::Set(elements), Special::Bag(_, element)) => {
                self.listed_bag(elements, element)
            }
            (ExprKind::Set(none), Special::Map(..)) if none.is_empty() => {
                Some(self.default_cells(ty))
            }
            (ExprKind::Entries(entries), Special::Map(key, value)) => {
                self.listed_map(entries, key, value)
            }
            (ExprKind::MapOf(binder, body), Special::Map(key, value)) => {
                self.map_over(binder, body, key, value)
            }
            (ExprKind::Filter(binder), Special::Set(element)) => self.filtered_set(binder, element),
            (ExprKind::Image(image, binder), Special::Set(element)) => {
                self.image(image, binder, element)
            }
            (ExprKind::Binary(op, left, right), Special::Set(_)) if is_set_operation(*op) => {
                self.set_operation(*op, left, right, ty)
            }
            (ExprKind::Binary(op, left, right), Special::Bag(..)) if is_set_operation(*op) => {
                self.bag_operation(*op, left, right, ty)
            }
            (ExprKind::Array(elements), Special::Sequence(most, element)) => {
                self.listed_sequence(elements, (*most, ty), element, expr.span)
            }
            (ExprKind::Name(name), Special::Sequence(most, element))
                if name == "none" && self.is_option(ty) && self.is_unknown(name) =>
            {
                self.listed_sequence(&[], (*most, ty), element, expr.span)
            }
            (ExprKind::Call(function, arguments), special) => {
                let ExprKind::Name(name) = &function.kind else {
                    return None;
                };
                if !self.is_unknown(name) {
                    return None;
                }
                return self.special_call((name, arguments), ty, special, expr.span);
            }
            (ExprKind::Binary(op, ..), _) if is_set_operation(*op) => {
                let message = "only two sets or two bags have a union, intersection or difference";
                self.report(Diagnostic::error("not-a-set", expr.span, message));
                None
            }
            (ExprKind::Filter(_) | ExprKind::Image(..), _) => {
                let message = "this is a set, and a value of another type is needed";
                self.report(Diagnostic::error("type-mismatch", expr.span, message));
                None
            }
            _ => return None,
        };
        Some(cells)
    }

    /// The cells of a function that makes a new value of an old one.
    fn special_call(
        &mut self,
        (name, arguments): (&str, &'a [ast::Expr]),
        ty: &Type,
        special: &Special,
        span: Span,
    ) -> Option<Option<Vec<Expr>>> {
        let cells = match (name, arguments, special) {
            ("some", [_], Special::Sequence(most, element)) if self.is_option(ty) => {
                self.listed_sequence(arguments, (*most, ty), element, span)
            }
            ("append", [sequence, added], Special::Sequence(..)) => {
                self.appended(sequence, added, ty)
            }
            ("tail", [sequence], Special::Sequence(..)) => self.tail(sequence, ty),
            ("add" | "remove", [whole, _], Special::Set(element)) => {
                let op = if name == "add" {
                    ast::BinaryOp::Union
                } else {
                    ast::BinaryOp::Difference
                };
                let mut old = Vec::new();
                let done = self.cell_values(whole, ty, &mut old);
                let new = self.listed_set(&arguments[1..], element);
                done.and(new).map(|new| join_sets(op, old, new))
            }
            ("add" | "remove", [whole, element], Special::Bag(..)) => {
                self.changed_bag(whole, element, ty, name == "add")
            }
            ("remove", [whole, key], Special::Map(..)) => self.without_key(whole, key, ty),
            ("keys", [map], Special::Set(_)) => self.keys(map),
            ("append" | "tail" | "add" | "remove" | "keys", ..) => {
                let message = format!("`{name}` does not fit these arguments");
                let help = "`append(q, x)` and `tail(q)` are for sequences, `add(b, x)` and \
                            `remove(b, x)` for sets and bags, `remove(m, k)` and `keys(m)` for maps";
                self.report(Diagnostic::error("wrong-arguments", span, message).help(help));
                None
            }
            _ => return None,
        };
        Some(cells)
    }

    pub(super) fn is_option(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(id) => self.parts.records[id.index()].form == RecordForm::Option,
            Type::Scalar(_) | Type::Array(_) => false,
        }
    }

    /// Do different cells of the type stand for one value, as behind the length of a sequence?
    pub(super) fn has_sequence(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) => false,
            Type::Array(array) => self.has_sequence(&array.element),
            Type::Record(id) => {
                let record = &self.parts.records[id.index()];
                let is_plain = matches!(record.form, RecordForm::Components | RecordForm::Set(_));
                !is_plain || record.fields.iter().any(|(_, ty)| self.has_sequence(ty))
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
    pub(super) fn is_unknown(&self, name: &str) -> bool {
        self.binding(name).is_none()
            && self.local(name).is_none()
            && self.global(name).is_none()
            && !self.variants.contains_key(name)
    }

    /// A copy with binders of its own.
    pub(super) fn copy_of(&mut self, expr: &Expr) -> Expr {
        match self.fresh_copy(Value::Scalar(expr.clone(), Ty::Int)) {
            Value::Scalar(copy, _) => copy,
            Value::Composite(..) | Value::Cells(..) => expr.clone(),
        }
    }
}

/// The components of a sequence with at most `most` elements.
fn items(element: Type, most: i64) -> Vec<(String, Type)> {
    let items = ArrayType {
        lo: 0,
        len: most as usize,
        element,
    };
    let length = Type::Scalar(Scalar::Range(0, most));
    vec![
        ("length".to_owned(), length),
        ("items".to_owned(), Type::Array(Box::new(items))),
    ]
}

fn is_set_operation(op: ast::BinaryOp) -> bool {
    matches!(
        op,
        ast::BinaryOp::Union | ast::BinaryOp::Intersection | ast::BinaryOp::Difference
    )
}

/// Union, intersection or difference of two sets.
pub(super) fn join_sets(op: ast::BinaryOp, left: Vec<Expr>, right: Vec<Expr>) -> Vec<Expr> {
    let join = |(a, b): (Expr, Expr)| match op {
        ast::BinaryOp::Union => any(vec![a, b]),
        ast::BinaryOp::Intersection => all(vec![a, b]),
        _ => all(vec![a, super::constants::simplify(Expr::not(b), Ty::Bool)]),
    };
    left.into_iter().zip(right).map(join).collect()
}

pub(super) fn length_of(place: &Place) -> Expr {
    let mut length = place.clone();
    length.path.push(Access::Field(0));
    Expr::Read(length)
}

/// True iff one of them is; looked at from left to right, as far as it matters.
pub(super) fn any(parts: Vec<Expr>) -> Expr {
    joined(parts, BinaryOp::Or, true)
}

/// True iff all of them are; looked at from left to right, as far as it matters.
pub(super) fn all(parts: Vec<Expr>) -> Expr {
    joined(parts, BinaryOp::And, false)
}

/// Parts that decide nothing are left out, and so is what comes after one that decides.
pub(super) fn joined(parts: Vec<Expr>, op: BinaryOp, decides: bool) -> Expr {
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
pub(super) fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    if condition.is_bool(true) {
        then
    } else if condition.is_bool(false) {
        otherwise
    } else {
        Expr::Ite(Box::new(condition), Box::new(then), Box::new(otherwise))
    }
}
