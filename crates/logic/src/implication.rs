//! A quick, incomplete test whether one formula implies another.
//!
//! Follows Somenzi and Bloem, *Efficient Büchi Automata from LTL Formulae*, CAV 2000, table 1,
//! <https://doi.org/10.1007/10722167_21>, extended by the rules for eventual and universal formulas
//! of Babiak, Křetínský, Řehák, Strejček, *LTL to Büchi Automata Translation: Fast and More
//! Deterministic*, TACAS 2012, <https://doi.org/10.1007/978-3-642-28756-5_8>. `true` is a proof,
//! `false` means "not seen".

use crate::arena::{Arena, Form, FormId};

/// Beyond this many remembered pairs the test gives up, so that it stays quick.
const MAX_PAIRS: usize = 500_000;

impl Arena {
    /// Is it obvious that every word of `f` is a word of `g`?
    pub(crate) fn implies(&mut self, f: FormId, g: FormId) -> bool {
        if f == g || f == FormId::FALSE || g == FormId::TRUE {
            return true;
        }
        if f == FormId::TRUE || g == FormId::FALSE {
            return false;
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return known;
        }
        if self.implications.len() > MAX_PAIRS {
            return false;
        }
        let result = self.implies_by_conclusion(f, g) || self.implies_by_premise(f, g);
        self.implications.insert((f, g), result);
        result
    }

    /// Is it obvious that the formulas exclude each other?
    pub(crate) fn excludes(&mut self, f: FormId, g: FormId) -> bool {
        let not_g = self.negate(g);
        self.implies(f, not_g)
    }

    /// The rules that take the conclusion apart.
    fn implies_by_conclusion(&mut self, f: FormId, g: FormId) -> bool {
        let universal = self.shape(f).universal;
        match (self.form(f).clone(), self.form(g).clone()) {
            (_, Form::And(parts)) => parts.iter().all(|&part| self.implies(f, part)),
            (_, Form::Or(parts)) if parts.iter().any(|&part| self.implies(f, part)) => true,
            (Form::Next(a), Form::Next(b)) => self.implies(a, b),
            (_, Form::Next(b)) => universal && self.implies(f, b),
            (_, Form::Eventually(b)) => self.implies(f, b),
            (_, Form::Always(b)) => universal && self.implies(f, b),
            (Form::Until(a, b), Form::Until(c, d) | Form::WeakUntil(c, d))
            | (Form::WeakUntil(a, b), Form::WeakUntil(c, d))
            | (Form::Release(a, b), Form::Release(c, d))
            | (Form::StrongRelease(a, b), Form::StrongRelease(c, d) | Form::Release(c, d))
                if self.implies(a, c) && self.implies(b, d) =>
            {
                true
            }
            (_, Form::Until(_, d)) => self.implies(f, d),
            (_, Form::WeakUntil(c, d)) => self.implies(f, d) || (universal && self.implies(f, c)),
            (_, Form::Release(c, d)) => self.implies(f, d) && (universal || self.implies(f, c)),
            (_, Form::StrongRelease(c, d)) => self.implies(f, c) && self.implies(f, d),
            _ => false,
        }
    }

    /// The rules that take the premise apart.
    fn implies_by_premise(&mut self, f: FormId, g: FormId) -> bool {
        let eventual = self.shape(g).eventual;
        match self.form(f).clone() {
            Form::Or(parts) => parts.iter().all(|&part| self.implies(part, g)),
            Form::And(parts) => parts.iter().any(|&part| self.implies(part, g)),
            Form::Next(a) | Form::Eventually(a) => eventual && self.implies(a, g),
            Form::Always(a) => self.implies(a, g),
            Form::Until(a, b) => self.implies(b, g) && (eventual || self.implies(a, g)),
            Form::WeakUntil(a, b) => self.implies(a, g) && self.implies(b, g),
            Form::Release(_, b) => self.implies(b, g),
            Form::StrongRelease(a, b) => self.implies(b, g) || (eventual && self.implies(a, g)),
            Form::False | Form::True | Form::Literal(..) => false,
        }
    }
}
