//! New predicates from spurious counterexamples.
//!
//! A path that cannot happen is cut at the last state from which it cannot: the facts that its
//! abstract state tells, the guards after it and the end contradict each other. The weakest
//! preconditions of the end along these steps (E. W. Dijkstra) name what the abstraction did not
//! see; their atoms become predicates. With them, the same steps from the same abstract state are
//! impossible in the refined abstraction, because each weakest precondition is then a combination
//! of predicates and is followed by substitution alone.
//!
//! Guards that the contradiction does not need are left out first, one by one, so that few
//! predicates are added. Atoms that mention a chosen value are dropped: what a choice makes true
//! later is not a fact about the state before it.

use smt::Term;

use super::domain::Origin;
use super::explore::{AbstractPath, Abstraction};
use super::replay::numbered;

/// What became of an attempt to refine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refined {
    /// So many predicates were added.
    Added(usize),
    /// Nothing new was found.
    Nothing,
}

impl Abstraction<'_> {
    /// Adds predicates that refute a path which cannot happen and end in a state satisfying
    /// `end`. The abstraction must then be worked out anew with [`Abstraction::refine`].
    pub fn learn(&mut self, path: &AbstractPath, end: &Term, round: usize) -> Refined {
        let n_steps = path.transitions.len();
        for start in (0..=n_steps).rev() {
            let needed = vec![true; n_steps];
            if !self.is_cut(path, start, end, &needed) {
                continue;
            }
            let needed = self.without_idle_guards(path, start, end, needed);
            match self.add_preconditions(path, start, end, &needed, round) {
                0 => {}
                n_added => return Refined::Added(n_added),
            }
        }
        // The contradiction is with the initial states.
        let needed = vec![true; n_steps];
        match self.add_preconditions(path, 0, end, &needed, round) {
            0 => Refined::Nothing,
            n_added => Refined::Added(n_added),
        }
    }

    /// Adds how far two variables are apart before a step of the path, where a predicate says how
    /// far they are apart after it. Both must be variables that the program changes; distances
    /// beyond a small bound are left to weakest preconditions.
    pub fn learn_distances(&mut self, path: &AbstractPath, round: usize) -> usize {
        const MAX_DISTANCE: i128 = 2;
        let mut found = Vec::new();
        for predicate in &self.domain.predicates {
            if self.distance(&predicate.term).is_none() {
                continue;
            }
            for &transition in &path.transitions {
                let updates = &self.program.transitions[transition].updates;
                let before = predicate
                    .term
                    .substitute(&|name| updates.get(&self.program.var_named(name)?).cloned());
                let distance = self.distance(&before);
                if distance.is_some_and(|distance| distance.abs() <= MAX_DISTANCE) {
                    found.push(before);
                }
            }
        }
        let origin = Origin::Refinement(round);
        let terms = found.iter();
        terms.map(|term| self.domain.add_atoms(term, &origin)).sum()
    }

    /// The distance that an equation gives to two variables which the program changes.
    fn distance(&self, term: &Term) -> Option<i128> {
        let Term::Eq(linear) = term else {
            return None;
        };
        let terms: Vec<(&Term, i128)> = linear.terms().collect();
        let is_changed = |term: &Term| match term {
            Term::Var(name, _) => self.program.var_named(name).is_some_and(|var| {
                let mut transitions = self.program.transitions.iter();
                transitions.any(|transition| transition.updates.contains_key(&var))
            }),
            _ => false,
        };
        match terms.as_slice() {
            [(a, 1), (b, -1)] if is_changed(a) && is_changed(b) => Some(linear.offset()),
            _ => None,
        }
    }

    /// Is the rest of the path impossible from the states that its abstract state at `start`
    /// describes?
    fn is_cut(&mut self, path: &AbstractPath, start: usize, end: &Term, needed: &[bool]) -> bool {
        let rest = self.precondition(path, start, end, needed);
        let mut question = self.facts_about(&path.states[start], std::slice::from_ref(&rest));
        question.push(rest);
        self.questions.is_impossible(&question)
    }

    /// Leaves out guards as long as the contradiction stays.
    fn without_idle_guards(
        &mut self,
        path: &AbstractPath,
        start: usize,
        end: &Term,
        mut needed: Vec<bool>,
    ) -> Vec<bool> {
        for position in start..needed.len() {
            needed[position] = false;
            if !self.is_cut(path, start, end, &needed) {
                needed[position] = true;
            }
        }
        needed
    }

    /// What must hold before step `from` so that the rest happens and ends as demanded.
    fn precondition(&self, path: &AbstractPath, from: usize, end: &Term, needed: &[bool]) -> Term {
        let mut condition = end.clone();
        for position in (from..path.transitions.len()).rev() {
            condition = self.before(path.transitions[position], position, &condition, needed);
        }
        condition
    }

    /// The weakest precondition of one step, with its guard if that is needed.
    fn before(&self, transition: usize, position: usize, after: &Term, needed: &[bool]) -> Term {
        let transition = &self.program.transitions[transition];
        let local = |name: &str| {
            let local = transition
                .locals
                .iter()
                .find(|local| &*local.name == name)?;
            Some(numbered(&local.name, local.sort, position))
        };
        let effect = after.substitute(&|name| {
            let var = self.program.var_named(name)?;
            let value = transition.updates.get(&var)?;
            Some(value.substitute(&local))
        });
        let guard = match needed[position] {
            true => transition.guard.substitute(&local),
            false => Term::Bool(true),
        };
        self.domain.simplify(&Term::and([guard, effect]), &[])
    }

    fn add_preconditions(
        &mut self,
        path: &AbstractPath,
        start: usize,
        end: &Term,
        needed: &[bool],
        round: usize,
    ) -> usize {
        let origin = Origin::Refinement(round);
        let mut conditions = vec![end.clone()];
        for position in (start..path.transitions.len()).rev() {
            let after = conditions.last().expect("it starts with the end");
            let before = self.before(path.transitions[position], position, after, needed);
            conditions.push(before);
        }
        let terms = conditions.iter();
        terms.map(|term| self.domain.add_atoms(term, &origin)).sum()
    }
}
