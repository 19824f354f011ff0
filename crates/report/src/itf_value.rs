//! Values of ITF traces: those that models have, and those that other tools write.

use std::fmt;

use evidence::Value;
use serde_json::{Map, Value as Json, json};

/// A value in an ITF trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ItfValue {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The decimal digits of an integer that 64 bits do not hold.
    BigInt(String),
    /// A string; also values of enumerations and locations.
    Str(String),
    /// A sequence; also the content of a channel.
    List(Vec<ItfValue>),
    /// A tuple; also a message with several components.
    Tuple(Vec<ItfValue>),
    /// A set. Models have none.
    Set(Vec<ItfValue>),
    /// A function given by pairs. Models have none.
    Map(Vec<(ItfValue, ItfValue)>),
    /// A record. Models have none: their records are several variables.
    Record(Vec<(String, ItfValue)>),
}

/// The largest absolute value that every JSON reader keeps exactly.
const MAX_EXACT: i64 = 1 << 53;

impl ItfValue {
    /// The value as JSON.
    #[must_use]
    pub(crate) fn to_json(&self) -> Json {
        let all = |items: &[Self]| items.iter().map(Self::to_json).collect::<Vec<_>>();
        match self {
            Self::Bool(value) => json!(value),
            Self::Int(value) if (-MAX_EXACT..=MAX_EXACT).contains(value) => json!(value),
            Self::Int(value) => json!({ "#bigint": value.to_string() }),
            Self::BigInt(digits) => json!({ "#bigint": digits }),
            Self::Str(text) => json!(text),
            Self::List(items) => json!(all(items)),
            Self::Tuple(items) => json!({ "#tup": all(items) }),
            Self::Set(items) => json!({ "#set": all(items) }),
            Self::Map(pairs) => {
                let pair = |(key, value): &(Self, Self)| json!([key.to_json(), value.to_json()]);
                json!({ "#map": pairs.iter().map(pair).collect::<Vec<_>>() })
            }
            Self::Record(fields) => {
                let field = |(name, value): &(String, Self)| (name.clone(), value.to_json());
                Json::Object(fields.iter().map(field).collect())
            }
        }
    }

    /// Reads a value. The JSON parser has limited the nesting.
    pub(crate) fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Bool(value) => Ok(Self::Bool(*value)),
            Json::String(text) => Ok(Self::Str(text.clone())),
            Json::Array(items) => Ok(Self::List(read_all(items)?)),
            Json::Object(object) => Self::from_object(object),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Ok(Self::Int(value)),
                None => Err(format!("the number {number} is not an integer of 64 bits")),
            },
            Json::Null => Err("`null` is not a value".to_owned()),
        }
    }

    fn from_object(object: &Map<String, Json>) -> Result<Self, String> {
        let special = object.iter().find(|(key, _)| key.starts_with('#'));
        let Some((key, content)) = special else {
            let read =
                |(name, value): (&String, &Json)| Ok((name.clone(), Self::from_json(value)?));
            return Ok(Self::Record(
                object.iter().map(read).collect::<Result<_, String>>()?,
            ));
        };
        if object.len() != 1 {
            return Err(format!("an object with `{key}` has other keys as well"));
        }
        match (key.as_str(), content) {
            ("#bigint", Json::String(digits)) => read_bigint(digits),
            ("#tup", Json::Array(items)) => Ok(Self::Tuple(read_all(items)?)),
            ("#set", Json::Array(items)) => Ok(Self::Set(read_all(items)?)),
            ("#map", Json::Array(pairs)) => Ok(Self::Map(
                pairs.iter().map(read_pair).collect::<Result<_, _>>()?,
            )),
            ("#unserializable", Json::String(text)) => Ok(Self::Str(text.clone())),
            _ => Err(format!("`{key}` does not make a value here")),
        }
    }

    /// The value as the models of this tool have it, if they can.
    #[must_use]
    pub(crate) fn to_value(&self) -> Option<Value> {
        let all = |items: &[Self]| items.iter().map(Self::to_value).collect::<Option<Vec<_>>>();
        match self {
            Self::Bool(value) => Some(Value::Bool(*value)),
            Self::Int(value) => Some(Value::Int(*value)),
            Self::Str(name) => Some(Value::Name(name.clone())),
            Self::List(items) => all(items).map(Value::List),
            Self::Tuple(items) => all(items).map(Value::Tuple),
            Self::BigInt(_) | Self::Set(_) | Self::Map(_) | Self::Record(_) => None,
        }
    }
}

fn read_all(items: &[Json]) -> Result<Vec<ItfValue>, String> {
    items.iter().map(ItfValue::from_json).collect()
}

fn read_pair(pair: &Json) -> Result<(ItfValue, ItfValue), String> {
    match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((ItfValue::from_json(key)?, ItfValue::from_json(value)?)),
        _ => Err("an entry of `#map` is not a pair".to_owned()),
    }
}

fn read_bigint(digits: &str) -> Result<ItfValue, String> {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{digits}` is not an integer"));
    }
    Ok(match digits.parse() {
        Ok(value) => ItfValue::Int(value),
        Err(_) => ItfValue::BigInt(digits.to_owned()),
    })
}

impl From<Value> for ItfValue {
    fn from(value: Value) -> Self {
        let all = |items: Vec<Value>| items.into_iter().map(Self::from).collect();
        match value {
            Value::Bool(value) => Self::Bool(value),
            Value::Int(value) => Self::Int(value),
            Value::Name(name) => Self::Str(name),
            Value::Tuple(items) => Self::Tuple(all(items)),
            Value::List(items) => Self::List(all(items)),
        }
    }
}

impl fmt::Display for ItfValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: &[Self]| {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            items.join(", ")
        };
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::BigInt(text) | Self::Str(text) => write!(f, "{text}"),
            Self::List(items) => write!(f, "[{}]", list(items)),
            Self::Tuple(items) => write!(f, "({})", list(items)),
            Self::Set(items) => write!(f, "{{{}}}", list(items)),
            Self::Map(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                write!(f, "{{{}}}", pairs.join(", "))
            }
            Self::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
        }
    }
}
