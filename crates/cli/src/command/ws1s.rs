//! `fair ws1s`: formulas of WS1S and M2L-Str, as MONA decides them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use fairground::ws1s::{self, Options, Report, Verdict};
use fairground::{Budget, Source};

use crate::failure::{Failure, Status};
use crate::options::{AutomatonFormat, Ws1sOptions};
use crate::{diagnostics, limits, loading, output};

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

    let source = Source {
        name: path.display().to_string(),
        text: loading::read_text(path)?,
    };
    let mut budget = Budget::unlimited();
    if let Some(max_memory) = options.max_memory {
        budget = budget.with_max_memory(max_memory);
    }
    limits::enforce(&budget, options.timeout)?;

    let start = Instant::now();
    let clock = || start.elapsed();
    let settings = Options {
        automata: options.automaton.is_some(),
        clock: Some(&clock),
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut loader = |name: &str| {
        let text = loading::read_text(&beside(&folder, name));
        text.map_err(|error| format!("{error:#}"))
    };
    let report = ws1s::run(source, &mut loader, &settings, &budget);
    print(&report, options, &folder)
}

fn print(report: &Report, options: &Ws1sOptions, folder: &Path) -> Result<Status, Failure> {
    for diagnostic in &report.diagnostics {
        diagnostics::show(diagnostic, &report.sources);
    }
    if report.has_errors() {
        return Err(Failure::Diagnosed);
    }
    for (name, content) in &report.exports {
        let path = beside(folder, name);
        let cannot_write = || format!("`{}` cannot be written", path.display());
        fs::write(&path, content).with_context(cannot_write)?;
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

/// Files named in a file lie beside it.
fn beside(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}
