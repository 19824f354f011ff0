//! The parser: precedence climbing over tokens, with recovery at semicolons.
//!
//! Precedences are those of MONA's grammar: a quantifier or `let` extends as far to the right as it
//! can; then, loosest first, `<=>`, `=>`, `|`, `&`, `~`, the relations `in notin sub`, the relations
//! `= ~= < <= > >=`, `min` and `max`, `union`, `inter`, `\`, `+ -`, `* / %`.
//!
//! The nesting of expressions is limited to [`MAX_DEPTH`], because expressions are parsed and
//! evaluated recursively. Long chains of `&`, `|`, `=>` and `<=>` are flat and have no limit.

use base::{Diagnostic, Source, SourceId, Span};

use crate::ast::{
    ArithmeticOperator, Comparison, Declaration, Declared, Expr, ExprId, ExprKind, Name, Order,
    Parameter, Syntax,
};
use crate::lexer::{Token, tokens};
use crate::naming::SetOperator;

/// How deeply expressions may be nested.
pub const MAX_DEPTH: usize = 600;

/// How deeply files may include each other.
const MAX_INCLUDES: usize = 50;

/// Reads a file by its path; the error is a message for the author of the including file.
pub type Loader<'l> = dyn FnMut(&str) -> Result<String, String> + 'l;

/// Parses a file and all that it includes.
pub(crate) fn parse(
    main: Source,
    loader: &mut Loader<'_>,
) -> (Syntax, Vec<Source>, Vec<Diagnostic>) {
    let mut program = Program {
        syntax: Syntax::default(),
        sources: Vec::new(),
        diagnostics: Vec::new(),
        loader,
        open: Vec::new(),
    };
    program.file(main);
    (program.syntax, program.sources, program.diagnostics)
}

struct Program<'p, 'l> {
    syntax: Syntax,
    sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
    loader: &'p mut Loader<'l>,
    /// Names of the files being read.
    open: Vec<String>,
}

/// The syntax error was reported; skip to the next declaration.
struct Skip;

type Parsed<T> = Result<T, Skip>;

impl<'l> Program<'_, 'l> {
    fn file(&mut self, source: Source) {
        let id = SourceId::new(self.sources.len());
        self.open.push(source.name.clone());
        let tokens = tokens(&source.text, id, &mut self.diagnostics);
        self.sources.push(source);
        let mut parser = Parser {
            program: self,
            tokens,
            at: 0,
            depth: 0,
        };
        parser.header(id == SourceId(0));
        while parser.peek() != &Token::End {
            if parser.declaration().is_err() {
                parser.recover();
            }
        }
        self.open.pop();
    }
}

/// Binding powers; higher binds tighter.
const IFF: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const NOT: u8 = 5;
const MEMBERSHIP: u8 = 6;
const RELATION: u8 = 7;
const EXTREMUM: u8 = 8;
const UNION: u8 = 9;
const INTER: u8 = 10;
const SET_MINUS: u8 = 11;
const SUM: u8 = 12;
const TIMES: u8 = 13;

struct Parser<'a, 'p, 'l> {
    program: &'a mut Program<'p, 'l>,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser<'_, '_, '_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn at_fixed(&self, text: &str) -> bool {
        matches!(self.peek(), Token::Fixed(found) if *found == text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at_fixed(text);
        if found {
            self.next();
        }
        found
    }

    fn error<T>(&mut self, code: &'static str, message: impl Into<String>) -> Parsed<T> {
        let span = self.span();
        let diagnostics = &mut self.program.diagnostics;
        diagnostics.push(Diagnostic::error(code, span, message));
        Err(Skip)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Fixed(text) => format!("`{text}`"),
            Token::End => "the end of the file".to_owned(),
        };
        self.error("syntax", format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, text: &'static str) -> Parsed<()> {
        if self.eat(text) {
            return Ok(());
        }
        self.expected(&format!("`{text}`"))
    }

    fn name(&mut self) -> Parsed<Name> {
        let Token::Name(_) = self.peek() else {
            return self.expected("a name");
        };
        let (Token::Name(text), span) = self.next() else {
            unreachable!("just looked");
        };
        Ok(Name { text, span })
    }

    fn text(&mut self) -> Parsed<String> {
        let Token::Text(_) = self.peek() else {
            return self.expected("a text in quotes");
        };
        let (Token::Text(text), _) = self.next() else {
            unreachable!("just looked");
        };
        Ok(text)
    }

    /// Skips to the end of the declaration.
    fn recover(&mut self) {
        self.depth = 0;
        while !self.at_fixed(";") && self.peek() != &Token::End {
            self.next();
        }
        self.eat(";");
    }

    fn header(&mut self, is_main: bool) {
        let Token::Fixed(header) = *self.peek() else {
            return;
        };
        match header {
            "ws1s" | "m2l-str" => {
                if is_main {
                    self.program.syntax.m2l = header == "m2l-str";
                }
                self.next();
                if self.expect(";").is_err() {
                    self.recover();
                }
            }
            "ws2s" | "m2l-tree" => {
                let _: Parsed<()> = self.unsupported(header);
                self.at = self.tokens.len() - 1;
            }
            _ => {}
        }
    }

    fn unsupported<T>(&mut self, what: &str) -> Parsed<T> {
        let message = format!("`{what}` is not supported: trees (WS2S) are out of scope");
        self.error("not-supported", message)
    }

    fn declaration(&mut self) -> Parsed<()> {
        let start = self.span();
        let Some(declaration) = self.declaration_body()? else {
            return Ok(());
        };
        self.expect(";")?;
        let declarations = &mut self.program.syntax.declarations;
        declarations.push((declaration, Some(start)));
        Ok(())
    }

    fn declaration_body(&mut self) -> Parsed<Option<Declaration>> {
        let Token::Fixed(keyword) = *self.peek() else {
            return Ok(Some(Declaration::Formula(self.expr(0)?)));
        };
        let declaration = match keyword {
            "guide" | "universe" | "tree" | "type" => return self.unsupported(keyword),
            "include" => {
                self.next();
                return self.include().map(|()| None);
            }
            "assert" => {
                self.next();
                Declaration::Assert(self.expr(0)?)
            }
            "execute" => {
                self.next();
                Declaration::Execute(self.expr(0)?)
            }
            "verify" => {
                self.next();
                let titled = matches!(self.peek(), Token::Text(_));
                let title = if titled { Some(self.text()?) } else { None };
                Declaration::Verify(title, self.expr(0)?)
            }
            "const" => {
                self.next();
                let name = self.name()?;
                self.expect("=")?;
                Declaration::Constant(name, self.constant(0)?)
            }
            "var0" | "var1" | "var2" => {
                self.next();
                Declaration::Variables(order_of(keyword), self.declared_list()?)
            }
            "pred" | "macro" => {
                self.next();
                self.predicate()?
            }
            "defaultwhere1" | "defaultwhere2" => {
                self.next();
                self.default_where(order_of(keyword))?
            }
            "lastpos" => {
                self.next();
                Declaration::LastPos(self.name()?)
            }
            "allpos" => {
                self.next();
                Declaration::AllPos(self.name()?)
            }
            _ => Declaration::Formula(self.expr(0)?),
        };

        Ok(Some(declaration))
    }

    fn include(&mut self) -> Parsed<()> {
        let span = self.span();
        let path = self.text()?;
        self.expect(";")?;

        let including = self.program.open.last().map_or("", String::as_str);
        let directory = including
            .rfind('/')
            .map_or("", |slash| &including[..=slash]);
        let path = if path.starts_with('/') {
            path
        } else {
            format!("{directory}{path}")
        };
        let message = if self.program.open.contains(&path) {
            format!("`{path}` includes itself")
        } else if self.program.open.len() >= MAX_INCLUDES {
            "inclusions are nested too deeply".to_owned()
        } else {
            match (self.program.loader)(&path) {
                Ok(text) => {
                    self.program.file(Source { name: path, text });
                    return Ok(());
                }
                Err(message) => format!("cannot read `{path}`: {message}"),
            }
        };

        let error = Diagnostic::error("include", span, message);
        self.program.diagnostics.push(error);
        Ok(())
    }

    fn default_where(&mut self, order: Order) -> Parsed<Declaration> {
        self.expect("(")?;
        let name = self.name()?;
        self.expect(")")?;
        self.expect("=")?;
        Ok(Declaration::DefaultWhere(order, name, self.expr(0)?))
    }

    fn predicate(&mut self) -> Parsed<Declaration> {
        let name = self.name()?;
        let mut parameters = Vec::new();
        if self.eat("(") && !self.eat(")") {
            let mut order = None;
            loop {
                if let Token::Fixed(keyword @ ("var0" | "var1" | "var2")) = *self.peek() {
                    self.next();
                    order = Some(order_of(keyword));
                } else if self.at_fixed("universe") {
                    return self.unsupported("universe");
                }
                let declared = self.declared()?;
                let Some(order) = order else {
                    return self.error(
                        "syntax",
                        "the first parameter needs `var0`, `var1` or `var2`",
                    );
                };
                parameters.push(Parameter { order, declared });
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }

        self.expect("=")?;
        let body = self.expr(0)?;
        Ok(Declaration::Predicate {
            name,
            parameters,
            body,
        })
    }

    fn declared(&mut self) -> Parsed<Declared> {
        if self.at_fixed("[") {
            return self.unsupported("[universe]");
        }
        let name = self.name()?;
        let restricted = self.eat("where");
        let restriction = if restricted {
            Some(self.expr(0)?)
        } else {
            None
        };
        Ok(Declared { name, restriction })
    }

    fn declared_list(&mut self) -> Parsed<Vec<Declared>> {
        let mut list = vec![self.declared()?];
        while self.eat(",") {
            list.push(self.declared()?);
        }
        Ok(list)
    }

    fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.program.syntax.exprs.push(Expr { kind, span });
        self.program.syntax.exprs.len() - 1
    }

    fn span_of(&self, expr: ExprId) -> Span {
        self.program.syntax.exprs[expr].span
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expr(&mut self, least: u8) -> Parsed<ExprId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("expressions are nested more than {MAX_DEPTH} deep");
            return self.error("nesting", message);
        }

        let mut left = self.prefix_expr()?;
        while let Token::Fixed(operator) = *self.peek() {
            let Some((power, right_least)) = binary_power(operator) else {
                break;
            };
            if power < least {
                break;
            }
            left = self.infix(left, operator, power, right_least)?;
            // The relations do not associate.
            if matches!(power, MEMBERSHIP | RELATION) && least <= power {
                let again = matches!(*self.peek(), Token::Fixed(next)
                    if binary_power(next).is_some_and(|(next, _)| next == power));
                if again {
                    return self.expected("no further relation");
                }
            }
        }

        self.depth -= 1;
        Ok(left)
    }

    fn infix(
        &mut self,
        left: ExprId,
        operator: &'static str,
        power: u8,
        right_least: u8,
    ) -> Parsed<ExprId> {
        if matches!(power, IFF | IMPLIES | OR | AND) {
            return self.chain(left, operator, right_least);
        }

        self.next();
        if matches!(power, SUM | TIMES) {
            return self.arithmetic(left, operator);
        }

        let right = self.expr(right_least)?;
        let span = self.span_of(left).to(self.span_of(right));
        let kind = match operator {
            "union" => ExprKind::SetOperation(SetOperator::Union, left, right),
            "inter" => ExprKind::SetOperation(SetOperator::Inter, left, right),
            "\\" => ExprKind::SetOperation(SetOperator::Minus, left, right),
            relation => ExprKind::Compare(comparison(relation), left, right),
        };
        Ok(self.push(kind, span))
    }

    /// `a op b op c …` as one flat node.
    fn chain(&mut self, left: ExprId, operator: &'static str, least: u8) -> Parsed<ExprId> {
        let mut operands = vec![left];
        while self.eat(operator) {
            operands.push(self.expr(least)?);
        }
        let span = self
            .span_of(left)
            .to(self.span_of(operands[operands.len() - 1]));
        let kind = match operator {
            "<=>" => ExprKind::Iff(operands),
            "=>" => ExprKind::Implies(operands),
            "|" => ExprKind::Or(operands),
            _ => ExprKind::And(operands),
        };
        Ok(self.push(kind, span))
    }

    /// What follows `left +`, `left -`, `left *` or `left /`: a constant, and perhaps a modulus.
    fn arithmetic(&mut self, left: ExprId, operator: &'static str) -> Parsed<ExprId> {
        let is_sum = matches!(operator, "+" | "-");
        let amount = self.constant(if is_sum { TIMES } else { TIMES + 1 })?;
        let mut span = self.span_of(left).to(self.span_of(amount));
        if is_sum && self.eat("%") {
            let modulus = self.expr(TIMES + 1)?;
            span = span.to(self.span_of(modulus));
            let kind = ExprKind::Modulo {
                minus: operator == "-",
                term: left,
                amount,
                modulus,
            };
            return Ok(self.push(kind, span));
        }
        let kind = ExprKind::Arithmetic(arithmetic_operator(operator), left, amount);
        Ok(self.push(kind, span))
    }

    /// A constant expression.
    fn constant(&mut self, least: u8) -> Parsed<ExprId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("expressions are nested more than {MAX_DEPTH} deep");
            return self.error("nesting", message);
        }

        let start = self.span();
        let mut left = match self.next().0 {
            Token::Number(number) => self.push(ExprKind::Number(number), start),
            Token::Name(name) => self.push(ExprKind::Name(name), start),
            Token::Fixed("(") => {
                let inner = self.constant(0)?;
                self.expect(")")?;
                inner
            }
            Token::Fixed("-") => {
                let inner = self.constant(SUM)?;
                let span = start.to(self.span_of(inner));
                self.push(ExprKind::Negative(inner), span)
            }
            _ => {
                self.at -= 1;
                return self.expected("a constant");
            }
        };

        while let Token::Fixed(operator @ ("+" | "-" | "*" | "/")) = *self.peek() {
            let power = if matches!(operator, "+" | "-") {
                SUM
            } else {
                TIMES
            };
            if power < least {
                break;
            }
            self.next();
            let right = self.constant(power + 1)?;
            let span = self.span_of(left).to(self.span_of(right));
            let kind = ExprKind::Arithmetic(arithmetic_operator(operator), left, right);
            left = self.push(kind, span);
        }

        self.depth -= 1;
        Ok(left)
    }
}

mod prefix;

fn order_of(keyword: &str) -> Order {
    match keyword.as_bytes()[keyword.len() - 1] {
        b'0' => Order::Zero,
        b'1' => Order::First,
        _ => Order::Second,
    }
}

/// The power of a binary operator, and that of its right operand.
fn binary_power(operator: &str) -> Option<(u8, u8)> {
    Some(match operator {
        "<=>" => (IFF, IFF + 1),
        "=>" => (IMPLIES, IMPLIES + 1),
        "|" => (OR, OR + 1),
        "&" => (AND, AND + 1),
        "in" | "notin" | "sub" => (MEMBERSHIP, MEMBERSHIP + 1),
        "=" | "~=" | "<" | "<=" | ">" | ">=" => (RELATION, RELATION + 1),
        "union" => (UNION, UNION + 1),
        "inter" => (INTER, INTER + 1),
        "\\" => (SET_MINUS, SET_MINUS + 1),
        "+" | "-" => (SUM, SUM + 1),
        "*" | "/" => (TIMES, TIMES + 1),
        _ => return None,
    })
}

fn comparison(operator: &str) -> Comparison {
    match operator {
        "in" => Comparison::In,
        "notin" => Comparison::NotIn,
        "sub" => Comparison::Sub,
        "=" => Comparison::Equal,
        "~=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessEqual,
        ">" => Comparison::Greater,
        _ => Comparison::GreaterEqual,
    }
}

fn arithmetic_operator(operator: &str) -> ArithmeticOperator {
    match operator {
        "+" => ArithmeticOperator::Plus,
        "-" => ArithmeticOperator::Minus,
        "*" => ArithmeticOperator::Times,
        _ => ArithmeticOperator::Divide,
    }
}
