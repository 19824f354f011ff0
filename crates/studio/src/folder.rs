//! The folder that was opened: nothing outside of it is read or written.
//!
//! Every path is resolved first, symbolic links included, and must then lie below the folder.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use fairground::{Files, Unreadable};

/// Files above this size are not opened.
const MAX_FILE: u64 = 8 << 20;
/// More files than these are not listed.
const MAX_LISTED: usize = 2000;
/// Folders deeper than this are not looked into.
const MAX_DEPTH: usize = 8;
/// How the names of files end that can be opened.
const EXTENSIONS: [&str; 6] = [".fair", ".pml", ".promela", ".prm", ".csp", ".itf.json"];

/// The folder that was opened.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Invariant: resolved.
    root: PathBuf,
}

/// Why a file cannot be read or written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It lies outside the folder, or the path makes no sense.
    Outside,
    /// There is no such file.
    Missing,
    /// It has changed since it was read; its text now.
    Changed(String),
    /// Something else.
    Other(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside => f.write_str("the path leads outside the folder that was opened"),
            Self::Missing => f.write_str("there is no such file"),
            Self::Changed(_) => f.write_str("the file has changed on the disk"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl Folder {
    /// A folder of the disk.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        let root = fs::canonicalize(path)?;
        Ok(Self { root })
    }

    /// What people call it.
    pub(crate) fn name(&self) -> String {
        self.root.display().to_string()
    }

    /// All files that can be opened, in the order of their names.
    pub(crate) fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.list_below(&self.root, 0, &mut found);
        found.sort();
        found
    }

    fn list_below(&self, folder: &Path, depth: usize, found: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let is_uninteresting =
                name.starts_with('.') || ["target", "node_modules"].contains(&name);
            let Ok(kind) = fs::symlink_metadata(&path).map(|data| data.file_type()) else {
                continue;
            };
            if is_uninteresting || found.len() == MAX_LISTED {
                continue;
            }

            // Links to folders are not followed: they may lead in circles.
            if kind.is_dir() && depth < MAX_DEPTH {
                self.list_below(&path, depth + 1, found);
            } else if EXTENSIONS.iter().any(|end| name.ends_with(end)) {
                let inside = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
                let inside = inside.filter(|inside| self.resolve(inside).is_ok());
                found.extend(inside.map(|inside| inside.replace('\\', "/")));
            }
        }
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &str) -> Result<String, Refusal> {
        read_text(&self.resolve(path)?)
    }

    /// Writes a file, if it still is what it was when it was read: the fingerprint of its text, or
    /// nothing if it did not exist.
    pub(crate) fn write(&self, path: &str, text: &str, base: Option<&str>) -> Result<(), Refusal> {
        if !EXTENSIONS.iter().any(|end| path.ends_with(end)) {
            let ends = EXTENSIONS.join(", ");
            return Err(Refusal::Other(format!(
                "files that are written end in {ends}"
            )));
        }
        let target = match self.resolve(path) {
            Ok(existing) => existing,
            Err(Refusal::Missing) => self.resolve_new(path)?,
            Err(other) => return Err(other),
        };

        let on_disk = match read_text(&target) {
            Ok(text) => Some(text),
            Err(Refusal::Missing) => None,
            Err(other) => return Err(other),
        };
        if on_disk.as_deref().map(fingerprint).as_deref() != base {
            return Err(Refusal::Changed(on_disk.unwrap_or_default()));
        }
        replace(&target, text)
            .map_err(|error| Refusal::Other(format!("`{path}` cannot be written: {error}")))
    }

    /// The file that a path means, with all links followed.
    fn resolve(&self, path: &str) -> Result<PathBuf, Refusal> {
        let resolved = fs::canonicalize(self.join(path)?).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Refusal::Missing,
            _ => Refusal::Outside,
        })?;
        self.inside(resolved)
    }

    /// Where a file would be that does not exist. Its folder does, and no link that leads nowhere is in
    /// its place: writing would follow it.
    fn resolve_new(&self, path: &str) -> Result<PathBuf, Refusal> {
        let joined = self.join(path)?;
        if fs::symlink_metadata(&joined).is_ok() {
            return Err(Refusal::Outside);
        }
        let (Some(parent), Some(name)) = (joined.parent(), joined.file_name()) else {
            return Err(Refusal::Outside);
        };
        let parent = fs::canonicalize(parent).map_err(|_| Refusal::Missing)?;
        Ok(self.inside(parent)?.join(name))
    }

    /// The path below the folder, unless it tries to leave it.
    fn join(&self, path: &str) -> Result<PathBuf, Refusal> {
        let path = Path::new(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let has_zero = path.as_os_str().as_encoded_bytes().contains(&0);
        if has_zero || path.as_os_str().is_empty() || !path.components().all(is_plain) {
            return Err(Refusal::Outside);
        }
        Ok(self.root.join(path))
    }

    fn inside(&self, resolved: PathBuf) -> Result<PathBuf, Refusal> {
        if resolved.starts_with(&self.root) {
            Ok(resolved)
        } else {
            Err(Refusal::Outside)
        }
    }
}

/// Files that models include, by paths below the folder.
impl Files for Folder {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        let name = path.to_str().unwrap_or_default();
        Folder::read(self, name).map_err(|refusal| Unreadable {
            message: format!("`{}` cannot be read", path.display()),
            cause: Some(refusal.to_string()),
        })
    }
}

/// Tells texts apart.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}-{}", hasher.finish(), text.len())
}

fn read_text(path: &Path) -> Result<String, Refusal> {
    let data = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Refusal::Missing,
        _ => Refusal::Other(error.to_string()),
    })?;
    if !data.is_file() {
        return Err(Refusal::Other("this is not a file".to_owned()));
    }
    if data.len() > MAX_FILE {
        return Err(Refusal::Other(format!(
            "the file has more than {MAX_FILE} bytes"
        )));
    }
    let bytes = fs::read(path).map_err(|error| Refusal::Other(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| Refusal::Other("the file is not UTF-8 text".to_owned()))
}

/// Puts the text in place at once, so that no reader sees half of it.
fn replace(target: &Path, text: &str) -> std::io::Result<()> {
    let name = target
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("file");
    let beside = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = (|| {
        // The name is fresh, or writing would go through a link that is there already.
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if let Ok(data) = fs::metadata(target) {
            fs::set_permissions(&beside, data.permissions())?;
        }
        fs::rename(&beside, target)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
