//! Temporal formulas of assertions.

use logic::PathQuantifier;

use super::Parser;
use crate::ast::{Expr, ExprKind, Formula, Ident};
use crate::lexer::Tok;

/// An operator with one operand.
type MakeFormula = fn(Box<Formula>) -> Formula;

impl Parser<'_> {
    /// A formula: `<->` and `->` bind loosest, then `||`, `xor`, `&&`, then `U`, `R`, `V`, `W`.
    pub(super) fn formula(&mut self) -> Option<Formula> {
        self.nested(|parser| {
            let left = parser.implication()?;
            if parser.eat("<->") {
                Some(Formula::Iff(left.into(), parser.formula()?.into()))
            } else {
                Some(left)
            }
        })
    }

    fn implication(&mut self) -> Option<Formula> {
        let left = self.disjunction()?;
        if self.eat("->") {
            let right = self.nested(Self::implication)?;
            Some(Formula::Implies(left.into(), right.into()))
        } else {
            Some(left)
        }
    }

    fn disjunction(&mut self) -> Option<Formula> {
        let mut left = self.conjunction()?;
        loop {
            if self.eat("||") || self.eat("\\/") {
                left = Formula::Or(left.into(), self.conjunction()?.into());
            } else if self.eat_word("xor") {
                left = Formula::Xor(left.into(), self.conjunction()?.into());
            } else {
                return Some(left);
            }
        }
    }

    fn conjunction(&mut self) -> Option<Formula> {
        let mut left = self.binary()?;
        while self.eat("&&") || self.eat("/\\") {
            left = Formula::And(left.into(), self.binary()?.into());
        }
        Some(left)
    }

    fn binary(&mut self) -> Option<Formula> {
        let left = self.unary_formula()?;
        let Some(word) = self.word_at(0) else {
            return Some(left);
        };
        let make: fn(Box<Formula>, Box<Formula>) -> Formula = match &**word {
            "U" => Formula::Until,
            "R" | "V" => Formula::Release,
            "W" => Formula::WeakUntil,
            _ => return Some(left),
        };
        self.advance();
        let right = self.nested(Self::binary)?;
        Some(make(left.into(), right.into()))
    }

    fn unary_formula(&mut self) -> Option<Formula> {
        self.nested(|parser| {
            if let Some((quantifier, operator)) = parser.path_quantifier() {
                parser.advance();
                let operand = parser.unary_formula()?;
                let path = match operator {
                    Some(make) => make(operand.into()),
                    None => operand,
                };
                return Some(Formula::Paths(quantifier, path.into()));
            }
            let make: MakeFormula = match parser.peek() {
                Tok::Sym("!") => Formula::Not,
                Tok::Sym("[]") => Formula::Always,
                Tok::Sym("<>") => Formula::Eventually,
                Tok::Ident(word) if parser.is_operand(1) => match &**word {
                    "X" => Formula::Next,
                    "G" => Formula::Always,
                    "F" => Formula::Eventually,
                    _ => return parser.atom_formula(),
                },
                _ => return parser.atom_formula(),
            };
            parser.advance();
            Some(make(parser.unary_formula()?.into()))
        })
    }

    /// A path quantifier with the operator that is part of the word, if one stands here.
    fn path_quantifier(&self) -> Option<(PathQuantifier, Option<MakeFormula>)> {
        let Tok::Ident(word) = self.peek() else {
            return None;
        };

        if !self.in_ctl || !self.is_operand(1) {
            return None;
        }

        let (quantifier, operator) = word.split_at_checked(1)?;
        let quantifier = match quantifier {
            "A" => PathQuantifier::All,
            "E" => PathQuantifier::Exists,
            _ => return None,
        };

        let operator: Option<MakeFormula> = match operator {
            "" => None,
            "G" => Some(Formula::Always),
            "F" => Some(Formula::Eventually),
            "X" => Some(Formula::Next),
            _ => return None,
        };

        Some((quantifier, operator))
    }

    /// Can an operand start this many tokens ahead?
    fn is_operand(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            Tok::Sym(symbol) => matches!(*symbol, "!" | "[]" | "<>" | "("),
            Tok::Ident(word) => !matches!(&**word, "U" | "R" | "V" | "W" | "xor"),
            Tok::Str(_) => true,
            _ => false,
        }
    }

    fn atom_formula(&mut self) -> Option<Formula> {
        let span = self.span();
        match self.peek().clone() {
            Tok::Sym("(") => {
                self.advance();
                let inner = self.formula()?;
                self.expect(")")?;
                Some(inner)
            }
            Tok::Str(text) => {
                self.advance();
                Some(Formula::Quoted(text, span))
            }
            Tok::Ident(text) => {
                self.advance();
                match &*text {
                    "true" => return Some(Formula::Constant(true)),
                    "false" => return Some(Formula::Constant(false)),
                    _ => {}
                }
                let mut arguments = Vec::new();
                while self.eat(".") {
                    arguments.push(self.formula_argument()?);
                }
                Some(Formula::Name(Ident { text, span }, arguments))
            }
            _ => self.unexpected("a proposition or an event"),
        }
    }

    fn formula_argument(&mut self) -> Option<crate::ast::ExprRef> {
        let span = self.span();
        let negative = self.eat("-");
        let kind = match self.peek().clone() {
            Tok::Int(value) => ExprKind::Int(if negative { -value } else { value }),
            Tok::Ident(name) if !negative => ExprKind::Name(name),
            Tok::Sym("(") if !negative => {
                self.advance();
                let inner = self.condition()?;
                self.expect(")")?;
                return Some(inner);
            }
            _ => return self.unexpected("an argument of the event"),
        };
        self.advance();
        let span = self.since(span);
        Some(std::rc::Rc::new(Expr { kind, span }))
    }
}
