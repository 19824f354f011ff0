//! JUnit XML: a suite for the file, a case for each property.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::text::{property_text, verdict_sentence};
use crate::{Outcome, PropertyResult, Report, Style, TOOL};

/// The report as JUnit XML. A violated property is a failure, an undecided one an error.
#[must_use]
pub fn junit(report: &Report) -> String {
    let mut suite = TestSuite::new(report.file.clone());
    suite.add_test_cases(report.results.iter().map(|result| case(report, result)));
    let mut document = quick_junit::Report::new(TOOL);
    document.add_test_suite(suite);
    document.to_string().expect("writing to memory succeeds")
}

fn case(report: &Report, result: &PropertyResult) -> TestCase {
    let status = match result.verdict {
        Outcome::Holds => TestCaseStatus::success(),
        Outcome::Violated => failed(NonSuccessKind::Failure, "violated", result),
        Outcome::Unknown => {
            let reason = result.reason.as_deref().unwrap_or("unknown");
            failed(NonSuccessKind::Error, reason, result)
        }
    };
    let mut case = TestCase::new(result.property.clone(), status);
    case.set_classname(report.file.clone());
    case.set_time(Duration::try_from_secs_f64(result.seconds).unwrap_or_default());
    case
}

fn failed(kind: NonSuccessKind, ty: &str, result: &PropertyResult) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty);
    status.set_message(verdict_sentence(result));
    status.set_description(property_text(result, Style::Plain));
    status
}
