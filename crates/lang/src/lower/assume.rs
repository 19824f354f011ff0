//! Assumptions about runs.

use base::Diagnostic;
use logic::{Ltl, Op};
use model::Assumption;

use super::Lowerer;
use crate::ast;

impl<'a> Lowerer<'a> {
    /// Adds an assumption.
    pub(super) fn assume(&mut self, expr: &'a ast::Expr) {
        let Some(formula) = self.linear_formula(expr) else {
            return;
        };
        if self.is_contracted(&formula) {
            return self.report_inexact(expr.span, "an assumption");
        }

        match recurrence(&formula.negation_normal_form()) {
            Ok(assumption) => self.parts.assumptions.push(assumption),
            Err(Unsupported::Mixed) => {
                let message =
                    "a step and a state cannot be combined like this below `[]<>` or `<>[]`";
                self.report(
                    Diagnostic::error("assumption", expr.span, message)
                        .help("`[]<>` can be distributed over `||`, `<>[]` over `&&`"),
                );
            }
            Err(Unsupported::Shape) => {
                let message = "an assumption combines `[]<> p` and `<>[] p` by Boolean operators";
                self.report(
                    Diagnostic::error("assumption", expr.span, message)
                        .help("for example `assume []<> p -> []<> q`"),
                );
            }
        }
    }
}

/// Is the formula a Boolean combination of `[]<> p` and `<>[] p` with propositional `p`?
pub(super) fn is_recurrence(formula: &Ltl) -> bool {
    let normal = formula.negation_normal_form();
    let mut open = vec![&normal];
    while let Some(part) = open.pop() {
        match part.op() {
            Op::True | Op::False => {}
            Op::And(parts) | Op::Or(parts) => open.extend(parts),
            Op::Always(inner) => match inner.op() {
                Op::Eventually(inner) if inner.is_propositional() => {}
                _ => return false,
            },
            Op::Eventually(inner) => match inner.op() {
                Op::Always(inner) if inner.is_propositional() => {}
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

/// Why a formula is not an assumption.
enum Unsupported {
    /// It is not a Boolean combination of `[]<>` and `<>[]`.
    Shape,
    /// Below `[]<>` stands a conjunction, or below `<>[]` a disjunction, that is not a single atom.
    Mixed,
}

/// A formula in negation normal form as an assumption.
fn recurrence(formula: &Ltl) -> Result<Assumption, Unsupported> {
    let all = |parts: &[Ltl]| parts.iter().map(recurrence).collect::<Result<Vec<_>, _>>();
    match formula.op() {
        Op::True => Ok(Assumption::All(Vec::new())),
        Op::False => Ok(Assumption::Any(Vec::new())),
        Op::And(parts) => all(parts).map(Assumption::All),
        Op::Or(parts) => all(parts).map(Assumption::Any),
        Op::Always(inner) => match inner.op() {
            Op::Eventually(inner) if inner.is_propositional() => infinitely(inner),
            // `[]` adds nothing to what already speaks of the end of the run only.
            _ => recurrence(inner),
        },
        Op::Eventually(inner) => match inner.op() {
            Op::Always(inner) if inner.is_propositional() => forever(inner),
            _ => recurrence(inner),
        },
        _ => Err(Unsupported::Shape),
    }
}

/// `[]<> p`.
fn infinitely(formula: &Ltl) -> Result<Assumption, Unsupported> {
    match (formula.op(), literal(formula)) {
        (_, Some((atom, positive))) => Ok(Assumption::Infinitely(atom, positive)),
        (Op::True, _) => Ok(Assumption::All(Vec::new())),
        (Op::False, _) => Ok(Assumption::Any(Vec::new())),
        (Op::Or(parts), _) => {
            let parts = parts.iter().map(infinitely).collect::<Result<_, _>>()?;
            Ok(Assumption::Any(parts))
        }
        _ => Err(Unsupported::Mixed),
    }
}

/// `<>[] p`.
fn forever(formula: &Ltl) -> Result<Assumption, Unsupported> {
    match (formula.op(), literal(formula)) {
        (_, Some((atom, positive))) => Ok(Assumption::Eventually(atom, positive)),
        (Op::True, _) => Ok(Assumption::All(Vec::new())),
        (Op::False, _) => Ok(Assumption::Any(Vec::new())),
        (Op::And(parts), _) => {
            let parts = parts.iter().map(forever).collect::<Result<_, _>>()?;
            Ok(Assumption::All(parts))
        }
        _ => Err(Unsupported::Mixed),
    }
}

fn literal(formula: &Ltl) -> Option<(base::AtomId, bool)> {
    match formula.op() {
        Op::Atom(atom) => Some((*atom, true)),
        Op::Not(inner) => match inner.op() {
            Op::Atom(atom) => Some((*atom, false)),
            _ => None,
        },
        _ => None,
    }
}
