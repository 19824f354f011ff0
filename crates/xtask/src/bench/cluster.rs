//! Searches on sets of states: on disk, and in several processes on this machine, beside the search in
//! memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::Fair;
use super::table::{Table, count, figure, or_dash};

/// A question, mostly one whose verdict is `holds`, so that everything is explored.
struct Asked {
    name: &'static str,
    /// The model, what is asked, and constants for quick and for long measurements.
    arguments: &'static [&'static str],
    quick: &'static str,
    long: &'static str,
    /// For what is measured on disk only, in little memory.
    large: Option<&'static str>,
}

const ASKED: [Asked; 6] = [
    Asked {
        name: "peterson, weak-process",
        arguments: &[
            "examples/peterson.fair",
            "--property",
            "access",
            "--fairness",
            "weak-process",
        ],
        quick: "N=3",
        long: "N=5",
        large: Some("N=6"),
    },
    Asked {
        name: "peterson, exclusion",
        arguments: &["examples/peterson.fair", "--property", "exclusion"],
        quick: "N=3",
        long: "N=5",
        large: None,
    },
    Asked {
        name: "german, coherent",
        arguments: &["examples/bench/german.fair", "--property", "coherent"],
        quick: "N=2",
        long: "N=4",
        large: Some("N=5"),
    },
    Asked {
        name: "philosophers, strong",
        arguments: &[
            "examples/philosophers_right.fair",
            "--property",
            "eats",
            "--fairness",
            "strong",
        ],
        quick: "N=4",
        long: "N=11",
        large: None,
    },
    Asked {
        name: "leader election, strong",
        arguments: &[
            "examples/leader_election.fair",
            "--property",
            "elected_if_weakly_fair",
            "--fairness",
            "strong",
        ],
        quick: "N=3",
        long: "N=5",
        large: Some("N=7"),
    },
    Asked {
        name: "line, strong",
        arguments: &[
            "examples/bench/line.fair",
            "--property",
            "ones",
            "--fairness",
            "strong",
        ],
        quick: "M=3003",
        long: "M=3000003",
        large: Some("M=300000003"),
    },
];

/// How it is searched.
struct Way {
    name: &'static str,
    /// Before the model.
    start: &'static [&'static str],
    /// After it.
    end: &'static [&'static str],
    is_on_disk: bool,
    n_processes: u64,
}

const fn way(
    name: &'static str,
    start: &'static [&'static str],
    end: &'static [&'static str],
) -> Way {
    Way {
        name,
        start,
        end,
        is_on_disk: false,
        n_processes: 1,
    }
}

const CHECK: &[&str] = &["check"];
const ONE: &[&str] = &["cluster", "run", "--local", "1"];
const TWO: &[&str] = &["cluster", "run", "--local", "2"];
const FOUR: &[&str] = &["cluster", "run", "--local", "4"];

const WAYS: [Way; 9] = [
    way("in memory", CHECK, &["--reduce=none"]),
    way(
        "in memory, 2 threads",
        CHECK,
        &["--reduce=none", "--threads", "2"],
    ),
    Way {
        is_on_disk: true,
        ..way("disk", CHECK, &[])
    },
    Way {
        is_on_disk: true,
        ..way("disk, 2 threads", CHECK, &["--threads", "2"])
    },
    way("sets, 1 worker", ONE, &[]),
    way("sets, 2 workers in 1 process", ONE, &["--workers", "2"]),
    way("sets, 4 workers in 1 process", ONE, &["--workers", "4"]),
    Way {
        n_processes: 2,
        ..way("sets, 2 processes", TWO, &[])
    },
    Way {
        n_processes: 4,
        ..way("sets, 4 processes", FOUR, &[])
    },
];

/// The way for what is large.
const LARGE: Way = Way {
    is_on_disk: true,
    ..way("disk, at most 4 GB", CHECK, &["--max-memory", "4G"])
};

/// What one way has come to.
#[derive(Debug, Serialize)]
struct Point {
    model: &'static str,
    way: &'static str,
    command: String,
    verdict: String,
    states: u64,
    seconds: f64,
    wall_seconds: f64,
    microseconds_per_state: f64,
    /// The largest resident set of a process.
    peak_rss_bytes: u64,
    bytes_sent_per_state: Option<f64>,
    messages_per_thousand_states: Option<f64>,
    /// The largest size of the folder of a search on disk, divided by the number of states.
    disk_bytes_per_state: Option<f64>,
}

/// Measures all ways, prints a table for each question and keeps the record.
///
/// # Errors
/// Something could not be run, or two ways do not agree.
pub fn cluster(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("cluster")?;
    record.add(&json!({ "benchmark": "cluster", "runs": options.runs }))?;

    for asked in ASKED.iter().filter(|asked| options.wants(asked.name)) {
        let mut points: Vec<Point> = Vec::new();
        let define = if options.quick {
            asked.quick
        } else {
            asked.long
        };
        for way in &WAYS {
            eprintln!("{}: {}", asked.name, way.name);
            let point = measure(&fair, (asked, define), way, options.runs)?;
            let first = points.first().unwrap_or(&point);
            ensure!(first.agrees_with(&point), "{first:?} and {point:?}");
            record.add(&point)?;
            points.push(point);
        }
        if let Some(large) = asked.large.filter(|_| !options.quick) {
            eprintln!("{}: {} {large}", asked.name, LARGE.name);
            let point = measure(&fair, (asked, large), &LARGE, 1)?;
            record.add(&point)?;
            points.push(point);
        }
        print(asked, &points);
    }
    Ok(())
}

impl Point {
    /// Are verdicts the same, and counts where everything was explored?
    fn agrees_with(&self, other: &Self) -> bool {
        self.verdict == other.verdict && (self.verdict != "holds" || self.states == other.states)
    }
}

/// The least of the CPU seconds of some runs: the machine may be shared.
fn measure(
    fair: &Fair,
    (asked, define): (&Asked, &str),
    way: &Way,
    n_runs: usize,
) -> Result<Point> {
    let folder = std::env::temp_dir().join(format!("fair-bench-{}", std::process::id()));
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let mut arguments = words(way.start);
    arguments.extend(words(asked.arguments));
    arguments.extend(words(&[
        "-D",
        define,
        "--output-format",
        "json",
        "--verbose",
    ]));
    arguments.extend(words(way.end));
    if way.is_on_disk {
        arguments.extend(["--disk".to_owned(), folder.display().to_string()]);
    }

    let mut best: Option<Point> = None;
    for _ in 0..n_runs.max(1) {
        let watch = way.is_on_disk.then(|| Watch::new(folder.clone()));
        let run = fair.call_large(&arguments)?;
        let largest = watch.map(Watch::end);
        let report: serde_json::Value = serde_json::from_str(&run.stdout)
            .with_context(|| format!("{}: {}", arguments.join(" "), run.stderr))?;
        let result = &report["results"][0];
        let states = result["states"].as_u64().unwrap_or(0);
        // Process 0 speaks for all: hashes share out states evenly.
        let per_state = |n: u64| (n * way.n_processes) as f64 / states.max(1) as f64;
        let sent = n_sent(&run.stderr);
        let point = Point {
            model: asked.name,
            way: way.name,
            command: format!("fair {}", arguments.join(" "))
                .replace(&*folder.to_string_lossy(), "DIR"),
            verdict: result["verdict"].as_str().unwrap_or_default().to_owned(),
            states,
            seconds: run.cpu_seconds,
            wall_seconds: run.wall_seconds,
            microseconds_per_state: 1e6 * run.cpu_seconds / states.max(1) as f64,
            peak_rss_bytes: run.peak_rss_bytes,
            bytes_sent_per_state: sent.map(|(n_bytes, _)| per_state(n_bytes)),
            messages_per_thousand_states: sent.map(|(_, n)| 1000.0 * per_state(n)),
            disk_bytes_per_state: largest.map(per_state),
        };
        if best
            .as_ref()
            .is_none_or(|best| point.seconds < best.seconds)
        {
            best = Some(point);
        }
    }
    best.context("there is a run")
}

/// What process 0 says that it has sent: bytes, and messages.
fn n_sent(stderr: &str) -> Option<(u64, u64)> {
    let (_, rest) = stderr.split_once("process 0 sent ")?;
    let (n_bytes, rest) = rest.split_once(" bytes in ")?;
    let (n_messages, _) = rest.split_once(' ')?;
    Some((n_bytes.parse().ok()?, n_messages.parse().ok()?))
}

/// Looks at the size of a folder now and then.
struct Watch {
    is_over: Arc<AtomicBool>,
    watcher: JoinHandle<u64>,
}

impl Watch {
    fn new(folder: PathBuf) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let watcher = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                let mut largest = 0;
                while !is_over.load(Ordering::Relaxed) {
                    largest = largest.max(size_of(&folder));
                    thread::sleep(Duration::from_millis(20));
                }
                largest
            }
        });
        Self { is_over, watcher }
    }

    /// The largest size that was seen.
    fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap_or(0)
    }
}

/// The bytes of the files in a folder. Files may go while they are counted.
fn size_of(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = files.filter_map(|file| file.metadata().ok());
    sizes.map(|metadata| metadata.len()).sum()
}

fn print(asked: &Asked, points: &[Point]) {
    let mut table = Table::new(&[
        "way",
        "states",
        "CPU s",
        "wall s",
        "µs/state",
        "to the first",
        "peak MB",
        "bytes sent/state",
        "messages/1000 states",
        "disk bytes/state",
    ]);

    let first = points[0].microseconds_per_state;
    for point in points {
        table.add(vec![
            point.way.to_owned(),
            count(point.states as f64),
            figure(point.seconds),
            figure(point.wall_seconds),
            figure(point.microseconds_per_state),
            figure(point.microseconds_per_state / first),
            count((point.peak_rss_bytes >> 20) as f64),
            or_dash(point.bytes_sent_per_state, figure),
            or_dash(point.messages_per_thousand_states, figure),
            or_dash(point.disk_bytes_per_state, figure),
        ]);
    }

    println!("\n{}\n{table}", asked.name);
}
