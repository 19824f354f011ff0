//! What can be observed of a model: its first states with their steps and letters, and which fair
//! runs it has.

use std::collections::BTreeMap;

use base::{AtomId, Fairness};
use logic::Ltl;
use model::{CommandId, ErrorKind, Model, RunTimeError, State};

use crate::{Judgement, ReferenceGraph, fair_run_exists};

/// The steps of a state: names of actions and movers, timers, letter, target.
type Steps = Vec<(Vec<String>, Vec<String>, Vec<usize>, Letter, State)>;
type Letter = Vec<Result<bool, ErrorKind>>;

/// The first states of a model in breadth-first order, and what happens there.
#[derive(PartialEq, Debug)]
pub(super) struct Behaviour {
    initial: Result<Vec<(State, Letter)>, ErrorKind>,
    states: Vec<(State, Result<Steps, ErrorKind>)>,
}

/// How many states are looked at.
const MAX_STATES: usize = 16;

/// Systems with more states are not asked for fair runs.
const MAX_JUDGED: usize = 8;

impl Behaviour {
    pub(super) fn of(model: &Model) -> Self {
        let initial = model.initial_states();
        let mut open: Vec<State> = initial.iter().flatten().cloned().collect();
        open.truncate(MAX_STATES);

        let mut known: BTreeMap<State, ()> = open.iter().map(|s| (s.clone(), ())).collect();
        let mut states = Vec::new();
        while let Some(state) = open.get(states.len()).cloned() {
            let steps = steps(model, &state);
            for (.., target) in steps.iter().flatten() {
                if open.len() < MAX_STATES && known.insert(target.clone(), ()).is_none() {
                    open.push(target.clone());
                }
            }
            states.push((state, steps));
        }

        let with_letter = |state: State| {
            let letter = letter(model, &state, &[], &[]);
            (state, letter)
        };
        let first = initial.map(|found| found.into_iter().take(MAX_STATES));
        Self {
            initial: first
                .map(|states| states.map(with_letter).collect())
                .map_err(|error| error.kind),
            states,
        }
    }

    /// The run-time errors of the states that were looked at.
    pub(super) fn errors(&self) -> impl Iterator<Item = &ErrorKind> {
        let at_start = self.initial.as_ref().err();
        at_start.into_iter().chain(
            self.states
                .iter()
                .filter_map(|(_, steps)| steps.as_ref().err()),
        )
    }
}

/// Under each notion of fairness: can each atom be true, or false, from some point on? Nothing if
/// the system is too large or fails.
pub(super) fn fair_runs(model: &Model, notions: &[Fairness]) -> Option<Vec<Judgement>> {
    let graph = ReferenceGraph::explore(model, MAX_JUDGED).ok()??;
    let mut judgements = Vec::new();
    for fairness in notions {
        for formula in questions() {
            let automaton = logic::translate(&formula).expect("small formulas");
            let judgement = fair_run_exists(model, &graph, &automaton, *fairness).ok()?;
            if judgement == Judgement::TooLarge {
                return None;
            }
            judgements.push(judgement);
        }
    }
    Some(judgements)
}

fn questions() -> Vec<Ltl> {
    let mut formulas = vec![Ltl::tt()];
    for number in 0..8 {
        let atom = Ltl::atom(AtomId::new(number));
        formulas.push(Ltl::eventually(Ltl::always(atom.clone())));
        formulas.push(Ltl::eventually(Ltl::always(Ltl::not(atom))));
    }
    formulas
}

fn steps(model: &Model, state: &State) -> Result<Steps, ErrorKind> {
    let found = model.steps_or_idle(state).map_err(|error| error.kind)?;
    let described = found.into_iter().map(|step| {
        let action = |id: &model::ActionId| model.action_name(*id).to_owned();
        let mover = |id: &model::InstanceId| model.instance_name(*id).to_owned();
        (
            step.actions.iter().map(action).collect(),
            step.movers.iter().map(mover).collect(),
            step.timers_set.clone(),
            letter(model, &step.target, &step.commands, &step.timers_set),
            step.target,
        )
    });
    Ok(described.collect())
}

fn letter(model: &Model, state: &State, commands: &[CommandId], timers: &[usize]) -> Letter {
    let holds = |atom| {
        let found = model.atom_holds_after(AtomId::new(atom), state, commands, timers);
        found.map_err(|error: RunTimeError| error.kind)
    };
    (0..model.parts().atoms.len()).map(holds).collect()
}
