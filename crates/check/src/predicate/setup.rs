//! What is common to all rounds of a check: the program, its atoms, the first predicates.

use abstraction::predicate::{
    Abstraction, AtomTerm, Domain, Failure, Origin, Program, Questions, Refusal, atom_term,
    program_of, state_term,
};
use base::{AtomId, Fairness};
use logic::{Ltl, Property};
use model::Model;
use omega::Prop;
use rustc_hash::FxHashMap;
use smt::Term;

use super::{Options, confirmed_solver};
use crate::Plan;
use crate::explicit::with_assumed_atoms;

/// A model as a program, with what a property says about it.
pub struct Setup {
    /// The program.
    pub program: Program,
    /// The first predicates.
    pub domain: Domain,
    /// What the atoms of the property and of the assumptions mean.
    pub atoms: FxHashMap<AtomId, AtomTerm>,
    /// When they have no value.
    pub failures: Vec<Failure>,
    /// Is nothing to be added to what the author says, before it turns out to be needed?
    pub only: bool,
}

impl Setup {
    /// Prepares a model for a property.
    ///
    /// # Errors
    /// Something cannot be expressed.
    pub fn new(model: &Model, property: &Property, options: &Options) -> Result<Self, Refusal> {
        let hints = &options.hints;
        let program = program_of(model)?;
        let mut domain = Domain::keeping_up_to(&program, options.max_kept_values);
        for hint in &hints.predicates {
            let (term, _) = state_term(model, &program, &hint.expr, hint.span)?;
            let origin = Origin::Author(hint.name.clone());
            domain.add(Some(&hint.name), &term, origin, hint.span);
        }

        let mut setup = Self {
            program,
            domain,
            atoms: FxHashMap::default(),
            failures: Vec::new(),
            only: hints.only,
        };

        setup.add_atoms(model, property)?;
        if !hints.only {
            let Self {
                program, domain, ..
            } = &mut setup;
            domain.add_guards(program);
        }

        Ok(setup)
    }

    fn add_atoms(&mut self, model: &Model, property: &Property) -> Result<(), Refusal> {
        let own = match property {
            Property::Ltl(f) | Property::Invariant(f) | Property::Reachable(f) => f.atoms(),
            Property::CtlStar(f) => f.atoms(),
            Property::DeadlockFree | Property::Never(_) | Property::MayMust(_) => Vec::new(),
        };
        for atom in with_assumed_atoms(model, &own) {
            let (meaning, failure) = atom_term(model, &self.program, atom)?;
            if let AtomTerm::State(term) = &meaning {
                self.domain.add_atoms(term, &Origin::Model);
            }
            self.failures.extend(failure);
            self.atoms.insert(atom, meaning);
        }
        Ok(())
    }
}

/// One check of a property.
pub(super) struct Check<'a> {
    pub(super) model: &'a Model,
    pub(super) setup: &'a Setup,
    pub(super) fairness: Fairness,
    pub(super) plan: &'a Plan,
    pub(super) property: &'a Property,
    /// The predicates in the end.
    pub(super) last_domain: std::cell::RefCell<Option<Domain>>,
    /// Why the last run that was found is not evidence.
    pub(super) unconfirmed: std::cell::RefCell<Option<String>>,
    /// The last abstract counterexample, in words.
    pub(super) remaining: std::cell::RefCell<Vec<String>>,
    /// Does it end where nothing happens any more?
    pub(super) is_at_rest: std::cell::Cell<bool>,
}

impl Check<'_> {
    /// The abstraction with the first predicates.
    pub(super) fn abstraction(&self) -> Abstraction<'_> {
        let setup = self.setup;
        let solver = confirmed_solver(&self.plan.predicate);
        let questions = Questions::new(solver, &self.plan.budget);
        let mut abstraction = Abstraction::new(
            &setup.program,
            setup.domain.clone(),
            questions,
            &setup.failures,
        );
        if !setup.only {
            let n_before = abstraction.domain.predicates.len();
            for condition in abstraction.failure_conditions() {
                abstraction.domain.add_atoms(&condition, &Origin::Model);
            }
            if abstraction.domain.predicates.len() > n_before {
                abstraction.refine(n_before);
            }
        }
        abstraction
    }

    /// A proposition as a term over the state, for the transition that led to it.
    pub(super) fn term_of(&self, prop: &Prop, transition: Option<usize>) -> Term {
        match prop {
            Prop::Const(value) => Term::Bool(*value),
            Prop::Atom(atom) => match &self.setup.atoms[atom] {
                AtomTerm::State(term) => term.clone(),
                AtomTerm::Taken(set) => Term::Bool(transition.is_some_and(|t| set[t])),
            },
            Prop::Not(inner) => Term::not(self.term_of(inner, transition)),
            Prop::And(parts) => Term::and(parts.iter().map(|p| self.term_of(p, transition))),
            Prop::Or(parts) => Term::or(parts.iter().map(|p| self.term_of(p, transition))),
        }
    }
}

/// The atoms of an abstraction, ready for evaluation.
pub(super) struct Letters {
    atoms: FxHashMap<AtomId, Letter>,
}

enum Letter {
    State(abstraction::predicate::Abstract),
    Taken(Vec<bool>),
}

impl Letters {
    /// The atoms as the abstraction sees them; nothing if one of them is not expressible.
    pub(super) fn new(check: &Check<'_>, domain: &Domain) -> Option<Self> {
        let mut atoms = FxHashMap::default();
        for (atom, meaning) in &check.setup.atoms {
            let letter = match meaning {
                AtomTerm::State(term) => {
                    let seen = domain.express(term);
                    if !seen.is_exact() {
                        return None;
                    }
                    Letter::State(seen)
                }
                AtomTerm::Taken(set) => Letter::Taken(set.clone()),
            };
            atoms.insert(*atom, letter);
        }
        Some(Self { atoms })
    }

    /// Does the atom hold in a state, reached by a transition?
    pub(super) fn holds(&self, atom: AtomId, state: &[i64], transition: Option<usize>) -> bool {
        match &self.atoms[&atom] {
            Letter::State(term) => term.eval(state, &[]) == Some(1),
            Letter::Taken(set) => transition.is_some_and(|t| set[t]),
        }
    }
}

/// A formula without temporal operators over letters; nothing if it is too large.
pub(super) fn proposition(formula: &Ltl) -> Option<Prop> {
    logic::propositional(formula)
}
