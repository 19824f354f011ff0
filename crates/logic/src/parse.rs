//! Reading a stand-alone formula.
//!
//! From tight to loose:
//!
//! | operators | also written | associate |
//! | --- | --- | --- |
//! | `!` `X` `[]` `<>` | `~` `not`, `next`, `G` `always`, `F` `eventually`, `GF`, `FG` | prefix |
//! | `U` `W` `R` `M` | `until`, `weakuntil`, `V` `release`, `strongrelease` | to the right |
//! | `&&` | `&` `/\` `and` | any |
//! | <code>&#124;&#124;</code> | <code>&#124;</code> `\/` `or` | any |
//! | `->` `~>` | `=>` `implies`, `leadsto` | to the right |
//! | `<->` | `<=>` `iff` | to the right |
//!
//! `a ~> b` abbreviates `[](a -> <>b)`. Atoms are names such as `ready` and `P[1].enter`, or any text in
//! double quotes. Letters `G`, `F`, `X` may be written together (`GFp` is an atom, `GF p` is not).
//!
//! Parsing goes on after an error, so that one run reports several.

use std::ops::Range;

use base::{AtomId, Diagnostic, Severity, Source, SourceId, Span, closest_name};
use rustc_hash::FxHashMap;

use crate::lexer::{Binary, MAX_ERRORS, Token, WORDS, tokens};
use crate::ltl::Ltl;

/// Reads a formula. Atom `i` is the one named by the `i`-th name, in order of first occurrence.
///
/// There is a formula iff there is no error among the diagnostics.
#[must_use]
pub fn parse(source: &Source, id: SourceId) -> (Option<Ltl>, Vec<String>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    if u32::try_from(source.text.len()).is_err() {
        let message = "the formula is longer than 4 GiB";
        let error = Diagnostic::error("too-long", Span::new(id, 0, 0), message);
        return (None, Vec::new(), vec![error]);
    }

    let tokens = tokens(&source.text, id, &mut diagnostics);
    let mut parser = Parser {
        text: &source.text,
        source: id,
        tokens,
        position: 0,
        depth: 0,
        aborted: false,
        names: Vec::new(),
        atom_by_name: FxHashMap::default(),
        diagnostics,
    };

    let formula = parser.whole();
    let Parser {
        names,
        mut diagnostics,
        ..
    } = parser;
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels[0].span.start);

    let wrong = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    ((!wrong).then_some(formula), names, diagnostics)
}

struct Parser<'a> {
    text: &'a str,
    source: SourceId,
    /// Invariant: the last token is `End`, no other is, and `position` is that of a token.
    tokens: Vec<(Token, Range<usize>)>,
    position: usize,
    depth: usize,
    /// The rest is skipped, and nothing more is reported.
    aborted: bool,
    names: Vec<String>,
    atom_by_name: FxHashMap<String, AtomId>,
    diagnostics: Vec<Diagnostic>,
}

/// How tightly an infix operator binds, and whether it takes operands of its own kind on the right.
fn binding(operator: Binary) -> u8 {
    match operator {
        Binary::Iff => 1,
        Binary::Implies | Binary::LeadsTo => 2,
        Binary::Or => 3,
        Binary::And => 4,
        Binary::Until
        | Binary::WeakUntil
        | Binary::Release
        | Binary::StrongRelease
        | Binary::Since => 5,
    }
}

impl Parser<'_> {
    fn whole(&mut self) -> Ltl {
        if *self.peek() == Token::End && self.diagnostics.is_empty() {
            let span = Span::new(self.source, 0, self.text.len());
            let error = Diagnostic::error("empty-formula", span, "there is no formula");
            self.diagnostics
                .push(error.help("for example: `[](request -> <>answer)`"));
            return Ltl::tt();
        }
        let formula = self.formula(1);
        while *self.peek() != Token::End {
            if *self.peek() == Token::Close {
                let message = "this `)` does not close anything";
                self.error("unmatched-parenthesis", message, None);
                self.advance();
            }
            self.formula_after_missing_operator();
        }
        formula
    }

    /// A formula whose outermost infix operator binds at least this tightly.
    fn formula(&mut self, at_least: u8) -> Ltl {
        if self.depth >= crate::MAX_DEPTH {
            return self.abort_too_deep();
        }
        self.depth += 1;

        let mut left = self.operand();
        while let Some(operator) = self.infix_operator() {
            let strength = binding(operator);
            if strength < at_least {
                break;
            }
            left = match operator {
                Binary::And | Binary::Or => self.chain(left, operator),
                _ => {
                    self.advance();
                    let right = self.formula(strength);
                    combine(operator, left, right)
                }
            };
        }

        self.depth -= 1;
        left
    }

    /// All operands of a conjunction or disjunction, in a loop: there may be thousands.
    fn chain(&mut self, first: Ltl, operator: Binary) -> Ltl {
        let mut parts = vec![first];
        while *self.peek() == Token::Binary(operator) {
            self.advance();
            parts.push(self.formula(binding(operator) + 1));
        }
        match operator {
            Binary::And => Ltl::and(parts),
            _ => Ltl::or(parts),
        }
    }

    /// The next infix operator, if there is one. Two formulas without an operator between them are
    /// reported, and the second one is skipped.
    fn infix_operator(&mut self) -> Option<Binary> {
        loop {
            match *self.peek() {
                Token::Binary(operator) => return Some(operator),
                Token::End | Token::Close => return None,
                _ => self.formula_after_missing_operator(),
            }
        }
    }

    /// Reports that an operator is missing here, and skips the operand that follows, unless it looks
    /// like a misspelled operator: then it becomes that operator.
    fn formula_after_missing_operator(&mut self) {
        match self.peek() {
            Token::End | Token::Close => {}
            Token::Binary(_) => {
                self.advance();
                self.formula(1);
            }
            _ => {
                let message = format!("expected an operator, found {}", self.found());
                if let Some((word, token)) = self.misspelled_operator() {
                    let help = format!("did you mean `{word}`?");
                    self.error("expected-operator", message, Some(help));
                    self.tokens[self.position].0 = token;
                } else {
                    let help = self.operator_help();
                    self.error("expected-operator", message, Some(help));
                    self.operand();
                }
            }
        }
    }

    fn operand(&mut self) -> Ltl {
        // Prefix operators are collected in a loop and applied from the inside out.
        let mut prefixes: Vec<fn(Ltl) -> Ltl> = Vec::new();
        loop {
            let prefix: fn(Ltl) -> Ltl = match self.peek() {
                Token::Not => Ltl::not,
                Token::Next => Ltl::next,
                Token::Always => Ltl::always,
                Token::Eventually => Ltl::eventually,
                Token::Previously => Ltl::previously,
                Token::Once => Ltl::once,
                Token::Historically => |inner| Ltl::historically(&inner),
                _ => break,
            };
            prefixes.push(prefix);
            self.advance();
        }

        let inner = self.primary();
        let formula = prefixes
            .into_iter()
            .rev()
            .fold(inner, |f, prefix| prefix(f));
        if formula.depth() > crate::MAX_DEPTH {
            return self.abort_too_deep();
        }
        formula
    }

    fn abort_too_deep(&mut self) -> Ltl {
        let message = format!("operators are nested deeper than {}", crate::MAX_DEPTH);
        self.error("too-deep", message, None);
        self.position = self.tokens.len() - 1;
        self.aborted = true;
        Ltl::tt()
    }

    fn primary(&mut self) -> Ltl {
        match self.peek().clone() {
            Token::Atom(name) => {
                self.advance();
                Ltl::atom(self.atom(name))
            }
            Token::True => {
                self.advance();
                Ltl::tt()
            }
            Token::False => {
                self.advance();
                Ltl::ff()
            }
            Token::Open => {
                let open = self.span();
                self.advance();
                let inner = self.formula(1);
                self.close(open);
                inner
            }
            _ => {
                let message = format!("expected a formula, found {}", self.found());
                let help =
                    "a formula begins with an atom, `true`, `false`, `(`, `!`, `X`, `[]` or `<>`";
                self.error("expected-formula", message, Some(help.into()));
                Ltl::tt()
            }
        }
    }

    fn close(&mut self, open: Span) {
        if *self.peek() == Token::Close {
            self.advance();
        } else if !self.reported_here() {
            let message = format!("expected an operator or `)`, found {}", self.found());
            let error = Diagnostic::error("unclosed-parenthesis", self.span(), message);
            self.diagnostics.push(error.label(open, "opened here"));
        }
    }

    fn atom(&mut self, name: String) -> AtomId {
        let fresh = AtomId::new(self.names.len());
        let atom = *self.atom_by_name.entry(name.clone()).or_insert(fresh);
        if atom == fresh {
            self.names.push(name);
        }
        atom
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.position].0
    }

    fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    fn span(&self) -> Span {
        let range = &self.tokens[self.position].1;
        Span::new(self.source, range.start, range.end)
    }

    /// The next token for a message.
    fn found(&self) -> String {
        let (token, range) = &self.tokens[self.position];
        match token {
            Token::End => "the end".into(),
            _ => format!("`{}`", &self.text[range.clone()]),
        }
    }

    /// Which operators there are.
    fn operator_help(&self) -> String {
        let help = match self.peek() {
            Token::Open => "a proposition with arguments is written in quotes: `\"enabled(a)\"`",
            _ => "operators are `&&`, `||`, `->`, `<->`, `U`, `W`, `R`, `M`",
        };
        help.into()
    }

    /// The infix operator that the next token is a misspelling of.
    fn misspelled_operator(&self) -> Option<(&'static str, Token)> {
        let Token::Atom(name) = self.peek() else {
            return None;
        };
        let operators = || WORDS.iter().filter(|(_, t)| matches!(t, Token::Binary(_)));
        let same_letter = |(word, _): &&(&str, Token)| word.eq_ignore_ascii_case(name);
        if let Some((word, token)) = operators().find(same_letter) {
            return Some((word, token.clone()));
        }
        let long_words = operators()
            .map(|(word, _)| *word)
            .filter(|word| word.len() > 2);
        let meant = closest_name(name, long_words)?;
        let (word, token) = operators().find(|(word, _)| *word == meant)?;
        Some((word, token.clone()))
    }

    /// Would a report here only repeat another one, or be one too many?
    fn reported_here(&self) -> bool {
        if self.aborted || self.diagnostics.len() >= 2 * MAX_ERRORS {
            return true;
        }
        let here = self.span();
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.labels[0].span == here)
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, help: Option<String>) {
        if self.reported_here() {
            return;
        }
        let error = Diagnostic::error(code, self.span(), message);
        self.diagnostics.push(match help {
            Some(help) => error.help(help),
            None => error,
        });
    }
}

fn combine(operator: Binary, left: Ltl, right: Ltl) -> Ltl {
    match operator {
        Binary::Iff => Ltl::iff(left, right),
        Binary::Implies => Ltl::implies(left, right),
        Binary::LeadsTo => Ltl::always(Ltl::implies(left, Ltl::eventually(right))),
        Binary::Or => Ltl::or([left, right]),
        Binary::And => Ltl::and([left, right]),
        Binary::Until => Ltl::until(left, right),
        Binary::WeakUntil => Ltl::weak_until(left, right),
        Binary::Release => Ltl::release(left, right),
        Binary::StrongRelease => Ltl::strong_release(left, right),
        Binary::Since => Ltl::since(left, right),
    }
}
