//! What the user writes: with line editing and history on a terminal, as it comes elsewhere.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};

use crate::output;

const PROMPT: &str = "> ";

/// Lines of the user.
pub enum Lines {
    /// From a terminal.
    Edited(Box<Editor<(), MemHistory>>),
    /// From a file or another program. They are repeated in the output.
    Piped,
}

impl Lines {
    /// The lines of standard input.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn of_standard_input() -> anyhow::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Piped);
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
            Self::Piped => {
                output::print(PROMPT)?;
                let mut line = String::new();
                let read = io::stdin().read_line(&mut line);
                if read.context("standard input cannot be read")? == 0 {
                    output::print("\n")?;
                    return Ok(None);
                }
                let line = line.trim().to_owned();
                if !io::stdin().is_terminal() {
                    output::print(&format!("{line}\n"))?;
                }
                Ok(Some(line))
            }
        }
    }
}
