//! What is certain of all states that an abstract state describes: must steps.
//!
//! A step `a -> a'` *must* be possible if every state that `a` describes has a step to a state that
//! `a'` describes (D. Dams, R. Gerth, O. Grumberg, "Abstract interpretation of reactive systems", ACM
//! TOPLAS 19(2), 1997, doi:10.1145/244795.244800). The question is whether `a` together with the
//! negation of the weakest precondition is impossible. Values that a step chooses would be quantified
//! there; instead, some candidates are tried. So "no" means "not proved".

use std::collections::BTreeSet;
use std::sync::Arc;

use smt::{Answer, Sort, Term};

use super::domain::is_enumerated;
use super::explore::Abstraction;
use super::program::{Local, Transition, within};

/// More combinations of chosen values than this are not tried.
const MAX_INSTANCES: usize = 64;

/// One way of making all choices of a transition.
type Instance = Vec<(Arc<str>, Term)>;

impl Abstraction<'_> {
    /// What a state satisfies if one of the transitions leads from it to a state that `target`
    /// describes. With `idle`, also if it is deadlocked.
    #[must_use]
    pub fn reaching(&self, transitions: &[usize], target: &[i64], idle: bool) -> Term {
        let after = self.domain.describe_state(self.program, target);
        let mut ways = Vec::new();
        for &position in transitions {
            let transition = &self.program.transitions[position];
            let before = after.substitute(&|name| {
                let var = self.program.var_named(name)?;
                transition.updates.get(&var).cloned()
            });
            let step = Term::and([transition.guard.clone(), before]);
            ways.extend(self.with_choices(transition, &step));
        }
        if idle {
            ways.push(self.deadlocked());
        }
        self.domain.simplify(&Term::or(ways), &[])
    }

    /// Is it proved that every state described by `source` has such a step?
    pub fn must_reach(
        &mut self,
        source: &[i64],
        transitions: &[usize],
        target: &[i64],
        idle: bool,
    ) -> bool {
        let reaching = self.reaching(transitions, target, idle);
        self.is_proved(source, reaching)
    }

    /// Is one of the transitions possible in all described states, in none, or is that not known?
    pub fn enabledness(&mut self, transitions: &[usize], state: &[i64]) -> Option<bool> {
        let of = |position: &usize| &self.program.transitions[*position];
        let mut possible = Vec::new();
        for transition in transitions.iter().map(of) {
            match &transition.enabled {
                Some(enabled) => possible.push(enabled.clone()),
                None => possible.extend(self.with_choices(transition, &transition.guard)),
            }
        }
        // Choices are variables here: no value of theirs makes a guard true.
        let guards = transitions.iter().map(of);
        let some_guard = Term::or(guards.map(|transition| transition.guard.clone()));
        if self.is_proved(state, Term::or(possible)) {
            return Some(true);
        }
        self.is_proved(state, Term::not(some_guard))
            .then_some(false)
    }

    /// Does the abstract state describe an initial state? `None` if that is not known.
    pub fn describes_initial(&mut self, state: &[i64]) -> Option<bool> {
        let mut question = vec![
            self.program.init.clone(),
            self.program.bounds_of(0..self.program.vars.len()),
        ];
        question.extend(self.facts_about(state, &[]));
        // Of arrays without bounds more initial contents are assumed than there are.
        let has_array = self.program.vars.iter().any(|var| var.sort == Sort::Array);
        match self.questions.check(&question) {
            Answer::Unsat => Some(false),
            Answer::Sat(_) if !has_array => Some(true),
            Answer::Sat(_) | Answer::Unknown(_) => None,
        }
    }

    fn is_proved(&mut self, state: &[i64], claim: Term) -> bool {
        let claim = self.domain.simplify(&claim, &[]);
        if claim == Term::Bool(true) {
            return true;
        }
        let negated = Term::not(claim);
        let mut question = self.facts_about(state, std::slice::from_ref(&negated));
        question.push(negated);
        self.questions.is_impossible(&question)
    }

    /// A condition under which no transition is possible; the weakest that is known.
    fn deadlocked(&self) -> Term {
        Term::and((0..self.program.transitions.len()).map(|t| self.disabled(t)))
    }

    /// A condition under which a transition is not possible; the weakest that is known.
    #[must_use]
    pub fn disabled(&self, transition: usize) -> Term {
        let transition = &self.program.transitions[transition];
        let is_finite = transition.locals.iter().all(is_enumerated);
        match &transition.enabled {
            Some(enabled) => Term::not(enabled.clone()),
            None if is_finite && self.instances(transition).len() < MAX_INSTANCES => {
                Term::not(Term::or(self.with_choices(transition, &transition.guard)))
            }
            None => Term::not(without_choices(transition)),
        }
    }

    /// The term for each of some ways of making the choices.
    fn with_choices(&self, transition: &Transition, term: &Term) -> Vec<Term> {
        let with = |instance: &Instance| {
            let chosen = |name: &str| {
                let found = instance.iter().find(|(local, _)| &**local == name);
                found.map(|(_, value)| value.clone())
            };
            let fits = transition
                .locals
                .iter()
                .zip(instance)
                .map(|(local, (_, value))| within(value, local.sort, local.interval));
            Term::and(fits.chain([term.substitute(&chosen)]))
        };
        self.instances(transition).iter().map(with).collect()
    }

    /// At most [`MAX_INSTANCES`] ways; all of them if there are fewer and every choice is enumerated.
    fn instances(&self, transition: &Transition) -> Vec<Instance> {
        let mut all: Vec<Instance> = vec![Vec::new()];
        for local in &transition.locals {
            let candidates = self.candidates(local);
            let extend = |instance: &Instance| -> Vec<Instance> {
                let with = |value: &Term| {
                    let choice = (Arc::clone(&local.name), value.clone());
                    [instance.as_slice(), &[choice]].concat()
                };
                candidates.iter().map(with).collect()
            };
            all = all.iter().flat_map(extend).take(MAX_INSTANCES).collect();
        }
        all
    }

    /// Values that are tried for a choice. Of a type without known values, those that the state has.
    fn candidates(&self, local: &Local) -> Vec<Term> {
        match (local.sort, local.interval) {
            (Sort::Bool, _) => vec![Term::Bool(false), Term::Bool(true)],
            (Sort::Array, _) => Vec::new(),
            (Sort::Int, (Some(lo), Some(hi))) if is_enumerated(local) => {
                (lo..=hi).map(Term::Int).collect()
            }
            (Sort::Int, (lo, hi)) => {
                let is_number = lo.is_some() || hi.is_some() || local.endless.is_some();
                let vars = self.program.vars.iter();
                let vars = vars.filter(|var| var.sort == Sort::Int && var.is_open != is_number);
                let zero = (is_number && lo.is_none()).then_some(0);
                let ends = lo.into_iter().chain(hi).chain(zero).map(Term::Int);
                ends.chain(vars.map(|var| var.term())).collect()
            }
        }
    }
}

/// What the guard says about the state alone.
fn without_choices(transition: &Transition) -> Term {
    let is_chosen = |name: &Arc<str>| transition.locals.iter().any(|local| local.name == *name);
    let about_state = |part: &&Term| {
        let mut vars = BTreeSet::new();
        part.collect_vars(&mut vars);
        !vars.iter().any(|(name, _)| is_chosen(name))
    };
    let parts = match &transition.guard {
        Term::And(parts) => parts.to_vec(),
        other => vec![other.clone()],
    };
    Term::and(parts.iter().filter(about_state).cloned())
}
