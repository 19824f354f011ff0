//! States of instances, seen as states of the family.
//!
//! What is true in them is only a proposal: candidates that a sample refutes are not tried, the others
//! are proved or dropped.

use model::{Model, State};

use super::logic::{Base, ColumnId, IndexVar, Logic, Term, Time};
use super::system::{Finite, Source, System};

/// A state of an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// The last index of the families.
    pub last: i64,
    /// For each column the number of the value of each process.
    columns: Vec<Vec<usize>>,
    cells: Vec<usize>,
    pointers: Vec<i64>,
}

impl Sample {
    /// The state of an instance for a value of the parameter; nothing if the instance is not made like
    /// the template.
    #[must_use]
    pub fn new(system: &System<'_>, model: &Model, value: i64, state: &State) -> Option<Self> {
        let last = value + system.last_offset;
        let indices = || system.first..=last;
        let columns = system.columns.iter().map(|column| {
            let value = |index| value_of(system, column, Some(index), model, state);
            indices().map(value).collect::<Option<Vec<usize>>>()
        });
        let cells = system.cells.iter();
        let cells = cells.map(|cell| value_of(system, cell, None, model, state));
        let pointer = |var| state.cells.get(model.first_cell(var, None)).copied();
        let pointers = system.pointers.iter().map(|known| pointer(known.var));
        Some(Self {
            last,
            columns: columns.collect::<Option<_>>()?,
            cells: cells.collect::<Option<_>>()?,
            pointers: pointers.collect::<Option<_>>()?,
        })
    }

    /// The truth of a formula about the state, for values of its free variables. Bound variables range
    /// over the processes.
    pub fn holds(&self, first: i64, logic: &Logic, vars: &mut Vec<(IndexVar, i64)>) -> bool {
        let pair = Pair {
            now: self,
            next: self,
            first,
            range: (first, self.last),
            outside: None,
        };
        pair.holds(logic, vars)
    }

    /// The truth of a formula about a step to another state. Bound variables range over the processes
    /// and a little more.
    #[must_use]
    pub fn leads_to(
        &self,
        next: &Self,
        first: i64,
        logic: &Logic,
        vars: &[(IndexVar, i64)],
    ) -> bool {
        let pair = Pair {
            now: self,
            next,
            first,
            range: (0, self.last + 2),
            outside: Some(0),
        };
        pair.holds(logic, &mut vars.to_vec())
    }
}

/// A state and the one after it.
struct Pair<'p> {
    now: &'p Sample,
    next: &'p Sample,
    /// The first index of a process.
    first: i64,
    /// The values of bound variables.
    range: (i64, i64),
    /// The value that is written where there is no process.
    outside: Option<usize>,
}

impl Pair<'_> {
    fn at(&self, time: Time) -> &Sample {
        match time {
            Time::Now => self.now,
            Time::Next => self.next,
        }
    }

    fn has(&self, column: ColumnId, at: i64, time: Time) -> Option<usize> {
        let values = &self.at(time).columns[column.index()];
        let known = usize::try_from(at - self.first)
            .ok()
            .and_then(|at| values.get(at));
        known.copied().or(self.outside)
    }

    fn holds(&self, logic: &Logic, vars: &mut Vec<(IndexVar, i64)>) -> bool {
        match logic {
            Logic::Const(value) => *value,
            Logic::Not(inner) => !self.holds(inner, vars),
            Logic::And(parts) => parts.iter().all(|part| self.holds(part, vars)),
            Logic::Or(parts) => parts.iter().any(|part| self.holds(part, vars)),
            Logic::Less(left, right) => self.value(*left, vars) < self.value(*right, vars),
            Logic::Equal(left, right) => self.value(*left, vars) == self.value(*right, vars),
            Logic::Has(column, number, at, time) => {
                self.has(*column, self.value(*at, vars), *time) == Some(*number)
            }
            Logic::Is(cell, number, time) => self.at(*time).cells[cell.index()] == *number,
            Logic::SameAt(column, at) => {
                let at = self.value(*at, vars);
                self.has(*column, at, Time::Now) == self.has(*column, at, Time::Next)
            }
            Logic::SameColumn(column) => {
                self.now.columns[column.index()] == self.next.columns[column.index()]
            }
            Logic::SameCell(cell) => self.now.cells[cell.index()] == self.next.cells[cell.index()],
            Logic::Exists(var, inner) => (self.range.0..=self.range.1).any(|value| {
                vars.push((*var, value));
                let holds = self.holds(inner, vars);
                vars.pop();
                holds
            }),
        }
    }

    fn value(&self, term: Term, vars: &[(IndexVar, i64)]) -> i64 {
        let base = match term.base {
            Base::Zero => 0,
            Base::Last => self.now.last,
            Base::Var(var) => {
                let known = vars.iter().rev().find(|(name, _)| *name == var);
                known.map_or(0, |(_, value)| *value)
            }
            Base::Pointer(pointer, time) => self.at(time).pointers[pointer.index()],
        };
        base + term.offset
    }
}

/// The number of what a process, or the system, has.
fn value_of(
    system: &System<'_>,
    finite: &Finite,
    index: Option<i64>,
    model: &Model,
    state: &State,
) -> Option<usize> {
    let instance_of = |process| model.instance_of(process, index);
    if finite.values.len() == 1 {
        return Some(0);
    }
    match finite.source {
        Source::Location(process) => {
            let instance = instance_of(process)?;
            Some(state.locations[instance.index()].index())
        }
        Source::Variable(var) => {
            let cell = match (finite.family, index) {
                (Some(process), _) => model.first_cell(var, Some(instance_of(process)?)),
                (None, Some(index)) => {
                    let offset = usize::try_from(index - system.first).ok()?;
                    model.first_cell(var, None) + offset
                }
                (None, None) => {
                    let owner = system.parts().vars[var.index()].owner;
                    model.first_cell(var, owner.and_then(|owner| model.instance_of(owner, None)))
                }
            };
            finite.number_of(*state.cells.get(cell)?)
        }
    }
}
