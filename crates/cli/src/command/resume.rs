//! `fair resume`: goes on with a check that was stopped.

use clap::Parser as _;

use crate::checkpoint_file;
use crate::failure::{Failure, Status};
use crate::options::{Cli, Command, ResumeOptions};

/// Reads a checkpoint and makes its call again, from where it was stopped.
///
/// # Errors
/// The checkpoint is damaged, or as for `fair check`.
pub fn run(options: &ResumeOptions) -> Result<Status, Failure> {
    let (call, sections) = checkpoint_file::read(&options.checkpoint)?;
    let arguments = std::iter::once("fair").chain(call.arguments.iter().map(String::as_str));
    let Ok(Cli {
        command: Command::Check(mut check),
        ..
    }) = Cli::try_parse_from(arguments)
    else {
        return Err(Failure::wrong(format!(
            "`{}` was written by another version of fair",
            options.checkpoint.display()
        )));
    };
    check.max_states = options.max_states;
    check.max_memory = options.max_memory;
    check.timeout = options.timeout;
    // Files are named relative to where the call was made.
    if std::env::set_current_dir(&call.directory).is_err() {
        return Err(Failure::wrong(format!(
            "the check was made in `{}`, which cannot be entered",
            call.directory
        )));
    }
    super::check::go_on(&check, call, sections)
}
