//! `fair completions` and `fair man`: what shells and manual readers want.

use clap::CommandFactory as _;

use crate::failure::{Failure, Status};
use crate::options::{Cli, CompletionsOptions, ManOptions};
use crate::output;

/// Prints the completion script of a shell.
///
/// # Errors
/// Standard output cannot be written to.
pub fn completions(options: &CompletionsOptions) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "fair", &mut script);
    print_bytes(&script)
}

/// Prints the manual page of the tool or of one command.
///
/// # Errors
/// There is no such command.
pub fn manual(options: &ManOptions) -> Result<Status, Failure> {
    let mut whole = Cli::command();
    // Gives the commands their full names.
    whole.build();
    let command = match &options.command {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).cloned();
            found.ok_or_else(|| Failure::wrong(format!("there is no command `{name}`")))?
        }
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.expect("writing to memory succeeds");
    print_bytes(&page)
}

fn print_bytes(bytes: &[u8]) -> Result<Status, Failure> {
    output::print(&String::from_utf8_lossy(bytes))?;
    Ok(Status::Success)
}
