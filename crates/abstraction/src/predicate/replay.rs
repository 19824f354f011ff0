//! Abstract counterexamples, replayed symbolically.
//!
//! A sequence of transitions is executed on terms: after each step, every variable is a term over
//! the initial state and the choices made. The guards, so rewritten, say whether the sequence is
//! possible at all; a model of them is a concrete run.
//!
//! A value that is not small gets a name of its own, and an equation that says what it is. Without
//! names the terms of a step contain those of the step before several times, and a sequence of n
//! steps needs text that is exponential in n; with them, it is linear (static single assignment:
//! C. Flanagan, J. B. Saxe, *Avoiding exponential explosion: generating compact verification
//! conditions*, POPL 2001, doi:10.1145/360204.360220).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{BoundId, LocationId, Model, Sample, State};
use smt::{Answer, Sort, Term, Value};

use super::domain::Domain;
use super::program::{Content, Local, Program, Transition, within};
use super::questions::Questions;

/// Samples with more indices than this are not made.
const MAX_INDICES: i64 = 12;

/// Choices among infinitely many integers are first made up to this number.
const SMALL_CHOICE: i128 = 100;

/// Choices among infinitely many integers whose values lie further apart are not made in samples.
const MAX_CHOICES: i64 = 1_000;

/// A sequence of transitions, executed on terms.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The values of all variables before each step and at the end.
    pub values: Vec<Vec<Term>>,
    /// What must hold for it to happen.
    pub conditions: Vec<Term>,
    /// What was chosen among infinitely many integers: the choice in the model, and the value.
    pub choices: Vec<(BoundId, Term)>,
}

/// Executes transitions from the initial states on.
#[must_use]
pub fn execute(program: &Program, domain: &Domain, transitions: &[usize]) -> Execution {
    let start: Vec<Term> = program.vars.iter().map(|var| var.term()).collect();
    let bounds = program.bounds_of(0..program.vars.len());
    let mut execution = Execution {
        values: vec![start],
        conditions: vec![program.init.clone(), bounds],
        choices: Vec::new(),
    };
    for &transition in transitions {
        execution.step(program, domain, transition);
    }
    execution
}

impl Execution {
    /// Takes one more step.
    pub fn step(&mut self, program: &Program, domain: &Domain, transition: usize) {
        let at = self.values.len() - 1;
        let description = &program.transitions[transition];
        let now = &self.values[at];
        let present = |term: &Term| {
            let replaced = term.substitute(&|name| {
                let local = description.locals.iter().find(|local| &*local.name == name);
                match local {
                    Some(local) => Some(numbered(&local.name, local.sort, at)),
                    None => Some(now[program.var_named(name)?].clone()),
                }
            });
            domain.simplify(&replaced, &[])
        };

        let mut next = now.clone();
        let mut conditions = vec![present(&description.guard)];
        for (var, value) in &description.updates {
            let (value, equation) = named(&program.vars[*var].name, present(value), at);
            next[*var] = value;
            conditions.extend(equation);
        }
        for local in &description.locals {
            let term = numbered(&local.name, local.sort, at);
            conditions.push(within(&term, local.sort, local.interval));
            self.choices
                .extend(local.endless.map(|bound| (bound, term)));
        }

        self.conditions.extend(conditions);
        self.values.push(next);
    }

    /// A condition on the state at a position.
    #[must_use]
    pub fn at(&self, program: &Program, position: usize, condition: &Term) -> Term {
        let now = &self.values[position];
        condition.substitute(&|name| Some(now[program.var_named(name)?].clone()))
    }

    /// The states at two positions are the same.
    #[must_use]
    pub fn same(&self, first: usize, second: usize) -> Term {
        let pairs = self.values[first].iter().zip(&self.values[second]);
        Term::and(pairs.map(|(a, b)| Term::eq(a.clone(), b.clone())))
    }

    /// Does it happen, with further conditions? The model of a run that shows it, with small values
    /// for choices among infinitely many integers if there is such a run.
    pub fn solve(&self, questions: &mut Questions, further: &[Term]) -> Answer {
        let mut conditions: Vec<Term> = self.conditions.iter().chain(further).cloned().collect();
        let n_needed = conditions.len();
        let numbers = self.choices.iter().filter(|(_, t)| t.sort() == Sort::Int);
        let small = (Some(-SMALL_CHOICE), Some(SMALL_CHOICE));
        conditions.extend(numbers.map(|(_, term)| within(term, Sort::Int, small)));
        if conditions.len() > n_needed
            && let Answer::Sat(solution) = questions.check(&conditions)
        {
            return Answer::Sat(solution);
        }
        conditions.truncate(n_needed);
        questions.check(&conditions)
    }
}

/// Terms with more parts than this get a name.
const MAX_UNNAMED: usize = 12;

/// Updated arrays with more parts than this get a name. The others are read without one, because
/// equations between arrays are harder to decide.
const MAX_UNNAMED_ARRAY: usize = 64;

/// A value after a step, with the equation that defines it if it is given a name.
pub(crate) fn named(variable: &str, value: Term, at: usize) -> (Term, Option<Term>) {
    let is_small = match value.sort() {
        Sort::Array => value.size() <= MAX_UNNAMED_ARRAY,
        Sort::Bool | Sort::Int => value.size() <= MAX_UNNAMED && !has_choice(&value),
    };
    if is_small {
        return (value, None);
    }
    let name = Term::var(&format!("{variable} after step {at}"), value.sort());
    let equation = Term::eq(name.clone(), value);
    (name, Some(equation))
}

/// Is there an if-then-else in it? Comparisons double where they meet one.
fn has_choice(term: &Term) -> bool {
    let mut found = matches!(term, Term::Ite(..));
    term.for_each_operand(&mut |operand| found = found || has_choice(operand));
    found
}

/// A chosen value at a step.
pub(crate) fn numbered(name: &Arc<str>, sort: Sort, at: usize) -> Term {
    Term::var(&format!("{name} at step {at}"), sort)
}

/// The model in which a run happens, and the states of the run.
#[derive(Clone, Debug)]
pub struct Concrete {
    /// A sample of the model; the model itself if nothing in it is left open.
    pub model: Model,
    /// The states.
    pub states: Vec<State>,
}

/// The concrete states of an execution. `None` if they do not fit into a sample or into 64 bits.
///
/// Postcondition: in each of the states, the same commands can be executed in the sample as in the
/// model. So a run that is fair, or ends, in the sample does so in the model, except for strong
/// global fairness where choices among infinitely many integers have fewer values.
pub fn concretize(
    model: &Model,
    program: &Program,
    execution: &Execution,
    solution: &smt::Model,
    questions: &mut Questions,
) -> Option<Concrete> {
    let window = window_of(program, execution, solution)?;
    let mut renaming = Renaming::default();
    let mut states = Vec::new();
    for values in &execution.values {
        states.push(state_of(
            model,
            program,
            values,
            solution,
            window,
            &mut renaming,
        )?);
    }

    let model = if has_open_data(program) || has_endless_choices(program) {
        let sample = Sample {
            indices: window,
            n_values: u32::try_from(renaming.0.len().max(1)).ok()?,
            choices: Choices::of(program, execution, solution, questions, window)?.0,
        };
        model.parts().sampled(&sample).finish().ok()?
    } else {
        model.clone()
    };

    Some(Concrete { model, states })
}

fn has_open_data(program: &Program) -> bool {
    let is_open = |var: &super::program::StateVar| var.is_open || var.sort == Sort::Array;
    program.vars.iter().any(is_open)
}

/// Does a transition choose among infinitely many integers?
#[must_use]
pub fn has_endless_choices(program: &Program) -> bool {
    let mut locals = program.transitions.iter().flat_map(|t| &t.locals);
    locals.any(|local| local.endless.is_some())
}

/// The least and the greatest value that each choice among infinitely many integers needs.
#[derive(Default)]
struct Choices(BTreeMap<BoundId, (i64, i64)>);

impl Choices {
    /// Those that the steps of an execution make, those with which it ends in an error, and those
    /// that other steps need to be possible where they are possible.
    fn of(
        program: &Program,
        execution: &Execution,
        solution: &smt::Model,
        questions: &mut Questions,
        window: (i64, i64),
    ) -> Option<Self> {
        let mut choices = Self::default();
        for (bound, term) in &execution.choices {
            choices.extend(*bound, &solution.eval(term)?, window)?;
        }
        let locals = || program.transitions.iter().flat_map(|t| &t.locals);
        for local in locals().filter(|local| local.sort == Sort::Int) {
            let term = Term::Var(Arc::clone(&local.name), local.sort);
            if let (Some(bound), Some(value)) = (local.endless, solution.eval(&term)) {
                choices.extend(bound, &value, window)?;
            }
        }

        for values in &execution.values {
            for transition in &program.transitions {
                if transition
                    .locals
                    .iter()
                    .any(|local| local.endless.is_some())
                {
                    choices.enable(program, transition, (values, solution), questions, window)?;
                }
            }
        }
        Some(choices)
    }

    fn extend(&mut self, bound: BoundId, value: &Value, window: (i64, i64)) -> Option<()> {
        let values = match value {
            Value::Int(value) => vec![*value],
            Value::Bool(_) => return None,
            Value::Array(array) => {
                let indices = window.0..=window.1;
                indices.map(|at| array.get(i128::from(at))).collect()
            }
        };
        for value in values {
            let value = i64::try_from(value).ok()?;
            let (lo, hi) = self.0.get(&bound).copied().unwrap_or((value, value));
            let (lo, hi) = (lo.min(value), hi.max(value));
            if hi.checked_sub(lo)? > MAX_CHOICES {
                return None;
            }
            self.0.insert(bound, (lo, hi));
        }
        Some(())
    }

    /// Makes a transition possible in a state if it is possible there in the model.
    fn enable(
        &mut self,
        program: &Program,
        transition: &Transition,
        (values, solution): (&[Term], &smt::Model),
        questions: &mut Questions,
        window: (i64, i64),
    ) -> Option<()> {
        let now = |name: &str| {
            let value = solution.eval(&values[program.var_named(name)?])?;
            match value {
                Value::Bool(value) => Some(Term::Bool(value)),
                Value::Int(value) => Some(Term::Int(value)),
                Value::Array(_) => None,
            }
        };
        let guard = transition.guard.substitute(&now);
        if guard == Term::Bool(false) {
            return Some(());
        }
        // The contents of an array are not a term.
        let mut mentioned = BTreeSet::new();
        guard.collect_vars(&mut mentioned);
        if mentioned
            .iter()
            .any(|(name, _)| program.var_named(name).is_some())
        {
            return None;
        }

        let locals = || transition.locals.iter().filter(|l| l.sort == Sort::Int);
        let term = |local: &Local| Term::Var(Arc::clone(&local.name), local.sort);
        let mut question = vec![guard];
        question.extend(locals().map(|local| within(&term(local), local.sort, local.interval)));
        let known = locals().filter_map(|local| {
            let (lo, hi) = self.0.get(&local.endless?)?;
            let known = (Some(i128::from(*lo)), Some(i128::from(*hi)));
            Some(within(&term(local), local.sort, known))
        });
        let with_known: Vec<Term> = question.iter().cloned().chain(known).collect();
        let answer = match questions.check(&with_known) {
            Answer::Sat(found) => Answer::Sat(found),
            Answer::Unsat | Answer::Unknown(_) => questions.check(&question),
        };
        let found = match answer {
            Answer::Unsat => return Some(()),
            Answer::Unknown(_) => return None,
            Answer::Sat(found) => found,
        };
        for local in locals() {
            if let Some(bound) = local.endless {
                let value = found.eval(&term(local)).unwrap_or(Value::Int(0));
                self.extend(bound, &value, window)?;
            }
        }
        Some(())
    }
}

/// Values of uninterpreted types, numbered in the order in which they occur.
#[derive(Default)]
struct Renaming(BTreeMap<i128, i64>);

impl Renaming {
    fn number(&mut self, value: i128) -> i64 {
        let next = self.0.len() as i64;
        *self.0.entry(value).or_insert(next)
    }
}

/// The indices at which arrays are read or written, by steps that are taken and by others: all of
/// them are evaluated when a run is replayed.
fn window_of(
    program: &Program,
    execution: &Execution,
    solution: &smt::Model,
) -> Option<(i64, i64)> {
    if !has_open_data(program) {
        return Some((0, 0));
    }
    let mut indices = BTreeSet::new();
    for term in execution
        .values
        .iter()
        .flatten()
        .chain(&execution.conditions)
    {
        collect_indices(term, solution, &mut indices);
    }

    let last = execution.values.len() - 1;
    for transition in &program.transitions {
        for term in transition.updates.values().chain([&transition.guard]) {
            for position in 0..=last {
                let present = execution.at(program, position, term);
                collect_indices(&present, solution, &mut indices);
            }
        }
    }

    let (Some(lo), Some(hi)) = (indices.first(), indices.last()) else {
        return Some((0, 0));
    };
    let (lo, hi) = (i64::try_from(*lo).ok()?, i64::try_from(*hi).ok()?);
    (hi.checked_sub(lo)? < MAX_INDICES).then_some((lo, hi))
}

fn collect_indices(term: &Term, solution: &smt::Model, out: &mut BTreeSet<i128>) {
    if let Term::Select(_, index) | Term::Store(_, index, _) = term
        && let Some(index) = solution.int(index)
    {
        out.insert(index);
    }
    term.for_each_operand(&mut |operand| collect_indices(operand, solution, out));
}

fn state_of(
    model: &Model,
    program: &Program,
    values: &[Term],
    solution: &smt::Model,
    window: (i64, i64),
    renaming: &mut Renaming,
) -> Option<State> {
    let mut state = State {
        locations: vec![LocationId(0); model.instances().len()],
        cells: Vec::new(),
        channels: vec![Vec::new(); model.n_single_channels()],
    };
    let mut slots: BTreeMap<(usize, usize), Vec<i64>> = BTreeMap::new();
    let mut lengths: BTreeMap<usize, i64> = BTreeMap::new();

    for (var, term) in program.vars.iter().zip(values) {
        if let Content::Array(..) = var.content {
            let array = solution.array(term)?;
            for index in window.0..=window.1 {
                let value = array.get(i128::from(index));
                state.cells.push(if var.is_open {
                    renaming.number(value)
                } else {
                    i64::try_from(value).ok()?
                });
            }
            continue;
        }
        let value = match solution.eval(term)? {
            smt::Value::Bool(value) => i64::from(value),
            smt::Value::Int(value) if var.is_open => renaming.number(value),
            smt::Value::Int(value) => i64::try_from(value).ok()?,
            smt::Value::Array(_) => return None,
        };
        match var.content {
            Content::Location(instance) => {
                state.locations[instance.index()] = LocationId(u32::try_from(value).ok()?);
            }
            Content::Length(channel) => {
                lengths.insert(channel, value);
            }
            Content::Slot(channel, slot, _) => {
                slots.entry((channel, slot)).or_default().push(value)
            }
            Content::Cell(_) | Content::Array(..) => state.cells.push(value),
        }
    }

    for (channel, length) in lengths {
        for slot in 0..usize::try_from(length).ok()? {
            let message = slots.get(&(channel, slot)).cloned().unwrap_or_default();
            state.channels[channel].push(message);
        }
    }

    Some(state)
}
