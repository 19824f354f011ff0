//! What external solvers print: symbolic expressions, read as values.

use std::collections::BTreeMap;

use crate::value::{ArrayValue, Value};

/// A symbolic expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sexpr {
    /// A symbol or numeral; bars of quoted symbols are taken off.
    Atom(String),
    /// A list.
    List(Vec<Sexpr>),
}

impl Sexpr {
    /// How many symbols and lists there are in it.
    fn size(&self) -> usize {
        match self {
            Self::Atom(_) => 1,
            Self::List(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
        }
    }
}

/// How deep a list may be nested.
const MAX_DEPTH: usize = 10_000;

/// Values with more parts are not read.
const MAX_PARTS: usize = 100_000;

/// Reads exactly one expression. `None` if the text is anything else.
pub(crate) fn parse(text: &str) -> Option<Sexpr> {
    let mut open: Vec<Vec<Sexpr>> = Vec::new();
    let mut result = None;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let done = match c {
            c if c.is_whitespace() => continue,
            '(' => {
                open.push(Vec::new());
                if open.len() > MAX_DEPTH {
                    return None;
                }
                continue;
            }
            ')' => Sexpr::List(open.pop()?),
            '|' => {
                let end = text[start + 1..].find('|')? + start + 1;
                while chars.next_if(|(at, _)| *at <= end).is_some() {}
                Sexpr::Atom(text[start + 1..end].to_owned())
            }
            _ => {
                let rest = &text[start..];
                let stops = |c: char| c.is_whitespace() || c == '(' || c == ')';
                let len = rest.find(stops).unwrap_or(rest.len());
                while chars.next_if(|(at, _)| *at < start + len).is_some() {}
                Sexpr::Atom(rest[..len].to_owned())
            }
        };
        match open.last_mut() {
            Some(list) => list.push(done),
            None if result.is_none() => result = Some(done),
            None => return None,
        }
    }

    result.filter(|_| open.is_empty())
}

/// Reads a value of a Boolean, an integer or an array.
pub(crate) fn value(expr: &Sexpr) -> Option<Value> {
    match expr {
        Sexpr::List(parts) if matches!(parts.first(), Some(Sexpr::Atom(word)) if word == "let") => {
            value(&without_names(
                expr,
                &BTreeMap::new(),
                &mut MAX_PARTS.clone(),
            )?)
        }
        Sexpr::Atom(text) if text == "true" => Some(Value::Bool(true)),
        Sexpr::Atom(text) if text == "false" => Some(Value::Bool(false)),
        Sexpr::Atom(_) => int(expr).map(Value::Int),
        Sexpr::List(_) => match int(expr) {
            Some(value) => Some(Value::Int(value)),
            None => array(expr).map(Value::Array),
        },
    }
}

/// An expression in which names given by `let`, which z3 uses for long values, stand for what they
/// name. Nothing if it becomes too large.
fn without_names(expr: &Sexpr, names: &BTreeMap<&str, Sexpr>, n_left: &mut usize) -> Option<Sexpr> {
    *n_left = n_left.checked_sub(1)?;
    let parts = match expr {
        Sexpr::Atom(text) => {
            let named = names.get(text.as_str()).unwrap_or(expr);
            *n_left = n_left.checked_sub(named.size())?;
            return Some(named.clone());
        }
        Sexpr::List(parts) => parts,
    };
    if let [Sexpr::Atom(word), Sexpr::List(bound), body] = parts.as_slice()
        && word == "let"
    {
        let mut inner = names.clone();
        for pair in bound {
            let Sexpr::List(pair) = pair else {
                return None;
            };
            let [Sexpr::Atom(name), meaning] = pair.as_slice() else {
                return None;
            };
            inner.insert(name, without_names(meaning, names, n_left)?);
        }
        return without_names(body, &inner, n_left);
    }
    let parts = parts.iter();
    let parts: Option<Vec<Sexpr>> = parts
        .map(|part| without_names(part, names, n_left))
        .collect();
    parts.map(Sexpr::List)
}

fn int(expr: &Sexpr) -> Option<i128> {
    match expr {
        Sexpr::Atom(text) => text.parse().ok(),
        Sexpr::List(parts) => match parts.as_slice() {
            [Sexpr::Atom(minus), inner] if minus == "-" => int(inner)?.checked_neg(),
            _ => None,
        },
    }
}

/// `((as const (Array Int Int)) 0)` and updates of it.
fn array(expr: &Sexpr) -> Option<ArrayValue> {
    let mut updates = Vec::new();
    let mut inner = expr;

    loop {
        let Sexpr::List(parts) = inner else {
            return None;
        };
        match parts.as_slice() {
            [Sexpr::Atom(store), base, index, value] if store == "store" => {
                updates.push((int(index)?, int(value)?));
                inner = base;
            }
            [Sexpr::List(head), default] if is_constant_array(head) => {
                let mut array = ArrayValue {
                    default: int(default)?,
                    ..ArrayValue::default()
                };
                for (index, value) in updates.into_iter().rev() {
                    array = array.with(index, value);
                }
                return Some(array);
            }
            _ => return None,
        }
    }
}

fn is_constant_array(head: &[Sexpr]) -> bool {
    let is = |expr: &Sexpr, word: &str| matches!(expr, Sexpr::Atom(text) if text == word);
    matches!(head, [a, b, _] if is(a, "as") && is(b, "const"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read() {
        let text = "(store (store ((as const (Array Int Int)) 2) (- 1) 7) 3 2)";
        let read = value(&parse(text).expect("an expression"));
        let expected = ArrayValue {
            default: 2,
            ..ArrayValue::default()
        }
        .with(-1, 7);
        assert_eq!(read, Some(Value::Array(expected)));
    }

    #[test]
    fn names_of_parts_are_followed() {
        let text = "(let ((a!1 (store ((as const (Array Int Int)) 2) (- 1) 7)))
                    (let ((a!1 (store a!1 4 5)) (a!2 1)) (store a!1 a!2 2)))";
        let plain = "(store (store (store ((as const (Array Int Int)) 2) (- 1) 7) 4 5) 1 2)";
        let read = |text: &str| value(&parse(text).expect("an expression"));
        assert_eq!(read(text), read(plain));
        assert!(read(plain).is_some());

        // Names of names of names are longer than what they say.
        let mut long = "(store a!0 1 2)".to_owned();
        for depth in 0..64 {
            long = format!("(let ((a!{depth} (f a!{0} a!{0}))) {long})", depth + 1);
        }
        assert_eq!(read(&long), None);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "(", ")", "a b", "(a))", "|x"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("|a b|"), Some(Sexpr::Atom("a b".to_owned())));
        assert_eq!(value(&parse("(lambda (x) x)").expect("a list")), None);
    }
}
