//! Results kept as JSON lines.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// A file that grows by one line for each result, so that an interrupted call leaves what it has.
#[derive(Debug)]
pub(crate) struct Record {
    file: File,
    path: PathBuf,
}

impl Record {
    /// An empty record.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let file = File::create(path).with_context(|| path.display().to_string())?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.with_context(|| self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_one_line() {
        let path = std::env::temp_dir().join(format!("record-{}.jsonl", std::process::id()));
        let mut record = Record::create(&path).unwrap();
        record.add(&[1, 2]).unwrap();
        record.add(&"a\nb").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(text, "[1,2]\n\"a\\nb\"\n");
    }
}
