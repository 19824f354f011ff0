//! What the beginning of a word says about a formula, however the word goes on.
//!
//! Three values: a part of the formula holds at a position, does not, or depends on what comes after
//! the beginning. Each temporal operator is unfolded by the equation that defines it in `lasso.rs`,
//! from the last position to the first, in Kleene's strong logic (S. C. Kleene, "Introduction to
//! Metamathematics", 1952, section 64), with "depends" after the last position. So a value that is
//! known is the right one for every continuation; the converse does not hold (`<> p || [] !p`).

use base::AtomId;
use rustc_hash::FxHashMap;

use crate::ltl::{Ltl, Op};

/// Where the formula and each of its parts hold on a word of which the positions `0..n_positions`
/// are known: inner parts first, the formula itself last; nothing where that depends on the rest.
#[must_use]
pub fn truths_on_prefix<'f>(
    formula: &'f Ltl,
    n_positions: usize,
    letter: &dyn Fn(usize, AtomId) -> bool,
) -> Vec<(&'f Ltl, Vec<Option<bool>>)> {
    let prefix = Prefix {
        n_positions,
        letter,
    };
    let mut place_by_address: FxHashMap<usize, usize> = FxHashMap::default();
    let mut truths: Vec<(&Ltl, Vec<Option<bool>>)> = Vec::new();
    for part in formula.subformulas() {
        let of = |operand: &Ltl| truths[place_by_address[&operand.address()]].1.as_slice();
        let truth = prefix.truth(part, &of);
        place_by_address.insert(part.address(), truths.len());
        truths.push((part, truth));
    }
    truths
}

struct Prefix<'a> {
    n_positions: usize,
    letter: &'a dyn Fn(usize, AtomId) -> bool,
}

impl Prefix<'_> {
    fn truth<'t>(
        &self,
        formula: &Ltl,
        of: &impl Fn(&Ltl) -> &'t [Option<bool>],
    ) -> Vec<Option<bool>> {
        match formula.op() {
            Op::True => self.at_each(|_| Some(true)),
            Op::False => self.at_each(|_| Some(false)),
            Op::Atom(atom) => self.at_each(|i| Some((self.letter)(i, *atom))),
            Op::Not(a) => self.at_each(|i| of(a)[i].map(|truth| !truth)),
            Op::And(parts) => self.at_each(|i| all(parts.iter().map(|part| of(part)[i]))),
            Op::Or(parts) => self.at_each(|i| any(parts.iter().map(|part| of(part)[i]))),
            Op::Implies(a, b) => self.at_each(|i| or(not(of(a)[i]), of(b)[i])),
            Op::Iff(a, b) => self.at_each(|i| Some(of(a)[i]? == of(b)[i]?)),
            Op::Next(a) => self.at_each(|i| of(a).get(i + 1).copied().flatten()),
            Op::Until(a, b) | Op::WeakUntil(a, b) => {
                self.unfold(|i, next| or(of(b)[i], and(of(a)[i], next)))
            }
            Op::Release(a, b) | Op::StrongRelease(a, b) => {
                self.unfold(|i, next| and(of(b)[i], or(of(a)[i], next)))
            }
            Op::Eventually(a) => self.unfold(|i, next| or(of(a)[i], next)),
            Op::Always(a) => self.unfold(|i, next| and(of(a)[i], next)),
            Op::Previously(a) => self.at_each(|i| match i.checked_sub(1) {
                Some(before) => of(a)[before],
                None => Some(false),
            }),
            Op::Since(a, b) => {
                let mut before = Some(false);
                let mut step = |i: usize| {
                    before = or(of(b)[i], and(of(a)[i], before));
                    before
                };
                (0..self.n_positions).map(&mut step).collect()
            }
        }
    }

    fn at_each(&self, holds: impl Fn(usize) -> Option<bool>) -> Vec<Option<bool>> {
        (0..self.n_positions).map(holds).collect()
    }

    /// The values of `x[i] = step(i, x[i + 1])`, with nothing known behind the last position.
    fn unfold(&self, step: impl Fn(usize, Option<bool>) -> Option<bool>) -> Vec<Option<bool>> {
        let mut truth = vec![None; self.n_positions];
        let mut next = None;
        for position in (0..self.n_positions).rev() {
            next = step(position, next);
            truth[position] = next;
        }
        truth
    }
}

fn not(a: Option<bool>) -> Option<bool> {
    a.map(|truth| !truth)
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    all([a, b].into_iter())
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    any([a, b].into_iter())
}

fn all(mut parts: impl Iterator<Item = Option<bool>> + Clone) -> Option<bool> {
    if parts.clone().any(|part| part == Some(false)) {
        return Some(false);
    }
    parts.all(|part| part == Some(true)).then_some(true)
}

fn any(mut parts: impl Iterator<Item = Option<bool>> + Clone) -> Option<bool> {
    if parts.clone().any(|part| part == Some(true)) {
        return Some(true);
    }
    parts.all(|part| part == Some(false)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holds_on_lasso;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    /// Formulas with every operator, nested twice.
    fn formulas() -> Vec<Ltl> {
        let grow = |small: &[Ltl]| {
            let mut grown = Vec::new();
            for a in small {
                grown.extend([
                    Ltl::not(a.clone()),
                    Ltl::next(a.clone()),
                    Ltl::eventually(a.clone()),
                    Ltl::always(a.clone()),
                ]);
                for b in small {
                    let (a, b) = (a.clone(), b.clone());
                    grown.extend([
                        Ltl::and([a.clone(), b.clone()]),
                        Ltl::or([a.clone(), b.clone()]),
                        Ltl::implies(a.clone(), b.clone()),
                        Ltl::iff(a.clone(), b.clone()),
                        Ltl::until(a.clone(), b.clone()),
                        Ltl::weak_until(a.clone(), b.clone()),
                        Ltl::release(a.clone(), b.clone()),
                        Ltl::strong_release(a, b),
                    ]);
                }
            }
            grown
        };

        let once = grow(&[p(0), p(1)]);
        let some: Vec<Ltl> = once.iter().step_by(5).cloned().collect();
        let twice = grow(&some);
        [once, twice].concat()
    }

    /// All words over two atoms with this many letters, a letter as two bits.
    fn words(n_letters: usize) -> impl Iterator<Item = Vec<u8>> {
        let n_words = 1_usize << (2 * n_letters);
        (0..n_words).map(move |w| (0..n_letters).map(|i| (w >> (2 * i) & 3) as u8).collect())
    }

    /// What is known of a beginning is true of all its continuations by a loop of up to two letters.
    #[test]
    fn what_is_known_stays_true() {
        let loops: Vec<Vec<u8>> = words(1).chain(words(2)).collect();
        for formula in formulas() {
            for prefix in words(2) {
                let letter = |at: usize, atom: AtomId| prefix[at] >> atom.0 & 1 == 1;
                let truths = truths_on_prefix(&formula, prefix.len(), &letter);
                let Some(known) = truths.last().unwrap().1[0] else {
                    continue;
                };
                for cycle in &loops {
                    let word = [prefix.as_slice(), cycle].concat();
                    let letter = |at: usize, atom: AtomId| word[at] >> atom.0 & 1 == 1;
                    let holds = holds_on_lasso(&formula, word.len(), prefix.len(), &letter);
                    assert_eq!(holds, known, "{formula:?} on {prefix:?} then {cycle:?}");
                }
            }
        }
    }

    #[test]
    fn a_beginning_decides_what_it_can() {
        let letter = |at: usize, atom: AtomId| (at, atom.0) == (1, 0);
        let value = |formula: &Ltl| {
            truths_on_prefix(formula, 2, &letter)
                .last()
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(value(&Ltl::eventually(p(0))), [Some(true), Some(true)]);
        assert_eq!(value(&Ltl::always(p(0))), [Some(false), None]);
        assert_eq!(value(&Ltl::eventually(p(1))), [None, None]);
        assert_eq!(value(&Ltl::next(p(0))), [Some(true), None]);
    }
}
