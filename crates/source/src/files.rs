//! Where texts come from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Texts by their paths.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// There is no such file, or it is not a text.
    fn read(&self, path: &Path) -> Result<String, Unreadable>;
}

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong, with the name of the file.
    pub message: String,
    /// What the file system says about it.
    pub cause: Option<String>,
}

/// The message; with `{:#}` also its cause.
impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.cause {
            Some(cause) if f.alternate() => write!(f, ": {cause}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Unreadable {}

/// Files in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    text_by_path: BTreeMap<PathBuf, String>,
}

impl Memory {
    /// These files.
    pub fn new<P: Into<PathBuf>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        let entry = |(path, text): (P, T)| (path.into(), text.into());
        Self {
            text_by_path: files.into_iter().map(entry).collect(),
        }
    }

    /// Adds a file, or gives it another text.
    pub fn insert(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.text_by_path.insert(path.into(), text.into());
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        let found = self.text_by_path.get(path).cloned();
        found.ok_or_else(|| Unreadable {
            message: format!("there is no file `{}`", path.display()),
            cause: None,
        })
    }
}

/// Files of which some have other texts than below, such as those that are open in an editor.
pub struct Overlay<'f> {
    /// The texts that count.
    pub top: Memory,
    /// Where all other files are.
    pub below: &'f dyn Files,
}

impl Files for Overlay<'_> {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        self.top.read(path).or_else(|_| self.below.read(path))
    }
}

/// A file that another one names: it is looked for in the same folder.
#[must_use]
pub fn beside(file: &Path, name: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_top_counts() {
        let below = Memory::new([("m/a", "1"), ("m/b", "2")]);
        let files = Overlay {
            top: Memory::new([("m/a", "3")]),
            below: &below,
        };
        let read = |name| files.read(&beside(Path::new("m/main"), name));
        assert_eq!(read("a").unwrap(), "3");
        assert_eq!(read("b").unwrap(), "2");
        assert_eq!(read("c").unwrap_err().message, "there is no file `m/c`");
    }

    #[test]
    fn causes_are_told_on_request() {
        let error = Unreadable {
            message: "`a` cannot be read".to_owned(),
            cause: Some("permission denied".to_owned()),
        };
        assert_eq!(error.to_string(), "`a` cannot be read");
        assert_eq!(
            format!("{error:#}"),
            "`a` cannot be read: permission denied"
        );
    }
}
