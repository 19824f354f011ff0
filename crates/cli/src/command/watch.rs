//! `fair check --watch`: checks again whenever a file changes.
//!
//! Files are looked at from time to time. That works on every system and every file system, and costs
//! nothing that could be noticed with the few files that models are made of.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use super::check;
use crate::failure::{Failure, Status};
use crate::options::CheckOptions;
use crate::{inputs, limits, output};

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// What tells versions of files apart: when they were written and how long they are; nothing for those
/// that cannot be read.
type Versions = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Checks until the call is interrupted; the status is that of the last check.
///
/// # Errors
/// Standard input is to be watched.
pub fn run(options: &CheckOptions) -> Result<Status, Failure> {
    if options.files.iter().any(|file| inputs::is_standard(file)) {
        let message = "standard input cannot be watched; name a file";
        return Err(Failure::wrong(message));
    }

    let budget = limits::budget();
    loop {
        // What changes while it is being read is read again.
        let before = versions(options);
        let status = check::run(options).unwrap_or_else(Failure::show);
        let mut seen = versions(options);
        seen.extend(before);

        output::note("waiting for changes; Ctrl-C ends");
        loop {
            if budget.check(0, 0).is_err() {
                return Ok(status);
            }
            thread::sleep(INTERVAL);
            if versions(options) != seen {
                break;
            }
        }
    }
}

/// The versions of all files that are named, that are in folders that are named, and that were read.
fn versions(options: &CheckOptions) -> Versions {
    let mut files = inputs::models(&options.files).unwrap_or_else(|_| options.files.clone());
    files.extend(inputs::were_read());
    let version = |file: &PathBuf| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let versions = files.into_iter().map(|file| (version(&file), file));
    versions.map(|(version, file)| (file, version)).collect()
}
