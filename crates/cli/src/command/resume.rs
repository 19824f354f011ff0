//! `fair resume`: goes on with a check that was stopped.

use clap::Parser as _;

use crate::checkpoint_file;
use crate::failure::{Failure, Status};
use crate::options::{CheckOptions, Cli, Command, ResumeOptions};
use crate::{loading, output};

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
            "`{}` is not a checkpoint: it does not say which check it belongs to; start the check \
             again with `fair check`",
            options.checkpoint.display()
        )));
    };
    limit(&mut check, options)?;

    // Files are named relative to where the call was made.
    if std::env::set_current_dir(&call.directory).is_err() {
        return Err(Failure::wrong(format!(
            "the check was made in `{}`, which cannot be entered",
            call.directory
        )));
    }
    // The verdict is about the file that the user sees.
    let (name, text) = &call.files[0];
    if loading::read_text(&check.files[0])? != *text {
        return Err(changed(name));
    }
    super::check::go_on(&check, call, sections)
}

/// The failure for a file that is not as it was when the checkpoint was written.
pub fn changed(name: &str) -> Failure {
    Failure::wrong(format!(
        "`{name}` has changed since the checkpoint was written; put it back as it was, or start the \
         check again with `fair check`"
    ))
}

/// Replaces what a call may spend and write by what the user of `resume` says. A checkpoint is data:
/// no file is written because it is named in one.
fn limit(check: &mut CheckOptions, options: &ResumeOptions) -> Result<(), Failure> {
    let absolute = |path| {
        std::path::absolute(path).map_err(|_| Failure::wrong("the current directory is not known"))
    };
    check.max_states = options.max_states;
    check.checkpoint = Some(absolute(&options.checkpoint)?);

    let asked = check.trace.take();
    check.trace = options.trace.as_ref().map(absolute).transpose()?;
    if let (Some(path), None) = (asked, &check.trace) {
        let path = path.display();
        output::note(&format!(
            "the check was to write a trace to `{path}`; that is not done unless you add \
             `--trace {path}`"
        ));
    }
    Ok(())
}
