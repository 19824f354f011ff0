//! Starting solver processes, behind a trait.

use std::io;
use std::time::Duration;

/// A conversation with a process, line by line.
pub trait Connection {
    /// Sends a line.
    ///
    /// # Errors
    /// The process does not listen any more.
    fn send(&mut self, line: &str) -> io::Result<()>;

    /// Waits for a line.
    ///
    /// # Errors
    /// There is none within the time given, or there will be none any more.
    fn receive(&mut self, patience: Duration) -> io::Result<String>;
}

/// Starts processes.
pub trait Launch {
    /// Starts a program with arguments.
    ///
    /// # Errors
    /// It cannot be started.
    fn launch(&self, program: &str, arguments: &[String]) -> io::Result<Box<dyn Connection>>;
}
