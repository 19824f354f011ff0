//! Programs of events as statements of the model.

use base::Span;
use model::{Place, Stmt, StmtKind};

use super::ast::{
    BinaryOp, Expr, ExprKind, ExprRef, MacroBody, Stmt as Text, StmtKind as TextKind,
};
use super::lexer::Name;
use super::scope::Ty;
use super::term::{Env, Machine};
use super::value::{Context, Typed, arithmetic};

/// Macros nested deeper than this are taken to be recursive.
const MAX_EXPANSION: usize = 50;

/// What an assignment changes.
enum Target {
    Cell(Place),
    Local(model::BoundId),
}

impl Machine<'_> {
    /// The statements of a program.
    pub(crate) fn program(&mut self, statements: &[Text], env: &Env) -> Option<Vec<Stmt>> {
        let mut context = Context {
            env,
            locals: Vec::new(),
            depth: 0,
        };
        let mut out = Vec::new();
        self.sequence(statements, &mut context, &mut out)?;
        Some(out)
    }

    fn sequence(
        &mut self,
        statements: &[Text],
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let n_locals = context.locals.len();
        for statement in statements {
            self.statement(statement, context, out)?;
        }
        context.locals.truncate(n_locals);
        Some(())
    }

    fn statement(
        &mut self,
        statement: &Text,
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let span = statement.span;
        match &statement.kind {
            TextKind::Empty => {}
            TextKind::Block(inner) => self.sequence(inner, context, out)?,
            TextKind::Local(name, value) => {
                let (value, ty) = match value {
                    Some(value) => self.assigned(value, context, out)?,
                    None => (model::Expr::Int(0), Ty::Any),
                };
                let bound = self.fresh(&name.text);
                out.push(Stmt::new(StmtKind::Let(bound, value), span));
                let local = (model::Expr::Bound(bound), ty);
                context.locals.push((name.text.clone(), local));
            }
            TextKind::If(condition, then, otherwise) => {
                let condition = self.condition_in(condition, context)?;
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.sequence(std::slice::from_ref(then), context, &mut yes)?;
                if let Some(otherwise) = otherwise {
                    self.sequence(std::slice::from_ref(otherwise), context, &mut no)?;
                }
                out.push(Stmt::new(StmtKind::If(condition, yes, no), span));
            }
            TextKind::While(condition, body) => {
                let condition = self.condition_in(condition, context)?;
                let mut inner = Vec::new();
                self.sequence(std::slice::from_ref(body), context, &mut inner)?;
                out.push(Stmt::new(StmtKind::While(condition, inner), span));
            }
            TextKind::Expr(expr) => self.effect(expr, context, out)?,
            TextKind::Clear(name) => self.clear(name, span, out)?,
            TextKind::Fail(Some(message)) => {
                out.push(Stmt::new(StmtKind::Fail(message.to_string()), span));
            }
            TextKind::Fail(None) => out.push(Stmt::new(StmtKind::Exhausted, span)),
            TextKind::LocalArray(..) | TextKind::LocalObject(_) => {
                unreachable!("objects and local arrays have become variables")
            }
        }

        Some(())
    }

    fn effect(
        &mut self,
        expr: &Expr,
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        match &expr.kind {
            ExprKind::Assign(target, value) => {
                if let Some(to) = self.whole_array(target, context)
                    && let Some(from) = self.whole_array(value, context)
                {
                    return self.copy_array(to, from, expr.span, out);
                }
                let value = self.assigned(value, context, out)?;
                self.assign(target, value, context, out)
            }
            ExprKind::Increment(target, by) => {
                let (old, _) = self.value_in(target, context)?;
                let value = arithmetic(BinaryOp::Add, old, model::Expr::Int(*by));
                self.assign(target, (value, Ty::Int), context, out)
            }
            ExprKind::Name(name) if self.is_program(name) => {
                let result = self.call_program(name, &[], expr.span, context, out);
                result.map(|_| ())
            }
            ExprKind::Call(name, arguments) if self.is_program(&name.text) => {
                let result = self.call_program(&name.text, arguments, expr.span, context, out);
                result.map(|_| ())
            }
            // An expression for its own sake has no effect, but it must make sense.
            _ => self.value_in(expr, context).map(|_| ()),
        }
    }

    /// All cells of a variable get their initial values.
    fn clear(&mut self, name: &Name, span: Span, out: &mut Vec<Stmt>) -> Option<()> {
        let Some(&var) = self.scope.var_by_name.get(name) else {
            return self.unknown_name(name, span);
        };
        let decl = &self.scope.vars[var];
        let first = decl.initial.as_ref().and_then(|values| values.first());
        let value = model::Expr::Int(first.copied().unwrap_or(0));
        let dimensions = decl.dimensions.clone();
        let (bounds, path) = self.cell_path(&dimensions);
        let store = StmtKind::Assign(self.cell(var, path), value);
        out.push(every_cell(store, bounds, &dimensions, span));
        Some(())
    }

    /// `a = b` of arrays: all cells, one by one.
    fn copy_array(
        &mut self,
        to: usize,
        from: usize,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let dimensions = self.same_dimensions(to, from, span)?;
        let (bounds, path) = self.cell_path(&dimensions);
        let value = model::Expr::Read(self.cell(from, path.clone()));
        let copy = StmtKind::Assign(self.cell(to, path), value);
        out.push(every_cell(copy, bounds, &dimensions, span));
        Some(())
    }

    /// The value of the right side; in `x = y = 1` that is the value of `y` after its assignment.
    fn assigned(
        &mut self,
        value: &ExprRef,
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<Typed> {
        match &value.kind {
            ExprKind::Assign(target, _) | ExprKind::Increment(target, _) => {
                self.effect(value, context, out)?;
                self.value_in(target, context)
            }
            ExprKind::Call(name, arguments) if self.is_block(&name.text) => {
                let result = self.call_program(&name.text, arguments, value.span, context, out)?;
                Some((model::Expr::Bound(result), Ty::Any))
            }
            _ => self.value_in(value, context),
        }
    }

    fn assign(
        &mut self,
        target: &Expr,
        (value, ty): Typed,
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let span = target.span;
        let kind = match self.target(target, ty, context)? {
            Target::Cell(place) => StmtKind::Assign(place, value),
            Target::Local(bound) => StmtKind::Set(bound, value),
        };
        out.push(Stmt::new(kind, span));
        Some(())
    }

    fn target(&mut self, target: &Expr, ty: Ty, context: &mut Context<'_>) -> Option<Target> {
        let place = match &target.kind {
            ExprKind::Name(name) => {
                let local = context.locals.iter().rev().find(|(local, _)| local == name);
                if let Some((_, (value, _))) = local {
                    return match value.as_bound() {
                        Some(bound) => Some(Target::Local(bound)),
                        None => self.not_assignable(name, target.span),
                    };
                }
                if context.env.get(name).is_some() || self.scope.constants.contains_key(name) {
                    return self.not_assignable(name, target.span);
                }
                let Some(&var) = self.scope.var_by_name.get(name) else {
                    return self.unknown_name(name, target.span);
                };
                if !self.scope.vars[var].dimensions.is_empty() {
                    let message = format!("`{name}` is an array; assign to its elements");
                    return self.error("type-mismatch", target.span, message);
                }
                self.cell(var, Vec::new())
            }
            ExprKind::Index(name, indices) => self.element(name, indices, target.span, context)?,
            _ => {
                let message = "only variables can be assigned to";
                return self.error("assignment", target.span, message);
            }
        };

        let declared = self.type_at(&place);
        if !ty.fits(declared) {
            let message = "a number is assigned to a truth value, or the other way round";
            return self.error("type-mismatch", target.span, message);
        }

        Some(Target::Cell(place))
    }

    fn not_assignable<T>(&mut self, name: &Name, span: Span) -> Option<T> {
        let message = format!("`{name}` is a parameter or constant and cannot be changed");
        self.error("assignment", span, message)
    }

    fn is_block(&self, name: &Name) -> bool {
        let decl = self.scope.macros.get(name);
        decl.is_some_and(|decl| matches!(decl.body, MacroBody::Block(_)))
    }

    fn is_program(&self, name: &Name) -> bool {
        let decl = self.scope.macros.get(name);
        decl.is_some_and(|decl| match &decl.body {
            MacroBody::Block(_) => true,
            MacroBody::Expr(body) => {
                matches!(body.kind, ExprKind::Assign(..) | ExprKind::Increment(..))
            }
        })
    }

    /// Puts in the program of a macro; says where its result is.
    fn call_program(
        &mut self,
        name: &Name,
        arguments: &[ExprRef],
        span: Span,
        context: &mut Context<'_>,
        out: &mut Vec<Stmt>,
    ) -> Option<model::BoundId> {
        let decl = self.scope.macros[name].clone();
        if context.depth >= MAX_EXPANSION {
            let message = format!("the macro `{name}` is defined by itself");
            return self.error("recursive-macro", span, message);
        }

        let (wanted, given) = (decl.parameters.len(), arguments.len());
        if wanted != given {
            let message = format!("`{name}` takes {wanted} arguments, not {given}");
            return self.error("wrong-arity", span, message);
        }

        let result = self.fresh("result");
        let zero = StmtKind::Let(result, model::Expr::Int(0));
        out.push(Stmt::new(zero, span));
        let mut locals = vec![("result".into(), (model::Expr::Bound(result), Ty::Any))];
        for (parameter, argument) in decl.parameters.iter().zip(arguments) {
            let (value, ty) = self.value_in(argument, context)?;
            let value = if value.as_literal().is_some() {
                value
            } else {
                let bound = self.fresh(&parameter.text);
                out.push(Stmt::new(StmtKind::Let(bound, value), span));
                model::Expr::Bound(bound)
            };
            locals.push((parameter.text.clone(), (value, ty)));
        }

        let env = super::outside();
        let mut inner = Context {
            env: &env,
            locals,
            depth: context.depth + 1,
        };
        match &decl.body {
            MacroBody::Block(body) => self.sequence(body, &mut inner, out)?,
            MacroBody::Expr(body) => self.effect(body, &mut inner, out)?,
        }
        Some(result)
    }
}

/// A statement about a cell, for all cells.
fn every_cell(kind: StmtKind, bounds: Vec<model::BoundId>, dimensions: &[i64], span: Span) -> Stmt {
    let every = |inner: Stmt, (bound, len): (model::BoundId, &i64)| {
        let (lo, hi) = (model::Expr::Int(0), model::Expr::Int(len - 1));
        Stmt::new(StmtKind::For(bound, lo, hi, vec![inner]), span)
    };
    let loops = bounds.into_iter().zip(dimensions).rev();
    loops.fold(Stmt::new(kind, span), every)
}
