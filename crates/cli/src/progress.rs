//! What a search says about itself while it runs, on standard error.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use fairground::{Progress, Shares, Snapshot};
use serde_json::json;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::output;
use crate::quantity::show_size;

/// Where progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ProgressMode {
    /// One line that changes, if standard error is a terminal.
    Auto,
    /// One JSON object per line.
    Json,
    /// Not at all.
    Never,
}

/// Shows the progress of the search for one property.
pub struct Meter<'a> {
    form: Form,
    property: &'a str,
    start: Instant,
    last: Option<Instant>,
    /// What was done when progress was shown last.
    phase: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    Json,
    Nothing,
}

impl<'a> Meter<'a> {
    /// A meter that starts now.
    pub fn new(mode: ProgressMode, quiet: bool, property: &'a str) -> Self {
        let form = match mode {
            ProgressMode::Json => Form::Json,
            ProgressMode::Auto if !quiet && output::stderr_is_terminal() => Form::Line,
            ProgressMode::Auto | ProgressMode::Never => Form::Nothing,
        };
        Self {
            form,
            property,
            start: Instant::now(),
            last: None,
            phase: "",
        }
    }

    /// The time since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Leaves the terminal as if nothing had been shown.
    pub fn finish(&self) {
        if self.form == Form::Line && self.last.is_some() {
            output::print_progress("");
        }
    }

    /// Something new is shown at once, else there is a pause.
    fn is_due(&self, phase: &str) -> bool {
        let pause = match self.form {
            Form::Line => Duration::from_millis(100),
            Form::Json => Duration::from_millis(500),
            Form::Nothing => return false,
        };
        phase != self.phase || self.last.is_none_or(|last| last.elapsed() >= pause)
    }
}

impl Progress for Meter<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        if !self.is_due(snapshot.phase) {
            return;
        }
        self.last = Some(Instant::now());
        self.phase = snapshot.phase;
        let seconds = self.seconds();
        match self.form {
            Form::Line => {
                let line = line(self.property, snapshot, seconds);
                output::print_progress(&fitting(&line, output::stderr_width()));
            }
            Form::Json => {
                let object = object(self.property, snapshot, seconds);
                output::print_error(&format!("{object}\n"));
            }
            Form::Nothing => {}
        }
    }
}

/// The line, or as much of it as one line of the terminal can hold: a line that wraps could not be
/// replaced by the next.
fn fitting(line: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(1));
    if line.width() <= room {
        return line.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    let start: String = line.chars().take_while(fits).collect();
    start + "…"
}

/// States per second, rounded.
fn rate(snapshot: &Snapshot, seconds: f64) -> u64 {
    if seconds > 0.0 {
        (snapshot.n_states as f64 / seconds) as u64
    } else {
        0
    }
}

fn line(property: &str, snapshot: &Snapshot, seconds: f64) -> String {
    let left = seconds_left(snapshot, seconds);
    let left = left.map(|left| format!(", at most {} s to go", left.ceil()));
    format!(
        "{property}: {}, {} states, {} states/s, {}, depth {}{}{}",
        snapshot.phase,
        snapshot.n_states,
        rate(snapshot, seconds),
        show_size(snapshot.memory_bytes),
        snapshot.depth,
        snapshot.shares.map(shown_shares).unwrap_or_default(),
        left.unwrap_or_default()
    )
}

/// How the work is shared out among processes.
fn shown_shares(shares: Shares) -> String {
    format!(
        ", {} processes with {} to {} states a worker, {} sent",
        shares.n_processes,
        shares.least,
        shares.most,
        show_size(shares.n_sent)
    )
}

/// How long the search takes at most if it stays as fast as it was, unless that says nothing: the
/// number of states must be bounded, and a good part of the bound reached.
fn seconds_left(snapshot: &Snapshot, seconds: f64) -> Option<f64> {
    let bound = snapshot
        .bound
        .filter(|bound| bound / 1000 <= snapshot.n_states)?;
    let left = bound.saturating_sub(snapshot.n_states) as f64;
    (seconds > 0.0 && snapshot.n_states > 0).then(|| left * seconds / snapshot.n_states as f64)
}

fn object(property: &str, snapshot: &Snapshot, seconds: f64) -> serde_json::Value {
    json!({
        "property": property,
        "phase": snapshot.phase,
        "states": snapshot.n_states,
        "transitions": snapshot.n_transitions,
        "depth": snapshot.depth,
        "states_per_second": rate(snapshot, seconds),
        "memory_bytes": snapshot.memory_bytes,
        "state_bound": snapshot.bound,
        "seconds_left": seconds_left(snapshot, seconds),
        "seconds": seconds,
        "processes": snapshot.shares.map_or(1, |shares| shares.n_processes),
        "least_states_of_worker": snapshot.shares.map(|shares| shares.least),
        "most_states_of_worker": snapshot.shares.map(|shares| shares.most),
        "bytes_sent": snapshot.shares.map_or(0, |shares| shares.n_sent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_the_terminal() {
        assert_eq!(fitting("exploring", None), "exploring");
        assert_eq!(fitting("exploring", Some(10)), "exploring");
        assert_eq!(fitting("exploring", Some(9)), "explori…");
        assert_eq!(fitting("検査中: 12", Some(6)), "検査…");
        for columns in 2..12 {
            assert!(fitting("検査中: 12", Some(columns)).width() < columns);
        }
    }

    #[test]
    fn both_forms_say_the_same() {
        let snapshot = Snapshot {
            phase: "exploring",
            n_states: 3000,
            n_transitions: 9000,
            memory_bytes: 2048,
            depth: 7,
            bound: Some(12_000),
            shares: None,
        };

        assert_eq!(
            line("p", &snapshot, 2.0),
            "p: exploring, 3000 states, 1500 states/s, 2.0 KiB, depth 7, at most 6 s to go"
        );

        let object = object("p", &snapshot, 2.0);
        assert_eq!(object["states_per_second"], 1500);
        assert_eq!(object["phase"], "exploring");
        assert_eq!(object["seconds_left"], 6.0);

        let unbounded = Snapshot {
            bound: Some(1 << 40),
            ..snapshot
        };
        assert_eq!(seconds_left(&unbounded, 2.0), None);
        assert_eq!(rate(&snapshot, 0.0), 0);
    }
}
