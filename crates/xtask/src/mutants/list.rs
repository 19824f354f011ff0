//! The list of mutants, `crates/xtask/mutants.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// The list as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    suites: BTreeMap<String, Vec<String>>,
    mutant: Vec<WrittenMutant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMutant {
    name: String,
    file: String,
    find: String,
    replace: String,
    killed_by: Option<String>,
    equivalent: Option<String>,
    #[serde(default)]
    wrong_holds: bool,
}

/// The list.
pub struct List {
    /// The suites that are tried on mutants without a test whose names begin with the key, fastest
    /// first.
    suites: BTreeMap<String, Vec<String>>,
    /// The mutants.
    pub mutants: Vec<Mutant>,
}

impl List {
    /// The suites that are tried on a mutant without a test.
    pub fn suites_for(&self, mutant: &Mutant) -> impl Iterator<Item = &String> {
        let fitting = |(area, _): &(&String, _)| mutant.name.starts_with(area.as_str());
        self.suites
            .iter()
            .filter(fitting)
            .flat_map(|(_, list)| list)
    }
}

/// One error.
pub struct Mutant {
    /// What is wrong, in a few words.
    pub name: String,
    /// Where, relative to the root.
    pub file: String,
    /// The right text. It occurs once in the file, and is an expression or a list of statements.
    pub find: String,
    /// The wrong text, of the same kind; no statements at all are written as an empty text.
    pub replace: String,
    /// Its number, which depends on the texts alone: a change of the list changes those files of
    /// the copy only that it speaks of, so that little is built again.
    pub id: u64,
    /// What is known about it.
    pub role: Role,
    /// It says "holds" of something that is violated, and no certificate of that is accepted.
    pub wrong_holds: bool,
}

/// What is known about a mutant.
pub enum Role {
    /// This suite notices, or this test of it.
    Killed {
        /// The package and the name of the test program, `package/program`.
        suite: String,
        /// A filter for the tests of the program.
        test: Option<String>,
    },
    /// No test can notice, because of this.
    Equivalent(String),
    /// Nothing yet.
    Open,
}

/// Reads the list.
///
/// # Errors
/// It cannot be read, two mutants share a name or texts, or one is said to be both killed and equivalent.
pub fn read(path: &Path) -> Result<List> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let written: Written = toml::from_str(&text).with_context(|| path.display().to_string())?;

    let mut mutants: Vec<Mutant> = Vec::new();
    for mutant in written.mutant {
        let mutant = understood(mutant)?;
        let is_same = |other: &&Mutant| other.name == mutant.name || other.id == mutant.id;
        if let Some(other) = mutants.iter().find(is_same) {
            bail!("`{}` and `{}` are the same", other.name, mutant.name);
        }
        mutants.push(mutant);
    }
    Ok(List {
        suites: written.suites,
        mutants,
    })
}

fn understood(mutant: WrittenMutant) -> Result<Mutant> {
    let role = match (mutant.killed_by, mutant.equivalent) {
        (Some(_), Some(_)) => bail!("`{}` is killed and equivalent at once", mutant.name),
        (Some(test), None) => killed_by(&test),
        (None, Some(why)) => Role::Equivalent(why),
        (None, None) => Role::Open,
    };
    Ok(Mutant {
        id: hash([&mutant.file, &mutant.find, &mutant.replace]),
        name: mutant.name,
        file: mutant.file,
        find: mutant.find,
        replace: mutant.replace,
        role,
        wrong_holds: mutant.wrong_holds,
    })
}

/// A hash that is the same everywhere: FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), with a separator
/// that no text contains.
fn hash(texts: [&String; 3]) -> u64 {
    let bytes = texts
        .into_iter()
        .flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// `package/program` or `package/program test`.
fn killed_by(text: &str) -> Role {
    let (suite, test) = match text.split_once(' ') {
        Some((suite, test)) => (suite, Some(test.to_owned())),
        None => (text, None),
    };
    Role::Killed {
        suite: suite.to_owned(),
        test,
    }
}
