//! From text to automaton.

use base::AtomId;

use super::lexer::{Token, tokens};
use super::parser::Parser;
use super::split::split;
use super::{HoaAutomaton, HoaError};
use crate::{Acceptance, Automaton, Cube, Edge, MarkId, Prop, StateId};

/// A label that needs more cubes is refused.
const MAX_CUBES: usize = 1 << 12;
/// Larger numbers of states, atoms and sets are refused: a short text must not claim gigabytes.
const MAX_STATES: u32 = 1 << 22;
const MAX_ATOMS: u32 = 1 << 16;
const MAX_MARKS: u32 = 1 << 16;
/// Implicit labels enumerate all letters over at most this many atoms.
const MAX_IMPLICIT_ATOMS: u32 = 16;

/// Reads an automaton in the HOA format.
///
/// # Errors
/// The first thing that is wrong or not supported.
pub fn from_hoa(text: &str) -> Result<HoaAutomaton, HoaError> {
    let mut reader = Reader {
        parser: Parser::new(tokens(text)?),
        n_states: None,
        start: Vec::new(),
        atoms: Vec::new(),
        acceptance: None,
        edges: Vec::new(),
    };
    reader.headers()?;
    reader.body()?;
    reader.finish()
}

struct Reader {
    parser: Parser,
    n_states: Option<u32>,
    start: Vec<StateId>,
    atoms: Vec<String>,
    acceptance: Option<Acceptance>,
    edges: Vec<Vec<Edge>>,
}

/// A state as its line describes it.
struct StateHead {
    state: usize,
    label: Option<Prop>,
    marks: Vec<MarkId>,
}

impl Reader {
    fn headers(&mut self) -> Result<(), HoaError> {
        if self.parser.peek() != Some(&Token::Header("HOA".into())) {
            return self.parser.error("expected 'HOA: v1'");
        }
        self.parser.advance();
        if self.parser.peek() != Some(&Token::Ident("v1".into())) {
            return self.parser.error("only version v1 is known");
        }
        self.parser.advance();

        loop {
            match self.parser.peek() {
                Some(Token::Header(name)) => {
                    let name = name.clone();
                    self.header(&name)?;
                }
                Some(Token::Divider(name)) if name == "BODY" => {
                    self.parser.advance();
                    return Ok(());
                }
                _ => return self.parser.error("expected a header or --BODY--"),
            }
        }
    }

    fn header(&mut self, name: &str) -> Result<(), HoaError> {
        let known = matches!(name, "States" | "Start" | "AP" | "Alias" | "Acceptance");
        if !known && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            // Capitals announce that the meaning of the automaton depends on the header.
            return self
                .parser
                .error(format!("the header {name} is not supported"));
        }

        let again = match name {
            "States" => self.n_states.is_some(),
            "AP" => self.parser.n_atoms > 0,
            "Acceptance" => self.acceptance.is_some(),
            _ => false,
        };

        if again {
            return self.parser.error(format!("a second header {name}"));
        }
        self.parser.advance();

        match name {
            "States" => {
                let n_states = self.parser.int_below(MAX_STATES, "number of states")?;
                self.n_states = Some(n_states);
                self.grow(n_states as usize);
                Ok(())
            }
            "Start" => self.start(),
            "AP" => self.atoms(),
            "Alias" => self.alias(),
            "Acceptance" => {
                self.parser.n_marks = self.parser.int_below(MAX_MARKS, "number of sets")?;
                self.acceptance = Some(self.parser.acceptance()?);
                Ok(())
            }
            _ => {
                let in_value =
                    |token: &Token| !matches!(token, Token::Header(_) | Token::Divider(_));
                while self.parser.peek().is_some_and(in_value) {
                    self.parser.advance();
                }
                Ok(())
            }
        }
    }

    fn start(&mut self) -> Result<(), HoaError> {
        let state = self.parser.int_below(MAX_STATES, "state")?;
        self.refuse_universal()?;
        self.start.push(StateId(state));
        Ok(())
    }

    fn refuse_universal(&self) -> Result<(), HoaError> {
        if self.parser.peek() == Some(&Token::Sign('&')) {
            return self.parser.error("universal branching is not supported");
        }
        Ok(())
    }

    fn atoms(&mut self) -> Result<(), HoaError> {
        let n_atoms = self.parser.int_below(MAX_ATOMS, "number of atoms")?;
        for _ in 0..n_atoms {
            match self.parser.peek() {
                Some(Token::Text(name)) => self.atoms.push(name.clone()),
                _ => {
                    return self
                        .parser
                        .error(format!("expected {n_atoms} quoted names"));
                }
            }
            self.parser.advance();
        }
        self.parser.n_atoms = n_atoms;
        Ok(())
    }

    fn alias(&mut self) -> Result<(), HoaError> {
        let Some(Token::Alias(name)) = self.parser.peek() else {
            return self.parser.error("expected @name");
        };
        let name = name.clone();
        self.parser.advance();
        let meaning = self.parser.label()?;
        // Aliases may use earlier ones; as cubes they cannot nest deeper and deeper.
        let cubes = self.cubes(&meaning)?;
        let literal = |&(atom, value): &(AtomId, bool)| {
            if value {
                Prop::Atom(atom)
            } else {
                Prop::Not(Box::new(Prop::Atom(atom)))
            }
        };
        let flat = |cube: &Cube| Prop::And(cube.literals().iter().map(literal).collect());
        let meaning = Prop::Or(cubes.iter().map(flat).collect());
        self.parser.aliases.insert(name, meaning);
        Ok(())
    }

    fn body(&mut self) -> Result<(), HoaError> {
        if self.acceptance.is_none() {
            return self.parser.error("the header Acceptance is missing");
        }
        loop {
            match self.parser.peek() {
                Some(Token::Header(name)) if name == "State" => {
                    self.parser.advance();
                    self.state()?;
                }
                Some(Token::Divider(name)) if name == "END" => {
                    self.parser.advance();
                    return match self.parser.peek() {
                        None => Ok(()),
                        Some(_) => self.parser.error("only one automaton is read"),
                    };
                }
                _ => return self.parser.error("expected 'State:' or --END--"),
            }
        }
    }

    fn state(&mut self) -> Result<(), HoaError> {
        let label = self.bracketed_label()?;
        let limit = self.n_states.unwrap_or(MAX_STATES);
        let state = self.parser.int_below(limit, "state")? as usize;
        self.grow(state + 1);
        if matches!(self.parser.peek(), Some(Token::Text(_))) {
            self.parser.advance();
        }
        let marks = self.marks()?;
        let head = StateHead {
            state,
            label,
            marks,
        };
        let (mut n_edges, mut n_implicit) = (0, 0);
        while matches!(self.parser.peek(), Some(Token::Sign('[') | Token::Int(_))) {
            n_implicit += u32::from(self.edge(&head, n_implicit)?);
            n_edges += 1;
        }

        let complete = n_implicit == n_edges && n_implicit.is_power_of_two();
        if n_implicit > 0 && !(complete && n_implicit.ilog2() == self.parser.n_atoms) {
            return self
                .parser
                .error("with implicit labels a state needs one edge per letter");
        }

        Ok(())
    }

    /// Reads an edge. Says whether its label is implicit; then it reads the given letter.
    fn edge(&mut self, head: &StateHead, letter: u32) -> Result<bool, HoaError> {
        let own_label = self.bracketed_label()?;
        let limit = self.n_states.unwrap_or(MAX_STATES);
        let target = StateId(self.parser.int_below(limit, "state")?);
        self.refuse_universal()?;

        let mut marks = self.marks()?;
        marks.extend(&head.marks);
        marks.sort_unstable();
        marks.dedup();

        let is_implicit = own_label.is_none() && head.label.is_none();
        let cubes = match (own_label, &head.label) {
            (Some(_), Some(_)) => {
                return self.parser.error("the state has a label already");
            }
            (Some(label), None) => self.cubes(&label)?,
            (None, Some(label)) => self.cubes(label)?,
            (None, None) => vec![self.letter(letter)?],
        };

        self.grow(target.index() + 1);
        self.edges[head.state].extend(cubes.into_iter().map(|guard| Edge {
            guard,
            marks: marks.clone(),
            target,
        }));
        Ok(is_implicit)
    }

    fn bracketed_label(&mut self) -> Result<Option<Prop>, HoaError> {
        if !self.parser.eat('[') {
            return Ok(None);
        }
        let label = self.parser.label()?;
        self.parser.expect(']')?;
        Ok(Some(label))
    }

    fn marks(&mut self) -> Result<Vec<MarkId>, HoaError> {
        let mut marks = Vec::new();
        if self.parser.eat('{') {
            while !self.parser.eat('}') {
                let n_marks = self.parser.n_marks;
                marks.push(MarkId(self.parser.int_below(n_marks, "set")?));
            }
        }
        Ok(marks)
    }

    fn cubes(&self, label: &Prop) -> Result<Vec<Cube>, HoaError> {
        match split(&Cube::default(), &[label], MAX_CUBES) {
            Some(parts) => Ok(parts
                .into_iter()
                .filter(|part| part.values[0])
                .map(|part| part.cube)
                .collect()),
            None => self.parser.error("the label needs too many cubes"),
        }
    }

    fn letter(&self, number: u32) -> Result<Cube, HoaError> {
        let n_atoms = self.parser.n_atoms;
        if n_atoms > MAX_IMPLICIT_ATOMS || number >> n_atoms != 0 {
            return self.parser.error("expected a label");
        }
        let literals = (0..n_atoms).map(|atom| (AtomId(atom), number >> atom & 1 == 1));
        Ok(Cube::new(literals).expect("each atom occurs once"))
    }

    fn grow(&mut self, n_states: usize) {
        if self.edges.len() < n_states {
            self.edges.resize(n_states, Vec::new());
        }
    }

    fn finish(mut self) -> Result<HoaAutomaton, HoaError> {
        let n_states = self.edges.len();
        if let Some(state) = self.start.iter().find(|state| state.index() >= n_states) {
            return self.parser.error(format!("there is no state {}", state.0));
        }

        for edge in self.edges.iter_mut().flatten() {
            let absent = |set: &u32| !edge.marks.contains(&MarkId(*set));
            let complements = self.parser.complements.iter();
            let added: Vec<_> = complements
                .filter(|(set, _)| absent(set))
                .map(|(_, &mark)| mark)
                .collect();
            edge.marks.extend(added);
            edge.marks.sort_unstable();
        }

        let automaton = Automaton {
            initial: self.start,
            edges: self.edges,
            letter_marks: Vec::new(),
            n_marks: self.parser.n_marks as usize + self.parser.complements.len(),
            acceptance: self.acceptance.unwrap_or(Acceptance::True),
        };

        Ok(HoaAutomaton {
            automaton,
            atoms: self.atoms,
        })
    }
}
