//! `fair replay`: is a stored trace one of the model, and does it still show what it showed?

use base::Fairness;
use evidence::{Endless, Invalid, Trace, Violation, ViolationKind};
use logic::NamedProperty;
use report::{StoredTrace, TraceMeta};

use super::check::{is_ctl_name, is_ltl_name};
use crate::failure::{Failure, Status};
use crate::loading::{self, Asked, Loaded};
use crate::options::ReplayOptions;
use crate::{output, trace_file};

/// Replays the trace with the reference semantics, and judges what it claims.
///
/// # Errors
/// The model or the trace is wrong.
pub fn run(options: &ReplayOptions) -> Result<Status, Failure> {
    let stored = trace_file::read(&options.trace)?;
    let front_end = lang::Options {
        ltl: formula_of_call(&stored.meta, is_ltl_name),
        ctl: formula_of_call(&stored.meta, is_ctl_name),
        assume: options.assume.clone(),
        ..options.model.for_front_end()
    };
    let loaded = loading::load(&options.model.file, &front_end, true)?;
    let shape = format!("{} states", stored.run.states.len());
    let name = stored.meta.property.as_ref();
    let property = name.and_then(|name| loaded.properties.iter().find(|p| p.name == *name));
    let model = property.map_or(&loaded.model, |property| loaded.model_of(property));
    let trace = match stored.run.to_trace(model) {
        Ok(trace) => trace,
        Err(error) => return invalid(&error.to_string()),
    };
    if let Err(why) = evidence::validate_run(model, &trace) {
        return invalid(&why.to_string());
    }
    output::print(&format!("valid: a run of the model with {shape}\n"))?;
    judge(&loaded, &stored, trace)
}

fn invalid(why: &str) -> Result<Status, Failure> {
    output::print(&format!("invalid: {why}\n"))?;
    Ok(Status::Violated)
}

/// A formula of the command line is not in the file, but the trace knows it.
fn formula_of_call(meta: &TraceMeta, is_name: fn(&str) -> bool) -> Vec<(String, String)> {
    let name = meta.property.clone().filter(|name| is_name(name));
    name.zip(meta.formula.clone()).into_iter().collect()
}

/// What became of the claim of a trace.
enum Judgement {
    /// The trace claims nothing.
    Nothing,
    /// It is true.
    Confirmed(String),
    /// It is not.
    Refuted(Invalid),
    /// It cannot be judged.
    Unjudged(String),
}

fn judge(loaded: &Loaded, stored: &StoredTrace, trace: Trace) -> Result<Status, Failure> {
    let (text, status) = match judge_claim(loaded, stored, trace) {
        Judgement::Nothing => return Ok(Status::Success),
        Judgement::Confirmed(what) => (format!("confirmed: it {what}\n"), Status::Success),
        Judgement::Refuted(why) => (format!("refuted: {why}\n"), Status::Violated),
        Judgement::Unjudged(why) => (format!("not judged: {why}\n"), Status::Undecided),
    };
    output::print(&text)?;
    Ok(status)
}

fn judge_claim(loaded: &Loaded, stored: &StoredTrace, trace: Trace) -> Judgement {
    let meta = &stored.meta;
    let Some(name) = &meta.property else {
        return Judgement::Nothing;
    };
    let Some(property) = loaded.properties.iter().find(|p| p.name == *name) else {
        return Judgement::Unjudged(format!("the model has no property `{name}`"));
    };
    if meta
        .formula
        .as_ref()
        .is_some_and(|text| *text != property.text)
    {
        output::note(&format!(
            "`{name}` has changed; it is now: {}",
            property.text
        ));
    }
    if loaded.asked.get(name).is_some_and(Asked::needs_search) {
        let why =
            format!("that a run shows `{name}` to be violated takes a search: use `fair check`");
        return Judgement::Unjudged(why);
    }
    let fairness = meta.fairness.as_deref().unwrap_or("none");
    let Some(fairness) = Fairness::parse(fairness) else {
        return Judgement::Unjudged(format!("there is no fairness `{fairness}`"));
    };
    let claim = Claim {
        loaded,
        property,
        fairness,
    };
    claim.judge(meta, trace)
}

/// What a trace claims to show.
struct Claim<'a> {
    loaded: &'a Loaded,
    property: &'a NamedProperty,
    fairness: Fairness,
}

impl Claim<'_> {
    fn judge(&self, meta: &TraceMeta, trace: Trace) -> Judgement {
        let kind = match meta.kind.as_deref() {
            Some("witness") => return self.judge_witness(&trace),
            Some("fair-loop") => ViolationKind::FairLoop,
            Some("endless-loop") => return self.judge_endless(meta, trace),
            Some("zero-time") => ViolationKind::ZeroTime,
            Some("bad-prefix") => ViolationKind::BadPrefix,
            Some("deadlock") => ViolationKind::Deadlock,
            Some("run-time-error") => return self.judge_error(trace),
            Some("branch") => {
                let why = "the run shows only a part of a formula with path quantifiers";
                return Judgement::Unjudged(why.to_owned());
            }
            Some(other) => return Judgement::Unjudged(format!("there is no kind `{other}`")),
            None => return Judgement::Nothing,
        };
        if meta.component.is_some() {
            return self.judge_inside_component(trace);
        }
        self.judge_violation(kind, trace, self.fairness)
    }

    fn judge_witness(&self, trace: &Trace) -> Judgement {
        let property = &self.property.property;
        match evidence::validate_witness(self.loaded.model_of(self.property), property, trace) {
            Ok(()) => Judgement::Confirmed(format!("shows that `{}` holds", self.property.name)),
            Err(why) => Judgement::Refuted(why),
        }
    }

    /// That there is always one more round is not judged; some are.
    fn judge_endless(&self, meta: &TraceMeta, trace: Trace) -> Judgement {
        let Some(note) = meta.endless.clone() else {
            return Judgement::Unjudged("the trace does not say what its rounds are".to_owned());
        };
        let kind = ViolationKind::Endless(Box::new(Endless {
            start: note.start,
            length: note.length,
            recurrent: note.recurrent,
            changes: note.changes,
        }));
        match self.judge_violation(kind, trace, self.fairness) {
            Judgement::Confirmed(what) => Judgement::Confirmed(format!(
                "{what} if it goes on like its first hundred rounds"
            )),
            other => other,
        }
    }

    fn judge_violation(&self, kind: ViolationKind, trace: Trace, fairness: Fairness) -> Judgement {
        let violation = Violation {
            kind,
            trace: Some(trace),
            covering: None,
            component: None,
        };
        let model = self.loaded.model_of(self.property);
        let assumptions = &model.parts().assumptions;
        let property = &self.property.property;
        match evidence::validate(model, property, fairness, assumptions, &violation) {
            // Such a run says nothing about the property.
            Ok(()) if violation.kind == ViolationKind::ZeroTime => Judgement::Confirmed(format!(
                "is a run in which time stops, under fairness {}",
                fairness.name()
            )),
            Ok(()) => Judgement::Confirmed(format!(
                "violates `{}` under fairness {}",
                self.property.name,
                fairness.name()
            )),
            Err(why) => Judgement::Refuted(why),
        }
    }

    /// The error is whatever the model reports in the last state.
    fn judge_error(&self, trace: Trace) -> Judgement {
        let model = self.loaded.model_of(self.property);
        let Some(last) = trace.states.last() else {
            return Judgement::Refuted(Invalid::NoTrace);
        };
        let commands = trace.steps.last().map_or(&[][..], |step| &step.commands);
        let atoms = (0..model.parts().atoms.len()).map(base::AtomId::new);
        let mut in_atoms = atoms.filter_map(|atom| model.atom_holds(atom, last, commands).err());
        let found = model.successors(last).err().or_else(|| in_atoms.next());
        match found {
            Some(error) => {
                self.judge_violation(ViolationKind::RunTimeError(error), trace, self.fairness)
            }
            None => Judgement::Refuted(Invalid::OtherError { found: None }),
        }
    }

    /// Files hold a loop inside the closed component, but not the component: that the loop violates
    /// the property can be judged, that it is fair cannot.
    fn judge_inside_component(&self, trace: Trace) -> Judgement {
        let without = Fairness {
            kind: base::FairnessKind::None,
            ..self.fairness
        };
        match self.judge_violation(ViolationKind::FairLoop, trace, without) {
            Judgement::Confirmed(_) => Judgement::Unjudged(format!(
                "it violates `{}`; whether it lies in a closed component of the model, \
                 as strong global fairness demands, only `fair check` can tell",
                self.property.name
            )),
            other => other,
        }
    }
}
