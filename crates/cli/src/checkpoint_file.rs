//! Files that hold what a check needs to go on.
//!
//! A line of JSON says which call it was and what the model was; then come the states of the
//! searches that were not done, as numbers of 64 bits, and a hash of everything before it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fairground::Checkpoints;
use serde_json::{Value, json};

use crate::output;

/// How often the state of a search is kept.
const INTERVAL: Duration = Duration::from_secs(120);

const NO_PANIC: &str = "nobody panics while a checkpoint is written";

/// The call that a checkpoint continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its arguments, without the name of the program.
    pub arguments: Vec<String>,
    /// Where it was made.
    pub directory: String,
    /// The text of the model.
    pub text: String,
}

/// The states of searches, by property; the first word of each says which search it was.
pub type Sections = Vec<(String, Vec<u64>)>;

/// Keeps the state of searches in a file.
#[derive(Debug)]
pub struct CheckpointFile {
    path: PathBuf,
    call: Call,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    last: Instant,
    property: String,
    /// The states of searches that were not done, by property.
    sections: Sections,
    /// The states to go on from.
    restored: Sections,
    has_failed: bool,
}

impl CheckpointFile {
    /// A file to be written, with the states to go on from.
    pub fn new(path: PathBuf, call: Call, restored: Sections) -> Self {
        Self {
            path,
            call,
            inner: Mutex::new(Inner {
                last: Instant::now(),
                property: String::new(),
                sections: restored.clone(),
                restored,
                has_failed: false,
            }),
        }
    }

    /// The next search is for this property.
    pub fn begin(&self, property: &str) {
        property.clone_into(&mut self.inner().property);
    }

    /// The property is decided.
    pub fn done(&self) {
        let mut inner = self.inner();
        let property = inner.property.clone();
        inner.sections.retain(|(name, _)| *name != property);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect(NO_PANIC)
    }

    fn write(&self, sections: &[(String, Vec<u64>)]) -> anyhow::Result<()> {
        let listed = |(property, words): &(String, Vec<u64>)| json!({ "property": property, "words": words.len() });
        let header = json!({
            "checkpoint": 1,
            "arguments": self.call.arguments,
            "directory": self.call.directory,
            "text": self.call.text,
            "sections": sections.iter().map(listed).collect::<Vec<_>>(),
        });
        let mut bytes = format!("{header}\n").into_bytes();
        for (_, words) in sections {
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend(hash(&bytes).to_le_bytes());
        // A call that ends while it writes must not destroy what was kept before.
        let partial = self.path.with_extension("part");
        let cannot_write = || format!("`{}` cannot be written", self.path.display());
        fs::write(&partial, bytes).with_context(cannot_write)?;
        fs::rename(&partial, &self.path).with_context(cannot_write)
    }
}

impl Checkpoints for CheckpointFile {
    fn is_due(&self) -> bool {
        self.inner().last.elapsed() >= INTERVAL
    }

    fn keep(&self, search: u64, state: &[u64]) {
        let mut inner = self.inner();
        let property = inner.property.clone();
        inner.sections.retain(|(name, _)| *name != property);
        let words = [&[search], state].concat();
        inner.sections.push((property, words));
        if let Err(error) = self.write(&inner.sections)
            && !std::mem::replace(&mut inner.has_failed, true)
        {
            output::error(&format!("{error:#}; the check goes on"));
        }
        inner.last = Instant::now();
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut inner = self.inner();
        let property = inner.property.clone();
        let position = inner
            .restored
            .iter()
            .position(|(name, words)| *name == property && words.first() == Some(&search));
        position.map(|position| inner.restored.swap_remove(position).1.split_off(1))
    }
}

/// Reads a file: the call, and the states of its searches by property.
///
/// # Errors
/// It cannot be read, or it is damaged.
pub fn read(path: &Path) -> anyhow::Result<(Call, Sections)> {
    let bytes = fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    let parsed = bytes
        .split_last_chunk()
        .filter(|(content, stored)| hash(content) == u64::from_le_bytes(**stored))
        .and_then(|(content, _)| parse(content));
    match parsed {
        Some(parsed) => Ok(parsed),
        None => bail!("`{}` is no checkpoint, or it is damaged", path.display()),
    }
}

fn parse(content: &[u8]) -> Option<(Call, Sections)> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let header: Value = serde_json::from_slice(&content[..end]).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let arguments = header["arguments"].as_array()?.iter().map(text);
    let call = Call {
        arguments: arguments.collect::<Option<_>>()?,
        directory: text(&header["directory"])?,
        text: text(&header["text"])?,
    };
    let mut rest = &content[end + 1..];
    let mut sections = Vec::new();
    for section in header["sections"].as_array()? {
        let n_bytes = usize::try_from(section["words"].as_u64()?)
            .ok()?
            .checked_mul(8)?;
        let (words, others) = rest.split_at_checked(n_bytes)?;
        let words = words
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        sections.push((text(&section["property"])?, words.collect()));
        rest = others;
    }
    Some((call, sections))
}

/// FNV-1a over words: not against malice, but against accidents.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_can_be_read() {
        let directory =
            std::env::temp_dir().join(format!("fair-checkpoint-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");
        let path = directory.join("c");
        let call = Call {
            arguments: vec!["check".into(), "m.fair".into()],
            directory: "/".into(),
            text: "process P { a }\n".into(),
        };
        let file = CheckpointFile::new(path.clone(), call.clone(), Vec::new());
        file.begin("p");
        file.keep(7, &[1, u64::MAX]);
        file.begin("q");
        file.keep(8, &[]);
        let sections = vec![
            ("p".to_owned(), vec![7, 1, u64::MAX]),
            ("q".to_owned(), vec![8]),
        ];
        let kept = (call.clone(), sections.clone());
        assert_eq!(read(&path).expect("it is not damaged"), kept);
        let again = CheckpointFile::new(path.clone(), call, sections);
        again.begin("p");
        assert_eq!(again.take(8), None, "kept by another search");
        assert_eq!(again.take(7), Some(vec![1, u64::MAX]));
        assert_eq!(again.take(7), None, "taken before");
        let mut bytes = fs::read(&path).expect("it was written");
        bytes[20] ^= 1;
        fs::write(&path, bytes).expect("it can be written");
        assert!(read(&path).is_err());
        fs::remove_dir_all(&directory).expect("it can be removed");
    }
}
