//! May/must systems, given state by state.

use base::Diagnostic;

use super::{Parsed, Parser};
use crate::ast::{Ident, SystemDecl, SystemProperty, Truth, TruthValues};

impl Parser<'_> {
    /// `system S { … }`.
    pub(super) fn system(&mut self) -> Parsed<SystemDecl> {
        self.advance();
        let name = self.name("the name of the system")?;
        let open = self.expect("{")?;
        let mut system = SystemDecl {
            name,
            states: Vec::new(),
            initial: Vec::new(),
            free: Vec::new(),
            constrained: Vec::new(),
            propositions: Vec::new(),
            assumptions: Vec::new(),
            properties: Vec::new(),
        };

        while !self.at("}") && !self.at_end() {
            if self.eat(";") {
                continue;
            }
            self.system_item(&mut system)?;
        }

        self.expect_close("}", open)?;
        Ok(system)
    }

    fn system_item(&mut self, system: &mut SystemDecl) -> Parsed<()> {
        let token = self.peek();
        let is_proposition = self.peek_at(1).text == ":";
        match token.text {
            _ if is_proposition => {
                let name = self.name("the name of a proposition")?;
                self.advance();
                let values = self.truth_values()?;
                system.propositions.push((name, values));
            }
            "states" => {
                self.advance();
                system.states.extend(self.state_names()?);
            }
            "init" => {
                self.advance();
                system.initial.extend(self.state_names()?);
            }
            "free" => {
                self.advance();
                system.free.extend(self.state_steps()?);
            }
            "constrained" | "steps" => {
                self.advance();
                system.constrained.extend(self.state_steps()?);
            }
            "assume" => {
                self.advance();
                system.assumptions.push(self.formula()?);
            }
            "property" => {
                self.advance();
                system.properties.push(self.system_property()?);
            }
            _ => return Err(self.no_system_item()),
        }

        Ok(())
    }

    fn no_system_item(&mut self) -> super::Reported {
        let message = format!("expected an item of a system, found {}", self.found());
        let diagnostic = Diagnostic::error("syntax", self.peek().span, message).help(
            "a system consists of `states`, `init`, `free`, `constrained`, `assume`, `property` and \
             propositions such as `p: true in a, b`",
        );
        self.report(diagnostic)
    }

    fn state_names(&mut self) -> Parsed<Vec<Ident>> {
        self.list(|p| p.name("the name of a state"))
    }

    /// `a -> b, b -> c`.
    fn state_steps(&mut self) -> Parsed<Vec<(Ident, Ident)>> {
        self.list(|p| {
            let source = p.name("the name of a state")?;
            p.expect("->")?;
            Ok((source, p.name("the name of a state")?))
        })
    }

    /// `true in a, b, false in c`.
    fn truth_values(&mut self) -> Parsed<TruthValues> {
        let mut values = vec![self.truth_value()?];
        while self.eat(",") {
            if self.peek_at(1).text == "in" {
                values.push(self.truth_value()?);
            } else {
                let state = self.name("the name of a state")?;
                values.last_mut().expect("there is one").1.push(state);
            }
        }
        Ok(values)
    }

    fn truth_value(&mut self) -> Parsed<(Truth, Vec<Ident>)> {
        let truth = match self.peek().text {
            "true" => Truth::True,
            "false" => Truth::False,
            "unknown" => Truth::Unknown,
            _ => return Err(self.unexpected("`true`, `false` or `unknown`")),
        };
        self.advance();
        self.expect("in")?;
        Ok((truth, vec![self.name("the name of a state")?]))
    }

    /// `name [assuming formula]: formula`.
    fn system_property(&mut self) -> Parsed<SystemProperty> {
        let name = self.name("the name of the property")?;
        let assuming = if self.eat("assuming") {
            Some(self.formula()?)
        } else {
            None
        };
        self.expect(":")?;
        let formula = self.formula()?;
        let expected = self.expectation()?;
        Ok(SystemProperty {
            expected,
            name,
            assuming,
            formula,
        })
    }
}
