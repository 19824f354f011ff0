//! `fair cluster`: processes on this machine that check together.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, ExitStatus, Stdio};

use anyhow::Context as _;
use clap::Parser as _;

use super::resume::process_folders;
use crate::checkpoint_file::CHECKPOINT;
use crate::failure::{Failure, Status};
use crate::options::{
    Cli, ClusterCommand, ClusterOptions, ClusterResumeOptions, ClusterRunOptions, Command,
};
use crate::output;

/// Starts the processes and waits for them.
///
/// # Errors
/// The call is wrong, or a process cannot be started.
pub fn run(options: &ClusterOptions) -> Result<Status, Failure> {
    match &options.command {
        ClusterCommand::Run(options) => check(options),
        ClusterCommand::Resume(options) => resume(options),
    }
}

fn check(options: &ClusterRunOptions) -> Result<Status, Failure> {
    let mut call = vec!["check".to_owned()];
    call.extend(options.arguments.iter().cloned());

    // The call is parsed here, so that a wrong one is reported once and not by each process.
    let arguments = std::iter::once("fair").chain(call.iter().map(String::as_str));
    let parsed = match Cli::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => error.exit(),
    };

    if let Command::Check(check) = &parsed.command {
        if check.together.hosts.is_some() {
            return Err(Failure::wrong(
                "`fair cluster run` makes the list of hosts itself; leave `--hosts` out",
            ));
        }
        if check.files.iter().any(|file| file == Path::new("-")) {
            return Err(Failure::wrong(
                "a model on standard input can be read by one process only; write it to a file",
            ));
        }
    }

    start_all(options.local.into(), |_| call.clone())
}

fn resume(options: &ClusterResumeOptions) -> Result<Status, Failure> {
    let disk = &options.disk;
    if !disk.join(CHECKPOINT).exists() && process_folders(disk).is_empty() {
        return Err(Failure::wrong(format!(
            "`{}` has no checkpoint, nor have folders `process-0`, `process-1`, … in it; name the \
             folder of `--disk`",
            disk.display()
        )));
    }
    let disk = disk.display().to_string();
    start_all(options.local.into(), |_| {
        vec!["resume".to_owned(), disk.clone()]
    })
}

/// A folder for what the processes have to know, which goes with this call.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("fair-cluster-{name}"));
        let mut builder = fs::DirBuilder::new();
        // The secret is for this user only.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let cannot = || format!("the folder `{}` cannot be made", path.display());
        builder.create(&path).with_context(cannot)?;
        Ok(Self(path))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.0.join(name);
        let cannot = || format!("`{}` cannot be written", path.display());
        fs::write(&path, bytes).with_context(cannot)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is of no use to others: the processes have ended.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts this many processes with these arguments, and waits for all of them.
fn start_all(
    n_processes: usize,
    arguments: impl Fn(usize) -> Vec<String>,
) -> Result<Status, Failure> {
    let scratch = Scratch::new()?;
    let mut secret = [0_u8; 32];
    getrandom::fill(&mut secret).map_err(|e| Failure::wrong(format!("no randomness: {e}")))?;
    let secret = scratch.write("secret", &secret)?;
    let hosts = scratch.write("hosts", hosts(n_processes)?.as_bytes())?;
    let program = std::env::current_exe().context("this program cannot be found")?;
    // Ctrl-C goes to all processes of the terminal; they stop and report, and this one waits.
    let _ = ctrlc::set_handler(|| {});

    let mut children = Vec::new();
    for process in 0..n_processes {
        let words = scratch.0.join(format!("errors-{process}"));
        let mut call = Program::new(&program);
        call.args(arguments(process));
        call.args(["--process", &process.to_string()]);
        call.arg("--hosts").arg(&hosts);
        call.arg("--secret").arg(&secret);
        call.stdin(Stdio::null());
        if process != 0 {
            let errors = fs::File::create(&words).context("a file cannot be made")?;
            call.stdout(Stdio::null()).stderr(errors);
        }
        match call.spawn() {
            Ok(child) => children.push(child),
            Err(error) => {
                children.iter_mut().for_each(end);
                let why = format!("process {process} cannot be started: {error}");
                return Err(Failure::wrong(why));
            }
        }
    }

    let mut statuses = Vec::new();
    for mut child in children {
        statuses.push(child.wait().context("a process cannot be waited for")?);
    }
    report(&scratch, &statuses);
    Ok(overall(&statuses))
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Addresses that no other program uses now.
fn hosts(n_processes: usize) -> anyhow::Result<String> {
    let listeners: Result<Vec<TcpListener>, _> = (0..n_processes)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    let listeners = listeners.context("there is no free address on this machine")?;
    let mut text = String::new();
    for listener in &listeners {
        let address = listener.local_addr().context("an address is not known")?;
        text += &format!("{address}\n");
    }
    Ok(text)
}

/// Says what happened to processes that process 0 cannot know.
fn report(scratch: &Scratch, statuses: &[ExitStatus]) {
    for (process, status) in statuses.iter().enumerate() {
        let code = status.code();
        if code.is_none() {
            output::error(&format!("process {process} was killed ({status})"));
        }
        let is_wrong = matches!(code, Some(2 | 101));
        if process != 0 && is_wrong && code != statuses[0].code() {
            let words = fs::read(scratch.0.join(format!("errors-{process}")));
            let words = words.unwrap_or_default();
            let words = String::from_utf8_lossy(&words);
            output::error(&format!("process {process}: {}", words.trim()));
        }
    }
}

/// The status of process 0, which reports; undecided if it cannot.
fn overall(statuses: &[ExitStatus]) -> Status {
    match statuses[0].code() {
        Some(0) => Status::Success,
        Some(1) => Status::Violated,
        Some(2) => Status::Wrong,
        Some(101) => Status::Bug,
        _ => Status::Undecided,
    }
}
