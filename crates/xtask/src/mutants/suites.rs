//! The test programs of the mutated copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::SWITCH;

/// After this time a test program is taken to hang. Nothing but the word that is printed depends
/// on it.
const HANGS_AFTER: Duration = Duration::from_secs(300);

/// Most address space that a test program may use, so that a wrong program does not take the
/// machine along.
const MAX_MEMORY: u64 = 8 << 30;

/// How a test program ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All tests passed.
    Passed,
    /// A test failed, or the program died.
    Failed,
    /// It did not end.
    Hung,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Hung => "hung",
        })
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
        let folders: BTreeSet<&str> = wanted
            .iter()
            .filter_map(|name| name.split('/').next())
            .collect();
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--no-run", "--message-format=json", "--quiet"]);
        for folder in folders {
            let folder = copy.join("crates").join(folder);
            cargo.arg("--package");
            cargo.arg(format!("path+file://{}", folder.display()));
        }
        let built = cargo
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", target)
            // A mutant may make a variable or parameter needless.
            .env("RUSTFLAGS", "--cap-lints warn")
            .stderr(Stdio::inherit())
            .output()
            .context("cargo could not be started")?;
        if !built.status.success() {
            bail!("the mutated copy does not build");
        }

        let messages = String::from_utf8(built.stdout)?;
        let mut programs: BTreeMap<String, Program> =
            messages.lines().filter_map(test_program).collect();
        programs.retain(|name, _| wanted.contains(name));
        if let Some(missing) = wanted.iter().find(|name| !programs.contains_key(*name)) {
            bail!("there is no test program `{missing}` (`package/program`)");
        }
        Ok(Self { programs })
    }

    /// The names of the programs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// Runs the tests of a program that fit a filter, with a mutant.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn run(&self, name: &str, filter: Option<&str>, mutant: Option<usize>) -> Result<End> {
        let program = &self.programs[name];
        let mut command = Command::new(&program.executable);
        command.args(filter).current_dir(&program.folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        match mutant {
            Some(number) => command.env(SWITCH, number.to_string()),
            None => command.env_remove(SWITCH),
        };
        limit_memory(&mut command);
        let mut child = command.spawn().context(name.to_owned())?;

        let started = Instant::now();
        loop {
            match child.try_wait()? {
                Some(status) if status.success() => return Ok(End::Passed),
                Some(_) => return Ok(End::Failed),
                None if started.elapsed() > HANGS_AFTER => {
                    child.kill()?;
                    child.wait()?;
                    return Ok(End::Hung);
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
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

#[cfg(unix)]
fn limit_memory(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    let limit = libc::rlimit {
        rlim_cur: MAX_MEMORY,
        rlim_max: MAX_MEMORY,
    };
    // SAFETY: `setrlimit` is async-signal-safe and touches no memory of this process but `limit`.
    unsafe {
        command.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_AS, &raw const limit);
            Ok(())
        });
    }
}

#[cfg(not(unix))]
fn limit_memory(_: &mut Command) {}
