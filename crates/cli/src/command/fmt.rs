//! `fair fmt`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use fairground::{Disk, Project};

use crate::failure::{Failure, Status};
use crate::loading;
use crate::options::FmtOptions;
use crate::output;

/// Brings texts into canonical layout, or says which are not.
///
/// # Errors
/// A file cannot be read or written, its syntax is wrong, or its language has no canonical layout.
pub fn run(options: &FmtOptions) -> Result<Status, Failure> {
    let mut status = Status::Success;
    for path in &options.files {
        let text = loading::read_text(path)?;
        let formatted = fairground::format(path, &text)?;
        let Some(formatted) = formatted else {
            return Err(wrong_syntax(path));
        };

        if formatted == text {
            continue;
        }
        if options.check {
            output::print(&format!("{}\n", path.display()))?;
            status = Status::Violated;
        } else {
            let written = fs::write(path, formatted);
            written.with_context(|| format!("`{}` cannot be written", path.display()))?;
        }
    }

    Ok(status)
}

/// What is wrong with a text.
fn wrong_syntax(path: &Path) -> Failure {
    match Project::open(&Disk, path, &fairground::Options::default()) {
        Err(error) => error.into(),
        Ok(_) => Failure::wrong(format!("`{}` has changed meanwhile", path.display())),
    }
}
