//! A directory with files, and calls of the binary in it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::Expect;

/// A fresh directory in which calls are made.
pub struct Scene {
    directory: PathBuf,
}

impl Scene {
    /// An empty directory. Every test has its own name.
    pub fn new(test: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("the directory of the test can be made");
        Self { directory }
    }

    /// A directory with one file.
    pub fn with(test: &str, name: &str, text: &str) -> Self {
        let scene = Self::new(test);
        scene.write(name, text.as_bytes());
        scene
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("files can be written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file was written")
    }

    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The binary, to be called in the directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fair"));
        command.current_dir(&self.directory).args(arguments);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command
    }

    /// A call to its end.
    pub fn call(&self, arguments: &[&str]) -> Called {
        self.call_with_input(arguments, "")
    }

    /// A call to its end, with something to read on standard input.
    pub fn call_with_input(&self, arguments: &[&str], input: &str) -> Called {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that ends without reading closes the pipe; that is its right.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Called::from(child.wait_with_output().expect("the binary ends"))
    }

    /// What a call prints and how it ends must be as expected.
    pub fn check(&self, arguments: &[&str], expected: Expect) {
        expected.assert_eq(&self.call(arguments).transcript());
    }
}

/// How many cases a long test has: `FAIR_CASES` is a factor.
pub fn cases(normal: u64) -> u64 {
    let factor = std::env::var("FAIR_CASES").map_or(1.0, |text| {
        text.parse::<f64>().expect("FAIR_CASES is a number")
    });
    ((normal as f64 * factor) as u64).max(1)
}

/// A call that has ended.
pub struct Called {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Called {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            status: output.status.code().expect("it was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Called {
    /// Everything, without what differs from run to run.
    pub fn transcript(&self) -> String {
        let mut text = stable(&self.stdout);
        if !self.stderr.is_empty() {
            text += "--- stderr\n";
            text += &stable(&self.stderr);
        }
        text += &format!("--- exit status {}\n", self.status);
        // Editors and formatters do not keep spaces at the ends of lines.
        text.lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

/// The text with letters for times and memory.
pub fn stable(text: &str) -> String {
    let mut text = text.to_owned();
    for marker in ["\"seconds\": ", "\"seconds\":", "time=\""] {
        text = hide(&text, marker, true, "T");
    }
    for marker in ["\"peak_memory_bytes\": ", "\"peak_memory_bytes\":"] {
        text = hide(&text, marker, true, "M");
    }
    for marker in [" s)", " s\n"] {
        text = hide(&text, marker, false, "T");
    }
    hide(&text, " KiB", false, "M")
}

/// Replaces the number after (or before) each marker.
fn hide(text: &str, marker: &str, after: bool, by: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == 'e' || c == '-';
    let mut parts: Vec<String> = text.split(marker).map(str::to_owned).collect();
    let n_parts = parts.len();
    for (position, part) in parts.iter_mut().enumerate() {
        let rest = part.trim_start_matches(is_number);
        if after && position > 0 && rest.len() < part.len() {
            *part = format!("{by}{rest}");
        }
        let rest = part.trim_end_matches(is_number);
        if !after && position + 1 < n_parts && rest.len() < part.len() {
            *part = format!("{rest}{by}");
        }
    }
    parts.join(marker)
}
