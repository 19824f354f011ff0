//! `fair simulate`: a walk through the model, on the reference semantics.

mod interactive;
mod obligations;
mod walk;

use std::io::{self, IsTerminal as _};

use base::{Fairness, FairnessKind};
use model::Model;

use crate::failure::{Failure, Status};
use crate::loading::{self, Loaded};
use crate::options::SimulateOptions;
use crate::random::Random;
use crate::{output, start, trace_file};

use interactive::Session;
use walk::{Here, Walk};

/// Walks, at random or as the user says.
///
/// # Errors
/// The model is wrong, or has no initial state.
pub fn run(options: &SimulateOptions) -> Result<Status, Failure> {
    if let Some(path) = &options.trace {
        trace_file::check_writable(path)?;
    }
    let loaded = loading::load(&options.model.file, &options.model.for_front_end())?;
    let initial = start::initial_states(loaded.model());
    let initial = initial.map_err(|reason| reason.into_failure(&loaded.sources))?;
    if initial.is_empty() {
        return Err(Failure::wrong("the model has no initial state"));
    }
    let mut random = Random::new(options.seed);
    let (walk, status) = match options.random {
        true => {
            let first = initial[random.below(initial.len())].clone();
            let walk = Walk::new(loaded.model(), first);
            walk_at_random(walk, &loaded, options.steps, &mut random)?
        }
        false => {
            let mut session = Session {
                loaded: &loaded,
                fairness: fairness(loaded.model(), options.fairness),
                random,
                input: io::stdin().lock(),
                echo: !io::stdin().is_terminal(),
            };
            match session.run(initial)? {
                Some(walk) => (walk, Status::Success),
                None => return Ok(Status::Success),
            }
        }
    };
    if let Some(path) = &options.trace {
        let stored = trace_file::store_run(loaded.model(), &loaded.sources, &walk.into_trace());
        trace_file::write(path, &stored)?;
    }
    Ok(status)
}

/// What the user asks for, else what the model says, else its annotations.
fn fairness(model: &Model, asked_for: Option<Fairness>) -> Fairness {
    let annotated = Fairness {
        kind: FairnessKind::None,
        annotated: !model.parts().annotations.is_empty(),
        timers: false,
    };
    asked_for.or(model.parts().fairness).unwrap_or(annotated)
}

/// Takes random steps until there are enough, or none is possible.
fn walk_at_random<'a>(
    mut walk: Walk<'a>,
    loaded: &Loaded,
    n_steps: usize,
    random: &mut Random,
) -> Result<(Walk<'a>, Status), Failure> {
    output::print(&format!("start: {}\n", walk.state_text()))?;
    for number in 0..n_steps {
        match walk.here() {
            Here::Steps(steps) if steps.is_empty() => {
                output::print("deadlock: no step is possible\n")?;
                return Ok((walk, Status::Success));
            }
            Here::Steps(steps) => {
                let choice = random.below(steps.len());
                walk.take(choice);
                let text = format!("  {number}  {}\n", walk.last_step_text());
                output::print(&text)?;
            }
            Here::Error(error) => {
                let text = start::error_text(error, &loaded.sources);
                output::print(&format!("run-time error: {text}\n"))?;
                return Ok((walk, Status::Violated));
            }
        }
    }
    Ok((walk, Status::Success))
}
