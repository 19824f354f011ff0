//! Which names the meaning of a piece of text depends on.

use std::collections::BTreeSet;

use super::ast::{
    Action, EventSpec, Expr, ExprRef, IndexDef, IndexValues, Prefix, Proc, ProcKind, Stmt, StmtKind,
};
use super::lexer::Name;
use super::ranges::{binder, visit_names};
use super::scope::Scope;

/// Adds the free names of a process expression: all names except those that it binds itself.
pub(crate) fn free_names(scope: &Scope, proc: &Proc, names: &mut BTreeSet<Name>) {
    let mut walk = NameWalk { scope, names };
    walk.process(proc);
}

/// The names in an expression.
pub(crate) fn expression_names(expr: &Expr, names: &mut BTreeSet<Name>) {
    visit_names(expr, &mut |name| {
        names.insert(name.clone());
    });
}

/// The names in a program.
pub(crate) fn program_names(statements: &[Stmt], names: &mut BTreeSet<Name>) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Block(inner) => program_names(inner, names),
            StmtKind::Local(_, value) => {
                if let Some(value) = value {
                    expression_names(value, names);
                }
            }
            StmtKind::If(condition, then, otherwise) => {
                expression_names(condition, names);
                program_names(std::slice::from_ref(then), names);
                if let Some(otherwise) = otherwise {
                    program_names(std::slice::from_ref(otherwise), names);
                }
            }
            StmtKind::While(condition, body) => {
                expression_names(condition, names);
                program_names(std::slice::from_ref(body), names);
            }
            StmtKind::Expr(expr) => expression_names(expr, names),
            StmtKind::Clear(name) => {
                names.insert(name.clone());
            }
            StmtKind::LocalArray(_, sizes, value) => {
                let all = sizes.iter().chain(value);
                all.for_each(|expr| expression_names(expr, names));
            }
            StmtKind::LocalObject(decl) => {
                let all = decl.arguments.iter();
                all.for_each(|expr| expression_names(expr, names));
            }
            StmtKind::Empty | StmtKind::Fail(_) => {}
        }
    }
}

struct NameWalk<'a> {
    scope: &'a Scope,
    names: &'a mut BTreeSet<Name>,
}

impl NameWalk<'_> {
    fn expressions(&mut self, list: &[ExprRef]) {
        for expr in list {
            expression_names(expr, self.names);
        }
    }

    fn inner(&mut self, proc: &Proc, bound: &[&Name]) {
        let mut names = BTreeSet::new();
        free_names(self.scope, proc, &mut names);
        let kept = names.into_iter().filter(|name| !bound.contains(&name));
        self.names.extend(kept);
    }

    fn indices(&mut self, indices: &[IndexDef]) {
        for index in indices {
            match &index.values {
                IndexValues::Range(lo, hi) => {
                    self.expressions(&[lo.clone(), hi.clone()]);
                }
                IndexValues::List(list) => self.expressions(list),
            }
        }
    }

    fn events(&mut self, events: &[EventSpec]) {
        for event in events {
            self.indices(&event.indices);
            self.expressions(&event.arguments);
        }
    }

    fn prefix(&mut self, prefix: &Prefix, rest: &Proc) {
        let mut bound = Vec::new();
        match &prefix.action {
            Action::Tau => {}
            Action::Event(_, arguments) => self.expressions(arguments),
            Action::Send(channel, values) => {
                self.expressions(channel.index.as_slice());
                self.expressions(values);
            }
            Action::Receive(channel, condition, patterns) => {
                self.expressions(channel.index.as_slice());
                let mut names = BTreeSet::new();
                if let Some(condition) = condition {
                    expression_names(condition, &mut names);
                }
                for pattern in patterns {
                    match binder(self.scope, pattern) {
                        Some(name) => bound.push(name),
                        None => expression_names(pattern, self.names),
                    }
                }
                let kept = names.into_iter().filter(|name| !bound.contains(&name));
                self.names.extend(kept);
            }
        }

        if let Some(program) = &prefix.program {
            let mut names = BTreeSet::new();
            program_names(program, &mut names);
            let kept = names.into_iter().filter(|name| !bound.contains(&name));
            self.names.extend(kept);
        }

        self.inner(rest, &bound);
    }

    fn process(&mut self, proc: &Proc) {
        match &proc.kind {
            ProcKind::Stop | ProcKind::Skip => {}
            ProcKind::Assert(expr) => expression_names(expr, self.names),
            ProcKind::Call(_, arguments) => self.expressions(arguments),
            ProcKind::Prefix(prefixes, rest) => {
                for prefix in prefixes {
                    self.prefix(prefix, rest);
                }
            }
            ProcKind::If(_, condition, then, otherwise) => {
                expression_names(condition, self.names);
                self.process(then);
                if let Some(otherwise) = otherwise {
                    self.process(otherwise);
                }
            }
            ProcKind::Case(branches, default) => {
                for (condition, body) in branches {
                    expression_names(condition, self.names);
                    self.process(body);
                }
                if let Some(default) = default {
                    self.process(default);
                }
            }
            ProcKind::Guard(condition, body) => {
                expression_names(condition, self.names);
                self.process(body);
            }
            ProcKind::Atomic(body) => self.process(body),
            ProcKind::Hide(body, events) => {
                self.events(events);
                self.process(body);
            }
            ProcKind::Seq(a, b) | ProcKind::Interrupt(a, b) => {
                self.process(a);
                self.process(b);
            }
            ProcKind::Choice(_, parts)
            | ProcKind::Interleave(parts)
            | ProcKind::Parallel(parts) => {
                for part in parts {
                    self.process(part);
                }
            }
            ProcKind::Indexed(_, indices, body) => {
                self.indices(indices);
                let bound: Vec<&Name> = indices.iter().map(|index| &index.name.text).collect();
                self.inner(body, &bound);
            }
            ProcKind::Replicated(count, body) => {
                self.expressions(count.as_slice());
                self.process(body);
            }
        }
    }
}
