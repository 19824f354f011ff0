//! The files of the machine.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use source::{Files, MAX_BYTES, Unreadable};

/// The files of the machine that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

/// A stored run of a million steps has hundreds of megabytes.
const MAX_TRACE_BYTES: usize = 1 << 30;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        Self::read_up_to(path, MAX_BYTES)
    }
}

impl Disk {
    /// The text of a file that holds a trace, which may be longer than a model.
    ///
    /// # Errors
    /// There is no such file, or it is not a text.
    pub fn read_trace(&self, path: &Path) -> Result<String, Unreadable> {
        Self::read_up_to(path, MAX_TRACE_BYTES)
    }

    fn read_up_to(path: &Path, max_bytes: usize) -> Result<String, Unreadable> {
        let name = path.display();
        let unreadable = |message, cause| Unreadable { message, cause };
        let bytes = read_bytes(path, max_bytes).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => unreadable(error.to_string(), None),
            _ => {
                let message = format!("`{name}` cannot be read");
                unreadable(message, Some(error.to_string()))
            }
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

/// The bytes of a file. Devices and pipes, which may never end or never begin, are refused, and so
/// are texts that no front end reads.
///
/// # Errors
/// It cannot be read; with the kind `InvalidInput`, it is not a file that is read at all.
fn read_bytes(path: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let name = path.display();
    let refused = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return refused(format!("`{name}` is a directory, not a file"));
    }
    if !metadata.is_file() {
        return refused(format!(
            "`{name}` is a device or a pipe, not a file; copy what it says into a file"
        ));
    }

    // The file may grow while it is read, or lie about its size.
    let mut bytes = Vec::new();
    let limit = max_bytes as u64 + 1;
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > max_bytes {
        let limit = max_bytes >> 20;
        return refused(format!(
            "`{name}` has more than {limit} MiB, too much for a text"
        ));
    }
    Ok(bytes)
}

/// Files below some folders of a disk, after links are followed. A model can be trusted no more than
/// its author: what it includes becomes visible in messages and traces.
#[derive(Clone, Debug)]
pub struct Confined {
    folders: Vec<PathBuf>,
}

impl Confined {
    /// The files below the folder of this model, and below these folders.
    pub fn beside(model: &Path, others: &[PathBuf]) -> Self {
        let folder = model
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // The folder of a link to a model is where the link is, and where the model is.
        let linked = model.canonicalize().ok();
        let linked = linked.as_deref().and_then(Path::parent);
        let all = [folder].into_iter().chain(linked);
        let all = all.chain(others.iter().map(PathBuf::as_path));
        Self {
            folders: all
                .filter_map(|folder| folder.canonicalize().ok())
                .collect(),
        }
    }
}

impl Files for Confined {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        // What does not exist is reported as that, wherever it would be.
        let real = path.canonicalize();
        let is_outside = |real: &PathBuf| !self.folders.iter().any(|f| real.starts_with(f));
        if real.as_ref().is_ok_and(is_outside) {
            return Err(Unreadable {
                message: format!(
                    "`{}` is not below the folder of the model; `--include DIR` allows files of \
                     another folder",
                    path.display()
                ),
                cause: None,
            });
        }
        Disk.read(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_are_not_read() {
        let root = std::env::temp_dir().join(format!("fair-confined-{}", std::process::id()));
        fs::create_dir_all(root.join("models/parts")).expect("folders can be made");
        fs::create_dir_all(root.join("library")).expect("folders can be made");
        for name in ["secret", "models/m.pml", "models/parts/a", "library/b"] {
            fs::write(root.join(name), name).expect("files can be written");
        }

        let model = root.join("models/m.pml");
        let inside = Confined::beside(&model, &[]);
        let read = |files: &Confined, name: &str| files.read(&root.join("models").join(name));
        assert_eq!(read(&inside, "m.pml").unwrap(), "models/m.pml");
        assert_eq!(read(&inside, "parts/a").unwrap(), "models/parts/a");
        for outside in ["../secret", "../library/b", "parts/../../secret"] {
            let error = read(&inside, outside).unwrap_err();
            assert!(error.message.contains("--include"), "{error}");
        }
        let missing = read(&inside, "../nothing").unwrap_err();
        assert!(missing.message.contains("cannot be read"), "{missing}");

        let more = Confined::beside(&model, &[root.join("library")]);
        assert_eq!(read(&more, "../library/b").unwrap(), "library/b");
        assert!(read(&more, "../secret").is_err());

        #[cfg(unix)]
        {
            let link = root.join("models/link");
            std::os::unix::fs::symlink("../secret", link).expect("links can be made");
            assert!(read(&inside, "link").is_err());
            let device = Disk.read(Path::new("/dev/null")).unwrap_err();
            assert!(device.message.contains("is a device or a pipe"), "{device}");
        }
        fs::remove_dir_all(&root).expect("it can be removed");
    }
}
