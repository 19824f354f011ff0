//! The reachable part of an abstraction.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use base::{Budget, StopReason};
use rustc_hash::FxHashMap;
use smt::{Sort, Term};

use super::abstract_term::{Abstract, LocalSlots};
use super::command::{AbstractCommand, Assignments, Context};
use super::domain::Domain;
use super::program::{Failure, Program, within};
use super::questions::{Questions, SolverQuestion};

/// A step of the abstract graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// The transition; `None` for the idle step of a state that may be deadlocked.
    pub transition: Option<usize>,
    /// Where it leads.
    pub target: usize,
}

/// The reachable abstract states and their steps.
#[derive(Clone, Debug, Default)]
pub struct AbstractGraph {
    /// The states, in the order in which they were found.
    pub states: Vec<Box<[i64]>>,
    /// How many of them, from the first on, are initial.
    pub n_initial: usize,
    /// The steps that leave each state. Sorted.
    pub edges: Vec<Vec<Edge>>,
    parents: Vec<Option<(usize, usize)>>,
}

impl AbstractGraph {
    /// How many steps there are, idle ones not counted.
    #[must_use]
    pub fn n_transitions(&self) -> usize {
        let steps = self.edges.iter().flatten();
        steps.filter(|edge| edge.transition.is_some()).count()
    }

    /// A shortest way to a state: the states, and the transitions between them.
    #[must_use]
    pub fn path_to(&self, state: usize) -> AbstractPath {
        let mut states = vec![state];
        let mut transitions = Vec::new();
        let mut at = state;
        while let Some((before, transition)) = self.parents[at] {
            states.push(before);
            transitions.push(transition);
            at = before;
        }
        states.reverse();
        transitions.reverse();
        AbstractPath {
            states: states.iter().map(|s| self.states[*s].clone()).collect(),
            transitions,
        }
    }
}

/// A way through the abstract graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractPath {
    /// The states; one more than transitions.
    pub states: Vec<Box<[i64]>>,
    /// The transitions.
    pub transitions: Vec<usize>,
}

/// Why an exploration ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The last state satisfies the goal, or may.
    Goal(AbstractPath),
    /// A run-time error is possible in the last state: which failure.
    Failure(AbstractPath, usize),
    /// The budget is spent.
    Stopped(StopReason),
    /// The solver gave up where everything would have to be kept.
    GaveUp,
}

/// What an exploration looks for.
pub struct Goal<'a> {
    /// Truth of this in a state, given the transition that led there.
    pub is_reached: &'a dyn Fn(&[i64], Option<usize>) -> bool,
    /// Are states that may be deadlocked the goal?
    pub deadlock: bool,
    /// Is the whole graph wanted, with idle steps?
    pub complete: bool,
}

/// Source and target of a step.
pub(super) type AbstractStep = (Box<[i64]>, Box<[i64]>);

/// A program under abstraction.
pub struct Abstraction<'p> {
    /// The program.
    pub program: &'p Program,
    /// What abstract states consist of.
    pub domain: Domain,
    /// The abstraction of every transition.
    pub commands: Vec<AbstractCommand>,
    /// The solver.
    pub questions: Questions,
    failures: Vec<(Failure, Abstract)>,
    n_older_predicates: usize,
    /// Steps that make an expression smaller, by expression and transition: what their states
    /// began with when that was proved. Predicates are only ever added at the end.
    pub(super) decreasing: BTreeMap<(Term, usize), Vec<AbstractStep>>,
    pub(super) has_sought_facts: bool,
    pub(super) has_sought_relations: bool,
    /// How many predicates there were before each refinement, and how often the solver had been
    /// asked then.
    stages: Vec<(usize, u64)>,
}

impl<'p> Abstraction<'p> {
    /// Prepares the abstraction. `failures` are further errors to look for, besides those of the
    /// program.
    #[must_use]
    pub fn new(
        program: &'p Program,
        domain: Domain,
        questions: Questions,
        failures: &[Failure],
    ) -> Self {
        let mut abstraction = Self {
            program,
            domain,
            commands: Vec::new(),
            questions,
            failures: Vec::new(),
            n_older_predicates: 0,
            decreasing: BTreeMap::new(),
            has_sought_facts: false,
            has_sought_relations: false,
            stages: Vec::new(),
        };
        for failure in program.failures.iter().chain(failures) {
            abstraction.add_failure(failure);
        }
        abstraction.n_older_predicates = abstraction.domain.predicates.len();
        abstraction.prepare();
        abstraction
    }

    /// Only failures that the types of variables do not exclude are looked for.
    fn add_failure(&mut self, failure: &Failure) {
        let condition = self.domain.simplify(&failure.condition, &failure.locals);
        let mut question = vec![
            condition.clone(),
            self.domain
                .bounds(self.program, std::slice::from_ref(&condition)),
        ];
        question.extend(local_bounds(failure));
        if condition == Term::Bool(false) || self.questions.is_impossible(&question) {
            return;
        }
        let failure = Failure {
            condition,
            locals: failure.locals.clone(),
        };
        self.failures.push((failure, Abstract::Unknown));
    }

    /// The conditions under which run-time errors happen that types do not exclude.
    #[must_use]
    pub fn failure_conditions(&self) -> Vec<Term> {
        let conditions = self.failures.iter();
        conditions
            .map(|(failure, _)| failure.condition.clone())
            .collect()
    }

    /// The failure with this number.
    #[must_use]
    pub fn failure(&self, position: usize) -> &Failure {
        &self.failures[position].0
    }

    /// Works out the commands for the present predicates. To be called after predicates were added.
    pub fn refine(&mut self, n_older_predicates: usize) {
        self.n_older_predicates = n_older_predicates;
        let n_calls = self.questions.tally().n_calls;
        self.stages.push((n_older_predicates, n_calls));
        self.prepare();
    }

    /// How often the solver was asked while there were so many predicates, stage after stage.
    #[must_use]
    pub fn stages(&self) -> Vec<(usize, u64)> {
        let now = (self.domain.predicates.len(), self.questions.tally().n_calls);
        let mut before = 0;
        let mut stages = Vec::new();
        for &(n_predicates, n_calls) in self.stages.iter().chain([&now]) {
            stages.push((n_predicates, n_calls - before));
            before = n_calls;
        }
        stages
    }

    fn prepare(&mut self) {
        let Self {
            program, domain, ..
        } = self;
        let command = |transition| AbstractCommand::new(program, domain, transition);
        self.commands = program.transitions.iter().map(command).collect();
        for (failure, condition) in &mut self.failures {
            *condition = Abstract::of(&failure.condition, domain, &LocalSlots::new());
        }
    }

    /// How the assignments of all transitions were found.
    #[must_use]
    pub fn assignments(&self) -> Assignments {
        let mut assignments = Assignments::default();
        for command in &self.commands {
            command.count(&self.domain, &mut assignments);
        }
        assignments
    }

    /// Explores breadth first until the goal is reached, everything is seen or nothing is left to
    /// spend.
    pub fn explore(&mut self, goal: &Goal<'_>, budget: &Budget) -> (AbstractGraph, Option<Halt>) {
        let mut graph = AbstractGraph::default();
        let mut numbers: FxHashMap<Box<[i64]>, usize> = FxHashMap::default();
        let mut queue = VecDeque::new();

        // Without an answer of the solver the initial states are not known, so nothing is.
        let Some(initial) = self.initial() else {
            return (graph, Some(Halt::GaveUp));
        };

        for state in initial {
            let number = graph.add(state.into(), None, &mut numbers);
            queue.push_back(number);
            if (goal.is_reached)(&graph.states[number], None) {
                let path = graph.path_to(number);
                return (graph, Some(Halt::Goal(path)));
            }
        }

        graph.n_initial = graph.states.len();
        while let Some(source) = queue.pop_front() {
            if let Err(reason) = budget.check(graph.states.len() as u64, 0) {
                return (graph, Some(Halt::Stopped(reason)));
            }
            let state = graph.states[source].clone();

            // Run-time errors come first: where a step may fail, its successors mean nothing.
            if let Some(failure) = self.failing(&state) {
                let path = graph.path_to(source);
                return (graph, Some(Halt::Failure(path, failure)));
            }

            // A may-deadlock is the goal itself, or a state in which a run may stay forever.
            let may_be_stuck = (goal.deadlock || goal.complete) && self.may_be_deadlocked(&state);
            if may_be_stuck && goal.deadlock {
                let path = graph.path_to(source);
                return (graph, Some(Halt::Goal(path)));
            }
            let mut edges = Vec::new();
            for transition in 0..self.commands.len() {
                let Some(targets) = self.successors(transition, &state) else {
                    return (graph, Some(Halt::GaveUp));
                };
                for target in targets {
                    let known = numbers.get(target.as_slice()).copied();
                    let target = known.unwrap_or_else(|| {
                        let parent = Some((source, transition));
                        let number = graph.add(target.into(), parent, &mut numbers);
                        queue.push_back(number);
                        number
                    });
                    edges.push(Edge {
                        transition: Some(transition),
                        target,
                    });
                    if (goal.is_reached)(&graph.states[target], Some(transition)) {
                        let mut path = graph.path_to(source);
                        path.transitions.push(transition);
                        path.states.push(graph.states[target].clone());
                        return (graph, Some(Halt::Goal(path)));
                    }
                }
            }

            // The idle step of a deadlock makes every maximal run infinite, as in the reference
            // semantics.
            if may_be_stuck {
                edges.push(Edge {
                    transition: None,
                    target: source,
                });
            }
            edges.sort_unstable();
            edges.dedup();
            graph.edges[source] = edges;
        }

        (graph, None)
    }

    /// The abstract states that a transition leads to.
    pub fn successors(&mut self, transition: usize, state: &[i64]) -> Option<Vec<Vec<i64>>> {
        let context = Context {
            program: self.program,
            domain: &self.domain,
            transition: &self.program.transitions[transition],
            n_older_predicates: self.n_older_predicates,
        };
        self.commands[transition].successors(&context, &mut self.questions, state)
    }

    /// The abstract states that a transition leads to when its enumerated choices are these.
    pub(crate) fn successors_by_choice(
        &mut self,
        transition: usize,
        state: &[i64],
        choice: &[i64],
    ) -> Vec<Vec<i64>> {
        let context = Context {
            program: self.program,
            domain: &self.domain,
            transition: &self.program.transitions[transition],
            n_older_predicates: self.n_older_predicates,
        };
        let command = &self.commands[transition];
        let found = command.successors_of_choice(&context, &mut self.questions, state, choice);
        found.unwrap_or_default()
    }

    /// All abstract states that describe an initial state.
    pub fn initial(&mut self) -> Option<Vec<Vec<i64>>> {
        let Self {
            program, domain, ..
        } = self;
        let facts = fixed_values(&program.init);
        let fix = |term: &Term| {
            let term = term.substitute(&|name| facts.get(name).cloned());
            domain.simplify(&term, &[])
        };
        let mut dimensions = Vec::new();
        let mut base = Vec::new();

        for slot in 0..domain.n_slots() {
            let (term, values) = match domain.kept.get(slot) {
                Some((var, values)) => (program.vars[*var].term(), values.clone()),
                None => {
                    let predicate = &domain.predicates[slot - domain.kept.len()];
                    (predicate.term.clone(), vec![0, 1])
                }
            };
            match fix(&term) {
                Term::Bool(value) => base.push(i64::from(value)),
                Term::Int(value) => base.push(i64::try_from(value).ok()?),
                open => {
                    dimensions.push((slot, open, values));
                    base.push(0);
                }
            }
        }

        let init = fix(&program.init);
        let terms: Vec<Term> = dimensions.iter().map(|(_, term, _)| term.clone()).collect();
        let mut mentioned = terms.clone();
        mentioned.push(init.clone());

        let bounds = domain.bounds(program, &mentioned);
        let question = SolverQuestion {
            assumptions: vec![init, bounds],
            dimensions: dimensions
                .iter()
                .map(|(_, term, values)| (term.clone(), values.clone()))
                .collect(),
        };

        let rows = self.questions.rows(question, None)?;
        let with = |row: Vec<i64>| {
            let mut state = base.clone();
            for ((slot, _, _), value) in dimensions.iter().zip(row) {
                state[*slot] = value;
            }
            state
        };

        Some(rows.into_iter().map(with).collect())
    }

    /// A run-time error that is possible in a state.
    fn failing(&mut self, state: &[i64]) -> Option<usize> {
        for position in 0..self.failures.len() {
            let (failure, condition) = &self.failures[position];
            if condition.eval(state, &[]) == Some(0) {
                continue;
            }
            let condition = failure.condition.clone();
            let mut question = self.facts_about(state, std::slice::from_ref(&condition));
            question.extend(local_bounds(&self.failures[position].0));
            question.push(condition);
            if !self.questions.is_impossible(&question) {
                return Some(position);
            }
        }
        None
    }

    /// What an abstract state says, with the bounds of everything mentioned.
    pub(crate) fn facts_about(&self, state: &[i64], terms: &[Term]) -> Vec<Term> {
        let mut facts: Vec<Term> = state
            .iter()
            .enumerate()
            .map(|(slot, value)| self.domain.describe(self.program, slot, *value))
            .collect();
        let mut mentioned = facts.clone();
        mentioned.extend(terms.iter().cloned());
        facts.push(self.domain.known(self.program, state, &mentioned));
        facts
    }

    /// Is there a concrete state without steps, as far as is known?
    pub fn may_be_deadlocked(&mut self, state: &[i64]) -> bool {
        let certain = |command: &AbstractCommand| command.enabled.eval(state, &[]) == Some(1);
        if self.commands.iter().any(certain) {
            return false;
        }
        let stuck = self.deadlock_condition();
        let mut question = self.facts_about(state, std::slice::from_ref(&stuck));
        question.push(stuck);
        !self.questions.is_impossible(&question)
    }

    /// No transition is possible, as far as their enabledness is known.
    #[must_use]
    pub fn deadlock_condition(&self) -> Term {
        let known = self.program.transitions.iter();
        let known = known.filter_map(|transition| transition.enabled.clone());
        Term::and(known.map(Term::not))
    }

    /// Is the transition possible in every concrete state that the abstract state describes?
    #[must_use]
    pub fn is_certainly_enabled(&self, transition: usize, state: &[i64]) -> bool {
        self.commands[transition].enabled.eval(state, &[]) == Some(1)
    }

    /// Is it known in every abstract state whether the transition is possible?
    #[must_use]
    pub fn enabledness_is_exact(&self, transition: usize) -> bool {
        self.commands[transition].enabled.is_exact()
    }
}

impl AbstractGraph {
    fn add(
        &mut self,
        state: Box<[i64]>,
        parent: Option<(usize, usize)>,
        numbers: &mut FxHashMap<Box<[i64]>, usize>,
    ) -> usize {
        let number = self.states.len();
        numbers.insert(state.clone(), number);
        self.states.push(state);
        self.edges.push(Vec::new());
        self.parents.push(parent);
        number
    }
}

fn local_bounds(failure: &Failure) -> Vec<Term> {
    let bounds = |local: &super::program::Local| {
        let term = Term::Var(Arc::clone(&local.name), local.sort);
        within(&term, local.sort, local.interval)
    };
    failure.locals.iter().map(bounds).collect()
}

/// Variables that a conjunction gives a value.
fn fixed_values(condition: &Term) -> FxHashMap<Arc<str>, Term> {
    let mut values = FxHashMap::default();
    let mut conjuncts = BTreeSet::new();
    match condition {
        Term::And(parts) => conjuncts.extend(parts.iter().cloned()),
        other => {
            conjuncts.insert(other.clone());
        }
    }

    for conjunct in conjuncts {
        match &conjunct {
            Term::Var(name, Sort::Bool) => {
                values.insert(Arc::clone(name), Term::Bool(true));
            }
            Term::Not(inner) => {
                if let Term::Var(name, Sort::Bool) = &**inner {
                    values.insert(Arc::clone(name), Term::Bool(false));
                }
            }
            Term::Eq(linear) => {
                let mut terms = linear.terms();
                if let (Some((Term::Var(name, _), 1)), None) = (terms.next(), terms.next()) {
                    values.insert(Arc::clone(name), Term::Int(-linear.offset()));
                }
            }
            _ => {}
        }
    }

    values
}
