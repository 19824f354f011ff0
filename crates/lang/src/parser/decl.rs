//! Declarations outside processes, and types.

use std::sync::Arc;

use base::{Diagnostic, Expected, Fairness, Span};

use super::{DECLARATIONS, Parsed, Parser, foreign};
use crate::ast::{
    ChanDecl, Decl, Def, Expr, ExprKind, File, Ident, PropertyBody, PropertyDecl, TimerDecl,
    TypeExpr, TypeKind, VarDecl,
};
use crate::lexer::TokenKind;

/// How many lengths may follow the name of a type.
const MAX_DIMENSIONS: usize = 8;

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() {
            if self.eat(";") {
                continue;
            }
            let start = self.position;
            match self.decl() {
                Ok(decl) => {
                    let first = self.tokens[start].span;
                    file.extents.push(first.to(self.previous_span()));
                    file.decls.push(decl);
                }
                Err(_) => self.recover_at_top(start),
            }
        }
        file.written = std::mem::take(&mut self.written);
        file
    }

    /// Skips to the next declaration; stray closing braces are passed over.
    fn recover_at_top(&mut self, start: usize) {
        if self.position == start {
            self.advance();
        }
        loop {
            let token = self.peek();
            let begins = token.starts_line
                && (DECLARATIONS.contains(&token.text)
                    || ["just", "weak", "strong", "import"].contains(&token.text));
            if self.at_end() || begins {
                return;
            }
            self.advance();
        }
    }

    fn decl(&mut self) -> Parsed<Decl> {
        let token = self.peek();
        match token.text {
            "spawned" if self.peek_at(1).text == "process" => {
                return self.process().map(Decl::Process);
            }
            "just" | "fair" | "weak" | "strong" | "process" => {
                return self.process().map(Decl::Process);
            }
            "system" if self.peek_at(2).text == "{" => return self.system().map(Decl::System),
            "view" if self.peek_at(1).text == "{" => return self.view().map(Decl::View),
            "interference" => return self.interference(),
            "import" => return self.import().map(Decl::Import),
            "}" => {
                let diagnostic =
                    Diagnostic::error("syntax", token.span, "this `}` does not close anything");
                return Err(self.report(diagnostic));
            }
            _ => {}
        }

        if !DECLARATIONS.contains(&token.text) {
            return Err(self.not_a_declaration());
        }
        self.advance();

        match token.text {
            "abstract" => self.abstraction().map(Decl::Abstract),
            "const" => self.constant(),
            "param" => self.parameter(),
            "type" => self.unknown_type(),
            "enum" => self.enumeration(),
            "record" => self.record(),
            "var" => self.variables().map(Decl::Var),
            "timer" => self.timers().map(Decl::Timer),
            "init" => self.condition().map(Decl::Init),
            "def" => self.definition(true).map(Decl::Def),
            "chan" => self.channel().map(Decl::Chan),
            "event" => self.event(),
            "synchronous" => Ok(Decl::Synchronous),
            "fairness" => {
                let (fairness, span) = self.fairness_kind()?;
                Ok(Decl::Fairness(fairness, span))
            }
            "assume" => self.formula().map(Decl::Assume),
            keyword => self.property(keyword, token.span).map(Decl::Property),
        }
    }

    /// `interference P.read with P.write`.
    fn interference(&mut self) -> Parsed<Decl> {
        self.expect("interference")?;
        let by = self.formula()?;
        self.expect("with")?;
        let with = self.formula()?;
        Ok(Decl::Interference(by, with))
    }

    fn not_a_declaration(&mut self) -> super::Reported {
        let before = self.tokens[self.position.saturating_sub(1)];
        if let Some(here) = foreign::instead_of_prefix(before.text) {
            let message = format!("`{}` is not an operator", before.text);
            let diagnostic = Diagnostic::error("wrong-operator", before.span, message);
            return self.report(diagnostic.help(format!("write `{here}`")));
        }

        let token = self.peek();
        let message = format!("expected a declaration, found {}", self.found());
        let mut diagnostic = Diagnostic::error("syntax", token.span, message);

        if let Some(help) = foreign::instead_of_declaration(token.text) {
            diagnostic = diagnostic.help(help);
        } else if let Some(meant) = base::closest_name(token.text, DECLARATIONS) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        } else if token.kind == TokenKind::Word {
            diagnostic = diagnostic.help(
                "a model consists of `const`, `var`, `chan`, `event`, `process`, `property` and other declarations",
            );
        }

        self.report(diagnostic)
    }

    fn constant(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of a constant")?;
        self.expect("=")?;
        let value = self.expr()?;
        let given = None;
        Ok(Decl::Const { name, value, given })
    }

    /// `type T`. Others define types with this word, so what follows `=` is read to go on behind it.
    fn unknown_type(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of a type")?;
        if !self.at("=") {
            return Ok(Decl::Type { name });
        }
        let message = "`type` declares values of which nothing is known";
        let diagnostic = Diagnostic::error("defined-type", self.advance().span, message);
        self.report(diagnostic.help(format!(
            "write `enum {0} {{ a, b }}` or `record {0} {{ x: 0..3 }}`; other types are written where they are used",
            name.text
        )));
        if self.at("{") {
            return self.values_of(name);
        }
        self.ty()?;
        Ok(Decl::Type { name })
    }

    fn parameter(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of a parameter")?;

        if self.at("=") {
            let message = "a parameter has its value from the command line";
            let diagnostic = Diagnostic::error("parameter-value", self.advance().span, message);
            self.report(diagnostic.help(format!(
                "write `const {0} = …`, which `-D {0}=VALUE` replaces, too, or `param {0}`",
                name.text
            )));
            let (value, given) = (self.expr()?, None);
            return Ok(Decl::Const { name, value, given });
        }

        if self.eat(">=") {
            Ok(Decl::DataParam {
                name,
                least: self.sum()?,
            })
        } else {
            Ok(Decl::Param { name })
        }
    }

    fn enumeration(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of an enumeration")?;
        self.values_of(name)
    }

    fn values_of(&mut self, name: Ident) -> Parsed<Decl> {
        let open = self.expect("{")?;
        let mut variants = vec![self.name("the name of a value")?];
        while self.eat(",") && !self.at("}") {
            variants.push(self.name("the name of a value")?);
        }
        self.expect_close("}", open)?;
        Ok(Decl::Enum { name, variants })
    }

    fn record(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of a record")?;
        let open = self.expect("{")?;
        let mut fields = Vec::new();
        while !self.at("}") {
            let field = self.member("the name of a component")?;
            self.expect(":")?;
            fields.push((field, self.ty()?));
            if !(self.eat(",") || self.eat(";") || self.peek().starts_line) {
                break;
            }
        }
        self.expect_close("}", open)?;
        Ok(Decl::Record { name, fields })
    }

    /// After `var`.
    pub(super) fn variables(&mut self) -> Parsed<VarDecl> {
        let names = self.list(|p| p.name("the name of a variable"))?;
        self.expect(":")?;
        let ty = self.ty()?;
        if self.at(":=") {
            let span = self.peek().span;
            self.report(
                Diagnostic::error("syntax", span, "an initial value is written with `=`")
                    .help("`:=` assigns in the effect of a step"),
            );
            self.advance();
        } else if !self.eat("=") {
            let initial = None;
            return Ok(VarDecl { names, ty, initial });
        }
        let initial = Some(self.initial_value()?);
        Ok(VarDecl { names, ty, initial })
    }

    /// After `timer`.
    pub(super) fn timers(&mut self) -> Parsed<TimerDecl> {
        let vars = self.list(Self::timer)?;
        let mut threshold = None;
        if self.eat("abstract") {
            self.expect("from")?;
            threshold = Some(self.sum()?);
        }
        Ok(TimerDecl { vars, threshold })
    }

    /// `t`, `t[3]` or `t[1..3]`.
    fn timer(&mut self) -> Parsed<VarDecl> {
        let name = self.name("the name of a timer")?;
        let (start, mut kind) = (name.span, TypeKind::Timer);

        if self.at("[") {
            let open = self.advance().span;
            let first = self.sum()?;
            let element = Box::new(TypeExpr { kind, span: start });
            kind = if self.eat("..") {
                TypeKind::Array(Box::new(first), Box::new(self.sum()?), element)
            } else {
                TypeKind::Counted(element, Box::new(first))
            };
            self.expect_close("]", open)?;
        }

        let span = start.to(self.previous_span());
        Ok(VarDecl {
            names: vec![name],
            ty: TypeExpr { kind, span },
            initial: None,
        })
    }

    fn initial_value(&mut self) -> Parsed<Expr> {
        let span = self.peek().span;
        if self.eat("any") {
            let kind = ExprKind::Any;
            return Ok(Expr { kind, span });
        }
        self.expr()
    }

    /// After `def`.
    pub(super) fn definition(&mut self, formula: bool) -> Parsed<Def> {
        let name = self.name("the name of a definition")?;
        let mut parameters = Vec::new();
        if self.at("(") {
            let open = self.advance().span;
            parameters = self.list(|p| p.name("the name of a parameter"))?;
            self.expect_close(")", open)?;
        }

        let mut effect = None;
        let body = if self.at("{") {
            let start = self.peek().span;
            effect = Some(self.stmt_block()?);
            Expr {
                kind: ExprKind::Bool(true),
                span: start.to(self.previous_span()),
            }
        } else {
            self.expect("=")?;
            if formula {
                self.formula()?
            } else {
                self.condition()?
            }
        };

        Ok(Def {
            name,
            parameters,
            body,
            effect,
        })
    }

    fn channel(&mut self) -> Parsed<ChanDecl> {
        let name = self.name("the name of a channel")?;
        let mut capacity = None;
        if self.at("[") {
            let open = self.advance().span;
            capacity = Some(self.expr()?);
            self.expect_close("]", open)?;
        }

        let mut indices = None;
        if self.eat("for") {
            if self.peek_at(1).text == "in" {
                self.name("the name of an index")?;
                self.advance();
            }
            let (lo, hi, _) = self.domain()?;
            indices = Some((lo, hi));
        }

        self.expect("of")?;
        let payload = if self.at("(") {
            let open = self.advance().span;
            let types = self.list(Self::ty)?;
            self.expect_close(")", open)?;
            types
        } else {
            vec![self.ty()?]
        };

        Ok(ChanDecl {
            name,
            capacity,
            indices,
            payload,
        })
    }

    fn event(&mut self) -> Parsed<Decl> {
        let name = self.name("the name of an event")?;
        let mut arguments = Vec::new();
        if self.at("(") {
            let open = self.advance().span;
            arguments = self.list(Self::ty)?;
            self.expect_close(")", open)?;
        }
        Ok(Decl::Event { name, arguments })
    }

    /// A name such as `weak-process+annotated`.
    pub(super) fn fairness_kind(&mut self) -> Parsed<(Fairness, Span)> {
        let first = self.peek();
        let mut text = String::new();
        let mut span = first.span;
        if first.kind == TokenKind::Word {
            text.push_str(self.advance().text);
            while (self.at("-") || self.at("+")) && self.peek_at(1).kind == TokenKind::Word {
                text.push_str(self.advance().text);
                let word = self.advance();
                text.push_str(word.text);
                span = span.to(word.span);
            }
        }

        if let Some(fairness) = Fairness::parse(&text) {
            return Ok((fairness, span));
        }
        let kinds = "`none`, `just`, `weak-process`, `strong-process`, `weak`, `strong`, `strong-global` and `annotated`";
        let diagnostic = Diagnostic::error(
            "unknown-fairness",
            span,
            format!("`{text}` is not a kind of fairness"),
        )
        .help(format!("the kinds are {kinds}; combine with `+annotated`"));

        Err(self.report(diagnostic))
    }

    /// After `property`, `invariant`, `reachable` or `deadlockfree`.
    fn property(&mut self, keyword: &str, span: Span) -> Parsed<PropertyDecl> {
        if keyword == "deadlockfree" {
            let text = keyword.to_owned();
            return Ok(PropertyDecl {
                name: Ident { text, span },
                fairness: None,
                question: PropertyBody::DeadlockFree,
                expected: self.expectation()?,
            });
        }

        let name = self.name(&format!("the name of the {keyword}"))?;
        let mut fairness = None;
        if self.eat("under") {
            fairness = Some(self.fairness_kind()?.0);
        }
        self.expect(":")?;

        let question = match keyword {
            "invariant" => PropertyBody::Invariant(self.formula()?),
            "reachable" => PropertyBody::Reachable(self.formula()?),
            _ if self.at("deadlockfree") && !self.peek().starts_line => {
                self.advance();
                PropertyBody::DeadlockFree
            }
            _ => PropertyBody::Holds(self.formula()?),
        };

        Ok(PropertyDecl {
            name,
            fairness,
            question,
            expected: self.expectation()?,
        })
    }

    /// `expect violated`, after a question.
    pub(super) fn expectation(&mut self) -> Parsed<Option<Expected>> {
        if !self.eat("expect") {
            return Ok(None);
        }
        let expected = Expected::parse(self.peek().text);
        if expected.is_none() {
            return Err(self.unexpected("`holds`, `violated` or `unknown`"));
        }
        self.advance();
        Ok(expected)
    }

    /// `lo..hi`.
    pub(super) fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let lo = self.sum()?;
        if !self.at("..") {
            let diagnostic = Diagnostic::error(
                "syntax",
                self.peek().span,
                format!("expected `..`, found {}", self.found()),
            )
            .help("a range is written `first..last`, and the last value belongs to it");
            return Err(self.report(diagnostic));
        }
        self.advance();
        let hi = self.sum()?;
        Ok((lo, hi))
    }

    /// What a name ranges over: `lo..hi`, or the values of a type, the indices of a family of processes
    /// or the elements of a set. Then that is returned, too.
    pub(super) fn domain(&mut self) -> Parsed<(Expr, Expr, Option<Arc<Expr>>)> {
        let first = self.sum()?;
        if self.eat("..") {
            return Ok((first, self.sum()?, None));
        }
        let may_be_domain = matches!(
            first.kind,
            ExprKind::Name(_)
                | ExprKind::Index(..)
                | ExprKind::Field(..)
                | ExprKind::Call(..)
                | ExprKind::Binary(..)
                | ExprKind::If(..)
                | ExprKind::Set(_)
                | ExprKind::Filter(_)
                | ExprKind::Image(..)
        );
        if !may_be_domain {
            let message = format!("expected `..`, found {}", self.found());
            let diagnostic = Diagnostic::error("syntax", self.peek().span, message);
            let help = "a range is written `first..last`, and the last value belongs to it";
            return Err(self.report(diagnostic.help(help)));
        }

        let span = first.span;
        let domain = Arc::new(first);
        let of = |kind| Expr { kind, span };
        let lo = of(ExprKind::First(Arc::clone(&domain)));
        let hi = of(ExprKind::Last(Arc::clone(&domain)));
        Ok((lo, hi, Some(domain)))
    }

    pub(super) fn ty(&mut self) -> Parsed<TypeExpr> {
        self.nested(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<TypeExpr> {
        let start = self.peek().span;
        let kind = match self.peek().text {
            "bool" => {
                self.advance();
                TypeKind::Bool
            }
            "int" => {
                self.advance();
                TypeKind::Int
            }
            "array" => return self.array_type(),
            "set" if self.peek_at(1).text == "of" => {
                self.advance();
                self.advance();
                TypeKind::Set(Box::new(self.ty()?))
            }
            "option" if self.peek_at(1).text == "of" => {
                self.advance();
                self.advance();
                TypeKind::Option(Box::new(self.ty()?))
            }
            word @ ("seq" | "bag") if matches!(self.peek_at(1).text, "[" | "of") => {
                self.advance();
                let mut most = None;
                if self.at("[") {
                    let open = self.advance().span;
                    most = Some(Box::new(self.expr()?));
                    self.expect_close("]", open)?;
                }
                self.expect("of")?;
                let element = Box::new(self.ty()?);
                if word == "seq" {
                    TypeKind::Sequence(most, element)
                } else {
                    TypeKind::Bag(most, element)
                }
            }
            "map" if self.peek_at(1).text == "of" => {
                let message = "a map says what its keys are";
                let diagnostic = Diagnostic::error("missing-keys", self.peek().span, message);
                return Err(self.report(diagnostic.help("write `map[1..4] of …`")));
            }
            "map" if self.peek_at(1).text == "[" => {
                self.advance();
                let open = self.advance().span;
                let (lo, hi, _) = self.domain()?;
                self.expect_close("]", open)?;
                self.expect("of")?;
                TypeKind::Map(Box::new(lo), Box::new(hi), Box::new(self.ty()?))
            }
            _ => self.named_type_or_range()?,
        };

        // Lengths behind a type, as in `int[2][3]`: the first is the outermost.
        let span = start.to(self.previous_span());
        let mut lengths = Vec::new();
        while self.at("[") {
            if lengths.len() == MAX_DIMENSIONS {
                return Err(self.unexpected("the end of the type"));
            }
            let open = self.advance().span;
            lengths.push(self.expr()?);
            self.expect_close("]", open)?;
        }

        let mut ty = TypeExpr { kind, span };
        let span = start.to(self.previous_span());
        while let Some(length) = lengths.pop() {
            let kind = TypeKind::Counted(Box::new(ty), Box::new(length));
            ty = TypeExpr { kind, span };
        }

        Ok(ty)
    }

    fn array_type(&mut self) -> Parsed<TypeExpr> {
        let start = self.advance().span;
        let open = self.expect("[")?;

        if self.eat("int") {
            self.expect_close("]", open)?;
            self.expect("of")?;
            let element = self.ty()?;
            return Ok(TypeExpr {
                span: start.to(element.span),
                kind: TypeKind::OpenArray(Box::new(element)),
            });
        }

        let (lo, hi, _) = self.domain()?;
        self.expect_close("]", open)?;
        self.expect("of")?;
        let element = self.ty()?;
        Ok(TypeExpr {
            span: start.to(element.span),
            kind: TypeKind::Array(Box::new(lo), Box::new(hi), Box::new(element)),
        })
    }

    fn named_type_or_range(&mut self) -> Parsed<TypeKind> {
        let is_name = self.peek().kind == TokenKind::Word
            && !super::is_reserved(self.peek().text)
            && !["..", "+", "-", "*", "/", "%", "(", "."].contains(&self.peek_at(1).text);
        if is_name {
            return Ok(TypeKind::Named(self.name("a type")?));
        }
        if self.peek().kind == TokenKind::Symbol && !["(", "-"].contains(&self.peek().text) {
            return Err(self.unexpected("a type"));
        }
        let (lo, hi) = self.range()?;
        Ok(TypeKind::Range(Box::new(lo), Box::new(hi)))
    }

    /// Where the last token was that has been taken.
    pub(super) fn previous_span(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }
}
