//! SARIF 2.1.0, for code hosts and editors that show findings at source lines.

use serde_json::{Value as Json, json};

use crate::text::verdict_sentence;
use crate::{Finding, Outcome, Position, PropertyResult, Report, Success, TOOL, VERSION, Warning};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The reports as SARIF. Each property is a result at its source line; so is each warning.
#[must_use]
pub fn sarif(reports: &[Report]) -> String {
    let mut results: Vec<Json> = Vec::new();
    for report in reports {
        for result in &report.results {
            results.push(property_result(report, result));
            results.extend(result.warnings.iter().map(|w| warning_result(report, w)));
        }
        results.extend(report.warnings.iter().map(|w| warning_result(report, w)));
        results.extend(report.diagnostics.iter().map(|f| finding_result(report, f)));
    }

    let mut rules: Vec<&str> = results
        .iter()
        .filter_map(|r| r["ruleId"].as_str())
        .collect();
    rules.sort_unstable();
    rules.dedup();

    let rules: Vec<Json> = rules.into_iter().map(|id| json!({ "id": id })).collect();
    let driver = json!({ "name": TOOL, "version": VERSION, "rules": rules });
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    let mut text = serde_json::to_string_pretty(&document).expect("all keys are strings");
    text.push('\n');
    text
}

fn property_result(report: &Report, result: &PropertyResult) -> Json {
    let rule = match (result.expected, result.verdict) {
        (Some(expected), verdict) if expected == verdict => "verdict-as-expected",
        (Some(_), _) => "verdict-not-as-expected",
        (None, Outcome::Holds) => "property-holds",
        (None, Outcome::Violated) => "property-violated",
        (None, Outcome::Unknown) => "property-undecided",
    };

    let (kind, level) = match result.success() {
        Success::Passed => ("pass", "none"),
        Success::Failed => ("fail", "error"),
        Success::Open => ("open", "none"),
    };

    json!({
        "ruleId": rule,
        "kind": kind,
        "level": level,
        "message": { "text": verdict_sentence(result) },
        "locations": [location(report, result.position.as_ref())],
    })
}

fn warning_result(report: &Report, warning: &Warning) -> Json {
    json!({
        "ruleId": warning.code,
        "kind": "fail",
        "level": "warning",
        "message": { "text": warning.message },
        "locations": [location(report, warning.position.as_ref())],
    })
}

fn finding_result(report: &Report, finding: &Finding) -> Json {
    let file = finding.file.as_ref().unwrap_or(&report.file);

    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let (Some(start), Some(end)) = (finding.start, finding.end) {
        physical["region"] = json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        });
    }

    let help = finding.help.iter().map(|help| format!(" ({help})"));
    let text: String = std::iter::once(finding.message.clone())
        .chain(help)
        .collect();

    json!({
        "ruleId": finding.code,
        "kind": "fail",
        "level": finding.severity,
        "message": { "text": text },
        "locations": [{ "physicalLocation": physical }],
    })
}

fn location(report: &Report, position: Option<&Position>) -> Json {
    let file = position.map_or(&report.file, |position| &position.file);
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(position) = position {
        physical["region"] = json!({ "startLine": position.line, "startColumn": position.column });
    }
    json!({ "physicalLocation": physical })
}

/// A path as a relative reference: what an URI cannot contain is written in hexadecimal.
fn uri(path: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        b'\\' => "/".to_owned(),
        other => format!("%{other:02X}"),
    };
    path.bytes().map(encode).collect()
}
