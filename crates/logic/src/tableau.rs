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
//! - `[]<>f` for a guarantee `f` does not begin `f` anew at every position. It begins one *attempt* at
//!   `f`, at a position of its choice, and the next one after this has succeeded; only a success carries
//!   the mark. A guarantee that holds is known to hold after finitely many letters, so a word with
//!   infinitely many positions where `f` holds has infinitely many attempts that do not overlap, and
//!   for the same reason the attempts at several such formulas need not overlap either: states
//!   with two attempts under way are left out. `[]<>(a <-> XXXX a)` has 9 states instead of 81. (J. Esparza,
//!   J. Křetínský, S. Sickert, *One Theorem to Rule Them All*, LICS 2018, section 5,
//!   <https://doi.org/10.1145/3209108.3209161>, use that attempts may be made one after the other in
//!   deterministic automata.)
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

/// What must hold from some position on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Duty {
    form: FormId,
    /// If `form` is `[]<>f` for a guarantee `f`: what is left of the attempt at `f`; `true` if none is
    /// under way, and for all other formulas.
    attempt: FormId,
}

impl Duty {
    fn new(form: FormId) -> Self {
        Self {
            form,
            attempt: FormId::TRUE,
        }
    }

    fn is_under_way(&self) -> bool {
        self.attempt != FormId::TRUE
    }
}

/// An alternative: what must be read now, what is promised, what must hold from the next position
/// on.
#[derive(Clone, Debug)]
struct Term {
    guard: Bdd,
    promises: Marks,
    next: Vec<Duty>,
}

/// What is promised, and so has a mark of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Promise {
    /// The formula comes.
    Comes(FormId),
    /// The attempt at what the formula says recurs succeeds.
    Succeeds(FormId),
}

/// The alternatives of a state, sorted; each is a sorted set. There is one unless choices are postponed.
type State = Vec<Vec<Duty>>;

/// Why there is no automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

/// A construction under way.
pub(crate) struct Tableau<'a> {
    arena: &'a mut Arena,
    bdds: &'a mut Bdds,
    terms_by_duty: FxHashMap<Duty, Rc<Vec<Term>>>,
    mark_by_promise: FxHashMap<Promise, u32>,
    too_large: bool,
    style: Style,
    effort: Effort,
    /// How many pairs of alternatives have been looked at.
    work: usize,
}

/// How much may be spent on an automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Without it there is no result.
    Necessary,
    /// It only serves to find a smaller one.
    Optional,
}

impl Effort {
    /// How many pairs of alternatives are looked at. At a few hundred nanoseconds per pair, even what
    /// is necessary is over within seconds.
    fn max_work(self) -> usize {
        match self {
            Self::Necessary => 5_000_000,
            Self::Optional => 200_000,
        }
    }

    fn max_states(self) -> usize {
        match self {
            Self::Necessary => 20_000,
            Self::Optional => 500,
        }
    }
}

const MAX_ARROWS: usize = 400_000;

/// Into how many classes the letters of one state are split at most.
const MAX_CLASSES: usize = 500;

/// Which of the equivalent automata is built. None is the smallest for all formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Alternatives that read the same letter and make the same promises become one state, and the
    /// choice between them is left to later letters.
    ///
    /// A path to such a state is a path with the same promises to each of its alternatives. So an
    /// infinite path gives an infinite tree of paths with single alternatives, which branches finitely,
    /// and by König's lemma one of them that is infinite, with the same marks. (A. Duret-Lutz, *LTL
    /// translation improvements in Spot 1.0*, IJCCBS 5(1/2), 2014, section 5, calls it branching
    /// postponement.)
    pub(crate) postpones: bool,
    /// Guarantees that recur are attempted one at a time.
    pub(crate) attempts: bool,
}

/// The automaton of a formula.
pub(crate) fn tableau(
    arena: &mut Arena,
    bdds: &mut Bdds,
    formula: FormId,
    style: Style,
    effort: Effort,
) -> Result<Tgba, TooLarge> {
    let tableau = Tableau {
        arena,
        bdds,
        terms_by_duty: FxHashMap::default(),
        mark_by_promise: FxHashMap::default(),
        too_large: false,
        style,
        effort,
        work: 0,
    };
    tableau.explore(formula)
}

impl Tableau<'_> {
    fn explore(mut self, formula: FormId) -> Result<Tgba, TooLarge> {
        let start: State = vec![self.canonical(vec![Duty::new(formula)])];
        let mut index_by_state: FxHashMap<State, usize> = FxHashMap::default();
        let mut states = vec![start.clone()];
        index_by_state.insert(start, 0);

        let mut terms_by_state = Vec::new();
        let mut n_arrows = 0;
        while let Some(state) = states.get(terms_by_state.len()).cloned() {
            let terms = self.expand_state(&state);
            let steps = self.steps(terms);
            n_arrows += steps.len();
            let mut arrows = Vec::new();
            for (guard, promises, next) in steps {
                let target = *index_by_state.entry(next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    states.len() - 1
                });
                arrows.push((guard, promises, target));
            }
            terms_by_state.push(arrows);
            let too_many = states.len() > self.effort.max_states() || n_arrows > MAX_ARROWS;
            if too_many || self.too_large || self.bdds.overflowed() {
                return Err(TooLarge);
            }
        }

        Ok(self.finish(terms_by_state))
    }

    fn expand_state(&mut self, state: &State) -> Vec<Term> {
        let mut all = Vec::new();
        for duties in state {
            let mut terms = self.expand_all(duties);
            if self.is_passing(duties) {
                terms.retain(|term| !term.next.iter().any(Duty::is_under_way));
            }
            all.extend(terms);
        }
        if state.len() > 1 {
            all = self.normalized(all);
        }
        all
    }

    /// What leads where: each term by itself, or all terms that read the same letter and make the same
    /// promises together.
    fn steps(&mut self, terms: Vec<Term>) -> Vec<(Bdd, Marks, State)> {
        let single = |term: Term| (term.guard, term.promises, vec![term.next]);
        if !self.style.postpones {
            return terms.into_iter().map(single).collect();
        }

        let mut by_promises: BTreeMap<Marks, Vec<Term>> = BTreeMap::new();
        for term in terms {
            by_promises.entry(term.promises).or_default().push(term);
        }
        let mut steps = Vec::new();
        for (promises, terms) in by_promises {
            let Some(classes) = classes(terms, self.bdds) else {
                self.too_large = true;
                return steps;
            };
            steps.extend(
                classes
                    .into_iter()
                    .map(|(next, guard)| (guard, promises, next)),
            );
        }
        steps
    }

    /// Is each accepting path sure to leave the state for one without guarantees? Then attempts at what
    /// recurs may wait until there: guarantees come to an end, and what recurs brings no new ones.
    fn is_passing(&self, state: &[Duty]) -> bool {
        let recurs = |duty: &Duty| self.recurring_guarantee(duty.form).is_some();
        let (recurring, others): (Vec<Duty>, Vec<Duty>) =
            state.iter().partition(|duty| recurs(duty));
        let is_finite = |duty: &Duty| self.arena.shape(duty.form).class.guarantee;
        let none_under_way = !recurring.iter().any(Duty::is_under_way);
        none_under_way && !others.is_empty() && others.iter().all(is_finite)
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
    fn expand_all(&mut self, state: &[Duty]) -> Vec<Term> {
        let mut terms = vec![Term {
            guard: Bdd::TRUE,
            promises: 0,
            next: Vec::new(),
        }];
        for &duty in state {
            let more = self.expand_duty(duty);
            terms = self.product(&terms, &more);
        }
        terms
    }

    /// The alternatives of one formula.
    fn expand(&mut self, form: FormId) -> Rc<Vec<Term>> {
        self.expand_duty(Duty::new(form))
    }

    fn expand_duty(&mut self, duty: Duty) -> Rc<Vec<Term>> {
        if let Some(known) = self.terms_by_duty.get(&duty) {
            return Rc::clone(known);
        }
        let terms = match self.recurring_guarantee(duty.form) {
            Some(goal) => self.expand_recurrence(duty, goal),
            None => self.expand_form(duty.form),
        };
        let terms = Rc::new(terms);
        self.terms_by_duty.insert(duty, Rc::clone(&terms));
        terms
    }

    fn expand_form(&mut self, form: FormId) -> Vec<Term> {
        match self.arena.form(form).clone() {
            Form::False => Vec::new(),
            Form::True => now(Bdd::TRUE),
            Form::Literal(atom, value) => now(self.bdds.literal(atom, value)),
            Form::And(parts) => {
                let duties: Vec<Duty> = parts.into_iter().map(Duty::new).collect();
                self.expand_all(&duties)
            }
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
        }
    }

    /// The `f` of `[]<>f` if it is a guarantee.
    fn recurring_guarantee(&self, form: FormId) -> Option<FormId> {
        if !self.style.attempts {
            return None;
        }
        let Form::Always(inner) = self.arena.form(form) else {
            return None;
        };
        let Form::Eventually(goal) = self.arena.form(*inner) else {
            return None;
        };
        self.arena.shape(*goal).class.guarantee.then_some(*goal)
    }

    /// `[]<>goal`: wait, or begin an attempt, or go on with the one that is under way.
    fn expand_recurrence(&mut self, duty: Duty, goal: FormId) -> Vec<Term> {
        let form = duty.form;
        let promises = self.mark_of(Promise::Succeeds(form));
        let (mut terms, steps) = if duty.is_under_way() {
            (Vec::new(), self.expand(duty.attempt))
        } else {
            (self.later(form, promises), self.expand(goal))
        };

        for step in steps.iter() {
            let rest = step.next.iter().map(|duty| duty.form).collect();
            let attempt = self.arena.conjunction_as_it_is(rest);
            let is_success = attempt == FormId::TRUE;
            terms.push(Term {
                guard: step.guard,
                // What the attempt promises by itself is kept if it succeeds.
                promises: if is_success { 0 } else { promises },
                next: vec![Duty { form, attempt }],
            });
        }
        self.normalized(terms)
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
        let promises = promise.map_or(0, |promise| self.mark_of(Promise::Comes(promise)));
        self.later(whole, promises)
    }

    /// The bit of a promise.
    fn mark_of(&mut self, promise: Promise) -> Marks {
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
            next: self.canonical(vec![Duty::new(form)]),
        }]
    }

    /// Is there enough left to look at this many pairs? If not, the construction fails.
    fn spend(&mut self, n_pairs: usize) -> bool {
        self.work = self.work.saturating_add(n_pairs);
        self.too_large |= self.work > self.effort.max_work();
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
                let next = self.canonical([&a.next[..], &b.next[..]].concat());
                let n_attempts = next.iter().filter(|duty| duty.is_under_way()).count();
                if guard != Bdd::FALSE && n_attempts <= 1 {
                    terms.push(Term {
                        guard,
                        promises: a.promises | b.promises,
                        next,
                    });
                }
            }
        }

        self.normalized(terms)
    }

    /// Joins alternatives that differ in their guards only, and cuts out of each what a better one
    /// covers.
    fn normalized(&mut self, terms: Vec<Term>) -> Vec<Term> {
        let mut guard_by_rest: BTreeMap<(usize, u32, Vec<Duty>, Marks), Bdd> = BTreeMap::new();
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
    /// part of another one's: `b` beside `[]b` and beside `a R b`, `c` beside `a R (b R c)`, and `<>b`
    /// beside `a U b`.
    ///
    /// The expansion of `a R b` is a product with that of `b`, and so with all that the latter is a
    /// product with. Where both are obligations, each alternative would be combined with each of `b`
    /// once more, and that of `b` with itself asks and promises least.
    fn canonical(&self, duties: Vec<Duty>) -> Vec<Duty> {
        let mut set = Vec::new();
        for duty in duties {
            match self.arena.form(duty.form) {
                Form::True => {}
                Form::And(parts) => set.extend(parts.iter().copied().map(Duty::new)),
                _ => set.push(duty),
            }
        }

        set.sort_unstable();
        set.dedup();
        let mut covered = Vec::new();
        for duty in &set {
            let goal = match self.arena.form(duty.form) {
                Form::Until(_, b) => Some(Form::Eventually(*b)),
                _ => None,
            };
            let is_goal = |other: &FormId| Some(self.arena.form(*other)) == goal.as_ref();
            let forms = set.iter().map(|duty| duty.form);
            covered.extend(forms.filter(is_goal));
            self.add_factors(duty.form, &mut covered);
        }

        set.retain(|duty| !covered.contains(&duty.form));
        set
    }

    /// Adds the formulas whose expansions are factors of that of this one.
    fn add_factors(&self, form: FormId, factors: &mut Vec<FormId>) {
        let mut pending = vec![form];
        while let Some(form) = pending.pop() {
            let (Form::Always(b) | Form::Release(_, b) | Form::StrongRelease(_, b)) =
                self.arena.form(form)
            else {
                continue;
            };
            // The parts of a recurring guarantee are not factors: an attempt may be made later.
            if self.recurring_guarantee(form).is_some() {
                continue;
            }
            let parts = match self.arena.form(*b) {
                Form::And(parts) => parts.as_slice(),
                _ => std::slice::from_ref(b),
            };
            pending.extend(parts);
            factors.extend(parts);
        }
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

/// The letters by the alternatives that read them. Nothing if they are too many.
fn classes(terms: Vec<Term>, bdds: &mut Bdds) -> Option<BTreeMap<State, Bdd>> {
    let mut letters_by_next: BTreeMap<State, Bdd> = BTreeMap::new();

    letters_by_next.insert(State::new(), Bdd::TRUE);

    for term in terms {
        let mut split: BTreeMap<State, Bdd> = BTreeMap::new();
        for (next, letters) in letters_by_next {
            let inside = bdds.and(letters, term.guard);
            let outside = bdds.minus(letters, term.guard);
            if inside != Bdd::FALSE {
                let more = with_alternative(&next, &term.next);
                let known = split.entry(more).or_insert(Bdd::FALSE);
                *known = bdds.or(*known, inside);
            }
            if outside != Bdd::FALSE {
                let known = split.entry(next).or_insert(Bdd::FALSE);
                *known = bdds.or(*known, outside);
            }
        }
        letters_by_next = split;

        // Each term may double the classes, so the limit is tested after each.
        if letters_by_next.len() > MAX_CLASSES {
            return None;
        }
    }

    // Letters that no alternative reads lead nowhere.
    letters_by_next.remove(&State::new());
    Some(letters_by_next)
}

/// The alternatives with one more; those that ask for more than another one are left out.
fn with_alternative(state: &State, more: &[Duty]) -> State {
    if state.iter().any(|known| is_subset(known, more)) {
        return state.clone();
    }
    let mut result: State = state
        .iter()
        .filter(|known| !is_subset(more, known))
        .cloned()
        .collect();
    result.push(more.to_vec());
    result.sort_unstable();
    result
}

/// Is one sorted set part of another?
fn is_subset(small: &[Duty], large: &[Duty]) -> bool {
    let mut rest = large.iter();
    small
        .iter()
        .all(|element| rest.by_ref().any(|other| other == element))
}
