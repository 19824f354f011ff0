//! Renaming, which never changes what a text means.

use std::path::Path;

use fairground::{PieceKind, Severity, Span, SymbolKind, scan};
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

/// Renames all uses, unless the text would mean something else; also those in open texts that import
/// this one.
pub(crate) fn rename(document: &Document, importers: &[&Document], params: &Json) -> Answer {
    let symbol = renamable(document, &params["position"])?;
    let name = params["newName"].as_str().unwrap_or("");
    let uses: Vec<_> = document.analysis.references_of(symbol).collect();

    let mut renamed = document.text.clone();
    for span in uses.iter().rev() {
        renamed.replace_range(span.start as usize..span.end as usize, name);
    }
    let after = analyse(&document.texts(), &document.path, &renamed);
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
    let declared = document.analysis.symbols[symbol].span;
    for importer in importers {
        let edits = rename_in_importer(importer, (document, declared), &renamed, name)?;
        changes.insert(importer.uri.clone(), json!(edits));
    }
    Ok(json!({ "changes": changes }))
}

/// The changes of a text that imports the one in which a name is declared there.
fn rename_in_importer(
    importer: &Document,
    (document, declared): (&Document, Span),
    renamed: &str,
    name: &str,
) -> Result<Vec<Json>, Refusal> {
    // A file that is imported under several names declares each of its names as often.
    let analysis = &importer.analysis;
    let is_meant = |symbol: &fairground::Symbol| {
        let source = analysis.sources.get(symbol.span.source.index());
        let is_there = source.is_some_and(|source| Path::new(&source.name) == document.path);
        let at = |span: Span| (span.start, span.end);
        is_there && !is_here(symbol.span) && at(symbol.span) == at(declared)
    };
    let is_use = |reference: &&fairground::Reference| {
        is_here(reference.span) && is_meant(&analysis.symbols[reference.symbol])
    };
    let mut uses: Vec<Span> = analysis
        .references
        .iter()
        .filter(is_use)
        .map(|r| r.span)
        .collect();
    uses.sort_unstable_by_key(|span| span.start);
    uses.dedup();
    // What stands before the name, as in `net.x`, stays.
    for span in &mut uses {
        let before = importer.slice(*span).rfind('.').map_or(0, |dot| dot + 1);
        span.start += before as u32;
    }

    let mut text = importer.text.clone();
    for span in uses.iter().rev() {
        text.replace_range(span.start as usize..span.end as usize, name);
    }
    let mut texts = importer.texts();
    texts.insert(document.path.clone(), renamed.to_owned());
    let after = analyse(&texts, &importer.path, &text);
    let has_errors = |analysis: &fairground::Analysis| {
        let mut said = analysis.diagnostics.iter();
        said.any(|d| d.severity == Severity::Error)
    };
    if has_errors(analysis) || has_errors(&after) || meanings(&after) != meanings(analysis) {
        let why = format!(
            "`{name}` cannot be the name: `{}`, which imports this file, would mean something else",
            importer.path.display()
        );
        return Err(Refusal(why));
    }
    let edit = |span: &Span| json!({ "range": importer.range(*span), "newText": name });
    Ok(uses.iter().map(edit).collect())
}

/// Which names mean which symbols, in order.
fn meanings(analysis: &fairground::Analysis) -> Vec<usize> {
    analysis.references.iter().map(|r| r.symbol).collect()
}
