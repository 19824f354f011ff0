//! States of instances, seen as states of the family.
//!
//! What is true in them is only a proposal: candidates that a sample refutes are not tried, the others
//! are proved or dropped.

use model::{Model, State};

use super::logic::{Base, IndexVar, Logic, Term, Time};
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
        let index = |at: i64| usize::try_from(at - first).ok();
        match logic {
            Logic::Const(value) => *value,
            Logic::Not(inner) => !self.holds(first, inner, vars),
            Logic::And(parts) => parts.iter().all(|part| self.holds(first, part, vars)),
            Logic::Or(parts) => parts.iter().any(|part| self.holds(first, part, vars)),
            Logic::Less(left, right) => self.value(*left, vars) < self.value(*right, vars),
            Logic::Equal(left, right) => self.value(*left, vars) == self.value(*right, vars),
            Logic::Has(column, number, at, _) => {
                let column = &self.columns[column.index()];
                let at = index(self.value(*at, vars));
                at.and_then(|at| column.get(at)) == Some(number)
            }
            Logic::Is(cell, number, _) => self.cells[cell.index()] == *number,
            Logic::SameAt(..) | Logic::SameColumn(_) | Logic::SameCell(_) => true,
            Logic::Exists(var, inner) => (first..=self.last).any(|value| {
                vars.push((*var, value));
                let holds = self.holds(first, inner, vars);
                vars.pop();
                holds
            }),
        }
    }

    fn value(&self, term: Term, vars: &[(IndexVar, i64)]) -> i64 {
        let base = match term.base {
            Base::Zero => 0,
            Base::Last => self.last,
            Base::Var(var) => {
                let known = vars.iter().rev().find(|(name, _)| *name == var);
                known.map_or(0, |(_, value)| *value)
            }
            Base::Pointer(pointer, Time::Now | Time::Next) => self.pointers[pointer.index()],
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
