//! Declarations and what stands outside processes.

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::{Inline, Parsed, Parser, Wrong};
use crate::ast::{
    ClaimDecl, Expr, Formula, Init, InlineDecl, MtypeDecl, Proctype, Trace, TypeName, Typedef,
    VarDecl,
};
use crate::token::{Token, TokenKind};

const NO_C: &str = "Fairground checks models, not C: write this part in Promela";

impl Parser<'_> {
    /// One declaration, process, claim or formula.
    pub(super) fn unit(&mut self) -> Parsed<()> {
        if self.eat(";") || self.eat("->") {
            return Ok(());
        }
        let word: Rc<str> = match self.token().name() {
            Some(word) => word.into(),
            None => return self.unknown_unit(),
        };

        match &*word {
            "typedef" => self.typedef(),
            "inline" => self.inline_definition(),
            "active" | "proctype" | "D_proctype" => self.proctype(),
            "init" => self.init(),
            "never" => self.claim(),
            "ltl" => self.ltl_block(),
            "trace" | "notrace" => self.trace(&*word == "notrace"),
            "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => {
                self.not_supported("embedded C code", NO_C)
            }
            _ if self.is_mtype_definition() => self.mtype_definition(),
            _ if self.starts_declaration() => {
                let declared = self.declaration()?;
                self.program.globals.extend(declared);
                if !(self.is(";") || self.is("->") || self.at_end() || self.token().starts_line) {
                    return self.expected("`;` after the declaration");
                }
                Ok(())
            }
            _ => self.unknown_unit(),
        }
    }

    fn typedef(&mut self) -> Parsed<()> {
        self.advance();
        let (name, span) = self.new_name("the name of a type")?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.is("}") {
            fields.extend(self.declaration()?);
            while self.eat(";") || self.eat("->") {}
        }
        self.expect("}")?;
        self.program.typedefs.push(Typedef { name, fields, span });
        Ok(())
    }

    fn inline_definition(&mut self) -> Parsed<()> {
        let start_span = self.span();
        self.advance();
        let (name, _) = self.new_name("the name of an inline")?;
        self.expect("(")?;

        let mut parameters = Vec::new();
        while !self.is(")") {
            parameters.push(self.new_name("a parameter")?.0);
            self.eat(",");
        }

        self.expect(")")?;
        if !self.is("{") {
            return self.expected("`{`");
        }
        let start = self.at;
        let open = self.span();
        let mut depth = 0;

        loop {
            depth += i32::from(self.is("{")) - i32::from(self.is("}"));
            if self.at_end() {
                let message = "the body of this inline has no `}`";
                self.say(Diagnostic::error("syntax", open, message));
                return Err(Wrong);
            }
            self.advance();
            if depth == 0 {
                break;
            }
        }

        let body = self.tokens[start..self.at].to_vec();
        for word in body.iter().filter_map(Token::shared_name) {
            if let Some(parameter) = parameters.iter().find(|p| *p == word) {
                self.notes.found(word, parameter);
            }
        }
        self.program.inlines.push(InlineDecl {
            name: name.clone(),
            parameters: parameters.clone(),
            span: self.since(start_span),
        });
        self.inlines.push(Inline {
            name,
            parameters,
            body,
        });
        Ok(())
    }

    fn proctype(&mut self) -> Parsed<()> {
        let start = self.span();
        let mut active = None;
        if self.eat_word("active") {
            active = Some(int(1, start));
            if self.eat("[") {
                active = Some(self.expr()?);
                self.expect("]")?;
            }
        }

        if !(self.eat_word("proctype") || self.eat_word("D_proctype")) {
            return self.expected("`proctype`");
        }
        let (name, span) = self.new_name("the name of a process type")?;
        self.expect("(")?;

        let mut parameters = Vec::new();
        while !self.is(")") {
            parameters.extend(self.declaration()?);
            while self.eat(";") || self.eat(",") {}
        }

        self.expect(")")?;
        let priority = self.priority()?;
        let provided = if self.eat_word("provided") {
            self.expect("(")?;
            let condition = self.expr()?;
            self.expect(")")?;
            Some(condition)
        } else {
            None
        };

        let (body, end) = self.body()?;
        self.program.processes.push(Proctype {
            name,
            active,
            is_init: false,
            parameters,
            provided,
            priority,
            body,
            span,
            end,
        });
        Ok(())
    }

    /// `priority n`, if it stands here.
    pub(super) fn priority(&mut self) -> Parsed<Option<Expr>> {
        let start = self.span();
        if !self.eat_word("priority") {
            return Ok(None);
        }
        let priority = self.expr()?;
        self.program.priorities.push(self.since(start));
        Ok(Some(priority))
    }

    fn trace(&mut self, is_negated: bool) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let (body, end) = self.body()?;
        self.program.traces.push(Trace {
            is_negated,
            body,
            span,
            end,
        });
        Ok(())
    }

    fn init(&mut self) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let priority = self.priority()?;
        let (body, end) = self.body()?;
        self.program.processes.push(Proctype {
            name: "init".into(),
            active: Some(int(1, span)),
            is_init: true,
            parameters: Vec::new(),
            provided: None,
            priority,
            body,
            span,
            end,
        });
        Ok(())
    }

    fn claim(&mut self) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let name = if self.is("{") {
            None
        } else {
            Some(self.new_name("the name of a claim")?.0)
        };
        let (body, end) = self.body()?;
        self.program.claims.push(ClaimDecl {
            name,
            body,
            span,
            end,
        });
        Ok(())
    }

    fn ltl_block(&mut self) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let name = if self.is("{") {
            None
        } else {
            Some(self.new_name("the name of a formula")?.0)
        };
        self.expect("{")?;
        self.in_formula = true;
        let body = self.expr();
        self.in_formula = false;
        let body = body?;
        self.eat(";");
        self.expect("}")?;
        let span = self.since(span);
        self.program.formulas.push(Formula { name, body, span });
        Ok(())
    }

    fn is_mtype_definition(&self) -> bool {
        self.is_word("mtype")
            && (self.ahead(1).is("=")
                || self.ahead(1).is("{")
                || (self.ahead(1).is(":") && self.ahead(3).is("=") && self.ahead(4).is("{")))
    }

    fn mtype_definition(&mut self) -> Parsed<()> {
        self.advance();
        let subtype = if self.eat(":") {
            Some(self.new_name("the name of a subtype")?.0)
        } else {
            None
        };
        self.program.subtypes.extend(subtype.clone());
        self.eat("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.is("}") {
            if !self.eat(",") {
                names.push(self.new_name("the name of an `mtype` constant")?);
            }
        }
        self.expect("}")?;
        self.program.mtypes.push(MtypeDecl { subtype, names });
        Ok(())
    }

    /// Does a declaration of variables start here?
    pub(super) fn starts_declaration(&self) -> bool {
        match self.token().name() {
            Some("hidden" | "show" | "local") => true,
            Some(word) if super::TYPES.contains(&word) => true,
            Some("timer") => self.starts_timer(),
            Some(word) => self.user_types.contains(word) && self.ahead(1).name().is_some(),
            None => false,
        }
    }

    /// Is `timer` a type here, and no name?
    fn starts_timer(&self) -> bool {
        let is_name = self
            .ahead(1)
            .name()
            .is_some_and(|name| !super::is_keyword(name));
        let after = self.ahead(2);
        let ends = [";", ",", "[", "}"].iter().any(|punct| after.is(punct));
        is_name && (ends || after.starts_line)
    }

    /// `type name [= value], …`.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<VarDecl>> {
        // Where and whether a variable is shown has no meaning here.
        let mut hidden = false;
        while self.is_word("hidden") || self.is_word("show") || self.is_word("local") {
            hidden |= self.is_word("hidden");
            self.advance();
        }
        let ty = self.type_name()?;
        let mut declared = Vec::new();
        loop {
            let variable = self.variable(&ty)?;
            declared.push(VarDecl { hidden, ..variable });
            if !self.eat(",") {
                return Ok(declared);
            }
            // In a list of parameters `byte a, byte b` is a common slip for `byte a; byte b`.
            if self.starts_declaration() {
                return Ok(declared);
            }
        }
    }

    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        let ty = match self.token().name() {
            Some("bit") => TypeName::Bit,
            Some("bool") => TypeName::Bool,
            Some("byte") => TypeName::Byte,
            Some("pid") => TypeName::Pid,
            Some("short") => TypeName::Short,
            Some("int") => TypeName::Int,
            Some("unsigned") => TypeName::Unsigned(0),
            Some("mtype") => {
                self.advance();
                if self.eat(":") {
                    let (subtype, _) = self.new_name("the name of a subtype")?;
                    self.program.subtypes.push(subtype);
                }
                return Ok(TypeName::Mtype);
            }
            Some("chan") => TypeName::Chan,
            Some("timer") => TypeName::Timer,
            _ => match self.token().shared_name() {
                Some(word) if self.user_types.contains(word) => TypeName::User(word.clone()),
                _ => return self.expected("a type"),
            },
        };

        self.advance();
        Ok(ty)
    }

    fn variable(&mut self, ty: &TypeName) -> Parsed<VarDecl> {
        let (name, span) = self.new_name("the name of a variable")?;
        let mut ty = ty.clone();
        if let TypeName::Unsigned(width) = &mut ty {
            *width = 8;
            if self.eat(":") {
                *width = self.width()?;
            }
        }

        let length = if self.eat("[") {
            let length = self.expr()?;
            self.expect("]")?;
            Some(length)
        } else {
            None
        };

        let init = if self.eat("=") {
            self.initial_value()?
        } else {
            Init::Zero
        };
        let span = self.since(span);
        Ok(VarDecl {
            name,
            ty,
            length,
            init,
            hidden: false,
            span,
        })
    }

    fn width(&mut self) -> Parsed<u32> {
        match self.token().kind {
            TokenKind::Number(width @ 1..=31) => {
                self.advance();
                Ok(u32::try_from(width).expect("it is small"))
            }
            _ => self.expected("a width from 1 to 31 bits"),
        }
    }

    fn initial_value(&mut self) -> Parsed<Init> {
        if self.eat("{") {
            let mut values = Vec::new();
            while !self.is("}") {
                values.push(self.expr()?);
                self.eat(",");
            }
            self.expect("}")?;
            return Ok(Init::List(values));
        }

        if !self.eat("[") {
            return Ok(Init::Value(self.expr()?));
        }
        let capacity = self.expr()?;
        self.expect("]")?;
        if !self.eat_word("of") {
            return self.expected("`of`, as in `chan q = [2] of { byte }`");
        }
        self.expect("{")?;

        let mut fields = Vec::new();
        while !self.is("}") {
            let span = self.span();
            let mut ty = self.type_name()?;
            if let TypeName::Unsigned(width) = &mut ty {
                *width = 8;
                if self.eat(":") {
                    *width = self.width()?;
                }
            }
            fields.push((ty, span));
            if !self.eat(",") && !self.is("}") {
                return self.expected("`,` or `}`");
            }
        }

        self.expect("}")?;
        Ok(Init::Channel { capacity, fields })
    }
}

fn int(value: i64, span: Span) -> crate::ast::Expr {
    crate::ast::Expr {
        kind: crate::ast::ExprKind::Int(value),
        span,
    }
}
