//! Expressions. Values are those of C's `int`; what cannot overflow is not wrapped.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, Expr, Owner, Place, Quantifier};

use crate::ast::{self, Argument, Binary, ExprKind, Probe, Unary, VarRef};
use crate::symbols::{Context, GLOBAL, Ty};

use super::arithmetic::{arithmetic, compare, within_int};
use super::channels::{Buffer, Candidate};
use super::storage::{constant_binary, wrapped};
use super::{Lowering, Storage, all, any, equals};

/// What a test of the messages in a rendezvous channel ends in.
pub(super) const NOTHING_TO_POLL: &str = "a rendezvous channel has no messages to look at";

/// Who evaluates an expression.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) context: Context,
    /// Whose local variables are meant.
    pub(super) owner: Owner,
    /// Its process number; nothing outside processes.
    pub(super) pid: Option<Expr>,
    /// Is `timeout` true?
    pub(super) timeout: bool,
}

impl Who {
    /// Formulas and claims: no process.
    pub(super) fn no_process() -> Self {
        Self {
            context: Context {
                scope: GLOBAL,
                order: u32::MAX,
                owner: None,
            },
            owner: Owner::Single,
            pid: None,
            timeout: false,
        }
    }
}

/// A value with the range in which it lies.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) expr: Expr,
    is_truth: bool,
    pub(super) lo: i64,
    pub(super) hi: i64,
}

impl Val {
    pub(super) fn number(value: i64) -> Self {
        Self::new(Expr::Int(value), (value, value))
    }

    pub(super) fn new(expr: Expr, (lo, hi): (i64, i64)) -> Self {
        Self {
            expr,
            is_truth: false,
            lo,
            hi,
        }
    }

    pub(super) fn truth(expr: Expr) -> Self {
        // shape: everything else is a condition whose value is not known.
        if let Expr::Bool(value) = expr {
            return Self::number(i64::from(value));
        }
        Self {
            expr,
            is_truth: true,
            lo: 0,
            hi: 1,
        }
    }

    /// As a condition.
    pub(super) fn holds(self) -> Expr {
        // shape: everything else is compared when it is evaluated.
        if let Expr::Int(value) = self.expr {
            return Expr::Bool(value != 0);
        }
        if self.is_truth {
            return self.expr;
        }
        Expr::binary(BinaryOp::Ne, self.expr, Expr::Int(0))
    }

    /// The value where the condition holds, else zero.
    pub(super) fn or_zero(self, condition: Expr) -> Self {
        let range = (self.lo.min(0), self.hi.max(0));
        let (then, otherwise) = (Box::new(self.expr), Box::new(Expr::Int(0)));
        Self::new(Expr::Ite(Box::new(condition), then, otherwise), range)
    }

    pub(super) fn constant(&self) -> Option<i64> {
        // shape: everything else is not a number.
        if let Expr::Int(value) = self.expr {
            return Some(value);
        }
        None
    }
}

/// A variable or a part of it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) var: usize,
    pub(super) path: Vec<Access>,
    pub(super) ty: Ty,
}

impl Lowering<'_> {
    /// The value of an expression; zero after an error.
    pub(super) fn value(&mut self, expr: &ast::Expr, who: &Who) -> Val {
        self.try_value(expr, who).unwrap_or(Val::number(0))
    }

    /// An expression as a condition.
    pub(super) fn condition(&mut self, expr: &ast::Expr, who: &Who) -> Expr {
        self.value(expr, who).holds()
    }

    fn try_value(&mut self, expr: &ast::Expr, who: &Who) -> Option<Val> {
        Some(match &expr.kind {
            ExprKind::Int(value) => Val::number(wrapped(*value, Ty::Int)),
            ExprKind::Var(var) => self.variable(var, who)?,
            ExprKind::Unary(op, inner) => self.unary(*op, inner, expr.span, who)?,
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span, who)?,
            ExprKind::Cond(condition, then, otherwise) => {
                let condition = self.condition(condition, who);
                let n_before = self.pitfalls.len();
                let then = self.value(then, who);
                self.limit_pitfalls(n_before, &condition);
                let n_before = self.pitfalls.len();
                let otherwise = self.value(otherwise, who);
                self.limit_pitfalls(n_before, &Expr::not(condition.clone()));
                let range = (then.lo.min(otherwise.lo), then.hi.max(otherwise.hi));
                if condition.is_bool(true) {
                    then
                } else if condition.is_bool(false) {
                    otherwise
                } else {
                    let (then, otherwise) = (Box::new(then.expr), Box::new(otherwise.expr));
                    Val::new(Expr::Ite(Box::new(condition), then, otherwise), range)
                }
            }
            ExprKind::Run { .. } => {
                let message = "`run` is a statement of its own or the right side of an assignment";
                self.error("run-in-expression", expr.span, message);
                return None;
            }
            ExprKind::Probe(probe, channel) => self.probe(*probe, channel, who)?,
            ExprKind::Poll {
                channel,
                arguments,
                any,
            } => self.poll(channel, arguments, *any, who)?,
            ExprKind::Enabled(pid) => {
                let pid = self.value(pid, who);
                Val::truth(self.enabled(&pid.expr))
            }
            ExprKind::Priority(pid) => {
                let pid = self.value(pid, who);
                self.priority_of(&pid.expr)
            }
            ExprKind::Expired(timer) => self.ask_timer(timer, 0, who)?,
            ExprKind::IsOff(timer) => self.ask_timer(timer, -1, who)?,
            ExprKind::Timeout => Val::number(i64::from(who.timeout)),
            ExprKind::NonProgress => Val::truth(Expr::not(
                self.some_process_at(|label| label.starts_with("progress")),
            )),
            ExprKind::RemoteLabel {
                process,
                pid,
                label,
            } => {
                let pid = pid.as_deref();
                Val::truth(self.remote_label(process, pid, label, expr.span, who)?)
            }
            ExprKind::RemoteVar { process, pid, var } => {
                self.remote_variable(process, pid.as_deref(), var, expr.span, who)?
            }
        })
    }

    fn variable(&mut self, var: &VarRef, who: &Who) -> Option<Val> {
        let part = &var.parts[0];
        if let Some(value) = self.symbols.mtypes.get(&part.name) {
            return Some(Val::number(*value));
        }

        match &*part.name {
            "_pid" => match &who.pid {
                Some(pid) => return Some(Val::new(pid.clone(), (0, 255))),
                None => {
                    let message = "`_pid` has no meaning outside a process";
                    self.error("unknown-name", var.span, message);
                    return None;
                }
            },
            "_nr_pr" => return Some(Val::new(self.n_processes(), (0, 255))),
            "_last" => {
                let last = self.special.last.expect("the text mentions it");
                return Some(Val::new(read_global(last), (0, 255)));
            }
            "_priority" => return Some(self.own_priority(who)),
            "_" => {
                let message = "`_` can only be written, never read";
                self.error("wrong-type", var.span, message);
                return None;
            }
            _ => {}
        }

        let found = self.place(var, who)?;
        if found.ty == Ty::Timer {
            let message = "a timer is asked with `expire(t)` or `off(t)`";
            self.error("wrong-type", var.span, message);
            return None;
        }

        if let Ty::Struct(_) = found.ty {
            let message = format!(
                "`{}` is a structure, not a single value",
                self.text(var.span)
            );
            let diagnostic = Diagnostic::error("wrong-type", var.span, message);
            self.say(diagnostic.help("name one of its fields"));
            return None;
        }

        let bounds = match found.ty {
            Ty::Mtype if self.named_mtypes => (0, self.symbols.mtype_names.len() as i64),
            Ty::Chan => (0, self.last_channel().max(255)),
            other => other.bounds(),
        };
        let expr = self.read(&found, who);
        Some(Val {
            expr,
            is_truth: found.ty == Ty::Bool,
            lo: bounds.0,
            hi: bounds.1,
        })
    }

    /// How many processes there are.
    pub(super) fn n_processes(&self) -> Expr {
        match self.special.n_processes {
            Some(var) => read_global(var),
            None => Expr::Int(self.population.n_at_start),
        }
    }

    /// Finds a variable or a part of it, checking indices and fields.
    pub(super) fn place(&mut self, var: &VarRef, who: &Who) -> Option<Found> {
        let root = match self.symbols.resolve(var, who.context, "variable") {
            Ok(root) => root,
            Err(diagnostic) => {
                self.say(diagnostic);
                return None;
            }
        };
        self.place_in(root, var, who)
    }

    fn place_in(&mut self, root: usize, var: &VarRef, who: &Who) -> Option<Found> {
        let (mut ty, mut length) = (self.symbols.vars[root].ty, self.symbols.vars[root].length);
        let mut path = Vec::new();
        for (position, part) in var.parts.iter().enumerate() {
            if position > 0 {
                let Ty::Struct(index) = ty else {
                    let message = format!("`{}` has no fields", var.parts[position - 1].name);
                    self.error("wrong-type", part.span, message);
                    return None;
                };
                let Some(at) = self.symbols.find_field(index, &part.name) else {
                    let (name, fields) = &self.symbols.structs[index];
                    let message = format!("the type `{name}` has no field `{}`", part.name);
                    let mut diagnostic = Diagnostic::error("unknown-name", part.span, message);
                    let names = fields.iter().map(|field| &*field.name);
                    if let Some(close) = base::closest_name(&part.name, names) {
                        diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
                    }
                    self.say(diagnostic);
                    return None;
                };
                let field = &self.symbols.structs[index].1[at];
                (ty, length) = (field.ty, field.length);
                path.push(Access::Field(at));
            }
            match (&part.index, length) {
                (Some(index), Some(length)) => {
                    let value = self.value(index, who);
                    let outside = value
                        .constant()
                        .filter(|at| !(0..length as i64).contains(at));
                    if let Some(at) = outside {
                        let message = format!("`{}` has no element {at}", part.name);
                        let help = format!("its elements are 0 to {}", length - 1);
                        let diagnostic = Diagnostic::error("index", index.span, message);
                        self.say(diagnostic.help(help));
                    }
                    path.push(Access::Index(value.expr));
                }
                (None, Some(_)) => {
                    let message = format!("`{}` is an array and needs an index", part.name);
                    self.error("wrong-type", part.span, message);
                    return None;
                }
                (Some(_), None) => {
                    let message = format!("`{}` is not an array", part.name);
                    self.error("wrong-type", part.span, message);
                    return None;
                }
                (None, None) => {}
            }
        }

        Some(Found {
            var: root,
            path,
            ty,
        })
    }

    /// The place in the state; nothing for a constant.
    pub(super) fn model_place(&self, found: &Found, who: &Who) -> Option<Place> {
        match self.storage[found.var] {
            Storage::Constant => None,
            Storage::State(var) => Some(Place {
                var,
                owner: self.symbols.vars[found.var]
                    .owner
                    .map(|_| who.owner.clone()),
                path: found.path.clone(),
            }),
        }
    }

    /// The content of a variable.
    pub(super) fn read(&self, found: &Found, who: &Who) -> Expr {
        match self.model_place(found, who) {
            Some(place) => Expr::Read(place),
            None => {
                let group = self.groups.iter().position(|group| group.var == found.var);
                let index = match found.path.first() {
                    Some(Access::Index(index)) => index.clone(),
                    _ => Expr::Int(0),
                };
                group.map_or(Expr::Int(0), |group| {
                    self.channel_number(group, index, who.pid.as_ref())
                })
            }
        }
    }

    fn unary(&mut self, op: Unary, inner: &ast::Expr, span: Span, who: &Who) -> Option<Val> {
        let value = match op {
            Unary::Next | Unary::Always | Unary::Eventually | Unary::AllPaths | Unary::SomePath => {
                let message = "a temporal formula cannot be part of an expression";
                let diagnostic = Diagnostic::error("temporal", span, message);
                let help = "put what it is about into parentheses: `[] (x == 1)`";
                self.say(diagnostic.help(help));
                return None;
            }
            _ => self.value(inner, who),
        };

        Some(match op {
            Unary::Not => Val::truth(Expr::not(value.holds())),
            Unary::Minus => match value.constant() {
                Some(constant) => Val::number(wrapped(-constant, Ty::Int)),
                None => {
                    let range = (-value.hi, -value.lo);
                    within_int(Val::new(Expr::Neg(Box::new(value.expr)), range))
                }
            },
            _ => match value.constant() {
                Some(constant) => Val::number(!constant),
                None => {
                    let minus_one = Expr::Int(-1);
                    let expr = Expr::binary(BinaryOp::Sub, minus_one, value.expr);
                    Val::new(expr, (-1 - value.hi, -1 - value.lo))
                }
            },
        })
    }

    fn binary(
        &mut self,
        op: Binary,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        who: &Who,
    ) -> Option<Val> {
        if matches!(op, Binary::Until | Binary::WeakUntil | Binary::Release) {
            let message = "a temporal formula cannot be part of an expression";
            self.error("temporal", span, message);
            return None;
        }

        let a = self.value(left, who);
        let n_pitfalls = self.pitfalls.len();
        let b = self.value(right, who);

        // The right side is not looked at if the left side decides.
        let looks_right = match op {
            Binary::And | Binary::Implies => Some(a.clone().holds()),
            Binary::Or => Some(Expr::not(a.clone().holds())),
            _ => None,
        };
        if let Some(condition) = looks_right {
            self.limit_pitfalls(n_pitfalls, &condition);
        }

        let constant = a.constant().zip(b.constant());
        if let Some(value) = constant.and_then(|(a, b)| constant_binary(op, a, b)) {
            return Some(Val::number(value));
        }
        Some(match op {
            Binary::And => Val::truth(all([a.holds(), b.holds()])),
            Binary::Or => Val::truth(any([a.holds(), b.holds()])),
            Binary::Implies => Val::truth(any([Expr::not(a.holds()), b.holds()])),
            Binary::Iff => Val::truth(Expr::binary(BinaryOp::Eq, a.holds(), b.holds())),
            Binary::Lt => compare(BinaryOp::Lt, a, b),
            Binary::Le => compare(BinaryOp::Le, a, b),
            Binary::Gt => compare(BinaryOp::Gt, a, b),
            Binary::Ge => compare(BinaryOp::Ge, a, b),
            Binary::Eq => compare(BinaryOp::Eq, a, b),
            Binary::Ne => compare(BinaryOp::Ne, a, b),
            _ => within_int(arithmetic(op, a, b)),
        })
    }

    /// A value as a variable of a type keeps it.
    pub(super) fn fitted(&mut self, value: Val, ty: Ty, span: Span) -> Expr {
        if let Some(constant) = value.constant() {
            self.warn_of_truncation(constant, ty, span);
        }
        let (lo, hi) = match ty {
            Ty::Mtype if self.named_mtypes => (0, self.symbols.mtype_names.len() as i64),
            Ty::Chan => (0, self.last_channel().max(255)),
            other => other.bounds(),
        };
        if lo <= value.lo && value.hi <= hi {
            return value.expr;
        }
        if ty == Ty::Mtype && self.named_mtypes {
            self.mtype_is_number = true;
            return value.expr;
        }
        if let Some(constant) = value.constant() {
            return Expr::Int(wrapped(constant, ty));
        }
        let (bits, signed) = ty.bits();
        Expr::Wrap {
            bits,
            signed,
            inner: Box::new(value.expr),
        }
    }

    pub(super) fn warn_of_truncation(&mut self, value: i64, ty: Ty, span: Span) {
        let (lo, hi) = ty.bounds();
        if !(lo..=hi).contains(&value) && ty != Ty::Chan {
            let kept = wrapped(value, ty);
            let message = format!(
                "{value} does not fit into a `{}`; {kept} is stored",
                ty.name()
            );
            self.say(Diagnostic::warning("truncated", span, message));
        }
    }

    fn probe(&mut self, probe: Probe, channel: &VarRef, who: &Who) -> Option<Val> {
        let candidates = self.candidates(channel, who)?;
        if probe == Probe::Len {
            let mut longest = 0;
            let mut length = Expr::Int(0);
            for candidate in candidates.iter().rev() {
                longest = longest.max(self.groups[candidate.group].capacity as i64);
                let own = self.length_of(candidate);
                length = match &candidate.when {
                    None => own,
                    Some(when) => {
                        Expr::Ite(Box::new(when.clone()), Box::new(own), Box::new(length))
                    }
                };
            }
            return Some(Val::new(length, (0, longest)));
        }

        let mut parts = Vec::new();
        for candidate in &candidates {
            let capacity = self.groups[candidate.group].capacity as i64;
            let length = self.length_of(candidate);
            let is_rendezvous = capacity == 0;
            let question = match probe {
                Probe::Full if is_rendezvous => Expr::Bool(false),
                Probe::NotFull | Probe::Empty if is_rendezvous => Expr::Bool(true),
                Probe::NotEmpty if is_rendezvous => Expr::Bool(false),
                Probe::Full => equals(length, capacity),
                Probe::NotFull => Expr::binary(BinaryOp::Lt, length, Expr::Int(capacity)),
                Probe::Empty => equals(length, 0),
                _ => Expr::binary(BinaryOp::Gt, length, Expr::Int(0)),
            };
            parts.push(all(candidate.when.clone().into_iter().chain([question])));
        }

        Some(Val::truth(any(parts)))
    }

    fn poll(
        &mut self,
        channel: &VarRef,
        arguments: &[Argument],
        anywhere: bool,
        who: &Who,
    ) -> Option<Val> {
        let candidates = self.candidates(channel, who)?;
        let mut parts = Vec::new();
        for candidate in candidates {
            let condition = candidate.when.clone().unwrap_or(Expr::Bool(true));
            if let Buffer::Rendezvous(_) = self.groups[candidate.group].buffer {
                let message = NOTHING_TO_POLL.to_owned();
                self.warn_if_certain(&candidate, channel.span, &message);
                self.pitfalls.push((condition, message));
                continue;
            }
            let pattern = self.pattern(arguments, who)?;
            let n_fields = self.groups[candidate.group].fields.len();
            if pattern.iter().any(|(field, _)| *field >= n_fields) {
                let known = pattern.into_iter().filter(|(field, _)| *field < n_fields);
                let known: Vec<(usize, Expr)> = known.collect();
                let message = self.wrong_count(&candidate, arguments.len());
                self.warn_if_certain(&candidate, channel.span, &message);
                let test = self.message_test(&candidate, &known, anywhere);
                self.pitfalls.push((all([condition, test]), message));
                continue;
            }
            let test = self.message_test(&candidate, &pattern, anywhere);
            parts.push(all(candidate.when.clone().into_iter().chain([test])));
        }
        Some(Val::truth(any(parts)))
    }

    /// What was found since then is an error only under a condition.
    fn limit_pitfalls(&mut self, since: usize, condition: &Expr) {
        for (when, _) in &mut self.pitfalls[since..] {
            *when = all([condition.clone(), when.clone()]);
        }
    }

    /// Is there a message that fits: the first, or any?
    pub(super) fn message_test(
        &mut self,
        candidate: &Candidate,
        pattern: &[(usize, Expr)],
        anywhere: bool,
    ) -> Expr {
        let length = self.length_of(candidate);
        if !anywhere || pattern.is_empty() {
            let fits = self.message_fits(candidate, pattern, &Expr::Int(0));
            return all([Expr::binary(BinaryOp::Gt, length, Expr::Int(0)), fits]);
        }
        let bound = self.bound("slot");
        let body = self.message_fits(candidate, pattern, &Expr::Bound(bound));
        Expr::Quantified {
            quantifier: Quantifier::Exists,
            bound,
            lo: Box::new(Expr::Int(0)),
            hi: Box::new(super::channels::add(length, -1)),
            body: Box::new(body),
        }
    }

    /// Does the message in a slot have these values in these components?
    pub(super) fn message_fits(
        &self,
        candidate: &Candidate,
        pattern: &[(usize, Expr)],
        slot: &Expr,
    ) -> Expr {
        all(pattern.iter().map(|(field, wanted)| {
            let component = Expr::Read(self.field_place(candidate, slot.clone(), *field));
            Expr::binary(BinaryOp::Eq, component, wanted.clone())
        }))
    }
}

pub(super) fn read_global(var: model::VarId) -> Expr {
    Expr::Read(Place {
        var,
        owner: None,
        path: Vec::new(),
    })
}
