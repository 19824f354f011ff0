//! Where searches keep sets of states that do not fit into memory.

use std::fmt;
use std::io;

/// A place for files that belong to searches. Only the library `fairground` knows the disk; a search
/// is given a folder, and tests give it one that loses power or runs full.
pub trait Folder: fmt::Debug + Send + Sync {
    /// Begins a file. Under its name it exists when it is finished, not before.
    ///
    /// # Errors
    /// It cannot be written.
    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>>;

    /// Reads a file from its beginning.
    ///
    /// # Errors
    /// It cannot be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn io::Read + Send>>;

    /// Removes a file. One that cannot be removed does no harm.
    fn remove(&self, name: &str);

    /// The names of all files that are finished.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn names(&self) -> io::Result<Vec<String>>;
}

/// A file that is being written. What is dropped before it is finished never was.
pub trait NewFile: io::Write + Send {
    /// Puts the file in its place, whole.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}
