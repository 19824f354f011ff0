//! `fair check` beside TLC on systems that are made of sets, sequences, bags, maps and records.
//!
//! TLC is the model checker of TLA+ (<https://github.com/tlaplus/tlaplus>). The environment variable
//! `TLC_JAR` says where it is; without it only our columns appear. The twins are in `bench/tla`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::FairResult;
use super::measure::{End, Limits, run};
use super::statistics::{geometric_mean, median};
use super::suite::{Suite, ValuesModel};
use super::table::{Table, count, figure, or_dash};
use crate::architecture;

/// Measures both, prints a table and keeps the record.
///
/// # Errors
/// Something could not be run, or the two differ about a system.
pub fn values(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let tlc = Tlc::find(&suite)?;
    let mut record = options.open_record("values")?;
    let version = tlc.as_ref().map(Tlc::version).transpose()?;
    record.add(&json!({ "benchmark": "values", "runs": options.runs, "tlc": version }))?;

    let mut rows = Vec::new();
    for model in suite
        .values
        .iter()
        .filter(|model| options.wants(&model.name))
    {
        let sizes = if options.quick {
            &model.quick
        } else {
            &model.sizes
        };
        for &size in sizes {
            eprintln!("{}, {} = {size}", model.name, model.parameter);
            let defines = [(model.parameter.as_str(), size)];
            let series = fair.series(&model.native, &defines, &model.fair_flags());
            let fair = series.run_all(options.runs)?;
            let tlc = match &tlc {
                Some(tlc) => Some(tlc.explore(model, size, options.runs)?),
                None => None,
            };
            let row = Row::new(model, size, fair, tlc);
            record.add(&row)?;
            rows.push(row);
        }
    }

    print(&rows, suite.min_seconds_for_ratio);
    let wrong: Vec<&String> = rows.iter().filter_map(|row| row.problem.as_ref()).collect();
    ensure!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}

/// One system in one size.
#[derive(Debug, Serialize)]
struct Row {
    model: String,
    parameter: String,
    size: u64,
    fair: Result<FairResult, String>,
    tlc: Option<Result<TlcResult, String>>,
    /// How many times more states per CPU second than TLC.
    ratio: Option<f64>,
    /// In what the two differ.
    problem: Option<String>,
}

impl Row {
    fn new(
        model: &ValuesModel,
        size: u64,
        fair: Result<FairResult, String>,
        tlc: Option<Result<TlcResult, String>>,
    ) -> Self {
        let both = match (&fair, &tlc) {
            (Ok(fair), Some(Ok(tlc))) => Some((fair, tlc)),
            _ => None,
        };
        let ratio = both.map(|(fair, tlc)| tlc.seconds / fair.seconds);
        let differs = both.filter(|(fair, tlc)| {
            fair.report.states != Some(tlc.states) || fair.report.verdict != tlc.verdict
        });
        let problem = differs.map(|(fair, tlc)| {
            let ours = &fair.report;
            let states = or_dash(ours.states, |n| n.to_string());
            format!(
                "{}, {size}: {states} states, {} beside {} states, {}",
                model.name, ours.verdict, tlc.states, tlc.verdict
            )
        });
        Self {
            model: model.name.clone(),
            parameter: model.parameter.clone(),
            size,
            fair,
            tlc,
            ratio,
            problem,
        }
    }
}

/// TLC, ready to be called.
struct Tlc {
    jar: PathBuf,
    limits: Limits,
}

/// What a series of equal runs came to.
#[derive(Clone, Debug, Serialize)]
struct TlcResult {
    command: String,
    verdict: String,
    /// Distinct states.
    states: u64,
    /// With repetitions.
    generated: u64,
    /// Median of the CPU seconds.
    seconds: f64,
    all_seconds: Vec<f64>,
    peak_rss_bytes: u64,
}

impl Tlc {
    fn find(suite: &Suite) -> Result<Option<Self>> {
        let Some(jar) = std::env::var_os("TLC_JAR") else {
            eprintln!("TLC_JAR is not set, so TLC is not run");
            return Ok(None);
        };
        let jar = std::path::absolute(PathBuf::from(jar))?;
        ensure!(jar.is_file(), "TLC_JAR: {} is not a file", jar.display());
        let limits = suite.limits;
        Ok(Some(Self { jar, limits }))
    }

    /// The collector with one thread costs the least CPU time.
    fn java(&self) -> Command {
        let mut java = Command::new("java");
        java.args(["-XX:+UseSerialGC", "-Xmx3g", "-cp"])
            .arg(&self.jar)
            .arg("tlc2.TLC");
        java
    }

    /// The first line that it prints.
    fn version(&self) -> Result<String> {
        let mut command = self.java();
        let run = run(command.arg("-h"), self.limits)?;
        let words = |line: &&str| line.contains("Version");
        let line = run.stdout.lines().find(words).unwrap_or("unknown");
        Ok(line.trim().to_owned())
    }

    /// Explores a twin so often, with one thread.
    fn explore(
        &self,
        model: &ValuesModel,
        size: u64,
        n_runs: usize,
    ) -> Result<Result<TlcResult, String>> {
        let directory = std::env::temp_dir().join(format!("fair-tlc-{}", std::process::id()));
        let answer = self.explore_in(&directory, model, size, n_runs);
        // What is left of an earlier run would be in the way.
        let _ = fs::remove_dir_all(&directory);
        answer
    }

    fn explore_in(
        &self,
        directory: &Path,
        model: &ValuesModel,
        size: u64,
        n_runs: usize,
    ) -> Result<Result<TlcResult, String>> {
        fs::create_dir_all(directory)?;
        let twin = architecture::root().join(&model.tla);
        let name = twin.file_stem().context("the twin has a name")?;
        let name = name.to_string_lossy().into_owned();
        fs::copy(&twin, directory.join(format!("{name}.tla")))?;
        fs::write(directory.join("twin.cfg"), configuration(model, size))?;

        let mut command = self.java();
        let flags = ["-workers", "1", "-deadlock", "-config", "twin.cfg"];
        command.args(flags).arg(&name).current_dir(directory);
        let (mut all_seconds, mut peak_rss_bytes, mut printed) = (Vec::new(), 0, String::new());
        for _ in 0..n_runs.max(1) {
            let run = run(&command, self.limits)?;
            match run.end {
                End::Exited(0 | 12) => {}
                End::Exited(status) => return Ok(Err(format!("status {status}: {}", run.stdout))),
                End::OutOfTime => return Ok(Err(format!("> {} s", self.limits.cpu_seconds))),
                End::Killed(signal) => return Ok(Err(format!("signal {signal}"))),
            }
            all_seconds.push(run.cpu_seconds);
            peak_rss_bytes = peak_rss_bytes.max(run.peak_rss_bytes);
            printed = run.stdout;
        }

        let (generated, states) = counts(&printed).context("what TLC printed")?;
        let is_violated = printed.contains("is violated");
        let verdict = if is_violated { "violated" } else { "holds" };
        Ok(Ok(TlcResult {
            command: format!(
                "java -XX:+UseSerialGC -Xmx3g -cp $TLC_JAR tlc2.TLC {} {name}",
                flags.join(" ")
            ),
            verdict: verdict.to_owned(),
            states,
            generated,
            seconds: median(&all_seconds).context("nothing was run")?,
            all_seconds,
            peak_rss_bytes,
        }))
    }
}

/// What TLC is to do with a twin.
fn configuration(model: &ValuesModel, size: u64) -> String {
    let mut constants: BTreeMap<&str, u64> = BTreeMap::new();
    constants.extend(
        model
            .constants
            .iter()
            .map(|(name, value)| (name.as_str(), *value)),
    );
    constants.insert(&model.parameter, size);
    let constants = constants
        .iter()
        .map(|(name, value)| format!("  {name} = {value}\n"));
    let constants: String = constants.collect();
    format!("SPECIFICATION Spec\nINVARIANT Safe\nCONSTANTS\n{constants}")
}

/// States with repetitions, and distinct states.
fn counts(printed: &str) -> Option<(u64, u64)> {
    let is_last =
        |line: &&str| line.contains("distinct states found") && !line.contains("Progress");
    let line = printed.lines().rev().find(is_last)?;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn print(rows: &[Row], min_seconds: f64) {
    let mut table = Table::new(&[
        "model", "size", "states", "s", "TLC s", "states/s", "TLC's", "ratio", "MB", "TLC's",
    ]);
    let mut ratios = Vec::new();
    for row in rows {
        let fair = row.fair.as_ref();
        let tlc = row.tlc.as_ref().and_then(|tlc| tlc.as_ref().ok());
        let states = fair.ok().and_then(|fair| fair.report.states);
        let each = |seconds: Option<f64>| {
            let rate = states.zip(seconds).map(|(n, s)| n as f64 / s);
            or_dash(rate, count)
        };
        let megabytes = |bytes: u64| count(bytes as f64 / f64::from(1 << 20));
        let ours = fair.ok().map(|fair| fair.seconds);
        // Below that, starting a process is what is measured.
        let is_long = ours.is_some_and(|seconds| seconds >= min_seconds);
        ratios.extend(row.ratio.filter(|_| is_long));
        table.add(vec![
            row.model.clone(),
            format!("{} = {}", row.parameter, row.size),
            match fair {
                Ok(_) => or_dash(states, |n| n.to_string()),
                Err(reason) => reason.clone(),
            },
            or_dash(ours, figure),
            match &row.tlc {
                Some(Err(reason)) => reason.lines().next().unwrap_or("–").to_owned(),
                _ => or_dash(tlc.map(|tlc| tlc.seconds), figure),
            },
            each(ours),
            each(tlc.map(|tlc| tlc.seconds)),
            or_dash(row.ratio, figure),
            or_dash(fair.ok().map(|fair| fair.peak_rss_bytes), megabytes),
            or_dash(tlc.map(|tlc| tlc.peak_rss_bytes), megabytes),
        ]);
    }
    println!("{table}");
    if let Some(mean) = geometric_mean(&ratios) {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "states per CPU second: {} times those of TLC (geometric mean of {} rows), at least {}",
            figure(mean),
            ratios.len(),
            figure(least)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_the_last_line_are_read() {
        let printed = "Progress(6) at 22:32:51: 82,481 states generated, 23 distinct states found.\n\
                       1146 states generated, 288 distinct states found, 0 states left on queue.\n";
        assert_eq!(counts(printed), Some((1146, 288)));
        assert_eq!(counts("Parsing failed."), None);
    }

    #[test]
    fn the_size_is_one_of_the_constants() {
        let model = ValuesModel {
            name: "a".to_owned(),
            native: String::new(),
            tla: String::new(),
            parameter: "N".to_owned(),
            constants: BTreeMap::from([("K".to_owned(), 3)]),
            property: "safe".to_owned(),
            sizes: vec![4],
            quick: Vec::new(),
        };
        let text = configuration(&model, 4);
        assert!(text.ends_with("CONSTANTS\n  K = 3\n  N = 4\n"), "{text}");
    }
}
