//! The Boolean expressions of the HOA format: labels and acceptance formulas.

use std::collections::BTreeMap;

use base::AtomId;

use super::HoaError;
use super::lexer::Token;
use crate::{Acceptance, MarkId, Prop};

/// Expressions that nest deeper are refused, since they are parsed by recursion.
const MAX_DEPTH: usize = 200;

/// The words of an automaton and how far they have been read.
pub(super) struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    /// What each alias stands for.
    pub aliases: BTreeMap<String, Prop>,
    /// Atoms in labels must be below this.
    pub n_atoms: u32,
    /// Sets in acceptance formulas must be below this.
    pub n_marks: u32,
    /// The sets that occur complemented, and the mark that stands for the complement.
    pub complements: BTreeMap<u32, MarkId>,
}

/// What a grammar does at the leaves of its expressions and how it joins them.
trait Grammar: Sized {
    fn leaf(parser: &mut Parser) -> Result<Self, HoaError>;
    fn constant(value: bool) -> Self;
    fn join(sign: char, parts: Vec<Self>) -> Self;
}

impl Parser {
    /// Nothing is read yet.
    pub fn new(tokens: Vec<(usize, Token)>) -> Self {
        Self {
            tokens,
            next: 0,
            depth: 0,
            aliases: BTreeMap::new(),
            n_atoms: 0,
            n_marks: 0,
            complements: BTreeMap::new(),
        }
    }

    /// An error at the next word.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, HoaError> {
        let here = self.tokens.get(self.next).or(self.tokens.last());
        Err(HoaError {
            line: here.map_or(1, |(line, _)| *line),
            message: message.into(),
        })
    }

    /// The next word, not consumed.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    /// Consumes the next word.
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Consumes the sign if it is next.
    pub fn eat(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(found);
        found
    }

    /// Consumes the sign, which must be next.
    pub fn expect(&mut self, sign: char) -> Result<(), HoaError> {
        if self.eat(sign) {
            Ok(())
        } else {
            self.error(format!("expected '{sign}'"))
        }
    }

    /// Consumes a number below `limit`, which must be next.
    pub fn int_below(&mut self, limit: u32, what: &str) -> Result<u32, HoaError> {
        match self.peek() {
            Some(&Token::Int(number)) if number < limit => {
                self.next += 1;
                Ok(number)
            }
            Some(&Token::Int(number)) => {
                self.error(format!("{what} {number} is not below {limit}"))
            }
            _ => self.error(format!("expected a number: {what}")),
        }
    }

    /// A label expression.
    pub fn label(&mut self) -> Result<Prop, HoaError> {
        self.expression()
    }

    /// An acceptance formula.
    pub fn acceptance(&mut self) -> Result<Acceptance, HoaError> {
        self.expression()
    }

    fn expression<E: Grammar>(&mut self) -> Result<E, HoaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("the expression nests too deeply");
        }
        let mut disjuncts = Vec::new();
        loop {
            let mut conjuncts = vec![self.operand()?];
            while self.eat('&') {
                conjuncts.push(self.operand()?);
            }
            disjuncts.push(joined('&', conjuncts));
            if !self.eat('|') {
                self.depth -= 1;
                return Ok(joined('|', disjuncts));
            }
        }
    }

    fn operand<E: Grammar>(&mut self) -> Result<E, HoaError> {
        match self.peek() {
            Some(Token::Sign('(')) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(')')?;
                Ok(inner)
            }
            Some(Token::Ident(name)) if name == "t" || name == "f" => {
                let value = name == "t";
                self.advance();
                Ok(E::constant(value))
            }
            _ => E::leaf(self),
        }
    }
}

fn joined<E: Grammar>(sign: char, mut parts: Vec<E>) -> E {
    if parts.len() == 1 {
        parts.swap_remove(0)
    } else {
        E::join(sign, parts)
    }
}

impl Grammar for Prop {
    fn leaf(parser: &mut Parser) -> Result<Self, HoaError> {
        // A chain of negations is read in a loop, for it could be as long as the text.
        let mut negated = false;
        while parser.eat('!') {
            negated = !negated;
        }
        let operand = match parser.peek() {
            Some(Token::Alias(name)) => match parser.aliases.get(name) {
                Some(meaning) => {
                    let meaning = meaning.clone();
                    parser.advance();
                    meaning
                }
                None => return parser.error(format!("unknown alias @{name}")),
            },
            Some(Token::Int(_)) => {
                let n_atoms = parser.n_atoms;
                Self::Atom(AtomId(parser.int_below(n_atoms, "atom")?))
            }
            Some(Token::Sign('(') | Token::Ident(_)) if is_operand(parser) => parser.operand()?,
            _ => return parser.error("expected a label"),
        };

        Ok(if negated {
            Self::Not(Box::new(operand))
        } else {
            operand
        })
    }

    fn constant(value: bool) -> Self {
        Self::Const(value)
    }

    fn join(sign: char, parts: Vec<Self>) -> Self {
        match sign {
            '&' => Self::And(parts),
            _ => Self::Or(parts),
        }
    }
}

/// Is the next word the beginning of an operand that is not a leaf?
fn is_operand(parser: &Parser) -> bool {
    match parser.peek() {
        Some(Token::Ident(name)) => name == "t" || name == "f",
        other => other == Some(&Token::Sign('(')),
    }
}

impl Grammar for Acceptance {
    fn leaf(parser: &mut Parser) -> Result<Self, HoaError> {
        let is_inf = match parser.peek() {
            Some(Token::Ident(name)) if name == "Inf" => true,
            Some(Token::Ident(name)) if name == "Fin" => false,
            _ => return parser.error("expected Inf, Fin, t or f"),
        };
        parser.advance();
        parser.expect('(')?;

        let complemented = parser.eat('!');
        let n_marks = parser.n_marks;
        let set = parser.int_below(n_marks, "set")?;
        parser.expect(')')?;

        let mark = if complemented {
            let fresh = MarkId::new(n_marks as usize + parser.complements.len());
            *parser.complements.entry(set).or_insert(fresh)
        } else {
            MarkId(set)
        };

        Ok(if is_inf {
            Self::Inf(mark)
        } else {
            Self::Fin(mark)
        })
    }

    fn constant(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    fn join(sign: char, parts: Vec<Self>) -> Self {
        match sign {
            '&' => Self::all(parts),
            _ => Self::any(parts),
        }
    }
}
