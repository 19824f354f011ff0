//! From a verdict and its explanation to a result.

use std::sync::Arc;

use base::{Diagnostic, Fairness, Route, Source, Span};
use evidence::{
    Because, ExplainedBranching, ExplainedError, ExplainedRun, Explanation, Justification, RestsOn,
    Shown, UnknownReason, Verdict,
};

use crate::trace_text::n_of;
use crate::{
    BranchNote, ComponentNote, ConditionNote, EndlessNote, ErrorNote, ExclusionNote, Outcome,
    Position, PropertyResult, StoredTrace, TraceMeta, Warning,
};

/// What was asked.
#[derive(Clone, Copy)]
pub struct ReportedQuestion<'a> {
    /// The texts that the model was read from.
    pub sources: &'a [Source],
    /// The name of the property.
    pub property: &'a str,
    /// Its text.
    pub formula: &'a str,
    /// Where it is written.
    pub span: Span,
    /// Under which fairness.
    pub fairness: Fairness,
}

/// How the answer was found and what it cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// Which route gave it.
    pub route: Route,
    /// States of the system.
    pub states: Option<u64>,
    /// Steps of the system.
    pub transitions: Option<u64>,
    /// States of the product.
    pub product_states: Option<u64>,
    /// Was the answer known before all states were visited?
    pub is_partial: bool,
    /// Time.
    pub seconds: f64,
    /// Memory.
    pub peak_memory_bytes: Option<u64>,
    /// The reductions that the search made use of; nothing if there are none.
    pub reduced: Option<Vec<String>>,
    /// What the verdict rests on.
    pub rests_on: RestsOn,
}

impl ReportedQuestion<'_> {
    /// The result to be reported. Remarks and warnings of the search can be added to it.
    #[must_use]
    pub fn result(
        &self,
        verdict: &Verdict,
        explanation: &Explanation,
        cost: Cost,
    ) -> PropertyResult {
        let mut result = PropertyResult {
            property: self.property.to_owned(),
            formula: self.formula.to_owned(),
            position: position(self.sources, self.span),
            route: cost.route,
            fairness: self.fairness.name(),
            verdict: Outcome::Unknown,
            expected: None,
            reason: None,
            states: cost.states,
            transitions: cost.transitions,
            product_states: cost.product_states,
            is_partial: cost.is_partial,
            seconds: cost.seconds,
            peak_memory_bytes: cost.peak_memory_bytes,
            reduced: cost.reduced,
            rests_on: cost.rests_on,
            warnings: Vec::new(),
            trace: None,
            branches: Vec::new(),
            remarks: Vec::new(),
        };

        match verdict {
            Verdict::Holds { .. } => result.verdict = Outcome::Holds,
            Verdict::Violated(_) => result.verdict = Outcome::Violated,
            Verdict::Unknown(reason) => {
                result.reason = Some(reason.name().to_owned());
                result.warnings.extend(self.details(reason));
                if let UnknownReason::SolversDisagree(which) = reason {
                    result.remarks.push(which.clone());
                }
            }
        }

        self.show(explanation.shown(), &mut result);
        result
    }

    /// An explained run, ready to be written.
    #[must_use]
    pub fn store(&self, explained: &ExplainedRun) -> StoredTrace {
        let mut meta = TraceMeta {
            source: self.sources.first().map(|source| source.name.clone()),
            property: Some(self.property.to_owned()),
            formula: Some(self.formula.to_owned()),
            fairness: Some(self.fairness.name()),
            kind: Some(explained.kind.name().to_owned()),
            error: explained.error.as_ref().map(|error| self.error_note(error)),
            processes: explained.processes.clone(),
            broken: explained.broken.clone(),
            ..TraceMeta::default()
        };

        meta.component = explained.component.map(|size| ComponentNote {
            states: size.n_states,
            steps: size.n_steps,
        });
        meta.endless = explained.endless.as_ref().map(|endless| EndlessNote {
            start: endless.start,
            length: endless.length,
            recurrent: endless.recurrent.clone(),
            changes: endless.changes.clone(),
        });

        for reason in &explained.conditions {
            let note = condition_note(reason, explained.is_covered);
            if reason.is_assumption {
                meta.assumptions.push(note);
            } else {
                meta.conditions.push(note);
            }
        }

        for exclusion in &explained.excluded_by {
            meta.excluded_by.push(ExclusionNote {
                fairness: exclusion.notion.name().to_owned(),
                subject: exclusion.subject.clone(),
                at: exclusion.at,
                suffices: None,
                notion_suffices: None,
            });
        }

        StoredTrace {
            meta,
            run: Arc::clone(&explained.run),
        }
    }

    /// Adds what is shown for the verdict.
    fn show(&self, shown: &Shown, result: &mut PropertyResult) {
        let remark = match shown {
            Shown::Nothing => return,
            Shown::Run(run) => {
                result.trace = Some(self.store(run));
                return;
            }
            Shown::Branching(branching) => return self.show_branching(branching, result),
            // An error in an initial value happens before there is a state that could be shown.
            Shown::InitialError(error) => {
                result.warnings.push(Warning {
                    code: "run-time-error".to_owned(),
                    message: format!("no initial state: {}", error.message),
                    position: position(self.sources, error.span),
                });
                return;
            }
            Shown::Unreachable => "no reachable state satisfies the property",
            Shown::NegationHolds => {
                "the negation holds in an initial state, so in every system that is described"
            }
        };

        result.remarks.push(remark.to_owned());
    }

    /// Adds the runs that show why a formula of CTL* has its value. The first becomes the trace.
    fn show_branching(&self, shown: &ExplainedBranching, result: &mut PropertyResult) {
        for branch in &shown.branches {
            let (shows, trace) = (branch.shows.clone(), self.store(&branch.run));
            if result.trace.is_none() {
                let remark = format!("this fair run satisfies {shows}");
                result.remarks.push(remark);
                result.trace = Some(trace);
            } else {
                result.branches.push(BranchNote { shows, trace });
            }
        }

        if shown.branches.is_empty() {
            let no_run = "no fair run from the initial state satisfies the formula";
            result.remarks.push(no_run.to_owned());
        } else if shown.n_claims > 0 {
            let n_claims = n_of(shown.n_claims, "fact");
            let remark =
                format!("{n_claims} about its states, not shown, from the exhaustive search");
            result.remarks.push(remark);
        }
    }

    fn error_note(&self, error: &ExplainedError) -> ErrorNote {
        let place = position(self.sources, error.span);
        ErrorNote {
            message: error.message.clone(),
            line: place.as_ref().map(|place| place.line),
            column: place.as_ref().map(|place| place.column),
            file: place.map(|place| place.file),
            action: error.action.clone(),
        }
    }

    /// Why the verdict is unknown, where the name of the reason does not tell.
    fn details(&self, reason: &UnknownReason) -> Option<Warning> {
        Some(Warning {
            code: reason.name().to_owned(),
            message: reason.details()?.to_owned(),
            position: position(self.sources, self.span),
        })
    }
}

/// Positions in a covering loop, which is not shown, mean nothing to the reader, so they are left
/// out.
fn condition_note(reason: &Justification, is_covered: bool) -> ConditionNote {
    let (fair_because, at) = match reason.because {
        Because::Taken(at) => ("taken", Some(at)),
        Because::Interfered(at) => ("interfered", Some(at)),
        Because::Disabled(at) => ("disabled", Some(at)),
        Because::NeverEnabled => ("never-enabled", None),
        Because::HoldsAt(at) => ("holds", Some(at)),
        Because::HoldsThroughout => ("holds-throughout", None),
        Because::Broken => ("broken", None),
    };
    ConditionNote {
        condition: reason.condition.clone(),
        fair_because: fair_because.to_owned(),
        at: at.filter(|_| !is_covered),
    }
}

/// Where a span is, unless it is nowhere or in a text that is not given.
#[must_use]
pub fn position(sources: &[Source], span: Span) -> Option<Position> {
    let source = sources.get(span.source.index())?;
    if span == Span::nowhere() {
        return None;
    }
    let (line, column) = source.line_column(span.start as usize);
    Some(Position {
        file: source.name.clone(),
        line,
        column,
    })
}

/// A diagnostic as a warning of a report.
#[must_use]
pub fn warning(diagnostic: &Diagnostic, sources: &[Source]) -> Warning {
    let primary = diagnostic.labels.first();
    Warning {
        code: diagnostic.code.to_owned(),
        message: diagnostic.message.clone(),
        position: primary.and_then(|label| position(sources, label.span)),
    }
}
