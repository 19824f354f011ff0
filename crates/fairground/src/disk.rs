//! The files of the machine.

use std::fs;
use std::path::Path;
use std::string::FromUtf8Error;

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

        if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
            let message = format!("`{name}` is not a text: byte {at} is zero");
            return Err(unreadable(message, None));
        }
        // Older texts are in Latin-1, whose bytes are the first characters of Unicode.
        let latin =
            |error: FromUtf8Error| error.as_bytes().iter().copied().map(char::from).collect();
        Ok(String::from_utf8(bytes).unwrap_or_else(latin))
    }
}
