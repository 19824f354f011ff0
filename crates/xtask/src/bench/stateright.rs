//! A third checker beside the two: [Stateright](https://docs.rs/stateright), which explores systems
//! that are written as Rust programs. Its twins are in `bench/stateright`, a workspace of its own
//! that is built only here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::measure::{End, Limits, run};
use super::spin::Answer;
use super::statistics::median;
use super::suite::Suite;

/// The program with all twins.
#[derive(Debug)]
pub(super) struct Stateright {
    program: PathBuf,
    limits: Limits,
}

/// What a twin prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) verdict: String,
    pub(super) states: u64,
    depth: u64,
}

/// What a series of equal runs came to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StaterightResult {
    /// The call.
    pub(super) command: String,
    #[serde(flatten)]
    pub(super) report: Report,
    /// Median of the CPU seconds.
    pub(super) seconds: f64,
    /// Of every run.
    all_seconds: Vec<f64>,
    peak_rss_bytes: u64,
}

#[cfg(test)]
impl StaterightResult {
    /// A single run that printed this.
    pub(super) fn once(printed: &str, seconds: f64) -> Self {
        Self {
            command: String::new(),
            report: serde_json::from_str(printed).expect("a report"),
            seconds,
            all_seconds: vec![seconds],
            peak_rss_bytes: 0,
        }
    }
}

impl Stateright {
    /// Builds the twins. `None` if that fails, for example because the crate cannot be fetched.
    pub(super) fn build(root: &Path, suite: &Suite) -> Option<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let manifest = root.join("bench/stateright/Cargo.toml");
        let mut build = Command::new(cargo);
        build.args(["build", "--release", "--quiet", "--manifest-path"]);
        let status = build.arg(manifest).status().ok()?;
        status.success().then(|| Self {
            program: root.join("bench/stateright/target/release/stateright-twins"),
            limits: suite.limits,
        })
    }

    /// Explores a twin so often, with one thread.
    pub(super) fn explore(
        &self,
        twin: &str,
        size: u64,
        n_runs: usize,
    ) -> Result<Answer<StaterightResult>> {
        let arguments = [twin.to_owned(), size.to_string(), "1".to_owned()];
        let (mut all_seconds, mut peak_rss_bytes, mut last) = (Vec::new(), 0, String::new());
        for _ in 0..n_runs {
            let run = run(Command::new(&self.program).args(&arguments), self.limits)?;
            match run.end {
                End::Exited(0) => {}
                End::Exited(status) => return Ok(Err(format!("status {status}: {}", run.stderr))),
                End::OutOfTime => return Ok(Err(format!("> {} s", self.limits.cpu_seconds))),
                End::Killed(signal) => return Ok(Err(format!("signal {signal}"))),
            }
            all_seconds.push(run.cpu_seconds);
            peak_rss_bytes = peak_rss_bytes.max(run.peak_rss_bytes);
            last = run.stdout;
        }

        Ok(Ok(StaterightResult {
            command: format!("stateright-twins {}", arguments.join(" ")),
            report: serde_json::from_str(&last).context("the output of `stateright-twins`")?,
            seconds: median(&all_seconds).context("nothing was run")?,
            all_seconds,
            peak_rss_bytes,
        }))
    }
}
