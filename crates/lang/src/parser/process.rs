//! Processes and their steps.

use std::sync::Arc;

use base::{Diagnostic, Span};
use model::AnnotationKind;

use super::{ACTION_WORDS, Parsed, Parser, Reported, is_reserved};
use crate::ast::{
    Binder, Communication, Ends, Expr, ExprKind, FairnessMark, FromBlock, Ident, Manner,
    PatternExpr, ProcessDecl, Sources, StepDecl, Stmt,
};
use crate::lexer::TokenKind;

/// The variable of a process that is created by others; it says whether that has happened.
const CREATED: &str = "created";

/// The target of steps after which a process that was created does not exist any more.
pub(crate) const END: &str = "end";

/// How many tokens the index of a channel may have.
const MAX_LOOKAHEAD: usize = 200;

impl Parser<'_> {
    pub(super) fn process(&mut self) -> Parsed<ProcessDecl> {
        let start = self.peek().span;
        let fairness = self.fairness_mark()?;
        let spawned = self.at("spawned").then(|| Ident {
            text: CREATED.to_owned(),
            span: self.advance().span,
        });
        self.expect("process")?;

        let name = self.name("the name of a process")?;
        let mut indices = Vec::new();
        if self.at("(") {
            let open = self.advance().span;
            indices = self.process_indices()?;
            self.expect_close(")", open)?;
        }

        let mut process = ProcessDecl {
            fairness,
            spawned,
            name,
            indices,
            vars: Vec::new(),
            timers: Vec::new(),
            defs: Vec::new(),
            initial: Vec::new(),
            ends: None,
            blocks: Vec::new(),
            span: start.to(self.previous_span()),
        };

        let open = self.expect("{")?;
        let n_said = self.diagnostics.len();
        self.block(open, &[], |p| p.process_item(&mut process))?;
        self.check_step_names(&process, n_said);
        Ok(process)
    }

    /// `from, to in Node, i in 1..3`.
    fn process_indices(&mut self) -> Parsed<Vec<(Ident, Expr, Expr)>> {
        let mut indices = Vec::new();
        loop {
            let mut names = self.list(|p| p.name("the name of the process index"))?;
            self.expect("in")?;
            let (lo, hi, _) = self.domain()?;
            // Where names are written is known of the range itself, not of copies.
            let last = names.pop();
            indices.extend(names.into_iter().map(|name| (name, lo.clone(), hi.clone())));
            indices.extend(last.map(|name| (name, lo, hi)));
            if !self.eat(",") {
                return Ok(indices);
            }
        }
    }

    /// Items up to the closing brace; after an error goes on with the next item. A line that
    /// begins with one of the words `outside` shows that the brace is missing.
    fn block(
        &mut self,
        open: Span,
        outside: &[&str],
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        loop {
            if self.eat(";") {
                continue;
            }
            if self.eat("}") {
                return Ok(());
            }
            let token = self.peek();
            let is_outside = token.starts_line
                && outside.contains(&token.text)
                && (token.text != "from" || self.at_from_block());
            if is_outside || self.at_end() || self.at_outside_declaration() {
                return Err(self.missing_brace(open));
            }
            let start = self.position;
            if item(self).is_err() {
                self.recover(start);
            }
        }
    }

    fn missing_brace(&mut self, open: Span) -> Reported {
        // An inner block that met the same token has said so already.
        let span = self.peek().span;
        let said = |d: &Diagnostic| d.code == "missing-brace" && d.labels[0].span == span;
        if self.diagnostics.last().is_some_and(said) {
            return Reported;
        }
        let message = format!("expected `}}`, found {}", self.found());
        let diagnostic = Diagnostic::error("missing-brace", span, message)
            .label(open, "this block is not closed")
            .help("close the block with `}`");
        self.report(diagnostic)
    }

    fn process_item(&mut self, process: &mut ProcessDecl) -> Parsed<()> {
        match self.peek().text {
            "var" => {
                self.advance();
                process.vars.push(self.variables()?);
            }
            "timer" => {
                self.advance();
                process.timers.push(self.timers()?);
            }
            "def" => {
                self.advance();
                process.defs.push(self.definition(false)?);
            }
            "init" => {
                self.advance();
                let initial = self.list(|p| p.member("the name of a location"))?;
                process.initial.extend(initial);
            }
            "end" if self.at_ends() => {
                let start = self.advance().span;
                let is_everywhere = self.eat("*");
                let names = if is_everywhere {
                    Vec::new()
                } else {
                    self.list(|p| p.member("the name of a location"))?
                };
                let span = start.to(self.previous_span());
                if process.ends.replace(Ends { names, span }).is_some() {
                    let message = "the ends of a process are declared once";
                    let help = "name all of them in one list: `end idle, done`";
                    self.report(Diagnostic::error("duplicate-ends", span, message).help(help));
                }
            }
            "from" if self.at_from_block() => {
                self.advance();
                let sources = self.sources()?;
                let open = self.expect("{")?;
                let mut steps = Vec::new();
                let result = self.block(open, &["from", "init", "var", "timer"], |p| {
                    p.step().map(|step| steps.push(step))
                });
                process.blocks.push(FromBlock { sources, steps });
                result?;
            }

            // A step outside of a block begins or continues the block that is implied.
            _ => {
                let step = self.step()?;
                match process.blocks.last_mut() {
                    Some(FromBlock {
                        sources: Sources::Implicit,
                        steps,
                    }) => steps.push(step),
                    _ => process.blocks.push(FromBlock {
                        sources: Sources::Implicit,
                        steps: vec![step],
                    }),
                }
            }
        }

        Ok(())
    }

    /// Is a declaration of ends next, not a step of that name? Its list ends with the line or with the
    /// block.
    fn at_ends(&self) -> bool {
        if self.peek_at(1).starts_line {
            return false;
        }
        if self.peek_at(1).text == "*" {
            return true;
        }
        let mut ahead = 1;
        while self.peek_at(ahead).kind == TokenKind::Word && !is_reserved(self.peek_at(ahead).text)
        {
            let next = self.peek_at(ahead + 1);
            if next.text != "," {
                return next.starts_line || ["}", ";"].contains(&next.text);
            }
            ahead += 2;
        }
        false
    }

    fn sources(&mut self) -> Parsed<Sources> {
        if self.at("*") {
            self.advance();
            return Ok(Sources::All);
        }
        let names = self.list(|p| p.member("the name of a location"))?;
        Ok(Sources::Named(names))
    }

    /// `just fair`, `weak fair`, `strong fair`, `fair`, each with or without `choice`.
    fn fairness_mark(&mut self) -> Parsed<Option<FairnessMark>> {
        let start = self.peek().span;
        let kind = match self.peek().text {
            // `just` alone is a name like any other.
            "just" if self.peek_at(1).text == "fair" => AnnotationKind::Just,
            "weak" => AnnotationKind::Weak,
            "strong" => AnnotationKind::Strong,
            "fair" => AnnotationKind::Unconditional,
            _ => return Ok(None),
        };
        if kind != AnnotationKind::Unconditional {
            self.advance();
        }
        self.expect("fair")?;
        let choice = self.eat("choice");
        let span = start.to(self.previous_span());
        Ok(Some(FairnessMark { kind, choice, span }))
    }

    fn step(&mut self) -> Parsed<StepDecl> {
        let start = self.peek().span;
        let n_said = self.diagnostics.len();
        let fairness = self.fairness_mark()?;
        let name = self.action_name()?;
        let mut step = StepDecl {
            fairness,
            name,
            parameters: Vec::new(),
            guards: Vec::new(),
            communications: Vec::new(),
            delay: None,
            effect: Vec::new(),
            target: None,
            span: start,
        };

        if self.at("(") {
            let open = self.advance().span;
            step.parameters = self.binders()?;
            self.expect_close(")", open)?;
        }

        self.step_clauses(&mut step)?;
        if self.eat("->") {
            step.target = Some(self.member("the name of a location")?);
        }
        self.check_not_foreign(&step)?;
        self.check_step_end()?;
        step.span = start.to(self.previous_span());
        // What is wrong in a clause is not missing.
        if self.diagnostics.len() == n_said {
            self.check_not_stray(&step)?;
        }
        Ok(step)
    }

    fn step_clauses(&mut self, step: &mut StepDecl) -> Parsed<()> {
        loop {
            if self.eat("when") {
                let guard = self.guard()?;
                step.guards.push(guard);
            } else if self.at("delay") && self.peek_at(1).kind == TokenKind::Word {
                let start = self.advance().span;
                let kind = self.timer_setting()?;
                let span = start.to(self.previous_span());
                step.delay = Some(Stmt { kind, span });
            } else if self.at("{") {
                if !step.effect.is_empty() {
                    return Err(self.unexpected("one effect only"));
                }
                step.effect = self.stmt_block()?;
            } else if self.communication_at(0) {
                let start = self.peek().span;
                let communication = self.communication()?;
                let span = start.to(self.previous_span());
                step.communications.push((communication, span));
            } else if self.at(";") && !step.communications.is_empty() && self.communication_at(1) {
                self.advance();
            } else {
                return Ok(());
            }
        }
    }

    /// Reports what cannot follow a step and looks like a slip.
    fn check_step_end(&mut self) -> Parsed<()> {
        let token = self.peek();
        let may_begin_item = token.kind == TokenKind::Word
            && (!is_reserved(token.text)
                || ACTION_WORDS.contains(&token.text)
                || [
                    "var", "timer", "def", "init", "from", "weak", "strong", "fair",
                ]
                .contains(&token.text));

        if may_begin_item || ["}", ";"].contains(&token.text) || token.starts_line || self.at_end()
        {
            return Ok(());
        }

        let message = format!("expected the next step or `}}`, found {}", self.found());
        let mut diagnostic = Diagnostic::error("syntax", token.span, message);
        diagnostic = match token.text {
            "->" => diagnostic.help(
                "in a guard, `->` ends the guard and names the target; write `implies`, or put the implication in parentheses",
            ),
            "=>" => diagnostic.help("the target of a step follows `->`: `name { effect } -> location`"),
            "then" => diagnostic.help("nothing stands between guard and effect: `name when guard { effect }`"),
            "=" | ":=" => diagnostic.help("assignments stand in braces: `{ x := 1 }`"),
            "(" | "[" => diagnostic.help("`when` introduces a guard, braces an effect"),
            _ => diagnostic.help(
                "a step is `name(parameters) when guard communication { effect } -> location`",
            ),
        };
        Err(self.report(diagnostic))
    }

    /// Does a communication begin this many tokens ahead: `sync`, `for`, or a channel with `!` or `?`?
    fn communication_at(&self, n: usize) -> bool {
        let first = self.peek_at(n);
        if first.kind != TokenKind::Word || is_reserved(first.text) {
            return ["sync", "for"].contains(&first.text);
        }
        let mut ahead = n + 1;

        if self.peek_at(ahead).text == "[" {
            let mut open = 0_usize;
            loop {
                let token = self.peek_at(ahead);
                match token.text {
                    "[" => open += 1,
                    "]" => open -= 1,
                    "{" | "}" => return false,
                    _ if token.kind == TokenKind::End || ahead > MAX_LOOKAHEAD => return false,
                    _ => {}
                }
                ahead += 1;
                if open == 0 {
                    break;
                }
            }
        }

        ["!", "?", "??"].contains(&self.peek_at(ahead).text)
    }

    fn communication(&mut self) -> Parsed<Communication> {
        if self.eat("sync") {
            let event = self.name("the name of an event")?;
            let mut arguments = Vec::new();
            if self.at("(") {
                let open = self.advance().span;
                arguments = self.list(Self::condition)?;
                self.expect_close(")", open)?;
            }
            return Ok(Communication::Event(event, arguments));
        }

        if self.eat("for") {
            let binder = self.one_binder()?;
            self.expect(":")?;
            let inner = self.nested(Self::communication)?;
            return Ok(Communication::ForEach(Box::new(binder), Box::new(inner)));
        }

        let channel = self.postfix_only()?;
        if self.eat("!") {
            let payload = if self.at("(") {
                let open = self.advance().span;
                let payload = self.in_brackets(|p| p.list(Self::condition))?;
                self.expect_close(")", open)?;
                payload
            } else {
                vec![self.guard()?]
            };
            return Ok(Communication::Send(channel, payload));
        }

        let is_any = self.eat("??");
        if !is_any {
            self.expect("?")?;
        }
        let is_peek = self.at("<");
        let patterns = if is_peek {
            let open = self.advance().span;
            let patterns = self.list(|p| p.pattern(Self::sum))?;
            self.expect_close(">", open)?;
            patterns
        } else if self.at("(") {
            let open = self.advance().span;
            let mut patterns = self.in_brackets(|p| p.list(|p| p.pattern(Self::condition)))?;
            self.expect_close(")", open)?;
            // Only several components need parentheses, so around one they ask for equality.
            if let [PatternExpr::Plain(_)] = patterns.as_slice()
                && let Some(PatternExpr::Plain(only)) = patterns.pop()
            {
                patterns.push(PatternExpr::Equal(only));
            }
            patterns
        } else {
            vec![self.pattern(Self::sum)?]
        };

        let manner = Manner { is_any, is_peek };
        Ok(Communication::Receive(channel, patterns, manner))
    }

    /// Inside of brackets any expression can be meant; outside, what follows may belong to the step.
    fn pattern(&mut self, expr: fn(&mut Self) -> Parsed<Expr>) -> Parsed<PatternExpr> {
        if self.eat("_") {
            return Ok(PatternExpr::Ignore);
        }
        let in_parentheses = self.at("(");
        let expr = expr(self)?;
        Ok(if in_parentheses {
            PatternExpr::Equal(expr)
        } else {
            PatternExpr::Plain(expr)
        })
    }

    /// `i, j in lo..hi where e, k in …`.
    pub(super) fn binders(&mut self) -> Parsed<Vec<Binder>> {
        self.list(|p| {
            let names = p.list(|p| p.name("the name of a bound variable"))?;
            p.expect("in")?;
            let (lo, hi, domain) = p.domain()?;
            let mut condition = None;
            if p.eat("where") {
                condition = Some(p.condition()?);
            }
            if let Some(domain) = domain {
                condition = Some(members(&names, &domain, condition));
            }
            Ok(Binder {
                names,
                lo,
                hi,
                condition,
            })
        })
    }
}

/// That names stand for elements of a set, and what else is demanded of them.
pub(super) fn members(names: &[Ident], domain: &Arc<Expr>, condition: Option<Expr>) -> Expr {
    let member = |name: &Ident| Expr {
        kind: ExprKind::In {
            element: Box::new(Expr {
                kind: ExprKind::Name(name.text.clone()),
                span: name.span,
            }),
            domain: Arc::clone(domain),
            is_bound: true,
        },
        span: domain.span,
    };

    let mut parts = names.iter().map(member).chain(condition);
    let first = parts
        .next()
        .map_or(ExprKind::Bool(true), |first| first.kind);
    let first = Expr {
        kind: first,
        span: domain.span,
    };

    let rest: Vec<_> = parts.map(|part| (model::BinaryOp::And, part)).collect();
    if rest.is_empty() {
        return first;
    }
    Expr {
        span: domain.span,
        kind: ExprKind::Chain(Box::new(first), rest),
    }
}
