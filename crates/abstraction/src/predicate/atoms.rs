//! Atomic propositions of the model, seen from the program; and where predicates come from.

use base::{AtomId, Span};
use model::{AtomMeaning, Expr, Model};
use smt::{Sort, Term};

use super::domain::{Domain, Origin};
use super::program::{Failure, Program, Refusal};
use super::symbolic::{Scene, Translator};

/// What an atom means.
#[derive(Clone, Debug)]
pub enum AtomTerm {
    /// A property of the state.
    State(Term),
    /// The transition that led to the state is one of these.
    Taken(Vec<bool>),
}

/// The meaning of an atom, and when it has none.
///
/// # Errors
/// It cannot be expressed.
pub fn atom_term(
    model: &Model,
    program: &Program,
    atom: AtomId,
) -> Result<(AtomTerm, Option<Failure>), Refusal> {
    let description = &model.parts().atoms[atom.index()];
    let span = description.span;
    let among = |pattern| {
        let set = model.step_set(pattern);
        let is_in = move |transition: &super::program::Transition| {
            transition.commands.iter().any(|c| set.contains(*c))
        };
        let transitions = program.transitions.iter();
        transitions.map(is_in).collect::<Vec<bool>>()
    };

    let enabled = |wanted: &dyn Fn(usize) -> bool| {
        let mut parts = Vec::new();
        for (position, transition) in program.transitions.iter().enumerate() {
            if wanted(position) {
                let unknown = || Refusal {
                    message: "whether a step is possible depends on a choice".to_owned(),
                    span,
                };
                parts.push(transition.enabled.clone().ok_or_else(unknown)?);
            }
        }
        Ok(Term::or(parts))
    };

    match &description.meaning {
        AtomMeaning::State(expr) => {
            let (term, failure) = state_term(model, program, expr, span)?;
            Ok((AtomTerm::State(term), failure))
        }
        AtomMeaning::Taken(pattern) => Ok((AtomTerm::Taken(among(pattern)), None)),
        AtomMeaning::Enabled(pattern) => {
            let set = among(pattern);
            Ok((AtomTerm::State(enabled(&|t| set[t])?), None))
        }
        AtomMeaning::Certainly(..) | AtomMeaning::TimerSet(_) => Err(Refusal {
            message: "a proposition is about an abstract timer".to_owned(),
            span,
        }),
        AtomMeaning::Deadlock => {
            let some = enabled(&|_| true)?;
            Ok((AtomTerm::State(Term::not(some)), None))
        }
    }
}

/// A Boolean expression of the state as a term, and when it has no value.
///
/// # Errors
/// It cannot be expressed.
pub fn state_term(
    model: &Model,
    program: &Program,
    expr: &Expr,
    span: Span,
) -> Result<(Term, Option<Failure>), Refusal> {
    let translator = Translator {
        model,
        vars: &program.vars,
        span,
    };
    let mut scene = Scene::new(&program.vars, None, &[]);
    let valued = translator.truth(expr, &mut scene)?;
    let failure = (valued.ok != Term::Bool(true)).then(|| Failure {
        condition: Term::not(valued.ok),
        locals: Vec::new(),
    });
    Ok((valued.term, failure))
}

impl Domain {
    /// Adds the atoms of all guards and of all truth values that are assigned: with them, every
    /// guard is kept exactly.
    pub fn add_guards(&mut self, program: &Program) {
        for transition in &program.transitions {
            self.add_atoms(&transition.guard, &Origin::Model);
            for (var, value) in &transition.updates {
                if program.vars[*var].sort == Sort::Bool {
                    self.add_atoms(value, &Origin::Model);
                }
            }
        }
    }

    /// Adds what assignments establish: `x == e` after `x := e` for an `e` that is not constant and
    /// does not mention what is assigned (Bensalem, Lakhnech, Owre, section 5), and `x == y` after a step that
    /// gives both the same value. Relations between variables are found by no weakest precondition
    /// of a property that mentions each of them alone.
    pub fn add_assignments(&mut self, program: &Program) {
        for transition in &program.transitions {
            let is_data = |var: &usize| {
                let description = &program.vars[*var];
                description.sort != Sort::Bool && !self.data_in(&description.term()).is_empty()
            };
            let updates: Vec<(usize, &Term)> = transition
                .updates
                .iter()
                .filter(|(var, _)| is_data(var))
                .map(|(var, value)| (*var, value))
                .collect();
            let mut found = Vec::new();
            for (position, (var, value)) in updates.iter().enumerate() {
                for (other, same) in &updates[..position] {
                    let (a, b) = (&program.vars[*var], &program.vars[*other]);
                    if value == same && a.sort == b.sort {
                        found.push(Term::eq(a.term(), b.term()));
                    }
                }
                if !matches!(value, Term::Int(_) | Term::Ite(..)) {
                    found.push(establishes(program, *var, value, &updates));
                }
            }
            for term in found {
                self.add_atoms(&term, &Origin::Model);
            }
        }
    }

    /// Adds the atoms of the guards of some transitions. Says how many were new.
    pub fn add_guards_of(&mut self, program: &Program, transitions: &[usize]) -> usize {
        let guards = transitions.iter();
        let guards = guards.map(|position| program.transitions[*position].guard.clone());
        guards
            .map(|guard| self.add_atoms(&guard, &Origin::Model))
            .sum()
    }
}

/// `x == e`, unless the step changes something that `e` mentions.
fn establishes(program: &Program, var: usize, value: &Term, updates: &[(usize, &Term)]) -> Term {
    let mut vars = std::collections::BTreeSet::new();
    value.collect_vars(&mut vars);
    let changes = |(other, _): &(usize, &Term)| {
        let name = &program.vars[*other].name;
        vars.iter().any(|(mentioned, _)| mentioned == name)
    };
    if updates.iter().any(changes) {
        Term::Bool(true)
    } else {
        Term::eq(program.vars[var].term(), value.clone())
    }
}
