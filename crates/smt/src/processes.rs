//! Solver processes of the operating system.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::launch::{Connection, Launch};

/// Starts processes of the operating system, found along its search path.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemProcesses;

impl Launch for SystemProcesses {
    fn launch(&self, program: &str, arguments: &[String]) -> io::Result<Box<dyn Connection>> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;

        let mut stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });

        // A process that does not read must not make its caller wait: the next answer is late
        // then, and the process is ended.
        let (said, to_say) = channel::<String>();
        thread::spawn(move || {
            for line in to_say {
                let written = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
                if written.is_err() {
                    return;
                }
            }
        });
        Ok(Box::new(Pipe { child, said, lines }))
    }
}

/// A process and its pipes. It ends with this value.
struct Pipe {
    child: Child,
    said: Sender<String>,
    lines: Receiver<String>,
}

impl Connection for Pipe {
    fn send(&mut self, line: &str) -> io::Result<()> {
        let sent = self.said.send(line.to_owned());
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn receive(&mut self, patience: Duration) -> io::Result<String> {
        self.lines
            .recv_timeout(patience)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => io::ErrorKind::TimedOut.into(),
                RecvTimeoutError::Disconnected => io::ErrorKind::UnexpectedEof.into(),
            })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
