//! Integer expressions that cannot decrease for ever.
//!
//! For an expression δ, an abstract step is *decreasing* if every concrete step that it stands for
//! starts where δ ≥ 0 and makes δ smaller, *quiet* if none makes it larger, and *increasing*
//! otherwise. A concrete run with infinitely many decreasing and finitely many increasing steps
//! would make δ negative in the end, where no step is decreasing; so "decreasing infinitely often
//! implies increasing infinitely often" holds of every concrete run and may be assumed of abstract
//! ones: the Streett pairs of papers/001, over data. Several expressions together act
//! lexicographically.
//!
//! Candidates are the linear expressions of guards and predicates, and bounded variables.

use std::collections::BTreeSet;

use smt::{Linear, Sort, Term};

use super::explore::Abstraction;
use super::program::within;

/// What a step does to an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It starts at zero or more and becomes smaller.
    Decreasing,
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
        let has_data = |candidate: &Term| {
            candidate.sort() == Sort::Int && !self.mentions_choice(candidate)
        };
        let useful = candidates.into_iter().filter(has_data).filter(changes);
        useful.collect()
    }

    fn mentions_choice(&self, term: &Term) -> bool {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        vars.iter()
            .any(|(name, _)| self.program.var_named(name).is_none())
    }

    /// A term over the state after a transition, as a term over the state before.
    fn after(&self, transition: usize, term: &Term) -> Term {
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
        let description = &self.program.transitions[transition];
        let mut step = vec![description.guard.clone(), after.clone(), rank.clone()];
        let meaning = self.domain.describe_state(self.program, target);
        step.push(self.after(transition, &meaning));
        let mut question = self.facts_about(source, &step);
        question.push(description.guard.clone());
        question.push(self.after(transition, &meaning));
        for local in &description.locals {
            let term = Term::Var(local.name.clone(), local.sort);
            question.push(within(&term, local.sort, local.interval));
        }
        let falls = Term::and([
            Term::lt(after.clone(), rank.clone()),
            Term::le(Term::Int(0), rank.clone()),
        ]);
        let asked = |further: Term| [question.as_slice(), &[further]].concat();
        if self.questions.is_impossible(&asked(Term::not(falls))) {
            return Effect::Decreasing;
        }
        let grows = Term::lt(rank.clone(), after);
        match self.questions.is_impossible(&asked(grows)) {
            true => Effect::Quiet,
            false => Effect::Increasing,
        }
    }
}
