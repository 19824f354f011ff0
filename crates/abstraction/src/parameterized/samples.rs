//! States of instances, seen as states of the family.
//!
//! What is true in them is only a proposal: candidates that a sample refutes are not tried, the others
//! are proved or dropped.

use model::{Model, ProcessId, Scalar, State, Type, VarId};

use super::logic::{Base, ColumnId, FieldId, IndexVar, Logic, Term, Time};
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
        let natural = |var, value| natural(model, var, value);
        let pointer = |var: VarId| {
            let held = state.cells.get(model.first_cell(var, None)).copied();
            held.map(|value| natural(var, value))
        };
        let pointers = system.pointers.iter().map(|known| pointer(known.var));
        let fields = system.fields.iter().map(|field| {
            let place = |index| place_of(system, field.var, (field.family, Some(index)), model);
            let value = |index| {
                // What does not exist has any value.
                let held = place(index).map_or(Some(0), |at| state.cells.get(at).copied());
                held.map(|value| natural(field.var, value))
            };
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
        let pair = Pair {
            system,
            now: self,
            next: self,
            range: (system.first, self.last),
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
        system: &System<'_>,
        logic: &Logic,
        vars: &[(IndexVar, i64)],
    ) -> bool {
        let pair = Pair {
            system,
            now: self,
            next,
            range: (0, self.last + 2),
            outside: Some(0),
        };
        pair.holds(logic, &mut vars.to_vec())
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
}

/// A state and the one after it.
struct Pair<'p> {
    system: &'p System<'p>,
    now: &'p Sample,
    next: &'p Sample,
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
        let state = self.at(time);
        if let Source::Bit(bit) = self.system.columns[column.index()].source {
            let has = state.has_bit(self.system, &self.system.bits[bit], at);
            return Some(usize::from(has));
        }

        let values = &state.columns[column.index()];
        let known = usize::try_from(at - self.system.first)
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
            Logic::SameColumn(column) => (self.system.first..=self.now.last)
                .all(|at| self.has(*column, at, Time::Now) == self.has(*column, at, Time::Next)),
            Logic::SameCell(cell) => self.now.cells[cell.index()] == self.next.cells[cell.index()],
            Logic::SameField(field) => {
                self.now.fields[field.index()] == self.next.fields[field.index()]
            }
            Logic::Let(var, field, at, inner) => {
                let value = self.now.held(self.system, *field, self.value(*at, vars));
                self.holds_with((*var, value), inner, vars)
            }
            Logic::Holds(field, at, value, time) => {
                let at = self.value(*at, vars);
                self.at(*time).held(self.system, *field, at) == self.value(*value, vars)
            }
            Logic::Each(var, _, inner) => (self.system.first..=self.now.last)
                .all(|value| self.holds_with((*var, value), inner, vars)),
            Logic::Exists(var, inner) => (self.range.0..=self.range.1)
                .any(|value| self.holds_with((*var, value), inner, vars)),
        }
    }

    fn holds_with(
        &self,
        known: (IndexVar, i64),
        inner: &Logic,
        vars: &mut Vec<(IndexVar, i64)>,
    ) -> bool {
        vars.push(known);
        let holds = self.holds(inner, vars);
        vars.pop();
        holds
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

/// What stands for a value of an index variable that is below 0; see [`super::negative`].
fn natural(model: &Model, var: VarId, value: i64) -> i64 {
    // shape: only ranges have values below 0.
    match &model.parts().vars[var.index()].ty {
        Type::Scalar(Scalar::Range(_, hi)) if value < 0 => hi - value,
        Type::Array(array) => match array.element {
            Type::Scalar(Scalar::Range(_, hi)) if value < 0 => hi - value,
            _ => value,
        },
        _ => value,
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
        // A process that does not exist is where it would start, and what does not exist has any value;
        // see [`super::embed`].
        Source::Location(process) => match instance_of(process) {
            Some(instance) => Some(state.locations[instance.index()].index()),
            None => {
                let initial = system.parts().processes[process.index()].initial.first();
                index.and(initial).map(|location| location.index())
            }
        },
        Source::Variable(var) => match place_of(system, var, (finite.family, index), model) {
            Some(cell) => finite.number_of(*state.cells.get(cell)?),
            None => Some(0),
        },
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
            // shape: what every process has is an array.
            let Type::Array(array) = &model.parts().vars[var.index()].ty else {
                return None;
            };
            let offset = usize::try_from(index - array.lo).ok()?;
            (offset < array.len).then(|| model.first_cell(var, None) + offset)?
        }
        (None, None) => {
            let owner = system.parts().vars[var.index()].owner;
            model.first_cell(var, owner.and_then(|owner| model.instance_of(owner, None)))
        }
    })
}
