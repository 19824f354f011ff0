//! Truth of a formula on an ultimately periodic word.
//!
//! This is the definition of truth for the whole project: every operator is computed by the fixpoint
//! that defines it, at every position, subformula by subformula. It shares no code with the
//! translation to automata, because it is what the translation and every counterexample are checked
//! against. Cost: number of subformulas times number of positions, times at most three rounds.

use base::AtomId;
use rustc_hash::FxHashMap;

use crate::ltl::{Ltl, Op};

/// Does the formula hold at position 0 of the word?
///
/// The word has the positions `0..n_positions`; after the last comes `loop_start` again, forever.
/// `letter(position, atom)` says whether the atom is in the letter at the position.
///
/// # Panics
/// If `loop_start` is not a position.
#[must_use]
pub fn holds_on_lasso(
    formula: &Ltl,
    n_positions: usize,
    loop_start: usize,
    letter: &dyn Fn(usize, AtomId) -> bool,
) -> bool {
    let truths = truths_on_lasso(formula, n_positions, loop_start, letter);
    let (_, whole) = truths.last().expect("a formula is a part of itself");
    whole[0]
}

/// Where the formula and each of its parts hold on the word of [`holds_on_lasso`]: inner parts
/// first, the formula itself last.
///
/// # Panics
/// If `loop_start` is not a position.
#[must_use]
pub fn truths_on_lasso<'f>(
    formula: &'f Ltl,
    n_positions: usize,
    loop_start: usize,
    letter: &dyn Fn(usize, AtomId) -> bool,
) -> Vec<(&'f Ltl, Vec<bool>)> {
    assert!(loop_start < n_positions, "the loop starts outside the word");
    // What held in the past may differ from round to round at first: each past operator needs one
    // round more than its operands until its values repeat. See F. Laroussinie, N. Markey,
    // Ph. Schnoebelen, "Temporal logic with forgettable past", LICS 2002,
    // doi:10.1109/LICS.2002.1029846, lemma 2.2.
    let length = n_positions - loop_start;
    let n_more = formula.past_depth() * length;
    let unrolled = |position: usize, atom: AtomId| match position.checked_sub(n_positions) {
        None => letter(position, atom),
        Some(after) => letter(loop_start + after % length, atom),
    };
    let word = Word {
        n_positions: n_positions + n_more,
        loop_start: loop_start + n_more,
        letter: &unrolled,
    };
    let mut place_by_address: FxHashMap<usize, usize> = FxHashMap::default();
    let mut truths: Vec<(&Ltl, Vec<bool>)> = Vec::new();
    for part in formula.subformulas() {
        let of = |operand: &Ltl| truths[place_by_address[&operand.address()]].1.as_slice();
        let truth = word.truth(part, &of);
        place_by_address.insert(part.address(), truths.len());
        truths.push((part, truth));
    }
    for (_, truth) in &mut truths {
        truth.truncate(n_positions);
    }
    truths
}

struct Word<'a> {
    n_positions: usize,
    loop_start: usize,
    letter: &'a dyn Fn(usize, AtomId) -> bool,
}

impl Word<'_> {
    /// Where the formula holds, given where its operands hold.
    fn truth<'t>(&self, formula: &Ltl, of: &impl Fn(&Ltl) -> &'t [bool]) -> Vec<bool> {
        match formula.op() {
            Op::True => self.at_each(|_| true),
            Op::False => self.at_each(|_| false),
            Op::Atom(atom) => self.at_each(|i| (self.letter)(i, *atom)),
            Op::Not(a) => self.at_each(|i| !of(a)[i]),
            Op::And(parts) => self.at_each(|i| parts.iter().all(|part| of(part)[i])),
            Op::Or(parts) => self.at_each(|i| parts.iter().any(|part| of(part)[i])),
            Op::Implies(a, b) => self.at_each(|i| !of(a)[i] || of(b)[i]),
            Op::Iff(a, b) => self.at_each(|i| of(a)[i] == of(b)[i]),
            Op::Next(a) => self.at_each(|i| of(a)[self.after(i)]),
            Op::Until(a, b) => self.fixpoint(false, |i, next| of(b)[i] || (of(a)[i] && next)),
            Op::WeakUntil(a, b) => self.fixpoint(true, |i, next| of(b)[i] || (of(a)[i] && next)),
            Op::Release(a, b) => self.fixpoint(true, |i, next| of(b)[i] && (of(a)[i] || next)),
            Op::StrongRelease(a, b) => {
                self.fixpoint(false, |i, next| of(b)[i] && (of(a)[i] || next))
            }
            Op::Eventually(a) => self.fixpoint(false, |i, next| of(a)[i] || next),
            Op::Always(a) => self.fixpoint(true, |i, next| of(a)[i] && next),
            Op::Previously(a) => self.at_each(|i| i > 0 && of(a)[i - 1]),
            Op::Since(a, b) => {
                let mut before = false;
                let step = |i: usize| {
                    before = of(b)[i] || (of(a)[i] && before);
                    before
                };
                (0..self.n_positions).map(step).collect()
            }
        }
    }

    fn after(&self, position: usize) -> usize {
        if position + 1 < self.n_positions {
            position + 1
        } else {
            self.loop_start
        }
    }

    fn at_each(&self, holds: impl Fn(usize) -> bool) -> Vec<bool> {
        (0..self.n_positions).map(holds).collect()
    }

    /// The fixpoint of `x[i] = step(i, x[i + 1])` reached from `start` everywhere: the least one from
    /// `false`, the greatest one from `true`.
    fn fixpoint(&self, start: bool, step: impl Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut truth = vec![start; self.n_positions];
        loop {
            let mut changed = false;
            for position in (0..self.n_positions).rev() {
                let value = step(position, truth[self.after(position)]);
                changed |= value != truth[position];
                truth[position] = value;
            }
            if !changed {
                return truth;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    /// A word over `a` (atom 0) and `b` (atom 1), one string per letter.
    fn holds(formula: &Ltl, stem: &[&str], cycle: &[&str]) -> bool {
        let word = [stem, cycle].concat();
        let letter =
            |position: usize, atom: AtomId| word[position].contains(["a", "b"][atom.index()]);
        holds_on_lasso(formula, word.len(), stem.len(), &letter)
    }

    #[test]
    fn until_needs_its_end_and_weak_until_does_not() {
        let (until, weak) = (Ltl::until(p(0), p(1)), Ltl::weak_until(p(0), p(1)));
        assert!(!holds(&until, &[], &["a"]) && holds(&weak, &[], &["a"]));
        assert!(holds(&until, &["a", "b"], &[""]) && holds(&weak, &["a", "b"], &[""]));
        assert!(!holds(&until, &["a", ""], &["b"]) && !holds(&weak, &["a", ""], &["b"]));
    }

    #[test]
    fn release_includes_the_releasing_position() {
        let (release, strong) = (Ltl::release(p(0), p(1)), Ltl::strong_release(p(0), p(1)));
        assert!(holds(&release, &["b", "ab"], &[""]) && holds(&strong, &["b", "ab"], &[""]));
        assert!(!holds(&release, &["b", "a"], &[""]) && !holds(&strong, &["b", "a"], &[""]));
        assert!(holds(&release, &[], &["b"]) && !holds(&strong, &[], &["b"]));
    }

    #[test]
    fn the_loop_is_forever() {
        let recurs = Ltl::always(Ltl::eventually(p(0)));
        let persists = Ltl::eventually(Ltl::always(p(0)));
        assert!(holds(&recurs, &[], &["a", ""]) && !holds(&persists, &[], &["a", ""]));
        assert!(!holds(&recurs, &["a"], &["b"]) && holds(&persists, &["b"], &["a"]));
        assert!(holds(&Ltl::next(p(0)), &["b"], &["a"]));
        assert!(holds(&Ltl::next(Ltl::next(p(1))), &["b"], &["a", "b"]));
    }
}
