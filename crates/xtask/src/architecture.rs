//! The dependency table of `ARCHITECTURE.md` against the `Cargo.toml` files, its walk through the
//! code against the files that exist, and that unsafe code is denied where it says so.
//!
//! Cargo refuses cycles, but not a dependency in a direction that the architecture forbids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::lint::rust_files;

/// The crates that a crate may depend on.
type Table = BTreeMap<String, BTreeSet<String>>;

/// The crates that may contain unsafe code.
const UNSAFE: [&str; 2] = ["store", "jit"];

/// The lint that denies it elsewhere, in two pieces because this file is looked at, too.
const LINT: &str = concat!("unsafe", "_code");

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates lie two levels deep")
        .to_owned()
}

/// Fails with every difference between the table and the manifests.
pub fn check(root: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let allowed = table(&text);
    let actual = manifests(root)?;

    let mut problems = differences(&allowed, &actual);
    problems.extend(wrong_stations(&text, &|path| root.join(path).is_file()));
    for name in actual
        .keys()
        .filter(|name| !UNSAFE.contains(&name.as_str()))
    {
        problems.extend(unsafe_permissions(&root.join("crates").join(name))?);
    }

    if problems.is_empty() {
        println!(
            "{} crates depend on each other as ARCHITECTURE.md says",
            actual.len()
        );
        return Ok(());
    }
    bail!("{}", problems.join("\n"));
}

/// Rows of the form `| name | a, b |` below the heading "Dependencies".
fn table(text: &str) -> Table {
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("## Dependencies"))
        .skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## "));
    let cells = rows.filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["", name, dependencies, .., ""] if name.starts_with('`') => {
                Some(((*name).to_owned(), (*dependencies).to_owned()))
            }
            _ => None,
        }
    });

    let names = |list: &str| -> BTreeSet<String> {
        list.split(',')
            .map(|name| name.trim().trim_matches('`').to_owned())
            .filter(|n| n != "–")
            .collect()
    };

    cells
        .map(|(name, list)| (name.trim_matches('`').to_owned(), names(&list)))
        .collect()
}

/// The walk through the code has at most this many stations.
const MAX_STATIONS: usize = 25;

/// What is wrong with the numbered stations below the heading "The walk": each begins with a file.
fn wrong_stations(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("## The walk"))
        .skip(1);
    let lines = lines.take_while(|line| !line.starts_with("## "));
    let numbered = lines.filter_map(|line| line.split_once(". "));
    let is_number = |(number, _): &(&str, &str)| number.parse::<usize>().is_ok();
    let stations: Vec<(&str, &str)> = numbered.filter(is_number).collect();

    let mut problems = Vec::new();
    if stations.is_empty() || stations.len() > MAX_STATIONS {
        let n_stations = stations.len();
        problems.push(format!(
            "the walk in ARCHITECTURE.md has {n_stations} stations, not 1 to {MAX_STATIONS}"
        ));
    }

    for (number, station) in stations {
        let file = station.split('`').nth(1).unwrap_or_default();
        if !exists(file) {
            problems.push(format!("station {number} of the walk: no file `{file}`"));
        }
    }

    problems
}

fn manifests(root: &Path) -> Result<Table> {
    let mut crates = BTreeMap::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let path = entry?.path();
        let manifest = fs::read_to_string(path.join("Cargo.toml"))
            .with_context(|| format!("{}/Cargo.toml", path.display()))?;
        let manifest: toml::Table = manifest.parse()?;
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names = dependencies
            .into_iter()
            .flat_map(|table| table.keys().cloned());
        crates.insert(name, names.collect::<BTreeSet<_>>());
    }

    let internal: BTreeSet<String> = crates.keys().cloned().collect();
    for dependencies in crates.values_mut() {
        dependencies.retain(|name| internal.contains(name));
    }
    Ok(crates)
}

/// What would let a crate contain unsafe code: lints of its own, or a file that mentions the lint.
fn unsafe_permissions(folder: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml"))?.parse()?;
    let lints = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"));
    if lints.and_then(toml::Value::as_bool) != Some(true) {
        let folder = folder.display();
        problems.push(format!("{folder} does not have the lints of the workspace"));
    }

    for file in rust_files(folder)? {
        if fs::read_to_string(&file)?.contains(LINT) {
            let file = file.display();
            problems.push(format!(
                "{file}: the lint {LINT} is denied by the workspace"
            ));
        }
    }

    Ok(problems)
}

fn differences(allowed: &Table, actual: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, dependencies) in actual {
        let Some(allowed) = allowed.get(name) else {
            problems.push(format!("crate `{name}` is missing in ARCHITECTURE.md"));
            continue;
        };
        for dependency in dependencies.difference(allowed) {
            problems.push(format!("`{name}` must not depend on `{dependency}`"));
        }
        for dependency in allowed.difference(dependencies) {
            problems.push(format!(
                "`{name}` does not depend on `{dependency}` any more"
            ));
        }
    }

    for name in allowed.keys().filter(|name| !actual.contains_key(*name)) {
        problems.push(format!(
            "ARCHITECTURE.md names `{name}`, which does not exist"
        ));
    }

    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_depend_on_each_other_as_the_map_says() {
        check(&root()).unwrap();
    }

    #[test]
    fn walks_are_short_and_lead_along_files() {
        let walk = |n: usize| {
            let station = |number| format!("{number}. `a.rs` does it.\n");
            let stations: String = (1..=n).map(station).collect();
            format!("## The walk of something\n\n{stations}## Dependencies\n1. `b.rs`\n")
        };
        let wrong = |n: usize| wrong_stations(&walk(n), &|path| path == "a.rs");
        assert_eq!(wrong(25), [""; 0]);
        assert_eq!(wrong(26).len(), 1);
        assert_eq!(wrong(0).len(), 1);
        let problems = wrong_stations(&walk(1), &|_| false);
        assert_eq!(problems, ["station 1 of the walk: no file `a.rs`"]);
    }

    #[test]
    fn crates_that_may_be_unsafe_are_noticed() {
        for name in UNSAFE {
            let problems = unsafe_permissions(&root().join("crates").join(name)).unwrap();
            assert_eq!(problems.len(), 1, "{problems:?}");
        }
        assert_eq!(
            unsafe_permissions(&root().join("crates/base")).unwrap(),
            [""; 0]
        );
    }

    #[test]
    fn every_kind_of_difference_is_reported() {
        let allowed = table(
            "## Dependencies\n| `a` | – |\n| `b` | `a`, `c` |\n| `d` | – |\n## End\n| `e` | – |",
        );

        let set = |names: &[&str]| {
            names
                .iter()
                .map(|n| (*n).to_owned())
                .collect::<BTreeSet<_>>()
        };

        let actual = [("a", set(&["b"])), ("b", set(&["a"])), ("c", set(&[]))];
        let actual = actual.map(|(name, list)| (name.to_owned(), list)).into();

        assert_eq!(
            differences(&allowed, &actual),
            [
                "`a` must not depend on `b`",
                "`b` does not depend on `c` any more",
                "crate `c` is missing in ARCHITECTURE.md",
                "ARCHITECTURE.md names `d`, which does not exist",
            ]
        );
    }
}
