//! What certificates cost: to find, to store and to check, beside the search.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::measure::{End, Limits, run};
use super::table::{Table, count, figure};
use crate::architecture;

/// A model and a property of it that holds.
struct Case {
    name: &'static str,
    model: &'static str,
    /// Further arguments of `fair check`.
    arguments: &'static [&'static str],
    is_quick: bool,
}

const fn case(
    name: &'static str,
    model: &'static str,
    arguments: &'static [&'static str],
    is_quick: bool,
) -> Case {
    Case {
        name,
        model,
        arguments,
        is_quick,
    }
}

const PETERSON: &str = "examples/peterson.fair";
const LE_C: &str = "examples/population/le_c.fair";
const LE_R: &str = "examples/population/le_r.fair";
const MILNER: &str = "examples/milner.fair";

const CASES: [Case; 8] = [
    case(
        "peterson 4 safety",
        PETERSON,
        &["--property", "exclusion", "-D", "N=4"],
        true,
    ),
    case(
        "peterson 5 safety",
        PETERSON,
        &["--property", "exclusion", "-D", "N=5"],
        false,
    ),
    case(
        "peterson 4 access",
        PETERSON,
        &[
            "--property",
            "access",
            "-D",
            "N=4",
            "--fairness",
            "weak-process",
        ],
        true,
    ),
    case(
        "le_c 8 strong",
        LE_C,
        &[
            "--property",
            "one_leader",
            "-D",
            "N=8",
            "--fairness",
            "strong",
        ],
        true,
    ),
    case(
        "le_r 4 global",
        LE_R,
        &[
            "--property",
            "one_leader",
            "-D",
            "N=4",
            "--fairness",
            "strong-global",
        ],
        true,
    ),
    case(
        "le_r 5 global",
        LE_R,
        &[
            "--property",
            "one_leader",
            "-D",
            "N=5",
            "--fairness",
            "strong-global",
        ],
        false,
    ),
    case(
        "milner 8",
        MILNER,
        &["--property", "works", "-D", "N=8"],
        true,
    ),
    case(
        "milner 12",
        MILNER,
        &["--property", "works", "-D", "N=12"],
        false,
    ),
];

/// What a certificate cost. Seconds are CPU seconds.
#[derive(Debug, Serialize)]
struct Point {
    model: &'static str,
    command: String,
    states: u64,
    search_seconds: f64,
    /// The search and finding the certificate.
    find_seconds: f64,
    check_seconds: f64,
    certificate_bytes: u64,
}

/// Measures, prints a table and keeps the record.
///
/// # Errors
/// Something could not be run, or a certificate was not accepted.
pub fn certify(options: &Options) -> Result<()> {
    let (suite, program) = (options.suite()?, options.program()?);
    let mut record = options.open_record("certify")?;
    record.add(&json!({ "benchmark": "certify" }))?;
    let mut table = Table::new(&[
        "model",
        "states",
        "search s",
        "with certificate s",
        "check s",
        "check / search",
        "bytes / state",
    ]);

    let root = architecture::root();
    let directory = root.join("target/bench/certify");
    fs::create_dir_all(&directory)?;
    let file = directory.join("certificate");
    let call = |arguments: &[&str], limits: Limits| -> Result<(String, f64)> {
        let mut command = Command::new(&program);
        let run = run(command.current_dir(&root).args(arguments), limits)?;
        ensure!(
            run.end == End::Exited(0),
            "{arguments:?}: {:?} {}",
            run.end,
            run.stderr
        );
        Ok((run.stdout, run.cpu_seconds))
    };

    let wanted = |case: &&Case| options.wants(case.name) && (case.is_quick || !options.quick);
    for case in CASES.iter().filter(wanted) {
        let path = file.display().to_string();
        let mut search = vec![
            "check",
            case.model,
            "--reduce=none",
            "--output-format",
            "json",
        ];
        search.extend(case.arguments);
        let command = format!("fair {}", search.join(" "));

        let (report, search_seconds) = call(&search, suite.limits)?;
        search.extend(["--certificate", &path]);
        let (_, find_seconds) = call(&search, suite.limits)?;

        // Checking is a call of its own: it must not profit from what the search has in memory.
        let (accepted, check_seconds) = call(&["certify", case.model, &path], suite.limits)?;
        ensure!(
            accepted.starts_with("certified: "),
            "{}: {accepted}",
            case.name
        );

        let report: serde_json::Value = serde_json::from_str(&report)?;
        let point = Point {
            model: case.name,
            command,
            states: report["results"][0]["states"].as_u64().unwrap_or_default(),
            search_seconds,
            find_seconds,
            check_seconds,
            certificate_bytes: fs::metadata(&file)?.len(),
        };
        record.add(&point)?;
        table.add(vec![
            point.model.to_owned(),
            count(point.states as f64),
            figure(point.search_seconds),
            figure(point.find_seconds),
            figure(point.check_seconds),
            figure(point.check_seconds / point.search_seconds),
            figure(point.certificate_bytes as f64 / point.states.max(1) as f64),
        ]);
    }

    println!("{table}");
    Ok(())
}
