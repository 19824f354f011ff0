//! Progress that is possible, for runs that are fair to every step.
//!
//! An instance has finitely many states, so a run visits some of them infinitely often. Under strong
//! global fairness it takes each step of such a state infinitely often, so what such a state reaches
//! is visited infinitely often, too. Hence: if every reachable state that `from` describes has a path
//! to one that `to` describes, a fair run that is in `from` infinitely often is in `to` infinitely
//! often. The paths are proved for all sizes by sets that *can* shrink: a state has won if it has a
//! step to a state that `to` describes, to one that has won, or to one of the same attempt with a
//! smaller set; no other step matters. (Stages of population protocols: M. Blondin, J. Esparza,
//! S. Jaax, *Automatic analysis of expected termination time for population protocols*, CONCUR 2018,
//! doi:10.4230/LIPIcs.CONCUR.2018.33. Sets that shrink against any scheduler, by automata: A. W. Lin,
//! P. Rümmer, *Liveness of randomised parameterised systems under arbitrary schedulers*, CAV 2016,
//! doi:10.1007/978-3-319-41540-6_7.)

use std::collections::BTreeSet;

use base::{Budget, FairnessKind};
use ws1s::{Automaton, TRUE, Unknown, Var};

use super::build::{Abstraction, Asked, Obstacle};
use super::choice;
use super::encode::Encoder;
use super::logic::{IndexVar, Logic, Term};
use super::question::FamilyQuestion;
use super::relation::{Graph, Predicate, Ranking};
use super::steps::Family;

/// Abstractions with more states are not looked at.
const MAX_STATES: usize = 80;

/// So many goals of each strongly connected part are tried.
const MAX_GOALS: usize = 60;

/// So often it is computed which states have a step to certain ones.
const MAX_EFFORT: usize = 300;

/// What becomes larger is given up.
const MAX_AUTOMATON: u64 = 3_000;

/// An attempt gives up states that have no step to others so many times.
const MAX_NARROWED: usize = 3;

/// What runs that are fair to every step do: if they are in `from` infinitely often, then in `to`.
#[derive(Clone, Debug)]
pub struct Visit {
    /// What reports call it.
    pub name: String,
    /// States of the abstraction.
    pub from: Vec<bool>,
    /// States of the abstraction.
    pub to: Vec<bool>,
}

/// What the runs of an abstraction that are fair to every step visit; nothing under other fairness.
///
/// # Errors
/// If the budget does not suffice for the first one.
pub fn visits(
    asked: &Asked<'_>,
    found: &Abstraction,
    budget: &Budget,
) -> Result<Vec<Visit>, Obstacle> {
    let graph = &found.graph;
    let parts = &asked.template.parts;
    // Elsewhere a step that a formula describes might have to give way to another one.
    let mut steps = parts.processes.iter().flat_map(|process| &process.steps);
    let is_plain = parts.control.is_none() && steps.all(|step| step.priority == 0);
    let is_apt = is_plain && graph.failures.is_empty() && graph.states.len() <= MAX_STATES;
    if asked.fairness.kind != FairnessKind::StrongGlobal || !is_apt {
        return Ok(Vec::new());
    }

    // Variables are numbered as they were when the abstraction was found.
    let mut family = Family::new(asked.template)?;
    // What is kept of indices that every process has describes more steps than exist.
    if !family.system.fields.is_empty() {
        return Ok(Vec::new());
    }
    let question = FamilyQuestion::new(&mut family, asked.scope, asked.span)?;
    family.fresh = family.fresh.joined(&found.fresh);
    let budget = budget.clone().with_trial_states(MAX_AUTOMATON);
    let mut search = Search::new(&mut family, &question, found, &budget)?;

    let mut visits: Vec<Visit> = Vec::new();
    for (from, to) in goals(graph) {
        let is_known = |known: &Visit| known.from == from && known.to == to;
        if visits.iter().any(is_known) {
            continue;
        }
        match search.is_reached(&from, &to) {
            Ok(true) => {
                let name = describe(found, &from, &to);
                visits.push(Visit { name, from, to });
            }
            Ok(false) => {}
            // What is known already may suffice.
            Err(_) => break,
        }
    }
    Ok(visits)
}

/// The paths of all instances.
struct Search<'s, 'b> {
    encoder: Encoder<'b>,
    budget: &'b Budget,
    /// How much may still be computed.
    effort: usize,
    /// Every step to a state.
    steps: Vec<Automaton>,
    /// The state after a step and the process that takes it.
    bound: Vec<Var>,
    /// What can be made smaller.
    sets: Vec<Shrinking>,
    /// What is true of all states that are reached.
    context: Logic,
    predicates: &'s [Predicate],
    states: &'s [Vec<bool>],
}

/// The steps that do something to a set.
struct Shrinking {
    /// It does not become greater, by step.
    keep: Vec<Automaton>,
    /// It becomes smaller, by step.
    shrink: Vec<Automaton>,
}

/// Conditions that suffice for a set not to become greater, and to become smaller. What moves leaves one
/// place for another.
fn sizes(family: &mut Family<'_>, ranking: &Ranking) -> [Logic; 2] {
    let [one, other] = [family.fresh.var(), family.fresh.var()];
    let change = |is_gained: bool, who: IndexVar| {
        let who = Term::var(who);
        let now = ranking.logic.substitute(ranking.var, who);
        let next = now.primed();
        let (from, to) = if is_gained { (now, next) } else { (next, now) };
        Logic::all([family.system.is_process(who), Logic::not(from), to])
    };
    let some = |is_gained| Logic::exists(one, change(is_gained, one));
    let two = |is_gained| {
        let apart = Logic::less(Term::var(one), Term::var(other));
        let both = [change(is_gained, one), change(is_gained, other), apart];
        Logic::exists(one, Logic::exists(other, Logic::all(both)))
    };

    let gains_none = Logic::not(some(true));
    let gains_one_at_most = Logic::not(two(true));
    let not_greater = Logic::any([
        gains_none.clone(),
        Logic::all([gains_one_at_most.clone(), some(false)]),
    ]);
    let smaller = Logic::any([
        Logic::all([gains_none, some(false)]),
        Logic::all([gains_one_at_most, two(false)]),
    ]);
    [not_greater, smaller]
}

impl<'s, 'b> Search<'s, 'b> {
    fn new(
        family: &mut Family<'_>,
        question: &FamilyQuestion,
        found: &'s Abstraction,
        budget: &'b Budget,
    ) -> Result<Self, Unknown> {
        let mut free = vec![family.actor];
        free.extend(question.vars());
        let mut rankings = found.rankings.clone();
        rankings.extend(choice::further_rankings(family, question));
        let mut encoder = Encoder::new(&family.system, &free, budget);
        let well_formed = family.well_formed();

        let mut steps = Vec::new();
        for transition in &family.transitions {
            // What is no state after a step is a run-time error, not a step.
            let step = Logic::all([transition.relation.clone(), well_formed.primed()]);
            steps.push(encoder.automaton(&step)?);
        }

        let mut sets: Vec<Shrinking> = Vec::new();
        for ranking in &rankings {
            let [not_greater, smaller] = sizes(family, ranking);
            let keep = all_and(&steps, &encoder.automaton(&not_greater)?, budget)?;
            let shrink = all_and(&steps, &encoder.automaton(&smaller)?, budget)?;
            let is_known = |known: &Shrinking| known.shrink == shrink && known.keep == keep;
            if shrink.iter().any(|step| !is_empty(step)) && !sets.iter().any(is_known) {
                sets.push(Shrinking { keep, shrink });
            }
        }

        let facts = found.invariants.iter().map(|fact| fact.logic.clone());
        let of_states = [well_formed, family.size.clone(), question.condition.clone()];
        Ok(Self {
            bound: encoder.after_a_step(family.actor),
            encoder,
            budget,
            effort: MAX_EFFORT,
            steps,
            sets,
            context: Logic::all(facts.chain(of_states)),
            predicates: &found.predicates,
            states: &found.graph.states,
        })
    }

    /// Kinds of steps of which no run has infinitely many in a row: a set becomes smaller, or another one
    /// while the first does not become greater.
    fn kinds(&self) -> Vec<(usize, Option<usize>)> {
        let n_sets = self.sets.len();
        let mut kinds: Vec<(usize, Option<usize>)> = (0..n_sets).map(|set| (set, None)).collect();
        for first in 0..n_sets {
            let others = (0..n_sets).filter(|second| *second != first);
            kinds.extend(others.map(|second| (first, Some(second))));
        }
        kinds
    }

    /// The steps of a kind. Nothing if the second set makes no difference.
    fn steps_of(
        &mut self,
        (first, second): (usize, Option<usize>),
    ) -> Result<Option<Vec<Automaton>>, Unknown> {
        self.effort = self.effort.saturating_sub(1);
        let first = &self.sets[first];
        let Some(second) = second else {
            return Ok(Some(first.shrink.clone()));
        };
        let mut steps = Vec::new();
        let mut adds_some = false;
        for (position, shrink) in first.shrink.iter().enumerate() {
            let then = &self.sets[second].shrink[position];
            let then = first.keep[position].and(then, self.budget)?;
            adds_some |= !then.is_included_in(shrink, self.budget)?;
            steps.push(shrink.or(&then, self.budget)?);
        }
        Ok(adds_some.then_some(steps))
    }

    /// Has every state that `from` describes a path to one that `to` describes?
    fn is_reached(&mut self, from: &[bool], to: &[bool]) -> Result<bool, Unknown> {
        let from = self.described(from)?;
        let to = self.described(to)?;
        let steps = self.steps.clone();
        let mut won = self.before(&to, &steps)?;
        if from.is_included_in(&won, self.budget)? {
            return Ok(true);
        }

        for kind in self.kinds() {
            if self.effort == 0 {
                break;
            }
            let Some(shrinking) = self.steps_of(kind)? else {
                continue;
            };
            let Some(more) = self.attempt(&from, &won, &shrinking)? else {
                continue;
            };
            won = won.or(&more, self.budget)?;
            if from.is_included_in(&won, self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The states of a region with a step to a state that has won, or by one that shrinks a set to another
    /// one of them.
    fn attempt(
        &mut self,
        region: &Automaton,
        won: &Automaton,
        shrinking: &[Automaton],
    ) -> Result<Option<Automaton>, Unknown> {
        let steps = self.steps.clone();
        let near = self.before(won, &steps)?.or(won, self.budget)?;
        let mut left = region.clone();
        for _ in 0..MAX_NARROWED {
            let with_step = self.before(&left, shrinking)?.or(&near, self.budget)?;
            if left.is_included_in(&with_step, self.budget)? {
                return Ok(Some(left));
            }
            left = left.and(&with_step, self.budget)?;
        }
        Ok(None)
    }

    /// The states that some of these abstract states describe.
    fn described(&mut self, chosen: &[bool]) -> Result<Automaton, Unknown> {
        let states = self.states.iter().zip(chosen);
        let any = states.filter(|(_, is_in)| **is_in).map(|(truth, _)| {
            let literal = |(predicate, holds): (&Predicate, &bool)| {
                if *holds {
                    predicate.logic.clone()
                } else {
                    Logic::not(predicate.logic.clone())
                }
            };
            Logic::all(self.predicates.iter().zip(truth).map(literal))
        });
        let any = Logic::any(any.collect::<Vec<_>>());
        let described = Logic::all([self.context.clone(), any]);
        self.encoder.automaton(&described)
    }

    /// The states with one of these steps to one of these states.
    fn before(&mut self, targets: &Automaton, steps: &[Automaton]) -> Result<Automaton, Unknown> {
        self.effort = self.effort.saturating_sub(1);
        let vars = self.encoder.primed(targets.vars());
        let targets = targets.rename(&vars, self.budget)?;
        let targets = targets.expect("priming keeps variables apart");
        let mut found = self.encoder.automaton(&Logic::Const(false))?;
        for step in steps.iter().filter(|step| !is_empty(step)) {
            let step = step.and(&targets, self.budget)?;
            let sources = self.encoder.exists(&self.bound, &step)?;
            found = found.or(&sources, self.budget)?;
        }
        Ok(found)
    }
}

fn all_and(
    all: &[Automaton],
    other: &Automaton,
    budget: &Budget,
) -> Result<Vec<Automaton>, Unknown> {
    all.iter().map(|one| one.and(other, budget)).collect()
}

fn is_empty(automaton: &Automaton) -> bool {
    automaton.shortest(TRUE).is_none()
}

/// What may be shown to be visited: for each strongly connected part, each truth value of each
/// predicate inside of it, each of its states, what comes behind it, and single steps inside of it.
/// Who leaves the part is never in it again, so that is always as good.
fn goals(graph: &Graph) -> Vec<(Vec<bool>, Vec<bool>)> {
    let n_states = graph.states.len();
    let set = |wanted: &dyn Fn(usize) -> bool| (0..n_states).map(wanted).collect::<Vec<bool>>();
    let mut goals = Vec::new();
    for part in strongly_connected(graph) {
        let is_exit = |state: usize| {
            let into = |edge: &&super::relation::Edge| edge.target == state;
            let mut edges = graph.edges.iter().filter(into);
            !part.contains(&state) && edges.any(|edge| part.contains(&edge.source))
        };
        let exits: BTreeSet<usize> = (0..n_states).filter(|state| is_exit(*state)).collect();
        let mut own = Vec::new();
        let mut add = |from: &dyn Fn(usize) -> bool, to: &dyn Fn(usize) -> bool| {
            let from = set(&|state| part.contains(&state) && from(state));
            let to = set(&|state| exits.contains(&state) || part.contains(&state) && to(state));
            if from.contains(&true) && to.contains(&true) && own.len() < MAX_GOALS {
                own.push((from, to));
            }
        };

        add(&|_| true, &|_| false);
        let n_predicates = graph.states.first().map_or(0, Vec::len);
        for predicate in 0..n_predicates {
            for value in [true, false] {
                let has = |state: usize| graph.states[state][predicate] == value;
                add(&|state| !has(state), &has);
            }
        }
        for goal in &part {
            add(&|state| state != *goal, &|state| state == *goal);
        }
        for edge in &graph.edges {
            if edge.source != edge.target {
                add(&|state| state == edge.source, &|state| state == edge.target);
            }
        }
        own.dedup();
        goals.extend(own);
    }
    goals
}

/// The strongly connected parts of a graph that contain a step.
fn strongly_connected(graph: &Graph) -> Vec<BTreeSet<usize>> {
    let n_states = graph.states.len();
    let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n_states];
    for (start, reached) in reached.iter_mut().enumerate() {
        let mut stack = vec![start];
        while let Some(state) = stack.pop() {
            for edge in graph.edges.iter().filter(|edge| edge.source == state) {
                if reached.insert(edge.target) {
                    stack.push(edge.target);
                }
            }
        }
    }

    let mates = |state: usize| -> BTreeSet<usize> {
        let others = reached[state].iter().copied();
        others.filter(|o| reached[*o].contains(&state)).collect()
    };
    let found: BTreeSet<BTreeSet<usize>> = (0..n_states).map(mates).collect();
    found.into_iter().filter(|part| !part.is_empty()).collect()
}

/// What distinguishes the states that are visited, in the words of the model.
fn describe(found: &Abstraction, from: &[bool], to: &[bool]) -> String {
    let common = |chosen: &[bool], predicate: usize| {
        let states = found.graph.states.iter().zip(chosen);
        let mut values = states
            .filter(|(_, is_in)| **is_in)
            .map(|(t, _)| t[predicate]);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    };
    let text = |chosen: &[bool], other: &[bool]| {
        let mut names = Vec::new();
        for (number, predicate) in found.predicates.iter().enumerate() {
            match common(chosen, number) {
                value if value == common(other, number) => {}
                Some(true) => names.push(predicate.name.clone()),
                Some(false) => names.push(format!("!({})", predicate.name)),
                None => {}
            }
        }
        if names.is_empty() {
            "elsewhere".to_owned()
        } else {
            names.join(" && ")
        }
    };
    let (from, to) = (text(from, to), text(to, from));
    format!("strong global fairness (from {from} there is always a way to {to})")
}
