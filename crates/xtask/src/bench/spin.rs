//! Spin's verifiers: generated, compiled, fitted and run.
//!
//! A verifier takes the size of its hash table (`-w`) and of its stack (`-m`) from outside. Both
//! are fitted in Spin's favour: a first run, not measured, says how many states and how much depth
//! there are; the measured runs get a table of at least as many slots and a stack that just fits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::measure::{End, Limits, Run, run};
use super::pan::{self, PanReport};
use super::statistics::median;
use super::suite::{BenchKind, BenchQuestion, Model, Suite};

/// Spin and a C compiler.
#[derive(Debug)]
pub(super) struct Spin {
    /// What they say about themselves.
    pub(super) versions: [String; 2],
    root: PathBuf,
    limits: Limits,
    depth: u64,
}

/// The table of the first run, as a logarithm.
const FIRST_LOG_SLOTS: u32 = 22;

/// No search is given a larger stack than this.
const MAX_DEPTH: u64 = 100_000_000;

/// How a verifier is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variant {
    /// No reduction: the states are those of the system.
    Plain,
    /// No reduction, states stored by components.
    Collapse,
    /// Partial-order reduction.
    Reduced,
}

impl Variant {
    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-DNOREDUCE"],
            Self::Collapse => &["-DNOREDUCE", "-DCOLLAPSE"],
            Self::Reduced => &[],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Collapse => "collapse",
            Self::Reduced => "reduced",
        }
    }
}

/// A question put to Spin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) model: &'a Model,
    pub(super) question: &'a BenchQuestion,
    pub(super) size: u64,
    pub(super) variant: Variant,
}

/// A compiled verifier and what its runs came to.
#[derive(Debug)]
pub(super) struct Verifier {
    directory: PathBuf,
    commands: Vec<String>,
    compile_seconds: f64,
    flags: Vec<String>,
    /// The hash table, as a logarithm, and the stack.
    sizes: (u32, u64),
    limits: Limits,
    runs: Vec<(Run, PanReport)>,
}

/// What a series of equal runs came to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SpinResult {
    /// The commands.
    pub(super) commands: Vec<String>,
    #[serde(flatten)]
    pub(super) report: PanReport,
    /// Median of the CPU seconds.
    pub(super) seconds: f64,
    /// Of every run.
    pub(super) all_seconds: Vec<f64>,
    /// CPU seconds of generating and compiling the verifier.
    pub(super) compile_seconds: f64,
    /// Largest resident set.
    pub(super) peak_rss_bytes: u64,
    /// States and hash table as Spin reports them, for each state.
    pub(super) bytes_per_state: f64,
}

/// A run that gives no answer, and why.
pub(super) type Answer<T> = Result<T, String>;

impl Spin {
    /// Finds Spin and a C compiler.
    pub(super) fn find(root: &Path, suite: &Suite) -> Option<Self> {
        let spin = first_line(Command::new("spin").arg("-V"))?;
        let gcc = first_line(Command::new("gcc").arg("--version"))?;
        Some(Self {
            versions: [spin, gcc],
            root: root.to_owned(),
            limits: suite.limits,
            depth: suite.spin_depth,
        })
    }

    /// Generates, compiles and fits a verifier. The inner error says why it gives no answer.
    pub(super) fn verifier(&self, task: Task<'_>) -> Result<Answer<Verifier>> {
        let mut verifier = self.compile(task)?;
        Ok(self.fit(&mut verifier)?.map(|()| verifier))
    }

    /// Runs another variant of a question once. It is tried with the sizes that fit the first
    /// variant, and fitted itself only if they do not serve.
    pub(super) fn once(&self, task: Task<'_>, like: &Verifier) -> Result<Answer<SpinResult>> {
        let mut verifier = self.compile(task)?;
        verifier.sizes = like.sizes;
        let mut answer = verifier.run()?;
        let complete = |(_, report): &(Run, PanReport)| report.complete;
        if answer.is_ok() && !verifier.runs.iter().all(complete) {
            verifier.runs.clear();
            answer = self.fit(&mut verifier)?;
            if answer.is_ok() {
                answer = verifier.run()?;
            }
        }
        match answer {
            Ok(()) => verifier.result().map(Ok),
            Err(reason) => Ok(Err(reason)),
        }
    }

    fn fit(&self, verifier: &mut Verifier) -> Result<Answer<()>> {
        let mut depth = self.depth;
        loop {
            verifier.sizes = (FIRST_LOG_SLOTS, depth);
            let report = match verifier.start()? {
                Ok((_, report)) => report,
                Err(reason) => return Ok(Err(reason)),
            };
            // A search that finds an error ends there.
            if report.complete || report.errors > 0 || depth >= MAX_DEPTH {
                verifier.sizes = fitting_sizes(report.stored, report.depth);
                return Ok(Ok(()));
            }
            depth *= 10;
        }
    }

    fn compile(&self, task: Task<'_>) -> Result<Verifier> {
        let promela = task.model.promela.as_ref().context("no Promela")?;
        let kind = task.question.title().replace(", ", "-");
        let name = format!(
            "{}-{}-{kind}-{}",
            task.model.name,
            task.size,
            task.variant.name()
        );

        let directory = self.root.join("target/bench").join(name);
        fs::create_dir_all(&directory)?;

        let generate = generate_flags(task);
        let compile = compile_flags(task);
        let path = self.root.join(promela);
        let path = path.to_str().context("paths must be UTF-8")?;
        let in_directory = |program: &str, flags: &[String], last: &[&str]| -> Result<f64> {
            let mut command = Command::new(program);
            command.args(flags).args(last).current_dir(&directory);
            let run = run(&command, self.limits)?;
            let said = format!("{}{}", run.stdout, run.stderr);
            ensure!(
                run.end == End::Exited(0),
                "{program} fails on {promela}: {said}"
            );
            Ok(run.cpu_seconds)
        };

        let seconds = in_directory("spin", &generate, &["-a", path])?
            + in_directory("gcc", &compile, &["-o", "pan", "pan.c"])?;
        Ok(Verifier {
            directory: directory.clone(),
            commands: vec![
                format!("spin {} -a {promela}", generate.join(" ")),
                format!("gcc {} -o pan pan.c", compile.join(" ")),
            ],
            compile_seconds: seconds,
            flags: run_flags(task),
            sizes: (FIRST_LOG_SLOTS, self.depth),
            limits: self.limits,
            runs: Vec::new(),
        })
    }
}

impl Verifier {
    /// Runs once more.
    pub(super) fn run(&mut self) -> Result<Answer<()>> {
        let ended = self.start()?;
        Ok(ended.map(|run| self.runs.push(run)))
    }

    /// What the runs so far came to. There must be one.
    pub(super) fn result(&self) -> Result<SpinResult> {
        let (_, report) = self.runs.last().context("nothing was run")?;
        let all_seconds: Vec<f64> = self.runs.iter().map(|(run, _)| run.cpu_seconds).collect();
        let peak = self.runs.iter().map(|(run, _)| run.peak_rss_bytes).max();
        let mut commands = self.commands.clone();
        commands.push(format!("./pan {}", self.flags().join(" ")));
        Ok(SpinResult {
            commands,
            bytes_per_state: report.bytes_per_state(),
            report: report.clone(),
            seconds: median(&all_seconds).unwrap_or_default(),
            all_seconds,
            compile_seconds: self.compile_seconds,
            peak_rss_bytes: peak.unwrap_or_default(),
        })
    }

    fn start(&self) -> Result<Answer<(Run, PanReport)>> {
        let mut command = Command::new("./pan");
        command.args(self.flags()).current_dir(&self.directory);
        let run = run(&command, self.limits)?;
        Ok(match (run.end, pan::parse(&run.stdout)) {
            (End::OutOfTime, _) => Err(format!("> {} s", self.limits.cpu_seconds)),
            (_, Some(report)) => Ok((run, report)),
            (_, None) => Err(pan::complaint(&run.stdout)),
        })
    }

    fn flags(&self) -> Vec<String> {
        let (log_slots, depth) = self.sizes;
        let sizes = [format!("-w{log_slots}"), format!("-m{depth}")];
        self.flags.iter().cloned().chain(sizes).collect()
    }
}

/// The smallest table with as many slots as states (as its logarithm) and a stack with room to
/// spare for the search, whose path depends on nothing but the model.
fn fitting_sizes(n_states: u64, depth: u64) -> (u32, u64) {
    let log_slots = n_states.max(1).next_power_of_two().trailing_zeros();
    (log_slots.max(10), depth + 100)
}

/// Write-only variables stay visible (-o2), statements are not merged (-o3): else the states are
/// not those of the system.
fn generate_flags(task: Task<'_>) -> Vec<String> {
    let mut flags = vec![
        "-o2".to_owned(),
        "-o3".to_owned(),
        format!("-DN={}", task.size),
    ];
    if task.question.kind == BenchKind::Liveness {
        flags.push("-DLIVENESS".to_owned());
    }
    flags
}

fn compile_flags(task: Task<'_>) -> Vec<String> {
    let mut flags = vec!["-O3".to_owned(), "-w".to_owned()];
    flags.extend(task.variant.flags().iter().map(|&flag| flag.to_owned()));
    if task.question.kind == BenchKind::Safety {
        flags.push("-DSAFETY".to_owned());
    } else if task.question.fairness == "weak-process" {
        let n_counters = fairness_bytes(task.model.n_processes(task.size));
        flags.push(format!("-DNFAIR={n_counters}"));
    }
    flags.extend(task.model.compile_flags.iter().cloned());
    flags
}

fn run_flags(task: Task<'_>) -> Vec<String> {
    let mut flags = task.model.run_flags.clone();
    if task.question.kind == BenchKind::Liveness {
        flags.push("-a".to_owned());
    }
    if task.question.fairness == "weak-process" {
        flags.push("-f".to_owned());
    }
    flags
}

/// The least `NFAIR`: it serves 4·NFAIR - 2 processes, the claim included, and is at least 2.
fn fairness_bytes(n_processes: u64) -> u64 {
    (n_processes + 1 + 2).div_ceil(4).max(2)
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_slot_for_each_state() {
        assert_eq!(fitting_sizes(0, 0), (10, 100));
        assert_eq!(fitting_sizes(1 << 20, 5), (20, 105));
        assert_eq!(fitting_sizes((1 << 20) + 1, 5), (21, 105));
    }

    #[test]
    fn fairness_counters_serve_all_processes() {
        assert_eq!(fairness_bytes(3), 2);
        assert_eq!(fairness_bytes(5), 2);
        assert_eq!(fairness_bytes(6), 3);
        assert_eq!(fairness_bytes(43), 12);
    }

    fn flags(kind: BenchKind, fairness: &str, variant: Variant) -> [String; 3] {
        let model = "name = 'm'\nnative = 'm.fair'\nprocesses = [1, 1]\nrun_flags = ['-E']";
        let model: Model = toml::from_str(model).unwrap();
        let question =
            format!("kind = 'safety'\nfairness = '{fairness}'\nverdict = 'holds'\nsizes = [4]");
        let mut question: BenchQuestion = toml::from_str(&question).unwrap();
        question.kind = kind;

        let task = Task {
            model: &model,
            question: &question,
            size: 4,
            variant,
        };

        [generate_flags(task), compile_flags(task), run_flags(task)].map(|flags| flags.join(" "))
    }

    #[test]
    fn flags_follow_the_question() {
        assert_eq!(
            flags(BenchKind::Safety, "none", Variant::Collapse),
            [
                "-o2 -o3 -DN=4",
                "-O3 -w -DNOREDUCE -DCOLLAPSE -DSAFETY",
                "-E"
            ]
        );
        assert_eq!(
            flags(BenchKind::Liveness, "none", Variant::Reduced),
            ["-o2 -o3 -DN=4 -DLIVENESS", "-O3 -w", "-E -a"]
        );
        assert_eq!(
            flags(BenchKind::Liveness, "weak-process", Variant::Plain),
            [
                "-o2 -o3 -DN=4 -DLIVENESS",
                "-O3 -w -DNOREDUCE -DNFAIR=2",
                "-E -a -f"
            ]
        );
    }
}
