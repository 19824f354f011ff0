//! Terms, built by constructors that simplify.
//!
//! Comparisons of integers are kept in one normal form, so that two ways of writing the same atom
//! are equal terms: see [`Term::le`]. If-then-else between integers is moved out of comparisons,
//! and reading from an updated array is split at once, so that atoms contain neither.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::linear::Linear;

/// The kind of value of a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// True or false.
    Bool,
    /// A mathematical integer.
    Int,
    /// A total map from integers to integers.
    Array,
}

/// A term.
///
/// Invariant: operands of `And` and `Or` are sorted, distinct and at least two; `Le` and `Eq` of
/// integers have the form that [`Term::le`] and [`Term::eq`] give them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A variable.
    Var(Arc<str>, Sort),
    /// Negation.
    Not(Arc<Term>),
    /// Conjunction.
    And(Arc<[Term]>),
    /// Disjunction.
    Or(Arc<[Term]>),
    /// The linear expression is at most zero.
    Le(Arc<Linear>),
    /// The linear expression is zero.
    Eq(Arc<Linear>),
    /// Two arrays are equal everywhere. Invariant: the first is less than the second.
    SameArray(Arc<Term>, Arc<Term>),
    /// A sum of multiples. Invariant: not a single variable or constant.
    Sum(Arc<Linear>),
    /// Euclidean quotient by a positive constant.
    Div(Arc<Term>, i128),
    /// Euclidean remainder by a positive constant.
    Mod(Arc<Term>, i128),
    /// If, then, else; of integers or arrays.
    Ite(Arc<Term>, Arc<Term>, Arc<Term>),
    /// The element of an array at an index.
    Select(Arc<Term>, Arc<Term>),
    /// An array with one element replaced.
    Store(Arc<Term>, Arc<Term>, Arc<Term>),
}

impl Term {
    /// A variable.
    #[must_use]
    pub fn var(name: &str, sort: Sort) -> Self {
        Self::Var(Arc::from(name), sort)
    }

    /// The kind of value.
    #[must_use]
    pub fn sort(&self) -> Sort {
        match self {
            Self::Bool(_)
            | Self::Not(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::Le(_)
            | Self::Eq(_)
            | Self::SameArray(..) => Sort::Bool,
            Self::Int(_) | Self::Sum(_) | Self::Div(..) | Self::Mod(..) | Self::Select(..) => {
                Sort::Int
            }
            Self::Var(_, sort) => *sort,
            Self::Ite(_, then, _) => then.sort(),
            Self::Store(..) => Sort::Array,
        }
    }

    /// The negation.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn not(inner: Self) -> Self {
        match inner {
            Self::Bool(value) => Self::Bool(!value),
            Self::Not(inner) => (*inner).clone(),
            other => Self::Not(Arc::new(other)),
        }
    }

    /// The conjunction.
    #[must_use]
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(parts, true)
    }

    /// The disjunction.
    #[must_use]
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(parts, false)
    }

    fn junction(parts: impl IntoIterator<Item = Self>, neutral: bool) -> Self {
        let mut kept = BTreeSet::new();
        for part in parts {
            match part {
                Self::Bool(value) if value == neutral => {}
                Self::Bool(value) => return Self::Bool(value),
                Self::And(inner) if neutral => kept.extend(inner.iter().cloned()),
                Self::Or(inner) if !neutral => kept.extend(inner.iter().cloned()),
                other => {
                    kept.insert(other);
                }
            }
        }

        let contradicts = |part: &Self| match part {
            Self::Not(inner) => kept.contains(&**inner),
            _ => false,
        };
        if kept.iter().any(contradicts) {
            return Self::Bool(!neutral);
        }
        match kept.len() {
            0 => Self::Bool(neutral),
            1 => kept.pop_first().expect("there is one"),
            _ if neutral => Self::And(kept.into_iter().collect()),
            _ => Self::Or(kept.into_iter().collect()),
        }
    }

    /// The implication.
    #[must_use]
    pub fn implies(left: Self, right: Self) -> Self {
        Self::or([Self::not(left), right])
    }

    /// The equivalence of Booleans.
    #[must_use]
    pub fn iff(left: Self, right: Self) -> Self {
        match (left, right) {
            (Self::Bool(true), other) | (other, Self::Bool(true)) => other,
            (Self::Bool(false), other) | (other, Self::Bool(false)) => Self::not(other),
            (left, right) if left == right => Self::Bool(true),
            (left, right) => Self::and([
                Self::or([Self::not(left.clone()), right.clone()]),
                Self::or([left, Self::not(right)]),
            ]),
        }
    }

    /// If, then, else.
    #[must_use]
    pub fn ite(condition: Self, then: Self, otherwise: Self) -> Self {
        if then == otherwise {
            return then;
        }
        match condition {
            Self::Bool(true) => then,
            Self::Bool(false) => otherwise,
            condition if then.sort() == Sort::Bool => Self::and([
                Self::or([Self::not(condition.clone()), then]),
                Self::or([condition, otherwise]),
            ]),
            Self::Not(inner) => Self::Ite(inner, Arc::new(otherwise), Arc::new(then)),
            condition => Self::Ite(Arc::new(condition), Arc::new(then), Arc::new(otherwise)),
        }
    }

    /// `left ≤ right`.
    ///
    /// Normal form: the leading coefficient of the linear expression is positive (else the negated
    /// complementary atom is used), coefficients have no common divisor, and an if-then-else is
    /// split.
    #[must_use]
    pub fn le(left: Self, right: Self) -> Self {
        Self::compare(left, right, &Self::at_most_zero)
    }

    /// `left < right`.
    #[must_use]
    pub fn lt(left: Self, right: Self) -> Self {
        Self::le(Self::add([left, Self::Int(1)]), right)
    }

    /// Equality, of Booleans, integers or arrays.
    #[must_use]
    pub fn eq(left: Self, right: Self) -> Self {
        match left.sort() {
            Sort::Bool => Self::iff(left, right),
            Sort::Int => Self::compare(left, right, &Self::is_zero),
            Sort::Array => Self::same_array(left, right),
        }
    }

    fn same_array(left: Self, right: Self) -> Self {
        if let Some((condition, a, b)) = left.split().or_else(|| right.split()) {
            let pick = |part: Self| match (&left, &right) {
                (Self::Ite(..), _) => Self::same_array(part, right.clone()),
                _ => Self::same_array(left.clone(), part),
            };
            return Self::ite(condition, pick(a), pick(b));
        }
        match left.cmp(&right) {
            std::cmp::Ordering::Less => Self::SameArray(Arc::new(left), Arc::new(right)),
            std::cmp::Ordering::Equal => Self::Bool(true),
            std::cmp::Ordering::Greater => Self::SameArray(Arc::new(right), Arc::new(left)),
        }
    }

    fn split(&self) -> Option<(Self, Self, Self)> {
        match self {
            Self::Ite(c, a, b) => Some(((**c).clone(), (**a).clone(), (**b).clone())),
            _ => None,
        }
    }

    fn compare(left: Self, right: Self, atom: &dyn Fn(Linear) -> Self) -> Self {
        let difference = Linear::of(&left).minus(&Linear::of(&right));
        Self::split_choices(difference, atom)
    }

    /// Moves every if-then-else of a linear expression out of the atom.
    fn split_choices(linear: Linear, atom: &dyn Fn(Linear) -> Self) -> Self {
        let choice = linear.terms().find_map(|(term, factor)| {
            let (condition, then, otherwise) = term.split()?;
            Some((term.clone(), factor, condition, then, otherwise))
        });
        let Some((term, factor, condition, then, otherwise)) = choice else {
            return atom(linear);
        };
        let rest = linear.without(&term);
        let with = |part: Self| {
            let part = Linear::of(&part).times(factor);
            Self::split_choices(rest.plus(&part), atom)
        };
        Self::ite(condition, with(then), with(otherwise))
    }

    fn at_most_zero(linear: Linear) -> Self {
        if let Some(value) = linear.as_constant() {
            return Self::Bool(value <= 0);
        }
        let linear = linear.tightened();
        if linear.leads_positive() {
            return Self::Le(Arc::new(linear));
        }
        // e ≤ 0 iff not 1 - e ≤ 0, over the integers.
        let complement = Linear::constant(1).minus(&linear).tightened();
        Self::Not(Arc::new(Self::Le(Arc::new(complement))))
    }

    fn is_zero(linear: Linear) -> Self {
        if let Some(value) = linear.as_constant() {
            return Self::Bool(value == 0);
        }
        match linear.divided() {
            None => Self::Bool(false),
            Some(linear) if linear.leads_positive() => Self::Eq(Arc::new(linear)),
            Some(linear) => Self::Eq(Arc::new(linear.times(-1))),
        }
    }

    /// The sum.
    #[must_use]
    pub fn add(parts: impl IntoIterator<Item = Self>) -> Self {
        let zero = Linear::constant(0);
        let sum = |sum: Linear, part: Self| sum.plus(&Linear::of(&part));
        parts.into_iter().fold(zero, sum).into_term()
    }

    /// The difference.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn sub(left: Self, right: Self) -> Self {
        Linear::of(&left).minus(&Linear::of(&right)).into_term()
    }

    /// A multiple; nothing if the product is not linear or has enormous coefficients.
    #[must_use]
    pub fn mul(left: &Self, right: &Self) -> Option<Self> {
        let (left, right) = (Linear::of(left), Linear::of(right));
        let product = match (left.as_constant(), right.as_constant()) {
            (Some(factor), _) => right.checked_times(factor)?,
            (_, Some(factor)) => left.checked_times(factor)?,
            _ => return None,
        };
        Some(product.into_term())
    }

    /// The Euclidean quotient by a positive constant.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn div(left: Self, divisor: i128) -> Self {
        debug_assert!(divisor > 0);
        match left {
            Self::Int(value) => Self::Int(value.div_euclid(divisor)),
            other if divisor == 1 => other,
            other => Self::Div(Arc::new(other), divisor),
        }
    }

    /// The Euclidean remainder by a positive constant.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn rem(left: Self, divisor: i128) -> Self {
        debug_assert!(divisor > 0);
        match left {
            Self::Int(value) => Self::Int(value.rem_euclid(divisor)),
            _ if divisor == 1 => Self::Int(0),
            other => match Linear::of(&other).modulo(divisor).into_term() {
                Self::Int(value) => Self::Int(value),
                reduced => Self::Mod(Arc::new(reduced), divisor),
            },
        }
    }

    /// The element of an array. Reading from an updated array is split into cases.
    #[must_use]
    pub fn select(array: Self, index: Self) -> Self {
        match array {
            Self::Store(inner, at, value) => Self::ite(
                Self::eq(index.clone(), (*at).clone()),
                (*value).clone(),
                Self::select((*inner).clone(), index),
            ),
            Self::Ite(condition, a, b) => Self::ite(
                (*condition).clone(),
                Self::select((*a).clone(), index.clone()),
                Self::select((*b).clone(), index),
            ),
            array => match index.split() {
                Some((condition, a, b)) => Self::ite(
                    condition,
                    Self::select(array.clone(), a),
                    Self::select(array, b),
                ),
                None => Self::Select(Arc::new(array), Arc::new(index)),
            },
        }
    }

    /// An array with one element replaced.
    #[must_use]
    pub fn store(array: Self, index: Self, value: Self) -> Self {
        Self::Store(Arc::new(array), Arc::new(index), Arc::new(value))
    }

    /// Is it an atom: a Boolean term without Boolean operators?
    #[must_use]
    pub fn is_atom(&self) -> bool {
        matches!(
            self,
            Self::Le(_) | Self::Eq(_) | Self::SameArray(..) | Self::Var(_, Sort::Bool)
        )
    }

    /// Calls `visit` with every direct operand.
    pub fn for_each_operand(&self, visit: &mut dyn FnMut(&Self)) {
        match self {
            Self::Bool(_) | Self::Int(_) | Self::Var(..) => {}
            Self::Not(inner) | Self::Div(inner, _) | Self::Mod(inner, _) => visit(inner),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(visit),
            Self::Le(linear) | Self::Eq(linear) | Self::Sum(linear) => {
                linear.terms().for_each(|(term, _)| visit(term));
            }
            Self::SameArray(a, b) | Self::Select(a, b) => [a, b].iter().for_each(|t| visit(t)),
            Self::Ite(a, b, c) | Self::Store(a, b, c) => {
                [a, b, c].iter().for_each(|t| visit(t));
            }
        }
    }

    /// Replaces variables; what `replace` does not know stays.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&str) -> Option<Self>) -> Self {
        let of = |term: &Self| term.substitute(replace);
        match self {
            Self::Bool(_) | Self::Int(_) => self.clone(),
            Self::Var(name, _) => replace(name).unwrap_or_else(|| self.clone()),
            Self::Not(inner) => Self::not(of(inner)),
            Self::And(parts) => Self::and(parts.iter().map(of)),
            Self::Or(parts) => Self::or(parts.iter().map(of)),
            Self::Le(linear) => Self::le(linear.map(&of), Self::Int(0)),
            Self::Eq(linear) => Self::eq(linear.map(&of), Self::Int(0)),
            Self::Sum(linear) => linear.map(&of),
            Self::SameArray(a, b) => Self::same_array(of(a), of(b)),
            Self::Div(inner, divisor) => Self::div(of(inner), *divisor),
            Self::Mod(inner, divisor) => Self::rem(of(inner), *divisor),
            Self::Ite(a, b, c) => Self::ite(of(a), of(b), of(c)),
            Self::Select(a, b) => Self::select(of(a), of(b)),
            Self::Store(a, b, c) => Self::store(of(a), of(b), of(c)),
        }
    }

    /// Collects the atoms, in ascending order.
    pub fn collect_atoms(&self, out: &mut BTreeSet<Self>) {
        if self.is_atom() {
            out.insert(self.clone());
            return;
        }
        if matches!(self.sort(), Sort::Bool) || matches!(self, Self::Ite(..)) {
            self.for_each_operand(&mut |operand| operand.collect_atoms(out));
        }
    }

    /// Collects the names and sorts of the variables.
    pub fn collect_vars(&self, out: &mut BTreeSet<(Arc<str>, Sort)>) {
        if let Self::Var(name, sort) = self {
            out.insert((Arc::clone(name), *sort));
        }
        self.for_each_operand(&mut |operand| operand.collect_vars(out));
    }

    /// How many parts it has.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut size = 1;
        self.for_each_operand(&mut |operand| size += operand.size());
        size
    }

    /// The term where every variable lies in its interval: atoms that the intervals decide become
    /// constants, and `x ≤ c` where `c` is the least value of `x` becomes `x = c`.
    #[must_use]
    pub fn within(&self, intervals: &dyn Intervals) -> Self {
        match self {
            Self::Not(inner) => Self::not(inner.within(intervals)),
            Self::And(parts) => Self::and(parts.iter().map(|part| part.within(intervals))),
            Self::Or(parts) => Self::or(parts.iter().map(|part| part.within(intervals))),
            Self::Le(linear) => match linear.interval(intervals) {
                (_, Some(high)) if high <= 0 => Self::Bool(true),
                (Some(low), _) if low > 0 => Self::Bool(false),
                (Some(0), _) => Self::is_zero((**linear).clone()),
                // Its negation is 1 - e ≤ 0; if that can hold with equality only, it is an equation.
                (_, Some(1)) => {
                    let complement = Linear::constant(1).minus(linear);
                    Self::not(Self::is_zero(complement))
                }
                _ => self.clone(),
            },
            Self::Eq(linear) => match linear.interval(intervals) {
                (Some(low), _) if low > 0 => Self::Bool(false),
                (_, Some(high)) if high < 0 => Self::Bool(false),
                (Some(0), Some(0)) => Self::Bool(true),
                _ => self.clone(),
            },
            other => other.clone(),
        }
    }
}

/// The least and the greatest value of a variable, where there is one.
pub type Interval = (Option<i128>, Option<i128>);

/// What is known about the values of variables.
pub trait Intervals {
    /// The interval of a variable.
    fn interval(&self, name: &str) -> Interval;
}

impl<F: Fn(&str) -> Interval> Intervals for F {
    fn interval(&self, name: &str) -> Interval {
        self(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(name: &str) -> Term {
        Term::var(name, Sort::Int)
    }

    #[test]
    fn complementary_comparisons_are_negations_of_each_other() {
        let (x, y) = (int("x"), int("y"));
        let le = Term::le(x.clone(), y.clone());
        assert_eq!(Term::lt(y.clone(), x.clone()), Term::not(le.clone()));
        let doubled = |t: Term| Term::mul(&t, &Term::Int(2)).expect("linear");
        assert_eq!(Term::le(doubled(x.clone()), doubled(y.clone())), le);
        assert_eq!(
            Term::le(Term::add([y.clone(), Term::Int(1)]), y),
            Term::Bool(false)
        );
        assert_eq!(Term::eq(doubled(x), Term::Int(3)), Term::Bool(false));
    }

    #[test]
    fn intervals_decide_atoms() {
        let natural = |_: &str| (Some(0), None);
        let x = int("x");
        let next = Term::add([x.clone(), Term::Int(1)]);
        assert_eq!(
            Term::eq(next, Term::Int(0)).within(&natural),
            Term::Bool(false)
        );
        let zero = Term::eq(x.clone(), Term::Int(0));
        assert_eq!(Term::le(x.clone(), Term::Int(0)).within(&natural), zero);
        assert_eq!(Term::lt(Term::Int(0), x).within(&natural), Term::not(zero));
    }

    #[test]
    fn remainders_ignore_multiples_of_the_divisor() {
        let (x, y) = (int("x"), int("y"));
        let four = Term::mul(&y, &Term::Int(4)).expect("linear");
        let sum = Term::sub(Term::add([x.clone(), four, Term::Int(7)]), Term::Int(14));
        let reduced = Term::add([x.clone(), Term::Int(1)]);
        assert_eq!(Term::rem(sum, 2), Term::rem(reduced, 2));
        assert_eq!(Term::rem(Term::add([x.clone(), x]), 2), Term::Int(0));
    }

    #[test]
    fn reading_from_an_updated_array_is_split() {
        let a = Term::var("a", Sort::Array);
        let updated = Term::store(a.clone(), int("i"), Term::Int(7));
        assert_eq!(Term::select(updated.clone(), int("i")), Term::Int(7));
        let read = Term::eq(Term::select(updated, int("j")), Term::Int(7));
        let same = Term::eq(int("j"), int("i"));
        let old = Term::eq(Term::select(a, int("j")), Term::Int(7));
        assert_eq!(read, Term::or([same, old]));
    }
}
