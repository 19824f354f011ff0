//! Types and their sizes.

use base::{Diagnostic, Span};
use model::{ArrayType, EnumId, RecordForm, RecordId, RecordType, Scalar, Type};

use super::names::{Global, Ty};
use super::timer;
use super::{Lowerer, MAX_EXPANSION};
use crate::ast::{ExprKind, Ident, TypeExpr, TypeKind};

/// The type of the values that a cell of type `scalar` holds.
pub(super) fn ty_of(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool => Ty::Bool,
        Scalar::Range(..) | Scalar::Int => Ty::Int,
        Scalar::Enum(id, _) => Ty::Enum(id),
    }
}

impl<'a> Lowerer<'a> {
    pub(super) fn record(&mut self, name: &'a Ident, fields: &'a [(Ident, TypeExpr)]) {
        let mut lowered: Vec<(String, Type)> = Vec::new();
        let mut ok = !fields.is_empty();
        if !ok {
            let message = format!("the record `{}` has no components", name.text);
            self.report(Diagnostic::error("empty-record", name.span, message));
        }

        for (field, ty) in fields {
            if lowered.iter().any(|(other, _)| *other == field.text) {
                self.report_duplicate(field, name.span);
            }
            match self.ty(ty) {
                Some(ty) => lowered.push((field.text.clone(), ty)),
                None => ok = false,
            }
        }

        if !ok {
            return self.declare_global(name, Global::Broken);
        }
        let id = RecordId::new(self.parts.records.len());
        for (position, (field, _)) in fields.iter().enumerate() {
            self.resolution.declare_field(&field.text, id, position);
        }
        self.parts.records.push(RecordType {
            name: name.text.clone(),
            fields: lowered,
            form: RecordForm::Components,
        });

        let is_small = self.check_cells(&Type::Record(id), name.span).is_some();
        let global = if is_small {
            Global::Record(id)
        } else {
            Global::Broken
        };
        self.declare_global(name, global);
    }

    /// The type that is written.
    pub(super) fn ty(&mut self, ty: &'a TypeExpr) -> Option<Type> {
        match &ty.kind {
            TypeKind::Bool => Some(Type::Scalar(Scalar::Bool)),
            TypeKind::Int => Some(Type::Scalar(Scalar::Int)),
            // `finish` narrows it down.
            TypeKind::Timer => Some(Type::Scalar(Scalar::Range(-1, timer::MAX_SETTING))),
            TypeKind::Range(lo, hi) => {
                let (lo, hi) = self.open_range(lo, hi, i64::MAX)?;
                self.check_not_empty(lo, hi, ty.span)?;
                Some(Type::Scalar(Scalar::Range(lo, hi)))
            }
            TypeKind::Named(name) => self.named_type(name),
            TypeKind::Array(lo, hi, element) => {
                let range = self.check_indices(lo);
                let range = range.and_then(|()| self.open_range(lo, hi, MAX_EXPANSION));
                let element = self.ty(element)?;
                let (lo, hi) = range?;
                self.array(lo, hi, element, ty.span)
            }
            TypeKind::OpenArray(element) => self.unbounded_array(element),
            TypeKind::Set(element) => self.set_type(element),
            TypeKind::Sequence(most, element) => self.sequence_type(most.as_deref(), element),
            TypeKind::Option(element) => self.option_type(element),
            TypeKind::Bag(most, element) => self.bag_type(most.as_deref(), element),
            TypeKind::Map(lo, hi, value) => self.map_type((lo, hi), value),
            // Only after `choose`, where it is looked at.
            TypeKind::Chosen(expr) => match &expr.kind {
                ExprKind::Name(text) => self.named_type(&Ident {
                    text: text.clone(),
                    span: expr.span,
                }),
                _ => None,
            },
            TypeKind::Counted(element, length) => {
                let length = self.open_length(length);
                let element = self.ty(element)?;
                self.array(0, length?.saturating_sub(1), element, ty.span)
            }
        }
    }

    fn named_type(&mut self, name: &Ident) -> Option<Type> {
        match self.global(&name.text) {
            Some(Global::Enum(id)) => Some(Type::Scalar(self.enum_scalar(id)?)),
            Some(Global::Record(id)) => Some(Type::Record(id)),
            Some(Global::Broken) => None,
            None if name.text == "nat" => Some(Type::Scalar(Scalar::Range(0, i64::MAX))),
            Some(other) => {
                let message = format!("`{}` is {}, not a type", name.text, other.describe());
                let help = "types are `bool`, `int`, `lo..hi`, `array[lo..hi] of T`, and the names of enumerations and records";
                self.report(Diagnostic::error("not-a-type", name.span, message).help(help));
                None
            }
            None => {
                let types = self
                    .globals
                    .iter()
                    .filter(|(_, entry)| matches!(entry.0, Global::Enum(_) | Global::Record(_)));
                let mut known: Vec<&str> = types.map(|(name, _)| *name).collect();
                known.extend(["bool", "int", "nat", "array"]);
                known.sort_unstable();
                let message = format!("there is no type `{}`", name.text);
                let mut diagnostic = Diagnostic::error("unknown-type", name.span, message);
                if let Some(meant) = base::closest_name(&name.text, known) {
                    diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
                }
                self.report(diagnostic);
                None
            }
        }
    }

    pub(super) fn enum_scalar(&self, id: EnumId) -> Option<Scalar> {
        self.scalar_of_enum(id)
    }

    fn array(&mut self, lo: i64, hi: i64, element: Type, span: Span) -> Option<Type> {
        self.check_not_empty(lo, hi, span)?;
        if let Some(array) = self.open_array(lo, hi, &element, span) {
            return array;
        }
        let len = usize::try_from(i128::from(hi) - i128::from(lo) + 1).unwrap_or(usize::MAX);
        if len > MAX_EXPANSION as usize {
            self.too_many_cells(span);
            return None;
        }
        let ty = Type::Array(Box::new(ArrayType { lo, len, element }));
        self.check_cells(&ty, span)?;
        Some(ty)
    }

    fn check_not_empty(&mut self, lo: i64, hi: i64, span: Span) -> Option<()> {
        if lo <= hi {
            return Some(());
        }
        let message = format!("the range {lo}..{hi} is empty");
        self.report(Diagnostic::error("empty-range", span, message));
        None
    }

    /// Its parts are small enough for this not to overflow, because they were checked before.
    fn check_cells(&mut self, ty: &Type, span: Span) -> Option<()> {
        if ty.n_cells(&self.parts.records) <= MAX_EXPANSION as usize {
            return Some(());
        }
        self.too_many_cells(span);
        None
    }

    fn too_many_cells(&mut self, span: Span) {
        let message = format!("a value of this type has more than {MAX_EXPANSION} components");
        self.report(Diagnostic::error("range-too-large", span, message));
    }

    /// A type for a component of a message or an argument of an event.
    pub(super) fn scalar_type(&mut self, ty: &'a TypeExpr) -> Option<Scalar> {
        match self.ty(ty)? {
            Type::Scalar(scalar) => Some(scalar),
            _ => {
                let message = "arrays and records cannot be part of a message";
                self.report(
                    Diagnostic::error("not-scalar", ty.span, message)
                        .help("list their components: `chan c of (Kind, 0..3)`"),
                );
                None
            }
        }
    }
}
