//! The texts of `testdata/language/slips.toml`: one mistake, one error, and the right advice.

use crate::support::{load_with_warnings, show};
use base::Severity;
use serde::Deserialize;
use source::Options;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    text: String,
    error: Option<String>,
    warning: Option<String>,
    #[serde(default)]
    accepted: bool,
    /// What is pointed at.
    #[serde(default)]
    at: String,
    /// A part of the advice; empty if there is none.
    #[serde(default)]
    help: String,
}

impl Case {
    /// What is wrong with what is said about the text.
    fn complaint(&self) -> Option<String> {
        let loaded = load_with_warnings(&self.text, &Options::default());
        let shown = show(&loaded);
        let (severity, code) = match (&self.error, &self.warning) {
            (Some(code), None) => (Severity::Error, code),
            (None, Some(code)) => (Severity::Warning, code),
            _ => {
                assert!(self.accepted, "{}: nothing is expected", self.name);
                return (!loaded.diagnostics.is_empty()).then_some(shown);
            }
        };

        let [only] = loaded.diagnostics.as_slice() else {
            return Some(shown);
        };
        let span = only.labels[0].span;
        let at = &self.text[span.start as usize..span.end as usize];
        let advice = only.help.join("\n");
        let is_right = only.severity == severity
            && only.code == code
            && at == self.at
            && advice.is_empty() == self.help.is_empty()
            && advice.contains(&self.help);
        (!is_right).then(|| format!("at `{at}`: {shown}"))
    }
}

#[test]
fn one_mistake_gives_one_error_with_advice() {
    let text = include_str!("../../../../testdata/language/slips.toml");
    let suite: Suite = toml::from_str(text).expect("the suite is well-formed");
    let complaints: Vec<String> = suite
        .case
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.name, case.complaint()?)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
