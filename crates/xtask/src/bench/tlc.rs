//! TLC, the model checker of TLA+ (<https://github.com/tlaplus/tlaplus>).
//!
//! The environment variable `TLC_JAR` says where it is. Twins are in `bench/tla`: `Spec` is the
//! system, `Safe` its invariant; `FairSpec` is the system under fairness, `Live` what holds then.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::measure::{Limits, run};
use super::peer::{PeerResult, repeat};
use super::spin::Answer;
use super::suite::Suite;
use crate::architecture;

/// TLC, ready to be called.
pub(super) struct Tlc {
    jar: PathBuf,
    limits: Limits,
}

/// What TLC is to do.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Job<'a> {
    /// The twin.
    pub(super) tla: &'a str,
    pub(super) constants: BTreeMap<&'a str, u64>,
    /// `Live` instead of `Safe`.
    pub(super) is_liveness: bool,
    /// `FairSpec` instead of `Spec`.
    pub(super) is_fair: bool,
    /// Are states without successors wrong?
    pub(super) finds_deadlocks: bool,
}

impl Tlc {
    /// Finds it; `None`, after saying so, if it is not said where it is.
    pub(super) fn find(suite: &Suite) -> Result<Option<Self>> {
        let Some(jar) = std::env::var_os("TLC_JAR") else {
            eprintln!("TLC_JAR is not set, so TLC is not run");
            return Ok(None);
        };
        let jar = std::path::absolute(PathBuf::from(jar))?;
        ensure!(jar.is_file(), "TLC_JAR: {} is not a file", jar.display());
        let limits = suite.limits;
        Ok(Some(Self { jar, limits }))
    }

    /// The collector with one thread costs the least CPU time.
    fn java(&self) -> Command {
        let mut java = Command::new("java");
        java.args(["-XX:+UseSerialGC", "-Xmx3g", "-cp"])
            .arg(&self.jar)
            .arg("tlc2.TLC");
        java
    }

    /// What it says about itself.
    pub(super) fn version(&self) -> Result<String> {
        let mut command = self.java();
        let run = run(command.arg("-h"), self.limits)?;
        let words = |line: &&str| line.contains("Version");
        let line = run.stdout.lines().find(words).unwrap_or("unknown");
        Ok(line.trim().to_owned())
    }

    /// Checks a twin so often, with one thread.
    pub(super) fn check(&self, job: &Job<'_>, n_runs: usize) -> Result<Answer<PeerResult>> {
        let directory = std::env::temp_dir().join(format!("fair-tlc-{}", std::process::id()));
        let answer = self.check_in(&directory, job, n_runs);
        // What is left of an earlier run would be in the way.
        let _ = fs::remove_dir_all(&directory);
        answer
    }

    fn check_in(
        &self,
        directory: &Path,
        job: &Job<'_>,
        n_runs: usize,
    ) -> Result<Answer<PeerResult>> {
        fs::create_dir_all(directory)?;
        let twin = architecture::root().join(job.tla);
        let name = twin.file_stem().context("the twin has a name")?;
        let name = name.to_string_lossy().into_owned();
        fs::copy(&twin, directory.join(format!("{name}.tla")))?;
        fs::write(directory.join("twin.cfg"), job.configuration())?;

        let mut flags = vec!["-workers", "1", "-lncheck", "final", "-config", "twin.cfg"];
        if !job.finds_deadlocks {
            flags.push("-deadlock");
        }
        let mut command = self.java();
        command.args(&flags).arg(&name).current_dir(directory);
        // Found are: nothing, a deadlock, a bad state, a bad loop.
        let series = match repeat(&command, self.limits, n_runs, &[0, 11, 12, 13])? {
            Ok(series) => series,
            Err(reason) => return Ok(Err(reason)),
        };

        let (_, states) = counts(&series.printed).context("what TLC printed")?;
        let call = flags.join(" ");
        let call = format!("java -XX:+UseSerialGC -Xmx3g -cp $TLC_JAR tlc2.TLC {call} {name}");
        let verdict = verdict(&series.printed);
        series.answer(call, verdict, Some(states)).map(Ok)
    }
}

impl Job<'_> {
    fn configuration(&self) -> String {
        let spec = if self.is_fair { "FairSpec" } else { "Spec" };
        let goal = if self.is_liveness {
            "PROPERTY Live"
        } else {
            "INVARIANT Safe"
        };
        let constants = self.constants.iter();
        let constants: String = constants
            .map(|(name, value)| format!("  {name} = {value}\n"))
            .collect();
        format!("SPECIFICATION {spec}\n{goal}\nCONSTANTS\n{constants}")
    }
}

fn verdict(printed: &str) -> &'static str {
    let complaints = ["is violated", "were violated", "Deadlock reached"];
    if complaints.iter().any(|said| printed.contains(said)) {
        "violated"
    } else if printed.contains("No error has been found") {
        "holds"
    } else {
        "unknown"
    }
}

/// States with repetitions, and distinct states.
fn counts(printed: &str) -> Option<(u64, u64)> {
    let is_last =
        |line: &&str| line.contains("distinct states found") && !line.contains("Progress");
    let line = printed.lines().rev().find(is_last)?;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_verdicts_are_read() {
        let printed = "Progress(6) at 22:32:51: 82,481 states generated, 23 distinct states found.\n\
                       1146 states generated, 288 distinct states found, 0 states left on queue.\n";
        assert_eq!(counts(printed), Some((1146, 288)));
        assert_eq!(counts("Parsing failed."), None);
        assert_eq!(verdict(printed), "unknown");
        assert_eq!(
            verdict("Model checking completed. No error has been found."),
            "holds"
        );
        assert_eq!(verdict("Error: Invariant Safe is violated."), "violated");
        let loops = "Error: Temporal properties were violated.";
        assert_eq!(verdict(loops), "violated");
    }

    #[test]
    fn the_configuration_names_what_is_asked() {
        let job = Job {
            tla: "",
            constants: BTreeMap::from([("N", 4), ("K", 3)]),
            is_liveness: false,
            is_fair: false,
            finds_deadlocks: false,
        };

        let text = job.configuration();
        assert!(
            text.starts_with("SPECIFICATION Spec\nINVARIANT Safe\n"),
            "{text}"
        );
        assert!(text.ends_with("CONSTANTS\n  K = 3\n  N = 4\n"), "{text}");

        let live = Job {
            is_liveness: true,
            is_fair: true,
            ..job
        };
        let text = live.configuration();
        assert!(
            text.starts_with("SPECIFICATION FairSpec\nPROPERTY Live\n"),
            "{text}"
        );
    }
}
