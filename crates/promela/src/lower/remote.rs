//! Looking into other processes: `enabled`, `P[i]@label`, `P[i]:x`.

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, LocationId, Sync};

use crate::ast::{self, ExprKind, VarRef};
use crate::symbols::Context;

use super::expr::{Val, Who};
use super::statement::Variant;
use super::{Lowering, all, any};

impl Lowering<'_> {
    /// Is there a statement that the process with this number can execute? As in Spin, a send on a
    /// rendezvous channel counts and a receive does not.
    pub(super) fn enabled(&mut self, pid: &Expr) -> Expr {
        // A process that asks for itself would ask forever.
        if std::mem::replace(&mut self.is_asking, true) {
            return Expr::Bool(false);
        }
        let mut parts = Vec::new();
        for position in 0..self.units.len() {
            let proctype = self.units[position].proctype;
            if self.if_member(proctype, pid, Expr::Bool(true)) == Expr::Bool(false) {
                continue;
            }
            let can_move = self.member_can_move(position, pid);
            parts.push(self.if_member(proctype, pid, can_move));
        }
        self.is_asking = false;
        any(parts)
    }

    /// Can the member of a family with this number execute a statement?
    pub(super) fn member_can_move(&mut self, position: usize, pid: &Expr) -> Expr {
        let unit = self.units[position].clone();
        let plan = self.plans[position].clone();
        let who = Who {
            owner: self.member(unit.proctype, pid.clone()),
            pid: Some(pid.clone()),
            ..self.who(unit.proctype)
        };
        let mut ways = Vec::new();

        for (location, planned) in plan.steps.iter().enumerate() {
            let guards = self.guards(&unit, planned, &who);
            let is_possible = |variant: &Variant| match variant.sync {
                Sync::Receive { .. } => Expr::Bool(false),
                Sync::Internal | Sync::Send { .. } | Sync::Event { .. } if variant.priority < 0 => {
                    Expr::Bool(false)
                }
                Sync::Internal | Sync::Send { .. } | Sync::Event { .. } => variant.guard.clone(),
            };
            let possible = any(guards.iter().flatten().map(is_possible));
            let here = self.member_at(position, pid.clone(), vec![LocationId::new(location)]);
            ways.push(all([here, possible]));
        }

        any(ways)
    }

    /// The condition if the process type can have this number, else false.
    pub(super) fn if_member(&self, proctype: usize, pid: &Expr, condition: Expr) -> Expr {
        let Some(range) = self.population.ranges[proctype] else {
            return Expr::Bool(false);
        };
        match pid {
            Expr::Int(value) if (range.lo..=range.hi).contains(value) => condition,
            Expr::Int(_) => Expr::Bool(false),
            Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Read(_)
            | Expr::Bound(_)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Ite(..)
            | Expr::Quantified { .. }
            | Expr::At { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => all([
                Expr::binary(BinaryOp::Ge, pid.clone(), Expr::Int(range.lo)),
                Expr::binary(BinaryOp::Le, pid.clone(), Expr::Int(range.hi)),
                condition,
            ]),
        }
    }

    /// The process type and process number of a remote reference.
    fn remote(
        &mut self,
        process: &str,
        pid: Option<&ast::Expr>,
        span: Span,
        who: &Who,
    ) -> Option<(usize, Expr)> {
        let proctype = self.proctype(process);
        let position = proctype.and_then(|p| self.units.iter().position(|u| u.proctype == p));
        let Some(position) = position else {
            let message = format!("the model never starts a process `{process}`");
            self.error("unknown-name", span, message);
            return None;
        };
        let number = match pid {
            Some(pid) => self.value(pid, who).expr,
            None => self.first_alive(position),
        };
        Some((position, number))
    }

    /// The lowest number of a process of this type that exists.
    fn first_alive(&self, position: usize) -> Expr {
        let proctype = self.units[position].proctype;
        let range = self.population.ranges[proctype].expect("it exists");
        let mut number = Expr::Int(range.lo);
        if self.alive[proctype].is_some() {
            for pid in (range.lo..=range.hi).rev() {
                let owner = self.member(proctype, Expr::Int(pid));
                let alive = self.alive_place(proctype, owner).expect("it says so");
                let (then, otherwise) = (Box::new(Expr::Int(pid)), Box::new(number));
                number = Expr::Ite(Box::new(Expr::Read(alive)), then, otherwise);
            }
        }
        number
    }

    pub(super) fn remote_label(
        &mut self,
        process: &str,
        pid: Option<&ast::Expr>,
        label: &str,
        span: Span,
        who: &Who,
    ) -> Option<Expr> {
        let (position, number) = self.remote(process, pid, span, who)?;
        let unit = self.units[position].clone();
        let Some(element) = unit.flow.find_label(label) else {
            let message = format!("`{process}` has no label `{label}`");
            let labels = unit
                .flow
                .elements
                .iter()
                .flat_map(|e| &e.labels)
                .map(|l| &**l);
            let mut diagnostic = Diagnostic::error("unknown-name", span, message);
            if let Some(close) = base::closest_name(label, labels) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            }
            self.say(diagnostic);
            return None;
        };

        let Some(location) = self.plans[position].id(element) else {
            return Some(Expr::Bool(false));
        };
        let at = self.member_at(position, number.clone(), vec![location]);
        Some(self.if_member(unit.proctype, &number, at))
    }

    pub(super) fn remote_variable(
        &mut self,
        process: &str,
        pid: Option<&ast::Expr>,
        var: &VarRef,
        span: Span,
        who: &Who,
    ) -> Option<Val> {
        let (position, number) = self.remote(process, pid, span, who)?;
        let proctype = self.units[position].proctype;
        let name = &var.parts[0].name;
        let Some(found) = self.symbols.find_local(proctype, name) else {
            self.error(
                "unknown-name",
                span,
                format!("`{process}` has no variable `{name}`"),
            );
            return None;
        };

        let context = Context {
            scope: self.symbols.vars[found].scope,
            order: u32::MAX,
            owner: Some(proctype),
        };
        let remote = Who {
            context,
            owner: self.member(proctype, number.clone()),
            pid: Some(number.clone()),
            timeout: false,
        };

        let expr = ast::Expr {
            kind: ExprKind::Var(var.clone()),
            span,
        };
        let value = self.value(&expr, &remote);
        let inside = self.if_member(proctype, &number, Expr::Bool(true));
        if inside.is_bool(true) {
            return Some(value);
        }
        Some(value.or_zero(inside))
    }
}
