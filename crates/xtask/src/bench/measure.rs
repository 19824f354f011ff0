//! Child processes and what they cost.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Deserialize;

/// What one run may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    /// CPU seconds, user and system together.
    pub(super) cpu_seconds: u64,
    /// Address space.
    pub(super) memory_mb: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// By itself, with this status.
    Exited(i32),
    /// It used up its CPU seconds.
    OutOfTime,
    /// By this signal.
    Killed(i32),
}

/// What a run printed and what it cost.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) end: End,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// CPU seconds, user and system together.
    pub(super) cpu_seconds: f64,
    /// Seconds on the clock.
    pub(super) wall_seconds: f64,
    /// The largest resident set.
    pub(super) peak_rss_bytes: u64,
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command, limits: Limits) -> Result<Run> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());

    // SAFETY: between fork and exec only `setrlimit` is called, which is async-signal-safe.
    unsafe { command.pre_exec(move || restrict(limits)) };
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let err = thread::spawn(move || read_all(err));
    let stdout = read_all(out)?;
    let stderr = err.join().expect("the reader does not panic")?;
    let (status, usage) = wait(child.id())?;
    Ok(Run {
        end: end(status),
        stdout,
        stderr,
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_seconds: start.elapsed().as_secs_f64(),
        peak_rss_bytes: usage.ru_maxrss.unsigned_abs() * MAXRSS_UNIT,
    })
}

/// The unit of `ru_maxrss`: bytes on Apple systems, kibibytes elsewhere.
const MAXRSS_UNIT: u64 = if cfg!(target_vendor = "apple") {
    1
} else {
    1024
};

fn restrict(limits: Limits) -> io::Result<()> {
    let cpu = libc::rlimit {
        rlim_cur: limits.cpu_seconds,
        rlim_max: limits.cpu_seconds + 1,
    };
    let memory = libc::rlimit {
        rlim_cur: limits.memory_mb << 20,
        rlim_max: limits.memory_mb << 20,
    };
    // SAFETY: both pointers are to live values.
    let failed = unsafe {
        libc::setrlimit(libc::RLIMIT_CPU, &raw const cpu) != 0
            || libc::setrlimit(libc::RLIMIT_AS, &raw const memory) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn read_all(stream: Option<impl io::Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for one child and asks what it alone has used; the usual wait cannot tell.
fn wait(pid: u32) -> Result<(libc::c_int, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).context("process id")?;
    let mut status = 0;
    loop {
        // SAFETY: `rusage` is plain data, and both pointers are to live values.
        let (found, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let found = libc::wait4(pid, &raw mut status, 0, &raw mut usage);
            (found, usage)
        };
        if found == pid {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error).context("wait4");
        }
    }
}

fn end(status: libc::c_int) -> End {
    if libc::WIFEXITED(status) {
        return End::Exited(libc::WEXITSTATUS(status));
    }
    match libc::WTERMSIG(status) {
        libc::SIGXCPU => End::OutOfTime,
        signal => End::Killed(signal),
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

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
    fn times_are_seconds() {
        let time = libc::timeval {
            tv_sec: 3,
            tv_usec: 250_000,
        };
        assert_eq!(seconds(time), 3.25);
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
        assert_eq!(shell("kill -TERM $$").end, End::Killed(libc::SIGTERM));
    }
}
