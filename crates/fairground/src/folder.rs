//! Folders on the disk of the machine, for searches that keep sets of states in files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use base::{Folder, NewFile};

/// A folder on disk in which a search keeps its files. Only one search may use it at a time.
#[derive(Clone, Debug)]
pub struct DiskFolder {
    path: PathBuf,
}

/// How the names of files of searches end.
const RUN: &str = ".run";

/// How the names of files end that are not finished.
const PARTIAL: &str = ".run.part";

impl DiskFolder {
    /// The folder, without what was not finished by searches that were killed.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(PARTIAL) {
                // What cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Sees to it that all files of searches in a folder are on the disk, before a position names them.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn sync(path: &Path) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(RUN) {
                File::open(entry.path())?.sync_data()?;
            }
        }
        // Names are kept by the folder. Systems that cannot do this need not.
        let _ = File::open(path).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Does a file of this name belong to a search?
    #[must_use]
    pub fn is_own(name: &str) -> bool {
        name.ends_with(RUN) || name.ends_with(PARTIAL)
    }
}

/// A file that is being written under another name.
struct Draft {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    is_finished: bool,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl NewFile for Draft {
    // A search needs files after the power has failed only if a position names them: see `sync`.
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        fs::rename(&self.partial, &self.path)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next search removes what cannot be removed now.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

impl Folder for DiskFolder {
    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>> {
        let stem = name.strip_suffix(RUN).unwrap_or(name);
        let partial = self.path.join(format!("{stem}{PARTIAL}"));
        Ok(Box::new(Draft {
            file: File::create(&partial)?,
            partial,
            path: self.path.join(name),
            is_finished: false,
        }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            names.extend(
                name.to_str()
                    .filter(|n| n.ends_with(RUN))
                    .map(str::to_owned),
            );
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_files_exist() {
        let path = std::env::temp_dir().join(format!("fair-folder-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        fs::write(path.join("old.run.part"), "x").expect("files can be written");
        let folder = DiskFolder::open(&path).expect("it can be read");
        assert!(!path.join("old.run.part").exists());

        let mut file = folder.create("a.run").expect("it can be written");
        file.write_all(b"abc").expect("it can be written");
        assert!(folder.names().expect("it can be read").is_empty());
        file.finish().expect("it can be written");
        drop(folder.create("b.run").expect("it can be written"));

        assert_eq!(folder.names().expect("it can be read"), ["a.run"]);
        let mut text = String::new();
        let mut file = folder.open("a.run").expect("it is there");
        file.read_to_string(&mut text).expect("it can be read");
        assert_eq!(text, "abc");
        DiskFolder::sync(&path).expect("it can be written");
        folder.remove("a.run");
        fs::remove_dir(&path).expect("nothing is left in it");
    }
}
