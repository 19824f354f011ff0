//! Integer expressions that cannot decrease forever.
//!
//! For an expression δ, an abstract step is *decreasing* if every concrete step that it stands for
//! starts where δ ≥ 0 and makes δ smaller, *quiet* if none makes it larger, and *increasing*
//! otherwise. A concrete run with infinitely many decreasing and finitely many increasing steps
//! would make δ negative in the end, where no step is decreasing; so "decreasing infinitely often
//! implies increasing infinitely often" holds of every concrete run and may be assumed of abstract
//! ones: the Streett pairs of K. Baukus, Y. Lakhnech, K. Stahl, *Verification of parameterized
//! protocols*, Journal of Universal Computer Science 7(2), 2001, section 6.1, over data. Several
//! expressions together act lexicographically.
//!
//! Candidates are the linear expressions of guards and predicates, bounded variables, and where
//! nothing else helps the greater of two of these.

use std::collections::BTreeSet;

use smt::{Linear, Sort, Term};

use super::explore::{AbstractStep, Abstraction};
use super::program::within;

/// So many expressions are tried last.
const MAX_PEAKS: usize = 6;

/// What a step does to an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It starts at zero or more and becomes smaller.
    Decreasing,
    /// It becomes smaller, but may be negative before. It counts as quiet.
    Falling,
    /// It never becomes larger.
    Quiet,
    /// It may become larger.
    Increasing,
}

impl Abstraction<'_> {
    /// Expressions that may be worth watching on the given transitions, in ascending order.
    #[must_use]
    pub fn ranking_candidates(&self, transitions: &[usize]) -> Vec<Term> {
        let mut atoms = BTreeSet::new();
        for &transition in transitions {
            let guard = &self.program.transitions[transition].guard;
            self.domain.simplify(guard, &[]).collect_atoms(&mut atoms);
        }
        for predicate in &self.domain.predicates {
            predicate.term.collect_atoms(&mut atoms);
        }
        let mut candidates = BTreeSet::new();

        for atom in atoms {
            if let Term::Le(linear) | Term::Eq(linear) = &atom {
                // e ≤ 0 bounds -e from below; its negation bounds e - 1.
                candidates.insert(linear.times(-1).into_term());
                candidates.insert(linear.minus(&Linear::constant(1)).into_term());
                candidates.insert((**linear).clone().into_term());
            }
        }

        for var in &self.program.vars {
            if let (Sort::Int, Some(least)) = (var.sort, var.interval.0) {
                candidates.insert(Term::sub(var.term(), Term::Int(least)));
            }
        }

        let changes = |candidate: &Term| {
            transitions
                .iter()
                .any(|t| self.after(*t, candidate) != *candidate)
        };
        let has_data =
            |candidate: &Term| candidate.sort() == Sort::Int && !self.mentions_choice(candidate);
        let useful = candidates.into_iter().filter(has_data).filter(changes);
        useful.collect()
    }

    /// What is tried last, as far as it fell on samples: expressions that facts bound, and the greater
    /// of two candidates. Where steps exchange numbers, the greatest of them may fall although none
    /// of them does.
    #[must_use]
    pub fn peaks_of(&self, candidates: &[Term], transitions: &[usize]) -> Vec<Term> {
        let samples = self.samples();
        let states: Vec<&smt::Model> = samples.values().flatten().collect();
        let bounded = self
            .domain
            .facts
            .iter()
            .filter_map(|fact| match &fact.term {
                Term::Le(linear) => Some(linear.times(-1).into_term()),
                Term::Not(inner) => match &**inner {
                    Term::Le(linear) => Some(linear.minus(&Linear::constant(1)).into_term()),
                    _ => None,
                },
                _ => None,
            });
        let falls = |rank: &Term| self.falls_on_samples(rank, &states, transitions);
        let mut peaks: Vec<Term> = bounded.filter(falls).take(MAX_PEAKS).collect();

        for (position, first) in candidates.iter().enumerate() {
            for second in &candidates[..position] {
                let difference = Term::sub(first.clone(), second.clone());
                if matches!(difference, Term::Int(_)) {
                    continue;
                }
                let is_less = Term::lt(difference, Term::Int(0));
                let peak = Term::ite(is_less, second.clone(), first.clone());
                if peaks.len() == MAX_PEAKS {
                    return peaks;
                }
                if falls(&peak) {
                    peaks.push(peak);
                }
            }
        }
        peaks
    }

    /// Do some steps from the samples make an expression smaller that is not negative, and none
    /// larger? Steps that choose are not looked at.
    fn falls_on_samples(&self, rank: &Term, states: &[&smt::Model], transitions: &[usize]) -> bool {
        let mut falls = false;
        for &transition in transitions {
            let description = &self.program.transitions[transition];
            if !description.locals.is_empty() {
                continue;
            }
            let after = self.after(transition, rank);
            let mut always = true;
            for state in states {
                if state.bool(&description.guard) != Some(true) {
                    continue;
                }
                let (Some(before), Some(after)) = (state.int(rank), state.int(&after)) else {
                    return false;
                };
                if after > before {
                    return false;
                }
                always &= after < before && before >= 0;
            }
            falls |= always;
        }
        falls
    }

    pub(super) fn mentions_choice(&self, term: &Term) -> bool {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        vars.iter()
            .any(|(name, _)| self.program.var_named(name).is_none())
    }

    /// A term over the state after a transition, as a term over the state before.
    pub(super) fn after(&self, transition: usize, term: &Term) -> Term {
        let updates = &self.program.transitions[transition].updates;
        term.substitute(&|name| updates.get(&self.program.var_named(name)?).cloned())
    }

    /// What an abstract step does to an expression.
    pub fn effect(
        &mut self,
        rank: &Term,
        source: &[i64],
        transition: usize,
        target: &[i64],
    ) -> Effect {
        let after = self.after(transition, rank);
        if after == *rank {
            return Effect::Quiet;
        }

        // With more predicates a step stands for fewer concrete ones: what decreases goes on doing so.
        let key = (rank.clone(), transition);
        let is_part =
            |(from, to): &AbstractStep| source.starts_with(from) && target.starts_with(to);
        if let Some(known) = self.decreasing.get(&key)
            && known.iter().any(is_part)
        {
            return Effect::Decreasing;
        }

        // A step that changes the expression by a constant leaves one question open at most.
        let change = match Term::sub(after.clone(), rank.clone()) {
            Term::Int(change) => Some(change),
            _ => None,
        };
        if change == Some(0) {
            return Effect::Quiet;
        }

        let question = self.step_facts(rank, source, transition, target);
        let falls = Term::and([
            Term::lt(after.clone(), rank.clone()),
            Term::le(Term::Int(0), rank.clone()),
        ]);
        let asked = |further: Term| [question.as_slice(), &[further]].concat();
        if self.questions.is_impossible(&asked(Term::not(falls))) {
            let known = self.decreasing.entry(key).or_default();
            known.push((source.into(), target.into()));
            return Effect::Decreasing;
        }
        match change {
            Some(change) if change < 0 => return Effect::Falling,
            Some(_) => return Effect::Increasing,
            None => {}
        }
        let falls = Term::lt(after.clone(), rank.clone());
        if self.questions.is_impossible(&asked(Term::not(falls))) {
            return Effect::Falling;
        }
        let grows = Term::lt(rank.clone(), after);
        if self.questions.is_impossible(&asked(grows)) {
            Effect::Quiet
        } else {
            Effect::Increasing
        }
    }

    /// What is known about a step as far as an expression is concerned: the guard, the kept variables
    /// that the guard and the expression mention, and those predicates before and after that share
    /// data with them, directly or through each other. So a predicate about something else leaves the
    /// questions as they are, and their answers are remembered.
    pub(super) fn step_facts(
        &self,
        rank: &Term,
        source: &[i64],
        transition: usize,
        target: &[i64],
    ) -> Vec<Term> {
        let description = &self.program.transitions[transition];
        let n_kept = self.domain.kept.len();
        let after = self.after(transition, rank);
        let about = [&description.guard, rank, &after];
        let fact =
            |slot: usize, state: &[i64]| self.domain.describe(self.program, slot, state[slot]);

        let kept: BTreeSet<usize> = about.iter().flat_map(|t| self.domain.kept_in(t)).collect();
        let mut facts: Vec<Term> = kept.iter().map(|slot| fact(*slot, source)).collect();
        let mut names: BTreeSet<_> = about.iter().flat_map(|t| self.domain.data_in(t)).collect();
        let before = (n_kept..self.domain.n_slots()).map(|slot| fact(slot, source));
        let later = (n_kept..self.domain.n_slots()).map(|slot| fact(slot, target));
        let later = later.map(|fact| self.after(transition, &fact));
        let mut open: Vec<Term> = before.chain(later).collect();
        loop {
            let n_before = open.len();
            open.retain(|fact| {
                let own = self.domain.data_in(fact);
                let is_apart = own.is_disjoint(&names);
                if !is_apart {
                    names.extend(own);
                    facts.push(fact.clone());
                }
                is_apart
            });
            if open.len() == n_before {
                break;
            }
        }

        facts.push(description.guard.clone());
        for local in &description.locals {
            let term = Term::Var(local.name.clone(), local.sort);
            facts.push(within(&term, local.sort, local.interval));
        }

        let mentioned = [facts.as_slice(), &[rank.clone(), after]].concat();
        facts.push(self.domain.known(self.program, source, &mentioned));
        facts
    }

    /// Is an expression that is not negative before a step never negative after it?
    pub fn stays_bounded(
        &mut self,
        rank: &Term,
        source: &[i64],
        transition: usize,
        target: &[i64],
    ) -> bool {
        let mut question = self.step_facts(rank, source, transition, target);
        question.push(Term::le(Term::Int(0), rank.clone()));
        question.push(Term::lt(self.after(transition, rank), Term::Int(0)));
        self.questions.is_impossible(&question)
    }

    /// Adds the predicate that an expression is not negative. Says whether it is new.
    pub fn bound_from_below(&mut self, rank: &Term, round: usize) -> bool {
        let bound = Term::le(Term::Int(0), rank.clone());
        let origin = super::domain::Origin::Refinement(round);
        self.domain.add_atoms(&bound, &origin) > 0
    }
}
