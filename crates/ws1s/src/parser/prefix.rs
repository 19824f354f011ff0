//! Expressions that begin with their operator: quantifiers, `let`, displays, calls.

use crate::ast::{Element, ExprId, ExprKind};
use crate::lexer::Token;

use super::{EXTREMUM, NOT, Parsed, Parser, RELATION, order_of};

impl Parser<'_, '_, '_> {
    pub(super) fn prefix_expr(&mut self) -> Parsed<ExprId> {
        let start = self.span();
        match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                self.name_or_call(name, start)
            }
            Token::Number(number) => {
                self.next();
                Ok(self.push(ExprKind::Number(number), start))
            }
            Token::Fixed(keyword) => self.keyword_expr(keyword),
            Token::Text(_) | Token::End => self.expected("an expression"),
        }
    }

    fn name_or_call(&mut self, name: String, start: base::Span) -> Parsed<ExprId> {
        if !self.eat("(") {
            return Ok(self.push(ExprKind::Name(name), start));
        }
        let mut arguments = Vec::new();
        if !self.at_fixed(")") {
            arguments.push(self.expr(0)?);
            while self.eat(",") {
                arguments.push(self.expr(0)?);
            }
        }
        let span = start.to(self.span());
        self.expect(")")?;
        Ok(self.push(ExprKind::Call(name, arguments), span))
    }

    fn keyword_expr(&mut self, keyword: &'static str) -> Parsed<ExprId> {
        let start = self.span();
        let kind = match keyword {
            "(" => {
                self.next();
                let inner = self.expr(0)?;
                self.expect(")")?;
                return Ok(inner);
            }
            "true" | "false" => {
                self.next();
                match keyword {
                    "true" => ExprKind::True,
                    _ => ExprKind::False,
                }
            }
            "~" => {
                self.next();
                ExprKind::Not(self.expr(NOT)?)
            }
            "min" => {
                self.next();
                ExprKind::Min(self.expr(EXTREMUM)?)
            }
            "max" => {
                self.next();
                ExprKind::Max(self.expr(EXTREMUM)?)
            }
            "{" => self.display()?,
            "empty" => {
                self.next();
                if self.eat("(") {
                    let inner = self.expr(0)?;
                    self.expect(")")?;
                    ExprKind::IsEmpty(inner)
                } else {
                    ExprKind::Empty
                }
            }
            "ex0" | "ex1" | "ex2" | "all0" | "all1" | "all2" => self.quantifier(keyword)?,
            "let0" | "let1" | "let2" => self.let_expr(keyword)?,
            "prefix" | "restrict" | "import" | "export" => self.automaton_expr(keyword)?,
            "root" | "in_state_space" | "variant" | "succ" | "tree" | "type" | "sometype"
            | "const_tree" | "tree_root" => return self.unsupported(keyword),
            _ => return self.expected("an expression"),
        };

        let span = start.to(self.tokens[self.at.saturating_sub(1)].1);
        Ok(self.push(kind, span))
    }

    fn automaton_expr(&mut self, keyword: &'static str) -> Parsed<ExprKind> {
        self.next();
        self.expect("(")?;
        let kind = match keyword {
            "prefix" => ExprKind::Prefix(self.expr(0)?),
            "restrict" => ExprKind::Restrict(self.expr(0)?),
            "export" => {
                let file = self.text()?;
                self.expect(",")?;
                ExprKind::Export(file, self.expr(0)?)
            }
            _ => {
                let file = self.text()?;
                let mut mapping = Vec::new();
                while self.eat(",") {
                    let theirs = self.name()?;
                    self.expect("->")?;
                    mapping.push((theirs, self.name()?));
                }
                ExprKind::Import(file, mapping)
            }
        };

        self.expect(")")?;
        Ok(kind)
    }

    fn display(&mut self) -> Parsed<ExprKind> {
        self.next();
        let mut elements = Vec::new();
        while !self.at_fixed("}") {
            let first = self.expr(0)?;
            let is_interval =
                self.at_fixed(",") && matches!(self.tokens[self.at + 1].0, Token::Fixed("..."));
            if is_interval {
                self.next();
                self.next();
                self.expect(",")?;
                elements.push(Element::Interval(first, self.expr(0)?));
            } else {
                elements.push(Element::Single(first));
            }
            if !self.eat(",") {
                break;
            }
            if self.at_fixed("}") {
                return self.expected("an element");
            }
        }

        self.expect("}")?;
        Ok(ExprKind::Set(elements))
    }

    fn quantifier(&mut self, keyword: &'static str) -> Parsed<ExprKind> {
        self.next();
        if self.at_fixed("[") {
            return self.unsupported("[universe]");
        }
        let variables = self.declared_list()?;
        self.expect(":")?;
        let body = self.expr(0)?;
        Ok(ExprKind::Quantifier {
            universal: keyword.starts_with("all"),
            order: order_of(keyword),
            variables,
            body,
        })
    }

    fn let_expr(&mut self, keyword: &'static str) -> Parsed<ExprKind> {
        self.next();
        let mut definitions = Vec::new();
        loop {
            let name = self.name()?;
            self.expect("=")?;
            // `in` ends the definitions, so relations need parentheses here.
            definitions.push((name, self.expr(RELATION + 1)?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("in")?;
        let body = self.expr(0)?;
        Ok(ExprKind::Let {
            order: order_of(keyword),
            definitions,
            body,
        })
    }
}
