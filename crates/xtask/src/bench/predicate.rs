//! The cost of predicate abstraction against the number of predicates.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::Options;
use super::table::{Table, count, figure};
use crate::architecture;

/// A system to be checked.
struct System {
    name: &'static str,
    file: &'static str,
    defines: &'static [&'static str],
    property: &'static str,
    /// Are the predicates of its author to be used?
    with_hints: bool,
}

const fn bakery(name: &'static str, defines: &'static [&'static str]) -> System {
    System {
        name,
        file: "examples/predicate/bakery_n.fair",
        defines,
        property: "exclusion",
        with_hints: true,
    }
}

const fn brp(name: &'static str, property: &'static str, with_hints: bool) -> System {
    System {
        name,
        file: "examples/predicate/brp.fair",
        defines: &[],
        property,
        with_hints,
    }
}

const SYSTEMS: [System; 7] = [
    bakery("bakery 2", &["N=2"]),
    bakery("bakery 3", &["N=3"]),
    bakery("bakery 4", &["N=4"]),
    bakery("bakery 5", &["N=5"]),
    brp("brp", "correct", true),
    brp("brp auto", "correct", false),
    brp("brp live", "answered", false),
];

/// The text without what its author says about the abstraction.
fn without_hints(text: &str) -> String {
    let Some(start) = text.find("\nabstract only") else {
        return text.to_owned();
    };
    let block = &text[start..];
    let end = block.find("\n}").map_or(block.len(), |end| end + 2);
    format!("{}{}", &text[..start], &block[end..])
}

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
    /// For each refinement: how many predicates there were, and how many questions were new.
    stages: Vec<(u64, u64)>,
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
    for system in SYSTEMS {
        let name = system.name;
        if !options.wants(name) || (options.quick && name.ends_with('5')) {
            continue;
        }
        let file = system.text_to_check()?;
        for solver in ["embedded", "z3"] {
            let mut arguments = vec!["check", &file, "--route", "predicate", "--solver", solver];
            arguments.extend(["--property", system.property, "--output-format", "json"]);
            arguments.extend(["--timeout", "10m"]);
            for define in system.defines {
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

impl System {
    /// The file to be checked: that of the system, or a copy without hints.
    fn text_to_check(&self) -> Result<String> {
        if self.with_hints {
            return Ok(self.file.to_owned());
        }
        let root = architecture::root();
        let text = std::fs::read_to_string(root.join(self.file))?;
        let copy = format!("target/bench-{}.fair", self.name.replace(' ', "-"));
        std::fs::write(root.join(&copy), without_hints(&text))?;
        Ok(copy)
    }
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
        stages: remarks.iter().find_map(|r| stages(r)).unwrap_or_default(),
        seconds,
    })
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let position = words.iter().position(|w| *w == word)?;
    words.get(position.checked_sub(1)?)?.parse().ok()
}

/// The stages that a remark lists, such as `2: 13, 4: 9`.
fn stages(remark: &str) -> Option<Vec<(u64, u64)>> {
    let list = remark.strip_prefix("new questions by number of predicates: ")?;
    let stage = |text: &str| {
        let (predicates, questions) = text.split_once(": ")?;
        Some((predicates.parse().ok()?, questions.parse().ok()?))
    };
    list.split(", ").map(stage).collect()
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

    #[test]
    fn hints_are_left_out() {
        let text = "var x : int\n\nabstract only for p {\n    a: x > 0\n}\nproperty p: true\n";
        assert_eq!(without_hints(text), "var x : int\n\nproperty p: true\n");
    }

    #[test]
    fn stages_are_read() {
        let remark = "new questions by number of predicates: 2: 13, 4: 9";
        assert_eq!(stages(remark), Some(vec![(2, 13), (4, 9)]));
        assert_eq!(stages("solver: z3"), None);
    }
}
