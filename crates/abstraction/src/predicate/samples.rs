//! Concrete states that random walks visit.
//!
//! They only suggest what may be true: values that a step chooses, and initial values that are left
//! open, are guessed, and what is not met is not missed.

use std::collections::BTreeMap;
use std::sync::Arc;

use smt::{ArrayValue, Linear, Sort, Term, Value};

use super::explore::Abstraction;
use super::program::{Content, Program, Transition, within};

const N_WALKS: usize = 36;
const MAX_STEPS: usize = 120;
const MAX_AT_PLACE: usize = 240;

/// The locations of all processes.
pub(super) type Place = Vec<i64>;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// Small numbers are the most likely, and some are large.
    fn number(&mut self) -> i128 {
        const LARGE: [i128; 6] = [-40, -13, 17, 29, 64, 101];
        match self.below(8) {
            0 => LARGE[self.below(LARGE.len())],
            1 | 2 => self.below(20) as i128 - 5,
            _ => self.below(8) as i128 - 2,
        }
    }

    fn value(&mut self, sort: Sort, interval: smt::Interval) -> Value {
        match sort {
            Sort::Bool => Value::Bool(self.below(2) == 1),
            Sort::Array => {
                let mut array = ArrayValue::default();
                for index in 0..6 {
                    array = array.with(index, self.number());
                }
                Value::Array(array)
            }
            Sort::Int => {
                let low = interval
                    .0
                    .map_or(self.number(), |low| low + self.number().abs());
                Value::Int(interval.1.map_or(low, |high| low.min(high)))
            }
        }
    }
}

impl Abstraction<'_> {
    /// States of random walks, by place.
    pub(super) fn samples(&self) -> BTreeMap<Place, Vec<smt::Model>> {
        let mut dice = Dice(7);
        let mut samples: BTreeMap<Place, Vec<smt::Model>> = BTreeMap::new();
        for _ in 0..N_WALKS {
            let Some(mut state) = start(self.program, &mut dice) else {
                continue;
            };
            for _ in 0..MAX_STEPS {
                let Some(place) = place_of(self.program, &state) else {
                    break;
                };
                let seen = samples.entry(place).or_default();
                if seen.len() < MAX_AT_PLACE && !seen.contains(&state) {
                    seen.push(state.clone());
                }
                match step(self.program, &state, &mut dice) {
                    Some(next) => state = next,
                    None => break,
                }
            }
        }
        samples
    }
}

/// Where all processes are in a state.
pub(super) fn place_of(program: &Program, state: &smt::Model) -> Option<Place> {
    let locations = program
        .vars
        .iter()
        .filter(|var| matches!(var.content, Content::Location(_)));
    let number = |term: Term| i64::try_from(state.int(&term)?).ok();
    locations.map(|var| number(var.term())).collect()
}

/// An initial state: random values, repaired until they fit.
fn start(program: &Program, dice: &mut Dice) -> Option<smt::Model> {
    const N_REPAIRS: usize = 12;
    let mut state = smt::Model::default();
    for var in &program.vars {
        state.set(&var.name, dice.value(var.sort, var.interval));
    }
    let demand = Term::and([
        program.init.clone(),
        program.bounds_of(0..program.vars.len()),
    ]);
    for _ in 0..N_REPAIRS {
        if state.bool(&demand)? {
            return Some(state);
        }
        repair(&demand, &mut state, dice);
    }
    None
}

/// Changes variables so that a condition becomes true, if that is simple.
fn repair(condition: &Term, state: &mut smt::Model, dice: &mut Dice) {
    if state.bool(condition) == Some(true) {
        return;
    }
    match condition {
        Term::And(parts) => parts.iter().for_each(|part| repair(part, state, dice)),
        Term::Or(parts) => repair(&parts[dice.below(parts.len())], state, dice),
        Term::Var(name, Sort::Bool) => state.set(name, Value::Bool(true)),
        Term::Eq(linear) => shift(linear, 0, state, dice),
        Term::Le(linear) => shift(linear, -(dice.below(4) as i128), state, dice),
        Term::Not(inner) => match &**inner {
            Term::Var(name, Sort::Bool) => state.set(name, Value::Bool(false)),
            Term::Eq(linear) | Term::Le(linear) => {
                shift(linear, 1 + dice.below(4) as i128, state, dice);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Changes one variable of a sum so that the sum has a value.
fn shift(linear: &Linear, wanted: i128, state: &mut smt::Model, dice: &mut Dice) {
    let units: Vec<(&Arc<str>, i128)> = linear
        .terms()
        .filter_map(|(term, factor)| match term {
            Term::Var(name, Sort::Int) if factor.abs() == 1 => Some((name, factor)),
            _ => None,
        })
        .collect();
    let now = state.int(&linear.clone().into_term());
    if let (false, Some(now)) = (units.is_empty(), now) {
        let (name, factor) = units[dice.below(units.len())];
        let term = Term::Var(Arc::clone(name), Sort::Int);
        let old = state.int(&term).unwrap_or_default();
        state.set(name, Value::Int(old + (wanted - now) * factor));
    }
}

/// A random step.
fn step(program: &Program, state: &smt::Model, dice: &mut Dice) -> Option<smt::Model> {
    let n = program.transitions.len();
    let first = dice.below(n);
    let order = (0..n).map(|at| (first + at) % n);
    for position in order {
        let transition = &program.transitions[position];
        let n_tries = if transition.locals.is_empty() { 1 } else { 6 };
        for _ in 0..n_tries {
            if let Some(next) = take(program, transition, state, dice) {
                return Some(next);
            }
        }
    }
    None
}

fn take(
    program: &Program,
    transition: &Transition,
    state: &smt::Model,
    dice: &mut Dice,
) -> Option<smt::Model> {
    let mut chosen = state.clone();
    for local in &transition.locals {
        chosen.set(&local.name, dice.value(local.sort, local.interval));
    }
    if !chosen.bool(&transition.guard)? {
        return None;
    }

    let mut next = state.clone();
    for (var, value) in &transition.updates {
        next.set(&program.vars[*var].name, chosen.eval(value)?);
    }
    let fits = |var: &usize| {
        let var = &program.vars[*var];
        next.bool(&within(&var.term(), var.sort, var.interval)) == Some(true)
    };
    transition.updates.keys().all(fits).then_some(next)
}
