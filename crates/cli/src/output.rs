//! Standard output and standard error.
//!
//! A reader that goes away (`fair check … | head`) is not an error: the rest of the output is
//! dropped and the exit status stays what it is. Any other failure to write is one.
//!
//! Nothing that a terminal would obey leaves the program, except for its own colours.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anyhow::Context as _;
use clap::ValueEnum;
use fairground::StopReason;
use fairground::report::{Escape, Style, printable, printable_styled};

use crate::failure::Status;
use crate::limits::{self, Farewell};

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Makes the choice that of the whole program.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::AlwaysAnsi,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How to decorate what goes to standard output.
pub fn stdout_style() -> Style {
    style(AutoStream::choice(&io::stdout()))
}

/// How to decorate what goes to standard error.
pub fn stderr_style() -> Style {
    style(AutoStream::choice(&io::stderr()))
}

fn style(choice: anstream::ColorChoice) -> Style {
    match choice {
        anstream::ColorChoice::Never => Style::Plain,
        _ => Style::Ansi,
    }
}

/// How many columns the terminal has that standard error is shown on.
pub fn stderr_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stderr())?;
    Some(width.0.into())
}

/// Has the last thing been printed that this program prints?
static IS_SILENT: Mutex<bool> = Mutex::new(false);

/// Is everything but errors left to another process?
static IS_MUTE: AtomicBool = AtomicBool::new(false);

/// Leaves everything but errors to another process that does the same.
pub fn mute() {
    IS_MUTE.store(true, Ordering::Relaxed);
}

fn is_mute() -> bool {
    IS_MUTE.load(Ordering::Relaxed)
}

/// Writes text for people to standard output.
///
/// # Errors
/// It cannot be written to, and not because its reader has gone away.
pub fn print(text: &str) -> anyhow::Result<()> {
    write_out(&printable_styled(text, stdout_style()))
}

/// How much is collected before it is written.
const CHUNK: usize = 1 << 16;

/// Writes to standard output while the text is still being made; as text for people if there is no
/// escape. A text for people is cut when the call is told to end: a long counterexample is not
/// printed to its end after the time is over.
///
/// # Errors
/// Standard output cannot be written to, and not because its reader has gone away.
pub fn print_stream(
    escape: Option<Escape>,
    make: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
) -> anyhow::Result<()> {
    writing(|| {
        let mut stream = Stream {
            escape,
            text: String::new(),
            end: None,
        };
        if make(&mut stream).is_ok() {
            stream.flush(true);
        }
        match stream.end {
            None | Some(End::ReaderGone) => Ok(()),
            Some(End::Stopped(reason)) => {
                let reason = reason.name();
                write_now(&format!("(the rest is not printed: {reason})\n"))
            }
            Some(End::Failed(error)) => Err(error).context("standard output cannot be written"),
        }
    })
}

/// Why a text is not printed to its end.
enum End {
    ReaderGone,
    Stopped(StopReason),
    Failed(io::Error),
}

/// A text on its way to standard output.
struct Stream {
    escape: Option<Escape>,
    /// What has not been written.
    text: String,
    end: Option<End>,
}

impl Stream {
    /// Writes what there is, or all complete lines.
    fn flush(&mut self, all: bool) {
        // A line is escaped as a whole.
        let end = if all { None } else { self.text.rfind('\n') };
        let rest = self
            .text
            .split_off(end.map_or(self.text.len(), |end| end + 1));
        let shown = match self.escape {
            None => printable_styled(&self.text, stdout_style()),
            Some(escape) => printable(&self.text, escape),
        };
        if is_mute() {
            self.text = rest;
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(shown.as_bytes());
        match written.and_then(|()| stdout.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.end = Some(End::ReaderGone),
            Err(error) => self.end = Some(End::Failed(error)),
        }
        self.text = rest;
    }
}

impl fmt::Write for Stream {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        if self.text.len() >= CHUNK && (self.escape.is_some() || text.ends_with('\n')) {
            self.flush(false);
            let stopped = limits::budget().stopper().reason();
            if let Some(reason) = stopped.filter(|_| self.escape.is_none()) {
                self.end.get_or_insert(End::Stopped(reason));
            }
        }
        if self.end.is_some() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// Writes a document to standard output.
///
/// # Errors
/// It cannot be written to, and not because its reader has gone away.
pub fn print_document(text: &str, escape: Escape) -> anyhow::Result<()> {
    write_out(&printable(text, escape))
}

/// Writes the last document to standard output. A call that is given up after that has nothing to
/// add and ends with this status.
///
/// # Errors
/// It cannot be written to, and not because its reader has gone away.
pub fn print_finally(text: &str, escape: Option<Escape>, status: Status) -> anyhow::Result<()> {
    let text = escape.map_or(text.into(), |escape| printable(text, escape));
    let nothing_more = move |_| Farewell {
        text: String::new(),
        escape: None,
        status,
    };
    writing(|| {
        limits::last_words(nothing_more);
        write_now(&text)
    })
}

fn write_out(text: &str) -> anyhow::Result<()> {
    writing(|| write_now(text))
}

/// Writes, unless the program is being ended.
fn writing(write: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let is_silent = IS_SILENT.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_silent {
        drop(is_silent);
        // The program is being ended by another thread.
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    write()
}

/// Lets no other thread print any more. What is being printed is waited for, but not forever: its
/// reader may not read. Says whether it has ended.
pub fn silence() -> bool {
    const PATIENCE: Duration = Duration::from_millis(250);
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Ok(mut is_silent) = IS_SILENT.try_lock() {
            *is_silent = true;
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Prints the last thing that this program prints, after [`silence`].
pub fn print_silenced(text: &str, escape: Option<Escape>) {
    // A server may have standard output for itself.
    if text.is_empty() {
        return;
    }
    // If this is not possible, the failure cannot be reported any more.
    let _ = match escape {
        None => write_now(&printable_styled(text, stdout_style())),
        Some(escape) => write_now(&printable(text, escape)),
    };
}

fn write_now(text: &str) -> anyhow::Result<()> {
    if is_mute() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

/// Writes to standard error. If that is impossible, the failure cannot be reported.
pub fn print_error(text: &str) {
    let text = printable_styled(text, stderr_style());
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Replaces the line of standard error that shows progress.
pub fn print_progress(line: &str) {
    if is_mute() {
        return;
    }
    let line = printable(line, Escape::Text);
    let _ = io::stderr()
        .lock()
        .write_all(format!("\r{line}\u{1b}[K").as_bytes());
}

/// Tells the user what is wrong with the call.
pub fn error(message: &str) {
    let message = cut(message);
    print_error(&format!("{} {message}\n", painted("1;31", "error:")));
}

/// Tells the user something that changes no result.
pub fn note(message: &str) {
    if is_mute() {
        return;
    }
    let message = cut(message);
    print_error(&format!("{} {message}\n", painted("1;36", "note:")));
}

/// A message that repeats what others wrote, without decorations of theirs, and not longer than
/// can be read.
pub fn cut(message: &str) -> String {
    const MAX_CHARS: usize = 2000;
    let message = printable(message, Escape::Text);
    match message.char_indices().nth(MAX_CHARS) {
        None => message.into_owned(),
        Some((end, _)) => format!("{} … ({} bytes more)", &message[..end], message.len() - end),
    }
}

fn painted(code: &str, text: &str) -> String {
    match stderr_style() {
        Style::Plain => text.to_owned(),
        Style::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    }
}

/// Is standard error a terminal?
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}
