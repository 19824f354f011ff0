//! Files that are put in place at once.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::Path;

/// Puts a file in place of another at once. A call that ends while it writes must not destroy what
/// was there before, and must not write into a file that another program has put there.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The keys are random, so the name cannot be guessed.
    let number = RandomState::new().build_hasher().finish();
    let partial = path.with_file_name(format!(".{name}.{number:016x}{PARTIAL}"));
    let written = File::create_new(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&partial, path));
    if replaced.is_err() {
        // Nothing can be done about what is left.
        let _ = fs::remove_file(&partial);
    }
    replaced
}

const PARTIAL: &str = ".part";

/// Removes what calls that were killed while they wrote this file have left. No other call may be
/// writing it.
pub fn remove_partial(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new(".")));
    for entry in entries.into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let number = file_name.to_str().and_then(|file| {
            let rest = file.strip_prefix('.')?.strip_prefix(&*name)?;
            rest.strip_prefix('.')?.strip_suffix(PARTIAL)
        });
        let is_ours = |number: &str| {
            number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        if number.is_some_and(is_ours) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_removed_and_nothing_else() {
        let directory = std::env::temp_dir().join(format!("fair-replacing-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");
        let path = directory.join("c");
        let left = [".c.0123456789abcdef.part"];
        let others = [
            ".c.part",
            ".c.0123456789abcdeg.part",
            "c.part",
            ".d.0123456789abcdef.part",
        ];
        for name in left.iter().chain(&others) {
            fs::write(directory.join(name), "").expect("files can be written");
        }

        replace(&path, b"1").expect("it can be written");
        replace(&path, b"2").expect("it can be replaced");
        assert_eq!(fs::read(&path).expect("it was written"), b"2");
        remove_partial(&path);

        for (names, stays) in [(&left[..], false), (&others[..], true)] {
            for name in names {
                assert_eq!(directory.join(name).exists(), stays, "{name}");
            }
        }
        fs::remove_dir_all(&directory).expect("it can be removed");
    }
}
