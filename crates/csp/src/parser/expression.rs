//! Expressions and programs.

use std::rc::Rc;

use super::Parser;
use crate::ast::{
    BinaryOp, Expr, ExprKind, ExprRef, Ident, IndexDef, IndexValues, Program, Stmt, StmtKind,
};
use crate::lexer::Tok;

/// Operators by level, loosest first. Bitwise operators bind looser than comparisons, as in C.
const LEVELS: [&[(&str, BinaryOp)]; 7] = [
    &[("||", BinaryOp::Or)],
    &[("&&", BinaryOp::And)],
    &[("xor", BinaryOp::Xor)],
    &[
        ("&", BinaryOp::BitAnd),
        ("|", BinaryOp::BitOr),
        ("^", BinaryOp::BitXor),
    ],
    &[("==", BinaryOp::Eq), ("!=", BinaryOp::Ne)],
    &[
        ("<=", BinaryOp::Le),
        (">=", BinaryOp::Ge),
        ("<", BinaryOp::Lt),
        (">", BinaryOp::Gt),
    ],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
];

const FACTORS: &[(&str, BinaryOp)] = &[
    ("*", BinaryOp::Mul),
    ("/", BinaryOp::Div),
    ("%", BinaryOp::Rem),
];

/// Longer sums and conjunctions are refused, because expressions are walked by recursion.
const MAX_OPERATORS: usize = 300;

impl Parser<'_> {
    /// An expression, possibly an assignment.
    pub(super) fn expression(&mut self) -> Option<ExprRef> {
        self.nested(|parser| {
            let start = parser.span();
            let left = parser.condition()?;
            if !parser.eat("=") {
                return Some(left);
            }
            let right = parser.expression()?;
            parser.make(start, ExprKind::Assign(left, right))
        })
    }

    /// An expression without assignment.
    pub(super) fn condition(&mut self) -> Option<ExprRef> {
        self.nested(|parser| parser.level(0))
    }

    /// A sum: what may stand in ranges and as an argument of an event.
    pub(super) fn sum(&mut self) -> Option<ExprRef> {
        self.nested(|parser| parser.level(LEVELS.len() - 1))
    }

    fn make(&mut self, start: base::Span, kind: ExprKind) -> Option<ExprRef> {
        let span = self.since(start);
        Some(Rc::new(Expr { kind, span }))
    }

    fn operator(&self, level: &[(&'static str, BinaryOp)]) -> Option<BinaryOp> {
        let text = match self.peek() {
            Tok::Sym(symbol) => symbol,
            Tok::Ident(name) => &**name,
            _ => return None,
        };
        level.iter().find(|(s, _)| *s == text).map(|(_, op)| *op)
    }

    fn level(&mut self, level: usize) -> Option<ExprRef> {
        let Some(operators) = LEVELS.get(level) else {
            return self.product();
        };
        let start = self.span();
        if level < 3
            && let Some(op) = self.operator(operators)
        {
            self.advance();
            let indices = self.indices()?;
            self.expect("@")?;
            let body = self.expression()?;
            return self.make(start, ExprKind::Indexed(op, indices, body));
        }

        let mut left = self.level(level + 1)?;
        let mut n_operators = 0;
        while let Some(op) = self.operator(operators) {
            n_operators += 1;
            if n_operators > MAX_OPERATORS {
                let message = format!("there are more than {MAX_OPERATORS} operators in a row");
                return self.error("too-deep", start, message);
            }
            self.advance();
            let right = self.level(level + 1)?;
            left = self.make(start, ExprKind::Binary(op, left, right))?;
        }

        Some(left)
    }

    fn product(&mut self) -> Option<ExprRef> {
        let start = self.span();
        let mut left = self.unary()?;
        while let Some(op) = self.operator(FACTORS) {
            self.advance();
            let right = self.unary()?;
            left = self.make(start, ExprKind::Binary(op, left, right))?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<ExprRef> {
        let start = self.span();

        if self.eat("+") {
            return self.nested(Self::unary);
        }
        if self.eat("-") {
            let inner = self.nested(Self::unary)?;
            return self.make(start, ExprKind::Neg(inner));
        }
        if self.eat("!") {
            let inner = self.nested(Self::unary)?;
            return self.make(start, ExprKind::Not(inner));
        }

        let inner = self.primary()?;
        if self.eat("++") {
            return self.make(start, ExprKind::Increment(inner, 1));
        }
        if self.eat("--") {
            return self.make(start, ExprKind::Increment(inner, -1));
        }

        Some(inner)
    }

    fn primary(&mut self) -> Option<ExprRef> {
        let start = self.span();
        match self.peek().clone() {
            Tok::Int(value) => {
                self.advance();
                self.make(start, ExprKind::Int(value))
            }
            Tok::Sym("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Some(inner)
            }
            Tok::Ident(name) => match &*name {
                "true" | "false" => {
                    self.advance();
                    self.make(start, ExprKind::Bool(&*name == "true"))
                }
                "new" => {
                    self.advance();
                    let class = self.ident("the name of a class")?;
                    let text = format!("new {}", class.text).into();
                    self.expect("(")?;
                    let arguments = self.expressions(")")?;
                    self.expect(")")?;
                    let span = class.span;
                    self.make(start, ExprKind::Call(Ident { text, span }, arguments))
                }
                "sum" if self.in_library => {
                    self.advance();
                    self.expect("(")?;
                    let indices = self.indices()?;
                    self.expect("@")?;
                    let body = self.condition()?;
                    self.expect(")")?;
                    self.make(start, ExprKind::Indexed(BinaryOp::Add, indices, body))
                }
                _ => self.named(),
            },
            Tok::Sym("[") => {
                self.advance();
                let items = self.expressions("]")?;
                self.expect("]")?;
                let name = Ident {
                    text: "[]".into(),
                    span: start,
                };
                self.make(start, ExprKind::Call(name, items))
            }
            Tok::Sym("#") => {
                let message = "counting the copies of a process is not supported".to_owned();
                self.error("unsupported", start, message)
            }
            _ => self.unexpected("an expression"),
        }
    }

    /// A name, an array element, a macro or a built-in.
    fn named(&mut self) -> Option<ExprRef> {
        let start = self.span();
        let mut name = self.ident("a name")?;
        if self.is("(") {
            self.advance();
            if &*name.text == "call" {
                name = self.ident("the name of a macro")?;
                if !self.is(")") {
                    self.expect(",")?;
                }
            }
            let mut arguments = self.expressions(")")?;
            self.expect(")")?;
            if self.eat("[") {
                arguments.push(self.expression()?);
                self.expect("]")?;
            }
            return self.make(start, ExprKind::Call(name, arguments));
        }

        if self.has_member() {
            self.advance();
            let member = self.ident("the name of a member")?;
            name.text = format!("{}.{}", name.text, member.text).into();
            if self.eat("(") {
                let arguments = self.expressions(")")?;
                self.expect(")")?;
                return self.make(start, ExprKind::Call(name, arguments));
            }
        }

        let mut indices = Vec::new();
        while self.eat("[") {
            indices.push(self.condition()?);
            self.expect("]")?;
        }
        if indices.is_empty() {
            return self.make(start, ExprKind::Name(name.text));
        }
        self.make(start, ExprKind::Index(name.text, indices))
    }

    /// Does a field or a method of an object follow? `e.x.call(m)` is an event.
    fn has_member(&self) -> bool {
        let is_method = || {
            let word = self.word_at(1).filter(|word| ***word != *"call");
            word.is_some() && (self.in_library || self.is_at(2, "("))
        };
        self.is("$") || self.is(".") && is_method()
    }

    /// A name that is not followed by what would otherwise belong to it.
    pub(super) fn bare_name(&mut self) -> Option<ExprRef> {
        let start = self.span();
        let name = self.ident("a name")?;
        self.make(start, ExprKind::Name(name.text))
    }

    /// Expressions separated by commas, up to a closing bracket that stays.
    pub(super) fn expressions(&mut self, end: &str) -> Option<Vec<ExprRef>> {
        let mut list = Vec::new();
        if self.is(end) {
            return Some(list);
        }
        loop {
            list.push(self.condition()?);
            if !self.eat(",") {
                return Some(list);
            }
        }
    }

    /// `x:{a..b}; y:{1, 2}`. The braces may be left out around a range, as papers do.
    pub(super) fn indices(&mut self) -> Option<Vec<IndexDef>> {
        let mut list = Vec::new();
        loop {
            let name = self.ident("the name of an index")?;
            self.expect(":")?;
            let braces = self.eat("{");
            let first = self.sum()?;
            let values = if self.eat("..") {
                IndexValues::Range(first, self.sum()?)
            } else {
                let mut values = vec![first];
                while self.eat(",") {
                    values.push(self.sum()?);
                }
                IndexValues::List(values)
            };
            if braces {
                self.expect("}")?;
            }
            list.push(IndexDef { name, values });
            if !self.eat(";") {
                return Some(list);
            }
        }
    }

    /// A program in braces.
    pub(super) fn block(&mut self) -> Option<Program> {
        self.expect("{")?;
        let mut list = Vec::new();
        while !self.eat("}") {
            list.push(self.statement()?);
        }
        Some(Rc::new(list))
    }

    fn statement(&mut self) -> Option<Stmt> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = parser.statement_kind()?;
            let span = parser.since(start);
            Some(Stmt { kind, span })
        })
    }

    fn statement_kind(&mut self) -> Option<StmtKind> {
        if self.is("{") {
            let block = self.block()?;
            return Some(StmtKind::Block(block.to_vec()));
        }
        if self.eat(";") {
            return Some(StmtKind::Empty);
        }
        if self.eat_word("var") {
            return self.local();
        }

        if self.eat_word("if") {
            let condition = self.tested()?;
            let then = Box::new(self.statement()?);
            let otherwise = if self.eat_word("else") {
                Some(Box::new(self.statement()?))
            } else {
                None
            };
            return Some(StmtKind::If(condition, then, otherwise));
        }

        if self.eat_word("while") {
            let condition = self.tested()?;
            return Some(StmtKind::While(condition, Box::new(self.statement()?)));
        }

        if self.in_library && self.eat_word("exhausted") {
            self.expect(";")?;
            return Some(StmtKind::Fail(None));
        }
        if self.in_library && self.eat_word("fail") {
            let Tok::Str(message) = self.peek().clone() else {
                return self.unexpected("a message in quotes");
            };
            self.advance();
            self.expect(";")?;
            return Some(StmtKind::Fail(Some(message)));
        }

        let expression = self.expression()?;
        if !self.is("}") {
            self.expect(";")?;
        }
        Some(StmtKind::Expr(expression))
    }

    fn tested(&mut self) -> Option<ExprRef> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Some(condition)
    }

    fn local(&mut self) -> Option<StmtKind> {
        let kind = if self.is("<") {
            StmtKind::LocalObject(self.object()?)
        } else {
            let name = self.ident("the name of a variable")?;
            let mut dimensions = Vec::new();
            while self.eat("[") {
                dimensions.push(self.condition()?);
                self.expect("]")?;
            }
            let value = if self.eat("=") {
                Some(self.expression()?)
            } else {
                None
            };
            let is_array = value.as_ref().is_some_and(|value| value.is_array());
            if is_array || !dimensions.is_empty() {
                StmtKind::LocalArray(name, dimensions, value)
            } else {
                StmtKind::Local(name, value)
            }
        };

        if !self.is("}") {
            self.expect(";")?;
        }
        Some(kind)
    }
}
