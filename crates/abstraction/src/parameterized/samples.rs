//! States of instances, seen as states of the family.
//!
//! What is true in them is only a proposal: candidates that a sample refutes are not tried, the others
//! are proved or dropped.

use model::{Model, ProcessId, State, VarId};

use super::logic::{Base, FieldId, IndexVar, Logic, Term, Time};
use super::system::{Bit, Finite, Source, System};

/// A state of an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// The last index of the families.
    pub last: i64,
    /// For each column the number of the value of each process.
    columns: Vec<Vec<usize>>,
    cells: Vec<usize>,
    pointers: Vec<i64>,
    /// For each field the value of each process.
    fields: Vec<Vec<i64>>,
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
        let fields = system.fields.iter().map(|field| {
            let place = |index| place_of(system, field.var, (field.family, Some(index)), model);
            let value = |index| state.cells.get(place(index)?).copied();
            indices().map(value).collect::<Option<Vec<i64>>>()
        });
        Some(Self {
            last,
            columns: columns.collect::<Option<_>>()?,
            cells: cells.collect::<Option<_>>()?,
            pointers: pointers.collect::<Option<_>>()?,
            fields: fields.collect::<Option<_>>()?,
        })
    }

    /// The truth of a formula about the state, for values of its free variables. Bound variables range
    /// over the processes.
    pub fn holds(
        &self,
        system: &System<'_>,
        logic: &Logic,
        vars: &mut Vec<(IndexVar, i64)>,
    ) -> bool {
        let first = system.first;
        let index = |at: i64| usize::try_from(at - first).ok();
        match logic {
            Logic::Const(value) => *value,
            Logic::Not(inner) => !self.holds(system, inner, vars),
            Logic::And(parts) => parts.iter().all(|part| self.holds(system, part, vars)),
            Logic::Or(parts) => parts.iter().any(|part| self.holds(system, part, vars)),
            Logic::Less(left, right) => self.value(*left, vars) < self.value(*right, vars),
            Logic::Equal(left, right) => self.value(*left, vars) == self.value(*right, vars),
            Logic::Has(column, number, at, _) => {
                let at = self.value(*at, vars);
                if let Source::Bit(bit) = system.columns[column.index()].source {
                    return self.has_bit(system, &system.bits[bit], at) == (*number == 1);
                }
                let column = &self.columns[column.index()];
                let at = index(at);
                at.and_then(|at| column.get(at)) == Some(number)
            }
            Logic::Is(cell, number, _) => self.cells[cell.index()] == *number,
            Logic::SameAt(..) | Logic::SameColumn(_) | Logic::SameCell(_) | Logic::SameField(_) => {
                true
            }
            Logic::Each(var, _, inner) => (first..=self.last).all(|value| {
                vars.push((*var, value));
                let holds = self.holds(system, inner, vars);
                vars.pop();
                holds
            }),
            Logic::Let(var, field, at, inner) => {
                let value = self.held(system, *field, self.value(*at, vars));
                vars.push((*var, value));
                let holds = self.holds(system, inner, vars);
                vars.pop();
                holds
            }
            Logic::Holds(field, at, value, _) => {
                let at = self.value(*at, vars);
                self.held(system, *field, at) == self.value(*value, vars)
            }
            Logic::Exists(var, inner) => (first..=self.last).any(|value| {
                vars.push((*var, value));
                let holds = self.holds(system, inner, vars);
                vars.pop();
                holds
            }),
        }
    }

    /// What a process has in a field.
    fn held(&self, system: &System<'_>, field: FieldId, at: i64) -> i64 {
        let at = usize::try_from(at - system.first).ok();
        let held = at.and_then(|at| self.fields[field.index()].get(at));
        held.copied().unwrap_or(0)
    }

    /// What is kept of a field, of a process.
    fn has_bit(&self, system: &System<'_>, bit: &Bit, at: i64) -> bool {
        let value = self.held(system, bit.field, at);
        let is_inside = (system.first..=self.last).contains(&at);
        let vars = &mut vec![(bit.value, value), (bit.at, at)];
        is_inside && self.holds(system, &bit.logic, vars)
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
            let cell = place_of(system, var, (finite.family, index), model)?;
            finite.number_of(*state.cells.get(cell)?)
        }
        Source::Bit(_) => None,
    }
}

/// Where a variable is in the states of an instance; for a process, if there is one for each.
fn place_of(
    system: &System<'_>,
    var: VarId,
    (family, index): (Option<ProcessId>, Option<i64>),
    model: &Model,
) -> Option<usize> {
    Some(match (family, index) {
        (Some(process), _) => model.first_cell(var, Some(model.instance_of(process, index)?)),
        (None, Some(index)) => {
            let offset = usize::try_from(index - system.first).ok()?;
            model.first_cell(var, None) + offset
        }
        (None, None) => {
            let owner = system.parts().vars[var.index()].owner;
            model.first_cell(var, owner.and_then(|owner| model.instance_of(owner, None)))
        }
    })
}
