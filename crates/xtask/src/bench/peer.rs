//! What is common to all checkers that are asked what we are asked: they run, and they answer.

use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;

use super::measure::{End, Limits, run};
use super::spin::Answer;
use super::statistics::median;

/// What a series of equal runs of another checker came to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PeerResult {
    /// The call.
    pub(super) command: String,
    pub(super) verdict: String,
    /// How many states it has visited, if it counts states of the system.
    pub(super) states: Option<u64>,
    /// Median of the CPU seconds.
    pub(super) seconds: f64,
    /// Of every run.
    pub(super) all_seconds: Vec<f64>,
    /// Largest resident set.
    pub(super) peak_rss_bytes: u64,
}

/// What runs printed and what they cost.
pub(super) struct Series {
    /// Standard output of the last run.
    pub(super) printed: String,
    /// Standard error of the last run.
    pub(super) noted: String,
    pub(super) all_seconds: Vec<f64>,
    pub(super) peak_rss_bytes: u64,
}

/// Runs a command so often, or until it ends with another status than these. The inner error says
/// how it ended then.
pub(super) fn repeat(
    command: &Command,
    limits: Limits,
    n_runs: usize,
    statuses: &[i32],
) -> Result<Answer<Series>> {
    let mut series = Series {
        printed: String::new(),
        noted: String::new(),
        all_seconds: Vec::new(),
        peak_rss_bytes: 0,
    };

    for _ in 0..n_runs.max(1) {
        let run = run(command, limits)?;
        match run.end {
            End::Exited(status) if statuses.contains(&status) => {}
            End::Exited(status) => {
                let said = format!("{} {}", run.stderr.trim(), run.stdout.trim());
                return Ok(Err(format!("status {status}: {said}")));
            }
            End::OutOfTime => return Ok(Err(format!("> {} s", limits.cpu_seconds))),
            End::Killed(signal) => return Ok(Err(format!("signal {signal}"))),
        }

        series.all_seconds.push(run.cpu_seconds);
        series.peak_rss_bytes = series.peak_rss_bytes.max(run.peak_rss_bytes);
        series.printed = run.stdout;
        series.noted = run.stderr;
    }

    Ok(Ok(series))
}

impl Series {
    /// The answer that was read from what the runs printed.
    pub(super) fn answer(
        self,
        command: String,
        verdict: &str,
        states: Option<u64>,
    ) -> Result<PeerResult> {
        Ok(PeerResult {
            command,
            verdict: verdict.to_owned(),
            states,
            seconds: median(&self.all_seconds).context("nothing was run")?,
            all_seconds: self.all_seconds,
            peak_rss_bytes: self.peak_rss_bytes,
        })
    }
}

#[cfg(test)]
impl PeerResult {
    /// A single run that came to this.
    pub(super) fn once(verdict: &str, states: Option<u64>, seconds: f64) -> Self {
        Self {
            command: String::new(),
            verdict: verdict.to_owned(),
            states,
            seconds,
            all_seconds: vec![seconds],
            peak_rss_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        cpu_seconds: 600,
        memory_mb: 1000,
    };

    fn shell(script: &str, n_runs: usize) -> Answer<Series> {
        let mut command = Command::new("sh");
        repeat(command.args(["-c", script]), LIMITS, n_runs, &[0, 12]).unwrap()
    }

    #[test]
    fn runs_are_repeated_and_other_ends_are_said() {
        let series = shell("echo 7; exit 12", 3).unwrap();
        assert_eq!(
            (series.printed.as_str(), series.all_seconds.len()),
            ("7\n", 3)
        );
        let wrong = shell("echo no >&2; exit 3", 3);
        assert_eq!(wrong.err().unwrap().trim(), "status 3: no");
        assert_eq!(
            shell("kill -XCPU $$", 1).err().as_deref(),
            Some("> 600 s"),
            "out of time is not an answer"
        );
    }
}
