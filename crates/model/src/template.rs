//! Models whose number of processes is left open.
//!
//! A [`Template`] is written down like any other model, but a name without value, the *parameter*,
//! may stand in expressions (as [`crate::Expr::Bound`]) and at the end of ranges. The parts of a
//! template are never finished: there is no such model, only one for each value of the parameter.

use base::Span;

use crate::{BoundId, Expr, ModelParts};

/// Stands for the parameter where only an `i64` has room.
const PARAMETER: i64 = 1 << 62;

/// Stands for the bound name with number 0 where only an `i64` has room.
const FIRST_BOUND: i64 = 1 << 60;

/// How far from these a value still means them.
const REACH: i64 = 1 << 32;

/// "The parameter plus `offset`" as the last value of a range, or as the length of an array.
///
/// Invariant: such values occur in templates only.
#[must_use]
pub const fn open_end(offset: i64) -> i64 {
    PARAMETER.saturating_add(offset)
}

/// The offset to the parameter, if the value was made by [`open_end`].
#[must_use]
pub const fn as_open_end(value: i64) -> Option<i64> {
    let offset = value.saturating_sub(PARAMETER);
    if offset > -REACH && offset < REACH {
        Some(offset)
    } else {
        None
    }
}

/// "The value of this bound name" as the index of a [`crate::StepPattern`].
///
/// Invariant: such values occur in templates only.
#[must_use]
pub const fn open_index(bound: BoundId) -> i64 {
    FIRST_BOUND + bound.0 as i64
}

/// The bound name, if the value was made by [`open_index`].
#[must_use]
pub const fn as_open_index(value: i64) -> Option<BoundId> {
    let number = value.saturating_sub(FIRST_BOUND);
    if number >= 0 && number < REACH {
        Some(BoundId(number as u32))
    } else {
        None
    }
}

/// A model for each value of a parameter.
#[derive(Clone, Debug)]
pub struct Template {
    /// What all these models have in common.
    pub parts: ModelParts,
    /// What stands for the parameter in expressions.
    pub parameter: BoundId,
    /// The name of the parameter.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// There is no instance for a smaller value, if this is given.
    pub least: Option<i64>,
}

/// What is special about one question to a template.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The processes that the question is about. It is asked for all of them.
    pub distinguished: Vec<Distinguished>,
    /// Only for those that satisfy this. Mentions no state.
    pub condition: Expr,
    /// What the author says about the abstraction.
    pub hints: Hints,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            distinguished: Vec::new(),
            condition: Expr::Bool(true),
            hints: Hints::default(),
        }
    }
}

/// A name that a question quantifies over from outside.
#[derive(Clone, Debug)]
pub struct Distinguished {
    /// What expressions and step patterns call it.
    pub bound: BoundId,
    /// Its name.
    pub name: String,
    /// Its first value.
    pub lo: Expr,
    /// Its last value.
    pub hi: Expr,
}

/// What an author says about an abstraction.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Nothing else is to be kept.
    pub only: bool,
    /// What is to be kept.
    pub predicates: Vec<Hint>,
    /// Sets whose size is to be watched, as conditions on an index.
    pub rankings: Vec<(BoundId, Hint)>,
    /// What may hold in every reachable state. Believed only once it is proved.
    pub invariants: Vec<Hint>,
}

/// A named expression.
#[derive(Clone, Debug)]
pub struct Hint {
    /// Its name.
    pub name: String,
    /// What it means.
    pub expr: Expr,
    /// Where it is written.
    pub span: Span,
}
