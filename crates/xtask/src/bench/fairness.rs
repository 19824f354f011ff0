//! All notions of fairness from one exploration, and the weakest conditions, beside single checks.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Options;
use super::table::{Table, figure};

/// The notions that are checked one by one.
const NOTIONS: [&str; 7] = [
    "none",
    "just",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
];

/// A model and its question.
struct Case {
    name: &'static str,
    file: &'static str,
    property: &'static str,
    n: u64,
    /// Assumptions that are offered besides the conditions, so that there are ten things to assume.
    candidates: &'static [&'static str],
    is_quick: bool,
}

/// With five actions and the process, ten things can be assumed.
const PETERSON: [&str; 4] = [
    "[]<> P[1] @ critical",
    "[]<> P[2] @ critical",
    "[]<> position[1] == 0",
    "[]<> position[2] == 0",
];

const CASES: [Case; 4] = [
    Case {
        name: "peterson 3",
        file: "examples/peterson.fair",
        property: "access",
        n: 3,
        candidates: &PETERSON,
        is_quick: true,
    },
    Case {
        name: "le_r 4",
        file: "examples/population/le_r.fair",
        property: "one_leader",
        n: 4,
        candidates: &[],
        is_quick: true,
    },
    Case {
        name: "peterson 5",
        file: "examples/peterson.fair",
        property: "access",
        n: 5,
        candidates: &PETERSON,
        is_quick: false,
    },
    Case {
        name: "le_r 5",
        file: "examples/population/le_r.fair",
        property: "one_leader",
        n: 5,
        candidates: &[],
        is_quick: false,
    },
];

/// Measures single notions, all of them together, and inference; prints a table and keeps the record.
///
/// # Errors
/// Something could not be run, or verdicts do not agree.
pub fn fairness(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("fairness")?;
    record.add(&json!({ "benchmark": "fairness", "runs": options.runs }))?;
    let mut table = Table::new(&["model", "question", "verdicts", "s", "of the dearest check"]);

    let wanted = |case: &&Case| options.wants(case.name) && (case.is_quick || !options.quick);
    for case in CASES.iter().filter(wanted) {
        // What a single notion costs at most is what all of them and inference are compared with.
        let mut dearest: f64 = 0.0;
        let mut verdicts = Vec::new();
        for notion in NOTIONS {
            let flags = ["--property", case.property, "--fairness", notion].map(str::to_owned);
            let series = fair.series(case.file, &[("N", case.n)], &flags);
            let found = series.run_all(options.runs)?.map_err(anyhow::Error::msg)?;
            dearest = dearest.max(found.seconds);
            verdicts.push(found.report.verdict.clone());
            record.add(&json!({ "model": case.name, "notion": notion, "fair": found }))?;
            let verdict = found.report.verdict.clone();
            table.add(row(case, notion, &verdict, found.seconds, None));
        }

        let flags = ["--property", case.property, "--fairness", "all"].map(str::to_owned);
        let call = arguments("check", case, &flags);
        let (seconds, output) = fair.measure(&call, options.runs)?;
        let together = strings(&output["results"], "verdict")?;
        ensure!(
            together == verdicts,
            "{}: {together:?} is not {verdicts:?}",
            case.name
        );

        record.add(&json!({ "model": case.name, "call": call, "seconds": seconds }))?;
        table.add(row(
            case,
            "all",
            &together.join(" "),
            seconds,
            Some(dearest),
        ));

        let mut offered: Vec<&[&str]> = vec![&[]];
        offered.extend((!case.candidates.is_empty()).then_some(case.candidates));
        for candidates in offered {
            let mut flags = ["--property", case.property].map(str::to_owned).to_vec();
            for candidate in candidates {
                flags.extend(["--candidate", candidate].map(str::to_owned));
            }
            let call = arguments("fairness", case, &flags);
            let (seconds, output) = fair.measure(&call, options.runs)?;
            let n_candidates = output["candidates"].as_array().map_or(0, Vec::len);
            let n_sets = output["sets"].as_array().map_or(0, Vec::len);
            record.add(
                &json!({ "model": case.name, "call": call, "seconds": seconds,
                "candidates": n_candidates, "sets": n_sets, "judged": output["judged"] }),
            )?;
            let what = format!("{n_sets} sets of {n_candidates} candidates");
            table.add(row(case, "inference", &what, seconds, Some(dearest)));
        }
    }

    println!("{table}");
    Ok(())
}

fn arguments(command: &str, case: &Case, flags: &[String]) -> Vec<String> {
    let mut call = vec![command.to_owned(), case.file.to_owned()];
    call.extend(["-D".to_owned(), format!("N={}", case.n)]);
    call.extend_from_slice(flags);
    call.extend(["--output-format", "json"].map(str::to_owned));
    call
}

fn row(case: &Case, what: &str, verdict: &str, seconds: f64, dearest: Option<f64>) -> Vec<String> {
    let ratio = dearest.map_or(String::new(), |dearest| figure(seconds / dearest));
    let words = [case.name, what, verdict].map(str::to_owned);
    words.into_iter().chain([figure(seconds), ratio]).collect()
}

fn strings(results: &Value, key: &str) -> Result<Vec<String>> {
    let results = results.as_array().context("there are no results")?;
    let value = |result: &Value| Some(result[key].as_str()?.to_owned());
    let values: Option<Vec<String>> = results.iter().map(value).collect();
    values.context("a result lacks a key")
}
