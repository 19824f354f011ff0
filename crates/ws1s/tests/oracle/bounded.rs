//! The meaning of M2L-Str on a string of a given length, by its definition.

use crate::random::{Formula, Set, Sort, Term};

/// The greatest length up to 6 for which evaluating everything stays cheap.
pub fn affordable_length(formula: &Formula, sorts: &[Sort]) -> usize {
    let bits = |sort: &Sort, length: u32| match sort {
        Sort::Bool => 1,
        Sort::First => 2,
        Sort::Set => length,
    };
    let nested = deepest(formula);
    let cost = |length: u32| -> u32 {
        let all = sorts.iter().chain(&nested);
        all.map(|sort| bits(sort, length)).sum()
    };
    (1..=6)
        .take_while(|&length| cost(length) <= 12)
        .last()
        .unwrap_or(1) as usize
}

/// The sorts bound along the path with the most set quantifiers.
fn deepest(formula: &Formula) -> Vec<Sort> {
    let longest = |all: Vec<Vec<Sort>>| {
        let weight = |sorts: &Vec<Sort>| {
            let sets = sorts.iter().filter(|sort| **sort == Sort::Set).count();
            (sets, sorts.len())
        };
        all.into_iter().max_by_key(weight).unwrap_or_default()
    };
    match formula {
        Formula::Not(a) => deepest(a),
        Formula::And(all) | Formula::Or(all) => longest(all.iter().map(deepest).collect()),
        Formula::Implies(a, b) | Formula::Iff(a, b) => longest(vec![deepest(a), deepest(b)]),
        Formula::Quantifier(_, sort, _, body) => {
            let mut sorts = deepest(body);
            sorts.push(*sort);
            sorts
        }
        _ => Vec::new(),
    }
}

/// Does the formula hold of the values (sets as bit masks, positions as singletons)?
pub fn holds(formula: &Formula, values: &[u64], length: usize) -> bool {
    match formula {
        Formula::Constant(value) => *value,
        Formula::Bool(var) => values[*var] == 1,
        Formula::Less(a, b) => term(a, values) < term(b, values),
        Formula::LessEqual(a, b) => term(a, values) <= term(b, values),
        Formula::Equal(a, b) => term(a, values) == term(b, values),
        Formula::In(a, b) => set(b, values) >> term(a, values) & 1 == 1,
        Formula::Sub(a, b) => set(a, values) & !set(b, values) == 0,
        Formula::SetEqual(a, b) => set(a, values) == set(b, values),
        Formula::Empty(a) => set(a, values) == 0,
        Formula::Not(a) => !holds(a, values, length),
        Formula::And(all) => all.iter().all(|f| holds(f, values, length)),
        Formula::Or(all) => all.iter().any(|f| holds(f, values, length)),
        Formula::Implies(a, b) => !holds(a, values, length) || holds(b, values, length),
        Formula::Iff(a, b) => holds(a, values, length) == holds(b, values, length),
        Formula::Quantifier(universal, sort, _, body) => {
            let mut range: Box<dyn Iterator<Item = u64>> = match sort {
                Sort::Bool => Box::new(0..2),
                Sort::First => Box::new((0..length).map(|position| 1 << position)),
                Sort::Set => Box::new(0..1 << length),
            };
            let mut inner = values.to_vec();
            inner.push(0);
            range.any(|value| {
                *inner.last_mut().expect("just pushed") = value;
                holds(body, &inner, length) != *universal
            }) != *universal
        }
        _ => unreachable!("only plain formulas are evaluated"),
    }
}

fn term(at: &Term, values: &[u64]) -> u32 {
    match at {
        Term::Var(var) => values[*var].trailing_zeros(),
        Term::Number(number) => *number,
        Term::Plus(inner, k) => term(inner, values) + k,
        Term::Minus(inner, k) => term(inner, values).saturating_sub(*k),
        Term::Min(inner) => match set(inner, values) {
            0 => 0,
            elements => elements.trailing_zeros(),
        },
        Term::Max(inner) => match set(inner, values) {
            0 => 0,
            elements => elements.ilog2(),
        },
        Term::Modulo(inner, amount, modulus) => {
            let modulus = term(modulus, values);
            (0..amount.abs()).fold(term(inner, values), |value, _| {
                step_modulo(value, *amount > 0, modulus)
            })
        }
    }
}

/// One step up or down modulo a number. At and above it, MONA's reading applies.
fn step_modulo(j: u32, up: bool, k: u32) -> u32 {
    match (up, j.cmp(&k)) {
        (_, std::cmp::Ordering::Greater) => 0,
        (true, _) if k == 0 => 0,
        (true, _) => (j + 1) % k,
        (false, _) if j > 0 => j - 1,
        (false, _) => k.saturating_sub(1),
    }
}

fn set(at: &Set, values: &[u64]) -> u64 {
    match at {
        Set::Var(var) => values[*var],
        Set::Empty => 0,
        Set::Number(number) => *number,
        Set::Single(element) => 1 << term(element, values),
        Set::Interval(from, to) => {
            let (from, to) = (term(from, values), term(to, values));
            (from..=to).fold(0, |elements, position| elements | 1 << position)
        }
        Set::Union(a, b) => set(a, values) | set(b, values),
        Set::Inter(a, b) => set(a, values) & set(b, values),
        Set::Minus(a, b) => set(a, values) & !set(b, values),
        Set::ShiftUp(a) => set(a, values) << 1,
        Set::ShiftDown(a) => {
            let elements = set(a, values);
            elements >> 1 | elements & 1
        }
    }
}
