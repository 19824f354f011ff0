//! The languages that models can be written in.

use std::path::Path;

use source::FrontEnd;

use crate::error::Error;

/// All languages. A new one is added here.
const FRONT_ENDS: [&dyn FrontEnd; 3] = [&lang::Native, &csp::Csp, &promela::Promela];

/// Is the file a model, by its extension?
#[must_use]
pub fn is_model(path: &Path) -> bool {
    front_end(path).is_ok()
}

/// The front end for a file, by its extension. What is called `-` is native.
pub(crate) fn front_end(path: &Path) -> Result<&'static dyn FrontEnd, Error> {
    if path == Path::new("-") {
        return Ok(&lang::Native);
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let reads = |front_end: &&dyn FrontEnd| {
        extension.is_some_and(|extension| front_end.extensions().contains(&extension))
    };
    let found = FRONT_ENDS.into_iter().find(reads);
    found.ok_or_else(|| Error::Call(unknown_language(path, extension)))
}

fn unknown_language(path: &Path, extension: Option<&str>) -> String {
    let known = FRONT_ENDS.iter().flat_map(|front_end| {
        let describe = |extension| format!("`.{extension}` ({})", front_end.name());
        front_end.extensions().iter().map(describe)
    });
    let known = known.collect::<Vec<_>>().join(", ");
    let what = match extension {
        Some(extension) => format!("`.{extension}` files are not supported"),
        None => "the file has no extension that says its language".to_owned(),
    };
    format!("`{}`: {what}; supported: {known}", path.display())
}
