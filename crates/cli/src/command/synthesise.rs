//! `fair synthesise`: coefficients of a threshold automaton that make its properties true.

use std::fmt::Write as _;
use std::time::Instant;

use fairground::report::Escape;
use fairground::{Coefficients, Error, NoProgress, Options, Plan};
use serde_json::json;

use crate::failure::{Failure, Status};
use crate::options::{AdviceFormat, SynthesiseOptions};
use crate::{inputs, limits, loading, output};

/// Looks for coefficients and prints them. That there are none is a violation.
///
/// # Errors
/// The file cannot be read or is wrong.
pub fn run(options: &SynthesiseOptions) -> Result<Status, Failure> {
    let plan = Plan {
        budget: limits::budget(),
        predicate: options.data.for_plan(),
        no_cross_check: options.no_cross_check,
        ..Plan::default()
    };
    let settings = Options {
        defines: options.defines.clone(),
        ..Options::default()
    };
    let path = &options.file;
    let files = inputs::files_of(path);
    let start = Instant::now();
    let found = fairground::synthesise(
        &inputs::Noted(&files),
        path,
        &settings,
        &plan,
        options.all,
        &mut NoProgress,
    );
    let found = found.map_err(|error| match error {
        Error::Text(text) => Failure::Text(Box::new(text), true),
        other => other.into(),
    })?;

    loading::show(
        &found.diagnostics,
        std::slice::from_ref(&found.source),
        true,
    );
    let text = match options.output_format {
        AdviceFormat::Text => as_text(&found),
        AdviceFormat::Json => as_json(&found, start.elapsed().as_secs_f64()),
    };
    output::print_document(&text, Escape::Replacement)?;
    Ok(status(&found))
}

fn status(found: &Coefficients) -> Status {
    let synthesis = &found.found;
    match (synthesis.solutions.is_empty(), synthesis.is_complete) {
        (false, _) => Status::Success,
        (true, true) => Status::Violated,
        (true, false) => Status::Undecided,
    }
}

fn as_text(coefficients: &Coefficients) -> String {
    let found = &coefficients.found;
    let mut text = String::new();

    for solution in &found.solutions {
        let _ = writeln!(
            text,
            "all properties hold for {}",
            named(coefficients, solution)
        );
    }
    for (values, why) in &found.undecided {
        let _ = writeln!(
            text,
            "undecided for {} ({why})",
            named(coefficients, values)
        );
    }

    let conclusion = match (
        &found.stopped,
        found.solutions.is_empty(),
        found.is_complete,
    ) {
        (Some(why), ..) => format!("stopped: {why}"),
        (None, true, true) => "there are no values for which all properties hold".to_owned(),
        (None, false, true) => "there are no others".to_owned(),
        (None, ..) => "there may be others".to_owned(),
    };

    let _ = writeln!(text, "{conclusion} ({} values were tried)", found.n_tried);
    text
}

fn named(coefficients: &Coefficients, values: &[i64]) -> String {
    let pairs = coefficients.names.iter().zip(values);
    let shown: Vec<String> = pairs
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    shown.join(", ")
}

fn as_json(coefficients: &Coefficients, seconds: f64) -> String {
    let found = &coefficients.found;

    let by_name = |values: &Vec<i64>| -> serde_json::Value {
        let pairs = coefficients.names.iter().zip(values);
        pairs
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };

    let undecided = found.undecided.iter();
    let undecided: Vec<_> = undecided
        .map(|(values, why)| json!({ "values": by_name(values), "why": why }))
        .collect();

    let document = json!({
        "coefficients": coefficients.names,
        "solutions": found.solutions.iter().map(by_name).collect::<Vec<_>>(),
        "complete": found.is_complete,
        "undecided": undecided,
        "tried": found.n_tried,
        "stopped": found.stopped,
        "seconds": seconds,
    });
    format!("{document:#}\n")
}
