//! Folders in which searches keep states in files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fairground::{DiskFolder, Folder};

use crate::checkpoint_file::CHECKPOINT;

/// Makes the folder, unless it is there.
///
/// # Errors
/// It cannot be made.
pub fn create(path: &Path) -> anyhow::Result<()> {
    let cannot = || format!("the folder `{}` cannot be made", path.display());
    fs::create_dir_all(path).with_context(cannot)
}

/// Sees to it that nothing is in a folder for a new search. No other call may be using it.
///
/// # Errors
/// There is something in it.
pub fn clear(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    let cannot = || format!("the folder `{name}` cannot be used");
    if path.join(CHECKPOINT).exists() {
        bail!(
            "`{name}` holds a search that was stopped; continue it with `fair resume {name}`, or \
             remove the folder"
        );
    }

    // A call that was killed before its first checkpoint leaves files that no other call needs.
    let mut left = Vec::new();
    for entry in fs::read_dir(path).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let file = entry.file_name().to_string_lossy().into_owned();
        if DiskFolder::is_own(&file) {
            left.push(entry.path());
        } else if file != format!(".{CHECKPOINT}.lock") {
            bail!("`{name}` is not empty: there is `{file}`; name a folder for this search alone");
        }
    }
    for file in left {
        fs::remove_file(file).with_context(cannot)?;
    }
    Ok(())
}

/// The folder as searches see it. No other call may be using it.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path) -> anyhow::Result<Arc<dyn Folder>> {
    let cannot = || format!("the folder `{}` cannot be used", path.display());
    let folder = DiskFolder::open(path).with_context(cannot)?;
    Ok(Arc::new(folder))
}
