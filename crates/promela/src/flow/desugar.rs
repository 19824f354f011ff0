//! `for` and `select` as the loops that they stand for.

use std::rc::Rc;

use base::Span;

use super::build::{FlowBuilder, Place};
use crate::ast::{
    Argument, Binary, Expr, ExprKind, Init, Probe, Stmt, StmtKind, TypeName, VarComponent, VarDecl,
    VarRef,
};
use crate::symbols::{Context, Ty};

impl FlowBuilder<'_> {
    /// `for` and `select` as the loops that they stand for.
    pub(super) fn desugared(&mut self, statement: &Stmt, labels: &[Rc<str>], place: Place) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::For {
                var,
                from,
                to,
                body,
            } => self.counting(var, from, (Binary::Le, to), body, labels, place),
            StmtKind::Select {
                var,
                from,
                to,
                is_written_out,
            } => match (&from.kind, &to.kind) {
                (ExprKind::Int(a), ExprKind::Int(b))
                    if *is_written_out && (0..=32).contains(&(b - a)) =>
                {
                    let value = |value| vec![assign(var, int(value, span), span)];
                    let options: Vec<Vec<Stmt>> = (*a..=*b).map(value).collect();
                    self.choice(&options, false, labels, place, span);
                }
                _ => self.selection(var, from, to, labels, place, span),
            },
            StmtKind::ForIn { var, within, body } => {
                self.for_in(var, within, body, labels, place, span);
            }
            _ => unreachable!("only loops are desugared"),
        }
    }

    fn counting(
        &mut self,
        var: &VarRef,
        from: &Expr,
        (compare, to): (Binary, &Expr),
        body: &[Stmt],
        labels: &[Rc<str>],
        place: Place,
    ) {
        let span = var.span;
        self.statement(&assign(var, from.clone(), span), &[], place);
        let test = binary(compare, read(var), to.clone(), span);
        let next = binary(Binary::Add, read(var), int(1, span), span);
        let looping = vec![
            stmt(StmtKind::Condition(test), span),
            stmt(StmtKind::Spliced(body.to_vec()), span),
            assign(var, next, span),
        ];
        let leaving = vec![stmt(StmtKind::Else, span), stmt(StmtKind::Break, span)];
        self.choice(&[looping, leaving], true, labels, place, span);
    }

    /// A choice of any value, by counting up.
    fn selection(
        &mut self,
        var: &VarRef,
        from: &Expr,
        to: &Expr,
        labels: &[Rc<str>],
        place: Place,
        span: Span,
    ) {
        self.statement(&assign(var, from.clone(), span), &[], place);
        let test = binary(Binary::Lt, read(var), to.clone(), span);
        let next = binary(Binary::Add, read(var), int(1, span), span);
        let leaving = vec![stmt(StmtKind::Break, span)];
        let looping = vec![
            stmt(StmtKind::Condition(test), span),
            assign(var, next, span),
        ];
        self.choice(&[leaving, looping], true, labels, place, span);
    }

    /// Over the indices of an array, or over the messages of a channel by rotating it once.
    fn for_in(
        &mut self,
        var: &VarRef,
        within: &VarRef,
        body: &[Stmt],
        labels: &[Rc<str>],
        place: Place,
        span: Span,
    ) {
        let context = Context {
            scope: place.scope,
            order: self.symbols.now(),
            owner: place.owner,
        };
        let found = self.symbols.resolve(within, context, "variable");
        let index = match found {
            Ok(index) => index,
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                return;
            }
        };

        let (ty, mut length) = (self.symbols.vars[index].ty, self.symbols.vars[index].length);
        if within.parts.len() > 1 {
            length = self.field_length(ty, &within.parts[1..]);
        }

        // `a` is an array and `a[i]` one of its elements, which may be a channel.
        let is_element = within.parts.last().is_some_and(|part| part.index.is_some());
        if let Some(length) = length.filter(|_| !is_element) {
            let last = i64::try_from(length).unwrap_or(i64::MAX) - 1;
            let to = int(last, span);
            self.counting(var, &int(0, span), (Binary::Le, &to), body, labels, place);
            return;
        }

        if ty != Ty::Chan {
            let message = "`for (x in y)` needs an array or a channel";
            self.error("wrong-type", within.span, message);
            return;
        }

        // Over a channel, every message is received and sent again: after as many rounds as there
        // are messages each has been seen once, and the channel is as before.
        let counter = VarDecl {
            name: "_for".into(),
            ty: TypeName::Byte,
            length: None,
            init: Init::List(Vec::new()),
            hidden: false,
            span,
        };

        let scope = self.symbols.open(place.scope);
        let place = Place { scope, ..place };
        let diagnostics = &mut *self.diagnostics;
        self.symbols
            .declare(&counter, scope, place.owner, true, diagnostics);

        let part = VarComponent {
            name: "_for".into(),
            index: None,
            span,
        };
        let counter = VarRef {
            parts: vec![part],
            span,
        };
        let mut rotated = vec![
            stmt(
                StmtKind::Receive {
                    channel: within.clone(),
                    arguments: vec![Argument::Store(var.clone())],
                    any: false,
                    peek: false,
                },
                span,
            ),
            stmt(
                StmtKind::Send {
                    channel: within.clone(),
                    arguments: vec![read(var)],
                    sorted: false,
                },
                span,
            ),
        ];

        rotated.push(stmt(StmtKind::Spliced(body.to_vec()), span));
        let length = Expr {
            kind: ExprKind::Probe(Probe::Len, within.clone()),
            span,
        };
        self.counting(
            &counter,
            &int(0, span),
            (Binary::Lt, &length),
            &rotated,
            labels,
            place,
        );
    }

    fn field_length(&self, ty: Ty, parts: &[VarComponent]) -> Option<usize> {
        let Ty::Struct(index) = ty else { return None };
        let at = self.symbols.find_field(index, &parts[0].name)?;
        let field = &self.symbols.structs[index].1[at];
        match parts {
            [_] => field.length,
            _ => self.field_length(field.ty, &parts[1..]),
        }
    }
}

fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

fn int(value: i64, span: Span) -> Expr {
    let kind = ExprKind::Int(value);
    Expr { kind, span }
}

fn read(var: &VarRef) -> Expr {
    Expr {
        kind: ExprKind::Var(var.clone()),
        span: var.span,
    }
}

fn binary(op: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
    Expr { kind, span }
}

fn assign(var: &VarRef, value: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Assign(var.clone(), value), span)
}
