//! What a template consists of, seen as a family: columns, cells and pointers.
//!
//! The class of Baukus, Lakhnech, Stahl (section 4, after their "Verifying universal properties of
//! parameterized networks", report TR-ST-00-4, CAU Kiel, 2000): processes with finite
//! control and finite data, shared variables that are finite or hold a process index. What is outside
//! is refused with the construct's name and place.

use base::Span;
use model::{
    Composition, ModelParts, ProcessId, Scalar, Template, Type, VarId, Variable, as_open_end,
};

use super::logic::{Base, CellId, ColumnId, FieldId, IndexVar, Logic, PointerId, Term};

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
    /// What is kept of a field, by position.
    Bit(usize),
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
    /// The field and the process whose value it is; nothing for a shared variable.
    pub of: Option<(FieldId, Term)>,
}

/// An index that every process has: a local variable or an element of an array.
///
/// A function from processes to indices has no counterpart in WS1S. What is kept of it are the
/// values of a few processes, as pointers, and [`Bit`]s of all.
#[derive(Clone, Debug)]
pub struct Field {
    /// The variable.
    pub var: VarId,
    /// Its name.
    pub name: String,
    /// The least value.
    pub first: i64,
    /// The greatest value.
    pub last: Term,
    /// The family that it is local to.
    pub family: Option<ProcessId>,
}

/// Something about the value that a process has in a field.
#[derive(Clone, Debug)]
pub struct Bit {
    /// The field.
    pub field: FieldId,
    /// Stands for the value.
    pub value: IndexVar,
    /// Stands for the process.
    pub at: IndexVar,
    /// What is true or not. Without quantifiers, about the state before a step.
    pub logic: Logic,
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
    /// Variables that hold an index, then values of fields.
    pub pointers: Vec<Pointer>,
    /// Indices that every process has.
    pub fields: Vec<Field>,
    /// What is kept of them for every process.
    pub bits: Vec<Bit>,
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
            fields: Vec::new(),
            bits: Vec::new(),
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
                if let Scalar::Range(first, last) = scalar
                    && let Some(offset) = as_open_end(last)
                {
                    return self.add_field(id, (first, offset), None);
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
                return self.add_field(id, (first, offset), family);
            }
            if first < 0 {
                return Err(negative(variable));
            }
            self.pointers.push(Pointer {
                var: id,
                name: variable.name.clone(),
                first,
                last: Term::last().plus(offset - self.last_offset),
                of: None,
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

    fn add_field(
        &mut self,
        id: VarId,
        (first, offset): (i64, i64),
        family: Option<ProcessId>,
    ) -> Result<(), Outside> {
        let variable = &self.parts().vars[id.index()];
        if first < 0 {
            return Err(negative(variable));
        }
        if self.parts().composition == Composition::Synchronous {
            let what = format!(
                "`{}`, an index of every process of a synchronous system,",
                variable.name
            );
            return Err(outside(&what, variable.span));
        }
        self.fields.push(Field {
            var: id,
            name: variable.name.clone(),
            first,
            last: Term::last().plus(offset - self.last_offset),
            family,
        });
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
        let is_it = |pointer: &Pointer| pointer.var == var && pointer.of.is_none();
        self.pointers.iter().position(is_it).map(PointerId::new)
    }

    /// The field of a variable.
    pub fn field_of(&self, var: VarId) -> Option<FieldId> {
        let position = self.fields.iter().position(|field| field.var == var);
        position.map(FieldId::new)
    }

    /// Is the value one of a field's type?
    pub fn field_fits(&self, field: FieldId, value: Term) -> Logic {
        let Field { first, last, .. } = self.fields[field.index()];
        self.in_range(value, Term::number(first), last)
    }

    /// The parameter.
    pub fn parameter(&self) -> Term {
        Term::last().plus(-self.last_offset)
    }

    /// Is there an instance for the value of the parameter?
    pub fn is_instance(&self) -> Logic {
        let least = self.template.least;
        let enough = |least: i64| Logic::at_most(Term::number(least.max(0)), self.parameter());
        least.map_or(Logic::Const(true), enough)
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

fn negative(variable: &Variable) -> Outside {
    let what = format!(
        "the index variable `{}` with negative values",
        variable.name
    );
    outside(&what, variable.span)
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
    /// Variables that stand for what a process has in a field before the step.
    reads: Vec<Read>,
}

/// A variable that stands for what a process has in a field.
#[derive(Clone, Copy, Debug)]
struct Read {
    var: IndexVar,
    field: FieldId,
    at: Term,
}

impl Fresh {
    /// Hands out what neither of both has.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let n_vars = self.n_vars.max(other.n_vars);
        let reads = self.reads.clone();
        Self { n_vars, reads }
    }

    /// A variable that does not occur.
    pub fn var(&mut self) -> IndexVar {
        self.n_vars += 1;
        IndexVar::new(self.n_vars - 1)
    }

    /// The variable for what a process has in a field; the same whenever it is asked for.
    pub fn held(&mut self, field: FieldId, at: Term) -> Term {
        let is_it = |read: &&Read| read.field == field && read.at == at;
        if let Some(known) = self.reads.iter().find(is_it) {
            return Term::var(known.var);
        }
        let var = self.var();
        self.reads.push(Read { var, field, at });
        Term::var(var)
    }

    /// Does what a field has there depend on the variable?
    pub fn depends(&self, at: Term, var: IndexVar) -> bool {
        let Base::Var(base) = at.base else {
            return false;
        };
        let read = self.reads.iter().find(|read| read.var == base);
        base == var || read.is_some_and(|read| self.depends(read.at, var))
    }

    /// The fields and places that a formula reads by such a variable.
    pub fn places(&self, terms: impl Iterator<Item = Term>) -> Vec<Term> {
        let vars: Vec<Base> = terms.map(|term| term.base).collect();
        let known = self.reads.iter();
        let used = known.filter(|read| vars.contains(&Base::Var(read.var)));
        used.map(|read| read.at).collect()
    }

    /// The formula with every such variable bound where its process is known: right below the
    /// quantifier over the process, or at the top.
    pub fn bound(&self, logic: Logic) -> Logic {
        if self.reads.is_empty() {
            return logic;
        }
        self.wrapped(self.bound_inside(logic), None)
    }

    fn bound_inside(&self, logic: Logic) -> Logic {
        let all = |parts: Vec<Logic>| parts.into_iter().map(|part| self.bound_inside(part));
        match logic {
            Logic::Not(inner) => Logic::not(self.bound_inside(*inner)),
            Logic::And(parts) => Logic::all(all(parts)),
            Logic::Or(parts) => Logic::any(all(parts)),
            Logic::Exists(var, inner) => {
                let inner = self.bound_inside(*inner);
                Logic::exists(var, self.wrapped(inner, Some(var)))
            }
            Logic::Each(var, field, inner) => {
                let inner = self.bound_inside(*inner);
                Logic::Each(var, field, Box::new(self.wrapped(inner, Some(var))))
            }
            Logic::Let(var, field, at, inner) => {
                Logic::held(var, (field, at), self.bound_inside(*inner))
            }
            other @ (Logic::Const(_)
            | Logic::Less(..)
            | Logic::Equal(..)
            | Logic::Has(..)
            | Logic::Is(..)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_)
            | Logic::Holds(..)
            | Logic::SameField(_)) => other,
        }
    }

    /// What is read at a process that was read itself is known later, so it is bound further inside.
    fn wrapped(&self, mut logic: Logic, scope: Option<IndexVar>) -> Logic {
        for read in self.reads.iter().rev() {
            let is_here = scope.is_none_or(|var| self.depends(read.at, var));
            if is_here && logic.free_vars().contains(&read.var) {
                logic = Logic::held(read.var, (read.field, read.at), logic);
            }
        }
        logic
    }
}
