//! Sets: displays, combinations, membership.

use base::Span;

use super::terms::{Context, Term};
use super::{Checked, Elaborator};
use crate::ast::{Comparison, Element, ExprId, SetOperator};
use crate::atoms::Atom;
use crate::formula::{Formula, Kind, Var};

/// A set, as a Boolean combination of simpler ones.
#[derive(Clone, Debug)]
pub(super) enum SetTerm {
    Empty,
    Variable(Var),
    Single(Term),
    Interval(Term, Term),
    Number(u64),
    Operation(SetOperator, Box<(SetTerm, SetTerm)>),
}

impl SetTerm {
    fn union(left: Self, right: Self) -> Self {
        Self::Operation(SetOperator::Union, Box::new((left, right)))
    }

    fn n_leaves(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Operation(_, sides) => sides.0.n_leaves() + sides.1.n_leaves(),
            _ => 1,
        }
    }
}

/// How many sets one pointwise atom may relate; larger combinations are named in parts.
const MAX_POINTWISE: usize = 6;

impl Elaborator<'_, '_, '_> {
    pub(super) fn display(
        &mut self,
        elements: &[Element],
        context: &mut Context,
    ) -> Checked<SetTerm> {
        let mut parts = Vec::new();
        let mut number = 0;
        for element in elements {
            match element {
                Element::Single(term) => match self.checked_term(*term, context)? {
                    Term {
                        base: None,
                        plus: plus @ 0..64,
                        ..
                    } => number |= 1 << plus,
                    term => parts.push(SetTerm::Single(term)),
                },
                Element::Interval(from, to) => {
                    let from = self.checked_term(*from, context)?;
                    let to = self.checked_term(*to, context)?;
                    parts.push(SetTerm::Interval(from, to));
                }
            }
        }
        if number != 0 {
            parts.push(SetTerm::Number(number));
        }
        // A balanced union, because combinations are walked recursively.
        while parts.len() > 1 {
            let mut halved = Vec::new();
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => SetTerm::union(left, right),
                    None => left,
                });
            }
            parts = halved;
        }
        Ok(parts.pop().unwrap_or(SetTerm::Empty))
    }

    /// A term that is not a negative number.
    fn checked_term(&mut self, id: ExprId, context: &mut Context) -> Checked<Term> {
        let term = self.term(id, context)?;
        if term.base.is_none() && term.plus < 0 {
            return self.negative(self.expr(id).1);
        }
        Ok(term)
    }

    /// A variable that has the value of a set.
    pub(super) fn set_variable(&mut self, set: &SetTerm, context: &mut Context) -> Var {
        match set {
            SetTerm::Variable(var) => *var,
            SetTerm::Single(term) => {
                let element = self.known_variable(*term, context);
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Singleton, &[var, element], context);
                var
            }
            SetTerm::Interval(from, to) => {
                let from = self.known_variable(*from, context);
                let to = self.known_variable(*to, context);
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Interval, &[var, from, to], context);
                var
            }
            SetTerm::Number(number) => {
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Number(*number), &[var], context);
                var
            }
            SetTerm::Empty | SetTerm::Operation(..) => {
                let var = self.fresh(Kind::Set, context);
                let sides = [SetTerm::Variable(var), set.clone()];
                let equal = self.pointwise(&sides, context, |bits| bits[0] == bits[1]);
                context.definitions.push(equal);
                var
            }
        }
    }

    /// A variable for a term that was checked not to be negative.
    fn known_variable(&mut self, term: Term, context: &mut Context) -> Var {
        let var = self.term_variable(term, Span::nowhere(), context);
        var.expect("elements of displays are checked")
    }

    /// The atom that says of every position that `relation` holds of its membership in the sets.
    pub(super) fn pointwise(
        &mut self,
        sets: &[SetTerm],
        context: &mut Context,
        relation: impl Fn(&[bool]) -> bool,
    ) -> Formula {
        let mut leaves = Vec::new();
        let budget = MAX_POINTWISE / sets.len();
        let sets: Vec<SetTerm> = sets
            .iter()
            .map(|set| self.with_leaves(set, budget, &mut leaves, context))
            .collect();
        let row = |row: usize| {
            let value = |set: &SetTerm| bit_of(set, &leaves, row);
            relation(&sets.iter().map(value).collect::<Vec<bool>>())
        };
        let table: Vec<bool> = (0..1 << leaves.len()).map(row).collect();
        if table.iter().all(|&holds| holds) {
            return self.formulas.constant(true);
        }
        let n_sets = leaves.len() as u32;
        self.formulas
            .atom(Atom::Pointwise { n_sets, table }, &leaves)
    }

    /// Names the leaves of a combination, and parts of it where it has more than `budget` leaves.
    fn with_leaves(
        &mut self,
        set: &SetTerm,
        budget: usize,
        leaves: &mut Vec<Var>,
        context: &mut Context,
    ) -> SetTerm {
        match set {
            SetTerm::Empty => SetTerm::Empty,
            SetTerm::Operation(operator, sides) if budget > 1 || set.n_leaves() <= budget => {
                let few = budget.min(sides.0.n_leaves());
                let few = few.min((budget / 2).max(budget.saturating_sub(sides.1.n_leaves())));
                let left = self.with_leaves(&sides.0, few, leaves, context);
                let right = self.with_leaves(&sides.1, budget - few, leaves, context);
                SetTerm::Operation(*operator, Box::new((left, right)))
            }
            _ => {
                let var = self.set_variable(set, context);
                if !leaves.contains(&var) {
                    leaves.push(var);
                }
                SetTerm::Variable(var)
            }
        }
    }

    /// `term ∈ set`.
    pub(super) fn membership(
        &mut self,
        term: &Term,
        set: &SetTerm,
        span: Span,
        context: &mut Context,
    ) -> Checked<Formula> {
        Ok(match set {
            SetTerm::Empty => self.formulas.constant(false),
            SetTerm::Single(element) => {
                self.relation(Comparison::Equal, term, element, span, context)?
            }
            SetTerm::Interval(from, to) => {
                let above = self.relation(Comparison::LessEqual, from, term, span, context)?;
                let below = self.relation(Comparison::LessEqual, term, to, span, context)?;
                self.formulas.and(&[above, below])
            }
            SetTerm::Operation(operator, sides) => {
                let left = self.membership(term, &sides.0, span, context)?;
                let right = self.membership(term, &sides.1, span, context)?;
                match operator {
                    SetOperator::Union => self.formulas.or(&[left, right]),
                    SetOperator::Inter => self.formulas.and(&[left, right]),
                    SetOperator::Minus => {
                        let right = self.formulas.not(&right);
                        self.formulas.and(&[left, right])
                    }
                }
            }
            SetTerm::Number(_) => {
                let var = self.set_variable(set, context);
                self.variable_membership(term, var, span, context)?
            }
            SetTerm::Variable(var) => self.variable_membership(term, *var, span, context)?,
        })
    }

    fn variable_membership(
        &mut self,
        term: &Term,
        set: Var,
        span: Span,
        context: &mut Context,
    ) -> Checked<Formula> {
        let (atom, var) = match (term.base, term.minus) {
            (Some(base), 0) => (Atom::In(term.plus as u32), base),
            (Some(base), minus @ 1..=3) => (Atom::InMinus(minus as u32), base),
            _ => (Atom::In(0), self.term_variable(*term, span, context)?),
        };
        Ok(self.formulas.atom(atom, &[var, set]))
    }
}

/// Is a position in a combination of leaves? Bit `i` of `row` says whether it is in leaf `i`.
fn bit_of(set: &SetTerm, leaves: &[Var], row: usize) -> bool {
    match set {
        SetTerm::Variable(var) => {
            let leaf = leaves.iter().position(|leaf| leaf == var);
            row >> leaf.expect("its leaves are named") & 1 == 1
        }
        SetTerm::Operation(operator, sides) => {
            let left = bit_of(&sides.0, leaves, row);
            let right = bit_of(&sides.1, leaves, row);
            match operator {
                SetOperator::Union => left || right,
                SetOperator::Inter => left && right,
                SetOperator::Minus => left && !right,
            }
        }
        _ => false,
    }
}
