//! Spin beside `fair check`: each question with a verifier of its own.
//!
//! Verifiers are generated with `-o1 -o2 -o3` and compiled with `-O3 -DNOREDUCE`, so that their
//! states are those of the system, and `fair` does not reduce either unless `--reduce` says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Cost, Fair, Outcome, Report, Row, Tally, files};
use crate::bench::measure::{self, End, Limits, Run};
use crate::bench::pan::{self, PanReport};

const EXTENSIONS: [&str; 7] = ["pml", "prm", "promela", "prom", "spin", "pr", "pm"];

/// How long Spin and the compiler may take for a verifier.
const MAKING_SECONDS: u64 = 60;

/// What one question takes: macros for the compiler, arguments for the verifier.
struct Way {
    defines: &'static [&'static str],
    arguments: Vec<String>,
}

impl Way {
    fn of(question: &str) -> Self {
        let (defines, arguments): (&[&str], &[&str]) = match question {
            "assertions" => (&["-DSAFETY", "-DNOCLAIM"], &["-E"]),
            "end-states" => (&["-DSAFETY", "-DNOCLAIM"], &["-A"]),
            "acceptance" => (&["-DNOCLAIM"], &["-a", "-E"]),
            "progress" => (&["-DNP", "-DNOCLAIM"], &["-l", "-E"]),
            _ => (&[], &["-a", "-E"]),
        };
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        let mut arguments: Vec<String> = arguments.collect();
        if defines.is_empty() && question != "never" {
            arguments.extend(["-N".to_owned(), question.to_owned()]);
        }
        Self { defines, arguments }
    }

    fn is_safety(&self) -> bool {
        self.defines.contains(&"-DSAFETY")
    }
}

/// What a verifier answers.
struct Answer {
    holds: Option<bool>,
    shown: String,
    cost: Cost,
}

/// One model, and the verifiers that were made of it.
struct Comparison<'a> {
    fair: &'a Fair,
    model: &'a Path,
    name: &'a Path,
    folder: &'a Path,
    scratch: &'a Path,
    /// By the macros they were compiled with; nothing where the compiler refuses.
    verifiers: BTreeMap<&'static [&'static str], Option<PathBuf>>,
    /// CPU seconds that generating and compiling took.
    making_seconds: f64,
}

pub(super) fn compare(fair: &Fair, folder: &Path, tally: &mut Tally) -> Result<()> {
    let scratch = std::env::temp_dir().join(format!("fair-corpus-{}", std::process::id()));
    for model in files(folder, &EXTENSIONS)? {
        let name = model.strip_prefix(folder).unwrap_or(&model);
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch)?;
        let comparison = Comparison {
            fair,
            model: &model,
            name,
            folder,
            scratch: &scratch,
            verifiers: BTreeMap::new(),
            making_seconds: 0.0,
        };
        comparison.run(tally)?;
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(())
}

impl Comparison<'_> {
    fn run(mut self, tally: &mut Tally) -> Result<()> {
        let mut generate = Command::new("spin");
        generate.args(["-o1", "-o2", "-o3", "-a"]).arg(self.model);
        let generated = self.start(generate, MAKING_SECONDS)?;
        self.making_seconds = generated.cpu_seconds;
        if !self.scratch.join("pan.c").exists() {
            let why = generated.stdout.lines().find(|line| line.contains("rror"));
            let why = format!("Spin: {}", why.unwrap_or("does not read it"));
            tally.row(Outcome::NoReference, self.name, "-", why);
            return Ok(());
        }

        // A search that ends at once says which questions there are, and what reading takes.
        let (reports, reading) = self.ask(&["--max-states", "1"])?;
        let reports = match reports {
            Ok(reports) => reports,
            Err(why) => {
                let why = format!("{why}; Spin reads it");
                tally.row(Outcome::Refused, self.name, "-", why);
                return Ok(());
            }
        };
        if self.fair.only_reading {
            let why = format!("both read it; fair: {:.2} s", reading.cpu_seconds);
            tally.row(Outcome::Agree, self.name, "reading", why);
            return Ok(());
        }
        for report in &reports {
            let is_last = self.question(&report.property, tally)?;
            if is_last {
                break;
            }
        }
        self.reading(&reading, tally)
    }

    /// Reading and compiling takes no longer than Spin and the compiler take.
    fn reading(&self, reading: &Run, tally: &mut Tally) -> Result<()> {
        let (ours, theirs) = (reading.cpu_seconds, self.making_seconds);
        let why = format!("fair: {ours:.2} s; spin and gcc: {theirs:.2} s");
        let outcome = if ours <= theirs {
            Outcome::Agree
        } else {
            Outcome::Slower
        };
        tally.add(&Row::new(outcome, self.name, "reading", why))
    }

    /// Compares one question; says whether the others need no look.
    fn question(&mut self, question: &str, tally: &mut Tally) -> Result<bool> {
        let way = Way::of(question);
        let theirs = self.verify(&way)?;
        let (mut report, mut run) = self.answer(question, &[])?;
        // Errors that lie many hundred steps deep are found depth first, as Spin finds them.
        if report.holds().is_none() && way.is_safety() {
            let (deep, deep_run) = self.answer(question, &["--bitstate"])?;
            if deep.holds() == Some(false) {
                (report, run) = (deep, deep_run);
            }
        }

        let ours = report.cost(&run);
        let mut outcome = Outcome::of(report.holds(), theirs.holds);
        let mut why = format!("{}; Spin: {}", report.why(), theirs.shown);
        if let (true, Some(n), Some(m)) = (way.is_safety(), ours.states, theirs.cost.states) {
            why = format!("{why}; states {n} and {m}");
            if n != m {
                outcome = Outcome::Differ;
            }
        }
        let row = Row {
            ours: Some(ours),
            theirs: Some(theirs.cost),
            ..Row::new(outcome, self.name, question, why)
        };
        tally.add(&row)?;

        // Where an assertion fails, every other question meets that error.
        Ok(question == "assertions" && report.holds() == Some(false))
    }

    /// What `fair` says about one question, and what that cost.
    fn answer(&self, question: &str, arguments: &[&str]) -> Result<(Report, Run)> {
        let mut all = vec!["--property", question];
        all.extend(arguments);
        let (reports, run) = self.ask(&all)?;
        let report = match reports.map(|reports| reports.into_iter().next()) {
            Ok(Some(report)) => report,
            Ok(None) => unanswered(question, "no result"),
            Err(why) => unanswered(question, &why),
        };
        Ok((report, run))
    }

    fn ask(&self, arguments: &[&str]) -> Result<(Result<Vec<Report>, String>, Run)> {
        let folder = self.folder.to_string_lossy();
        let mut all = vec!["--language", "promela", "--include", &*folder];
        all.extend(arguments);
        self.fair.call(self.scratch, self.model, &all)
    }

    /// What a verifier finds.
    fn verify(&mut self, way: &Way) -> Result<Answer> {
        let undecided = |shown: &str| Answer {
            holds: None,
            shown: shown.to_owned(),
            cost: Cost::default(),
        };

        let Some(program) = self.verifier(way)? else {
            return Ok(undecided("the verifier is not compiled"));
        };

        let mut verifier = Command::new(program);
        verifier.args(["-m1000000", "-w22"]).args(&way.arguments);
        let run = self.start(verifier, self.fair.limits.cpu_seconds)?;
        let error = run.stdout.lines().find(|line| line.starts_with("pan:1:"));

        // A verifier that was cut short has errors to show, but has not shown their absence.
        let report = pan::parse(&run.stdout).filter(|report| report.complete);
        let holds = match (error, &report) {
            (Some(_), _) => Some(false),
            (None, Some(report)) if report.errors == 0 => Some(true),
            _ => None,
        };

        let shown = match (error, holds) {
            (Some(error), _) => error.to_owned(),
            (None, Some(_)) => "no error".to_owned(),
            (None, None) if run.end == End::OutOfTime => "out of time".to_owned(),
            (None, None) => format!("not decided ({})", pan::complaint(&run.stdout)),
        };

        let counted = report.filter(|_| holds == Some(true));
        Ok(Answer {
            holds,
            shown,
            cost: Cost {
                states: counted.as_ref().map(|report| report.stored),
                transitions: counted.as_ref().map(|report| report.transitions),
                cpu_seconds: run.cpu_seconds,
                bytes_per_state: counted.as_ref().map(PanReport::bytes_per_state),
            },
        })
    }

    fn verifier(&mut self, way: &Way) -> Result<Option<PathBuf>> {
        if let Some(made) = self.verifiers.get(way.defines) {
            return Ok(made.clone());
        }
        let program = self.scratch.join(format!("pan{}", self.verifiers.len()));
        let mut compiler = Command::new("cc");
        compiler
            .arg(if self.fair.is_quick { "-O0" } else { "-O3" })
            .args(["-w", "-DNOREDUCE", "-DVECTORSZ=65536", "-DNFAIR=8"])
            .args(way.defines)
            .arg("-o")
            .arg(&program)
            .arg("pan.c");
        let compiled = self.start(compiler, MAKING_SECONDS)?;
        // Spin's way to an answer is one verifier.
        if self.verifiers.is_empty() {
            self.making_seconds += compiled.cpu_seconds;
        }
        let made = (compiled.end == End::Exited(0)).then_some(program);
        self.verifiers.insert(way.defines, made.clone());
        Ok(made)
    }

    fn start(&self, mut command: Command, cpu_seconds: u64) -> Result<Run> {
        command.current_dir(self.scratch);
        let limits = Limits {
            cpu_seconds,
            ..self.fair.limits
        };
        measure::run(&command, limits)
    }
}

fn unanswered(question: &str, why: &str) -> Report {
    Report {
        property: question.to_owned(),
        verdict: "unknown".to_owned(),
        reason: Some(why.to_owned()),
        states: None,
        transitions: None,
        peak_memory_bytes: None,
    }
}
