//! All values that some terms can have together.

use crate::solver::{Answer, Solver};
use crate::term::{Sort, Term};
use crate::value::{Model, Value};

/// Beyond this many candidates nothing is asked one by one.
const MAX_CANDIDATES: usize = 4096;

/// What [`enumerate`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    /// The combinations of values, sorted. Every combination that is possible is here; one that is
    /// not is here only if the solver had no answer about it.
    pub rows: Vec<Vec<i64>>,
    /// Did the solver have no answer somewhere?
    pub gave_up: bool,
}

/// All combinations of values that the given terms can have where the assertions and assumptions
/// hold: one question for each combination and one more.
///
/// Each term comes with its possible values (0 and 1 for a Boolean). Where the solver has no
/// answer, every combination not excluded for certain is kept; if there are too many to ask, all.
///
/// `None`: the solver gave up and there are too many candidates to list.
pub fn enumerate(
    solver: &mut dyn Solver,
    assumptions: &[Term],
    dimensions: &[(Term, Vec<i64>)],
) -> Option<Rows> {
    solver.push();
    for assumption in assumptions {
        solver.assert(assumption);
    }
    let found = enumerate_asserted(solver, dimensions);
    solver.pop();
    found
}

fn enumerate_asserted(solver: &mut dyn Solver, dimensions: &[(Term, Vec<i64>)]) -> Option<Rows> {
    let mut rows = Vec::new();
    let mut gave_up = false;
    loop {
        match solver.check(&[]) {
            Answer::Unsat => break,
            Answer::Sat(model) => match row_of(&model, dimensions) {
                Some(row) => {
                    solver.assert(&Term::not(describes(dimensions, &row)));
                    rows.push(row);
                }
                None => {
                    gave_up = true;
                    break;
                }
            },
            Answer::Unknown(_) => {
                gave_up = true;
                break;
            }
        }
        if dimensions.is_empty() {
            break;
        }
    }

    if gave_up {
        rows.extend(one_by_one(solver, dimensions, &rows)?);
    }
    rows.sort_unstable();
    rows.dedup();
    Some(Rows { rows, gave_up })
}

/// Asks about every combination that has not been found yet, and keeps what is not excluded.
fn one_by_one(
    solver: &mut dyn Solver,
    dimensions: &[(Term, Vec<i64>)],
    found: &[Vec<i64>],
) -> Option<Vec<Vec<i64>>> {
    let sizes = dimensions.iter().map(|(_, values)| values.len());
    let n_candidates = sizes.fold(1_usize, |n, size| n.saturating_mul(size));
    if n_candidates > MAX_CANDIDATES {
        return None;
    }

    let mut candidates: Vec<Vec<i64>> = vec![Vec::new()];
    for (_, values) in dimensions {
        let extend = |row: &Vec<i64>| -> Vec<Vec<i64>> {
            let with = |value: &i64| [row.as_slice(), &[*value]].concat();
            values.iter().map(with).collect()
        };
        candidates = candidates.iter().flat_map(extend).collect();
    }

    candidates.retain(|row| !found.contains(row));

    candidates.retain(|row| {
        let assumption = describes(dimensions, row);
        solver.check(&[assumption]).may_be_sat()
    });

    Some(candidates)
}

fn row_of(model: &Model, dimensions: &[(Term, Vec<i64>)]) -> Option<Vec<i64>> {
    let value = |(term, values): &(Term, Vec<i64>)| {
        let value = match model.eval(term)? {
            Value::Bool(value) => i64::from(value),
            Value::Int(value) => i64::try_from(value).ok()?,
            Value::Array(_) => return None,
        };
        values.contains(&value).then_some(value)
    };
    dimensions.iter().map(value).collect()
}

/// The terms have these values.
fn describes(dimensions: &[(Term, Vec<i64>)], row: &[i64]) -> Term {
    let has = |((term, _), value): (&(Term, Vec<i64>), &i64)| match term.sort() {
        Sort::Bool if *value != 0 => term.clone(),
        Sort::Bool => Term::not(term.clone()),
        _ => Term::eq(term.clone(), Term::Int(i128::from(*value))),
    };
    Term::and(dimensions.iter().zip(row).map(has))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Embedded;

    fn x() -> Term {
        Term::var("x", Sort::Int)
    }

    #[test]
    fn all_combinations_are_found() {
        let mut solver = Embedded::new(Duration::from_secs(600));
        let small = Term::lt(x(), Term::Int(3));
        let positive = Term::lt(Term::Int(0), x());
        let bits = |t: &Term| (t.clone(), vec![0, 1]);
        let found = enumerate(&mut solver, &[], &[bits(&small), bits(&positive)]);
        let rows = vec![vec![0, 1], vec![1, 0], vec![1, 1]];
        assert_eq!(
            found,
            Some(Rows {
                rows,
                gave_up: false
            })
        );
    }

    /// A solver that never knows.
    struct Silent;

    impl Solver for Silent {
        fn name(&self) -> String {
            "silent".to_owned()
        }
        fn assert(&mut self, _: &Term) {}
        fn push(&mut self) {}
        fn pop(&mut self) {}
        fn check(&mut self, _: &[Term]) -> Answer {
            Answer::Unknown("silent".to_owned())
        }
    }

    #[test]
    fn without_an_answer_everything_is_kept() {
        let dimension = (Term::lt(x(), Term::Int(3)), vec![0, 1]);
        let found = enumerate(&mut Silent, &[], &[dimension]).expect("two candidates");
        assert_eq!(found.rows, vec![vec![0], vec![1]]);
        assert!(found.gave_up);
    }
}
