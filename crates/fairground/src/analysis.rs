//! What editors need to know about texts.

use std::path::Path;

use base::Source;
use source::{Analysis, Files, Options};

use crate::error::Error;
use crate::languages;

/// What is known about the text of a file, also if something is wrong with it. Its language is that
/// of its extension; files that it includes come from `files`.
///
/// # Errors
/// The language is not known.
pub fn analyse(
    files: &dyn Files,
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<Analysis, Error> {
    let front_end = languages::front_end(path, text, options.language.as_deref())?;
    let name = path.display().to_string();
    let text = text.to_owned();
    Ok(front_end.analyse(Source { name, text }, files, options))
}

/// The words that have a meaning of their own in the language of a file; none if it is not known.
#[must_use]
pub fn keywords(path: &Path) -> &'static [&'static str] {
    languages::front_end(path, "", None).map_or(&[], |front_end| front_end.keywords())
}

/// The text of a file in the canonical layout of its language; nothing if its syntax is wrong.
///
/// # Errors
/// There is no canonical layout for the language, or the language is not known.
pub fn format(path: &Path, text: &str) -> Result<Option<String>, Error> {
    let front_end = languages::front_end(path, text, None)?;
    if front_end.extensions().contains(&"fair") {
        return Ok(lang::format(text));
    }
    let message = format!(
        "`{}`: only texts of the native language (`.fair`) have a canonical layout, not {}",
        path.display(),
        front_end.name()
    );
    Err(Error::Call(message))
}
