//! One module for each command.

mod abstract_;
mod certify;
mod check;
mod cluster;
mod explain;
mod fairness;
mod fmt;
mod graph;
mod lsp;
mod ltl;
mod mcp;
mod replay;
mod resume;
mod shell;
mod simulate;
mod studio;
mod synthesise;
mod watch;
mod ws1s;

use crate::failure::{Failure, Status};
use crate::options::{Cli, Command};

/// Runs a command.
///
/// # Errors
/// Why it has no result.
pub fn run(cli: &Cli) -> Result<Status, Failure> {
    match &cli.command {
        Command::Check(options) if options.watch => watch::run(options),
        Command::Check(options) => check::run(options),
        Command::Fairness(options) => fairness::run(options),
        Command::Abstract(options) => abstract_::run(options),
        Command::Simulate(options) => simulate::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Resume(options) => resume::run(options),
        Command::Cluster(options) => cluster::run(options),
        Command::Replay(options) => replay::run(options),
        Command::Certify(options) => certify::run(options),
        Command::Graph(options) => graph::run(options),
        Command::Ltl(options) => ltl::run(options),
        Command::Ws1s(options) => ws1s::run(options),
        Command::Synthesise(options) => synthesise::run(options),
        Command::Studio(options) => studio::run(options, cli.max_memory),
        Command::Lsp(options) => lsp::run(options, cli),
        Command::Mcp => mcp::run(),
        Command::Fmt(options) => fmt::run(options),
        Command::Completions(options) => shell::completions(options),
        Command::Man(options) => shell::manual(options),
    }
}
