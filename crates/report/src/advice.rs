//! Which fairness a property needs, as text and JSON.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};

use crate::style::{Role, Style};
use crate::trace_text::{Detail, n_of, write_indented};
use crate::{Outcome, Position, StoredTrace, TOOL, VERSION, itf};

/// The weakest conditions under which a property holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// The file, as the user called it.
    pub file: String,
    /// The name of the property.
    pub property: String,
    /// Its text.
    pub formula: String,
    /// What the minimal sets are made of.
    pub candidates: Vec<String>,
    /// The minimal sets, the weakest and smallest first. An empty set means that the property holds
    /// without any of the candidates.
    pub sets: Vec<AdviceSet>,
    /// Are these all minimal sets?
    pub complete: bool,
    /// Why not.
    pub reason: Option<String>,
    /// How many sets were judged.
    pub judged: usize,
    /// The loop that no candidate excludes, if there is one.
    #[serde(serialize_with = "optional_trace")]
    pub excluded_by_none: Option<StoredTrace>,
    /// What strong global fairness makes of the property then.
    pub strong_global: Option<Outcome>,
    /// Why that is not known.
    pub strong_global_reason: Option<String>,
    /// How many states were explored.
    pub states: u64,
    /// How long it took.
    pub seconds: f64,
}

/// A minimal set of conditions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AdviceSet {
    /// What has to be assumed.
    pub members: Vec<AdviceMember>,
    /// Did a search of its own confirm that the property holds?
    pub confirmed: bool,
    /// Does it hold only because no run is fair?
    pub vacuous: bool,
    /// Sets of conditions on single processes that suffice in its place.
    pub smaller: Vec<AdviceSet>,
}

/// Something to assume.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AdviceMember {
    /// In words.
    pub condition: String,
    /// As the model's language writes it, if it can.
    pub text: Option<String>,
    /// Where the text goes.
    #[serde(serialize_with = "optional_position")]
    pub place: Option<Position>,
    /// The next weaker condition, which does not suffice.
    pub weaker: Option<String>,
    /// The loop that comes back without it (or with the weaker condition).
    #[serde(serialize_with = "optional_trace")]
    pub without: Option<StoredTrace>,
}

/// What the assumptions of a model do for a property.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AuditReport {
    /// The file, as the user called it.
    pub file: String,
    /// The name of the property.
    pub property: String,
    /// Its text.
    pub formula: String,
    /// The fairness that was audited.
    pub fairness: String,
    /// Does the property hold as things are?
    pub verdict: Outcome,
    /// One entry for each annotation and assumption.
    pub entries: Vec<AuditNote>,
    /// Is there no fair run at all?
    pub no_fair_run: bool,
    /// A run after which no fair run is possible.
    #[serde(serialize_with = "optional_trace")]
    pub corner: Option<StoredTrace>,
    /// The left side of an implication that occurs, but on no fair run.
    pub vacuous: Option<String>,
    /// Why something is missing.
    pub reason: Option<String>,
    /// How many states were explored.
    pub states: u64,
    /// How long it took.
    pub seconds: f64,
}

/// What an annotation or assumption does.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AuditNote {
    /// In words.
    pub condition: String,
    /// Where it is written.
    #[serde(serialize_with = "optional_position")]
    pub place: Option<Position>,
    /// `needed`, `stronger-than-needed`, `superfluous` or `unknown`.
    #[serde(rename = "use")]
    pub use_: String,
    /// What suffices in its place.
    pub weaker: Option<String>,
    /// The loop that appears without it.
    #[serde(serialize_with = "optional_trace")]
    pub without: Option<StoredTrace>,
}

/// The advice as one JSON object.
#[must_use]
pub fn advice_json(advice: &Advice) -> String {
    document("advice", advice)
}

/// The audit as one JSON object.
#[must_use]
pub fn audit_json(audit: &AuditReport) -> String {
    document("audit", audit)
}

/// The advice for people; with every loop that comes back if `with_loops`.
#[must_use]
pub fn advice_text(advice: &Advice, style: Style, with_loops: bool) -> String {
    let mut out = String::new();
    let name = style.paint(Role::Heading, &advice.property);
    let facts = format!(
        "({}, {}, {:.2} s)",
        n_of(advice.states, "state"),
        n_of(advice.judged, "set") + " judged",
        advice.seconds
    );
    let headline = headline(advice, style);
    let _ = writeln!(out, "{name}  {headline}  {facts}");

    for (number, set) in advice.sets.iter().enumerate() {
        if !set.members.is_empty() {
            let title = style.paint(Role::Heading, &format!("{}.", number + 1));
            let _ = writeln!(out, "  {title} {}", set_name(set));
            write_set(&mut out, set, style, with_loops, "     ");
        }
        write_smaller(&mut out, set, style, with_loops);
    }

    if let Some(reason) = &advice.reason {
        let what = if advice.sets.is_empty() {
            "no set is known"
        } else {
            "these sets are minimal, but there may be others"
        };
        let _ = writeln!(out, "  {what}: {reason}");
    }
    if let Some(trace) = &advice.excluded_by_none {
        write_hopeless(&mut out, advice, trace, style);
    }
    out
}

/// What suffices for single processes. There can be many such sets, with many members: unless all is
/// asked for, two sets are listed, and what to write only for small ones.
fn write_smaller(out: &mut String, set: &AdviceSet, style: Style, with_loops: bool) {
    const MAX_SETS: usize = 2;
    const MAX_MEMBERS: usize = 2;

    let n_shown = if with_loops {
        set.smaller.len()
    } else {
        MAX_SETS.min(set.smaller.len())
    };
    for smaller in &set.smaller[..n_shown] {
        let _ = writeln!(out, "     or, for single processes: {}", set_name(smaller));
        if with_loops || smaller.members.len() <= MAX_MEMBERS {
            write_set(out, smaller, style, with_loops, "       ");
        }
    }

    let n_hidden = set.smaller.len() - n_shown;
    if n_hidden > 0 {
        let more = n_of(n_hidden as u64, "more set");
        let _ = writeln!(
            out,
            "     and {more} for single processes (`--verbose` lists all)"
        );
    }
}

/// The audit for people; with every loop that appears if `with_loops`.
#[must_use]
pub fn audit_text(audit: &AuditReport, style: Style, with_loops: bool) -> String {
    let mut out = String::new();
    let name = style.paint(Role::Heading, &audit.property);
    let verdict = style.paint(role(audit.verdict), audit.verdict.name());
    let facts = format!(
        "(fairness {}, {}, {:.2} s)",
        audit.fairness,
        n_of(audit.states, "state"),
        audit.seconds
    );
    let _ = writeln!(out, "{name}  {verdict} as things are  {facts}");

    if audit.entries.is_empty() && audit.verdict == Outcome::Holds {
        let _ = writeln!(
            out,
            "  the model has no annotations and assumptions to be audited"
        );
    }
    for note in &audit.entries {
        let place = note
            .place
            .as_ref()
            .map(|place| format!(" ({place})"))
            .unwrap_or_default();
        let use_ = match (note.use_.as_str(), &note.weaker) {
            ("needed", _) => "needed".to_owned(),
            ("stronger-than-needed", Some(weaker)) => {
                format!("stronger than needed: `{weaker}` suffices")
            }
            ("superfluous", _) => {
                "superfluous: with the others, the property holds without it".to_owned()
            }
            _ => "not decided within the limits".to_owned(),
        };
        let _ = writeln!(out, "  {}{place}: {use_}", note.condition);
        write_loop(
            &mut out,
            note.without.as_ref(),
            "without it",
            style,
            with_loops,
            "    ",
        );
    }

    // Remarks about the whole: assumptions that exclude too much make every verdict worthless.
    if audit.no_fair_run {
        let _ = writeln!(
            out,
            "  no run is fair, so everything holds of the fair runs"
        );
    } else if let Some(trace) = &audit.corner {
        let _ = writeln!(
            out,
            "  not machine-closed: after this run no fair run is possible, so the assumptions exclude \
             what the system can do"
        );
        let _ = write_indented(&mut out, trace, style, "    ", Detail::default());
    }
    if let Some(premise) = &audit.vacuous {
        let _ = writeln!(
            out,
            "  holds vacuously: `{premise}` occurs in the system, but on no fair run"
        );
    }
    if let Some(reason) = &audit.reason {
        let _ = writeln!(out, "  not complete: {reason}");
    }
    out
}

fn headline(advice: &Advice, style: Style) -> String {
    let (role, text) = match advice.sets.as_slice() {
        [set] if set.members.is_empty() => (Role::Good, "holds without fairness".to_owned()),
        [] if advice.excluded_by_none.is_some() => {
            (Role::Bad, "violated whatever is assumed".to_owned())
        }
        [] => (Role::Doubtful, "unknown".to_owned()),
        sets if advice.complete => (
            Role::Good,
            format!("holds under {}", n_of(sets.len(), "minimal set")),
        ),
        sets => {
            let n_sets = n_of(sets.len(), "minimal set");
            (
                Role::Doubtful,
                format!("unknown: holds under {n_sets} found so far"),
            )
        }
    };
    style.paint(role, &text)
}

fn set_name(set: &AdviceSet) -> String {
    let names: Vec<&str> = set
        .members
        .iter()
        .map(|member| member.condition.as_str())
        .collect();
    let mut name = names.join(", and ");
    if !set.confirmed {
        name += "  (not confirmed by a search of its own: a limit was reached)";
    }
    if set.vacuous {
        name += "  (vacuous: no run is fair then)";
    }
    name
}

fn write_set(out: &mut String, set: &AdviceSet, style: Style, with_loops: bool, indent: &str) {
    for member in &set.members {
        if let Some(text) = &member.text {
            let place = match &member.place {
                Some(place) => format!("   at {place}"),
                None => String::new(),
            };
            let text = style.paint(Role::Action, text);
            let _ = writeln!(out, "{indent}write: {text}{place}");
        }
        let without = match &member.weaker {
            None => format!("without {}", member.condition),
            Some(weaker) => format!("with {weaker} only"),
        };
        write_loop(
            out,
            member.without.as_ref(),
            &without,
            style,
            with_loops,
            indent,
        );
    }
}

/// A loop in one line, or in full.
fn write_loop(
    out: &mut String,
    trace: Option<&StoredTrace>,
    when: &str,
    style: Style,
    in_full: bool,
    indent: &str,
) {
    let Some(trace) = trace else {
        return;
    };

    if in_full {
        let _ = writeln!(out, "{indent}{when}:");
        let indent = format!("{indent}  ");
        let _ = write_indented(out, trace, style, &indent, Detail::default());
        return;
    }

    let start = trace.run.loop_start.unwrap_or(0);
    let steps = trace.run.states[start..].iter();
    let steps = steps.filter_map(|state| state.step.actions.as_ref());
    let steps: Vec<String> = steps
        .map(|actions| match actions.as_slice() {
            [] => "no step at all (deadlock)".to_owned(),
            names => names.join(" & "),
        })
        .collect();

    let shown = if steps.len() > MAX_SHOWN_STEPS {
        let first = steps[..MAX_SHOWN_STEPS].join(", ");
        format!("{first}, ... ({} in all)", n_of(steps.len(), "step"))
    } else {
        steps.join(", ")
    };

    let _ = writeln!(out, "{indent}{when}, this is possible forever: {shown}");
}

/// More steps of a loop than this do not go into one line.
const MAX_SHOWN_STEPS: usize = 8;

fn write_hopeless(out: &mut String, advice: &Advice, trace: &StoredTrace, style: Style) {
    let is_loop = trace.run.loop_start.is_some();

    let why = match advice.strong_global {
        Some(Outcome::Violated) if is_loop => {
            "no scheduler helps: the property fails even under strong global fairness"
        }
        Some(Outcome::Holds) => {
            "no candidate excludes this loop, but the property holds under strong-global"
        }
        _ if is_loop => "no candidate excludes this loop",
        _ => "no fairness excludes this run",
    };
    let _ = writeln!(out, "  {why}");

    if let Some(reason) = &advice.strong_global_reason {
        let _ = writeln!(
            out,
            "  whether strong global fairness excludes all such loops is not known: {reason}"
        );
    }

    let _ = write_indented(out, trace, style, "  ", Detail::default());
}

fn role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Holds => Role::Good,
        Outcome::Violated => Role::Bad,
        Outcome::Unknown => Role::Doubtful,
    }
}

#[derive(Serialize)]
struct Document<'a, T> {
    tool: &'static str,
    version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

fn document<T: Serialize>(kind: &'static str, content: &T) -> String {
    let document = Document {
        tool: TOOL,
        version: VERSION,
        kind,
        content,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("all keys are strings");
    text.push('\n');
    text
}

fn optional_trace<S: Serializer>(
    trace: &Option<StoredTrace>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    trace.as_ref().map(itf::Itf).serialize(serializer)
}

fn optional_position<S: Serializer>(
    position: &Option<Position>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    position
        .as_ref()
        .map(Position::to_string)
        .serialize(serializer)
}
