//! From a path to a project.

use std::path::Path;

use anyhow::bail;
use fairground::{Diagnostic, Disk, Error, Files, Options, Project, Severity, Source};

use crate::diagnostics;
use crate::failure::Failure;

/// Reads a model, and shows what is to be said about its text.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn open(path: &Path, options: &Options) -> Result<Project, Failure> {
    let project = open_in(path, &Disk, options, true)?;
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

/// Reads a model, and shows what is to be said about its text if it is wrong, warnings only if
/// wanted.
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
    Project::open(files, path, options).map_err(|error| match error {
        Error::Text(text) => {
            show(&text.diagnostics, &text.sources, warnings);
            Failure::Diagnosed
        }
        other => other.into(),
    })
}

/// Shows what is to be said about texts. Warnings only if wanted.
pub fn show(diagnostics: &[Diagnostic], sources: &[Source], warnings: bool) {
    for diagnostic in diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, sources);
        }
    }
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
