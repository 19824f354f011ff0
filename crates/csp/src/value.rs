//! Expressions of the model that expressions of the text stand for.

use std::collections::HashMap;

use base::{Diagnostic, Span};
use model::{Access, BinaryOp as Op, Expr as Value, Owner, Place, Quantifier};

use super::ast::{BinaryOp, Expr, ExprKind, ExprRef, IndexDef, IndexValues};
use super::functions::chosen;
use super::lexer::Name;
use super::ranges::{Evaluation, Interval};
use super::scope::{self, Ty};
use super::term::{Arg, Env, Machine};

/// The most values that an `xor` over a range is written out for.
const MAX_XOR: i64 = 10_000;

/// A value and its type.
pub(crate) type Typed = (Value, Ty);

impl Machine<'_> {
    /// The value of an expression, if it is known now. Reports nothing.
    pub(crate) fn const_value(&self, expr: &Expr, env: &Env) -> Option<(i64, Ty)> {
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, Ty::Int)),
            ExprKind::Bool(value) => Some((i64::from(*value), Ty::Bool)),
            ExprKind::Name(name) => match env.get(name) {
                Some(Arg::Const(value, ty)) => Some((*value, *ty)),
                Some(_) => None,
                None => match self.scope.constants.get(name) {
                    Some(constant) => Some(*constant),
                    None => self.never_changed(name, &[]),
                },
            },
            ExprKind::Index(name, _) if matches!(env.get(name), Some(Arg::Array(_))) => None,
            ExprKind::Index(name, indices) => {
                let value = |index: &ExprRef| Some(self.const_value(index, env)?.0);
                let indices: Option<Vec<i64>> = indices.iter().map(value).collect();
                self.never_changed(name, &indices?)
            }
            ExprKind::Not(inner) => {
                let (value, _) = self.const_value(inner, env)?;
                Some((i64::from(value == 0), Ty::Bool))
            }
            ExprKind::Neg(inner) => {
                let (value, _) = self.const_value(inner, env)?;
                Some((value.checked_neg()?, Ty::Int))
            }
            ExprKind::Binary(op, left, right) => {
                let (a, _) = self.const_value(left, env)?;
                let (b, _) = self.const_value(right, env)?;
                scope::binary(*op, a, b)
            }
            _ => None,
        }
    }

    /// The value of a cell that nothing assigns to in this system.
    fn never_changed(&self, name: &Name, indices: &[i64]) -> Option<(i64, Ty)> {
        let var = *self.scope.var_by_name.get(name)?;
        let decl = &self.scope.vars[var];
        if self.ranges.vars[var].is_data || decl.dimensions.len() != indices.len() {
            return None;
        }
        let mut position = 0;
        for (index, len) in indices.iter().zip(&decl.dimensions) {
            if !(0..*len).contains(index) {
                return None;
            }
            position = position * len + index;
        }
        let value = decl.initial.as_ref()?.get(position as usize)?;
        Some((*value, self.ranges.var_types[var]))
    }

    /// The value of an expression that must be known now.
    pub(crate) fn constant(&mut self, expr: &Expr, env: &Env, what: &str) -> Option<i64> {
        if let Some((value, _)) = self.const_value(expr, env) {
            return Some(value);
        }
        // Unknown names are the better message.
        let (value, _) = self.value(expr, env)?;
        // shape: what is not a number has no value before the system runs.
        if let Value::Int(value) = value {
            return Some(value);
        }
        self.error(
            "not-constant",
            expr.span,
            format!("{what} must be known before the system runs"),
        )
    }

    /// All values that an expression can have.
    pub(crate) fn interval(&self, expr: &Expr, env: &Env) -> Option<Interval> {
        let constant = |(name, arg): &(Name, Arg)| match arg {
            Arg::Const(value, _) => Some((name.clone(), Some((*value, *value)))),
            _ => None,
        };
        let known = HashMap::new();
        let mut evaluation = Evaluation {
            scope: self.scope,
            ranges: self.ranges,
            def: env.def,
            known: &known,
            locals: env.values.iter().filter_map(constant).collect(),
            depth: 0,
        };
        evaluation.eval(expr)
    }

    /// The model's expression for an expression of the text.
    pub(crate) fn value(&mut self, expr: &Expr, env: &Env) -> Option<Typed> {
        let mut context = Context {
            env,
            locals: Vec::new(),
            depth: 0,
        };
        self.value_in(expr, &mut context)
    }

    /// The same, for an expression that must be true or false.
    pub(crate) fn condition(&mut self, expr: &Expr, env: &Env) -> Option<Value> {
        let mut context = Context {
            env,
            locals: Vec::new(),
            depth: 0,
        };
        self.condition_in(expr, &mut context)
    }

    pub(crate) fn condition_in(&mut self, expr: &Expr, context: &mut Context<'_>) -> Option<Value> {
        let (value, ty) = self.value_in(expr, context)?;
        if !ty.fits(Ty::Bool) {
            return self.mixed(expr.span, "a condition", "a number");
        }
        Some(truth(value))
    }

    pub(crate) fn mixed<T>(&mut self, span: Span, wanted: &str, found: &str) -> Option<T> {
        let message = format!("this is {found}, but {wanted} is needed");
        self.error("type-mismatch", span, message)
    }

    pub(crate) fn number_in(&mut self, expr: &Expr, context: &mut Context<'_>) -> Option<Value> {
        let (value, ty) = self.value_in(expr, context)?;
        if !ty.fits(Ty::Int) {
            return self.mixed(expr.span, "a number", "a truth value");
        }
        Some(value)
    }

    pub(crate) fn value_in(&mut self, expr: &Expr, context: &mut Context<'_>) -> Option<Typed> {
        match &expr.kind {
            ExprKind::Int(value) => Some((Value::Int(*value), Ty::Int)),
            ExprKind::Bool(value) => Some((Value::Bool(*value), Ty::Bool)),
            ExprKind::Name(name) => self.named(name, expr.span, context),
            ExprKind::Index(name, indices) => {
                if let Some(Arg::Array(cells)) = context.env.get(name) {
                    return self.received_cell(&cells.clone(), indices, expr.span, context);
                }
                let place = self.element(name, indices, expr.span, context)?;
                if context.locals.is_empty()
                    && let Some((value, ty)) = self.const_value(expr, context.env)
                {
                    return Some((literal(value, ty), ty));
                }
                let ty = self.type_at(&place);
                Some((Value::Read(place), ty))
            }
            ExprKind::Not(inner) => {
                let inner = self.condition_in(inner, context)?;
                Some((Value::not(inner), Ty::Bool))
            }
            ExprKind::Neg(inner) => Some((negated(self.number_in(inner, context)?), Ty::Int)),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, context),
            ExprKind::Indexed(op, indices, body) => self.quantified(*op, indices, body, context),
            ExprKind::Call(name, arguments) => self.function(name, arguments, expr.span, context),
            ExprKind::Assign(..) | ExprKind::Increment(..) => self.error(
                "assignment",
                expr.span,
                "an assignment is not a value; write `==` to compare",
            ),
        }
    }

    fn named(&mut self, name: &Name, span: Span, context: &mut Context<'_>) -> Option<Typed> {
        if let Some((_, value)) = context.locals.iter().rev().find(|(local, _)| local == name) {
            return Some(value.clone());
        }
        if let Some(arg) = context.env.get(name) {
            if let Arg::Array(_) = arg {
                return self.mixed(span, "a single value", &format!("the array `{name}`"));
            }
            return self.arg(&arg.clone());
        }
        if let Some((value, ty)) = self.scope.constants.get(name) {
            return Some((literal(*value, *ty), *ty));
        }

        if let Some(&var) = self.scope.var_by_name.get(name) {
            if !self.scope.vars[var].dimensions.is_empty() {
                return self.mixed(span, "a single value", &format!("the array `{name}`"));
            }
            if let Some((value, ty)) = self.never_changed(name, &[]) {
                return Some((literal(value, ty), ty));
            }
            return Some((
                Value::Read(self.cell(var, Vec::new())),
                self.ranges.var_types[var],
            ));
        }

        if self.scope.macros.contains_key(name) {
            return self.expand(name, &[], span, context);
        }
        self.unknown_name(name, span)
    }

    pub(crate) fn unknown_name<T>(&mut self, name: &Name, span: Span) -> Option<T> {
        if self.scope.channel_by_name.contains_key(name) {
            return self.mixed(span, "a value", &format!("the channel `{name}`"));
        }
        if self.scope.process_by_name.contains_key(name) {
            return self.mixed(span, "a value", &format!("the process `{name}`"));
        }
        let known = self.scope.var_by_name.keys();
        let known = known
            .chain(self.scope.constants.keys())
            .chain(self.scope.macros.keys());
        let advice = self.scope.advice(name, known);
        let message = format!("there is no variable, constant or parameter `{name}`");
        let mut diagnostic = Diagnostic::error("unknown-name", span, message);
        if !advice.is_empty() {
            diagnostic = diagnostic.help(advice);
        }
        self.diagnostics.push(diagnostic);
        None
    }

    /// What a name stands for, as a value.
    pub(crate) fn arg(&mut self, arg: &Arg) -> Option<Typed> {
        Some(match arg {
            Arg::Const(value, ty) => (literal(*value, *ty), *ty),
            Arg::Slot(slot) => (Value::Read(self.slot(*slot)), Ty::Any),
            Arg::Bound(bound) => (Value::Bound(*bound), Ty::Any),
            Arg::Lazy(expr, env) => return self.value(&expr.0, env),
            Arg::Array(_) => {
                return self.mixed(Span::nowhere(), "a single value", "an array");
            }
        })
    }

    pub(crate) fn slot(&self, slot: u16) -> Place {
        Place {
            var: self.slots[usize::from(slot)].var,
            // Not `Own`: the receiver of a message evaluates expressions of the sender.
            owner: Some(Owner::Single),
            path: Vec::new(),
        }
    }

    pub(crate) fn cell(&self, var: usize, path: Vec<Access>) -> Place {
        match self.scratch.get(&var) {
            Some(own) => Place {
                var: *own,
                owner: Some(Owner::Single),
                path,
            },
            None => Place {
                var: model::VarId::new(var),
                owner: None,
                path,
            },
        }
    }

    /// The type of what a place holds.
    pub(crate) fn type_at(&self, place: &Place) -> Ty {
        match place.owner {
            Some(_) => Ty::Any,
            None => self.ranges.var_types[place.var.index()],
        }
    }

    /// An element of an array variable.
    pub(crate) fn element(
        &mut self,
        name: &Name,
        indices: &[ExprRef],
        span: Span,
        context: &mut Context<'_>,
    ) -> Option<Place> {
        let Some(&var) = self.scope.var_by_name.get(name) else {
            let is_known =
                context.env.get(name).is_some() || self.scope.constants.contains_key(name);
            return if is_known {
                self.mixed(span, "an array", &format!("the single value `{name}`"))
            } else {
                self.unknown_name(name, span)
            };
        };

        let dimensions = self.scope.vars[var].dimensions.len();
        if dimensions != indices.len() {
            let message = match dimensions {
                0 => format!("`{name}` is a single value, not an array"),
                n => format!("`{name}` needs {n} indices, not {}", indices.len()),
            };
            return self.error("type-mismatch", span, message);
        }

        let mut path = Vec::new();
        for index in indices {
            path.push(Access::Index(self.number_in(index, context)?));
        }
        Some(self.cell(var, path))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        match op {
            BinaryOp::Or | BinaryOp::And | BinaryOp::Xor => {
                let a = self.condition_in(left, context)?;
                let b = self.condition_in(right, context)?;
                Some((logical(op, a, b), Ty::Bool))
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                if let Some(a) = self.whole_array(left, context)
                    && let Some(b) = self.whole_array(right, context)
                {
                    let same = self.equal_arrays(a, b, left.span.to(right.span))?;
                    let is_eq = op == BinaryOp::Eq;
                    return Some((if is_eq { same } else { Value::not(same) }, Ty::Bool));
                }
                let (a, ty) = self.value_in(left, context)?;
                let (b, other) = self.value_in(right, context)?;
                if !ty.fits(other) {
                    let span = left.span.to(right.span);
                    let message = "a number is compared with a truth value";
                    return self.error("type-mismatch", span, message);
                }
                Some((comparison(op, a, b), Ty::Bool))
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let (a, ty) = self.value_in(left, context)?;
                let (b, other) = self.value_in(right, context)?;
                if !ty.fits(other) {
                    let span = left.span.to(right.span);
                    return self.mixed(span, "two values of one type", "a mixture");
                }
                let result = if ty == Ty::Any { other } else { ty };
                Some((arithmetic(op, a, b), result))
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let a = self.number_in(left, context)?;
                let b = self.number_in(right, context)?;
                Some((comparison(op, a, b), Ty::Bool))
            }
            _ => {
                let a = self.number_in(left, context)?;
                let b = self.number_in(right, context)?;
                Some((arithmetic(op, a, b), Ty::Int))
            }
        }
    }

    /// The variable that an expression is, if that is an array as a whole.
    pub(crate) fn whole_array(&self, expr: &Expr, context: &Context<'_>) -> Option<usize> {
        let ExprKind::Name(name) = &expr.kind else {
            return None;
        };
        let is_hidden = context.locals.iter().any(|(local, _)| local == name)
            || context.env.get(name).is_some()
            || self.scope.constants.contains_key(name);
        let var = *self.scope.var_by_name.get(name)?;
        (!is_hidden && !self.scope.vars[var].dimensions.is_empty()).then_some(var)
    }

    /// The dimensions of two arrays, which must be the same.
    pub(crate) fn same_dimensions(&mut self, a: usize, b: usize, span: Span) -> Option<Vec<i64>> {
        let (left, right) = (&self.scope.vars[a], &self.scope.vars[b]);
        if left.dimensions == right.dimensions {
            return Some(left.dimensions.clone());
        }
        let message = format!(
            "`{}` and `{}` have different dimensions",
            left.name.text, right.name.text
        );
        self.error("type-mismatch", span, message)
    }

    /// Names for the indices of a cell, and the way to it.
    pub(crate) fn cell_path(&mut self, dimensions: &[i64]) -> (Vec<model::BoundId>, Vec<Access>) {
        let bounds = dimensions.iter().map(|_| self.fresh("index"));
        let bounds: Vec<model::BoundId> = bounds.collect();
        let path = bounds
            .iter()
            .map(|bound| Access::Index(Value::Bound(*bound)));
        let path = path.collect();
        (bounds, path)
    }

    /// Are all cells of two arrays the same?
    fn equal_arrays(&mut self, a: usize, b: usize, span: Span) -> Option<Value> {
        let dimensions = self.same_dimensions(a, b, span)?;
        let (bounds, path) = self.cell_path(&dimensions);
        let left = Value::Read(self.cell(a, path.clone()));
        let right = Value::Read(self.cell(b, path));
        let every = |body: Value, (bound, len): (model::BoundId, &i64)| Value::Quantified {
            quantifier: Quantifier::Forall,
            bound,
            lo: Box::new(Value::Int(0)),
            hi: Box::new(Value::Int(len - 1)),
            body: Box::new(body),
        };
        let equal = comparison(BinaryOp::Eq, left, right);
        Some(bounds.into_iter().zip(&dimensions).rev().fold(equal, every))
    }

    /// `&& i:{..} @ e`: a quantifier if the ranges are constant or not.
    fn quantified(
        &mut self,
        op: BinaryOp,
        indices: &[IndexDef],
        body: &Expr,
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        let is_sum = op == BinaryOp::Add;
        let Some((index, rest)) = indices.split_first() else {
            return if is_sum {
                Some((self.number_in(body, context)?, Ty::Int))
            } else {
                Some((self.condition_in(body, context)?, Ty::Bool))
            };
        };
        let n_locals = context.locals.len();
        let result = match &index.values {
            // The model has no quantifier for exclusive or, so an `xor` over a range is written out
            // below.
            IndexValues::Range(lo, hi) if op != BinaryOp::Xor => {
                let lo = self.number_in(lo, context)?;
                let hi = self.number_in(hi, context)?;
                let bound = self.fresh(&index.name.text);
                let local = (index.name.text.clone(), (Value::Bound(bound), Ty::Int));
                context.locals.push(local);
                let (body, _) = self.quantified(op, rest, body, context)?;
                let quantifier = match op {
                    BinaryOp::And => Quantifier::Forall,
                    BinaryOp::Add => Quantifier::Sum,
                    _ => Quantifier::Exists,
                };
                Value::Quantified {
                    quantifier,
                    bound,
                    lo: Box::new(lo),
                    hi: Box::new(hi),
                    body: Box::new(body),
                }
            }
            values => {
                let list = match values {
                    IndexValues::List(list) => {
                        let mut numbers = Vec::new();
                        for expr in list {
                            numbers.push(self.number_in(expr, context)?);
                        }
                        numbers
                    }
                    IndexValues::Range(lo, hi) => {
                        let first = self.constant(lo, context.env, "the end of a range")?;
                        let last = self.constant(hi, context.env, "the end of a range")?;
                        // A shorter list would be another formula.
                        if last.saturating_sub(first) >= MAX_XOR {
                            let message = format!("an `xor` over more than {MAX_XOR} values");
                            return self.error("bad-size", hi.span, message);
                        }
                        (first..=last).map(Value::Int).collect()
                    }
                };
                let mut result = Value::Bool(op == BinaryOp::And);
                for value in list {
                    let local = (index.name.text.clone(), (value, Ty::Int));
                    context.locals.push(local);
                    let (part, _) = self.quantified(op, rest, body, context)?;
                    context.locals.pop();
                    result = logical(op, result, part);
                }
                result
            }
        };

        context.locals.truncate(n_locals);
        Some((result, if is_sum { Ty::Int } else { Ty::Bool }))
    }
}

/// Where an expression stands.
pub(crate) struct Context<'e> {
    pub(crate) env: &'e Env,
    /// Local variables of programs, bound names and parameters of macros, innermost last.
    pub(crate) locals: Vec<(Name, Typed)>,
    pub(crate) depth: usize,
}

fn literal(value: i64, ty: Ty) -> Value {
    match ty {
        Ty::Bool => Value::Bool(value != 0),
        _ => Value::Int(value),
    }
}

/// The number that a constant is.
pub(crate) fn known(value: &Value) -> Option<i64> {
    value.as_literal()
}

/// The negation of a number.
fn negated(value: Value) -> Value {
    // shape: everything else is negated when it is evaluated.
    if let Value::Int(value) = value {
        return Value::Int(value.wrapping_neg());
    }
    Value::Neg(Box::new(value))
}

/// A value as a condition: a cell that may hold numbers is compared with zero.
pub(crate) fn truth(value: Value) -> Value {
    match value {
        Value::Int(value) => Value::Bool(value != 0),
        Value::Read(_) | Value::Bound(_) => comparison(BinaryOp::Ne, value, Value::Int(0)),
        other @ (Value::Bool(_)
        | Value::Enum(..)
        | Value::Not(_)
        | Value::Neg(_)
        | Value::Binary(..)
        | Value::Ite(..)
        | Value::Quantified { .. }
        | Value::At { .. }
        | Value::Length(_)
        | Value::Wrap { .. }) => other,
    }
}

pub(crate) fn logical(op: BinaryOp, a: Value, b: Value) -> Value {
    match (op, known(&a), known(&b)) {
        (BinaryOp::And, Some(0), _) => Value::Bool(false),
        (BinaryOp::And, Some(_), _) => b,
        (BinaryOp::And, None, Some(1)) => a,
        (BinaryOp::And, ..) => Value::binary(Op::And, a, b),
        (BinaryOp::Or, Some(0), _) => b,
        (BinaryOp::Or, Some(_), _) => Value::Bool(true),
        (BinaryOp::Or, None, Some(0)) => a,
        (BinaryOp::Or, ..) => Value::binary(Op::Or, a, b),
        (_, Some(a), Some(b)) => Value::Bool((a != 0) != (b != 0)),
        _ => Value::binary(Op::Ne, a, b),
    }
}

pub(crate) fn comparison(op: BinaryOp, a: Value, b: Value) -> Value {
    if let (Some(a), Some(b)) = (known(&a), known(&b))
        && let Some((value, _)) = scope::binary(op, a, b)
    {
        return Value::Bool(value != 0);
    }
    let op = match op {
        BinaryOp::Eq => Op::Eq,
        BinaryOp::Ne => Op::Ne,
        BinaryOp::Lt => Op::Lt,
        BinaryOp::Le => Op::Le,
        BinaryOp::Gt => Op::Gt,
        _ => Op::Ge,
    };
    Value::binary(op, a, b)
}

pub(crate) fn arithmetic(op: BinaryOp, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (known(&a), known(&b))
        && let Some((value, _)) = scope::binary(op, x, y)
    {
        return Value::Int(value);
    }
    // PAT adds the divisor to a remainder below zero, whatever the sign of the divisor. For one above
    // zero that is the Euclidean remainder.
    if op == BinaryOp::Rem && known(&b).is_none_or(|divisor| divisor <= 0) {
        let left = Value::binary(Op::Rem, a, b.clone());
        let is_below = comparison(BinaryOp::Lt, left.clone(), Value::Int(0));
        return chosen(is_below, Value::binary(Op::Add, left.clone(), b), left);
    }
    let op = match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div => Op::Quot,
        BinaryOp::Rem => Op::Mod,
        BinaryOp::BitAnd => Op::BitAnd,
        BinaryOp::BitOr => Op::BitOr,
        _ => Op::BitXor,
    };
    Value::binary(op, a, b)
}
