//! A copy of the sources in which every mutant is a choice at run time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::list::Mutant;
use super::{SWITCH, below};

/// The function that the copy asks whether a mutant is active. It is added to crate `base`, and to
/// crates with mutants that do not depend on it.
const CHOICE: &str = r#"
/// Is the mutant with this number active?
#[doc(hidden)]
#[must_use]
pub fn mutant(number: u64) -> bool {
    static ACTIVE: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    let read = || std::env::var("SWITCH").ok()?.parse().ok();
    *ACTIVE.get_or_init(read) == Some(number)
}
"#;

/// Writes the copy. Files that did not change since the last time are left alone, so that little is
/// built again.
///
/// # Errors
/// A text of the list does not occur exactly once in its file, or files cannot be written.
pub fn write(root: &Path, copy: &Path, mutants: &[Mutant]) -> Result<()> {
    let mut texts = BTreeMap::new();
    for file in tracked_files(root)? {
        let content = fs::read(below(root, &file)).with_context(|| file.clone())?;
        texts.insert(file, content);
    }

    for (file, content) in &mut texts {
        let own: Vec<_> = mutants.iter().filter(|m| m.file == *file).collect();
        if !own.is_empty() {
            let text = std::str::from_utf8(content).context("sources are UTF-8")?;
            *content = mutated(text, &own, asks(file))?.into_bytes();
        }
    }

    if let Some(lost) = mutants.iter().find(|m| !texts.contains_key(&m.file)) {
        bail!("`{}`: there is no file `{}`", lost.name, lost.file);
    }
    for root in ["crates/base/src/lib.rs", "crates/store/src/lib.rs"] {
        let library = texts.get_mut(root);
        let library = library.with_context(|| format!("`{root}` is not where it was"))?;
        library.extend(CHOICE.replace("SWITCH", SWITCH).bytes());
    }

    remove_others(copy, &texts)?;
    for (file, content) in &texts {
        let path = below(copy, file);
        if fs::read(&path).ok().as_ref() != Some(content) {
            fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
            fs::write(&path, content).with_context(|| path.display().to_string())?;
        }
    }

    Ok(())
}

/// The files of the repository that exist, relative to its root.
fn tracked_files(root: &Path) -> Result<Vec<String>> {
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("git is needed to list the sources")?;
    let names = String::from_utf8(listing.stdout).context("file names are UTF-8")?;
    let exists = |name: &&str| below(root, name).is_file();
    Ok(names.lines().filter(exists).map(str::to_owned).collect())
}

/// How the code in a file asks whether a mutant is active.
fn asks(file: &str) -> &'static str {
    // This crate depends on no other one.
    if file.starts_with("crates/store/") {
        "crate::mutant"
    } else {
        "::base::mutant"
    }
}

/// The text with choices between right and wrong. Several mutants may replace the same text.
fn mutated(text: &str, mutants: &[&Mutant], asks: &str) -> Result<String> {
    let mut places: BTreeMap<usize, Vec<&Mutant>> = BTreeMap::new();
    for &mutant in mutants {
        let Mutant {
            name, file, find, ..
        } = mutant;
        let found: Vec<usize> = text
            .match_indices(find.as_str())
            .map(|(at, _)| at)
            .collect();
        let &[at] = &found[..] else {
            let n_places = found.len();
            bail!("`{name}`: its text occurs {n_places} times in `{file}`, not once");
        };
        places.entry(at).or_default().push(mutant);
    }

    let (mut result, mut end) = (String::new(), 0);
    for (at, choices) in places {
        let find = &choices[0].find;
        if at < end || choices.iter().any(|mutant| mutant.find != *find) {
            bail!("`{}`: its text overlaps with another one", choices[0].name);
        }
        result.push_str(&text[end..at]);
        result.push_str(&choice(find, &choices, asks));
        end = at + find.len();
    }

    result.push_str(&text[end..]);
    Ok(result)
}

/// The right text, unless one of the mutants is active.
fn choice(find: &str, mutants: &[&Mutant], asks: &str) -> String {
    let wrong = mutants.iter().map(|mutant| {
        let Mutant { id, replace, .. } = mutant;
        format!("if {asks}({id}) {{ {replace} }} else ")
    });
    let wrong: String = wrong.collect();
    let are_statements = find.trim_end().ends_with([';', '}']);
    if are_statements {
        format!("{wrong}{{ {find} }}")
    } else {
        format!("({wrong}{{ {find} }})")
    }
}

/// Removes what an earlier copy has and this one has not.
fn remove_others(copy: &Path, texts: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let mut folders = vec![copy.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            let relative = path.strip_prefix(copy).context("it lies in the copy")?;
            let name = relative.to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if !texts.contains_key(&name) && name != "Cargo.lock" {
                fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}
