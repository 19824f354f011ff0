//! From a verdict and its evidence to a result that needs no model any more.

use base::{Diagnostic, Fairness, FairnessKind, Source, Span};
use evidence::{
    Because, Branching, Endless, Justification, Trace, UnknownReason, Verdict, View, Violation,
};
use evidence::{ViolationKind, explain_endless, explain_fairness, stronger_fairness};
use logic::{NamedProperty, Property};
use model::{Assumption, Model, RunTimeError};

use crate::communication;
use crate::trace_text::n_of;
use crate::{
    BranchNote, ComponentNote, ConditionNote, EndlessNote, ErrorNote, ExclusionNote, Outcome,
    Position, PropertyResult, StoredState, StoredTrace, TraceMeta, Warning,
};

/// What was asked.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Of which model.
    pub model: &'a Model,
    /// The texts it was read from.
    pub sources: &'a [Source],
    /// Which property.
    pub property: &'a NamedProperty,
    /// Under which fairness.
    pub fairness: Fairness,
    /// Under which assumptions.
    pub assumptions: &'a [Assumption],
}

/// How the answer was found and what it cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// `explicit`, `predicate`, `ws1s`.
    pub route: String,
    /// States of the system.
    pub states: Option<u64>,
    /// Steps of the system.
    pub transitions: Option<u64>,
    /// States of the product.
    pub product_states: Option<u64>,
    /// Time.
    pub seconds: f64,
    /// Memory.
    pub peak_memory_bytes: Option<u64>,
    /// The reductions that the search made use of; nothing if there are none.
    pub reduced: Option<Vec<String>>,
}

impl Question<'_> {
    /// The result to be reported. Warnings of the search can be added to it.
    #[must_use]
    pub fn result(&self, verdict: &Verdict, cost: Cost) -> PropertyResult {
        let mut result = PropertyResult {
            property: self.property.name.clone(),
            formula: self.property.text.clone(),
            position: position(self.sources, self.property.span),
            route: cost.route,
            fairness: self.fairness.name(),
            verdict: Outcome::Unknown,
            reason: None,
            states: cost.states,
            transitions: cost.transitions,
            product_states: cost.product_states,
            seconds: cost.seconds,
            peak_memory_bytes: cost.peak_memory_bytes,
            reduced: cost.reduced,
            warnings: Vec::new(),
            remark: None,
            trace: None,
            branches: Vec::new(),
            remarks: Vec::new(),
        };
        match verdict {
            Verdict::Holds { witness } => {
                result.verdict = Outcome::Holds;
                result.trace = witness.as_ref().map(|trace| self.store(trace, "witness"));
            }
            Verdict::Violated(violation) => {
                result.verdict = Outcome::Violated;
                result.trace = self.store_violation(violation);
                if violation.kind == ViolationKind::Unreachable {
                    result.remark =
                        Some("no reachable state is as the property demands".to_owned());
                }
                result.warnings.extend(self.error_without_trace(violation));
                match &violation.kind {
                    ViolationKind::Branching(shown) => self.show_branching(shown, &mut result),
                    ViolationKind::NegationHolds => result.remarks.push(
                        "the negation holds in an initial state, so in every system that is described"
                            .to_owned(),
                    ),
                    _ => {}
                }
            }
            Verdict::Unknown(reason) => {
                result.reason = Some(reason.name().to_owned());
                result.warnings.extend(self.unsupported(reason));
                match reason {
                    UnknownReason::ZeroTime(run) => result.trace = self.store_violation(run),
                    UnknownReason::SolversDisagree(which) => result.remark = Some(which.clone()),
                    UnknownReason::Stopped(_)
                    | UnknownReason::AbstractionTooCoarse
                    | UnknownReason::SolverGaveUp
                    | UnknownReason::Unsupported(_)
                    | UnknownReason::NotExact => {}
                }
            }
        }
        result
    }

    /// The evidence of a violation, ready to be written; nothing if there is no trace.
    #[must_use]
    pub fn store_violation(&self, violation: &Violation) -> Option<StoredTrace> {
        let trace = violation.trace.as_ref()?;
        let kind = match &violation.kind {
            ViolationKind::FairLoop => "fair-loop",
            ViolationKind::Endless(_) => "endless-loop",
            ViolationKind::ZeroTime => "zero-time",
            ViolationKind::BadPrefix => "bad-prefix",
            ViolationKind::Deadlock => "deadlock",
            ViolationKind::RunTimeError(_) => "run-time-error",
            ViolationKind::Unreachable
            | ViolationKind::Branching(_)
            | ViolationKind::NegationHolds => return None,
        };
        let mut stored = self.store(trace, kind);
        if let ViolationKind::RunTimeError(error) = &violation.kind {
            stored.meta.error = Some(self.error_note(error));
        }
        if let ViolationKind::Endless(endless) = &violation.kind {
            self.justify_endless(trace, endless, &mut stored.meta);
        }
        stored.meta.component = violation.component.map(|size| ComponentNote {
            states: size.n_states,
            steps: size.n_steps,
        });
        if trace.loop_start.is_some() {
            self.justify(violation, trace, &mut stored.meta);
        }
        Some(stored)
    }

    /// Why the loop is fair. Positions in a covering loop, which is not shown, mean nothing to the
    /// reader, so they are left out.
    fn justify(&self, violation: &Violation, trace: &Trace, meta: &mut TraceMeta) {
        let covering = violation.covering.as_ref();
        let covering = covering.filter(|_| self.fairness.kind == FairnessKind::StrongGlobal);
        let judged = covering.unwrap_or(trace);
        let reasons = explain_fairness(self.model, self.fairness, self.assumptions, judged);
        // Evidence that does not replay was refused long before it is reported.
        for reason in reasons.unwrap_or_default() {
            let mut note = condition_note(&reason);
            note.at = note.at.filter(|_| covering.is_none());
            match reason.is_assumption {
                true => meta.assumptions.push(note),
                false => meta.conditions.push(note),
            }
        }
        let exclusions = stronger_fairness(self.model, self.fairness, trace);
        for exclusion in exclusions.unwrap_or_default() {
            let notion = Fairness {
                kind: exclusion.notion,
                annotated: false,
                timers: false,
            };
            meta.excluded_by.push(ExclusionNote {
                fairness: notion.name(),
                subject: exclusion.subject,
                at: exclusion.at,
            });
        }
    }

    fn justify_endless(&self, trace: &Trace, endless: &Endless, meta: &mut TraceMeta) {
        meta.endless = Some(EndlessNote {
            start: endless.start,
            length: endless.length,
            recurrent: endless.recurrent.clone(),
            changes: endless.changes.clone(),
        });
        let Self {
            model,
            fairness,
            assumptions,
            ..
        } = *self;
        let reasons = explain_endless(model, fairness, assumptions, trace, endless);
        for reason in reasons.unwrap_or_default() {
            match reason.is_assumption {
                true => meta.assumptions.push(condition_note(&reason)),
                false => meta.conditions.push(condition_note(&reason)),
            }
        }
    }

    fn store(&self, trace: &Trace, kind: &str) -> StoredTrace {
        let view = View::new(self.model);
        let instances = self.model.instances().iter();
        let state = |(index, state): (usize, &model::State)| {
            let step = trace.steps.get(index);
            let action = |id: &model::ActionId| self.model.action_name(*id).to_owned();
            let mover = |id: &model::InstanceId| self.model.instance_name(*id).to_owned();
            StoredState {
                values: view.values(state).into_iter().map(Into::into).collect(),
                actions: step.map(|step| step.actions.iter().map(action).collect()),
                movers: step.map_or(Vec::new(), |step| step.movers.iter().map(mover).collect()),
                communication: step
                    .and_then(|_| communication::of_step(self.model, &view, trace, index)),
            }
        };
        StoredTrace {
            meta: TraceMeta {
                source: self.sources.first().map(|source| source.name.clone()),
                property: Some(self.property.name.clone()),
                formula: Some(self.property.text.clone()),
                fairness: Some(self.fairness.name()),
                kind: Some(kind.to_owned()),
                processes: instances.map(|instance| instance.name.clone()).collect(),
                ..TraceMeta::default()
            },
            vars: view.names().to_vec(),
            states: trace.states.iter().enumerate().map(state).collect(),
            loop_start: trace.loop_start,
        }
    }

    /// Adds the runs that show why a formula of CTL* has its value. The first becomes the trace.
    pub fn show_branching(&self, shown: &Branching, result: &mut PropertyResult) {
        let Property::CtlStar(formula) = &self.property.property else {
            return;
        };
        let name = |atom: base::AtomId| self.model.parts().atoms[atom.index()].name.clone();
        for branch in &shown.branches {
            let (path, _) = formula.quantified()[branch.quantified].as_existential();
            let mut trace = self.store(&branch.trace, "branch");
            let as_violation = Violation {
                kind: ViolationKind::FairLoop,
                trace: None,
                covering: None,
                component: None,
            };
            self.justify(&as_violation, &branch.trace, &mut trace.meta);
            let shows = formula.text_of(&path, &name);
            if result.trace.is_none() {
                let remark = format!("this fair run satisfies {shows}");
                result.remarks.push(remark);
                result.trace = Some(trace);
            } else {
                result.branches.push(BranchNote { shows, trace });
            }
        }
        if shown.branches.is_empty() {
            let no_run = "no fair run from the initial state is as the formula demands";
            result.remarks.push(no_run.to_owned());
        } else if !shown.claims.is_empty() {
            let n_claims = n_of(shown.claims.len(), "fact");
            let remark =
                format!("{n_claims} about its states, not shown, from the complete search");
            result.remarks.push(remark);
        }
    }

    fn error_note(&self, error: &RunTimeError) -> ErrorNote {
        let place = position(self.sources, error.span);
        ErrorNote {
            message: error.kind.to_string(),
            line: place.as_ref().map(|place| place.line),
            column: place.as_ref().map(|place| place.column),
            file: place.map(|place| place.file),
            action: error.action.map(|id| self.model.action_name(id).to_owned()),
        }
    }

    /// An error in an initial value happens before there is a state that could be shown.
    fn error_without_trace(&self, violation: &Violation) -> Option<Warning> {
        match (&violation.kind, &violation.trace) {
            (ViolationKind::RunTimeError(error), None) => Some(Warning {
                code: "run-time-error".to_owned(),
                message: format!("no initial state: {}", error.kind),
                position: position(self.sources, error.span),
            }),
            _ => None,
        }
    }

    fn unsupported(&self, reason: &UnknownReason) -> Option<Warning> {
        match reason {
            UnknownReason::Unsupported(message) => Some(Warning {
                code: reason.name().to_owned(),
                message: message.clone(),
                position: position(self.sources, self.property.span),
            }),
            _ => None,
        }
    }
}

fn condition_note(reason: &Justification) -> ConditionNote {
    let (fair_because, at) = match reason.because {
        Because::Taken(at) => ("taken", Some(at)),
        Because::Disabled(at) => ("disabled", Some(at)),
        Because::NeverEnabled => ("never-enabled", None),
        Because::HoldsAt(at) => ("holds", Some(at)),
        Because::HoldsThroughout => ("holds-throughout", None),
        Because::Broken => ("broken", None),
    };
    ConditionNote {
        condition: reason.condition.clone(),
        fair_because: fair_because.to_owned(),
        at,
    }
}

/// Where a span is, unless it is nowhere or in a text that is not given.
fn position(sources: &[Source], span: Span) -> Option<Position> {
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
