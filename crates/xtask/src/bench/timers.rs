//! Three ways to t-fairness, and Spin on the same systems with concrete timers.
//!
//! The shape of tables 1 and 2 in D. Bošnački, N. Ioustinova, N. Sidorova, "Using fairness to make
//! abstractions work", CWI report SEN-E0313, 2003. Spin knows no abstract timers; it gets the smallest
//! setting that the abstract timer stands for.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::FairResult;
use super::measure::{End, Limits, run};
use super::pan::{self, PanReport};
use super::table::{Table, count, figure};
use crate::architecture;

/// The ways, as `--t-fairness` calls them.
const WAYS: [&str; 3] = ["strong-formula", "weak-formula", "built-in"];

/// A model, its question, and the same for Spin.
struct Case {
    name: &'static str,
    native: &'static str,
    property: &'static str,
    defines: &'static [(&'static str, u64)],
    promela: &'static str,
    is_quick: bool,
}

const fn fischer(name: &'static str, defines: &'static [(&'static str, u64)]) -> Case {
    Case {
        name,
        native: "examples/timers/fischer.fair",
        property: "access",
        defines,
        promela: "bench/promela/fischer.pml",
        is_quick: true,
    }
}

const CASES: [Case; 6] = [
    fischer("fischer 2", &[("N", 2)]),
    fischer("fischer 3", &[("N", 3)]),
    fischer("fischer 4", &[("N", 4)]),
    Case {
        is_quick: false,
        ..fischer("fischer 5", &[("N", 5)])
    },
    Case {
        name: "par",
        native: "examples/timers/par.fair",
        property: "delivery",
        defines: &[("DK", 1), ("DL", 1)],
        promela: "bench/promela/par.pml",
        is_quick: true,
    },
    Case {
        name: "par 9 9",
        native: "examples/timers/par.fair",
        property: "delivery",
        defines: &[("DK", 9), ("DL", 9)],
        promela: "bench/promela/par.pml",
        is_quick: false,
    },
];

/// What one way came to.
#[derive(Debug, Serialize)]
struct Point {
    model: &'static str,
    way: &'static str,
    fair: Result<FairResult, String>,
}

/// Measures the three ways and Spin, prints a table and keeps the record.
///
/// # Errors
/// Something could not be run, or two ways do not agree.
pub fn timers(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("timers")?;
    record.add(&json!({ "benchmark": "timers", "runs": options.runs }))?;

    let mut table = Table::new(&[
        "model",
        "t-fairness",
        "verdict",
        "states",
        "transitions",
        "product states",
        "MB",
        "s",
    ]);

    let wanted = |case: &&Case| options.wants(case.name) && (case.is_quick || !options.quick);
    for case in CASES.iter().filter(wanted) {
        let mut verdicts = Vec::new();
        for way in WAYS {
            let flags = ["--property", case.property, "--t-fairness", way].map(str::to_owned);
            let series = fair.series(case.native, case.defines, &flags);
            let fair = series.run_all(options.runs)?;
            if let Ok(result) = &fair {
                verdicts.push(result.report.verdict.clone());
            }
            let point = Point {
                model: case.name,
                way,
                fair,
            };
            record.add(&point)?;
            table.add(cells(&point));
        }
        verdicts.dedup();
        ensure!(verdicts.len() <= 1, "{}: the ways do not agree", case.name);
        if let Some((report, seconds)) = spin(case, suite.limits)? {
            record.add(&json!({ "model": case.name, "way": "spin", "spin": report }))?;
            table.add(spin_cells(case, &report, seconds));
        }
    }

    println!("{table}");
    Ok(())
}

fn cells(point: &Point) -> Vec<String> {
    let mut row = vec![point.model.to_owned(), point.way.to_owned()];

    match &point.fair {
        Err(reason) => {
            row.push(reason.clone());
            row.extend(["", "", "", "", ""].map(str::to_owned));
        }
        Ok(result) => {
            let report = &result.report;
            let number = |value: Option<u64>| value.map_or(String::new(), |v| count(v as f64));
            let bytes = report.peak_memory_bytes.unwrap_or_default();
            row.push(report.verdict.clone());
            row.push(number(report.states));
            row.push(number(report.transitions));
            row.push(number(report.product_states));
            row.push(figure(bytes as f64 / f64::from(1 << 20)));
            row.push(figure(result.seconds));
        }
    }

    row
}

fn spin_cells(case: &Case, report: &PanReport, seconds: f64) -> Vec<String> {
    let verdict = if report.errors == 0 {
        "holds"
    } else {
        "violated"
    };
    vec![
        case.name.to_owned(),
        "Spin, concrete".to_owned(),
        verdict.to_owned(),
        String::new(),
        count(report.transitions as f64),
        count(report.stored as f64),
        figure(report.states_mb),
        figure(seconds),
    ]
}

/// Spin's verifier on the concrete model; nothing if Spin or a C compiler is missing, or if the model is
/// not written for this size.
fn spin(case: &Case, limits: Limits) -> Result<Option<(PanReport, f64)>> {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if case.name == "fischer 5" || !is_there("spin") || !is_there("gcc") {
        return Ok(None);
    }
    let root = architecture::root();
    let directory = root.join("target/bench").join(case.name.replace(' ', "-"));
    fs::create_dir_all(&directory)?;

    let mut defines: Vec<String> = Vec::new();
    for (name, value) in case.defines {
        defines.push(format!("-D{name}={value}"));
    }
    if case.property == "delivery" {
        let delays: u64 = case.defines.iter().map(|(_, value)| value).sum();
        defines.push(format!("-DRETRY={}", delays + 1));
    }

    let path = root.join(case.promela);
    let path = path.to_str().context("paths must be UTF-8")?;
    let step =
        |program: &str, arguments: &[&str]| in_directory(&directory, program, arguments, limits);
    let mut generate: Vec<&str> = defines.iter().map(String::as_str).collect();
    generate.extend(["-o3", "-a", path]);
    step("spin", &generate)?;
    step("gcc", &["-O2", "-w", "-DNOREDUCE", "-o", "pan", "pan.c"])?;

    let (output, seconds) = step("./pan", &["-a", "-m1000000"])?;
    let report = pan::parse(&output).context("the output of Spin's verifier")?;
    Ok(Some((report, seconds)))
}

fn in_directory(
    directory: &Path,
    program: &str,
    arguments: &[&str],
    limits: Limits,
) -> Result<(String, f64)> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    let done = run(&command, limits)?;
    let said = format!("{}{}", done.stdout, done.stderr);
    ensure!(done.end == End::Exited(0), "{program}: {said}");
    Ok((done.stdout, done.cpu_seconds))
}
