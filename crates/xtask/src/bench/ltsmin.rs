//! LTSmin (<https://ltsmin.utwente.nl>) with SpinS, which compiles Promela for it.
//!
//! `spins` and `prom2lts-mc` are looked for in the folders of `LTSMIN` (written like `PATH`), else in
//! those of `PATH`. It reads the Promela twins and is asked for all states.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use super::measure::Limits;
use super::peer::{PeerResult, repeat};
use super::spin::Answer;
use super::suite::Suite;
use crate::architecture;

/// LTSmin, ready to be called.
pub(super) struct LtsMin {
    spins: PathBuf,
    search: PathBuf,
    limits: Limits,
}

/// Leaves of the tree get as many slots as roots (`--ratio=0`): with the usual quarter of them, their
/// table is full before that of the roots on models in which components rarely meet again.
const FLAGS: [&str; 4] = ["--threads=1", "--strategy=bfs", "--state=tree", "--ratio=0"];

/// The smallest table.
const MIN_LOG_SLOTS: u32 = 16;

impl LtsMin {
    /// Finds it; `None`, after saying so, if there is none.
    pub(super) fn find(suite: &Suite) -> Option<Self> {
        let folders = ["LTSMIN", "PATH"].into_iter().find_map(std::env::var_os)?;
        let found = |name: &str| {
            let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
            files.find(|file| file.is_file())
        };
        let pair = found("spins").zip(found("prom2lts-mc"));
        if pair.is_none() {
            eprintln!("LTSmin and SpinS are not found (environment variable LTSMIN), so not run");
        }
        let (spins, search) = pair?;
        // It reserves much more of the address space than it uses.
        let limits = Limits {
            memory_mb: 8 * suite.limits.memory_mb,
            ..suite.limits
        };
        Some(Self {
            spins,
            search,
            limits,
        })
    }

    /// Visits all states of a twin so often, breadth first, with one thread and states in a tree. Its
    /// table does not grow, so it gets one for twice the states that are expected.
    pub(super) fn explore(
        &self,
        twin: &str,
        size: u64,
        n_states: u64,
        n_runs: usize,
    ) -> Result<Answer<PeerResult>> {
        let directory = std::env::temp_dir().join(format!("fair-ltsmin-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        let answer = self.explore_in(&directory, (twin, size), n_states, n_runs);
        let _ = fs::remove_dir_all(&directory);
        answer
    }

    fn explore_in(
        &self,
        directory: &Path,
        (twin, size): (&str, u64),
        n_states: u64,
        n_runs: usize,
    ) -> Result<Answer<PeerResult>> {
        // SpinS does not know of definitions, and says little when it fails.
        let quietly = |program: OsString, arguments: &[String]| -> Result<bool> {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(directory);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            Ok(command.status()?.success())
        };
        let source = architecture::root().join(twin).display().to_string();
        let define = format!("-DN={size}");
        let preprocess = ["-E", "-P", "-x", "c", &define, "-o", "twin.pml", &source];
        let is_compiled = quietly("gcc".into(), &preprocess.map(str::to_owned))?
            && quietly(self.spins.clone().into(), &["twin.pml".to_owned()])?;
        if !is_compiled {
            return Ok(Err("not compiled".to_owned()));
        }

        let log_slots = (2 * n_states)
            .next_power_of_two()
            .ilog2()
            .max(MIN_LOG_SLOTS);
        let table = format!("-s{log_slots}");
        let mut command = Command::new(&self.search);
        command.args(FLAGS).arg(&table).arg("./twin.pml.spins");
        command.current_dir(directory);
        let series = match repeat(&command, self.limits, n_runs, &[0])? {
            Ok(series) => series,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(states) = count(&format!("{}{}", series.printed, series.noted)) else {
            return Ok(Err("no count".to_owned()));
        };
        let call = format!("prom2lts-mc {} {table} {twin}, N = {size}", FLAGS.join(" "));
        series.answer(call, "holds", Some(states)).map(Ok)
    }
}

/// `prom2lts-mc: Explored 12 states 34 transitions, fanout: 2.8`
fn count(printed: &str) -> Option<u64> {
    let (_, rest) = printed.split_once("Explored ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let printed = "prom2lts-mc, 0.000: Explored 12 states 34 transitions, fanout: 2.8\n";
        assert_eq!(count(printed), Some(12));
        assert_eq!(count("error"), None);
    }
}
