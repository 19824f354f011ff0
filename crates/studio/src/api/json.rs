//! Plain data of the library as JSON.

use fairground::report::{Position, value_to_json};
use fairground::{Change, Communication, DrawnPicture, DrawnShape, StepDetails, Truth, Value};
use serde_json::{Value as Json, json};

pub(super) fn values(values: &[Value]) -> Json {
    values.iter().map(value_to_json).collect()
}

pub(super) fn position(position: &Position) -> Json {
    json!({ "file": position.file, "line": position.line, "column": position.column })
}

pub(super) fn positions(places: &[Position]) -> Json {
    places.iter().map(position).collect()
}

pub(super) fn communication(communication: Option<&Communication>) -> Json {
    communication.map_or(Json::Null, |sent| {
        json!({
            "channel": sent.channel,
            "message": sent.message,
            "from": sent.from,
            "to": sent.to,
        })
    })
}

pub(super) fn changes(changes: &[Change]) -> Json {
    let change = |change: &Change| json!([change.name, value_to_json(&change.value)]);
    changes.iter().map(change).collect()
}

pub(super) fn step(step: &StepDetails) -> Json {
    json!({
        "actions": step.actions,
        "movers": step.movers,
        "communication": communication(step.communication.as_ref()),
        "changes": changes(&step.changes),
        "places": positions(&step.places),
    })
}

/// Rows of truth values; one character for each position: `t`, `f`, or `?` where it is not decided.
pub(super) fn truths(truths: &[Truth]) -> Json {
    let sign = |truth: &Option<bool>| match truth {
        Some(true) => 't',
        Some(false) => 'f',
        None => '?',
    };
    let row = |row: &Truth| {
        json!({
            "text": row.text,
            "depth": row.depth,
            "temporal": row.is_temporal,
            "at": row.at.iter().map(sign).collect::<String>(),
        })
    };
    truths.iter().map(row).collect()
}

pub(super) fn picture(picture: &DrawnPicture) -> Json {
    let shape = |shape: &DrawnShape| {
        json!({
            "kind": shape.kind,
            "numbers": shape.numbers,
            "colour": shape.colour,
            "text": shape.text,
        })
    };
    json!({
        "width": picture.width,
        "height": picture.height,
        "shapes": picture.shapes.iter().map(shape).collect::<Vec<_>>(),
        "error": picture.error,
    })
}
