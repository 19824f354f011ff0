//! Copies of trees with other parts.

use std::rc::Rc;

use super::ast::{
    Action, ChannelUse, Expr, ExprKind, ExprRef, IndexDef, IndexValues, Prefix, Proc, ProcKind,
    ProcRef, Program,
};

/// What a copy replaces.
pub(crate) trait Rebuild {
    /// The expression instead of an expression of a process.
    fn expr(&mut self, expr: &ExprRef) -> ExprRef;

    /// The program instead of a program.
    fn program(&mut self, program: &Program) -> Program;

    fn exprs(&mut self, list: &[ExprRef]) -> Vec<ExprRef> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn indices(&mut self, indices: &[IndexDef]) -> Vec<IndexDef> {
        let index = |index: &IndexDef| IndexDef {
            name: index.name.clone(),
            values: match &index.values {
                IndexValues::Range(lo, hi) => IndexValues::Range(self.expr(lo), self.expr(hi)),
                IndexValues::List(list) => IndexValues::List(self.exprs(list)),
            },
        };
        indices.iter().map(index).collect()
    }

    /// The same operator with other operands.
    fn operands(&mut self, expr: &ExprRef) -> ExprRef {
        let kind = match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Name(_) => return expr.clone(),
            ExprKind::Index(name, indices) => ExprKind::Index(name.clone(), self.exprs(indices)),
            ExprKind::Not(inner) => ExprKind::Not(self.expr(inner)),
            ExprKind::Neg(inner) => ExprKind::Neg(self.expr(inner)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, self.expr(a), self.expr(b)),
            ExprKind::Indexed(op, indices, body) => {
                ExprKind::Indexed(*op, self.indices(indices), self.expr(body))
            }
            ExprKind::Call(name, arguments) => ExprKind::Call(name.clone(), self.exprs(arguments)),
            ExprKind::Assign(to, value) => ExprKind::Assign(self.expr(to), self.expr(value)),
            ExprKind::Increment(to, by) => ExprKind::Increment(self.expr(to), *by),
        };
        Rc::new(Expr {
            kind,
            span: expr.span,
        })
    }

    fn channel(&mut self, channel: &ChannelUse) -> ChannelUse {
        ChannelUse {
            name: channel.name.clone(),
            index: channel.index.as_ref().map(|index| self.expr(index)),
        }
    }

    fn prefix(&mut self, prefix: &Prefix) -> Prefix {
        let action = match &prefix.action {
            Action::Tau => Action::Tau,
            Action::Event(name, list) => Action::Event(name.clone(), self.exprs(list)),
            Action::Send(channel, list) => Action::Send(self.channel(channel), self.exprs(list)),
            Action::Receive(channel, condition, list) => {
                let condition = condition.as_ref().map(|condition| self.expr(condition));
                // A name is bound here, or a constant.
                let pattern = |pattern: &ExprRef| match pattern.kind {
                    ExprKind::Name(_) => pattern.clone(),
                    _ => self.expr(pattern),
                };
                let list = list.iter().map(pattern).collect();
                Action::Receive(self.channel(channel), condition, list)
            }
        };
        Prefix {
            action,
            program: prefix.program.as_ref().map(|program| self.program(program)),
            ..prefix.clone()
        }
    }

    fn procs(&mut self, list: &[ProcRef]) -> Vec<ProcRef> {
        list.iter().map(|proc| self.proc(proc)).collect()
    }

    fn proc(&mut self, proc: &ProcRef) -> ProcRef {
        let kind = match &proc.kind {
            ProcKind::Stop => ProcKind::Stop,
            ProcKind::Skip => ProcKind::Skip,
            ProcKind::Assert(condition) => ProcKind::Assert(self.expr(condition)),
            ProcKind::Call(name, list) => ProcKind::Call(name.clone(), self.exprs(list)),
            ProcKind::Prefix(list, next) => {
                let list = list.iter().map(|prefix| self.prefix(prefix)).collect();
                ProcKind::Prefix(list, self.proc(next))
            }
            ProcKind::If(kind, condition, then, otherwise) => {
                let condition = self.expr(condition);
                let then = self.proc(then);
                let otherwise = otherwise.as_ref().map(|otherwise| self.proc(otherwise));
                ProcKind::If(*kind, condition, then, otherwise)
            }
            ProcKind::Case(branches, default) => {
                let branches = branches.iter();
                let branches = branches.map(|(when, then)| (self.expr(when), self.proc(then)));
                let branches = branches.collect();
                ProcKind::Case(branches, default.as_ref().map(|proc| self.proc(proc)))
            }
            ProcKind::Guard(condition, body) => {
                ProcKind::Guard(self.expr(condition), self.proc(body))
            }
            ProcKind::Atomic(body) => ProcKind::Atomic(self.proc(body)),
            ProcKind::Seq(a, b) => ProcKind::Seq(self.proc(a), self.proc(b)),
            ProcKind::Hide(body, events) => ProcKind::Hide(self.proc(body), events.clone()),
            ProcKind::Interrupt(a, b) => ProcKind::Interrupt(self.proc(a), self.proc(b)),
            ProcKind::Choice(kind, list) => ProcKind::Choice(*kind, self.procs(list)),
            ProcKind::Interleave(list) => ProcKind::Interleave(self.procs(list)),
            ProcKind::Parallel(list) => ProcKind::Parallel(self.procs(list)),
            ProcKind::Indexed(op, indices, body) => {
                ProcKind::Indexed(*op, self.indices(indices), self.proc(body))
            }
            ProcKind::Replicated(count, body) => {
                let count = count.as_ref().map(|count| self.expr(count));
                ProcKind::Replicated(count, self.proc(body))
            }
        };
        Rc::new(Proc {
            kind,
            span: proc.span,
        })
    }
}
