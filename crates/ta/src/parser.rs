//! From tokens to a tree.

use base::{Diagnostic, SourceId, Span};

use crate::lexer::{Kind, Token, tokens};

/// A name where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ident {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A number, condition or formula.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Number(i64),
    Bool(bool),
    Name(String),
    Negated(Box<Expr>),
    /// `+`, `-` or `*`.
    Arithmetic(char, Box<Expr>, Box<Expr>),
    /// A sign of comparison.
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Iff(Box<Expr>, Box<Expr>),
    Always(Box<Expr>),
    Eventually(Box<Expr>),
}

/// What a rule does to a counter.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    /// The new value.
    Set(Ident, Expr),
    /// These stay as they are.
    Unchanged(Vec<Ident>),
}

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct RuleText {
    pub(crate) number: String,
    pub(crate) source: Ident,
    pub(crate) target: Ident,
    pub(crate) guard: Expr,
    pub(crate) updates: Vec<Update>,
    pub(crate) span: Span,
}

/// What a text declares, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) name: Option<Ident>,
    pub(crate) shared: Vec<Ident>,
    pub(crate) parameters: Vec<Ident>,
    pub(crate) unknowns: Vec<Ident>,
    pub(crate) definitions: Vec<(Ident, Expr)>,
    pub(crate) assumptions: Vec<Expr>,
    pub(crate) locations: Vec<Ident>,
    pub(crate) init: Vec<Expr>,
    pub(crate) rules: Vec<RuleText>,
    pub(crate) properties: Vec<(Ident, Expr)>,
}

type Parsed<T> = Result<T, Diagnostic>;

/// Expressions nested deeper than this are refused.
const MAX_DEPTH: usize = 200;

/// How a text starts.
const HEADS: [&str; 3] = ["thresholdAutomaton", "threshAuto", "skel"];

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

const SECTIONS: &str = "`local`, `shared`, `parameters`, `unknowns`, `define`, `assumptions`, `locations`, `inits`, `rules` or `specifications`";

/// The tree of a text.
///
/// # Errors
/// What is wrong with it first.
pub(crate) fn parse(text: &str, source: SourceId) -> Parsed<Tree> {
    let mut parser = Parser::new(text, source)?;
    let mut tree = Tree::default();
    parser.automaton(&mut tree)?;
    Ok(tree)
}

/// A formula alone.
///
/// # Errors
/// What is wrong with it first.
pub(crate) fn parse_formula(text: &str, source: SourceId) -> Parsed<Expr> {
    let mut parser = Parser::new(text, source)?;
    let formula = parser.formula()?;
    if parser.peek().kind != Kind::End {
        return Err(parser.unexpected("the end of the formula"));
    }
    Ok(formula)
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, source: SourceId) -> Parsed<Self> {
        Ok(Self {
            tokens: tokens(text, source)?,
            at: 0,
            depth: 0,
        })
    }

    fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the text ends here".to_owned(),
            Kind::Word | Kind::Number | Kind::Sign => format!("`{}` is written here", token.text),
        };
        let message = format!("{wanted} is expected, but {found}");
        Diagnostic::error("syntax", token.span, message)
    }

    fn accept(&mut self, text: &str) -> bool {
        let is_it = self.peek().text == text;
        if is_it {
            self.next();
        }
        is_it
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        if self.peek().text != text {
            return Err(self.unexpected(&format!("`{text}`")));
        }
        Ok(self.next().span)
    }

    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        self.next();
        Ok(Ident {
            text: token.text.to_owned(),
            span: token.span,
        })
    }

    fn idents(&mut self, what: &str) -> Parsed<Vec<Ident>> {
        let mut idents = vec![self.ident(what)?];
        while self.accept(",") {
            idents.push(self.ident(what)?);
        }
        Ok(idents)
    }

    fn automaton(&mut self, tree: &mut Tree) -> Parsed<()> {
        if !HEADS.iter().any(|head| self.accept(head)) {
            return Err(self.unexpected("`thresholdAutomaton` or `skel`"));
        }
        tree.name = Some(self.ident("the name of the automaton")?);
        self.expect("{")?;
        while !self.accept("}") {
            self.section(tree)?;
        }
        if self.peek().kind != Kind::End {
            return Err(self.unexpected("the end of the text"));
        }
        Ok(())
    }

    fn section(&mut self, tree: &mut Tree) -> Parsed<()> {
        match self.peek().text {
            "local" => self.names().map(drop),
            "shared" => self.names().map(|names| tree.shared.extend(names)),
            "parameters" => self.names().map(|names| tree.parameters.extend(names)),
            "unknowns" => self.names().map(|names| tree.unknowns.extend(names)),
            "define" => {
                self.next();
                let name = self.ident("a name")?;
                self.expect("==")?;
                let value = self.sum()?;
                self.expect(";")?;
                tree.definitions.push((name, value));
                Ok(())
            }
            "assumptions" => self.block(|parser| {
                let assumption = parser.statement()?;
                tree.assumptions.push(assumption);
                Ok(())
            }),
            "inits" => self.block(|parser| {
                let condition = parser.statement()?;
                tree.init.push(condition);
                Ok(())
            }),
            "locations" => self.block(|parser| parser.location(tree)),
            "rules" => self.block(|parser| {
                let rule = parser.rule()?;
                tree.rules.push(rule);
                Ok(())
            }),
            "specifications" => self.block(|parser| {
                let name = parser.ident("the name of a property")?;
                parser.expect(":")?;
                let formula = parser.statement()?;
                tree.properties.push((name, formula));
                Ok(())
            }),
            _ => Err(self.unexpected(SECTIONS)),
        }
    }

    /// A keyword with names behind it.
    fn names(&mut self) -> Parsed<Vec<Ident>> {
        self.next();
        let names = self.idents("a name")?;
        self.expect(";")?;
        Ok(names)
    }

    /// A keyword, a number of entries that nothing depends on, and entries in braces.
    fn block(&mut self, mut entry: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.next();
        if self.accept("(") {
            self.next();
            self.expect(")")?;
        }
        self.expect("{")?;
        while !self.accept("}") {
            entry(self)?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Parsed<Expr> {
        let formula = self.formula()?;
        self.expect(";")?;
        Ok(formula)
    }

    /// A location with the values of local variables in it, which nothing depends on.
    fn location(&mut self, tree: &mut Tree) -> Parsed<()> {
        tree.locations.push(self.ident("the name of a location")?);
        self.expect(":")?;
        self.expect("[")?;
        while !self.accept("]") {
            if !matches!(self.peek().kind, Kind::Number | Kind::Word) && self.peek().text != ";" {
                return Err(self.unexpected("a value or `]`"));
            }
            self.next();
        }
        self.expect(";").map(drop)
    }

    fn rule(&mut self) -> Parsed<RuleText> {
        let number = self.peek();
        if !matches!(number.kind, Kind::Number | Kind::Word) {
            return Err(self.unexpected("the number of a rule"));
        }
        self.next();

        self.expect(":")?;
        let source = self.ident("a location")?;
        self.expect("->")?;
        let target = self.ident("a location")?;

        self.expect("when")?;
        self.expect("(")?;
        let guard = self.formula()?;
        self.expect(")")?;

        self.expect("do")?;
        self.expect("{")?;
        let mut updates = Vec::new();
        while !self.accept("}") {
            updates.push(self.update()?);
        }

        let end = self.expect(";")?;

        Ok(RuleText {
            number: number.text.to_owned(),
            source,
            target,
            guard,
            updates,
            span: number.span.to(end),
        })
    }

    fn update(&mut self) -> Parsed<Update> {
        let update = if self.accept("unchanged") {
            self.expect("(")?;
            let names = self.idents("a shared counter")?;
            self.expect(")")?;
            Update::Unchanged(names)
        } else {
            let name = self.ident("a shared counter or `unchanged`")?;
            self.expect("'")?;
            self.expect("==")?;
            Update::Set(name, self.sum()?)
        };
        self.expect(";")?;
        Ok(update)
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH}");
            return Err(Diagnostic::error("too-deep", self.peek().span, message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn formula(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let left = parser.disjunction()?;
            if parser.accept("->") {
                let right = parser.formula()?;
                return Ok(joined(ExprKind::Implies, left, right));
            }
            if parser.accept("<->") {
                let right = parser.formula()?;
                return Ok(joined(ExprKind::Iff, left, right));
            }
            Ok(left)
        })
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        while self.accept("||") {
            left = joined(ExprKind::Or, left, self.conjunction()?);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while self.accept("&&") {
            left = joined(ExprKind::And, left, self.unary()?);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let make: fn(Box<Expr>) -> ExprKind = match self.peek().text {
            "!" => ExprKind::Not,
            "[]" => ExprKind::Always,
            "<>" => ExprKind::Eventually,
            "true" | "false" => {
                let kind = ExprKind::Bool(self.next().text == "true");
                return Ok(Expr { kind, span: start });
            }
            _ => return self.comparison_or_group(),
        };
        self.next();
        let inner = self.deeper(Self::unary)?;
        let span = start.to(inner.span);
        let kind = make(Box::new(inner));
        Ok(Expr { kind, span })
    }

    /// A comparison, or a formula in parentheses: which, is known behind the parentheses.
    fn comparison_or_group(&mut self) -> Parsed<Expr> {
        let (at, depth) = (self.at, self.depth);
        let compared = self.comparison();
        if compared.is_ok() || self.tokens[at].text != "(" {
            return compared;
        }
        let got = self.at;
        (self.at, self.depth) = (at, depth);
        let start = self.next().span;
        let grouped = self.formula().and_then(|inner| {
            let span = start.to(self.expect(")")?);
            Ok(Expr { span, ..inner })
        });
        // What was understood further is what was meant.
        match (grouped, compared) {
            (Err(_), Err(wrong)) if got > self.at => Err(wrong),
            (grouped, _) => grouped,
        }
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        let sign = COMPARISONS.iter().find(|sign| self.peek().text == **sign);
        let Some(sign) = sign else {
            return Err(self.unexpected("a comparison, such as `==` or `>=`,"));
        };
        self.next();
        let right = self.sum()?;
        let kind = |left, right| ExprKind::Compare(sign, left, right);
        Ok(joined(kind, left, right))
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let mut left = parser.product()?;
            loop {
                let sign = match parser.peek().text {
                    "+" => '+',
                    "-" => '-',
                    _ => return Ok(left),
                };
                parser.next();
                let kind = |left, right| ExprKind::Arithmetic(sign, left, right);
                left = joined(kind, left, parser.product()?);
            }
        })
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.factor()?;
        while self.accept("*") {
            let kind = |left, right| ExprKind::Arithmetic('*', left, right);
            left = joined(kind, left, self.factor()?);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Expr> {
        let token = self.peek();

        if self.accept("(") {
            let inner = self.sum()?;
            let end = self.expect(")")?;
            let span = token.span.to(end);
            return Ok(Expr { span, ..inner });
        }

        if self.accept("-") {
            let inner = self.deeper(Self::factor)?;
            let span = token.span.to(inner.span);
            let kind = ExprKind::Negated(Box::new(inner));
            return Ok(Expr { kind, span });
        }

        let kind = match token.kind {
            Kind::Word => ExprKind::Name(token.text.to_owned()),
            Kind::Number => {
                let value = token.text.parse().ok();
                let value = value.filter(|value: &i64| *value <= MAX_NUMBER);
                let too_large = format!("numbers are at most {MAX_NUMBER}");
                let wrong = || Diagnostic::error("too-large", token.span, too_large);
                ExprKind::Number(value.ok_or_else(wrong)?)
            }
            Kind::Sign | Kind::End => return Err(self.unexpected("a number or a name")),
        };

        self.next();
        Ok(Expr {
            kind,
            span: token.span,
        })
    }
}

/// Numbers in texts are at most this, so that sums of multiples fit 64 bits.
const MAX_NUMBER: i64 = 1_000_000;

fn joined(kind: impl FnOnce(Box<Expr>, Box<Expr>) -> ExprKind, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let kind = kind(Box::new(left), Box::new(right));
    Expr { kind, span }
}
