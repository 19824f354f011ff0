//! `cargo xtask mutants`: would a test notice if the code were wrong?
//!
//! `crates/xtask/mutants.toml` lists small errors: a piece of text that occurs once in a file, what
//! stands there instead, and the test that notices. Building the workspace once for each of them
//! would take hours, so all of them are built at once: in a copy of the sources each piece becomes
//! a choice that the environment variable `FAIR_MUTANT` makes when the program runs (mutant
//! schemata: R. Untch, A. J. Offutt, M. J. Harrold, *Mutation Analysis Using Mutant Schemata*,
//! ISSTA 1993). The sources themselves know nothing about it.
//!
//! A mutant is *killed* if its test fails, hangs or dies. The list is wrong, and the command fails,
//! if a mutant that is said to be killed survives, or if its text is not in the sources any more.
//! An *equivalent* mutant carries the argument why no test can notice it, or why what it changes is
//! effort or size that nothing is promised about. Those of which nothing is said are *not judged*;
//! `--explore` tries the suites of their area on them.
//!
//! A mutant with `wrong_holds` says "holds" of something that is violated, and that must end in a
//! *rejected* certificate: of the suite [`WRONG_HOLDS`], the test that looks for violations fails, and
//! the one that tries to get certificates accepted passes. `--certificates` asks this, and nothing
//! else, of every mutant, with `--listed` of those that are marked.

mod list;
mod schemata;
mod suites;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use list::{List, Mutant, Role};
use suites::{End, Suites};

/// Where the mutated copy lies, below the folder that cargo builds into.
const COPY: &str = "mutants";

/// Where it is built, below the same folder.
const BUILT: &str = "mutated";

/// What a program that is run without a mutant usually takes at most.
const PATIENCE_WITHOUT: Duration = Duration::from_secs(30);

/// How often a test is run before a mutant counts as a survivor: with several threads, whether they
/// meet at the place that is wrong is a matter of luck.
const N_ATTEMPTS: usize = 3;

/// The test program about certificates of what is violated.
const WRONG_HOLDS: &str = "check/certificates";

/// Its test that fails if a search says "holds" of something that is violated.
const FINDS_VIOLATIONS: &str = "violations_are_found";

/// Its test that fails if a certificate of something that is violated is accepted.
const REJECTS: &str = "wrong_holds_are_rejected";

/// What is asked for.
#[derive(Default)]
pub struct Options {
    /// Only mutants whose name contains this.
    only: Option<String>,
    /// Try all suites of the list on mutants without a test, and say which one notices.
    explore: bool,
    /// Ask only about wrong "holds", and of every mutant.
    certificates: bool,
    /// Only mutants that the list says to give wrong "holds".
    listed: bool,
}

impl Options {
    /// Reads the arguments after `mutants`.
    pub fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--explore" => options.explore = true,
                "--certificates" => options.certificates = true,
                "--listed" => options.listed = true,
                "--only" => {
                    let name = rest.next().context("`--only` needs a part of a name")?;
                    options.only = Some((*name).to_owned());
                }
                other => bail!("`{other}` is not an option of `cargo xtask mutants`"),
            }
        }
        Ok(options)
    }

    fn asks_for_certificates(&self, mutant: &Mutant) -> bool {
        self.certificates || mutant.wrong_holds
    }

    fn selects(&self, mutant: &Mutant) -> bool {
        let is_meant = |part: &String| mutant.name.contains(part);
        self.only.as_ref().is_none_or(is_meant) && (mutant.wrong_holds || !self.listed)
    }
}

/// Builds all mutants, runs their tests, and prints what became of each.
///
/// # Errors
/// The list does not fit the sources, the copy does not build, a suite fails without any mutant, or
/// a mutant survives.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let started = Instant::now();
    let list = list::read(&root.join("crates/xtask/mutants.toml"))?;
    let target = target_folder(root);
    let copy = target.join(COPY);
    schemata::write(root, &copy, &list.mutants)?;

    let runs = wanted_runs(&list, options);
    let wanted = runs.iter().map(|(suite, _)| suite.clone()).collect();
    // Not where everything else is built: cargo takes what was built of the copy for what would be
    // built of the sources, because both have the same names below their folders.
    let suites = Suites::build(&copy, &target.join(BUILT), &wanted)?;
    println!("built in {:.0} s", started.elapsed().as_secs_f64());
    let usual = run_unmutated(&suites, runs)?;

    let selected = list.mutants.iter().filter(|m| options.selects(m));
    let counts = Inquiry {
        list: &list,
        suites: &suites,
        usual: &usual,
        options,
        counts: Mutex::default(),
    }
    .judge_all(selected.collect())?;

    counts.print();
    println!("took {:.0} s", started.elapsed().as_secs_f64());
    if !counts.complaints.is_empty() {
        let complaints = counts.complaints.join("\n");
        bail!("these mutants are not as the list says:\n{complaints}");
    }
    Ok(())
}

/// The folder that cargo builds into. The copy shares it, so that what comes from elsewhere is not
/// built again.
fn target_folder(root: &Path) -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR");
    chosen.map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// A suite, and a filter for its tests.
type Run = (String, Option<String>);

/// A test of the program about certificates.
fn wrong_holds_run(test: &str) -> Run {
    (WRONG_HOLDS.to_owned(), Some(test.to_owned()))
}

/// What will be run.
fn wanted_runs(list: &List, options: &Options) -> BTreeSet<Run> {
    let mut runs = BTreeSet::new();
    for mutant in list.mutants.iter().filter(|m| options.selects(m)) {
        if options.asks_for_certificates(mutant) {
            runs.extend([FINDS_VIOLATIONS, REJECTS].map(wrong_holds_run));
        }
        match &mutant.role {
            _ if options.certificates => {}
            Role::Killed { suite, test } => {
                runs.insert((suite.clone(), test.clone()));
            }
            Role::Open if options.explore => {
                runs.extend(list.suites_for(mutant).map(|suite| (suite.clone(), None)));
            }
            Role::Equivalent(_) | Role::Open => {}
        }
    }
    runs
}

/// A suite that fails anyway would kill everything. Returns how much processor time each takes.
fn run_unmutated(suites: &Suites, runs: BTreeSet<Run>) -> Result<BTreeMap<Run, Duration>> {
    let mut usual = BTreeMap::new();
    for run in runs {
        let (name, filter) = (run.0.as_str(), run.1.as_deref());
        let (end, needed) = suites.run((name, filter), None, PATIENCE_WITHOUT)?;
        if end != End::Passed {
            bail!("`{name}` fails although no mutant is active");
        }
        let filter = filter.unwrap_or("");
        println!("{:6.1} s  {name} {filter}", needed.as_secs_f64());
        usual.insert(run, needed);
    }
    Ok(usual)
}

/// How many mutants ended in which way.
#[derive(Default)]
struct Counts {
    killed: usize,
    equivalent: usize,
    survived: usize,
    /// Nothing is claimed about them yet.
    open: usize,
    /// Wrong "holds" whose certificates were rejected.
    rejected: usize,
    /// What is not as the list says: a mutant survived, a wrong certificate was accepted, or there is
    /// no wrong "holds" although the list says so. Said again at the end, where it is not overlooked.
    complaints: Vec<String>,
}

impl Counts {
    fn print(&self) {
        let Self {
            killed,
            equivalent,
            survived,
            open,
            rejected,
            complaints,
        } = self;
        println!(
            "{killed} killed, {equivalent} equivalent by argument, {survived} survived, {open} not judged"
        );
        println!("{rejected} with wrong verdicts that are all rejected");
        println!("{} not as listed", complaints.len());
    }
}

/// What is asked about all mutants.
struct Inquiry<'a> {
    list: &'a List,
    suites: &'a Suites,
    /// How long runs take without a mutant.
    usual: &'a BTreeMap<Run, Duration>,
    options: &'a Options,
    counts: Mutex<Counts>,
}

impl Inquiry<'_> {
    /// Asks about as many mutants at a time as there are processors.
    fn judge_all(self, mutants: Vec<&Mutant>) -> Result<Counts> {
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        let next = Mutex::new(mutants.into_iter());
        let take = || next.lock().expect("no worker panics").next();
        let work = || -> Result<()> {
            while let Some(mutant) = take() {
                if !self.options.certificates {
                    self.judge(mutant)?;
                }
                if self.options.asks_for_certificates(mutant) {
                    self.judge_wrong_holds(mutant)?;
                }
            }
            Ok(())
        };

        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
            let mut ends = workers.into_iter().map(|w| w.join().expect("no panic"));
            ends.try_for_each(|end| end)
        })?;
        Ok(self.counts.into_inner().expect("no worker panics"))
    }

    fn judge(&self, mutant: &Mutant) -> Result<()> {
        let killer = match &mutant.role {
            Role::Equivalent(why) => {
                self.count(|counts| counts.equivalent += 1);
                println!("equivalent  {}: {why}", mutant.name);
                return Ok(());
            }
            Role::Killed { suite, test } => {
                let end = self.run_until_noticed(&(suite.clone(), test.clone()), mutant)?;
                (end != End::Passed).then(|| format!("{suite}: {end}"))
            }
            Role::Open if self.options.explore => self.first_killer(mutant)?,
            Role::Open => {
                self.count(|counts| counts.open += 1);
                println!("not judged  {}", mutant.name);
                return Ok(());
            }
        };

        if let Some(killer) = killer {
            self.count(|counts| counts.killed += 1);
            println!("killed      {}: {killer}", mutant.name);
        } else {
            self.count(|counts| counts.survived += 1);
            self.complain(format!("SURVIVED    {} ({})", mutant.name, mutant.file));
        }

        Ok(())
    }

    /// Does the mutant say "holds" wrongly, and is every certificate of that rejected?
    fn judge_wrong_holds(&self, mutant: &Mutant) -> Result<()> {
        let name = &mutant.name;
        let search = wrong_holds_run(FINDS_VIOLATIONS);
        let found = if mutant.wrong_holds {
            self.run_until_noticed(&search, mutant)?
        } else {
            self.run(&search, mutant)?
        };
        let is_wrong = matches!(found, End::Failed(test) if test.ends_with(FINDS_VIOLATIONS));
        if !is_wrong {
            if mutant.wrong_holds {
                self.complain(format!("NOT FOUND   {name}: no wrong verdict"));
            } else {
                println!("none        {name}: no wrong verdict");
            }
            return Ok(());
        }

        let end = self.run(&wrong_holds_run(REJECTS), mutant)?;
        if end == End::Passed {
            self.count(|counts| counts.rejected += 1);
            println!("rejected    {name}");
        } else {
            self.complain(format!("CERTIFIED   {name}: {end}"));
        }
        Ok(())
    }

    /// The first suite that notices a mutant.
    fn first_killer(&self, mutant: &Mutant) -> Result<Option<String>> {
        for name in self.list.suites_for(mutant) {
            let end = self.run(&(name.clone(), None), mutant)?;
            if end != End::Passed {
                return Ok(Some(format!("{name}: {end}")));
            }
        }
        Ok(None)
    }

    fn run_until_noticed(&self, run: &Run, mutant: &Mutant) -> Result<End> {
        for _ in 1..N_ATTEMPTS {
            let end = self.run(run, mutant)?;
            if end != End::Passed {
                return Ok(end);
            }
        }
        self.run(run, mutant)
    }

    fn run(&self, run: &Run, mutant: &Mutant) -> Result<End> {
        let filter = run.1.as_deref();
        let (end, _) = self
            .suites
            .run((&run.0, filter), Some(mutant.id), self.usual[run])?;
        Ok(end)
    }

    fn complain(&self, line: String) {
        println!("{line}");
        self.count(|counts| counts.complaints.push(line));
    }

    fn count(&self, add: impl FnOnce(&mut Counts)) {
        add(&mut self.counts.lock().expect("no worker panics"));
    }
}

/// The environment variable that chooses a mutant.
const SWITCH: &str = "FAIR_MUTANT";

/// A path below the root, as the list writes it.
fn below(root: &Path, file: &str) -> PathBuf {
    file.split('/')
        .fold(root.to_owned(), |path, part| path.join(part))
}
