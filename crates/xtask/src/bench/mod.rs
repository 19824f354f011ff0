//! Benchmarks of the whole checker.
//!
//! [`mod@engine`] runs `fair check` beside Spin's verifier (and TLC, LTSmin, NuSMV, Stateright) on the same
//! systems, [`mod@growth`] runs
//! `fair check` on one system in many sizes, [`mod@timers`] compares the ways to t-fairness, [`mod@fairness`] all notions at once with one
//! after the other. What is
//! run is listed in `bench/suite.toml`; what came out is kept in `bench/record/`. [`mod@ws1s`] runs
//! `fair ws1s` beside MONA on formulas of its own, [`mod@certify`] measures certificates,
//! [`mod@cluster`] searches on disk and in several processes,
//! [`mod@families`] what is decided for all sizes and for unbounded data,
//! [`mod@editor`] how long an editor waits for diagnostics, [`mod@values`] runs `fair check` beside TLC.
//! [`mod@pictures`] draws what is in the records.
//!
//! Times are CPU times (user and system) of child processes, because the machine may be shared.

mod certify;
mod cluster;
mod editor;
mod engine;
mod fair;
mod fairness;
mod families;
mod growth;
mod ltsmin;
pub(crate) mod measure;
mod nusmv;
pub(crate) mod pan;
mod peer;
mod peers;
mod pictures;
mod predicate;
pub(crate) mod record;
mod reduced;
mod spin;
mod stateright;
mod statistics;
mod suite;
mod svg;
mod table;
mod timers;
mod tlc;
mod values;
mod ws1s;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::architecture;
use fair::Fair;
use record::Record;
use suite::Suite;

pub use certify::certify;
pub use cluster::cluster;
pub use editor::editor;
pub use engine::engine;
pub use fairness::fairness;
pub use families::families;
pub use growth::growth;
pub use pictures::pictures;
pub use predicate::predicate;
pub use timers::timers;
pub use values::values;
pub use ws1s::ws1s;

/// What can be said on the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Only the sizes that are marked as quick, each measured once.
    quick: bool,
    /// How often each measurement is repeated; the median counts.
    runs: usize,
    /// Only models whose names contain this.
    only: Option<String>,
    /// The name of the record, without directory and extension.
    record: Option<String>,
    /// The list of what is to be run.
    suite: PathBuf,
    /// The checker; if it is not given, it is built.
    fair: Option<PathBuf>,
    /// Threshold automata that are not part of the repository.
    folder: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the name of a benchmark.
    ///
    /// # Errors
    /// An option is unknown or its value is missing or wrong.
    pub fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            quick: false,
            runs: 0,
            only: None,
            record: None,
            suite: PathBuf::from("bench/suite.toml"),
            fair: None,
            folder: None,
        };

        let mut rest = arguments.iter();
        while let Some(&option) = rest.next() {
            if option == "--quick" {
                options.quick = true;
                continue;
            }
            let value = *rest
                .next()
                .with_context(|| format!("`{option}` is unknown or needs a value"))?;
            match option {
                "--runs" => options.runs = value.parse().context("--runs takes a number")?,
                "--only" => options.only = Some(value.to_owned()),
                "--record" => options.record = Some(record_name(value)?),
                "--suite" => options.suite = value.into(),
                "--fair" => options.fair = Some(value.into()),
                "--folder" => options.folder = Some(value.into()),
                _ => bail!("`{option}` is unknown"),
            }
        }

        if options.runs == 0 {
            options.runs = if options.quick { 1 } else { 3 };
        }
        Ok(options)
    }

    fn wants(&self, model: &str) -> bool {
        self.only.as_ref().is_none_or(|only| model.contains(only))
    }

    fn suite(&self) -> Result<Suite> {
        Suite::read(&architecture::root().join(&self.suite))
    }

    /// The checker: the one that was named, or the release build of this workspace.
    fn fair(&self, suite: &Suite) -> Result<Fair> {
        Fair::new(self.program()?, architecture::root(), suite)
    }

    fn program(&self) -> Result<PathBuf> {
        let root = architecture::root();
        if let Some(program) = &self.fair {
            return Ok(std::path::absolute(program)?);
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--release", "--package", "fairground-cli"];
        let status = Command::new(cargo).args(build).current_dir(&root).status();
        ensure!(status?.success(), "`fair` could not be built");
        Ok(root.join("target/release/fair"))
    }

    /// The record of this call: a file of its own for each kind of call.
    fn open_record(&self, benchmark: &str) -> Result<Record> {
        let ending = if self.quick { "-quick" } else { "" };
        let name = self.record.clone();
        let name = name.unwrap_or_else(|| format!("{benchmark}{ending}"));
        let file = architecture::root().join(format!("bench/record/{name}.jsonl"));
        Record::create(&file)
    }
}

/// Records lie in one directory.
fn record_name(name: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    ensure!(
        !name.is_empty() && name.chars().all(is_plain),
        "--record takes a name of letters, digits, `-` and `_`, not `{name}`"
    );
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_that_depend_on_quick() {
        let slow = Options::parse(&[]).unwrap();
        assert_eq!((slow.quick, slow.runs), (false, 3));
        let quick = Options::parse(&["--quick", "--only", "ring"]).unwrap();
        assert_eq!((quick.quick, quick.runs), (true, 1));
        assert!(quick.wants("ring_election") && !quick.wants("peterson"));
        assert_eq!(Options::parse(&["--quick", "--runs", "5"]).unwrap().runs, 5);
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in [
            &["--fast"][..],
            &["--runs"],
            &["--runs", "x"],
            &["--size", "3"],
            &["--record", "../x"],
        ] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
