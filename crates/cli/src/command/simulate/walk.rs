//! The run so far, and what is possible where it ends.

use evidence::{Trace, TraceStep, View, changes};
use model::{Model, RunTimeError, State, Successor};

/// What is possible in a state.
pub enum Here {
    /// These steps; none in a deadlock.
    Steps(Vec<Successor>),
    /// The model fails.
    Error(RunTimeError),
}

impl Here {
    fn of(model: &Model, state: &State) -> Self {
        match model.successors(state) {
            Ok(steps) => Self::Steps(steps),
            Err(error) => Self::Error(error),
        }
    }

    /// The steps; none after an error.
    pub fn steps(&self) -> &[Successor] {
        match self {
            Self::Steps(steps) => steps,
            Self::Error(_) => &[],
        }
    }
}

/// A finite run that can be prolonged and shortened.
///
/// Invariant: `states` and `possible` have one entry more than `taken`; step `taken[i]` is one of
/// `possible[i]` and leads from `states[i]` to `states[i + 1]`.
pub struct Walk<'a> {
    model: &'a Model,
    view: View<'a>,
    states: Vec<State>,
    possible: Vec<Here>,
    taken: Vec<usize>,
}

impl<'a> Walk<'a> {
    /// The run that is still at its first state.
    pub fn new(model: &'a Model, first: State) -> Self {
        Self {
            model,
            view: View::new(model),
            possible: vec![Here::of(model, &first)],
            states: vec![first],
            taken: Vec::new(),
        }
    }

    /// How many steps it has.
    pub fn n_steps(&self) -> usize {
        self.taken.len()
    }

    /// The state at a position.
    pub fn state(&self, position: usize) -> &State {
        &self.states[position]
    }

    /// What is possible at a position.
    pub fn possible(&self, position: usize) -> &Here {
        &self.possible[position]
    }

    /// What is possible at the end.
    pub fn here(&self) -> &Here {
        &self.possible[self.n_steps()]
    }

    /// The step taken at a position.
    pub fn step(&self, position: usize) -> &Successor {
        &self.possible[position].steps()[self.taken[position]]
    }

    /// Takes one of the steps that are possible at the end; panics if there is no such step.
    pub fn take(&mut self, choice: usize) {
        let target = self.here().steps()[choice].target.clone();
        self.possible.push(Here::of(self.model, &target));
        self.states.push(target);
        self.taken.push(choice);
    }

    /// Takes the last step back; says whether there was one.
    pub fn back(&mut self) -> bool {
        let had_step = self.taken.pop().is_some();
        if had_step {
            self.states.pop();
            self.possible.pop();
        }
        had_step
    }

    /// All values of the last state.
    pub fn state_text(&self) -> String {
        state_text(&self.view, self.state(self.n_steps()))
    }

    /// The last step and what it changed; panics at the start.
    pub fn last_step_text(&self) -> String {
        self.step_text(self.n_steps() - 1, self.taken[self.n_steps() - 1])
    }

    /// A possible step and what it changes.
    pub fn step_text(&self, position: usize, choice: usize) -> String {
        let step = &self.possible[position].steps()[choice];
        let changed = changes(&self.view, &self.states[position], &step.target);
        let changed = changed.iter().map(|c| format!("{} = {}", c.name, c.value));
        let changed = changed.collect::<Vec<_>>().join(", ");
        let name = step_name(self.model, step);
        match changed.is_empty() {
            true => format!("{name}: no change"),
            false => format!("{name}: {changed}"),
        }
    }

    /// The run as evidence.
    pub fn into_trace(self) -> Trace {
        let steps = (0..self.n_steps()).map(|position| TraceStep::from(self.step(position)));
        Trace {
            steps: steps.collect(),
            states: self.states,
            loop_start: None,
        }
    }
}

/// All values of a state.
pub fn state_text(view: &View<'_>, state: &State) -> String {
    let values = view.names().iter().zip(view.values(state));
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    match values.is_empty() {
        true => "nothing to see".to_owned(),
        false => values.join(", "),
    }
}

/// The actions of a step.
pub fn step_name(model: &Model, step: &Successor) -> String {
    let names = step.actions.iter().map(|action| model.action_name(*action));
    names.collect::<Vec<_>>().join(" & ")
}
