//! What the user writes: with line editing and history on a terminal, as it comes elsewhere.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};

use crate::{limits, output};

/// How often it is asked whether the dialogue is interrupted.
const PAUSE: Duration = Duration::from_millis(50);

const PROMPT: &str = "> ";

/// Lines of the user.
pub enum Lines {
    /// From a terminal.
    Edited(Box<Editor<(), MemHistory>>),
    /// From a file or another program. They are repeated in the output. A thread waits for them, so
    /// that the dialogue can be interrupted meanwhile.
    Piped(Receiver<io::Result<String>>),
}

impl Lines {
    /// The lines of standard input.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn of_standard_input() -> anyhow::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Piped(lines_of_a_thread()));
        }
        let config = Config::builder().auto_add_history(true).build();
        let editor = Editor::with_history(config.clone(), MemHistory::with_config(&config));
        let editor = editor.context("the terminal cannot be used")?;
        Ok(Self::Edited(Box::new(editor)))
    }

    /// The next line, trimmed; nothing at the end of the input, or if the user interrupts it.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn next(&mut self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Edited(editor) => match editor.readline(PROMPT) {
                Ok(line) => Ok(Some(line.trim().to_owned())),
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(error).context("the terminal cannot be read"),
            },
            Self::Piped(lines) => {
                output::print(PROMPT)?;
                let Some(line) = next_line(lines) else {
                    output::print("\n")?;
                    return Ok(None);
                };
                let line = line.context("standard input cannot be read")?;
                let line = line.trim().to_owned();
                if !io::stdin().is_terminal() {
                    output::print(&format!("{line}\n"))?;
                }
                Ok(Some(line))
            }
        }
    }
}

/// The lines of standard input, read by a thread. It ends with the program.
fn lines_of_a_thread() -> Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The next line; nothing at the end of the input, or if a limit is reached or the user interrupts.
fn next_line(lines: &Receiver<io::Result<String>>) -> Option<io::Result<String>> {
    loop {
        match lines.recv_timeout(PAUSE) {
            Ok(line) => return Some(line),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => limits::budget().check(0, 0).ok()?,
        }
    }
}
