//! Values as ITF writes them in JSON.

use evidence::Value;
use serde_json::{Map, Value as Json, json};

/// The largest absolute value that every JSON reader keeps exactly.
const MAX_EXACT: i64 = 1 << 53;

/// The value as ITF writes it in JSON.
#[must_use]
pub fn value_to_json(value: &Value) -> Json {
    let all = |items: &[Value]| items.iter().map(value_to_json).collect::<Vec<_>>();
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) if (-MAX_EXACT..=MAX_EXACT).contains(value) => json!(value),
        Value::Int(value) => json!({ "#bigint": value.to_string() }),
        Value::BigInt(digits) => json!({ "#bigint": digits }),
        Value::Name(text) => json!(text),
        Value::List(items) => json!(all(items)),
        Value::Tuple(items) => json!({ "#tup": all(items) }),
        Value::Set(items) => json!({ "#set": all(items) }),
        Value::Map(pairs) => {
            let pair =
                |(key, value): &(Value, Value)| json!([value_to_json(key), value_to_json(value)]);
            json!({ "#map": pairs.iter().map(pair).collect::<Vec<_>>() })
        }
        Value::Record(fields) => {
            let field = |(name, value): &(String, Value)| (name.clone(), value_to_json(value));
            Json::Object(fields.iter().map(field).collect())
        }
    }
}

/// Reads a value. The JSON parser has limited the nesting.
pub(crate) fn from_json(json: &Json) -> Result<Value, String> {
    match json {
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::String(text) => Ok(Value::Name(text.clone())),
        Json::Array(items) => Ok(Value::List(read_all(items)?)),
        Json::Object(object) => from_object(object),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Ok(Value::Int(value)),
            None => Err(format!("the number {number} is not an integer of 64 bits")),
        },
        Json::Null => Err("`null` is not a value".to_owned()),
    }
}

fn from_object(object: &Map<String, Json>) -> Result<Value, String> {
    let special = object.iter().find(|(key, _)| key.starts_with('#'));
    let Some((key, content)) = special else {
        let read = |(name, value): (&String, &Json)| Ok((name.clone(), from_json(value)?));
        return Ok(Value::Record(
            object.iter().map(read).collect::<Result<_, String>>()?,
        ));
    };

    if object.len() != 1 {
        return Err(format!("an object with `{key}` has other keys as well"));
    }

    match (key.as_str(), content) {
        ("#bigint", Json::String(digits)) => read_bigint(digits),
        ("#tup", Json::Array(items)) => Ok(Value::Tuple(read_all(items)?)),
        ("#set", Json::Array(items)) => Ok(Value::Set(read_all(items)?)),
        ("#map", Json::Array(pairs)) => Ok(Value::Map(
            pairs.iter().map(read_pair).collect::<Result<_, _>>()?,
        )),
        ("#unserializable", Json::String(text)) => Ok(Value::Name(text.clone())),
        _ => Err(format!("`{key}` does not make a value here")),
    }
}

fn read_all(items: &[Json]) -> Result<Vec<Value>, String> {
    items.iter().map(from_json).collect()
}

fn read_pair(pair: &Json) -> Result<(Value, Value), String> {
    match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((from_json(key)?, from_json(value)?)),
        _ => Err("an entry of `#map` is not a pair".to_owned()),
    }
}

fn read_bigint(digits: &str) -> Result<Value, String> {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{digits}` is not an integer"));
    }
    Ok(match digits.parse() {
        Ok(value) => Value::Int(value),
        Err(_) => Value::BigInt(digits.to_owned()),
    })
}
