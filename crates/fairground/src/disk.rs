//! The files of the machine.

use std::fs;
use std::path::Path;

use source::{Files, Unreadable};

/// The files of the machine that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        let name = path.display();
        let unreadable = |message, cause| Unreadable { message, cause };
        if path.is_dir() {
            let message = format!("`{name}` is a directory, not a file");
            return Err(unreadable(message, None));
        }
        let bytes = fs::read(path).map_err(|error| {
            let message = format!("`{name}` cannot be read");
            unreadable(message, Some(error.to_string()))
        })?;

        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes()[..valid].iter().filter(|b| **b == b'\n');
            let line = lines.count() + 1;
            let message = format!("`{name}` is not UTF-8 text: byte {valid}, in line {line}");
            unreadable(message, None)
        })
    }
}
