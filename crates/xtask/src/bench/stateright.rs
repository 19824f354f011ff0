//! A third checker beside the two: [Stateright](https://docs.rs/stateright), which explores systems
//! that are written as Rust programs. Its twins are in `bench/stateright`, a workspace of its own
//! that is built only here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::measure::Limits;
use super::peer::{PeerResult, repeat};
use super::spin::Answer;
use super::suite::Suite;

/// The program with all twins.
#[derive(Debug)]
pub(super) struct Stateright {
    program: PathBuf,
    limits: Limits,
}

/// What a twin prints.
#[derive(Deserialize)]
struct Report {
    verdict: String,
    states: u64,
}

impl Stateright {
    /// Builds the twins. `None` if that fails, for example because the crate cannot be fetched.
    pub(super) fn build(root: &Path, suite: &Suite) -> Option<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let manifest = root.join("bench/stateright/Cargo.toml");
        // Where it is looked for, wherever else the environment would have it.
        let target = root.join("bench/stateright/target");
        let mut build = Command::new(cargo);
        build.args(["build", "--release", "--quiet", "--manifest-path"]);
        let build = build.arg(manifest).arg("--target-dir").arg(&target);
        let status = build.status().ok()?;
        status.success().then(|| Self {
            program: target.join("release/stateright-twins"),
            limits: suite.limits,
        })
    }

    /// Explores a twin so often, with one thread.
    pub(super) fn explore(
        &self,
        twin: &str,
        size: u64,
        n_runs: usize,
    ) -> Result<Answer<PeerResult>> {
        let arguments = [twin.to_owned(), size.to_string(), "1".to_owned()];
        let mut command = Command::new(&self.program);
        let series = match repeat(command.args(&arguments), self.limits, n_runs, &[0])? {
            Ok(series) => series,
            Err(reason) => return Ok(Err(reason)),
        };

        let report: Report =
            serde_json::from_str(&series.printed).context("the output of `stateright-twins`")?;
        let command = format!("stateright-twins {}", arguments.join(" "));
        let answer = series.answer(command, &report.verdict, Some(report.states));
        answer.map(Ok)
    }
}
