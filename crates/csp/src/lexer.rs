//! From text to tokens. Unknown characters are reported and skipped.

use std::rc::Rc;

use base::{Diagnostic, SourceId, Span};

/// A name as it is written; shared, because terms and scopes keep many copies.
pub(crate) type Name = Rc<str>;

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    /// An identifier or keyword.
    Ident(Name),
    /// A number.
    Int(i64),
    /// The content of a string.
    Str(Name),
    /// Punctuation, one of [`SYMBOLS`].
    Sym(&'static str),
    /// The end of the text.
    Eof,
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) tok: Tok,
    /// Where it stands.
    pub(crate) span: Span,
}

/// All punctuation, longer ones first.
const SYMBOLS: [&str; 45] = [
    "|||", "[*]", "<->", "->", "||", "|=", "[]", "<>", "==", "!=", "<=", ">=", "&&", "++", "--",
    "/\\", "\\/", "..", "(", ")", "{", "}", "[", "]", ",", ";", ":", ".", "!", "?", "+", "-", "*",
    "/", "%", "<", ">", "=", "&", "|", "^", "\\", "@", "#", "$",
];

/// The tokens of a text, ending with [`Tok::Eof`].
pub(crate) fn tokens(text: &str, id: SourceId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        id,
        position: 0,
        diagnostics,
    };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    let end = Span::new(id, text.len(), text.len());
    tokens.push(Token {
        tok: Tok::Eof,
        span: end,
    });
    tokens
}

struct Lexer<'a> {
    text: &'a str,
    id: SourceId,
    position: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.id, start, self.position)
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            self.skip_blanks();
            let start = self.position;
            let first = self.rest().chars().next()?;
            let tok = if first.is_ascii_alphabetic() || first == '_' {
                Some(self.word())
            } else if first.is_ascii_digit() {
                Some(self.number())
            } else if first == '"' {
                Some(self.string())
            } else {
                self.symbol()
            };
            if let Some(tok) = tok {
                let span = self.span_from(start);
                return Some(Token { tok, span });
            }
            self.position = start + first.len_utf8();
            let message = format!("unexpected character `{first}`");
            let diagnostic = Diagnostic::error("bad-character", self.span_from(start), message);
            self.diagnostics.push(diagnostic);
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let skipped = rest.len() - trimmed.len();
            if skipped > 0 {
                self.position += skipped;
            } else if rest.starts_with("//") {
                self.position += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.skip_comment();
            } else {
                return;
            }
        }
    }

    fn skip_comment(&mut self) {
        let start = self.position;
        match self.rest().find("*/") {
            Some(end) => self.position += end + 2,
            None => {
                self.position = self.text.len();
                let span = Span::new(self.id, start, start + 2);
                let message = "this comment is not closed";
                self.diagnostics
                    .push(Diagnostic::error("open-comment", span, message));
            }
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let start = self.position;
        let len = self.rest().find(|c| !keep(c)).unwrap_or(self.rest().len());
        self.position += len;
        &self.text[start..start + len]
    }

    fn word(&mut self) -> Tok {
        Tok::Ident(
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
                .into(),
        )
    }

    fn number(&mut self) -> Tok {
        let start = self.position;
        let digits = self.take_while(|c| c.is_ascii_digit()).to_owned();
        match digits.parse::<i64>() {
            Ok(value) if value <= i64::from(u32::MAX) => Tok::Int(value),
            _ => {
                let message = "this number does not fit into 32 bits";
                let diagnostic = Diagnostic::error("too-large", self.span_from(start), message);
                self.diagnostics.push(diagnostic);
                Tok::Int(0)
            }
        }
    }

    fn string(&mut self) -> Tok {
        let start = self.position;
        self.position += 1;
        let content: Name = self.take_while(|c| c != '"' && c != '\n').into();
        if self.rest().starts_with('"') {
            self.position += 1;
        } else {
            let message = "this string is not closed";
            let diagnostic = Diagnostic::error("open-string", self.span_from(start), message);
            self.diagnostics.push(diagnostic);
        }
        Tok::Str(content)
    }

    fn symbol(&mut self) -> Option<Tok> {
        if self.rest().starts_with('→') {
            self.position += '→'.len_utf8();
            return Some(Tok::Sym("->"));
        }
        let symbol = SYMBOLS.into_iter().find(|s| self.rest().starts_with(s))?;
        self.position += symbol.len();
        Some(Tok::Sym(symbol))
    }
}
