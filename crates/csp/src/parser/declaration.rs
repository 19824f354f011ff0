//! What stands at the top level.

use std::rc::Rc;

use source::Refinement;

use super::Parser;
use crate::ast::{
    AlphabetDecl, AssertDecl, AssertionClaim, ChannelDecl, ClassDecl, EventSpec, ExprKind, Ident,
    MacroBody, MacroDecl, MethodDecl, ObjectDecl, ProcDecl, ProcessUse, RecordItem, Spec, VarDecl,
    VarInit,
};
use crate::lexer::Tok;

impl Parser<'_> {
    pub(super) fn specification(&mut self, spec: &mut Spec) {
        while *self.peek() != Tok::Eof {
            let before = self.position;
            if self.declaration(spec).is_none() {
                self.recover(before);
            }
        }
    }

    /// Skips the rest of a declaration that could not be read.
    fn recover(&mut self, before: usize) {
        if self.position == before {
            self.advance();
        }
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Tok::Eof => return,
                Tok::Sym("{" | "(") => depth += 1,
                Tok::Sym("}" | ")") => depth = depth.saturating_sub(1),
                Tok::Sym(";") if depth == 0 && self.ends_declaration(1) => {
                    self.advance();
                    return;
                }
                Tok::Sym("#") => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// Does a declaration, or nothing, start this many tokens ahead?
    pub(super) fn ends_declaration(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            Tok::Eof | Tok::Sym("#") => true,
            Tok::Ident(name) => match &**name {
                "var" | "hvar" | "channel" | "enum" => true,
                _ => match self.peek_at(ahead + 1) {
                    Tok::Sym("=") => true,
                    Tok::Sym("(") => self
                        .closing(ahead + 1)
                        .is_some_and(|end| self.is_at(end + 1, "=")),
                    _ => false,
                },
            },
            _ => false,
        }
    }

    fn declaration(&mut self, spec: &mut Spec) -> Option<()> {
        match self.peek().clone() {
            Tok::Sym(";") => {
                self.advance();
                Some(())
            }
            Tok::Sym("#") => {
                self.advance();
                self.directive(spec)
            }
            Tok::Ident(word) => match &*word {
                "var" | "hvar" => self.variable(spec),
                "channel" => self.channel(spec),
                "enum" => self.enumeration(spec),
                "class" if self.in_library => self.class(spec),
                _ => self.definition(spec),
            },
            _ => self.unexpected("a declaration"),
        }
    }

    fn end(&mut self) -> Option<()> {
        if self.eat(";") || matches!(self.peek(), Tok::Eof) {
            Some(())
        } else {
            self.unexpected("`;`")
        }
    }

    fn directive(&mut self, spec: &mut Spec) -> Option<()> {
        let word = self.ident("`define`, `assert`, `alphabet` or `include`")?;
        match &*word.text {
            "define" => self.define(spec),
            "assert" => self.assertion(spec),
            "alphabet" => self.alphabet(spec),
            "include" => {
                let span = self.span();
                let Tok::Str(path) = self.peek().clone() else {
                    return self.unexpected("the path of a file in quotes");
                };
                self.advance();
                spec.includes.push((path, span));
                self.end()
            }
            "import" => {
                let span = self.span();
                let Tok::Str(name) = self.peek().clone() else {
                    return self.unexpected("the name of a library in quotes");
                };
                self.advance();
                spec.imports.push((name, span));
                self.end()
            }
            _ => {
                let message = format!("there is no directive `#{}`", word.text);
                self.error("unknown-directive", word.span, message)
            }
        }
    }

    fn define(&mut self, spec: &mut Spec) -> Option<()> {
        let name = self.ident("the name of a constant or macro")?;
        let parameters = if self.has_parameters(&name) {
            self.parameters(spec)?
        } else {
            Vec::new()
        };
        let body = if self.is("{") {
            MacroBody::Block(self.block()?)
        } else {
            MacroBody::Expr(self.expression()?)
        };
        spec.macros.push(MacroDecl {
            name,
            parameters,
            body,
        });
        self.end()
    }

    /// Is the bracket after the name a list of parameters, not the value itself?
    fn has_parameters(&self, name: &Ident) -> bool {
        if !self.is("(") || self.span().start != name.span.end {
            return false;
        }
        let Some(end) = self.closing(0) else {
            return false;
        };
        let names = (1..end).all(|ahead| match ahead % 2 {
            1 => self.word_at(ahead).is_some(),
            _ => self.is_at(ahead, ","),
        });
        let ends_value = match self.peek_at(end + 1) {
            Tok::Sym(symbol) => !matches!(*symbol, "{" | "(" | "!" | "-"),
            Tok::Eof => true,
            _ => false,
        };
        // Several names are not a value.
        names && (!ends_value || end > 2)
    }

    fn parameters(&mut self, spec: &mut Spec) -> Option<Vec<Ident>> {
        let mut list = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            list.push(self.ident("the name of a parameter")?);
            if self.is(":") {
                let (lo, hi) = self.range()?;
                spec.ranges.extend(lo.into_iter().chain(hi));
            }
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Some(list)
    }

    fn enumeration(&mut self, spec: &mut Spec) -> Option<()> {
        self.advance();
        self.expect("{")?;
        let mut names = vec![self.ident("the name of a constant")?];
        while self.eat(",") {
            names.push(self.ident("the name of a constant")?);
        }
        self.expect("}")?;
        spec.enums.push(names);
        self.end()
    }

    fn channel(&mut self, spec: &mut Spec) -> Option<()> {
        self.advance();
        let name = self.ident("the name of a channel")?;
        let count = if self.eat("[") {
            let count = self.sum()?;
            self.expect("]")?;
            Some(count)
        } else {
            None
        };
        let size = self.sum()?;
        spec.channels.push(ChannelDecl { name, count, size });
        self.end()
    }

    /// `:{lo..hi}`; either end may be missing.
    fn range(&mut self) -> Option<(Option<crate::ast::ExprRef>, Option<crate::ast::ExprRef>)> {
        self.expect(":")?;
        self.expect("{")?;
        let lo = if self.is("..") {
            None
        } else {
            Some(self.sum()?)
        };
        self.expect("..")?;
        let hi = if self.is("}") {
            None
        } else {
            Some(self.sum()?)
        };
        self.expect("}")?;
        Some((lo, hi))
    }

    fn variable(&mut self, spec: &mut Spec) -> Option<()> {
        self.advance();
        if self.is("<") {
            let object = self.object()?;
            spec.objects.push(object);
            return self.end();
        }

        let name = self.ident("the name of a variable")?;
        let mut dimensions = Vec::new();
        while self.eat("[") {
            dimensions.push(self.condition()?);
            self.expect("]")?;
        }

        let range = if self.is(":") {
            Some(self.range()?)
        } else {
            None
        };
        let init = self.initialiser()?;
        spec.vars.push(VarDecl {
            name,
            dimensions,
            range,
            init,
            is_scratch: false,
        });
        self.end()
    }

    /// `<Set> s = new Set()`
    pub(super) fn object(&mut self) -> Option<ObjectDecl> {
        self.expect("<")?;
        let class = self.ident("the name of a class")?;
        self.expect(">")?;
        let name = self.ident("the name of a variable")?;

        let mut arguments = Vec::new();
        if self.eat("=") {
            let value = self.expression()?;
            let created = match &value.kind {
                ExprKind::Call(created, arguments) => {
                    created.text.strip_prefix("new ").zip(Some(arguments))
                }
                _ => None,
            };
            match created {
                Some((made, given)) if *made == *class.text => arguments = given.clone(),
                _ => {
                    let message = format!("`{0}` starts with `new {0}(…)` or nothing", class.text);
                    return self.error("type-mismatch", value.span, message);
                }
            }
        }

        Some(ObjectDecl {
            class,
            name,
            arguments,
        })
    }

    /// `class C { var x; Get(i) = …; Put(v) { … } Both(a): C { … } }`
    fn class(&mut self, spec: &mut Spec) -> Option<()> {
        self.advance();
        let name = self.ident("the name of a class")?;
        self.expect("{")?;

        let mut fields = Spec::default();
        let mut methods = Vec::new();

        while !self.eat("}") {
            if self.is_word("var") {
                self.variable(&mut fields)?;
                continue;
            }
            let name = self.ident("the name of a method")?;
            let parameters = if self.is("(") {
                self.parameters(spec)?
            } else {
                Vec::new()
            };
            let returns = if self.eat(":") {
                Some(self.ident("the name of a class")?.text)
            } else {
                None
            };
            let body = if self.eat("=") {
                let value = self.expression()?;
                self.end()?;
                MacroBody::Expr(value)
            } else {
                MacroBody::Block(self.block()?)
            };
            let body = MacroDecl {
                name,
                parameters,
                body,
            };
            methods.push(MethodDecl { body, returns });
        }

        spec.classes.push(ClassDecl {
            name,
            fields: fields.vars,
            methods,
        });
        Some(())
    }

    fn initialiser(&mut self) -> Option<VarInit> {
        if !self.eat("=") {
            return Some(VarInit::Default);
        }
        let span = self.span();
        if self.eat("*") {
            return Some(VarInit::Any(span));
        }
        if !self.eat("[") {
            return Some(VarInit::Value(self.expression()?));
        }
        let mut items = Vec::new();

        loop {
            // `e(3)` means three times `e`, so a name is not read as a call.
            let value = if self.word_at(0).is_some() && self.is_at(1, "(") {
                self.bare_name()?
            } else {
                self.condition()?
            };
            items.push(if self.eat("(") {
                let count = self.condition()?;
                self.expect(")")?;
                RecordItem::Repeat(value, Some(count))
            } else if self.eat("..") {
                RecordItem::Range(value, self.condition()?)
            } else {
                RecordItem::Repeat(value, None)
            });
            if !self.eat(",") {
                break;
            }
        }

        self.expect("]")?;
        Some(VarInit::Record(items, self.since(span)))
    }

    fn definition(&mut self, spec: &mut Spec) -> Option<()> {
        let name = self.ident("the name of a process")?;
        let parameters = if self.is("(") {
            self.parameters(spec)?
        } else {
            Vec::new()
        };
        self.expect("=")?;
        let body = self.process()?;
        spec.processes.push(ProcDecl {
            name,
            parameters,
            body,
        });
        self.end()
    }

    fn alphabet(&mut self, spec: &mut Spec) -> Option<()> {
        let process = self.ident("the name of a process")?;
        let events = self.event_set()?;
        spec.alphabets.push(AlphabetDecl {
            process,
            events: Rc::new(events),
        });
        self.end()
    }

    /// `{ e.1, x:{0..2} @ e.x }`
    pub(super) fn event_set(&mut self) -> Option<Vec<EventSpec>> {
        self.expect("{")?;
        let mut events = Vec::new();
        while !self.eat("}") {
            let indices = if self.is_at(1, ":") {
                let indices = self.indices()?;
                self.expect("@")?;
                indices
            } else {
                Vec::new()
            };
            let name = self.ident("the name of an event")?;
            let arguments = self.event_arguments()?;
            events.push(EventSpec {
                indices,
                name,
                arguments,
            });
            if !self.is("}") && !self.eat(";") {
                self.expect(",")?;
            }
        }

        Some(events)
    }

    fn process_use(&mut self) -> Option<ProcessUse> {
        let name = self.ident("the name of a process")?;
        let mut arguments = Vec::new();
        if self.eat("(") {
            arguments = self.expressions(")")?;
            self.expect(")")?;
        }
        Some(ProcessUse { name, arguments })
    }

    fn assertion(&mut self, spec: &mut Spec) -> Option<()> {
        let start = self.span();
        let process = self.process_use()?;
        let claim = self.claim()?;
        let span = self.since(start);
        spec.assertions.push(AssertDecl {
            process,
            claim,
            span,
        });
        self.end()
    }

    fn claim(&mut self) -> Option<AssertionClaim> {
        if self.eat("|=") {
            return Some(AssertionClaim::Ltl(self.formula()?));
        }
        let word = self.ident("`|=` or what is claimed, such as `deadlockfree`")?;

        match &*word.text {
            "deadlockfree" => Some(AssertionClaim::DeadlockFree),
            "nonterminating" => Some(AssertionClaim::NonTerminating),
            "divergencefree" => Some(AssertionClaim::DivergenceFree),
            "deterministic" => Some(AssertionClaim::Deterministic),
            "reaches" => self.reaches(),
            "refines" => self.refines(),
            _ => {
                let message = format!(
                    "`{}` is not a claim about a process; the claims are `deadlockfree`, \
                    `nonterminating`, `divergencefree`, `deterministic`, `reaches` and `refines`",
                    word.text
                );
                self.error("unknown-claim", word.span, message)
            }
        }
    }

    fn reaches(&mut self) -> Option<AssertionClaim> {
        let goal = self.condition()?;
        if !self.eat_word("with") {
            return Some(AssertionClaim::Reaches(goal, None));
        }
        let greatest = if self.eat_word("max") {
            true
        } else if self.eat_word("min") {
            false
        } else {
            return self.unexpected("`min` or `max`");
        };
        self.expect("(")?;
        let value = self.condition()?;
        self.expect(")")?;
        Some(AssertionClaim::Reaches(goal, Some((greatest, value))))
    }

    fn refines(&mut self) -> Option<AssertionClaim> {
        let mut kind = Refinement::Traces;
        if self.eat("<") {
            let word = self.ident("`F` or `FD`")?;
            kind = match &*word.text {
                "F" => Refinement::Failures,
                "FD" => Refinement::FailuresDivergences,
                "T" => {
                    let message = "timed refinement belongs to the real-time module".to_owned();
                    return self.error("unsupported", word.span, message);
                }
                _ => {
                    let message = format!("there is no refinement `<{}>`", word.text);
                    return self.error("unknown-claim", word.span, message);
                }
            };
            self.expect(">")?;
        }
        Some(AssertionClaim::Refines(kind, self.process_use()?))
    }
}
