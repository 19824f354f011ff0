//! What is asked of a model: assertions, end states, cycles, formulas, claims.
//!
//! States inside an `atomic` are not observed: a formula speaks of the positions at which no
//! process is inside one. `[] p` becomes "always inside an atomic or p", and so on for the other
//! operators.

use base::{AtomId, Diagnostic, Span};
use logic::{CtlStarBuilder, Ltl, NamedProperty, NoStateFormula, Op, PathQuantifier, Property};
use model::{Assumption, Atom, AtomMeaning, BinaryOp, Expr, Scope};
use source::{Question, QuestionKind, Variation};

use crate::ast::{self, Binary, ExprKind, Unary};
use crate::flow::{ElementKind, Leaf};

use super::expr::{Who, read_global};
use super::{Extra, Lowering, Role};

impl Lowering<'_> {
    /// All questions: those that every model has, then those of the text, then those of the
    /// command line.
    pub(super) fn questions(&mut self, extras: &[Extra]) -> Vec<Question> {
        let mut found = Vec::new();
        let span = self.program.processes[0].span;
        if self.has_assertions() {
            let property = Property::Invariant(Ltl::tt());
            found.push(named("assertions", "no assertion fails", property, span));
        }

        let n_before = found.len();
        let asks_for_ends = !self.variations.contains(&Variation::WithoutEndStates);
        if asks_for_ends {
            found.push(self.end_states(span));
        }
        found.extend(self.acceptance(span));
        found.extend(self.progress(span));

        let program = self.program;
        for (position, formula) in program.formulas.iter().enumerate() {
            let name = match &formula.name {
                Some(name) => name.to_string(),
                None => format!("ltl_{position}"),
            };
            let text = self.text(formula.body.span);
            if let Some(ltl) = self.formula(&formula.body) {
                found.push(named(&name, &text, self.question(&ltl), formula.span));
            }
        }

        found.extend(self.claims());
        for extra in extras {
            let span = extra.formula.span;
            self.paths = CtlStarBuilder::default();
            let Some(ltl) = self.formula(&extra.formula) else {
                continue;
            };
            let property = match extra.role {
                Role::Assumption => {
                    self.assume(&ltl, span);
                    continue;
                }
                Role::Ltl => self.question(&ltl),
                Role::Ctl => match self.branching(ltl, span) {
                    Some(property) => property,
                    None => continue,
                },
            };
            found.push(named(&extra.name, &extra.text, property, span));
        }

        self.warn_of_duplicates(&found);

        let question = |property| Question::about(property, Scope::default());
        let mut questions: Vec<Question> = found.into_iter().map(question).collect();
        if asks_for_ends {
            questions[n_before].kind = QuestionKind::EndStates;
        }
        questions
    }

    fn warn_of_duplicates(&mut self, found: &[NamedProperty]) {
        for (position, property) in found.iter().enumerate() {
            if found[..position]
                .iter()
                .any(|other| other.name == property.name)
            {
                let message = format!("two properties are called `{}`", property.name);
                self.error("duplicate-name", property.span, message);
            }
        }
    }

    fn has_assertions(&self) -> bool {
        if self.special.monitor.is_some() {
            return true;
        }
        if self.variations.contains(&Variation::WithoutAssertions) {
            return false;
        }
        let elements = self.units.iter().flat_map(|unit| &unit.flow.elements);
        let mut kinds = elements.map(|element| &element.kind);
        kinds.any(|kind| matches!(kind, ElementKind::Leaf(Leaf::Assert(_))))
    }

    fn atom(&mut self, name: &str, meaning: AtomMeaning, span: Span) -> Ltl {
        self.parts.atoms.push(Atom {
            name: name.to_owned(),
            meaning,
            span,
        });
        Ltl::atom(AtomId::new(self.parts.atoms.len() - 1))
    }

    pub(super) fn state_atom(&mut self, name: &str, expr: Expr, span: Span) -> Ltl {
        // shape: every other condition is an atom.
        if let Expr::Bool(value) = expr {
            return Ltl::constant(value);
        }
        let same = |atom: &Atom| match &atom.meaning {
            AtomMeaning::State(other) => atom.name == name && *other == expr,
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => false,
        };
        match self.parts.atoms.iter().position(same) {
            Some(position) => Ltl::atom(AtomId::new(position)),
            None => self.atom(name, AtomMeaning::State(expr), span),
        }
    }

    fn deadlock(&mut self, span: Span) -> Ltl {
        // shape: the atom is looked for.
        let is_it = |atom: &Atom| matches!(atom.meaning, AtomMeaning::Deadlock);
        match self.parts.atoms.iter().position(is_it) {
            Some(position) => Ltl::atom(AtomId::new(position)),
            None => self.atom("no process can move", AtomMeaning::Deadlock, span),
        }
    }

    /// Where nothing moves, every process is at its end or at an `end` label.
    fn end_states(&mut self, span: Span) -> NamedProperty {
        let deadlock = self.deadlock(span);
        let at_end = self.all_at_end();
        let at_end = self.state_atom("all processes are at an end", at_end, span);
        let valid = Ltl::or([deadlock.negate(), at_end]);
        let text = "every end state is valid";
        named("end-states", text, Property::Invariant(valid), span)
    }

    /// No run passes an `accept` label again and again, or stays at one forever.
    fn acceptance(&mut self, span: Span) -> Option<NamedProperty> {
        let at = self.some_process_at(|label| label.starts_with("accept"));
        if at == Expr::Bool(false) {
            return None;
        }
        let at = self.state_atom("a process is at an accept label", at, span);
        let property = Property::Ltl(Ltl::eventually(Ltl::always(self.unseen_or(at.negate()))));
        Some(named("acceptance", "no acceptance cycle", property, span))
    }

    /// Every endless run passes `progress` labels again and again.
    fn progress(&mut self, span: Span) -> Option<NamedProperty> {
        let at = self.some_process_at(|label| label.starts_with("progress"));
        if at == Expr::Bool(false) {
            return None;
        }
        let at = self.state_atom("a process is at a progress label", at, span);
        let ends = Ltl::eventually(self.deadlock(span));
        let again = Ltl::always(Ltl::eventually(self.seen_and(at)));
        let property = Property::Ltl(Ltl::or([again, ends]));
        Some(named("progress", "no non-progress cycle", property, span))
    }

    /// Is some process inside an `atomic`? Nothing if that never happens.
    pub(super) fn inside_atomic(&mut self) -> Option<Ltl> {
        let control = self.special.control?;
        let inside = Expr::binary(BinaryOp::Ge, read_global(control), Expr::Int(0));
        Some(self.state_atom("inside an atomic", inside, Span::nowhere()))
    }

    fn seen_and(&mut self, formula: Ltl) -> Ltl {
        match self.inside_atomic() {
            None => formula,
            Some(inside) => Ltl::and([inside.negate(), formula]),
        }
    }

    fn unseen_or(&mut self, formula: Ltl) -> Ltl {
        match self.inside_atomic() {
            None => formula,
            Some(inside) => Ltl::or([inside, formula]),
        }
    }

    /// A formula with path quantifiers.
    fn branching(&mut self, root: Ltl, span: Span) -> Option<Property> {
        match std::mem::take(&mut self.paths).finish(root) {
            Ok(formula) => Some(Property::CtlStar(formula)),
            Err(NoStateFormula::TooLarge) => {
                self.error("formula", span, "the formula is too large");
                None
            }
            Err(NoStateFormula::OuterTemporalOperator) => {
                let message = "a temporal operator is not under a path quantifier";
                let diagnostic = Diagnostic::error("formula", span, message);
                let help = "say on which paths: `A` on all, `E` on some, as in `AG EF p`";
                self.say(diagnostic.help(help));
                None
            }
        }
    }

    fn question(&self, formula: &Ltl) -> Property {
        logic::classify(formula.clone())
    }

    /// A formula over positions outside of atomics.
    fn formula(&mut self, expr: &ast::Expr) -> Option<Ltl> {
        match &expr.kind {
            ExprKind::Unary(op, inner) if is_temporal(expr) || *op == Unary::Not => {
                if !matches!(
                    op,
                    Unary::Not
                        | Unary::Next
                        | Unary::Always
                        | Unary::Eventually
                        | Unary::AllPaths
                        | Unary::SomePath
                ) {
                    return self.misplaced(expr);
                }
                let inner = self.formula(inner)?;
                Some(match op {
                    Unary::Not => inner.negate(),
                    Unary::Always => Ltl::always(self.unseen_or(inner)),
                    Unary::Eventually => Ltl::eventually(self.seen_and(inner)),
                    Unary::AllPaths => self.paths.quantify(PathQuantifier::All, inner),
                    Unary::SomePath => self.paths.quantify(PathQuantifier::Exists, inner),
                    _ => match self.inside_atomic() {
                        None => Ltl::next(inner),
                        Some(inside) => {
                            // States inside an `atomic` are not positions: the next one is behind
                            // them.
                            let seen = Ltl::and([inside.negate(), inner]);
                            Ltl::next(Ltl::until(inside, seen))
                        }
                    },
                })
            }
            ExprKind::Binary(op, left, right) if is_temporal(expr) || is_boolean(*op) => {
                if !is_boolean(*op)
                    && !matches!(op, Binary::Until | Binary::WeakUntil | Binary::Release)
                {
                    return self.misplaced(expr);
                }
                let (left, right) = (self.formula(left)?, self.formula(right)?);
                Some(match op {
                    Binary::And => Ltl::and([left, right]),
                    Binary::Or => Ltl::or([left, right]),
                    Binary::Implies => Ltl::implies(left, right),
                    Binary::Iff => Ltl::iff(left, right),
                    Binary::Until => Ltl::until(self.unseen_or(left), self.seen_and(right)),
                    Binary::WeakUntil => {
                        Ltl::weak_until(self.unseen_or(left), self.seen_and(right))
                    }
                    _ => Ltl::release(self.seen_and(left), self.unseen_or(right)),
                })
            }
            _ if is_temporal(expr) => self.misplaced(expr),
            ExprKind::Var(var) if self.is_tick(var) => {
                let clock = self.parts.clock.expect("time passes");
                Some(Ltl::atom(clock.tick))
            }
            _ => {
                let lowered = self.condition(expr, &Who::no_process());
                let name = self.text(expr.span);
                Some(self.state_atom(&name, lowered, expr.span))
            }
        }
    }

    fn misplaced(&mut self, expr: &ast::Expr) -> Option<Ltl> {
        let message = "a temporal operator inside an arithmetic expression or comparison";
        let diagnostic = Diagnostic::error("temporal", expr.span, message);
        let help = "`[]` and `<>` bind more strongly than `==`: write `[] (x == 1)`";
        self.say(diagnostic.help(help));
        None
    }

    fn assume(&mut self, formula: &Ltl, span: Span) {
        match assumption(&formula.negation_normal_form()) {
            Some(assumption) => self.parts.assumptions.push(assumption),
            None => {
                let message = "an assumption combines `[]<> p` and `<>[] p` by Boolean operators";
                let diagnostic = Diagnostic::error("assumption", span, message);
                self.say(diagnostic.help("for example `[]<> p -> []<> q`"));
            }
        }
    }
}

/// A formula in negation normal form as an assumption.
fn assumption(formula: &Ltl) -> Option<Assumption> {
    let list =
        |parts: &[Ltl]| -> Option<Vec<Assumption>> { parts.iter().map(assumption).collect() };
    let literal = |inner: &Ltl| match inner.op() {
        Op::Atom(atom) => Some((*atom, true)),
        Op::Not(inner) => match inner.op() {
            Op::Atom(atom) => Some((*atom, false)),
            _ => None,
        },
        _ => None,
    };

    Some(match formula.op() {
        Op::And(parts) => Assumption::All(list(parts)?),
        Op::Or(parts) => Assumption::Any(list(parts)?),
        Op::Always(inner) => match inner.op() {
            Op::Eventually(inner) => {
                let (atom, positive) = literal(inner)?;
                Assumption::Infinitely(atom, positive)
            }
            _ => return None,
        },
        Op::Eventually(inner) => match inner.op() {
            Op::Always(inner) => {
                let (atom, positive) = literal(inner)?;
                Assumption::Eventually(atom, positive)
            }
            _ => return None,
        },
        _ => return None,
    })
}

pub(super) fn named(name: &str, text: &str, property: Property, span: Span) -> NamedProperty {
    NamedProperty {
        name: name.to_owned(),
        text: text.to_owned(),
        property,
        fairness: None,
        span,
    }
}

fn is_boolean(op: Binary) -> bool {
    matches!(op, Binary::And | Binary::Or | Binary::Implies | Binary::Iff)
}

/// Does the expression contain a temporal operator?
fn is_temporal(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(op, inner) => {
            !matches!(op, Unary::Not | Unary::Minus | Unary::Complement) || is_temporal(inner)
        }
        ExprKind::Binary(op, left, right) => {
            matches!(op, Binary::Until | Binary::WeakUntil | Binary::Release)
                || is_temporal(left)
                || is_temporal(right)
        }
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().any(|part| is_temporal(part)),
        _ => false,
    }
}
