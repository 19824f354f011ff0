//! Expressions over the slots of an abstract model, in the notation of a language.

use model::InstanceId;

use super::listing::Listing;
use crate::predicate::abstract_term::Abstract;

/// How a language writes expressions.
pub(crate) struct Notation<'l, 'a> {
    pub(crate) listing: &'l Listing<'a>,
    pub(crate) and: &'static str,
    pub(crate) or: &'static str,
    pub(crate) equals: &'static str,
    pub(crate) truth: [&'static str; 2],
    /// A process is at one of some locations.
    pub(crate) at: &'l dyn Fn(InstanceId, &[i64]) -> String,
    /// If, then, else.
    pub(crate) choose: &'l dyn Fn(&str, &str, &str) -> String,
}

impl Notation<'_, '_> {
    fn is_truth(&self, slot: usize) -> bool {
        let (_, values, location) = &self.listing.slots[slot];
        *values == [0, 1] && location.is_none()
    }

    /// A condition.
    pub(crate) fn condition(&self, term: &Abstract) -> String {
        match term {
            Abstract::Const(value) => self.truth[usize::from(*value != 0)].to_owned(),
            Abstract::Slot(slot) => self.listing.slots[*slot].0.clone(),
            Abstract::Not(inner) => format!("!({})", self.condition(inner)),
            Abstract::And(parts) => self.joined(parts, self.and, 1),
            Abstract::Or(parts) => self.joined(parts, self.or, 0),
            Abstract::Eq(c, parts) => match parts.as_slice() {
                [(1, Abstract::Slot(slot))] if self.is_truth(*slot) => {
                    let name = &self.listing.slots[*slot].0;
                    let sign = if *c == 0 { "!" } else { "" };
                    format!("{sign}{name}")
                }
                [(_, Abstract::Slot(slot))] if self.listing.slots[*slot].2.is_some() => {
                    self.location(*slot, term)
                }
                _ => format!("{} {} 0", self.number_sum(*c, parts), self.equals),
            },
            Abstract::Le(c, parts) => match parts.as_slice() {
                [(_, Abstract::Slot(slot))] if self.listing.slots[*slot].2.is_some() => {
                    self.location(*slot, term)
                }
                _ => format!("{} <= 0", self.number_sum(*c, parts)),
            },
            Abstract::Ite(parts) => {
                let [a, b, c] = &**parts;
                let parts = [a, b, c].map(|part| self.condition(part));
                (self.choose)(&parts[0], &parts[1], &parts[2])
            }
            other => format!("{} {} 1", self.number(other), self.equals),
        }
    }

    fn joined(&self, parts: &[Abstract], operator: &str, empty: usize) -> String {
        if parts.is_empty() {
            return self.truth[empty].to_owned();
        }
        let part = |part: &Abstract| format!("({})", self.condition(part));
        let parts: Vec<String> = parts.iter().map(part).collect();
        parts.join(operator)
    }

    /// A comparison of a location with a constant: the locations that satisfy it.
    fn location(&self, slot: usize, term: &Abstract) -> String {
        let (_, values, instance) = &self.listing.slots[slot];
        let mut state = vec![0; self.listing.slots.len()];
        let mut there = Vec::new();
        for value in values {
            state[slot] = *value;
            if term.eval(&state, &[]) == Some(1) {
                there.push(*value);
            }
        }
        match instance {
            Some(instance) if !there.is_empty() => (self.at)(*instance, &there),
            _ => self.truth[0].to_owned(),
        }
    }

    fn number_sum(&self, constant: i64, parts: &[(i64, Abstract)]) -> String {
        let mut text = String::new();
        for (factor, part) in parts {
            text.push_str(&format!("{factor} * ({}) + ", self.number(part)));
        }
        format!("{text}({constant})")
    }

    /// A number.
    pub(crate) fn number(&self, term: &Abstract) -> String {
        match term {
            Abstract::Const(value) => value.to_string(),
            Abstract::Slot(slot) => self.listing.slots[*slot].0.clone(),
            Abstract::Sum(c, parts) => self.number_sum(*c, parts),
            Abstract::Div(inner, d) => format!("({}) / {d}", self.number(inner)),
            Abstract::Mod(inner, d) => format!("({}) % {d}", self.number(inner)),
            Abstract::Ite(parts) => {
                let [a, b, c] = &**parts;
                (self.choose)(&self.condition(a), &self.number(b), &self.number(c))
            }
            other => (self.choose)(&self.condition(other), "1", "0"),
        }
    }

    /// What is assigned to a slot.
    pub(crate) fn value_for(&self, slot: usize, term: &Abstract) -> String {
        if self.is_truth(slot) {
            self.condition(term)
        } else {
            self.number(term)
        }
    }
}
