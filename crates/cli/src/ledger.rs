//! What is known so far about the properties of a call.
//!
//! Properties are answered in the order of what they are likely to cost and shown in the order of
//! the file. If the work has to be given up ([`limits::last_words`]), everything that is not
//! answered by then is reported as unknown.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fairground::report::{self, Detail, PropertyResult, Report, StoredTrace};
use fairground::{Project, Question, RestsOn, StopReason};

use crate::failure::Status;
use crate::limits::{self, Farewell};
use crate::options::{CheckOptions, OutputFormat};
use crate::output;
use crate::quantity::show_size;

/// The results of a call, as they come in.
#[derive(Clone)]
pub struct Ledger(Arc<Mutex<Entries>>);

struct Entries {
    manner: Manner,
    /// What was found out about other files before.
    earlier: Vec<Report>,
    /// One result for each question; unknown until it is answered.
    report: Report,
    is_answered: Vec<bool>,
    n_printed: usize,
}

/// How results are printed.
#[derive(Clone, Copy)]
pub struct Manner {
    format: OutputFormat,
    quiet: bool,
    verbose: bool,
    detail: Detail,
}

impl From<&CheckOptions> for Manner {
    fn from(options: &CheckOptions) -> Self {
        Self {
            format: options.output_format,
            quiet: options.quiet,
            verbose: options.verbose,
            detail: Detail {
                all_conditions: options.verbose,
                full_states: options.full,
            },
        }
    }
}

impl Ledger {
    /// A ledger without answers. From now on it says what is known if the work is given up.
    pub fn open(
        manner: Manner,
        earlier: &[Report],
        file: String,
        project: &Project,
        questions: &[&Question],
    ) -> Self {
        let unanswered = |question: &&Question| project.unanswered(question);
        let entries = Entries {
            manner,
            earlier: earlier.to_vec(),
            report: Report {
                file,
                results: questions.iter().map(unanswered).collect(),
                ..Report::default()
            },
            is_answered: vec![false; questions.len()],
            n_printed: 0,
        };

        let ledger = Self(Arc::new(Mutex::new(entries)));
        let copy = ledger.clone();

        // A limit of the system may end the process at any time: it then prints what is known.
        limits::last_words(move |reason| copy.farewell(reason));
        ledger
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is said if nothing else will be answered. The ledger is locked for moments only, unless
    /// the program is wrong; it ends in that case, too.
    fn farewell(&self, reason: StopReason) -> Farewell {
        for _ in 0..100 {
            if let Ok(mut entries) = self.0.try_lock() {
                return entries.farewell(reason);
            }
            thread::sleep(Duration::from_millis(2));
        }
        Farewell {
            text: String::new(),
            escape: None,
            status: Status::Undecided,
        }
    }

    /// Notes an answer, and prints what can be printed by now.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn note(&self, position: usize, result: PropertyResult) -> anyhow::Result<()> {
        let mut entries = self.entries();
        entries.report.results[position] = result;
        entries.is_answered[position] = true;
        drop(entries);

        loop {
            // The ledger is not locked while a reader is waited for.
            let (manner, next) = {
                let entries = self.entries();
                (entries.manner, entries.next_report())
            };
            let Some(next) = next else {
                return Ok(());
            };
            output::print_stream(manner.format.escape(), |out| {
                // What is printed in part is not printed again by the last words.
                self.entries().n_printed += 1;
                manner.write(out, next)
            })?;
        }
    }

    /// The report, when everything is answered.
    pub fn close(&self) -> Report {
        self.entries().report.clone()
    }
}

impl Entries {
    /// The next result in the order of the file, if it is known and its format prints one by one.
    fn next_report(&self) -> Option<Report> {
        let is_known = *self.is_answered.get(self.n_printed)?;
        (is_known && self.manner.is_one_by_one()).then(|| Report {
            file: self.report.file.clone(),
            results: vec![self.with_new_errors(self.n_printed)],
            ..Report::default()
        })
    }

    /// A result for people, who are shown a run-time error once: where it was met first.
    fn with_new_errors(&self, position: usize) -> PropertyResult {
        let mut result = self.report.results[position].clone();
        if self.manner.format != OutputFormat::Text {
            return result;
        }

        let error_of = |result: &PropertyResult| result.trace.as_ref()?.meta.error.clone();
        let error = error_of(&result);
        let before = self.report.results[..position].iter();
        let first = before
            .filter(|_| error.is_some())
            .find(|r| error_of(r) == error);

        if let Some(first) = first {
            let remark = format!(
                "because of the run-time error that `{}` shows",
                first.property
            );
            result.remarks.push(remark);
            result.trace = None;
        }

        result
    }

    /// What is said if nothing else will be answered.
    fn farewell(&mut self, reason: StopReason) -> Farewell {
        for (result, is_answered) in self.report.results.iter_mut().zip(&self.is_answered) {
            if !is_answered {
                result.reason = Some(reason.name().to_owned());
            }
            leave_out_long(result, reason);
        }
        let text = if self.manner.is_one_by_one() {
            let rest = Report {
                file: self.report.file.clone(),
                results: self.report.results[self.n_printed..].to_vec(),
                ..Report::default()
            };
            let mut text = String::new();
            let _ = self.manner.write(&mut text, rest);
            text
        } else {
            let mut reports = self.earlier.clone();
            let earlier = reports.iter_mut().flat_map(|report| &mut report.results);
            earlier.for_each(|result| leave_out_long(result, reason));
            reports.push(self.report.clone());
            self.manner.document(&reports)
        };

        let all = self.earlier.iter().chain([&self.report]);
        let status = all.fold(Status::Undecided, |worst, report| {
            worst.worse(status_of(report))
        });
        Farewell {
            text,
            escape: self.manner.format.escape(),
            status,
        }
    }
}

impl Manner {
    /// Are results printed one by one, and not as a whole?
    fn is_one_by_one(self) -> bool {
        matches!(self.format, OutputFormat::Text | OutputFormat::JsonLines)
    }

    /// Writes results in a format that prints them one by one; nothing in others.
    fn write(self, out: &mut dyn fmt::Write, mut report: Report) -> fmt::Result {
        let style = output::stdout_style();
        match self.format {
            OutputFormat::JsonLines => out.write_str(&report::json_lines(&report)),
            OutputFormat::Json | OutputFormat::Junit | OutputFormat::Sarif => Ok(()),
            OutputFormat::Text => {
                if self.quiet {
                    report.results.iter_mut().for_each(strip);
                }
                report::write_text(out, &report, style, self.detail)?;
                if self.verbose {
                    let mut costs = report.results.iter().map(cost_lines);
                    costs.try_for_each(|line| out.write_str(&line))?;
                }
                Ok(())
            }
        }
    }

    /// Reports in a format that prints them as a whole; nothing in others.
    pub fn document(self, reports: &[Report]) -> String {
        match self.format {
            OutputFormat::Text | OutputFormat::JsonLines => String::new(),
            OutputFormat::Json => report::json_of_several(reports),
            OutputFormat::Junit => report::junit(reports),
            OutputFormat::Sarif => report::sarif(reports),
        }
    }

    /// Prints the reports as a whole, if the format does that, as the last thing about them.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn print_document(self, reports: &[Report]) -> anyhow::Result<()> {
        let status = reports.iter().map(status_of);
        let status = status.fold(Status::Success, Status::worse);
        let escape = self.format.escape();
        output::print_finally(&self.document(reports), escape, status)
    }
}

/// Longer runs are not among the last words: there is no time to print them.
const MAX_LAST_STEPS: usize = 1000;

/// Leaves out runs that would take long to print.
fn leave_out_long(result: &mut PropertyResult, reason: StopReason) {
    let is_long = |trace: &StoredTrace| trace.run.n_steps() > MAX_LAST_STEPS;
    let n_branches = result.branches.len();
    result.branches.retain(|branch| !is_long(&branch.trace));
    let run = result.trace.take_if(|trace| is_long(trace));
    if run.is_some() || result.branches.len() < n_branches {
        let reason = reason.name();
        let remark = format!("a run of more than {MAX_LAST_STEPS} steps is not shown: {reason}");
        result.remarks.push(remark);
    }
}

/// Leaves nothing but the verdict.
fn strip(result: &mut PropertyResult) {
    result.trace = None;
    result.branches.clear();
    result.remarks.clear();
    result.rests_on = RestsOn::default();
    result.warnings.clear();
}

/// How a call ends whose report this is.
pub fn status_of(report: &Report) -> Status {
    match report.exit_status() {
        0 => Status::Success,
        1 => Status::Violated,
        2 => Status::Wrong,
        _ => Status::Undecided,
    }
}

/// What a verdict cost, and what it is about unless a trace has said so.
fn cost_lines(result: &PropertyResult) -> String {
    let mut facts = vec![format!("route {}", result.route.name())];
    let mut count = |n: Option<u64>, what| facts.extend(n.map(|n| format!("{n} {what}")));
    count(result.states, "states");
    count(result.transitions, "transitions");
    count(result.product_states, "product states");
    let reduced = result.reduced.as_ref();
    facts.extend(reduced.map(|by| format!("reduced by {}", by.join(" and "))));
    facts.extend(result.peak_memory_bytes.map(show_size));
    facts.push(format!("{:.3} s", result.seconds));
    let cost = format!("  cost: {}\n", facts.join(", "));
    match result.trace {
        Some(_) => cost,
        None => format!("  formula: {}\n{cost}", result.formula),
    }
}
