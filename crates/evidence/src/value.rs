//! Readable values: those that models have, and those that other tools write into traces.

use std::fmt;

/// A readable value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The decimal digits of an integer that 64 bits do not hold. Models have none.
    BigInt(String),
    /// A value of an enumeration, or a location; any text in traces of other tools.
    Name(String),
    /// A message with several components.
    Tuple(Vec<Value>),
    /// A sequence, or the content of a channel with the oldest message first.
    List(Vec<Value>),
    /// A set.
    Set(Vec<Value>),
    /// A map, or a bag: how many there are of each element.
    Map(Vec<(Value, Value)>),
    /// A record inside of another value; elsewhere the components of records are shown one by one.
    Record(Vec<(String, Value)>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::BigInt(text) | Self::Name(text) => write!(f, "{text}"),
            Self::Tuple(items) => write!(f, "({})", list(items)),
            Self::List(items) => write!(f, "[{}]", list(items)),
            Self::Set(items) => write!(f, "{{{}}}", list(items)),
            Self::Map(pairs) => write!(f, "{{{}}}", entries(pairs)),
            Self::Record(fields) => write!(f, "{{{}}}", entries(fields)),
        }
    }
}

fn list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}

fn entries<K: fmt::Display>(pairs: &[(K, Value)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    pairs.join(", ")
}
