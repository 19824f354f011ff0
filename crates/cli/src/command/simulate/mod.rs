//! `fair simulate`: walks through the model, on the reference semantics.

mod interactive;
mod lines;

use fairground::{Breach, Here, Project, Random, Sample, Sampling, Simulation};

use crate::failure::{Failure, Status};
use crate::options::SimulateOptions;
use crate::{limits, loading, output, trace_file};

use interactive::Session;
use lines::Lines;

/// How many steps a random walk has that is printed, if nothing is said.
const N_STEPS: usize = 20;

/// How many steps each of several random walks has, if nothing is said.
const N_STEPS_OF_MANY: usize = 100;

/// How many actions are named that were never taken.
const MAX_NAMED: usize = 10;

/// Walks, at random or as the user says.
///
/// # Errors
/// The model is wrong, or has no initial state.
pub fn run(options: &SimulateOptions) -> Result<Status, Failure> {
    if let Some(path) = &options.trace {
        trace_file::check_writable(path)?;
    }
    let model = &options.model;
    let project = loading::open_closed(&model.file, model.for_front_end())?.for_walks()?;
    let along = match &options.along {
        Some(path) => Some(project.simulate_along(&trace_file::read(path)?)?),
        None => None,
    };
    let initial = project.initial_states()?;
    if initial.is_empty() {
        return Err(Failure::wrong("the model has no initial state"));
    }

    let (walk, status) = if let Some(n_runs) = options.runs {
        let Some(walked) = walk_often(&project, n_runs, options)? else {
            return Ok(Status::Success);
        };
        walked
    } else if options.random {
        let n_steps = options.steps.unwrap_or(N_STEPS);
        walk_at_random(&project, options.seed, n_steps)?
    } else {
        let mut session = Session {
            project: &project,
            watched: project.watched()?,
            fairness: project.fairness(options.fairness)?,
            random: Random::new(options.seed),
            lines: Lines::of_standard_input()?,
        };
        let walk = match along {
            Some(walk) => session.go_on(walk),
            None => session.run(initial),
        };
        let walk = walk?;
        // What was walked is kept if a limit is reached or the user interrupts.
        let status = match limits::budget().check(0, 0) {
            Ok(()) => Status::Success,
            Err(_) => Status::Undecided,
        };
        match walk {
            Some(walk) => (walk, status),
            None => return Ok(status),
        }
    };

    if let Some(path) = &options.trace {
        trace_file::write(path, &walk.store())?;
    }
    Ok(status)
}

/// Makes many random walks and tells what they have shown; the first that breaks something is
/// printed.
fn walk_often<'a>(
    project: &'a Project,
    n_runs: u64,
    options: &SimulateOptions,
) -> Result<Option<(Simulation<'a>, Status)>, Failure> {
    let max_steps = options.steps.unwrap_or(N_STEPS_OF_MANY);
    let sampling = Sampling {
        n_runs,
        max_steps,
        seed: options.seed,
    };
    let sample = project.sample(sampling, &limits::budget())?;
    output::print(&statistics(&sample, sampling))?;

    let Some((seed, breach)) = &sample.breach else {
        let names = project.watched()?.names().join(", ");
        let what = match names.as_str() {
            "" => "no run-time error; there is no invariant to be watched".to_owned(),
            names => format!("no run-time error, and nothing breaks {names}"),
        };
        output::print(&format!("{what} (this is not a proof)\n"))?;
        return Ok(None);
    };
    let what = match breach {
        Breach::Property(name) => format!("breaks `{name}`"),
        Breach::Error(_) => "has a run-time error".to_owned(),
    };
    output::print(&format!("run {} {what}:\n", sample.n_runs))?;
    let walked = walk_at_random(project, *seed, max_steps)?;
    let file = options.model.file.display();
    output::print(&format!(
        "to repeat it: fair simulate {file} --random --steps {max_steps} --seed {seed}\n"
    ))?;
    Ok(Some(walked))
}

/// What random runs were like.
fn statistics(sample: &Sample, sampling: Sampling) -> String {
    let Sample {
        n_runs,
        n_steps,
        n_deadlocks,
        ..
    } = sample;
    let Sampling {
        max_steps, seed, ..
    } = sampling;
    let many = |n: u64, noun: &str| match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    };
    let mut text = format!(
        "{} of up to {}, from seed {seed} on: {} in all, {n_deadlocks} deadlocked at the end\n",
        many(*n_runs, "random run"),
        many(max_steps as u64, "step"),
        many(*n_steps, "step"),
    );
    // After the first run that breaks something, others may still take them.
    let never = &sample.never_taken;
    if !never.is_empty() && sample.breach.is_none() {
        let named = never.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
        let more = match never.len() - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        text += &format!("never taken: {}{more}\n", named.join(", "));
    }
    text
}

/// What the last step prints, one line after the other, each marked.
fn printed(walk: &Simulation<'_>) -> String {
    let printed = walk.last_printed();
    printed
        .lines()
        .map(|line| format!("     | {line}\n"))
        .collect()
}

/// Takes random steps until there are enough, none is possible, or something breaks.
fn walk_at_random(
    project: &Project,
    seed: u64,
    n_steps: usize,
) -> Result<(Simulation<'_>, Status), Failure> {
    let mut random = Random::new(seed);
    let mut initial = project.initial_states()?;
    let first = initial.swap_remove(random.below(initial.len()));
    let watched = project.watched()?;
    let mut walk = project.simulate(first)?;
    output::print(&format!("start: {}\n", walk.state_text()))?;

    let budget = limits::budget();
    let mut status = Status::Success;
    for number in 0..=n_steps {
        // What was walked is kept.
        if let Err(reason) = budget.check(0, 0) {
            output::print(&format!(
                "stopped after {number} steps: {}\n",
                reason.name()
            ))?;
            status = Status::Undecided;
            break;
        }
        if let Some(breach) = watched.breach_at_end(&walk) {
            output::print(&match breach {
                Breach::Property(name) => format!("this state breaks `{name}`\n"),
                Breach::Error(error) => format!("run-time error: {error}\n"),
            })?;
            status = Status::Violated;
            break;
        }
        match walk.here() {
            Here::Steps(n_possible) if number < n_steps => {
                walk.take(random.below(n_possible));
                let text = format!("  {number}  {}\n", walk.last_step_text());
                output::print(&(text + &printed(&walk)))?;
            }
            Here::Deadlock => {
                output::print("deadlock: no step is possible\n")?;
                break;
            }
            // The watch has seen run-time errors.
            Here::Steps(_) | Here::Error(_) => break,
        }
    }
    Ok((walk, status))
}
