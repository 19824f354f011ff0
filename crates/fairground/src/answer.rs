//! What comes out for a question.

use base::{Expected, Fairness, Progress, Source, StopReason};
use check::{Outcome, Plan, Reductions, TestedExclusion};
use evidence::{Explanation, UnknownReason, Verdict};
use logic::NamedProperty;
use model::{ActionId, Model};
use report::{Cost, ExclusionNote, PropertyResult};
use source::Content;

use crate::error::Error;
use crate::project::Project;
use crate::question::Question;

/// What came out for a question, as plain data.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Verdict, evidence, explanation, cost, remarks and warnings, as reports print them. The time
    /// is 0 until the face that has measured it sets it.
    pub result: PropertyResult,
    /// How often each action was taken.
    pub action_counts: Vec<(String, u64)>,
    /// Why the search was stopped before it was done, if it was.
    pub stopped: Option<StopReason>,
    /// How many runs were replayed on the reference semantics to confirm and explain the verdict.
    pub n_replays: usize,
    /// What the result was made of.
    pub(crate) outcome: Outcome,
    /// For how many processes or terms the model that gave the answer provides.
    pub(crate) pool: usize,
}

impl Answer {
    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> crate::Verdict {
        self.result.verdict
    }

    pub(crate) fn new(
        model: &Model,
        sources: &[Source],
        property: &NamedProperty,
        outcome: Outcome,
    ) -> Self {
        let mut result = result(sources, property, &outcome);
        result.remarks.extend(outcome.remarks.iter().cloned());
        let warnings = outcome.warnings.iter();
        let warnings = warnings.map(|diagnostic| report::warning(diagnostic, sources));
        result.warnings.extend(warnings);

        let counts = outcome.stats.action_counts.iter().enumerate();
        let name = |action| model.action_name(ActionId::new(action)).to_owned();
        let action_counts = counts.map(|(action, count)| (name(action), *count));
        Self::of_result(result, action_counts.collect(), outcome)
    }

    pub(crate) fn of_result(
        result: PropertyResult,
        action_counts: Vec<(String, u64)>,
        outcome: Outcome,
    ) -> Self {
        Self {
            result,
            action_counts,
            stopped: match outcome.verdict {
                Verdict::Unknown(UnknownReason::Stopped(reason)) => Some(reason),
                _ => None,
            },
            n_replays: outcome.n_replays,
            outcome,
            pool: 0,
        }
    }
}

impl Project {
    /// Answers one of the questions of this project. Where the model provides for too few processes
    /// or terms, it is made with more and more.
    ///
    /// # Errors
    /// The plan does not fit the model, or evidence was found to be wrong.
    ///
    /// # Panics
    /// If the question is not one of this project.
    pub fn check(
        &self,
        question: &Question,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Answer, Error> {
        let mut answer = self.check_once(question, plan, progress)?;
        for larger in self.larger() {
            if !answer.outcome.is_exhausted() {
                break;
            }
            let larger = larger?;
            let Some(same) = larger.question(&question.name) else {
                break;
            };
            answer = larger.check_once(same, plan, progress)?;
        }
        answer.result.expected = question.expected.map(outcome);
        Ok(answer)
    }

    /// Answers those of some questions that one exploration of the states answers together, if there
    /// are several such; nothing for the others, which [`Project::check`] answers.
    ///
    /// # Errors
    /// The plan does not fit the model, or evidence was found to be wrong.
    pub fn check_together(
        &self,
        questions: &[&Question],
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Option<Answer>>, Error> {
        let Content::Systems(systems) = &self.content else {
            return Ok(questions.iter().map(|_| None).collect());
        };
        self.fits(plan)?;
        let asked: Vec<&source::Question> = questions
            .iter()
            .map(|question| &self.asked[question.position])
            .collect();
        let outcomes = check::answer_together(systems, &asked, plan, progress)?;

        let answers = outcomes.into_iter().zip(questions).zip(asked);
        let answers = answers.map(|((found, question), asked)| {
            // Where too little is provided for, `check` provides more.
            let found = found.filter(|found| !found.is_exhausted())?;
            let model = &systems[asked.system].model;
            let mut answer = Answer::new(model, &self.sources, &asked.property, found);
            answer.result.expected = question.expected.map(outcome);
            answer.pool = self.options().pool;
            Some(answer)
        });
        Ok(answers.collect())
    }

    /// What is reported about a question that has not been answered; the reason is to be added.
    #[must_use]
    pub fn unanswered(&self, question: &Question) -> PropertyResult {
        let asked = report::ReportedQuestion {
            sources: &self.sources,
            property: &question.name,
            formula: &question.text,
            span: question.span,
            fairness: self.fairness(None).unwrap_or(Fairness::NONE),
        };
        let interrupted = Verdict::Unknown(UnknownReason::Stopped(StopReason::Interrupted));
        let mut result = asked.result(&interrupted, &Explanation::default(), Cost::default());
        result.expected = question.expected.map(outcome);
        result
    }

    fn check_once(
        &self,
        question: &Question,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Answer, Error> {
        let asked = &self.asked[question.position];
        assert_eq!(asked.property.name, question.name, "of another project");
        self.fits(plan)?;

        match &self.content {
            Content::Family(family) => self.check_family(family, asked, plan, progress),
            Content::Systems(systems) => {
                let outcome = check::answer(systems, asked, plan, progress)?;
                let model = &systems[asked.system].model;
                let property = &asked.property;
                let tested = check::test_exclusions(model, property, &outcome, plan);
                let mut answer = Answer::new(model, &self.sources, property, outcome);
                let trace = answer.result.trace.as_mut();
                if let (Some(trace), Some(tested)) = (trace, tested) {
                    trace.meta.excluded_by = tested.iter().map(exclusion_note).collect();
                }
                Ok(Answer {
                    pool: self.options().pool,
                    ..answer
                })
            }
        }
    }
}

fn exclusion_note(tested: &TestedExclusion) -> ExclusionNote {
    ExclusionNote {
        fairness: tested.exclusion.notion.name().to_owned(),
        subject: tested.exclusion.subject.clone(),
        at: tested.exclusion.at,
        suffices: Some(tested.alone),
        notion_suffices: Some(tested.notion),
    }
}

/// The outcome of a property as a result, without its remarks and warnings.
pub(crate) fn result(
    sources: &[Source],
    property: &NamedProperty,
    outcome: &Outcome,
) -> PropertyResult {
    let question = report::ReportedQuestion {
        sources,
        property: &property.name,
        formula: &property.text,
        span: property.span,
        fairness: outcome.fairness,
    };
    let cost = Cost {
        route: outcome.route,
        states: Some(outcome.stats.n_states),
        transitions: Some(outcome.stats.n_transitions),
        product_states: outcome.stats.n_product_states,
        is_partial: outcome.stats.is_partial,
        seconds: 0.0,
        peak_memory_bytes: Some(outcome.stats.memory_bytes),
        reduced: reduced(outcome.reduced),
        rests_on: outcome.rests_on(),
    };
    question.result(&outcome.verdict, &outcome.explanation, cost)
}

/// An expectation as reports show it.
fn outcome(expected: Expected) -> report::Outcome {
    match expected {
        Expected::Holds => report::Outcome::Holds,
        Expected::Violated => report::Outcome::Violated,
        Expected::Unknown => report::Outcome::Unknown,
    }
}

/// The names of reductions, if there are any.
fn reduced(reductions: Reductions) -> Option<Vec<String>> {
    let names: Vec<String> = reductions.names().into_iter().map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}
