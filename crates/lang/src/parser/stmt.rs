//! Statements.

use base::{Diagnostic, Span};
use model::BinaryOp;

use super::process::members;
use super::{Parsed, Parser, Reported, foreign};
use crate::ast::{Expr, Ident, Spawn, Stmt, StmtKind, TimerValue, TypeExpr, TypeKind, Value};
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// `{ statements }`.
    pub(super) fn stmt_block(&mut self) -> Parsed<Vec<Stmt>> {
        let open = self.expect("{")?;
        let mut statements = Vec::new();
        loop {
            if self.eat(";") {
                continue;
            }
            if self.eat("}") {
                return Ok(statements);
            }
            if self.at("->") {
                // The step goes on as if the brace were there.
                self.unclosed_effect(open);
                return Ok(statements);
            }
            if self.at_end() || self.at_outside_declaration() || self.at_from_block() {
                return Err(self.unclosed_effect(open));
            }
            match self.nested(Self::stmt) {
                Ok(statement) => statements.push(statement),
                Err(_) => return self.recover_in_effect().map(|()| statements),
            }
        }
    }

    fn unclosed_effect(&mut self, open: Span) -> Reported {
        let message = format!("expected `}}`, found {}", self.found());
        let diagnostic = Diagnostic::error("missing-brace", self.peek().span, message)
            .label(open, "this effect is not closed")
            .help("close the effect with `}`");
        let diagnostic = match self.peek().text {
            "->" => diagnostic.help("an implication in an effect needs parentheses"),
            _ => diagnostic,
        };
        self.report(diagnostic)
    }

    /// After an error in an effect, skips to its end, so that what follows is read as it should.
    fn recover_in_effect(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        loop {
            let token = self.peek();
            let leaves = self.at_end() || self.at_outside_declaration();
            if leaves || token.starts_line && self.at_from_block() {
                return Err(Reported);
            }
            self.advance();
            match token.text {
                "{" => open += 1,
                "}" if open == 0 => return Ok(()),
                "}" => open -= 1,
                _ => {}
            }
        }
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = match self.peek().text {
            "skip" => {
                self.advance();
                StmtKind::Skip
            }
            "assert" => {
                self.advance();
                StmtKind::Assert(self.guard()?)
            }
            "if" => return self.if_stmt(),
            "for" => {
                self.advance();
                let name = self.name("the name of a loop variable")?;
                self.expect("in")?;
                let (lo, hi, domain) = self.domain()?;
                let mut body = self.stmt_block()?;

                // A loop over a set is one over a range with a condition.
                if let Some(domain) = domain {
                    let condition = members(std::slice::from_ref(&name), &domain, None);
                    let span = condition.span;
                    let kind = StmtKind::If(condition, body, Vec::new());
                    body = vec![Stmt { kind, span }];
                }
                StmtKind::For(name, lo, hi, body)
            }
            "set" if self.peek_at(1).kind == TokenKind::Word => {
                self.advance();
                self.timer_setting()?
            }
            "let" => {
                self.advance();
                let name = self.name("a name")?;
                if !self.eat(":=") {
                    self.expect("=")?;
                }
                StmtKind::Let(name, self.value()?)
            }
            "spawn" if self.at_spawn() => StmtKind::Spawn(self.spawn()?),
            _ => self.assignment()?,
        };

        let span = start.to(self.previous_span());
        Ok(Stmt { kind, span })
    }

    /// A whole `if … else if … else`, without recursion along the chain.
    fn if_stmt(&mut self) -> Parsed<Stmt> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let start = self.expect("if")?;
            let condition = self.condition()?;
            if self.at("then") {
                return Err(self.then_in_statement());
            }
            let body = self.stmt_block()?;
            branches.push((start, condition, body));
            if !self.eat("else") {
                break;
            }
            if !self.at("if") {
                otherwise = self.stmt_block()?;
                break;
            }
            if branches.len() + self.depth > super::MAX_NESTING {
                return Err(self.too_deep());
            }
        }

        let end = self.previous_span();
        while let Some((start, condition, body)) = branches.pop() {
            let kind = StmtKind::If(condition, body, otherwise);
            otherwise = vec![Stmt {
                kind,
                span: start.to(end),
            }];
        }

        Ok(otherwise.remove(0))
    }

    fn then_in_statement(&mut self) -> Reported {
        let span = self.peek().span;
        let message = "the branches of a conditional statement stand in braces";
        let diagnostic = Diagnostic::error("syntax", span, message).help(
            "write `if condition { x := 1 } else { x := 2 }`, or `x := if condition then 1 else 2`",
        );
        self.report(diagnostic)
    }

    fn assignment(&mut self) -> Parsed<StmtKind> {
        let first = self.peek();
        if first.kind != TokenKind::Word {
            return Err(self.unexpected("a statement"));
        }
        let goes_on = [":=", "=", "==", "[", ".", ","].contains(&self.peek_at(1).text);
        if let Some(help) = foreign::instead_of_word(first.text).filter(|_| !goes_on) {
            let name = Ident {
                text: first.text.to_owned(),
                span: first.span,
            };
            return Err(self.report_foreign(&name, help));
        }

        if self.peek_at(1).text == "(" {
            return self.procedure_call();
        }
        let mut targets = self.list(Self::postfix_only)?;
        let token = self.peek();
        if let Some(update) = self.update(&mut targets)? {
            return Ok(update);
        }

        if ["=", "=="].contains(&token.text) {
            let message = format!("`{}` does not assign", token.text);
            let diagnostic = Diagnostic::error("equals-for-assignment", token.span, message)
                .help("write `:=` to assign");
            self.report(diagnostic);
            self.advance();
        } else {
            self.expect(":=")?;
        }

        let values = self.list(Self::value)?;
        if values.len() != targets.len() {
            let span = token.span;
            let message = format!("{} targets, but {} values", targets.len(), values.len());
            return Err(self.report(Diagnostic::error("assignment-arity", span, message)));
        }

        Ok(StmtKind::Assign(targets, values))
    }

    /// `f(a, b)`.
    fn procedure_call(&mut self) -> Parsed<StmtKind> {
        let name = self.name("the name of a procedure")?;
        let open = self.expect("(")?;
        let arguments = if self.at(")") {
            Vec::new()
        } else {
            self.in_brackets(|p| p.list(Self::condition))?
        };
        self.expect_close(")", open)?;
        Ok(StmtKind::Call(name, arguments))
    }

    /// `x += e` and the like, which is `x := x + (e)`. `x++` is a slip for it.
    fn update(&mut self, targets: &mut Vec<Expr>) -> Parsed<Option<StmtKind>> {
        let token = self.peek();
        let is_double = |sign| token.text == sign && self.peek_at(1).text == sign;
        if is_double("+") || is_double("-") {
            let sign = token.text;
            let message = format!("`{sign}{sign}` does not assign");
            let diagnostic = Diagnostic::error("wrong-operator", token.span, message)
                .help(format!("write `x {sign}= 1` or `x := x {sign} 1`"));
            return Err(self.report(diagnostic));
        }
        let op = match token.text {
            "+=" => BinaryOp::Add,
            "-=" => BinaryOp::Sub,
            "*=" => BinaryOp::Mul,
            "/=" => BinaryOp::Div,
            _ => return Ok(None),
        };
        if targets.len() > 1 {
            return Err(self.unexpected("`:=`"));
        }

        self.advance();
        let operand = self.guard()?;
        Ok(targets
            .pop()
            .map(|target| StmtKind::Update(target, op, operand)))
    }

    /// After `set` or `delay`.
    pub(super) fn timer_setting(&mut self) -> Parsed<StmtKind> {
        let timer = self.postfix_only()?;
        self.expect(":=")?;
        let span = self.peek().span;
        let value = if self.eat("any") {
            TimerValue::Any(span)
        } else if self.eat("off") {
            TimerValue::Off
        } else {
            TimerValue::Value(self.value()?)
        };
        Ok(StmtKind::SetTimer(timer, value))
    }

    /// Is a process created here, not a variable named?
    fn at_spawn(&self) -> bool {
        let next = self.peek_at(1);
        self.at("spawn") && next.kind == TokenKind::Word && !super::is_reserved(next.text)
    }

    /// `spawn P`, `spawn P[i] with x = 1, y = e`.
    fn spawn(&mut self) -> Parsed<Spawn> {
        let start = self.advance().span;
        let process = self.postfix_only()?;
        let mut values = Vec::new();
        if self.eat("with") {
            values = self.list(|p| {
                let name = p.member("the name of a variable of the process")?;
                if !p.eat(":=") {
                    p.expect("=")?;
                }
                Ok((name, p.guard()?))
            })?;
        }
        let span = start.to(self.previous_span());
        Ok(Spawn {
            process,
            values,
            span,
        })
    }

    fn value(&mut self) -> Parsed<Value> {
        let start = self.peek().span;
        if self.at_spawn() {
            return self.spawn().map(|spawn| Value::Spawn(Box::new(spawn)));
        }
        // `any x in S` is another way to write it.
        let is_any = self.at("any") && self.peek_at(2).text == "in";
        if !self.eat(if is_any { "any" } else { "choose" }) {
            return self.guard().map(Value::Plain);
        }
        let mut name = None;
        if self.peek_at(1).text == "in" {
            name = Some(self.name("the name of the chosen value")?);
            self.advance();
        }

        let domain = self.chosen_domain()?;
        let mut condition = None;
        if self.eat("where") {
            condition = Some(self.guard()?);
        }
        let span = start.to(self.previous_span());
        Ok(Value::Choose {
            name,
            domain,
            condition,
            span,
        })
    }
}

impl Parser<'_> {
    /// After `choose`: a type, or a set of values.
    fn chosen_domain(&mut self) -> Parsed<TypeExpr> {
        let token = self.peek();
        let is_name = token.kind == TokenKind::Word && !super::is_reserved(token.text);
        if !is_name && !self.at("{") && !self.at("(") {
            return self.ty();
        }
        let first = self.sum()?;
        let start = first.span;
        let kind = if self.eat("..") {
            TypeKind::Range(Box::new(first), Box::new(self.sum()?))
        } else {
            TypeKind::Chosen(Box::new(first))
        };
        let span = start.to(self.previous_span());
        Ok(TypeExpr { kind, span })
    }
}

/// The bounds of a range type.
pub(crate) fn range_bounds(ty: &TypeExpr) -> Option<(&Expr, &Expr)> {
    match &ty.kind {
        TypeKind::Range(lo, hi) => Some((lo, hi)),
        _ => None,
    }
}
