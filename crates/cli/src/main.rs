//! `fair`: the command line of Fairground.
//!
//! Reads a model, decides its properties and explains the answer. This crate, and no crate below
//! it, touches files, clocks, the environment and terminals; what a verdict means is decided
//! elsewhere. `docs/reference/cli.md` lists everything that users can rely on.

mod checkpoint_file;
mod command;
mod diagnostics;
mod failure;
mod guard;
mod limits;
mod loading;
mod options;
mod output;
mod progress;
mod quantity;
mod random;
mod solver;
mod start;
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
