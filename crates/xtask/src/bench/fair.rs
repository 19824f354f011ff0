//! `fair check` as a child process.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::measure::{End, Limits, Run, run};
use super::statistics::median;
use super::suite::Suite;

/// The checker, ready to be called.
#[derive(Debug)]
pub(super) struct Fair {
    program: PathBuf,
    root: PathBuf,
    flags: Vec<String>,
    limits: Limits,
    /// The largest resident set of a trivial run.
    baseline_rss: u64,
}

/// What is reported about one property. Counts are absent if nothing was explored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct FairReport {
    pub(super) verdict: String,
    pub(super) reason: Option<String>,
    pub(super) states: Option<u64>,
    pub(super) transitions: Option<u64>,
    pub(super) product_states: Option<u64>,
    /// What the search says that its structures took.
    pub(super) peak_memory_bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Document {
    results: Vec<FairReport>,
}

/// What a series of equal calls came to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FairResult {
    /// The call.
    pub(super) command: String,
    #[serde(flatten)]
    pub(super) report: FairReport,
    /// Median of the CPU seconds.
    pub(super) seconds: f64,
    /// Of every call.
    pub(super) all_seconds: Vec<f64>,
    /// Median of the seconds on the clock.
    pub(super) wall_seconds: f64,
    /// Largest resident set of all calls.
    pub(super) peak_rss_bytes: u64,
    /// For each state, the same less that of a trivial call, or what the search itself reports if
    /// that is more: a small search fits into memory that a trivial call has touched too.
    pub(super) bytes_per_state: Option<f64>,
}

/// A call that is measured several times.
#[derive(Debug)]
pub(super) struct FairSeries<'a> {
    fair: &'a Fair,
    arguments: Vec<String>,
    runs: Vec<Run>,
}

impl Fair {
    /// A checker that was built, with the cost of starting it.
    pub(super) fn new(program: PathBuf, root: PathBuf, suite: &Suite) -> Result<Self> {
        let mut fair = Self {
            program,
            root,
            flags: suite.fair_flags.clone(),
            limits: suite.limits,
            baseline_rss: 0,
        };
        let mut trivial = fair.series(&suite.trivial, &[], &[]);
        trivial.run()?.map_err(anyhow::Error::msg)?;
        let last = &trivial.runs[0];
        // A counterexample would cost memory that the runs to be measured do not need.
        ensure!(
            last.end == End::Exited(0),
            "the properties of the trivial model must hold"
        );
        fair.baseline_rss = last.peak_rss_bytes;
        Ok(fair)
    }

    /// Where it is.
    pub(super) fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// Any call, once.
    pub(super) fn call(&self, arguments: &[String]) -> Result<Run> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.root);
        run(&command, self.limits)
    }

    /// Any call, once, with more time and memory than usual.
    pub(super) fn call_large(&self, arguments: &[String]) -> Result<Run> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.root);
        let limits = Limits {
            cpu_seconds: 40_000,
            memory_mb: 64_000,
        };
        run(&command, limits)
    }

    /// Any call that prints JSON, made so often: the median of the CPU seconds, and what it printed.
    pub(super) fn measure(&self, arguments: &[String], n_runs: usize) -> Result<(f64, Value)> {
        let mut seconds = Vec::new();
        let mut output = String::new();
        for _ in 0..n_runs.max(1) {
            let mut command = Command::new(&self.program);
            command.args(arguments).current_dir(&self.root);
            let done = run(&command, self.limits)?;
            let has_answer = matches!(done.end, End::Exited(0 | 1 | 3));
            ensure!(has_answer, "fair {}: {}", arguments.join(" "), done.stderr);
            seconds.push(done.cpu_seconds);
            output = done.stdout;
        }
        let value = serde_json::from_str(&output).context("what the call printed")?;
        Ok((median(&seconds).unwrap_or_default(), value))
    }

    /// A call that asks about a model with some constants; without reduction, if none is among the
    /// flags.
    pub(super) fn series(
        &self,
        file: &str,
        defines: &[(&str, u64)],
        flags: &[String],
    ) -> FairSeries<'_> {
        let mut arguments = vec!["check".to_owned(), file.to_owned()];
        for (name, value) in defines {
            arguments.extend(["-D".to_owned(), format!("{name}={value}")]);
        }
        arguments.extend(flags.iter().chain(&self.flags).cloned());

        if !arguments.iter().any(|flag| flag.starts_with("--reduce")) {
            arguments.push("--reduce=none".to_owned());
        }

        arguments.extend(["--output-format".to_owned(), "json".to_owned()]);
        FairSeries {
            fair: self,
            arguments,
            runs: Vec::new(),
        }
    }
}

impl FairSeries<'_> {
    /// Calls once more. The inner error says why there was no answer.
    pub(super) fn run(&mut self) -> Result<Result<(), String>> {
        let mut command = Command::new(&self.fair.program);
        command.args(&self.arguments).current_dir(&self.fair.root);
        let run = run(&command, self.fair.limits)?;
        let ended = match run.end {
            End::Exited(0 | 1 | 3) => Ok(()),
            End::Exited(status) => Err(format!("status {status}: {}", run.stderr.trim())),
            End::OutOfTime => Err(format!("> {} s", self.fair.limits.cpu_seconds)),
            End::Killed(signal) => Err(format!("signal {signal}")),
        };
        self.runs.push(run);
        Ok(ended)
    }

    /// Calls so often, or until there is no answer.
    pub(super) fn run_all(mut self, n_runs: usize) -> Result<Result<FairResult, String>> {
        for _ in 0..n_runs {
            if let Err(reason) = self.run()? {
                return Ok(Err(reason));
            }
        }
        self.result().map(Ok)
    }

    /// What the calls so far came to. There must be one.
    pub(super) fn result(&self) -> Result<FairResult> {
        let of = |figure: fn(&Run) -> f64| self.runs.iter().map(figure).collect::<Vec<f64>>();
        let all_seconds = of(|run| run.cpu_seconds);
        let last = self.runs.last().context("nothing was run")?;
        let report = parse(&last.stdout)?;
        let peak = self.runs.iter().map(|run| run.peak_rss_bytes).max();
        let peak_rss_bytes = peak.unwrap_or_default();
        let own = peak_rss_bytes.saturating_sub(self.fair.baseline_rss);
        let own = own.max(report.peak_memory_bytes.unwrap_or_default());
        let stored = report.states.filter(|&states| states > 0);
        Ok(FairResult {
            command: self.command(),
            seconds: median(&all_seconds).unwrap_or_default(),
            all_seconds,
            wall_seconds: median(&of(|run| run.wall_seconds)).unwrap_or_default(),
            peak_rss_bytes,
            bytes_per_state: stored.map(|states| own as f64 / states as f64),
            report,
        })
    }

    /// The call as it would be typed in the root of the repository.
    fn command(&self) -> String {
        let quoted = self.arguments.iter().map(|argument| quote(argument));
        let words: Vec<String> = std::iter::once("fair".to_owned()).chain(quoted).collect();
        words.join(" ")
    }
}

/// The report about the only property asked for (the first one, if there are more).
fn parse(output: &str) -> Result<FairReport> {
    let document: Document = serde_json::from_str(output).context("the output of `fair check`")?;
    let first = document.results.into_iter().next();
    first.context("`fair check` reports no property")
}

/// A word for the shell.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./,".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_schema_is_read() {
        let text = r#"{ "tool": "fair", "version": "0.1.0", "file": "leader.fair",
            "results": [ {
              "property": "one_leader", "formula": "<>[] one", "route": "explicit",
              "fairness": "strong-global", "verdict": "holds", "reason": null,
              "states": 48120, "transitions": 310992, "product_states": 52233,
              "seconds": 0.31, "peak_memory_bytes": 41943040, "warnings": [], "trace": null } ] }"#;
        let expected = FairReport {
            verdict: "holds".to_owned(),
            reason: None,
            states: Some(48120),
            transitions: Some(310_992),
            product_states: Some(52233),
            peak_memory_bytes: Some(41_943_040),
        };
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn reports_without_a_property_are_refused() {
        assert!(parse(r#"{ "results": [] }"#).is_err());
        assert!(parse("").is_err());
    }

    #[test]
    fn commands_can_be_typed_again() {
        assert_eq!(quote("N=4"), "N=4");
        assert_eq!(quote("[] p"), "'[] p'");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }
}
