//! What comes out for a question.

use base::{Diagnostic, Expected, Fairness, Progress, Source, Span, StopReason};
use check::{Outcome, Plan, Reductions, TestedExclusion};
use evidence::{Explanation, UnknownReason, Verdict};
use logic::NamedProperty;
use model::{ActionId, Model};
use report::{Cost, ExclusionNote, PropertyResult, position};
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
        let refusal = outcome.not_symmetric.as_ref();
        let refusal = refusal.map(|refusal| not_symmetric(sources, refusal));
        result.remarks.extend(refusal);
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
        // A larger model is made when it is asked for, and not before.
        let mut larger = self.larger();
        while answer.outcome.is_exhausted()
            && let Some(larger) = larger.next()
        {
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
    /// are several such; nothing for the others, which [`Project::check`] answers. Where too little is
    /// provided for, it is done again with more.
    ///
    /// # Errors
    /// The plan does not fit the model, or evidence was found to be wrong.
    pub fn check_together(
        &self,
        questions: &[&Question],
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Option<Answer>>, Error> {
        let mut answers = self.together_once(questions, plan, progress)?;
        let is_exhausted = |answer: &Answer| answer.outcome.is_exhausted();
        // A larger model is made when it is asked for, and not before.
        let mut larger = self.larger();
        loop {
            let undecided = |at: &usize| answers[*at].as_ref().is_some_and(is_exhausted);
            let undecided: Vec<usize> = (0..answers.len()).filter(undecided).collect();
            if undecided.is_empty() {
                break;
            }
            let Some(larger) = larger.next() else {
                break;
            };
            let larger = larger?;
            let same = undecided.iter().map(|&at| &questions[at].name);
            let Some(same) = same
                .map(|name| larger.question(name))
                .collect::<Option<Vec<_>>>()
            else {
                break;
            };
            let again = larger.together_once(&same, plan, progress)?;
            undecided
                .into_iter()
                .zip(again)
                .for_each(|(at, answer)| answers[at] = answer);
        }
        for (answer, question) in answers.iter_mut().zip(questions) {
            if let Some(answer) = answer {
                answer.result.expected = question.expected.map(outcome);
            }
        }
        Ok(answers)
    }

    fn together_once(
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

        let answers = outcomes.into_iter().zip(asked).map(|(found, asked)| {
            let model = &systems[asked.system].model;
            let answer = Answer::new(model, &self.sources, &asked.property, found?);
            Some(Answer {
                pool: self.options().pool,
                ..answer
            })
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

    /// How many states violate the invariant of a question, and where assertions fail: for a question
    /// that was found to be violated. Everything is explored for that, and kept.
    ///
    /// # Errors
    /// The text cannot be read again.
    pub fn count_violations(
        &self,
        question: &Question,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<String, Error> {
        let Content::Systems(systems) = &self.content else {
            return Ok("violations are not counted for all values at once".to_owned());
        };
        let asked = &self.asked[question.position];
        let model = &systems[asked.system].model;
        let uncounted = |why| format!("violations are not counted: {why}");

        // Behind a failed assertion lie other states only if it is passed over.
        let Some(passing) = self.without_assertions() else {
            let counted = check::count_violations(model, &asked.property, plan, progress);
            return Ok(counted.map_or_else(uncounted, violating_states));
        };
        let passing = passing?;
        if let Some(same) = passing.question(&question.name) {
            let same = &passing.asked[same.position].property;
            let counted = check::count_violations(passing.model()?, same, plan, progress);
            return Ok(counted.map_or_else(uncounted, violating_states));
        }
        let counted = check::count_failures(model, passing.model()?, plan, progress);
        Ok(counted.map_or_else(uncounted, |found| self.failing_states(&found)))
    }

    /// The statements of the first system that no run executes, those behind failed assertions
    /// included.
    ///
    /// # Errors
    /// The project is a family, or the text cannot be read again.
    pub fn unreached(
        &self,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Diagnostic>, Error> {
        match self.without_assertions().transpose()? {
            Some(passing) => Ok(check::unreached(passing.model()?, plan, progress)),
            None => Ok(check::unreached(self.model()?, plan, progress)),
        }
    }

    /// Where assertions fail, and in how many states.
    fn failing_states(&self, found: &[(Span, u64)]) -> String {
        let place = |(span, n): &(Span, u64)| match position(&self.sources, *span) {
            Some(at) => format!("{}:{}:{} ({n})", at.file, at.line, at.column),
            None => format!("({n})"),
        };
        let places: Vec<String> = found.iter().map(place).collect();
        let n_states: u64 = found.iter().map(|(_, n)| n).sum();
        format!(
            "assertions fail in {n_states} states: {}",
            places.join(", ")
        )
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
            Content::Threshold(automata) => {
                let (automaton, property) = (&automata[asked.system], &asked.property);
                let outcome = check::check_thresholds(automaton, property, plan, progress)?;
                Ok(self.for_all(property, outcome))
            }
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

fn violating_states(n: u64) -> String {
    match n {
        1 => "1 state violates it".to_owned(),
        n => format!("{n} states violate it"),
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

/// Why processes were not exchanged for each other, with the place that stands in the way.
fn not_symmetric(sources: &[Source], refusal: &check::Asymmetry) -> String {
    let place = refusal.span.and_then(|span| position(sources, span));
    let place = place.map(|at| format!(" ({}:{}:{})", at.file, at.line, at.column));
    let place = place.unwrap_or_default();
    format!("symmetry reduction is not used: {refusal}{place}")
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
    // Sets of states do not count steps, and a number that does not fit is in a remark.
    let by_sets = outcome.route == check::Route::Symbolic;
    let n_states = Some(outcome.stats.n_states);
    let cost = Cost {
        route: outcome.route,
        states: n_states.filter(|n| !by_sets || (1..u64::MAX).contains(n)),
        transitions: (!by_sets).then_some(outcome.stats.n_transitions),
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
