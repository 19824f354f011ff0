//! Terms in SMT-LIB 2.

use std::fmt::Write as _;

use crate::linear::Linear;
use crate::term::{Sort, Term};

/// The term as SMT-LIB 2 text.
#[must_use]
pub fn to_smtlib(term: &Term) -> String {
    let mut out = String::new();
    write_term(&mut out, term);
    out
}

/// How a sort is written.
pub(crate) fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "Bool",
        Sort::Int => "Int",
        Sort::Array => "(Array Int Int)",
    }
}

/// A name as a quoted symbol; `|` and `\` cannot stand in one.
pub(crate) fn symbol(name: &str) -> String {
    format!("|{}|", name.replace(['|', '\\'], "!"))
}

fn write_term(out: &mut String, term: &Term) {
    match term {
        Term::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Term::Int(value) => write_int(out, *value),
        Term::Var(name, _) => out.push_str(&symbol(name)),
        Term::Not(inner) => write_call(out, "not", &[inner]),
        Term::And(parts) => write_call(out, "and", &parts.iter().collect::<Vec<_>>()),
        Term::Or(parts) => write_call(out, "or", &parts.iter().collect::<Vec<_>>()),
        Term::Le(linear) => write_comparison(out, "<=", linear),
        Term::Eq(linear) => write_comparison(out, "=", linear),
        Term::SameArray(a, b) => write_call(out, "=", &[a, b]),
        Term::Sum(linear) => write_linear(out, linear),
        Term::Div(inner, divisor) => write_call(out, "div", &[inner, &Term::Int(*divisor)]),
        Term::Mod(inner, divisor) => write_call(out, "mod", &[inner, &Term::Int(*divisor)]),
        Term::Ite(a, b, c) => write_call(out, "ite", &[a, b, c]),
        Term::Select(a, b) => write_call(out, "select", &[a, b]),
        Term::Store(a, b, c) => write_call(out, "store", &[a, b, c]),
    }
}

fn write_call(out: &mut String, function: &str, operands: &[&Term]) {
    let _ = write!(out, "({function}");
    for operand in operands {
        out.push(' ');
        write_term(out, operand);
    }
    out.push(')');
}

fn write_int(out: &mut String, value: i128) {
    let _ = if value < 0 {
        write!(out, "(- {})", value.unsigned_abs())
    } else {
        write!(out, "{value}")
    };
}

fn write_comparison(out: &mut String, op: &str, linear: &Linear) {
    let _ = write!(out, "({op} ");
    write_linear(out, linear);
    out.push_str(" 0)");
}

fn write_linear(out: &mut String, linear: &Linear) {
    out.push_str("(+ ");
    write_int(out, linear.offset());
    for (term, factor) in linear.terms() {
        out.push(' ');
        if factor == 1 {
            write_term(out, term);
            continue;
        }
        out.push_str("(* ");
        write_int(out, factor);
        out.push(' ');
        write_term(out, term);
        out.push(')');
    }
    out.push(')');
}
