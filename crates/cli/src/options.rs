//! What can be written on the command line.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fairground::report::Escape;
use fairground::{Expected, Fairness, Route, closest_name};

use crate::output::{self, Color};
use crate::progress::ProgressMode;
use crate::quantity::{parse_duration, parse_size};

/// Decides properties of concurrent systems under fairness, and explains the answers.
#[derive(Parser, Debug)]
#[command(name = "fair", version, after_help = EXIT_STATUS, disable_help_subcommand = true)]
pub struct Cli {
    /// When to use colours; NO_COLOR is obeyed.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Stop everything after this time, such as 500ms, 30s, 2m or 1h, and say what is known.
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// Stop if more memory than this is needed, such as 512M or 2GiB. Default: 80 % of what the
    /// machine, or the control group of the process, has; 4G for a search of the studio.
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Let models include files of this folder, too, not only of the folder that they are in.
    /// Repeatable.
    #[arg(long, global = true, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 every property holds, or is as expected; 1 some property is \
    violated, or not as expected; 2 the model, formula or call is wrong; 3 none of these, but some \
    property is undecided; 101 a bug in the tool.";

/// More threads than this do not make any search faster.
const MAX_THREADS: i64 = 1024;

/// The commands. The options of a command are made when it is called or described, not before: all of
/// them together take as long as reading a small model. (So comments of structures of options are not
/// documentation: it would take the place of that of the command.)
#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub enum Command {
    /// Decide the properties of a model.
    Check(Box<CheckOptions>),
    /// Say which fairness a property needs.
    Fairness(Box<FairnessOptions>),
    /// Print the abstraction of a model.
    Abstract(AbstractOptions),
    /// Continue a check that was stopped.
    Resume(ResumeOptions),
    /// Check with several processes on this machine.
    Cluster(ClusterOptions),
    /// Walk through a model step by step, or at random.
    Simulate(SimulateOptions),
    /// Print a stored trace.
    Explain(ExplainOptions),
    /// Replay a stored trace on a model.
    Replay(ReplayOptions),
    /// Check certificates of verdicts without searching.
    Certify(CertifyOptions),
    /// Print the state graph of a model in DOT.
    Graph(GraphOptions),
    /// Print the automaton of an LTL formula.
    Ltl(LtlOptions),
    /// Decide formulas of WS1S or M2L-Str in MONA's language.
    Ws1s(Ws1sOptions),
    /// Find the coefficients of a threshold automaton that make its properties true.
    Synthesise(SynthesiseOptions),
    /// Write, verify and explore models in the browser.
    Studio(StudioOptions),
    /// Serve an editor: the language server, on standard input and output.
    ///
    /// `--timeout` (default 60s) and `--max-memory` (default 2G) limit each check, not the server.
    Lsp(LspOptions),
    /// Serve an agent: the Model Context Protocol, on standard input and output.
    Mcp,
    /// Bring native texts into canonical layout.
    Fmt(FmtOptions),
    /// Print a completion script for a shell.
    Completions(CompletionsOptions),
    /// Print the manual page.
    Man(ManOptions),
}

// Options of all commands that read one model.
#[derive(Args, Debug)]
pub struct ModelOptions {
    /// The model (`.fair`, `.pml`, `.csp`).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What is said about it besides its text.
    #[command(flatten)]
    pub settings: ModelSettings,
}

// What is said about a model besides its text.
#[derive(Args, Debug)]
pub struct ModelSettings {
    /// The language of the model (fair, promela, csp), whatever its file is called.
    #[arg(long, value_name = "NAME")]
    pub language: Option<String>,
    /// Give a constant or parameter of the model another value. Repeatable.
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// Make a timer abstract: its values from K on are one value. NAME or PROCESS.NAME. Repeatable.
    #[arg(long, value_name = "NAME=K", value_parser = parse_define)]
    pub abstract_timer: Vec<(String, String)>,
    /// Pass over assertions that fail (Promela; Spin's `pan -A`).
    #[arg(short = 'A', long)]
    pub no_assertions: bool,
    /// Do not ask whether end states are valid (Promela; Spin's `pan -E`).
    #[arg(short = 'E', long)]
    pub no_end_states: bool,
    /// Lose messages that are sent to full channels (Promela; `spin -m`).
    #[arg(long)]
    pub lossy_channels: bool,
}

// Options of `fair check`.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// The models (`.fair`, `.pml`, `.csp`), folders of models, or `-` for a native model on standard
    /// input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What is said about them besides their texts.
    #[command(flatten)]
    pub settings: ModelSettings,
    /// The verdict that is expected of a property: holds, violated or unknown. Repeatable.
    #[arg(long, value_name = "NAME=VERDICT", value_parser = parse_expected)]
    pub expect: Vec<(String, Expected)>,
    /// Check this property only. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub property: Vec<String>,
    /// Check this LTL formula, and of the file only the properties named with `--property`.
    /// Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub ltl: Vec<String>,
    /// Check this CTL* formula, such as `A(G(req -> F ack))` or `AG EF reset`, and of the file only
    /// the properties named with `--property`. Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub ctl: Vec<String>,
    /// How fairness is read on may/must systems. Anything but the default is unsound.
    #[arg(long, value_name = "READING", default_value = "annotated")]
    pub semantics: Semantics,
    /// Which runs are fair: none, just, weak-process, strong-process, weak, strong, strong-global,
    /// annotated, or one of them with `+annotated`. Default: what the property or the model says,
    /// else `annotated` if the model has annotations, else `none`. `all`, or several with commas,
    /// make a table from one exploration.
    #[arg(long, value_name = "KIND", value_parser = parse_notions)]
    pub fairness: Option<Notions>,
    /// How runs are excluded in which an abstract timer never expires.
    #[arg(long, value_name = "HOW", default_value = "built-in")]
    pub t_fairness: TFairness,
    /// Consider only runs that satisfy this Boolean combination of `[]<> p` and `<>[] p`. Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub assume: Vec<String>,
    /// Stop a search that stores more states than this.
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,

    /// Reduce the state space without changing the verdict: partial-order reduction, symmetry
    /// reduction, reduction by dead variables. Without a LIST, all three, each where it is sound.
    /// Counts are then those of the reduced system, and counterexamples are not always shortest.
    /// Default: `auto`, which explores the full state space and, if that becomes large, starts
    /// again with the reductions that make it smaller.
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_value = "auto", default_missing_value = "all", hide_default_value = true)]
    pub reduce: Vec<ReductionName>,
    /// Do not remove commands that are never executed and variables that never change.
    #[arg(long)]
    pub all_code: bool,
    /// Visit all states even if a property is known to hold before, so that counts, warnings about
    /// steps that are never taken, and run-time errors are those of the whole model.
    #[arg(long)]
    pub all_states: bool,
    /// Bitstate search in this much memory (default: 64M): stores a few bits per state, so it
    /// explores more states but may miss some. A violation that it finds is real; if it finds none,
    /// the verdict is unknown. For invariants, reachability and deadlocks.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_missing_value = "64M", value_parser = parse_size)]
    pub bitstate: Option<u64>,
    /// Say in how many states an invariant is violated or an assertion fails, not only where first.
    /// All states are visited and kept for that.
    #[arg(long, conflicts_with_all = ["bitstate", "checkpoint"])]
    pub count_violations: bool,
    /// List all statements that no run executes, whatever the verdicts are; failed assertions are
    /// passed over.
    #[arg(long)]
    pub unreached: bool,
    /// List the actions that were taken most often.
    #[arg(long)]
    pub profile: bool,
    /// Use up to this many threads for reachability, invariants, deadlocks and fair loops. With one
    /// thread the same call always prints the same
    #[arg(long, visible_alias = "workers", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub threads: u16,
    /// Which processes check together.
    #[command(flatten)]
    pub together: TogetherOptions,
    /// Stop the search for a property after this time, such as 500ms or 30s, and go on with the next.
    /// Properties that one exploration decides together have that much each.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout_per_property: Option<Duration>,
    /// Write a checkpoint to this file from time to time and when the search is stopped;
    /// `fair resume FILE` continues from it.
    #[arg(
        long,
        value_name = "FILE",
        group = "keeping",
        conflicts_with = "bitstate"
    )]
    pub checkpoint: Option<PathBuf>,
    /// Keep states in files in this folder instead of memory, for models that do not fit into it; up to
    /// half of `--max-memory` is used to sort them. Stopped for whatever reason, `fair resume DIR`
    /// continues. Not for strong global fairness and path quantifiers.
    #[arg(long, value_name = "DIR", group = "keeping", conflicts_with_all = ["bitstate", "watch", "certificate", "certify"])]
    pub disk: Option<PathBuf>,
    /// How often a checkpoint is written while the search runs.
    #[arg(long, value_name = "DURATION", default_value = "2m", requires = "keeping", value_parser = parse_duration)]
    pub checkpoint_every: Duration,
    /// Write the first counterexample (else the first witness) to this ITF file (`.itf.json`).
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write certificates of all verdicts that have one to this file; `fair certify` checks them.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Certify verdicts: find a certificate for each, and check it without searching.
    #[arg(long)]
    pub certify: bool,
    /// How the results are printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// How the properties are decided.
    #[arg(long, value_name = "ROUTE", value_parser = route_parser())]
    pub route: Option<Route>,
    /// How unbounded data is treated.
    #[command(flatten)]
    pub data: DataOptions,
    /// Do not cross-check a proof for all numbers of processes against small instances.
    #[arg(long)]
    pub no_cross_check: bool,
    /// Where progress is shown.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub progress: ProgressMode,
    /// Print verdicts only: no traces, no warnings, no progress line.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print what each verdict cost.
    #[arg(short, long)]
    pub verbose: bool,
    /// Show whole states in traces instead of what steps change.
    #[arg(long, conflicts_with = "quiet")]
    pub full: bool,
    /// Check again whenever a file changes that was read, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["checkpoint", "trace", "certificate"])]
    pub watch: bool,
}

/// The notions of fairness that are asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notions {
    /// Every notion that has a name.
    All,
    /// One.
    One(Fairness),
    /// Several, each once.
    Several(Vec<Fairness>),
}

// Options of `fair fairness`.
#[derive(Args, Debug)]
pub struct FairnessOptions {
    /// Which model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// The property. Default: the first whose verdict can depend on fairness.
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// Ask about this LTL formula instead.
    #[arg(
        long,
        value_name = "FORMULA",
        allow_hyphen_values = true,
        conflicts_with = "property"
    )]
    pub ltl: Option<String>,
    /// Offer this assumption, a Boolean combination of `[]<> p` and `<>[] p`, besides fairness of
    /// processes, actions and annotated steps. Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub candidate: Vec<String>,
    /// Consider only runs that satisfy this formula. Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub assume: Vec<String>,
    /// Consider each instance of a process for itself, not all of them together.
    #[arg(long)]
    pub each: bool,
    /// Say which of the assumptions that the model makes are needed.
    #[arg(long, conflicts_with_all = ["candidate", "each"])]
    pub audit: bool,
    /// Stop a search that stores more states than this.
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// How the answer is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: AdviceFormat,
    /// Where progress is shown.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub progress: ProgressMode,
    /// Print every loop in full.
    #[arg(short, long)]
    pub verbose: bool,
}

/// How advice is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AdviceFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

// How predicate abstraction works.
#[derive(Args, Debug)]
pub struct DataOptions {
    /// Which solver decides questions about data.
    #[arg(long, value_name = "SOLVER", default_value = "auto")]
    pub solver: SolverName,
    /// Trust an answer "impossible" of the solver only if this second solver confirms it.
    #[arg(long, value_name = "SOLVER")]
    pub confirm_with: Option<SolverName>,
    /// Give up after adding predicates or rankings this many times.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub max_refinements: usize,
    /// Time limit of the solver for one question, such as 500ms or 10s.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    pub solver_timeout: Duration,
}

/// A decision procedure for data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SolverName {
    /// The one that is part of this program.
    Embedded,
    /// The program `z3`.
    Z3,
    /// The program `cvc5`.
    Cvc5,
    /// z3 or cvc5 if one of them is installed, else the embedded one.
    Auto,
}

// Which processes check together.
#[derive(Args, Debug, Clone)]
pub struct TogetherOptions {
    /// Check together with other processes, whose addresses this file lists: one HOST:PORT per line,
    /// that of process 0 first. All are started with the same arguments but `--process`; process 0 reports.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with_all = ["bitstate", "watch", "checkpoint", "certificate", "certify"])]
    pub hosts: Option<PathBuf>,
    /// The number of this process in the list of hosts, from 0 on.
    #[arg(long, value_name = "K", requires = "hosts")]
    pub process: Option<usize>,
    /// A file with a secret that all processes know, so that no other process joins. Needed unless all
    /// hosts are this machine.
    #[arg(long, value_name = "FILE", requires = "hosts")]
    pub secret: Option<PathBuf>,
    /// How long to wait for other processes to start, and how long they may be silent.
    #[arg(long, value_name = "DURATION", default_value = "30s", requires = "hosts", value_parser = parse_duration)]
    pub patience: Duration,
}

// Options of `fair cluster`.
#[derive(Args, Debug)]
pub struct ClusterOptions {
    /// What to do.
    #[command(subcommand)]
    pub command: ClusterCommand,
}

// What can be done with several processes on this machine.
#[derive(Subcommand, Debug)]
pub enum ClusterCommand {
    /// Check a model with several processes on this machine.
    Run(ClusterRunOptions),
    /// Continue a check of several processes on this machine that was stopped.
    Resume(ClusterResumeOptions),
}

// Options of `fair cluster run`.
#[derive(Args, Debug)]
pub struct ClusterRunOptions {
    /// How many processes to start.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_PROCESSES))]
    pub local: u16,
    /// The model, and options of `fair check`.
    #[arg(
        value_name = "FILE",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<String>,
}

// Options of `fair cluster resume`.
#[derive(Args, Debug)]
pub struct ClusterResumeOptions {
    /// How many processes to start; the check may have had more or fewer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_PROCESSES))]
    pub local: u16,
    /// The folder of `fair cluster run … --disk DIR`, or of `fair check … --disk DIR`.
    #[arg(value_name = "DIR")]
    pub disk: PathBuf,
}

/// More processes on one machine than this are a mistake.
const MAX_PROCESSES: i64 = 64;

// Options of `fair resume`.
#[derive(Args, Debug)]
pub struct ResumeOptions {
    /// The checkpoint, a file written by `fair check --checkpoint`, or the folder of `fair check --disk`.
    #[arg(value_name = "FILE")]
    pub checkpoint: PathBuf,
    /// Stop a search that stores more states than this. The limits of the first call do not apply.
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Write the first counterexample (else the first witness) to this ITF file (`.itf.json`). The
    /// file that the first call named is not written.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Another list of hosts than that of the check. For the folder of a whole check, it may have more or
    /// fewer; without it, one process goes on.
    #[arg(long, value_name = "FILE", requires = "process")]
    pub hosts: Option<PathBuf>,
    /// The number of this process in the list of hosts.
    #[arg(long, value_name = "K", requires = "hosts")]
    pub process: Option<usize>,
    /// The file with the secret.
    #[arg(long, value_name = "FILE", requires = "hosts")]
    pub secret: Option<PathBuf>,
}

// Options of `fair certify`.
#[derive(Args, Debug)]
pub struct CertifyOptions {
    /// The model (`.fair`, `.pml`, `.csp`).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The certificates, a file written by `fair check --certificate`.
    #[arg(value_name = "CERTIFICATE")]
    pub certificate: PathBuf,
    /// Write the texts that solvers are asked to this folder, which must exist.
    #[arg(long, value_name = "FOLDER")]
    pub obligations: Option<PathBuf>,
    /// Use up to this many threads.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub threads: u16,
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object per line, each as soon as its property is decided.
    JsonLines,
    /// JUnit XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
}

impl OutputFormat {
    /// How characters are written that a terminal would obey; as text for people if nothing is said.
    pub fn escape(self) -> Option<Escape> {
        match self {
            Self::Text => None,
            Self::Json | Self::JsonLines | Self::Sarif => Some(Escape::Json),
            Self::Junit => Some(Escape::Xml),
        }
    }

    /// Prints a text that has this format.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn print(self, text: &str) -> anyhow::Result<()> {
        match self.escape() {
            None => output::print(text),
            Some(escape) => output::print_document(text, escape),
        }
    }
}

impl Command {
    /// In which format the answer is wanted, and about which file, if the command has formats.
    pub fn wanted(&self) -> Option<(OutputFormat, String)> {
        let file = |path: &Path| path.display().to_string();
        match self {
            Self::Check(options) => Some((options.output_format, file(&options.files[0]))),
            Self::Fairness(options) => {
                let format = match options.output_format {
                    AdviceFormat::Text => OutputFormat::Text,
                    AdviceFormat::Json => OutputFormat::Json,
                };
                Some((format, file(&options.model.file)))
            }
            _ => None,
        }
    }

    /// Does the command end by itself, so that limits of time and memory are for it as a whole?
    pub fn is_limited(&self) -> bool {
        !matches!(
            self,
            Self::Studio(_) | Self::Cluster(_) | Self::Completions(_) | Self::Man(_)
        )
    }
}

/// Ways of making a search smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReductionName {
    /// None at first; after ten million states, or when half of the memory is used, those that make
    /// the state space smaller.
    Auto,
    /// None.
    None,
    /// All of them.
    All,
    /// Partial-order reduction: do not explore every order of independent steps.
    PartialOrder,
    /// Symmetry reduction: identify states that differ by exchanging interchangeable processes.
    Symmetry,
    /// Identify states that differ only in dead variables: values that are never read again.
    DeadVariables,
}

/// How runs are excluded in which an abstract timer never expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TFairness {
    /// By fairness conditions of the search.
    BuiltIn,
    /// By a premise of the formula, in the form of weak fairness.
    WeakFormula,
    /// By a premise of the formula, in the form of strong fairness.
    StrongFormula,
    /// Not at all: violations that are spurious for this reason are reported, with a remark.
    None,
}

/// How fairness is read on may/must systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Semantics {
    /// Fairness distinguishes what may happen from what must happen. Sound.
    Annotated,
    /// May and must are not distinguished. Unsound; it exists to show the difference.
    Naive,
}

// Options of `fair abstract`.
#[derive(Args, Debug)]
pub struct AbstractOptions {
    /// Which model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// The property that the abstraction is for. Default: the first.
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// What is printed.
    #[arg(long, value_name = "FORMAT", default_value = "native")]
    pub to: AbstractFormat,
    /// How unbounded data is treated.
    #[command(flatten)]
    pub data: DataOptions,
}

/// What `fair abstract` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AbstractFormat {
    /// The abstract model in the native language.
    Native,
    /// The abstract model for NuSMV and nuXmv.
    Smv,
    /// The abstract model for Spin.
    Promela,
    /// The family of all instances as a WS1S transition system, as a file for MONA.
    Ws1s,
}

// Options of `fair simulate`.
#[derive(Args, Debug)]
pub struct SimulateOptions {
    /// Which model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// Choose every step at random instead of asking. Ends at a state that breaks an invariant.
    #[arg(long, group = "at_random")]
    pub random: bool,
    /// Make this many random runs, and print statistics and the first run that breaks an invariant.
    #[arg(long, value_name = "K", group = "at_random")]
    pub runs: Option<u64>,
    /// How many random steps a run has at most. Default: 20; with `--runs`, 100.
    #[arg(
        long,
        visible_alias = "depth",
        value_name = "N",
        requires = "at_random"
    )]
    pub steps: Option<usize>,
    /// The same seed gives the same choices; each of several runs has the seed after that of the run
    /// before.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The fairness whose pending obligations are shown; as for `check`.
    #[arg(long, value_name = "KIND", value_parser = parse_fairness)]
    pub fairness: Option<Fairness>,
    /// Begin with the run in this ITF file, such as a counterexample of `fair check --trace`, and go on
    /// from its end, or from any step of it (`g N`).
    #[arg(long, value_name = "FILE", conflicts_with = "at_random")]
    pub along: Option<PathBuf>,
    /// Write the run to this ITF file at the end, also if it is interrupted.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

// Options of `fair explain`.
#[derive(Args, Debug)]
pub struct ExplainOptions {
    /// The trace (`.itf.json`).
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Draw a message sequence chart instead.
    #[arg(long)]
    pub msc: bool,
    /// Show whole states instead of what steps change.
    #[arg(long, conflicts_with = "msc")]
    pub full: bool,
}

// Options of `fair replay`.
#[derive(Args, Debug)]
pub struct ReplayOptions {
    /// Which model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// The trace (`.itf.json`).
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// An assumption that the check was given. Repeatable.
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub assume: Vec<String>,
}

// Options of `fair graph`.
#[derive(Args, Debug)]
pub struct GraphOptions {
    /// Which model.
    #[command(flatten)]
    pub model: ModelOptions,
    /// Draw strongly connected components instead of states.
    #[arg(long)]
    pub condense: bool,
    /// Give up beyond this many states.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_states: u64,
}

// Options of `fair ltl`.
#[derive(Args, Debug)]
pub struct LtlOptions {
    /// The formula.
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: String,
    /// How the automaton is printed.
    #[arg(long, value_name = "FORMAT", default_value = "hoa")]
    pub format: AutomatonFormat,
}

// Options of `fair synthesise`.
#[derive(Args, Debug)]
pub struct SynthesiseOptions {
    /// The threshold automaton with `unknowns` (`.ta`).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Give a coefficient or parameter a value. Repeatable.
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// Find all values, not only the first.
    #[arg(long)]
    pub all: bool,
    /// How the result is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: AdviceFormat,
    /// Do not compare proofs with small systems.
    #[arg(long)]
    pub no_cross_check: bool,
    /// Which solver is asked.
    #[command(flatten)]
    pub data: DataOptions,
}

// Options of `fair ws1s`.
#[derive(Args, Debug)]
pub struct Ws1sOptions {
    /// The formulas (`.mona`).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also print the minimal automaton of every formula.
    #[arg(long, value_name = "FORMAT")]
    pub automaton: Option<AutomatonFormat>,
    /// Also print the sizes of the automata and the time of each phase.
    #[arg(long)]
    pub statistics: bool,
    /// Write the files that `export` names into this folder, not beside FILE.
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Let `export` replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// How automata are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AutomatonFormat {
    /// The Hanoi Omega-Automata format; for finite words, a format like it.
    Hoa,
    /// A drawing for Graphviz.
    Dot,
}

// Options of `fair studio`.
#[derive(Args, Debug)]
pub struct StudioOptions {
    /// A model, or the folder whose files can be opened. Default: the current folder. Nothing outside
    /// the folder is read or written.
    #[arg(value_name = "FILE|FOLDER")]
    pub path: Option<PathBuf>,
    /// Listen on this port. Default: one that is free.
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Listen on this address instead of 127.0.0.1. Anyone who can reach it and knows the token can
    /// read and write the folder.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Show the page in the browser.
    #[arg(long)]
    pub open: bool,
}

// Options of `fair lsp`. `--timeout` (default 60s) and `--max-memory` (default 2G) limit each check.
#[derive(Args, Debug)]
pub struct LspOptions {
    /// Stop a check that has seen more states than this.
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub max_states: u64,
    /// Accepted because editors pass it; standard input and output are used in any case.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

// Options of `fair fmt`.
#[derive(Args, Debug)]
pub struct FmtOptions {
    /// The texts (`.fair`). They are overwritten, unless `--check` is given.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that are not in canonical layout, and fail if there are any.
    #[arg(long)]
    pub check: bool,
}

// Options of `fair completions`.
#[derive(Args, Debug)]
pub struct CompletionsOptions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

// Options of `fair man`.
#[derive(Args, Debug)]
pub struct ManOptions {
    /// Print the page of this command.
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Reads the routes that can be asked for.
fn route_parser() -> impl TypedValueParser<Value = Route> {
    let routes = [
        (Route::Explicit, "By visiting every reachable state"),
        (
            Route::Symbolic,
            "By fixpoints over sets of states, as binary decision diagrams",
        ),
        (
            Route::Race,
            "By visiting states and by sets of states at once; the first verdict counts",
        ),
        (Route::Predicate, "By predicate abstraction of data"),
        (Route::Ws1s, "For all numbers of processes, by way of WS1S"),
        (
            Route::Schemas,
            "For all parameters of a threshold automaton, by linear arithmetic",
        ),
    ];

    let values = routes.map(|(route, help)| PossibleValue::new(route.name()).help(help));
    PossibleValuesParser::new(values)
        .try_map(|name| Route::parse(&name).ok_or("this is not a route"))
}

fn parse_fairness(text: &str) -> Result<Fairness, String> {
    one_notion(text, "")
}

/// One notion; what else is allowed in its place is said where it is wrong.
fn one_notion(text: &str, others: &str) -> Result<Fairness, String> {
    Fairness::parse(text).ok_or_else(|| {
        let names = Fairness::ALL.map(Fairness::name);
        let allowed = names.join(", ");
        let meant = match closest_name(text, names.iter().map(String::as_str)) {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        };
        format!("allowed are {allowed}, and KIND+annotated{others}{meant}")
    })
}

fn parse_expected(text: &str) -> Result<(String, Expected), String> {
    let verdicts = "`holds`, `violated` or `unknown`";
    let (name, verdict) = text
        .rsplit_once('=')
        .ok_or_else(|| format!("write NAME=VERDICT, where the verdict is {verdicts}"))?;
    match Expected::parse(verdict.trim()) {
        Some(expected) => Ok((name.trim().to_owned(), expected)),
        None => Err(format!("`{verdict}` is not a verdict; write {verdicts}")),
    }
}

fn parse_notions(text: &str) -> Result<Notions, String> {
    if text == "all" {
        return Ok(Notions::All);
    }
    let mut notions = Vec::new();
    for name in text.split(',') {
        let notion = one_notion(name.trim(), ", several of them with commas, or `all`")?;
        if !notions.contains(&notion) {
            notions.push(notion);
        }
    }
    Ok(match notions.as_slice() {
        [one] => Notions::One(*one),
        _ => Notions::Several(notions),
    })
}

fn parse_define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE, such as -D N=4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn all_listed_fairness_names_are_read() {
        for fairness in Fairness::ALL {
            assert_eq!(parse_fairness(&fairness.name()), Ok(fairness));
        }
        assert!(parse_fairness("weak+strong").is_err());
        let one = Fairness::of(fairground::FairnessKind::Weak);
        assert_eq!(parse_notions("weak"), Ok(Notions::One(one)));
        let several = Notions::Several(vec![one, Fairness::NONE]);
        assert_eq!(parse_notions("weak,none,weak"), Ok(several));
        assert!(parse_notions("weak,").is_err());
    }

    #[test]
    fn the_reference_lists_every_command_and_option() {
        let reference = include_str!("../../../docs/reference/cli.md");
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(reference.contains(&format!("`fair {name}")), "{name}");
            for option in command.get_arguments().filter_map(|a| a.get_long()) {
                assert!(reference.contains(&format!("--{option}")), "{option}");
            }
        }
    }
}
