//! `fair ws1s` beside MONA: the same files, one machine, one call.
//!
//! A formula counts for the mean if MONA needs more than [`MIN_SECONDS`] for it: below that a call
//! is mostly the start of a process. Formulas on which one tool gives up are listed and not counted.

mod families;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::json;

use self::families::{FAMILIES, Family, PUSHED};
use super::Options;
use super::measure::{End, Limits, run};
use super::record::Record;
use super::statistics::{geometric_mean, median};
use super::table::{Table, figure, or_dash};
use crate::architecture;

/// Shorter calls of MONA do not count.
const MIN_SECONDS: f64 = 0.05;

/// What one call may spend.
const LIMITS: Limits = Limits {
    cpu_seconds: 30,
    memory_mb: 6_000,
};

/// How often the start of a process is measured.
const STARTS: usize = 21;

/// Runs the comparison, prints its tables and keeps its record.
///
/// # Errors
/// Something could not be run, or the two disagree.
pub fn ws1s(options: &Options) -> Result<()> {
    let fair = options.program()?;
    let has_mona = Command::new("mona").arg("-h").output().is_ok();
    if !has_mona {
        println!("MONA is missing (Debian: apt-get install mona): only our columns.\n");
    }
    let folder = architecture::root().join("target/bench-ws1s");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;

    let mut record = options.open_record("ws1s")?;
    record.add(&json!({ "benchmark": "ws1s", "runs": options.runs, "mona": has_mona }))?;
    let bench = Bench {
        options,
        fair,
        has_mona,
        folder,
    };

    bench.start_up(&mut record)?;
    let rows = bench.families(FAMILIES, &mut record)?;
    bench.print(
        "Formulas in which little or nothing can be pushed in",
        &rows,
    );

    let pushed = bench.families(PUSHED, &mut record)?;
    bench.print("Formulas whose quantifiers can be pushed in", &pushed);
    let differ = |row: &&Row| !row.agrees();
    let mut problems = rows.iter().chain(&pushed).filter(differ);
    if let Some(row) = problems.next() {
        bail!("MISMATCH: {} {}", row.family, row.size);
    }
    Ok(())
}

struct Bench<'a> {
    options: &'a Options,
    fair: PathBuf,
    has_mona: bool,
    folder: PathBuf,
}

/// What the calls of one tool on one file came to.
#[derive(Clone, Debug, Serialize)]
struct Calls {
    /// The verdict, or why there is none.
    answer: Result<String, String>,
    /// Median of the CPU seconds.
    seconds: f64,
    all_seconds: Vec<f64>,
    /// Median of the seconds on the clock.
    wall_seconds: f64,
    peak_rss_bytes: u64,
}

/// One file.
#[derive(Debug, Serialize)]
struct Row {
    family: &'static str,
    size: u64,
    fair: Calls,
    mona: Option<Calls>,
    /// MONA's CPU time in ours, if both have answered.
    ratio: Option<f64>,
}

impl Row {
    fn agrees(&self) -> bool {
        match (&self.fair.answer, self.mona.as_ref().map(|m| &m.answer)) {
            (Ok(ours), Some(Ok(theirs))) => ours == theirs,
            _ => true,
        }
    }

    /// The ratio, if MONA needs long enough.
    fn counted(&self) -> Option<f64> {
        let mona = self.mona.as_ref()?;
        self.ratio.filter(|_| mona.seconds > MIN_SECONDS)
    }
}

impl Bench<'_> {
    /// The cost of deciding `true`.
    fn start_up(&self, record: &mut Record) -> Result<()> {
        let file = self.write("start", "true;\n")?;
        let fair = self.calls(&mut self.fair_on(&file), STARTS)?;
        let mona = if self.has_mona {
            Some(self.calls(&mut mona_on(&file), STARTS)?)
        } else {
            None
        };
        record.add(&json!({ "start_up": { "fair": fair, "mona": mona } }))?;

        let show = |calls: &Calls| {
            format!(
                "{:.2} ms of CPU time, {:.2} ms on the clock",
                calls.seconds * 1e3,
                calls.wall_seconds * 1e3
            )
        };

        println!(
            "Start-up: {}; MONA: {}\n",
            show(&fair),
            or_dash(mona.as_ref(), show)
        );
        Ok(())
    }

    fn families(&self, families: &'static [Family], record: &mut Record) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for family in families.iter().filter(|f| self.options.wants(f.name)) {
            let n_sizes = if self.options.quick {
                1
            } else {
                family.sizes.len()
            };
            for &size in &family.sizes[..n_sizes] {
                eprintln!("{} {size}", family.name);
                let row = self.row(family, size)?;
                record.add(&row)?;
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn row(&self, family: &Family, size: u64) -> Result<Row> {
        let name = format!("{}_{size}", family.name);
        let about = format!("# {} (n = {size})\n", family.about);
        let file = self.write(&name, &(about + &(family.text)(size)))?;
        let n_runs = self.options.runs;

        let fair = self.calls(&mut self.fair_on(&file), n_runs)?;
        let mona = if self.has_mona {
            Some(self.calls(&mut mona_on(&file), n_runs)?)
        } else {
            None
        };

        let answered = mona
            .as_ref()
            .filter(|mona| mona.answer.is_ok() && fair.answer.is_ok());
        let ratio = answered.map(|mona| mona.seconds / fair.seconds);

        Ok(Row {
            family: family.name,
            size,
            fair,
            mona,
            ratio,
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.folder.join(format!("{name}.mona"));
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(file)
    }

    fn fair_on(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.fair);
        command.arg("ws1s").arg(file);
        command
    }

    /// Calls so often, or until there is no answer.
    fn calls(&self, command: &mut Command, n_runs: usize) -> Result<Calls> {
        let (mut cpu, mut wall, mut peak) = (Vec::new(), Vec::new(), 0);
        let mut answer = Err("not run".to_owned());
        for _ in 0..n_runs {
            let run = run(command, LIMITS)?;
            cpu.push(run.cpu_seconds);
            wall.push(run.wall_seconds);
            peak = peak.max(run.peak_rss_bytes);
            answer = match run.end {
                End::Exited(_) => verdict(&run.stdout, &run.stderr),
                End::OutOfTime => Err(format!("> {} s", LIMITS.cpu_seconds)),
                End::Killed(signal) => Err(format!("signal {signal}")),
            };
            if answer.is_err() {
                break;
            }
        }

        Ok(Calls {
            answer,
            seconds: median(&cpu).unwrap_or_default(),
            all_seconds: cpu,
            wall_seconds: median(&wall).unwrap_or_default(),
            peak_rss_bytes: peak,
        })
    }

    fn print(&self, title: &str, rows: &[Row]) {
        println!("{title}:\n");
        let mut table = Table::new(&[
            "family", "n", "verdict", "fair s", "MONA s", "ratio", "fair MB", "MONA MB",
        ]);

        for row in rows {
            let seconds = |calls: &Calls| match &calls.answer {
                Ok(_) => figure(calls.seconds),
                Err(reason) => reason.clone(),
            };
            let megabytes =
                |calls: &Calls| figure(calls.peak_rss_bytes as f64 / f64::from(1 << 20));
            let mona = row.mona.as_ref();
            table.add(vec![
                row.family.to_owned(),
                row.size.to_string(),
                row.fair.answer.clone().unwrap_or_else(|_| "–".to_owned()),
                seconds(&row.fair),
                or_dash(mona, seconds),
                or_dash(row.ratio, figure),
                megabytes(&row.fair),
                or_dash(mona, megabytes),
            ]);
        }

        println!("{table}");
        let ratios: Vec<f64> = rows.iter().filter_map(Row::counted).collect();
        let mean = or_dash(geometric_mean(&ratios), figure);
        let least = or_dash(ratios.iter().copied().reduce(f64::min), figure);
        println!(
            "over {} formulas that take MONA more than {} ms: geometric mean {mean}, least {least}\n",
            ratios.len(),
            MIN_SECONDS * 1e3
        );
    }
}

fn mona_on(file: &Path) -> Command {
    let mut command = Command::new("mona");
    command.arg("-q").arg(file);
    command
}

/// Both tools answer in the same words.
fn verdict(stdout: &str, stderr: &str) -> Result<String, String> {
    let answers = [
        ("Formula is valid", "valid"),
        ("Formula is unsatisfiable", "unsatisfiable"),
        ("A satisfying example", "satisfiable"),
    ];
    let found = answers.iter().find(|(text, _)| stdout.contains(text));
    found
        .map(|(_, verdict)| (*verdict).to_owned())
        .ok_or_else(|| {
            let lines = stderr.lines().chain(stdout.lines());
            let reason = lines.map(str::trim).find(|line| !line.is_empty());
            reason.unwrap_or("no answer").to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_recognised() {
        let valid = "Formula is valid\nA satisfying example of least length (0) is:\n";
        assert_eq!(verdict(valid, ""), Ok("valid".to_owned()));
        let both = "A counter-example\nA satisfying example\n";
        assert_eq!(verdict(both, ""), Ok("satisfiable".to_owned()));
        let aborted = verdict("", "\nBDD too large (>16777216 nodes)\n");
        assert_eq!(aborted, Err("BDD too large (>16777216 nodes)".to_owned()));
    }
}
