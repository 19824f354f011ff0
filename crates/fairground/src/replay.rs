//! Is a stored trace one of the model, and does it still show what it showed?

use base::Fairness;
use evidence::{Endless, Invalid, Trace, Violation, ViolationKind};
use model::Model;
use report::{StoredTrace, TraceMeta};
use source::{Content, Question};

use crate::error::Error;
use crate::project::Project;

/// What became of a stored trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replay {
    /// It is not a run of the model; why not.
    Invalid(String),
    /// It is a run of the model.
    Valid {
        /// The text of the property, if it is not the one that the trace was found for.
        changed: Option<String>,
        /// What became of its claim.
        judgement: Judgement,
    },
}

/// What became of the claim of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// The trace claims nothing.
    Nothing,
    /// It is true; what it shows.
    Confirmed(String),
    /// It is not; why not.
    Refuted(String),
    /// It cannot be judged; why not.
    Unjudged(String),
}

impl Project {
    /// Replays a trace with the reference semantics, and judges what it claims.
    ///
    /// # Errors
    /// The project is a family.
    pub fn replay(&self, stored: &StoredTrace) -> Result<Replay, Error> {
        let name = stored.meta.property.as_ref();
        let is_it = |question: &&Question| Some(&question.property.name) == name;
        let question = self.asked.iter().find(is_it);
        let model = self.model_of(question)?;

        let trace = match stored.run.to_trace(model) {
            Ok(trace) => trace,
            Err(error) => return Ok(Replay::Invalid(error.to_string())),
        };
        if let Err(why) = evidence::validate_run(model, &trace) {
            return Ok(Replay::Invalid(why.to_string()));
        }

        let was = stored.meta.formula.as_ref();
        let text = question.map(|question| &question.property.text);
        let changed = text.filter(|text| was.is_some_and(|was| was != *text));
        Ok(Replay::Valid {
            changed: changed.cloned(),
            judgement: judge(model, question, &stored.meta, trace),
        })
    }

    /// The system that a question is about; the first without a question.
    fn model_of(&self, question: Option<&Question>) -> Result<&Model, Error> {
        match (&self.content, question) {
            (Content::Systems(systems), Some(question)) => Ok(&systems[question.system].model),
            (_, _) => self.model(),
        }
    }
}

fn judge(model: &Model, question: Option<&Question>, meta: &TraceMeta, trace: Trace) -> Judgement {
    let Some(name) = &meta.property else {
        return Judgement::Nothing;
    };
    let Some(question) = question else {
        return Judgement::Unjudged(format!("the model has no property `{name}`"));
    };
    if question.needs_search() {
        let why =
            format!("one run does not decide `{name}`, which needs a search: use `fair check`");
        return Judgement::Unjudged(why);
    }

    let fairness = meta.fairness.as_deref().unwrap_or("none");
    let Some(fairness) = Fairness::parse(fairness) else {
        return Judgement::Unjudged(format!("there is no fairness `{fairness}`"));
    };
    let claim = TraceClaim {
        model,
        question,
        fairness,
    };
    claim.judge(meta, trace)
}

/// What a trace claims to show.
struct TraceClaim<'a> {
    model: &'a Model,
    question: &'a Question,
    fairness: Fairness,
}

impl TraceClaim<'_> {
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
        let property = &self.question.property.property;
        match evidence::validate_witness(self.model, property, trace) {
            Ok(()) => Judgement::Confirmed(format!(
                "shows that `{}` holds",
                self.question.property.name
            )),
            Err(why) => Judgement::Refuted(why.to_string()),
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

        let model = self.model;
        let assumptions = &model.parts().assumptions;
        let property = &self.question.property.property;
        match evidence::validate(model, property, fairness, assumptions, &violation) {
            // Such a run says nothing about the property.
            Ok(()) if violation.kind == ViolationKind::ZeroTime => Judgement::Confirmed(format!(
                "is a run in which time stops, under fairness {}",
                fairness.name()
            )),
            Ok(()) => Judgement::Confirmed(format!(
                "violates `{}` under fairness {}",
                self.question.property.name,
                fairness.name()
            )),
            Err(why) => Judgement::Refuted(why.to_string()),
        }
    }

    /// The error is whatever the model reports in the last state.
    fn judge_error(&self, trace: Trace) -> Judgement {
        let model = self.model;
        let Some(last) = trace.states.last() else {
            return Judgement::Refuted(Invalid::NoTrace.to_string());
        };
        let commands = trace.steps.last().map_or(&[][..], |step| &step.commands);
        let atoms = (0..model.parts().atoms.len()).map(base::AtomId::new);
        let mut in_atoms = atoms.filter_map(|atom| model.atom_holds(atom, last, commands).err());
        let found = model.successors(last).err().or_else(|| in_atoms.next());
        match found {
            Some(error) => {
                self.judge_violation(ViolationKind::RunTimeError(error), trace, self.fairness)
            }
            None => Judgement::Refuted(Invalid::OtherError { found: None }.to_string()),
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
                self.question.property.name
            )),
            other => other,
        }
    }
}
