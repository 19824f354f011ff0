//! Which models a call names: files, folders, standard input.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, bail};
use fairground::{Confined, Files, Memory, Overlay, Unreadable, is_model};

/// Folders that models may include files of, besides their own.
static ALLOWED: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Lets models include files of these folders, too.
pub fn allow(folders: &[PathBuf]) {
    ALLOWED.get_or_init(|| folders.to_vec());
}

/// The files that a model may be made of.
pub fn files_of(model: &Path) -> Confined {
    Confined::beside(model, ALLOWED.get().map_or(&[], Vec::as_slice))
}

/// The bytes of a file that is not a device or a pipe.
///
/// # Errors
/// It is, or it cannot be read.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    fs::read(path)
}

/// The files that were read so far.
static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Files that are noted when they are read.
pub struct Noted<'a>(pub &'a dyn Files);

impl Files for Noted<'_> {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(path.to_owned());
        drop(read);
        self.0.read(path)
    }
}

/// The files that were read so far, or should have been.
pub fn were_read() -> BTreeSet<PathBuf> {
    READ.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Does a path stand for standard input?
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// More than this is not read from standard input.
const MAX_BYTES: u64 = 64 << 20;

/// What stands for standard input, which holds a model in the native language.
const STANDARD_INPUT: &str = "-";

/// The models among files and folders, those of a folder by name.
///
/// # Errors
/// A folder cannot be listed, or has no models.
pub fn models(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut models = Vec::new();
    for path in paths {
        if path.is_dir() {
            let n_before = models.len();
            list(path, &mut models)?;
            if models.len() == n_before {
                bail!("`{}` has no models in it", path.display());
            }
        } else {
            models.push(path.clone());
        }
    }
    Ok(models)
}

/// Are several models named, or a folder that may hold several?
pub fn are_several(paths: &[PathBuf]) -> bool {
    paths.len() > 1 || paths.iter().any(|path| path.is_dir())
}

fn list(folder: &Path, models: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| format!("`{}` cannot be listed", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();

    for path in paths {
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            list(&path, models)?;
        } else if is_model(&path) {
            models.push(path);
        }
    }
    Ok(())
}

/// Does something with the files that a model can be read from: the disk, and standard input if that
/// is what is named.
///
/// # Errors
/// Standard input cannot be read, or what `action` says.
pub fn with_files<T, E: From<anyhow::Error>>(
    path: &Path,
    action: impl FnOnce(&dyn Files) -> Result<T, E>,
) -> Result<T, E> {
    if !is_standard(path) {
        return action(&files_of(path));
    }
    let mut text = String::new();
    let read = io::stdin().take(MAX_BYTES + 1).read_to_string(&mut text);
    read.context("standard input is not a text")?;
    if text.len() as u64 > MAX_BYTES {
        let message = "standard input has more than 64 MiB, too much for a model";
        return Err(anyhow::anyhow!(message).into());
    }
    let top = Memory::new([(path, text)]);
    let below = &files_of(path);
    action(&Overlay { top, below })
}
