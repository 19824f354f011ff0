//! Verdicts in the text: lenses over properties, hints beside them, changes that make them hold.

use std::sync::Arc;

use fairground::{Source, Verdict};
use serde_json::{Value as Json, json};

use crate::checks::{Checks, Under};
use crate::document::Document;
use crate::{Answer, Refusal};

const CHECK: &str = "fairground.check";
const CHECK_NOTIONS: &str = "fairground.checkNotions";
const SHOW: &str = "fairground.explain";

/// What an editor can ask for: each takes the address of a text and the name of a property.
pub(crate) const COMMANDS: [&str; 3] = [CHECK, CHECK_NOTIONS, SHOW];

/// What can be done with each property.
pub(crate) fn lenses(document: &Document, checks: &Checks) -> Json {
    let mut lenses = Vec::new();
    for property in document.properties() {
        let name = document.full_name(property);
        let mut add = |title: String, command: &str| {
            lenses.push(json!({
                "range": document.range(property.span),
                "command": { "title": title, "command": command, "arguments": [document.uri, name] },
            }));
        };
        add("check".to_owned(), CHECK);
        add("check under all notions".to_owned(), CHECK_NOTIONS);
        if let Some(found) = checks.found(&document.uri, &name) {
            add(format!("{}: explain", found.verdict.name()), SHOW);
        }
    }
    json!(lenses)
}

/// The verdicts that are known.
pub(crate) fn hints(document: &Document, checks: &Checks) -> Json {
    let mut hints = Vec::new();
    for property in document.properties() {
        if let Some(found) = checks.found(&document.uri, &document.full_name(property)) {
            hints.push(json!({
                "position": document.position(property.span.end as usize),
                "label": format!("{} ({})", found.verdict.name(), found.fairness),
                "paddingLeft": true,
                "tooltip": found.text,
            }));
        }
    }
    json!(hints)
}

/// Runs a command. A search is started and answered later; an explanation is answered at once.
pub(crate) fn execute(document: &Arc<Document>, checks: &mut Checks, params: &Json) -> Answer {
    let property = params["arguments"][1].as_str().unwrap_or("");
    let mut names = document.properties().map(|p| document.full_name(p));
    if !names.any(|name| name == property) {
        return Err(Refusal(format!("there is no property `{property}`")));
    }
    match params["command"].as_str() {
        Some(CHECK) => checks.start(document, property, Under::Default),
        Some(CHECK_NOTIONS) => checks.start(document, property, Under::AllNotions),
        Some(SHOW) => {
            let found = checks.found(&document.uri, property);
            let found =
                found.ok_or_else(|| Refusal(format!("`{property}` has not been checked")))?;
            return Ok(json!(found.text));
        }
        _ => return Err(Refusal("there is no such command".to_owned())),
    }
    Ok(Json::Null)
}

/// Changes for what is wrong in a range: what diagnostics suggest, and fairness that suffices.
pub(crate) fn actions(document: &Document, checks: &Checks, params: &Json) -> Json {
    let start = document.offset(&params["range"]["start"]);
    let end = document.offset(&params["range"]["end"]);
    let touches = |from: u32, to: u32| from as usize <= end && to as usize >= start;
    let mut actions = Vec::new();

    let source = Source {
        name: String::new(),
        text: document.text.clone(),
    };
    for diagnostic in &document.analysis.diagnostics {
        for fix in fairground::fixes(diagnostic, std::slice::from_ref(&source)) {
            if touches(fix.span.start, fix.span.end) {
                let edit = edit(document, document.range(fix.span), &fix.text);
                actions.push(json!({ "title": fix.title, "kind": "quickfix", "edit": edit }));
            }
        }
    }

    for property in document.properties() {
        let found = checks.found(&document.uri, &document.full_name(property));
        let Some(found) = found.filter(|found| found.verdict == Verdict::Violated) else {
            continue;
        };
        // Only a property that names no fairness can be given one by adding it.
        let rest = &document.text[property.span.end as usize..];
        let is_free = rest.trim_start().starts_with(':') && property.owner.is_none();
        if !touches(property.span.start, property.span.end) || !is_free {
            continue;
        }
        for notion in &found.holds_under {
            let at = property.span.end as usize;
            let edit = edit(
                document,
                document.range_of(at, at),
                &format!(" under {notion}"),
            );
            let title = format!(
                "ask for fairness `{notion}`, under which `{}` holds",
                property.name
            );
            actions.push(json!({ "title": title, "kind": "quickfix", "edit": edit }));
        }
    }
    json!(actions)
}

fn edit(document: &Document, range: Json, text: &str) -> Json {
    let mut changes = serde_json::Map::new();
    changes.insert(
        document.uri.clone(),
        json!([{ "range": range, "newText": text }]),
    );
    json!({ "changes": changes })
}
