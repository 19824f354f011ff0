//! Functions that belong to the language, and what they are applied to.

use base::{Diagnostic, Span};
use model::{BinaryOp, ChannelRef, Expr};

use super::Lowerer;
use super::constants::simplify;
use super::fresh;
use super::names::{Global, Ty, Value};
use super::values::length_of;
use crate::ast::{self, ExprKind};

impl<'a> Lowerer<'a> {
    pub(super) fn arithmetic_function(
        &mut self,
        name: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        let wanted = if name == "abs" { 1 } else { 2 };
        if arguments.len() != wanted {
            let message = format!("`{name}` takes {wanted} argument(s)");
            self.report(Diagnostic::error("wrong-arguments", span, message));
            return None;
        }

        let a = self.int_expr(&arguments[0])?;
        // Evaluated twice by the model, so the second copy needs binders of its own.
        let copy = |lowerer: &mut Self, expr: &Expr| lowerer.copy_of(expr);

        self.spend(fresh::measure(&a).1, 0, span)?;
        let again = copy(self, &a);
        let (op, other, other_again) = match name {
            "abs" => (
                BinaryOp::Ge,
                Expr::Int(0),
                Expr::Neg(Box::new(copy(self, &a))),
            ),
            _ => {
                let b = self.int_expr(&arguments[1])?;
                self.spend(fresh::measure(&b).1, 0, span)?;
                let op = if name == "min" {
                    BinaryOp::Le
                } else {
                    BinaryOp::Ge
                };
                let b_again = copy(self, &b);
                (op, b, b_again)
            }
        };

        let condition = simplify(Expr::binary(op, a, other), Ty::Bool);
        let result = if condition.is_bool(true) {
            again
        } else if condition.is_bool(false) {
            simplify(other_again, Ty::Int)
        } else {
            Expr::Ite(Box::new(condition), Box::new(again), Box::new(other_again))
        };

        Some(Value::Scalar(result, Ty::Int))
    }

    pub(super) fn channel_function(
        &mut self,
        name: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        let [argument] = arguments else {
            let message = format!("`{name}` takes one channel");
            self.report(Diagnostic::error("wrong-arguments", span, message));
            return None;
        };

        let (length, capacity) = match self.buffer_place(argument)? {
            Some((place, buffer)) => (length_of(&place), buffer.capacity),
            None => {
                let reference = self.channel_reference(argument)?;
                let capacity = self.parts.channels[reference.channel.index()].capacity;
                (Expr::Length(reference), capacity)
            }
        };

        Some(match name {
            "len" => Value::Scalar(length, Ty::Int),
            "empty" => Value::Scalar(Expr::binary(BinaryOp::Eq, length, Expr::Int(0)), Ty::Bool),
            _ => {
                let capacity = Expr::Int(capacity as i64);
                Value::Scalar(Expr::binary(BinaryOp::Eq, length, capacity), Ty::Bool)
            }
        })
    }

    /// `c` or `c[i]`.
    pub(super) fn channel_reference(&mut self, expr: &'a ast::Expr) -> Option<ChannelRef> {
        let (name, index) = match &expr.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(base, index) => match &base.kind {
                ExprKind::Name(name) => (name, Some(&**index)),
                _ => return self.report_no_channel(expr.span),
            },
            _ => return self.report_no_channel(expr.span),
        };

        let channel = match self.unshadowed(name) {
            Some(Global::Chan(id)) => id,
            Some(Global::Broken) => return None,
            None if self.binding(name).is_none() && self.local(name).is_none() => {
                self.report_unknown(name, expr.span);
                return None;
            }
            _ => return self.report_no_channel(expr.span),
        };

        let is_array = self.parts.channels[channel.index()].indices.is_some();
        let index = self.channel_index(name, index, is_array, expr.span)?;
        let index = index.map(Box::new);
        Some(ChannelRef { channel, index })
    }

    /// Which channel of an array is meant; nothing for a single one.
    pub(super) fn channel_index(
        &mut self,
        name: &str,
        index: Option<&'a ast::Expr>,
        is_array: bool,
        span: Span,
    ) -> Option<Option<Expr>> {
        match index {
            Some(index) if is_array => Some(Some(self.int_expr(index)?)),
            None if !is_array => Some(None),
            Some(_) => {
                let message = format!("`{name}` is a single channel and has no index");
                self.report(Diagnostic::error("not-an-array", span, message));
                None
            }
            None => {
                let message = format!("`{name}` is an array of channels");
                let help = format!("say which one is meant: `{name}[i]`");
                self.report(Diagnostic::error("missing-index", span, message).help(help));
                None
            }
        }
    }

    fn report_no_channel(&mut self, span: Span) -> Option<ChannelRef> {
        self.report(Diagnostic::error(
            "not-a-channel",
            span,
            "this is not a channel",
        ));
        None
    }
}
