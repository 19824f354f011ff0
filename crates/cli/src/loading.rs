//! From a path to a model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use base::{Severity, Source};
use logic::NamedProperty;
use model::Model;

use crate::diagnostics;
use crate::failure::Failure;

/// The extensions of the front ends, and what they read.
const FRONT_ENDS: [(&str, &str); 5] = [
    ("fair", "the native language"),
    ("csp", "CSP#"),
    ("pml", "Promela"),
    ("prm", "Promela"),
    ("promela", "Promela"),
];

/// How many terms of CSP# are provided for, where the front end's own choice is too little.
const LARGER_POOLS_OF_TERMS: [usize; 1] = [20_000];

/// The same for processes of Promela. Spin allows no more than the last.
const LARGER_POOLS_OF_PROCESSES: [usize; 5] = [16, 32, 64, 128, 255];

/// A model with its properties and the texts they were read from.
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// The properties: those of the file, then those of the options.
    pub properties: Vec<NamedProperty>,
    /// What the author says about the abstraction for each property.
    pub hints: Vec<model::Hints>,
    /// The texts; the file is the first.
    pub sources: Vec<Source>,
    /// Further systems that the text describes.
    pub others: Vec<Model>,
    /// What properties are asked of another system, or in another way, by their names.
    pub asked: BTreeMap<String, Asked>,
}

/// What a property is asked of, and how.
pub struct Asked {
    /// The system: 0 is the model, others follow.
    pub system: usize,
    /// How it is answered.
    pub kind: import::csp::QuestionKind,
    /// A component of the system that contains several processes.
    pub compound: Option<String>,
    /// The question, with what makes it undecidable.
    pub question: import::csp::Question,
}

impl Asked {
    /// Is a violation more than a run can show?
    pub fn needs_search(&self) -> bool {
        use import::csp::QuestionKind::{Deterministic, Refines};
        matches!(self.kind, Deterministic | Refines { .. })
    }
}

impl Loaded {
    /// The system with this number.
    pub fn system(&self, number: usize) -> &Model {
        match number {
            0 => &self.model,
            n => &self.others[n - 1],
        }
    }

    /// The system that a property is about.
    pub fn model_of(&self, property: &NamedProperty) -> &Model {
        let asked = self.asked.get(&property.name);
        self.system(asked.map_or(0, |asked| asked.system))
    }
}

/// Reads a model, and shows what is to be said about its text. Warnings only if wanted.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn load(path: &Path, options: &lang::Options, warnings: bool) -> Result<Loaded, Failure> {
    load_with_pool(path, options, 0, warnings)
}

/// Reads a model that provides for so many processes or terms where its text gives no bound; 0
/// leaves that to the front end.
///
/// # Errors
/// The file cannot be read, or its text is wrong.
pub fn load_with_pool(
    path: &Path,
    options: &lang::Options,
    pool: usize,
    warnings: bool,
) -> Result<Loaded, Failure> {
    check_extension(path)?;
    let text = read_text(path)?;
    load_text(path, text, options, pool, warnings)
}

/// Reads a model that was in this file, and shows what is to be said about its text.
///
/// # Errors
/// The text is wrong.
pub fn load_text(
    path: &Path,
    text: String,
    options: &lang::Options,
    pool: usize,
    warnings: bool,
) -> Result<Loaded, Failure> {
    let name = path.display().to_string();
    let source = Source { name, text };
    let loaded = match language(path) {
        Some("CSP#") => return crate::csp::load(path, source, options, pool, warnings),
        Some("Promela") => import_promela(path, source, options, pool)?,
        _ => lang::load(source, options),
    };
    for diagnostic in &loaded.diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, &loaded.sources);
        }
    }
    Ok(Loaded {
        model: loaded.model.ok_or(Failure::Diagnosed)?,
        properties: loaded.properties,
        hints: loaded.hints,
        sources: loaded.sources,
        others: Vec::new(),
        asked: BTreeMap::new(),
    })
}

/// What a file is written in, by its extension.
fn language(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    let found = FRONT_ENDS.iter().find(|(known, _)| *known == extension)?;
    Some(found.1)
}

fn import_promela(
    path: &Path,
    source: Source,
    options: &lang::Options,
    pool: usize,
) -> anyhow::Result<lang::Loaded> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut include = |name: &str| -> Result<Source, String> {
        let path = folder.join(name);
        let text = read_text(&path).map_err(|error| error.to_string())?;
        let name = path.display().to_string();
        Ok(Source { name, text })
    };
    let options = import::Options {
        defines: options.defines.clone(),
        ltl: options.ltl.clone(),
        ctl: options.ctl.clone(),
        assume: options.assume.clone(),
        abstract_timers: options.abstract_timers.clone(),
        pool,
    };
    let loaded = import::promela::load(source, &options, &mut include);
    Ok(lang::Loaded {
        hints: Vec::new(),
        model: loaded.model,
        properties: loaded.properties,
        sources: loaded.sources,
        diagnostics: loaded.diagnostics,
    })
}

/// How much to provide for, one after the other, where the front end's own choice is too little.
pub fn larger_pools(path: &Path) -> &'static [usize] {
    match language(path) {
        Some("CSP#") => &LARGER_POOLS_OF_TERMS,
        Some("Promela") => &LARGER_POOLS_OF_PROCESSES,
        _ => &[],
    }
}

/// Is there a front end for the file?
///
/// # Errors
/// There is none.
pub fn check_extension(path: &Path) -> anyhow::Result<()> {
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
