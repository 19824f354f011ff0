//! What an expression has for values, and when.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bdd::{Bdd, Halt, Manager};

/// More pairs of operands are not looked at.
const MAX_PAIRS: usize = 1 << 20;

/// The possible values of an expression in ascending order, each with the states in which the
/// expression has it.
///
/// Invariant: no state is in two of the sets. Where evaluation fails, it is in none.
#[derive(Clone, Debug)]
pub(crate) struct Value(pub(crate) Rc<Vec<(i64, Bdd)>>);

/// A value in the making.
#[derive(Default)]
pub(crate) struct ValueBuilder(BTreeMap<i64, Bdd>);

impl ValueBuilder {
    /// In these states, too, the value is this.
    pub(crate) fn add(&mut self, value: i64, when: Bdd) -> Result<(), Halt> {
        if when.is_false() {
            return Ok(());
        }
        match self.0.get_mut(&value) {
            Some(known) => *known = known.or(&when)?,
            None => {
                self.0.insert(value, when);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Value {
        Value(Rc::new(self.0.into_iter().collect()))
    }
}

impl Value {
    /// The same value everywhere.
    pub(crate) fn constant(manager: &Manager, value: i64) -> Self {
        Self(Rc::new(vec![(value, manager.constant(true))]))
    }

    /// 1 where the condition is true, else 0.
    pub(crate) fn truth(condition: &Bdd) -> Result<Self, Halt> {
        let mut builder = ValueBuilder::default();
        builder.add(0, condition.not()?)?;
        builder.add(1, condition.clone())?;
        Ok(builder.finish())
    }

    /// Its only value, if it has one value everywhere.
    pub(crate) fn only(&self) -> Option<i64> {
        match self.0.as_slice() {
            [(value, when)] if when.is_true() => Some(*value),
            _ => None,
        }
    }

    /// The values that are possible in these states.
    pub(crate) fn within(&self, states: &Bdd) -> Result<Self, Halt> {
        let mut builder = ValueBuilder::default();
        for (value, when) in self.0.iter() {
            builder.add(*value, when.and(states)?)?;
        }
        Ok(builder.finish())
    }

    /// Where the value is not 0.
    pub(crate) fn is_true(&self, manager: &Manager) -> Result<Bdd, Halt> {
        let mut result = manager.constant(false);
        for (value, when) in self.0.iter() {
            if *value != 0 {
                result = result.or(when)?;
            }
        }
        Ok(result)
    }

    /// The first value in the first states, the second in the others.
    pub(crate) fn choice(states: &Bdd, then: &Self, otherwise: &Self) -> Result<Self, Halt> {
        let mut builder = ValueBuilder::default();
        for (value, when) in then.0.iter() {
            builder.add(*value, when.and(states)?)?;
        }
        for (value, when) in otherwise.0.iter() {
            builder.add(*value, when.minus(states)?)?;
        }
        Ok(builder.finish())
    }

    /// Calls `visit` with all pairs of values that are possible together, and when.
    pub(crate) fn pairs(
        &self,
        other: &Self,
        mut visit: impl FnMut(i64, i64, Bdd) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.0.len().saturating_mul(other.0.len()) > MAX_PAIRS {
            let why = "an expression has operands with too many values for the symbolic route; \
                declare smaller ranges, or use the route `explicit`";
            return Err(Halt::Unsupported(why.to_owned()));
        }
        for (left, left_when) in self.0.iter() {
            for (right, right_when) in other.0.iter() {
                let when = left_when.and(right_when)?;
                if !when.is_false() {
                    visit(*left, *right, when)?;
                }
            }
        }
        Ok(())
    }

    /// Where both have the same value.
    pub(crate) fn equals(&self, other: &Self, manager: &Manager) -> Result<Bdd, Halt> {
        let mut result = manager.constant(false);
        for (value, when) in self.0.iter() {
            if let Ok(position) = other.0.binary_search_by_key(value, |entry| entry.0) {
                result = result.or(&when.and(&other.0[position].1)?)?;
            }
        }
        Ok(result)
    }

    /// Where the first value is less than the second, or also where they are equal.
    pub(crate) fn less(
        &self,
        other: &Self,
        or_equal: bool,
        manager: &Manager,
    ) -> Result<Bdd, Halt> {
        let mut result = manager.constant(false);
        // Where the first value is small enough for the second that is looked at.
        let mut below = manager.constant(false);
        let mut rest = self.0.iter().peekable();
        for (value, when) in other.0.iter() {
            let is_small = |other: i64| other < *value || or_equal && other == *value;
            while let Some((_, small)) = rest.next_if(|entry| is_small(entry.0)) {
                below = below.or(small)?;
            }
            result = result.or(&below.and(when)?)?;
        }
        Ok(result)
    }
}
