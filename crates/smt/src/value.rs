//! Values, models, and the evaluation of terms in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::linear::Linear;
use crate::term::{Sort, Term};

/// An array as a list of exceptions from a default.
///
/// Invariant: no exception has the default value, so equal arrays are equal values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ArrayValue {
    /// The value almost everywhere.
    pub default: i128,
    /// Where it differs.
    pub entries: BTreeMap<i128, i128>,
}

impl ArrayValue {
    /// The element at an index.
    #[must_use]
    pub fn get(&self, index: i128) -> i128 {
        self.entries.get(&index).copied().unwrap_or(self.default)
    }

    /// The array with one element replaced.
    #[must_use]
    pub fn with(mut self, index: i128, value: i128) -> Self {
        if value == self.default {
            self.entries.remove(&index)
        } else {
            self.entries.insert(index, value)
        };
        self
    }
}

/// A value of a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    /// Of a Boolean.
    Bool(bool),
    /// Of an integer.
    Int(i128),
    /// Of an array.
    Array(ArrayValue),
}

impl Value {
    /// The value that variables have which a model does not mention.
    #[must_use]
    pub fn default_of(sort: Sort) -> Self {
        match sort {
            Sort::Bool => Self::Bool(false),
            Sort::Int => Self::Int(0),
            Sort::Array => Self::Array(ArrayValue::default()),
        }
    }
}

/// Values for variables. A variable that is not mentioned has the default value of its sort.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    values: BTreeMap<Arc<str>, Value>,
}

impl Model {
    /// Gives a variable a value.
    pub fn set(&mut self, name: &Arc<str>, value: Value) {
        self.values.insert(Arc::clone(name), value);
    }

    /// The value of a term; nothing if its sorts do not fit the values of the model or a number
    /// becomes too large.
    #[must_use]
    pub fn eval(&self, term: &Term) -> Option<Value> {
        Some(match term {
            Term::Var(name, sort) => match self.values.get(name) {
                Some(value) => value.clone(),
                None => Value::default_of(*sort),
            },
            Term::SameArray(a, b) => Value::Bool(self.array(a)? == self.array(b)?),
            Term::Store(a, i, v) => Value::Array(self.array(a)?.with(self.int(i)?, self.int(v)?)),
            Term::Ite(c, a, b) => return self.eval(if self.bool(c)? { a } else { b }),
            _ if term.sort() == Sort::Bool => Value::Bool(self.bool(term)?),
            _ => Value::Int(self.int(term)?),
        })
    }

    /// The value of a Boolean term.
    #[must_use]
    pub fn bool(&self, term: &Term) -> Option<bool> {
        Some(match term {
            Term::Bool(value) => *value,
            Term::Not(inner) => !self.bool(inner)?,
            Term::And(parts) => {
                let values: Option<Vec<bool>> = parts.iter().map(|p| self.bool(p)).collect();
                values?.into_iter().all(|value| value)
            }
            Term::Or(parts) => {
                let values: Option<Vec<bool>> = parts.iter().map(|p| self.bool(p)).collect();
                values?.into_iter().any(|value| value)
            }
            Term::Le(linear) => self.linear(linear)? <= 0,
            Term::Eq(linear) => self.linear(linear)? == 0,
            other => match self.eval(other)? {
                Value::Bool(value) => value,
                _ => return None,
            },
        })
    }

    /// The value of an integer term.
    #[must_use]
    pub fn int(&self, term: &Term) -> Option<i128> {
        Some(match term {
            Term::Int(value) => *value,
            Term::Sum(linear) => self.linear(linear)?,
            Term::Div(inner, divisor) => self.int(inner)?.div_euclid(*divisor),
            Term::Mod(inner, divisor) => self.int(inner)?.rem_euclid(*divisor),
            Term::Select(array, index) => self.array(array)?.get(self.int(index)?),
            other => match self.eval(other)? {
                Value::Int(value) => value,
                _ => return None,
            },
        })
    }

    /// The value of an array term.
    #[must_use]
    pub fn array(&self, term: &Term) -> Option<ArrayValue> {
        match self.eval(term)? {
            Value::Array(value) => Some(value),
            _ => None,
        }
    }

    fn linear(&self, linear: &Linear) -> Option<i128> {
        let mut sum = linear.offset();
        for (term, factor) in linear.terms() {
            let product = self.int(term)?.checked_mul(factor)?;
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }
}
