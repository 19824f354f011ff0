//! What an abstract state consists of: the variables that are kept, and the predicates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::Span;
use smt::{Interval, Sort, Term};

use super::abstract_term::{Abstract, LocalSlots};
use super::program::{Content, Local, Program};

/// Variables with more values than this are not kept.
pub const MAX_KEPT_VALUES: i128 = 32;

/// Where a predicate comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The author of the model names it.
    Author(String),
    /// It occurs in a guard, an assignment or the property.
    Model,
    /// A spurious counterexample was refuted with it, in this round.
    Refinement(usize),
}

/// A Boolean of the abstract state: the truth of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    /// Its name in the abstract model.
    pub name: String,
    /// What it means.
    pub term: Term,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it is written, if anywhere.
    pub span: Span,
}

/// Something that holds in every reachable state at some locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// Where: slots of locations with their values. Everywhere if there are none.
    pub at: Vec<(usize, i64)>,
    /// What holds there.
    pub term: Term,
}

impl Fact {
    fn is_about(&self, state: &[i64]) -> bool {
        self.at.iter().all(|(slot, value)| state[*slot] == *value)
    }
}

/// The components of abstract states: kept variables first, then predicates.
///
/// Invariant: no predicate speaks of kept variables only, none is constant, no two are equal or
/// each other's negation.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The positions of the kept variables in the program, with their values.
    pub kept: Vec<(usize, Vec<i64>)>,
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// What is proved of all reachable states.
    pub facts: Vec<Fact>,
    intervals: BTreeMap<Arc<str>, Interval>,
    slot_of_var: BTreeMap<Arc<str>, usize>,
    /// Which predicate a term is, and whether it is its negation.
    known: BTreeMap<Term, (usize, bool)>,
    data: BTreeSet<Arc<str>>,
}

impl Domain {
    /// Keeps every variable that has few values and never depends on an abstracted number, and has
    /// no predicates yet.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self::keeping_up_to(program, MAX_KEPT_VALUES)
    }

    /// The same, where "few" is this many.
    #[must_use]
    pub fn keeping_up_to(program: &Program, max_values: i128) -> Self {
        let mut kept: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for (position, var) in program.vars.iter().enumerate() {
            let limit = match var.content {
                Content::Location(_) => i128::MAX,
                _ => max_values,
            };
            if let Some(values) = var.values(limit).filter(|_| !var.is_open) {
                kept.insert(position, values);
            }
        }

        loop {
            let before = kept.len();
            for transition in &program.transitions {
                for (var, value) in &transition.updates {
                    if program.vars[*var].sort == Sort::Int
                        && kept.contains_key(var)
                        && !is_control(program, &kept, &transition.locals, value)
                    {
                        kept.remove(var);
                    }
                }
            }
            if kept.len() == before {
                break;
            }
        }

        Self::keeping(program, kept)
    }

    fn keeping(program: &Program, kept: BTreeMap<usize, Vec<i64>>) -> Self {
        let kept: Vec<(usize, Vec<i64>)> = kept.into_iter().collect();
        let name = |position: usize| Arc::clone(&program.vars[position].name);
        let slots = kept.iter().enumerate();
        let slot_of_var: BTreeMap<Arc<str>, usize> =
            slots.map(|(slot, (var, _))| (name(*var), slot)).collect();
        let intervals = program.vars.iter();
        let intervals = intervals.map(|var| (Arc::clone(&var.name), var.interval));
        let data = program.vars.iter().map(|var| Arc::clone(&var.name));
        let data = data
            .filter(|name| !slot_of_var.contains_key(name))
            .collect();
        Self {
            intervals: intervals.collect(),
            kept,
            predicates: Vec::new(),
            facts: Vec::new(),
            slot_of_var,
            known: BTreeMap::new(),
            data,
        }
    }

    /// How many components an abstract state has.
    #[must_use]
    pub fn n_slots(&self) -> usize {
        self.kept.len() + self.predicates.len()
    }

    /// The slot of a kept variable.
    #[must_use]
    pub fn slot_of_var(&self, name: &str) -> Option<usize> {
        self.slot_of_var.get(name).copied()
    }

    /// The slot of the predicate that the term is, and whether it is its negation.
    #[must_use]
    pub fn slot_of_term(&self, term: &Term) -> Option<(usize, bool)> {
        let (predicate, negated) = self.known.get(term)?;
        Some((self.kept.len() + predicate, *negated))
    }

    /// Simplifies a term by the types of variables and chosen values.
    #[must_use]
    pub fn simplify(&self, term: &Term, locals: &[Local]) -> Term {
        let interval = |name: &str| {
            let local = locals.iter().find(|local| &*local.name == name);
            let known = self.intervals.get(name).copied();
            local
                .map(|local| local.interval)
                .or(known)
                .unwrap_or_default()
        };
        term.within(&interval)
    }

    /// The abstracted variables and other names that are not kept in a term.
    #[must_use]
    pub fn data_in(&self, term: &Term) -> BTreeSet<Arc<str>> {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        let names = vars.into_iter().map(|(name, _)| name);
        names.filter(|name| self.data.contains(name)).collect()
    }

    /// The kept variables in a term, as slots.
    #[must_use]
    pub fn kept_in(&self, term: &Term) -> BTreeSet<usize> {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        let slots = vars.iter().filter_map(|(name, _)| self.slot_of_var(name));
        slots.collect()
    }

    /// Adds a predicate, unless it adds nothing. Says whether it was added.
    pub fn add(&mut self, name: Option<&str>, term: &Term, origin: Origin, span: Span) -> bool {
        let term = self.simplify(term, &[]);
        let mentions_other = {
            let mut vars = BTreeSet::new();
            term.collect_vars(&mut vars);
            vars.iter()
                .any(|(name, _)| !self.intervals.contains_key(name))
        };

        if self.data_in(&term).is_empty() || mentions_other || self.known.contains_key(&term) {
            return false;
        }
        let position = self.predicates.len();

        // Found predicates are kept in the positive form, those of authors as they are written.
        let term = match (&origin, term) {
            (Origin::Model | Origin::Refinement(_), Term::Not(inner)) => (*inner).clone(),
            (_, term) => term,
        };
        self.known.insert(term.clone(), (position, false));
        self.known.insert(Term::not(term.clone()), (position, true));

        let name = match name {
            Some(name) => name.to_owned(),
            None => format!("b{}", position + 1),
        };
        self.predicates.push(Predicate {
            name,
            term,
            origin,
            span,
        });
        true
    }

    /// Adds every atom of a term that speaks of abstracted data. Says how many were new.
    pub fn add_atoms(&mut self, term: &Term, origin: &Origin) -> usize {
        let mut atoms = BTreeSet::new();
        self.simplify(term, &[]).collect_atoms(&mut atoms);
        let mut n_added = 0;
        for atom in atoms {
            n_added += usize::from(self.add(None, &atom, origin.clone(), Span::nowhere()));
        }
        n_added
    }

    /// A term as abstract states see it.
    #[must_use]
    pub fn express(&self, term: &Term) -> Abstract {
        Abstract::of(&self.simplify(term, &[]), self, &LocalSlots::new())
    }

    /// What it means that a slot has a value.
    #[must_use]
    pub fn describe(&self, program: &Program, slot: usize, value: i64) -> Term {
        let term = match self.kept.get(slot) {
            Some((var, _)) => program.vars[*var].term(),
            None => self.predicates[slot - self.kept.len()].term.clone(),
        };
        match term.sort() {
            Sort::Bool if value != 0 => term,
            Sort::Bool => Term::not(term),
            _ => Term::eq(term, Term::Int(i128::from(value))),
        }
    }

    /// The concrete states that an abstract state describes.
    #[must_use]
    pub fn describe_state(&self, program: &Program, state: &[i64]) -> Term {
        let slots = state.iter().enumerate();
        Term::and(slots.map(|(slot, value)| self.describe(program, slot, *value)))
    }

    /// The slots of locations, in the order of the processes.
    #[must_use]
    pub fn location_slots(&self, program: &Program) -> Vec<usize> {
        let is_location = |var: usize| matches!(program.vars[var].content, Content::Location(_));
        let slots = self.kept.iter().enumerate();
        let slots = slots.filter(|(_, (var, _))| is_location(*var));
        slots.map(|(slot, _)| slot).collect()
    }

    /// What is known besides an abstract state about terms: the facts that share data with them, directly
    /// or through each other, and the bounds of what is mentioned then.
    #[must_use]
    pub fn known(&self, program: &Program, state: &[i64], terms: &[Term]) -> Term {
        let mut names: BTreeSet<Arc<str>> = terms.iter().flat_map(|t| self.data_in(t)).collect();
        let about = self.facts.iter().filter(|fact| fact.is_about(state));
        let mut open: Vec<Term> = about
            .map(|fact| self.where_kept(&fact.term, state))
            .collect();
        let mut known = terms.to_vec();
        loop {
            let n_before = open.len();
            open.retain(|fact| {
                let own = self.data_in(fact);
                let is_apart = own.is_disjoint(&names);
                if !is_apart {
                    names.extend(own);
                    known.push(fact.clone());
                }
                is_apart
            });
            if open.len() == n_before {
                break;
            }
        }

        let bounds = self.bounds(program, &known);
        Term::and(known.split_off(terms.len()).into_iter().chain([bounds]))
    }

    /// A term in which kept variables have the values of an abstract state.
    fn where_kept(&self, term: &Term, state: &[i64]) -> Term {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        let is_bool = |name: &str| {
            vars.iter()
                .any(|(n, sort)| &**n == name && *sort == Sort::Bool)
        };
        term.substitute(&|name| {
            let value = state[self.slot_of_var(name)?];
            Some(if is_bool(name) {
                Term::Bool(value != 0)
            } else {
                Term::Int(i128::from(value))
            })
        })
    }

    /// Makes predicates of all facts, so that the abstraction shows them by itself.
    pub fn facts_as_predicates(&mut self, program: &Program) {
        for Fact { at, term } in std::mem::take(&mut self.facts) {
            let at = at.iter();
            let at = at.map(|(slot, value)| self.describe(program, *slot, *value));
            let implied = Term::implies(Term::and(at), term);
            self.add(None, &implied, Origin::Model, Span::nowhere());
        }
    }

    /// The bounds of all variables that are not kept and occur in the terms.
    #[must_use]
    pub fn bounds(&self, program: &Program, terms: &[Term]) -> Term {
        let mut vars = BTreeSet::new();
        terms.iter().for_each(|term| term.collect_vars(&mut vars));
        let positions = vars.iter().filter_map(|(name, _)| program.var_named(name));
        program.bounds_of(positions)
    }
}

/// Is a number computed from kept variables, bounded choices and truth values only?
fn is_control(
    program: &Program,
    kept: &BTreeMap<usize, Vec<i64>>,
    locals: &[Local],
    term: &Term,
) -> bool {
    match term {
        Term::Int(_) => true,
        Term::Var(name, _) => {
            let local = locals.iter().find(|local| local.name == *name);
            match (local, program.var_named(name)) {
                (Some(local), _) => is_enumerated(local),
                (None, Some(var)) => kept.contains_key(&var),
                (None, None) => false,
            }
        }
        Term::Ite(_, then, otherwise) => {
            is_control(program, kept, locals, then) && is_control(program, kept, locals, otherwise)
        }
        Term::Sum(linear) => linear
            .terms()
            .all(|(term, _)| is_control(program, kept, locals, term)),
        Term::Div(inner, _) | Term::Mod(inner, _) => is_control(program, kept, locals, inner),
        _ => false,
    }
}

/// Is the choice made value by value in the abstract model?
pub(crate) fn is_enumerated(local: &Local) -> bool {
    const MAX_CHOICES: i128 = 16;
    match (local.sort, local.interval) {
        (Sort::Int, (Some(lo), Some(hi))) => hi - lo < MAX_CHOICES,
        _ => false,
    }
}
