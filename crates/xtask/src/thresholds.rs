//! `cargo xtask thresholds`: checks a folder of threshold automata and compares the verdicts with
//! published ones.
//!
//! The folder is not part of the repository; `bench/thresholds.toml` says where it comes from and which
//! verdicts are published. Every property is one row: agreement, difference, no verdict in time, or
//! nothing to compare with; each says what it took. Automata whose coefficients are to be found are one
//! row more: whether there are any.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::json;

use crate::architecture;

/// What is published.
#[derive(Deserialize)]
pub(crate) struct Published {
    model: Vec<PublishedModel>,
}

impl Published {
    /// Reads `bench/thresholds.toml`.
    pub(crate) fn read() -> Result<Self> {
        let text = std::fs::read_to_string(architecture::root().join("bench/thresholds.toml"))?;
        Ok(toml::from_str(&text)?)
    }

    /// What is published about the model with this path.
    pub(crate) fn about(&self, name: &str) -> impl Iterator<Item = &PublishedModel> {
        let is_named = move |known: &&PublishedModel| known.paths.iter().any(|path| path == name);
        self.model.iter().filter(is_named)
    }
}

/// What is published about some models.
#[derive(Deserialize)]
pub(crate) struct PublishedModel {
    /// Paths below the folder.
    paths: Vec<String>,
    /// Values for coefficients, as `-D` takes them.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// Are there coefficients that make all properties true?
    has_coefficients: Option<bool>,
    /// Properties that hold.
    #[serde(default)]
    holds: Vec<String>,
    /// Properties that are violated.
    #[serde(default)]
    violated: Vec<String>,
}

impl PublishedModel {
    /// The published verdict on a property.
    pub(crate) fn verdict(&self, property: &str) -> Option<&'static str> {
        let is_in = |list: &[String]| list.iter().any(|name| name == property);
        match (is_in(&self.holds), is_in(&self.violated)) {
            (true, _) => Some("holds"),
            (_, true) => Some("violated"),
            (false, false) => None,
        }
    }
}

/// What `fair check` says about a property.
#[derive(Deserialize)]
struct Report {
    property: String,
    verdict: String,
    reason: Option<String>,
    seconds: f64,
    #[serde(default)]
    remarks: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    results: Vec<Report>,
    #[serde(default)]
    diagnostics: Vec<Complaint>,
}

/// What `fair check` says about a text.
#[derive(Deserialize)]
struct Complaint {
    message: String,
}

/// What `fair synthesise` says.
#[derive(Deserialize)]
struct Found {
    solutions: Vec<serde_json::Value>,
    complete: bool,
    tried: u64,
    stopped: Option<String>,
    seconds: f64,
}

struct Thresholds {
    fair: PathBuf,
    seconds: u64,
    solver: String,
    record: Option<File>,
    counts: BTreeMap<&'static str, usize>,
}

/// Runs the comparison that the arguments ask for.
pub fn run(arguments: &[&str]) -> Result<()> {
    let [folder, options @ ..] = arguments else {
        bail!(
            "usage: cargo xtask thresholds FOLDER [--fair PROGRAM] [--seconds N] [--solver NAME] [--record FILE]"
        );
    };
    let root = architecture::root();
    let mut thresholds = Thresholds {
        fair: root.join("target/release/fair"),
        seconds: 60,
        solver: "auto".to_owned(),
        record: None,
        counts: BTreeMap::new(),
    };

    for option in options.chunks(2) {
        match option {
            ["--fair", program] => thresholds.fair = std::path::absolute(program)?,
            ["--seconds", n] => {
                thresholds.seconds = n.parse().context("--seconds takes a number")?;
            }
            ["--solver", name] => thresholds.solver = (*name).to_owned(),
            ["--record", file] => thresholds.record = Some(File::create(file)?),
            other => bail!("`{}` is unknown or needs a value", other[0]),
        }
    }
    ensure!(
        thresholds.fair.exists(),
        "there is no `{}`: build it, or say where it is with --fair",
        thresholds.fair.display()
    );

    let published = Published::read()?;
    let folder = std::path::absolute(folder)?;
    for path in automata(&folder)? {
        let name = path.strip_prefix(&folder).unwrap_or(&path);
        let name = name.to_string_lossy().into_owned();
        let known: Vec<_> = published.about(&name).collect();
        match known.as_slice() {
            [] => thresholds.check(&path, &name, None)?,
            known => {
                for known in known {
                    thresholds.about(&path, &name, known)?;
                }
            }
        }
    }

    let counts = thresholds.counts.iter();
    let counts = counts.map(|(outcome, n)| format!("{n} {outcome}"));
    println!("{}", counts.collect::<Vec<_>>().join(", "));
    Ok(())
}

impl Thresholds {
    /// Compares with what is published about a model. Properties are asked about for given coefficients.
    fn about(&mut self, path: &Path, name: &str, known: &PublishedModel) -> Result<()> {
        if let Some(theirs) = known.has_coefficients {
            self.synthesise(path, name, theirs)?;
        }
        if known.has_coefficients.is_none() || !known.values.is_empty() {
            self.check(path, name, Some(known))?;
        }
        Ok(())
    }

    fn synthesise(&mut self, path: &Path, name: &str, theirs: bool) -> Result<()> {
        // There are many candidates, each with all properties.
        let limit = format!("{}s", 10 * self.seconds);
        let mut call = Command::new(&self.fair);
        call.args(["synthesise", "--all", "--output-format", "json"]);
        call.args(["--solver", &self.solver, "--timeout", &limit]);
        let output = call.arg(path).output()?;
        let Ok(found) = serde_json::from_slice::<Found>(&output.stdout) else {
            return self.row("refused", name, "coefficients", "no answer", 0.0);
        };

        let n_found = found.solutions.len();
        let ours = match (n_found, found.complete) {
            (0, true) => Some(false),
            (0, false) => None,
            (_, _) => Some(true),
        };
        let outcome = match ours {
            None => "undecided",
            Some(ours) if ours == theirs => "agree",
            Some(_) => "differ",
        };
        let others = match (found.complete, found.stopped) {
            (true, _) => "no others".to_owned(),
            (false, why) => format!("perhaps others {}", why.unwrap_or_default()),
        };
        let why = format!("{n_found} found, {others}, {} tried", found.tried);
        self.row(outcome, name, "coefficients", &why, found.seconds)
    }

    fn check(&mut self, path: &Path, name: &str, known: Option<&PublishedModel>) -> Result<()> {
        let limit = format!("{}s", self.seconds);
        let values = known.map_or(&[] as &[String], |known| &known.values);
        let mut call = Command::new(&self.fair);
        call.args(["check", "--output-format", "json", "--solver", &self.solver]);
        call.args(["--timeout-per-property", &limit, "--solver-timeout", &limit]);
        for value in values {
            call.args(["-D", value]);
        }
        let output = call.arg(path).output()?;
        let Ok(document) = serde_json::from_slice::<Document>(&output.stdout) else {
            let said = String::from_utf8_lossy(&output.stderr);
            let error = said.lines().find(|line| line.starts_with("error"));
            let why = error.unwrap_or("no answer").to_owned();
            return self.row("refused", name, "-", &why, 0.0);
        };

        // A text that is not understood has no results at all, and would go unnoticed.
        if document.results.is_empty() {
            let first = document.diagnostics.first();
            let why = first.map_or("no properties", |complaint| &complaint.message);
            return self.row("refused", name, "-", why, 0.0);
        }
        for report in document.results {
            let theirs = known.and_then(|known| known.verdict(&report.property));
            let outcome = match (report.verdict.as_str(), theirs) {
                ("unknown", _) => "undecided",
                (ours, Some(theirs)) if ours == theirs => "agree",
                (_, Some(_)) => "differ",
                ("holds", None) => "holds, nothing published",
                (_, None) => "violated, nothing published",
            };
            let reason = report.reason.unwrap_or_default();
            let first = report.remarks.first().map_or("", String::as_str);
            let why = format!("{} {reason} ({first})", report.verdict);
            self.row(outcome, name, &report.property, &why, report.seconds)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        outcome: &'static str,
        model: &str,
        property: &str,
        why: &str,
        seconds: f64,
    ) -> Result<()> {
        *self.counts.entry(outcome).or_insert(0) += 1;
        println!("{outcome}\t{model}\t{property}\t{why}\t{seconds:.2} s");
        if let Some(record) = &mut self.record {
            let row = json!({
                "model": model, "property": property, "outcome": outcome, "said": why,
                "seconds": seconds, "solver": self.solver, "limit_seconds": self.seconds,
            });
            writeln!(record, "{row}")?;
        }
        Ok(())
    }
}

/// The automata below a folder, by name.
pub(crate) fn automata(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder);
    for entry in entries.with_context(|| format!("`{}`", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(automata(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "ta") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
