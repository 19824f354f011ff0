//! Propositions, annotations, assumptions and the clock: what they refer to exists.

use base::{AtomId, Span};

use super::sizes::Sizes;
use super::{Checker, fail};
use crate::{
    Annotation, Assumption, AtomMeaning, EventId, ModelError, ModelParts, ProcessId, StepPattern,
    Target,
};

pub(super) fn check(parts: &ModelParts, sizes: &Sizes) -> Result<(), ModelError> {
    let references = References { parts };

    for atom in &parts.atoms {
        references.atom(&atom.meaning, sizes, atom.span)?;
    }
    for annotation in &parts.annotations {
        references.annotation(annotation)?;
    }

    for (by, with) in &parts.interferences {
        references.pattern(by, Span::nowhere())?;
        references.pattern(with, Span::nowhere())?;
    }
    for assumption in &parts.assumptions {
        references.assumption(assumption)?;
    }

    if let Some(clock) = parts.clock {
        references.event(clock.event, Span::nowhere())?;
        references.atom_id(clock.tick)?;
    }

    Ok(())
}

struct References<'p> {
    parts: &'p ModelParts,
}

impl References<'_> {
    fn atom(&self, meaning: &AtomMeaning, sizes: &Sizes, span: Span) -> Result<(), ModelError> {
        match meaning {
            AtomMeaning::Taken(pattern) | AtomMeaning::Enabled(pattern) => {
                self.pattern(pattern, span)
            }
            AtomMeaning::TimerSet(cell) if *cell as i128 >= sizes.n_cells => fail(
                "unknown-cell",
                span,
                format!("cell {cell} does not hold a timer"),
            ),
            AtomMeaning::State(_)
            | AtomMeaning::Certainly(_, _)
            | AtomMeaning::Deadlock
            | AtomMeaning::TimerSet(_) => Ok(()),
        }
    }

    fn pattern(&self, pattern: &StepPattern, span: Span) -> Result<(), ModelError> {
        if let Some(process) = pattern.process {
            self.process(process, span)?;
        }
        match pattern.event {
            Some(event) => self.event(event, span),
            None => Ok(()),
        }
    }

    fn annotation(&self, annotation: &Annotation) -> Result<(), ModelError> {
        let span = annotation.span;
        match &annotation.target {
            Target::Process(process) => self.process(*process, span),
            Target::Event(event) => self.event(*event, span),
            // An action that does not exist makes an annotation that does not demand anything.
            Target::Action(process, _) => self.process(*process, span),
            // Nor does one of a subject that does not exist.
            Target::Subject(_) => Ok(()),
            Target::Choice(process, step) => {
                self.process(*process, span)?;
                if *step < self.parts.processes[process.index()].steps.len() {
                    return Ok(());
                }
                fail(
                    "unknown-step",
                    span,
                    format!("the process does not have a step {step}"),
                )
            }
        }
    }

    fn assumption(&self, assumption: &Assumption) -> Result<(), ModelError> {
        match assumption {
            Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => {
                self.atom_id(*atom)
            }
            Assumption::All(parts) | Assumption::Any(parts) => {
                parts.iter().try_for_each(|part| self.assumption(part))
            }
        }
    }

    fn process(&self, process: ProcessId, span: Span) -> Result<(), ModelError> {
        if process.index() < self.parts.processes.len() {
            return Ok(());
        }
        fail(
            "unknown-process",
            span,
            format!("{process:?} does not exist"),
        )
    }

    fn event(&self, event: EventId, span: Span) -> Result<(), ModelError> {
        if event.index() < self.parts.events.len() {
            return Ok(());
        }
        fail("unknown-event", span, format!("{event:?} does not exist"))
    }

    fn atom_id(&self, atom: AtomId) -> Result<(), ModelError> {
        if atom.index() < self.parts.atoms.len() {
            return Ok(());
        }
        fail(
            "unknown-atom",
            Span::nowhere(),
            format!("{atom:?} does not exist"),
        )
    }
}

impl Checker<'_> {
    /// Checks what is said of initial states and what propositions say of states.
    pub(super) fn conditions(&mut self) -> Result<(), ModelError> {
        let parts = self.parts;
        self.span = Span::nowhere();
        for condition in &parts.init {
            self.condition(condition)?;
        }
        for atom in &parts.atoms {
            self.span = atom.span;
            for expr in atom.meaning.operands() {
                self.condition(expr)?;
            }
        }
        Ok(())
    }
}
