//! Files that hold what a check needs to go on.
//!
//! A line says that it is a checkpoint, and of which format. A line of JSON says which program
//! wrote it, which call it was and what the files of the model were; then come the states of the
//! searches that were not done, as numbers of 64 bits, and a hash of everything before it.
//!
//! The hash is against accidents. What a file says is data: the searches look at every number
//! before they use it, no file is written because a checkpoint names it, and a verdict says that it
//! rests on the checkpoint.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use fairground::{Checkpoints, DiskFolder, Folder, Inherited};
use serde_json::{Value, json};

use crate::{inputs, output, replacing};

/// How often the state of a search is kept, unless the call says otherwise.
const INTERVAL: Duration = Duration::from_secs(120);

/// How every checkpoint begins; the number of the format follows.
const MAGIC: &str = "fair-checkpoint ";

/// The format that is written and read.
const FORMAT: &str = "3";

/// The name of the checkpoint in the folder of a search that keeps its states in files.
pub const CHECKPOINT: &str = "checkpoint";

/// Which program writes checkpoints, to the byte: searches of other versions may number states
/// differently.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let executable = std::env::current_exe().and_then(fs::read);
        let build = executable.map_or(0, |bytes| hash(&bytes));
        format!("fair {} (build {build:016x})", env!("CARGO_PKG_VERSION"))
    })
}

const NO_PANIC: &str = "no thread panics while a checkpoint is written";

/// The call that a checkpoint continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its arguments, without the name of the program.
    pub arguments: Vec<String>,
    /// Where it was made.
    pub directory: String,
    /// The files of the model with their texts, the model itself first.
    pub files: Vec<(String, String)>,
}

/// The states of searches, by property; the first word of each says which search it was.
pub type Sections = Vec<(String, Vec<u64>)>;

/// Keeps the state of searches in a file.
#[derive(Debug)]
pub struct CheckpointFile {
    path: PathBuf,
    call: Call,
    interval: Duration,
    _lock: Lock,
    inner: Mutex<Inner>,
    /// The number of this process, if an earlier one had the file.
    earlier: Option<u64>,
    /// What other earlier processes have left to this one.
    legacies: Vec<Legacy>,
}

/// What a process of an earlier call has left.
#[derive(Debug)]
pub struct Legacy {
    /// The number of that process.
    pub process: u64,
    /// What it has kept.
    pub file: CheckpointFile,
    /// Where its files are.
    pub folder: Arc<dyn Folder>,
}

/// Keeps other calls from writing a checkpoint. It ends with the process, however that ends.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    /// Holds the lock of the operating system as long as it is open.
    _file: File,
}

impl Lock {
    fn take(checkpoint: &Path) -> anyhow::Result<Self> {
        let name = checkpoint.file_name().unwrap_or_default();
        let path = checkpoint.with_file_name(format!(".{}.lock", name.to_string_lossy()));
        let cannot = || format!("`{}` cannot be written", checkpoint.display());
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path).with_context(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => bail!(
                "another call is writing the checkpoint `{}`; wait for its end, or choose another \
                 name",
                checkpoint.display()
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(cannot),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays does no harm: the lock ends with the process.
        let _ = fs::remove_file(&self.path);
    }
}

#[derive(Debug)]
struct Inner {
    last: Instant,
    property: String,
    /// The states of searches that were not done, by property.
    sections: Sections,
    /// The states to go on from.
    restored: Sections,
    /// Does the search for the property go on from the file?
    has_gone_on: bool,
    has_failed: bool,
}

impl CheckpointFile {
    /// A file to be written by this call alone, with the states to go on from.
    ///
    /// # Errors
    /// There is a file that is not a checkpoint, or another call writes it.
    pub fn open(path: PathBuf, call: Call, restored: Sections) -> anyhow::Result<Self> {
        check_replaceable(&path)?;
        let lock = Lock::take(&path)?;
        replacing::remove_partial(&path);
        Ok(Self {
            path,
            call,
            interval: INTERVAL,
            _lock: lock,
            inner: Mutex::new(Inner {
                last: Instant::now(),
                property: String::new(),
                sections: restored.clone(),
                restored,
                has_gone_on: false,
                has_failed: false,
            }),
            earlier: None,
            legacies: Vec::new(),
        })
    }

    /// The file, for a search that goes on from what earlier processes have left: the one that had this
    /// file, if there was one, and others.
    pub fn after(self, earlier: Option<u64>, legacies: Vec<Legacy>) -> Self {
        Self {
            earlier,
            legacies,
            ..self
        }
    }

    /// Writes the file before there is anything to go on from, so that it says which call it belongs to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin_file(&self) -> anyhow::Result<()> {
        self.write(&self.inner().sections)
    }

    /// The file, written so often.
    pub fn every(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The next search is for this property.
    pub fn begin(&self, property: &str) {
        let mut inner = self.inner();
        property.clone_into(&mut inner.property);
        inner.has_gone_on = false;
        drop(inner);
        self.legacies
            .iter()
            .for_each(|legacy| legacy.file.begin(property));
    }

    /// What is to be said about a verdict on the property, if the search went on from the file.
    pub fn remark(&self) -> Option<String> {
        let path = Path::new(self.path.file_name().unwrap_or_default()).display();
        let remark =
            || format!("rests on the checkpoint `{path}`: the work recorded there is not repeated");
        self.inner().has_gone_on.then(remark)
    }

    /// The message for a checkpoint whose numbers contradict each other or the model.
    pub fn damaged(&self) -> anyhow::Error {
        let why = "its states cannot be those of this search";
        not_a_checkpoint(&self.path, why)
    }

    /// The message for a checkpoint that is a part of what a search needs.
    pub fn incomplete(&self) -> anyhow::Error {
        anyhow!(
            "`{}` is a checkpoint of one of several processes, and files of others are missing; \
             resume with the folders of all of them, or start the check again with `fair check`",
            self.path.display()
        )
    }

    /// The property is decided.
    pub fn done(&self) {
        let mut inner = self.inner();
        let property = inner.property.clone();
        inner.sections.retain(|(name, _)| *name != property);
        drop(inner);
        self.release();
    }

    /// Removes the file if all properties are decided.
    pub fn remove_if_done(&self) {
        if self.inner().sections.is_empty() {
            // A file that stays says that there is nothing to be done.
            let _ = fs::remove_file(&self.path);
        }
        self.legacies
            .iter()
            .for_each(|legacy| legacy.file.remove_if_done());
    }

    /// What the file says about the property is not needed any more.
    fn forget(&self) {
        self.done();
        let inner = self.inner();
        // What stays in it is older than what is kept, and is not used.
        let _ = match inner.sections.as_slice() {
            [] => fs::remove_file(&self.path).map_err(Into::into),
            _ => self.write(&inner.sections),
        };
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect(NO_PANIC)
    }

    fn write(&self, sections: &Sections) -> anyhow::Result<()> {
        check_replaceable(&self.path)?;
        let cannot_write = || format!("`{}` cannot be written", self.path.display());
        // The files that the states of a search name are beside it.
        let folder = self
            .path
            .parent()
            .filter(|folder| self.path.ends_with(CHECKPOINT) && !folder.as_os_str().is_empty());
        folder
            .map_or(Ok(()), DiskFolder::sync)
            .with_context(cannot_write)?;
        let bytes = document(&self.call, sections);
        replacing::replace(&self.path, &bytes).with_context(cannot_write)
    }
}

/// The bytes of a file.
fn document(call: &Call, sections: &Sections) -> Vec<u8> {
    let listed = |(property, words): &(String, Vec<u64>)| json!({ "property": property, "words": words.len() });
    let header = json!({
        "program": program(),
        "arguments": call.arguments,
        "directory": call.directory,
        "files": call.files,
        "sections": sections.iter().map(listed).collect::<Vec<_>>(),
    });
    let mut bytes = format!("{MAGIC}{FORMAT}\n{header}\n").into_bytes();
    for (_, words) in sections {
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes.extend(hash(&bytes).to_le_bytes());
    bytes
}

/// May a checkpoint be written here?
///
/// # Errors
/// There is a file that is not a checkpoint.
fn check_replaceable(path: &Path) -> anyhow::Result<()> {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Ok(()) if start == *MAGIC.as_bytes() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(()) | Err(_) => bail!(
            "`{}` exists and is not a checkpoint, so it is not overwritten; remove it, or choose \
             another name",
            path.display()
        ),
    }
}

fn not_a_checkpoint(path: &Path, why: &str) -> anyhow::Error {
    anyhow!(
        "`{}` is not a checkpoint: {why}; start the check again with `fair check`",
        path.display()
    )
}

impl Checkpoints for CheckpointFile {
    fn is_due(&self) -> bool {
        self.inner().last.elapsed() >= self.interval
    }

    fn keep(&self, search: u64, state: &[u64]) -> bool {
        let mut inner = self.inner();
        let property = inner.property.clone();
        inner.sections.retain(|(name, _)| *name != property);
        // Nothing is kept of a search that is done.
        if !state.is_empty() {
            let words = [&[search], state].concat();
            inner.sections.push((property, words));
        }
        let written = self.write(&inner.sections);
        if let Err(error) = &written
            && !std::mem::replace(&mut inner.has_failed, true)
        {
            output::error(&format!("{error:#}; the check goes on"));
        }
        inner.last = Instant::now();
        written.is_ok()
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut inner = self.inner();
        let property = inner.property.clone();
        let position = inner
            .restored
            .iter()
            .position(|(name, words)| *name == property && words.first() == Some(&search));
        inner.has_gone_on |= position.is_some();
        position.map(|position| inner.restored.swap_remove(position).1.split_off(1))
    }

    fn inherit(&self, search: u64) -> Vec<Inherited> {
        let own = self.earlier.map(|process| Inherited {
            process,
            folder: None,
            state: self.take(search),
        });
        let others = self.legacies.iter().map(|legacy| Inherited {
            process: legacy.process,
            folder: Some(Arc::clone(&legacy.folder)),
            state: legacy.file.take(search),
        });
        let all: Vec<Inherited> = own.into_iter().chain(others).collect();
        self.inner().has_gone_on = all.iter().any(|inherited| inherited.state.is_some());
        all
    }

    fn release(&self) {
        self.legacies.iter().for_each(|legacy| legacy.file.forget());
    }
}

/// Reads a file: the call, and the states of its searches by property.
///
/// # Errors
/// It cannot be read, or it is damaged.
pub fn read(path: &Path) -> anyhow::Result<(Call, Sections)> {
    let cannot = || format!("`{}` cannot be read", path.display());
    let bytes = inputs::read_bytes(path).with_context(cannot)?;
    parse(&bytes).map_err(|why| not_a_checkpoint(path, &why))
}

fn parse(bytes: &[u8]) -> Result<(Call, Sections), String> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes());
    let rest = rest.ok_or("it does not start with the signature of a checkpoint")?;
    let (format, rest) = line(rest).ok_or("it ends too early")?;
    if format != FORMAT.as_bytes() {
        let format = String::from_utf8_lossy(format);
        return Err(format!(
            "it has format {format}, and this program reads format {FORMAT}"
        ));
    }

    let (content, stored) = bytes.split_last_chunk().ok_or("it ends too early")?;
    if hash(content) != u64::from_le_bytes(*stored) {
        return Err("it is damaged".to_owned());
    }
    let rest = &rest[..rest.len() - stored.len()];
    let (header, words) = line(rest).ok_or("it ends too early")?;
    let header: Value = serde_json::from_slice(header).map_err(|_| "its header is not JSON")?;
    if header["program"] != program() {
        let other = header["program"].as_str().unwrap_or("another program");
        return Err(format!("{other} has written it, and this is {}", program()));
    }

    read_header(&header, words).ok_or_else(|| "its header does not fit the rest".to_owned())
}

/// What comes before the first end of a line, and what comes after it.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn read_header(header: &Value, words: &[u8]) -> Option<(Call, Sections)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let arguments = header["arguments"].as_array()?.iter().map(text);
    let call = Call {
        arguments: arguments.collect::<Option<_>>()?,
        directory: text(&header["directory"])?,
        files: serde_json::from_value(header["files"].clone()).ok()?,
    };
    if call.files.is_empty() {
        return None;
    }
    let mut rest = words;
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

    rest.is_empty().then_some((call, sections))
}

/// FNV-1a over words: not against malice, but against accidents.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().map(|word| u64::from_le_bytes(*word));
    let hash = hash.fold(0xcbf2_9ce4_8422_2325, mix);
    rest.iter().map(|byte| u64::from(*byte)).fold(hash, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files with a right hash and anything else in them are read or refused.
    #[test]
    fn forged_files_are_read_or_refused() {
        let (call, sections) = example();
        let text = document(&call, &sections);

        let mut seed = 1_u64;
        let mut below = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % limit
        };

        let mut n_refused = 0;
        for _ in 0..2000 {
            // Only files whose hash is right get as far as the reader.
            let mut bytes = text.clone();
            bytes.truncate(bytes.len() - 8);

            for _ in 0..=below(3) {
                let (at, by) = (below(bytes.len()), below(256) as u8);
                match below(4) {
                    0 => bytes[at] = by,
                    1 => bytes.insert(at, by),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at + 1),
                }
            }

            bytes.extend(hash(&bytes).to_le_bytes());
            match parse(&bytes) {
                Err(_) => n_refused += 1,
                Ok((call, _)) => assert!(!call.files.is_empty()),
            }
        }

        assert!(n_refused > 1000, "{n_refused}");
        assert_eq!(parse(&text), Ok((call, sections)));
    }

    fn example() -> (Call, Sections) {
        let call = Call {
            arguments: vec!["check".into(), "m.fair".into()],
            directory: "/".into(),
            files: vec![("m.fair".into(), "process P { a }\n".into())],
        };
        let sections = vec![
            ("p".to_owned(), vec![7, 1, u64::MAX]),
            ("q".to_owned(), vec![8, 2]),
        ];
        (call, sections)
    }

    #[test]
    fn what_is_kept_can_be_read() {
        let directory =
            std::env::temp_dir().join(format!("fair-checkpoint-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");

        let path = directory.join("c");
        let (call, sections) = example();
        let file = CheckpointFile::open(path.clone(), call.clone(), Vec::new());
        let file = file.expect("nothing is there");
        file.begin("p");
        file.keep(7, &[1, u64::MAX]);
        file.begin("q");
        file.keep(8, &[2]);
        file.begin("r");
        file.keep(9, &[3]);
        file.keep(9, &[]);

        // Nothing is left of the last one.
        let kept = (call.clone(), sections.clone());
        assert_eq!(read(&path).expect("it is not damaged"), kept);

        let second = CheckpointFile::open(path.clone(), call.clone(), Vec::new());
        let error = second.expect_err("the first one is being written");
        assert!(error.to_string().contains("another call"), "{error}");
        drop(file);

        let again = CheckpointFile::open(path.clone(), call, sections);
        let again = again.expect("it is a checkpoint");
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
