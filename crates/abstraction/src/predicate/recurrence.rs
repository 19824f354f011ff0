//! Loops that go on forever although no state returns: recurrent sets.
//!
//! A *closed recurrent set* of a loop is a set of states in each of which the steps of the loop are
//! possible one after the other, and from each of which one round leads into the set again. A loop
//! whose stem reaches such a set can be repeated forever (A. Gupta, T. Henzinger, R. Majumdar,
//! A. Rybalchenko, R. Xu, *Proving non-termination*, POPL 2008, doi:10.1145/1328438.1328459; closed
//! sets: H. Y. Chen, B. Cook, C. Fuhs, K. Nimkar, P. O'Hearn, *Proving nontermination via safety*,
//! TACAS 2014, doi:10.1007/978-3-642-54862-8_11). Values that steps choose are fixed first, as
//! functions of the state, so that a round is a function.
//!
//! The set is a conjunction. Its candidates are what a round needs, the same one and two rounds
//! later, the predicates, and bounds and distances of variables, each if it is true at the start of
//! every round of a concrete sample; those that a round does not keep are removed until the rest
//! is kept (C. Flanagan, K. R. M. Leino, *Houdini, an annotation
//! assistant for ESC/Java*, FME 2001, doi:10.1007/3-540-45251-6_29). If
//! something is removed that a round needs, nothing is proved.
//!
//! Precondition: run-time errors have been excluded. Postcondition: the first state of the first
//! round of the sample lies in the set, and the solver has proved that the set is closed.

use std::collections::BTreeSet;
use std::sync::Arc;

use smt::{Answer, Linear, Sort, Term, Value};

use super::explore::Abstraction;
use super::program::within;
use super::replay::{Execution, execute, numbered};
use super::show::show;

/// How many rounds a sample has.
pub const N_ROUNDS: usize = 3;

/// Distances are looked at between so many variables at most.
const MAX_RELATED: usize = 10;

/// Rounds whose results are larger terms than this are too complicated.
const MAX_SIZE: usize = 2_000;

/// What larger terms say about later rounds is not looked at.
const MAX_SIZE_LATER: usize = 60;

/// Larger sets are shown as they were found.
const MAX_SHORTENED: usize = 60;

/// A stem and some rounds of a loop, as they happen.
pub struct Rounds {
    /// The run on terms.
    pub execution: Execution,
    /// Values with which it happens.
    pub solution: smt::Model,
    /// How many steps the stem has.
    pub start: usize,
    /// The transitions of one round.
    pub cycle: Vec<usize>,
}

/// What a round does to a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It adds a number that is not zero.
    By(i128),
    /// It gives it another value.
    To(Term),
}

/// A closed recurrent set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recurrence {
    /// What holds at the start of every round, besides what the types of variables say.
    pub set: Vec<Term>,
    /// The variables that differ from round to round, by position in the program.
    pub changes: Vec<(usize, Change)>,
    /// The values that are chosen: step of the round, name, value as a term over the state before
    /// that step.
    pub choices: Vec<(usize, Arc<str>, Term)>,
}

/// One round as a function of the state at its start.
struct Function {
    /// The state after it.
    values: Vec<Term>,
    /// What makes it possible, and what is demanded of it.
    needs: Vec<Term>,
}

impl Abstraction<'_> {
    /// A run that takes the stem and then the loop [`N_ROUNDS`] times, with what is `observed` of
    /// its states. With `same_choices`, every round chooses the same values, and whole arrays are
    /// chosen to be ones that exist.
    pub fn rounds(
        &mut self,
        (stem, cycle): (&[usize], &[usize]),
        observed: &[Vec<Term>],
        same_choices: bool,
    ) -> Option<Rounds> {
        let mut execution = execute(self.program, &self.domain, stem);
        for transition in cycle.repeat(N_ROUNDS) {
            execution.step(self.program, &self.domain, transition);
            let values = execution.values.last().into_iter().flatten();
            if values.map(Term::size).sum::<usize>() > MAX_SIZE {
                return None;
            }
        }

        let mut further = if same_choices {
            self.same_choices(&execution, stem.len(), cycle)?
        } else {
            Vec::new()
        };
        for (position, facts) in observed.iter().enumerate() {
            let facts = Term::and(facts.iter().cloned());
            further.push(execution.at(self.program, position, &facts));
        }

        match execution.solve(&mut self.questions, &further) {
            Answer::Sat(solution) => Some(Rounds {
                execution,
                solution,
                start: stem.len(),
                cycle: cycle.to_vec(),
            }),
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    }

    fn same_choices(
        &self,
        execution: &Execution,
        start: usize,
        cycle: &[usize],
    ) -> Option<Vec<Term>> {
        let mut equations = Vec::new();
        for round in 0..N_ROUNDS {
            for (position, &transition) in cycle.iter().enumerate() {
                let first = start + position;
                let at = first + round * cycle.len();
                for local in &self.program.transitions[transition].locals {
                    let chosen = numbered(&local.name, local.sort, at);
                    let other = match local.sort {
                        Sort::Array => execution.values[at][self.some_array()?].clone(),
                        _ => numbered(&local.name, local.sort, first),
                    };
                    equations.push(Term::eq(chosen, other));
                }
            }
        }
        Some(equations)
    }

    fn some_array(&self) -> Option<usize> {
        let mut vars = self.program.vars.iter();
        vars.position(|var| var.sort == Sort::Array)
    }

    /// Looks for a closed recurrent set of a loop. `demands` are conditions on the state before
    /// steps of the loop, by position, which every round must satisfy.
    ///
    /// # Errors
    /// Why none was found.
    pub fn recur(
        &mut self,
        rounds: &Rounds,
        demands: &[(usize, Term)],
    ) -> Result<Recurrence, String> {
        let heads = self.heads(rounds).ok_or("its numbers are too large")?;
        let choices = self.fixed_choices(rounds)?;
        let function = self.function(rounds, &choices, demands)?;
        for need in &function.needs {
            if heads.iter().any(|head| head.bool(need) != Some(true)) {
                return Err(format!("`{}` does not hold in every round", show(need)));
            }
        }

        let mut set = function.needs.clone();
        for candidate in self.candidate_facts(&function, &heads) {
            let is_seen = heads.iter().all(|head| head.bool(&candidate) == Some(true));
            if is_seen && candidate != Term::Bool(true) && !set.contains(&candidate) {
                set.push(candidate);
            }
        }

        let set = self.close(set, &function)?;
        let mut set = self.shorten(set, &function);
        let mut types = Vec::new();
        let n_vars = self.program.vars.len();
        split(&self.program.bounds_of(0..n_vars), &mut types);
        set.retain(|fact| !types.contains(fact));
        Ok(Recurrence {
            set,
            changes: self.changes(&function, &heads),
            choices,
        })
    }

    /// The states at the starts of the rounds of a sample, and after the last.
    fn heads(&self, rounds: &Rounds) -> Option<Vec<smt::Model>> {
        let head = |round: usize| {
            let at = rounds.start + round * rounds.cycle.len();
            let mut head = smt::Model::default();
            for (var, term) in self.program.vars.iter().zip(&rounds.execution.values[at]) {
                head.set(&var.name, rounds.solution.eval(term)?);
            }
            Some(head)
        };
        (0..=N_ROUNDS).map(head).collect()
    }

    /// The values that the steps of a round choose, as functions of the state: a constant, or a
    /// variable and a constant.
    fn fixed_choices(&self, rounds: &Rounds) -> Result<Vec<(usize, Arc<str>, Term)>, String> {
        let mut choices = Vec::new();
        for (position, &transition) in rounds.cycle.iter().enumerate() {
            for local in &self.program.transitions[transition].locals {
                let at = |round: usize| rounds.start + position + round * rounds.cycle.len();
                let value = |round: usize| {
                    let term = numbered(&local.name, local.sort, at(round));
                    rounds.solution.eval(&term)
                };
                let values: Option<Vec<Value>> = (0..N_ROUNDS).map(value).collect();
                let values = values.ok_or("its numbers are too large")?;
                let found = self.as_function(rounds, &values, &at);
                let found = found.ok_or_else(|| {
                    let name = local.name.split('!').next().unwrap_or_default();
                    format!("no rule was found for the choice of `{name}`")
                })?;
                choices.push((position, Arc::clone(&local.name), found));
            }
        }
        Ok(choices)
    }

    fn as_function(
        &self,
        rounds: &Rounds,
        values: &[Value],
        at: &dyn Fn(usize) -> usize,
    ) -> Option<Term> {
        let is_constant = values.iter().all(|value| *value == values[0]);
        match &values[0] {
            Value::Bool(value) if is_constant => return Some(Term::Bool(*value)),
            Value::Int(value) if is_constant => return Some(Term::Int(*value)),
            Value::Bool(_) => return None,
            Value::Int(_) | Value::Array(_) => {}
        }

        self.program
            .vars
            .iter()
            .enumerate()
            .find_map(|(var, description)| {
                let now = |round: usize| {
                    let term = &rounds.execution.values[at(round)][var];
                    rounds.solution.eval(term)
                };
                let mut distances = BTreeSet::new();
                for (round, value) in values.iter().enumerate() {
                    match (now(round)?, value) {
                        (Value::Int(now), Value::Int(value)) => distances.insert(value - now),
                        (Value::Array(now), Value::Array(value)) if now == *value => {
                            distances.insert(0)
                        }
                        _ => return None,
                    };
                }
                match (distances.len(), distances.first()) {
                    (1, Some(0)) => Some(description.term()),
                    (1, Some(distance)) => {
                        Some(Term::add([description.term(), Term::Int(*distance)]))
                    }
                    _ => None,
                }
            })
    }

    fn function(
        &self,
        rounds: &Rounds,
        choices: &[(usize, Arc<str>, Term)],
        demands: &[(usize, Term)],
    ) -> Result<Function, String> {
        let program = self.program;
        let mut now: Vec<Term> = program.vars.iter().map(|var| var.term()).collect();
        let mut needs = Vec::new();
        let everything = program.bounds_of(0..program.vars.len());
        split(&everything, &mut needs);

        for (position, &transition) in rounds.cycle.iter().enumerate() {
            let description = &program.transitions[transition];
            let state = |name: &str| Some(now[program.var_named(name)?].clone());
            let chosen = |name: &str| {
                let mut own = choices.iter().filter(|choice| choice.0 == position);
                let choice = own.find(|(_, local, _)| &**local == name)?;
                Some(choice.2.substitute(&state))
            };
            let present = |term: &Term| {
                let term = term.substitute(&|name| chosen(name).or_else(|| state(name)));
                self.domain.simplify(&term, &[])
            };
            for (_, demand) in demands.iter().filter(|(at, _)| *at == position) {
                split(&present(demand), &mut needs);
            }
            split(&present(&description.guard), &mut needs);
            for local in &description.locals {
                let value = chosen(&local.name).expect("every choice has been fixed");
                let fits = within(&value, local.sort, local.interval);
                split(&self.domain.simplify(&fits, &[]), &mut needs);
            }
            let mut next = now.clone();
            for (var, value) in &description.updates {
                next[*var] = present(value);
            }
            now = next;
            let size: usize = now.iter().chain(&needs).map(Term::size).sum();
            if size > MAX_SIZE {
                return Err("a round is too complicated".to_owned());
            }
        }

        Ok(Function { values: now, needs })
    }

    /// A condition on the state after a round, as one on the state before.
    fn after_round(&self, function: &Function, term: &Term) -> Term {
        let after =
            term.substitute(&|name| Some(function.values[self.program.var_named(name)?].clone()));
        self.domain.simplify(&after, &[])
    }

    /// What may be worth adding to what a round needs.
    fn candidate_facts(&self, function: &Function, heads: &[smt::Model]) -> Vec<Term> {
        let mut facts = Vec::new();
        let mut later = function.needs.clone();
        for _ in 0..2 {
            later = later
                .iter()
                .filter(|need| need.size() <= MAX_SIZE_LATER)
                .map(|need| self.after_round(function, need))
                .collect();
            for need in &later {
                split(need, &mut facts);
            }
        }

        for predicate in &self.domain.predicates {
            facts.extend([predicate.term.clone(), Term::not(predicate.term.clone())]);
        }
        let mut numbers = Vec::new();

        for var in &self.program.vars {
            match var.sort {
                Sort::Bool => facts.extend([var.term(), Term::not(var.term())]),
                Sort::Int if !var.is_open => {
                    facts.extend(bounds_seen(&var.term(), heads));
                    if var.values(super::domain::MAX_KEPT_VALUES).is_none() {
                        numbers.push(var.term());
                    }
                }
                Sort::Int | Sort::Array => {}
            }
        }

        numbers.truncate(MAX_RELATED);
        for (position, first) in numbers.iter().enumerate() {
            for second in &numbers[position + 1..] {
                let distance = Term::sub(first.clone(), second.clone());
                facts.extend(bounds_seen(&distance, heads));
            }
        }

        facts
    }

    /// The largest part of a set that a round keeps, if it has all that a round needs.
    fn close(&mut self, mut set: Vec<Term>, function: &Function) -> Result<Vec<Term>, String> {
        loop {
            let after: Vec<Term> = set.iter().map(|f| self.after_round(function, f)).collect();
            let model = match self.leaves(&set, &after) {
                Answer::Unsat => return Ok(set),
                Answer::Unknown(why) => return Err(format!("the solver gave up: {why}")),
                Answer::Sat(model) => model,
            };
            let mut kept = Vec::new();
            for (fact, after) in set.iter().zip(&after) {
                if model.bool(after) == Some(true) {
                    kept.push(fact.clone());
                } else if function.needs.contains(fact) {
                    return Err(format!("`{}` may fail in a later round", show(fact)));
                }
            }
            if kept.len() == set.len() {
                return Err("the solver contradicts itself".to_owned());
            }
            set = kept;
        }
    }

    /// Can a round lead out of a set?
    fn leaves(&mut self, set: &[Term], after: &[Term]) -> Answer {
        let mut question = set.to_vec();
        question.push(Term::or(after.iter().cloned().map(Term::not)));
        self.questions.check(&question)
    }

    /// Leaves out what the rest implies or does not need.
    fn shorten(&mut self, mut set: Vec<Term>, function: &Function) -> Vec<Term> {
        if set.len() > MAX_SHORTENED {
            return set;
        }
        for position in (0..set.len()).rev() {
            let fact = set.remove(position);
            let superfluous = if function.needs.contains(&fact) {
                let question = [set.as_slice(), &[Term::not(fact.clone())]].concat();
                self.questions.check(&question) == Answer::Unsat
            } else {
                let after: Vec<Term> = set.iter().map(|f| self.after_round(function, f)).collect();
                self.leaves(&set, &after) == Answer::Unsat
            };
            if !superfluous {
                set.insert(position, fact);
            }
        }
        set
    }

    fn changes(&self, function: &Function, heads: &[smt::Model]) -> Vec<(usize, Change)> {
        let mut changes = Vec::new();
        for (position, var) in self.program.vars.iter().enumerate() {
            let values: Vec<Option<Value>> =
                heads.iter().map(|head| head.eval(&var.term())).collect();
            if values.iter().all(|value| *value == values[0]) {
                continue;
            }
            let after = &function.values[position];
            let difference = (var.sort == Sort::Int)
                .then(|| Linear::of(after).minus(&Linear::of(&var.term())))
                .and_then(|difference| difference.as_constant());
            changes.push(match difference {
                Some(number) => (position, Change::By(number)),
                None => (position, Change::To(after.clone())),
            });
        }
        changes
    }
}

/// The least and the greatest value of a number at the starts of rounds, as bounds.
fn bounds_seen(number: &Term, heads: &[smt::Model]) -> Vec<Term> {
    let values: Option<BTreeSet<i128>> = heads.iter().map(|head| head.int(number)).collect();
    let values = values.unwrap_or_default();
    match (values.first(), values.last()) {
        (Some(lo), Some(hi)) if lo == hi => vec![Term::eq(number.clone(), Term::Int(*lo))],
        (Some(lo), Some(hi)) => vec![
            Term::le(Term::Int(*lo), number.clone()),
            Term::le(number.clone(), Term::Int(*hi)),
        ],
        _ => Vec::new(),
    }
}

/// Adds the conjuncts of a condition that are not known yet.
fn split(condition: &Term, out: &mut Vec<Term>) {
    match condition {
        Term::Bool(true) => {}
        Term::And(parts) => parts.iter().for_each(|part| split(part, out)),
        other if out.contains(other) => {}
        other => out.push(other.clone()),
    }
}
