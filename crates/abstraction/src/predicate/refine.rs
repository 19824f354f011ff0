//! New predicates from spurious counterexamples.
//!
//! A path that cannot happen is cut at the last state from which it cannot: the facts that its
//! abstract state tells, the guards after it and the end contradict each other. The weakest
//! preconditions of the end along these steps (E. W. Dijkstra, *Guarded commands, nondeterminacy
//! and formal derivation of programs*, CACM 18(8), 1975) name what the abstraction did not see;
//! their atoms become predicates. With them, the same steps from the same abstract state are
//! impossible in the refined abstraction, because each weakest precondition is then a combination
//! of predicates and is followed by substitution alone.
//!
//! Guards that the contradiction does not need are left out first, so that few predicates are
//! added: all that an unsatisfiable core does not name, where the solver has cores, then one by one. Atoms that mention a chosen value are dropped: what a choice makes true
//! later is not a fact about the state before it.

use std::collections::{BTreeMap, BTreeSet};

use smt::{Linear, Term};

use super::domain::Origin;
use super::explore::{AbstractPath, Abstraction};
use super::replay::{named, numbered};

/// So many variables that are compared with one parameter are compared with each other.
const MAX_COMPARED: usize = 4;

/// So many inequalities are added that follow when a parameter is eliminated.
const MAX_RESOLVENTS: usize = 6;

/// Weakest preconditions with more parts than this are followed atom by atom.
const MAX_CONDITION: usize = 2_000;

/// More atoms than this are not followed further back.
const MAX_ATOMS: usize = 300;

/// What became of an attempt to refine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refined {
    /// So many predicates were added.
    Added(usize),
    /// Nothing new was found.
    Nothing,
}

/// A path that cannot happen, with what is demanded of it.
struct Demand<'a> {
    path: &'a AbstractPath,
    /// What holds in the last state.
    end: &'a Term,
    /// Which guards are needed for the contradiction.
    guards: Vec<bool>,
    /// What is observed in each state; nothing beyond its length.
    observed: Vec<Vec<Term>>,
}

/// What is demanded of a path at one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PathDemand {
    /// The guard of a step.
    Guard(usize),
    /// A fact about a state: position and number.
    Observed(usize, usize),
}

impl<'a> Demand<'a> {
    /// All guards, and what is observed.
    fn new(path: &'a AbstractPath, end: &'a Term, observed: Vec<Vec<Term>>) -> Self {
        let guards = vec![true; path.transitions.len()];
        Self {
            path,
            end,
            guards,
            observed,
        }
    }

    /// What is observed in a state.
    fn observed_at(&self, position: usize) -> Term {
        let terms = self.observed.get(position).into_iter().flatten();
        Term::and(terms.cloned())
    }
}

impl Abstraction<'_> {
    /// Adds predicates that refute a path which cannot happen and end in a state satisfying
    /// `end`. The abstraction must then be worked out anew with [`Abstraction::refine`].
    pub fn learn(&mut self, path: &AbstractPath, end: &Term, round: usize) -> Refined {
        self.learn_observed(path, end, Vec::new(), round)
    }

    /// The same for a path which happens, but not with what is `observed` in its states.
    pub fn learn_observed(
        &mut self,
        path: &AbstractPath,
        end: &Term,
        observed: Vec<Vec<Term>>,
        round: usize,
    ) -> Refined {
        for start in (0..=path.transitions.len()).rev() {
            let mut demand = Demand::new(path, end, observed.clone());
            if !self.is_cut(&demand, Some(start)) {
                continue;
            }
            self.leave_out(&mut demand, Some(start));
            match self.add_preconditions(&demand, start, round) {
                0 => {}
                n_added => return Refined::Added(n_added),
            }
        }
        // The contradiction is with the initial states.
        let mut demand = Demand::new(path, end, observed);
        if !demand.observed.is_empty() {
            self.leave_out(&mut demand, None);
        }
        match self.add_preconditions(&demand, 0, round) {
            0 => Refined::Nothing,
            n_added => Refined::Added(n_added),
        }
    }

    /// What the states of a path say, one fact for every slot.
    #[must_use]
    pub fn observed(&self, path: &AbstractPath) -> Vec<Vec<Term>> {
        let of_state = |state: &[i64]| -> Vec<Term> {
            let slots = state.iter().enumerate();
            slots
                .map(|(slot, value)| self.domain.describe(self.program, slot, *value))
                .collect()
        };
        path.states.iter().map(|state| of_state(state)).collect()
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
        match terms.as_slice() {
            [(a, 1), (b, -1)] if self.is_changed(a) && self.is_changed(b) => Some(linear.offset()),
            _ => None,
        }
    }

    /// Does some transition change the variable that the term is?
    fn is_changed(&self, term: &Term) -> bool {
        let Term::Var(name, _) = term else {
            return false;
        };
        self.program.var_named(name).is_some_and(|var| {
            let mut transitions = self.program.transitions.iter();
            transitions.any(|transition| transition.updates.contains_key(&var))
        })
    }

    /// Where predicates of the model compare changing variables with a parameter, adds that they
    /// are equal to it, and that two of them are equal to each other: what `N == x` and `N <= y`
    /// are about when `N` is eliminated.
    pub fn learn_eliminations(&mut self, round: usize) -> usize {
        let mut compared: BTreeMap<Term, BTreeSet<Term>> = BTreeMap::new();
        let mut equations = Vec::new();
        for predicate in &self.domain.predicates {
            if matches!(predicate.origin, Origin::Refinement(_)) {
                continue;
            }
            let (Term::Eq(linear) | Term::Le(linear)) = &predicate.term else {
                continue;
            };
            let terms: Vec<(&Term, i128)> = linear.terms().collect();
            let [(a, first), (b, second)] = terms.as_slice() else {
                continue;
            };
            if first.abs() != 1 || first + second != 0 {
                continue;
            }
            let (parameter, variable) = match (self.is_changed(a), self.is_changed(b)) {
                (false, true) => (*a, *b),
                (true, false) => (*b, *a),
                _ => continue,
            };
            let variables = compared.entry(parameter.clone()).or_default();
            variables.insert(variable.clone());
            equations.push(Term::eq(parameter.clone(), variable.clone()));
        }

        let origin = Origin::Refinement(round);
        for variables in compared.values() {
            let variables: Vec<&Term> = variables.iter().take(MAX_COMPARED).collect();
            for (position, first) in variables.iter().enumerate() {
                for second in &variables[position + 1..] {
                    equations.push(Term::eq((*first).clone(), (*second).clone()));
                }
            }
        }

        equations.extend(self.resolvents());
        let new = equations.iter();
        new.map(|term| self.domain.add_atoms(term, &origin)).sum()
    }

    /// What two inequalities of the model say together about other numbers than the parameter that
    /// they share: `K < N` and `N <= i` are about `K < i` when `N` is eliminated. One of these must
    /// change.
    fn resolvents(&self) -> Vec<Term> {
        let own = self.domain.predicates.iter();
        let own = own.filter(|predicate| !matches!(predicate.origin, Origin::Refinement(_)));
        let mut bounds = Vec::new();
        for predicate in own {
            if let Term::Le(linear) = &predicate.term {
                bounds.push((**linear).clone());
                // Its negation, as a bound, too.
                bounds.push(Linear::constant(1).minus(linear));
            }
        }

        let mut found = Vec::new();
        for (position, first) in bounds.iter().enumerate() {
            for second in &bounds[..position] {
                let sum = first.plus(second);
                let is_gone = first.terms().any(|(term, factor)| {
                    let parameter = matches!(term, Term::Var(..)) && !self.is_changed(term);
                    parameter && factor.abs() == 1 && sum.terms().all(|(other, _)| other != term)
                });
                let n_left = sum.terms().count();
                let changes = sum.terms().any(|(term, _)| self.is_changed(term));
                if is_gone && n_left == 2 && changes {
                    found.push(Term::le(sum.into_term(), Term::Int(0)));
                }
            }
        }
        found.truncate(MAX_RESOLVENTS);
        found
    }

    /// Is the rest of the path impossible from the states that its abstract state at `start`
    /// describes, or all of it from the initial states?
    fn is_cut(&mut self, demand: &Demand<'_>, start: Option<usize>) -> bool {
        let rest = self.rest(demand, start.unwrap_or(0));
        let is_needed = |part: &PathDemand| match part {
            PathDemand::Guard(position) => demand.guards[*position],
            PathDemand::Observed(..) => true,
        };
        let needed = rest.parts.into_iter();
        let needed = needed.filter(|(part, _)| is_needed(part));
        let mut demanded: Vec<Term> = needed.map(|(_, term)| term).collect();
        demanded.push(rest.end);
        demanded.extend(rest.equations);

        let mut question = match start {
            Some(start) => self.facts_about(&demand.path.states[start], &demanded),
            None => {
                let init = self.program.init.clone();
                let mut mentioned = demanded.clone();
                mentioned.push(init.clone());
                vec![init, self.domain.bounds(self.program, &mentioned)]
            }
        };

        question.extend(demanded);
        question.retain(|term| *term != Term::Bool(true));
        self.questions.is_impossible(&question)
    }

    /// Leaves out guards and observations as long as the contradiction stays. Observations are
    /// left out state by state, then one by one.
    fn leave_out(&mut self, demand: &mut Demand<'_>, start: Option<usize>) {
        let first = start.unwrap_or(0);
        self.leave_out_by_core(demand, start);
        for position in first..demand.observed.len() {
            let kept = std::mem::take(&mut demand.observed[position]);
            if self.is_cut(demand, start) {
                continue;
            }
            demand.observed[position] = kept;
            for fact in (0..demand.observed[position].len()).rev() {
                let kept = demand.observed[position].remove(fact);
                if !self.is_cut(demand, start) {
                    demand.observed[position].insert(fact, kept);
                }
            }
        }

        for position in first..demand.guards.len() {
            if !demand.guards[position] {
                continue;
            }
            demand.guards[position] = false;
            if !self.is_cut(demand, start) {
                demand.guards[position] = true;
            }
        }
    }

    /// Leaves out what a core does not name, if the solver has one and the contradiction stays.
    fn leave_out_by_core(&mut self, demand: &mut Demand<'_>, start: Option<usize>) {
        let Rest {
            parts,
            end,
            equations,
        } = self.rest(demand, start.unwrap_or(0));
        let terms: Vec<Term> = parts.iter().map(|(_, term)| term.clone()).collect();
        let mut mentioned = terms.clone();
        mentioned.push(end.clone());
        mentioned.extend(equations.iter().cloned());

        let mut assumed = match start {
            Some(start) => self.facts_about(&demand.path.states[start], &mentioned),
            None => {
                let init = self.program.init.clone();
                mentioned.push(init.clone());
                vec![init, self.domain.bounds(self.program, &mentioned)]
            }
        };

        assumed.push(end);
        assumed.extend(equations);
        let Some(core) = self.questions.core(&assumed, &terms) else {
            return;
        };
        let named = |wanted: &PathDemand| core.iter().any(|position| parts[*position].0 == *wanted);
        let (guards, observed) = (demand.guards.clone(), demand.observed.clone());
        for (position, guard) in demand.guards.iter_mut().enumerate() {
            *guard &= named(&PathDemand::Guard(position));
        }

        for (position, facts) in demand.observed.iter_mut().enumerate() {
            let mut number = 0;
            facts.retain(|_| {
                number += 1;
                named(&PathDemand::Observed(position, number - 1))
            });
        }

        if !self.is_cut(demand, start) {
            demand.guards = guards;
            demand.observed = observed;
        }
    }

    /// The guards and observations from a step on, and the end, each as a condition on the state
    /// before that step and on values with names.
    fn rest(&self, demand: &Demand<'_>, first: usize) -> Rest {
        let mut now: Vec<Term> = self.program.vars.iter().map(|var| var.term()).collect();
        let mut parts = Vec::new();
        let mut equations = Vec::new();
        for position in first..=demand.guards.len() {
            let state = |name: &str| Some(now[self.program.var_named(name)?].clone());
            for (number, fact) in demand
                .observed
                .get(position)
                .into_iter()
                .flatten()
                .enumerate()
            {
                parts.push((
                    PathDemand::Observed(position, number),
                    fact.substitute(&state),
                ));
            }
            let Some(&transition) = demand.path.transitions.get(position) else {
                break;
            };
            let transition = &self.program.transitions[transition];
            let local = |name: &str| {
                let mut locals = transition.locals.iter();
                let local = locals.find(|local| &*local.name == name)?;
                Some(numbered(&local.name, local.sort, position))
            };
            let present = |term: &Term| {
                let term = term.substitute(&|name| local(name).or_else(|| state(name)));
                self.domain.simplify(&term, &[])
            };
            parts.push((PathDemand::Guard(position), present(&transition.guard)));
            let mut next = now.clone();
            for (var, value) in &transition.updates {
                let name = &self.program.vars[*var].name;
                let (value, equation) = named(name, present(value), position);
                next[*var] = value;
                equations.extend(equation);
            }
            now = next;
        }

        let end = demand
            .end
            .substitute(&|name| Some(now[self.program.var_named(name)?].clone()));
        Rest {
            parts,
            end: self.domain.simplify(&end, &[]),
            equations,
        }
    }

    /// What is demanded of the last state.
    fn at_end(&self, demand: &Demand<'_>) -> Term {
        Term::and([demand.end.clone(), demand.observed_at(demand.guards.len())])
    }

    /// The weakest precondition of one step, with its guard and what is observed, as far as they
    /// are needed.
    fn before(&self, demand: &Demand<'_>, position: usize, after: &Term) -> Term {
        let transition = &self.program.transitions[demand.path.transitions[position]];
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
        let guard = if demand.guards[position] {
            transition.guard.substitute(&local)
        } else {
            Term::Bool(true)
        };
        let parts = [guard, demand.observed_at(position), effect];
        self.domain.simplify(&Term::and(parts), &[])
    }

    /// Adds the atoms of the weakest preconditions from the end back to a step. Where one becomes
    /// large, its atoms are followed one by one: no atom of it is lost, and there are few of them
    /// although the formula would double with each step.
    fn add_preconditions(&mut self, demand: &Demand<'_>, start: usize, round: usize) -> usize {
        let origin = Origin::Refinement(round);
        let mut conditions = vec![self.at_end(demand)];
        let mut n_added = 0;
        for position in (start..demand.guards.len()).rev() {
            n_added += self.add_all_atoms(&conditions, &origin);
            if self.questions.stopped().is_some() || conditions.len() > MAX_ATOMS {
                return n_added;
            }
            if conditions.iter().map(Term::size).sum::<usize>() > MAX_CONDITION {
                let mut atoms = BTreeSet::new();
                conditions.iter().for_each(|c| c.collect_atoms(&mut atoms));
                conditions = atoms.into_iter().collect();
            }
            let after = std::mem::take(&mut conditions);
            let before = after.iter().map(|term| self.before(demand, position, term));
            let before: BTreeSet<Term> = before.collect();
            conditions = before.into_iter().collect();
        }
        n_added + self.add_all_atoms(&conditions, &origin)
    }

    fn add_all_atoms(&mut self, conditions: &[Term], origin: &Origin) -> usize {
        let terms = conditions.iter();
        terms.map(|term| self.domain.add_atoms(term, origin)).sum()
    }
}

/// The rest of a path as conditions on the state before it.
struct Rest {
    parts: Vec<(PathDemand, Term)>,
    end: Term,
    /// What the values with names are.
    equations: Vec<Term>,
}
