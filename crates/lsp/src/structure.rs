//! What a text consists of: symbols, tokens, what can be folded and selected.

use fairground::{Piece, PieceKind, Symbol, SymbolKind, scan};
use serde_json::{Value as Json, json};

use crate::document::{Document, is_here};

/// The kinds of tokens, as the protocol calls them; their positions are what is sent.
pub(crate) const TOKEN_TYPES: [&str; 13] = [
    "comment",
    "keyword",
    "number",
    "string",
    "variable",
    "parameter",
    "function",
    "type",
    "enumMember",
    "property",
    "event",
    "class",
    "method",
];

/// What the protocol calls a kind of symbol.
fn symbol_kind(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Constant | SymbolKind::Parameter => 14,
        SymbolKind::Type => 10,
        SymbolKind::Variant => 22,
        SymbolKind::Field => 8,
        SymbolKind::Variable | SymbolKind::Timer | SymbolKind::Bound => 13,
        SymbolKind::Definition => 12,
        SymbolKind::Channel => 11,
        SymbolKind::Event => 24,
        SymbolKind::Process => 5,
        SymbolKind::Location => 20,
        SymbolKind::Action => 6,
        SymbolKind::Property => 7,
        SymbolKind::System => 2,
    }
}

/// Which of [`TOKEN_TYPES`] a name is.
fn token_type(kind: SymbolKind) -> usize {
    let name = match kind {
        SymbolKind::Constant | SymbolKind::Variant | SymbolKind::Location => "enumMember",
        SymbolKind::Parameter | SymbolKind::Bound => "parameter",
        SymbolKind::Type => "type",
        SymbolKind::Field | SymbolKind::Property => "property",
        SymbolKind::Variable | SymbolKind::Timer | SymbolKind::Channel => "variable",
        SymbolKind::Definition => "function",
        SymbolKind::Event => "event",
        SymbolKind::Process | SymbolKind::System => "class",
        SymbolKind::Action => "method",
    };
    position_of(name)
}

fn position_of(name: &str) -> usize {
    TOKEN_TYPES
        .iter()
        .position(|known| *known == name)
        .unwrap_or(0)
}

/// The symbols as a tree.
pub(crate) fn symbols(document: &Document, _params: &Json) -> Json {
    json!(children(document, None))
}

fn children(document: &Document, owner: Option<usize>) -> Vec<Json> {
    let symbols = document.analysis.symbols.iter().enumerate();
    let own = symbols.filter(|(_, symbol)| {
        symbol.owner == owner && symbol.kind != SymbolKind::Bound && is_here(symbol.span)
    });
    own.map(|(position, symbol)| {
        // What is selected must be inside of the whole.
        let whole = symbol.extent.to(symbol.span);
        json!({
            "name": symbol.name,
            "detail": symbol.detail,
            "kind": symbol_kind(symbol.kind),
            "range": document.range(whole),
            "selectionRange": document.range(symbol.span),
            "children": children(document, Some(position)),
        })
    })
    .collect()
}

/// The symbols of a text whose names contain a word.
pub(crate) fn matching(document: &Document, query: &str) -> Vec<Json> {
    let fits = |symbol: &&Symbol| {
        symbol.kind != SymbolKind::Bound
            && is_here(symbol.span)
            && symbol.name.to_lowercase().contains(query)
    };
    let found = document.analysis.symbols.iter().filter(fits);
    found
        .map(|symbol| {
            json!({
                "name": symbol.name,
                "kind": symbol_kind(symbol.kind),
                "location": document.location(symbol.span),
            })
        })
        .collect()
}

/// All tokens with what they are, each relative to the one before.
pub(crate) fn semantic_tokens(document: &Document, _params: &Json) -> Json {
    let keywords = fairground::keywords(&document.path);
    let mut data: Vec<u64> = Vec::new();
    let mut last = (0, 0);
    for piece in scan(&document.text) {
        let word = piece.text(&document.text);
        let reference = document.analysis.reference_at(piece.start);
        // A name after that of an import, `net.x`, is one name with it.
        let reference = reference.filter(|reference| reference.span.end as usize == piece.end);
        let (kind, declares) = match (piece.kind, reference) {
            (PieceKind::Comment, _) => (position_of("comment"), false),
            (PieceKind::Number, _) => (position_of("number"), false),
            (PieceKind::Quoted, _) => (position_of("string"), false),
            (PieceKind::Symbol, _) => continue,
            (PieceKind::Word, Some(reference)) => {
                let symbol = &document.analysis.symbols[reference.symbol];
                (token_type(symbol.kind), symbol.span == reference.span)
            }
            (PieceKind::Word, None) if keywords.contains(&word) => (position_of("keyword"), false),
            (PieceKind::Word, None) => continue,
        };

        // A token of the protocol does not go beyond the end of its line.
        let mut start = piece.start;
        for line in word.split_inclusive('\n') {
            let length = line.trim_end().encode_utf16().count() as u64;
            let at = document.position(start);
            let number = |key: &str| at[key].as_u64().unwrap_or(0);
            let (line_number, column) = (number("line"), number("character"));
            start += line.len();
            if length == 0 {
                continue;
            }
            let (lines, columns) = if line_number == last.0 {
                (0, column - last.1)
            } else {
                (line_number - last.0, column)
            };
            data.extend([lines, columns, length, kind as u64, u64::from(declares)]);
            last = (line_number, column);
        }
    }
    json!({ "data": data })
}

/// Pairs of brackets, as positions of their first and last bytes.
fn brackets(text: &str, pieces: &[Piece]) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for piece in pieces
        .iter()
        .filter(|piece| piece.kind == PieceKind::Symbol)
    {
        match piece.text(text) {
            "{" | "(" | "[" => open.push(piece.start),
            "}" | ")" | "]" => pairs.extend(open.pop().map(|start| (start, piece.end))),
            _ => {}
        }
    }
    pairs
}

/// Blocks and comments of several lines.
pub(crate) fn folding(document: &Document, _params: &Json) -> Json {
    let pieces = scan(&document.text);
    let line = |offset: usize| document.position(offset)["line"].as_u64().unwrap_or(0);
    let mut ranges = Vec::new();
    for (start, end) in brackets(&document.text, &pieces) {
        let (first, last) = (line(start), line(end));
        if last > first {
            ranges.push(json!({ "startLine": first, "endLine": last - 1 }));
        }
    }

    let mut comment: Option<(u64, u64)> = None;
    for span in &document.analysis.comments {
        let (first, last) = (line(span.start as usize), line(span.end as usize));
        comment = match comment {
            Some((start, end)) if first == end + 1 => Some((start, last)),
            other => {
                ranges.extend(comment_fold(other));
                Some((first, last))
            }
        };
    }
    ranges.extend(comment_fold(comment));
    json!(ranges)
}

fn comment_fold(comment: Option<(u64, u64)>) -> Option<Json> {
    let (first, last) = comment.filter(|(first, last)| last > first)?;
    Some(json!({ "startLine": first, "endLine": last, "kind": "comment" }))
}

/// What contains each position: the word, brackets around it, the declaration, everything.
pub(crate) fn selections(document: &Document, params: &Json) -> Json {
    let pieces = scan(&document.text);
    let pairs = brackets(&document.text, &pieces);
    let positions = params["positions"].as_array().cloned().unwrap_or_default();
    let around = |position: &Json| {
        let offset = document.offset(position);
        let mut ranges: Vec<(usize, usize)> = vec![(0, document.text.len())];
        let pieces = pieces.iter().map(|piece| (piece.start, piece.end));
        let symbols = document.analysis.symbols.iter();
        let extents = symbols.map(|symbol| symbol.extent);
        let extents = extents.filter(|extent| is_here(*extent));
        let extents = extents.map(|span| (span.start as usize, span.end as usize));
        let all = pieces.chain(extents).chain(pairs.iter().copied());
        ranges.extend(all.filter(|(start, end)| (*start..=*end).contains(&offset)));

        // From the outermost to the innermost, each inside of the one before.
        ranges.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
        ranges.dedup();
        let mut selection = Json::Null;
        let mut outer = (0, document.text.len());
        for range in ranges {
            if range.0 < outer.0 || range.1 > outer.1 {
                continue;
            }
            let mut inner = json!({ "range": document.range_of(range.0, range.1) });
            if !selection.is_null() {
                inner["parent"] = selection;
            }
            selection = inner;
            outer = range;
        }
        selection
    };
    json!(positions.iter().map(around).collect::<Vec<_>>())
}
