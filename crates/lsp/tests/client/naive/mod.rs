//! A resolver of names that only looks at tokens, for all three languages.
//!
//! Declarations are found by the words and signs around them and by layout. A name means the
//! declaration of its kind with the innermost scope around it.

mod csp;
mod native;
mod promela;

use fairground::{Piece, PieceKind, scan};

pub(crate) use csp::csp;
pub(crate) use native::native;
pub(crate) use promela::promela;

/// Names of different kinds do not meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Value,
    Label,
    Action,
    Field,
    Event,
}

/// A declaration: the name at `at` is known from `from` to `to`.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    kind: Kind,
    at: usize,
    from: usize,
    to: usize,
}

/// The tokens of a text, and what they declare.
pub(crate) struct Naive<'t> {
    text: &'t str,
    tokens: Vec<Piece>,
    declared: Vec<Declared>,
    /// Names where they are, or could be, declared.
    places: Vec<(usize, Kind)>,
    /// Processes with their bodies.
    bodies: Vec<(String, usize, usize)>,
}

/// A name in the text, and where it is declared if it is: in one of these places.
pub(crate) struct Use {
    pub(crate) word: String,
    pub(crate) at: usize,
    pub(crate) declared: Vec<usize>,
}

impl<'t> Naive<'t> {
    fn new(text: &'t str) -> Self {
        let is_code = |p: &Piece| !matches!(p.kind, PieceKind::Comment | PieceKind::Quoted);
        Self {
            text,
            tokens: scan(text).into_iter().filter(is_code).collect(),
            declared: Vec::new(),
            places: Vec::new(),
            bodies: Vec::new(),
        }
    }

    fn word(&self, n: usize) -> &'t str {
        self.tokens.get(n).map_or("", |token| token.text(self.text))
    }

    /// The word `back` tokens before.
    fn before(&self, n: usize, back: usize) -> &'t str {
        n.checked_sub(back).map_or("", |n| self.word(n))
    }

    fn start(&self, n: usize) -> usize {
        self.tokens
            .get(n)
            .map_or(self.text.len(), |token| token.start)
    }

    fn is_name(&self, n: usize) -> bool {
        self.tokens
            .get(n)
            .is_some_and(|t| t.kind == PieceKind::Word)
    }

    fn add(&mut self, kind: Kind, n: usize, (from, to): (usize, usize)) {
        self.places.push((self.start(n), kind));
        if self.is_name(n) {
            let (name, at) = (self.word(n).to_owned(), self.start(n));
            self.declared.push(Declared {
                name,
                kind,
                at,
                from,
                to,
            });
        }
    }

    /// Adds a name unless it is declared already in this scope: its first place counts.
    fn add_first(&mut self, kind: Kind, n: usize, (from, to): (usize, usize)) {
        let name = self.word(n);
        self.places.push((self.start(n), kind));
        let is_it = |d: &Declared| d.name == name && d.kind == kind && d.from == from;
        if !self.declared.iter().any(is_it) {
            self.add(kind, n, (from, to));
        }
    }

    fn everywhere(&self) -> (usize, usize) {
        (0, self.text.len())
    }

    /// The token that closes the bracket at `n`.
    fn closing(&self, n: usize) -> usize {
        let mut depth = 0_i32;
        for m in n..self.tokens.len() {
            depth += match self.word(m) {
                "(" | "[" | "{" => 1,
                ")" | "]" | "}" => -1,
                _ => 0,
            };
            if depth == 0 {
                return m;
            }
        }
        self.tokens.len()
    }

    /// The token that closes the innermost bracket around `n`.
    fn enclosing(&self, n: usize) -> usize {
        let mut depth = 0_i32;
        for m in n..self.tokens.len() {
            match self.word(m) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return m,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The next of some words at or after `n`, outside of brackets that open there.
    fn next(&self, n: usize, words: &[&str]) -> usize {
        let mut m = n;
        while m < self.tokens.len() && !words.contains(&self.word(m)) {
            m = match self.word(m) {
                "(" | "[" | "{" => self.closing(m) + 1,
                _ => m + 1,
            };
        }
        m
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |n| n + 1)
    }

    /// Is the token the first of its line?
    fn starts_line(&self, n: usize) -> bool {
        n == 0 || self.line_start(self.start(n)) > self.start(n - 1)
    }

    /// Where the line ends, with those that it is continued on.
    fn line_end(&self, offset: usize) -> usize {
        let mut end = offset;
        loop {
            end += self.text[end..].find('\n').unwrap_or(self.text.len() - end);
            if !self.text[..end].ends_with('\\') {
                return end;
            }
            end += 1;
        }
    }

    /// The body of a process by its name, or around an offset.
    fn body(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.bodies.iter().find(|(process, ..)| process == name)?;
        Some((found.1, found.2))
    }

    fn body_around(&self, offset: usize) -> Option<(usize, usize)> {
        let contains = |(_, from, to): &&(String, usize, usize)| (*from..*to).contains(&offset);
        self.bodies
            .iter()
            .find(contains)
            .map(|(_, from, to)| (*from, *to))
    }

    /// The process named before a `@`, `.` or `:` at `n`: `P`, `P[…]` or `P[…][…]`.
    fn process_before(&self, n: usize) -> Option<(usize, usize)> {
        let mut at = n.checked_sub(1)?;
        while self.word(at) == "]" {
            at = (0..at)
                .rev()
                .find(|m| self.word(*m) == "[" && self.closing(*m) == at)?;
            at = at.checked_sub(1)?;
        }
        self.body(self.word(at))
    }

    /// The innermost declaration of a name.
    fn meaning(&self, n: usize, kind: Kind, at: usize) -> Option<usize> {
        let name = self.word(n);
        let fits = |d: &&Declared| d.name == name && d.kind == kind && (d.from..d.to).contains(&at);
        let found = self.declared.iter().filter(fits);
        // Of two in one scope the later one counts, if it comes before the name.
        let innermost = found.max_by_key(|d| (d.from, d.at <= at, d.at.min(at)));
        innermost.map(|d| d.at)
    }

    /// Was the name at an offset taken for one of this kind?
    fn is_place(&self, at: usize, kind: Kind) -> bool {
        self.places.contains(&(at, kind))
    }

    fn uses(&self, mean: impl Fn(&Self, usize) -> Option<usize>) -> Vec<Use> {
        let mut uses = Vec::new();
        for n in (0..self.tokens.len()).filter(|n| self.is_name(*n)) {
            let mut declared: Vec<usize> = mean(self, n).into_iter().collect();
            // Which of several types has a component, and which of several labels with the same
            // name is meant, cannot be seen from tokens.
            let word = self.word(n);
            for kind in [Kind::Field, Kind::Label] {
                let is_alike = |d: &&Declared| d.kind == kind && d.name == word;
                let alike = self.declared.iter().filter(is_alike).map(|d| d.at);
                let alike: Vec<usize> = alike.collect();
                if declared
                    .iter()
                    .any(|at| alike.contains(at) && *at != self.start(n))
                {
                    declared = alike;
                }
            }
            uses.push(Use {
                word: word.to_owned(),
                at: self.start(n),
                declared,
            });
        }
        uses
    }
}
