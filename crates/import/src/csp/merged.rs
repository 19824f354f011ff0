//! Events that are not told apart, and which answers depend on them.
//!
//! An event whose values have no small bounds keeps one name, `e._`, for all of them. The steps of
//! the system are still exact: which event a step is called after changes nothing about where it
//! leads, except through what looks at names. These are alphabets, hidden sets, formulas, fairness
//! of actions, and the comparison of systems. A question that may be answered through one of them
//! is not answered at all.

use std::collections::BTreeMap;

use base::{Fairness, FairnessKind, Source, Span};
use logic::Property;

use super::term::Machine;
use super::{Question, QuestionKind, System};

/// The merged events of a system, each with a place where it is performed.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedEvents {
    place_by_base: BTreeMap<String, Span>,
}

impl MergedEvents {
    /// Notes that the values of an event are not told apart.
    pub(crate) fn add(&mut self, name: &str, span: Span) {
        let known = self.place_by_base.entry(base_of(name).to_owned());
        known.or_insert(span);
    }

    /// Why nothing is known about an event with this name, if it may be a merged one.
    pub(crate) fn why(&self, event: &str, sources: &[Source]) -> Option<String> {
        let base = base_of(event);
        let span = self.place_by_base.get(base)?;
        Some(explain(base, *span, sources))
    }

    /// The same, for any merged event.
    pub(crate) fn why_any(&self, sources: &[Source]) -> Option<String> {
        let (base, span) = self.place_by_base.first_key_value()?;
        Some(explain(base, *span, sources))
    }
}

/// What of a system depends on merged events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts {
    /// The names of its steps do.
    pub(crate) names: Option<String>,
    /// Its steps do.
    pub(crate) steps: Option<String>,
    /// Does it ask for fairness itself?
    pub(crate) is_annotated: bool,
}

impl Machine<'_> {
    /// What of the system depends on merged events. Synchronisation and hiding go by name, and
    /// hiding decides what an external choice or an interrupt is resolved by.
    pub(crate) fn doubts(&self, assumed: Option<String>) -> Doubts {
        let mut names = self.sets.iter().flatten();
        let named = names.find_map(|name| self.merged.why(name, self.sources));
        Doubts {
            names: self.merged.why_any(self.sources),
            steps: assumed.or(named),
            is_annotated: !self.parts.annotations.is_empty(),
        }
    }
}

impl Question {
    /// Why the question cannot be answered under a fairness: its answer may depend on events that
    /// are not told apart.
    #[must_use]
    pub fn undecided(&self, fairness: Fairness) -> Option<&str> {
        if let Some(why) = &self.doubts.steps {
            return Some(why);
        }
        let by_name = match &self.kind {
            QuestionKind::Deterministic | QuestionKind::Refines { .. } => true,
            QuestionKind::Optimum { .. } => false,
            QuestionKind::Property => {
                let is_annotated = fairness.annotated && self.doubts.is_annotated;
                is_about_actions(&self.property.property, fairness.kind, is_annotated)
            }
        };
        self.doubts.names.as_deref().filter(|_| by_name)
    }

    /// Adds what is doubtful about the systems that the question is about.
    pub(crate) fn doubt(&mut self, systems: &[System]) {
        let mut asked = vec![self.system];
        if let QuestionKind::Refines { specification, .. } = self.kind {
            asked.push(specification);
        }
        for system in asked {
            let doubts = &systems[system].doubts;
            self.doubts.names = self.doubts.names.take().or_else(|| doubts.names.clone());
            self.doubts.steps = self.doubts.steps.take().or_else(|| doubts.steps.clone());
            self.doubts.is_annotated |= doubts.is_annotated;
        }
    }
}

/// Does it matter which steps are one action? Weak and strong fairness let every finite run be
/// continued, so only infinite runs are concerned; fairness that a model asks for may not.
fn is_about_actions(property: &Property, fairness: FairnessKind, is_annotated: bool) -> bool {
    let is_fair_to_actions = matches!(fairness, FairnessKind::Weak | FairnessKind::Strong);
    let is_about_finite_runs = matches!(
        property,
        Property::Invariant(_) | Property::Reachable(_) | Property::DeadlockFree
    );
    is_annotated || is_fair_to_actions && !is_about_finite_runs
}

/// The name of an event or channel without values and indices.
fn base_of(event: &str) -> &str {
    event.split(['.', '!', '?', '[']).next().unwrap_or(event)
}

fn explain(base: &str, span: Span, sources: &[Source]) -> String {
    let source = sources.get(span.source.index());
    let line = source.map_or(0, |source| source.line_column(span.start as usize).0);
    format!(
        "the answer may depend on the events of `{base}` (line {line}), whose values have no known \
         small range, so that they are not told apart; give the variables that they carry a range, \
         as in `var x:{{0..9}} = 0;`"
    )
}
