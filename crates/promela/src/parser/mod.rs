//! From tokens to [`super::ast`]. Parsing never fails: it returns what it understood.
//!
//! The grammar is that of Spin 6.5. A `;` may be left out at the end of a line and after `}`, as
//! there; calls of `inline`s are replaced by their bodies before they are parsed.

mod decl;
mod expr;
mod inline;
mod stmt;

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Diagnostic, Span, closest_name};

use super::ast::{self, Program};
use super::names::Notes;
use super::token::{Token, TokenKind};

/// Brackets and statements may be nested to this depth.
const MAX_DEPTH: usize = 200;

/// Longer expressions are refused, because they are walked by recursion.
const MAX_OPERATORS: usize = 10_000;

/// Calls of inlines may put this many tokens into the text; a token counts once more for each call
/// that it is inside of.
const MAX_EXPANDED: usize = 2_000_000;

/// Something was wrong and was said; the caller skips to where it can go on.
pub(super) struct Wrong;

pub(super) type Parsed<T> = Result<T, Wrong>;

/// An `inline` definition.
#[derive(Clone)]
struct Inline {
    name: Rc<str>,
    parameters: Vec<Rc<str>>,
    /// From `{` to `}`.
    body: Vec<Token>,
}

/// The parser: a position in a list of tokens.
pub(super) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// How many expressions are being read, one inside of the other.
    expr_depth: usize,
    /// How many operators with two operands the outermost of them has so far.
    n_operators: usize,
    /// Inside an `ltl` block: `->` is implication, `U` and others are operators.
    in_formula: bool,
    /// Are path quantifiers operators?
    in_ctl: bool,
    inlines: Vec<Inline>,
    /// What calls of inlines have put into the text.
    n_expanded: usize,
    user_types: BTreeSet<Rc<str>>,
    process_names: BTreeSet<Rc<str>>,
    pub(super) program: Program,
    /// Which inlines and parameters names mean.
    notes: Notes,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

/// Parses a whole text.
pub(super) fn parse_program(
    tokens: Vec<Token>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Program, Notes) {
    let special_names = special_names(&tokens);
    let mut parser = Parser::new(tokens, diagnostics);
    parser.program.special_names = special_names;
    parser.collect_names();
    while !parser.at_end() {
        if parser.unit().is_err() {
            parser.skip_to_unit();
        }
    }
    (parser.program, parser.notes)
}

/// Parses a formula of the command line; `program` says which names are processes.
pub(super) fn parse_formula(
    tokens: Vec<Token>,
    in_ctl: bool,
    program: &mut Program,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ast::Expr> {
    program.special_names.extend(special_names(&tokens));
    let mut parser = Parser::new(tokens, diagnostics);
    let names = program.processes.iter().map(|process| process.name.clone());
    parser.process_names = names.collect();
    parser.in_formula = true;
    parser.in_ctl = in_ctl;
    let formula = parser.expr().ok()?;
    if !parser.at_end() {
        let _ = parser.expected::<()>("the end of the formula");
        return None;
    }
    program.remote_labels.extend(parser.program.remote_labels);
    Some(formula)
}

fn special_names(tokens: &[Token]) -> BTreeSet<Rc<str>> {
    let names = tokens.iter().filter_map(|token| match &token.kind {
        TokenKind::Name(name) => Some(name),
        _ => None,
    });
    names
        .filter(|name| name.starts_with('_'))
        .cloned()
        .collect()
}

impl<'a> Parser<'a> {
    fn new(mut tokens: Vec<Token>, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        let end = match tokens.last() {
            Some(last) => Span::new(
                last.span.source,
                last.span.end as usize,
                last.span.end as usize,
            ),
            None => Span::nowhere(),
        };

        tokens.push(Token {
            kind: TokenKind::End,
            span: end,
            starts_line: true,
            spaced: true,
            hidden: Rc::new([]),
        });
        Self {
            tokens,
            at: 0,
            depth: 0,
            expr_depth: 0,
            n_operators: 0,
            in_formula: false,
            in_ctl: false,
            inlines: Vec::new(),
            n_expanded: 0,
            user_types: BTreeSet::new(),
            process_names: BTreeSet::new(),
            program: Program::default(),
            notes: Notes::default(),
            diagnostics,
        }
    }

    /// Names that change how the text around them is read are collected first.
    fn collect_names(&mut self) {
        for pair in self.tokens.windows(2) {
            let Some(name) = pair[1].name() else { continue };
            match pair[0].name() {
                Some("typedef") => self.user_types.insert(name.into()),
                Some("proctype" | "D_proctype") => self.process_names.insert(name.into()),
                _ => false,
            };
        }
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// From `start` to the token before the current one.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        if last.source == start.source && last.end >= start.start {
            start.to(last)
        } else {
            start
        }
    }

    fn advance(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    fn is(&self, punct: &str) -> bool {
        self.token().is(punct)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token().is_name(word)
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
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

    fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let found = self.token().describe();
        let span = self.span();
        let message = format!("expected {what}, found {found}");
        self.say(Diagnostic::error("syntax", span, message));
        Err(Wrong)
    }

    fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            self.expected(&format!("`{punct}`"))
        }
    }

    /// A name that is not a keyword.
    fn new_name(&mut self, what: &str) -> Parsed<(Rc<str>, Span)> {
        let span = self.span();
        match self.token().shared_name() {
            Some(name) if !is_keyword(name) => {
                let name = name.clone();
                self.advance();
                Ok((name, span))
            }
            Some(name) => {
                let message = format!("`{name}` is a keyword and cannot be {what}");
                self.say(Diagnostic::error("syntax", span, message));
                Err(Wrong)
            }
            None => self.expected(what),
        }
    }

    /// Runs `inner` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            let message = "this is nested too deeply";
            self.say(Diagnostic::error("too-deep", span, message));
            self.stop();
            return Err(Wrong);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads nothing more.
    fn stop(&mut self) {
        self.at = self.tokens.len() - 1;
    }

    fn not_supported<T>(&mut self, what: &str, help: &str) -> Parsed<T> {
        let span = self.span();
        let message = format!("{what} is not supported");
        self.say(Diagnostic::error("not-supported", span, message).help(help));
        Err(Wrong)
    }

    /// After an error outside processes: skips to what looks like the next declaration.
    fn skip_to_unit(&mut self) {
        let mut depth = 0_i32;
        let mut first = true;
        while !self.at_end() {
            let token = self.token();
            let starts = token.starts_line && token.name().is_some_and(starts_unit);
            if starts && !first && (depth <= 0 || token.name().is_some_and(starts_process)) {
                return;
            }
            depth += i32::from(token.is("{")) - i32::from(token.is("}"));
            first = false;
            self.advance();
        }
    }

    fn unknown_unit<T>(&mut self) -> Parsed<T> {
        let span = self.span();
        let found = self.token().describe();
        let message = format!("expected a declaration or a process, found {found}");
        let mut diagnostic = Diagnostic::error("syntax", span, message);
        if let Some(name) = self.token().name() {
            let known = UNITS.iter().chain(&TYPES).copied();
            if let Some(close) = closest_name(name, known) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            } else if self.ahead(1).is("=") || self.ahead(1).is("++") {
                let help = "statements belong into a `proctype` or `init { … }`";
                diagnostic = diagnostic.help(help);
            }
        }
        self.say(diagnostic);
        Err(Wrong)
    }
}

const UNITS: [&str; 10] = [
    "active",
    "proctype",
    "init",
    "never",
    "ltl",
    "typedef",
    "inline",
    "mtype",
    "chan",
    "D_proctype",
];

const TYPES: [&str; 9] = [
    "bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan",
];

fn starts_process(name: &str) -> bool {
    matches!(
        name,
        "active" | "proctype" | "init" | "never" | "ltl" | "typedef" | "inline"
    )
}

fn starts_unit(name: &str) -> bool {
    UNITS.contains(&name) || TYPES.contains(&name) || matches!(name, "hidden" | "show")
}

/// Words that cannot be names.
pub(super) fn is_keyword(name: &str) -> bool {
    TYPES.contains(&name)
        || matches!(
            name,
            "active"
                | "assert"
                | "atomic"
                | "break"
                | "c_code"
                | "c_decl"
                | "c_expr"
                | "c_state"
                | "c_track"
                | "D_proctype"
                | "do"
                | "else"
                | "empty"
                | "enabled"
                | "eval"
                | "false"
                | "fi"
                | "for"
                | "full"
                | "get_priority"
                | "goto"
                | "hidden"
                | "if"
                | "init"
                | "inline"
                | "len"
                | "local"
                | "ltl"
                | "nempty"
                | "never"
                | "nfull"
                | "notrace"
                | "np_"
                | "od"
                | "of"
                | "pc_value"
                | "printf"
                | "printm"
                | "priority"
                | "proctype"
                | "provided"
                | "return"
                | "run"
                | "d_step"
                | "select"
                | "set_priority"
                | "skip"
                | "timeout"
                | "trace"
                | "true"
                | "show"
                | "typedef"
                | "unless"
                | "xr"
                | "xs"
        )
}
