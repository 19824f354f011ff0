//! Expressions and formulas.

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::{MAX_OPERATORS, Parsed, Parser, Wrong, is_keyword};
use crate::ast::{Argument, Binary, Expr, ExprKind, Probe, Unary, VarComponent, VarRef};
use crate::token::TokenKind;

/// Operators and how they are written.
type Operators = &'static [(&'static str, Binary)];

/// Operators with two operands by strength, weakest first. Those in the second list are operators
/// only in formulas. All of one level group to the left, as in Spin.
const LEVELS: [(Operators, Operators); 12] = [
    (
        &[],
        &[
            ("->", Binary::Implies),
            ("implies", Binary::Implies),
            ("<->", Binary::Iff),
            ("equivalent", Binary::Iff),
        ],
    ),
    (&[("||", Binary::Or)], &[("\\/", Binary::Or)]),
    (&[("&&", Binary::And)], &[("/\\", Binary::And)]),
    (
        &[],
        &[
            ("U", Binary::Until),
            ("until", Binary::Until),
            ("stronguntil", Binary::Until),
            ("W", Binary::WeakUntil),
            ("weakuntil", Binary::WeakUntil),
            ("V", Binary::Release),
            ("R", Binary::Release),
            ("release", Binary::Release),
        ],
    ),
    (&[("|", Binary::BitOr)], &[]),
    (&[("^", Binary::BitXor)], &[]),
    (&[("&", Binary::BitAnd)], &[]),
    (&[("==", Binary::Eq), ("!=", Binary::Ne)], &[]),
    (
        &[
            ("<=", Binary::Le),
            (">=", Binary::Ge),
            ("<", Binary::Lt),
            (">", Binary::Gt),
        ],
        &[],
    ),
    (&[("<<", Binary::Shl), (">>", Binary::Shr)], &[]),
    (&[("+", Binary::Add), ("-", Binary::Sub)], &[]),
    (
        &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Mod)],
        &[],
    ),
];

/// How many tokens an operator of formulas takes.
fn width(text: &str) -> usize {
    match text {
        "<->" | "\\/" | "/\\" => 2,
        _ => 1,
    }
}

impl Parser<'_> {
    /// An expression; inside an `ltl` block, a formula.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        if self.expr_depth == 0 {
            self.n_operators = 0;
        }
        self.expr_depth += 1;
        let expr = self.nested(|parser| parser.level(0));
        self.expr_depth -= 1;
        expr
    }

    fn level(&mut self, level: usize) -> Parsed<Expr> {
        if level == LEVELS.len() {
            return self.nested(Self::unary);
        }
        let mut left = self.level(level + 1)?;
        while let Some(op) = self.operator(level) {
            self.count_operator()?;
            let right = self.level(level + 1)?;
            let span = join(left.span, right.span);
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = Expr { kind, span };
        }
        Ok(left)
    }

    fn count_operator(&mut self) -> Parsed<()> {
        self.n_operators += 1;
        if self.n_operators <= MAX_OPERATORS {
            return Ok(());
        }
        let message = format!("this expression has more than {MAX_OPERATORS} operators");
        let help = "store the values of its parts in variables first";
        let diagnostic = Diagnostic::error("too-deep", self.span(), message);
        self.say(diagnostic.help(help));
        self.stop();
        Err(Wrong)
    }

    fn operator(&mut self, level: usize) -> Option<Binary> {
        let (plain, temporal) = LEVELS[level];
        if self.in_formula
            && let Some((text, op)) = temporal.iter().find(|(text, _)| self.at_operator(text))
        {
            for _ in 0..width(text) {
                self.advance();
            }
            return Some(*op);
        }
        let (_, op) = plain.iter().find(|(text, _)| self.is(text))?;
        // `a <> b` and `a <-> b` are not comparisons, and `q?<x>` ends with its `>`.
        if *op == Binary::Lt && self.in_formula && (self.ahead(1).is(">") || self.ahead(1).is("->"))
        {
            return None;
        }
        if self.is("/") && self.ahead(1).is("\\") {
            return None;
        }
        self.advance();
        Some(*op)
    }

    fn at_operator(&self, text: &str) -> bool {
        match text {
            "<->" => self.is("<") && self.ahead(1).is("->"),
            "\\/" => self.is("\\") && self.ahead(1).is("/"),
            "/\\" => self.is("/") && self.ahead(1).is("\\"),
            _ => self.is(text) || self.is_word(text),
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if let Some((quantifier, op)) = self.path_quantifier() {
            self.advance();
            let mut inner = self.nested(Self::unary)?;
            if let Some(op) = op {
                inner = self.wrap(op, inner, start);
            }
            return Ok(self.wrap(quantifier, inner, start));
        }

        let op = match &self.token().kind {
            TokenKind::Punct("!") => Some((Unary::Not, 1)),
            TokenKind::Punct("!!") => {
                self.advance();
                let inner = self.nested(Self::unary)?;
                let once = self.wrap(Unary::Not, inner, start);
                return Ok(self.wrap(Unary::Not, once, start));
            }
            TokenKind::Punct("-") => Some((Unary::Minus, 1)),
            TokenKind::Punct("~") => Some((Unary::Complement, 1)),
            _ if !self.in_formula => None,
            TokenKind::Punct("[") if self.ahead(1).is("]") => Some((Unary::Always, 2)),
            TokenKind::Punct("<") if self.ahead(1).is(">") => Some((Unary::Eventually, 2)),
            TokenKind::Name(name) => match &**name {
                "always" | "G" if self.operand_follows() => Some((Unary::Always, 1)),
                "eventually" | "F" if self.operand_follows() => Some((Unary::Eventually, 1)),
                "next" | "X" if self.operand_follows() => Some((Unary::Next, 1)),
                _ => None,
            },
            _ => None,
        };

        let Some((op, n_tokens)) = op else {
            return self.primary();
        };
        for _ in 0..n_tokens {
            self.advance();
        }
        let inner = self.nested(Self::unary)?;
        Ok(self.wrap(op, inner, start))
    }

    /// A path quantifier with the operator that is part of the word, if one stands here.
    fn path_quantifier(&self) -> Option<(Unary, Option<Unary>)> {
        let word = self.token().name().filter(|_| self.in_ctl)?;
        let (quantifier, op) = word.split_at_checked(1)?;
        let quantifier = match quantifier {
            "A" => Unary::AllPaths,
            "E" => Unary::SomePath,
            _ => return None,
        };
        let op = match op {
            "" => None,
            "G" => Some(Unary::Always),
            "F" => Some(Unary::Eventually),
            "X" => Some(Unary::Next),
            _ => return None,
        };
        let is_array = self.ahead(1).is("[") && !self.ahead(2).is("]");
        (self.operand_follows() && !is_array).then_some((quantifier, op))
    }

    fn wrap(&self, op: Unary, inner: Expr, start: Span) -> Expr {
        Expr {
            span: join(start, inner.span),
            kind: ExprKind::Unary(op, Box::new(inner)),
        }
    }

    /// Is the word before the current position's successor an operator, not a variable?
    fn operand_follows(&self) -> bool {
        match &self.ahead(1).kind {
            TokenKind::Name(name) => {
                !matches!(&**name, "U" | "V" | "W" | "R" | "until" | "implies")
            }
            TokenKind::Number(_) => true,
            TokenKind::Punct(punct) => matches!(*punct, "(" | "!" | "[" | "<" | "-" | "~"),
            TokenKind::Text(_) | TokenKind::End => false,
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.token().kind.clone() {
            TokenKind::Number(value) => {
                self.advance();
                ExprKind::Int(value)
            }
            TokenKind::Punct("(") => return self.parenthesis(),
            TokenKind::Name(name) => return self.named(&name),
            _ => return self.expected("an expression"),
        };
        Ok(Expr { kind, span: start })
    }

    /// `( e )` or `( c -> a : b )`.
    fn parenthesis(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.advance();
        let condition = self.expr()?;
        if !self.in_formula && self.eat("->") {
            let then = self.expr()?;
            if !self.eat(":") {
                return self.expected("`:`, as in `(c -> a : b)`");
            }
            let otherwise = self.expr()?;
            self.expect(")")?;
            let kind = ExprKind::Cond(Box::new(condition), Box::new(then), Box::new(otherwise));
            let span = self.since(start);
            return Ok(Expr { kind, span });
        }

        if self.is("=") {
            let message = "`=` assigns and cannot stand inside an expression";
            let diagnostic = Diagnostic::error("syntax", self.span(), message);
            self.say(diagnostic.help("write `==` to compare"));
            return Err(Wrong);
        }

        self.expect(")")?;
        Ok(Expr {
            span: self.since(start),
            ..condition
        })
    }

    fn named(&mut self, name: &str) -> Parsed<Expr> {
        let start = self.span();
        let kind = match name {
            "true" | "skip" => self.constant(1),
            "false" => self.constant(0),
            "timeout" => {
                self.program.timeouts.push(start);
                self.advance();
                ExprKind::Timeout
            }
            "np_" => {
                self.advance();
                ExprKind::NonProgress
            }
            "run" => self.run()?,
            "len" => self.probe(Probe::Len)?,
            "full" => self.probe(Probe::Full)?,
            "empty" => self.probe(Probe::Empty)?,
            "nfull" => self.probe(Probe::NotFull)?,
            "nempty" => self.probe(Probe::NotEmpty)?,
            "enabled" => {
                self.advance();
                self.expect("(")?;
                let pid = self.expr()?;
                self.expect(")")?;
                ExprKind::Enabled(Box::new(pid))
            }
            "get_priority" => {
                self.advance();
                self.expect("(")?;
                let pid = self.expr()?;
                self.expect(")")?;
                self.program.priorities.push(start);
                ExprKind::Priority(Box::new(pid))
            }
            "pc_value" => {
                return self.not_supported("`pc_value`", "ask for a label: `P[i]@label`");
            }
            "c_expr" => {
                return self.not_supported("embedded C code", "write the condition in Promela");
            }
            "else" => {
                let message = "`else` is a statement of its own, not part of an expression";
                self.say(Diagnostic::error("syntax", start, message));
                return Err(Wrong);
            }
            "expire" | "off" if self.ahead(1).is("(") => self.timer_question(name)?,
            _ if is_keyword(name) => return self.expected("an expression"),
            _ if self.process_names.contains(name) => self.remote()?,
            _ => self.variable_or_poll()?,
        };

        let span = self.since(start);
        Ok(Expr { kind, span })
    }

    /// `expire(t)` or `off(t)`.
    fn timer_question(&mut self, name: &str) -> Parsed<ExprKind> {
        self.advance();
        self.expect("(")?;
        let timer = self.var_ref()?;
        self.expect(")")?;
        Ok(match name {
            "expire" => ExprKind::Expired(timer),
            _ => ExprKind::IsOff(timer),
        })
    }

    fn constant(&mut self, value: i64) -> ExprKind {
        self.advance();
        ExprKind::Int(value)
    }

    fn run(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let (name, _) = self.new_name("the name of a process type")?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expr()?);
            if !self.eat(",") && !self.is(")") {
                return self.expected("`,` or `)`");
            }
        }
        self.expect(")")?;
        let priority = self.priority()?.map(Box::new);
        Ok(ExprKind::Run {
            name,
            arguments,
            priority,
        })
    }

    fn probe(&mut self, probe: Probe) -> Parsed<ExprKind> {
        self.advance();
        self.expect("(")?;
        let channel = self.var_ref()?;
        self.expect(")")?;
        Ok(ExprKind::Probe(probe, channel))
    }

    /// `P[i]@label`, `P[i]:x`, `P@label` or `P:x`.
    fn remote(&mut self) -> Parsed<ExprKind> {
        let (process, span) = self.new_name("a process")?;
        let pid = if self.eat("[") {
            let pid = self.expr()?;
            self.expect("]")?;
            Some(Box::new(pid))
        } else {
            None
        };

        if self.eat("@") {
            let (label, _) = self.new_name("a label")?;
            self.program.remote_labels.insert(label.clone());
            return Ok(ExprKind::RemoteLabel {
                process,
                pid,
                label,
            });
        }

        if self.eat(":") {
            let var = self.var_ref()?;
            return Ok(ExprKind::RemoteVar { process, pid, var });
        }

        let message = format!("`{process}` is a process type, not a variable");
        let help =
            format!("write `{process}[pid]@label`, `{process}[pid]:variable` or `run {process}()`");
        self.say(Diagnostic::error("unknown-name", span, message).help(help));
        Err(Wrong)
    }

    fn variable_or_poll(&mut self) -> Parsed<ExprKind> {
        let channel = self.var_ref()?;
        let any = self.is("??");
        if !(any || self.is("?")) || !self.ahead(1).is("[") {
            return Ok(ExprKind::Var(channel));
        }
        self.advance();
        self.advance();
        let arguments = self.receive_arguments()?;
        self.expect("]")?;
        Ok(ExprKind::Poll {
            channel,
            arguments,
            any,
        })
    }

    /// `a[i].b[j]`.
    pub(super) fn var_ref(&mut self) -> Parsed<VarRef> {
        let start = self.span();
        let mut parts = Vec::new();
        loop {
            let (name, span): (Rc<str>, Span) = self.new_name("a variable")?;
            let index = if self.is("[") && !(self.in_formula && self.ahead(1).is("]")) {
                self.advance();
                let formula = std::mem::take(&mut self.in_formula);
                let index = self.expr();
                self.in_formula = formula;
                let index = index?;
                self.expect("]")?;
                Some(Box::new(index))
            } else {
                None
            };
            parts.push(VarComponent { name, index, span });
            if !self.eat(".") {
                let span = self.since(start);
                return Ok(VarRef { parts, span });
            }
        }
    }

    /// The arguments of a receive or poll: `a, b`, `m(a, b)` or `(a, b)`.
    pub(super) fn receive_arguments(&mut self) -> Parsed<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            if self.eat("(") {
                arguments.extend(self.nested(Self::receive_arguments)?);
                self.expect(")")?;
            } else {
                arguments.push(self.receive_argument()?);
                if self.eat("(") {
                    arguments.extend(self.nested(Self::receive_arguments)?);
                    self.expect(")")?;
                }
            }
            if !self.eat(",") {
                return Ok(arguments);
            }
        }
    }

    fn receive_argument(&mut self) -> Parsed<Argument> {
        let start = self.span();
        if self.eat_word("eval") {
            self.expect("(")?;
            let value = self.expr()?;
            self.expect(")")?;
            return Ok(Argument::Match(value));
        }

        match &self.token().kind {
            TokenKind::Name(name) if !is_keyword(name) => Ok(Argument::Store(self.var_ref()?)),
            TokenKind::Number(_) | TokenKind::Punct("-") => Ok(Argument::Match(self.unary()?)),
            TokenKind::Name(name) if matches!(&**name, "true" | "false" | "skip") => {
                Ok(Argument::Match(self.primary()?))
            }
            _ => {
                let found = self.token().describe();
                let message =
                    format!("a receive takes variables, constants, `_` and `eval(…)`, not {found}");
                self.say(Diagnostic::error("syntax", start, message));
                Err(Wrong)
            }
        }
    }
}

fn join(left: Span, right: Span) -> Span {
    if left.source == right.source {
        left.to(right)
    } else {
        left
    }
}
