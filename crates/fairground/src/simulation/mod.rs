//! Walks through a model, on the reference semantics.

pub(crate) mod details;
mod evaluation;
mod obligations;
mod printing;
mod random;
mod sampling;
pub(crate) mod start;

use base::{Fairness, Source};
use evidence::{NamedRun, Trace, TraceStep, View, changes};
use model::{Model, RunTimeError, State, Successor};
use report::{StoredTrace, TraceMeta};
use source::Print;

pub use details::{LoopFairness, StepDetails};
pub use evaluation::Evaluation;
pub use obligations::Obligation;
pub use random::Random;
pub use sampling::{Breach, Sample, Sampling, Watched};

use crate::error::Error;
use crate::project::Project;

/// What is possible where a simulation is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Here {
    /// This many steps.
    Steps(usize),
    /// No step.
    Deadlock,
    /// The model fails; why and where.
    Error(String),
}

/// A finite run that can be prolonged and shortened.
pub struct Simulation<'a> {
    model: &'a Model,
    sources: &'a [Source],
    prints: &'a [Print],
    view: View<'a>,
    walk: SimulationWalk,
}

/// What a simulation has done, apart from its project: it can be kept and resumed.
///
/// Invariant: `states` and `possible` have one entry more than `taken`; step `taken[i]` is one of
/// `possible[i]` and leads from `states[i]` to `states[i + 1]`.
pub struct SimulationWalk {
    states: Vec<State>,
    possible: Vec<Possible>,
    taken: Vec<usize>,
    /// The steps that were taken back, the last one first.
    ahead: Vec<usize>,
}

impl SimulationWalk {
    /// Which of the possible steps was taken at each position.
    #[must_use]
    pub fn choices(&self) -> &[usize] {
        &self.taken
    }

    /// The state at a position.
    #[must_use]
    pub fn state(&self, at: usize) -> &State {
        &self.states[at]
    }
}

impl Project {
    /// All initial states of the first system.
    ///
    /// # Errors
    /// There are too many to be listed, computing them fails, or the project is a family.
    pub fn initial_states(&self) -> Result<Vec<State>, Error> {
        start::initial_states(self.model()?, &self.sources)
    }

    /// A simulation of the first system that starts in a state of it.
    ///
    /// # Errors
    /// The project is a family.
    pub fn simulate(&self, first: State) -> Result<Simulation<'_>, Error> {
        let walk = SimulationWalk {
            possible: vec![Possible::of(self.model()?, &first)],
            states: vec![first],
            taken: Vec::new(),
            ahead: Vec::new(),
        };
        self.resume(walk)
    }

    /// Goes on with a walk of this project.
    ///
    /// # Errors
    /// The project is a family.
    pub fn resume(&self, walk: SimulationWalk) -> Result<Simulation<'_>, Error> {
        let model = self.model()?;
        Ok(Simulation {
            model,
            sources: &self.sources,
            prints: self.prints(),
            view: View::new(model),
            walk,
        })
    }

    /// All values of a state of the first system.
    ///
    /// # Errors
    /// The project is a family.
    pub fn state_text(&self, state: &State) -> Result<String, Error> {
        Ok(state_text(&View::new(self.model()?), state))
    }
}

impl Simulation<'_> {
    /// What was done, to be resumed later.
    #[must_use]
    pub fn into_walk(self) -> SimulationWalk {
        self.walk
    }

    /// What was done so far.
    #[must_use]
    pub fn walk(&self) -> &SimulationWalk {
        &self.walk
    }

    /// How many steps were taken.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.walk.taken.len()
    }

    /// What is possible at the end.
    #[must_use]
    pub fn here(&self) -> Here {
        match self.end() {
            Possible::Steps(steps) if steps.is_empty() => Here::Deadlock,
            Possible::Steps(steps) => Here::Steps(steps.len()),
            Possible::Error(error) => Here::Error(start::error_text(error, self.sources)),
        }
    }

    /// How many steps are possible at the end.
    #[must_use]
    pub fn n_possible(&self) -> usize {
        self.end().steps().len()
    }

    /// Takes one of the steps that are possible at the end; panics if there is no such step.
    pub fn take(&mut self, choice: usize) {
        if self.walk.ahead.pop_if(|ahead| *ahead == choice).is_none() {
            self.walk.ahead.clear();
        }
        let target = self.end().steps()[choice].target.clone();
        let possible = Possible::of(self.model, &target);
        self.walk.possible.push(possible);
        self.walk.states.push(target);
        self.walk.taken.push(choice);
    }

    /// Takes the last step back; says whether there was one.
    pub fn back(&mut self) -> bool {
        let Some(taken) = self.walk.taken.pop() else {
            return false;
        };
        self.walk.states.pop();
        self.walk.possible.pop();
        self.walk.ahead.push(taken);
        true
    }

    /// How many steps were taken back and can be taken again.
    #[must_use]
    pub fn n_ahead(&self) -> usize {
        self.walk.ahead.len()
    }

    /// Goes to where this many steps were taken, back or forward along steps that were taken back; says
    /// whether there is such a place.
    pub fn go_to(&mut self, n_steps: usize) -> bool {
        if n_steps > self.n_steps() + self.n_ahead() {
            return false;
        }
        while self.n_steps() > n_steps {
            self.back();
        }
        while let Some(next) = self.walk.ahead.last().copied()
            && self.n_steps() < n_steps
        {
            self.take(next);
        }
        true
    }

    /// All values of the last state.
    #[must_use]
    pub fn state_text(&self) -> String {
        state_text(&self.view, &self.walk.states[self.n_steps()])
    }

    /// The last step and what it changed; panics at the start.
    #[must_use]
    pub fn last_step_text(&self) -> String {
        let last = self.n_steps() - 1;
        self.step_text_at(last, self.walk.taken[last])
    }

    /// A step that is possible at the end, and what it changes; panics if there is no such step.
    #[must_use]
    pub fn step_text(&self, choice: usize) -> String {
        self.step_text_at(self.n_steps(), choice)
    }

    /// What the last step prints; panics at the start.
    #[must_use]
    pub fn last_printed(&self) -> String {
        let last = self.n_steps() - 1;
        printing::printed(
            self.model,
            self.prints,
            &self.walk.states[last],
            self.step(last),
        )
    }

    /// What fairness still demands of the run, one line for each obligation.
    #[must_use]
    pub fn pending(&self, fairness: Fairness) -> Vec<String> {
        obligations::pending(self.model, self, fairness)
    }

    /// What is assumed of every run, one line each. Whether a finite run keeps it cannot be told.
    #[must_use]
    pub fn assumed(&self) -> Vec<String> {
        obligations::assumed(self.model)
    }

    /// The run, ready to be written. It shows nothing in particular.
    #[must_use]
    pub fn store(&self) -> StoredTrace {
        let trace = self.trace();
        let instances = self.model.instances().iter();
        let meta = TraceMeta {
            source: self.sources.first().map(|source| source.name.clone()),
            processes: instances.map(|instance| instance.name.clone()).collect(),
            ..TraceMeta::default()
        };
        StoredTrace {
            meta,
            run: NamedRun::new(self.model, &trace).into(),
        }
    }

    fn trace(&self) -> Trace {
        let steps = (0..self.n_steps()).map(|position| TraceStep::from(self.step(position)).into());
        Trace {
            steps: steps.collect(),
            states: self.walk.states.clone(),
            loop_start: None,
        }
    }

    /// What is possible at the end.
    fn end(&self) -> &Possible {
        &self.walk.possible[self.n_steps()]
    }

    /// The step taken at a position.
    fn step(&self, position: usize) -> &Successor {
        &self.walk.possible[position].steps()[self.walk.taken[position]]
    }

    fn step_text_at(&self, position: usize, choice: usize) -> String {
        let step = &self.walk.possible[position].steps()[choice];
        let changed = changes(&self.view, &self.walk.states[position], &step.target);
        let changed = changed.iter().map(|c| format!("{} = {}", c.name, c.value));
        let changed = changed.collect::<Vec<_>>().join(", ");
        let name = step_name(self.model, step);
        if changed.is_empty() {
            format!("{name}: no change")
        } else {
            format!("{name}: {changed}")
        }
    }
}

/// What is possible in a state.
enum Possible {
    /// These steps; none in a deadlock.
    Steps(Vec<Successor>),
    /// The model fails.
    Error(RunTimeError),
}

impl Possible {
    fn of(model: &Model, state: &State) -> Self {
        match model.successors(state) {
            Ok(steps) => Self::Steps(steps),
            Err(error) => Self::Error(error),
        }
    }

    /// The steps; none after an error.
    fn steps(&self) -> &[Successor] {
        match self {
            Self::Steps(steps) => steps,
            Self::Error(_) => &[],
        }
    }
}

/// All values of a state.
fn state_text(view: &View<'_>, state: &State) -> String {
    let values = view.values(state).into_iter();
    let values = values.map(|value| value.to_string());
    let names = view.names().iter().map(String::as_str);
    let assignments = report::state_assignments(names.zip(values));
    if assignments.is_empty() {
        "nothing to see".to_owned()
    } else {
        assignments.join(", ")
    }
}

/// The actions of a step.
pub(crate) fn step_name(model: &Model, step: &Successor) -> String {
    let names = step.actions.iter().map(|action| model.action_name(*action));
    names.collect::<Vec<_>>().join(" & ")
}
