//! Which fairness a property needs: several notions at once, the weakest conditions, an audit.

use base::{Fairness, Progress, Span, StopReason};
use check::{Audit, Granularity, Inference, Left, Level, MinimalSet, Offer, Use};
use evidence::Explanation;
use logic::NamedProperty;
use model::{AnnotationKind, Assumption, Model, Subject, Target};
use report::{Advice, AdviceMember, AdviceSet, AuditNote, AuditReport, StoredTrace};
use source::{Content, Options, QuestionKind};

use crate::answer::result;
use crate::error::Error;
use crate::{Answer, Plan, Project, Question, Verdict};

/// How the weakest conditions for a property are looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Search {
    /// Assumptions that may be made besides fairness of processes, actions and annotated steps.
    pub candidates: Vec<String>,
    /// Consider each instance of a process for itself, not all of them together.
    pub each: bool,
}

impl Project {
    /// Answers each question under each notion, exploring each system once where that can be done.
    /// One row for each question.
    ///
    /// # Errors
    /// As for [`Project::check`].
    ///
    /// # Panics
    /// If a question is not one of this project.
    pub fn check_notions(
        &self,
        questions: &[&Question],
        notions: &[Fairness],
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<Answer>>, Error> {
        self.fits(plan)?;
        let Content::Systems(systems) = &self.content else {
            return self.each_alone(questions, notions, plan, progress);
        };

        // All properties of the first system share an exploration; anything else is asked alone.
        let is_shared = |question: &Question| {
            let asked = &self.asked[question.position];
            asked.system == 0
                && matches!(asked.kind, QuestionKind::Property)
                && notions
                    .iter()
                    .all(|&notion| asked.undecided(notion).is_none())
        };
        let shared: Vec<&NamedProperty> = questions
            .iter()
            .filter(|question| is_shared(question))
            .map(|question| &self.asked[question.position].property)
            .collect();
        let model = &systems[0].model;
        let mut outcomes =
            check::check_notions(model, &shared, notions, plan, progress)?.into_iter();

        let mut rows = Vec::new();
        for &question in questions {
            let property = &self.asked[question.position].property;
            if !is_shared(question) {
                rows.extend(self.each_alone(&[question], notions, plan, progress)?);
                continue;
            }
            let outcomes = outcomes.next().expect("one row for each shared question");
            // Where too little was provided for, larger models are made for each notion alone.
            if outcomes.iter().any(check::Outcome::is_exhausted) {
                rows.extend(self.each_alone(&[question], notions, plan, progress)?);
                continue;
            }
            let answer = |outcome| Answer::new(model, &self.sources, property, outcome);
            rows.push(outcomes.into_iter().map(answer).collect());
        }
        Ok(rows)
    }

    fn each_alone(
        &self,
        questions: &[&Question],
        notions: &[Fairness],
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<Answer>>, Error> {
        let mut rows = Vec::new();

        for question in questions {
            let mut row = Vec::new();
            for &fairness in notions {
                let plan = Plan {
                    fairness: Some(fairness),
                    ..plan.clone()
                };
                row.push(self.check(question, &plan, progress)?);
            }
            rows.push(row);
        }

        Ok(rows)
    }

    /// Everything that has a name of its own, with `annotated` only where it makes a difference.
    ///
    /// # Errors
    /// The project is a family.
    pub fn all_notions(&self) -> Result<Vec<Fairness>, Error> {
        let has_annotations = !self.model()?.parts().annotations.is_empty();
        let makes_sense = |notion: &Fairness| has_annotations || !notion.annotated;
        Ok(Fairness::ALL.into_iter().filter(makes_sense).collect())
    }

    /// The weakest conditions under which a property holds. The assumptions of the model hold in any
    /// case; its annotations and the fairness it names do not.
    ///
    /// # Errors
    /// The project is a family, the question is not about fair runs, a candidate is wrong, or
    /// evidence was found to be wrong.
    pub fn advise(
        &self,
        question: &Question,
        search: &Search,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Advice, Error> {
        let model = self.model_for(question)?;
        let property = &self.asked[question.position].property;
        let depends = matters(&property.property, !search.candidates.is_empty());
        depends.map_err(|why| Error::Call(format!("`{}` {why}", question.name)))?;

        let larger = self.with_candidates(&search.candidates)?;
        let with_candidates = larger
            .as_ref()
            .map_or(Ok(model), |larger| larger.model_for(question))?;
        let property = match &larger {
            None => property,
            Some(larger) => &larger.asked[question.position].property,
        };
        let n_own = model.parts().assumptions.len();
        let offered: Vec<Assumption> = with_candidates.parts().assumptions[n_own..].to_vec();
        let mut parts = with_candidates.parts().clone();
        parts.assumptions.truncate(n_own);
        let model = parts
            .finish()
            .expect("a model with fewer assumptions is a model");

        let granularity = if search.each {
            Granularity::Each
        } else {
            Granularity::Family
        };
        let mut offers = check::offers(&model, granularity);
        let offered = offered.into_iter();
        offers.extend(offered.map(|assumption| Offer::assumption(&model, assumption)));
        let inference = check::infer(&model, property, offers, plan, progress)?;
        Ok(self.advice(&model, property, &inference))
    }

    /// What the annotations and assumptions of the model do for a property.
    ///
    /// # Errors
    /// As for [`Project::advise`].
    pub fn audit(
        &self,
        question: &Question,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<AuditReport, Error> {
        let model = self.model_for(question)?;
        let property = &self.asked[question.position].property;
        let depends = matters(&property.property, true);
        depends.map_err(|why| Error::Call(format!("`{}` {why}", question.name)))?;
        let audit = check::audit(model, property, plan, progress)?;
        Ok(self.audit_report(property, &audit))
    }

    fn model_for(&self, question: &Question) -> Result<&Model, Error> {
        self.model()?;
        let asked = &self.asked[question.position];
        match (&self.content, &asked.kind) {
            (Content::Systems(systems), QuestionKind::Property) => Ok(&systems[asked.system].model),
            _ => Err(Error::Call(format!(
                "`{}` is not a property of runs, so fairness makes no difference to it",
                question.name
            ))),
        }
    }

    /// The project with the candidates among its assumptions; nothing if there are none.
    fn with_candidates(&self, candidates: &[String]) -> Result<Option<Self>, Error> {
        if candidates.is_empty() {
            return Ok(None);
        }

        let Some(opened) = self.assuming(candidates) else {
            return Err(Error::Call(
                "candidates need a model that was read from a text".to_owned(),
            ));
        };

        opened.map(Some).map_err(|error| match error {
            Error::Text(mut text) => {
                for source in &mut text.sources {
                    if source.name == "<--assume>" && candidates.contains(&source.text) {
                        source.name = "<--candidate>".to_owned();
                    }
                }
                Error::Text(text)
            }
            other => other,
        })
    }

    fn advice(&self, model: &Model, property: &NamedProperty, inference: &Inference) -> Advice {
        let names = inference.offers.iter().flat_map(|offer| &offer.levels);
        let stored = |outcome: &check::Outcome| result(&self.sources, property, outcome);
        let hopeless = inference.hopeless.as_deref();
        let strong_global = inference.strong_global.as_deref();
        // The loop that even strong global fairness allows says more.
        let shown = strong_global
            .filter(|outcome| outcome.is_violated())
            .or(hopeless);
        Advice {
            file: self
                .sources
                .first()
                .map_or(String::new(), |source| source.name.clone()),
            property: property.name.clone(),
            formula: property.text.clone(),
            candidates: names.map(|level| level.name.clone()).collect(),
            sets: inference
                .sets
                .iter()
                .map(|set| self.advice_set(model, property, set))
                .collect(),
            complete: inference.left.is_none(),
            reason: inference.left.as_ref().map(left_text),
            judged: inference.n_judged,
            excluded_by_none: hopeless
                .and(shown)
                .and_then(|outcome| self.shown_loop(property, outcome)),
            strong_global: strong_global.map(|outcome| stored(outcome).verdict),
            strong_global_reason: strong_global.and_then(|outcome| match &outcome.verdict {
                evidence::Verdict::Unknown(reason) => {
                    Some(reason.details().unwrap_or(reason.name()).to_owned())
                }
                evidence::Verdict::Holds { .. } | evidence::Verdict::Violated(_) => None,
            }),
            states: inference.stats.n_states,
            seconds: 0.0,
        }
    }

    fn advice_set(&self, model: &Model, property: &NamedProperty, set: &MinimalSet) -> AdviceSet {
        let member = |member: &check::Member| {
            let (text, span) = self.written(model, &member.level);
            let without = member.without.as_deref();
            AdviceMember {
                condition: member.level.name.clone(),
                text,
                place: span.and_then(|span| report::position(&self.sources, span)),
                weaker: member.weaker.clone(),
                without: without.and_then(|outcome| self.shown_loop(property, outcome)),
            }
        };

        let smaller = set.smaller.iter();
        AdviceSet {
            members: set.members.iter().map(member).collect(),
            confirmed: set.is_confirmed,
            vacuous: set.is_vacuous,
            smaller: smaller
                .map(|set| self.advice_set(model, property, set))
                .collect(),
        }
    }

    /// A condition as the language of the model writes it, and where.
    fn written(&self, model: &Model, level: &Level) -> (Option<String>, Option<Span>) {
        let language = self.language();
        let Some(annotation) = &level.annotation else {
            let is_native = language == Some("fair");
            return (is_native.then(|| level.name.clone()), None);
        };
        match language {
            Some("fair") => native_text(model, annotation.kind, &annotation.target),
            Some("csp") => (csp_text(model, annotation.kind, &annotation.target), None),
            _ => (None, None),
        }
    }

    fn audit_report(&self, property: &NamedProperty, audit: &Audit) -> AuditReport {
        let note = |entry: &check::AuditEntry| {
            let (use_, weaker) = match &entry.use_ {
                Use::Needed => ("needed", None),
                Use::StrongerThanNeeded(weaker) => ("stronger-than-needed", Some(weaker.clone())),
                Use::Superfluous => ("superfluous", None),
                Use::Unknown => ("unknown", None),
            };
            let without = entry.without.as_deref();
            AuditNote {
                condition: entry.name.clone(),
                place: entry
                    .span
                    .and_then(|span| report::position(&self.sources, span)),
                use_: use_.to_owned(),
                weaker,
                without: without.and_then(|outcome| self.shown_loop(property, outcome)),
            }
        };
        AuditReport {
            file: self
                .sources
                .first()
                .map_or(String::new(), |source| source.name.clone()),
            property: property.name.clone(),
            formula: property.text.clone(),
            fairness: audit.fairness.name(),
            verdict: match audit.holds {
                Some(true) => Verdict::Holds,
                Some(false) => Verdict::Violated,
                None => Verdict::Unknown,
            },
            entries: audit.entries.iter().map(note).collect(),
            no_fair_run: audit.has_no_fair_run,
            corner: audit
                .corner
                .as_ref()
                .and_then(|shown| self.stored(property, audit, shown)),
            vacuous: audit.vacuous.clone(),
            reason: audit.left.as_ref().map(left_text),
            states: audit.stats.n_states,
            seconds: 0.0,
        }
    }

    /// The loop of a violation. What would exclude it is what the advice is about.
    fn shown_loop(
        &self,
        property: &NamedProperty,
        outcome: &check::Outcome,
    ) -> Option<StoredTrace> {
        let mut trace = result(&self.sources, property, outcome).trace?;
        trace.meta.excluded_by.clear();
        Some(trace)
    }

    fn stored(
        &self,
        property: &NamedProperty,
        audit: &Audit,
        shown: &Explanation,
    ) -> Option<StoredTrace> {
        let evidence::Shown::Run(run) = shown.shown() else {
            return None;
        };
        let question = report::ReportedQuestion {
            sources: &self.sources,
            property: &property.name,
            formula: &property.text,
            span: property.span,
            fairness: audit.fairness,
        };
        let mut stored = question.store(run);
        // It breaks nothing; it only leads to a state.
        stored.meta.kind = None;
        stored.meta.formula = None;
        Some(stored)
    }
}

/// Can fairness or, if there are some, assumptions make a difference to a property?
fn matters(property: &logic::Property, has_assumptions: bool) -> Result<(), &'static str> {
    match property {
        logic::Property::Ltl(_) | logic::Property::Never(_) => Ok(()),
        logic::Property::Invariant(_) if has_assumptions => Ok(()),
        logic::Property::Invariant(_) => Err(
            "is about reachable states, so fairness makes no difference to it: every finite run can \
             be continued fairly; assumptions given with `--candidate` can make one",
        ),
        logic::Property::Reachable(_) | logic::Property::DeadlockFree => {
            Err("is about reachable states, so fairness makes no difference to it")
        }
        logic::Property::CtlStar(_) => Err(
            "has path quantifiers: more fairness can make it false as well as true, so there are no \
             weakest conditions; `fair check --fairness all` compares the notions",
        ),
        logic::Property::MayMust(_) => Err("is about a may/must system"),
    }
}

fn left_text(left: &Left) -> String {
    match left {
        Left::Stopped(StopReason::StateLimit) => "the limit on states was reached".to_owned(),
        Left::Stopped(StopReason::MemoryLimit) => "the limit on memory was reached".to_owned(),
        Left::Stopped(reason) => format!("stopped: {}", reason.name()),
        Left::TooMany => "there are too many minimal sets to look for all of them".to_owned(),
        Left::Unsupported(why) => why.clone(),
    }
}

/// An annotation in the native language, or an assumption where annotations cannot say it.
fn native_text(
    model: &Model,
    kind: AnnotationKind,
    target: &Target,
) -> (Option<String>, Option<Span>) {
    let strength = kind.words();
    let processes = &model.parts().processes;

    match target {
        Target::Process(process) => {
            let process = &processes[process.index()];
            let text = format!("{strength} process {}", process.name);
            (Some(text), Some(process.span))
        }
        Target::Action(process, name) => {
            let steps = &processes[process.index()].steps;
            let step = steps.iter().find(|step| step.name == *name);
            (
                Some(format!("{strength} {name}")),
                step.map(|step| step.span),
            )
        }
        Target::Choice(process, step) => {
            let step = &processes[process.index()].steps[*step];
            (
                Some(format!("{strength} choice {}", step.name)),
                Some(step.span),
            )
        }
        Target::Event(_) => (None, None),
        Target::Subject(subject) => (native_assumption(model, kind, subject), None),
    }
}

fn native_assumption(model: &Model, kind: AnnotationKind, subject: &Subject) -> Option<String> {
    let name = match subject {
        Subject::Process(_) => format!("{}.*", model.subject_name(subject)),
        Subject::Action(_) => model.subject_name(subject),
        Subject::Choice(_) | Subject::Timer(_) | Subject::Team(_) => return None,
    };
    // A rendezvous has the names of both sides, which no formula reads.
    if name.contains('/') {
        return None;
    }
    match kind {
        // Formulas do not speak of interference.
        AnnotationKind::Just => None,
        AnnotationKind::Weak => Some(format!("assume []<> !enabled({name}) || []<> {name}")),
        AnnotationKind::Strong => Some(format!("assume <>[] !enabled({name}) || []<> {name}")),
        AnnotationKind::Unconditional => Some(format!("assume []<> {name}")),
    }
}

fn csp_text(model: &Model, kind: AnnotationKind, target: &Target) -> Option<String> {
    let name = match target {
        Target::Event(event) => model.parts().events[event.index()].name.clone(),
        Target::Action(_, name) => name.clone(),
        Target::Process(_) | Target::Choice(..) | Target::Subject(_) => return None,
    };
    let strength = match kind {
        AnnotationKind::Just => return None,
        AnnotationKind::Weak => "wf",
        AnnotationKind::Strong => "sf",
        AnnotationKind::Unconditional => "f",
    };
    Some(format!("{strength}({name})"))
}

/// The options of a project with further assumptions.
pub(crate) fn with_assumptions(options: &Options, more: &[String]) -> Options {
    let mut options = options.clone();
    options.assume.extend_from_slice(more);
    options
}
