//! The report for people.

use std::fmt::{self, Write as _};

use evidence::{Confidence, RestsOn, SolverUse};

use crate::style::{Role, Style};
use crate::trace_text::{Detail, n_of, write_indented};
use crate::{Outcome, PropertyResult, Report, StoredTrace, Success, Warning};

/// The report as text: for each property the verdict, its warnings and its trace; then the warnings
/// about the model.
#[must_use]
pub fn text(report: &Report, style: Style) -> String {
    let mut text = String::new();
    write_text(&mut text, report, style, Detail::default()).expect("writing to memory succeeds");
    text
}

/// Writes the report as [`text`] does, line by line, with as much of the traces as is asked for.
///
/// # Errors
/// It cannot be written to.
pub fn write_text(
    out: &mut dyn fmt::Write,
    report: &Report,
    style: Style,
    detail: Detail,
) -> fmt::Result {
    for result in &report.results {
        write_result(out, result, style, detail)?;
    }
    for warning in &report.warnings {
        out.write_str(&warning_line(warning, style, ""))?;
    }
    Ok(())
}

/// One property: the verdict, its warnings and its trace.
pub(crate) fn property_text(result: &PropertyResult, style: Style) -> String {
    let mut text = String::new();
    write_result(&mut text, result, style, Detail::default()).expect("writing to memory succeeds");
    text
}

fn write_result(
    out: &mut dyn fmt::Write,
    result: &PropertyResult,
    style: Style,
    detail: Detail,
) -> fmt::Result {
    out.write_str(&verdict_line(result, style))?;
    for warning in &result.warnings {
        out.write_str(&warning_line(warning, style, "  "))?;
    }
    if let Some(basis) = basis(&result.rests_on) {
        writeln!(out, "  rests on: {basis}")?;
    }
    for remark in &result.remarks {
        writeln!(out, "  {remark}")?;
    }
    if let Some(trace) = &result.trace {
        write_indented(out, trace, style, "  ", detail)?;
    }

    for branch in &result.branches {
        let shows = &branch.shows;
        writeln!(out, "  on the way, this fair run satisfies {shows}")?;
        write_indented(out, &branch.trace, style, "    ", detail)?;
    }
    Ok(())
}

/// What a verdict rests on, unless that is a replayed run, a plain search, or what remarks say anyway.
fn basis(rests_on: &RestsOn) -> Option<String> {
    let mut parts = Vec::new();
    match rests_on.confidence? {
        Confidence::Replayed | Confidence::Searched | Confidence::Ws1s => return None,
        Confidence::Certified => parts.push("a certificate, checked without a search".to_owned()),
        Confidence::SearchedWithReduction => {}
        Confidence::ConfirmedSolver | Confidence::UnconfirmedSolver => {
            let needed = rests_on.solvers.iter().filter(|solver| solver.answers > 0);
            parts.extend(needed.map(solver_text));
            if rests_on.solvers.is_empty() {
                parts.push("answers of a solver that were not confirmed".to_owned());
            }
        }
    }
    let reductions = rests_on.reductions.iter().map(|name| reduction_text(name));
    parts.splice(0..0, reductions);
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn reduction_text(name: &str) -> String {
    match name {
        "dead-variables" => "reduction by dead variables".to_owned(),
        name => format!("{name} reduction"),
    }
}

fn solver_text(solver: &SolverUse) -> String {
    let answers = n_of(solver.answers, "answer");
    let confirmed = match solver.confirmed {
        0 => "none confirmed".to_owned(),
        all if all == solver.answers => "all confirmed".to_owned(),
        some => format!("{some} confirmed"),
    };
    let by = match &solver.confirmed_by {
        Some(by) => format!(" by {by}"),
        None => String::new(),
    };
    format!("{} solver, {answers}, {confirmed}{by}", solver.name)
}

fn verdict_line(result: &PropertyResult, style: Style) -> String {
    let role = match result.success() {
        Success::Passed => Role::Good,
        Success::Failed => Role::Bad,
        Success::Open => Role::Doubtful,
    };

    let expectation = result.expectation_text();
    let verdict = match &result.reason {
        Some(reason) => format!("{}: {reason}{expectation}", result.verdict.name()),
        None => format!("{}{expectation}", result.verdict.name()),
    };

    let mut facts = vec![format!("fairness {}", result.fairness)];
    let visited = if result.is_partial { " visited" } else { "" };
    let states = result.states.map(|states| n_of(states, "state"));
    facts.extend(states.map(|states| states + visited));
    facts.push(format!("{:.2} s", result.seconds));

    format!(
        "{}  {}  ({})\n",
        style.paint(Role::Heading, &result.property),
        style.paint(role, &verdict),
        facts.join(", ")
    )
}

fn warning_line(warning: &Warning, style: Style, indent: &str) -> String {
    let mut line = format!("{indent}{} ", style.paint(Role::Doubtful, "warning:"));
    if let Some(position) = &warning.position {
        let _ = write!(line, "{position}: ");
    }
    let _ = writeln!(line, "{} [{}]", warning.message, warning.code);
    line
}

/// A verdict as one sentence, for formats that have room for no more.
pub(crate) fn verdict_sentence(result: &PropertyResult) -> String {
    let PropertyResult {
        property,
        formula,
        fairness,
        ..
    } = result;

    let subject = format!("{property} ({formula})");

    let verdict = match result.verdict {
        Outcome::Holds => format!("{subject} holds under fairness {fairness}"),
        Outcome::Violated => {
            let how = result.trace.as_ref().map(shape).unwrap_or_default();
            format!("{subject} is violated under fairness {fairness}{how}")
        }
        Outcome::Unknown => {
            let reason = result.reason.as_deref().unwrap_or("no reason given");
            format!("{subject} is undecided under fairness {fairness}: {reason}")
        }
    };

    verdict + &result.expectation_text()
}

fn shape(trace: &StoredTrace) -> String {
    format!(" by a run with {}", crate::trace_text::shape(trace))
}
