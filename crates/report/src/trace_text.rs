//! A trace for people: states as differences, and why the loop is fair.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use evidence::NamedStep;
use unicode_width::UnicodeWidthStr as _;

use crate::state_text::{broken_into_lines, state_assignments};
use crate::style::{Role, Style};
use crate::{ConditionNote, ErrorNote, ExclusionNote, StoredTrace};

/// Longer lists of conditions with the same kind of reason are summarised.
const MAX_LISTED: usize = 12;

/// How many examples a summary names.
const N_EXAMPLES: usize = 3;

/// The last state of a finite run with more steps than this is shown in full.
const MAX_FOLLOWED: usize = 5;

/// How much of a trace is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Detail {
    /// Every fairness condition on a line of its own?
    pub all_conditions: bool,
    /// Whole states instead of what steps change?
    pub full_states: bool,
}

/// The trace as text: property, stem and loop, why the loop is fair, what would exclude it.
#[must_use]
pub fn trace_text(trace: &StoredTrace, style: Style, detail: Detail) -> String {
    let mut text = String::new();
    write_trace(&mut text, trace, style, detail).expect("writing to memory succeeds");
    text
}

/// Writes the trace as [`trace_text`] does, line by line.
///
/// # Errors
/// It cannot be written to.
pub fn write_trace(
    out: &mut dyn fmt::Write,
    trace: &StoredTrace,
    style: Style,
    detail: Detail,
) -> fmt::Result {
    let meta = &trace.meta;
    if let Some(property) = &meta.property {
        writeln!(out, "{}", style.paint(Role::Heading, property))?;
    }
    let indent = if meta.property.is_none() { "" } else { "  " };
    if let Some(fairness) = &meta.fairness {
        writeln!(out, "{indent}fairness: {fairness}")?;
    }
    write_indented(out, trace, style, indent, detail)
}

/// Writes the trace without the name of the property and the fairness, each line indented.
pub(crate) fn write_indented(
    out: &mut dyn fmt::Write,
    trace: &StoredTrace,
    style: Style,
    indent: &str,
    detail: Detail,
) -> fmt::Result {
    Writer {
        trace,
        style,
        indent,
        max_listed: if detail.all_conditions {
            usize::MAX
        } else {
            MAX_LISTED
        },
        full_states: detail.full_states,
        out,
    }
    .write()
}

/// How long a trace is.
pub(crate) fn shape(trace: &StoredTrace) -> String {
    if let Some(endless) = &trace.meta.endless {
        let round = n_of(endless.length, "step");
        return match endless.start {
            0 => format!("rounds of {round} with ever new numbers"),
            start => {
                let stem = n_of(start, "step");
                format!("{stem}, then rounds of {round} with ever new numbers")
            }
        };
    }
    match trace.run.loop_start {
        None => n_of(trace.run.n_steps(), "step"),
        Some(0) => format!("a loop of {}", n_of(trace.run.n_steps(), "step")),
        Some(start) => {
            let in_loop = n_of(trace.run.n_steps() - start, "step");
            format!("{}, then a loop of {in_loop}", n_of(start, "step"))
        }
    }
}

/// `1 step`, `2 steps`.
pub(crate) fn n_of(count: impl TryInto<u64>, noun: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {noun}"),
        Ok(count) => format!("{count} {noun}s"),
        Err(_) => format!("many {noun}s"),
    }
}

struct Writer<'a> {
    trace: &'a StoredTrace,
    style: Style,
    indent: &'a str,
    /// Longer lists of conditions with the same kind of reason are summarised.
    max_listed: usize,
    full_states: bool,
    out: &'a mut dyn fmt::Write,
}

impl Writer<'_> {
    fn write(&mut self) -> fmt::Result {
        let meta = &self.trace.meta;
        if let Some(formula) = &meta.formula {
            self.line(&format!("formula: {formula}"))?;
        }
        self.introduction()?;
        self.states()?;
        self.ending()?;
        self.endless()?;
        if self.trace.run.loop_start.is_some() || meta.endless.is_some() {
            self.fairness()?;
            self.exclusions()?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> fmt::Result {
        let line = format!("{}{text}", self.indent);
        writeln!(self.out, "{}", line.trim_end())
    }

    fn heading(&mut self, text: &str) -> fmt::Result {
        let text = self.style.paint(Role::Heading, text);
        self.line(&text)
    }

    fn introduction(&mut self) -> fmt::Result {
        let shape = shape(self.trace);
        let text = match self.trace.meta.kind.as_deref() {
            Some("witness") => format!("witness: {shape}"),
            Some("bad-prefix") => {
                format!("counterexample: {shape} to a state that breaks the property")
            }
            Some("deadlock") => format!("counterexample: {shape} to a state without steps"),
            Some("run-time-error") => format!("counterexample: {shape} to a run-time error"),
            Some("zero-time") => format!("time stops: {shape} forever without a tick"),
            Some("endless-loop") => format!("counterexample: {shape}, forever"),
            Some("fair-loop") => format!("counterexample: {shape} forever"),
            _ => format!("trace: {shape}"),
        };
        self.heading(&text)
    }

    fn states(&mut self) -> fmt::Result {
        let run = &self.trace.run;
        // Long runs share their steps, so each is named once.
        let mut names: HashMap<*const NamedStep, String> = HashMap::new();
        for state in &run.states {
            let name = names.entry(Arc::as_ptr(&state.step));
            name.or_insert_with(|| step_name(&state.step));
        }
        let width = names.values().map(|name| name.width()).max().unwrap_or(0);
        let digits = run.n_steps().saturating_sub(1).to_string().len();
        if !run.states.is_empty() {
            self.state("start: ", 0)?;
        }

        for step in 0..run.n_steps() {
            if run.loop_start == Some(step) {
                self.heading("loop:")?;
            }
            if let Some(round) = round_at(self.trace, step) {
                self.heading(&format!("round {round}:"))?;
            }
            let name = &names[&Arc::as_ptr(&run.states[step].step)];
            let padding = " ".repeat(width - name.width());
            let name = self.style.paint(Role::Action, name);
            let column = self.indent.len() + 2 + digits + 2 + width + 2;
            let effect = self.effect(step, column);
            self.line(&format!("  {step:>digits$}  {name}{padding}  {effect}"))?;
        }

        if run.loop_start.is_some() {
            let back = self
                .style
                .paint(Role::Faint, "and back to the start of the loop");
            self.line(&back)?;
        } else if run.n_steps() > MAX_FOLLOWED && !self.full_states {
            self.state("end: ", run.n_steps())?;
        }
        Ok(())
    }

    /// A whole state after a word.
    fn state(&mut self, word: &str, at: usize) -> fmt::Result {
        let column = self.indent.len() + word.len();
        let assignments = whole_state(self.trace, at);
        let text = if assignments.is_empty() {
            "nothing to see".to_owned()
        } else {
            broken_into_lines(&assignments, column)
        };
        self.line(&format!("{word}{text}"))
    }

    /// What a step does, at a column.
    fn effect(&self, step: usize, column: usize) -> String {
        let run = &self.trace.run;
        let actions = &run.states[step].step.actions;
        if actions.as_ref().is_some_and(Vec::is_empty) {
            return "(deadlock: no step is possible, so nothing changes any more)".to_owned();
        }

        let (before, after) = (&run.states[step], &run.states[run.after(step)]);
        let pairs = before.values.iter().zip(&after.values);
        let values = run.vars.iter().zip(pairs);
        let changed = values.filter(|(_, (old, new))| old != new);
        let changed: Vec<String> = changed
            .map(|(name, (_, new))| format!("{name} = {new}"))
            .collect();
        if self.full_states {
            broken_into_lines(&whole_state(self.trace, run.after(step)), column)
        } else if changed.is_empty() {
            "(no change)".to_owned()
        } else {
            broken_into_lines(&changed, column)
        }
    }

    fn ending(&mut self) -> fmt::Result {
        let broken = &self.trace.meta.broken;
        if !broken.is_empty() {
            let text = format!("broken: {}", shortened(broken).join("; "));
            let text = self.style.paint(Role::Bad, &text);
            self.line(&text)?;
        }
        if let Some(error) = &self.trace.meta.error {
            let text = format!("run-time error: {}", error_text(error));
            let text = self.style.paint(Role::Bad, &text);
            self.line(&text)?;
        }
        Ok(())
    }

    /// Why the rounds go on, and how.
    fn endless(&mut self) -> fmt::Result {
        let Some(endless) = &self.trace.meta.endless else {
            return Ok(());
        };
        self.heading("and so on forever, as the solver has proved; in every round:")?;
        for change in &endless.changes {
            self.line(&format!("  {change}"))?;
        }
        self.heading("at the start of every round, and enough for one more:")?;
        for fact in &endless.recurrent {
            self.line(&format!("  {fact}"))?;
        }
        Ok(())
    }

    fn fairness(&mut self) -> fmt::Result {
        let meta = &self.trace.meta;
        if let Some(component) = meta.component {
            self.heading(&format!(
                "why fairness does not exclude it: the loop lies in a closed component of {} and {},",
                n_of(component.states, "state"),
                n_of(component.steps, "step")
            ))?;
            self.line("  and a run that takes all of them forever violates the property too")?;
        }

        let notes = meta.conditions.iter().chain(&meta.assumptions);
        let notes: Vec<&ConditionNote> = notes.collect();
        if notes.is_empty() {
            return Ok(());
        }
        match meta.component {
            None => self.heading("why this loop is fair:"),
            Some(_) => self.heading("why that run is fair to annotations and assumptions:"),
        }?;

        let groups = groups_by_reason(&notes);
        let listed = groups.iter().filter(|group| group.len() <= self.max_listed);
        let widths = listed.flatten().map(|note| note.condition.chars().count());
        let width = widths.max().unwrap_or(0);
        for group in groups {
            self.conditions(&group, width)?;
        }
        Ok(())
    }

    fn conditions(&mut self, group: &[&ConditionNote], width: usize) -> fmt::Result {
        if group.len() > self.max_listed {
            let examples = group[..N_EXAMPLES].iter();
            let examples: Vec<String> = examples
                .map(|note| match note.at {
                    Some(at) => format!("{} at step {at}", note.condition),
                    None => note.condition.clone(),
                })
                .collect();
            let reason = reason_text(&ConditionNote {
                at: None,
                ..group[0].clone()
            });
            let count = group.len();
            self.line(&format!(
                "  {count} conditions: {reason} ({}, ...)",
                examples.join(", ")
            ))?;
            return Ok(());
        }

        for note in group {
            let reason = match (note.fair_because.as_str(), note.at) {
                ("interfered", Some(at)) => interference_text(self.trace, at),
                _ => reason_text(note),
            };
            self.line(&format!("  {:width$}  {reason}", note.condition))?;
        }
        Ok(())
    }

    fn exclusions(&mut self) -> fmt::Result {
        let notes = &self.trace.meta.excluded_by;
        if notes.is_empty() {
            return Ok(());
        }
        if notes.iter().any(|note| note.notion_suffices.is_some()) {
            return self.tested_exclusions();
        }

        self.heading("what would exclude this loop (not tested, and there may be others):")?;
        let width = notion_width(notes);
        for group in by_notion(notes) {
            let first = exclusion_text(group[0]);
            let more = match group.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            let notion = &group[0].fairness;
            self.line(&format!("  {notion:width$}  {first}{more}"))?;
        }

        Ok(())
    }

    /// Only what makes the property true, not what excludes this loop alone.
    fn tested_exclusions(&mut self) -> fmt::Result {
        let notes = &self.trace.meta.excluded_by;
        let helps = |note: &&ExclusionNote| {
            note.suffices == Some(true) || note.notion_suffices == Some(true)
        };
        let helping: Vec<ExclusionNote> = notes.iter().filter(helps).cloned().collect();

        if helping.is_empty() {
            self.heading(
                "tested: no notion of fairness that excludes this loop excludes them all",
            )?;
            return Ok(());
        }

        self.heading("what would help (tested):")?;
        let width = notion_width(&helping);
        for group in by_notion(&helping) {
            let alone = group.iter().find(|note| note.suffices == Some(true));
            let text = match alone {
                Some(note) => format!("with {} the property holds", condition_text(note)),
                None => format!("the property holds; here, {}", exclusion_text(group[0])),
            };
            let notion = &group[0].fairness;
            self.line(&format!("  {notion:width$}  {text}"))?;
        }

        Ok(())
    }
}

/// Notes about the same notion together, in the order of first occurrence.
fn by_notion(notes: &[ExclusionNote]) -> Vec<Vec<&ExclusionNote>> {
    let mut groups: Vec<Vec<&ExclusionNote>> = Vec::new();
    for note in notes {
        let same = |group: &&mut Vec<&ExclusionNote>| group[0].fairness == note.fairness;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(note),
            None => groups.push(vec![note]),
        }
    }
    groups
}

fn notion_width(notes: &[ExclusionNote]) -> usize {
    let widths = notes.iter().map(|note| note.fairness.len());
    widths.max().unwrap_or(0)
}

fn condition_text(note: &ExclusionNote) -> String {
    let strength = match note.fairness.as_str() {
        "just" => "justness",
        "strong" | "strong-process" => "strong fairness",
        _ => "weak fairness",
    };
    format!("{strength} of {}", note.subject)
}

/// The number of the round that starts at a state, counted from 1.
fn round_at(trace: &StoredTrace, step: usize) -> Option<usize> {
    let endless = trace.meta.endless.as_ref()?;
    let steps = step.checked_sub(endless.start)?;
    let is_first = steps.checked_rem(endless.length)? == 0;
    is_first.then(|| steps / endless.length + 1)
}

/// The step that leaves a state: its actions, and its movers where the action does not name them.
fn step_name(step: &NamedStep) -> String {
    let Some(actions) = &step.actions else {
        return String::new();
    };
    if actions.is_empty() {
        return "idle".to_owned();
    }

    let name = actions.join(" & ");

    // An action such as `P[1].enter` says who moves.
    let evident = |mover: &String| {
        let own = |part: &str| {
            part.strip_prefix(mover.as_str())
                .is_some_and(|r| r.starts_with('.'))
        };
        actions.iter().any(|action| action.split('/').any(own))
    };

    if step.movers.iter().all(evident) {
        name
    } else {
        format!("{name} {{{}}}", step.movers.join(", "))
    }
}

/// All components of a state of a trace.
fn whole_state(trace: &StoredTrace, at: usize) -> Vec<String> {
    let values = trace.run.states[at].values.iter().map(ToString::to_string);
    state_assignments(trace.run.vars.iter().map(String::as_str).zip(values))
}

/// The first few, and how many others there are.
fn shortened(texts: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = texts.iter().take(N_EXAMPLES).cloned().collect();
    if texts.len() > N_EXAMPLES {
        shown.push(format!("and {} more", texts.len() - N_EXAMPLES));
    }
    shown
}

fn error_text(error: &ErrorNote) -> String {
    let mut text = error.message.clone();
    if let (Some(file), Some(line), Some(column)) = (&error.file, error.line, error.column) {
        let _ = write!(text, ", at {file}:{line}:{column}");
    }
    if let Some(action) = &error.action {
        let _ = write!(text, ", in {action}");
    }
    text
}

/// The order in which reasons are told.
const REASONS: [&str; 6] = [
    "taken",
    "interfered",
    "disabled",
    "never-enabled",
    "holds",
    "holds-throughout",
];

/// The conditions with the same kind of reason together, always in the same order.
fn groups_by_reason<'a>(notes: &[&'a ConditionNote]) -> Vec<Vec<&'a ConditionNote>> {
    let mut groups: Vec<Vec<&ConditionNote>> = Vec::new();
    for note in notes {
        let same = |group: &&mut Vec<&ConditionNote>| group[0].fair_because == note.fair_because;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(note),
            None => groups.push(vec![note]),
        }
    }
    groups.sort_by_key(|group| {
        let known = REASONS
            .iter()
            .position(|reason| *reason == group[0].fair_because);
        known.unwrap_or(REASONS.len())
    });
    groups
}

fn reason_text(note: &ConditionNote) -> String {
    let is_timer = note.condition.starts_with("tf(");
    let reason = match note.fair_because.as_str() {
        "taken" if is_timer => "set",
        "disabled" if is_timer => "below its threshold",
        "never-enabled" if is_timer => "always below its threshold",
        "interfered" => "interfered with",
        "never-enabled" => "never enabled",
        "holds" => "true",
        "holds-throughout" => "true throughout the loop",
        other => other,
    };
    match note.at {
        Some(at) => format!("{reason} at step {at}"),
        None => reason.to_owned(),
    }
}

/// Which step of the loop interferes with another one.
fn interference_text(trace: &StoredTrace, at: usize) -> String {
    let state = trace.run.states.get(at);
    let step = state
        .map(|state| step_name(&state.step))
        .unwrap_or_default();
    format!("{step} interferes at step {at}")
}

fn exclusion_text(note: &ExclusionNote) -> String {
    let ExclusionNote {
        fairness,
        subject,
        at,
        ..
    } = note;
    match fairness.as_str() {
        "just" => format!("{subject} is enabled at step {at} and never interfered with"),
        "weak-process" => format!("{subject} is always enabled and never moves"),
        "strong-process" => format!("{subject} is enabled at step {at} and never moves"),
        "weak" => format!("{subject} is always enabled and never taken"),
        "strong" => format!("{subject} is enabled at step {at} and never taken"),
        _ => format!("from the state at step {at}, {subject} is never taken"),
    }
}
