//! What a template consists of, seen as a family: columns, cells and pointers.
//!
//! The class of Baukus, Lakhnech, Stahl (section 4, after their "Verifying universal properties of
//! parameterized networks", report TR-ST-00-4, CAU Kiel, 2000): processes with finite
//! control and finite data, shared variables that are finite or hold a process index. What is outside
//! is refused with the construct's name and place.

use base::Span;
use model::{ModelParts, ProcessId, Scalar, Template, Type, VarId, Variable, as_open_end};

use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, PointerId, Term};

/// A construct that this method cannot treat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outside {
    /// What it is and why it does not fit.
    pub message: String,
    /// Where it is written.
    pub span: Span,
}

/// The values of a column or cell may be at most so many.
const MAX_VALUES: i64 = 64;

/// Where the values of a column or cell come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The location of a process.
    Location(ProcessId),
    /// A variable.
    Variable(VarId),
}

/// A finite value, of every process of a family or of the system.
#[derive(Clone, Debug)]
pub struct Finite {
    /// Where it comes from.
    pub source: Source,
    /// What it is called.
    pub name: String,
    /// The values; formulas refer to them by position.
    pub values: Vec<i64>,
    /// What the values are called.
    pub labels: Vec<String>,
    /// The family that it is local to.
    pub family: Option<ProcessId>,
}

impl Finite {
    /// The number of a value.
    pub fn number_of(&self, value: i64) -> Option<usize> {
        self.values.iter().position(|known| *known == value)
    }
}

/// A variable that holds an index.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// The variable.
    pub var: VarId,
    /// Its name.
    pub name: String,
    /// The least value.
    pub first: i64,
    /// The greatest value.
    pub last: Term,
}

/// A template as a family of processes.
#[derive(Clone, Debug)]
pub struct System<'t> {
    /// The template.
    pub template: &'t Template,
    /// The first index of every family.
    pub first: i64,
    /// The last index less the parameter.
    pub last_offset: i64,
    /// The families.
    pub families: Vec<ProcessId>,
    /// Finite values of every process.
    pub columns: Vec<Finite>,
    /// Finite values that there are once.
    pub cells: Vec<Finite>,
    /// Variables that hold an index.
    pub pointers: Vec<Pointer>,
}

impl<'t> System<'t> {
    /// Looks at the processes and variables of a template.
    ///
    /// # Errors
    /// What is outside the class.
    pub fn new(template: &'t Template) -> Result<Self, Outside> {
        let mut system = Self {
            template,
            first: 0,
            last_offset: -1,
            families: Vec::new(),
            columns: Vec::new(),
            cells: Vec::new(),
            pointers: Vec::new(),
        };

        system.find_families()?;
        if let Some(channel) = template.parts.channels.first() {
            let message = format!("the channel `{}`", channel.name);
            return Err(outside(&message, channel.span));
        }
        if let Some(timer) = template.parts.timers.first() {
            let variable = &template.parts.vars[timer.var.index()];
            let message = format!("the timer `{}`", variable.name);
            return Err(outside(&message, variable.span));
        }
        if let Some(event) = template.parts.events.first() {
            let message = format!("the event `{}`", event.name);
            return Err(outside(&message, event.span));
        }

        for (position, process) in template.parts.processes.iter().enumerate() {
            let id = ProcessId::new(position);
            let family = process.index.map(|_| id);
            let finite = Finite {
                source: Source::Location(id),
                name: process.name.clone(),
                values: (0..process.locations.len() as i64).collect(),
                labels: process.locations.clone(),
                family,
            };
            match family {
                Some(_) => system.columns.push(finite),
                None => system.cells.push(finite),
            }
        }

        for position in 0..template.parts.vars.len() {
            system.add_variable(VarId::new(position))?;
        }
        Ok(system)
    }

    /// What the model is made of.
    pub fn parts(&self) -> &'t ModelParts {
        &self.template.parts
    }

    fn find_families(&mut self) -> Result<(), Outside> {
        let mut range = None;
        for (position, process) in self.parts().processes.iter().enumerate() {
            let Some(index) = process.index else {
                continue;
            };
            let Some(offset) = as_open_end(index.hi) else {
                let message = format!("the family `{}` of fixed size", process.name);
                return Err(outside(&message, process.span));
            };
            if index.lo < 0 {
                let message = format!("the negative index of `{}`", process.name);
                return Err(outside(&message, process.span));
            }
            let this = (index.lo, offset);
            if *range.get_or_insert(this) != this {
                let message = format!(
                    "`{}`, whose indices differ from other families,",
                    process.name
                );
                return Err(outside(&message, process.span));
            }
            self.families.push(ProcessId::new(position));
        }

        match range {
            Some((first, offset)) => (self.first, self.last_offset) = (first, offset),
            None => {
                let message = format!(
                    "no process has an index that ranges up to `{}`, so nothing depends on it",
                    self.template.name
                );
                let span = self.template.span;
                return Err(Outside { message, span });
            }
        }

        Ok(())
    }

    fn add_variable(&mut self, id: VarId) -> Result<(), Outside> {
        let variable = &self.parts().vars[id.index()];
        let family = variable.owner.filter(|owner| self.families.contains(owner));

        // One value for each process becomes a column; other structure has no counterpart in WS1S
        // over positions.
        let scalar = match &variable.ty {
            Type::Scalar(scalar) => *scalar,
            Type::Array(array) if self.is_per_process(array.lo, array.len) => {
                let Type::Scalar(scalar) = array.element else {
                    return Err(outside(
                        &format!("the array `{}` of arrays", variable.name),
                        variable.span,
                    ));
                };
                if variable.owner.is_some() {
                    return Err(outside(
                        &format!("the local array `{}`", variable.name),
                        variable.span,
                    ));
                }
                let finite = self.finite(id, variable, scalar)?;
                self.columns.push(finite);
                return Ok(());
            }
            Type::Array(_) => {
                let what = format!(
                    "the array `{}`, whose indices are not those of the processes,",
                    variable.name
                );
                return Err(outside(&what, variable.span));
            }
            Type::Record(_) => {
                return Err(outside(
                    &format!("the record `{}`", variable.name),
                    variable.span,
                ));
            }
        };

        // A range up to the parameter holds a process index: it becomes a first-order variable
        // instead of one of finitely many values.
        if let Scalar::Range(first, last) = scalar
            && let Some(offset) = as_open_end(last)
        {
            if family.is_some() {
                let what = format!(
                    "the local variable `{}`, which holds an index,",
                    variable.name
                );
                return Err(outside(&what, variable.span));
            }
            if first < 0 {
                let what = format!(
                    "the index variable `{}` with negative values",
                    variable.name
                );
                return Err(outside(&what, variable.span));
            }
            self.pointers.push(Pointer {
                var: id,
                name: variable.name.clone(),
                first,
                last: Term::last().plus(offset - self.last_offset),
            });
            return Ok(());
        }

        let mut finite = self.finite(id, variable, scalar)?;
        finite.family = family;
        match family {
            Some(_) => self.columns.push(finite),
            None => self.cells.push(finite),
        }

        Ok(())
    }

    fn is_per_process(&self, lo: i64, len: usize) -> bool {
        let length = i64::try_from(len).ok().and_then(as_open_end);
        let offset = length.and_then(|offset| offset.checked_add(lo)?.checked_sub(1));
        lo == self.first && offset == Some(self.last_offset)
    }

    fn finite(&self, id: VarId, variable: &Variable, scalar: Scalar) -> Result<Finite, Outside> {
        let (lo, hi) = scalar.bounds();
        if scalar == Scalar::Int || hi.saturating_sub(lo) >= MAX_VALUES {
            let what = format!(
                "the variable `{}` with more than {MAX_VALUES} values",
                variable.name
            );
            return Err(outside(&what, variable.span));
        }
        let label = |value: i64| match scalar {
            Scalar::Bool => (value != 0).to_string(),
            Scalar::Enum(id, _) => self.parts().enums[id.index()].variants[value as usize].clone(),
            _ => value.to_string(),
        };
        Ok(Finite {
            source: Source::Variable(id),
            name: variable.name.clone(),
            values: (lo..=hi).collect(),
            labels: (lo..=hi).map(label).collect(),
            family: None,
        })
    }

    /// The column of a location or variable.
    pub fn column_of(&self, source: Source) -> Option<ColumnId> {
        let position = self
            .columns
            .iter()
            .position(|column| column.source == source);
        position.map(ColumnId::new)
    }

    /// The cell of a location or variable.
    pub fn cell_of(&self, source: Source) -> Option<CellId> {
        let position = self.cells.iter().position(|cell| cell.source == source);
        position.map(CellId::new)
    }

    /// The pointer of a variable.
    pub fn pointer_of(&self, var: VarId) -> Option<PointerId> {
        let position = self.pointers.iter().position(|pointer| pointer.var == var);
        position.map(PointerId::new)
    }

    /// The parameter.
    pub fn parameter(&self) -> Term {
        Term::last().plus(-self.last_offset)
    }

    /// Is the index that of a process?
    pub fn is_process(&self, index: Term) -> Logic {
        self.in_range(index, Term::number(self.first), Term::last())
    }

    /// Is the index in the range?
    pub fn in_range(&self, index: Term, first: Term, last: Term) -> Logic {
        let above = match first {
            Term {
                base: Base::Zero,
                offset: ..=0,
            } if index.offset >= 0 => Logic::Const(true),
            first => Logic::at_most(first, index),
        };
        Logic::all([above, Logic::at_most(index, last)])
    }

    /// Is the value of a pointer one of its type?
    pub fn pointer_fits(&self, pointer: PointerId, value: Term) -> Logic {
        let Pointer { first, last, .. } = self.pointers[pointer.index()];
        self.in_range(value, Term::number(first), last)
    }

    /// The family of a process is the only place where this index is used.
    pub fn last_covers_first(&self) -> Logic {
        Logic::at_most(Term::number(self.first), Term::last())
    }
}

/// A construct that this method cannot treat, by its name.
pub fn outside(what: &str, span: Span) -> Outside {
    let message =
        format!("{what} is outside the class that can be checked for all numbers of processes");
    Outside { message, span }
}

/// Hands out variables.
#[derive(Clone, Debug, Default)]
pub struct Fresh {
    n_vars: usize,
}

impl Fresh {
    /// Hands out what neither of both has.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let n_vars = self.n_vars.max(other.n_vars);
        Self { n_vars }
    }

    /// A variable that does not occur.
    pub fn var(&mut self) -> IndexVar {
        self.n_vars += 1;
        IndexVar::new(self.n_vars - 1)
    }
}
