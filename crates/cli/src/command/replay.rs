//! `fair replay`: is a stored trace one of the model, and does it still show what it showed?

use fairground::{Judgement, Options, Replay, formulas_of_trace};

use crate::failure::{Failure, Status};
use crate::options::ReplayOptions;
use crate::{loading, output, trace_file};

/// Replays the trace with the reference semantics, and judges what it claims.
///
/// # Errors
/// The model or the trace is wrong.
pub fn run(options: &ReplayOptions) -> Result<Status, Failure> {
    let stored = trace_file::read(&options.trace)?;
    let mut front_end = Options {
        assume: options.assume.clone(),
        ..options.model.for_front_end()
    };
    formulas_of_trace(&mut front_end, &stored.meta);

    let project = loading::open_closed(&options.model.file, front_end)?.for_walks()?;

    let (changed, judgement) = match project.replay(&stored)? {
        Replay::Invalid(why) => {
            output::print(&format!("invalid: {why}\n"))?;
            return Ok(Status::Violated);
        }
        Replay::Valid { changed, judgement } => (changed, judgement),
    };

    let n_states = stored.run.states.len();
    output::print(&format!(
        "valid: a run of the model with {n_states} states\n"
    ))?;
    if let (Some(name), Some(text)) = (&stored.meta.property, changed) {
        output::note(&format!("`{name}` has changed; it is now: {text}"));
    }

    let (text, status) = match judgement {
        Judgement::Nothing => return Ok(Status::Success),
        Judgement::Confirmed(what) => (format!("confirmed: it {what}\n"), Status::Success),
        Judgement::Refuted(why) => (format!("refuted: {why}\n"), Status::Violated),
        Judgement::Unjudged(why) => (format!("not judged: {why}\n"), Status::Undecided),
    };

    output::print(&text)?;
    Ok(status)
}
