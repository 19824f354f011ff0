//! What is decided for all sizes and for unbounded data: time and memory of every row.
//!
//! The rows are those of `testdata/families.toml` and `testdata/programs.toml` and of the tables in
//! `testdata/held_out`, which nothing is tuned for, one call of `fair check` each, and with `--folder` the threshold automata below it, one call for all properties of one. The
//! verdicts are compared with the tables; a wrong one ends the benchmark with an error after the rest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Options;
use super::fair::Fair;
use super::measure::{End, Run};
use super::statistics::median;
use super::table::{Table, figure, or_dash};
use crate::architecture;
use crate::thresholds::{self, Published};

/// A question may take so much time on the clock.
const PATIENCE: &str = "60s";

/// The same with `--quick`.
const LITTLE_PATIENCE: &str = "5s";

/// A question may take so much memory.
const MAX_MEMORY: &str = "1G";

/// This many of the slowest rows are printed.
const N_SLOWEST: usize = 10;

/// The folders with both tables, and what the suites in them are called.
const FOLDERS: [(&str, &str, &str); 2] = [
    ("testdata", "families", "programs"),
    (
        "testdata/held_out",
        "families, held out",
        "programs, held out",
    ),
];

#[derive(Deserialize)]
struct Families {
    row: Vec<Family>,
}

#[derive(Deserialize)]
struct Family {
    model: String,
    property: String,
    truth: String,
}

#[derive(Deserialize)]
struct Programs {
    program: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    text: String,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    violated: Vec<String>,
}

/// What `fair check` says about one property.
#[derive(Deserialize)]
struct Answer {
    property: String,
    verdict: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    results: Vec<Answer>,
    #[serde(default)]
    diagnostics: Vec<Complaint>,
}

/// What `fair check` says about a text.
#[derive(Deserialize)]
struct Complaint {
    message: String,
}

/// What one call came to.
#[derive(Debug, Serialize)]
struct Point {
    suite: &'static str,
    model: String,
    /// Absent if the call asks about all properties of a model.
    property: Option<String>,
    n_rows: usize,
    n_decided: usize,
    /// Properties whose verdict is not the one of the table.
    wrong: Vec<String>,
    /// Properties without an answer, and why.
    undecided: Vec<String>,
    /// CPU seconds, user and system together.
    seconds: f64,
    wall_seconds: f64,
    peak_rss_bytes: u64,
}

/// A call, and what its answers should be.
struct Question<'a> {
    suite: &'static str,
    model: &'a str,
    file: &'a str,
    property: Option<&'a str>,
    values: &'a [String],
    /// The known verdict on a property.
    known: &'a dyn Fn(&str) -> Option<&'a str>,
}

/// Measures every row, prints what the suites came to, and keeps the record.
///
/// # Errors
/// Something could not be run, or a verdict is wrong.
pub fn families(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("families")?;
    let patience = patience(options);
    record.add(&json!({
        "benchmark": "families", "timeout": patience, "max_memory": MAX_MEMORY,
    }))?;

    let mut points = Vec::new();
    let mut keep = |point: Point| -> Result<()> {
        record.add(&point)?;
        points.push(point);
        Ok(())
    };
    for (folder, families, programs) in FOLDERS {
        all_families(options, &fair, (folder, families), &mut keep)?;
        all_programs(options, &fair, (folder, programs), &mut keep)?;
    }
    if let Some(folder) = &options.folder {
        all_automata(options, &fair, &std::path::absolute(folder)?, &mut keep)?;
    }

    println!("{}", summary(&points));
    println!("{}", slowest(&points));
    let wrong = points.iter().flat_map(|point| &point.wrong);
    let wrong: Vec<&str> = wrong.map(String::as_str).collect();
    ensure!(wrong.is_empty(), "wrong: {}", wrong.join(", "));
    Ok(())
}

fn patience(options: &Options) -> &'static str {
    if options.quick {
        LITTLE_PATIENCE
    } else {
        PATIENCE
    }
}

fn all_families(
    options: &Options,
    fair: &Fair,
    (folder, suite): (&str, &'static str),
    keep: &mut dyn FnMut(Point) -> Result<()>,
) -> Result<()> {
    let text = fs::read_to_string(architecture::root().join(folder).join("families.toml"))?;
    let table: Families = toml::from_str(&text)?;

    for row in &table.row {
        if !options.wants(&row.model) {
            continue;
        }
        keep(ask(
            fair,
            patience(options),
            &Question {
                suite,
                model: &row.model,
                file: &format!("{folder}/families/{}.fair", row.model),
                property: Some(&row.property),
                values: &[],
                known: &|_| Some(&row.truth),
            },
        )?)?;
    }
    Ok(())
}

fn all_programs(
    options: &Options,
    fair: &Fair,
    (folder, suite): (&str, &'static str),
    keep: &mut dyn FnMut(Point) -> Result<()>,
) -> Result<()> {
    let root = architecture::root();
    let text = fs::read_to_string(root.join(folder).join("programs.toml"))?;
    let table: Programs = toml::from_str(&text)?;
    let file = "target/bench-program.fair";
    fs::create_dir_all(root.join("target"))?;

    for program in &table.program {
        if !options.wants(&program.name) {
            continue;
        }
        fs::write(root.join(file), &program.text)?;
        let known = |property: &str| {
            let is_in = |list: &[String]| list.iter().any(|name| name == property);
            match (is_in(&program.holds), is_in(&program.violated)) {
                (true, _) => Some("holds"),
                (_, true) => Some("violated"),
                (false, false) => None,
            }
        };

        for property in program.holds.iter().chain(&program.violated) {
            keep(ask(
                fair,
                patience(options),
                &Question {
                    suite,
                    model: &program.name,
                    file,
                    property: Some(property),
                    values: &[],
                    known: &known,
                },
            )?)?;
        }
    }
    Ok(())
}

fn all_automata(
    options: &Options,
    fair: &Fair,
    folder: &Path,
    keep: &mut dyn FnMut(Point) -> Result<()>,
) -> Result<()> {
    let published = Published::read()?;
    for path in thresholds::automata(folder)? {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        let name = name.to_string_lossy();
        if !options.wants(&name) {
            continue;
        }
        // A sketch is asked about once for each choice of its coefficients.
        let mut known: Vec<_> = published.about(&name).map(Some).collect();
        if known.is_empty() {
            known.push(None);
        }
        for known in known {
            keep(ask(
                fair,
                patience(options),
                &Question {
                    suite: "automata",
                    model: &name,
                    file: &path.to_string_lossy(),
                    property: None,
                    values: known.map_or(&[], |known| &known.values),
                    known: &|property| known.and_then(|known| known.verdict(property)),
                },
            )?)?;
        }
    }
    Ok(())
}

fn ask(fair: &Fair, patience: &str, question: &Question<'_>) -> Result<Point> {
    let mut call = ["check", question.file, "--output-format", "json"].to_vec();
    call.extend(["--max-memory", MAX_MEMORY]);
    // Each property of an automaton may take as long as one that is asked about alone.
    match question.property {
        Some(property) => call.extend(["--timeout", patience, "--property", property]),
        None => call.extend(["--timeout-per-property", patience]),
    }
    for value in question.values {
        call.extend(["-D", value]);
    }
    let call: Vec<String> = call.into_iter().map(str::to_owned).collect();
    let run = fair.call(&call)?;
    let about = || format!("{}: {}", question.model, run.stderr.trim());
    point(question, &run).with_context(about)
}

fn point(question: &Question<'_>, run: &Run) -> Result<Point> {
    let mut point = Point {
        suite: question.suite,
        model: question.model.to_owned(),
        property: question.property.map(str::to_owned),
        n_rows: 1,
        n_decided: 0,
        wrong: Vec::new(),
        undecided: Vec::new(),
        seconds: run.cpu_seconds,
        wall_seconds: run.wall_seconds,
        peak_rss_bytes: run.peak_rss_bytes,
    };
    if !matches!(run.end, End::Exited(_)) {
        point.undecided.push(format!("{:?}", run.end));
        return Ok(point);
    }
    let document: Document =
        serde_json::from_str(&run.stdout).context("the output of `fair check`")?;

    // A text that is not understood has no results at all, and counts as one row.
    if document.results.is_empty() {
        let messages = document.diagnostics.into_iter();
        point
            .undecided
            .extend(messages.map(|complaint| complaint.message));
        return Ok(point);
    }
    point.n_rows = document.results.len();
    for answer in document.results {
        let Answer {
            property,
            verdict,
            reason,
        } = answer;
        let known = (question.known)(&property);
        if verdict == "unknown" {
            let reason = reason.unwrap_or_default();
            point.undecided.push(format!("{property}: {reason}"));
            continue;
        }
        point.n_decided += 1;
        if known.is_some_and(|known| known != verdict) {
            let model = question.model;
            point.wrong.push(format!("{model} {property}: {verdict}"));
        }
    }
    Ok(point)
}

/// What each suite came to.
fn summary(points: &[Point]) -> Table {
    let heads = [
        "suite",
        "rows",
        "decided",
        "wrong",
        "s, all",
        "s, median call",
        "s, longest call",
        "MB, most",
    ];

    let mut table = Table::new(&heads);
    let of_tables = FOLDERS
        .iter()
        .flat_map(|(_, families, programs)| [*families, *programs]);

    for suite in of_tables.chain(["automata"]) {
        let of: Vec<&Point> = points.iter().filter(|point| point.suite == suite).collect();
        if of.is_empty() {
            continue;
        }

        let sum = |count: fn(&Point) -> usize| of.iter().map(|point| count(point)).sum::<usize>();
        let seconds: Vec<f64> = of.iter().map(|point| point.seconds).collect();
        let longest = seconds.iter().copied().fold(0.0, f64::max);
        let peak = of.iter().map(|point| point.peak_rss_bytes).max();

        table.add(vec![
            suite.to_owned(),
            sum(|point| point.n_rows).to_string(),
            sum(|point| point.n_decided).to_string(),
            sum(|point| point.wrong.len()).to_string(),
            figure(seconds.iter().sum()),
            or_dash(median(&seconds), figure),
            figure(longest),
            megabytes(peak.unwrap_or_default()),
        ]);
    }

    table
}

/// The calls that took longest.
fn slowest(points: &[Point]) -> Table {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut table = Table::new(&["suite", "model", "property", "undecided", "s", "MB"]);
    for point in sorted.into_iter().take(N_SLOWEST) {
        table.add(vec![
            point.suite.to_owned(),
            point.model.clone(),
            or_dash(point.property.clone(), |property| property),
            (point.n_rows - point.n_decided).to_string(),
            figure(point.seconds),
            megabytes(point.peak_rss_bytes),
        ]);
    }
    table
}

fn megabytes(bytes: u64) -> String {
    figure(bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stdout: &str, end: End) -> Run {
        Run {
            end,
            stdout: stdout.to_owned(),
            stderr: String::new(),
            cpu_seconds: 2.0,
            wall_seconds: 3.0,
            peak_rss_bytes: 5_000_000,
        }
    }

    fn judged(stdout: &str, end: End) -> Result<Point> {
        let question = Question {
            suite: "programs",
            model: "m",
            file: "m.fair",
            property: None,
            values: &[],
            known: &|property| (property != "new").then_some("holds"),
        };
        point(&question, &run(stdout, end))
    }

    #[test]
    fn verdicts_are_compared_with_what_is_known() {
        let text = r#"{ "results": [
            { "property": "a", "verdict": "holds", "reason": null },
            { "property": "b", "verdict": "violated", "reason": null },
            { "property": "c", "verdict": "unknown", "reason": "timeout" },
            { "property": "new", "verdict": "violated", "reason": null } ] }"#;
        let point = judged(text, End::Exited(1)).unwrap();
        assert_eq!((point.n_rows, point.n_decided), (4, 3));
        assert_eq!(point.wrong, ["m b: violated"]);
        assert_eq!(point.undecided, ["c: timeout"]);
        let table = summary(&[point]).to_string();
        assert!(
            table.contains("| programs |    4 |       3 |     1 |"),
            "{table}"
        );
    }

    #[test]
    fn no_answer_is_undecided_and_no_document_an_error() {
        let point = judged("", End::OutOfTime).unwrap();
        assert_eq!((point.n_rows, point.n_decided), (1, 0));
        let refused = r#"{ "results": [], "diagnostics": [{ "message": "no value" }] }"#;
        let point = judged(refused, End::Exited(2)).unwrap();
        assert_eq!((point.n_rows, point.n_decided), (1, 0));
        assert_eq!(point.undecided, ["no value"]);
        assert!(judged("", End::Exited(2)).is_err());
    }
}
