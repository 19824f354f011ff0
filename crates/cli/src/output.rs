//! Standard output and standard error.
//!
//! A reader that goes away (`fair check … | head`) is not an error: the rest of the output is
//! dropped and the exit status stays what it is. Any other failure to write is one.

use std::io::{self, ErrorKind, IsTerminal, Write};

use anstream::AutoStream;
use anyhow::Context as _;
use clap::ValueEnum;
use fairground::report::Style;

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

/// Writes to standard output.
///
/// # Errors
/// It cannot be written to, and not because its reader has gone away.
pub fn print(text: &str) -> anyhow::Result<()> {
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
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells the user what is wrong with the call.
pub fn error(message: &str) {
    print_error(&format!("{} {message}\n", painted("1;31", "error:")));
}

/// Tells the user something that changes no result.
pub fn note(message: &str) {
    print_error(&format!("{} {message}\n", painted("1;36", "note:")));
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
