//! Verdicts of properties under several notions of fairness, as a table.

use std::fmt::Write as _;

use base::Fairness;

use crate::style::{Role, Style};
use crate::trace_text::n_of;
use crate::{Outcome, PropertyResult, Report};

/// The report as a table: one row for each property, one column for each notion, in the order of the
/// results. The weakest notions under which a property holds are marked.
#[must_use]
pub fn notions_table(report: &Report, style: Style) -> String {
    let mut notions: Vec<&str> = Vec::new();
    let mut properties: Vec<&str> = Vec::new();
    for result in &report.results {
        if !notions.contains(&result.fairness.as_str()) {
            notions.push(&result.fairness);
        }
        if !properties.contains(&result.property.as_str()) {
            properties.push(&result.property);
        }
    }
    let name_width = properties
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let width = |notion: &str| notion.len().max("violated".len());

    let mut out = " ".repeat(name_width);
    for notion in &notions {
        let _ = write!(out, "  {notion:0$}", width(notion));
    }
    let mut out = format!("{}\n", out.trim_end());

    let mut is_marked = false;
    for property in &properties {
        let row: Vec<&PropertyResult> = report
            .results
            .iter()
            .filter(|r| r.property == *property)
            .collect();
        let padding = " ".repeat(name_width - property.chars().count());
        let mut line = format!("{}{padding}", style.paint(Role::Heading, property));
        for notion in &notions {
            let result = row.iter().find(|result| result.fairness == **notion);
            let is_weakest = result.is_some_and(|result| is_weakest(result, &row));
            is_marked |= is_weakest;
            let (text, role) = cell(result.copied(), is_weakest);
            let padding = " ".repeat(width(notion).saturating_sub(text.len()));
            let _ = write!(line, "  {}{padding}", style.paint(role, &text));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }

    if is_marked {
        out.push_str("* the weakest of these under which the property holds\n");
    }
    out + &remarks(report, &properties)
}

fn cell(result: Option<&PropertyResult>, is_weakest: bool) -> (String, Role) {
    let Some(result) = result else {
        return ("-".to_owned(), Role::Faint);
    };
    let role = match result.verdict {
        Outcome::Holds => Role::Good,
        Outcome::Violated => Role::Bad,
        Outcome::Unknown => Role::Doubtful,
    };
    let mark = if is_weakest { " *" } else { "" };
    (format!("{}{mark}", result.verdict.name()), role)
}

/// Does the property hold under this notion, and under no weaker one?
fn is_weakest(result: &PropertyResult, row: &[&PropertyResult]) -> bool {
    let holds = |other: &PropertyResult| other.verdict == Outcome::Holds;
    let Some(own) = Fairness::parse(&result.fairness) else {
        return false;
    };
    let is_weaker = |other: &&&PropertyResult| {
        let parsed = Fairness::parse(&other.fairness);
        parsed.is_some_and(|other| other != own && own.implies(other))
    };
    holds(result) && !row.iter().filter(is_weaker).any(|other| holds(other))
}

/// Why something is unknown, what is suspicious, and what it cost.
fn remarks(report: &Report, properties: &[&str]) -> String {
    let mut out = String::new();

    let mut said: Vec<String> = Vec::new();

    // Verdicts under several notions share their warnings.
    for result in &report.results {
        let reason = result
            .reason
            .iter()
            .map(|reason| format!("unknown: {reason}"));
        let warnings = result
            .warnings
            .iter()
            .map(|w| format!("{} [{}]", w.message, w.code));
        for text in reason.chain(warnings) {
            let line = format!("{} under {}: {text}", result.property, result.fairness);
            if !said.contains(&line) {
                let _ = writeln!(out, "{line}");
                said.push(line);
            }
        }
    }

    let first = report.results.first();
    let states = first.and_then(|result| result.states);
    let seconds: f64 = report.results.iter().map(|result| result.seconds).sum();
    if let Some(states) = states {
        let n_verdicts = n_of(report.results.len(), "verdict");
        let n_properties = n_of(properties.len(), "property").replace("propertys", "properties");
        let _ = writeln!(
            out,
            "{n_verdicts} about {n_properties}, {}, {seconds:.2} s",
            n_of(states, "state")
        );
    }

    let violated = report
        .results
        .iter()
        .find(|r| r.verdict == Outcome::Violated);
    if let Some(result) = violated {
        let _ = writeln!(
            out,
            "for a counterexample: fair check {} --property {} --fairness {}",
            report.file, result.property, result.fairness
        );
    }

    out
}
