//! The test programs of the mutated copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::SWITCH;

/// The least time after which a test program is taken to hang. Programs that need long anyway get
/// [`PATIENCE`] times what they need.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// See [`HANGS_AFTER`].
const PATIENCE: u32 = 20;

/// Most address space that a test program may use, so that a wrong program does not take the
/// machine along.
const MAX_MEMORY: u64 = 8 << 30;

/// The part of the usual number of random cases that is tried on each mutant.
const CASES: &str = "0.3";

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
        if wanted.is_empty() {
            let programs = BTreeMap::new();
            return Ok(Self { programs });
        }

        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--no-run", "--message-format=json", "--quiet"]);
        cargo.args(selection(wanted)?);

        let built = cargo
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", target)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo could not be started")?;

        let messages = String::from_utf8(built.stdout)?;
        if !built.status.success() {
            messages.lines().filter_map(error_text).for_each(|text| {
                eprintln!("{text}");
            });
            bail!("the mutated copy does not build");
        }

        let mut programs: BTreeMap<String, Program> =
            messages.lines().filter_map(test_program).collect();
        programs.retain(|name, _| wanted.contains(name));
        if let Some(missing) = wanted.iter().find(|name| !programs.contains_key(*name)) {
            bail!("there is no test program `{missing}` (`package/program`)");
        }
        Ok(Self { programs })
    }

    /// Runs the tests of a program that fit a filter, with a mutant. `usual` is how long it takes
    /// without one.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn run(
        &self,
        (name, filter): (&str, Option<&str>),
        mutant: Option<usize>,
        usual: Duration,
    ) -> Result<End> {
        let program = &self.programs[name];
        let mut command = limited(&program.executable);
        command.args(filter).current_dir(&program.folder);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("FAIR_CASES", CASES);
        match mutant {
            Some(number) => command.env(SWITCH, number.to_string()),
            None => command.env_remove(SWITCH),
        };

        let mut child = command.spawn().context(name.to_owned())?;
        let lines = lines_of(&mut child)?;

        // The first failure is enough.
        let deadline = Instant::now() + HANGS_AFTER.max(usual * PATIENCE);
        let end = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(test) = failed_test(&line) {
                        break End::Failed(test.to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => break End::Hung,
                Err(RecvTimeoutError::Disconnected) => {
                    break if child.wait()?.success() {
                        End::Passed
                    } else {
                        End::Failed(String::new())
                    };
                }
            }
        };

        child.kill()?;
        child.wait()?;
        Ok(end)
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

/// The arguments of cargo that choose programs. The unit tests of a package are called as the
/// package; if several packages have programs with the same name, too many are built.
fn selection(wanted: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut arguments = BTreeSet::new();
    for name in wanted {
        let (package, program) = name.split_once('/').context("`package/program`")?;
        arguments.insert(format!("--package=fairground-{package}"));
        let is_unit = package == program;
        arguments.insert(if is_unit {
            "--lib".to_owned()
        } else {
            format!("--test={program}")
        });
    }
    Ok(arguments.into_iter().collect())
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

/// A command that runs a program with limited memory: a shell sets the limit and becomes the program.
#[cfg(unix)]
fn limited(program: &Path) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {} && exec \"$@\"", MAX_MEMORY >> 10);
    command.args(["-c", &script, "sh"]).arg(program);
    command
}

/// A command that runs a program, without limits.
#[cfg(not(unix))]
fn limited(program: &Path) -> Command {
    Command::new(program)
}
