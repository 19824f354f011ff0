//! From a path to a model.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use base::{Severity, Source};
use model::Model;
use source::{Content, Files, FrontEnd, Memory, Options, Overlay, Question, System, Unreadable};

use crate::diagnostics;
use crate::failure::Failure;

/// All languages. A new one is added here.
const FRONT_ENDS: [&dyn FrontEnd; 3] = [&lang::Native, &csp::Csp, &promela::Promela];

/// Systems with questions about them, and the texts they were read from.
pub struct Loaded {
    /// The systems. Invariant: there is at least one.
    pub systems: Vec<System>,
    /// The questions: those of the file, then those of the options.
    pub questions: Vec<Question>,
    /// The texts; the file is the first.
    pub sources: Vec<Source>,
}

impl Loaded {
    /// The first system.
    pub fn model(&self) -> &Model {
        &self.systems[0].model
    }

    /// The system that a question is about.
    pub fn model_of(&self, question: &Question) -> &Model {
        &self.systems[question.system].model
    }

    /// The question with this name.
    pub fn question(&self, name: &str) -> Option<&Question> {
        self.questions.iter().find(|q| q.property.name == name)
    }
}

/// The files of this machine.
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        read_text(path).map_err(|error| {
            let mut chain = error.chain();
            let message = chain.next().map(ToString::to_string).unwrap_or_default();
            let cause = chain.next().map(ToString::to_string);
            Unreadable { message, cause }
        })
    }
}

/// Reads a model whose parameters have values, and shows what is to be said about its text.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, Failure> {
    let options = Options {
        closed: true,
        ..options.clone()
    };
    let loaded = load_any(path, &Disk, &options)?;
    show(&loaded, true);
    systems(loaded)
}

/// Reads a model, or a family of models if a parameter is without value.
///
/// # Errors
/// The file cannot be read, or the options do not fit.
pub fn load_any(
    path: &Path,
    files: &dyn Files,
    options: &Options,
) -> Result<source::Loaded, Failure> {
    let front_end = front_end(path)?;
    let text = files.read(path);
    let text = text.map_err(|error| Failure::wrong(format!("{error:#}")))?;
    front_end.accept(options).map_err(Failure::wrong)?;
    let name = path.display().to_string();
    Ok(front_end.load(Source { name, text }, files, options))
}

/// The files of this machine, except that one has this text.
pub fn with_text(path: &Path, text: String) -> Overlay<'static> {
    Overlay {
        top: Memory::new([(path, text)]),
        below: &Disk,
    }
}

/// Shows what is to be said about a text. Warnings only if wanted.
pub fn show(loaded: &source::Loaded, warnings: bool) {
    for diagnostic in &loaded.diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, &loaded.sources);
        }
    }
}

/// The systems of a text without free parameter.
///
/// # Errors
/// There are none, and why has been shown.
pub fn systems(loaded: source::Loaded) -> Result<Loaded, Failure> {
    match loaded.content {
        Some(Content::Systems(systems)) => Ok(Loaded {
            systems,
            questions: loaded.questions,
            sources: loaded.sources,
        }),
        Some(Content::Family(_)) | None => Err(Failure::Diagnosed),
    }
}

/// How much to provide for, one after the other, where the front end's own choice is too little.
pub fn larger_pools(path: &Path) -> &'static [usize] {
    front_end(path).map_or(&[], FrontEnd::larger_pools)
}

/// The front end for a file, by its extension.
///
/// # Errors
/// There is none.
fn front_end(path: &Path) -> anyhow::Result<&'static dyn FrontEnd> {
    refuse_directory(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let reads = |front_end: &&dyn FrontEnd| {
        extension.is_some_and(|extension| front_end.extensions().contains(&extension))
    };
    if let Some(found) = FRONT_ENDS.into_iter().find(reads) {
        return Ok(found);
    }

    let known = FRONT_ENDS.iter().flat_map(|front_end| {
        let describe = |extension| format!("`.{extension}` ({})", front_end.name());
        front_end.extensions().iter().map(describe)
    });
    let what = match extension {
        Some(extension) => format!("`.{extension}` files are not supported"),
        None => "the file has no extension that says its language".to_owned(),
    };
    bail!(
        "`{}`: {what}; supported: {}",
        path.display(),
        known.collect::<Vec<_>>().join(", ")
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
