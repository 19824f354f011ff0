//! From text to tokens. Never fails: what is not a token is reported and skipped.

use base::{Diagnostic, SourceId, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A keyword or name.
    Word,
    /// Digits.
    Number,
    /// An operator or bracket; which one says its text.
    Symbol,
    /// Characters between quotation marks, which are part of it.
    Text,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// How it is written; empty at the end.
    pub(crate) text: &'a str,
    /// Where.
    pub(crate) span: Span,
    /// Is it the first of its line?
    pub(crate) starts_line: bool,
}

/// Characters of mathematics, and what is written here.
const CHARACTERS: [(char, &str); 14] = [
    ('≠', "!="),
    ('≤', "<="),
    ('≥', ">="),
    ('∧', "&&"),
    ('∨', "||"),
    ('¬', "!"),
    ('→', "->"),
    ('⇒', "->"),
    ('∀', "forall"),
    ('∃', "exists"),
    ('∈', "in"),
    ('∪', "union"),
    ('□', "always"),
    ('◇', "eventually"),
];

/// All symbols; a longer one wins over its prefixes.
const SYMBOLS: [&str; 50] = [
    "<->", "-->", ":=", "->", "=>", "=<", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "&&",
    "||", "/\\", "\\/", "~>", "[]", "<>", "..", "??", "(", ")", "{", "}", "[", "]", "<", ">", "=",
    "!", "?", "+", "-", "*", "/", "%", "@", ",", ";", ":", ".", "&", "|", "~", "^", "#", "_",
];

/// Splits a text into tokens; the last one is the end.
pub(crate) fn lex<'a>(
    text: &'a str,
    source: SourceId,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token<'a>> {
    let mut lexer = Lexer {
        text,
        source,
        offset: 0,
        starts_line: true,
        tokens: Vec::new(),
    };
    while lexer.skip_blank(diagnostics) {
        lexer.token(diagnostics);
    }
    lexer.push(TokenKind::End, text.len());
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    source: SourceId,
    offset: usize,
    starts_line: bool,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    /// Skips white space and comments; false at the end of the text.
    fn skip_blank(&mut self, diagnostics: &mut Vec<Diagnostic>) -> bool {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return false;
            };
            if first.is_whitespace() {
                self.starts_line |= first == '\n';
                self.offset += first.len_utf8();
            } else if rest.starts_with("//") {
                self.offset += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let length = comment.find("*/").map_or_else(
                    || {
                        let span = Span::new(self.source, self.offset, self.offset + 2);
                        diagnostics.push(
                            Diagnostic::error(
                                "unclosed-comment",
                                span,
                                "this comment is not closed",
                            )
                            .help("close it with `*/`"),
                        );
                        rest.len()
                    },
                    |position| position + 4,
                );
                self.starts_line |= rest[..length].contains('\n');
                self.offset += length;
            } else {
                return true;
            }
        }
    }

    fn token(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        let length_while = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());

        if first.is_alphabetic() || first == '_' {
            let length = length_while(|c| is_letter(c) || c == '_' || c == '\'');
            let kind = match &rest[..length] {
                "_" => TokenKind::Symbol,
                _ => TokenKind::Word,
            };
            self.push(kind, self.offset + length);
        } else if first.is_ascii_digit() {
            let length = length_while(|c| c.is_ascii_digit() || c == '_');
            self.push(TokenKind::Number, self.offset + length);
        } else if first == '"' {
            self.quoted(diagnostics);
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            self.push(TokenKind::Symbol, self.offset + symbol.len());
        } else {
            let length = length_while(is_foreign).max(first.len_utf8());
            let span = Span::new(self.source, self.offset, self.offset + length);
            let message = format!("unexpected character `{first}`");
            let mut diagnostic = Diagnostic::error("unknown-character", span, message);
            if let Some((_, here)) = CHARACTERS.iter().find(|(other, _)| *other == first) {
                diagnostic = diagnostic.help(format!("write `{here}`"));
            }
            diagnostics.push(diagnostic);
            self.offset += length;
        }
    }

    /// The name of a file, up to the quotation mark that closes it in its line.
    fn quoted(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        let line = self.rest().lines().next().unwrap_or("");
        if let Some(length) = line[1..].find('"') {
            return self.push(TokenKind::Text, self.offset + length + 2);
        }
        let span = Span::new(self.source, self.offset, self.offset + line.len());
        let message = "this text has no closing quotation mark";
        let diagnostic = Diagnostic::error("unclosed-text", span, message);
        diagnostics.push(diagnostic.help("close it with `\"` in the same line"));
        self.offset += line.len();
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token {
            kind,
            text: &self.text[self.offset..end],
            span: Span::new(self.source, self.offset, end),
            starts_line: self.starts_line,
        });
        self.offset = end;
        self.starts_line = false;
    }
}

/// Can it be inside of a name? Letters may be followed by marks that combine with them.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
        || matches!(c, '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}')
}

/// Neither white space nor the beginning of a token.
fn is_foreign(c: char) -> bool {
    !(c.is_whitespace()
        || c.is_alphanumeric()
        || c == '_'
        || c == '"'
        || SYMBOLS.iter().any(|symbol| symbol.starts_with(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = lex(text, SourceId(0), &mut Vec::new());
        tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn longer_symbols_win() {
        assert_eq!(
            texts("a<->b[]<>c 0..N"),
            ["a", "<->", "b", "[]", "<>", "c", "0", "..", "N", ""]
        );
    }

    #[test]
    fn marks_belong_to_the_letters_before_them() {
        assert_eq!(texts("e\u{301}x + が"), ["e\u{301}x", "+", "が", ""]);
    }

    #[test]
    fn comments_and_foreign_characters_are_skipped() {
        let mut diagnostics = Vec::new();
        let tokens = lex("a /* x\n */ b // c\n§$ d /*", SourceId(0), &mut diagnostics);
        let lines: Vec<(&str, bool)> = tokens.iter().map(|t| (t.text, t.starts_line)).collect();
        assert_eq!(lines, [("a", true), ("b", true), ("d", true), ("", false)]);
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["unknown-character", "unclosed-comment"]);
    }
}
