//! The preprocessor: macros, conditions and included files, on tokens.
//!
//! Spin sends its input through the C preprocessor; this module does what models use of it:
//! `#define` with and without arguments (also `#` and `##`), `#undef`, `#include`, `#if`, `#ifdef`,
//! `#ifndef`, `#elif`, `#else`, `#endif`, `#error`. Expansion is Prosser's algorithm: every token
//! carries the set of macros that it came from, and none of these is expanded in it again
//! (D. Prosser, "Complete macro expansion algorithm", X3J11/86-196).

use std::collections::BTreeMap;
use std::rc::Rc;

use base::{Diagnostic, Source, SourceId, Span};

use super::names::Notes;
use super::token::{self, Token, TokenKind};

/// More work than this is refused: looking at a token is one unit, and so is each macro that it
/// remembers. Work is counted, not timed, so that the same text has the same answer everywhere.
const MAX_WORK: usize = 4_000_000;

/// Files may include each other to this depth.
const MAX_DEPTH: usize = 64;

/// Brackets in the arguments of a macro may be nested to this depth.
const MAX_ARGUMENT_DEPTH: i32 = 200;

/// More files than this, counted whenever one is included, are refused.
const MAX_INCLUDED: usize = 5_000;

/// Reads included files: the name of the file that includes and the name as it is written, to the
/// text or to the reason why not.
pub(crate) type Include<'a> = dyn FnMut(&str, &str) -> Result<Source, String> + 'a;

/// A macro.
#[derive(Clone, Debug)]
struct Macro {
    /// The names of its arguments; nothing if it is used without parentheses.
    parameters: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
}

/// A condition that is open: `#if` … `#endif`.
struct Condition {
    span: Span,
    /// Is the current branch read?
    active: bool,
    /// Was some branch read before, or is everything around it not read?
    done: bool,
    has_else: bool,
}

/// The preprocessor. It keeps the macros, so that formulas of the command line can use them.
pub(crate) struct Preprocessor<'a> {
    /// All texts seen; a position is a `SourceId`.
    pub(crate) sources: Vec<Source>,
    /// What is to be said about them.
    pub(crate) diagnostics: Vec<Diagnostic>,
    include: &'a mut Include<'a>,
    macros: BTreeMap<Rc<str>, Macro>,
    conditions: Vec<Condition>,
    depth: usize,
    n_included: usize,
    /// How much work may still be done; nothing is read any more once it is used up.
    work_left: usize,
    /// Parts of texts that conditions leave out.
    skipped: Vec<Span>,
    /// What is known about the names of the first source.
    pub(crate) seen: Seen,
}

/// What the preprocessor has seen of the first source.
#[derive(Default)]
pub(crate) struct Seen {
    /// All names of the text. They are kept, so that their addresses stay their own.
    pub(crate) words: Vec<(Rc<str>, Span)>,
    /// Macros where they are defined, from the name to the end of the line.
    pub(crate) macros: Vec<(MacroName, Span)>,
    /// Names of macros in conditions that no macro had by then.
    pub(crate) asked: Vec<Rc<str>>,
    /// Directives, and parts that conditions leave out.
    pub(crate) skipped: Vec<Span>,
    pub(crate) notes: Notes,
}

/// The name of a macro and those of its arguments.
#[derive(Clone)]
pub(crate) struct MacroName {
    pub(crate) name: Rc<str>,
    pub(crate) parameters: Vec<Rc<str>>,
}

impl<'a> Preprocessor<'a> {
    /// A preprocessor that knows no macros yet.
    pub(crate) fn new(include: &'a mut Include<'a>) -> Self {
        Self {
            sources: Vec::new(),
            diagnostics: Vec::new(),
            include,
            macros: BTreeMap::new(),
            conditions: Vec::new(),
            depth: 0,
            n_included: 0,
            work_left: MAX_WORK,
            skipped: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// The tokens of the first source, which is there already.
    pub(crate) fn read_first(&mut self) -> Vec<Token> {
        let mut out = Vec::new();
        self.source(SourceId(0), &mut out);
        if self.work_left == 0 {
            // What was read before the limit is not a model; messages about it would mislead.
            out.clear();
        }
        out
    }

    /// The tokens of a text, with macros expanded and directives executed.
    pub(crate) fn read(&mut self, source: Source) -> Vec<Token> {
        let id = SourceId::new(self.sources.len());
        self.sources.push(source);
        let mut out = Vec::new();
        self.source(id, &mut out);
        out
    }

    /// Reads a source that is there already.
    fn source(&mut self, id: SourceId, out: &mut Vec<Token>) {
        let text = self.sources[id.index()].text.clone();
        let mut lexical = Vec::new();
        let raw = token::tokens(&text, id, &mut lexical);
        self.spend(raw.len(), Span::new(id, 0, 0));
        if id == SourceId(0) {
            let word = |token: &Token| Some((token.shared_name()?.clone(), token.span));
            self.seen.words = raw.iter().filter_map(word).collect();
        }

        let n_skipped = self.skipped.len();
        self.lines(id, &raw, out);

        // What a condition leaves out need not consist of tokens.
        let skipped = self.skipped.split_off(n_skipped);
        if id == SourceId(0) {
            self.seen.skipped.extend(&skipped);
        }
        lexical.retain(|diagnostic| {
            let at = diagnostic.labels[0].span.start;
            !skipped.iter().any(|span| span.start <= at && at < span.end)
        });
        self.diagnostics.extend(lexical);
    }

    /// Counts work. False if there has been too much.
    fn spend(&mut self, work: usize, span: Span) -> bool {
        if self.work_left == 0 {
            return false;
        }
        self.work_left = self.work_left.saturating_sub(work);
        if self.work_left == 0 {
            let message = "the text is too long after its macros are expanded";
            let help = "do macros use each other, or files include each other, again and again?";
            let diagnostic = Diagnostic::error("too-large", span, message);
            self.diagnostics.push(diagnostic.help(help));
        }
        self.work_left > 0
    }

    /// Defines a macro from outside the text (`-D NAME=VALUE`).
    pub(crate) fn define(&mut self, name: &str, value: &str) {
        let source = Source {
            name: format!("<-D {name}>"),
            text: value.to_owned(),
        };
        let id = SourceId::new(self.sources.len());
        let body = token::tokens(value, id, &mut self.diagnostics);
        self.sources.push(source);
        let parameters = None;
        self.macros.insert(name.into(), Macro { parameters, body });
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error("preprocessor", span, message));
    }

    fn is_active(&self) -> bool {
        self.conditions.iter().all(|condition| condition.active)
    }

    fn lines(&mut self, source: SourceId, raw: &[Token], out: &mut Vec<Token>) {
        let n_open = self.conditions.len();
        let mut at = 0;
        while at < raw.len() && self.work_left > 0 {
            let next = next_directive(raw, at);
            if self.is_active() {
                let mut pending = raw[at..next].to_vec();
                pending.reverse();
                self.expand(pending, out);
            } else {
                let start = at.checked_sub(1).map_or(0, |last| raw[last].span.end);
                let end = raw.get(next).map_or(u32::MAX, |token| token.span.start);
                self.skipped.push(Span { source, start, end });
            }
            at = next;
            if at < raw.len() {
                let end = end_of_line(raw, at);
                if source == SourceId(0) {
                    // A condition that does not matter is not read, nor what it leaves out.
                    let line = raw[at].span.to(raw[end - 1].span);
                    self.seen.skipped.push(line);
                }
                self.directive(&raw[at..end], out);
                at = end;
            }
        }

        while self.conditions.len() > n_open {
            let open = self.conditions.pop().expect("one is open");
            self.error(open.span, "this condition has no `#endif`");
        }
    }

    fn directive(&mut self, line: &[Token], out: &mut Vec<Token>) {
        let Some(name) = line.get(1).and_then(Token::name) else {
            return; // A lone `#` is allowed; `# 12 "file"` is a line mark.
        };
        let span = line[1].span;
        let rest = &line[2..];

        match name {
            "ifdef" | "ifndef" => {
                let is_defined = match rest.first().and_then(Token::shared_name) {
                    Some(name) => self.is_defined(name),
                    None => {
                        self.error(span, format!("`#{name}` needs the name of a macro"));
                        false
                    }
                };
                self.open(span, is_defined == (name == "ifdef"));
            }
            "if" => {
                let value = self.is_active() && self.condition(span, rest);
                self.open(span, value);
            }
            "elif" => self.branch(span, Some(rest)),
            "else" => self.branch(span, None),
            "endif" => {
                if self.conditions.pop().is_none() {
                    self.error(span, "`#endif` without `#if`");
                }
            }
            _ if !self.is_active() => {}
            "define" => self.definition(span, rest),
            "undef" => match rest.first().and_then(Token::shared_name) {
                Some(name) => {
                    self.is_defined(name);
                    self.macros.remove(name);
                }
                None => self.error(span, "`#undef` needs the name of a macro"),
            },
            "include" => self.included(span, rest, out),
            "error" => {
                let text = self.text_of(rest);
                self.error(span, format!("#error {text}"));
            }
            "warning" => {
                let text = self.text_of(rest);
                let message = format!("#warning {text}");
                self.diagnostics
                    .push(Diagnostic::warning("preprocessor", span, message));
            }
            "pragma" | "line" | "ident" => {}
            other => self.error(span, format!("`#{other}` is not supported")),
        }
    }

    /// Is there a macro with this name?
    fn is_defined(&mut self, name: &Rc<str>) -> bool {
        match self.macros.get_key_value(name) {
            Some((declared, _)) => self.seen.notes.found(name, declared),
            None => self.seen.asked.push(name.clone()),
        }
        self.macros.contains_key(name)
    }

    fn text_of(&self, tokens: &[Token]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = &self.sources[first.span.source.index()].text;
        text[first.span.start as usize..last.span.end as usize].to_owned()
    }

    fn open(&mut self, span: Span, value: bool) {
        let done = value || !self.is_active();
        let active = value && self.is_active();
        self.conditions.push(Condition {
            span,
            active,
            done,
            has_else: false,
        });
    }

    /// `#elif` with its condition, or `#else`.
    fn branch(&mut self, span: Span, condition: Option<&[Token]>) {
        let Some(last) = self.conditions.last() else {
            self.error(span, "`#else` without `#if`");
            return;
        };
        if last.has_else {
            self.error(span, "this condition already has an `#else`");
            return;
        }
        let done = last.done;
        let value = !done && condition.is_none_or(|tokens| self.condition(span, tokens));
        let last = self.conditions.last_mut().expect("one is open");
        last.active = value;
        last.done |= value;
        last.has_else = condition.is_none();
    }

    fn definition(&mut self, span: Span, line: &[Token]) {
        let Some(name) = line.first().and_then(Token::shared_name).cloned() else {
            self.error(span, "`#define` needs a name");
            return;
        };
        let has_parameters = line.get(1).is_some_and(|t| t.is("(") && !t.spaced);
        let (parameters, body) = if has_parameters {
            let Some(close) = line.iter().position(|t| t.is(")")) else {
                self.error(line[1].span, "the arguments of this macro have no `)`");
                return;
            };
            let names = line[2..close].iter().filter_map(Token::shared_name);
            (Some(names.cloned().collect()), &line[close + 1..])
        } else {
            (None, &line[1..])
        };
        let body = body.to_vec();
        self.note_definition(&name, parameters.as_deref().unwrap_or(&[]), line);
        // Not only the value is replaced: the name says where the macro is defined now.
        self.macros.remove(&name);
        self.macros.insert(name, Macro { parameters, body });
    }

    fn note_definition(&mut self, name: &Rc<str>, parameters: &[Rc<str>], line: &[Token]) {
        for word in line.iter().skip(1).filter_map(Token::shared_name) {
            if let Some(parameter) = parameters.iter().find(|p| *p == word) {
                self.seen.notes.found(word, parameter);
            }
        }
        let (first, last) = (line[0].span, line[line.len() - 1].span);
        if first.source == SourceId(0) {
            let (name, parameters) = (name.clone(), parameters.to_vec());
            let defined = MacroName { name, parameters };
            self.seen.macros.push((defined, first.to(last)));
        }
    }

    fn included(&mut self, span: Span, line: &[Token], out: &mut Vec<Token>) {
        let name = match line {
            [token] => match &token.kind {
                TokenKind::Text(text) => Some(text.to_string()),
                _ => None,
            },
            [open, inner @ .., close] if open.is("<") && close.is(">") => Some(self.text_of(inner)),
            _ => None,
        };

        let Some(name) = name else {
            self.error(span, "write `#include \"file\"`");
            return;
        };
        self.n_included += 1;
        if self.depth >= MAX_DEPTH || self.n_included > MAX_INCLUDED {
            self.work_left = 0;
            let message = format!("files include each other again and again, here `{name}`");
            let diagnostic = Diagnostic::error("include", span, message);
            let help = "put `#ifndef NAME`, `#define NAME` and `#endif` around an included file";
            self.diagnostics.push(diagnostic.help(help));
            return;
        }

        let including = self.sources[span.source.index()].name.clone();
        match (self.include)(&including, &name) {
            Ok(source) => {
                self.depth += 1;
                let id = SourceId::new(self.sources.len());
                self.sources.push(source);
                self.source(id, out);
                self.depth -= 1;
            }
            Err(reason) => {
                self.error(span, format!("`{name}` cannot be included: {reason}"));
            }
        }
    }

    /// Expands macros. `pending` is a stack: its last token comes first.
    fn expand(&mut self, mut pending: Vec<Token>, out: &mut Vec<Token>) {
        while let Some(token) = pending.pop() {
            if !self.spend(1 + token.hidden.len(), token.span) {
                return;
            }
            let Some(replacement) = self.replacement(&token, &mut pending) else {
                out.push(token);
                continue;
            };
            // The line starts with what comes next if a macro stands for nothing.
            if replacement.is_empty()
                && token.starts_line
                && let Some(next) = pending.last_mut()
            {
                next.starts_line = true;
            }
            pending.extend(replacement.into_iter().rev());
        }
    }

    /// What a token stands for if it is the use of a macro; takes its arguments from `pending`.
    fn replacement(&mut self, token: &Token, pending: &mut Vec<Token>) -> Option<Vec<Token>> {
        let name = token.shared_name()?;
        if token.hidden.contains(name) {
            return None;
        }
        let (declared, definition) = self.macros.get_key_value(name)?;
        let (declared, definition) = (declared.clone(), definition.clone());
        let arguments = match &definition.parameters {
            None => Vec::new(),
            Some(parameters) => {
                if !pending.last().is_some_and(|next| next.is("(")) {
                    return None;
                }
                self.arguments(token, parameters.len(), pending)?
            }
        };

        self.seen.notes.found(name, &declared);
        let mut hidden = token.hidden.to_vec();
        hidden.push(name.clone());
        let mut body = self.substitute(&definition, &arguments);
        for (position, part) in body.iter_mut().enumerate() {
            part.span = token.span;
            part.starts_line = position == 0 && token.starts_line;
            let union: Vec<_> = part.hidden.iter().chain(&hidden).cloned().collect();
            part.hidden = union.into();
        }

        Some(body)
    }

    fn arguments(
        &mut self,
        token: &Token,
        n_parameters: usize,
        pending: &mut Vec<Token>,
    ) -> Option<Vec<Vec<Token>>> {
        pending.pop();
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some(next) = pending.pop() else {
                self.error(token.span, "the arguments of this macro have no `)`");
                return None;
            };
            if next.is(")") && depth == 0 {
                break;
            }
            depth += i32::from(next.is("(")) - i32::from(next.is(")"));
            // Macros inside of arguments are expanded by recursion, each with its own copy.
            if depth > MAX_ARGUMENT_DEPTH {
                let message = "the arguments of this macro are nested too deeply";
                self.diagnostics
                    .push(Diagnostic::error("too-deep", token.span, message));
                self.work_left = 0;
                return None;
            }
            if next.is(",") && depth == 0 {
                arguments.push(Vec::new());
            } else {
                arguments.last_mut().expect("there is one").push(next);
            }
        }

        if n_parameters == 0 && arguments == [vec![]] {
            arguments.clear();
        }
        if arguments.len() != n_parameters {
            let message = format!(
                "this macro takes {n_parameters} arguments, but {} are given",
                arguments.len()
            );
            self.error(token.span, message);
            arguments.resize(n_parameters, Vec::new());
        }

        Some(arguments)
    }

    fn substitute(&mut self, definition: &Macro, arguments: &[Vec<Token>]) -> Vec<Token> {
        let parameter = |token: &Token| -> Option<usize> {
            let name = token.name()?;
            let names = definition.parameters.as_ref()?;
            names.iter().position(|other| &**other == name)
        };
        let body = &definition.body;
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;

        while at < body.len() {
            let token = &body[at];
            let next_pastes = body.get(at + 1).is_some_and(|next| next.is("##"));
            if token.is("#")
                && let Some(position) = body.get(at + 1).and_then(parameter)
            {
                let text = self.text_of(&arguments[position]);
                let kind = TokenKind::Text(text.into());
                out.push(Token {
                    kind,
                    ..token.clone()
                });
                at += 2;
                continue;
            }
            if token.is("##") && at > 0 && at + 1 < body.len() {
                let right = &body[at + 1];
                let mut right = match parameter(right) {
                    Some(position) => arguments[position].clone(),
                    None => vec![right.clone()],
                };
                if let (Some(left), false) = (out.pop(), right.is_empty()) {
                    right[0] = paste(&left, &right[0]);
                }
                out.extend(right);
                at += 2;
                continue;
            }
            match parameter(token) {
                Some(position) if next_pastes => out.extend(arguments[position].iter().cloned()),
                Some(position) => {
                    let mut argument = arguments[position].clone();
                    argument.reverse();
                    self.expand(argument, &mut out);
                }
                None => out.push(token.clone()),
            }
            at += 1;
        }

        out
    }

    /// The value of an `#if` condition.
    fn condition(&mut self, span: Span, tokens: &[Token]) -> bool {
        let mut resolved = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            if token.is_name("defined") {
                let parenthesis = tokens.get(at + 1).is_some_and(|t| t.is("("));
                let position = at + 1 + usize::from(parenthesis);
                let name = tokens.get(position).and_then(Token::shared_name);
                let value = name.is_some_and(|name| self.is_defined(name));
                let kind = TokenKind::Number(i64::from(value));
                resolved.push(Token {
                    kind,
                    ..token.clone()
                });
                at = position + 1 + usize::from(parenthesis);
            } else {
                resolved.push(token.clone());
                at += 1;
            }
        }

        resolved.reverse();
        let mut expanded = Vec::new();
        self.expand(resolved, &mut expanded);

        let mut reader = ConditionReader {
            tokens: &expanded,
            at: 0,
            depth: 0,
        };
        let value = reader.binary(0);

        match value {
            Some(value) if reader.at == expanded.len() => value != 0,
            _ => {
                self.error(span, "this condition is not a constant expression");
                false
            }
        }
    }
}

/// Where the line that starts at `at` ends.
fn end_of_line(raw: &[Token], at: usize) -> usize {
    let after = raw[at + 1..].iter().position(|token| token.starts_line);
    after.map_or(raw.len(), |offset| at + 1 + offset)
}

/// The next directive at or after `at`.
fn next_directive(raw: &[Token], at: usize) -> usize {
    let is_directive = |token: &Token| token.is("#") && token.starts_line;
    let found = raw[at..].iter().position(is_directive);
    found.map_or(raw.len(), |offset| at + offset)
}

/// Two tokens written as one, where that makes a token; else the first.
fn paste(left: &Token, right: &Token) -> Token {
    let text = |token: &Token| match &token.kind {
        TokenKind::Name(name) => name.to_string(),
        TokenKind::Number(value) => value.to_string(),
        TokenKind::Punct(punct) => (*punct).to_owned(),
        TokenKind::Text(_) | TokenKind::End => String::new(),
    };
    let joined = text(left) + &text(right);
    let found = token::tokens(&joined, left.span.source, &mut Vec::new());
    let kind = match found.as_slice() {
        [one] => one.kind.clone(),
        _ => left.kind.clone(),
    };
    Token {
        kind,
        ..left.clone()
    }
}

/// Evaluates the condition of an `#if`.
struct ConditionReader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

/// Operators of conditions by strength.
const LEVELS: [&[&str]; 6] = [
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["+", "-"],
    &["*", "/", "%"],
];

impl ConditionReader<'_> {
    fn binary(&mut self, level: usize) -> Option<i64> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;

        while let Some(op) = self.operator(LEVELS[level]) {
            let right = self.binary(level + 1)?;
            left = match op {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }

        Some(left)
    }

    fn operator(&mut self, ops: &[&'static str]) -> Option<&'static str> {
        let token = self.tokens.get(self.at)?;
        let op = ops.iter().find(|op| token.is(op))?;
        self.at += 1;
        Some(op)
    }

    fn unary(&mut self) -> Option<i64> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = match &token.kind {
            TokenKind::Number(value) => Some(*value),
            TokenKind::Name(name) => Some(i64::from(&**name == "true")),
            TokenKind::Punct("!") => Some(i64::from(self.unary()? == 0)),
            TokenKind::Punct("-") => Some(self.unary()?.wrapping_neg()),
            TokenKind::Punct("(") => {
                let value = self.binary(0)?;
                let closed = self.tokens.get(self.at).is_some_and(|t| t.is(")"));
                self.at += 1;
                closed.then_some(value)
            }
            _ => None,
        };

        self.depth -= 1;
        value
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}
