//! Expressions and formulas where a simulation is, and simulations along stored runs.

use evidence::{Truth, View};
use model::{Env, Model};
use report::StoredTrace;
use source::{Content, Observed, Options};

use super::details::MAX_PARTS;
use super::{Simulation, start};
use crate::error::Error;
use crate::project::Project;
use crate::trace_details::formula_of;
use crate::{Value, WrongText};

/// What a formula is called while it is evaluated.
const NAME: &str = "formula";

/// The error about an expression that is a formula.
const TEMPORAL: &str = "temporal-operator";

/// What an expression or formula is where a simulation is.
#[derive(Clone, PartialEq, Debug)]
pub enum Evaluation {
    /// The value of an expression in the last state.
    Value(Value),
    /// A formula and its parts at each position of the run so far; nothing where the run does not
    /// decide it yet. There are none for a formula that is constantly true or false.
    Formula(Vec<Truth>),
}

impl Project {
    /// Evaluates an expression of the model in the last state of a simulation of this project, or a
    /// formula along it. Where a language has no expressions of its own, only formulas.
    ///
    /// # Errors
    /// The text is wrong, its evaluation fails, or the project was not read from a text.
    pub fn evaluate(&self, run: &Simulation<'_>, text: &str) -> Result<Evaluation, Error> {
        let empty = Options {
            ltl: Vec::new(),
            ctl: Vec::new(),
            expected: Vec::new(),
            ..self.options()
        };
        let value = self.again(&Options {
            values: vec![text.to_owned()],
            ..empty.clone()
        });
        let wrong = match value {
            Ok(project) => match project.observed() {
                Some(observed) => return project.value_at_end(run, observed),
                None => None,
            },
            Err(error) => Some(error),
        };

        let ltl = vec![(NAME.to_owned(), text.to_owned())];
        let formula = self.again(&Options { ltl, ..empty });
        match (formula, wrong) {
            (Ok(project), _) => project.formula_along(run),
            // What is wrong with a formula is not that it is one.
            (Err(error), Some(wrong)) => Err(if is_temporal(&wrong) { error } else { wrong }),
            (Err(error), None) => Err(error),
        }
    }

    /// The project with other options.
    fn again(&self, options: &Options) -> Result<Self, Error> {
        match self.files() {
            Some((files, path)) => Self::open(files, path, options),
            None => Err(Error::Call("the model was not read from a text".to_owned())),
        }
    }

    fn observed(&self) -> Option<&Observed> {
        match &self.content {
            Content::Systems(systems) => systems[0].values.first(),
            Content::Family(_) | Content::Threshold(_) => None,
        }
    }

    fn value_at_end(&self, run: &Simulation<'_>, observed: &Observed) -> Result<Evaluation, Error> {
        let model = self.model()?;
        same_states(model, run)?;
        let state = &run.walk.states[run.n_steps()];
        let mut cells = Vec::new();
        for cell in &observed.cells {
            let value = model.eval(cell, state, &mut Env::empty(), observed.span);
            let failed = |error| Error::Call(start::error_text(&error, &self.sources));
            cells.push(value.map_err(failed)?);
        }
        let value = View::new(model).value_of(&observed.ty, &cells);
        Ok(Evaluation::Value(value))
    }

    fn formula_along(&self, run: &Simulation<'_>) -> Result<Evaluation, Error> {
        let mut asked = self.asked.iter().rev();
        let asked = asked.find(|question| question.property.name == NAME);
        let Some(formula) = asked.and_then(formula_of) else {
            let message = "only formulas of linear time can be evaluated along a run";
            return Err(Error::Call(message.to_owned()));
        };
        let model = self.model()?;
        same_states(model, run)?;
        let truths = evidence::truths(model, &formula, &run.trace(), MAX_PARTS);
        let truths = truths.map_err(|why| Error::Call(why.to_string()))?;
        Ok(Evaluation::Formula(truths))
    }

    /// A simulation that has walked along a stored run; a loop is gone through once.
    ///
    /// # Errors
    /// It is not a run of the first system, or the project is a family.
    pub fn simulate_along(&self, stored: &StoredTrace) -> Result<Simulation<'_>, Error> {
        let model = self.model()?;
        let wrong = |why: String| Error::Call(format!("this is not a run of the model: {why}"));
        let trace = stored.run.to_trace(model);
        let trace = trace.map_err(|misfit| wrong(misfit.to_string()))?;
        evidence::validate_run(model, &trace).map_err(|invalid| wrong(invalid.to_string()))?;

        let Some((first, others)) = trace.states.split_first() else {
            return Err(wrong("it has no states".to_owned()));
        };
        let again = trace.loop_start.map(|start| &trace.states[start]);
        let mut run = self.simulate(first.clone())?;
        for (step, target) in trace.steps.iter().zip(others.iter().chain(again)) {
            let mut possible = run.end().steps().iter();
            let taken = possible.position(|s| *s.commands == *step.commands && s.target == *target);
            // A run that stays in a deadlock takes no steps there.
            let Some(choice) = taken else {
                break;
            };
            run.take(choice);
        }
        Ok(run)
    }
}

/// What is evaluated adds to the model; its states must consist of the same as before.
fn same_states(model: &Model, run: &Simulation<'_>) -> Result<(), Error> {
    let cells = |model: &Model| -> Vec<String> {
        model.cells().iter().map(|cell| cell.name.clone()).collect()
    };
    if cells(model) == cells(run.model) && model.instances() == run.model.instances() {
        return Ok(());
    }
    let message = "this changes what states consist of, so it cannot be evaluated here";
    Err(Error::Call(message.to_owned()))
}

fn is_temporal(error: &Error) -> bool {
    // shape: other errors are not about the text.
    if let Error::Text(WrongText { diagnostics, .. }) = error {
        return diagnostics.iter().any(|said| said.code == TEMPORAL);
    }
    false
}
