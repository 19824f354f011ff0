//! What assertions ask, as properties of models.

use std::collections::BTreeMap;

use base::{AtomId, Diagnostic, Span};
use logic::{CtlStarBuilder, Ltl, NamedProperty, NoStateFormula, Property};
use model::{Assumption, Atom, AtomMeaning, Expr, Scope, StepPattern};
use source::{Doubts, Question, QuestionKind};

use super::assemble::{Assembled, SILENT};
use super::ast::{AssertDecl, AssertionClaim, Formula, Ident};
use super::lexer::Name;
use super::scope::Ty;
use super::term::Machine;
use super::{Given, Role};

/// Translates the formulas of one system.
pub(crate) struct Atoms<'m, 'a> {
    pub(crate) machine: &'m mut Machine<'a>,
    pub(crate) assembled: &'m Assembled,
    pub(crate) by_name: BTreeMap<String, AtomId>,
    /// Why what was translated last cannot be decided: it mentions a merged event.
    pub(crate) mentioned: Option<String>,
    /// The path quantifiers of the formula that is translated.
    pub(crate) paths: CtlStarBuilder,
}

impl Atoms<'_, '_> {
    fn atom(&mut self, name: String, meaning: AtomMeaning, span: Span) -> AtomId {
        if let Some(id) = self.by_name.get(&name) {
            return *id;
        }
        let id = AtomId::new(self.machine.parts.atoms.len());
        self.machine.parts.atoms.push(Atom {
            name: name.clone(),
            meaning,
            span,
        });
        self.by_name.insert(name, id);
        id
    }

    fn taken(&mut self, event: &str, span: Span) -> Ltl {
        let pattern = StepPattern {
            action: Some(event.to_owned()),
            ..StepPattern::default()
        };
        Ltl::atom(self.atom(event.to_owned(), AtomMeaning::Taken(pattern), span))
    }

    /// An assertion as a question; references to other systems are left to the caller.
    pub(crate) fn question(
        &mut self,
        decl: &AssertDecl,
        system: usize,
        text: &str,
    ) -> Option<Question> {
        self.mentioned = None;
        let property = match &decl.claim {
            AssertionClaim::DeadlockFree => self.deadlock_free(decl.span),
            AssertionClaim::NonTerminating => Property::DeadlockFree,
            AssertionClaim::DivergenceFree => {
                let silent = self.taken(SILENT, decl.span);
                Property::Ltl(Ltl::always(Ltl::eventually(Ltl::not(silent))))
            }
            AssertionClaim::Reaches(goal, _) => {
                let env = super::outside();
                let goal_value = self.machine.condition(goal, &env)?;
                let name = super::text_at(goal.span, self.machine.sources);
                let atom = self.atom(name, AtomMeaning::State(goal_value), goal.span);
                Property::Reachable(Ltl::atom(atom))
            }
            AssertionClaim::Ltl(formula) => logic::classify(self.formula(formula)?),
            // Judged by exploring; the property is only what violations are shown as.
            AssertionClaim::Deterministic | AssertionClaim::Refines(..) => {
                Property::Invariant(Ltl::tt())
            }
        };

        let kind = match &decl.claim {
            AssertionClaim::Reaches(_, Some((greatest, value))) => {
                let env = super::outside();
                let (value, ty) = self.machine.value(value, &env)?;
                if !ty.fits(Ty::Int) {
                    let message = "the expression after `min` or `max` must be a number";
                    return self.machine.error("type-mismatch", decl.span, message);
                }
                QuestionKind::Optimum {
                    value,
                    greatest: *greatest,
                }
            }
            AssertionClaim::Deterministic => QuestionKind::Deterministic {
                silent: SILENT.to_owned(),
            },
            AssertionClaim::DeadlockFree | AssertionClaim::NonTerminating => {
                QuestionKind::EndStates
            }
            _ => QuestionKind::Property,
        };

        Some(Question {
            system,
            kind,
            property: NamedProperty {
                name: text.to_owned(),
                text: text.to_owned(),
                property,
                fairness: None,
                span: decl.span,
            },
            scope: Scope::default(),
            doubts: self.doubts(),
            expected: None,
        })
    }

    fn deadlock_free(&mut self, span: Span) -> Property {
        let Some(terminated) = &self.assembled.terminated else {
            return Property::DeadlockFree;
        };
        let terminated = AtomMeaning::State(terminated.clone());
        let stuck = self.atom("deadlock".to_owned(), AtomMeaning::Deadlock, span);
        let done = self.atom("terminated".to_owned(), terminated, span);
        Property::Invariant(Ltl::or([Ltl::not(Ltl::atom(stuck)), Ltl::atom(done)]))
    }

    /// A formula of the command line.
    pub(crate) fn extra(&mut self, given: &Given<'_>, text: &str) -> Option<Question> {
        self.mentioned = None;

        let span = Span::new(given.source, 0, text.len());
        let formula = self.formula(&given.formula)?;
        let property = if given.role == Role::Ctl {
            self.branching(formula, span)?
        } else {
            logic::classify(formula)
        };

        Some(Question {
            system: 0,
            kind: QuestionKind::Property,
            property: NamedProperty {
                name: given.name.to_owned(),
                text: text.to_owned(),
                property,
                fairness: None,
                span,
            },
            scope: Scope::default(),
            doubts: self.doubts(),
            expected: None,
        })
    }

    /// A formula with path quantifiers.
    fn branching(&mut self, root: Ltl, span: Span) -> Option<Property> {
        let diagnostic = match std::mem::take(&mut self.paths).finish(root) {
            Ok(formula) => return Some(Property::CtlStar(formula)),
            Err(NoStateFormula::TooLarge) => {
                Diagnostic::error("formula", span, "the formula is too large")
            }
            Err(NoStateFormula::OuterTemporalOperator) => {
                let message = "a temporal operator is not under a path quantifier";
                Diagnostic::error("formula", span, message)
                    .help("say on which paths: `A` on all, `E` on some, as in `AG EF p`")
            }
        };
        self.machine.diagnostics.push(diagnostic);
        None
    }

    /// What is doubtful about the formula that was translated last.
    fn doubts(&mut self) -> Doubts {
        Doubts {
            steps: self.mentioned.take(),
            ..Doubts::default()
        }
    }

    pub(crate) fn formula(&mut self, formula: &Formula) -> Option<Ltl> {
        Some(match formula {
            Formula::Constant(value) => Ltl::constant(*value),
            Formula::Name(name, arguments) => self.named(name, arguments)?,
            Formula::Quoted(text, span) => self.quoted(text, *span)?,
            Formula::Not(a) => Ltl::not(self.formula(a)?),
            Formula::Next(a) => Ltl::next(self.formula(a)?),
            Formula::Always(a) => Ltl::always(self.formula(a)?),
            Formula::Eventually(a) => Ltl::eventually(self.formula(a)?),
            Formula::Paths(quantifier, a) => {
                let path = self.formula(a)?;
                self.paths.quantify(*quantifier, path)
            }
            Formula::Until(a, b) => Ltl::until(self.formula(a)?, self.formula(b)?),
            Formula::Release(a, b) => Ltl::release(self.formula(a)?, self.formula(b)?),
            Formula::WeakUntil(a, b) => Ltl::weak_until(self.formula(a)?, self.formula(b)?),
            Formula::And(a, b) => Ltl::and([self.formula(a)?, self.formula(b)?]),
            Formula::Or(a, b) => Ltl::or([self.formula(a)?, self.formula(b)?]),
            Formula::Xor(a, b) => Ltl::not(Ltl::iff(self.formula(a)?, self.formula(b)?)),
            Formula::Implies(a, b) => Ltl::implies(self.formula(a)?, self.formula(b)?),
            Formula::Iff(a, b) => Ltl::iff(self.formula(a)?, self.formula(b)?),
        })
    }

    /// A proposition, or an event.
    fn named(&mut self, name: &Ident, arguments: &[super::ast::ExprRef]) -> Option<Ltl> {
        let scope = self.machine.scope;
        let is_state = scope.macros.contains_key(&name.text)
            || scope.constants.contains_key(&name.text)
            || scope.var_by_name.contains_key(&name.text);
        let env = super::outside();

        if arguments.is_empty() && is_state {
            let expr = super::ast::Expr {
                kind: super::ast::ExprKind::Name(name.text.clone()),
                span: name.span,
            };
            let value = self.machine.condition(&expr, &env)?;
            // shape: every other condition is an atom.
            return Some(if let Expr::Bool(value) = value {
                Ltl::constant(value)
            } else {
                let meaning = AtomMeaning::State(value);
                Ltl::atom(self.atom(name.text.to_string(), meaning, name.span))
            });
        }

        let mut numbers = Vec::new();
        for argument in arguments {
            numbers.push(
                self.machine
                    .constant(argument, &env, "an argument of an event")?,
            );
        }

        let event = super::channels::spell(&name.text, '.', &numbers);
        self.event(&event, name.span)
    }

    fn quoted(&mut self, text: &Name, span: Span) -> Option<Ltl> {
        let event: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        self.event(&event, span)
    }

    /// The step that leads here is this event.
    fn event(&mut self, event: &str, span: Span) -> Option<Ltl> {
        // Values that formulas mention are told apart from the others. What is not found may still
        // be one of the others.
        if !self.assembled.events.contains(event) || event.contains('_') {
            let merged = self.machine.merged.why(event, self.machine.sources);
            self.mentioned = self.mentioned.take().or(merged);
        }
        if self.assembled.events.contains(event) {
            // The two halves of a handshake carry the names; both say the same.
            if let Some((channel, message)) = event.split_once('.') {
                let half = format!("{channel}!{message}");
                let base = channel.split('[').next().unwrap_or(channel);
                let is_channel = self.machine.scope.channel_by_name.contains_key(base);
                if is_channel && self.assembled.events.contains(half.as_str()) {
                    return Some(self.taken(&half, span));
                }
            }
            return Some(self.taken(event, span));
        }
        self.unknown_event(event, span)
    }

    fn unknown_event(&mut self, event: &str, span: Span) -> Option<Ltl> {
        let base = event.split(['.', '!', '?', '[']).next().unwrap_or(event);
        let known = self.assembled.events.iter();
        let advice = self.machine.scope.advice(event, known);

        if !super::declared::is_event(self.machine.scope, base) {
            let message = format!("there is no proposition or event `{event}`");
            let diagnostic = Diagnostic::error("unknown-event", span, message);
            self.machine.diagnostics.push(if advice.is_empty() {
                diagnostic
            } else {
                diagnostic.help(advice)
            });
            return None;
        }

        // An event of the text that never happens makes its proposition false, but is probably a mistake.
        let message = format!("the system never performs `{event}`");
        let mut diagnostic = Diagnostic::warning("unknown-event", span, message);
        if !advice.is_empty() {
            diagnostic = diagnostic.help(advice);
        }
        self.machine.diagnostics.push(diagnostic);
        Some(Ltl::ff())
    }

    /// A formula as an assumption: a Boolean combination of `[]<>` and `<>[]` of literals.
    pub(crate) fn assumption(&mut self, formula: &Formula, value: bool) -> Option<Assumption> {
        match formula {
            Formula::And(a, b) | Formula::Or(a, b) => {
                let parts = vec![self.assumption(a, value)?, self.assumption(b, value)?];
                Some(if matches!(formula, Formula::And(..)) == value {
                    Assumption::All(parts)
                } else {
                    Assumption::Any(parts)
                })
            }
            Formula::Implies(a, b) => {
                let parts = vec![self.assumption(a, !value)?, self.assumption(b, value)?];
                Some(if value {
                    Assumption::Any(parts)
                } else {
                    Assumption::All(parts)
                })
            }
            Formula::Not(a) => self.assumption(a, !value),
            Formula::Always(a) => match &**a {
                Formula::Eventually(a) => self.literal(a, value, !value),
                _ => self.no_assumption(),
            },
            Formula::Eventually(a) => match &**a {
                Formula::Always(a) => self.literal(a, value, value),
                _ => self.no_assumption(),
            },
            _ => self.no_assumption(),
        }
    }

    fn literal(&mut self, formula: &Formula, value: bool, forever: bool) -> Option<Assumption> {
        let (inner, positive) = match formula {
            Formula::Not(inner) => (&**inner, !value),
            other => (other, value),
        };
        let ltl = self.formula(inner)?;
        let logic::Op::Atom(atom) = ltl.op() else {
            return self.no_assumption();
        };
        Some(if forever {
            Assumption::Eventually(*atom, positive)
        } else {
            Assumption::Infinitely(*atom, positive)
        })
    }

    fn no_assumption(&mut self) -> Option<Assumption> {
        let message = "an assumption is a combination of `[]<> p` and `<>[] p`";
        self.machine
            .error("bad-assumption", Span::nowhere(), message)
    }
}
