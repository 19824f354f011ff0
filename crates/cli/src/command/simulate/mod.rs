//! `fair simulate`: a walk through the model, on the reference semantics.

mod interactive;

use std::io::{self, IsTerminal as _};

use fairground::{Here, Random, Simulation};

use crate::failure::{Failure, Status};
use crate::options::SimulateOptions;
use crate::{limits, loading, output, trace_file};

use interactive::Session;

/// Walks, at random or as the user says.
///
/// # Errors
/// The model is wrong, or has no initial state.
pub fn run(options: &SimulateOptions) -> Result<Status, Failure> {
    if let Some(path) = &options.trace {
        trace_file::check_writable(path)?;
    }
    let model = &options.model;
    let project = loading::open_closed(&model.file, model.for_front_end())?;
    let initial = project.initial_states()?;
    if initial.is_empty() {
        return Err(Failure::wrong("the model has no initial state"));
    }

    let mut random = Random::new(options.seed);
    let (walk, status) = if options.random {
        let first = initial[random.below(initial.len())].clone();
        let mut walk = project.simulate(first)?;
        let status = walk_at_random(&mut walk, options.steps, &mut random)?;
        (walk, status)
    } else {
        let mut session = Session {
            project: &project,
            fairness: project.fairness(options.fairness)?,
            random,
            input: io::stdin().lock(),
            echo: !io::stdin().is_terminal(),
        };
        match session.run(initial)? {
            Some(walk) => (walk, Status::Success),
            None => return Ok(Status::Success),
        }
    };

    if let Some(path) = &options.trace {
        trace_file::write(path, &walk.store())?;
    }
    Ok(status)
}

/// Takes random steps until there are enough, or none is possible.
fn walk_at_random(
    walk: &mut Simulation<'_>,
    n_steps: usize,
    random: &mut Random,
) -> Result<Status, Failure> {
    output::print(&format!("start: {}\n", walk.state_text()))?;
    let budget = limits::budget();
    for number in 0..n_steps {
        budget.check(0, 0).map_err(Failure::stopped)?;
        match walk.here() {
            Here::Deadlock => {
                output::print("deadlock: no step is possible\n")?;
                return Ok(Status::Success);
            }
            Here::Steps(n_possible) => {
                walk.take(random.below(n_possible));
                let text = format!("  {number}  {}\n", walk.last_step_text());
                output::print(&text)?;
            }
            Here::Error(error) => {
                output::print(&format!("run-time error: {error}\n"))?;
                return Ok(Status::Violated);
            }
        }
    }
    Ok(Status::Success)
}
