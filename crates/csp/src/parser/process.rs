//! Process expressions.

use std::rc::Rc;

use base::Span;
use model::AnnotationKind;

use super::Parser;
use crate::ast::{
    Action, ChannelUse, ChoiceKind, ExprRef, Ident, IfKind, IndexedOp, Prefix, Proc, ProcKind,
    ProcRef,
};
use crate::lexer::Tok;

/// Longer chains of prefixes are refused, because terms are walked by recursion.
const MAX_CHAIN: usize = 300;

impl Parser<'_> {
    /// Any process expression.
    pub(super) fn process(&mut self) -> Option<ProcRef> {
        self.nested(Self::interleaving)
    }

    fn proc(&mut self, start: Span, kind: ProcKind) -> Option<ProcRef> {
        let span = self.since(start);
        Some(Rc::new(Proc { kind, span }))
    }

    /// The operands of an operator, or its indexed form.
    fn operands(
        &mut self,
        symbol: &str,
        op: IndexedOp,
        operand: fn(&mut Self) -> Option<ProcRef>,
        make: fn(Vec<ProcRef>) -> ProcKind,
    ) -> Option<ProcRef> {
        let start = self.span();
        if self.is(symbol) {
            self.advance();
            return self.indexed(start, op);
        }

        let mut list = vec![operand(self)?];
        while self.eat(symbol) {
            list.push(operand(self)?);
        }

        if list.len() == 1 {
            return list.pop();
        }
        self.proc(start, make(list))
    }

    fn indexed(&mut self, start: Span, op: IndexedOp) -> Option<ProcRef> {
        if op == IndexedOp::Interleave && self.eat("{") {
            let count = if self.eat("..") {
                None
            } else {
                Some(self.sum()?)
            };
            self.expect("}")?;
            self.expect("@")?;
            let body = self.process()?;
            return self.proc(start, ProcKind::Replicated(count, body));
        }
        let indices = self.indices()?;
        self.expect("@")?;
        let body = self.process()?;
        self.proc(start, ProcKind::Indexed(op, indices, body))
    }

    fn interleaving(&mut self) -> Option<ProcRef> {
        let op = IndexedOp::Interleave;
        self.operands("|||", op, Self::parallel, ProcKind::Interleave)
    }

    fn parallel(&mut self) -> Option<ProcRef> {
        let op = IndexedOp::Parallel;
        self.operands("||", op, Self::general_choice, ProcKind::Parallel)
    }

    fn general_choice(&mut self) -> Option<ProcRef> {
        let op = IndexedOp::Choice(ChoiceKind::General);
        let make = |list| ProcKind::Choice(ChoiceKind::General, list);
        self.operands("[]", op, Self::internal_choice, make)
    }

    fn internal_choice(&mut self) -> Option<ProcRef> {
        let op = IndexedOp::Choice(ChoiceKind::Internal);
        let make = |list| ProcKind::Choice(ChoiceKind::Internal, list);
        self.operands("<>", op, Self::external_choice, make)
    }

    fn external_choice(&mut self) -> Option<ProcRef> {
        let op = IndexedOp::Choice(ChoiceKind::External);
        let make = |list| ProcKind::Choice(ChoiceKind::External, list);
        self.operands("[*]", op, Self::interrupt, make)
    }

    fn interrupt(&mut self) -> Option<ProcRef> {
        let start = self.span();
        let mut left = self.hiding()?;
        while self.eat_word("interrupt") {
            let right = self.hiding()?;
            left = self.proc(start, ProcKind::Interrupt(left, right))?;
        }
        Some(left)
    }

    fn hiding(&mut self) -> Option<ProcRef> {
        let start = self.span();
        let mut left = self.sequence()?;
        while self.eat("\\") {
            let events = Rc::new(self.event_set()?);
            left = self.proc(start, ProcKind::Hide(left, events))?;
        }
        Some(left)
    }

    fn sequence(&mut self) -> Option<ProcRef> {
        let start = self.span();
        let mut parts = vec![self.guarded()?];
        while self.is(";") && !self.ends_declaration(1) {
            self.advance();
            if self.is("}") || self.is(")") {
                break;
            }
            parts.push(self.guarded()?);
            if parts.len() > MAX_CHAIN {
                let message = format!("there are more than {MAX_CHAIN} processes in a row");
                return self.error("too-deep", start, message);
            }
        }
        // `P; Q; R` is `P; (Q; R)`.
        let mut right = parts.pop()?;
        while let Some(left) = parts.pop() {
            right = self.proc(start, ProcKind::Seq(left, right))?;
        }
        Some(right)
    }

    fn guarded(&mut self) -> Option<ProcRef> {
        let start = self.span();
        if !self.eat("[") {
            return self.prefixed();
        }
        let condition = self.condition()?;
        self.expect("]")?;
        let body = self.nested(Self::guarded)?;
        self.proc(start, ProcKind::Guard(condition, body))
    }

    fn prefixed(&mut self) -> Option<ProcRef> {
        // A chain of prefixes may be long, so it is not read by recursion.
        let mut chain: Vec<(Span, Vec<Prefix>)> = Vec::new();
        loop {
            let start = self.span();
            let Some(prefixes) = self.prefix_ahead() else {
                break;
            };
            chain.push((start, prefixes?));
            if chain.len() > MAX_CHAIN {
                let message = format!("there are more than {MAX_CHAIN} events in a row");
                return self.error("too-deep", start, message);
            }
            self.expect("->")?;
        }

        let mut process = if self.is("[") && !chain.is_empty() {
            self.guarded()?
        } else {
            self.simple()?
        };
        while let Some((start, prefixes)) = chain.pop() {
            process = self.proc(start, ProcKind::Prefix(prefixes, process))?;
        }
        Some(process)
    }

    /// The prefix that starts here, if one does; the inner `None` is an error.
    #[expect(
        clippy::option_option,
        reason = "absent, wrong and right are told apart"
    )]
    fn prefix_ahead(&mut self) -> Option<Option<Vec<Prefix>>> {
        match self.peek().clone() {
            Tok::Sym("{") => Some(self.single(|parser| {
                let program = Some(parser.block()?);
                Some((Action::Tau, program))
            })),
            Tok::Sym("(") => {
                let end = self.closing(0)?;
                self.is_at(end + 1, "->").then(|| self.event_list())
            }
            Tok::Ident(word) => {
                if let Some(kind) = self.annotation_ahead(&word) {
                    return Some(self.annotated(kind));
                }
                let is_channel = self.is_at(1, "!")
                    || self.is_at(1, "?")
                    || self.is_at(1, "[")
                        && self.closing(1).is_some_and(|end| {
                            self.is_at(end + 1, "!") || self.is_at(end + 1, "?")
                        });
                let is_event = ["->", ".", "{"].iter().any(|symbol| self.is_at(1, symbol))
                    && !matches!(&*word, "case" | "atomic");
                (is_channel || is_event).then(|| self.single(Self::action))
            }
            _ => None,
        }
    }

    fn single(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<(Action, Option<crate::ast::Program>)>,
    ) -> Option<Vec<Prefix>> {
        let start = self.span();
        let (action, program) = read(self)?;
        let span = self.since(start);
        Some(vec![Prefix {
            action,
            program,
            fairness: None,
            span,
        }])
    }

    fn event_list(&mut self) -> Option<Vec<Prefix>> {
        self.expect("(")?;
        let mut list = Vec::new();

        loop {
            let start = self.span();
            let name = self.ident("the name of an event")?;
            let action = self.event(name)?;
            let span = self.since(start);
            list.push(Prefix {
                action,
                program: None,
                fairness: None,
                span,
            });
            if !self.eat(",") {
                break;
            }
        }

        self.expect(")")?;
        Some(list)
    }

    /// `f(e)`, `wf(e)`, `sf(e)` before an event: a bracket after which a prefix goes on.
    fn annotation_ahead(&self, word: &str) -> Option<AnnotationKind> {
        let kind = match word {
            "f" => AnnotationKind::Unconditional,
            "wf" => AnnotationKind::Weak,
            "sf" => AnnotationKind::Strong,
            _ => return None,
        };
        if !self.is_at(1, "(") {
            return None;
        }
        let end = self.closing(1)?;
        (self.is_at(end + 1, "->") || self.is_at(end + 1, "{")).then_some(kind)
    }

    fn annotated(&mut self, kind: AnnotationKind) -> Option<Vec<Prefix>> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let (action, inner_program) = self.action()?;
        self.expect(")")?;
        let program = if self.is("{") {
            Some(self.block()?)
        } else {
            inner_program
        };
        let span = self.since(start);
        Some(vec![Prefix {
            action,
            program,
            fairness: Some((kind, span)),
            span,
        }])
    }

    fn action(&mut self) -> Option<(Action, Option<crate::ast::Program>)> {
        let name = self.ident("the name of an event or channel")?;
        let action = self.communication(name)?;
        let program = if self.is("{") {
            Some(self.block()?)
        } else {
            None
        };
        Some((action, program))
    }

    fn communication(&mut self, name: Ident) -> Option<Action> {
        let mut index = None;
        if self.eat("[") {
            index = Some(self.sum()?);
            self.expect("]")?;
        }
        if self.eat("!") {
            let values = self.message()?;
            return Some(Action::Send(ChannelUse { name, index }, values));
        }

        if self.eat("?") {
            let condition = if self.eat("[") {
                let condition = self.condition()?;
                self.expect("]")?;
                Some(condition)
            } else {
                None
            };
            let patterns = self.message()?;
            return Some(Action::Receive(
                ChannelUse { name, index },
                condition,
                patterns,
            ));
        }

        self.event(name)
    }

    fn event(&mut self, name: Ident) -> Option<Action> {
        if &*name.text == "tau" {
            return Some(Action::Tau);
        }
        let arguments = self.event_arguments()?;
        Some(Action::Event(name, arguments))
    }

    pub(super) fn event_arguments(&mut self) -> Option<Vec<ExprRef>> {
        let mut arguments = Vec::new();
        while self.eat(".") {
            arguments.push(self.sum()?);
        }
        Some(arguments)
    }

    fn message(&mut self) -> Option<Vec<ExprRef>> {
        let mut values = vec![self.condition()?];
        while self.eat(".") {
            values.push(self.condition()?);
        }
        Some(values)
    }

    fn simple(&mut self) -> Option<ProcRef> {
        let start = self.span();
        if self.eat("(") {
            let inner = self.process()?;
            self.expect(")")?;
            return Some(inner);
        }

        let Some(word) = self.word_at(0).cloned() else {
            return self.unexpected("a process");
        };
        match &*word {
            "Skip" | "Stop" => {
                self.advance();
                if self.is("(") && self.is_at(1, ")") {
                    self.advance();
                    self.advance();
                }
                let kind = match &*word {
                    "Skip" => ProcKind::Skip,
                    _ => ProcKind::Stop,
                };
                self.proc(start, kind)
            }
            "if" | "ifa" | "ifb" => self.conditional(),
            "case" => self.case(),
            "atomic" => {
                self.advance();
                self.expect("{")?;
                let body = self.process()?;
                self.expect("}")?;
                self.proc(start, ProcKind::Atomic(body))
            }
            "assert" => {
                self.advance();
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                self.proc(start, ProcKind::Assert(condition))
            }
            _ => self.call(),
        }
    }

    fn call(&mut self) -> Option<ProcRef> {
        let start = self.span();
        let name = self.ident("a process")?;
        let mut arguments = Vec::new();
        if self.eat("(") {
            arguments = self.expressions(")")?;
            self.expect(")")?;
        }
        self.proc(start, ProcKind::Call(name, arguments))
    }

    fn conditional(&mut self) -> Option<ProcRef> {
        let start = self.span();
        let kind = match self.word_at(0).map(|word| &**word) {
            Some("ifa") => IfKind::Atomic,
            Some("ifb") => IfKind::Blocking,
            _ => IfKind::Plain,
        };
        self.advance();
        self.expect("(")?;

        let condition = self.condition()?;
        self.expect(")")?;
        let then = self.braced()?;
        let mut otherwise = None;

        if kind != IfKind::Blocking && self.eat_word("else") {
            let chained = ["if", "ifa", "ifb"].iter().any(|word| self.is_word(word));
            otherwise = Some(if chained {
                self.nested(Self::conditional)?
            } else {
                self.braced()?
            });
        }

        self.proc(start, ProcKind::If(kind, condition, then, otherwise))
    }

    fn braced(&mut self) -> Option<ProcRef> {
        self.expect("{")?;
        let body = self.process()?;
        self.expect("}")?;
        Some(body)
    }

    fn case(&mut self) -> Option<ProcRef> {
        let start = self.span();
        self.advance();
        self.expect("{")?;
        let mut branches = Vec::new();
        let mut default = None;
        while !self.eat("}") {
            if self.is_word("default") && self.is_at(1, ":") {
                self.advance();
                self.advance();
                default = Some(self.process()?);
            } else {
                let condition = self.condition()?;
                self.expect(":")?;
                branches.push((condition, self.process()?));
            }
        }
        self.proc(start, ProcKind::Case(branches, default))
    }
}
