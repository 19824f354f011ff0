//! Effects of steps, statement by statement.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, BoundId, Expr, Place, RecordType, Scalar, Stmt, StmtKind, Type};

use super::Lowerer;
use super::names::{Binding, Global, Local, Ty, Value};
use super::room::may_be_beyond;
use super::types::ty_of;
use super::updates::Store;
use crate::ast::{self, ExprKind, TypeExpr};
use crate::parser::range_bounds;

/// Where `choose` takes its value from.
struct Choice<'a> {
    /// What the condition calls the value.
    name: Option<&'a str>,
    domain: &'a TypeExpr,
    condition: Option<&'a ast::Expr>,
    span: Span,
}

/// Where the statements of a construct go. All of them have its place in the text.
pub(super) struct Sink<'o> {
    pub span: Span,
    pub statements: &'o mut Vec<Stmt>,
}

impl<'o> Sink<'o> {
    pub fn new(span: Span, statements: &'o mut Vec<Stmt>) -> Self {
        Self { span, statements }
    }

    /// A statement of the construct that is inside of another.
    pub fn statement(&self, kind: StmtKind) -> Stmt {
        Stmt::new(kind, self.span)
    }

    pub fn push(&mut self, kind: StmtKind) {
        self.statements.push(Stmt::new(kind, self.span));
    }
}

impl<'a> Lowerer<'a> {
    /// A sequence of statements; names that it introduces end with it.
    pub(super) fn statements(
        &mut self,
        statements: &'a [ast::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let n_bound = self.scope.len();
        let mut ok = true;
        for statement in statements {
            self.spend(1, 1, statement.span)?;
            self.depth += 1;
            ok &= self.statement(statement, out).is_some();
            self.depth -= 1;
        }
        self.scope.truncate(n_bound);
        ok.then_some(())
    }

    fn statement(&mut self, statement: &'a ast::Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        let span = statement.span;
        match &statement.kind {
            ast::StmtKind::Skip => {}
            ast::StmtKind::SetTimer(timer, value) => {
                return self.set_timer(timer, value, span, out);
            }
            ast::StmtKind::Assert(condition) => {
                let condition = self.bool_expr(condition)?;
                out.push(Stmt::new(StmtKind::Assert(condition), span));
            }
            ast::StmtKind::If(condition, then, otherwise) => {
                let condition = self.bool_expr(condition);
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let then = self.statements(then, &mut yes);
                let otherwise = self.statements(otherwise, &mut no);
                then.and(otherwise)?;
                out.push(Stmt::new(StmtKind::If(condition?, yes, no), span));
            }
            ast::StmtKind::For(name, lo, hi, body) => {
                let (ranges, binding) = self.ranges_of(&name.text, lo, hi)?;
                self.scope.push(binding);
                let mut inner = Vec::new();
                let done = self.statements(body, &mut inner);
                self.scope.pop();
                done?;
                for (bound, lo, hi) in ranges.into_iter().rev() {
                    inner = vec![Stmt::new(StmtKind::For(bound, lo, hi, inner), span)];
                }
                out.append(&mut inner);
            }
            ast::StmtKind::Let(name, value) if self.chosen_element(value).is_some() => {
                let mut binding = self.choose_element(value, out)?;
                binding.name = name.text.clone();
                binding.origin = name.text.as_ptr().addr();
                self.scope.push(binding);
            }
            ast::StmtKind::Let(name, ast::Value::Plain(expr)) => {
                let binding = self.bound_to(name, expr, span, out)?;
                self.scope.push(binding);
            }
            ast::StmtKind::Let(name, value) => {
                let (bound, ty) = self.bind_value(&name.text, value, None, span, out)?;
                self.scope.push(Binding::bound(&name.text, bound, ty));
            }
            ast::StmtKind::Call(name, arguments) => {
                return self.call_procedure(name, arguments, span, out);
            }
            ast::StmtKind::Spawn(spawn) => {
                self.spawn("created", spawn, out)?;
            }
            ast::StmtKind::Update(target, op, operand) => {
                return self.update(target, *op, operand, out);
            }
            ast::StmtKind::Assign(targets, values) => {
                return self.assignment(targets, values, span, out);
            }
        }

        Some(())
    }

    /// A name for the present value of an expression.
    fn bound_to(
        &mut self,
        name: &'a ast::Ident,
        expr: &'a ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Binding> {
        if self.shape_of(expr).is_none() {
            let (lowered, ty) = self.scalar(expr, None)?;
            let bound = self.fresh_bound(&name.text);
            out.push(self.remember(bound, lowered, span));
            return Some(Binding::bound(&name.text, bound, ty));
        }

        // The kept cells are like those of a variable, so the value is translated as if it were stored.
        let outer = std::mem::replace(&mut self.is_stored, true);
        let shaped = self.cells_of_shaped(expr);
        self.is_stored = outer;
        let (cells, ty) = shaped?;

        let mut kept = Vec::new();
        for cell in cells {
            let bound = self.fresh_bound(&name.text);
            let may_be_beyond = may_be_beyond(&cell);
            out.push(self.remember(bound, cell, span));
            kept.push(Expr::Bound(bound));
            if may_be_beyond {
                let impossible = Expr::Int(super::values::IMPOSSIBLE);
                let beyond = Expr::binary(BinaryOp::Lt, Expr::Bound(bound), impossible);
                out.push(Self::exhausted_if(beyond, span));
            }
        }

        Some(Binding {
            name: name.text.clone(),
            origin: name.text.as_ptr().addr(),
            size: (1, kept.len()),
            value: Value::Cells(kept, ty),
            text: None,
        })
    }

    /// The statements of a procedure. Its arguments are evaluated once, before the first of them.
    fn call_procedure(
        &mut self,
        name: &'a ast::Ident,
        arguments: &'a [ast::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let def = self.definition_of(&name.text);
        let Some((def, effect)) = def.and_then(|def| Some((def, def.effect.as_ref()?))) else {
            let message = format!("`{}` is not a procedure", name.text);
            let help = "a procedure is declared by `def name(parameters) { statements }`";
            self.report(Diagnostic::error("not-a-procedure", name.span, message).help(help));
            return None;
        };
        self.check_expansion(def, arguments.len(), span)?;

        let mut bindings = Vec::new();
        for (parameter, argument) in def.parameters.iter().zip(arguments) {
            bindings.push(self.bound_to(parameter, argument, span, out)?);
        }
        self.with_bindings(def, bindings, span, |lowerer| {
            lowerer.statements(effect, out)
        })
    }

    fn assignment(
        &mut self,
        targets: &'a [ast::Expr],
        values: &'a [ast::Value],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        if let ([target], [ast::Value::Plain(value)]) = (targets, values)
            && let Some(done) = self.update_in_place(target, value, span, out)
        {
            return done;
        }
        let mut stores = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            let (mut place, ty) = self.assigned_place(target, &mut stores, out)?;
            self.check_no_timer(&place, target.span)?;
            // What is stored in one cell may change where the next one is.
            if targets.len() > 1 || !matches!(ty, Type::Scalar(_)) {
                self.settle(&mut place, target.span, out);
            }
            // An entry of a map is stored in two places.
            let is_alone = targets.len() == 1 && stores.is_empty();
            match (&ty, value) {
                (Type::Scalar(scalar), ast::Value::Plain(expr)) => {
                    let value = self.value_for(expr, *scalar)?;
                    stores.push(Store {
                        place,
                        value,
                        is_simple: is_alone,
                    });
                }
                (Type::Scalar(scalar), choose) => {
                    let name = match &target.kind {
                        ExprKind::Name(name) => name.as_str(),
                        _ => "chosen",
                    };
                    let wanted = Some(ty_of(*scalar));
                    let (bound, _) = self.bind_value(name, choose, wanted, span, out)?;
                    stores.push(Store::simple(place, Expr::Bound(bound)));
                }
                (Type::Array(array), ast::Value::Plain(expr))
                    if super::open::is_open(&ty) && is_alone =>
                {
                    return self.open_assignment(place, array, (expr, span), out);
                }
                (ty, ast::Value::Plain(expr)) if super::open::is_open(ty) => {
                    self.report_open_array(expr.span);
                    return None;
                }
                (_, ast::Value::Plain(expr)) => {
                    let mut values = Vec::new();
                    self.stored_values(expr, &ty, &mut values)?;
                    let cells = cells_of(&place, &ty, &self.parts.records);
                    for ((cell, _), value) in cells.into_iter().zip(values) {
                        stores.push(Store::of(cell, value));
                    }
                }
                (Type::Array(array), choose) if model::is_unbounded_array(array) => {
                    let (cell, scalar) = cells_of(&place, &ty, &self.parts.records).remove(0);
                    let wanted = Some(ty_of(scalar));
                    let (bound, _) = self.bind_value("element", choose, wanted, span, out)?;
                    stores.push(Store::simple(cell, Expr::Bound(bound)));
                }
                (_, choose) if self.chosen_element(choose).as_ref() == Some(&ty) => {
                    let Value::Cells(chosen, _) = self.choose_element(choose, out)?.value else {
                        return None;
                    };
                    let cells = cells_of(&place, &ty, &self.parts.records);
                    for ((cell, _), value) in cells.into_iter().zip(chosen) {
                        stores.push(Store::simple(cell, value));
                    }
                }
                (_, ast::Value::Spawn(spawn)) => {
                    let message = "the index of a process is a single value";
                    self.report(Diagnostic::error("not-scalar", spawn.span, message));
                    return None;
                }
                (_, ast::Value::Choose { span, .. }) => {
                    let message =
                        "`choose` picks a single value, or an element of a set of such values";
                    self.report(Diagnostic::error("not-scalar", *span, message));
                    return None;
                }
            }
        }

        self.store_all(stores, span, out);
        Some(())
    }

    /// Computes the indices of a place now, before any of several targets is stored to.
    pub(super) fn settle(&mut self, place: &mut Place, span: Span, out: &mut Vec<Stmt>) {
        for access in &mut place.path {
            // shape: components have no index.
            if let Access::Index(index) = access
                && index.mentions_state()
            {
                let bound = self.fresh_bound("index");
                let value = std::mem::replace(index, Expr::Bound(bound));
                out.push(self.remember(bound, value, span));
            }
        }
    }

    /// `x += e`.
    fn update(
        &mut self,
        target: &'a ast::Expr,
        op: BinaryOp,
        operand: &'a ast::Expr,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let span = target.span.to(operand.span);
        let (place, _) = self.scalar_place(target)?;
        let old = self.scalar_of(target, Ty::Int)?;
        let operand = self.scalar_of(operand, Ty::Int)?;
        let value = Expr::binary(op, old, operand);
        out.push(Stmt::new(StmtKind::Assign(place, value), span));
        Some(())
    }

    /// Stores values; those that must be read before anything is stored get a name first.
    pub(super) fn store_all(&mut self, stores: Vec<Store>, span: Span, out: &mut Vec<Stmt>) {
        let mut assignments = Vec::new();
        for store in stores {
            let value = if store.is_simple {
                store.value
            } else {
                let bound = self.fresh_bound("value");
                out.push(self.remember(bound, store.value, span));
                Expr::Bound(bound)
            };
            assignments.push(Stmt::new(StmtKind::Assign(store.place, value), span));
        }
        out.extend(assignments);
    }

    /// Gives the present value of an expression a name: a choice among one value.
    pub(super) fn remember(&mut self, bound: BoundId, value: Expr, span: Span) -> Stmt {
        let same = self.copy_of(&value);
        Stmt::new(StmtKind::Choose(bound, value, same, Expr::Bool(true)), span)
    }

    /// A bound name for a value: what an expression has now, or a chosen one.
    pub(super) fn bind_value(
        &mut self,
        name: &'a str,
        value: &'a ast::Value,
        wanted: Option<Ty>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<(BoundId, Ty)> {
        match value {
            ast::Value::Plain(expr) => {
                let (lowered, ty) = self.scalar(expr, wanted)?;
                let bound = self.fresh_bound(name);
                out.push(self.remember(bound, lowered, span));
                Some((bound, ty))
            }
            ast::Value::Choose {
                name: own_name,
                domain,
                condition,
                span,
            } => {
                let choice = Choice {
                    name: Some(own_name.as_ref().map_or(name, |name| &name.text)),
                    domain,
                    condition: condition.as_ref(),
                    span: *span,
                };
                self.choose(&choice, wanted, out)
            }
            ast::Value::Spawn(spawn) => {
                let (bound, ty) = self.spawn(name, spawn, out)?;
                self.check_index_type(ty, wanted, spawn.span)?;
                Some((bound?, ty))
            }
        }
    }

    fn choose(
        &mut self,
        choice: &Choice<'a>,
        wanted: Option<Ty>,
        out: &mut Vec<Stmt>,
    ) -> Option<(BoundId, Ty)> {
        let (lo, hi, ty) = match range_bounds(choice.domain) {
            Some((lo, hi)) => {
                let (first, last) = (self.int_expr(lo), self.int_expr(hi));
                let (first, last) = (first?, last?);
                self.check_range_size(&first, &last, lo.span.to(hi.span))?;
                (first, last, Ty::Int)
            }
            None => match self.chosen_set(choice.domain) {
                Some(domain) => {
                    let (lo, hi, ty) = self.domain_bounds(domain)?;
                    (Expr::Int(lo), Expr::Int(hi), ty)
                }
                None => self.choice_from_type(choice.domain)?,
            },
        };

        if let Some(wanted) = wanted.filter(|wanted| *wanted != ty) {
            let (wanted, found) = (self.ty_name(wanted), self.ty_name(ty));
            let message = format!("expected {wanted}, but {found} is chosen");
            self.report(Diagnostic::error("type-mismatch", choice.span, message));
            return None;
        }

        let name = choice.name.unwrap_or("chosen");
        let bound = self.fresh_bound(name);
        let mut condition = Expr::Bool(true);
        if let Some(expr) = choice.condition {
            self.scope.push(Binding::bound(name, bound, ty));
            let lowered = self.bool_expr(expr);
            self.scope.pop();
            condition = lowered?;
        }

        if let Some(domain) = self.chosen_set(choice.domain) {
            let member = self.chosen_member(bound, ty, domain)?;
            condition = if condition.is_bool(true) {
                member
            } else {
                Expr::binary(BinaryOp::And, member, condition)
            };
        }
        out.push(Stmt::new(
            StmtKind::Choose(bound, lo, hi, condition),
            choice.span,
        ));
        Some((bound, ty))
    }

    fn choice_from_type(&mut self, domain: &'a TypeExpr) -> Option<(Expr, Expr, Ty)> {
        match self.ty(domain)? {
            // In a family of models there are no proofs about numbers without bounds.
            Type::Scalar(scalar) if !(scalar.is_unbounded() && self.open.is_free()) => {
                let (lo, hi) = scalar.bounds();
                Some((Expr::Int(lo), Expr::Int(hi), ty_of(scalar)))
            }
            Type::Scalar(_) => {
                let message = "a step of a family of models cannot choose among all integers";
                let help = "write `choose lo..hi`, or give the parameter a value with `-D`";
                self.report(Diagnostic::error("choose", domain.span, message).help(help));
                None
            }
            _ => {
                let message = "`choose` needs a type of single values";
                let help = "write `choose lo..hi`, `choose bool` or the name of an enumeration";
                self.report(Diagnostic::error("choose", domain.span, message).help(help));
                None
            }
        }
    }

    /// Does the expression name a variable or a part of one?
    pub(super) fn is_variable(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.binding(name).is_none()
                    && match self.local(name) {
                        Some(Local::Var(_)) => true,
                        Some(Local::Def(_)) => false,
                        None => matches!(self.global(name), Some(Global::Var(_))),
                    }
            }
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => self.is_variable(base),
            _ => false,
        }
    }

    /// What is assigned to, with its type.
    pub(super) fn place(&mut self, expr: &'a ast::Expr) -> Option<(Place, Type)> {
        let value = self.operand(expr, None)?;
        if self.is_data_parameter(expr) {
            let message = "a parameter of the model cannot be assigned to";
            self.report(Diagnostic::error("not-assignable", expr.span, message));
            return None;
        }

        if !self.is_variable(expr) {
            let message = "only variables can be assigned to";
            let mut diagnostic = Diagnostic::error("not-assignable", expr.span, message);
            // shape: for a hint in a message only.
            if let Value::Scalar(Expr::Read(Place { owner: Some(_), .. }), _) = value {
                diagnostic = diagnostic.help("only the process itself writes its local variables");
            }
            self.report(diagnostic);
            return None;
        }

        self.check_not_existence(&value, expr.span)?;
        // shape: nothing else is a place.
        if let Value::Composite(place, _) | Value::Scalar(Expr::Read(place), _) = &value {
            self.uses.turn_into_write(place.var);
        }
        match value {
            Value::Composite(place, ty) => Some((place, ty)),
            Value::Scalar(Expr::Read(place), _) => {
                let scalar = self.scalar_at(&place)?;
                Some((place, Type::Scalar(scalar)))
            }
            Value::Scalar(..) | Value::Cells(..) => None,
        }
    }

    /// A single cell to store into.
    pub(super) fn scalar_place(&mut self, expr: &'a ast::Expr) -> Option<(Place, Scalar)> {
        match self.place(expr)? {
            (place, Type::Scalar(scalar)) => {
                self.check_no_timer(&place, expr.span)?;
                Some((place, scalar))
            }
            _ => {
                let message =
                    "a component of a message cannot be stored into a whole array or record";
                self.report(Diagnostic::error("not-scalar", expr.span, message));
                None
            }
        }
    }

    pub(super) fn scalar_at(&self, place: &Place) -> Option<Scalar> {
        let mut ty = &self.parts.vars[place.var.index()].ty;
        for access in &place.path {
            ty = match (access, ty) {
                (Access::Index(_), Type::Array(array)) => &array.element,
                (Access::Field(field), Type::Record(id)) => {
                    &self.parts.records[id.index()].fields[*field].1
                }
                _ => return None,
            };
        }
        match ty {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }
}

/// All cells of a part of a variable, in order.
pub(super) fn cells_of(place: &Place, ty: &Type, records: &[RecordType]) -> Vec<(Place, Scalar)> {
    let mut cells = Vec::new();
    let mut stack = vec![(place.clone(), ty)];
    while let Some((place, ty)) = stack.pop() {
        let below = |access: Access| {
            let mut place = place.clone();
            place.path.push(access);
            place
        };
        match ty {
            Type::Scalar(scalar) => cells.push((place, *scalar)),
            Type::Array(array) => {
                for offset in (0..array.len as i64).rev() {
                    let index = Expr::Int(array.lo + offset);
                    stack.push((below(Access::Index(index)), &array.element));
                }
            }
            Type::Record(id) => {
                for (field, (_, ty)) in records[id.index()].fields.iter().enumerate().rev() {
                    stack.push((below(Access::Field(field)), ty));
                }
            }
        }
    }

    cells
}
