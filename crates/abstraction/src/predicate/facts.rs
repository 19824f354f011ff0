//! Facts about all reachable states: what holds on samples and is inductive.
//!
//! At each place (the locations of all processes), candidates are what all states of random walks
//! satisfy: linear equations (the affine hull: M. Karr, *Affine relationships among variables of a
//! program*, Acta Informatica 6, 1976, doi:10.1007/BF00268497, here of samples as in R. Sharma,
//! S. Gupta, B. Hariharan, A. Aiken, A. Nori, *A data driven approach for algebraic loop invariants*,
//! ESOP 2013, doi:10.1007/978-3-642-37036-6_31), bounds of variables, of sums and differences of two
//! (octagons: A. Miné, 2006) and of the expressions of guards and predicates, remainders, and the
//! predicates themselves. Those that an initial state or a step does not establish are removed until the rest
//! is inductive (Houdini: C. Flanagan, K. R. M. Leino, FME 2001, doi:10.1007/3-540-45251-6_29).
//!
//! Postcondition: the solver has proved that every initial state satisfies the facts of its place,
//! and that every step from a state that satisfies those of its place leads to one that satisfies
//! those of its own. So they hold in all reachable states, and every question about a reachable
//! state may assume them. Where the solver has no answer, a fact is removed.

use std::collections::{BTreeMap, BTreeSet};

use smt::{Answer, Linear, Sort, Term};

use super::domain::{Fact, Origin};
use super::explore::Abstraction;
use super::program::{Content, within};
use super::rational::{gcd, kernel};
use super::samples::Place;

/// Models with more combinations of locations are not looked at.
const MAX_PLACES: usize = 48;

/// Relations are looked for between so many numbers.
const MAX_NUMBERS: usize = 12;

/// Sums and differences are looked at of so many numbers.
const MAX_PAIRED: usize = 7;

/// Equations are taken from so many samples more than there are numbers.
const MIN_EXCESS: usize = 2;

/// So many equations become predicates.
const MAX_RELATIONS: usize = 6;

/// Larger factors are taken to be accidental.
const MAX_FACTOR: i128 = 1_000;

type Facts = BTreeMap<Place, Vec<Term>>;

impl Abstraction<'_> {
    /// Looks for facts, once. Says whether there are any; then the abstraction must be worked out
    /// anew with [`Abstraction::refine`].
    pub fn find_facts(&mut self) -> bool {
        if std::mem::replace(&mut self.has_sought_facts, true) {
            return false;
        }
        let samples = self.samples();
        if samples.is_empty() || samples.len() > MAX_PLACES {
            return false;
        }
        let gave_up = self.questions.in_a_hurry(true, false);
        let facts = self.inductive(&samples);
        self.questions.in_a_hurry(false, gave_up);
        self.domain.facts = facts.unwrap_or_default();
        !self.domain.facts.is_empty()
    }

    /// Adds orders of numbers, and equations that hold on those samples of a place of which a predicate is true, or on those
    /// of which it is false, as predicates (R. Sharma, I. Dillig, T. Dillig, A. Aiken, *Simplifying
    /// loop invariant generation using splitter predicates*, CAV 2011,
    /// doi:10.1007/978-3-642-22110-1_57). Says how many were new.
    pub fn find_relations(&mut self, round: usize) -> usize {
        if std::mem::replace(&mut self.has_sought_relations, true) {
            return 0;
        }
        let numbers = self.numbers();
        let n_orders = self.order_distances(round);
        let mut found: BTreeMap<Term, usize> = BTreeMap::new();
        for states in self.samples().values() {
            for predicate in &self.domain.predicates {
                let is_true = |state: &&smt::Model| state.bool(&predicate.term) == Some(true);
                let (yes, no): (Vec<_>, Vec<_>) = states.iter().partition(is_true);
                for part in [yes, no] {
                    let part: Vec<smt::Model> = part.into_iter().cloned().collect();
                    if part.len() <= numbers.len() + MIN_EXCESS || part.len() == states.len() {
                        continue;
                    }
                    for equation in equations(&numbers, &part).unwrap_or_default() {
                        *found.entry(equation).or_default() += 1;
                    }
                }
            }
        }

        // What is found most often is the least accidental.
        let mut found: Vec<(Term, usize)> = found.into_iter().collect();
        found.sort_by_key(|(term, n_times)| (usize::MAX - n_times, term.size()));
        let origin = Origin::Refinement(round);
        let chosen = found.iter().take(MAX_RELATIONS);
        let new = chosen.map(|(term, _)| self.domain.add_atoms(term, &origin));
        n_orders + new.sum::<usize>()
    }

    /// Where predicates say `x == y + 1`, `x == y + 2` and so on, which never ends, adds `x <= y` and
    /// `x < y`.
    fn order_distances(&mut self, round: usize) -> usize {
        let mut distances: BTreeMap<Linear, usize> = BTreeMap::new();
        for predicate in &self.domain.predicates {
            if let Term::Eq(linear) = &predicate.term
                && linear.terms().count() == 2
            {
                let form = linear.minus(&Linear::constant(linear.offset()));
                *distances.entry(form).or_default() += 1;
            }
        }
        let origin = Origin::Refinement(round);
        let mut n_new = 0;
        for (form, _) in distances.into_iter().filter(|(_, n)| *n > 2) {
            let form = form.into_term();
            for order in [
                Term::le(form.clone(), Term::Int(0)),
                Term::lt(form, Term::Int(0)),
            ] {
                n_new += self.domain.add_atoms(&order, &origin);
            }
        }
        n_new
    }

    fn inductive(&mut self, samples: &BTreeMap<Place, Vec<smt::Model>>) -> Option<Vec<Fact>> {
        let candidates = samples
            .iter()
            .map(|(place, states)| (place.clone(), self.candidates_for(states)));
        let mut facts: Facts = candidates.collect();
        self.keep_initial(&mut facts)?;
        self.keep_inductive(&mut facts)?;
        Some(self.shortened(facts))
    }

    /// The terms between which relations are looked for.
    fn numbers(&self) -> Vec<Term> {
        let is_number = |var: &&super::program::StateVar| {
            var.sort == Sort::Int && !var.is_open && !matches!(var.content, Content::Location(_))
        };
        let vars = self.program.vars.iter().filter(is_number);
        let mut numbers: Vec<Term> = vars.map(|var| var.term()).collect();
        for predicate in &self.domain.predicates {
            if let Term::Le(linear) | Term::Eq(linear) = &predicate.term {
                let other = linear.terms().map(|(term, _)| term);
                let other = other.filter(|term| !matches!(term, Term::Var(..)));
                numbers.extend(other.cloned());
            }
        }

        // An element that a step writes may keep its value although its index is not asked about.
        for (var, value) in self.program.transitions.iter().flat_map(|t| &t.updates) {
            if let Term::Store(_, index, _) = value
                && !self.mentions_choice(index)
            {
                let array = self.program.vars[*var].term();
                numbers.push(Term::select(array, (**index).clone()));
            }
        }
        let mut seen = BTreeSet::new();
        numbers.retain(|number| seen.insert(number.clone()));
        numbers.truncate(MAX_NUMBERS);
        numbers
    }

    /// What all states satisfy.
    fn candidates_for(&self, states: &[smt::Model]) -> Vec<Term> {
        let numbers = self.numbers();
        let mut facts = equations(&numbers, states).unwrap_or_default();
        for form in self.forms(&numbers) {
            let value = |state: &smt::Model| state.int(&form.clone().into_term());
            let values: Option<BTreeSet<i128>> = states.iter().map(value).collect();
            let values = values.unwrap_or_default();
            let (Some(least), Some(greatest)) = (values.first(), values.last()) else {
                continue;
            };

            // What is always the same is the sum of equations.
            if least != greatest {
                facts.push(Term::le(Term::Int(*least), form.clone().into_term()));
                facts.push(Term::le(form.clone().into_term(), Term::Int(*greatest)));
                if *least > 0 {
                    facts.push(Term::le(Term::Int(0), form.into_term()));
                }
            }
        }

        facts.extend(remainders(&numbers, &facts, states));
        for predicate in &self.domain.predicates {
            let truths: BTreeSet<Option<bool>> =
                states.iter().map(|s| s.bool(&predicate.term)).collect();
            if truths == BTreeSet::from([Some(true)]) {
                facts.push(predicate.term.clone());
            }
            if truths == BTreeSet::from([Some(false)]) {
                facts.push(Term::not(predicate.term.clone()));
            }
        }

        let facts: BTreeSet<Term> = facts.into_iter().collect();
        let simple = facts.iter().map(|fact| self.domain.simplify(fact, &[]));
        simple.filter(|fact| *fact != Term::Bool(true)).collect()
    }

    /// Linear expressions whose bounds are looked at, each without a constant.
    fn forms(&self, numbers: &[Term]) -> BTreeSet<Linear> {
        let mut forms: BTreeSet<Linear> = numbers.iter().map(Linear::of).collect();
        let paired = &numbers[..numbers.len().min(MAX_PAIRED)];
        for (position, first) in paired.iter().enumerate() {
            for second in &paired[..position] {
                let (first, second) = (Linear::of(first), Linear::of(second));
                forms.insert(first.plus(&second));
                forms.insert(first.minus(&second));
            }
        }

        let mut atoms = BTreeSet::new();
        for transition in &self.program.transitions {
            transition.guard.collect_atoms(&mut atoms);
        }
        for predicate in &self.domain.predicates {
            predicate.term.collect_atoms(&mut atoms);
        }
        for atom in atoms {
            if let Term::Le(linear) | Term::Eq(linear) = &atom
                && !self.mentions_choice(&atom)
                && !self.domain.data_in(&atom).is_empty()
            {
                forms.insert(linear.minus(&Linear::constant(linear.offset())));
            }
        }
        forms
    }

    /// All processes are at a place.
    fn at_place(&self, place: &Place) -> Vec<Term> {
        let locations = self.program.vars.iter();
        let locations = locations.filter(|var| matches!(var.content, Content::Location(_)));
        locations
            .zip(place)
            .map(|(var, at)| Term::eq(var.term(), Term::Int(i128::from(*at))))
            .collect()
    }

    /// Removes what an initial state may not satisfy. Nothing if an initial place has no samples.
    fn keep_initial(&mut self, facts: &mut Facts) -> Option<()> {
        let everything = self.program.bounds_of(0..self.program.vars.len());
        let init = vec![self.program.init.clone(), everything];
        let places: Vec<Place> = facts.keys().cloned().collect();
        let elsewhere = places
            .iter()
            .map(|place| Term::not(Term::and(self.at_place(place))));
        let elsewhere: Vec<Term> = init.iter().cloned().chain(elsewhere).collect();
        if !self.questions.is_impossible(&elsewhere) {
            return None;
        }

        for place in places {
            let assumed = [init.clone(), self.at_place(&place)].concat();
            let own = facts.get_mut(&place)?;
            let after = own.clone();
            self.keep_proved(&assumed, own, &after);
        }
        Some(())
    }

    /// Removes what a step may not establish, until nothing is removed any more. Nothing if there
    /// are too many places.
    fn keep_inductive(&mut self, facts: &mut Facts) -> Option<()> {
        let mut open: BTreeSet<Place> = facts.keys().cloned().collect();
        while let Some(place) = open.pop_first() {
            for transition in 0..self.program.transitions.len() {
                let Some(target) = self.target_of(transition, &place)? else {
                    continue;
                };
                let assumed = self.step_from(transition, &place, &facts[&place]);
                let Some(own) = facts.get_mut(&target) else {
                    if self.questions.is_impossible(&assumed) {
                        continue;
                    }
                    // Nothing is known there.
                    facts.insert(target.clone(), Vec::new());
                    open.insert(target);
                    if facts.len() > MAX_PLACES {
                        return None;
                    }
                    continue;
                };
                let after: Vec<Term> = own.iter().map(|f| self.after(transition, f)).collect();
                if self.keep_proved(&assumed, own, &after) {
                    open.insert(target);
                }
            }
        }
        Some(())
    }

    /// Where a transition leads from a place; `Some(None)` if it does not start there, and nothing
    /// if that is not known.
    fn target_of(&self, transition: usize, place: &Place) -> Option<Option<Place>> {
        let description = &self.program.transitions[transition];
        let vars = self.program.vars.iter().enumerate();
        let locations = vars.filter(|(_, var)| matches!(var.content, Content::Location(_)));
        let mut target = place.clone();
        for ((var, _), at) in locations.zip(&mut target) {
            let mut sources = description.sources.iter();
            if sources.any(|(source, location)| *source == var && location != at) {
                return Some(None);
            }
            match description.updates.get(&var) {
                None => {}
                Some(Term::Int(location)) => *at = i64::try_from(*location).ok()?,
                Some(_) => return None,
            }
        }
        Some(Some(target))
    }

    /// What is known about a step from a place.
    fn step_from(&self, transition: usize, place: &Place, facts: &[Term]) -> Vec<Term> {
        let description = &self.program.transitions[transition];
        let mut assumed = [self.at_place(place), facts.to_vec()].concat();
        assumed.push(description.guard.clone());
        for local in &description.locals {
            let term = Term::Var(local.name.clone(), local.sort);
            assumed.push(within(&term, local.sort, local.interval));
        }
        assumed.push(self.program.bounds_of(0..self.program.vars.len()));
        assumed
    }

    /// Removes facts that do not follow, where `after` says what each of them is about. Says
    /// whether any was removed.
    fn keep_proved(&mut self, assumed: &[Term], facts: &mut Vec<Term>, after: &[Term]) -> bool {
        let n_before = facts.len();
        let pairs = facts.drain(..).zip(after.iter().cloned());
        let mut pairs: Vec<(Term, Term)> = pairs.collect();
        loop {
            let broken = Term::or(pairs.iter().map(|(_, after)| Term::not(after.clone())));
            let question = [assumed, &[broken]].concat();
            match self.questions.check(&question) {
                Answer::Unsat => break,
                Answer::Sat(model) => {
                    let n = pairs.len();
                    pairs.retain(|(_, after)| model.bool(after) == Some(true));
                    if pairs.len() == n {
                        pairs.clear();
                    }
                }
                Answer::Unknown(_) => {
                    pairs.retain(|(_, after)| {
                        let question = [assumed, &[Term::not(after.clone())]].concat();
                        self.questions.is_impossible(&question)
                    });
                    break;
                }
            }
        }

        facts.extend(pairs.into_iter().map(|(fact, _)| fact));
        facts.len() < n_before
    }

    /// The same facts without those that others imply; what holds at every place is said once.
    fn shortened(&mut self, facts: Facts) -> Vec<Fact> {
        let mut lists = facts.values().map(|list| list.iter().cloned().collect());
        let first: BTreeSet<Term> = lists.next().unwrap_or_default();
        let common = lists.fold(first, |so_far, list: BTreeSet<Term>| &so_far & &list);
        let common = self.without_implied(common.into_iter().collect(), &[]);

        let slots = self.domain.location_slots(self.program);
        let everywhere = |term: &Term| Fact {
            at: Vec::new(),
            term: term.clone(),
        };
        let mut found: Vec<Fact> = common.iter().map(everywhere).collect();
        for (place, list) in facts {
            let own = self.without_implied(list, &common);
            let at: Vec<(usize, i64)> = slots.iter().copied().zip(place).collect();
            found.extend(own.into_iter().map(|term| Fact {
                at: at.clone(),
                term,
            }));
        }
        found
    }

    fn without_implied(&mut self, mut facts: Vec<Term>, known: &[Term]) -> Vec<Term> {
        // Equations are the most useful, so they are the last to be left out.
        facts.sort_by_key(|fact| (!matches!(fact, Term::Eq(_)), fact.size()));
        for position in (0..facts.len()).rev() {
            let fact = facts.remove(position);
            let mut question = [facts.as_slice(), known, &[Term::not(fact.clone())]].concat();
            question.push(self.domain.bounds(self.program, &question));
            if !self.questions.is_impossible(&question) {
                facts.insert(position, fact);
            }
        }
        facts
    }
}

/// The linear equations that all states satisfy.
fn equations(numbers: &[Term], states: &[smt::Model]) -> Option<Vec<Term>> {
    let vector = |state: &smt::Model| -> Option<Vec<i128>> {
        let values = numbers.iter().map(|number| state.int(number));
        values.chain([Some(1)]).collect()
    };
    let vectors: Option<Vec<Vec<i128>>> = states.iter().map(vector).collect();
    let mut found = Vec::new();
    for factors in kernel(&vectors?, numbers.len() + 1)? {
        if factors.iter().any(|factor| factor.abs() > MAX_FACTOR) {
            continue;
        }
        let mut sum = Linear::constant(factors[numbers.len()]);
        for (number, factor) in numbers.iter().zip(&factors) {
            sum = sum.plus(&Linear::of(number).times(*factor));
        }
        found.push(Term::eq(sum.into_term(), Term::Int(0)));
    }
    Some(found)
}

/// The remainders that numbers have in all states, where no equation says more about them.
fn remainders(numbers: &[Term], facts: &[Term], states: &[smt::Model]) -> Vec<Term> {
    let mut related = BTreeSet::new();
    for fact in facts.iter().filter(|fact| matches!(fact, Term::Eq(_))) {
        fact.collect_vars(&mut related);
    }
    let is_open = |number: &&Term| match number {
        Term::Var(name, sort) => !related.contains(&(name.clone(), *sort)),
        _ => false,
    };
    let open = numbers.iter().filter(is_open);
    open.filter_map(|number| remainder(number, states))
        .collect()
}

/// That a number has the same remainder in all states, if it varies.
fn remainder(number: &Term, states: &[smt::Model]) -> Option<Term> {
    let values: Option<Vec<i128>> = states.iter().map(|state| state.int(number)).collect();
    let values = values?;
    let first = values.first()?;
    let divisor = values.iter().fold(0, |so_far, v| gcd(so_far, v - first));
    if !(2..=MAX_FACTOR).contains(&divisor) {
        return None;
    }
    let remainder = Term::rem(number.clone(), divisor);
    Some(Term::eq(remainder, Term::Int(first.rem_euclid(divisor))))
}
