//! Propositions, annotations and assumptions of random models.

use base::{AtomId, Span};
use model::{
    Annotation, AnnotationKind, Assumption, Atom, AtomMeaning, BinaryOp, EventId, Expr, ProcessId,
    StepPattern, Sync, Target,
};

use super::{Generator, X, place};

/// How many atoms every random model has.
const N_ATOMS: usize = 8;

impl Generator<'_> {
    pub(super) fn add_atoms(&mut self) {
        self.bounds.clear();
        let mut meanings = Vec::new();
        meanings.push(AtomMeaning::State(Expr::binary(
            BinaryOp::Eq,
            Expr::Read(place(X, None, vec![])),
            Expr::Int(0),
        )));

        for _ in 1..4 {
            // Atoms of tiny models have values in all states.
            let condition = if self.is_rich() {
                self.condition(2, false)
            } else {
                self.condition(0, false)
            };
            meanings.push(AtomMeaning::State(condition));
        }

        if !self.parts.channels.is_empty() && self.random.chance(50) {
            meanings[3] = AtomMeaning::State(self.fullness());
        }
        for name in ["a", "b"] {
            let pattern = self.step_pattern(name);
            meanings.push(AtomMeaning::Taken(pattern));
        }

        let pattern = if self.random.chance(50) {
            self.step_pattern("a")
        } else {
            StepPattern {
                process: Some(ProcessId(1)),
                ..StepPattern::default()
            }
        };

        meanings.push(AtomMeaning::Enabled(pattern));
        meanings.push(AtomMeaning::Deadlock);
        let atom = |(position, meaning)| Atom {
            name: format!("p{position}"),
            meaning,
            span: Span::nowhere(),
        };
        self.parts.atoms = meanings.into_iter().enumerate().map(atom).collect();
    }

    /// Mostly the steps with a name; or those of a communication, of an event or of one instance.
    fn step_pattern(&mut self, name: &str) -> StepPattern {
        let any = StepPattern::default();
        match self.random.below(10) {
            0 => StepPattern {
                event: Some(EventId(0)),
                ..any
            },
            1 => StepPattern {
                event: Some(EventId(0)),
                arguments: Some(vec![self.random.below(2) as i64]),
                ..any
            },
            2 => StepPattern {
                process: Some(ProcessId(0)),
                index: Some(0),
                ..any
            },
            3 => StepPattern {
                action: Some(name.into()),
                arguments: Some(vec![self.random.below(2) as i64]),
                ..any
            },
            4 | 5 => self.communication().unwrap_or(any),
            _ => StepPattern {
                action: Some(name.into()),
                ..any
            },
        }
    }

    /// The steps of some process that have the name of a step that sends or receives.
    fn communication(&mut self) -> Option<StepPattern> {
        let mut found = Vec::new();
        for (process, description) in self.parts.processes.iter().enumerate() {
            for step in &description.steps {
                match step.sync {
                    Sync::Send { .. } | Sync::Receive { .. } => found.push(StepPattern {
                        process: Some(ProcessId::new(process)),
                        action: Some(step.name.clone()),
                        ..StepPattern::default()
                    }),
                    Sync::Internal | Sync::Event { .. } => {}
                }
            }
        }
        (!found.is_empty()).then(|| self.random.pick(&found).clone())
    }

    pub(super) fn add_fairness(&mut self) {
        for _ in 0..self.random.below(3) {
            let kinds = [
                AnnotationKind::Weak,
                AnnotationKind::Strong,
                AnnotationKind::Strong,
                AnnotationKind::Unconditional,
            ];
            let kind = *self.random.pick(&kinds);
            let process = ProcessId::new(self.random.below(self.n_processes()));
            let steps = self
                .parts
                .processes
                .iter()
                .flat_map(|process| &process.steps);
            // shape: other steps cannot be named by an event.
            let is_event = |step: &model::Step| matches!(step.sync, Sync::Event { .. });
            let has_event = steps.into_iter().any(is_event);
            let target = match self.random.below(5) {
                2 | 3 if has_event => Target::Event(EventId(0)),
                0 => Target::Process(process),
                1 => Target::Action(process, "a".into()),
                _ => {
                    let n_steps = self.parts.processes[process.index()].steps.len();
                    Target::Choice(process, self.random.below(n_steps.max(1)))
                }
            };
            self.parts.annotations.push(Annotation {
                kind,
                target,
                span: Span::nowhere(),
            });
        }

        if self.random.chance(20) {
            let assumption = self.assumption(2);
            self.parts.assumptions.push(assumption);
        }
        if self.random.chance(15) {
            let of = |process| StepPattern {
                process: Some(process),
                ..StepPattern::default()
            };
            let [by, with] = [0, 1].map(|_| ProcessId::new(self.random.below(self.n_processes())));
            self.parts.interferences.push((of(by), of(with)));
        }
    }

    fn assumption(&mut self, depth: usize) -> Assumption {
        let atom = AtomId::new(self.random.below(N_ATOMS));
        let value = self.random.chance(50);
        if depth == 0 || self.random.chance(60) {
            return if self.random.chance(60) {
                Assumption::Infinitely(atom, value)
            } else {
                Assumption::Eventually(atom, value)
            };
        }
        let parts = vec![self.assumption(depth - 1), self.assumption(depth - 1)];
        if self.random.chance(70) {
            Assumption::Any(parts)
        } else {
            Assumption::All(parts)
        }
    }
}
