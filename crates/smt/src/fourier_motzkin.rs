//! Contradictions between linear inequalities over the integers.
//!
//! Fourier–Motzkin elimination with integer tightening (A. Schrijver, *Theory of Linear and Integer
//! Programming*, Wiley 1986, section 12.2). Equations with a coefficient of one are substituted
//! first. Every inequality that is derived follows from those that are given, so a contradiction is
//! one; the converse does not hold, and large systems are given up. Small enough to be read: it
//! confirms what larger solvers claim.

use std::collections::BTreeMap;

/// More inequalities than this are given up.
const MAX_ROWS: usize = 200;

/// `Σ factor · variable`, without zeros.
type Factors = BTreeMap<usize, i128>;

/// `Σ factor · variable + constant`, at most zero or equal to zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Row {
    pub(crate) factors: Factors,
    pub(crate) constant: i128,
}

impl Row {
    /// `self · a + other · b`; nothing if the numbers become too large.
    fn combined(&self, a: i128, other: &Self, b: i128) -> Option<Self> {
        let times = |x: i128, y: i128| x.checked_mul(y);
        let constant = times(self.constant, a)?.checked_add(times(other.constant, b)?)?;
        let mut factors = Factors::new();
        for (variable, factor) in &self.factors {
            factors.insert(*variable, times(*factor, a)?);
        }
        for (variable, factor) in &other.factors {
            let entry = factors.entry(*variable).or_insert(0);
            *entry = entry.checked_add(times(*factor, b)?)?;
        }
        factors.retain(|_, factor| *factor != 0);
        Some(Self { factors, constant })
    }

    fn divisor(&self) -> i128 {
        let gcd = |mut a: i128, mut b: i128| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a.abs()
        };
        self.factors.values().fold(0, |so_far, f| gcd(so_far, *f))
    }

    fn factor(&self, variable: usize) -> i128 {
        self.factors.get(&variable).copied().unwrap_or(0)
    }
}

/// Do inequalities (`≤ 0`) and equations (`= 0`) contradict each other? `false` means that this was
/// not found out.
pub(crate) fn contradict(inequalities: &[Row], equations: &[Row]) -> bool {
    refute(inequalities.to_vec(), equations.to_vec()).unwrap_or(false)
}

fn refute(mut rows: Vec<Row>, mut equations: Vec<Row>) -> Option<bool> {
    // Substitution: x = e wherever an equation has x with the factor one.
    while let Some(equation) = equations.pop() {
        let divisor = equation.divisor();
        if divisor == 0 {
            if equation.constant != 0 {
                return Some(true);
            }
            continue;
        }
        if equation.constant % divisor != 0 {
            return Some(true);
        }
        let unit = equation.factors.iter().find(|(_, f)| f.abs() == divisor);
        let Some((&variable, &factor)) = unit else {
            rows.push(equation.combined(1, &Row::default(), 0)?);
            rows.push(equation.combined(-1, &Row::default(), 0)?);
            continue;
        };
        for row in rows.iter_mut().chain(&mut equations) {
            // The factor of the equation is ± its divisor; scaling by the divisor keeps the sign.
            let other = row.factor(variable);
            if other != 0 {
                *row = row.combined(divisor, &equation, -other * factor.signum())?;
            }
        }
    }

    eliminate(rows)
}

/// The strongest inequality for each left side; nothing if one of them is false.
fn strongest(rows: Vec<Row>) -> Option<BTreeMap<Factors, i128>> {
    let mut kept: BTreeMap<Factors, i128> = BTreeMap::new();
    for mut row in rows {
        let divisor = row.divisor();
        if divisor == 0 {
            if row.constant > 0 {
                return None;
            }
            continue;
        }
        // Σ ≤ -c iff Σ/d ≤ floor(-c/d), over the integers.
        row.factors.values_mut().for_each(|f| *f /= divisor);
        let constant = -((-row.constant).div_euclid(divisor));
        let entry = kept.entry(row.factors).or_insert(constant);
        *entry = constant.max(*entry);
    }
    Some(kept)
}

fn eliminate(mut rows: Vec<Row>) -> Option<bool> {
    loop {
        let Some(kept) = strongest(rows) else {
            return Some(true);
        };
        if kept.is_empty() {
            return Some(false);
        }
        let all = kept.into_iter();
        rows = all
            .map(|(factors, constant)| Row { factors, constant })
            .collect();

        let variable = cheapest(&rows)?;
        let (with, mut next): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| row.factor(variable) != 0);
        let (above, below): (Vec<Row>, Vec<Row>) =
            with.into_iter().partition(|row| row.factor(variable) > 0);
        if next.len() + above.len() * below.len() > MAX_ROWS {
            return None;
        }
        for high in &above {
            for low in &below {
                let (a, b) = (-low.factor(variable), high.factor(variable));
                next.push(high.combined(a, low, b)?);
            }
        }
        rows = next;
    }
}

/// The variable whose elimination adds the fewest inequalities.
fn cheapest(rows: &[Row]) -> Option<usize> {
    let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (variable, factor) in rows.iter().flat_map(|row| &row.factors) {
        let count = counts.entry(*variable).or_default();
        if *factor > 0 {
            count.0 += 1;
        } else {
            count.1 += 1;
        }
    }
    let cost = |(_, (above, below)): &(&usize, &(usize, usize))| {
        (above * below) as i64 - (above + below) as i64
    };
    counts
        .iter()
        .min_by_key(cost)
        .map(|(variable, _)| *variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(factors: &[(usize, i128)], constant: i128) -> Row {
        let factors = factors.iter().copied().collect();
        Row { factors, constant }
    }

    #[test]
    fn contradictions_are_found() {
        // x ≤ y, y ≤ z, z < x.
        let cycle = [
            row(&[(0, 1), (1, -1)], 0),
            row(&[(1, 1), (2, -1)], 0),
            row(&[(2, 1), (0, -1)], 1),
        ];
        assert!(contradict(&cycle, &[]));
        assert!(!contradict(&cycle[..2], &[]));
        // 2x = 1; 1 ≤ 2x ≤ 1.
        assert!(contradict(&[], &[row(&[(0, 2)], -1)]));
        assert!(contradict(&[row(&[(0, 2)], -1), row(&[(0, -2)], 1)], &[]));
        // x = y + 1, y = x.
        let equations = [row(&[(0, 1), (1, -1)], -1), row(&[(0, -1), (1, 1)], 0)];
        assert!(contradict(&[], &equations));
        // 2x = 4y has solutions, also with x ≥ 3.
        let even = [row(&[(0, 2), (1, -4)], 0)];
        assert!(!contradict(&[row(&[(0, -1)], 3)], &even));
    }
}
