//! From tokens to declarations, by recursive descent.
//!
//! Nothing here fails: a syntax error is reported, the parser goes on at the next step or
//! declaration, and what was understood is returned. Nesting is limited, and chains of operators
//! are kept flat, so that no input exhausts the stack.

mod abstraction;
mod decl;
mod ends;
mod expr;
mod foreign;
mod import;
mod process;
mod stmt;
mod stray;
mod system;
mod view;

pub(crate) use process::END;
pub(crate) use stmt::range_bounds;

use std::ops::Range;

use base::{Diagnostic, SourceId, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Expr, File, Ident};
use crate::lexer::{Token, TokenKind, lex};

/// How deep brackets, prefix operators and blocks may be nested.
pub(crate) const MAX_NESTING: usize = 200;

/// How many lines with something that is not a token are remembered.
const MAX_FOREIGN_LINES: usize = 100;

/// Says that something is wrong and has been reported.
pub(crate) struct Reported;

/// What was parsed, unless an error was reported.
type Parsed<T> = Result<T, Reported>;

/// Words that begin a declaration. A line that begins with one inside a block means that the
/// block was not closed.
const DECLARATIONS: [&str; 21] = [
    "abstract",
    "const",
    "param",
    "type",
    "enum",
    "record",
    "chan",
    "event",
    "synchronous",
    "process",
    "fairness",
    "assume",
    "property",
    "invariant",
    "reachable",
    "deadlockfree",
    "var",
    "init",
    "def",
    "timer",
    "fair",
];

/// How many of [`DECLARATIONS`] cannot stand inside a process.
const N_OUTSIDE_ONLY: usize = 16;

/// Words that cannot name anything, besides [`DECLARATIONS`].
const RESERVED: [&str; 38] = [
    "weak",
    "strong",
    "when",
    "where",
    "sync",
    "choose",
    "let",
    "if",
    "then",
    "else",
    "for",
    "in",
    "assert",
    "skip",
    "always",
    "eventually",
    "until",
    "release",
    "unless",
    "weakuntil",
    "forall",
    "exists",
    "true",
    "false",
    "bool",
    "int",
    "array",
    "of",
    "any",
    "and",
    "or",
    "not",
    "implies",
    "iff",
    "mod",
    "enabled",
    "moves",
    "deadlock",
];

/// Reserved words that may nevertheless name an action, because they mean nothing where an action
/// is named.
const ACTION_WORDS: [&str; 12] = [
    "choose",
    "let",
    "assert",
    "skip",
    "always",
    "eventually",
    "until",
    "release",
    "unless",
    "any",
    "moves",
    "mod",
];

/// Words that are operators before an operand of a formula, and names elsewhere.
const PREFIX_NAMES: [&str; 7] = ["next", "G", "F", "X", "previously", "once", "historically"];

/// Reads a text that may import others. What it declares is called by its name after `prefix`.
pub(crate) fn parse_file(
    text: &str,
    source: SourceId,
    prefix: &str,
    out: &mut Vec<Diagnostic>,
) -> File {
    let mut parser = Parser::new(text, source, out);
    parser.names = import::Names::of(&parser.tokens, prefix);
    let aliases = parser.names.aliases();
    if !aliases.is_empty() {
        import::join(&mut parser.tokens, text, |word| {
            aliases.iter().any(|alias| alias == word)
        });
    }
    File {
        aliases,
        ..parser.file()
    }
}

/// Gives questions about the whole model their meaning, once all its parts are known.
pub(crate) fn complete(file: &mut File, out: &mut Vec<Diagnostic>) {
    ends::apply(file, out);
}

/// Reads a text that consists of one formula about a file with imports of these names.
pub(crate) fn parse_formula(
    text: &str,
    source: SourceId,
    aliases: &[String],
    out: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    let mut parser = Parser::new(text, source, out);
    let is_alias = |word: &str| aliases.iter().any(|alias| alias == word);
    import::join(&mut parser.tokens, text, is_alias);
    let formula = parser.formula().ok()?;
    if parser.at_end() {
        return Some(formula);
    }
    parser.unexpected("an operator or the end of the formula");
    None
}

/// Is the word free to name something?
fn is_reserved(word: &str) -> bool {
    DECLARATIONS.contains(&word) || RESERVED.contains(&word)
}

/// All words that cannot name anything.
#[cfg(test)]
pub(crate) fn reserved_words() -> impl Iterator<Item = &'static str> {
    DECLARATIONS.into_iter().chain(RESERVED)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
    depth: usize,
    /// Do capital letters between operands stand for temporal operators?
    in_formula: bool,
    /// Does `->` end the expression, because it introduces a target?
    arrow_ends: bool,
    /// Is a single `=` a slip here?
    equals_is_slip: bool,
    /// Names that the text declares although they are operators elsewhere.
    declared: Vec<&'a str>,
    /// Where names are written, by the addresses of their texts.
    written: FxHashMap<usize, Span>,
    /// What the names of the text are called in the model.
    names: import::Names<'a>,
    /// Where lines are that have something in them that is not a token.
    foreign_lines: Vec<Range<u32>>,
    /// Keywords that were reported where a name was expected: where they are used follows from that.
    misnamed: FxHashSet<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, source: SourceId, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        let n_before = diagnostics.len();
        let tokens = lex(text, source, diagnostics);
        let foreign = diagnostics[n_before..].iter();
        let lines = foreign.map(|d| line_around(text, d.labels[0].span));
        Self {
            foreign_lines: lines.take(MAX_FOREIGN_LINES).collect(),
            misnamed: FxHashSet::default(),
            written: FxHashMap::default(),
            names: import::Names::default(),
            declared: declared_operators(&tokens),
            tokens,
            position: 0,
            diagnostics,
            depth: 0,
            in_formula: false,
            arrow_ends: false,
            equals_is_slip: false,
        }
    }

    fn peek(&self) -> Token<'a> {
        self.tokens[self.position]
    }

    /// The token `n` places ahead; the end stays the end.
    fn peek_at(&self, n: usize) -> Token<'a> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.position + n).min(last)]
    }

    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Is the next token this symbol or word?
    fn at(&self, text: &str) -> bool {
        let token = self.peek();
        token.text == text && token.kind != TokenKind::End
    }

    fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    /// Takes the symbol or word if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        if self.at(text) {
            return Ok(self.advance().span);
        }
        let message = format!("expected `{text}`, found {}", self.found());
        let mut diagnostic = Diagnostic::error("syntax", self.peek().span, message);
        match text {
            "in" => diagnostic = diagnostic.help("a name ranges over values: `i in 1..3`"),
            "{" => diagnostic = diagnostic.help("braces enclose what belongs together"),
            _ => {}
        }
        Err(self.report(diagnostic))
    }

    /// The closing bracket of one opened at `open`.
    fn expect_close(&mut self, text: &str, open: Span) -> Parsed<Span> {
        if self.at(text) {
            return Ok(self.advance().span);
        }
        let found = self.found();
        let span = self.peek().span;
        let message = format!("expected `{text}`, found {found}");
        let diagnostic = Diagnostic::error("unclosed-bracket", span, message)
            .label(open, "to close this bracket");
        Err(self.report(diagnostic))
    }

    /// Reports that something else was expected.
    fn unexpected(&mut self, expected: &str) -> Reported {
        let message = format!("expected {expected}, found {}", self.found());
        self.report(Diagnostic::error("syntax", self.peek().span, message))
    }

    fn found(&self) -> String {
        let token = self.peek();
        match token.kind {
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", token.text),
        }
    }

    /// Reports, unless something that is not a token has been reported in the same line, or the word
    /// here where a name was declared: what is wrong there follows from it.
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let start = diagnostic.labels[0].span.start;
        let is_foreign = self.foreign_lines.iter().any(|line| line.contains(&start));
        let token = self.peek();
        let is_misnamed = token.span.start == start && self.misnamed.contains(token.text);
        if !is_foreign && !is_misnamed {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// The name of something that is being declared or used.
    fn name(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.name_token(what)?;
        Ok(self.ident(token))
    }

    /// The name of a location, an action or a component, which belongs to something with a name.
    fn member(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.name_token(what)?;
        Ok(self.member_ident(token))
    }

    fn name_token(&mut self, what: &str) -> Parsed<Token<'a>> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected(what));
        }

        let begins_block = token.starts_line && self.at_from_block();
        if is_reserved(token.text) || begins_block {
            let message = format!("expected {what}, found the keyword `{}`", token.text);
            let mut diagnostic = Diagnostic::error("reserved-word", token.span, message);
            if let Some(help) = foreign::instead_of_word(token.text) {
                diagnostic = diagnostic.help(help);
            } else if token.text == "when" && what == "the name of an action" {
                diagnostic = diagnostic.help("a step begins with its name: `name when guard`");
            }
            self.report(diagnostic);

            // Further uses of the same name would only repeat the message.
            if RESERVED.contains(&token.text) {
                self.misnamed.insert(token.text);
            }
            return Err(Reported);
        }

        self.advance();
        Ok(token)
    }

    /// A name, of which the tree remembers where it is written.
    fn ident(&mut self, token: Token<'_>) -> Ident {
        let text = self.written_text(token);
        let span = token.span;
        Ident { text, span }
    }

    fn member_ident(&mut self, token: Token<'_>) -> Ident {
        let (text, span) = (token.text.to_owned(), token.span);
        self.written.insert(text.as_ptr().addr(), span);
        Ident { text, span }
    }

    /// What a name is called in the model. Its address does not change when it is moved into the tree.
    fn written_text(&mut self, token: Token<'_>) -> String {
        let text = self.names.in_model(token.text);
        self.written.insert(text.as_ptr().addr(), token.span);
        text
    }

    /// A name in a position where only names can stand, so that some keywords are allowed.
    fn action_name(&mut self) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind == TokenKind::Word && ACTION_WORDS.contains(&token.text) {
            self.advance();
            return Ok(self.member_ident(token));
        }
        self.member("the name of an action")
    }

    /// One or more, separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses one level deeper, unless it is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) -> Reported {
        let message = format!("more than {MAX_NESTING} levels of nesting");
        let diagnostic = Diagnostic::error("too-deep", self.peek().span, message)
            .help("give parts of it a name with `def`");
        self.report(diagnostic)
    }

    /// Skips to where the next item of a block or file may begin: a word at the beginning of a
    /// line, a closing brace of the block, or the end. Always makes progress from `start`.
    fn recover(&mut self, start: usize) {
        if self.position == start && !self.at("}") {
            self.advance();
        }
        let mut open = 0_usize;
        loop {
            let token = self.peek();
            match token.text {
                _ if token.kind == TokenKind::End => return,
                _ if self.at_outside_declaration() => return,
                _ if open == 0 && token.starts_line && token.kind == TokenKind::Word => return,
                "{" => open += 1,
                "}" if open == 0 => return,
                "}" => open -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// Does a block of steps begin here? Elsewhere `from` is a name.
    fn at_from_block(&self) -> bool {
        let next = self.peek_at(1);
        let is_clause = ["when", "sync", "delay"].contains(&next.text);
        self.at("from") && (next.text == "*" || next.kind == TokenKind::Word && !is_clause)
    }

    /// Does a declaration begin here that cannot stand inside a process?
    fn at_outside_declaration(&self) -> bool {
        let token = self.peek();
        token.starts_line && DECLARATIONS[..N_OUTSIDE_ONLY].contains(&token.text)
    }
}

/// The names among [`PREFIX_NAMES`] that are declared: those after a word that declares something, and
/// in lists of names.
fn declared_operators<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut declared = Vec::new();
    for window in tokens.windows(3) {
        let [before, name, after] = window else {
            continue;
        };
        let in_list = [",", "("].contains(&before.text) && [",", ":", "in"].contains(&after.text);
        let is_declared = in_list || DECLARATIONS.contains(&before.text);
        if is_declared && PREFIX_NAMES.contains(&name.text) {
            declared.push(name.text);
        }
    }
    declared
}

/// The line that a span begins in.
fn line_around(text: &str, span: Span) -> Range<u32> {
    let start = span.start as usize;
    let from = text[..start].rfind('\n').map_or(0, |position| position + 1);
    let to = text[start..].find('\n').map_or(text.len(), |n| start + n);
    from as u32..to as u32 + 1
}
