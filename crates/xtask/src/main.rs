//! Chores of the workspace.
//!
//! `cargo xtask architecture` compares the crates' dependencies with the table in
//! `ARCHITECTURE.md`; `cargo xtask lint` finds catch-all arms over the model's tree types;
//! `cargo xtask mutants` asks whether tests notice known errors (`crates/xtask/mutants.toml`);
//! `cargo xtask bench engine`, `fairness`, `families`, `growth`, `cluster`, `timers`, `predicate` and `values` measure
//! the checker
//! (see `docs/explanation/benchmarks.md`; `pictures` draws its pictures again), `cargo xtask bench ws1s` the decision procedure for WS1S;
//! `cargo xtask fuzz` compares all routes of the checker with each other, `cargo xtask corpus`
//! compares it with Spin or with stored verdicts of PAT on a folder of models, `cargo xtask thresholds`
//! with published verdicts on a folder of threshold automata.

mod architecture;
#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod corpus;
mod fuzz;
mod lint;
mod mutants;
mod thresholds;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask architecture
       cargo xtask lint
       cargo xtask mutants [--only NAME] [--explore] [--certificates [--listed]]
       cargo xtask bench editor|engine|fairness|families|growth|timers|predicate|values|ws1s|certify|cluster|pictures [--quick] [--runs N] [--only MODEL]
                         [--record NAME] [--suite FILE] [--fair PROGRAM] [--folder AUTOMATA]
       cargo xtask fuzz [--minutes M] [--seed S] [--cases N]
       cargo xtask corpus promela|csp FOLDER [--fair PROGRAM] [--seconds N]
                         [--megabytes N] [--reduce LIST] [--reading] [--quick] [--collection TEXT]
                         [--record FILE]
       cargo xtask thresholds FOLDER [--fair PROGRAM] [--seconds N] [--solver NAME] [--record FILE]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["architecture"] => architecture::check(&architecture::root()),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["corpus", options @ ..] => compare(options),
        ["thresholds", options @ ..] => thresholds::run(options),
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
        ("cluster", options) => bench::cluster(&options),
        ("editor", options) => bench::editor(&options),
        ("timers", options) => bench::timers(&options),
        ("fairness", options) => bench::fairness(&options),
        ("families", options) => bench::families(&options),
        ("ws1s", options) => bench::ws1s(&options),
        ("predicate", options) => bench::predicate(&options),
        ("values", options) => bench::values(&options),
        ("pictures", options) => bench::pictures(&options),
        _ => bail!("{USAGE}"),
    }
}

#[cfg(unix)]
fn compare(options: &[&str]) -> Result<()> {
    corpus::run(options)
}

#[cfg(not(unix))]
fn compare(_: &[&str]) -> Result<()> {
    bail!("the comparisons need Unix: they read the resource usage of child processes");
}

#[cfg(not(unix))]
fn benchmark(_: &str, _: &[&str]) -> Result<()> {
    bail!("the benchmarks need Unix: they read the resource usage of child processes");
}
