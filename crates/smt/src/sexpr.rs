//! What external solvers print: symbolic expressions, read as values.

use crate::value::{ArrayValue, Value};

/// A symbolic expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sexpr {
    /// A symbol or numeral; bars of quoted symbols are taken off.
    Atom(String),
    /// A list.
    List(Vec<Sexpr>),
}

/// How deep a list may be nested.
const MAX_DEPTH: usize = 10_000;

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
        Sexpr::Atom(text) if text == "true" => Some(Value::Bool(true)),
        Sexpr::Atom(text) if text == "false" => Some(Value::Bool(false)),
        Sexpr::Atom(_) => int(expr).map(Value::Int),
        Sexpr::List(_) => match int(expr) {
            Some(value) => Some(Value::Int(value)),
            None => array(expr).map(Value::Array),
        },
    }
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
    fn nonsense_is_refused() {
        for text in ["", "(", ")", "a b", "(a))", "|x"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("|a b|"), Some(Sexpr::Atom("a b".to_owned())));
        assert_eq!(value(&parse("(lambda (x) x)").expect("a list")), None);
    }
}
