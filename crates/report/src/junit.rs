//! JUnit XML: a suite for each file, a case for each property.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::text::{property_text, verdict_sentence};
use crate::{Finding, PropertyResult, Report, Style, Success, TOOL};

/// The reports as JUnit XML. A violated property is a failure, an undecided one an error; where a
/// verdict is expected, another verdict is a failure.
#[must_use]
pub fn junit(reports: &[Report]) -> String {
    let mut document = quick_junit::Report::new(TOOL);
    for report in reports {
        let mut suite = TestSuite::new(report.file.clone());
        suite.add_test_cases(report.results.iter().map(|result| case(report, result)));
        suite.add_test_cases(report.diagnostics.iter().map(|found| wrong(report, found)));
        document.add_test_suite(suite);
    }
    document.to_string().expect("writing to memory succeeds")
}

fn case(report: &Report, result: &PropertyResult) -> TestCase {
    let status = match result.success() {
        Success::Passed => TestCaseStatus::success(),
        Success::Failed => failed(NonSuccessKind::Failure, result.verdict.name(), result),
        Success::Open => {
            let reason = result.reason.as_deref().unwrap_or("unknown");
            failed(NonSuccessKind::Error, reason, result)
        }
    };
    let mut case = TestCase::new(result.property.clone(), status);
    case.set_classname(report.file.clone());
    case.set_time(Duration::try_from_secs_f64(result.seconds).unwrap_or_default());
    case
}

/// What is wrong with a file as a case that could not be run.
fn wrong(report: &Report, finding: &Finding) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(finding.code.clone());
    status.set_message(finding.message.clone());
    status.set_description(finding.text());
    let mut case = TestCase::new(finding.code.clone(), status);
    case.set_classname(report.file.clone());
    case
}

fn failed(kind: NonSuccessKind, ty: &str, result: &PropertyResult) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty);
    status.set_message(verdict_sentence(result));
    status.set_description(property_text(result, Style::Plain));
    status
}
