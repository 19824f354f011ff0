//! The abstraction of one transition.
//!
//! S. Bensalem, Y. Lakhnech, S. Owre, *Computing abstractions of infinite state systems
//! compositionally and automatically*, CAV 1998, section 4, doi:10.1007/BFb0028757.
//! *Substitution* first: the new value of a predicate is the predicate with the effect substituted
//! into it; if that is constant under the guard, or a combination of predicates and kept variables,
//! no solver is needed. Deviation from the paper, which looks for a single equal predicate only:
//! any Boolean combination is accepted. What remains is *eliminated* with the solver, group by group: two
//! predicates are in one group if they share an abstracted variable, directly or through others
//! (Lemma 5: then nothing is lost). For an abstract source state, one question gives all
//! combinations of new values of a group.
//!
//! Postcondition: with exact answers, the steps are exactly those of the best abstraction; without
//! an answer, steps are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smt::{Sort, Term};

use super::abstract_term::{Abstract, LocalSlots};
use super::domain::{Domain, is_enumerated};
use super::program::{Program, Transition, within};
use super::questions::{Questions, SolverQuestion};

/// More combinations of enumerated choices than this are left to the solver.
const MAX_CHOICES: usize = 64;

/// How the new value of a slot is found.
#[derive(Clone, Debug)]
pub enum Update {
    /// By substitution.
    Known(Abstract),
    /// With the solver: the position of its group, and its place in it.
    Asked(usize, usize),
}

/// Slots whose new values depend on each other.
#[derive(Clone, Debug)]
pub struct Group {
    /// The slots, with the terms that are their new values and the candidates.
    pub targets: Vec<(usize, Term, Vec<i64>)>,
    /// The slots on whose present values they may depend.
    pub relevant: Vec<usize>,
    /// Conditions of the guard that are not expressible.
    guard: Vec<Term>,
}

/// The abstraction of a transition for one set of predicates.
#[derive(Clone, Debug)]
pub struct AbstractCommand {
    /// The guard as far as it is expressible.
    pub guard: Abstract,
    /// When the transition is possible for certain; unknown where that is not expressible.
    pub enabled: Abstract,
    /// The choices that are made value by value: name and candidates.
    pub choices: Vec<(Arc<str>, Vec<i64>)>,
    /// New values of slots. A slot that is not here keeps its value.
    pub updates: BTreeMap<usize, Update>,
    /// What the solver is asked.
    pub groups: Vec<Group>,
    /// How many predicates it was made for.
    n_predicates: usize,
}

/// How the assignments of an abstraction were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Assignments {
    /// Slots that a transition does not touch.
    pub n_untouched: usize,
    /// By substitution.
    pub n_substituted: usize,
    /// With the solver.
    pub n_asked: usize,
}

impl AbstractCommand {
    /// Prepares the abstraction of a transition.
    #[must_use]
    pub fn new(program: &Program, domain: &Domain, transition: &Transition) -> Self {
        let choices = enumerated(transition);
        let names = choices.iter().enumerate();
        let locals: LocalSlots = names.map(|(slot, (n, _))| (Arc::clone(n), slot)).collect();
        let known = Facts::of(&transition.guard);
        let simplified = domain.simplify(&transition.guard, &transition.locals);
        let guard = Abstract::of(&simplified, domain, &locals);
        let enabled = match &transition.enabled {
            Some(term) => Abstract::of(&domain.simplify(term, &[]), domain, &locals),
            None => Abstract::Unknown,
        };
        let mut updates = BTreeMap::new();
        let mut asked = Vec::new();

        for slot in 0..domain.n_slots() {
            let Some(new) = new_value(program, domain, transition, slot) else {
                continue;
            };
            let new = domain.simplify(&known.apply(&new), &transition.locals);
            match Abstract::of(&new, domain, &locals) {
                value if value.is_exact() => {
                    updates.insert(slot, Update::Known(value));
                }
                _ => asked.push((slot, new, candidates(domain, slot))),
            }
        }

        let open = unexpressed(&simplified, domain, &locals);
        let groups = groups_of(domain, asked, open);
        for (group, description) in groups.iter().enumerate() {
            for (place, (slot, _, _)) in description.targets.iter().enumerate() {
                updates.insert(*slot, Update::Asked(group, place));
            }
        }

        Self {
            guard,
            enabled,
            choices,
            updates,
            groups,
            n_predicates: domain.predicates.len(),
        }
    }

    /// Counts how the assignments were found.
    pub fn count(&self, domain: &Domain, assignments: &mut Assignments) {
        for slot in 0..domain.n_slots() {
            match self.updates.get(&slot) {
                None => assignments.n_untouched += 1,
                Some(Update::Known(_)) => assignments.n_substituted += 1,
                Some(Update::Asked(..)) => assignments.n_asked += 1,
            }
        }
    }

    /// The abstract states that the transition may lead to, with the choices made. `None` if the
    /// solver gave up where everything would have to be kept.
    pub(crate) fn successors(
        &self,
        context: &Context<'_>,
        questions: &mut Questions,
        state: &[i64],
    ) -> Option<Vec<Vec<i64>>> {
        let mut found = Vec::new();
        for choice in combinations(&self.choices) {
            found.extend(self.successors_of_choice(context, questions, state, &choice)?);
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// The same for one combination of enumerated choices.
    pub(crate) fn successors_of_choice(
        &self,
        context: &Context<'_>,
        questions: &mut Questions,
        state: &[i64],
        choice: &[i64],
    ) -> Option<Vec<Vec<i64>>> {
        if self.guard.eval(state, choice) == Some(0) {
            return Some(Vec::new());
        }
        let mut targets = vec![self.known_part(state, choice)];
        for group in &self.groups {
            let rows = self.ask(context, questions, group, state, choice)?;
            let extend = |target: &Vec<i64>| -> Vec<Vec<i64>> {
                let with = |row: &Vec<i64>| {
                    let mut next = target.clone();
                    for ((slot, _, _), value) in group.targets.iter().zip(row) {
                        next[*slot] = *value;
                    }
                    next
                };
                rows.iter().map(with).collect()
            };
            targets = targets.iter().flat_map(extend).collect();
        }
        targets.retain(|target| context.domain.kept_fit(target));
        Some(targets)
    }

    fn known_part(&self, state: &[i64], choice: &[i64]) -> Vec<i64> {
        let mut next = state.to_vec();
        for (slot, update) in &self.updates {
            if let Update::Known(value) = update {
                next[*slot] = value.eval(state, choice).expect("it is exact");
            }
        }
        next
    }

    /// The combinations of new values of a group.
    fn ask(
        &self,
        context: &Context<'_>,
        questions: &mut Questions,
        group: &Group,
        state: &[i64],
        choice: &[i64],
    ) -> Option<Vec<Vec<i64>>> {
        let question = self.question(context, group, state, choice, usize::MAX);
        let n_old = context.n_older_predicates;
        let coarser = (n_old < self.n_predicates).then(|| {
            let first_new = context.domain.kept.len() + n_old;
            let old = self.question(context, group, state, choice, n_old);
            let targets = group.targets.iter().enumerate();
            let columns = targets.filter(|(_, (slot, _, _))| *slot < first_new);
            (old, columns.map(|(column, _)| column).collect::<Vec<_>>())
        });
        questions.rows(question, coarser.as_ref())
    }

    /// The question about a group, as it is with the first so many predicates.
    fn question(
        &self,
        context: &Context<'_>,
        group: &Group,
        state: &[i64],
        choice: &[i64],
        n_predicates: usize,
    ) -> SolverQuestion {
        let Context {
            program,
            domain,
            transition,
            ..
        } = context;

        let first_new = domain.kept.len().saturating_add(n_predicates);
        let mut assumptions: Vec<Term> = group.guard.clone();
        for &slot in group.relevant.iter().filter(|slot| **slot < first_new) {
            assumptions.push(domain.describe(program, slot, state[slot]));
        }
        for ((name, _), value) in self.choices.iter().zip(choice) {
            let local = Term::Var(Arc::clone(name), Sort::Int);
            assumptions.push(Term::eq(local, Term::Int(i128::from(*value))));
        }

        let targets = group.targets.iter().filter(|target| target.0 < first_new);
        let dimensions: Vec<(Term, Vec<i64>)> = targets
            .map(|(_, term, values)| (term.clone(), values.clone()))
            .collect();
        let mut terms = assumptions.clone();
        terms.extend(dimensions.iter().map(|(term, _)| term.clone()));
        assumptions.push(domain.known(program, state, &terms));
        for local in &transition.locals {
            let term = Term::Var(Arc::clone(&local.name), local.sort);
            assumptions.push(within(&term, local.sort, local.interval));
        }

        let mut flat = BTreeSet::new();
        for assumption in assumptions {
            match assumption {
                Term::Bool(true) => {}
                Term::And(parts) => flat.extend(parts.iter().cloned()),
                other => {
                    flat.insert(other);
                }
            }
        }

        SolverQuestion {
            assumptions: flat.into_iter().collect(),
            dimensions,
        }
    }
}

/// Where a transition is abstracted.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) domain: &'a Domain,
    pub(crate) transition: &'a Transition,
    /// How many predicates there were before the last refinement.
    pub(crate) n_older_predicates: usize,
}

impl Domain {
    /// Do all kept variables have a value of their type? A step to anything else is a run-time
    /// error, which is looked for elsewhere.
    fn kept_fit(&self, state: &[i64]) -> bool {
        let fits = |((_, values), value): (&(usize, Vec<i64>), &i64)| values.contains(value);
        self.kept.iter().zip(state).all(fits)
    }
}

fn candidates(domain: &Domain, slot: usize) -> Vec<i64> {
    match domain.kept.get(slot) {
        Some((_, values)) => values.clone(),
        None => vec![0, 1],
    }
}

fn enumerated(transition: &Transition) -> Vec<(Arc<str>, Vec<i64>)> {
    let mut choices = Vec::new();
    let mut n_combinations = 1;
    for local in transition
        .locals
        .iter()
        .filter(|local| is_enumerated(local))
    {
        let (Some(lo), Some(hi)) = local.interval else {
            continue;
        };
        let values: Vec<i64> = (lo..=hi).filter_map(|v| i64::try_from(v).ok()).collect();
        n_combinations *= values.len().max(1);
        if n_combinations > MAX_CHOICES {
            break;
        }
        choices.push((Arc::clone(&local.name), values));
    }
    choices
}

fn combinations(choices: &[(Arc<str>, Vec<i64>)]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for (_, values) in choices {
        let extend = |so_far: &Vec<i64>| -> Vec<Vec<i64>> {
            let with = |value: &i64| [so_far.as_slice(), &[*value]].concat();
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// The new value of a slot as a term over the old state; nothing if it does not change.
fn new_value(
    program: &Program,
    domain: &Domain,
    transition: &Transition,
    slot: usize,
) -> Option<Term> {
    if let Some((var, _)) = domain.kept.get(slot) {
        return transition.updates.get(var).cloned();
    }
    let term = &domain.predicates[slot - domain.kept.len()].term;
    let after = term.substitute(&|name| {
        let var = program.var_named(name)?;
        transition.updates.get(&var).cloned()
    });
    (after != *term).then_some(after)
}

/// What a guard says for certain: values of variables, and atoms.
struct Facts {
    values: BTreeMap<Arc<str>, Term>,
    atoms: BTreeMap<Term, bool>,
}

impl Facts {
    fn of(guard: &Term) -> Self {
        let mut facts = Self {
            values: BTreeMap::new(),
            atoms: BTreeMap::new(),
        };
        let conjuncts: Vec<Term> = match guard {
            Term::And(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };

        for conjunct in conjuncts {
            match &conjunct {
                Term::Var(name, Sort::Bool) => {
                    facts.values.insert(Arc::clone(name), Term::Bool(true));
                }
                Term::Not(inner) => match &**inner {
                    Term::Var(name, Sort::Bool) => {
                        facts.values.insert(Arc::clone(name), Term::Bool(false));
                    }
                    other => {
                        facts.atoms.insert(other.clone(), false);
                    }
                },
                Term::Eq(linear) => {
                    let mut terms = linear.terms();
                    if let (Some((Term::Var(name, _), 1)), None) = (terms.next(), terms.next()) {
                        let value = Term::Int(-linear.offset());
                        facts.values.insert(Arc::clone(name), value);
                    }
                    facts.atoms.insert(conjunct.clone(), true);
                }
                other => {
                    facts.atoms.insert(other.clone(), true);
                }
            }
        }

        facts
    }

    fn apply(&self, term: &Term) -> Term {
        let without_atoms = self.apply_atoms(term);
        without_atoms.substitute(&|name| self.values.get(name).cloned())
    }

    fn apply_atoms(&self, term: &Term) -> Term {
        if let Some(value) = self.atoms.get(term) {
            return Term::Bool(*value);
        }
        match term {
            Term::Not(inner) => Term::not(self.apply_atoms(inner)),
            Term::And(parts) => Term::and(parts.iter().map(|p| self.apply_atoms(p))),
            Term::Or(parts) => Term::or(parts.iter().map(|p| self.apply_atoms(p))),
            other => other.clone(),
        }
    }
}

/// The conjuncts of a guard that are not expressible.
fn unexpressed(guard: &Term, domain: &Domain, locals: &LocalSlots) -> Vec<Term> {
    let conjuncts: Vec<Term> = match guard {
        Term::And(parts) => parts.to_vec(),
        other => vec![other.clone()],
    };
    let is_open = |term: &Term| !Abstract::of(term, domain, locals).is_exact();
    conjuncts.into_iter().filter(is_open).collect()
}

/// Sets of names that are connected.
struct Components(Vec<BTreeSet<Arc<str>>>);

impl Components {
    fn connect(&mut self, names: BTreeSet<Arc<str>>) {
        if names.is_empty() {
            return;
        }
        let mut joined = names;
        let mut rest = Vec::new();
        for component in self.0.drain(..) {
            if component.is_disjoint(&joined) {
                rest.push(component)
            } else {
                joined.extend(component)
            }
        }
        rest.push(joined);
        self.0 = rest;
    }

    fn of(&self, names: &BTreeSet<Arc<str>>) -> Option<usize> {
        self.0.iter().position(|part| !part.is_disjoint(names))
    }
}

fn names_in(term: &Term, domain: &Domain) -> BTreeSet<Arc<str>> {
    let mut vars = BTreeSet::new();
    term.collect_vars(&mut vars);
    let names = vars.into_iter().map(|(name, _)| name);
    names
        .filter(|name| domain.slot_of_var(name).is_none())
        .collect()
}

/// Splits what must be asked into independent groups, each with what it depends on.
fn groups_of(domain: &Domain, asked: Vec<(usize, Term, Vec<i64>)>, guard: Vec<Term>) -> Vec<Group> {
    let mut components = Components(Vec::new());
    let of_predicates = domain.predicates.iter().map(|p| &p.term);
    let of_targets = asked.iter().map(|(_, term, _)| term);
    let of_facts = domain.facts.iter().map(|fact| &fact.term);
    for term in of_predicates
        .chain(of_facts)
        .chain(of_targets)
        .chain(&guard)
    {
        components.connect(names_in(term, domain));
    }
    let mut groups: BTreeMap<Option<usize>, Group> = BTreeMap::new();
    let group_of = |term: &Term| -> Option<usize> { components.of(&names_in(term, domain)) };
    let empty = || Group {
        targets: Vec::new(),
        relevant: Vec::new(),
        guard: Vec::new(),
    };
    for target in asked {
        let key = group_of(&target.1);
        groups.entry(key).or_insert_with(empty).targets.push(target);
    }
    for conjunct in guard {
        let key = group_of(&conjunct);
        groups.entry(key).or_insert_with(empty).guard.push(conjunct);
    }
    for (position, predicate) in domain.predicates.iter().enumerate() {
        let slot = domain.kept.len() + position;
        if let Some(group) = groups.get_mut(&group_of(&predicate.term)) {
            group.relevant.push(slot);
        }
    }

    for group in groups.values_mut() {
        let mut kept = BTreeSet::new();
        let targets = group.targets.iter().map(|(_, term, _)| term);
        let predicates = group.relevant.iter();
        let predicates = predicates.map(|slot| &domain.predicates[slot - domain.kept.len()].term);
        for term in targets.chain(predicates).chain(&group.guard) {
            kept.extend(domain.kept_in(term));
        }
        group.relevant.extend(kept);
        group.relevant.sort_unstable();
    }

    groups.into_values().collect()
}
