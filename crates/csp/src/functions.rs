//! Functions in expressions: those of channels, of numbers, and macros.

use model::Expr as Value;

use super::ast::{BinaryOp, ExprKind, ExprRef, Ident, MacroBody};
use super::lexer::Name;
use super::scope::Ty;
use super::term::Machine;
use super::value::{Context, Typed, arithmetic, comparison, known};
use base::Span;

/// Macros nested deeper than this are taken to be recursive.
const MAX_EXPANSION: usize = 50;

/// The power of two numbers, which no expression without loop could say.
pub(crate) const POWER: &str = "Pow";

/// The highest exponent that fits: greater powers of two do not fit into 32 bits.
const MAX_EXPONENT: i64 = 31;

impl Machine<'_> {
    pub(crate) fn function(
        &mut self,
        name: &Ident,
        arguments: &[ExprRef],
        span: Span,
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        match &*name.text {
            "cfull" | "cempty" | "ccount" | "csize" | "cpeek" => {
                self.channel_function(name, arguments, context)
            }
            "if" if arguments.len() == 3 => {
                let condition = self.condition_in(&arguments[0], context)?;
                let (yes, ty) = self.value_in(&arguments[1], context)?;
                let (no, other) = self.value_in(&arguments[2], context)?;
                let ty = if ty == other { ty } else { Ty::Any };
                Some((chosen(condition, yes, no), ty))
            }
            POWER if arguments.len() == 2 && !self.scope.macros.contains_key(&name.text) => {
                let base = self.number_in(&arguments[0], context)?;
                let exponent = self.number_in(&arguments[1], context)?;
                Some((power(&base, &exponent), Ty::Int))
            }
            _ if self.scope.macros.contains_key(&name.text) => {
                self.expand(&name.text, arguments, span, context)
            }
            _ => {
                let message = format!("there is no macro or built-in `{}`", name.text);
                self.error("unknown-name", name.span, message)
            }
        }
    }

    fn channel_function(
        &mut self,
        name: &Ident,
        arguments: &[ExprRef],
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        let Some(first) = arguments.first() else {
            return self.error("wrong-arity", name.span, "which channel?");
        };
        let (channel, index) = match &first.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(name, indices) if indices.len() == 1 => {
                (name, Some(self.number_in(&indices[0], context)?))
            }
            _ => return self.error("type-mismatch", first.span, "a channel is needed here"),
        };

        let Some(&channel) = self.scope.channel_by_name.get(channel) else {
            let message = format!("`{channel}` is not a channel");
            return self.error("type-mismatch", first.span, message);
        };
        let size = self.scope.channels[channel].size;
        if index.is_some() != self.scope.channels[channel].count.is_some() {
            let message = "an array of channels needs an index, a single channel has none";
            return self.error("type-mismatch", first.span, message);
        }

        let count = match self.buffers[channel] {
            Some(_) => Value::Read(self.message_count(channel, index.clone())),
            None => Value::Int(0),
        };
        let size = Value::Int(size);
        Some(match &*name.text {
            "cfull" => (comparison(BinaryOp::Eq, count, size), Ty::Bool),
            "cempty" => (comparison(BinaryOp::Eq, count, Value::Int(0)), Ty::Bool),
            "ccount" => (count, Ty::Int),
            "csize" => (size, Ty::Int),
            _ => {
                if self.buffers[channel].is_none() {
                    let message = "a channel without buffer has nothing to look at";
                    return self.error("type-mismatch", first.span, message);
                }
                let forms = &self.ranges.forms[channel];
                if forms.iter().flatten().any(Option::is_some) {
                    let message = "messages with arrays cannot be looked at; receive them";
                    return self.error("unsupported", first.span, message);
                }
                let component = match arguments.get(1) {
                    Some(component) => self.constant(component, context.env, "the component")?,
                    None => 0,
                };
                let position = Value::Int(0);
                let place = self.message_cell(channel, index, position, component as usize);
                (Value::Read(place), Ty::Any)
            }
        })
    }

    /// The value of a macro.
    pub(crate) fn expand(
        &mut self,
        name: &Name,
        arguments: &[ExprRef],
        span: Span,
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        let decl = self.scope.macros[name].clone();
        if context.depth >= MAX_EXPANSION {
            let message = format!("the macro `{name}` is defined by itself");
            return self.error("recursive-macro", span, message);
        }

        let MacroBody::Expr(body) = &decl.body else {
            return self.mixed(span, "a value", &format!("the program `{name}`"));
        };
        if decl.parameters.len() != arguments.len() {
            let (wanted, given) = (decl.parameters.len(), arguments.len());
            let message = format!("`{name}` takes {wanted} arguments, not {given}");
            return self.error("wrong-arity", span, message);
        }

        let mut locals = Vec::new();
        for (parameter, argument) in decl.parameters.iter().zip(arguments) {
            let value = self.value_in(argument, context)?;
            locals.push((parameter.text.clone(), value));
        }

        // Only its parameters and what is global is known in a macro.
        let env = super::outside();
        let mut inner = Context {
            env: &env,
            locals,
            depth: context.depth + 1,
        };
        self.value_in(body, &mut inner)
    }
}

/// If, then, else.
pub(crate) fn chosen(condition: Value, yes: Value, no: Value) -> Value {
    match known(&condition) {
        Some(0) => no,
        Some(_) => yes,
        None => Value::Ite(Box::new(condition), Box::new(yes), Box::new(no)),
    }
}

/// `b` to the power of `e`: 1 if `e` is 0, else `b` times the power of one less.
fn power(base: &Value, exponent: &Value) -> Value {
    let step = |rest: Value, n: i64| {
        let is_zero = comparison(BinaryOp::Le, exponent.clone(), Value::Int(n));
        let product = arithmetic(BinaryOp::Mul, base.clone(), rest);
        chosen(is_zero, Value::Int(1), product)
    };
    (0..=MAX_EXPONENT).rev().fold(Value::Int(1), step)
}
