//! The automaton of the runs that a property forbids, by a plain tableau.
//!
//! A state is a set of formulas that the rest of the run has to satisfy. Reading a letter, every
//! formula is rewritten to what it demands of the letter and of the rest:
//!
//! ```text
//! a U b  =  b  or  (a and X(a U b))        a W b  the same
//! a R b  =  b and (a  or  X(a R b))        a M b  the same
//! ```
//!
//! Alternatives become different successors. An alternative that puts `a U b` or `a M b` off carries
//! no mark for it, every other one does; a path is accepted if it carries every mark infinitely often.
//!
//! Claim: if a word satisfies the formula, it has an accepted path. Always choose an alternative whose
//! demands the word satisfies, and put nothing off that the word satisfies now. Such a choice exists in
//! every state whose formulas the word satisfies, and leads to one. If `a U b` were put off from some
//! point on forever, `a U b` would hold and `b` would not at all these positions: a contradiction.
//! Leaving out an alternative that demands and puts off at least what another one does keeps the claim,
//! because the derivations of a set of formulas contain those of each of its subsets. The converse of
//! the claim holds, too, but nothing rests on it.

use std::collections::BTreeSet;

use base::AtomId;
use logic::{Ltl, NeverClaim, Op};
use rustc_hash::FxHashMap;

/// A state of the automaton: formulas, or the state of a claim. Sorted.
pub type Demands = Vec<u32>;

/// More alternatives than this for one letter are not considered.
const MAX_ALTERNATIVES: usize = 2_000;

/// An automaton that accepts at least the runs that a property forbids.
#[derive(Clone, Debug)]
pub struct BadRuns(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Formula {
        /// Operands before what they are operands of.
        parts: Vec<Part>,
        n_promises: usize,
    },
    Claim(NeverClaim),
}

/// A formula in negation normal form. Operands are positions.
#[derive(Clone, Debug)]
enum Part {
    Constant(bool),
    Literal(AtomId, bool),
    And(Vec<u32>),
    Or(Vec<u32>),
    Next(u32),
    /// `left U right` with the number of its promise, or without one `left W right`.
    Until(Option<u32>, u32, Option<usize>),
    /// `left R right`, or with the number of its promise `left M right`.
    Release(Option<u32>, u32, Option<usize>),
}

/// One way of reading a letter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reading {
    /// The state that it leads to.
    pub target: Demands,
    /// The marks that it carries, from 0 on. Sorted.
    pub marks: Vec<usize>,
}

/// What is done about a set of formulas and one letter, so far.
#[derive(Clone, Default)]
struct Branch {
    open: Vec<u32>,
    seen: BTreeSet<u32>,
    next: BTreeSet<u32>,
    put_off: BTreeSet<usize>,
}

impl BadRuns {
    /// The runs that do not satisfy the formula, which has no past operators.
    #[must_use]
    pub fn not(formula: &Ltl) -> Self {
        let normal = Ltl::not(formula.clone()).negation_normal_form();
        let mut number: FxHashMap<Ltl, u32> = FxHashMap::default();
        let (mut parts, mut n_promises) = (Vec::new(), 0);
        for part in normal.subformulas() {
            if !number.contains_key(part) {
                let made = Part::of(part, &|operand| number[operand], &mut n_promises);
                number.insert(part.clone(), parts.len() as u32);
                parts.push(made);
            }
        }
        Self(Kind::Formula { parts, n_promises })
    }

    /// The runs that the claim accepts.
    #[must_use]
    pub fn accepted(claim: &NeverClaim) -> Self {
        Self(Kind::Claim(claim.clone()))
    }

    /// How many marks there are, each of which an accepted path carries infinitely often.
    #[must_use]
    pub fn n_marks(&self) -> usize {
        match &self.0 {
            Kind::Formula { n_promises, .. } => *n_promises,
            Kind::Claim(_) => 1,
        }
    }

    /// The state before the first letter.
    #[must_use]
    pub fn start(&self) -> Demands {
        match &self.0 {
            Kind::Formula { parts, .. } => vec![parts.len() as u32 - 1],
            Kind::Claim(_) => vec![0],
        }
    }

    /// All ways of reading a letter, in a fixed order; nothing if there are too many, or if the state
    /// is not one of this automaton.
    #[must_use]
    pub fn read(&self, from: &[u32], letter: &dyn Fn(AtomId) -> bool) -> Option<Vec<Reading>> {
        match &self.0 {
            Kind::Formula { parts, n_promises } => {
                let known = from.iter().all(|part| (*part as usize) < parts.len());
                known.then(|| expand(parts, *n_promises, from, letter))?
            }
            Kind::Claim(claim) => {
                let [at] = from else { return None };
                let state = claim.states.get(*at as usize)?;
                let edges = state.edges.iter();
                let reads = edges.filter(|(guard, _)| guard.contains(&letter));
                let reading = |(_, target): &(_, usize)| Reading {
                    target: vec![*target as u32],
                    marks: if state.accepting { vec![0] } else { Vec::new() },
                };
                let mut readings: Vec<Reading> = reads.map(reading).collect();
                readings.sort_unstable();
                readings.dedup();
                Some(readings)
            }
        }
    }
}

impl Part {
    fn of(formula: &Ltl, number: &dyn Fn(&Ltl) -> u32, n_promises: &mut usize) -> Self {
        let mut promise = || {
            *n_promises += 1;
            Some(*n_promises - 1)
        };
        match formula.op() {
            Op::True => Self::Constant(true),
            Op::False => Self::Constant(false),
            Op::Atom(atom) => Self::Literal(*atom, true),
            Op::Not(inner) => match inner.op() {
                Op::Atom(atom) => Self::Literal(*atom, false),
                _ => unreachable!("in negation normal form"),
            },
            Op::And(parts) => Self::And(parts.iter().map(number).collect()),
            Op::Or(parts) => Self::Or(parts.iter().map(number).collect()),
            Op::Next(inner) => Self::Next(number(inner)),
            Op::Until(a, b) => Self::Until(Some(number(a)), number(b), promise()),
            Op::WeakUntil(a, b) => Self::Until(Some(number(a)), number(b), None),
            Op::Eventually(b) => Self::Until(None, number(b), promise()),
            Op::Release(a, b) => Self::Release(Some(number(a)), number(b), None),
            Op::StrongRelease(a, b) => Self::Release(Some(number(a)), number(b), promise()),
            Op::Always(b) => Self::Release(None, number(b), None),
            Op::Implies(..) | Op::Iff(..) => unreachable!("in negation normal form"),
            Op::Previously(_) | Op::Since(..) => unreachable!("`obligations` refuses them"),
        }
    }
}

/// All ways in which a letter can satisfy the formulas, each with what it leaves to the rest.
fn expand(
    parts: &[Part],
    n_promises: usize,
    from: &[u32],
    letter: &dyn Fn(AtomId) -> bool,
) -> Option<Vec<Reading>> {
    let mut branches = vec![Branch {
        open: from.to_vec(),
        ..Branch::default()
    }];
    let mut found: Vec<(BTreeSet<u32>, BTreeSet<usize>)> = Vec::new();

    while let Some(mut branch) = branches.pop() {
        if found.len() + branches.len() > MAX_ALTERNATIVES {
            return None;
        }
        let mut fails = false;
        while let Some(at) = branch.open.pop() {
            if branch.seen.insert(at) && !branch.demand(parts, at, letter, &mut branches) {
                fails = true;
                break;
            }
        }
        if !fails {
            found.push((branch.next, branch.put_off));
        }
    }

    found.sort_unstable();
    found.dedup();

    // What demands more than another reading accepts no more words.
    let demands_more = |a: &(BTreeSet<u32>, BTreeSet<usize>)| {
        let less = |b: &&(BTreeSet<u32>, BTreeSet<usize>)| {
            *b != a && b.0.is_subset(&a.0) && b.1.is_subset(&a.1)
        };
        found.iter().any(|b| less(&b))
    };
    let kept = found.iter().filter(|a| !demands_more(a));
    let reading = |(next, put_off): &(BTreeSet<u32>, BTreeSet<usize>)| Reading {
        target: next.iter().copied().collect(),
        marks: (0..n_promises).filter(|m| !put_off.contains(m)).collect(),
    };
    Some(kept.map(reading).collect())
}

impl Branch {
    /// Adds what a formula demands; says whether the letter allows it. Other ways of satisfying it
    /// become branches of their own.
    fn demand(
        &mut self,
        parts: &[Part],
        at: u32,
        letter: &dyn Fn(AtomId) -> bool,
        branches: &mut Vec<Self>,
    ) -> bool {
        match &parts[at as usize] {
            Part::Constant(value) => return *value,
            Part::Literal(atom, value) => return letter(*atom) == *value,
            Part::And(all) => self.open.extend(all),
            Part::Or(any) => {
                let Some((first, others)) = any.split_first() else {
                    return false;
                };
                for other in others {
                    let mut branch = self.clone();
                    branch.open.push(*other);
                    branches.push(branch);
                }
                self.open.push(*first);
            }
            Part::Next(inner) => {
                self.next.insert(*inner);
            }
            Part::Until(left, right, promise) => {
                let mut later = self.clone();
                later.open.extend(left);
                later.next.insert(at);
                later.put_off.extend(promise);
                branches.push(later);
                self.open.push(*right);
            }
            Part::Release(left, right, promise) => {
                self.open.push(*right);
                if let Some(left) = left {
                    let mut released = self.clone();
                    released.open.push(*left);
                    branches.push(released);
                }
                self.next.insert(at);
                self.put_off.extend(promise);
            }
        }
        true
    }
}
