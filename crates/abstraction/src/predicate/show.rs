//! Terms in the notation of the native language, as far as it has one.

use smt::{Linear, Term};

/// The term as a person would write it.
#[must_use]
pub fn show(term: &Term) -> String {
    match term {
        Term::Not(inner) => match &**inner {
            Term::Le(linear) => {
                // not e ≤ 0 is e > 0.
                let (left, right) = sides(linear);
                format!("{left} > {right}")
            }
            Term::Eq(linear) => {
                let (left, right) = sides(linear);
                format!("{left} != {right}")
            }
            Term::SameArray(a, b) => format!("{} != {}", show(a), show(b)),
            other if other.is_atom() => format!("!{}", show(other)),
            other => format!("!({})", show(other)),
        },
        Term::And(parts) => joined(parts, " && "),
        Term::Or(parts) => joined(parts, " || "),
        Term::Le(linear) => {
            let (left, right) = sides(linear);
            format!("{left} <= {right}")
        }
        Term::Eq(linear) => {
            let (left, right) = sides(linear);
            format!("{left} == {right}")
        }
        Term::SameArray(a, b) => format!("{} == {}", show(a), show(b)),
        Term::Bool(value) => value.to_string(),
        Term::Int(value) => value.to_string(),
        Term::Var(name, _) => name.to_string(),
        Term::Sum(linear) => sum(linear),
        Term::Div(inner, divisor) => format!("{} / {divisor}", divided(inner)),
        Term::Mod(inner, divisor) => format!("{} % {divisor}", divided(inner)),
        Term::Ite(a, b, c) => format!("(if {} then {} else {})", show(a), show(b), show(c)),
        Term::Select(a, b) => format!("{}[{}]", show(a), show(b)),
        Term::Store(a, b, c) => format!("{} with [{}] = {}", show(a), show(b), show(c)),
    }
}

/// A sum is put in parentheses before it is divided.
fn divided(term: &Term) -> String {
    match term {
        Term::Sum(_) => format!("({})", show(term)),
        other => show(other),
    }
}

fn joined(parts: &[Term], operator: &str) -> String {
    let part = |term: &Term| match term {
        Term::And(_) | Term::Or(_) => format!("({})", show(term)),
        other => show(other),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(operator)
}

/// Both sides of a comparison with zero, without subtraction.
fn sides(linear: &Linear) -> (String, String) {
    let (mut left, mut right) = (Linear::constant(0), Linear::constant(0));
    for (term, factor) in linear.terms() {
        let multiple = Linear::of(term).times(factor.abs());
        if factor > 0 {
            left = left.plus(&multiple)
        } else {
            right = right.plus(&multiple)
        }
    }
    let offset = linear.offset();
    let constant = Linear::constant(offset.abs());
    let has_right = right.as_constant() != Some(0);
    if offset > 0 && has_right {
        left = left.plus(&constant);
    } else {
        right = right.minus(&Linear::constant(offset));
    }
    (sum(&left), sum(&right))
}

fn sum(linear: &Linear) -> String {
    let mut text = String::new();
    for (term, factor) in linear.terms() {
        let sign = match (text.is_empty(), factor < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        if factor.abs() != 1 {
            text.push_str(&format!("{} * ", factor.abs()));
        }
        text.push_str(&show(term));
    }

    let offset = linear.offset();
    if text.is_empty() {
        return offset.to_string();
    }
    match offset {
        0 => {}
        offset if offset < 0 => text.push_str(&format!(" - {}", -offset)),
        offset => text.push_str(&format!(" + {offset}")),
    }

    text
}
