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
mod limits;
mod loading;
mod options;
mod output;
mod planning;
mod progress;
mod quantity;
mod trace_file;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let options = options::Cli::parse();
    options.color.apply();
    guard::install_panic_message();
    let status = guard::run(move || match command::run(&options.command) {
        Ok(status) => status,
        Err(failure) => failure.report(),
    });
    ExitCode::from(status.code())
}
