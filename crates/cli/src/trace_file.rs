//! Traces in files.

use std::path::Path;

use anyhow::{Context as _, bail};
use fairground::Disk;
use fairground::report::{self, StoredTrace};

use crate::replacing;

/// Reads an ITF file.
///
/// # Errors
/// It cannot be read, or it is none.
pub fn read(path: &Path) -> anyhow::Result<StoredTrace> {
    let text = Disk.read_trace(path);
    let text = text.map_err(|error| anyhow::anyhow!("{error:#}"))?;
    report::read_itf(&text).with_context(|| format!("`{}`", path.display()))
}

/// Writes an ITF file.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, trace: &StoredTrace) -> anyhow::Result<()> {
    let cannot = || format!("`{}` cannot be written", path.display());
    let bytes = report::write_itf(trace).into_bytes();
    replacing::replace(path, &bytes).with_context(cannot)
}

/// Refuses, before a long search, a path that certainly cannot be written to.
///
/// # Errors
/// Why not.
pub fn check_writable(path: &Path) -> anyhow::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        _ if path.is_dir() => bail!("`{}` is a directory, not a file", path.display()),
        Some(parent) if !parent.is_dir() => {
            bail!("there is no directory `{}` for a trace", parent.display())
        }
        _ => Ok(()),
    }
}
