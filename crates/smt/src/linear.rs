//! Linear expressions: a constant and multiples of terms that are not sums themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::term::{Intervals, Term};

/// Coefficients beyond this are refused, so that sums never overflow.
const MAX_COEFFICIENT: i128 = 1 << 90;

/// `constant + Σ factor · term`. Invariant: no factor is zero, no term is a sum or a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Linear {
    terms: BTreeMap<Term, i128>,
    constant: i128,
}

impl Linear {
    /// A constant.
    #[must_use]
    pub fn constant(constant: i128) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant,
        }
    }

    /// An integer term as a linear expression.
    #[must_use]
    pub fn of(term: &Term) -> Self {
        match term {
            Term::Int(value) => Self::constant(*value),
            Term::Sum(linear) => (**linear).clone(),
            other => Self {
                terms: BTreeMap::from([(other.clone(), 1)]),
                constant: 0,
            },
        }
    }

    /// As a term.
    #[must_use]
    pub fn into_term(self) -> Term {
        if let Some(value) = self.as_constant() {
            return Term::Int(value);
        }
        if self.constant == 0
            && self.terms.len() == 1
            && let Some((term, 1)) = self.terms.first_key_value()
        {
            return term.clone();
        }
        Term::Sum(Arc::new(self))
    }

    /// The terms with their factors, in ascending order.
    pub fn terms(&self) -> impl Iterator<Item = (&Term, i128)> {
        self.terms.iter().map(|(term, factor)| (term, *factor))
    }

    /// The constant part.
    #[must_use]
    pub fn offset(&self) -> i128 {
        self.constant
    }

    /// The value, if there is no term.
    #[must_use]
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for (term, factor) in &other.terms {
            let entry = sum.terms.entry(term.clone()).or_insert(0);
            *entry += factor;
            if *entry == 0 {
                sum.terms.remove(term);
            }
        }
        sum
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(-1))
    }

    /// A multiple by a small factor.
    #[must_use]
    pub fn times(&self, factor: i128) -> Self {
        if factor == 0 {
            return Self::constant(0);
        }
        let scaled = self.terms.iter().map(|(t, f)| (t.clone(), f * factor));
        Self {
            terms: scaled.collect(),
            constant: self.constant * factor,
        }
    }

    /// A multiple, unless the coefficients become enormous.
    #[must_use]
    pub fn checked_times(&self, factor: i128) -> Option<Self> {
        let mut coefficients = self.terms.values().chain([&self.constant]);
        let fits = |c: &i128| {
            let product = c.checked_mul(factor);
            product.is_some_and(|product| product.abs() < MAX_COEFFICIENT)
        };
        coefficients.all(fits).then(|| self.times(factor))
    }

    /// The same modulo a positive number, with factors and a constant that are not negative and
    /// less than it.
    #[must_use]
    pub fn modulo(&self, divisor: i128) -> Self {
        let factors = self.terms.iter();
        let factors = factors.map(|(term, factor)| (term.clone(), factor.rem_euclid(divisor)));
        Self {
            terms: factors.filter(|(_, factor)| *factor != 0).collect(),
            constant: self.constant.rem_euclid(divisor),
        }
    }

    /// Everything but one term.
    #[must_use]
    pub fn without(&self, term: &Term) -> Self {
        let mut rest = self.clone();
        rest.terms.remove(term);
        rest
    }

    /// Is the factor of the first term positive?
    #[must_use]
    pub fn leads_positive(&self) -> bool {
        self.terms.values().next().is_some_and(|factor| *factor > 0)
    }

    fn divisor(&self) -> i128 {
        let gcd = |a: i128, b: i128| {
            let (mut a, mut b) = (a.abs(), b.abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        self.terms.values().fold(0, |so_far, f| gcd(so_far, *f))
    }

    fn divided_by(&self, divisor: i128, constant: i128) -> Self {
        let terms = self.terms.iter().map(|(t, f)| (t.clone(), f / divisor));
        Self {
            terms: terms.collect(),
            constant,
        }
    }

    /// The strongest expression that is at most zero iff this one is, over the integers.
    #[must_use]
    pub fn tightened(&self) -> Self {
        match self.divisor() {
            0 | 1 => self.clone(),
            // Σ ≤ -c iff Σ/d ≤ floor(-c/d).
            d => self.divided_by(d, -((-self.constant).div_euclid(d))),
        }
    }

    /// The expression without common divisor; nothing if it cannot be zero over the integers.
    #[must_use]
    pub fn divided(&self) -> Option<Self> {
        match self.divisor() {
            0 | 1 => Some(self.clone()),
            d if self.constant % d == 0 => Some(self.divided_by(d, self.constant / d)),
            _ => None,
        }
    }

    /// Replaces every term.
    #[must_use]
    pub fn map(&self, replace: &dyn Fn(&Term) -> Term) -> Term {
        let mut sum = Self::constant(self.constant);
        for (term, factor) in &self.terms {
            sum = sum.plus(&Self::of(&replace(term)).times(*factor));
        }
        sum.into_term()
    }

    /// The least and the greatest value where variables lie in intervals.
    #[must_use]
    pub fn interval(&self, intervals: &dyn Intervals) -> (Option<i128>, Option<i128>) {
        let (mut low, mut high) = (Some(self.constant), Some(self.constant));
        for (term, factor) in &self.terms {
            let (least, greatest) = match term {
                Term::Var(name, _) => intervals.interval(name),
                Term::Mod(_, divisor) => (Some(0), Some(divisor - 1)),
                _ => (None, None),
            };
            let (least, greatest) = if *factor > 0 {
                (least, greatest)
            } else {
                (greatest, least)
            };
            let add = |sum: Option<i128>, part: Option<i128>| Some(sum? + part? * factor);
            low = add(low, least);
            high = add(high, greatest);
        }
        (low, high)
    }
}
