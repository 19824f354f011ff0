//! Renaming, which never changes what a text means.

use fairground::{PieceKind, Severity, SymbolKind, scan};
use serde_json::{Value as Json, json};

use crate::document::{Document, analyse, is_here};
use crate::{Answer, Refusal};

pub(crate) fn prepare(document: &Document, at: &Json) -> Answer {
    let symbol = renamable(document, at)?;
    let offset = document.offset(at);
    let reference = document.analysis.reference_at(offset);
    let span = reference.map_or(document.analysis.symbols[symbol].span, |r| r.span);
    Ok(json!({ "range": document.range(span), "placeholder": document.slice(span) }))
}

/// Which symbol is to be renamed, if all its uses are known.
fn renamable(document: &Document, at: &Json) -> Result<usize, Refusal> {
    let refuse = |why: &str| Refusal(why.to_owned());
    let analysis = &document.analysis;
    if analysis
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error)
    {
        return Err(refuse(
            "correct the errors of the text first, so that all uses are known",
        ));
    }
    let symbol = document.symbol_at(at);
    let symbol = symbol.ok_or_else(|| refuse("there is no name here that the text declares"))?;
    if !is_here(analysis.symbols[symbol].span) {
        return Err(refuse("the name is declared in a file that is imported"));
    }

    let line_of = |offset: usize| document.position(offset)["line"].as_u64().unwrap_or(0) + 1;
    let several = |span: &fairground::Span| analysis.meanings_at(*span).count() > 1;
    if let Some(span) = analysis.references_of(symbol).find(several) {
        let why = format!(
            "the name in line {} means several things, because the macro around it is used in several places",
            line_of(span.start as usize)
        );
        return Err(Refusal(why));
    }

    // A definition with parameters that is not used is not looked into, for example.
    let name = &analysis.symbols[symbol].name;
    for piece in scan(&document.text) {
        let is_known = analysis.references.iter().any(|r| r.span == piece.span());
        if piece.kind == PieceKind::Word && piece.text(&document.text) == name && !is_known {
            let line = line_of(piece.start);
            let why = format!(
                "what `{name}` means in line {line} is not known, for example because nothing uses the definition there"
            );
            return Err(Refusal(why));
        }
    }
    Ok(symbol)
}

/// Renames all uses, unless the text would mean something else.
pub(crate) fn rename(document: &Document, params: &Json) -> Answer {
    let symbol = renamable(document, &params["position"])?;
    let name = params["newName"].as_str().unwrap_or("");
    let uses: Vec<_> = document.analysis.references_of(symbol).collect();

    let mut renamed = document.text.clone();
    for span in uses.iter().rev() {
        renamed.replace_range(span.start as usize..span.end as usize, name);
    }
    let after = analyse(&document.texts(), &document.path, &renamed);
    let meanings = |analysis: &fairground::Analysis| -> Vec<usize> {
        analysis.references.iter().map(|r| r.symbol).collect()
    };
    // In Promela, labels that begin with `end`, `accept` or `progress` mean more than others.
    let role = |analysis: &fairground::Analysis| {
        let symbol = &analysis.symbols[symbol];
        (symbol.kind == SymbolKind::Location).then(|| symbol.detail.clone())
    };
    let is_same = meanings(&after) == meanings(&document.analysis)
        && after.symbols.len() == document.analysis.symbols.len()
        && after.symbols[symbol].name == name
        && role(&after) == role(&document.analysis)
        && !after
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error);
    if !is_same {
        let why = format!("`{name}` cannot be the name: it is not free here, or not a name");
        return Err(Refusal(why));
    }

    let edits = uses
        .iter()
        .map(|span| json!({ "range": document.range(*span), "newText": name }));
    let edits: Vec<Json> = edits.collect();
    let mut changes = serde_json::Map::new();
    changes.insert(document.uri.clone(), json!(edits));
    Ok(json!({ "changes": changes }))
}
