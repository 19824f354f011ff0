//! A folder for searches, in memory.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use base::{Folder, NewFile};

/// A folder in memory, which may run full, lose what was not finished, and be damaged.
#[derive(Clone, Debug)]
pub struct Shelf {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    room: Arc<AtomicI64>,
}

impl Default for Shelf {
    fn default() -> Self {
        Self {
            files: Arc::default(),
            room: Arc::new(AtomicI64::new(i64::MAX)),
        }
    }
}

impl Shelf {
    /// Its files by name.
    ///
    /// # Panics
    /// If a test has panicked while it held them.
    pub fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files
            .lock()
            .expect("no test panics while it holds the files")
    }

    /// This many bytes can be written from now on.
    pub fn set_room(&self, n_bytes: i64) {
        self.room.store(n_bytes, Ordering::Relaxed);
    }

    /// A copy that has nothing more to do with it: what is there if the power fails now.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::default();
        copy.files().clone_from(&self.files());
        copy
    }
}

struct Draft {
    name: String,
    bytes: Vec<u8>,
    shelf: Shelf,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_bytes = bytes.len() as i64;
        if self.shelf.room.fetch_sub(n_bytes, Ordering::Relaxed) < n_bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Draft {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self { name, bytes, shelf } = *self;
        shelf.files().insert(name, bytes);
        Ok(())
    }
}

impl Folder for Shelf {
    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(Draft {
            name: name.to_owned(),
            bytes: Vec::new(),
            shelf: self.clone(),
        }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let bytes = self.files().get(name).cloned();
        Ok(Box::new(Cursor::new(bytes.ok_or(io::ErrorKind::NotFound)?)))
    }

    fn remove(&self, name: &str) {
        self.files().remove(name);
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }
}
