//! From a formula to a transition-based generalized Büchi automaton.
//!
//! The construction of Couvreur, *On-the-Fly Verification of Linear Temporal Logic*, FM 1999,
//! section 3, <https://doi.org/10.1007/3-540-48119-2_16>: a state is a set of formulas that must hold from here
//! on; expanding `a U b` gives "`b` now" or "`a` now, and again `a U b` at the next position, with
//! the promise that `b` comes". An edge lacks the mark of `b` iff it makes that promise.
//!
//! Deviations:
//! - Alternatives are kept in normal form as in Gastin, Oddoux, *Fast LTL to Büchi Automata
//!   Translation*, CAV 2001, section 3, <https://doi.org/10.1007/3-540-44585-4_6>: one alternative
//!   dominates another if it asks and promises no more. We do not only drop a dominated alternative
//!   where its guard is included but cut the dominating guard out of it. This makes the automata
//!   more deterministic: `a U b` goes on only where `b` fails.
//! - A state is *not* simplified by implication between its obligations. That would be wrong: in
//!   `[]<>(c && X<>b)` the recurring obligation implies every `<>b` that it spawns, and if those
//!   were dropped, no state would ever keep the promise of `b`. Only an obligation whose expansion
//!   is literally part of another one's is dropped ([`Tableau::canonical`]).

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::arena::{Arena, Form, FormId};
use crate::bdd::{Bdd, Bdds};
use crate::tgba::{Arrow, Marks, Tgba, all_marks};

/// An alternative: what must be read now, what is promised, what must hold from the next position
/// on.
#[derive(Clone, Debug)]
struct Term {
    guard: Bdd,
    promises: Marks,
    next: Vec<FormId>,
}

/// Why there is no automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

/// A construction under way.
pub(crate) struct Tableau<'a> {
    arena: &'a mut Arena,
    bdds: &'a mut Bdds,
    terms_by_form: FxHashMap<FormId, Rc<Vec<Term>>>,
    mark_by_promise: FxHashMap<FormId, u32>,
    too_large: bool,
    /// How many pairs of alternatives have been looked at.
    work: usize,
}

/// At a few hundred nanoseconds per pair, this much is over within seconds.
const MAX_WORK: usize = 5_000_000;
const MAX_STATES: usize = 20_000;
const MAX_ARROWS: usize = 400_000;

/// The automaton of a formula.
pub(crate) fn tableau(
    arena: &mut Arena,
    bdds: &mut Bdds,
    formula: FormId,
) -> Result<Tgba, TooLarge> {
    let tableau = Tableau {
        arena,
        bdds,
        terms_by_form: FxHashMap::default(),
        mark_by_promise: FxHashMap::default(),
        too_large: false,
        work: 0,
    };
    tableau.explore(formula)
}

impl Tableau<'_> {
    fn explore(mut self, formula: FormId) -> Result<Tgba, TooLarge> {
        let start = self.canonical(vec![formula]);
        let mut index_by_state: FxHashMap<Vec<FormId>, usize> = FxHashMap::default();
        let mut states = vec![start.clone()];
        index_by_state.insert(start, 0);

        let mut terms_by_state = Vec::new();
        let mut n_arrows = 0;
        while let Some(state) = states.get(terms_by_state.len()).cloned() {
            let terms = self.expand_all(&state);
            n_arrows += terms.len();
            let mut arrows = Vec::new();
            for term in terms {
                let target = *index_by_state.entry(term.next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    states.len() - 1
                });
                arrows.push((term.guard, term.promises, target));
            }
            terms_by_state.push(arrows);
            let too_many = states.len() > MAX_STATES || n_arrows > MAX_ARROWS;
            if too_many || self.too_large || self.bdds.overflowed() {
                return Err(TooLarge);
            }
        }

        Ok(self.finish(terms_by_state))
    }

    /// Turns promises into marks: an edge carries the marks of all promises that it does not make.
    fn finish(self, terms_by_state: Vec<Vec<(Bdd, Marks, usize)>>) -> Tgba {
        let n_marks = self.mark_by_promise.len() as u32;
        let all = all_marks(n_marks);
        let arrow = |(guard, promises, target): (Bdd, Marks, usize)| Arrow {
            guard,
            marks: all & !promises,
            target,
        };
        Tgba {
            initial: vec![0],
            arrows: terms_by_state
                .into_iter()
                .map(|terms| terms.into_iter().map(arrow).collect())
                .collect(),
            n_marks,
        }
    }

    /// The alternatives of a state.
    fn expand_all(&mut self, state: &[FormId]) -> Vec<Term> {
        let mut terms = vec![Term {
            guard: Bdd::TRUE,
            promises: 0,
            next: Vec::new(),
        }];
        for &form in state {
            let more = self.expand(form);
            terms = self.product(&terms, &more);
        }
        terms
    }

    /// The alternatives of one formula.
    fn expand(&mut self, form: FormId) -> Rc<Vec<Term>> {
        if let Some(known) = self.terms_by_form.get(&form) {
            return Rc::clone(known);
        }
        let terms = match self.arena.form(form).clone() {
            Form::False => Vec::new(),
            Form::True => now(Bdd::TRUE),
            Form::Literal(atom, value) => now(self.bdds.literal(atom, value)),
            Form::And(parts) => self.expand_all(&parts),
            Form::Or(parts) => {
                let mut terms = Vec::new();
                for part in parts {
                    terms.extend(self.expand(part).iter().cloned());
                }
                self.normalized(terms)
            }
            Form::Next(a) => self.later(a, 0),
            Form::Eventually(b) => self.expand_until(FormId::TRUE, b, form, Some(b)),
            Form::Until(a, b) => self.expand_until(a, b, form, Some(b)),
            Form::WeakUntil(a, b) => self.expand_until(a, b, form, None),
            Form::Always(b) => self.expand_release(FormId::FALSE, b, form, None),
            Form::Release(a, b) => self.expand_release(a, b, form, None),
            Form::StrongRelease(a, b) => {
                let both = self.arena.and(vec![a, b]);
                self.expand_release(a, b, form, Some(both))
            }
        };

        let terms = Rc::new(terms);
        self.terms_by_form.insert(form, Rc::clone(&terms));
        terms
    }

    /// `b`, or `a` now and the whole formula again.
    fn expand_until(
        &mut self,
        a: FormId,
        b: FormId,
        whole: FormId,
        promise: Option<FormId>,
    ) -> Vec<Term> {
        let again = self.again(whole, promise);
        let left = self.expand(a);
        let mut terms = self.product(&left, &again);
        terms.extend(self.expand(b).iter().cloned());
        self.normalized(terms)
    }

    /// `b` now, and `a` now or the whole formula again.
    fn expand_release(
        &mut self,
        a: FormId,
        b: FormId,
        whole: FormId,
        promise: Option<FormId>,
    ) -> Vec<Term> {
        let mut terms = self.again(whole, promise);
        terms.extend(self.expand(a).iter().cloned());
        let terms = self.normalized(terms);
        let right = self.expand(b);
        self.product(&terms, &right)
    }

    fn again(&mut self, whole: FormId, promise: Option<FormId>) -> Vec<Term> {
        let promises = promise.map_or(0, |promise| self.mark_of(promise));
        self.later(whole, promises)
    }

    /// The bit of a promise.
    fn mark_of(&mut self, promise: FormId) -> Marks {
        let fresh = self.mark_by_promise.len() as u32;
        let mark = *self.mark_by_promise.entry(promise).or_insert(fresh);
        self.too_large |= mark >= Marks::BITS;
        1_u128.checked_shl(mark).unwrap_or(0)
    }

    fn later(&mut self, form: FormId, promises: Marks) -> Vec<Term> {
        if form == FormId::FALSE {
            return Vec::new();
        }
        vec![Term {
            guard: Bdd::TRUE,
            promises,
            next: self.canonical(vec![form]),
        }]
    }

    /// Is there enough left to look at so many pairs? If not, the construction fails.
    fn spend(&mut self, n_pairs: usize) -> bool {
        self.work = self.work.saturating_add(n_pairs);
        self.too_large |= self.work > MAX_WORK;
        !self.too_large
    }

    fn product(&mut self, left: &[Term], right: &[Term]) -> Vec<Term> {
        let mut terms = Vec::new();
        if !self.spend(left.len().saturating_mul(right.len())) {
            return terms;
        }
        for a in left {
            for b in right {
                let guard = self.bdds.and(a.guard, b.guard);
                if guard != Bdd::FALSE {
                    terms.push(Term {
                        guard,
                        promises: a.promises | b.promises,
                        next: self.canonical([&a.next[..], &b.next[..]].concat()),
                    });
                }
            }
        }
        self.normalized(terms)
    }

    /// Joins alternatives that differ in their guards only, and cuts out of each what a better one
    /// covers.
    fn normalized(&mut self, terms: Vec<Term>) -> Vec<Term> {
        let mut guard_by_rest: BTreeMap<(usize, u32, Vec<FormId>, Marks), Bdd> = BTreeMap::new();
        for term in terms {
            let key = (
                term.next.len(),
                term.promises.count_ones(),
                term.next,
                term.promises,
            );
            let guard = guard_by_rest.entry(key).or_insert(Bdd::FALSE);
            *guard = self.bdds.or(*guard, term.guard);
        }

        if !self.spend(guard_by_rest.len().pow(2) / 8) {
            return Vec::new();
        }

        // In this order whatever dominates a term comes before it.
        let mut kept: Vec<Term> = Vec::new();
        for ((_, _, next, promises), mut guard) in guard_by_rest {
            for better in &kept {
                if better.promises & !promises == 0 && is_subset(&better.next, &next) {
                    guard = self.bdds.minus(guard, better.guard);
                }
            }
            if guard != Bdd::FALSE {
                kept.push(Term {
                    guard,
                    promises,
                    next,
                });
            }
        }

        kept
    }

    /// The obligations as a sorted set, conjunctions taken apart, without those whose expansion is
    /// part of another one's: `b` beside `[]b` and beside `a R b`, and `<>b` beside `a U b`.
    ///
    /// The expansion of `a R b` is a product with that of `b`. Where both are obligations, each
    /// alternative would be combined with each of `b` once more, and that of `b` with itself asks
    /// and promises least.
    fn canonical(&self, forms: Vec<FormId>) -> Vec<FormId> {
        let mut set = Vec::new();
        for form in forms {
            match self.arena.form(form) {
                Form::True => {}
                Form::And(parts) => set.extend(parts),
                _ => set.push(form),
            }
        }

        set.sort_unstable();
        set.dedup();
        let mut covered = Vec::new();
        for &form in &set {
            match self.arena.form(form) {
                Form::Always(b) | Form::Release(_, b) | Form::StrongRelease(_, b) => {
                    match self.arena.form(*b) {
                        Form::And(parts) => covered.extend(parts),
                        _ => covered.push(*b),
                    }
                }
                Form::Until(_, b) => {
                    let goal = |other: FormId| *self.arena.form(other) == Form::Eventually(*b);
                    covered.extend(set.iter().copied().filter(|&other| goal(other)));
                }
                _ => {}
            }
        }

        set.retain(|form| !covered.contains(form));
        set
    }
}

/// The alternative that asks nothing of the future.
fn now(guard: Bdd) -> Vec<Term> {
    if guard == Bdd::FALSE {
        return Vec::new();
    }
    vec![Term {
        guard,
        promises: 0,
        next: Vec::new(),
    }]
}

/// Is one sorted set part of another?
fn is_subset(small: &[FormId], large: &[FormId]) -> bool {
    let mut rest = large.iter();
    small
        .iter()
        .all(|element| rest.by_ref().any(|other| other == element))
}
