//! The languages that models can be written in.

use std::path::Path;

use source::{FrontEnd, language_of};

use crate::error::Error;

/// All languages. A new one is added here.
const FRONT_ENDS: [&dyn FrontEnd; 4] = [
    &lang::Native,
    &csp::Csp,
    &promela::Promela,
    &ta::ThresholdAutomata,
];

/// Is the file a model, by its extension?
#[must_use]
pub fn is_model(path: &Path) -> bool {
    language_of(&FRONT_ENDS, path, "", None).is_some()
}

/// The front end for a file: what the caller says, what its extension says, what its text looks
/// like. What is called `-` is native, unless the caller says otherwise.
pub(crate) fn front_end(
    path: &Path,
    text: &str,
    asked_for: Option<&str>,
) -> Result<&'static dyn FrontEnd, Error> {
    if path == Path::new("-") && asked_for.is_none() {
        return Ok(&lang::Native);
    }
    let found = language_of(&FRONT_ENDS, path, text, asked_for);
    found.ok_or_else(|| {
        Error::Call(match asked_for {
            Some(name) => format!("there is no language `{name}`; there are: {}", names()),
            None => unknown_language(path),
        })
    })
}

fn names() -> String {
    let name = |front_end: &&dyn FrontEnd| {
        let extension = front_end.extensions()[0];
        format!("`{extension}` ({})", front_end.name())
    };
    FRONT_ENDS.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn unknown_language(path: &Path) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let known = FRONT_ENDS.iter().flat_map(|front_end| {
        let describe = |extension| format!("`.{extension}` ({})", front_end.name());
        front_end.extensions().iter().map(describe)
    });
    let known = known.collect::<Vec<_>>().join(", ");
    let what = match extension {
        Some(extension) => format!("`.{extension}` files are not supported"),
        None => "the file has no extension that says its language".to_owned(),
    };
    let advice = "or say the language with `--language`";
    format!("`{}`: {what}; supported: {known}; {advice}", path.display())
}
