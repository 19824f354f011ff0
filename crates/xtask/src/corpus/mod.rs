//! `cargo xtask corpus`: compares `fair check` with another tool on a folder of models by others.
//!
//! The folder is not part of the repository. For Promela Spin is run beside; for CSP# the verdicts
//! are those that PAT has stored beside the models. Every question is one row: the tools agree,
//! they differ, the model is refused, or one of them did not decide in time; each row says why.
//! `--record FILE` keeps the rows as JSON lines, the last of which sums up; `--collection TEXT` says
//! there whose models these are.

mod pat;
mod spin;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::architecture;
use crate::bench::measure::{self, End, Limits, Run};
use crate::bench::record::Record;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Agree,
    Differ,
    /// Both read the model, but the other tool is faster at it.
    Slower,
    Refused,
    Undecided,
    /// There is nothing to compare with: the other tool does not read the model either, or has
    /// stored no verdict.
    NoReference,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Differ => "differ",
            Self::Slower => "slower",
            Self::Refused => "refused",
            Self::Undecided => "undecided",
            Self::NoReference => "no-reference",
        }
    }

    /// Compares verdicts; nothing stands for undecided.
    fn of(ours: Option<bool>, theirs: Option<bool>) -> Self {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => Self::Agree,
            (Some(_), Some(_)) => Self::Differ,
            _ => Self::Undecided,
        }
    }
}

/// What one tool spent on a question.
#[derive(Clone, Default, Debug, Serialize)]
struct Cost {
    /// Counts are absent where the search did not come to its end.
    states: Option<u64>,
    transitions: Option<u64>,
    /// CPU seconds, user and system together; reading and compiling the model included for `fair`,
    /// not included for a verifier.
    cpu_seconds: f64,
    bytes_per_state: Option<f64>,
}

/// One question about one model.
#[derive(Clone, Debug, Serialize)]
struct Row {
    outcome: Outcome,
    model: String,
    question: String,
    why: String,
    /// Absent where nothing was measured.
    ours: Option<Cost>,
    theirs: Option<Cost>,
}

impl Row {
    /// A row without measurements.
    fn new(outcome: Outcome, model: &Path, question: &str, why: impl Display) -> Self {
        Self {
            outcome,
            model: model.display().to_string(),
            question: question.to_owned(),
            why: why.to_string(),
            ours: None,
            theirs: None,
        }
    }

    /// How many times the other tool's CPU time is ours, where that takes long enough to tell.
    fn ratio(&self) -> Option<f64> {
        let (ours, theirs) = (self.ours.as_ref()?, self.theirs.as_ref()?);
        let is_long = ours.cpu_seconds.max(theirs.cpu_seconds) >= 0.2;
        is_long.then(|| ours.cpu_seconds / theirs.cpu_seconds.max(0.01))
    }

    /// What both tools took for a state, where there are enough of them to tell.
    fn bytes(&self) -> Option<(f64, f64)> {
        let (ours, theirs) = (self.ours.as_ref()?, self.theirs.as_ref()?);
        let are_many = ours.states? >= MANY_STATES && theirs.states? >= MANY_STATES;
        let bytes = (ours.bytes_per_state?, theirs.bytes_per_state?);
        are_many.then_some(bytes)
    }
}

/// How many states a search must have before memory is divided by them.
const MANY_STATES: u64 = 100_000;

/// Rows by outcome.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<Outcome, usize>,
    /// CPU time, ours in units of the other tool's.
    ratios: Vec<f64>,
    /// Bytes per state, ours and the other tool's.
    bytes: Vec<(f64, f64)>,
    /// Whose models they are.
    collection: Option<String>,
    record: Option<Record>,
}

/// What all rows come to.
#[derive(Serialize)]
struct Summary {
    collection: Option<String>,
    outcomes: BTreeMap<Outcome, usize>,
    /// Over rows on which the tools agree.
    cpu_ratio: Mean,
    /// Over those of them with many states.
    bytes_per_state: Mean,
    bytes_per_state_of_peer: Mean,
}

/// A geometric mean with the largest value.
#[derive(Serialize)]
struct Mean {
    n_rows: usize,
    mean: Option<f64>,
    worst: Option<f64>,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
        Self {
            n_rows: values.len(),
            mean: (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp()),
            worst: values.iter().copied().reduce(f64::max),
        }
    }
}

impl Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mean, worst) = (self.mean.unwrap_or(0.0), self.worst.unwrap_or(0.0));
        let n = self.n_rows;
        write!(
            f,
            "geometric mean {mean:.2}, worst {worst:.2}, over {n} rows"
        )
    }
}

impl Tally {
    fn row(&mut self, outcome: Outcome, model: &Path, question: &str, why: impl Display) {
        // Printed in any case; a record that cannot be written does not stop the run.
        let _ = self.add(&Row::new(outcome, model, question, why));
    }

    fn add(&mut self, row: &Row) -> Result<()> {
        *self.counts.entry(row.outcome).or_insert(0) += 1;
        let is_same = row.outcome == Outcome::Agree;
        let ratio = row.ratio().filter(|_| is_same);
        self.ratios.extend(ratio);
        self.bytes.extend(row.bytes().filter(|_| is_same));
        let shown = ratio.map(|ratio| format!("; CPU ratio {ratio:.2}"));
        let (outcome, shown) = (row.outcome.name(), shown.unwrap_or_default());
        println!(
            "{outcome}\t{}\t{}\t{}{shown}",
            row.model, row.question, row.why
        );
        match &mut self.record {
            Some(record) => record.add(row),
            None => Ok(()),
        }
    }

    /// Sums up.
    fn finish(mut self) -> Result<()> {
        let counts = self.counts.iter();
        let counts = counts.map(|(outcome, n)| format!("{n} {}", outcome.name()));
        println!("{}", counts.collect::<Vec<_>>().join(", "));

        let summary = Summary {
            collection: self.collection.take(),
            cpu_ratio: Mean::of(self.ratios.iter().copied()),
            bytes_per_state: Mean::of(self.bytes.iter().map(|(ours, _)| *ours)),
            bytes_per_state_of_peer: Mean::of(self.bytes.iter().map(|(_, theirs)| *theirs)),
            outcomes: self.counts,
        };
        println!("CPU ratio: {}", summary.cpu_ratio);
        println!("bytes per state: {}", summary.bytes_per_state);
        println!("the peer's: {}", summary.bytes_per_state_of_peer);
        match &mut self.record {
            Some(record) => record.add(&summary),
            None => Ok(()),
        }
    }
}

/// The checker and what each call may spend.
struct Fair {
    program: PathBuf,
    limits: Limits,
    /// What is said for `--reduce`.
    reduce: String,
    /// Is only asked whether models are read?
    only_reading: bool,
    /// Is the other tool compiled without much optimisation? Then its CPU time says little.
    is_quick: bool,
}

/// What `fair check` says about a question.
#[derive(Deserialize)]
struct Report {
    property: String,
    verdict: String,
    reason: Option<String>,
    states: Option<u64>,
    transitions: Option<u64>,
    peak_memory_bytes: Option<u64>,
}

impl Report {
    fn holds(&self) -> Option<bool> {
        match self.verdict.as_str() {
            "holds" => Some(true),
            "violated" => Some(false),
            _ => None,
        }
    }

    fn why(&self) -> String {
        match &self.reason {
            Some(reason) => format!("fair: {} ({reason})", self.verdict),
            None => format!("fair: {}", self.verdict),
        }
    }

    fn cost(&self, run: &Run) -> Cost {
        let states = self.states.filter(|_| self.holds() == Some(true));
        let bytes = |states: u64| {
            let bytes = self.peak_memory_bytes?;
            (states > 0).then(|| bytes as f64 / states as f64)
        };
        Cost {
            states,
            transitions: self.transitions.filter(|_| states.is_some()),
            cpu_seconds: run.cpu_seconds,
            bytes_per_state: states.and_then(bytes),
        }
    }
}

#[derive(Deserialize)]
struct Document {
    results: Vec<Report>,
}

impl Fair {
    /// Takes an option with its value.
    fn set(&mut self, option: &str, value: &str, tally: &mut Tally) -> Result<()> {
        let number = || {
            value
                .parse()
                .with_context(|| format!("{option} takes a number"))
        };
        match option {
            "--fair" => self.program = std::path::absolute(value)?,
            "--seconds" => self.limits.cpu_seconds = number()?,
            "--megabytes" => self.limits.memory_mb = number()?,
            "--reduce" => self.reduce = value.to_owned(),
            "--collection" => tally.collection = Some(value.to_owned()),
            "--record" => tally.record = Some(Record::create(Path::new(value))?),
            _ => bail!("`{option}` is unknown"),
        }
        Ok(())
    }

    /// The answers to all questions of a model, or why there are none.
    fn check(&self, folder: &Path, model: &Path) -> Result<Result<Vec<Report>, String>> {
        let (reports, _) = self.call(folder, model, &[])?;
        Ok(reports)
    }

    /// The answers of a call with more arguments, and what the call cost.
    fn call(
        &self,
        folder: &Path,
        model: &Path,
        arguments: &[&str],
    ) -> Result<(Result<Vec<Report>, String>, Run)> {
        // The limit of CPU time holds; the clock runs faster where the machine is shared.
        let clock = format!("{}s", 60 * self.limits.cpu_seconds);
        let memory = format!("{}M", self.limits.memory_mb);
        let mut call = Command::new(&self.program);
        call.args(["check", "--output-format", "json", "--timeout", &clock])
            .args([
                "--max-memory",
                &memory,
                &format!("--reduce={}", self.reduce),
            ])
            .args(arguments)
            .arg(model)
            .current_dir(folder);
        // What is reserved and never touched counts as address space.
        let limits = Limits {
            memory_mb: 16 * self.limits.memory_mb,
            ..self.limits
        };

        let run = measure::run(&call, limits)?;
        if let Ok(document) = serde_json::from_str::<Document>(&run.stdout) {
            return Ok((Ok(document.results), run));
        }
        let mut errors = run.stderr.lines().skip_while(|l| !l.starts_with("error"));
        let error = errors.next().unwrap_or("no answer").to_owned();
        let place = errors.next().unwrap_or("").trim();
        let why = match run.end {
            End::OutOfTime => format!("> {} s", self.limits.cpu_seconds),
            End::Killed(signal) => format!("signal {signal}"),
            End::Exited(_) => format!("{error} {place}"),
        };
        Ok((Err(why), run))
    }
}

const USAGE: &str = "usage: cargo xtask corpus promela|csp FOLDER [--fair PROGRAM] [--seconds N]
                         [--megabytes N] [--reduce LIST] [--reading] [--quick] [--collection TEXT]
                         [--record FILE]";

/// Runs the comparison that the arguments ask for.
pub fn run(arguments: &[&str]) -> Result<()> {
    let [language, folder, options @ ..] = arguments else {
        bail!("{USAGE}");
    };
    let mut fair = Fair {
        program: architecture::root().join("target/release/fair"),
        limits: Limits {
            cpu_seconds: 20,
            memory_mb: 2000,
        },
        reduce: "none".to_owned(),
        only_reading: false,
        is_quick: false,
    };

    let mut tally = Tally::default();
    let mut rest = options;
    while let [option, values @ ..] = rest {
        rest = match (*option, values) {
            ("--reading", rest) => {
                fair.only_reading = true;
                rest
            }
            ("--quick", rest) => {
                fair.is_quick = true;
                rest
            }
            (option, [value, rest @ ..]) => {
                fair.set(option, value, &mut tally)?;
                rest
            }
            (option, []) => bail!("`{option}` is unknown or needs a value"),
        };
    }
    ensure!(
        fair.program.exists(),
        "there is no `{}`: build it, or say where it is with --fair",
        fair.program.display()
    );

    let folder = std::path::absolute(folder)?;
    match *language {
        "promela" => spin::compare(&fair, &folder, &mut tally)?,
        "csp" => pat::compare(&fair, &folder, &mut tally)?,
        other => bail!("there is no corpus of `{other}`; write `promela` or `csp`"),
    }
    tally.finish()
}

/// The files below a folder whose names end like this, by name.
fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder);
    for entry in entries.with_context(|| format!("`{}`", folder.display()))? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            found.extend(files(&path, extensions)?);
        } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
