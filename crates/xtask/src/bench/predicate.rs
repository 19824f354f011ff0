//! The cost of predicate abstraction against the number of predicates.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::Options;
use super::table::{Table, count, figure};
use crate::architecture;

/// The systems: name, file, constants, property.
const SYSTEMS: [(&str, &str, &[&str], &str); 6] = [
    (
        "bakery 2",
        "examples/predicate/bakery_n.fair",
        &["N=2"],
        "exclusion",
    ),
    (
        "bakery 3",
        "examples/predicate/bakery_n.fair",
        &["N=3"],
        "exclusion",
    ),
    (
        "bakery 4",
        "examples/predicate/bakery_n.fair",
        &["N=4"],
        "exclusion",
    ),
    (
        "bakery 5",
        "examples/predicate/bakery_n.fair",
        &["N=5"],
        "exclusion",
    ),
    ("brp", "examples/predicate/brp.fair", &[], "correct"),
    ("brp live", "examples/predicate/brp.fair", &[], "answered"),
];

/// What one check came to.
#[derive(Debug, Serialize)]
struct Point {
    model: String,
    solver: String,
    verdict: String,
    n_predicates: u64,
    states: u64,
    n_questions: u64,
    n_remembered: u64,
    seconds: f64,
}

/// Measures solver calls and time, prints a table and keeps the record.
///
/// # Errors
/// Something could not be run.
pub fn predicate(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("predicate")?;
    record.add(&json!({ "benchmark": "predicate" }))?;
    let heads = [
        "model",
        "solver",
        "verdict",
        "predicates",
        "states",
        "asked",
        "remembered",
        "s",
    ];
    let mut table = Table::new(&heads);
    for (name, file, defines, property) in SYSTEMS {
        if !options.wants(name) || (options.quick && name.ends_with('5')) {
            continue;
        }
        for solver in ["embedded", "z3"] {
            let mut arguments = vec!["check", file, "--route", "predicate", "--solver", solver];
            arguments.extend(["--property", property, "--output-format", "json"]);
            arguments.extend(["--timeout", "10m"]);
            for define in defines {
                arguments.extend(["-D", define]);
            }
            let point = measure(fair.program(), name, solver, &arguments)?;
            record.add(&point)?;
            table.add(vec![
                point.model.clone(),
                point.solver.clone(),
                point.verdict.clone(),
                count(point.n_predicates as f64),
                count(point.states as f64),
                count(point.n_questions as f64),
                count(point.n_remembered as f64),
                figure(point.seconds),
            ]);
        }
    }
    println!("{table}");
    Ok(())
}

fn measure(
    program: &std::path::Path,
    model: &str,
    solver: &str,
    arguments: &[&str],
) -> Result<Point> {
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(architecture::root())
        .output()
        .context("`fair` cannot be started")?;
    let seconds = start.elapsed().as_secs_f64();
    let document: Value = serde_json::from_slice(&output.stdout).context("no JSON was printed")?;
    let result = &document["results"][0];
    let remarks: Vec<&str> = result["remarks"]
        .as_array()
        .map(|remarks| remarks.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let number = |word: &str| {
        let found = remarks
            .iter()
            .find_map(|remark| number_before(remark, word));
        found.unwrap_or(0)
    };
    Ok(Point {
        model: model.to_owned(),
        solver: solver.to_owned(),
        verdict: result["verdict"].as_str().unwrap_or("none").to_owned(),
        n_predicates: number("predicates"),
        states: result["states"].as_u64().unwrap_or(0),
        n_questions: number("questions"),
        n_remembered: number("answered"),
        seconds,
    })
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let position = words.iter().position(|w| *w == word)?;
    words.get(position.checked_sub(1)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_before_words() {
        let remark =
            "solver: embedded, 99 questions, 0 without an answer, 156 answered from memory";
        assert_eq!(number_before(remark, "questions"), Some(99));
        assert_eq!(number_before(remark, "answered"), Some(156));
        assert_eq!(number_before(remark, "predicates"), None);
    }
}
