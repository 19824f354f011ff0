//! Chores of the workspace.
//!
//! `cargo xtask architecture` compares the crates' dependencies with the table in
//! `ARCHITECTURE.md`; `cargo xtask lint` finds catch-all arms over the model's tree types;
//! `cargo xtask mutants` asks whether tests notice known errors (`crates/xtask/mutants.toml`);
//! `cargo xtask bench engine`, `fairness`, `growth`, `timers` and `predicate` measure
//! the checker
//! (see `docs/explanation/benchmarks.md`), `cargo xtask bench ws1s` the decision procedure for WS1S;
//! `cargo xtask fuzz` compares all routes of the checker with each other, `cargo xtask corpus`
//! compares it with Spin or with stored verdicts of PAT on a folder of models.

mod architecture;
#[cfg(unix)]
mod bench;
mod corpus;
mod fuzz;
mod lint;
mod mutants;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask architecture
       cargo xtask lint
       cargo xtask mutants [--only NAME] [--explore] [--certificates [--listed]]
       cargo xtask bench editor|engine|fairness|growth|timers|predicate|ws1s|certify [--quick] [--runs N] [--only MODEL]
                         [--record NAME] [--suite FILE] [--fair PROGRAM]
       cargo xtask fuzz [--minutes M] [--seed S] [--cases N]
       cargo xtask corpus promela|csp FOLDER [--fair PROGRAM] [--seconds N]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["architecture"] => architecture::check(&architecture::root()),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["corpus", options @ ..] => corpus::run(options),
        ["mutants", options @ ..] => {
            let options = mutants::Options::parse(options)?;
            mutants::run(&architecture::root(), &options)
        }
        ["lint"] => lint::check(&architecture::root()),
        ["bench", what, options @ ..] => benchmark(what, options),
        _ => bail!("{USAGE}"),
    }
}

#[cfg(unix)]
fn benchmark(what: &str, options: &[&str]) -> Result<()> {
    match (what, bench::Options::parse(options)?) {
        ("engine", options) => bench::engine(&options),
        ("certify", options) => bench::certify(&options),
        ("growth", options) => bench::growth(&options),
        ("editor", options) => bench::editor(&options),
        ("timers", options) => bench::timers(&options),
        ("fairness", options) => bench::fairness(&options),
        ("ws1s", options) => bench::ws1s(&options),
        ("predicate", options) => bench::predicate(&options),
        _ => bail!("{USAGE}"),
    }
}

#[cfg(not(unix))]
fn benchmark(_: &str, _: &[&str]) -> Result<()> {
    bail!("the benchmarks need Unix: they read the resource usage of child processes");
}
