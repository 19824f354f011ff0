//! Variables as wholes: what the components of arrays and records are parts of.
//!
//! A run in names has one value for each component (`a[1].x`), because that is what a step changes. Files
//! hold one value for each variable: sequences for arrays that start at 0, maps for other arrays and for
//! those over an enumeration, records for records.

use std::collections::BTreeSet;

use crate::{Misfit, NamedRun, NamedState, Value};

/// One way down into a value.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part<'a> {
    /// A number, or the name of a value.
    Index(Value),
    Field(&'a str),
}

/// What a variable is made of. Numbers are positions among the values of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Plan {
    Value(usize),
    Elements(Vec<(Value, Plan)>),
    Components(Vec<(String, Plan)>),
}

/// How the values of a state become values of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Structure {
    variables: Vec<(String, Plan)>,
}

impl Structure {
    /// The variables of a run.
    #[must_use]
    pub fn new(run: &NamedRun) -> Self {
        let names: BTreeSet<&str> = run.vars.iter().map(String::as_str).collect();
        let mut seen = BTreeSet::new();
        let mut variables: Vec<(String, Plan)> = Vec::new();
        for (position, name) in run.vars.iter().enumerate() {
            let length = run.wholes.get(position).copied().unwrap_or(name.len());
            let added = name.split_at_checked(length).and_then(|(whole, path)| {
                let parts = parts(path)?;
                let is_part = variables.last().is_some_and(|(last, _)| last == whole);
                if is_part {
                    let (_, plan) = variables.last_mut()?;
                    return plan.insert(&parts, position);
                }
                // Another variable with this name would be overwritten.
                let is_free = parts.is_empty() || !names.contains(whole);
                (seen.insert(whole) && is_free)
                    .then(|| variables.push((whole.to_owned(), Plan::at(&parts, position))))
            });
            if added.is_none() {
                variables.push((name.clone(), Plan::Value(position)));
            }
        }
        Self { variables }
    }

    /// The names of the variables.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.variables
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// The values of the variables in a state.
    #[must_use]
    pub fn values(&self, state: &NamedState) -> Vec<Value> {
        let plans = self.variables.iter().map(|(_, plan)| plan);
        plans.map(|plan| plan.value(&state.values)).collect()
    }
}

impl Plan {
    fn at(parts: &[Part<'_>], position: usize) -> Self {
        match parts.split_first() {
            None => Self::Value(position),
            Some((Part::Index(index), rest)) => {
                Self::Elements(vec![(index.clone(), Self::at(rest, position))])
            }
            Some((Part::Field(name), rest)) => {
                Self::Components(vec![((*name).to_owned(), Self::at(rest, position))])
            }
        }
    }

    /// Adds a component; nothing if there is something else in its place.
    fn insert(&mut self, parts: &[Part<'_>], position: usize) -> Option<()> {
        match (self, parts.split_first()?) {
            (Self::Elements(elements), (Part::Index(index), rest)) => {
                // Components come in order.
                match elements.last_mut() {
                    Some((last, plan)) if last == index => plan.insert(rest, position)?,
                    _ => elements.push((index.clone(), Self::at(rest, position))),
                }
            }
            (Self::Components(components), (Part::Field(name), rest)) => {
                match components.last_mut() {
                    Some((last, plan)) if last == name => plan.insert(rest, position)?,
                    _ => components.push(((*name).to_owned(), Self::at(rest, position))),
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn value(&self, values: &[Value]) -> Value {
        match self {
            Self::Value(position) => values[*position].clone(),
            Self::Elements(elements) => {
                let is_sequence = elements
                    .iter()
                    .zip(0..)
                    .all(|((index, _), own)| *index == Value::Int(own));
                if is_sequence {
                    Value::List(
                        elements
                            .iter()
                            .map(|(_, plan)| plan.value(values))
                            .collect(),
                    )
                } else {
                    let entry = |(index, plan): &(Value, Self)| (index.clone(), plan.value(values));
                    Value::Map(elements.iter().map(entry).collect())
                }
            }
            Self::Components(components) => {
                let field = |(name, plan): &(String, Self)| (name.clone(), plan.value(values));
                Value::Record(components.iter().map(field).collect())
            }
        }
    }
}

impl NamedRun {
    /// The same run with these components, which are variables of this run or parts of them.
    ///
    /// # Errors
    /// What this run does not have, or what the components do not have.
    pub fn split(&self, names: &[String]) -> Result<Self, Misfit> {
        let places: Vec<_> = names.iter().map(|name| self.place_of(name)).collect();
        let mut is_used = vec![false; self.vars.len()];
        for (var, _) in places.iter().flatten() {
            is_used[*var] = true;
        }
        if let Some(other) = is_used.iter().position(|is_used| !is_used) {
            let name = &self.vars[other];
            return Err(Misfit(format!("the model has no variable `{name}`")));
        }
        let mut found = Vec::new();
        for (name, place) in names.iter().zip(places) {
            let missing = || Misfit(format!("the trace has no variable `{name}`"));
            found.push(place.ok_or_else(missing)?);
        }

        let mut states = Vec::new();
        for (index, state) in self.states.iter().enumerate() {
            let mut values = Vec::new();
            for (name, (var, parts)) in names.iter().zip(&found) {
                let value = part_of(&state.values[*var], parts);
                let missing = || Misfit(format!("state {index}: there is no `{name}`"));
                values.push(value.ok_or_else(missing)?.clone());
            }
            states.push(NamedState {
                values,
                ..state.clone()
            });
        }
        Ok(Self {
            vars: names.to_vec(),
            wholes: found.iter().map(|(var, _)| self.vars[*var].len()).collect(),
            states,
            loop_start: self.loop_start,
        })
    }

    /// The variable with this name, or the one that it is a part of, and the way down to it.
    fn place_of<'n>(&self, name: &'n str) -> Option<(usize, Vec<Part<'n>>)> {
        if let Some(var) = self.vars.iter().position(|other| other == name) {
            return Some((var, Vec::new()));
        }
        let below = |(var, whole): (usize, &String)| {
            let path = name.strip_prefix(whole.as_str())?;
            Some((var, parts(path)?))
        };
        let places = self.vars.iter().enumerate().filter_map(below);
        places.min_by_key(|(_, parts)| parts.len())
    }
}

fn part_of<'v>(value: &'v Value, parts: &[Part<'_>]) -> Option<&'v Value> {
    parts
        .iter()
        .try_fold(value, |value, part| match (value, part) {
            (Value::List(items), Part::Index(Value::Int(index))) => {
                items.get(usize::try_from(*index).ok()?)
            }
            (Value::Map(entries), Part::Index(index)) => {
                let entry = entries.iter().find(|(key, _)| key == index);
                entry.map(|(_, value)| value)
            }
            (Value::Record(fields), Part::Field(name)) => {
                let field = fields.iter().find(|(other, _)| other == name);
                field.map(|(_, value)| value)
            }
            _ => None,
        })
}

/// The parts of a path such as `[1].x`.
fn parts(path: &str) -> Option<Vec<Part<'_>>> {
    let mut rest = path;
    let mut parts = Vec::new();

    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            let number = index.parse().map(Value::Int);
            let is_name = |name: &&str| !name.is_empty() && !name.contains(['[', '.', '#']);
            let name = || Some(Value::Name(Some(index).filter(is_name)?.to_owned()));
            parts.push(Part::Index(number.ok().or_else(name)?));
            rest = after;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(['[', '.']).unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            if name.is_empty() || name.starts_with('#') {
                return None;
            }
            parts.push(Part::Field(name));
            rest = after;
        }
    }

    Some(parts)
}
