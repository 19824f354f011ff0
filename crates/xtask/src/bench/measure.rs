//! Child processes and what they cost.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Deserialize;
use wait4::{ResUse, Wait4 as _};

/// What one run may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// CPU seconds, user and system together.
    pub(crate) cpu_seconds: u64,
    /// Address space.
    pub(crate) memory_mb: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// By itself, with this status.
    Exited(i32),
    /// It used up its CPU seconds.
    OutOfTime,
    /// By this signal.
    Killed(i32),
}

/// What a run printed and what it cost.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// CPU seconds, user and system together.
    pub(crate) cpu_seconds: f64,
    /// Seconds on the clock.
    pub(crate) wall_seconds: f64,
    /// The largest resident set.
    pub(crate) peak_rss_bytes: u64,
}

/// Runs a command to its end.
pub(crate) fn run(command: &Command, limits: Limits) -> Result<Run> {
    let mut restricted = restrict(command, limits);
    restricted
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());

    let start = Instant::now();
    let mut child = restricted
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let err = thread::spawn(move || read_all(err));
    let stdout = read_all(out)?;
    let stderr = err.join().expect("the reader does not panic")?;

    // What this child alone has used; the usual wait cannot tell.
    let ResUse { status, rusage } = child.wait4().context("wait4")?;
    Ok(Run {
        end: end(status),
        stdout,
        stderr,
        cpu_seconds: (rusage.utime + rusage.stime).as_secs_f64(),
        wall_seconds: start.elapsed().as_secs_f64(),
        peak_rss_bytes: rusage.maxrss,
    })
}

/// The same command, started by a shell that sets the limits and becomes the command.
fn restrict(command: &Command, limits: Limits) -> Command {
    let (soft, hard) = (limits.cpu_seconds, limits.cpu_seconds + 1);
    let memory = limits.memory_mb << 10;
    let script =
        format!("ulimit -St {soft} && ulimit -Ht {hard} && ulimit -v {memory} && exec \"$@\"");

    let mut restricted = Command::new("sh");
    restricted
        .args(["-c", &script, "sh"])
        .arg(command.get_program())
        .args(command.get_args());

    // A command that is wrapped must run as it would have: variables and folder included.
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => restricted.env(name, value),
            None => restricted.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        restricted.current_dir(directory);
    }

    restricted
}

fn read_all(stream: Option<impl io::Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(SIGXCPU)) => End::OutOfTime,
        (None, signal) => End::Killed(signal.unwrap_or_default()),
    }
}

/// The signal at the end of the CPU seconds, on Linux and on Apple systems.
const SIGXCPU: i32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        cpu_seconds: 600,
        memory_mb: 1000,
    };

    fn shell(script: &str) -> Run {
        run(Command::new("sh").args(["-c", script]), LIMITS).unwrap()
    }

    #[test]
    fn output_status_and_cost_are_reported() {
        let run = shell("echo out; echo err >&2; exit 3");
        assert_eq!(run.end, End::Exited(3));
        assert_eq!(
            (run.stdout.as_str(), run.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert!(run.peak_rss_bytes > 100_000);
        assert!(run.cpu_seconds >= 0.0 && run.wall_seconds > 0.0);
    }

    #[test]
    fn limits_reach_the_command() {
        let run = shell("ulimit -St; ulimit -Ht; ulimit -v");
        assert_eq!(run.stdout, "600\n601\n1024000\n");
    }

    // The signal that the system sends at the limit, without waiting for it.
    #[test]
    fn the_signal_at_the_limit_is_told_from_others() {
        assert_eq!(shell("kill -XCPU $$").end, End::OutOfTime);
        assert_eq!(shell("kill -TERM $$").end, End::Killed(15));
    }
}
