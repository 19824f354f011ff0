//! `fair resume`: goes on with a check that was stopped.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::checkpoint_file::{self, CHECKPOINT, Call, Sections};
use crate::failure::{Failure, Status};
use crate::options::{CheckOptions, Cli, Command, ResumeOptions};
use crate::{joining, loading, output};

/// What earlier processes have left to this one.
pub struct Left {
    /// The call.
    pub call: Call,
    /// The states of the searches of the process that had the folder of this one, if there was one.
    pub own: Option<Sections>,
    /// The numbers of other processes, their checkpoints, and the states of their searches.
    pub others: Vec<(u64, PathBuf, Sections)>,
}

impl Left {
    /// Nothing, for a call that begins.
    pub fn nothing(call: Call) -> Self {
        Self {
            call,
            own: None,
            others: Vec::new(),
        }
    }
}

/// Reads a checkpoint and makes its call again, from where it was stopped.
///
/// # Errors
/// The checkpoint is damaged, or as for `fair check`.
pub fn run(options: &ResumeOptions) -> Result<Status, Failure> {
    let given = &options.checkpoint;
    let mut path = given.clone();
    if given.is_dir() {
        path.push(CHECKPOINT);
    }
    let processes = process_folders(given);
    let first = match processes.first() {
        Some((_, first)) if !path.exists() => first.clone(),
        _ => path.clone(),
    };
    let (call, sections) = checkpoint_file::read(&first)?;
    let mut check = check_of(&call, &first)?;

    let is_whole = first != path || check.disk.is_some() && check.together.process.is_none();
    let left = if is_whole {
        let whole = path.parent().unwrap_or(Path::new(".")).to_owned();
        inherit(&mut check, &whole, (call, processes), options)?
    } else {
        limit_one(&mut check, &path, options)?;
        Left {
            own: Some(sections),
            ..Left::nothing(call)
        }
    };
    check.max_states = options.max_states;
    limit_trace(&mut check, options)?;

    // Files are named relative to where the call was made.
    let call = &left.call;
    if std::env::set_current_dir(&call.directory).is_err() {
        return Err(Failure::wrong(format!(
            "the check was made in `{}`, which cannot be entered",
            call.directory
        )));
    }
    // The verdict is about the file that the user sees.
    let (name, text) = &call.files[0];
    if loading::read_text(&check.files[0])? != *text {
        return Err(changed(name));
    }
    super::check::go_on(&check, left)
}

/// The options of the call that a checkpoint belongs to.
fn check_of(call: &Call, path: &Path) -> Result<CheckOptions, Failure> {
    let arguments = std::iter::once("fair").chain(call.arguments.iter().map(String::as_str));
    match Cli::try_parse_from(arguments) {
        Ok(Cli {
            command: Command::Check(check),
            ..
        }) => Ok(*check),
        _ => Err(Failure::wrong(format!(
            "`{}` is not a checkpoint: it does not say which check it belongs to; start the check \
             again with `fair check`",
            path.display()
        ))),
    }
}

/// The checkpoints of processes in the folder of a check, by their numbers.
pub fn process_folders(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("process-")?.parse().ok()?;
        Some((number, entry.path().join(CHECKPOINT)))
    });
    let mut found: Vec<(u64, PathBuf)> = numbered.filter(|(_, path)| path.exists()).collect();
    found.sort();
    found
}

/// Shares out what was left in the folder of a check among the processes that go on: what process J has
/// left is for process J modulo their number.
fn inherit(
    check: &mut CheckOptions,
    whole: &Path,
    (mut call, processes): (Call, Vec<(u64, PathBuf)>),
    options: &ResumeOptions,
) -> Result<Left, Failure> {
    let whole = absolute(whole)?;
    let (n_processes, process) = match &options.hosts {
        None => (1, None),
        Some(path) => (joining::hosts(path)?.n_processes() as u64, options.process),
    };
    check.disk = Some(whole.clone());
    join_as(check, options)?;
    let own = check.own_disk().map(|own| own.join(CHECKPOINT));

    let alone = whole.join(CHECKPOINT);
    let alone = alone.exists().then_some((0, alone));
    let mut left = Left::nothing(call.clone());
    for (number, path) in alone.into_iter().chain(processes) {
        if number % n_processes != process.unwrap_or(0) as u64 {
            continue;
        }
        let path = absolute(&path)?;
        let (other, sections) = checkpoint_file::read(&path)?;
        if other.files != call.files {
            return Err(Failure::wrong(format!(
                "`{}` belongs to the check of another model; remove it, or put it back where it was",
                path.display()
            )));
        }
        if own.as_ref() == Some(&path) {
            left.own = Some(sections);
        } else {
            left.others.push((number, path, sections));
        }
    }
    call.arguments = arguments_of(&call.arguments, check);
    Ok(Left { call, ..left })
}

/// The arguments of a call that is made by other processes now.
fn arguments_of(arguments: &[String], check: &CheckOptions) -> Vec<String> {
    let names = ["--hosts", "--process", "--secret"];

    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if !names.contains(&name) {
            kept.push(argument.clone());
        } else if name == argument {
            rest.next();
        }
    }

    let together = &check.together;
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let process = together.process.map(|process| process.to_string());
    let values = [path(&together.hosts), process, path(&together.secret)];
    for (name, value) in names.iter().zip(values) {
        kept.extend(
            value
                .into_iter()
                .flat_map(|value| [(*name).to_owned(), value]),
        );
    }

    kept
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|_| Failure::wrong("the current directory is not known"))
}

/// Joins the processes that the user of `resume` names, or none.
fn join_as(check: &mut CheckOptions, options: &ResumeOptions) -> Result<(), Failure> {
    let path = |path: &Option<PathBuf>| path.as_deref().map(absolute).transpose();
    check.together.hosts = path(&options.hosts)?;
    check.together.secret = path(&options.secret)?;
    check.together.process = options.process;
    Ok(())
}

/// The failure for a file that is not as it was when the checkpoint was written.
pub fn changed(name: &str) -> Failure {
    Failure::wrong(format!(
        "`{name}` has changed since the checkpoint was written; put it back as it was, or start the \
         check again with `fair check`"
    ))
}

/// A process that goes on from a checkpoint of its own.
fn limit_one(
    check: &mut CheckOptions,
    checkpoint: &Path,
    options: &ResumeOptions,
) -> Result<(), Failure> {
    let checkpoint = absolute(checkpoint)?;
    if options.hosts.is_some() {
        join_as(check, options)?;
    }
    if check.disk.is_none() {
        check.checkpoint = Some(checkpoint);
        return Ok(());
    }
    // The files of the search are beside its checkpoint, wherever they were before.
    let own = checkpoint.parent();
    check.disk = own.and_then(Path::parent).map(Path::to_owned);
    if check.own_disk().as_deref() != own {
        return Err(Failure::wrong(format!(
            "the folder of process {} is not `{}`; resume every process from its own",
            check.together.process.unwrap_or(0),
            options.checkpoint.display()
        )));
    }
    Ok(())
}

/// A checkpoint is data: no file is written because it is named in one.
fn limit_trace(check: &mut CheckOptions, options: &ResumeOptions) -> Result<(), Failure> {
    let asked = check.trace.take();
    check.trace = options.trace.as_deref().map(absolute).transpose()?;
    if let (Some(path), None) = (asked, &check.trace) {
        let path = path.display();
        output::note(&format!(
            "the check was to write a trace to `{path}`; that is not done unless you add \
             `--trace {path}`"
        ));
    }
    Ok(())
}
