//! Programs without local arrays and objects, and with calls only where statements can be.

use base::Span;

use super::{Callee, Expander, RESULT, clear, copy, made, member, number, stmt};
use crate::ast::{
    ExprKind, ExprRef, Ident, MacroBody, ObjectDecl, Stmt, StmtKind, VarDecl, VarInit,
};
use crate::lexer::Name;
use crate::rebuild::Rebuild as _;

impl Expander<'_> {
    pub(super) fn block(&mut self, statements: &[Stmt]) -> Vec<Stmt> {
        let n_names = self.place.names.len();
        self.scratch.push(Vec::new());
        let mut out = Vec::new();
        for statement in statements {
            self.statement(statement, &mut out);
        }
        self.place.names.truncate(n_names);

        // What is local has its initial value afterwards.
        let span = out.last().map_or(Span::nowhere(), |last| last.span);
        let scratch = self.scratch.pop().unwrap_or_default();
        out.extend(scratch.into_iter().map(|name| clear(name, span)));
        out
    }

    pub(super) fn inner(&mut self, statement: &Stmt) -> Box<Stmt> {
        let inner = self.block(std::slice::from_ref(statement));
        Box::new(stmt(StmtKind::Block(inner), statement.span))
    }

    /// An expression of a program, with what must come before it.
    pub(super) fn value(&mut self, expr: &ExprRef, out: &mut Vec<Stmt>) -> ExprRef {
        let was = self.place.before.replace(Vec::new());
        let expr = self.expr(expr);
        let before = std::mem::replace(&mut self.place.before, was);
        out.extend(before.unwrap_or_default());
        expr
    }

    pub(super) fn statement(&mut self, statement: &Stmt, out: &mut Vec<Stmt>) {
        let span = statement.span;
        let kind = match &statement.kind {
            StmtKind::Empty | StmtKind::Clear(_) | StmtKind::Fail(_) => statement.kind.clone(),
            StmtKind::Block(inner) => StmtKind::Block(self.block(inner)),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(condition, out);
                let otherwise = otherwise.as_ref().map(|otherwise| self.inner(otherwise));
                StmtKind::If(condition, self.inner(then), otherwise)
            }
            StmtKind::While(condition, body) => {
                // It is evaluated again and again, so nothing can come before it.
                let was = self.place.before.take();
                let condition = self.expr(condition);
                self.place.before = was;
                StmtKind::While(condition, self.inner(body))
            }
            StmtKind::Local(name, value) => {
                if let Some(array) = value.as_ref().and_then(|value| self.array_of(value)) {
                    let sizes = self.arrays[&array].clone();
                    return self.local_array(name, sizes, value.as_ref(), span, out);
                }
                let value = value.as_ref().map(|value| self.whole_value(value, out));
                self.hide(&name.text);
                StmtKind::Local(name.clone(), value)
            }
            StmtKind::LocalArray(name, sizes, value) => {
                let mut sizes = self.exprs(sizes);
                if let (true, Some(ExprKind::Call(_, items))) =
                    (sizes.is_empty(), value.as_ref().map(|value| &value.kind))
                {
                    sizes.push(number(items.len(), span));
                }
                return self.local_array(name, sizes, value.as_ref(), span, out);
            }
            StmtKind::LocalObject(decl) => {
                let scratch = self.scratch_object(&decl.class.text, &decl.name.text, span);
                self.place
                    .names
                    .push((decl.name.text.clone(), Some(scratch.clone())));
                return self.construct(&scratch, &decl.class, &decl.arguments, span, out);
            }
            StmtKind::Expr(expr) => return self.effect(expr, out),
        };
        out.push(stmt(kind, span));
    }

    pub(super) fn local_array(
        &mut self,
        name: &Ident,
        sizes: Vec<ExprRef>,
        value: Option<&ExprRef>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let scratch = self.scratch_array(&name.text, sizes, span);
        if let Some(value) = value {
            self.assign_array(&scratch, value, span, out);
        }
        self.place.names.push((name.text.clone(), Some(scratch)));
    }

    /// The right side of an assignment to a single value: it may be the call of a program.
    pub(super) fn whole_value(&mut self, value: &ExprRef, out: &mut Vec<Stmt>) -> ExprRef {
        if let ExprKind::Call(name, arguments) = &value.kind
            && let Some(callee) = self.callee(&name.text)
            && callee.is_program()
            && callee.method.returns.is_none()
        {
            return self.program_call(&callee, name, arguments, value.span, out);
        }
        self.value(value, out)
    }

    pub(super) fn program_call(
        &mut self,
        callee: &Callee,
        name: &Ident,
        arguments: &[ExprRef],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> ExprRef {
        let was = self.place.before.replace(Vec::new());
        let call = self.called(callee, name, arguments, None, span);
        let before = std::mem::replace(&mut self.place.before, was);
        out.extend(before.unwrap_or_default());
        call
    }

    pub(super) fn effect(&mut self, expr: &ExprRef, out: &mut Vec<Stmt>) {
        let span = expr.span;
        let expr = match &expr.kind {
            ExprKind::Assign(to, value) => return self.assignment(to, value, span, out),
            ExprKind::Call(name, arguments) => match self.callee(&name.text) {
                Some(callee) if callee.is_program() => {
                    if let Some(class) = callee.method.returns.clone() {
                        let was = self.place.before.replace(Vec::new());
                        self.returned(&callee, &class, name, arguments, span, out);
                        self.place.before = was;
                        return;
                    }
                    self.program_call(&callee, name, arguments, span, out)
                }
                _ => self.value(expr, out),
            },
            _ => self.value(expr, out),
        };
        out.push(stmt(StmtKind::Expr(expr), span));
    }

    pub(super) fn assignment(
        &mut self,
        to: &ExprRef,
        value: &ExprRef,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if let Some(object) = self.object_of(to) {
            return self.assign_object(&object, value, span, out);
        }
        if let Some(array) = self.array_of(to) {
            return self.assign_array(&array, value, span, out);
        }
        let value = match value.kind {
            ExprKind::Assign(..) => self.operands_of_assignment(value, out),
            _ => self.whole_value(value, out),
        };
        let to = self.value(to, out);
        // A property is another name of a field.
        let to = match &to.kind {
            ExprKind::Call(name, _) => self.property(&name.text).unwrap_or(to),
            _ => to,
        };
        out.push(stmt(
            StmtKind::Expr(made(ExprKind::Assign(to, value), span)),
            span,
        ));
    }

    /// In `x = y = 1`, the inner assignment comes first.
    pub(super) fn operands_of_assignment(
        &mut self,
        value: &ExprRef,
        out: &mut Vec<Stmt>,
    ) -> ExprRef {
        self.effect(value, out);
        match &value.kind {
            ExprKind::Assign(to, _) => self.value(to, out),
            _ => value.clone(),
        }
    }

    pub(super) fn property(&self, name: &Name) -> Option<ExprRef> {
        let made = self.made.iter().find(|made| made.name.text == *name)?;
        match &made.body {
            MacroBody::Expr(body) if matches!(body.kind, ExprKind::Name(_)) => Some(body.clone()),
            _ => None,
        }
    }

    pub(super) fn assign_object(
        &mut self,
        to: &Name,
        value: &ExprRef,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let from = match &value.kind {
            ExprKind::Call(name, arguments) => {
                if let Some(class) = name.text.strip_prefix("new ") {
                    let class = Ident {
                        text: class.into(),
                        span: name.span,
                    };
                    return self.construct(to, &class, arguments, span, out);
                }
                let callee = self.callee(&name.text);
                let returns = callee.and_then(|callee| {
                    let class = callee.method.returns.clone()?;
                    Some((callee, class))
                });
                returns.map(|(callee, class)| {
                    let was = self.place.before.replace(Vec::new());
                    let from = self.returned(&callee, &class, name, arguments, span, out);
                    self.place.before = was;
                    from
                })
            }
            _ => self.object_of(value).inspect(|from| {
                self.aliased.extend([to.clone(), from.clone()]);
            }),
        };

        let same = |from: &Name| self.objects.get(from) == self.objects.get(to);
        let Some(from) = from.filter(same) else {
            let class = self.objects.get(to).cloned().unwrap_or_default();
            let message = format!("an object of class `{class}` is needed here");
            return self.error("type-mismatch", value.span, message);
        };
        for (to, from) in self.fields_of(to).into_iter().zip(self.fields_of(&from)) {
            out.push(copy(to, from, span));
        }
    }

    /// `new`: all fields as at the beginning, then the constructor.
    pub(super) fn construct(
        &mut self,
        to: &Name,
        class: &Ident,
        arguments: &[ExprRef],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if self.objects.get(to) != Some(&class.text) {
            let message = format!("`{to}` is not an object of class `{}`", class.text);
            return self.error("type-mismatch", class.span, message);
        }

        out.extend(
            self.fields_of(to)
                .into_iter()
                .map(|field| clear(field, span)),
        );

        let constructor = self.callee(&member(to, &class.text));
        let n_wanted = constructor
            .as_ref()
            .map_or(0, |callee| callee.method.body.parameters.len());
        if n_wanted != arguments.len() {
            return self.wrong_arity(class, n_wanted, arguments.len());
        }

        if let Some(callee) = constructor {
            let call = self.program_call(&callee, class, arguments, span, out);
            out.push(stmt(StmtKind::Expr(call), span));
        }
    }

    pub(super) fn assign_array(
        &mut self,
        to: &Name,
        value: &ExprRef,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let from = match &value.kind {
            ExprKind::Call(_, items) if value.is_array() => {
                return self.store_elements(to, items, span, out);
            }
            // A function that returns an array returns one of this size.
            ExprKind::Call(name, arguments) => match self.callee(&name.text) {
                Some(callee) if callee.is_program() && callee.method.returns.is_none() => {
                    let sizes = self.arrays[to].clone();
                    let scratch = self.scratch_array(RESULT, sizes, span);
                    let was = self.place.before.replace(Vec::new());
                    let call = self.called(&callee, name, arguments, Some(&scratch), span);
                    let before = std::mem::replace(&mut self.place.before, was);
                    out.extend(before.unwrap_or_default());
                    out.push(stmt(StmtKind::Expr(call), span));
                    Some(scratch)
                }
                _ => None,
            },
            _ => self.array_of(value),
        };
        match from {
            Some(from) => out.push(copy(to.clone(), from, span)),
            None => {
                let message = format!("`{to}` is an array; assign an array, or to its elements");
                self.error("type-mismatch", value.span, message);
            }
        }
    }

    /// All elements are evaluated before the first is stored.
    pub(super) fn store_elements(
        &mut self,
        to: &Name,
        items: &[ExprRef],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut stores = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let value = self.value(item, out);
            let text = self.fresh("element");
            let name = Ident {
                text: text.clone(),
                span,
            };
            out.push(stmt(StmtKind::Local(name, Some(value)), span));
            let cell = made(
                ExprKind::Index(to.clone(), vec![number(position, span)]),
                span,
            );
            let value = made(ExprKind::Name(text), span);
            let store = made(ExprKind::Assign(cell, value), span);
            stores.push(stmt(StmtKind::Expr(store), span));
        }
        // Fewer or more elements than the array has are found where its size is known.
        if let [ExprRef { .. }] = &self.arrays[to][..]
            && let ExprKind::Int(size) = self.arrays[to][0].kind
            && size != items.len() as i64
        {
            let message = format!("`{to}` has {size} elements, not {}", items.len());
            self.error("bad-size", span, message);
        }
        out.extend(stores);
    }

    pub(super) fn scratch_array(
        &mut self,
        name: &str,
        dimensions: Vec<ExprRef>,
        span: Span,
    ) -> Name {
        let text = self.fresh(name);
        self.arrays.insert(text.clone(), dimensions.clone());
        self.vars.push(VarDecl {
            name: Ident {
                text: text.clone(),
                span,
            },
            dimensions,
            range: None,
            init: VarInit::Default,
            is_scratch: true,
        });

        self.note_scratch(&text);
        text
    }

    pub(super) fn note_scratch(&mut self, name: &Name) {
        if let Some(block) = self.scratch.last_mut() {
            block.push(name.clone());
        }
    }

    pub(super) fn scratch_object(&mut self, class: &Name, name: &str, span: Span) -> Name {
        let text = self.fresh(name);
        let ident = |text: &Name| Ident {
            text: text.clone(),
            span,
        };
        let decl = ObjectDecl {
            class: ident(class),
            name: ident(&text),
            arguments: Vec::new(),
        };
        let fields = self.object(&decl, true);
        fields
            .iter()
            .for_each(|field| self.note_scratch(&field.name.text));
        self.vars.extend(fields);
        text
    }
}
