//! The test programs of the mutated copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use wait4::{ResUse, Wait4 as _};

use super::{SWITCH, WRONG_HOLDS};

/// The signal that a program gets when its processor time is over: the same number on Linux, macOS
/// and the BSDs.
const SIGXCPU: i32 = 24;

/// The least processor time after which a test program is taken to hang. It does not pass faster or
/// slower on a busy machine. Programs that need long anyway get [`PATIENCE`] times what they need.
const HANGS_AFTER: Duration = Duration::from_secs(30);

/// See [`HANGS_AFTER`].
const PATIENCE: u32 = 20;

/// A program that waits forever needs no processor. It is given up after this many times the limit of
/// processor time.
const WAITING: u32 = 20;

/// Most address space that a test program may use, so that a wrong program does not take the
/// machine along.
const MAX_MEMORY: u64 = 8 << 30;

/// The part of the usual number of random cases that is tried on each mutant.
const CASES: &str = "0.3";

/// The same for the test program about certificates, which looks for rare models.
const CASES_OF_WRONG_HOLDS: &str = "1";

/// How a test program ended.
#[derive(Clone, PartialEq, Eq)]
pub enum End {
    /// All tests passed.
    Passed,
    /// This test failed, or the program died.
    Failed(String),
    /// It did not end.
    Hung,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(test) => write!(f, "failed {test}"),
            Self::Hung => f.write_str("hung"),
        }
    }
}

/// Test programs by their names: the folder of the package below `crates`, and the program.
pub struct Suites {
    programs: BTreeMap<String, Program>,
}

struct Program {
    executable: PathBuf,
    /// Tests are run in the folder of their package.
    folder: PathBuf,
}

impl Suites {
    /// Builds test programs from the sources in `copy`.
    ///
    /// # Errors
    /// The copy does not build, or a program is not there.
    pub fn build(copy: &Path, target: &Path, wanted: &BTreeSet<String>) -> Result<Self> {
        let mut programs = BTreeMap::new();
        for selection in selections(wanted)? {
            programs.extend(built(copy, target, &selection)?);
        }
        programs.retain(|name, _| wanted.contains(name));
        if let Some(missing) = wanted.iter().find(|name| !programs.contains_key(*name)) {
            bail!("there is no test program `{missing}` (`package/program`)");
        }
        Ok(Self { programs })
    }

    /// Runs the tests of a program that fit a filter, with a mutant. `usual` is how long it takes
    /// without one. Tells how much processor time it took, too.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn run(
        &self,
        (name, filter): (&str, Option<&str>),
        mutant: Option<u64>,
        usual: Duration,
    ) -> Result<(End, Duration)> {
        let program = &self.programs[name];
        let limit = HANGS_AFTER.max(usual * PATIENCE);
        let mut command = limited(&program.executable, limit);
        command.args(filter).current_dir(&program.folder);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let is_about_certificates = name == WRONG_HOLDS;
        let cases = if is_about_certificates {
            CASES_OF_WRONG_HOLDS
        } else {
            CASES
        };
        command.env("FAIR_CASES", cases);
        match mutant {
            Some(id) => command.env(SWITCH, id.to_string()),
            None => command.env_remove(SWITCH),
        };

        let mut child = command.spawn().context(name.to_owned())?;
        let lines = lines_of(&mut child)?;

        // The first failure is enough.
        let deadline = Instant::now() + limit * WAITING;
        let end = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(test) = failed_test(&line) {
                        break Some(End::Failed(test.to_owned()));
                    }
                    if line == "running 0 tests" {
                        bail!("`{name}` has no test `{}`", filter.unwrap_or(""));
                    }
                }
                Err(RecvTimeoutError::Timeout) => break Some(End::Hung),
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };

        if end.is_some() {
            child.kill()?;
        }
        let ResUse { status, rusage } = child.wait4()?;
        let needed = rusage.utime + rusage.stime;
        Ok((end.unwrap_or_else(|| end_of(status)), needed))
    }
}

/// The lines that a program prints, as it prints them.
fn lines_of(child: &mut Child) -> Result<Receiver<String>> {
    let output = child.stdout.take().context("its output is read")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // After the first failure, nothing listens any more.
        lines.map(|line| sender.send(line)).all(|sent| sent.is_ok())
    });
    Ok(receiver)
}

/// The test that failed, if a line says so.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Builds the programs that these arguments of cargo choose.
fn built(copy: &Path, target: &Path, selection: &[String]) -> Result<Vec<(String, Program)>> {
    let built = Command::new("cargo")
        .args(["test", "--no-run", "--message-format=json", "--quiet"])
        .args(selection)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;

    let messages = String::from_utf8(built.stdout)?;
    if !built.status.success() {
        let errors = messages.lines().filter_map(error_text);
        errors.for_each(|text| eprintln!("{text}"));
        bail!("the mutated copy does not build");
    }
    Ok(messages.lines().filter_map(test_program).collect())
}

/// Arguments of cargo that choose programs: those of integration tests, then unit tests, which are
/// called as their package.
///
/// Features of dependencies are those of the whole workspace, so that they need not be built again.
/// Programs of other packages that have the same name are built, too.
fn selections(wanted: &BTreeSet<String>) -> Result<Vec<Vec<String>>> {
    let (mut programs, mut units) = (BTreeSet::new(), BTreeSet::new());
    for name in wanted {
        let (package, program) = name.split_once('/').context("`package/program`")?;
        if package == program {
            units.insert(format!("--package=fairground-{package}"));
        } else {
            programs.insert(format!("--test={program}"));
        }
    }

    let mut selections = Vec::new();
    if !programs.is_empty() {
        // Its only program is large and not in the list.
        let whole = ["--workspace", "--exclude=fairground-differential"];
        selections.push(
            whole
                .map(str::to_owned)
                .into_iter()
                .chain(programs)
                .collect(),
        );
    }
    if !units.is_empty() {
        // The binaries have no unit tests to be built, but ask for all features.
        let others = ["--package=fairground-cli", "--package=xtask", "--lib"];
        selections.push(units.into_iter().chain(others.map(str::to_owned)).collect());
    }
    Ok(selections)
}

/// What the compiler complains about, if a message of cargo is an error.
fn error_text(message: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let message = &message["message"];
    (message["level"] == "error").then(|| message["rendered"].as_str().map(str::to_owned))?
}

/// The test program that a message of cargo announces.
fn test_program(message: &str) -> Option<(String, Program)> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let executable = PathBuf::from(message["executable"].as_str()?);
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    let folder = manifest.parent()?.to_owned();
    let package = folder.file_name()?.to_str()?.to_owned();
    let name = format!("{package}/{}", message["target"]["name"].as_str()?);
    Some((name, Program { executable, folder }))
}

/// How a program ended that named no test that failed.
fn end_of(status: ExitStatus) -> End {
    if status.success() {
        End::Passed
    } else if status.signal() == Some(SIGXCPU) {
        End::Hung
    } else {
        End::Failed(String::new())
    }
}

/// A command that runs a program with limited memory and processor time: a shell sets the limits and
/// becomes the program. The signal [`SIGXCPU`] comes at the soft limit.
fn limited(program: &Path, time: Duration) -> Command {
    let (memory, seconds) = (MAX_MEMORY >> 10, time.as_secs());
    let script = format!("ulimit -v {memory} && ulimit -S -t {seconds} && exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).arg(program);
    command
}
