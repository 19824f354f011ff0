//! `cargo xtask mutants`: would a test notice if the code were wrong?
//!
//! `testdata/mutants.toml` lists small errors: a piece of text that occurs once in a file, what
//! stands there instead, and the test that notices. Building the workspace once for each of them
//! would take hours, so all of them are built at once: in a copy of the sources each piece becomes
//! a choice that the environment variable `FAIR_MUTANT` makes when the program runs (mutant
//! schemata: R. Untch, A. J. Offutt, M. J. Harrold, *Mutation Analysis Using Mutant Schemata*,
//! ISSTA 1993). The sources themselves know nothing about it.
//!
//! A mutant is *killed* if its test fails, hangs or dies. The list is wrong, and the command fails,
//! if a mutant that is said to be killed survives, or if its text is not in the sources any more.
//! An *equivalent* mutant carries the argument why no test can notice it.

mod list;
mod schemata;
mod suites;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use list::{Mutant, Role};
use suites::{End, Suites};

/// Where the mutated copy and what is built from it lie, below the root.
const WORKSHOP: &str = "target/mutants";

/// What is asked for.
#[derive(Default)]
pub struct Options {
    /// Only mutants whose name contains this.
    only: Option<String>,
    /// Try all suites of the list on mutants without a test, and say which one notices.
    explore: bool,
}

impl Options {
    /// Reads the arguments after `mutants`.
    pub fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--explore" => options.explore = true,
                "--only" => {
                    let name = rest.next().context("`--only` needs a part of a name")?;
                    options.only = Some((*name).to_owned());
                }
                other => bail!("`{other}` is not an option of `cargo xtask mutants`"),
            }
        }
        Ok(options)
    }

    fn selects(&self, mutant: &Mutant) -> bool {
        self.only
            .as_ref()
            .is_none_or(|part| mutant.name.contains(part))
    }
}

/// Builds all mutants, runs their tests, and prints what became of each.
///
/// # Errors
/// The list does not fit the sources, the copy does not build, a suite fails without any mutant, or
/// a mutant survives.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let list = list::read(&root.join("testdata/mutants.toml"))?;
    let workshop = root.join(WORKSHOP);
    let copy = workshop.join("source");
    schemata::write(root, &copy, &list.mutants)?;

    let wanted = wanted_suites(&list.mutants, &list.suites, options);
    let suites = Suites::build(&copy, &workshop.join("build"), &wanted)?;
    check_unmutated(&suites)?;

    let mut counts = Counts::default();
    for (number, mutant) in list.mutants.iter().enumerate() {
        if options.selects(mutant) {
            judge(number, mutant, &suites, options, &mut counts)?;
        }
    }
    counts.print();
    if counts.survived > 0 {
        bail!("{} mutants survived", counts.survived);
    }
    Ok(())
}

/// The suites that have to be built.
fn wanted_suites(mutants: &[Mutant], all: &[String], options: &Options) -> BTreeSet<String> {
    let mut wanted: BTreeSet<String> = mutants
        .iter()
        .filter(|mutant| options.selects(mutant))
        .filter_map(|mutant| match &mutant.role {
            Role::Killed { suite, .. } => Some(suite.clone()),
            Role::Equivalent(_) | Role::Open => None,
        })
        .collect();
    if options.explore {
        wanted.extend(all.iter().cloned());
    }
    wanted
}

/// A suite that fails anyway would kill everything.
fn check_unmutated(suites: &Suites) -> Result<()> {
    for name in suites.names() {
        if suites.run(name, None, None)? != End::Passed {
            bail!("`{name}` fails although no mutant is active");
        }
    }
    Ok(())
}

/// How many mutants ended in which way.
#[derive(Default)]
struct Counts {
    killed: usize,
    equivalent: usize,
    survived: usize,
}

impl Counts {
    fn print(&self) {
        let Self {
            killed,
            equivalent,
            survived,
        } = self;
        println!("{killed} killed, {equivalent} equivalent by argument, {survived} survived");
    }
}

fn judge(
    number: usize,
    mutant: &Mutant,
    suites: &Suites,
    options: &Options,
    counts: &mut Counts,
) -> Result<()> {
    let killer = match &mutant.role {
        Role::Equivalent(why) => {
            counts.equivalent += 1;
            println!("equivalent  {}: {why}", mutant.name);
            return Ok(());
        }
        Role::Killed { suite, test } => {
            let end = suites.run(suite, test.as_deref(), Some(number))?;
            (end != End::Passed).then(|| format!("{end} in {suite}"))
        }
        Role::Open if options.explore => first_killer(number, suites)?,
        Role::Open => None,
    };
    if let Some(killer) = killer {
        counts.killed += 1;
        println!("killed      {}: {killer}", mutant.name);
    } else {
        counts.survived += 1;
        println!("SURVIVED    {} ({})", mutant.name, mutant.file);
    }
    Ok(())
}

/// The first suite that notices a mutant.
fn first_killer(number: usize, suites: &Suites) -> Result<Option<String>> {
    for name in suites.names() {
        let end = suites.run(name, None, Some(number))?;
        if end != End::Passed {
            return Ok(Some(format!("{end} in {name}")));
        }
    }
    Ok(None)
}

/// The environment variable that chooses a mutant.
const SWITCH: &str = "FAIR_MUTANT";

/// A path below the root, as the list writes it.
fn below(root: &Path, file: &str) -> PathBuf {
    file.split('/')
        .fold(root.to_owned(), |path, part| path.join(part))
}
