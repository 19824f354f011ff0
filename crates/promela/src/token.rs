//! Tokens, and the lexer that cuts a text into them.

use std::rc::Rc;

use base::{Diagnostic, SourceId, Span};

/// The names of macros that a token came from; they are not expanded in it again.
pub(crate) type HideSet = Rc<[Rc<str>]>;

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// An identifier or a keyword.
    Name(Rc<str>),
    /// A decimal number or a character constant.
    Number(i64),
    /// A string, without its quotes.
    Text(Rc<str>),
    /// An operator or a bracket.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where it is written; for a token out of a macro, where the macro is used.
    pub(crate) span: Span,
    /// Is it the first of its line?
    pub(crate) starts_line: bool,
    /// Is there white space in front of it?
    pub(crate) spaced: bool,
    /// Which macros must not be expanded in it.
    pub(crate) hidden: HideSet,
}

impl Token {
    /// Is it this operator or bracket?
    pub(crate) fn is(&self, punct: &str) -> bool {
        matches!(self.kind, TokenKind::Punct(p) if p == punct)
    }

    /// Its name, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Its name, if it has one. All copies of a token share it, wherever macros put them, so its
    /// address says where the name is written (see [`crate::names`]).
    pub(crate) fn shared_name(&self) -> Option<&Rc<str>> {
        match &self.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Is it this name or keyword?
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// How messages call it.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Number(value) => format!("`{value}`"),
            TokenKind::Text(_) => "a string".to_owned(),
            TokenKind::Punct(punct) => format!("`{punct}`"),
            TokenKind::End => "the end of the text".to_owned(),
        }
    }
}

/// Operators and brackets, longer ones before their prefixes.
const PUNCTS: [&str; 47] = [
    "::", "->", "--", "++", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&", "||", "..", "##",
    "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "<", ">", "!", "?", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "@", "#", "\\", "$", "'", "\"", "`",
];

/// Cuts a text into tokens. Comments and broken lines (`\` at the end) are white space.
pub(crate) fn tokens(
    text: &str,
    source: SourceId,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        at: 0,
        source,
        starts_line: true,
        spaced: false,
        hidden: Rc::new([]),
        found: Vec::new(),
        diagnostics,
    };
    while lexer.skip_space() {
        lexer.token();
    }
    lexer.found
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    source: SourceId,
    starts_line: bool,
    spaced: bool,
    hidden: HideSet,
    found: Vec<Token>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }

    /// Skips white space and comments. False at the end of the text.
    fn skip_space(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return false;
            };
            if first == '\n' {
                self.starts_line = true;
                self.at += 1;
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with("\\\r\n") {
                self.at += 3;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.skip_comment();
            } else if rest.starts_with("*/") {
                // No expression contains it, and Spin passes over it.
                self.at += 2;
                let span = Span::new(self.source, self.at - 2, self.at);
                let message = "this `*/` does not close a comment";
                let diagnostic = Diagnostic::warning("stray-comment-end", span, message);
                let help = "comments do not nest: the first `*/` closes them";
                self.diagnostics.push(diagnostic.help(help));
            } else {
                return true;
            }
            self.spaced = true;
        }
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        match self.rest()[2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => {
                self.at = self.text.len();
                let span = Span::new(self.source, start, start + 2);
                let message = "this comment is not closed";
                let diagnostic = Diagnostic::error("syntax", span, message);
                self.diagnostics
                    .push(diagnostic.help("write `*/` where it ends"));
            }
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.found.push(Token {
            kind,
            span: self.span_from(start),
            starts_line: std::mem::take(&mut self.starts_line),
            spaced: std::mem::take(&mut self.spaced),
            hidden: self.hidden.clone(),
        });
    }

    fn token(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let first = rest
            .chars()
            .next()
            .expect("white space was skipped before the end");
        if first.is_ascii_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name: Rc<str> = rest[..length].into();
            self.at += length;
            self.push(TokenKind::Name(name), start);
        } else if first.is_ascii_digit() {
            self.number(start);
        } else if first == '"' {
            self.string(start);
        } else if first == '\'' {
            self.character(start);
        } else if let Some(punct) = PUNCTS.iter().find(|punct| rest.starts_with(**punct)) {
            self.at += punct.len();
            self.push(TokenKind::Punct(punct), start);
        } else {
            self.at += first.len_utf8();
            let message = format!("unexpected character `{first}`");
            let span = self.span_from(start);
            self.diagnostics
                .push(Diagnostic::error("syntax", span, message));
        }
    }

    fn number(&mut self, start: usize) {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let value = rest[..length].parse::<i64>();
        self.at += length;
        let value = value.ok().filter(|value| *value <= i64::from(u32::MAX));
        if value.is_none() {
            let span = self.span_from(start);
            let message = "this number does not fit into an `int`";
            self.diagnostics
                .push(Diagnostic::error("syntax", span, message));
        }
        self.push(TokenKind::Number(value.unwrap_or(0)), start);
    }

    fn string(&mut self, start: usize) {
        let rest = self.rest();
        let mut escaped = true;
        let end = rest.char_indices().find(|&(_, c)| {
            let ends = c == '\n' || (c == '"' && !escaped);
            escaped = c == '\\' && !escaped;
            ends
        });
        let (inner, length) = match end {
            Some((at, '"')) if at > 0 => (&rest[1..at], at + 1),
            other => {
                let at = other.map_or(rest.len(), |(at, _)| at);
                let span = Span::new(self.source, start, start + 1);
                let message = "this string is not closed";
                let diagnostic = Diagnostic::error("syntax", span, message);
                self.diagnostics
                    .push(diagnostic.help("close it with `\"` on the same line"));
                (&rest[1..at.max(1)], at.max(1))
            }
        };
        let inner: Rc<str> = inner.into();
        self.at += length;
        self.push(TokenKind::Text(inner), start);
    }

    fn character(&mut self, start: usize) {
        let mut chars = self.rest()[1..].chars();
        let (value, length) = match (chars.next(), chars.next(), chars.next()) {
            (Some('\\'), Some(c), Some('\'')) => (escape(c), 3 + c.len_utf8()),
            (Some(c), Some('\''), _) if c != '\n' => (c, 2 + c.len_utf8()),
            _ => {
                self.at += 1;
                let span = self.span_from(start);
                let message = "a character constant is one character between two `'`";
                self.diagnostics
                    .push(Diagnostic::error("syntax", span, message));
                return;
            }
        };
        self.at += length;
        self.push(TokenKind::Number(i64::from(u32::from(value))), start);
    }
}

fn escape(c: char) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'f' => '\u{c}',
        other => other,
    }
}
