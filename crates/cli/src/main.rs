//! `fair`: the command line of Fairground.
//!
//! Options, files, signals, terminals and exit statuses: everything else is done by the library
//! [`fairground`]. `docs/reference/cli.md` lists everything that users can rely on.

mod checkpoint_file;
mod command;
mod diagnostics;
mod failure;
mod guard;
mod inputs;
mod joining;
mod ledger;
mod limits;
mod loading;
mod memory;
mod options;
mod output;
mod planning;
mod progress;
mod quantity;
mod replacing;
mod search_folder;
mod trace_file;

use std::process::ExitCode;

use clap::Parser as _;

use failure::{Failure, Status};
use fairground::report;

fn main() -> ExitCode {
    let options = match options::Cli::try_parse() {
        Ok(options) => options,
        Err(error) => return wrong_call(&error),
    };
    options.color.apply();
    guard::install_panic_message();
    let status = guard::run(move || {
        run(&options).unwrap_or_else(|failure| {
            let wanted = options.command.wanted();
            let wanted = wanted.as_ref();
            failure.report(wanted.map(|(format, file)| (*format, file.as_str())))
        })
    });
    ExitCode::from(status.code())
}

/// Shows help, or what is wrong with the arguments. What is not a text is not repeated as it is.
fn wrong_call(error: &clap::Error) -> ExitCode {
    let is_harmless = !error.to_string().contains(report::is_obeyed)
        && std::env::args_os().all(|argument| {
            let argument = argument.to_string_lossy();
            !argument.contains(report::is_obeyed)
        });
    if is_harmless {
        error.exit();
    }
    let text = error.render().to_string();
    let message = report::printable(&text, report::Escape::Text);
    output::print_error(&format!("{message}\n"));
    ExitCode::from(Status::Wrong.code())
}

fn run(options: &options::Cli) -> Result<Status, Failure> {
    inputs::allow(&options.include);
    if options.command.is_limited() {
        // `fair lsp` is told the limits of each check, not those of the server.
        let of_call = !matches!(options.command, options::Command::Lsp(_));
        let timeout = options.timeout.filter(|_| of_call);
        limits::enforce(timeout, options.max_memory.filter(|_| of_call))?;
        limits::announce(options.command.wanted());
    }
    command::run(options)
}
