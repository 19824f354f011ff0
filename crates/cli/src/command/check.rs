//! `fair check`: decides properties and reports.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use cluster::Sockets;
use fairground::report::{self, PropertyResult, Report, StoredTrace, Success};
use fairground::{
    Answer, Certificate, Checkpoints, Diagnostic, Fairness, Links, Memory, Options, Overlay, Plan,
    Project, Question, QuestionKind, SetCarrier, Source, StopReason, Verdict, closest_name,
    is_formula_name, write_certificates,
};

use super::resume::Left;
use crate::checkpoint_file::{CHECKPOINT, Call, CheckpointFile, Legacy};
use crate::failure::{Failure, Status};
use crate::ledger::{Ledger, Manner, status_of};
use crate::options::{CheckOptions, Notions, OutputFormat};
use crate::progress::Meter;
use crate::{
    diagnostics, inputs, joining, limits, loading, memory, output, replacing, search_folder,
    trace_file,
};

/// Checks the chosen properties one after the other.
///
/// # Errors
/// The call or the model is wrong, or evidence was found to be wrong.
pub fn run(options: &CheckOptions) -> Result<Status, Failure> {
    if inputs::are_several(&options.files) {
        return check_several(options);
    }
    let plan = prepare(options)?;
    check(options, plan, None)
}

/// Goes on with a call that was stopped, with the model as it was then.
///
/// # Errors
/// As for [`run`].
pub fn go_on(options: &CheckOptions, left: Left) -> Result<Status, Failure> {
    let plan = prepare(options)?;
    check(options, plan, Some(left))
}

/// How questions are answered, with the limits of the call in force.
fn prepare(options: &CheckOptions) -> Result<Plan, Failure> {
    for path in options.trace.iter().chain(&options.certificate) {
        trace_file::check_writable(path)?;
    }
    options.plan()
}

/// Checks one model after the other; what is wrong with one does not keep the others from being
/// checked.
fn check_several(options: &CheckOptions) -> Result<Status, Failure> {
    let files = [
        &options.trace,
        &options.checkpoint,
        &options.disk,
        &options.certificate,
        &options.together.hosts,
    ];
    if files.iter().any(|file| file.is_some()) {
        let message = "`--trace`, `--checkpoint`, `--disk`, `--certificate` and `--hosts` are about \
            one model; name a single file";
        return Err(Failure::wrong(message));
    }
    if let Some(Notions::All | Notions::Several(_)) = options.fairness {
        let message = "several notions of fairness are compared for one model; name a single file";
        return Err(Failure::wrong(message));
    }

    let plan = prepare(options)?;
    let mut reports = Vec::new();
    let mut worst = Status::Success;
    for file in inputs::models(&options.files)? {
        let status = match check_one_of_several(options, &file, &plan, &reports) {
            Ok(None) => continue,
            Ok(Some(report)) => {
                let status = status_of(&report);
                reports.push(report);
                status
            }
            Err(failure) => {
                let report = failure.as_report(&file.display().to_string());
                if options.output_format == OutputFormat::JsonLines {
                    OutputFormat::JsonLines.print(&report::json_lines(&report))?;
                }
                reports.push(report);
                failure.show()
            }
        };
        worst = worst.worse(status);
    }

    if options.output_format == OutputFormat::Text {
        reports.retain(|report| report.diagnostics.is_empty());
        output::print(&summary(&reports))?;
    } else {
        Manner::from(options).print_document(&reports)?;
    }
    Ok(worst)
}

/// The report about one of several models; nothing if it asks nothing.
fn check_one_of_several(
    options: &CheckOptions,
    file: &Path,
    plan: &Plan,
    earlier: &[Report],
) -> Result<Option<Report>, Failure> {
    let project = open(options, file, None)?;
    if project.questions().is_empty() {
        output::note(&format!("`{}` has no properties", file.display()));
        return Ok(None);
    }
    project.fits(plan)?;
    loading::show(project.diagnostics(), project.sources(), !options.quiet);
    let chosen = choose(&project, options, file)?;

    if options.output_format == OutputFormat::Text {
        output::print(&format!("{}\n", file.display()))?;
    }
    let checking = Checking {
        options,
        file,
        project: &project,
        plan: plan.clone(),
        checkpoint: None,
        cluster: None,
        earlier,
    };
    let (report, about_model, _) = checking.answers(&chosen)?;
    checking.print_warnings(&report, &about_model)?;
    Ok(Some(report))
}

/// How many verdicts are as they should be.
fn summary(reports: &[Report]) -> String {
    let results = || reports.iter().flat_map(|report| &report.results);
    let count = |success| results().filter(|r| r.success() == success).count();
    let (failed, open) = (count(Success::Failed), count(Success::Open));

    let many = |n: usize, one: &str, several: &str| match n {
        1 => format!("1 {one}"),
        _ => format!("{n} {several}"),
    };

    let mut text = format!(
        "{}, {}: {} as they should be",
        many(reports.len(), "model", "models"),
        many(results().count(), "property", "properties"),
        count(Success::Passed)
    );

    if failed > 0 {
        text += &format!(", {failed} not");
    }
    if open > 0 {
        text += &format!(", {open} undecided");
    }
    text + "\n"
}

fn check(options: &CheckOptions, mut plan: Plan, left: Option<Left>) -> Result<Status, Failure> {
    let file: &Path = &options.files[0];
    let project = open(options, file, left.as_ref().map(|left| &left.call))?;
    project.fits(&plan)?;
    loading::show(project.diagnostics(), project.sources(), !options.quiet);

    let chosen = choose(&project, options, file)?;
    if let Some(notions) = notions(&project, options)? {
        return table(options, &project, &chosen, &notions, &plan);
    }

    let disk = options.own_disk();
    let checkpoint = checkpoint_of(options, &project, disk.as_deref(), left)?;
    let folder = disk.as_deref().map(search_folder::open).transpose()?;
    let cluster = joining::join(options, &project)?.map(Arc::new);
    plan.sets = match (&cluster, folder) {
        (None, folder) => folder.map(SetCarrier::Disk),
        (Some(sockets), folder) => {
            let links = Arc::clone(sockets) as Arc<dyn Links>;
            Some(SetCarrier::Processes(links, folder))
        }
    };
    project.fits(&plan)?;

    plan.checkpoints = checkpoint.clone().map(|file| file as Arc<dyn Checkpoints>);
    let checking = Checking {
        options,
        file,
        project: &project,
        plan,
        checkpoint,
        cluster,
        earlier: &[],
    };

    let status = checking.run(&chosen)?;
    if let (Some(_), Some(file)) = (&options.disk, &checking.checkpoint) {
        file.remove_if_done();
    }
    if let Some(cluster) = &checking.cluster {
        if options.verbose {
            let (n_bytes, n_messages) = (cluster.n_sent(), cluster.n_messages());
            output::note(&format!(
                "process 0 sent {n_bytes} bytes in {n_messages} messages"
            ));
        }
        cluster.close();
    }
    Ok(status)
}

/// Where the state of searches is kept, if it is: in a file, or in a folder of files for states.
fn checkpoint_of(
    options: &CheckOptions,
    project: &Project,
    disk: Option<&Path>,
    left: Option<Left>,
) -> Result<Option<Arc<CheckpointFile>>, Failure> {
    let is_new = left.is_none();
    let in_folder = disk.map(|disk| disk.join(CHECKPOINT));
    let Some(path) = options.checkpoint.as_ref().or(in_folder.as_ref()) else {
        return Ok(None);
    };

    let left = match left {
        Some(left) => left,
        None => Left::nothing(this_call(project)?),
    };
    disk.map_or(Ok(()), search_folder::create)?;
    let earlier = left
        .own
        .is_some()
        .then(|| options.together.process.unwrap_or(0) as u64);
    let sections = left.own.unwrap_or_default();
    let file = CheckpointFile::open(path.clone(), left.call.clone(), sections)?;

    let mut legacies = Vec::new();
    for (process, path, sections) in left.others {
        let folder = path.parent().map(search_folder::open).transpose()?;
        legacies.push(Legacy {
            process,
            file: CheckpointFile::open(path, left.call.clone(), sections)?,
            folder: folder.context("a checkpoint is in a folder")?,
        });
    }
    let file = file
        .every(options.checkpoint_every)
        .after(earlier, legacies);

    // Files of an earlier search go last: if anything fails before, they are still there.
    if let Some(disk) = disk.filter(|_| is_new) {
        search_folder::clear(disk)?;
        file.begin_file()?;
    }
    Ok(Some(Arc::new(file)))
}

/// Reads the model, for a call that goes on as it was when the call was made.
fn open(options: &CheckOptions, file: &Path, call: Option<&Call>) -> Result<Project, Failure> {
    let front_end = options.for_front_end();
    let warnings = !options.quiet;
    let Some(call) = call else {
        return inputs::with_files(file, |files| {
            loading::open_in(file, files, &front_end, warnings)
        });
    };
    let files = Overlay {
        top: Memory::new([(file, call.files[0].1.clone())]),
        below: &inputs::files_of(file),
    };
    // Only searches with given parameters write checkpoints.
    let closed = true;
    let front_end = Options {
        closed,
        ..front_end
    };
    let project = loading::open_in(file, &files, &front_end, warnings)?;
    check_unchanged(call, &project)?;
    Ok(project)
}

/// What a checkpoint needs to know about the call that is being made.
fn this_call(project: &Project) -> anyhow::Result<Call> {
    let arguments = std::env::args_os().skip(1);
    let arguments: Result<Vec<String>, _> = arguments.map(OsString::into_string).collect();
    let directory = std::env::current_dir().context("the current directory is not known")?;
    match (arguments, directory.to_str()) {
        (Ok(arguments), Some(directory)) => Ok(Call {
            arguments,
            directory: directory.to_owned(),
            files: files(project.sources()),
        }),
        _ => bail!("a checkpoint needs arguments and a directory that are Unicode text"),
    }
}

/// The names and texts of all files that a model was made of.
fn files(sources: &[Source]) -> Vec<(String, String)> {
    let file = |source: &Source| (source.name.clone(), source.text.clone());
    sources.iter().map(file).collect()
}

/// Is the model made of the same files with the same texts?
fn check_unchanged(call: &Call, project: &Project) -> Result<(), Failure> {
    let now = files(project.sources());
    let differs = now.iter().find(|file| !call.files.contains(file));
    let is_gone = call.files.iter().find(|file| !now.contains(file));
    match differs.or(is_gone) {
        Some((name, _)) => Err(super::resume::changed(name)),
        None => Ok(()),
    }
}

/// The questions to be answered, in the order of the file, then those of the command line.
fn choose<'a>(
    project: &'a Project,
    options: &CheckOptions,
    file: &Path,
) -> Result<Vec<&'a Question>, Failure> {
    let questions = project.questions();
    for wanted in &options.property {
        if project.question(wanted).is_none() {
            let names = questions.iter().map(|question| question.name.as_str());
            return Err(unknown_property(wanted, names.collect()));
        }
    }

    let everything =
        options.property.is_empty() && options.ltl.is_empty() && options.ctl.is_empty();
    let is_chosen = |question: &&Question| {
        everything || is_formula_name(&question.name) || options.property.contains(&question.name)
    };
    let chosen: Vec<&Question> = questions.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(Failure::wrong(format!(
            "`{}` has no properties, so there is nothing to check; \
             add one (`property done: eventually finished`) or give one with `--ltl FORMULA` or `--ctl FORMULA`",
            file.display()
        )));
    }
    Ok(chosen)
}

/// The notions of fairness, if several are asked for.
fn notions(project: &Project, options: &CheckOptions) -> Result<Option<Vec<Fairness>>, Failure> {
    let notions = match &options.fairness {
        None | Some(Notions::One(_)) => return Ok(None),
        Some(Notions::Several(notions)) => notions.clone(),
        Some(Notions::All) => project.all_notions()?,
    };
    let is_alone = options.checkpoint.is_none() && options.together.hosts.is_none();
    if !is_alone || options.disk.is_some() || options.bitstate.is_some() {
        return Err(Failure::wrong(
            "`--checkpoint`, `--disk`, `--hosts` and `--bitstate` need one notion of fairness, not \
             several",
        ));
    }
    Ok(Some(notions))
}

/// Checks the chosen properties under several notions of fairness.
fn table(
    options: &CheckOptions,
    project: &Project,
    chosen: &[&Question],
    notions: &[Fairness],
    plan: &Plan,
) -> Result<Status, Failure> {
    let mut meter = Meter::new(options.progress, options.quiet, "all notions");
    let rows = project.check_notions(chosen, notions, plan, &mut meter);
    let seconds = meter.seconds();
    meter.finish();

    let mut results: Vec<PropertyResult> = rows?
        .into_iter()
        .flatten()
        .map(|answer| answer.result)
        .collect();
    // The time was spent on all of them together.
    if let Some(first) = results.first_mut() {
        first.seconds = seconds;
    }
    let report = Report {
        file: options.files[0].display().to_string(),
        results,
        ..Report::default()
    };
    match options.output_format {
        OutputFormat::Text => {
            output::print(&report::notions_table(&report, output::stdout_style()))?;
        }
        OutputFormat::JsonLines => OutputFormat::JsonLines.print(&report::json_lines(&report))?,
        OutputFormat::Json | OutputFormat::Junit | OutputFormat::Sarif => {
            Manner::from(options).print_document(std::slice::from_ref(&report))?;
        }
    }
    if let (Some(path), Some((_, trace, _))) = (&options.trace, trace_to_store(&report)) {
        trace_file::write(path, trace)?;
    }
    Ok(status_of(&report))
}

pub(super) fn unknown_property(wanted: &str, names: Vec<&str>) -> Failure {
    let advice = match closest_name(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "the model has none".to_owned(),
        None => format!("the model has {}", names.join(", ")),
    };
    Failure::wrong(format!("there is no property `{wanted}`; {advice}"))
}

/// The report, warnings about the model as a whole, and certificates.
type Answered = (Report, Vec<Diagnostic>, Vec<Certificate>);

/// What is common to all properties of a call.
struct Checking<'a> {
    options: &'a CheckOptions,
    file: &'a Path,
    project: &'a Project,
    plan: Plan,
    checkpoint: Option<Arc<CheckpointFile>>,
    /// The other processes, if there are any.
    cluster: Option<Arc<Sockets>>,
    /// What was found out about other files before.
    earlier: &'a [Report],
}

impl Checking<'_> {
    fn run(&self, chosen: &[&Question]) -> Result<Status, Failure> {
        let (report, about_model, certificates) = self.answers(chosen)?;
        self.print_end(&report, &about_model)?;
        self.store_trace(&report)?;
        self.store_certificates(&certificates)?;
        Ok(status_of(&report))
    }

    /// The report, warnings about the model as a whole, and certificates. What can be printed at once
    /// is.
    fn answers(&self, chosen: &[&Question]) -> Result<Answered, Failure> {
        let manner = Manner::from(self.options);
        let file = self.file.display().to_string();
        let ledger = Ledger::open(manner, self.earlier, file, self.project, chosen);

        let mut answers = self.check_together(chosen)?;
        let mut certificates: Vec<Option<Certificate>> = Vec::new();
        certificates.resize_with(chosen.len(), || None);
        for position in cheap_first(chosen, &answers) {
            let question = chosen[position];
            let mut answer = match answers[position].take() {
                Some(answer) => answer,
                None => self.check(question)?,
            };
            if self.options.count_violations && answer.verdict() == Verdict::Violated {
                answer.result.remarks.push(self.count(question)?);
            }
            certificates[position] = self.certify(question, &mut answer)?;
            ledger.note(position, answer.result.clone())?;
            answers[position] = Some(answer);
        }

        let mut report = ledger.close();
        let answered = chosen.iter().zip(&answers);
        let answered = answered.filter_map(|(q, answer)| Some((*q, answer.as_ref()?)));
        let about_model = self.about_model(&answered.collect::<Vec<_>>())?;
        let warning = |d: &Diagnostic| report::warning(d, self.project.sources());
        report.warnings = about_model.iter().map(warning).collect();
        let certificates = certificates.into_iter().flatten().collect();
        Ok((report, about_model, certificates))
    }

    /// The answers that one exploration gives; the time of each is that of the exploration.
    fn check_together(&self, chosen: &[&Question]) -> Result<Vec<Option<Answer>>, Failure> {
        let name = format!("{} properties", chosen.len());
        let n_questions = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
        let plan = self.part(n_questions);
        let mut meter = Meter::new(self.options.progress, self.options.quiet, &name);
        let checked = self.project.check_together(chosen, &plan, &mut meter);
        let seconds = meter.seconds();
        meter.finish();

        let mut answers = checked?;
        for (answer, question) in answers.iter_mut().zip(chosen) {
            if let Some(answer) = answer {
                answer.result.seconds = seconds;
                self.profile(question, answer);
            }
        }
        Ok(answers)
    }

    /// The plan for this many questions, with the time that they have.
    fn part(&self, n_questions: u32) -> Plan {
        let timeout = self.options.timeout_per_property;
        let timeout = timeout.map(|timeout| timeout.saturating_mul(n_questions));
        Plan {
            budget: limits::part(&self.plan.budget, timeout),
            ..self.plan.clone()
        }
    }

    fn profile(&self, question: &Question, answer: &Answer) {
        if self.options.profile && !self.project.is_family() {
            output::note(&profile(&question.name, &answer.action_counts));
        }
    }

    fn check(&self, question: &Question) -> Result<Answer, Failure> {
        // What is checked for all instances at once keeps no state.
        let checkpoint = self.checkpoint.as_ref();
        let checkpoint = checkpoint.filter(|_| !self.project.is_family());
        if let Some(file) = checkpoint {
            file.begin(&question.name);
        }

        let mut meter = Meter::new(self.options.progress, self.options.quiet, &question.name);
        let checked = self.project.check(question, &self.part(1), &mut meter);
        let seconds = meter.seconds();
        meter.finish();

        let mut answer = checked?;
        answer.result.seconds = seconds;
        // Routes that do not count what they use leave that to the system.
        let counted = answer.result.peak_memory_bytes.filter(|bytes| *bytes > 0);
        answer.result.peak_memory_bytes = counted.or_else(memory::peak);

        if let Some(file) = checkpoint {
            match answer.stopped {
                Some(StopReason::DamagedCheckpoint) => return Err(file.damaged().into()),
                Some(StopReason::FilesMissing) => return Err(file.incomplete().into()),
                _ => {}
            }
            if answer.stopped.is_none() {
                file.done();
            }
            answer.result.remarks.extend(file.remark());
            if let (Some(disk), Some(_)) = (&self.options.disk, answer.stopped) {
                let how = self.how_to_resume(disk);
                answer.result.remarks.push(how);
            }
        }
        if answer.stopped == Some(StopReason::ProcessLost) {
            let loss = self.cluster.as_ref().and_then(|cluster| cluster.loss());
            answer.result.remarks.extend(loss);
        }

        self.profile(question, &answer);
        Ok(answer)
    }

    /// How many violations there are.
    fn count(&self, question: &Question) -> Result<String, Failure> {
        let mut meter = Meter::new(self.options.progress, self.options.quiet, &question.name);
        let counted = self
            .project
            .count_violations(question, &self.part(1), &mut meter);
        meter.finish();
        Ok(counted?)
    }

    fn how_to_resume(&self, disk: &Path) -> String {
        let disk = disk.display();
        match self.cluster.as_ref().map(|cluster| cluster.n_processes()) {
            None => format!("`fair resume {disk}` goes on from here"),
            Some(n) => format!(
                "`fair cluster resume --local {n} {disk}` goes on from here, or \
                 `fair resume {disk}/process-K` for each of the {n} processes"
            ),
        }
    }

    /// The certificate of an answer, if one is asked for and there is one.
    fn certify(
        &self,
        question: &Question,
        answer: &mut Answer,
    ) -> Result<Option<Certificate>, Failure> {
        if !self.options.certify && self.options.certificate.is_none() {
            return Ok(None);
        }

        let started = Instant::now();
        let found = self.project.certificate(question, answer, &self.plan)?;
        let Some(certificate) = found else {
            return Ok(None);
        };

        let found_after = started.elapsed().as_secs_f64();
        let remarks = &mut answer.result.remarks;
        remarks.push(format!("certificate found in {found_after:.2} s"));

        if self.options.certify {
            let budget = &self.plan.budget;
            let project = self.project;
            project.certify(question, answer, &certificate, budget)?;
            let checked = started.elapsed().as_secs_f64() - found_after;
            let remarks = &mut answer.result.remarks;
            remarks.push(format!("certificate checked in {checked:.2} s"));
        }

        Ok(Some(certificate))
    }

    fn store_certificates(&self, certificates: &[Certificate]) -> anyhow::Result<()> {
        let Some(path) = &self.options.certificate else {
            return Ok(());
        };
        if certificates.is_empty() {
            output::note("there is no certificate to be stored");
            return Ok(());
        }
        let cannot = || format!("`{}` cannot be written", path.display());
        let bytes = write_certificates(certificates);
        replacing::replace(path, bytes.as_ref()).with_context(cannot)
    }

    /// Warnings about the model as a whole, unless they would not be shown.
    fn about_model(&self, answers: &[(&Question, &Answer)]) -> Result<Vec<Diagnostic>, Failure> {
        if self.options.unreached {
            let mut meter = Meter::new(self.options.progress, self.options.quiet, "unreached");
            let unreached = self.project.unreached(&self.part(1), &mut meter);
            meter.finish();
            return Ok(unreached?);
        }
        if self.options.quiet {
            return Ok(Vec::new());
        }
        Ok(self.project.warnings(answers, &self.plan))
    }

    /// Prints what could not be printed before.
    fn print_end(&self, report: &Report, about_model: &[Diagnostic]) -> anyhow::Result<()> {
        match self.options.output_format {
            OutputFormat::Text | OutputFormat::JsonLines => {}
            OutputFormat::Sarif | OutputFormat::Json | OutputFormat::Junit => {
                Manner::from(self.options).print_document(std::slice::from_ref(report))?;
            }
        }
        self.print_warnings(report, about_model)
    }

    /// Prints warnings about the model as a whole. Formats without room for them leave them to
    /// standard error.
    fn print_warnings(&self, report: &Report, about_model: &[Diagnostic]) -> anyhow::Result<()> {
        let rest = Report {
            results: Vec::new(),
            ..report.clone()
        };
        match self.options.output_format {
            OutputFormat::Text => {
                return output::print(&report::text(&rest, output::stdout_style()));
            }
            OutputFormat::Sarif => return Ok(()),
            OutputFormat::Json | OutputFormat::Junit | OutputFormat::JsonLines => {}
        }
        for diagnostic in about_model {
            diagnostics::show(diagnostic, self.project.sources());
        }
        Ok(())
    }

    fn store_trace(&self, report: &Report) -> anyhow::Result<()> {
        let is_other = self.cluster.as_ref().is_some_and(|links| links.own() != 0);
        let Some(path) = self.options.trace.as_ref().filter(|_| !is_other) else {
            return Ok(());
        };
        let Some((property, trace, n_others)) = trace_to_store(report) else {
            output::note("there is no trace to be stored");
            return Ok(());
        };
        trace_file::write(path, trace)?;
        if n_others > 0 && !self.options.quiet {
            output::note(&format!(
                "`{}` holds the trace of `{property}`; use --property for the others",
                path.display()
            ));
        }
        Ok(())
    }
}

/// How many actions a profile names.
const N_HOTTEST: usize = 10;

/// The actions that were taken most often.
fn profile(property: &str, counts: &[(String, u64)]) -> String {
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    if total == 0 {
        return format!("no actions were counted for `{property}`");
    }
    let mut hottest: Vec<&(String, u64)> = counts.iter().collect();
    hottest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut text = format!("hottest actions of `{property}`, of {total} steps:");
    for (name, count) in hottest.into_iter().take(N_HOTTEST).filter(|h| h.1 > 0) {
        let share = *count as f64 * 100.0 / total as f64;
        text.push_str(&format!("\n  {share:5.1} %  {count:>10}  {name}"));
    }
    text
}

/// The first counterexample, else the first witness, and how many other traces there are.
fn trace_to_store(report: &Report) -> Option<(&str, &StoredTrace, usize)> {
    let with_trace = |result: &'_ &PropertyResult| result.trace.is_some();
    let all = || report.results.iter().filter(with_trace);
    let violated = all().find(|result| result.verdict == Verdict::Violated);
    let result = violated.or_else(|| all().next())?;
    let trace = result.trace.as_ref()?;
    Some((&result.property, trace, all().count() - 1))
}

/// The order in which questions are answered: those that are answered already, then by what they are
/// likely to cost. An expensive question must not use up the time of the others.
fn cheap_first(questions: &[&Question], answers: &[Option<Answer>]) -> Vec<usize> {
    let cost = |position: &usize| match questions[*position].kind {
        _ if answers[*position].is_some() => 0,
        QuestionKind::Invariant | QuestionKind::Reachable | QuestionKind::EndStates => 1,
        QuestionKind::Optimum | QuestionKind::Deterministic | QuestionKind::MayMust => 2,
        QuestionKind::LinearTime => 3,
        QuestionKind::BranchingTime | QuestionKind::Refinement => 4,
    };
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by_key(cost);
    order
}
