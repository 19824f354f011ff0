//! Which instances of a family are looked at, and how much they cost.

use std::collections::HashSet;

use model::{Expr, Model, RecordType, Scope, State, Template, Type};

use crate::Outcome;

/// At most so many states of each instance.
const MAX_SAMPLES: usize = 1_500;

/// After an instance with more states than this the next one is not cheap.
const MAX_CHEAP_STATES: u64 = 5_000;

/// Numbers in the text beyond this are not followed.
const MAX_FOLLOWED: i64 = 40;

/// Instances beyond those that are always looked at may have so many states together.
const MAX_STATES_TOGETHER: u64 = 600_000;

/// Instances with more initial states than this are not asked for samples.
const MAX_STARTS: u64 = 20_000;

/// The first states that an instance reaches.
pub(super) fn reached(model: &Model) -> Vec<State> {
    if n_starts(model) > MAX_STARTS {
        return Vec::new();
    }
    let mut found = model.initial_states().unwrap_or_default();
    found.truncate(MAX_SAMPLES);
    let mut known: HashSet<State> = found.iter().cloned().collect();
    let mut next = 0;
    while next < found.len() && found.len() < MAX_SAMPLES {
        for successor in model.successors(&found[next]).unwrap_or_default() {
            if known.insert(successor.target.clone()) {
                found.push(successor.target);
            }
        }
        next += 1;
    }
    found
}

/// How many initial states there are before `init` selects some.
fn n_starts(model: &Model) -> u64 {
    let instances = 0..model.instances().len();
    let locations = instances.map(|instance| model.initial_locations(instance).len() as u64);
    let values = (0..model.cells().len()).map(|position| {
        let (lo, hi) = model.cells()[position].ty.bounds();
        match model.initial_value(position) {
            Ok(None) => hi.abs_diff(lo).saturating_add(1),
            Ok(Some(_)) | Err(_) => 1,
        }
    });
    locations.chain(values).fold(1, u64::saturating_mul)
}

/// How much work instances have been.
#[derive(Default)]
pub(super) struct Effort {
    n_last: u64,
    n_together: u64,
}

impl Effort {
    pub(super) fn note(&mut self, outcome: &Outcome) {
        self.n_last = outcome.stats.n_states;
        self.n_together += self.n_last;
    }

    /// Is one more instance affordable, or even cheap?
    pub(super) fn allows_more(&self, cheaply: bool) -> bool {
        self.n_together <= MAX_STATES_TOGETHER && (!cheaply || self.n_last <= MAX_CHEAP_STATES)
    }
}

/// A value of the parameter beyond every number that the template or the question mentions, as far
/// as such numbers are followed.
pub(super) fn beyond_constants(template: &Template, scope: &Scope) -> i64 {
    let mut greatest = 0;
    let mut note = |value: i64| {
        // The end of an open range is a distance from the parameter.
        let value = model::as_open_end(value).unwrap_or(value);
        let size = i64::try_from(value.unsigned_abs()).unwrap_or(i64::MAX);
        if size <= MAX_FOLLOWED {
            greatest = greatest.max(size);
        }
    };

    for process in &template.parts.processes {
        if let Some(range) = &process.index {
            note(range.lo);
            note(range.hi);
        }
    }

    for variable in &template.parts.vars {
        numbers_of_type(&variable.ty, &template.parts.records, &mut note);
    }

    let mut in_expr = |expr: &Expr| {
        expr.walk(&mut |inner| inner.as_literal().into_iter().for_each(&mut note));
    };
    template.parts.for_each_operand(&mut in_expr);
    for distinguished in &scope.distinguished {
        in_expr(&distinguished.lo);
        in_expr(&distinguished.hi);
    }

    in_expr(&scope.condition);
    greatest + 2
}

/// Visits the bounds of the ranges that a type consists of.
fn numbers_of_type(ty: &Type, records: &[RecordType], note: &mut dyn FnMut(i64)) {
    match ty {
        Type::Scalar(scalar) => {
            let (lo, hi) = scalar.bounds();
            note(lo);
            note(hi);
        }
        Type::Array(array) => {
            note(array.lo);
            numbers_of_type(&array.element, records, note);
        }
        Type::Record(id) => {
            for (_, ty) in &records[id.index()].fields {
                numbers_of_type(ty, records, note);
            }
        }
    }
}

/// What was compared, and what not although numbers in the text suggest it.
pub(super) fn comparison(name: &str, compared: &[i64], beyond: i64) -> String {
    match compared.last() {
        None => "no instance was compared".to_owned(),
        Some(last) => {
            let agree = format!("instances {name} = {} agree", listed(compared));
            if *last >= beyond {
                return agree;
            }
            let greatest = beyond - 2;
            format!("{agree}; larger ones were not compared although {greatest} is mentioned")
        }
    }
}

/// Values as a list, shortened in the middle.
pub(super) fn listed(values: &[i64]) -> String {
    let text = |values: &[i64]| -> String {
        let texts: Vec<String> = values.iter().map(i64::to_string).collect();
        texts.join(", ")
    };
    match values {
        [first, second, .., last] if values.len() > 8 => format!("{first}, {second}, …, {last}"),
        values => text(values),
    }
}
