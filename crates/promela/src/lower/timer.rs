//! Timers: built into the language as in DTSpin. A timer is off (-1) or counts the ticks until it
//! expires; time passes only if nothing else can happen.

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, Setting, Stmt, StmtKind, Timer, VarId};

use crate::ast::{self, VarRef};
use crate::symbols::{Context, GLOBAL, Ty};

use super::Lowering;
use super::expr::{Val, Who};
use super::statement::Variant;

/// The greatest value that a timer can be set to.
const MAX_SETTING: i64 = 32_767;

impl Lowering<'_> {
    /// Makes a variable a timer, abstract if the caller says so.
    pub(super) fn declare_timer(&mut self, index: usize, var: VarId) {
        let name = self.symbols.vars[index].name.to_string();
        let owner = self.symbols.vars[index].owner;
        let qualified = owner.map(|owner| {
            let process = &self.program.processes[owner].name;
            format!("{process}.{name}")
        });
        let is_it = |option: &&mut (String, String, bool)| {
            option.0 == name || qualified.as_ref() == Some(&option.0)
        };
        let option = self.abstract_timers.iter_mut().find(is_it);
        let value = option.map(|option| {
            option.2 = true;
            option.1.clone()
        });
        let threshold = value.and_then(|value| match value.trim().parse::<i64>() {
            Ok(threshold @ 1..) => Some(threshold),
            _ => {
                let message = format!("`{value}` is not a threshold for the timer `{name}`");
                let diagnostic = Diagnostic::error("timer-threshold", Span::nowhere(), message);
                let help = "write `--abstract-timer NAME=K` with a number K from 1 on";
                self.diagnostics.push(diagnostic.help(help));
                None
            }
        });

        self.parts.timers.push(Timer {
            var,
            threshold,
            limit: 0,
            any: None,
            stretched_from: None,
        });
    }

    /// Lets time pass if there are timers.
    pub(super) fn start_clock(&mut self) {
        for (name, _, is_used) in self.abstract_timers.clone() {
            if !is_used {
                self.unknown_timer(&name);
            }
        }
        self.warn_of_high_thresholds();
        let Some(timer) = self.parts.timers.first() else {
            return;
        };
        let span = self.parts.vars[timer.var.index()].span;
        if let Some(timeout) = self.program.timeouts.first() {
            let message = "`timeout` has no meaning in a model with timers";
            let diagnostic = Diagnostic::error("timeout-with-timers", *timeout, message)
                .label(span, "time passes when nothing else can happen");
            self.say(diagnostic.help("wait for a timer: `set(t, 1); expire(t)`"));
        }
        self.parts.add_clock(span);
    }

    fn unknown_timer(&mut self, name: &str) {
        let message = format!("there is no timer `{name}` to be made abstract");
        let diagnostic = Diagnostic::error("unknown-timer", Span::nowhere(), message);
        let timers = self.parts.timers.iter();
        let mut names: Vec<String> = timers
            .map(|timer| {
                let var = &self.parts.vars[timer.var.index()];
                match var.owner.and_then(|owner| self.units.get(owner.index())) {
                    Some(unit) => {
                        let process = &self.program.processes[unit.proctype].name;
                        format!("`{process}.{}`", var.name)
                    }
                    None => format!("`{}`", var.name),
                }
            })
            .collect();

        names.sort();
        names.dedup();
        let help = if names.is_empty() {
            "the model has no timers; `timer t;` declares one".to_owned()
        } else {
            format!("the model has these timers: {}", names.join(", "))
        };
        self.say(diagnostic.help(help));
    }

    /// A threshold above every setting abstracts nothing.
    fn warn_of_high_thresholds(&mut self) {
        for timer in self.parts.timers.clone() {
            let var = &self.parts.vars[timer.var.index()];
            let Some(threshold) = timer.threshold.filter(|k| *k > timer.limit) else {
                continue;
            };
            let message = format!(
                "the threshold {threshold} of `{}` is above its greatest setting, {}: nothing is \
                 abstract, and verdicts are about the settings as written",
                var.name, timer.limit
            );
            let span = var.span;
            self.say(Diagnostic::warning("timer-threshold", span, message));
        }
    }

    /// Is this the name of the step in which time passes?
    pub(super) fn is_tick(&self, var: &VarRef) -> bool {
        let context = Context {
            scope: GLOBAL,
            order: u32::MAX,
            owner: None,
        };
        let is_plain = var.parts.len() == 1 && var.parts[0].index.is_none();
        is_plain
            && &*var.parts[0].name == "tick"
            && self.parts.clock.is_some()
            && self.symbols.lookup("tick", context).is_none()
    }

    /// Does the timer have this value?
    pub(super) fn ask_timer(&mut self, timer: &VarRef, value: i64, who: &Who) -> Option<Val> {
        let found = self.place(timer, who)?;
        if found.ty != Ty::Timer {
            return self.no_timer(timer);
        }
        let expr = self.read(&found, who);
        Some(Val::truth(Expr::binary(
            BinaryOp::Eq,
            expr,
            Expr::Int(value),
        )))
    }

    fn no_timer<T>(&mut self, timer: &VarRef) -> Option<T> {
        let message = format!("`{}` is not a timer", self.text(timer.span));
        let diagnostic = Diagnostic::error("wrong-type", timer.span, message);
        self.say(diagnostic.help("declare timers with `timer t;`"));
        None
    }

    /// `set(t, e)`.
    pub(super) fn set_timer(
        &mut self,
        timer: &VarRef,
        value: &ast::Expr,
        span: Span,
        who: &Who,
    ) -> Option<Variant> {
        let found = self.place(timer, who)?;
        if found.ty != Ty::Timer {
            return self.no_timer(timer);
        }
        let value = self.value(value, who);
        let place = self.model_place(&found, who)?;
        let greatest = value.hi.min(MAX_SETTING);
        let mut timers = self.parts.timers.iter_mut();
        let declared = timers.find(|timer| timer.var == place.var)?;
        declared.limit = declared.limit.max(greatest);
        Some(Variant {
            effect: vec![Stmt::new(
                StmtKind::SetTimer(place, Setting::To(value.expr)),
                span,
            )],
            ..Variant::when(Expr::Bool(true))
        })
    }
}
