//! `fair ws1s`: formulas of WS1S and M2L-Str, as MONA decides them.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path};
use std::time::Instant;

use anyhow::{Context as _, bail};
use fairground::ws1s::{self, Options, Report, Verdict};
use fairground::{Files as _, Source};

use crate::failure::{Failure, Status};
use crate::options::{AutomatonFormat, Ws1sOptions};
use crate::{inputs, limits, loading, output, replacing};

/// Decides the formulas of a file and prints the answers. Deciding them is success, whatever the
/// answers are.
///
/// # Errors
/// The file cannot be read or is wrong, or what it exports cannot be written.
pub fn run(options: &Ws1sOptions) -> Result<Status, Failure> {
    let path = &options.file;
    if path.extension().is_none_or(|extension| extension != "mona") {
        let name = path.display();
        return Err(Failure::wrong(format!("`{name}` is not a `.mona` file")));
    }

    // Names of files are relative to the folder of the first.
    let name = path.file_name().unwrap_or_default();
    let source = Source {
        name: name.to_string_lossy().into_owned(),
        text: loading::read_text(path)?,
    };
    let budget = limits::budget();
    let start = Instant::now();
    let clock = || start.elapsed();
    let settings = Options {
        automata: options.automaton.is_some(),
        clock: Some(&clock),
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let files = inputs::files_of(path);
    let mut loader = |name: &str| {
        let text = files.read(&folder.join(name));
        text.map_err(|error| format!("{error:#}"))
    };
    let mut report = ws1s::run(source, &mut loader, &settings, &budget);
    for source in &mut report.sources {
        source.name = folder.join(&source.name).display().to_string();
    }
    print(&report, options, &folder)
}

fn print(report: &Report, options: &Ws1sOptions, folder: &Path) -> Result<Status, Failure> {
    loading::show(&report.diagnostics, &report.sources, true);
    if report.has_errors() {
        return Ok(Status::Wrong);
    }
    let folder = options.output_dir.as_deref().unwrap_or(folder);
    for (name, content) in &report.exports {
        export(folder, name, content, options.force)?;
    }

    let mut text = ws1s::print_answers(report);
    let automata = report.answers.iter();
    for automaton in automata.filter_map(|answer| answer.automaton.as_ref()) {
        let name_of = |var: &ws1s::Var| {
            let known = report.variables.iter().find(|(known, _)| known == var);
            known.map_or_else(|| "?".to_owned(), |(_, name)| name.clone())
        };
        let names: Vec<String> = automaton.vars().iter().map(name_of).collect();
        text += &match options.automaton {
            Some(AutomatonFormat::Dot) => automaton.to_dot(&names),
            _ => automaton.to_hoa(&names),
        };
    }

    if options.statistics {
        text.push_str(&ws1s::print_statistics(report));
    }
    output::print(&text)?;

    let undecided = |verdict: Verdict| matches!(verdict, Verdict::Unknown(_));
    if report
        .answers
        .iter()
        .any(|answer| undecided(answer.verdict))
    {
        Ok(Status::Undecided)
    } else {
        Ok(Status::Success)
    }
}

/// Writes what a formula file exports: a new file in the folder, whatever the file says.
fn export(folder: &Path, name: &str, content: &str, force: bool) -> anyhow::Result<()> {
    let mut parts = Path::new(name).components();

    // A file from elsewhere may choose a name, but not a place.
    if !matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    ) {
        bail!(
            "`export(\"{name}\", …)` is not obeyed: it names a file in another folder; write a name \
             without a folder, and say with `--output-dir` where the file should be"
        );
    }

    let path = folder.join(name);
    let cannot_write = || format!("`{}` cannot be written", path.display());
    if force {
        return replacing::replace(&path, content.as_bytes()).with_context(cannot_write);
    }

    // Creating and testing are one operation, so that no other program comes in between.
    let created = File::create_new(&path);
    if created
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    {
        bail!(
            "`{}` exists, so it is not overwritten; remove it, or use `--force`",
            path.display()
        );
    }

    let written = created.and_then(|mut file| file.write_all(content.as_bytes()));
    written.with_context(cannot_write)
}
