//! Exact linear algebra over the rational numbers, for candidates that solvers prove afterwards.
//!
//! Numbers that do not fit into 128 bits end a computation without a result.

use std::collections::BTreeMap;

/// A rational number. Invariant: lowest terms, positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(crate) const ZERO: Self = Self::int(0);

    pub(crate) const fn int(value: i128) -> Self {
        Self {
            numerator: value,
            denominator: 1,
        }
    }

    fn new(numerator: i128, denominator: i128) -> Self {
        let divisor = gcd(numerator, denominator) * denominator.signum();
        Self {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        }
    }

    fn plus(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        let denominator = self.denominator.checked_mul(other.denominator)?;
        Some(Self::new(left.checked_add(right)?, denominator))
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    fn times(self, other: Self) -> Option<Self> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        let denominator = self.denominator.checked_mul(other.denominator)?;
        Some(Self::new(numerator, denominator))
    }

    fn negated(self) -> Self {
        Self {
            numerator: -self.numerator,
            ..self
        }
    }

    fn inverse(self) -> Self {
        Self::new(self.denominator, self.numerator)
    }

    fn is_less(self, other: Self) -> Option<bool> {
        Some(self.minus(other)?.numerator < 0)
    }
}

/// The greatest common divisor; positive unless both are zero.
pub(crate) fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// The multiple of a vector whose entries are integers without a common divisor.
pub(crate) fn integers(vector: &[Ratio]) -> Option<Vec<i128>> {
    let mut common: i128 = 1;
    for entry in vector {
        common = common.checked_mul(entry.denominator / gcd(common, entry.denominator))?;
    }
    let multiple = |entry: &Ratio| entry.numerator.checked_mul(common / entry.denominator);
    let entries: Option<Vec<i128>> = vector.iter().map(multiple).collect();
    let entries = entries?;
    let divisor = entries.iter().fold(0, |so_far, entry| gcd(so_far, *entry));
    Some(entries.iter().map(|entry| entry / divisor.max(1)).collect())
}

/// Adds a multiple of one row to another one.
fn add_multiple(row: &mut [Ratio], other: &[Ratio], factor: Ratio) -> Option<()> {
    for (entry, other) in row.iter_mut().zip(other) {
        if *other != Ratio::ZERO {
            *entry = entry.plus(other.times(factor)?)?;
        }
    }
    Some(())
}

fn scale(row: &mut [Ratio], factor: Ratio) -> Option<()> {
    for entry in row {
        *entry = entry.times(factor)?;
    }
    Some(())
}

/// Vectors that span what is orthogonal to all the given ones.
pub(crate) fn kernel(vectors: &[Vec<i128>], n_columns: usize) -> Option<Vec<Vec<i128>>> {
    let mut rows: Vec<(usize, Vec<Ratio>)> = Vec::new();
    for vector in vectors {
        let mut row: Vec<Ratio> = vector.iter().map(|value| Ratio::int(*value)).collect();
        for (pivot, other) in &rows {
            let factor = row[*pivot].negated();
            add_multiple(&mut row, other, factor)?;
        }
        let Some(pivot) = row.iter().position(|entry| *entry != Ratio::ZERO) else {
            continue;
        };
        let inverse = row[pivot].inverse();
        scale(&mut row, inverse)?;
        for (_, other) in &mut rows {
            let factor = other[pivot].negated();
            add_multiple(other, &row, factor)?;
        }
        rows.push((pivot, row));
    }

    let free = (0..n_columns).filter(|column| rows.iter().all(|(pivot, _)| pivot != column));
    let orthogonal = |column: usize| {
        let mut vector = vec![Ratio::ZERO; n_columns];
        vector[column] = Ratio::int(1);
        for (pivot, row) in &rows {
            vector[*pivot] = row[column].negated();
        }
        integers(&vector)
    };
    free.map(orthogonal).collect()
}

/// Larger systems are not solved.
const MAX_ENTRIES: usize = 100_000;

/// So many steps of the simplex method are taken.
const MAX_PIVOTS: usize = 1_000;

/// A system of linear equations over unknowns that are not negative.
#[derive(Default)]
pub(crate) struct System {
    n_unknowns: usize,
    equations: Vec<(BTreeMap<usize, Ratio>, Ratio)>,
}

impl System {
    /// A new unknown.
    pub(crate) fn unknown(&mut self) -> usize {
        self.n_unknowns += 1;
        self.n_unknowns - 1
    }

    /// Demands `Σ factor · unknown + constant = 0`.
    pub(crate) fn equation(&mut self, factors: BTreeMap<usize, Ratio>, constant: Ratio) {
        self.equations.push((factors, constant.negated()));
    }

    /// A solution, by the first phase of the simplex method with the rule of R. Bland, *New finite
    /// pivoting rules for the simplex method*, Mathematics of Operations Research 2(2), 1977.
    /// Artificial unknowns that have left the basis never return, so they have no columns.
    pub(crate) fn solve(&self) -> Option<Vec<Ratio>> {
        let n = self.n_unknowns;
        if n * self.equations.len() > MAX_ENTRIES {
            return None;
        }
        let mut basis: Vec<usize> = (n..n + self.equations.len()).collect();
        let mut rows = self.tableau()?;
        let mut goal = vec![Ratio::ZERO; n + 1];
        for row in &rows {
            add_multiple(&mut goal, row, Ratio::int(1))?;
        }

        let mut n_pivots = 0;
        while let Some(entering) = (0..n).find(|column| goal[*column].numerator > 0) {
            n_pivots += 1;
            if n_pivots > MAX_PIVOTS {
                return None;
            }
            let leaving = leaving(&rows, &basis, entering, n)?;
            let inverse = rows[leaving][entering].inverse();
            scale(&mut rows[leaving], inverse)?;
            let pivot = rows[leaving].clone();
            for (position, row) in rows.iter_mut().enumerate() {
                if position != leaving {
                    let factor = row[entering].negated();
                    add_multiple(row, &pivot, factor)?;
                }
            }
            let factor = goal[entering].negated();
            add_multiple(&mut goal, &pivot, factor)?;
            basis[leaving] = entering;
        }

        // What is left of the goal is the sum of the artificial unknowns.
        if goal[n] != Ratio::ZERO {
            return None;
        }
        let mut solution = vec![Ratio::ZERO; n];
        for (unknown, row) in basis.iter().zip(&rows) {
            if *unknown < n {
                solution[*unknown] = row[n];
            }
        }
        Some(solution)
    }
    /// One row for each equation, with a constant that is not negative at its end.
    fn tableau(&self) -> Option<Vec<Vec<Ratio>>> {
        let mut rows = Vec::new();
        for (factors, constant) in &self.equations {
            let mut row = vec![Ratio::ZERO; self.n_unknowns + 1];
            for (unknown, factor) in factors {
                row[*unknown] = *factor;
            }
            row[self.n_unknowns] = *constant;
            if constant.numerator < 0 {
                scale(&mut row, Ratio::int(-1))?;
            }
            rows.push(row);
        }
        Some(rows)
    }
}

/// The row that bounds the entering unknown most, and of several the one whose unknown comes first.
fn leaving(rows: &[Vec<Ratio>], basis: &[usize], entering: usize, n: usize) -> Option<usize> {
    let mut best: Option<(Ratio, usize)> = None;
    for (position, row) in rows.iter().enumerate() {
        if row[entering].numerator <= 0 {
            continue;
        }
        let bound = row[n].times(row[entering].inverse())?;
        let is_better = match best {
            None => true,
            Some((least, other)) => {
                bound.is_less(least)? || (bound == least && basis[position] < basis[other])
            }
        };
        if is_better {
            best = Some((bound, position));
        }
    }
    best.map(|(_, position)| position)
}
