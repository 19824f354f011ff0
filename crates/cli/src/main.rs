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
mod trace_file;

use std::process::ExitCode;

use clap::Parser as _;

use failure::{Failure, Status};

fn main() -> ExitCode {
    let options = options::Cli::parse();
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

fn run(options: &options::Cli) -> Result<Status, Failure> {
    inputs::allow(&options.include);
    if options.command.is_limited() {
        limits::enforce(options.timeout, options.max_memory)?;
        limits::announce(options.command.wanted());
    }
    command::run(options)
}
