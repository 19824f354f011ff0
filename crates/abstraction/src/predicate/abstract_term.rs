//! Terms over abstract states.

use std::collections::BTreeMap;
use std::sync::Arc;

use smt::{Sort, Term};

use super::domain::Domain;

/// A term whose variables are slots of an abstract state and chosen values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Abstract {
    /// A number; truth values are 0 and 1.
    Const(i64),
    /// The value of a slot.
    Slot(usize),
    /// The value of an enumerated choice.
    Local(usize),
    /// Negation.
    Not(Box<Abstract>),
    /// Conjunction.
    And(Vec<Abstract>),
    /// Disjunction.
    Or(Vec<Abstract>),
    /// The sum of a constant and multiples is at most zero.
    Le(i64, Vec<(i64, Abstract)>),
    /// The sum is zero.
    Eq(i64, Vec<(i64, Abstract)>),
    /// The sum.
    Sum(i64, Vec<(i64, Abstract)>),
    /// Euclidean quotient.
    Div(Box<Abstract>, i64),
    /// Euclidean remainder.
    Mod(Box<Abstract>, i64),
    /// If, then, else.
    Ite(Box<[Abstract; 3]>),
    /// Not expressible in the abstraction.
    Unknown,
}

/// What variables of terms are, besides kept variables.
pub(crate) type LocalSlots = BTreeMap<Arc<str>, usize>;

impl Abstract {
    /// The term as seen by the abstraction.
    #[must_use]
    pub(crate) fn of(term: &Term, domain: &Domain, locals: &LocalSlots) -> Self {
        if term.sort() == Sort::Bool
            && let Some((slot, negated)) = domain.slot_of_term(term)
        {
            return if negated {
                Self::Not(Box::new(Self::Slot(slot)))
            } else {
                Self::Slot(slot)
            };
        }

        let of = |term: &Term| Self::of(term, domain, locals);
        let number = |value: i128| i64::try_from(value).ok();
        let linear = |linear: &smt::Linear| -> Option<(i64, Vec<(i64, Self)>)> {
            let mut terms = Vec::new();
            for (term, factor) in linear.terms() {
                match of(term) {
                    Self::Unknown => return None,
                    part => terms.push((number(factor)?, part)),
                }
            }
            Some((number(linear.offset())?, terms))
        };

        match term {
            Term::Bool(value) => Self::Const(i64::from(*value)),
            Term::Int(value) => number(*value).map_or(Self::Unknown, Self::Const),
            Term::Var(name, _) => match (locals.get(name), domain.slot_of_var(name)) {
                (Some(local), _) => Self::Local(*local),
                (None, Some(slot)) => Self::Slot(slot),
                (None, None) => Self::Unknown,
            },
            Term::Not(inner) => match of(inner) {
                Self::Unknown => Self::Unknown,
                inner => Self::Not(Box::new(inner)),
            },
            Term::And(parts) => Self::And(parts.iter().map(of).collect()),
            Term::Or(parts) => Self::Or(parts.iter().map(of).collect()),
            Term::Le(l) => linear(l).map_or(Self::Unknown, |(c, terms)| Self::Le(c, terms)),
            Term::Eq(l) => linear(l).map_or(Self::Unknown, |(c, terms)| Self::Eq(c, terms)),
            Term::Sum(l) => linear(l).map_or(Self::Unknown, |(c, terms)| Self::Sum(c, terms)),
            Term::Div(inner, divisor) => match (of(inner), number(*divisor)) {
                (Self::Unknown, _) | (_, None) => Self::Unknown,
                (inner, Some(divisor)) => Self::Div(Box::new(inner), divisor),
            },
            Term::Mod(inner, divisor) => match (of(inner), number(*divisor)) {
                (Self::Unknown, _) | (_, None) => Self::Unknown,
                (inner, Some(divisor)) => Self::Mod(Box::new(inner), divisor),
            },
            Term::Ite(a, b, c) => match [of(a), of(b), of(c)] {
                parts if parts.contains(&Self::Unknown) => Self::Unknown,
                parts => Self::Ite(Box::new(parts)),
            },
            Term::Select(..) | Term::Store(..) | Term::SameArray(..) => Self::Unknown,
        }
    }

    /// Is every part expressible?
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::And(parts) | Self::Or(parts) => parts.iter().all(Self::is_exact),
            Self::Not(inner) => inner.is_exact(),
            // Numbers are either expressible or unknown as a whole.
            _ => true,
        }
    }

    /// The value in an abstract state, or nothing if that is not known.
    #[must_use]
    pub fn eval(&self, state: &[i64], locals: &[i64]) -> Option<i64> {
        let sum = |constant: i64, terms: &[(i64, Self)]| {
            let mut sum = constant;
            for (factor, term) in terms {
                sum = sum.checked_add(factor.checked_mul(term.eval(state, locals)?)?)?;
            }
            Some(sum)
        };

        match self {
            Self::Const(value) => Some(*value),
            Self::Slot(slot) => Some(state[*slot]),
            Self::Local(local) => Some(locals[*local]),
            Self::Not(inner) => Some(1 - inner.eval(state, locals)?),
            Self::And(parts) => junction(parts, state, locals, 0),
            Self::Or(parts) => junction(parts, state, locals, 1),
            Self::Le(constant, terms) => Some(i64::from(sum(*constant, terms)? <= 0)),
            Self::Eq(constant, terms) => Some(i64::from(sum(*constant, terms)? == 0)),
            Self::Sum(constant, terms) => sum(*constant, terms),
            Self::Div(inner, divisor) => Some(inner.eval(state, locals)?.div_euclid(*divisor)),
            Self::Mod(inner, divisor) => Some(inner.eval(state, locals)?.rem_euclid(*divisor)),
            Self::Ite(parts) => match parts[0].eval(state, locals)? {
                0 => parts[2].eval(state, locals),
                _ => parts[1].eval(state, locals),
            },
            Self::Unknown => None,
        }
    }
}

/// Kleene's conjunction (if 0 decides) and disjunction (if 1 decides).
fn junction(parts: &[Abstract], state: &[i64], locals: &[i64], decides: i64) -> Option<i64> {
    let mut result = Some(1 - decides);
    for part in parts {
        match part.eval(state, locals) {
            Some(value) if value == decides => return Some(decides),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}
