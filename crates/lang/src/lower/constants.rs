//! Constants, parameters and their values on the command line; evaluation of constant expressions.

use base::{Diagnostic, Span};
use model::{BinaryOp, BoundId, EnumId, EnumType, Expr, Quantifier};
use source::Options;

use super::names::{Global, Ty, bare};
use super::open::is_family_size;
use super::{Lowerer, MAX_EXPANSION};
use crate::ast::{self, Decl, File, Ident};

impl<'a> Lowerer<'a> {
    /// Enumerations first, then constants in order, then record types.
    pub(super) fn declare_constants_and_types(&mut self, file: &'a File, options: &Options) {
        for decl in &file.decls {
            match decl {
                Decl::Enum { name, variants } => self.enumeration(name, variants),
                Decl::Type { name } => self.open_type(name, options),
                _ => {}
            }
        }

        for decl in &file.decls {
            match decl {
                Decl::Const { name, value, given } => {
                    self.constant(name, value, given.as_ref(), options);
                }
                Decl::Param { name } => self.parameter(name, options),
                Decl::DataParam { name, least }
                    if self.open.is_several() || is_family_size(file, &name.text) =>
                {
                    self.size_parameter(name, least, options);
                }
                Decl::DataParam { name, least } => self.data_parameter(name, least, options),
                _ => {}
            }
        }

        self.check_defines(options);
        for decl in &file.decls {
            if let Decl::Record { name, fields } = decl {
                self.record(name, fields);
            }
        }
    }

    fn enumeration(&mut self, name: &'a Ident, variants: &'a [Ident]) {
        let id = EnumId::new(self.parts.enums.len());
        self.declare_global(name, Global::Enum(id));
        let mut names: Vec<String> = Vec::new();
        for variant in variants {
            if let Some(&(_, first)) = self.globals.get(variant.text.as_str()) {
                self.report_duplicate(variant, first);
            }
            let entry = self.variants.entry(&variant.text).or_default();
            if entry.last().is_some_and(|(other, _)| *other == id) {
                self.report_duplicate(variant, name.span);
                continue;
            }
            entry.push((id, names.len() as u32));
            let number = names.len() as u32;
            self.resolution.declare_variant(&variant.text, id, number);
            // Traces show values without the name of an import.
            names.push(bare(&variant.text).to_owned());
        }
        self.parts.enums.push(EnumType {
            name: name.text.clone(),
            variants: names,
        });
    }

    fn constant(
        &mut self,
        name: &'a Ident,
        value: &'a ast::Expr,
        imported: Option<&'a ast::Expr>,
        options: &Options,
    ) {
        let mut own = self.constant_value(value);
        if let Some((_, ty)) = own
            && let Some(imported) = imported
        {
            own = self.imported_value(name, imported, ty);
        }

        let given = options.defines.iter().rev().find(|d| d.0 == name.text);
        let value = match (own, given) {
            (Some((_, ty)), Some((_, text))) => self.given_value(name, text, Some(ty)),
            (own, _) => own,
        };

        let global = value.map_or(Global::Broken, |(value, ty)| Global::Const(value, ty));
        self.declare_global(name, global);
    }

    /// The value that an import gives to a constant.
    fn imported_value(
        &mut self,
        name: &Ident,
        value: &'a ast::Expr,
        wanted: Ty,
    ) -> Option<(i64, Ty)> {
        let (lowered, ty) = self.scalar(value, Some(wanted))?;
        if ty != wanted {
            let (wanted, found) = (self.ty_name(wanted), self.ty_name(ty));
            let message = format!("expected {wanted}, found {found}");
            let text = format!("the value of `{}` here is {wanted}", name.text);
            let diagnostic = Diagnostic::error("type-mismatch", value.span, message);
            self.report(diagnostic.label(name.span, text));
            return None;
        }
        Some((self.value_of(&lowered, value.span)?, ty))
    }

    pub(super) fn parameter(&mut self, name: &'a Ident, options: &Options) {
        let given = options.defines.iter().rev().find(|d| d.0 == name.text);

        let value = match given {
            Some((_, text)) => self.given_value(name, text, None),
            None if self.open.is_free() => return self.open_parameter(name),
            None if !options.closed => {
                let parameter = self.free_parameter(name, i64::MIN);
                return self.declare_global(name, Global::Var(parameter));
            }
            None => {
                let message = format!("the parameter `{}` of the model has no value", name.text);
                self.report(
                    Diagnostic::error("free-parameter", name.span, message)
                        .at("a free parameter")
                        .help(format!(
                            "give it one, for example with `-D {}=3`",
                            name.text
                        )),
                );
                None
            }
        };

        let global = value.map_or(Global::Broken, |(value, ty)| Global::Const(value, ty));
        self.declare_global(name, global);
    }

    /// The value that the command line gives to a constant.
    pub(super) fn given_value(
        &mut self,
        name: &Ident,
        text: &str,
        wanted: Option<Ty>,
    ) -> Option<(i64, Ty)> {
        let text = text.trim();

        let variant = |entry: &&(EnumId, u32)| wanted.is_none_or(|ty| ty == Ty::Enum(entry.0));
        let variants = self.variants.get(text).into_iter().flatten();
        let value_of = |id: EnumId| {
            let names = &self.parts.enums[id.index()].variants;
            let number = names.iter().position(|name| name == text)?;
            Some((number as i64, Ty::Enum(id)))
        };

        let value = match text {
            "true" | "false" => Some((i64::from(text == "true"), Ty::Bool)),
            _ => match text.parse::<i64>() {
                Ok(value) => Some((value, Ty::Int)),
                Err(_) => match wanted {
                    Some(Ty::Enum(id)) => value_of(id),
                    _ => { variants.clone().find(variant) }
                        .map(|(id, n)| (i64::from(*n), Ty::Enum(*id))),
                },
            },
        };

        let fits = value.filter(|(_, ty)| wanted.is_none_or(|wanted| wanted == *ty));
        if fits.is_none() {
            let wanted = wanted.map_or("a value".to_owned(), |ty| self.ty_name(ty));
            let message = format!("`-D {}={text}` does not give {wanted}", name.text);
            self.report(Diagnostic::error("define", name.span, message));
        }
        fits
    }

    fn check_defines(&mut self, options: &Options) {
        for (name, _) in &options.defines {
            let is_constant = |global: &Global<'_>| {
                matches!(
                    global,
                    Global::Const(..) | Global::Parameter(_) | Global::Broken
                )
            };
            if self.global(name).is_some_and(|global| is_constant(&global))
                || self.is_given_type(name)
            {
                continue;
            }
            let constants = self
                .globals
                .iter()
                .filter(|(_, entry)| is_constant(&entry.0));
            let mut known: Vec<&str> = constants.map(|(name, _)| *name).collect();
            known.sort_unstable();
            let message = format!("`-D {name}=…`: the model has no constant `{name}`");
            let mut diagnostic = Diagnostic::error("define", Span::nowhere(), message);
            if let Some(meant) = base::closest_name(name, known.iter().copied()) {
                diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
            } else if !known.is_empty() {
                diagnostic = diagnostic.help(format!("it has {}", known.join(", ")));
            }
            self.report(diagnostic);
        }
    }

    /// The value of an expression that must be constant.
    pub(super) fn constant_value(&mut self, expr: &'a ast::Expr) -> Option<(i64, Ty)> {
        let (lowered, ty) = self.scalar(expr, None)?;
        Some((self.value_of(&lowered, expr.span)?, ty))
    }

    /// The value of an integer expression that must be constant.
    pub(super) fn constant_int(&mut self, expr: &'a ast::Expr) -> Option<i64> {
        let lowered = self.int_expr(expr)?;
        self.value_of(&lowered, expr.span)
    }

    /// The bounds of a constant range; nothing if it has more than `limit` values.
    pub(super) fn constant_range(
        &mut self,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
        limit: i64,
    ) -> Option<(i64, i64)> {
        let (first, last) = (self.constant_int(lo), self.constant_int(hi));
        let (first, last) = (first?, last?);
        let n_values = i128::from(last) - i128::from(first) + 1;
        if n_values > i128::from(limit) {
            let span = lo.span.to(hi.span);
            let message = format!("{n_values} values are too many here");
            let help = format!("at most {limit} are possible");
            self.report(Diagnostic::error("range-too-large", span, message).help(help));
            return None;
        }
        Some((first, last))
    }

    pub(super) fn value_of(&mut self, expr: &Expr, span: Span) -> Option<i64> {
        let mut budget = MAX_EXPANSION;
        let problem = match evaluate(expr, &mut Vec::new(), &mut budget) {
            Ok(value) => return Some(value),
            Err(problem) => problem,
        };

        let diagnostic = match problem {
            Problem::State => Diagnostic::error(
                "not-constant",
                span,
                "this must be constant, but depends on the state or on a bound name",
            ),
            Problem::Arithmetic(what) => Diagnostic::error("constant-arithmetic", span, what),
            Problem::Budget => Diagnostic::error(
                "range-too-large",
                span,
                "this constant takes too long to work out",
            ),
        };

        self.report(diagnostic);
        None
    }
}

/// Why an expression has no constant value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// It depends on the state or on a name that is not bound inside.
    State,
    /// It has no value.
    Arithmetic(&'static str),
    /// It takes too long.
    Budget,
}

/// The value of a constant expression, by at most `budget` evaluations.
pub(super) fn evaluate(
    expr: &Expr,
    env: &mut Vec<(BoundId, i64)>,
    budget: &mut i64,
) -> Result<i64, Problem> {
    *budget -= 1;
    if *budget < 0 {
        return Err(Problem::Budget);
    }
    const OVERFLOW: Problem = Problem::Arithmetic("the value does not fit into 64 bits");
    Ok(match expr {
        Expr::Int(value) => *value,
        Expr::Bool(value) => i64::from(*value),
        Expr::Enum(_, variant) => i64::from(*variant),
        Expr::Bound(bound) => {
            let found = env.iter().rev().find(|(name, _)| name == bound);
            found.ok_or(Problem::State)?.1
        }
        Expr::Read(_) | Expr::At { .. } | Expr::Length(_) => return Err(Problem::State),
        Expr::Wrap { .. } => unreachable!("the language has no such operator"),
        Expr::Not(inner) => 1 - evaluate(inner, env, budget)?,
        Expr::Neg(inner) => evaluate(inner, env, budget)?
            .checked_neg()
            .ok_or(OVERFLOW)?,
        Expr::Binary(op, left, right) => {
            let a = evaluate(left, env, budget)?;
            match (op, a) {
                // Short circuit: what is not evaluated cannot fail, as at run time.
                (BinaryOp::And, 0) => 0,
                (BinaryOp::Or, 1) | (BinaryOp::Implies, 0) => 1,
                _ => apply(*op, a, evaluate(right, env, budget)?)?,
            }
        }
        Expr::Ite(condition, then, otherwise) => {
            let condition = evaluate(condition, env, budget)? != 0;
            evaluate(if condition { then } else { otherwise }, env, budget)?
        }
        Expr::Quantified {
            quantifier,
            bound,
            lo,
            hi,
            body,
        } => {
            let range = evaluate(lo, env, budget)?..=evaluate(hi, env, budget)?;
            let mut sum = 0_i64;
            for value in range {
                env.push((*bound, value));
                let instance = evaluate(body, env, budget);
                env.pop();
                match (quantifier, instance?) {
                    (Quantifier::Forall, 0) => return Ok(0),
                    (Quantifier::Exists, 1) => return Ok(1),
                    (Quantifier::Sum, value) => sum = sum.checked_add(value).ok_or(OVERFLOW)?,
                    _ => {}
                }
            }
            match quantifier {
                Quantifier::Forall => 1,
                Quantifier::Exists => 0,
                Quantifier::Sum => sum,
            }
        }
    })
}

fn apply(op: BinaryOp, a: i64, b: i64) -> Result<i64, Problem> {
    let checked =
        |v: Option<i64>| v.ok_or(Problem::Arithmetic("the value does not fit into 64 bits"));
    Ok(match op {
        BinaryOp::Add => checked(a.checked_add(b))?,
        BinaryOp::Sub => checked(a.checked_sub(b))?,
        BinaryOp::Mul => checked(a.checked_mul(b))?,
        BinaryOp::Div | BinaryOp::Mod if b == 0 => {
            return Err(Problem::Arithmetic("division by zero"));
        }
        BinaryOp::Div => checked(a.checked_div_euclid(b))?,
        BinaryOp::Mod => a.checked_rem_euclid(b).unwrap_or(0),
        BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => unreachable!("the language has no such operator"),
        BinaryOp::And => i64::from(a != 0 && b != 0),
        BinaryOp::Or => i64::from(a != 0 || b != 0),
        BinaryOp::Implies => i64::from(a == 0 || b != 0),
        BinaryOp::Eq => i64::from(a == b),
        BinaryOp::Ne => i64::from(a != b),
        BinaryOp::Lt => i64::from(a < b),
        BinaryOp::Le => i64::from(a <= b),
        BinaryOp::Gt => i64::from(a > b),
        BinaryOp::Ge => i64::from(a >= b),
    })
}

/// The literal that an expression over literals equals, else the expression itself.
pub(super) fn simplify(expr: Expr, ty: Ty) -> Expr {
    let is_literal = |e: &Expr| e.as_literal().is_some();
    let foldable = match &expr {
        Expr::Not(inner) | Expr::Neg(inner) => is_literal(inner),
        Expr::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
            // The right side is not evaluated if the left one is false.
            left.is_bool(false) || (is_literal(left) && is_literal(right))
        }
        Expr::Binary(_, left, right) => is_literal(left) && is_literal(right),
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => false,
    };

    if !foldable {
        return expr;
    }
    match evaluate(&expr, &mut Vec::new(), &mut 16) {
        Ok(value) => literal(value, ty),
        Err(_) => expr,
    }
}

/// A value as an expression.
pub(super) fn literal(value: i64, ty: Ty) -> Expr {
    match ty {
        Ty::Bool => Expr::Bool(value != 0),
        Ty::Int => Expr::Int(value),
        Ty::Enum(id) => Expr::Enum(id, value as u32),
    }
}
