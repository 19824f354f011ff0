//! The words of a stand-alone formula.

use std::borrow::Cow;
use std::ops::Range;

use base::{Diagnostic, SourceId, Span};

/// Reports beyond this many are more confusing than helpful.
pub(crate) const MAX_ERRORS: usize = 10;

/// What a word means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// A name, without its quotes.
    Atom(String),
    True,
    False,
    Not,
    Next,
    Always,
    Eventually,
    Previously,
    Once,
    Historically,
    Binary(Binary),
    Open,
    Close,
    /// After the last word.
    End,
}

/// Infix operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Iff,
    Implies,
    LeadsTo,
    Or,
    And,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Since,
}

/// Symbols, longer ones before their prefixes.
const SYMBOLS: [(&str, Token); 32] = [
    ("<->", Token::Binary(Binary::Iff)),
    ("<=>", Token::Binary(Binary::Iff)),
    ("->", Token::Binary(Binary::Implies)),
    ("=>", Token::Binary(Binary::Implies)),
    ("~>", Token::Binary(Binary::LeadsTo)),
    ("&&", Token::Binary(Binary::And)),
    ("/\\", Token::Binary(Binary::And)),
    ("||", Token::Binary(Binary::Or)),
    ("\\/", Token::Binary(Binary::Or)),
    ("[]", Token::Always),
    ("<>", Token::Eventually),
    ("&", Token::Binary(Binary::And)),
    ("|", Token::Binary(Binary::Or)),
    ("!", Token::Not),
    ("~", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
    ("¬", Token::Not),
    ("∧", Token::Binary(Binary::And)),
    ("∨", Token::Binary(Binary::Or)),
    ("→", Token::Binary(Binary::Implies)),
    ("⇒", Token::Binary(Binary::Implies)),
    ("↔", Token::Binary(Binary::Iff)),
    ("⇔", Token::Binary(Binary::Iff)),
    ("□", Token::Always),
    ("◻", Token::Always),
    ("◇", Token::Eventually),
    ("◊", Token::Eventually),
    ("○", Token::Next),
    ("◯", Token::Next),
    ("⊤", Token::True),
    ("⊥", Token::False),
];

/// Names that are not atoms.
pub(crate) const WORDS: [(&str, Token); 29] = [
    ("true", Token::True),
    ("TRUE", Token::True),
    ("false", Token::False),
    ("FALSE", Token::False),
    ("not", Token::Not),
    ("and", Token::Binary(Binary::And)),
    ("or", Token::Binary(Binary::Or)),
    ("implies", Token::Binary(Binary::Implies)),
    ("iff", Token::Binary(Binary::Iff)),
    ("X", Token::Next),
    ("next", Token::Next),
    ("G", Token::Always),
    ("always", Token::Always),
    ("F", Token::Eventually),
    ("eventually", Token::Eventually),
    ("U", Token::Binary(Binary::Until)),
    ("until", Token::Binary(Binary::Until)),
    ("W", Token::Binary(Binary::WeakUntil)),
    ("weakuntil", Token::Binary(Binary::WeakUntil)),
    ("R", Token::Binary(Binary::Release)),
    ("V", Token::Binary(Binary::Release)),
    ("release", Token::Binary(Binary::Release)),
    ("M", Token::Binary(Binary::StrongRelease)),
    ("strongrelease", Token::Binary(Binary::StrongRelease)),
    ("leadsto", Token::Binary(Binary::LeadsTo)),
    ("previously", Token::Previously),
    ("once", Token::Once),
    ("historically", Token::Historically),
    ("since", Token::Binary(Binary::Since)),
];

/// The words of the text with their positions. The last one is `End`, and it occurs only there.
pub(crate) fn tokens(
    text: &str,
    source: SourceId,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut start = 0;

    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        if first.is_whitespace() {
            start += first.len_utf8();
        } else if first == '"' {
            let length = string_length(rest);
            let range = start..start + length;
            tokens.push((
                string(&text[range.clone()], source, &range, diagnostics),
                range,
            ));
            start += length;
        } else if let Some(length) = name_length(rest) {
            push_name(&mut tokens, &rest[..length], start);
            diagnostics.extend(joined_warning(&rest[..length], start, source));
            start += length;
        } else if let Some((symbol, token)) = SYMBOLS.iter().find(|(s, _)| rest.starts_with(s)) {
            tokens.push((token.clone(), start..start + symbol.len()));
            start += symbol.len();
        } else {
            let length = bad_length(rest);
            if diagnostics.len() < MAX_ERRORS {
                let span = Span::new(source, start, start + length);
                diagnostics.push(bad(&rest[..length], span));
            }
            start += length;
        }
    }

    tokens.push((Token::End, text.len()..text.len()));
    tokens
}

/// The name as it must be written in a formula: in quotes, unless it is a plain name.
///
/// ```
/// assert_eq!(logic::atom_text("P[1].enter"), "P[1].enter");
/// assert_eq!(logic::atom_text("x > 3"), "\"x > 3\"");
/// assert_eq!(logic::atom_text("until"), "\"until\"");
/// ```
#[must_use]
pub fn atom_text(name: &str) -> Cow<'_, str> {
    let mut words = Vec::new();
    if name_length(name) == Some(name.len()) {
        push_name(&mut words, name, 0);
    }
    if matches!(words[..], [(Token::Atom(_), _)]) {
        return Cow::Borrowed(name);
    }
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    Cow::Owned(format!("\"{escaped}\""))
}

/// A word, an atom, or several unary operators written together as in `GF` and `GFp`.
fn push_name(tokens: &mut Vec<(Token, Range<usize>)>, name: &str, start: usize) {
    if let Some((_, token)) = WORDS.iter().find(|(word, _)| *word == name) {
        tokens.push((token.clone(), start..start + name.len()));
        return;
    }

    let n_operators = n_joined_operators(name);
    for offset in 0..n_operators {
        push_name(tokens, &name[offset..=offset], start + offset);
    }
    let atom = &name[n_operators..];
    if !atom.is_empty() {
        let range = start + n_operators..start + name.len();
        tokens.push((Token::Atom(atom.to_owned()), range));
    }
}

/// How many letters of the name are operators. Other tools read `GFp` as `GF p`; a single capital
/// before a name is a part of it.
fn n_joined_operators(name: &str) -> usize {
    let n_capitals = name
        .bytes()
        .take_while(|byte| b"GFX".contains(byte))
        .count();
    let rest = &name[n_capitals..];
    let is_joined = rest.is_empty() || rest.starts_with(|c: char| c.is_lowercase());
    if n_capitals >= 2 && is_joined {
        n_capitals
    } else {
        0
    }
}

/// Warns that `GFp` is read as `GF p`: it could be a name.
fn joined_warning(name: &str, start: usize, source: SourceId) -> Option<Diagnostic> {
    let (operators, rest) = name.split_at(n_joined_operators(name));
    if operators.is_empty() || rest.is_empty() {
        return None;
    }
    let span = Span::new(source, start, start + name.len());
    let message = format!("`{name}` is read as `{operators} {rest}`");
    let warning = Diagnostic::warning("joined-name", span, message);
    Some(warning.help(format!("if it is a name, write `\"{name}\"`")))
}

/// The length of the name that the text begins with: letters, digits and `_`, not beginning with a
/// digit; then any number of `.part`, `@part` and `[index]`.
fn name_length(text: &str) -> Option<usize> {
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let mut length = part_length(text);
    loop {
        let rest = &text[length..];
        let more = match rest.chars().next() {
            Some('.' | '@') => Some(part_length(&rest[1..]))
                .filter(|&n| n > 0)
                .map(|n| n + 1),
            Some('[') => index_length(rest),
            _ => None,
        };
        match more {
            Some(more) => length += more,
            None => return Some(length),
        }
    }
}

fn part_length(text: &str) -> usize {
    let end = |c: char| !(c.is_alphanumeric() || c == '_');
    text.find(end).unwrap_or(text.len())
}

/// The length of `[index]`; an empty one is the operator `[]`.
fn index_length(text: &str) -> Option<usize> {
    let plain = |c: char| c.is_alphanumeric() || "_,.+-*/% ".contains(c);
    let length = text[1..].find(|c| !plain(c))?;
    let (index, rest) = text[1..].split_at(length);
    let is_index = !index.trim().is_empty() && rest.starts_with(']');
    is_index.then_some(length + 2)
}

/// The length of the quoted text, to the end of the line if the closing quote is missing.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (offset, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return offset,
            '"' if !escaped => return offset + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The atom whose quoted name is given.
fn string(
    quoted: &str,
    source: SourceId,
    range: &Range<usize>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Token {
    let span = Span::new(source, range.start, range.end);
    let (mut name, mut closed) = (String::new(), false);

    let mut chars = quoted.chars().skip(1);
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.extend(chars.next()),
            '"' => closed = true,
            _ => name.push(c),
        }
    }

    if !closed {
        let missing = Diagnostic::error("unterminated-string", span, "the closing `\"` is missing");
        diagnostics.push(missing.help("a quoted name ends on the line where it begins"));
    } else if name.trim().is_empty() {
        diagnostics.push(Diagnostic::error(
            "empty-name",
            span,
            "a name must not be empty",
        ));
    }

    Token::Atom(name)
}

/// How many bytes to report together: up to white space or something that begins a word.
fn bad_length(text: &str) -> usize {
    let mut indices = text.char_indices().map(|(offset, _)| offset).skip(1);
    indices
        .find(|&offset| {
            let rest = &text[offset..];
            rest.starts_with(|c: char| c.is_whitespace() || c == '"')
                || name_length(rest).is_some()
                || SYMBOLS.iter().any(|(symbol, _)| rest.starts_with(symbol))
        })
        .unwrap_or(text.len())
}

fn bad(text: &str, span: Span) -> Diagnostic {
    let first = text.chars().next().unwrap_or(' ');
    let shown: String = text.chars().take(20).collect();
    let message = format!("`{}` cannot stand in a formula", shown.escape_debug());
    let error = Diagnostic::error("bad-character", span, message);
    match first {
        '=' | '<' | '>' | '+' | '-' | '*' | '/' | '0'..='9' => {
            error.help("a proposition that is not a plain name is written in quotes: `\"x == 1\"`")
        }
        '\'' => error.help("names are quoted with `\"`"),
        '^' => error.help("for exclusive or write `!(a <-> b)`"),
        '[' => error.help("`[]` means always; an index belongs right behind a name: `P[1]`"),
        _ => error,
    }
}
