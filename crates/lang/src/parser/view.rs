//! `view { … }`: a picture of the state.

use base::{Diagnostic, Span};
use source::ShapeKind;

use super::{Parsed, Parser};
use crate::ast::{CoordinateDecl, Ident, ShapeDecl, TextDecl, ViewDecl, ViewItem};
use crate::lexer::TokenKind;

/// What a picture can show, by name.
const SHAPES: [(&str, ShapeKind); 4] = [
    ("circle", ShapeKind::Circle),
    ("box", ShapeKind::Box),
    ("line", ShapeKind::Line),
    ("text", ShapeKind::Text),
];

impl Parser<'_> {
    pub(super) fn view(&mut self) -> Parsed<ViewDecl> {
        let span = self.expect("view")?;
        let open = self.expect("{")?;
        let mut frame = None;
        if self.eat("frame") {
            let width = self.expr()?;
            self.expect(",")?;
            frame = Some((width, self.expr()?));
        }
        let items = self.view_items()?;
        self.expect_close("}", open)?;
        Ok(ViewDecl { span, frame, items })
    }

    fn view_items(&mut self) -> Parsed<Vec<ViewItem>> {
        let mut items = Vec::new();
        while !self.at("}") && !self.at_end() {
            if self.eat(";") {
                continue;
            }
            items.push(self.view_item()?);
        }
        Ok(items)
    }

    fn view_item(&mut self) -> Parsed<ViewItem> {
        if self.eat("for") {
            let name = self.name("the name of a bound variable")?;
            self.expect("in")?;
            let (lo, hi) = self.range()?;
            let open = self.expect("{")?;
            let items = self.nested(Self::view_items)?;
            self.expect_close("}", open)?;
            return Ok(ViewItem::For {
                name,
                lo,
                hi,
                items,
            });
        }

        let token = self.peek();
        let found = SHAPES.iter().find(|(name, _)| *name == token.text);
        let Some((_, kind)) = found else {
            let message = format!("expected a shape, found {}", self.found());
            let mut diagnostic = Diagnostic::error("syntax", token.span, message)
                .help("a picture consists of `circle`, `box`, `line`, `text` and `for`");
            if let Some(meant) = base::closest_name(token.text, SHAPES.map(|(name, _)| name)) {
                diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
            }
            return Err(self.report(diagnostic));
        };
        self.advance();
        self.shape(*kind, token.span).map(ViewItem::Shape)
    }

    fn shape(&mut self, kind: ShapeKind, span: Span) -> Parsed<ShapeDecl> {
        let coordinates = self.list(Self::coordinate)?;
        let text = match kind {
            ShapeKind::Text if self.eat("=") => Some(TextDecl::Value(self.expr()?)),
            ShapeKind::Text => Some(TextDecl::Word(self.word("the word or `= value` to show")?)),
            ShapeKind::Circle | ShapeKind::Box | ShapeKind::Line => None,
        };

        // A word on the next line begins the next shape.
        let is_colour = self.peek().kind == TokenKind::Word && !self.peek().starts_line;
        let colour = if is_colour && !self.at("when") && !self.at("for") {
            Some(self.word("a colour")?)
        } else {
            None
        };

        let condition = if self.eat("when") {
            Some(self.condition()?)
        } else {
            None
        };

        Ok(ShapeDecl {
            kind,
            coordinates,
            colour,
            text,
            condition,
            span,
        })
    }

    fn coordinate(&mut self) -> Parsed<CoordinateDecl> {
        if !self.at("ring") || self.peek_at(1).text != "(" {
            return self.expr().map(CoordinateDecl::Number);
        }
        let start = self.advance().span;
        let open = self.expect("(")?;
        let arguments = self.list(Self::expr)?;
        let end = self.expect_close(")", open)?;
        Ok(CoordinateDecl::Ring(arguments, start.to(end)))
    }

    /// Any word: it names nothing here.
    fn word(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected(what));
        }
        self.advance();
        Ok(Ident {
            text: token.text.to_owned(),
            span: token.span,
        })
    }
}
