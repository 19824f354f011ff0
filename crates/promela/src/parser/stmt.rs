//! Statements and sequences.

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::{Parsed, Parser, Wrong};
use crate::ast::{Expr, ExprKind, Printed, Stmt, StmtKind};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `{ … }` of a process or claim, and where it ends.
    pub(super) fn body(&mut self) -> Parsed<(Vec<Stmt>, Span)> {
        let body = self.block()?;
        let end = self.tokens[self.at - 1].span;
        Ok((body, end))
    }

    /// `{ … }`.
    pub(super) fn block(&mut self) -> Parsed<Vec<Stmt>> {
        let open = self.span();
        self.expect("{")?;
        let body = self.nested(Self::sequence)?;
        if !self.eat("}") {
            let found = self.token().describe();
            let message = format!("expected `}}` or a statement, found {found}");
            let span = self.span();
            let diagnostic = Diagnostic::error("syntax", span, message);
            self.say(diagnostic.label(open, "the block starts here"));
            return Err(Wrong);
        }
        Ok(body)
    }

    fn at_closer(&self) -> bool {
        self.is("}")
            || self.is("::")
            || self.is_word("fi")
            || self.is_word("od")
            || self.at_end()
            || (self.is_word("unless") && self.depth == 0)
    }

    /// Statements up to `}`, `::`, `fi` or `od`.
    pub(super) fn sequence(&mut self) -> Parsed<Vec<Stmt>> {
        let mut statements = Vec::new();
        loop {
            while self.eat(";") || self.eat("->") {}
            if self.at_closer() {
                return Ok(statements);
            }
            let before = self.at;
            match self.nested(Self::step) {
                Ok(statement) => {
                    self.warn_of_assignment(&statement);
                    statements.push(statement);
                    self.separator(before);
                }
                Err(Wrong) => {
                    if self.at == before {
                        self.advance();
                    }
                    self.skip_to_separator();
                    if self.at_end() {
                        return Err(Wrong);
                    }
                }
            }
        }
    }

    /// After a statement: `;`, `->`, the end of the line or of the sequence.
    fn separator(&mut self, before: usize) {
        let last = &self.tokens[self.at.saturating_sub(1)];
        let next = self.token();
        let fine = next.is(";")
            || next.is("->")
            || self.at_closer()
            || next.starts_line
            || last.is("}")
            || last.is_name("else")
            || self.at == before;

        if fine {
            return;
        }
        let at = Span::new(
            last.span.source,
            last.span.end as usize,
            last.span.end as usize,
        );
        let found = next.describe();
        let diagnostic = if next.is("=") {
            let span = next.span;
            let message = "`=` assigns and cannot stand inside an expression";
            Diagnostic::error("syntax", span, message).help("compare with `==`")
        } else if next.is_name("do") || next.is_name("if") || next.name().is_some() {
            let message = format!("`;` is missing before {found}");
            Diagnostic::error("missing-semicolon", at, message)
                .help("separate statements with `;` (or `->` after a guard)")
        } else {
            let message = format!("expected `;` or `->` after the statement, found {found}");
            Diagnostic::error("syntax", next.span, message)
        };

        let skip = next.is("=");
        self.say(diagnostic);
        if skip {
            self.skip_to_separator();
        }
    }

    /// `:: x = 1 -> …` is never what was meant: an assignment does not test anything.
    fn warn_of_assignment(&mut self, statement: &Stmt) {
        if let StmtKind::Assign(..) = statement.kind
            && self.is("->")
        {
            let message = "an assignment is always executable, so it is not a guard";
            let diagnostic = Diagnostic::warning("assignment-as-guard", statement.span, message);
            self.say(diagnostic.help("write `==` to compare, or `;` after an assignment"));
        }
    }

    fn skip_to_separator(&mut self) {
        let mut depth = 0_i32;
        while !self.at_end() {
            let token = self.token();
            if depth == 0 && (token.is(";") || token.is("->") || self.at_closer()) {
                return;
            }
            depth += i32::from(token.is("{")) - i32::from(token.is("}"));
            self.advance();
        }
    }

    /// A declaration, or a statement with its escape.
    fn step(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        if self.is_word("xr") || self.is_word("xs") {
            self.advance();
            let mut channels = vec![self.var_ref()?];
            while self.eat(",") {
                channels.push(self.var_ref()?);
            }
            let span = self.since(start);
            let kind = StmtKind::Exclusive(channels);
            return Ok(Stmt { kind, span });
        }

        if self.is_word("mtype") && (self.ahead(1).is("=") || self.ahead(1).is("{")) {
            let message = "`mtype` constants are declared outside processes";
            self.say(Diagnostic::error("syntax", start, message));
            return Err(Wrong);
        }
        if self.starts_declaration() {
            let declared = self.declaration()?;
            let span = self.since(start);
            let kind = StmtKind::Declare(declared);
            return Ok(Stmt { kind, span });
        }

        let mut statement = self.statement()?;
        // `unless` may stand on a line of its own.
        while self.eat_word("unless") {
            let escape = self.nested(Self::statement)?;
            let span = self.since(start);
            let kind = StmtKind::Unless(Box::new(statement), Box::new(escape));
            statement = Stmt { kind, span };
        }

        Ok(statement)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = self.statement_kind()?;
        let span = self.since(start);
        Ok(Stmt { kind, span })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        let Some(word) = self.token().name().map(Rc::<str>::from) else {
            return if self.is("{") {
                Ok(StmtKind::Block(self.block()?))
            } else {
                self.condition()
            };
        };

        match &*word {
            "if" => Ok(StmtKind::If(self.options("fi")?)),
            "do" => Ok(StmtKind::Do(self.options("od")?)),
            "for" => self.for_loop(),
            "select" => self.select(),
            "break" => self.word(StmtKind::Break),
            "else" => self.word(StmtKind::Else),
            "goto" => {
                self.advance();
                Ok(StmtKind::Goto(self.new_name("a label")?.0))
            }
            "atomic" => {
                self.advance();
                Ok(StmtKind::Atomic(self.block()?))
            }
            "d_step" => {
                self.advance();
                Ok(StmtKind::DStep(self.block()?))
            }
            "assert" => {
                self.advance();
                Ok(StmtKind::Assert(self.expr()?))
            }
            "printf" | "printm" => self.print(),
            "set_priority" => {
                self.advance();
                self.expect("(")?;
                let pid = self.expr()?;
                self.expect(",")?;
                let value = self.expr()?;
                self.expect(")")?;
                self.program.priorities.push(self.since(start));
                Ok(StmtKind::SetPriority(pid, value))
            }
            "c_code" | "c_decl" => {
                self.not_supported("embedded C code", "write this part in Promela")
            }
            "return" => {
                let message = "`return` belongs into an `inline` that is called as `x = f(…)`";
                self.say(Diagnostic::error("syntax", start, message));
                Err(Wrong)
            }
            "unless" => {
                let message = "`unless` needs a statement in front of it";
                self.say(Diagnostic::error("syntax", start, message));
                Err(Wrong)
            }
            "typedef" | "proctype" | "inline" | "never" | "ltl" | "active" => {
                let message = format!("`{word}` cannot stand inside a process");
                let diagnostic = Diagnostic::error("syntax", start, message);
                self.say(diagnostic.help("is a `}` missing above?"));
                Err(Wrong)
            }
            // Names that are not keywords: what follows decides between a label, a call of an
            // inline, a timer and an assignment or condition.
            _ if self.ahead(1).is(":") && !self.process_names.contains(&word) => self.labelled(),
            _ if self.ahead(1).is("(") && self.find_inline(&word).is_some() => {
                self.expand_call(self.at, None)?;
                Ok(StmtKind::Block(self.block()?))
            }
            "set" | "delay" if self.ahead(1).is("(") => self.timer_setting(&word),
            "expire" | "off" if self.ahead(1).is("(") => self.condition(),
            _ => self.simple(),
        }
    }

    /// `set(t, e)`; `delay(t, e)` also waits until the timer expires.
    fn timer_setting(&mut self, word: &str) -> Parsed<StmtKind> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let timer = self.var_ref()?;
        self.expect(",")?;
        let value = self.expr()?;
        self.expect(")")?;
        let set = StmtKind::SetTimer(timer.clone(), value);
        if word == "set" {
            return Ok(set);
        }
        let span = self.since(start);
        let kind = ExprKind::Expired(timer);
        let wait = StmtKind::Condition(Expr { kind, span });
        let sequence = [set, wait].map(|kind| Stmt { kind, span });
        Ok(StmtKind::Spliced(sequence.to_vec()))
    }

    fn word(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.advance();
        Ok(kind)
    }

    fn condition(&mut self) -> Parsed<StmtKind> {
        Ok(StmtKind::Condition(self.expr()?))
    }

    fn options(&mut self, closer: &str) -> Parsed<Vec<Vec<Stmt>>> {
        let start = self.span();
        self.advance();
        while self.eat(";") {}
        if !self.is("::") {
            let found = self.token().describe();
            let message = format!("expected `::` before the first option, found {found}");
            let span = self.span();
            let diagnostic = Diagnostic::error("syntax", span, message);
            self.say(diagnostic.help("Promela writes `if :: condition -> … :: else -> … fi`"));
            self.skip_options();
            return Err(Wrong);
        }

        let mut options = Vec::new();
        while self.eat("::") {
            let span = self.span();
            let option = self.nested(Self::sequence)?;
            let is_step =
                |s: &Stmt| !matches!(s.kind, StmtKind::Declare(_) | StmtKind::Exclusive(_));
            if !option.iter().any(is_step) {
                let message = "this option has no statement";
                self.say(Diagnostic::error("syntax", span, message).help("write `skip`"));
            }
            options.push(option);
        }

        if !self.eat_word(closer) {
            let found = self.token().describe();
            let message = format!("expected `{closer}`, found {found}");
            let span = self.span();
            let diagnostic = Diagnostic::error("syntax", span, message);
            self.say(diagnostic.label(
                start,
                format!("needed to close this; `{closer}` is missing"),
            ));
            return Err(Wrong);
        }

        Ok(options)
    }

    /// Skips the rest of a selection or loop that is not understood.
    fn skip_options(&mut self) {
        let mut depth = 1;
        while !self.at_end() && depth > 0 && !self.is("}") {
            depth += i32::from(self.is_word("if") || self.is_word("do"));
            depth -= i32::from(self.is_word("fi") || self.is_word("od"));
            self.advance();
        }
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        let var = self.var_ref()?;
        if self.eat_word("in") {
            let within = self.var_ref()?;
            self.expect(")")?;
            while self.eat(";") {}
            let body = self.block()?;
            return Ok(StmtKind::ForIn { var, within, body });
        }
        let (from, to) = self.range()?;
        while self.eat(";") {}
        let body = self.block()?;
        Ok(StmtKind::For {
            var,
            from,
            to,
            body,
        })
    }

    /// `: a .. b )`.
    fn range(&mut self) -> Parsed<(Expr, Expr)> {
        if !self.eat(":") {
            return self.expected("`:`, as in `(i : 1 .. 9)`");
        }
        let from = self.expr()?;
        self.expect("..")?;
        let to = self.expr()?;
        self.expect(")")?;
        Ok((from, to))
    }

    fn select(&mut self) -> Parsed<StmtKind> {
        let hidden = self.token().hidden.clone();
        self.advance();
        self.expect("(")?;
        let is_plain =
            self.token().name().is_some_and(|name| !name.contains('_')) && self.ahead(1).is(":");
        let var = self.var_ref()?;
        let (from, to) = self.range()?;
        // Spin's scanner does it, which knows names without `_` only, and not in inlines.
        let is_inlined = hidden.iter().any(|name| self.find_inline(name).is_some());
        Ok(StmtKind::Select {
            var,
            from,
            to,
            is_written_out: is_plain && !is_inlined,
        })
    }

    fn print(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        let mut format = String::new();
        let mut values = Vec::new();
        if matches!(self.token().kind, TokenKind::Text(_)) {
            // Adjacent strings are one, as in C.
            while let TokenKind::Text(text) = &self.token().kind {
                format.push_str(text);
                self.advance();
            }
        } else {
            format.push_str("%e");
            values.push(self.expr()?);
        }
        while self.eat(",") {
            values.push(self.expr()?);
        }
        self.expect(")")?;
        let format = format.into();
        Ok(StmtKind::Print(Printed { format, values }))
    }

    fn labelled(&mut self) -> Parsed<StmtKind> {
        let (name, span) = self.new_name("a label")?;
        self.advance();
        if self.starts_declaration() {
            let message = "a label cannot stand before a declaration";
            self.say(Diagnostic::error("syntax", span, message));
            return Err(Wrong);
        }
        let inner = if self.is(";") || self.is("->") || self.at_closer() {
            let kind = StmtKind::Condition(one(span));
            Stmt { kind, span }
        } else {
            self.nested(Self::statement)?
        };
        Ok(StmtKind::Label(name, Box::new(inner)))
    }

    /// An assignment, communication or condition.
    fn simple(&mut self) -> Parsed<StmtKind> {
        let start = self.at;
        let n_said = self.diagnostics.len();
        let word = self.token().name().expect("it starts with a name");
        let is_variable = !super::is_keyword(word) && !self.process_names.contains(word);
        if !is_variable {
            return self.condition();
        }
        let var = self.var_ref()?;

        // At the start of a line an operator belongs to the next statement, since `;` may be
        // omitted at the end of a line.
        let op = match &self.token().kind {
            TokenKind::Punct(op) if !self.token().starts_line => *op,
            _ => "",
        };
        let next_opens = self.ahead(1).is("[");

        match op {
            "=" => {
                let end = self.at;
                self.advance();
                let name = self.token().name().map(Rc::<str>::from);
                if let Some(name) = name
                    && self.ahead(1).is("(")
                    && self.find_inline(&name).is_some()
                {
                    // A call that returns a value is expanded in place, with the target of the
                    // assignment put where the inline says `return`.
                    let target = self.tokens[start..end].to_vec();
                    self.expand_call(self.at, Some(target))?;
                    return Ok(StmtKind::Block(self.block()?));
                }
                Ok(StmtKind::Assign(var, self.expr()?))
            }
            "++" | "--" => {
                self.advance();
                let span = var.span;
                let op = match op {
                    "++" => crate::ast::Binary::Add,
                    _ => crate::ast::Binary::Sub,
                };
                let read = Expr {
                    kind: ExprKind::Var(var.clone()),
                    span,
                };
                let kind = ExprKind::Binary(op, Box::new(read), Box::new(one(span)));
                Ok(StmtKind::Assign(var, Expr { kind, span }))
            }
            "!" | "!!" => {
                self.advance();
                let arguments = self.send_arguments()?;
                Ok(StmtKind::Send {
                    channel: var,
                    arguments,
                    sorted: op == "!!",
                })
            }
            "?" | "??" if !next_opens => {
                self.advance();
                let peek = self.eat("<");
                let arguments = self.receive_arguments()?;
                if peek {
                    self.expect(">")?;
                }
                Ok(StmtKind::Receive {
                    channel: var,
                    arguments,
                    any: op == "??",
                    peek,
                })
            }
            "(" => {
                let name = var.parts[0].name.clone();
                let message = format!("there is no inline `{name}`");
                let span = var.span;
                let mut diagnostic = Diagnostic::error("unknown-name", span, message);
                let known = self.inlines.iter().map(|inline| &*inline.name);
                if let Some(close) = base::closest_name(&name, known) {
                    diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
                } else {
                    diagnostic = diagnostic.help("a process is started with `run`, and an `inline` must be declared before its use");
                }
                self.say(diagnostic);
                Err(Wrong)
            }
            _ => {
                // It was a condition after all: read again from the start, and forget what the
                // attempt has reported.
                self.at = start;
                self.diagnostics.truncate(n_said);
                self.condition()
            }
        }
    }

    /// `a, b` or `m(a, b)`.
    fn send_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expr()?);
            if self.eat("(") {
                while !self.is(")") {
                    arguments.push(self.expr()?);
                    if !self.eat(",") && !self.is(")") {
                        return self.expected("`,` or `)`");
                    }
                }
                self.expect(")")?;
            }
            if !self.eat(",") {
                return Ok(arguments);
            }
        }
    }
}

fn one(span: Span) -> Expr {
    let kind = ExprKind::Int(1);
    Expr { kind, span }
}
