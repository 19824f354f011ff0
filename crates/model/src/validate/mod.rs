//! Do the parts fit together? What [`ModelParts::finish`] asks before it works out a model.
//!
//! The rest of the crate, and every engine above it, indexes lists by ids, follows paths into types and
//! looks up bound names without asking again. Everything that this relies on is checked here, once, so
//! that wrong parts are an error value and never a panic. The first thing that is wrong is reported.
//!
//! The costs are linear in the size of the parts: sizes are computed without counting up to them.

use base::Span;

use crate::{BoundId, ModelError, ModelParts, ProcessId, Timer};

mod declarations;
mod expressions;
mod references;
mod sizes;
mod steps;

use expressions::ValueKind;
use sizes::Sizes;

/// More instances of processes than this are refused.
const MAX_INSTANCES: i128 = 1 << 20;

/// More scalar components of a state than this are refused.
const MAX_CELLS: i128 = 1 << 24;

/// More single channels than this are refused.
const MAX_CHANNELS: i128 = 1 << 20;

/// A channel that holds more messages than this is refused.
const MAX_CAPACITY: usize = 1 << 20;

/// Checks timers: their variables get their types afterwards.
pub(crate) fn timers(parts: &ModelParts) -> Result<(), ModelError> {
    declarations::timers(parts)
}

/// Checks everything else.
pub(crate) fn all(parts: &ModelParts) -> Result<(), ModelError> {
    let sizes = Sizes::of(parts)?;
    declarations::check(parts, &sizes)?;
    declarations::bounded_start(parts)?;
    references::check(parts, &sizes)?;

    let mut checker = Checker::new(parts);
    checker.initial_values(&sizes)?;
    for (position, process) in parts.processes.iter().enumerate() {
        checker.process(ProcessId::new(position), process)?;
    }
    checker.conditions()
}

/// What expressions and statements are checked against.
struct Checker<'p> {
    parts: &'p ModelParts,
    /// The process that evaluates.
    process: Option<ProcessId>,
    /// What is known about each bound name that is in scope.
    bounds: Vec<Option<Binding>>,
    /// The names that are in scope, innermost last.
    in_scope: Vec<BoundId>,
    /// The timer that each variable is.
    timers: Vec<Option<&'p Timer>>,
    /// What errors are about.
    span: Span,
}

/// What is known about a bound name.
#[derive(Clone, Copy)]
struct Binding {
    kind: ValueKind,
    /// Can [`crate::StmtKind::Set`] change it?
    settable: bool,
}

impl<'p> Checker<'p> {
    fn new(parts: &'p ModelParts) -> Self {
        let mut timers = vec![None; parts.vars.len()];
        for timer in &parts.timers {
            timers[timer.var.index()] = Some(timer);
        }
        Self {
            parts,
            timers,
            process: None,
            bounds: vec![None; parts.bounds.len()],
            in_scope: Vec::new(),
            span: Span::nowhere(),
        }
    }

    fn fail<T>(&self, code: &'static str, message: impl Into<String>) -> Result<T, ModelError> {
        fail(code, self.span, message)
    }

    /// A name is known from here to [`Checker::forget`].
    fn bind(&mut self, bound: BoundId, kind: ValueKind, settable: bool) -> Result<(), ModelError> {
        let Some(binding) = self.bounds.get_mut(bound.index()) else {
            return self.fail("unknown-bound", format!("{bound:?} does not have a name"));
        };
        if binding.is_some() {
            let name = &self.parts.bounds[bound.index()];
            return self.fail(
                "bound-twice",
                format!("`{name}` is bound where it is known"),
            );
        }
        *binding = Some(Binding { kind, settable });
        self.in_scope.push(bound);
        Ok(())
    }

    /// Forgets the names that were bound after there were `n_known`.
    fn forget(&mut self, n_known: usize) {
        for bound in self.in_scope.drain(n_known..) {
            self.bounds[bound.index()] = None;
        }
    }

    fn binding(&self, bound: BoundId) -> Result<Binding, ModelError> {
        match self.bounds.get(bound.index()) {
            None => self.fail("unknown-bound", format!("{bound:?} does not have a name")),
            Some(None) => {
                let name = &self.parts.bounds[bound.index()];
                self.fail("unbound", format!("`{name}` is used where it is not bound"))
            }
            Some(Some(binding)) => Ok(*binding),
        }
    }
}

fn fail<T>(code: &'static str, span: Span, message: impl Into<String>) -> Result<T, ModelError> {
    Err(ModelError {
        code,
        message: message.into(),
        span,
    })
}
