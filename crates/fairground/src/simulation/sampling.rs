//! Random runs that are watched: does a state on the way break a property?

use base::Budget;
use logic::Property;
use model::{Model, RunTimeError, State, Successor};

use super::{Random, Simulation, start};
use crate::error::Error;
use crate::{Expected, Project, Question};

/// What random runs are watched for: all properties of the first system that a single state can
/// break, unless they are expected to be violated.
pub struct Watched<'a> {
    project: &'a Project,
    model: &'a Model,
    questions: Vec<&'a Question>,
}

/// What is wrong with the last state of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Breach {
    /// It breaks the property of this name.
    Property(String),
    /// The model fails there; why and where.
    Error(String),
}

/// How many random runs of which length, and where their choices come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How many runs.
    pub n_runs: u64,
    /// After how many steps each of them ends, at the latest.
    pub max_steps: usize,
    /// The seed of the first run; that of each other is greater by one than the one before.
    pub seed: u64,
}

/// What random runs have shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// How many runs there were, the one that breaks something included.
    pub n_runs: u64,
    /// How many steps they have together.
    pub n_steps: u64,
    /// How many ended in a deadlock.
    pub n_deadlocks: u64,
    /// The actions that no run took.
    pub never_taken: Vec<String>,
    /// The seed of the first run that breaks something, and what.
    pub breach: Option<(u64, Breach)>,
}

impl Project {
    /// What random runs of the first system are watched for.
    ///
    /// # Errors
    /// The project is a family.
    pub fn watched(&self) -> Result<Watched<'_>, Error> {
        let model = self.model()?;
        let is_watched = |question: &&Question| {
            let asked = &self.asked[question.position];
            let fairness = check::effective_fairness(model, &asked.property, None);
            asked.system == 0
                && question.expected != Some(Expected::Violated)
                && asked.undecided(fairness).is_none()
                && check::is_broken_by_states(model, &asked.property)
        };
        Ok(Watched {
            project: self,
            model,
            questions: self.questions().iter().filter(is_watched).collect(),
        })
    }

    /// Makes random runs of the first system until one breaks something. The same seed gives the
    /// same run as a [`Simulation`] does that first chooses among the initial states, then among the
    /// possible steps.
    ///
    /// # Errors
    /// The initial states cannot be listed, the project is a family, or the budget is spent.
    pub fn sample(&self, sampling: Sampling, budget: &Budget) -> Result<Sample, Error> {
        let watched = self.watched()?;
        let initial = self.initial_states()?;
        let mut sample = Sample::default();
        let mut is_taken = vec![false; watched.model.actions().len()];
        if initial.is_empty() {
            return Ok(sample);
        }

        for number in 0..sampling.n_runs {
            let seed = sampling.seed.wrapping_add(number);
            let mut random = Random::new(seed);
            let mut state = initial[random.below(initial.len())].clone();
            let mut entry: Option<Successor> = None;
            sample.n_runs += 1;
            for n_steps in 0..=sampling.max_steps {
                budget.check(0, 0).map_err(Error::Limit)?;
                let steps = watched.model.successors(&state);
                if let Some(breach) = watched.breach(&state, entry.as_ref(), &steps) {
                    sample.breach = Some((seed, breach));
                    break;
                }
                let mut steps = steps.unwrap_or_default();
                if steps.is_empty() {
                    sample.n_deadlocks += 1;
                    break;
                }
                if n_steps < sampling.max_steps {
                    let step = steps.swap_remove(random.below(steps.len()));
                    for action in &step.actions {
                        is_taken[action.index()] = true;
                    }
                    state.clone_from(&step.target);
                    entry = Some(step);
                    sample.n_steps += 1;
                }
            }
            if sample.breach.is_some() {
                break;
            }
        }

        let actions = watched.model.actions().iter().zip(is_taken);
        let never = actions.filter(|(_, is_taken)| !is_taken);
        sample.never_taken = never.map(|(action, _)| action.name.clone()).collect();
        Ok(sample)
    }
}

impl Watched<'_> {
    /// The names of the properties.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let questions = self.questions.iter();
        questions.map(|question| question.name.as_str()).collect()
    }

    /// What is wrong with the last state of a simulation of the project.
    #[must_use]
    pub fn breach_at_end(&self, run: &Simulation<'_>) -> Option<Breach> {
        let now = run.n_steps();
        let entry = now.checked_sub(1).map(|before| run.step(before));
        let state = &run.walk.states[now];
        self.breach(state, entry, &self.model.successors(state))
    }

    /// What is wrong with a state that was entered by a step and has these steps.
    fn breach(
        &self,
        state: &State,
        entry: Option<&Successor>,
        steps: &Result<Vec<Successor>, RunTimeError>,
    ) -> Option<Breach> {
        let described =
            |error: &RunTimeError| Breach::Error(start::error_text(error, &self.project.sources));

        let steps = match steps {
            Ok(steps) => steps,
            Err(error) => return Some(described(error)),
        };

        for question in &self.questions {
            match self.is_broken(question, state, entry, steps) {
                Ok(false) => {}
                Ok(true) => return Some(Breach::Property(question.name.clone())),
                Err(error) => return Some(described(&error)),
            }
        }
        None
    }

    fn is_broken(
        &self,
        question: &Question,
        state: &State,
        entry: Option<&Successor>,
        steps: &[Successor],
    ) -> Result<bool, RunTimeError> {
        // Other properties are about more than one state of a walk.
        let formula = match &self.project.asked[question.position].property.property {
            Property::Invariant(formula) => formula,
            Property::DeadlockFree => return Ok(steps.is_empty()),
            Property::Ltl(_)
            | Property::Reachable(_)
            | Property::CtlStar(_)
            | Property::Never(_)
            | Property::MayMust(_) => return Ok(false),
        };

        let (commands, timers_set) = entry.map_or((&[][..], &[][..]), |step| {
            (step.commands.as_slice(), step.timers_set.as_slice())
        });

        let mut letter = Vec::new();
        for atom in formula.atoms() {
            let holds = self
                .model
                .atom_holds_after(atom, state, commands, timers_set)?;
            letter.push((atom, holds));
        }

        let holds = |_, atom| letter.contains(&(atom, true));
        Ok(!logic::holds_on_lasso(formula, 1, 0, &holds))
    }
}
