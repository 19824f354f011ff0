//! What a name means, where it is used, and the layout of a text.

use fairground::{Symbol, SymbolKind};
use serde_json::{Value as Json, json};

use crate::document::Document;

/// A symbol as its declaration would say it.
pub(crate) fn headline(symbol: &Symbol) -> String {
    let mut line = format!("{} {}", symbol.kind.name(), symbol.name);
    if !symbol.parameters.is_empty() {
        line.push_str(&format!("({})", symbol.parameters.join(", ")));
    }
    if symbol.detail.is_empty() {
        return line;
    }
    let separator = match symbol.kind {
        SymbolKind::Constant | SymbolKind::Definition => " = ",
        SymbolKind::Variable | SymbolKind::Field | SymbolKind::Property => " : ",
        _ => " ",
    };
    format!("{line}{separator}{}", symbol.detail)
}

pub(crate) fn hover(document: &Document, at: &Json) -> Json {
    let offset = document.offset(at);
    let Some(reference) = document.analysis.reference_at(offset) else {
        return Json::Null;
    };

    let symbol = &document.analysis.symbols[reference.symbol];
    let owner = symbol
        .owner
        .and_then(|owner| document.analysis.symbols.get(owner));

    let mut text = format!("```fair\n{}\n```", headline(symbol));
    if let Some(owner) = owner {
        text.push_str(&format!("\n\nof {} `{}`", owner.kind.name(), owner.name));
    }
    if !symbol.documentation.is_empty() {
        text.push_str(&format!("\n\n{}", symbol.documentation));
    }

    json!({
        "contents": { "kind": "markdown", "value": text },
        "range": document.range(reference.span),
    })
}

/// Where a name is declared: in several places if it is inside of a macro that is used in several.
pub(crate) fn definition(document: &Document, at: &Json) -> Json {
    let analysis = &document.analysis;
    let Some(reference) = analysis.reference_at(document.offset(at)) else {
        return Json::Null;
    };
    let meanings = analysis.meanings_at(reference.span);
    let mut places: Vec<Json> = meanings
        .map(|symbol| document.location(analysis.symbols[symbol].span))
        .collect();
    match places.len() {
        1 => places.remove(0),
        _ => json!(places),
    }
}

pub(crate) fn references(document: &Document, params: &Json) -> Json {
    let Some(symbol) = document.symbol_at(&params["position"]) else {
        return Json::Null;
    };
    let declared = document.analysis.symbols[symbol].span;
    let with_declaration = params["context"]["includeDeclaration"] != false;
    let uses = document.analysis.references_of(symbol);
    let uses = uses.filter(|span| with_declaration || *span != declared);
    json!(uses.map(|span| document.location(span)).collect::<Vec<_>>())
}

pub(crate) fn highlights(document: &Document, at: &Json) -> Json {
    let Some(symbol) = document.symbol_at(at) else {
        return Json::Null;
    };
    let uses = document.analysis.references_of(symbol);
    let uses = uses.map(|span| json!({ "range": document.range(span) }));
    json!(uses.collect::<Vec<_>>())
}

/// One change of the whole text; none if the layout is canonical, or cannot be made so.
pub(crate) fn formatting(document: &Document, _params: &Json) -> Json {
    match fairground::format(&document.path, &document.text) {
        Ok(Some(formatted)) if formatted != document.text => {
            let whole = document.range_of(0, document.text.len());
            json!([{ "range": whole, "newText": formatted }])
        }
        Ok(Some(_)) => json!([]),
        Ok(None) | Err(_) => Json::Null,
    }
}
