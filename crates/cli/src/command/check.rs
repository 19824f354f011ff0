//! `fair check`: decides properties and reports.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use base::{Budget, Checkpoints, Diagnostic, Source, StopReason, closest_name};
use check::{Outcome, Plan, REDUCE_AFTER, Reductions, TimerFairness};
use evidence::{UnknownReason, Verdict};
use logic::NamedProperty;
use model::{ActionId, Model};
use report::{Cost, PropertyResult, Question, Report, StoredTrace};

use super::family::Family;
use crate::checkpoint_file::{Call, CheckpointFile, Sections};
use crate::failure::{Failure, Status};
use crate::loading::{self, Loaded};
use crate::options::{CheckOptions, OutputFormat, Reduction, Route, Semantics, TFairness};
use crate::progress::Meter;
use crate::quantity::show_size;
use crate::{checkpoint_file, csp, diagnostics, limits, output, solver, trace_file};

/// Checks the chosen properties one after the other.
///
/// # Errors
/// The call or the model is wrong, or evidence was found to be wrong.
pub fn run(options: &CheckOptions) -> Result<Status, Failure> {
    check(options, None, Vec::new())
}

/// Goes on with a call that was stopped, with the model as it was then.
///
/// # Errors
/// As for [`run`].
pub fn go_on(options: &CheckOptions, call: Call, sections: Sections) -> Result<Status, Failure> {
    check(options, Some(call), sections)
}

/// The reductions to begin with, and after how many states to look for some.
fn reductions(list: &[Reduction]) -> Result<(Reductions, Option<u64>), Failure> {
    match list {
        [Reduction::Auto] => return Ok((Reductions::NONE, Some(REDUCE_AFTER))),
        [Reduction::None] => return Ok((Reductions::NONE, None)),
        _ => {}
    }
    for (alone, name) in [(Reduction::Auto, "auto"), (Reduction::None, "none")] {
        if list.contains(&alone) {
            let message = format!("`{name}` cannot be combined with other reductions");
            return Err(Failure::wrong(message));
        }
    }
    let has = |reduction| list.contains(&reduction) || list.contains(&Reduction::All);
    let reductions = Reductions {
        partial_order: has(Reduction::PartialOrder),
        symmetry: has(Reduction::Symmetry),
        dead_variables: has(Reduction::DeadVariables),
    };
    Ok((reductions, None))
}

fn check(
    options: &CheckOptions,
    call: Option<Call>,
    sections: Sections,
) -> Result<Status, Failure> {
    if let Some(path) = &options.trace {
        trace_file::check_writable(path)?;
    }
    let (reductions, reduce_after) = reductions(&options.reduce)?;
    let mut plan = Plan {
        checkpoints: None,
        fairness: options.fairness,
        reduce: reductions != Reductions::NONE,
        reductions,
        reduce_after,
        all_code: options.all_code,
        bitstate: options.bitstate,
        budget: budget(options),
        timer_fairness: timer_fairness(options.t_fairness),
        naive: options.semantics == Semantics::Naive,
        route: options.route.and_then(|route| match route {
            Route::Explicit => Some(check::Route::Explicit),
            Route::Predicate => Some(check::Route::Predicate),
            // A family is recognised when it is read.
            Route::Ws1s => None,
        }),
        predicate: check::predicate::Options {
            solver: solver::maker(&options.data),
            max_refinements: options.data.max_refinements,
            ..check::predicate::Options::default()
        },
    };
    // Reading the model counts, too.
    limits::enforce(&plan.budget, options.timeout)?;
    let (file, front_end) = (&options.model.file, front_end(options));
    let family = match &call {
        None => Family::load(options, &front_end)?,
        // Only searches with given parameters write checkpoints.
        Some(_) => None,
    };
    let loaded = match (&family, &call) {
        (Some(family), _) => family.as_loaded()?,
        (None, None) => loading::load(file, &front_end, !options.quiet)?,
        (None, Some(call)) => {
            let text = call.files[0].1.clone();
            let loaded = loading::load_text(file, text, &front_end, 0, !options.quiet)?;
            check_unchanged(call, &loaded)?;
            loaded
        }
    };
    let chosen = choose(&loaded.properties, options)?;
    let checkpoint = match &options.checkpoint {
        None => None,
        Some(path) => {
            checkpoint_file::check_replaceable(path)?;
            let call = call.map_or_else(|| this_call(&loaded), Ok)?;
            Some(Arc::new(CheckpointFile::new(path.clone(), call, sections)))
        }
    };
    plan.checkpoints = checkpoint.clone().map(|file| file as Arc<dyn Checkpoints>);
    let checking = Checking {
        options,
        loaded: &loaded,
        family: family.as_ref(),
        plan,
        checkpoint,
    };
    checking.run(&chosen)
}

/// What a checkpoint needs to know about the call that is being made.
fn this_call(loaded: &Loaded) -> anyhow::Result<Call> {
    let arguments = std::env::args_os().skip(1);
    let arguments: Result<Vec<String>, _> = arguments.map(OsString::into_string).collect();
    let directory = std::env::current_dir().context("the current directory is not known")?;
    match (arguments, directory.to_str()) {
        (Ok(arguments), Some(directory)) => Ok(Call {
            arguments,
            directory: directory.to_owned(),
            files: files(&loaded.sources),
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
fn check_unchanged(call: &Call, loaded: &Loaded) -> Result<(), Failure> {
    let now = files(&loaded.sources);
    let differs = now.iter().find(|file| !call.files.contains(file));
    let is_gone = call.files.iter().find(|file| !now.contains(file));
    match differs.or(is_gone) {
        Some((name, _)) => Err(super::resume::changed(name)),
        None => Ok(()),
    }
}

fn timer_fairness(how: TFairness) -> TimerFairness {
    match how {
        TFairness::BuiltIn => TimerFairness::BuiltIn,
        TFairness::WeakFormula => TimerFairness::WeakFormula,
        TFairness::StrongFormula => TimerFairness::StrongFormula,
        TFairness::None => TimerFairness::None,
    }
}

fn front_end(options: &CheckOptions) -> lang::Options {
    let named = |prefix: &str, formulas: &[String]| {
        let name =
            |(position, text): (usize, &String)| (formula_name(prefix, position), text.clone());
        formulas.iter().enumerate().map(name).collect()
    };
    lang::Options {
        ltl: named("ltl", &options.ltl),
        ctl: named("ctl", &options.ctl),
        assume: options.assume.clone(),
        ..options.model.for_front_end()
    }
}

/// What a formula of the command line is called. No property of a file can have such a name.
fn formula_name(prefix: &str, position: usize) -> String {
    format!("{prefix}-{}", position + 1)
}

/// Was the property with this name given on the command line with `--ltl`?
pub fn is_ltl_name(name: &str) -> bool {
    is_formula_name(name, "ltl-")
}

/// Was the property with this name given on the command line with `--ctl`?
pub fn is_ctl_name(name: &str) -> bool {
    is_formula_name(name, "ctl-")
}

fn is_formula_name(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|number| number.parse::<usize>().is_ok())
}

fn budget(options: &CheckOptions) -> Budget {
    let mut budget = Budget::unlimited();
    if let Some(max_states) = options.max_states {
        budget = budget.with_max_states(max_states);
    }
    budget = budget.with_threads(options.threads.into());
    if let Some(max_memory) = options.max_memory {
        budget = budget.with_max_memory(max_memory);
    }
    budget
}

/// The properties to be checked, in the order of the file, then those of the command line.
fn choose<'a>(
    properties: &'a [NamedProperty],
    options: &CheckOptions,
) -> Result<Vec<&'a NamedProperty>, Failure> {
    let names = || properties.iter().map(|property| property.name.as_str());
    for wanted in &options.property {
        if !names().any(|name| name == wanted) {
            return Err(unknown_property(wanted, names().collect()));
        }
    }
    let is_chosen = |property: &&NamedProperty| {
        is_ltl_name(&property.name)
            || is_ctl_name(&property.name)
            || options.property.contains(&property.name)
    };
    let everything =
        options.property.is_empty() && options.ltl.is_empty() && options.ctl.is_empty();
    let chosen = properties.iter().filter(|p| everything || is_chosen(p));
    let chosen: Vec<&NamedProperty> = chosen.collect();
    match chosen.is_empty() {
        false => Ok(chosen),
        true => Err(Failure::wrong(format!(
            "`{}` has no properties, so there is nothing to check; \
             add one (`property done: eventually finished`) or give one with `--ltl FORMULA` or `--ctl FORMULA`",
            options.model.file.display()
        ))),
    }
}

fn unknown_property(wanted: &str, names: Vec<&str>) -> Failure {
    let advice = match closest_name(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "the model has none".to_owned(),
        None => format!("the model has {}", names.join(", ")),
    };
    Failure::wrong(format!("there is no property `{wanted}`; {advice}"))
}

/// What is common to all properties of a call.
struct Checking<'a> {
    options: &'a CheckOptions,
    loaded: &'a Loaded,
    /// If a parameter is without value: all instances.
    family: Option<&'a Family>,
    plan: Plan,
    checkpoint: Option<Arc<CheckpointFile>>,
}

impl Checking<'_> {
    fn run(&self, chosen: &[&NamedProperty]) -> Result<Status, Failure> {
        let mut report = Report {
            file: self.options.model.file.display().to_string(),
            results: Vec::new(),
            warnings: Vec::new(),
        };
        let mut outcomes = Vec::new();
        for &property in chosen {
            let (outcome, result) = self.check_provided(property)?;
            outcomes.push((property, outcome));
            report.results.push(result);
            self.print_last(&report)?;
        }
        let about_model = self.about_model(&outcomes);
        let warning = |d: &Diagnostic| report::warning(d, &self.loaded.sources);
        report.warnings = about_model.iter().map(warning).collect();
        self.print_end(&report, &about_model)?;
        self.store_trace(&report)?;
        Ok(match report.exit_status() {
            0 => Status::Success,
            1 => Status::Violated,
            _ => Status::Undecided,
        })
    }

    /// Checks a property; where the model provides for too little, with more and more.
    fn check_provided(
        &self,
        property: &NamedProperty,
    ) -> Result<(Outcome, PropertyResult), Failure> {
        let mut answer = self.check(self.loaded, property)?;
        let file = &self.options.model.file;
        for &pool in loading::larger_pools(file) {
            if !answer.0.is_exhausted() {
                break;
            }
            let loaded = loading::load_with_pool(file, &front_end(self.options), pool, false)?;
            let same = loaded.properties.iter().find(|p| p.name == property.name);
            let Some(same) = same else { break };
            answer = self.check(&loaded, same)?;
        }
        Ok(answer)
    }

    fn check(
        &self,
        loaded: &Loaded,
        property: &NamedProperty,
    ) -> Result<(Outcome, PropertyResult), Failure> {
        let (model, sources) = (loaded.model_of(property), &loaded.sources);
        let mut meter = Meter::new(self.options.progress, self.options.quiet, &property.name);
        if let Some(family) = self.family {
            return family.check(property, &self.plan, meter);
        }
        if let Some(file) = &self.checkpoint {
            file.begin(&property.name);
        }
        let checked = csp::answer(loaded, property, &self.plan_for(property), &mut meter);
        let seconds = meter.seconds();
        meter.finish();
        let (outcome, remark) = checked?;
        let damaged = Verdict::Unknown(UnknownReason::Stopped(StopReason::DamagedCheckpoint));
        if let Some(file) = &self.checkpoint
            && outcome.verdict == damaged
        {
            return Err(file.damaged().into());
        }
        let is_stopped = matches!(outcome.verdict, Verdict::Unknown(UnknownReason::Stopped(_)));
        if let (Some(file), false) = (&self.checkpoint, is_stopped) {
            file.done();
        }
        let shown = outcome.sample.as_deref().unwrap_or(model);
        let question = Question {
            model: shown,
            sources,
            property,
            fairness: outcome.fairness,
            assumptions: &model.parts().assumptions,
        };
        let cost = cost(&outcome, seconds);
        if self.options.profile {
            let counts = &outcome.stats.action_counts;
            output::note(&profile(model, &property.name, counts));
        }
        let mut result = question.result(&outcome.verdict, cost);
        if let Some(shown) = &outcome.branching {
            question.show_branching(shown, &mut result);
        }
        result.remarks.extend(outcome.remarks.iter().cloned());
        result.remarks.extend(remark);
        let rests_on = self.checkpoint.as_ref().and_then(|file| file.remark());
        result.remarks.extend(rests_on);
        let warnings = outcome.warnings.iter();
        result
            .warnings
            .extend(warnings.map(|d| report::warning(d, sources)));
        Ok((outcome, result))
    }

    /// The plan with what the author says about the abstraction for a property.
    fn plan_for(&self, property: &NamedProperty) -> Plan {
        let mut plan = self.plan.clone();
        let mut entries = self.loaded.properties.iter().zip(&self.loaded.hints);
        if let Some((_, hints)) = entries.find(|(other, _)| other.name == property.name) {
            plan.predicate.hints = hints.clone();
        }
        plan
    }

    /// Warnings about the model as a whole, unless nobody would see them.
    fn about_model(&self, outcomes: &[(&NamedProperty, Outcome)]) -> Vec<Diagnostic> {
        if self.options.quiet || self.family.is_some() {
            return Vec::new();
        }
        let mut outcomes = outcomes.to_vec();
        if outcomes.len() < self.loaded.properties.len() {
            // What is not checked may need the annotations, so they must not be called needless.
            for (_, outcome) in &mut outcomes {
                outcome.fairness.annotated = false;
            }
        }
        let about_first = |(p, _): &&(&NamedProperty, Outcome)| {
            std::ptr::eq(self.loaded.model_of(p), &self.loaded.model)
        };
        let checked = outcomes.iter().filter(about_first);
        let checked: Vec<_> = checked.map(|(p, outcome)| (*p, outcome)).collect();
        check::needless_annotations(&self.loaded.model, &checked, &self.plan)
    }

    /// Prints the newest result, in the formats that do not need all of them.
    fn print_last(&self, report: &Report) -> anyhow::Result<()> {
        let newest = Report {
            file: report.file.clone(),
            results: report.results.last().cloned().into_iter().collect(),
            warnings: Vec::new(),
        };
        match self.options.output_format {
            OutputFormat::Text => output::print(&self.text(newest)),
            OutputFormat::JsonLines => output::print(&report::json_lines(&newest)),
            OutputFormat::Json | OutputFormat::Junit | OutputFormat::Sarif => Ok(()),
        }
    }

    fn text(&self, mut newest: Report) -> String {
        if self.options.quiet {
            for result in &mut newest.results {
                result.trace = None;
                result.branches.clear();
                result.remarks.clear();
                result.remark = None;
                result.warnings.clear();
            }
        }
        let mut text = report::text(&newest, output::stdout_style());
        if self.options.verbose {
            text.extend(newest.results.iter().map(cost_lines));
        }
        text
    }

    /// Prints what could not be printed before. Formats without room for warnings about the model
    /// leave them to standard error.
    fn print_end(&self, report: &Report, about_model: &[Diagnostic]) -> anyhow::Result<()> {
        let rest = Report {
            results: Vec::new(),
            ..report.clone()
        };
        match self.options.output_format {
            OutputFormat::Text => {
                return output::print(&report::text(&rest, output::stdout_style()));
            }
            OutputFormat::Sarif => return output::print(&report::sarif(report)),
            OutputFormat::Json => output::print(&report::json(report))?,
            OutputFormat::Junit => output::print(&report::junit(report))?,
            OutputFormat::JsonLines => {}
        }
        for diagnostic in about_model {
            diagnostics::show(diagnostic, &self.loaded.sources);
        }
        Ok(())
    }

    fn store_trace(&self, report: &Report) -> anyhow::Result<()> {
        let Some(path) = &self.options.trace else {
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

/// What an outcome cost.
pub fn cost(outcome: &Outcome, seconds: f64) -> Cost {
    Cost {
        route: outcome.route.to_owned(),
        states: Some(outcome.stats.n_states),
        transitions: Some(outcome.stats.n_transitions),
        product_states: outcome.stats.n_product_states,
        seconds,
        peak_memory_bytes: Some(outcome.stats.memory_bytes),
        reduced: reduced(outcome.reduced),
    }
}

/// The names of reductions, if there are any.
fn reduced(reductions: Reductions) -> Option<Vec<String>> {
    let names: Vec<String> = reductions.names().into_iter().map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

/// How many actions a profile names.
const N_HOTTEST: usize = 10;

/// The actions that were taken most often.
fn profile(model: &Model, property: &str, counts: &[u64]) -> String {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return format!("no actions were counted for `{property}`");
    }
    let mut hottest: Vec<(usize, u64)> = counts.iter().copied().enumerate().collect();
    hottest.sort_by_key(|&(action, count)| (std::cmp::Reverse(count), action));
    let mut text = format!("hottest actions of `{property}`, of {total} steps:");
    for (action, count) in hottest.into_iter().take(N_HOTTEST).filter(|h| h.1 > 0) {
        let name = model.action_name(ActionId::new(action));
        let share = count as f64 * 100.0 / total as f64;
        text.push_str(&format!("\n  {share:5.1} %  {count:>10}  {name}"));
    }
    text
}

/// The first counterexample, else the first witness, and how many other traces there are.
fn trace_to_store(report: &Report) -> Option<(&str, &StoredTrace, usize)> {
    let with_trace = |result: &'_ &PropertyResult| result.trace.is_some();
    let all = || report.results.iter().filter(with_trace);
    let violated = all().find(|result| result.verdict == report::Outcome::Violated);
    let result = violated.or_else(|| all().next())?;
    let trace = result.trace.as_ref()?;
    Some((&result.property, trace, all().count() - 1))
}

/// What a verdict cost, and what it is about unless a trace has said so.
fn cost_lines(result: &PropertyResult) -> String {
    let mut facts = vec![format!("route {}", result.route)];
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
