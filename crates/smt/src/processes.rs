//! Solver processes of the operating system.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use crate::launch::{Connection, Launch};

/// A process whose answers are not heard is not read any further after this many lines.
const MAX_UNHEARD: usize = 1024;

/// No line of an answer is longer.
const MAX_LINE: u64 = 16 << 20;

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
        // A process that prints without end must not fill the memory.
        let (sender, lines) = sync_channel(MAX_UNHEARD);
        thread::Builder::new().spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(line) = next_line(&mut reader) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;

        // A process that does not read must not make its caller wait: the next answer is late
        // then, and the process is ended.
        let (said, to_say) = channel::<String>();
        thread::Builder::new().spawn(move || {
            for line in to_say {
                let written = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
                if written.is_err() {
                    return;
                }
            }
        })?;
        Ok(Box::new(Pipe { child, said, lines }))
    }
}

/// The next line, without its end; nothing if there is none, it is not a text, or it is too long.
fn next_line(reader: &mut impl io::BufRead) -> Option<String> {
    let mut line = String::new();
    let n_bytes = io::Read::take(reader, MAX_LINE).read_line(&mut line).ok()?;
    let is_cut = n_bytes as u64 == MAX_LINE && !line.ends_with('\n');
    if n_bytes == 0 || is_cut {
        return None;
    }
    let end = line.trim_end_matches(['\n', '\r']).len();
    line.truncate(end);
    Some(line)
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
