//! Facts that are often true of every reachable state. What is true of them is proved elsewhere.

use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, PointerId, Term, Time};
use super::relation::Predicate;
use super::steps::Family;
use super::system::{Finite, Source};

/// More candidates than this are not tried.
const MAX_CANDIDATES: usize = 120;

/// Columns with more values than this have no candidates.
const MAX_VALUES: usize = 12;

/// Facts about locations, and about array elements and local variables: two processes are never at
/// certain places together; only the process that a pointer points to is at a place; no process is
/// at a place while a cell has a value; no process is at one place before one at another.
pub fn candidates(family: &mut Family<'_>) -> Vec<Predicate> {
    let (x, y) = (family.fresh.var(), family.fresh.var());
    let system = &family.system;
    let mut found = Vec::new();
    let mut ordered = Vec::new();

    for (position, column) in system.columns.iter().enumerate() {
        let id = ColumnId::new(position);
        let n_values = column.values.len();
        if !(2..=MAX_VALUES).contains(&n_values) {
            continue;
        }

        // Not every position of a word is a process, so each statement says that it is about one.
        let at = |number: usize, var: IndexVar| {
            let inside = system.is_process(Term::var(var));
            Logic::all([inside, Logic::Has(id, number, Term::var(var), Time::Now)])
        };
        let never =
            |parts: Vec<Logic>| Logic::not(Logic::exists(x, Logic::exists(y, Logic::all(parts))));
        for first in 0..n_values {
            // Mutual exclusion in its three usual forms: between two processes, by a pointer to the
            // one that may enter, by the value of a shared cell.
            for second in first..n_values {
                let apart = Logic::not(Logic::equal(Term::var(x), Term::var(y)));
                let logic = never(vec![apart, at(first, x), at(second, y)]);
                let name = format!("never two at {}", place(column, &[first, second]));
                found.push(Predicate { name, logic });
            }
            for pointer in (0..system.pointers.len()).map(PointerId::new) {
                let held = Term::of(Base::Pointer(pointer, Time::Now));
                let other = Logic::not(Logic::equal(Term::var(x), held));
                let logic = Logic::not(Logic::exists(x, Logic::all([at(first, x), other])));
                let pointer = &system.pointers[pointer.index()].name;
                let name = format!("only {pointer} at {}", place(column, &[first]));
                found.push(Predicate { name, logic });
            }
            for (position, cell) in system.cells.iter().enumerate() {
                for number in 0..cell.values.len() {
                    let is = Logic::Is(CellId::new(position), number, Time::Now);
                    let none = Logic::not(Logic::exists(x, at(first, x)));
                    let name = format!(
                        "no process at {} while {}",
                        place(column, &[first]),
                        place(cell, &[number])
                    );
                    let logic = Logic::implies(is, none);
                    found.push(Predicate { name, logic });
                }
            }

            // Orders among processes are many and rarely needed, so they are collected apart.
            for second in 0..n_values {
                let before = Logic::less(Term::var(y), Term::var(x));
                let logic = never(vec![before, at(first, x), at(second, y)]);
                let name = format!(
                    "no process at {} before one at {}",
                    place(column, &[second]),
                    place(column, &[first])
                );
                ordered.push(Predicate { name, logic });
            }
        }
    }

    // Each candidate costs an induction proof: orders are tried only if all fit.
    if found.len() + ordered.len() <= MAX_CANDIDATES {
        found.append(&mut ordered);
    }
    found.truncate(MAX_CANDIDATES);
    found
}

fn place(finite: &Finite, numbers: &[usize]) -> String {
    let mut labels: Vec<&str> = numbers.iter().map(|n| finite.labels[*n].as_str()).collect();
    labels.dedup();
    let labels = labels.join(" and ");
    match finite.source {
        Source::Location(_) => labels,
        Source::Variable(_) => format!("{} = {labels}", finite.name),
    }
}
