//! Formulas about a family of processes: first-order over process indices, finite otherwise.
//!
//! They stand between models and [`ws1s`]: the translation of a model yields them, [`super::encode`]
//! turns them into WS1S with few tracks, [`super::mona`] prints them with one set per location.

use std::collections::BTreeSet;

base::define_index! {
    /// A variable over indices.
    pub struct IndexVar;
}

base::define_index! {
    /// A finite value that every process of a family has: its location, a local variable, or its
    /// element of an array.
    pub struct ColumnId;
}

base::define_index! {
    /// A finite value that there is once.
    pub struct CellId;
}

base::define_index! {
    /// A variable that holds an index.
    pub struct PointerId;
}

base::define_index! {
    /// A value of every process that is an index itself: a local variable or an element of an array.
    pub struct FieldId;
}

/// Before or after a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Time {
    /// In the state before the step.
    Now,
    /// In the state after the step.
    Next,
}

/// What a term starts from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// The number 0.
    Zero,
    /// The last index of the family.
    Last,
    /// A variable.
    Var(IndexVar),
    /// What a pointer holds.
    Pointer(PointerId, Time),
}

/// An index: a base plus a constant. Over the integers: nothing saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term {
    /// What it starts from.
    pub base: Base,
    /// What is added.
    pub offset: i64,
}

impl Term {
    /// A constant.
    pub const fn number(offset: i64) -> Self {
        let base = Base::Zero;
        Self { base, offset }
    }

    /// The value of a variable.
    pub const fn var(var: IndexVar) -> Self {
        Self::of(Base::Var(var))
    }

    /// A base as it is.
    pub const fn of(base: Base) -> Self {
        Self { base, offset: 0 }
    }

    /// The last index of the family.
    pub const fn last() -> Self {
        Self::of(Base::Last)
    }

    /// So much more.
    pub const fn plus(self, n: i64) -> Self {
        Self {
            base: self.base,
            offset: self.offset.saturating_add(n),
        }
    }

    /// The same with a term in place of a variable.
    #[must_use]
    pub fn substitute(self, var: IndexVar, term: Self) -> Self {
        match self.base {
            Base::Var(found) if found == var => term.plus(self.offset),
            Base::Zero | Base::Last | Base::Var(_) | Base::Pointer(..) => self,
        }
    }

    fn primed(self) -> Self {
        match self.base {
            Base::Pointer(pointer, _) => Self {
                base: Base::Pointer(pointer, Time::Next),
                ..self
            },
            _ => self,
        }
    }
}

/// A formula.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Logic {
    /// Always, or never.
    Const(bool),
    /// Not.
    Not(Box<Logic>),
    /// All of them.
    And(Vec<Logic>),
    /// At least one of them.
    Or(Vec<Logic>),
    /// The first is less than the second.
    Less(Term, Term),
    /// Both are equal.
    Equal(Term, Term),
    /// The process has the value with this number in the column.
    Has(ColumnId, usize, Term, Time),
    /// The cell has the value with this number.
    Is(CellId, usize, Time),
    /// The process has the same value in the column before and after the step.
    SameAt(ColumnId, Term),
    /// Every process has the same value in the column before and after the step.
    SameColumn(ColumnId),
    /// The cell has the same value before and after the step.
    SameCell(CellId),
    /// For some index, a natural number.
    Exists(IndexVar, Box<Logic>),
    /// Where the variable is what the process has in the field; 0 if there is no such process.
    Let(IndexVar, FieldId, Term, Box<Logic>),
    /// The process has the value in the field.
    Holds(FieldId, Term, Term, Time),
    /// Every process has the same value in the field before and after the step.
    SameField(FieldId),
    /// For every process, which the variable stands for: the formula, by [`Logic::Holds`], says what it
    /// has in the field.
    Each(IndexVar, FieldId, Box<Logic>),
}

impl Logic {
    /// Not.
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn not(inner: Self) -> Self {
        match inner {
            Self::Const(value) => Self::Const(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// All of them.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Const(true) => {}
                Self::Const(false) => return Self::Const(false),
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        flat.dedup();
        match flat.len() {
            0 => Self::Const(true),
            1 => flat.swap_remove(0),
            _ => Self::And(flat),
        }
    }

    /// At least one of them.
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Const(false) => {}
                Self::Const(true) => return Self::Const(true),
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        flat.dedup();
        match flat.len() {
            0 => Self::Const(false),
            1 => flat.swap_remove(0),
            _ => Self::Or(flat),
        }
    }

    /// If the first then the second.
    pub fn implies(left: Self, right: Self) -> Self {
        Self::any([Self::not(left), right])
    }

    /// Both or neither.
    pub fn iff(left: Self, right: Self) -> Self {
        let neither = Self::all([Self::not(left.clone()), Self::not(right.clone())]);
        Self::any([Self::all([left, right]), neither])
    }

    /// For some value of the variable.
    pub fn exists(var: IndexVar, inner: Self) -> Self {
        match inner {
            Self::Const(value) => Self::Const(value),
            inner => Self::Exists(var, Box::new(inner)),
        }
    }

    /// For every value of the variable.
    pub fn forall(var: IndexVar, inner: Self) -> Self {
        Self::not(Self::exists(var, Self::not(inner)))
    }

    /// Where the variable is what a process has in a field.
    pub fn held(var: IndexVar, (field, at): (FieldId, Term), inner: Self) -> Self {
        match inner {
            Self::Const(value) => Self::Const(value),
            inner => Self::Let(var, field, at, Box::new(inner)),
        }
    }

    /// The first is less than the second.
    pub fn less(left: Term, right: Term) -> Self {
        if left.base == right.base {
            return Self::Const(left.offset < right.offset);
        }
        Self::Less(left, right)
    }

    /// The first is at most the second.
    pub fn at_most(left: Term, right: Term) -> Self {
        Self::not(Self::less(right, left))
    }

    /// Both are equal.
    pub fn equal(left: Term, right: Term) -> Self {
        if left.base == right.base {
            return Self::Const(left.offset == right.offset);
        }
        let (left, right) = (left.min(right), left.max(right));
        Self::Equal(left, right)
    }

    /// The same about the state after the step.
    #[must_use]
    pub fn primed(&self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(Self::primed).collect();
        match self {
            Self::Const(value) => Self::Const(*value),
            Self::Not(inner) => Self::Not(Box::new(inner.primed())),
            Self::And(parts) => Self::And(all(parts)),
            Self::Or(parts) => Self::Or(all(parts)),
            Self::Less(left, right) => Self::Less(left.primed(), right.primed()),
            Self::Equal(left, right) => Self::Equal(left.primed(), right.primed()),
            Self::Has(column, value, at, _) => Self::Has(*column, *value, at.primed(), Time::Next),
            Self::Is(cell, value, _) => Self::Is(*cell, *value, Time::Next),
            Self::Exists(var, inner) => Self::Exists(*var, Box::new(inner.primed())),
            Self::SameAt(..) | Self::SameColumn(_) | Self::SameCell(_) => self.clone(),
            Self::Let(..) | Self::Holds(..) | Self::SameField(_) | Self::Each(..) => {
                unreachable!("fields are replaced before formulas are primed")
            }
        }
    }

    /// The same with a term in place of a variable. The variables of the term must not be bound
    /// inside.
    #[must_use]
    pub fn substitute(&self, var: IndexVar, term: Term) -> Self {
        let replace = |old: Term| old.substitute(var, term);
        let all = |parts: &[Self]| -> Vec<Self> {
            parts.iter().map(|p| p.substitute(var, term)).collect()
        };
        match self {
            Self::Const(_)
            | Self::Is(..)
            | Self::SameColumn(_)
            | Self::SameCell(_)
            | Self::SameField(_) => self.clone(),
            Self::Not(inner) => Self::not(inner.substitute(var, term)),
            Self::And(parts) => Self::all(all(parts)),
            Self::Or(parts) => Self::any(all(parts)),
            Self::Less(left, right) => Self::less(replace(*left), replace(*right)),
            Self::Equal(left, right) => Self::equal(replace(*left), replace(*right)),
            Self::Has(column, value, at, time) => Self::Has(*column, *value, replace(*at), *time),
            Self::SameAt(column, at) => Self::SameAt(*column, replace(*at)),
            Self::Exists(bound, inner) => Self::exists(*bound, inner.substitute(var, term)),
            Self::Let(bound, field, at, inner) => {
                let inner = inner.substitute(var, term);
                Self::held(*bound, (*field, replace(*at)), inner)
            }
            Self::Holds(field, at, value, time) => {
                Self::Holds(*field, replace(*at), replace(*value), *time)
            }
            Self::Each(bound, field, inner) => {
                Self::Each(*bound, *field, Box::new(inner.substitute(var, term)))
            }
        }
    }

    /// The greatest distance from a base that it speaks of.
    #[must_use]
    pub fn reach(&self) -> u64 {
        let between = |left: &Term, right: &Term| left.offset.abs_diff(right.offset);
        match self {
            Self::Const(_)
            | Self::Is(..)
            | Self::SameColumn(_)
            | Self::SameCell(_)
            | Self::SameField(_) => 0,
            Self::Not(inner) | Self::Exists(_, inner) | Self::Each(_, _, inner) => inner.reach(),
            Self::Let(_, _, at, inner) => inner.reach().max(at.offset.unsigned_abs()),
            Self::Holds(_, at, value, _) => {
                at.offset.unsigned_abs().max(value.offset.unsigned_abs())
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::reach).max().unwrap_or(0),
            Self::Less(left, right) | Self::Equal(left, right) => between(left, right),
            Self::Has(_, _, at, _) | Self::SameAt(_, at) => at.offset.unsigned_abs(),
        }
    }

    /// The variables that it depends on.
    #[must_use]
    pub fn free_vars(&self) -> BTreeSet<IndexVar> {
        let mut found = BTreeSet::new();
        self.collect_free(&mut found);
        found
    }

    fn collect_free(&self, found: &mut BTreeSet<IndexVar>) {
        let mut note = |term: &Term| {
            if let Base::Var(var) = term.base {
                found.insert(var);
            }
        };

        match self {
            Self::Const(_)
            | Self::Is(..)
            | Self::SameColumn(_)
            | Self::SameCell(_)
            | Self::SameField(_) => {}
            Self::Not(inner) => inner.collect_free(found),
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.collect_free(found));
            }
            Self::Less(left, right) | Self::Equal(left, right) => {
                note(left);
                note(right);
            }
            Self::Has(_, _, at, _) | Self::SameAt(_, at) => note(at),
            // Every binder has a variable of its own.
            Self::Exists(var, inner) | Self::Each(var, _, inner) => {
                inner.collect_free(found);
                found.remove(var);
            }
            Self::Let(var, _, at, inner) => {
                inner.collect_free(found);
                found.remove(var);
                if let Base::Var(at) = at.base {
                    found.insert(at);
                }
            }
            Self::Holds(_, at, value, _) => {
                note(at);
                note(value);
            }
        }
    }
}
