//! `cargo xtask corpus`: compares `fair check` with another tool on a folder of models by others.
//!
//! The folder is not part of the repository. For Promela Spin is run beside; for CSP# the verdicts
//! are those that PAT has stored beside the models. Every question is one row: the tools agree,
//! they differ, the model is refused, or one of them did not decide in time; each row says why.

mod pat;
mod spin;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use crate::architecture;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Agree,
    Differ,
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

/// Rows by outcome.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<Outcome, usize>,
}

impl Tally {
    fn row(&mut self, outcome: Outcome, model: &Path, question: &str, why: impl Display) {
        *self.counts.entry(outcome).or_insert(0) += 1;
        println!("{}\t{}\t{question}\t{why}", outcome.name(), model.display());
    }

    fn print(&self) {
        let counts = self.counts.iter();
        let counts = counts.map(|(outcome, n)| format!("{n} {}", outcome.name()));
        println!("{}", counts.collect::<Vec<_>>().join(", "));
    }
}

/// The checker and how long each call may take.
struct Fair {
    program: PathBuf,
    seconds: u64,
}

/// What `fair check` says about a question.
#[derive(Deserialize)]
struct Report {
    property: String,
    verdict: String,
    reason: Option<String>,
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
}

#[derive(Deserialize)]
struct Document {
    results: Vec<Report>,
}

impl Fair {
    /// The answers to all questions of a model, or why there are none.
    fn check(&self, folder: &Path, model: &Path) -> Result<Result<Vec<Report>, String>> {
        let limit = format!("{}s", self.seconds);
        let mut call = limited(&self.program, 20 * self.seconds);
        call.args(["check", "--output-format", "json", "--timeout", &limit]);
        let output = call.arg(model).current_dir(folder).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Ok(document) = serde_json::from_str::<Document>(&text) {
            return Ok(Ok(document.results));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let mut errors = said.lines().skip_while(|line| !line.starts_with("error"));
        let error = errors.next().unwrap_or("no answer").to_owned();
        let place = errors.next().unwrap_or("").trim();
        Ok(Err(format!("{error} {place}")))
    }
}

/// A call that is ended after some seconds.
fn limited(program: &Path, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.arg(seconds.to_string()).arg(program);
    command
}

/// Runs the comparison that the arguments ask for.
pub fn run(arguments: &[&str]) -> Result<()> {
    let [language, folder, options @ ..] = arguments else {
        bail!("usage: cargo xtask corpus promela|csp FOLDER [--fair PROGRAM] [--seconds N]");
    };
    let mut fair = Fair {
        program: architecture::root().join("target/release/fair"),
        seconds: 20,
    };
    for option in options.chunks(2) {
        match option {
            ["--fair", program] => fair.program = std::path::absolute(program)?,
            ["--seconds", n] => fair.seconds = n.parse().context("--seconds takes a number")?,
            other => bail!("`{}` is unknown or needs a value", other[0]),
        }
    }
    ensure!(
        fair.program.exists(),
        "there is no `{}`: build it, or say where it is with --fair",
        fair.program.display()
    );

    let folder = std::path::absolute(folder)?;
    let mut tally = Tally::default();
    match *language {
        "promela" => spin::compare(&fair, &folder, &mut tally)?,
        "csp" => pat::compare(&fair, &folder, &mut tally)?,
        other => bail!("there is no corpus of `{other}`; write `promela` or `csp`"),
    }
    tally.print();
    Ok(())
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
