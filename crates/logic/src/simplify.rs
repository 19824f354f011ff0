//! Rewriting formulas into smaller equivalent ones, operator by operator.
//!
//! The operators below build a formula from simplified operands and apply the rules on the way, so a
//! formula is simplified by building it bottom up. Sources of the rules:
//!
//! - Etessami, Holzmann: *Optimizing Büchi Automata*, CONCUR 2000, section 3,
//!   <https://doi.org/10.1007/3-540-44618-4_13>.
//! - Somenzi, Bloem: *Efficient Büchi Automata from LTL Formulae*, CAV 2000, section 3,
//!   <https://doi.org/10.1007/10722167_21>.
//! - Babiak, Křetínský, Řehák, Strejček: *LTL to Büchi Automata Translation: Fast and More
//!   Deterministic*, TACAS 2012, section 4,
//!   <https://doi.org/10.1007/978-3-642-28756-5_8>.
//! - Duret-Lutz: *LTL translation improvements in Spot 1.0*, IJCCBS 5(1/2), 2014,
//!   <https://doi.org/10.1504/IJCCBS.2014.059594>.
//!
//! Every rule comes with its dual, so negating a formula does not make it worse. The direction is
//! chosen for the translation: `[]a && []b` becomes `[](a && b)` (one obligation), but formulas that do
//! not depend on prefixes, such as `[]<>a`, are moved outwards, where they cost no state.

use crate::arena::{Arena, Form, FormId, Shape};
use crate::ltl::Ltl;

/// Operands beyond this many are not compared with each other.
const MAX_COMPARED: usize = 150;

/// An equivalent formula in negation normal form, usually smaller. A formula with past operators
/// stays as it is.
#[must_use]
pub fn simplify(formula: &Ltl) -> Ltl {
    if formula.has_past() {
        return formula.clone();
    }
    let mut arena = Arena::new();
    let id = arena.import(formula);
    arena.export(id)
}

/// Conjunction or disjunction: what is true of one is true of the other, dually.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Junction {
    And,
    Or,
}

impl Junction {
    /// The operand that changes nothing.
    fn neutral(self) -> FormId {
        match self {
            Self::And => FormId::TRUE,
            Self::Or => FormId::FALSE,
        }
    }

    /// The operand that decides everything.
    fn absorbing(self) -> FormId {
        match self {
            Self::And => FormId::FALSE,
            Self::Or => FormId::TRUE,
        }
    }

    fn form(self, parts: Vec<FormId>) -> Form {
        match self {
            Self::And => Form::And(parts),
            Self::Or => Form::Or(parts),
        }
    }
}

impl Arena {
    /// All of them.
    pub(crate) fn and(&mut self, parts: Vec<FormId>) -> FormId {
        self.junction(Junction::And, parts)
    }

    /// At least one of them.
    pub(crate) fn or(&mut self, parts: Vec<FormId>) -> FormId {
        self.junction(Junction::Or, parts)
    }

    pub(crate) fn junction(&mut self, junction: Junction, parts: Vec<FormId>) -> FormId {
        let parts = self.flatten(junction, parts);
        if parts.contains(&junction.absorbing()) {
            return junction.absorbing();
        }
        let Some(parts) = self.without_redundant(junction, parts) else {
            return junction.absorbing();
        };
        match self.merged(junction, &parts) {
            // Merging may enable further rules; every merge removes an operand, so this ends.
            Some(parts) => self.junction(junction, parts),
            None => match parts[..] {
                [] => junction.neutral(),
                [only] => only,
                _ => self.intern(junction.form(parts)),
            },
        }
    }

    fn flatten(&self, junction: Junction, parts: Vec<FormId>) -> Vec<FormId> {
        let mut flat = Vec::new();
        for part in parts {
            match (junction, self.form(part)) {
                (Junction::And, Form::And(inner)) | (Junction::Or, Form::Or(inner)) => {
                    flat.extend(inner);
                }
                _ if part == junction.neutral() => {}
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat
    }

    /// The operands that are not implied by (for `Or`: do not imply) another one, or nothing if two of
    /// them make the whole constant.
    fn without_redundant(&mut self, junction: Junction, parts: Vec<FormId>) -> Option<Vec<FormId>> {
        if parts.len() > MAX_COMPARED {
            return Some(parts);
        }
        let mut kept: Vec<FormId> = Vec::new();

        for &part in &parts {
            let mut redundant = false;
            for &other in &kept {
                let clash = match junction {
                    Junction::And => self.excludes(part, other),
                    Junction::Or => {
                        let not_part = self.negate(part);
                        self.implies(not_part, other)
                    }
                };
                if clash {
                    return None;
                }
                redundant |= self.subsumes(junction, other, part);
            }
            if !redundant {
                let mut stay = Vec::new();
                for other in kept {
                    if !self.subsumes(junction, part, other) {
                        stay.push(other);
                    }
                }
                stay.push(part);
                kept = stay;
            }
        }

        Some(kept)
    }

    /// Does `strong` make `weak` superfluous beside it?
    fn subsumes(&mut self, junction: Junction, strong: FormId, weak: FormId) -> bool {
        match junction {
            Junction::And => self.implies(strong, weak),
            Junction::Or => self.implies(weak, strong),
        }
    }

    /// The operands after merging some that are better written as one; nothing if there are none.
    fn merged(&mut self, junction: Junction, parts: &[FormId]) -> Option<Vec<FormId>> {
        self.merge_class(junction, parts, |arena, part| match *arena.form(part) {
            Form::Next(a) => Some(a),
            _ => None,
        })
        .map(|(inner, rest)| (self.next(inner), rest))
        .or_else(|| {
            self.merge_class(junction, parts, |arena, part| {
                arena.same_kind_body(junction, part)
            })
            .map(|(inner, rest)| match junction {
                Junction::And => (self.always(inner), rest),
                Junction::Or => (self.eventually(inner), rest),
            })
        })
        .or_else(|| {
            self.merge_class(junction, parts, |arena, part| {
                arena.limit_body(junction, part)
            })
            .map(|(inner, rest)| {
                let merged = match junction {
                    Junction::And => {
                        let always = self.always(inner);
                        self.eventually(always)
                    }
                    Junction::Or => {
                        let eventually = self.eventually(inner);
                        self.always(eventually)
                    }
                };
                (merged, rest)
            })
        })
        .or_else(|| self.merge_strengths(junction, parts))
        .or_else(|| self.merge_first_occurrence(junction, parts))
        .map(|(merged, mut rest)| {
            rest.push(merged);
            rest
        })
    }

    /// Joins the bodies of all operands that have one, if they are at least two.
    fn merge_class(
        &mut self,
        junction: Junction,
        parts: &[FormId],
        body: impl Fn(&Self, FormId) -> Option<FormId>,
    ) -> Option<(FormId, Vec<FormId>)> {
        let bodies: Vec<FormId> = parts.iter().filter_map(|&part| body(self, part)).collect();
        if bodies.len() < 2 {
            return None;
        }
        let rest = parts
            .iter()
            .copied()
            .filter(|&part| body(self, part).is_none())
            .collect();
        Some((self.junction(junction, bodies), rest))
    }

    /// The `a` of `[]a` in a conjunction or of `<>a` in a disjunction. Bodies that the outer operator
    /// treats on their own are left alone, so that merging and splitting never undo each other.
    fn same_kind_body(&self, junction: Junction, part: FormId) -> Option<FormId> {
        match (junction, self.form(part)) {
            (Junction::And, &Form::Always(a)) if !self.shape(a).eventual => Some(a),
            (Junction::Or, &Form::Eventually(a)) if !self.shape(a).universal => Some(a),
            _ => None,
        }
    }

    /// The `a` of `<>[]a` in a conjunction or of `[]<>a` in a disjunction.
    fn limit_body(&self, junction: Junction, part: FormId) -> Option<FormId> {
        match (junction, self.form(part)) {
            (Junction::And, &Form::Eventually(inner)) => match *self.form(inner) {
                Form::Always(a) => Some(a),
                _ => None,
            },
            (Junction::Or, &Form::Always(inner)) => match *self.form(inner) {
                Form::Eventually(a) => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    /// `a W b && <>b` is `a U b`, `a R b && <>a` is `a M b`; `a U b || []a` is `a W b`, `a M b || []b` is
    /// `a R b`.
    fn merge_strengths(
        &mut self,
        junction: Junction,
        parts: &[FormId],
    ) -> Option<(FormId, Vec<FormId>)> {
        for &part in parts {
            let (condition, a, b) = match (junction, self.form(part)) {
                (Junction::And, &Form::WeakUntil(a, b)) => (Form::Eventually(b), a, b),
                (Junction::And, &Form::Release(a, b)) => (Form::Eventually(a), a, b),
                (Junction::Or, &Form::Until(a, b)) => (Form::Always(a), a, b),
                (Junction::Or, &Form::StrongRelease(a, b)) => (Form::Always(b), a, b),
                _ => continue,
            };
            let Some(&other) = parts.iter().find(|&&p| *self.form(p) == condition) else {
                continue;
            };
            let merged = match self.form(part) {
                Form::WeakUntil(..) => self.until(a, b),
                Form::Release(..) => self.strong_release(a, b),
                Form::Until(..) => self.weak_until(a, b),
                _ => self.release(a, b),
            };
            let rest = parts.iter().copied().filter(|&p| p != part && p != other);
            return Some((merged, rest.collect()));
        }

        None
    }

    /// `[]!a || <>(a && e)` is `!a W (a && e)` for eventual `e`: if it holds at some `a`, it holds at the
    /// first one. Dually, `<>a && [](!a || u)` is `a M (!a || u)` for universal `u`.
    fn merge_first_occurrence(
        &mut self,
        junction: Junction,
        parts: &[FormId],
    ) -> Option<(FormId, Vec<FormId>)> {
        for &part in parts {
            let body = match (junction, self.form(part)) {
                (Junction::Or, &Form::Eventually(body)) | (Junction::And, &Form::Always(body)) => {
                    body
                }
                _ => continue,
            };
            let is_late = |shape: Shape| match junction {
                Junction::Or => shape.eventual,
                Junction::And => shape.universal,
            };
            let wanted = match (junction, self.form(body)) {
                (Junction::Or, Form::And(_)) | (Junction::And, Form::Or(_)) => {
                    self.split(body, is_late)
                }
                _ => None,
            };
            let Some((_, _, first)) = wanted else {
                continue;
            };
            let before = self.negate(first);
            let other = match junction {
                Junction::Or => Form::Always(before),
                Junction::And => Form::Eventually(before),
            };
            if let Some(&other) = parts.iter().find(|&&p| *self.form(p) == other) {
                let merged = match junction {
                    Junction::Or => self.weak_until(before, body),
                    Junction::And => self.strong_release(before, body),
                };
                let rest = parts.iter().copied().filter(|&p| p != part && p != other);
                return Some((merged, rest.collect()));
            }
        }

        None
    }

    /// At the next position.
    pub(crate) fn next(&mut self, a: FormId) -> FormId {
        if self.shape(a).suspendable() {
            return a;
        }
        match self.split(a, Shape::suspendable) {
            Some((junction, mut outside, rest)) => {
                let rest = self.next(rest);
                outside.push(rest);
                self.junction(junction, outside)
            }
            None => self.intern(Form::Next(a)),
        }
    }

    /// Now or later.
    pub(crate) fn eventually(&mut self, a: FormId) -> FormId {
        if self.shape(a).eventual {
            return a;
        }

        // `<>` absorbs delays: `<> X b` is `X <> b`, and `<> (a U b)` is `<> b`.
        match *self.form(a) {
            Form::Next(b) => {
                let inner = self.eventually(b);
                return self.next(inner);
            }
            Form::Until(_, b) => return self.eventually(b),
            Form::StrongRelease(b, c) => {
                let both = self.and(vec![b, c]);
                return self.eventually(both);
            }
            Form::Release(b, c) => {
                let both = self.and(vec![b, c]);
                return self.eventually_or_forever(both, c);
            }
            Form::WeakUntil(b, c) => return self.eventually_or_forever(c, b),
            Form::Always(b) => {
                if let Some(split) = self.eventually_always(b) {
                    return split;
                }
            }
            _ => {}
        }

        let parts = match self.form(a) {
            Form::And(_) => self.split(a, Shape::suspendable),
            _ => self.split(a, |shape| shape.eventual || shape.universal),
        };

        match parts {
            Some((junction, outside, rest)) => {
                let mut parts = vec![self.eventually(rest)];
                parts.extend(outside.iter().map(|&part| self.eventually(part)));
                self.junction(junction, parts)
            }
            None => self.intern(Form::Eventually(a)),
        }
    }

    /// `<>a || <>[]b`.
    fn eventually_or_forever(&mut self, a: FormId, b: FormId) -> FormId {
        let some_time = self.eventually(a);
        let always = self.always(b);
        let forever = self.eventually(always);
        self.or(vec![some_time, forever])
    }

    /// `<>[](a || u)` is `<>[]a || <>u` for universal `u`, and `<>[](a || e)` is `<>[]a || []e` for
    /// eventual `e`.
    fn eventually_always(&mut self, body: FormId) -> Option<FormId> {
        if !matches!(self.form(body), Form::Or(_)) {
            return None;
        }
        let (_, outside, rest) = self.split(body, |shape| shape.eventual || shape.universal)?;
        let always = self.always(rest);
        let mut parts = vec![self.eventually(always)];
        for part in outside {
            let limit = if self.shape(part).universal {
                self.eventually(part)
            } else {
                self.always(part)
            };
            parts.push(limit);
        }
        Some(self.or(parts))
    }

    /// Now and forever.
    pub(crate) fn always(&mut self, a: FormId) -> FormId {
        if self.shape(a).universal {
            return a;
        }

        // Dually, `[] (a R b)` is `[] b`, and `[] (b W c)` is `[] (b || c)`.
        match *self.form(a) {
            Form::Next(b) => {
                let inner = self.always(b);
                return self.next(inner);
            }
            Form::Release(_, b) => return self.always(b),
            Form::WeakUntil(b, c) => {
                let either = self.or(vec![b, c]);
                return self.always(either);
            }
            Form::Until(b, c) => {
                let either = self.or(vec![b, c]);
                return self.always_and_again(either, c);
            }
            Form::StrongRelease(b, c) => return self.always_and_again(c, b),
            Form::Eventually(b) => {
                if let Some(split) = self.always_eventually(b) {
                    return split;
                }
            }
            _ => {}
        }

        let parts = match self.form(a) {
            Form::Or(_) => self.split(a, Shape::suspendable),
            _ => self.split(a, |shape| shape.eventual || shape.universal),
        };

        match parts {
            Some((junction, outside, rest)) => {
                let mut parts = vec![self.always(rest)];
                parts.extend(outside.iter().map(|&part| self.always(part)));
                self.junction(junction, parts)
            }
            None => self.intern(Form::Always(a)),
        }
    }

    /// `[]a && []<>b`.
    fn always_and_again(&mut self, a: FormId, b: FormId) -> FormId {
        let always = self.always(a);
        let some_time = self.eventually(b);
        let again = self.always(some_time);
        self.and(vec![always, again])
    }

    /// `[]<>(a && e)` is `[]<>a && []e` for eventual `e`, and `[]<>(a && u)` is `[]<>a && <>u` for
    /// universal `u`.
    fn always_eventually(&mut self, body: FormId) -> Option<FormId> {
        if !matches!(self.form(body), Form::And(_)) {
            return None;
        }
        let (_, outside, rest) = self.split(body, |shape| shape.eventual || shape.universal)?;
        let eventually = self.eventually(rest);
        let mut parts = vec![self.always(eventually)];
        for part in outside {
            let limit = if self.shape(part).eventual {
                self.always(part)
            } else {
                self.eventually(part)
            };
            parts.push(limit);
        }
        Some(self.and(parts))
    }

    /// Separates the operands of a conjunction or disjunction that have a certain shape from the rest;
    /// nothing if there are none.
    pub(crate) fn split(
        &mut self,
        a: FormId,
        wanted: impl Fn(Shape) -> bool,
    ) -> Option<(Junction, Vec<FormId>, FormId)> {
        let (junction, parts) = match self.form(a) {
            Form::And(parts) => (Junction::And, parts.clone()),
            Form::Or(parts) => (Junction::Or, parts.clone()),
            _ => return None,
        };
        let (outside, rest): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .partition(|&part| wanted(self.shape(part)));
        if outside.is_empty() {
            return None;
        }
        Some((junction, outside, self.junction(junction, rest)))
    }
}
