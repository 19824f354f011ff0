//! JSON: one object for everything, or one line for each property.

use serde::Serialize;

use crate::{Finding, PropertyResult, Report, TOOL, VERSION};

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    file: &'a str,
    results: &'a [PropertyResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    diagnostics: &'a [Finding],
}

#[derive(Serialize)]
struct Documents<'a> {
    tool: &'static str,
    version: &'static str,
    files: Vec<FileResults<'a>>,
}

#[derive(Serialize)]
struct FileResults<'a> {
    file: &'a str,
    results: &'a [PropertyResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    diagnostics: &'a [Finding],
}

impl<'a> From<&'a Report> for FileResults<'a> {
    fn from(report: &'a Report) -> Self {
        Self {
            file: &report.file,
            results: &report.results,
            diagnostics: &report.diagnostics,
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    result: &'a PropertyResult,
}

/// The report as one JSON object.
#[must_use]
pub fn json(report: &Report) -> String {
    let document = Document {
        tool: TOOL,
        version: VERSION,
        file: &report.file,
        results: &report.results,
        diagnostics: &report.diagnostics,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("all keys are strings");
    text.push('\n');
    text
}

/// The reports as one JSON object: that of [`json`] for a single one, else a list of such objects.
#[must_use]
pub fn json_of_several(reports: &[Report]) -> String {
    let [only] = reports else {
        let document = Documents {
            tool: TOOL,
            version: VERSION,
            files: reports.iter().map(FileResults::from).collect(),
        };
        let text = serde_json::to_string_pretty(&document).expect("all keys are strings");
        return text + "\n";
    };
    json(only)
}

/// The report as one JSON object for each property, each on a line of its own; for a file that is
/// wrong, one object with its diagnostics.
#[must_use]
pub fn json_lines(report: &Report) -> String {
    let line = |result: &PropertyResult| {
        let file = report.file.as_str();
        let line = serde_json::to_string(&Line { file, result }).expect("all keys are strings");
        line + "\n"
    };
    let mut lines: String = report.results.iter().map(line).collect();
    if !report.diagnostics.is_empty() {
        let document = serde_json::json!({
            "tool": TOOL,
            "version": VERSION,
            "file": report.file,
            "diagnostics": report.diagnostics,
        });
        lines += &format!("{document}\n");
    }
    lines
}
