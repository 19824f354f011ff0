//! From a path to a project.

use std::path::Path;

use anyhow::bail;
use fairground::{Diagnostic, Disk, Error, Files, Options, Project, Severity, Source};

use crate::failure::Failure;
use crate::{diagnostics, inputs};

/// Reads a model, and shows what is to be said about its text.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn open(path: &Path, options: &Options) -> Result<Project, Failure> {
    let project = open_in(path, &inputs::files_of(path), options, true)?;
    show(project.diagnostics(), project.sources(), true);
    Ok(project)
}

/// Reads a model whose parameters must have values, and shows what is to be said about its text.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn open_closed(path: &Path, options: Options) -> Result<Project, Failure> {
    let closed = true;
    open(path, &Options { closed, ..options })
}

/// Reads a model. If its text is wrong, warnings about it are shown only if wanted.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn open_in(
    path: &Path,
    files: &dyn Files,
    options: &Options,
    warnings: bool,
) -> Result<Project, Failure> {
    refuse_directory(path)?;
    Project::open(&inputs::Noted(files), path, options).map_err(|error| match error {
        Error::Text(text) => Failure::Text(Box::new(text), warnings),
        other => other.into(),
    })
}

/// Shows what is to be said about texts. Warnings only if wanted.
pub fn show(diagnostics: &[Diagnostic], sources: &[Source], warnings: bool) {
    for diagnostic in shown(diagnostics, warnings) {
        diagnostics::show(diagnostic, sources);
    }
}

/// The errors among diagnostics, and the warnings if they are wanted.
pub fn shown(diagnostics: &[Diagnostic], warnings: bool) -> impl Iterator<Item = &Diagnostic> {
    let is_wanted = move |d: &&Diagnostic| warnings || d.severity == Severity::Error;
    diagnostics.iter().filter(is_wanted)
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or it is not a text.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    Disk.read(path)
        .map_err(|error| anyhow::anyhow!("{error:#}"))
}

fn refuse_directory(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("`{}` is a directory, not a file", path.display());
    }
    Ok(())
}
