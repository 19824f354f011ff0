//! Words and signs of a text.

use base::{Diagnostic, SourceId, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Word,
    Number,
    Sign,
    End,
}

/// A word, a number or a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// Signs of more than one character; longer ones first.
const LONG_SIGNS: [&str; 10] = ["<->", "->", "<>", "[]", "==", "!=", "<=", ">=", "&&", "||"];

/// The tokens of a text; the last one is its end.
///
/// # Errors
/// A comment that is not closed, or a character that nothing starts with.
pub(crate) fn tokens(text: &str, source: SourceId) -> Result<Vec<Token<'_>>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at = skip_blank(text, at, source)?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            break;
        };
        let (kind, length) = if first.is_ascii_digit() {
            (Kind::Number, run(rest, |c| c.is_ascii_digit()))
        } else if is_word(first) {
            (Kind::Word, run(rest, is_word))
        } else if let Some(sign) = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign, sign.len())
        } else if first.is_ascii_punctuation() {
            (Kind::Sign, 1)
        } else {
            let span = Span::new(source, at, at + first.len_utf8());
            let message = format!("`{first}` does not belong to the language");
            return Err(Diagnostic::error("syntax", span, message));
        };
        found.push(Token {
            kind,
            text: &rest[..length],
            span: Span::new(source, at, at + length),
        });
        at += length;
    }

    found.push(Token {
        kind: Kind::End,
        text: "",
        span: Span::new(source, text.len(), text.len()),
    });
    Ok(found)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// How many bytes at the beginning belong together.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Where the next token starts.
fn skip_blank(text: &str, mut at: usize, source: SourceId) -> Result<usize, Diagnostic> {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                let span = Span::new(source, at, at + 2);
                let message = "the comment is not closed";
                return Err(Diagnostic::error("syntax", span, message).help("write `*/`"));
            };
            at += end + 2;
        } else if blank == 0 {
            return Ok(at);
        }
    }
}
