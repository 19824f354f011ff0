//! What can be written at a position.

use fairground::{FairnessKind, Piece, PieceKind, Symbol, SymbolKind, scan};
use serde_json::{Value as Json, json};

use crate::answers::headline;
use crate::document::{Document, is_here};

/// The names that fit at a position, by what stands before it.
pub(crate) fn complete(document: &Document, at: &Json) -> Json {
    let offset = document.offset(at);
    let pieces = scan(&document.text);
    let is_before = |piece: &&Piece| piece.end < offset || is_symbol(piece) && piece.end <= offset;
    let code = pieces
        .iter()
        .filter(|piece| piece.kind != PieceKind::Comment);
    let before: Vec<&str> = code
        .filter(is_before)
        .map(|piece| piece.text(&document.text))
        .collect();
    let ends_with = |words: &[&str]| before.ends_with(words);

    let symbols = &document.analysis.symbols;
    let process = enclosing_process(document, offset);
    // In Promela and CSP# an arrow stands between steps.
    let leads_to_location = if document.is_native() {
        ends_with(&["-", ">"])
    } else {
        ends_with(&["goto"])
    };
    let items: Vec<Json> = if ends_with(&["@"]) || leads_to_location && process.is_some() {
        let named = named_process(document, &before).or(process);
        let is_here =
            |s: &&Symbol| s.kind == SymbolKind::Location && (named.is_none() || s.owner == named);
        symbols.iter().filter(is_here).map(item).collect()
    } else if ends_with(&["."]) {
        let named = named_process(document, &before);
        let is_member = |s: &&Symbol| match named {
            Some(_) => s.owner == named && s.kind != SymbolKind::Location,
            None => matches!(s.kind, SymbolKind::Field | SymbolKind::Variant),
        };
        symbols.iter().filter(is_member).map(item).collect()
    } else if ends_with(&["under"]) || ends_with(&["fairness"]) {
        let notions = FairnessKind::ALL.iter();
        notions
            .map(|kind| json!({ "label": kind.name(), "kind": 20 }))
            .collect()
    } else {
        let is_visible = |s: &&Symbol| {
            let is_global = s
                .owner
                .is_none_or(|owner| symbols[owner].kind == SymbolKind::Type);
            let is_own = s.owner.is_some() && s.owner == process;
            (is_global || is_own) && !matches!(s.kind, SymbolKind::Location | SymbolKind::Field)
        };
        let names = symbols.iter().filter(is_visible).map(item);
        let keywords = fairground::keywords(&document.path).iter();
        let keywords = keywords.map(|word| json!({ "label": word, "kind": 14 }));
        names.chain(keywords).collect()
    };
    json!({ "isIncomplete": false, "items": items })
}

fn is_symbol(piece: &Piece) -> bool {
    piece.kind == PieceKind::Symbol
}

fn item(symbol: &Symbol) -> Json {
    let kind = match symbol.kind {
        SymbolKind::Constant | SymbolKind::Parameter => 21,
        SymbolKind::Type => 22,
        SymbolKind::Variant | SymbolKind::Location => 20,
        SymbolKind::Field => 5,
        SymbolKind::Variable | SymbolKind::Timer | SymbolKind::Bound | SymbolKind::Channel => 6,
        SymbolKind::Definition => 3,
        SymbolKind::Event => 23,
        SymbolKind::Process | SymbolKind::System => 7,
        SymbolKind::Action => 2,
        SymbolKind::Property => 10,
    };
    json!({
        "label": symbol.name,
        "kind": kind,
        "detail": headline(symbol),
        "documentation": symbol.documentation,
    })
}

/// The process whose text contains an offset.
fn enclosing_process(document: &Document, offset: usize) -> Option<usize> {
    let contains = |symbol: &Symbol| {
        let extent = symbol.extent;
        symbol.kind == SymbolKind::Process
            && is_here(extent)
            && (extent.start as usize..=extent.end as usize).contains(&offset)
    };
    document.analysis.symbols.iter().position(contains)
}

/// The process that the words before `@` or `.` name: `P`, or `P[…]`.
fn named_process(document: &Document, before: &[&str]) -> Option<usize> {
    let mut at = before.len().checked_sub(2)?;
    if before[at] == "]" {
        let mut depth = 0_usize;
        loop {
            match before[at] {
                "]" => depth += 1,
                "[" => depth -= 1,
                _ => {}
            }
            at = at.checked_sub(1)?;
            if depth == 0 {
                break;
            }
        }
    }
    let is_it = |s: &Symbol| s.kind == SymbolKind::Process && s.name == before[at];
    document.analysis.symbols.iter().position(is_it)
}

/// What the definition or event takes whose arguments are being written.
pub(crate) fn signature(document: &Document, at: &Json) -> Json {
    let offset = document.offset(at);
    let pieces = scan(&document.text);
    let code: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| piece.kind != PieceKind::Comment && piece.end <= offset)
        .collect();

    // Backwards from the cursor to the parenthesis that is still open.
    let (mut depth, mut n_commas) = (0_usize, 0);
    for (n, piece) in code.iter().enumerate().rev() {
        match piece.text(&document.text) {
            ")" | "]" | "}" => depth += 1,
            "{" => return Json::Null,
            "(" | "[" if depth > 0 => depth -= 1,
            "," if depth == 0 => n_commas += 1,
            "(" => {
                let function = n.checked_sub(1).map(|n| code[n]);
                return function.map_or(Json::Null, |name| described(document, name, n_commas));
            }
            _ => {}
        }
    }

    Json::Null
}

fn described(document: &Document, name: &Piece, n_commas: usize) -> Json {
    let word = name.text(&document.text);
    let symbols = document.analysis.symbols.iter();
    // The call is being written, so the text may not be understood: the name has to do.
    let mut named = symbols.filter(|s| s.name == word && !s.parameters.is_empty());
    let Some(symbol) = named.next() else {
        return Json::Null;
    };
    let parameters = symbol.parameters.iter().map(|p| json!({ "label": p }));
    json!({
        "signatures": [{
            "label": format!("{}({})", symbol.name, symbol.parameters.join(", ")),
            "documentation": symbol.documentation,
            "parameters": parameters.collect::<Vec<_>>(),
        }],
        "activeSignature": 0,
        "activeParameter": n_commas.min(symbol.parameters.len() - 1),
    })
}
