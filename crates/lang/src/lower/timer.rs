//! Timers: declarations, settings, what may be asked about them, and propositions over abstract ones.

use base::{AtomId, Diagnostic, Span};
use logic::{Ltl, Op};
use model::{
    Access, AtomMeaning, BinaryOp, BoundId, Composition, Expr, Initial, LocationId, Place,
    ProcessId, Scalar, Setting, Step, Stmt, StmtKind, Sync, Timer, Type, VarId,
};

use super::Lowerer;
use super::names::{Global, ProcessInfo, Ty, Value};
use crate::ast::{self, TimerDecl, TimerValue};

/// The greatest value that a timer can be set to where the text does not show a smaller one.
pub(super) const MAX_SETTING: i64 = 32_767;

impl<'a> Lowerer<'a> {
    /// Declares timers, global or local to `owner`.
    pub(super) fn timers(&mut self, decl: &'a TimerDecl, owner: Option<ProcessId>) {
        let declared = decl
            .threshold
            .as_ref()
            .and_then(|expr| Some((self.constant_int(expr)?, expr.span)));

        for var in &decl.vars {
            let name = &var.names[0];
            let id = VarId::new(self.parts.vars.len());
            self.variables(var, owner);
            if self.parts.vars.len() == id.index() {
                continue;
            }
            let threshold = self.threshold_option(&name.text, owner);
            let threshold = threshold.map(|k| (k, name.span)).or(declared);
            if let Some((value, span)) = threshold.filter(|(value, _)| *value < 1) {
                let message = format!("the threshold of a timer is at least 1, not {value}");
                self.report(Diagnostic::error("timer-threshold", span, message));
            }
            let variable = &mut self.parts.vars[id.index()];
            let n_cells = variable.ty.n_cells(&self.parts.records);
            variable.initial = Initial::Values(vec![Expr::Int(-1); n_cells]);
            self.parts.timers.push(Timer {
                var: id,
                threshold: threshold.map(|(k, _)| k.max(1)),
                limit: 0,
                any: None,
                stretched_from: None,
            });
        }
    }

    /// What the options say about a timer.
    fn threshold_option(&mut self, name: &str, owner: Option<ProcessId>) -> Option<i64> {
        let qualified = owner.map(|process| {
            let process = &self.parts.processes[process.index()].name;
            format!("{process}.{name}")
        });

        let fits = |option: &&mut (&str, &str, bool)| {
            option.0 == name || qualified.as_deref() == Some(option.0)
        };
        let option = self.abstract_timers.iter_mut().find(fits)?;
        option.2 = true;
        let value = option.1;

        match value.trim().parse() {
            Ok(value) => Some(value),
            Err(_) => {
                let message = format!("`{value}` is not a threshold for the timer `{name}`");
                let diagnostic = Diagnostic::error("timer-threshold", Span::nowhere(), message);
                self.report(diagnostic.help("write `--abstract-timer NAME=K` with a number K"));
                None
            }
        }
    }

    /// Lets time pass if there are timers.
    pub(super) fn clock(&mut self) {
        for (name, _, is_used) in self.abstract_timers.clone() {
            if !is_used {
                let message = format!("there is no timer `{name}` to be made abstract");
                self.report(Diagnostic::error("unknown-timer", Span::nowhere(), message));
            }
        }

        let Some(timer) = self.parts.timers.first() else {
            return;
        };
        let span = self.parts.vars[timer.var.index()].span;
        if self.parts.composition == Composition::Synchronous {
            let message = "timers need processes that move one at a time";
            let diagnostic = Diagnostic::error("synchronous-timer", span, message);
            self.report(diagnostic.help("leave out `synchronous`"));
        }
        if let Some(&(_, first)) = self.globals.get("tick") {
            let message = "in a model with timers, `tick` is the step in which time passes";
            let diagnostic = Diagnostic::error("duplicate", first, message);
            self.report(diagnostic.label(span, "this timer counts ticks"));
        }

        let clock = self.parts.add_clock(span);
        self.event_types.push(Vec::new());
        self.processes.push(ProcessInfo::default());
        self.globals
            .insert("tick", (Global::Event(clock.event), span));

        let meaning = self.parts.atoms[clock.tick.index()].meaning.clone();
        let key = super::fresh::canonical_text(&meaning);
        self.atoms_by_meaning.insert(key, clock.tick);
    }

    fn timer_of(&mut self, place: &Place) -> Option<&mut Timer> {
        let mut timers = self.parts.timers.iter_mut();
        timers.find(|timer| timer.var == place.var)
    }

    /// `set t := e`.
    pub(super) fn set_timer(
        &mut self,
        timer: &'a ast::Expr,
        value: &'a TimerValue,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let (place, ty) = self.place(timer)?;
        let threshold = self.timer_of(&place).map(|timer| timer.threshold);
        let (Some(threshold), Type::Scalar(_)) = (threshold, ty) else {
            let message = "only a single timer can be set";
            let help = "write `x := e` to assign to a variable; declare timers with `timer`";
            self.report(Diagnostic::error("not-a-timer", timer.span, message).help(help));
            return None;
        };

        let setting = match value {
            TimerValue::Off => Setting::To(Expr::Int(-1)),
            TimerValue::Any(_) if threshold.is_some() => Setting::Any,
            TimerValue::Any(any) => {
                let message = "only an abstract timer can be set to `any` value";
                let help = "declare it with `abstract from k`, or use `--abstract-timer NAME=K`";
                self.report(Diagnostic::error("any-setting", *any, message).help(help));
                return None;
            }
            TimerValue::Value(ast::Value::Plain(expr)) => Setting::To(self.int_expr(expr)?),
            TimerValue::Value(choose) => {
                let wanted = Some(Ty::Int);
                let (bound, _) = self.bind_value("setting", choose, wanted, span, out)?;
                Setting::To(Expr::Bound(bound))
            }
        };

        for expr in setting.operands() {
            let greatest = self.greatest(expr, out).min(MAX_SETTING);
            let timer = self.timer_of(&place)?;
            timer.limit = timer.limit.max(greatest);
        }

        out.push(Stmt::new(StmtKind::SetTimer(place, setting), span));
        Some(())
    }

    /// The timer that a delay waits for; appends the statement that sets it.
    pub(super) fn delay(&mut self, delay: &'a ast::Stmt, out: &mut Vec<Stmt>) -> Option<Place> {
        let ast::StmtKind::SetTimer(timer, value) = &delay.kind else {
            return None;
        };
        self.set_timer(timer, value, delay.span, out)?;

        // shape: the last statement is the one that was appended above.
        let Some(StmtKind::SetTimer(place, _)) = out.last().map(|stmt| &stmt.kind) else {
            return None;
        };
        let place = place.clone();
        let is_fixed = |access: &Access| match access {
            Access::Field(_) => true,
            Access::Index(index) => match index.as_bound() {
                Some(bound) => self.index_range(bound).is_some(),
                None => index.as_literal().is_some(),
            },
        };

        if place.path.iter().all(is_fixed) {
            return Some(place);
        }
        let message = "which timer a step waits for must not depend on the state or a parameter";
        self.report(Diagnostic::error("delay", timer.span, message));
        None
    }

    /// Adds a location in which the process waits for the end of a delay, and the step that leaves it.
    pub(super) fn add_delay(
        &mut self,
        id: ProcessId,
        decl: &ast::StepDecl,
        (timer, target): (Place, LocationId),
    ) -> LocationId {
        let process = &mut self.parts.processes[id.index()];
        let waiting = LocationId::new(process.locations.len());

        process
            .locations
            .push(format!("{} (delay)", decl.name.text));

        let expired = Expr::binary(BinaryOp::Eq, Expr::Read(timer.clone()), Expr::Int(0));
        let off = StmtKind::SetTimer(timer, Setting::To(Expr::Int(-1)));
        let name = format!("{}_end", decl.name.text);
        process.steps.push(Step {
            guard: expired,
            effect: vec![Stmt::new(off, decl.span)],
            ..Step::new(&name, waiting, target, decl.span)
        });

        waiting
    }

    /// A number that the value does not exceed, as far as the text shows.
    fn greatest(&self, expr: &Expr, before: &[Stmt]) -> i64 {
        let again = |inner: &Expr| self.greatest(inner, before);
        match expr {
            Expr::Int(value) => *value,
            Expr::Bool(_) => 1,
            Expr::Ite(_, then, otherwise) => again(then).max(again(otherwise)),
            Expr::Binary(BinaryOp::Add, a, b) => again(a).saturating_add(again(b)),
            Expr::Binary(BinaryOp::Sub, a, b) => match b.as_literal() {
                Some(value) => again(a).saturating_sub(value),
                None => MAX_SETTING,
            },
            Expr::Read(place) => match self.scalar_at(place) {
                Some(Scalar::Range(_, hi)) => hi,
                _ => MAX_SETTING,
            },
            Expr::Bound(bound) => chosen_range(before, *bound)
                .or_else(|| self.index_range(*bound))
                .unwrap_or(MAX_SETTING),
            Expr::Enum(..)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Quantified { .. }
            | Expr::At { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => MAX_SETTING,
        }
    }

    fn index_range(&self, bound: BoundId) -> Option<i64> {
        let mut ranges = self.parts.processes.iter().filter_map(|p| p.index);
        ranges.find(|range| range.bound == bound).map(|r| r.hi)
    }

    /// Reports a timer that is used as a variable to be stored into.
    pub(super) fn check_no_timer(&mut self, place: &Place, span: Span) -> Option<()> {
        if self.timer_of(place).is_none() {
            return Some(());
        }
        let message = "a timer is set, not assigned to";
        let diagnostic = Diagnostic::error("timer-assignment", span, message);
        self.report(diagnostic.help("write `set t := e`"));
        None
    }

    /// `expired(t)` and `off(t)`.
    pub(super) fn timer_function(
        &mut self,
        name: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        if let [argument] = arguments
            // shape: anything else is not a timer, which is reported.
            && let Value::Scalar(Expr::Read(place), _) = self.operand(argument, None)?
            && self.timer_of(&place).is_some()
        {
            let value = if name == "expired" { 0 } else { -1 };
            let equals = Expr::binary(BinaryOp::Eq, Expr::Read(place), Expr::Int(value));
            return Some(Value::Scalar(equals, Ty::Bool));
        }
        let message = format!("`{name}` takes one timer");
        self.report(Diagnostic::error("wrong-arguments", span, message));
        None
    }

    /// A step must not depend on a value that an abstract timer does not keep, nor on time itself.
    pub(super) fn check_step_is_exact(&mut self, step: &Step) -> Option<()> {
        if let Some(clock) = self.parts.clock
            // shape: no other step takes part in the event.
            && matches!(step.sync, Sync::Event { event, .. } if event == clock.event)
        {
            let message = "time passes by itself: no process takes part in `tick`";
            let diagnostic = Diagnostic::error("sync-tick", step.span, message);
            self.report(diagnostic.help("wait for a timer: `when expired(t)`"));
            return None;
        }
        let timers = &self.parts.timers;
        if timers.iter().all(|timer| timer.threshold.is_none()) {
            return Some(());
        }
        let is_inexact = |expr: &Expr| model::is_inexact(timers, expr);
        // Indices count like values: which element is written may depend on a timer as well.
        if step.operands().into_iter().any(is_inexact) {
            self.report_inexact(step.span, "a step");
            return None;
        }
        Some(())
    }

    pub(super) fn report_inexact(&mut self, span: Span, what: &str) {
        let message =
            format!("{what} cannot depend on values that an abstract timer does not keep");
        self.report(Diagnostic::error("abstract-value", span, message).help(
            "`expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine",
        ));
    }

    /// The propositions that say that an expression is certainly true, and certainly false; nothing if
    /// it is always one or the other.
    pub(super) fn contraction(
        &mut self,
        name: &str,
        expr: &Expr,
        span: Span,
    ) -> Option<(AtomId, AtomId)> {
        if !model::is_inexact(&self.parts.timers, expr) {
            return None;
        }
        let mut atom = |value: bool| {
            let meaning = AtomMeaning::Certainly(expr.clone(), value);
            let word = if value { "" } else { "!" };
            self.atom(format!("certainly {word}({name})"), meaning, span)
        };
        Some((atom(true), atom(false)))
    }

    /// Does the formula depend on values that an abstract timer does not keep?
    pub(super) fn is_contracted(&self, formula: &Ltl) -> bool {
        let atoms = formula.atoms();
        atoms.iter().any(|atom| self.contracted.contains_key(atom))
    }

    /// The contracting abstraction of a formula: negations are pushed to the propositions, and what is
    /// left holds only where it holds in all states that are described.
    pub(super) fn contract(&self, formula: &Ltl) -> Ltl {
        if !self.is_contracted(formula) {
            return formula.clone();
        }
        self.contract_literals(&formula.negation_normal_form())
    }

    fn contract_literals(&self, formula: &Ltl) -> Ltl {
        let again = |part: &Ltl| self.contract_literals(part);
        let all = |parts: &[Ltl]| parts.iter().map(again).collect::<Vec<_>>();

        match formula.op() {
            Op::Atom(atom) => match self.contracted.get(atom) {
                Some((certainly, _)) => Ltl::atom(*certainly),
                None => formula.clone(),
            },
            Op::Not(inner) => match inner.op() {
                Op::Atom(atom) if self.contracted.contains_key(atom) => {
                    Ltl::atom(self.contracted[atom].1)
                }
                _ => formula.clone(),
            },
            Op::And(parts) => Ltl::and(all(parts)),
            Op::Or(parts) => Ltl::or(all(parts)),
            Op::Next(inner) => Ltl::next(again(inner)),
            Op::Until(a, b) => Ltl::until(again(a), again(b)),
            Op::WeakUntil(a, b) => Ltl::weak_until(again(a), again(b)),
            Op::Release(a, b) => Ltl::release(again(a), again(b)),
            Op::StrongRelease(a, b) => Ltl::strong_release(again(a), again(b)),
            Op::Eventually(inner) => Ltl::eventually(again(inner)),
            Op::Always(inner) => Ltl::always(again(inner)),
            Op::Previously(inner) => Ltl::previously(again(inner)),
            Op::Since(a, b) => Ltl::since(again(a), again(b)),
            Op::True | Op::False => formula.clone(),
            Op::Implies(..) | Op::Iff(..) => {
                unreachable!("negation normal form has neither")
            }
        }
    }
}

/// The greatest value that a choice among the statements gives a name.
fn chosen_range(statements: &[Stmt], wanted: BoundId) -> Option<i64> {
    let mut choices = statements.iter().rev().filter_map(|stmt| match &stmt.kind {
        StmtKind::Choose(bound, _, hi, _) if *bound == wanted => hi.as_literal(),
        StmtKind::Assign(..)
        | StmtKind::If(..)
        | StmtKind::For(..)
        | StmtKind::Choose(..)
        | StmtKind::Assert(_)
        | StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::While(..)
        | StmtKind::Fail(_)
        | StmtKind::SetTimer(..)
        | StmtKind::Tick
        | StmtKind::Exhausted => None,
    });
    choices.next()
}
