//! Expressions and formulas, by precedence climbing.
//!
//! From loose to tight: `<->`; `->` (to the right); `||`; `&&`; `U W R M` (to the right); the
//! prefix operators `!`, `[]`, `<>`, `X`; comparisons (not associative); `+ -`; `* / %`; unary
//! minus; `a[i]`, `a.b`, `f(x)`, `P @ l`. Quantifiers and `if` reach as far to the right as
//! possible.

use std::sync::Arc;

use base::Diagnostic;
use model::BinaryOp as Op;
use model::Quantifier;

use super::{Parsed, Parser, foreign};
use crate::ast::{BinaryOp, Binder, Expr, ExprKind, UnaryOp, path_word};
use crate::lexer::TokenKind;

/// Precedences, from loose to tight.
mod level {
    pub(super) const IFF: u8 = 0;
    pub(super) const IMPLIES: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const TEMPORAL: u8 = 4;
    pub(super) const COMPARISON: u8 = 6;
    pub(super) const SUM: u8 = 7;
    pub(super) const PRODUCT: u8 = 8;
    pub(super) const POSTFIX: u8 = 9;
}

/// Reserved words that an operand may begin with.
const OPERAND_WORDS: [&str; 11] = [
    "not",
    "always",
    "eventually",
    "forall",
    "exists",
    "if",
    "true",
    "false",
    "enabled",
    "moves",
    "deadlock",
];

impl Parser<'_> {
    /// An expression after which `=` may follow.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let slip = std::mem::replace(&mut self.equals_is_slip, false);
        let result = self.expr_at(level::IFF);
        self.equals_is_slip = slip;
        result
    }

    /// An expression after which `=` is a slip for `==`.
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        let slip = std::mem::replace(&mut self.equals_is_slip, true);
        let result = self.expr_at(level::IFF);
        self.equals_is_slip = slip;
        result
    }

    /// A condition that `->` ends.
    pub(super) fn guard(&mut self) -> Parsed<Expr> {
        let ends = std::mem::replace(&mut self.arrow_ends, true);
        let result = self.condition();
        self.arrow_ends = ends;
        result
    }

    /// A condition in which capital letters are temporal operators.
    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        let outer = std::mem::replace(&mut self.in_formula, true);
        let result = self.condition();
        self.in_formula = outer;
        result
    }

    /// What may be a bound of a range or a pattern: no comparison and nothing looser.
    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        self.expr_at(level::SUM)
    }

    /// A name with accesses, as the target of an assignment or communication.
    pub(super) fn postfix_only(&mut self) -> Parsed<Expr> {
        let token = self.advance();
        if token.kind != TokenKind::Word || super::is_reserved(token.text) {
            self.position -= usize::from(token.kind != TokenKind::End);
            return Err(self.unexpected("a variable or channel"));
        }
        let kind = ExprKind::Name(self.written_text(token));
        let span = token.span;
        self.postfix(Expr { kind, span })
    }

    /// Parses inside brackets, where `->` is an implication again.
    pub(super) fn in_brackets<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let ends = std::mem::replace(&mut self.arrow_ends, false);
        let result = parse(self);
        self.arrow_ends = ends;
        result
    }

    fn expr_at(&mut self, least: u8) -> Parsed<Expr> {
        self.nested(|p| p.climb(least))
    }

    fn climb(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.operand()?;
        let mut n_set_operators = 0;
        while let Some((op, level)) = self.binary_op()
            && level >= least
        {
            left = match level {
                level::SUM if !matches!(op, BinaryOp::Model(_)) => {
                    // These nest to the left, so they are counted.
                    n_set_operators += 1;
                    if self.depth + n_set_operators > super::MAX_NESTING {
                        return Err(self.too_deep());
                    }
                    self.advance();
                    let right = self.expr_at(level::PRODUCT)?;
                    binary(op, left, right)
                }
                level::OR | level::AND | level::SUM | level::PRODUCT => self.chain(left, level)?,
                level::COMPARISON if self.at("not") => {
                    self.advance();
                    negated(self.membership(left)?)
                }
                level::COMPARISON if self.at("in") => self.membership(left)?,
                level::COMPARISON => self.comparison(left, op)?,
                _ => {
                    if self.advance().text == "leads" {
                        self.advance();
                    }
                    let right = self.expr_at(level)?;
                    binary(op, left, right)
                }
            };
        }
        Ok(left)
    }

    fn chain(&mut self, first: Expr, level: u8) -> Parsed<Expr> {
        let mut rest = Vec::new();
        while let Some((BinaryOp::Model(op), next)) = self.binary_op()
            && next == level
        {
            self.advance();
            rest.push((op, self.expr_at(level + 1)?));
        }
        let last = rest.last().map_or(first.span, |(_, expr)| expr.span);
        Ok(Expr {
            span: first.span.to(last),
            kind: ExprKind::Chain(Box::new(first), rest),
        })
    }

    /// `x in S` or `x in lo..hi`.
    fn membership(&mut self, element: Expr) -> Parsed<Expr> {
        self.advance();
        let domain = self.expr_at(level::SUM)?;
        let span = element.span.to(domain.span);
        let kind = if self.eat("..") {
            let hi = self.expr_at(level::SUM)?;
            ExprKind::Between(Box::new(element), Box::new(domain), Box::new(hi))
        } else {
            ExprKind::In {
                element: Box::new(element),
                domain: Arc::new(domain),
                is_bound: false,
            }
        };
        let span = span.to(self.previous_span());
        Ok(Expr { kind, span })
    }

    fn comparison(&mut self, left: Expr, op: BinaryOp) -> Parsed<Expr> {
        self.advance();
        let right = self.expr_at(level::SUM)?;
        if let Some((_, level::COMPARISON)) = self.binary_op() {
            let diagnostic = Diagnostic::error(
                "comparison-chain",
                self.peek().span,
                "comparisons cannot be chained",
            )
            .help("write `a <= b && b <= c`, or parentheses around one comparison");
            return Err(self.report(diagnostic));
        }
        Ok(binary(op, left, right))
    }

    /// The operator that is next, and how tightly it binds. Reports slips, once for each place.
    fn binary_op(&mut self) -> Option<(BinaryOp, u8)> {
        let token = self.peek();
        if !self.in_formula && token.starts_line && super::ACTION_WORDS.contains(&token.text) {
            // The next step, whose name happens to be an operator elsewhere.
            return None;
        }

        let model = |op, level| Some((BinaryOp::Model(op), level));
        match token.text {
            "<->" | "iff" => Some((BinaryOp::Iff, level::IFF)),
            "->" if self.arrow_ends => None,
            "->" | "=>" | "implies" => model(Op::Implies, level::IMPLIES),
            "leads" if self.peek_at(1).text == "to" => Some((BinaryOp::LeadsTo, level::IMPLIES)),
            "||" | "or" => model(Op::Or, level::OR),
            "&&" | "and" => model(Op::And, level::AND),
            "|" | "\\/" => self.slip(model(Op::Or, level::OR)),
            "&" | "/\\" => self.slip(model(Op::And, level::AND)),
            "<>" | "/=" | "#" => self.slip(model(Op::Ne, level::COMPARISON)),
            "=<" => self.slip(model(Op::Le, level::COMPARISON)),
            "~>" | "-->" => self.slip(Some((BinaryOp::LeadsTo, level::IMPLIES))),
            "leadsto" | "leads_to" if self.in_formula => {
                self.slip(Some((BinaryOp::LeadsTo, level::IMPLIES)))
            }
            "=" | ":=" if self.equals_is_slip => self.slip(model(Op::Eq, level::COMPARISON)),
            "until" => Some((BinaryOp::Until, level::TEMPORAL)),
            "release" => Some((BinaryOp::Release, level::TEMPORAL)),
            "unless" | "weakuntil" => Some((BinaryOp::WeakUntil, level::TEMPORAL)),
            "since" if self.in_formula => Some((BinaryOp::Since, level::TEMPORAL)),
            "U" if self.in_formula => Some((BinaryOp::Until, level::TEMPORAL)),
            "R" | "V" if self.in_formula => Some((BinaryOp::Release, level::TEMPORAL)),
            "W" if self.in_formula => Some((BinaryOp::WeakUntil, level::TEMPORAL)),
            "M" if self.in_formula => Some((BinaryOp::StrongRelease, level::TEMPORAL)),
            "in" => Some((BinaryOp::Subset, level::COMPARISON)),
            "not" if self.peek_at(1).text == "in" => Some((BinaryOp::Subset, level::COMPARISON)),
            "subset" if !token.starts_line => Some((BinaryOp::Subset, level::COMPARISON)),
            "union" if !token.starts_line => Some((BinaryOp::Union, level::SUM)),
            "inter" if !token.starts_line => Some((BinaryOp::Intersection, level::SUM)),
            "minus" if !token.starts_line => Some((BinaryOp::Difference, level::SUM)),
            "==" => model(Op::Eq, level::COMPARISON),
            "!=" => model(Op::Ne, level::COMPARISON),
            "<" => model(Op::Lt, level::COMPARISON),
            "<=" => model(Op::Le, level::COMPARISON),
            ">" => model(Op::Gt, level::COMPARISON),
            ">=" => model(Op::Ge, level::COMPARISON),
            "+" => model(Op::Add, level::SUM),
            "-" => model(Op::Sub, level::SUM),
            "*" => model(Op::Mul, level::PRODUCT),
            "/" => model(Op::Div, level::PRODUCT),
            "%" | "mod" => model(Op::Mod, level::PRODUCT),
            _ => None,
        }
    }

    /// Says once what is written instead of the operator that is next.
    fn slip(&mut self, op: Option<(BinaryOp, u8)>) -> Option<(BinaryOp, u8)> {
        let token = self.peek();
        let said = |d: &Diagnostic| d.code == "wrong-operator" && d.labels[0].span == token.span;
        if !self.diagnostics.last().is_some_and(said) {
            let message = format!("`{}` is not an operator between expressions", token.text);
            let meant = foreign::instead_of_operator(token.text).unwrap_or("another operator");
            let diagnostic = Diagnostic::error("wrong-operator", token.span, message);
            self.report(diagnostic.help(format!("write `{meant}`")));
        }
        op
    }

    /// Everything that is not an operator with two operands.
    fn operand(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let unary = match token.text {
            "!" | "not" => Some(UnaryOp::Not),
            "[]" if !self.operand_follows() => return self.empty_list(),
            "[]" | "always" => Some(UnaryOp::Always),
            "<>" | "eventually" => Some(UnaryOp::Eventually),
            "~" => {
                let message = "`~` is not an operator";
                let diagnostic = Diagnostic::error("wrong-operator", token.span, message);
                self.report(diagnostic.help("negation is written `!`"));
                Some(UnaryOp::Not)
            }
            "-" => Some(UnaryOp::Minus),
            _ => self.prefix_name(),
        };

        if let Some(op) = unary {
            self.advance();
            let least = match op {
                UnaryOp::Minus => level::POSTFIX,
                _ => level::COMPARISON,
            };
            let inner = self.expr_at(least)?;
            return Ok(Expr {
                span: token.span.to(inner.span),
                kind: ExprKind::Unary(op, Box::new(inner)),
            });
        }

        if let Some(path) = self.path_prefix() {
            return path;
        }
        match token.text {
            "forall" | "exists" => self.quantified(),
            "count" | "sum" if self.at_binder(1) => self.quantified(),
            "if" => self.conditional(),
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
        }
    }

    /// The empty sequence.
    fn empty_list(&mut self) -> Parsed<Expr> {
        let span = self.advance().span;
        let kind = ExprKind::Array(Vec::new());
        Ok(Expr { kind, span })
    }

    /// Does an operand follow what is next, so that it is an operator of a formula?
    fn operand_follows(&self) -> bool {
        let next = self.peek_at(1);
        self.in_formula
            && match next.text {
                "(" | "@" => !self.declared.contains(&self.peek().text),
                "!" | "~" | "[]" | "<>" => true,
                text if OPERAND_WORDS.contains(&text) => true,
                text => match next.kind {
                    TokenKind::Number => true,
                    TokenKind::Word => !super::is_reserved(text) && self.infix_at(1).is_none(),
                    TokenKind::Symbol | TokenKind::Text | TokenKind::End => false,
                },
            }
    }

    /// The temporal operator that the next word is, if an operand follows it; else it is a name.
    fn prefix_name(&self) -> Option<UnaryOp> {
        let word = self.peek().text;
        let is_operand = self.operand_follows();
        match word {
            "G" if is_operand => Some(UnaryOp::Always),
            "F" if is_operand => Some(UnaryOp::Eventually),
            "next" | "X" if is_operand => Some(UnaryOp::Next),
            "previously" if is_operand => Some(UnaryOp::Previously),
            "once" if is_operand => Some(UnaryOp::Once),
            "historically" if is_operand => Some(UnaryOp::Historically),
            _ => None,
        }
    }

    /// Do names that are bound follow `n` places ahead?
    fn at_binder(&self, n: usize) -> bool {
        let name = self.peek_at(n);
        let is_name = name.kind == TokenKind::Word && !super::is_reserved(name.text);
        is_name && ["in", ","].contains(&self.peek_at(n + 1).text)
    }

    /// `A G p`, `AG p`: a path quantifier followed by what cannot follow a name.
    fn path_prefix(&mut self) -> Option<Parsed<Expr>> {
        let token = self.peek();
        if !self.in_formula || token.kind != TokenKind::Word {
            return None;
        }
        let (quantifier, op) = path_word(token.text)?;
        let next = self.peek_at(1);
        let prefixes = [
            "!",
            "not",
            "[]",
            "always",
            "G",
            "<>",
            "eventually",
            "F",
            "next",
            "X",
            "previously",
            "once",
            "historically",
        ];

        let joined = |word: &str| matches!(path_word(word), Some((_, Some(_))));
        let starts_operand = prefixes.contains(&next.text)
            || joined(next.text)
            || (op.is_some()
                && next.kind == TokenKind::Word
                && !next.starts_line
                && self.infix_at(1).is_none());

        if !starts_operand {
            return None;
        }
        self.advance();
        Some(self.expr_at(level::COMPARISON).map(|inner| {
            let span = token.span.to(inner.span);
            let path = match op {
                None => inner,
                Some(op) => Expr {
                    kind: ExprKind::Unary(op, Box::new(inner)),
                    span,
                },
            };
            Expr {
                kind: ExprKind::Path(quantifier, Box::new(path)),
                span,
            }
        }))
    }

    /// Is the word `n` places ahead an operator between operands?
    fn infix_at(&self, n: usize) -> Option<&str> {
        const INFIX: [&str; 24] = [
            "iff",
            "implies",
            "or",
            "and",
            "until",
            "release",
            "unless",
            "weakuntil",
            "since",
            "U",
            "R",
            "V",
            "W",
            "M",
            "mod",
            "in",
            "subset",
            "union",
            "inter",
            "minus",
            "leads",
            "leadsto",
            "leads_to",
            "expect",
        ];
        INFIX.into_iter().find(|word| *word == self.peek_at(n).text)
    }

    fn quantified(&mut self) -> Parsed<Expr> {
        let token = self.advance();
        let (quantifier, counts) = match token.text {
            "forall" => (Quantifier::Forall, false),
            "exists" => (Quantifier::Exists, false),
            word => (Quantifier::Sum, word == "count"),
        };
        let binders = self.binders()?;
        self.expect(":")?;
        let body = self.expr_at(level::IFF)?;
        Ok(Expr {
            span: token.span.to(body.span),
            kind: ExprKind::Quantified {
                quantifier,
                counts,
                binders,
                body: Box::new(body),
            },
        })
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let start = self.advance().span;
        let condition = self.in_brackets(Self::condition)?;
        self.expect("then")?;
        let then = self.in_brackets(|p| p.expr_at(level::IFF))?;
        self.expect("else")?;
        let otherwise = self.expr_at(level::IFF)?;
        Ok(Expr {
            span: start.to(otherwise.span),
            kind: ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let span = token.span;
        let kind = match token.text {
            "(" => {
                self.advance();
                let inner = self.in_brackets(Self::condition)?;
                let close = self.expect_close(")", span)?;
                // The parentheses belong to the span, so that texts of atoms are complete.
                return Ok(Expr {
                    kind: inner.kind,
                    span: span.to(close),
                });
            }
            "[" => return self.array(),
            "{" => return self.set(),
            "@" => {
                self.advance();
                ExprKind::At(None, self.locations()?)
            }
            "true" | "false" => {
                self.advance();
                ExprKind::Bool(token.text == "true")
            }
            "enabled" | "moves" | "deadlock" => {
                self.advance();
                ExprKind::Name(token.text.to_owned())
            }
            _ if token.kind == TokenKind::Number => {
                self.advance();
                ExprKind::Int(self.number(token.text)?)
            }
            _ if token.kind == TokenKind::Word && !super::is_reserved(token.text) => {
                self.advance();
                ExprKind::Name(self.written_text(token))
            }
            _ => return Err(self.no_operand()),
        };

        let span = span.to(self.previous_span());
        Ok(Expr { kind, span })
    }

    fn no_operand(&mut self) -> super::Reported {
        let token = self.peek();
        let message = format!("expected an expression, found {}", self.found());
        let mut diagnostic = Diagnostic::error("syntax", token.span, message);
        diagnostic = match token.text {
            "any" => diagnostic.help("`any` is an initial value: `var x : T = any`"),
            "choose" => diagnostic.help("`choose` stands alone: `x := choose 0..3`"),
            "]" => diagnostic.help("`always` is written `[]` without a space"),
            "array" | "bool" | "int" => diagnostic.help("types stand after `:` or `of`"),
            _ => diagnostic,
        };
        self.report(diagnostic)
    }

    fn number(&mut self, text: &str) -> Parsed<i64> {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse().map_err(|_| {
            let span = self.previous_span();
            let message = "this number does not fit into 64 bits";
            self.report(Diagnostic::error("number-too-large", span, message))
        })
    }

    fn array(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        let kind = if self.peek_at(1).text == "in" {
            let name = self.name("the name of an index")?;
            self.advance();
            let (lo, hi, _) = self.domain()?;
            self.expect(":")?;
            let body = self.in_brackets(Self::condition)?;
            ExprKind::Comprehension(name, Box::new(lo), Box::new(hi), Box::new(body))
        } else {
            ExprKind::Array(self.in_brackets(|p| p.list(Self::condition))?)
        };
        let close = self.expect_close("]", open)?;
        let span = open.to(close);
        Ok(Expr { kind, span })
    }

    /// `{a, b}`, `{ x in S where p }`, `{ e for x in S where p }`, `{k: v}` or `{ k in S: v }`.
    fn set(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        let kind = if self.at("}") {
            ExprKind::Set(Vec::new())
        } else if self.at_binder(0) && self.peek_at(1).text == "in" {
            let binder = Box::new(self.one_binder()?);
            if self.eat(":") {
                let value = self.in_brackets(Self::condition)?;
                ExprKind::MapOf(binder, Box::new(value))
            } else {
                ExprKind::Filter(binder)
            }
        } else {
            self.listed()?
        };
        let close = self.expect_close("}", open)?;
        let span = open.to(close);
        Ok(Expr { kind, span })
    }

    /// Names with one domain.
    pub(super) fn one_binder(&mut self) -> Parsed<Binder> {
        let mut binders = self.in_brackets(Self::binders)?;
        match binders.pop() {
            Some(binder) if binders.is_empty() && binder.names.len() == 1 => Ok(binder),
            _ => Err(self.unexpected("one name with its domain")),
        }
    }

    /// Elements or entries, or what elements are made of.
    fn listed(&mut self) -> Parsed<ExprKind> {
        let mut elements = self.in_brackets(|p| p.list(Self::condition))?;
        if elements.len() > 1 || !(self.at(":") || self.at("for")) {
            return Ok(ExprKind::Set(elements));
        }
        let first = elements.remove(0);
        if self.eat("for") {
            let binder = self.one_binder()?;
            return Ok(ExprKind::Image(Box::new(first), Box::new(binder)));
        }

        self.expect(":")?;
        let value = self.in_brackets(Self::condition)?;
        let mut entries = vec![(first, value)];
        while self.eat(",") {
            let key = self.in_brackets(Self::condition)?;
            self.expect(":")?;
            entries.push((key, self.in_brackets(Self::condition)?));
        }
        Ok(ExprKind::Entries(entries))
    }

    fn postfix(&mut self, mut base: Expr) -> Parsed<Expr> {
        for _ in 0..super::MAX_NESTING / 4 {
            let start = base.span;
            let inner = Box::new(base);
            let kind = match self.peek().text {
                "[" => {
                    let open = self.advance().span;
                    let index = self.in_brackets(Self::condition)?;
                    self.expect_close("]", open)?;
                    ExprKind::Index(inner, Box::new(index))
                }
                "(" => {
                    let open = self.advance().span;
                    let arguments = self.in_brackets(|p| p.list(Self::condition))?;
                    self.expect_close(")", open)?;
                    ExprKind::Call(inner, arguments)
                }
                "." => {
                    self.advance();
                    if self.eat("*") {
                        ExprKind::AnyStep(inner)
                    } else {
                        ExprKind::Field(inner, self.action_name()?)
                    }
                }
                "@" => {
                    self.advance();
                    ExprKind::At(Some(inner), self.locations()?)
                }
                _ => return Ok(*inner),
            };
            let span = start.to(self.previous_span());
            base = Expr { kind, span };
        }

        Err(self.too_deep())
    }

    /// `loc` or `{a, b}`.
    fn locations(&mut self) -> Parsed<Vec<crate::ast::Ident>> {
        if !self.at("{") {
            return Ok(vec![self.member("the name of a location")?]);
        }
        let open = self.advance().span;
        let names = self.list(|p| p.member("the name of a location"))?;
        self.expect_close("}", open)?;
        Ok(names)
    }
}

fn negated(inner: Expr) -> Expr {
    Expr {
        span: inner.span,
        kind: ExprKind::Unary(UnaryOp::Not, Box::new(inner)),
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr {
        span: left.span.to(right.span),
        kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
    }
}
