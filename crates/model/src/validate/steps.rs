//! Processes, their steps and what those do.

use super::Checker;
use super::expressions::ValueKind;
use crate::{
    BoundId, ChannelRef, Expr, ModelError, Pattern, Place, Process, ProcessId, Setting, Step, Stmt,
    StmtKind, Sync,
};

impl Checker<'_> {
    /// Checks a process; its locations are known to exist.
    pub(super) fn process(&mut self, id: ProcessId, process: &Process) -> Result<(), ModelError> {
        self.process = Some(id);
        self.span = process.span;
        if let Some(range) = process.index {
            self.bind(range.bound, ValueKind::Int(range.lo, range.hi), false)?;
        }
        let n_known = self.in_scope.len();
        for step in &process.steps {
            self.step(step)?;
            self.forget(n_known);
        }
        self.forget(0);
        self.process = None;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), ModelError> {
        self.span = step.span;
        for parameter in &step.parameters {
            let kind = self.range(&parameter.lo, &parameter.hi)?;
            self.bind(parameter.bound, kind, false)?;
        }
        self.condition(&step.condition)?;
        self.condition(&step.guard)?;
        self.sync(&step.sync)?;
        self.statements(&step.effect)
    }

    fn sync(&mut self, sync: &Sync) -> Result<(), ModelError> {
        match sync {
            Sync::Internal => Ok(()),
            Sync::Send { channel, payload } => {
                let components = self.components(channel, payload.len())?;
                let mut pairs = payload.iter().zip(components);
                pairs.try_for_each(|(value, kind)| self.expect(value, kind))
            }
            Sync::Receive { channel, patterns } => {
                let components = self.components(channel, patterns.len())?;
                let mut pairs = patterns.iter().zip(components);
                pairs.try_for_each(|(pattern, kind)| self.pattern(pattern, kind))
            }
            Sync::Event { event, arguments } => {
                if event.index() >= self.parts.events.len() {
                    return self.fail("unknown-event", format!("{event:?} does not exist"));
                }
                let mut arguments = arguments.iter();
                arguments.try_for_each(|argument| self.kind(argument).map(|_| ()))
            }
        }
    }

    /// The kinds of the components of a message.
    fn components(
        &mut self,
        channel: &ChannelRef,
        n_components: usize,
    ) -> Result<Vec<ValueKind>, ModelError> {
        let id = self.channel(channel)?;
        let description = &self.parts.channels[id.index()];
        let payload = &description.payload;
        if payload.len() != n_components {
            let (name, expected) = (&description.name, payload.len());
            let message =
                format!("a message of `{name}` has {expected} components, not {n_components}");
            return self.fail("message-arity", message);
        }
        Ok(payload
            .iter()
            .map(|scalar| ValueKind::of(*scalar))
            .collect())
    }

    fn pattern(&mut self, pattern: &Pattern, kind: ValueKind) -> Result<(), ModelError> {
        match pattern {
            Pattern::Match(value) => self.expect(value, kind),
            Pattern::Store(place) => self.stored(place, kind),
            Pattern::Ignore => Ok(()),
        }
    }

    /// A value of the kind is stored in the place.
    fn stored(&mut self, place: &Place, kind: ValueKind) -> Result<(), ModelError> {
        let cell = ValueKind::of(self.place(place)?);
        // A number that is not a value of the cell is found out when it is stored.
        if !kind.fits(cell) && !cell.fits(kind) {
            let name = &self.parts.vars[place.var.index()].name;
            return self.fail(
                "wrong-type",
                format!("`{name}` does not have the type of the value"),
            );
        }
        Ok(())
    }

    /// Names that a sequence binds are known to its end.
    fn statements(&mut self, statements: &[Stmt]) -> Result<(), ModelError> {
        let n_known = self.in_scope.len();
        for statement in statements {
            self.span = statement.span;
            self.statement(&statement.kind, n_known)?;
        }
        self.forget(n_known);
        Ok(())
    }

    fn statement(&mut self, kind: &StmtKind, n_known: usize) -> Result<(), ModelError> {
        match kind {
            StmtKind::Assign(place, value) => {
                let kind = self.kind(value)?;
                self.stored(place, kind)
            }
            StmtKind::If(condition, then, otherwise) => {
                self.condition(condition)?;
                self.statements(then)?;
                self.statements(otherwise)
            }
            StmtKind::For(bound, lo, hi, body) => {
                let kind = self.range(lo, hi)?;
                let n_outside = self.in_scope.len();
                self.bind(*bound, kind, false)?;
                self.statements(body)?;
                self.forget(n_outside);
                Ok(())
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let kind = self.range(lo, hi)?;
                self.bind_again(*bound, kind, false, n_known)?;
                self.condition(condition)
            }
            StmtKind::Assert(condition) => self.condition(condition),
            StmtKind::Let(bound, value) => {
                let kind = self.kind(value)?;
                self.bind_again(*bound, settable_kind(kind), true, n_known)
            }
            StmtKind::Set(bound, value) => self.set(*bound, value),
            StmtKind::While(condition, body) => {
                self.condition(condition)?;
                self.statements(body)
            }
            StmtKind::SetTimer(place, setting) => self.set_timer(place, setting),
            StmtKind::Fail(_) | StmtKind::Tick | StmtKind::Exhausted => Ok(()),
        }
    }

    /// A sequence may bind a name of its own once more: the later value counts.
    fn bind_again(
        &mut self,
        bound: BoundId,
        kind: ValueKind,
        settable: bool,
        n_known: usize,
    ) -> Result<(), ModelError> {
        let is_known = self.bounds.get(bound.index()).is_some_and(Option::is_some);
        if is_known {
            let mut own = self.in_scope[n_known..].iter();
            if let Some(position) = own.position(|other| *other == bound) {
                self.in_scope.remove(n_known + position);
                self.bounds[bound.index()] = None;
            }
        }
        self.bind(bound, kind, settable)
    }

    fn set(&mut self, bound: BoundId, value: &Expr) -> Result<(), ModelError> {
        let binding = self.binding(bound)?;
        if !binding.settable {
            let name = &self.parts.bounds[bound.index()];
            return self.fail(
                "set-of-constant",
                format!("`{name}` cannot get a new value"),
            );
        }
        self.expect(value, binding.kind)
    }

    fn set_timer(&mut self, place: &Place, setting: &Setting) -> Result<(), ModelError> {
        self.place(place)?;
        let timer = self.timers[place.var.index()];
        let name = &self.parts.vars[place.var.index()].name;
        let Some(timer) = timer else {
            return self.fail(
                "not-a-timer",
                format!("`{name}` is set like a timer and is not one"),
            );
        };
        match setting {
            Setting::To(value) => self.number(value),
            Setting::Any if timer.threshold.is_some() || timer.any.is_some() => Ok(()),
            Setting::Any => {
                let message = format!("`{name}` is set to any value and does not have a threshold");
                self.fail("timer-settings", message)
            }
        }
    }
}

/// A name that can get a new value may get any value of the type.
fn settable_kind(kind: ValueKind) -> ValueKind {
    match kind {
        ValueKind::Int(_, _) => ValueKind::NUMBER,
        ValueKind::Bool | ValueKind::Enum(_, _) => kind,
    }
}
