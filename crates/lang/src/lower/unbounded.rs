//! Data without bounds: parameters, uninterpreted types, arrays with every integer as an index.

use base::Diagnostic;
use model::{
    Access, ArrayType, EVERY_INDEX, EnumId, EnumType, Expr, Initial, OPEN_VALUES, Place, Scalar,
    Type, VarId, Variable,
};
use source::Options;

use super::Lowerer;
use super::names::{Global, Ty, Value};
use crate::ast::{self, ExprKind, Ident, TypeExpr};

/// How many values a sample of an uninterpreted type may have.
const MAX_SAMPLE: i64 = 1000;

impl<'a> Lowerer<'a> {
    /// `type Data`: as many values as the command line says, else open.
    pub(super) fn open_type(&mut self, name: &'a Ident, options: &Options) {
        let id = EnumId::new(self.parts.enums.len());
        self.declare_global(name, Global::Enum(id));
        let given = options.defines.iter().rev().find(|d| d.0 == name.text);
        let n_values = given.and_then(|(_, text)| self.sample_size(name, text));
        let variant = |n| format!("{}{n}", name.text);
        self.parts.enums.push(EnumType {
            name: name.text.clone(),
            variants: (0..n_values.unwrap_or(0)).map(variant).collect(),
        });
    }

    fn sample_size(&mut self, name: &Ident, text: &str) -> Option<i64> {
        let size = text.trim().parse().ok();
        let size = size.filter(|size| (1..=MAX_SAMPLE).contains(size));
        if size.is_none() {
            let message = format!("`-D {}={text}` does not say how many values", name.text);
            let help = format!("give a number from 1 to {MAX_SAMPLE}");
            self.report(Diagnostic::error("define", name.span, message).help(help));
        }
        size
    }

    /// Is this an uninterpreted type that was given a number of values?
    pub(super) fn is_given_type(&self, name: &str) -> bool {
        let is_type = |description: &EnumType| description.name == name;
        self.parts.enums.iter().any(is_type) && matches!(self.global(name), Some(Global::Enum(_)))
    }

    /// The scalar type of an enumeration; one without values is open.
    pub(super) fn scalar_of_enum(&self, id: EnumId) -> Option<Scalar> {
        let variants = &self.parts.enums.get(id.index())?.variants;
        Some(match variants.len() {
            0 => Scalar::Enum(id, OPEN_VALUES),
            n => Scalar::Enum(id, n as u32),
        })
    }

    /// `param Last >= 1`: a constant if it has a value, else a variable that never changes.
    pub(super) fn data_parameter(
        &mut self,
        name: &'a Ident,
        least: &'a ast::Expr,
        options: &Options,
    ) {
        let least = self.constant_int(least);
        let given = options.defines.iter().rev().find(|d| d.0 == name.text);
        let global = match (given, least) {
            (Some((_, text)), Some(least)) => self.given_parameter(name, text, least),
            (None, Some(least)) => Some(Global::Var(self.free_parameter(name, least))),
            (_, None) => None,
        };
        self.declare_global(name, global.unwrap_or(Global::Broken));
    }

    pub(super) fn given_parameter(
        &mut self,
        name: &Ident,
        text: &str,
        least: i64,
    ) -> Option<Global<'a>> {
        let (value, ty) = self.given_value(name, text, Some(Ty::Int))?;
        if value >= least {
            return Some(Global::Const(value, ty));
        }
        let message = format!("`-D {}={text}` is less than {least}", name.text);
        self.report(Diagnostic::error("define", name.span, message));
        None
    }

    pub(super) fn free_parameter(&mut self, name: &Ident, least: i64) -> VarId {
        let id = VarId::new(self.parts.vars.len());
        self.parts.vars.push(Variable {
            name: name.text.clone(),
            ty: Type::Scalar(Scalar::Range(least, i64::MAX)),
            owner: None,
            initial: Initial::Any,
            span: name.span,
        });
        self.data_parameters.push(id);
        id
    }

    /// Does the expression name a parameter that has no value?
    pub(super) fn is_data_parameter(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => match self.unshadowed(name) {
                Some(Global::Var(id)) => self.data_parameters.contains(&id),
                _ => false,
            },
            _ => false,
        }
    }

    /// `array[int] of T`.
    pub(super) fn unbounded_array(&mut self, element: &'a TypeExpr) -> Option<Type> {
        let ty = self.ty(element)?;
        if let Type::Scalar(_) = ty {
            return Some(Type::Array(Box::new(ArrayType {
                lo: EVERY_INDEX,
                len: 1,
                element: ty,
            })));
        }
        let message = "an array without bounds has single values as elements";
        self.report(Diagnostic::error("not-scalar", element.span, message));
        None
    }

    /// Two arrays without bounds that are compared; nothing if the operands are something else.
    pub(super) fn unbounded_arrays(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> Option<(Option<Expr>, Option<Expr>)> {
        if !(self.is_variable(left) && self.is_variable(right)) {
            return None;
        }
        let n_reported = self.diagnostics.len();
        let (a, b) = (self.operand(left, None), self.operand(right, None));
        if let (Some(Value::Composite(a, of_a)), Some(Value::Composite(b, of_b))) = (a, b)
            && let (Type::Array(of_a), Type::Array(of_b)) = (of_a, of_b)
            && model::is_unbounded_array(&of_a)
            && of_a == of_b
        {
            let everywhere = |mut place: Place| {
                place.path.push(Access::Index(Expr::Int(EVERY_INDEX)));
                Expr::Read(place)
            };
            return Some((Some(everywhere(a)), Some(everywhere(b))));
        }
        // Whatever is wrong is said again by those who need single values.
        self.diagnostics.truncate(n_reported);
        None
    }
}
