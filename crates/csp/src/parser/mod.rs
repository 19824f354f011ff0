//! A recursive-descent parser with recovery: a declaration that cannot be read is skipped, the
//! others are kept. The grammar is the one that PAT's manual publishes ("Grammar Rules" of the CSP
//! module), with the fairness annotations of papers by its authors.

mod declaration;
mod expression;
mod formula;
mod process;

use base::{Diagnostic, SourceId, Span};

use super::ast::{Ident, Spec};
use super::lexer::{self, Name, Tok, Token};

/// Expressions and processes nested deeper than this are refused, so that no text can exhaust the
/// stack.
const MAX_DEPTH: usize = 60;

/// Reads a text; what it declares is added to `spec`.
pub(crate) fn parse(
    text: &str,
    id: SourceId,
    in_library: bool,
    spec: &mut Spec,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let tokens = lexer::tokens(text, id, diagnostics);
    let mut parser = Parser::new(tokens, diagnostics);
    parser.in_library = in_library;
    parser.specification(spec);
}

/// Reads a formula, for example one given on the command line.
pub(crate) fn parse_formula(
    text: &str,
    id: SourceId,
    in_ctl: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<super::ast::Formula> {
    let tokens = lexer::tokens(text, id, diagnostics);
    let mut parser = Parser::new(tokens, diagnostics);
    parser.in_ctl = in_ctl;
    let formula = parser.formula()?;
    match parser.peek() {
        Tok::Eof => Some(formula),
        _ => parser.unexpected("an operator or the end of the formula"),
    }
}

pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    position: usize,
    depth: usize,
    /// Are there path quantifiers?
    in_ctl: bool,
    /// Are there classes?
    in_library: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            tokens,
            position: 0,
            in_ctl: false,
            in_library: false,
            depth: 0,
            diagnostics,
        }
    }

    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.position + ahead).min(last)].tok
    }

    fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// The span from `start` to the last token that was read.
    fn since(&self, start: Span) -> Span {
        match self.position {
            0 => start,
            position => {
                let last = self.tokens[position - 1].span;
                if last.start < start.start {
                    start
                } else {
                    start.to(last)
                }
            }
        }
    }

    fn advance(&mut self) {
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    fn is(&self, symbol: &str) -> bool {
        self.is_at(0, symbol)
    }

    fn is_at(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek_at(ahead), Tok::Sym(s) if *s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Ident(name) if &**name == word)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Option<()> {
        if self.eat(symbol) {
            Some(())
        } else {
            self.unexpected(&format!("`{symbol}`"))
        }
    }

    fn ident(&mut self, what: &str) -> Option<Ident> {
        match self.peek().clone() {
            Tok::Ident(text) => {
                let span = self.span();
                self.advance();
                Some(Ident { text, span })
            }
            _ => self.unexpected(what),
        }
    }

    fn error<T>(&mut self, code: &'static str, span: Span, message: String) -> Option<T> {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
        None
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Option<T> {
        let found = match self.peek() {
            Tok::Ident(name) => format!("`{name}`"),
            Tok::Int(value) => format!("`{value}`"),
            Tok::Str(text) => format!("`\"{text}\"`"),
            Tok::Sym(symbol) => format!("`{symbol}`"),
            Tok::Eof => "the end of the text".to_owned(),
        };
        let span = self.span();
        self.error(
            "syntax",
            span,
            format!("expected {wanted}, but found {found}"),
        )
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            let message = format!("this is nested deeper than {MAX_DEPTH} levels");
            return self.error("too-deep", span, message);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// How many tokens ahead the bracket that opens at `ahead` is closed.
    fn closing(&self, ahead: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for position in self.position + ahead..self.tokens.len() {
            match &self.tokens[position].tok {
                Tok::Sym("(" | "[" | "{") => depth += 1,
                Tok::Sym(")" | "]" | "}") => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(position - self.position);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn word_at(&self, ahead: usize) -> Option<&Name> {
        match self.peek_at(ahead) {
            Tok::Ident(name) => Some(name),
            _ => None,
        }
    }
}
