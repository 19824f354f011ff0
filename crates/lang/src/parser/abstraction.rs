//! Blocks that add to an abstraction.

use super::{Parsed, Parser};
use crate::ast::{AbstractDecl, Ident};

impl Parser<'_> {
    /// After `abstract`: `only`, `for` and properties, then predicates, rankings and invariants.
    pub(super) fn abstraction(&mut self) -> Parsed<AbstractDecl> {
        let mut decl = AbstractDecl {
            only: self.eat("only"),
            properties: Vec::new(),
            predicates: Vec::new(),
            rankings: Vec::new(),
            invariants: Vec::new(),
        };

        if self.eat("for") {
            decl.properties = self.list(Self::question_name)?;
        }

        let open = self.expect("{")?;
        while !self.at("}") && !self.at_end() {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            self.abstraction_item(&mut decl)?;
        }

        self.expect_close("}", open)?;
        Ok(decl)
    }

    /// The name of a property; `deadlockfree` has no other.
    fn question_name(&mut self) -> Parsed<Ident> {
        if !self.at("deadlockfree") {
            return self.name("the name of a property");
        }
        let token = self.peek();
        self.advance();
        Ok(self.ident(token))
    }

    fn abstraction_item(&mut self, decl: &mut AbstractDecl) -> Parsed<()> {
        if self.at("ranking") && self.peek_at(1).text != ":" {
            self.advance();
            let name = self.name("the name of a ranking")?;
            let open = self.expect("(")?;
            let index = self.name("the name of an index")?;
            self.expect_close(")", open)?;
            self.expect(":")?;
            decl.rankings.push((name, index, self.condition()?));
        } else if self.eat("invariant") {
            let name = self.name("the name of an invariant")?;
            self.expect(":")?;
            decl.invariants.push((name, self.condition()?));
        } else {
            let name = self.name("the name of a predicate")?;
            self.expect(":")?;
            decl.predicates.push((name, self.condition()?));
        }
        Ok(())
    }
}
