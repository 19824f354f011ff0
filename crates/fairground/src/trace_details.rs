//! What a trace looks like on its model: where its steps are written, where the parts of a formula
//! hold, and how to walk it again.

use base::{Source, Span};
use evidence::Truth;
use logic::{Ltl, Property};
use model::{CommandId, Model};
use report::{Position, StoredTrace};
use source::{Content, Question as Asked};

use crate::error::Error;
use crate::project::Project;
use crate::simulation::details::MAX_PARTS;

/// What a trace looks like on its model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceDetails {
    /// Where each step is written; several places for a step of several processes.
    pub places: Vec<Vec<Position>>,
    /// Where the parts of the formula hold; none if there is no formula of linear time.
    pub truths: Vec<Truth>,
    /// Is the trace one of the first system, which can be simulated?
    pub is_simulable: bool,
}

impl Project {
    /// What a trace looks like on this model. Its property is looked for by name.
    ///
    /// # Errors
    /// The trace is not one of the model, or the project is a family.
    pub fn trace_details(&self, stored: &StoredTrace) -> Result<TraceDetails, Error> {
        let name = stored.meta.property.as_ref();
        let is_it = |asked: &&Asked| Some(&asked.property.name) == name;
        let asked = self.asked.iter().find(is_it);
        let system = asked.map_or(0, |asked| asked.system);
        let model = match &self.content {
            Content::Systems(systems) => &systems[system].model,
            Content::Family(_) | Content::Threshold(_) => self.model()?,
        };
        let trace = stored.run.to_trace(model);
        let trace = trace.map_err(|why| Error::Call(why.to_string()))?;

        let places = trace.steps.iter();
        let places = places.map(|step| places_of(model, &self.sources, &step.commands));
        let truths = match asked.and_then(formula_of) {
            Some(formula) => evidence::truths(model, &formula, &trace, MAX_PARTS),
            None => Ok(Vec::new()),
        };
        Ok(TraceDetails {
            places: places.collect(),
            truths: truths.map_err(|why| Error::Call(why.to_string()))?,
            is_simulable: system == 0,
        })
    }

    /// How a simulation gets to a state of a trace: the position of its first state among the initial
    /// ones, and which of the possible steps it takes.
    ///
    /// # Errors
    /// The trace is not a run of the first system.
    pub fn choices_along(
        &self,
        stored: &StoredTrace,
        n_steps: usize,
    ) -> Result<(usize, Vec<usize>), Error> {
        let model = self.model()?;
        let trace = stored.run.to_trace(model);
        let trace = trace.map_err(|why| Error::Call(why.to_string()))?;
        let initial = self.initial_states()?;
        let start = initial.iter().position(|state| *state == trace.states[0]);
        let start = start.ok_or_else(|| Error::Call("it does not start initially".to_owned()))?;

        let mut choices = Vec::new();
        for at in 0..n_steps.min(trace.steps.len()) {
            let step = &trace.steps[at];
            let target = &trace.states[trace.after(at)];
            let possible = model.successors(&trace.states[at]).unwrap_or_default();
            let is_it = |other: &model::Successor| {
                other.actions[..] == step.actions[..]
                    && other.movers[..] == step.movers[..]
                    && other.target == *target
            };
            let Some(choice) = possible.iter().position(is_it) else {
                // Nothing but waiting is left in a deadlock.
                if step.is_idle() {
                    break;
                }
                return Err(Error::Call(format!("step {at} is not one of the model")));
            };
            choices.push(choice);
        }
        Ok((start, choices))
    }
}

/// The formula that all runs are asked to satisfy, as far as linear time can say it.
pub(crate) fn formula_of(asked: &Asked) -> Option<Ltl> {
    match &asked.property.property {
        Property::Ltl(formula) => Some(formula.clone()),
        Property::Invariant(formula) => Some(Ltl::always(formula.clone())),
        Property::Reachable(formula) => Some(Ltl::eventually(formula.clone())),
        Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => None,
    }
}

/// Where commands are written, each place once.
pub(crate) fn places_of(
    model: &Model,
    sources: &[Source],
    commands: &[CommandId],
) -> Vec<Position> {
    let mut places: Vec<Position> = Vec::new();
    for command in commands {
        let place = position(sources, model.step_of(*command).span);
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places
}

/// Line and column of a span, unless it is nowhere in a text.
pub(crate) fn position(sources: &[Source], span: Span) -> Option<Position> {
    let source = sources.get(span.source.index())?;
    if span == Span::nowhere() {
        return None;
    }
    let (line, column) = source.line_column(span.start as usize);
    Some(Position {
        file: source.name.clone(),
        line,
        column,
    })
}
