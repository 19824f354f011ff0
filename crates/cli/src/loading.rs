//! From a path to a model.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use base::{Severity, Source};
use logic::NamedProperty;
use model::Model;

use crate::diagnostics;
use crate::failure::Failure;

/// The extensions of the front ends, and what they read.
const FRONT_ENDS: [(&str, &str); 1] = [("fair", "the native language")];

/// A model with its properties and the texts they were read from.
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// The properties: those of the file, then those of the options.
    pub properties: Vec<NamedProperty>,
    /// The texts; the file is the first.
    pub sources: Vec<Source>,
}

/// Reads a model, and shows what is to be said about its text. Warnings only if wanted.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn load(path: &Path, options: &lang::Options, warnings: bool) -> Result<Loaded, Failure> {
    check_extension(path)?;
    let text = read_text(path)?;
    load_text(path, text, options, warnings)
}

/// Reads a model that was in this file, and shows what is to be said about its text.
///
/// # Errors
/// The text is wrong.
pub fn load_text(
    path: &Path,
    text: String,
    options: &lang::Options,
    warnings: bool,
) -> Result<Loaded, Failure> {
    let name = path.display().to_string();
    let loaded = lang::load(Source { name, text }, options);
    for diagnostic in &loaded.diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, &loaded.sources);
        }
    }
    Ok(Loaded {
        model: loaded.model.ok_or(Failure::Diagnosed)?,
        properties: loaded.properties,
        sources: loaded.sources,
    })
}

fn check_extension(path: &Path) -> anyhow::Result<()> {
    refuse_directory(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    if FRONT_ENDS
        .iter()
        .any(|(known, _)| Some(*known) == extension)
    {
        return Ok(());
    }
    let known = FRONT_ENDS.map(|(extension, what)| format!("`.{extension}` ({what})"));
    let what = match extension {
        Some(extension) => format!("`.{extension}` files are not supported"),
        None => "the file has no extension that says its language".to_owned(),
    };
    bail!(
        "`{}`: {what}; supported: {}",
        path.display(),
        known.join(", ")
    )
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or it is no text.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    let cannot_read = || format!("`{}` cannot be read", path.display());
    refuse_directory(path)?;
    let bytes = fs::read(path).with_context(cannot_read)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes()[..valid].iter().filter(|b| **b == b'\n');
            bail!(
                "`{}` is not UTF-8 text: byte {valid}, in line {}",
                path.display(),
                lines.count() + 1
            )
        }
    }
}

fn refuse_directory(path: &Path) -> anyhow::Result<()> {
    match path.is_dir() {
        true => bail!("`{}` is a directory, not a file", path.display()),
        false => Ok(()),
    }
}
