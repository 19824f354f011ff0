//! Priorities of processes, as in Spin since version 6.2: a process may move only if no process of
//! higher priority can. What others can do is what `enabled` says; a process in the middle of an
//! `atomic` is interrupted, too. A text without the word has no priorities, and costs nothing.

use base::{Diagnostic, Span};
use model::{
    BinaryOp, Expr, Initial, Owner, Place, ProcessId, Quantifier, Scalar, Stmt, StmtKind, Type,
    VarId, Variable,
};

use crate::ast;
use crate::symbols::Ty;

use super::expr::{Val, Who};
use super::statement::Variant;
use super::{Lowering, all, any};

/// The greatest priority.
const MAX_PRIORITY: i64 = 255;

impl Lowering<'_> {
    /// Does the text use priorities?
    pub(super) fn uses_priorities(&self) -> bool {
        !self.program.priorities.is_empty() || self.mentions("_priority")
    }

    /// Gives every process a priority; zero while it does not exist.
    pub(super) fn make_priorities(&mut self) {
        self.special.priorities = vec![None; self.program.processes.len()];
        if !self.special.has_priorities {
            return;
        }
        self.warn_of_meetings();
        for position in 0..self.units.len() {
            let proctype = self.units[position].proctype;
            let given = self.program.processes[proctype].priority.as_ref();
            let priority = self.given_priority(given);
            let initial = self.for_active(proctype, |_| Some(priority));
            self.parts.vars.push(Variable {
                name: "_priority".to_owned(),
                ty: Type::Scalar(Scalar::Range(0, MAX_PRIORITY)),
                owner: Some(ProcessId::new(position)),
                initial: Initial::Values(vec![initial]),
                span: self.program.processes[proctype].span,
            });
            self.special.priorities[proctype] = Some(VarId::new(self.parts.vars.len() - 1));
        }
    }

    /// Spin cannot combine priorities with rendezvous: who can move would depend on the partner.
    fn warn_of_meetings(&mut self) {
        let is_meeting = |group: &&super::Group| group.capacity == 0;
        if let Some(span) = self.groups.iter().find(is_meeting).map(|group| group.span) {
            let message = "Spin does not combine priorities with rendezvous channels";
            let help = "a process that waits to send counts as able to move, one that waits to \
                        receive does not";
            let warning = Diagnostic::warning("priority", span, message);
            self.say(warning.help(help));
        }
    }

    /// The value behind `priority`; 1 if nothing is written.
    pub(super) fn given_priority(&mut self, given: Option<&ast::Expr>) -> i64 {
        let Some(given) = given else { return 1 };
        match self.symbols.constant(given) {
            Some(value @ 1..=MAX_PRIORITY) => value,
            _ => {
                let message = format!("a priority is a constant from 1 to {MAX_PRIORITY}");
                self.error("wrong-type", given.span, message);
                1
            }
        }
    }

    /// Where the priority of a process is; nothing without priorities.
    pub(super) fn priority_place(&self, proctype: usize, owner: Owner) -> Option<Place> {
        let var = *self.special.priorities.get(proctype)?;
        var.map(|var| Place {
            var,
            owner: Some(owner),
            path: Vec::new(),
        })
    }

    /// `_priority`.
    pub(super) fn own_priority(&self, who: &Who) -> Val {
        let owner = who.context.owner;
        let place = owner.and_then(|owner| self.priority_place(owner, who.owner.clone()));
        match place {
            Some(place) => Val::new(Expr::Read(place), (0, MAX_PRIORITY)),
            None => Val::number(1),
        }
    }

    /// For each process type: whether this is the number of a process of it that exists, and where
    /// its priority is.
    fn priority_places(&self, pid: &Expr) -> Vec<(Expr, Place)> {
        let mut places = Vec::new();
        for unit in &self.units {
            let owner = self.member(unit.proctype, pid.clone());
            let Some(place) = self.priority_place(unit.proctype, owner) else {
                continue;
            };
            let read = Expr::Read(place.clone());
            let exists = Expr::binary(BinaryOp::Gt, read, Expr::Int(0));
            let exists = self.if_member(unit.proctype, pid, exists);
            if !exists.is_bool(false) {
                places.push((exists, place));
            }
        }
        places
    }

    /// `get_priority(p)`: zero if there is no such process.
    pub(super) fn priority_of(&self, pid: &Expr) -> Val {
        let mut value = Expr::Int(0);
        for (exists, place) in self.priority_places(pid) {
            let then = Box::new(Expr::Read(place));
            value = Expr::Ite(Box::new(exists), then, Box::new(value));
        }
        Val::new(value, (0, MAX_PRIORITY))
    }

    /// `set_priority(p, e)`: nothing happens if there is no such process.
    pub(super) fn set_priority(
        &mut self,
        pid: &ast::Expr,
        value: &ast::Expr,
        span: Span,
        who: &Who,
    ) -> Variant {
        let stmt = |kind| Stmt::new(kind, span);
        let pid = self.value(pid, who).expr;
        let value = self.value(value, who).expr;
        let (whose, wanted) = (self.bound("pid"), self.bound("priority"));
        let mut effect = vec![
            stmt(StmtKind::Let(whose, pid)),
            stmt(StmtKind::Let(wanted, value)),
        ];
        let wanted = Expr::Bound(wanted);
        let outside = any([
            Expr::binary(BinaryOp::Lt, wanted.clone(), Expr::Int(1)),
            Expr::binary(BinaryOp::Gt, wanted.clone(), Expr::Int(MAX_PRIORITY)),
        ]);
        let message = format!("a priority is a number from 1 to {MAX_PRIORITY}");
        for (exists, place) in self.priority_places(&Expr::Bound(whose)) {
            let fail = stmt(StmtKind::Fail(message.clone()));
            let check = stmt(StmtKind::If(outside.clone(), vec![fail], Vec::new()));
            let assign = stmt(StmtKind::Assign(place, wanted.clone()));
            effect.push(stmt(StmtKind::If(exists, vec![check, assign], Vec::new())));
        }

        Variant {
            effect,
            ..Variant::when(Expr::Bool(true))
        }
    }

    /// `_priority = e`.
    pub(super) fn assign_priority(
        &mut self,
        value: &ast::Expr,
        span: Span,
        who: &Who,
    ) -> Option<Variant> {
        let value_span = value.span;
        let value = self.value(value, who);
        let value = self.fitted(value, Ty::Byte, value_span);
        let place = self.priority_place(who.context.owner?, who.owner.clone())?;
        Some(Variant {
            effect: vec![Stmt::new(StmtKind::Assign(place, value), span)],
            ..Variant::when(Expr::Bool(true))
        })
    }

    /// Can a process of higher priority move? Nothing without priorities.
    pub(super) fn outranked(&mut self, position: usize, who: &Who) -> Option<Expr> {
        let own = self.units[position].proctype;
        let mine = Expr::Read(self.priority_place(own, who.owner.clone())?);
        let mut parts = Vec::new();
        self.is_asking = true;

        for other in 0..self.units.len() {
            let Some(range) = self.index_range(self.units[other].proctype) else {
                if other != position {
                    let pid = self.who(self.units[other].proctype).pid;
                    let pid = pid.expect("a process has a number");
                    parts.push(self.member_outranks(other, &pid, &mine));
                }
                continue;
            };
            let bound = self.bound("p");
            let body = self.member_outranks(other, &Expr::Bound(bound), &mine);
            parts.push(Expr::Quantified {
                quantifier: Quantifier::Exists,
                bound,
                lo: Box::new(Expr::Int(range.lo)),
                hi: Box::new(Expr::Int(range.hi)),
                body: Box::new(body),
            });
        }

        self.is_asking = false;
        Some(any(parts))
    }

    /// Has the process with this number a higher priority, and can it move?
    fn member_outranks(&mut self, position: usize, pid: &Expr, mine: &Expr) -> Expr {
        let proctype = self.units[position].proctype;
        let owner = self.member(proctype, pid.clone());
        let place = self.priority_place(proctype, owner.clone());
        let its = Expr::Read(place.expect("all processes have a priority"));
        let is_higher = Expr::binary(BinaryOp::Gt, its, mine.clone());
        let mut parts = vec![is_higher];
        if let Some(provided) = &self.program.processes[proctype].provided {
            let who = Who {
                owner,
                pid: Some(pid.clone()),
                ..self.who(proctype)
            };
            parts.push(self.condition(provided, &who));
        }
        parts.push(self.member_can_move(position, pid));
        all(parts)
    }
}
