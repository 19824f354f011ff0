//! Questions about what is true of all processes from some time on.
//!
//! An instance has finitely many processes, so if each of them satisfies `ψ` from some time on, there is
//! a time from which all of them do: `eventually always forall p: ψ(p)` is true of a run if and only if
//! `eventually always ψ(p)` is, for every `p`. Then `p` is a distinguished process, whose steps are told
//! apart and over whose index induction is possible. The quantifier may stand right of an implication,
//! in a disjunction, and below `always` and `next`, with which `forall` commutes also if its range is
//! empty; its range must not depend on the state.

use logic::{Ltl, Op, Property};
use model::{Atom, AtomMeaning, BoundId, Distinguished, Expr, Quantifier, Scope, Template};

use base::AtomId;

use super::counters::Number;
use super::neighbours::Step;

/// The question about each process by itself, if the question is about all of them from some time on.
#[must_use]
pub fn about_each(template: &Template, scope: &Scope, property: &Property) -> Option<Step> {
    let Property::Ltl(formula) = property else {
        return None;
    };
    let mut step = Step {
        name: String::new(),
        template: template.clone(),
        scope: scope.clone(),
        property: property.clone(),
    };
    step.property = Property::Ltl(step.spread(formula)?);
    let names = step.scope.distinguished[scope.distinguished.len()..].iter();
    let names: Vec<&str> = names.map(|known| known.name.as_str()).collect();
    let names = names.join(", ");
    step.name = format!("finitely many processes, so that each {names} may be looked at by itself");
    Some(step)
}

/// How many names may be taken out of a quantifier.
const MAX_NAMES: usize = 2;

impl Step {
    /// The formula about each process by itself.
    fn spread(&mut self, formula: &Ltl) -> Option<Ltl> {
        // shape: with other operators `forall` does not commute.
        match formula.op() {
            Op::Implies(premise, conclusion) => {
                let conclusion = self.spread(conclusion)?;
                Some(Ltl::implies(premise.clone(), conclusion))
            }
            Op::Or(parts) => {
                let mut parts = parts.clone();
                let spread = parts.iter().enumerate();
                let spread = spread.map(|(at, part)| Some((at, self.spread(part)?)));
                let (at, part) = spread.flatten().next()?;
                parts[at] = part;
                Some(Ltl::or(parts))
            }
            Op::Always(inner) => Some(Ltl::always(self.spread(inner)?)),
            Op::Next(inner) => Some(Ltl::next(self.spread(inner)?)),
            Op::Eventually(inner) => {
                // shape: only what is true forever.
                let Op::Always(inner) = inner.op() else {
                    return None;
                };
                let (expr, atom) = self.state_of(inner)?;
                let body = self.distinguish(expr)?;
                self.template.parts.atoms.push(Atom {
                    meaning: AtomMeaning::State(body),
                    ..atom
                });
                let atom = AtomId::new(self.template.parts.atoms.len() - 1);
                Some(Ltl::eventually(Ltl::always(Ltl::atom(atom))))
            }
            _ => None,
        }
    }

    /// What a formula without temporal operators says of a state.
    fn state_of(&self, formula: &Ltl) -> Option<(Expr, Atom)> {
        // shape: what consists of several propositions is not one quantifier.
        let (atom, is_negated) = match formula.op() {
            Op::Atom(atom) => (atom, false),
            Op::Not(inner) => match inner.op() {
                Op::Atom(atom) => (atom, true),
                _ => return None,
            },
            _ => return None,
        };
        let atom = self.template.parts.atoms[atom.index()].clone();
        // shape: what speaks of steps is not said of a state.
        let AtomMeaning::State(expr) = &atom.meaning else {
            return None;
        };
        let expr = expr.clone();
        let expr = if is_negated { Expr::not(expr) } else { expr };
        Some((expr, atom))
    }

    /// Distinguishes the processes that an expression is about all of. Returns what it says of them.
    fn distinguish(&mut self, mut expr: Expr) -> Option<Expr> {
        let parameter = self.template.parameter;
        for n_taken in 0..MAX_NAMES {
            let taken = universal(&expr);
            let is_static = |range: &(BoundId, Expr, Expr, Expr)| {
                [&range.1, &range.2]
                    .into_iter()
                    .all(|end| Number::of(end, parameter).is_some())
            };
            let Some((bound, lo, hi, body)) = taken.filter(is_static) else {
                return (n_taken > 0).then_some(expr);
            };
            let name = self.template.parts.bounds[bound.index()].clone();
            let own = BoundId::new(self.template.parts.bounds.len());
            self.template.parts.bounds.push(name.clone());
            self.scope.distinguished.push(Distinguished {
                bound: own,
                name,
                lo,
                hi,
            });
            expr = body;
            expr.walk_mut(&mut |inner| {
                if inner.as_bound() == Some(bound) {
                    *inner = Expr::Bound(own);
                }
            });
        }
        Some(expr)
    }
}

/// The name, the range and the body of `forall`, or of a negated `exists`.
fn universal(expr: &Expr) -> Option<(BoundId, Expr, Expr, Expr)> {
    // shape: everything else is looked at as it is.
    let (inner, wanted) = if let Expr::Not(inner) = expr {
        (&**inner, Quantifier::Exists)
    } else {
        (expr, Quantifier::Forall)
    };
    // shape: nothing else is quantified.
    let Expr::Quantified {
        quantifier,
        bound,
        lo,
        hi,
        body,
    } = inner
    else {
        return None;
    };
    let body = match wanted {
        Quantifier::Exists => Expr::not((**body).clone()),
        Quantifier::Forall | Quantifier::Sum => (**body).clone(),
    };
    let is_it = *quantifier == wanted;
    is_it.then(|| (*bound, (**lo).clone(), (**hi).clone(), body))
}
