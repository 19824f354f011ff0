//! Answers that depend on steps which a front end does not tell apart.

use base::{Fairness, FairnessKind};
use logic::Property;

use crate::loaded::System;
use crate::question::{Question, QuestionKind};

/// What of a system or question depends on steps that are not told apart, and why they are not.
///
/// A question whose answer may depend on them is not answered at all.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// The names of steps do.
    pub names: Option<String>,
    /// The steps themselves do.
    pub steps: Option<String>,
    /// Does the system ask for fairness itself?
    pub is_annotated: bool,
}

impl Question {
    /// Why the question cannot be answered under a fairness: its answer may depend on steps that
    /// are not told apart.
    #[must_use]
    pub fn undecided(&self, fairness: Fairness) -> Option<&str> {
        if let Some(why) = &self.doubts.steps {
            return Some(why);
        }
        let by_name = match &self.kind {
            QuestionKind::Deterministic { .. } | QuestionKind::Refines { .. } => true,
            QuestionKind::Optimum { .. } => false,
            QuestionKind::Property | QuestionKind::EndStates => {
                let is_annotated = fairness.annotated && self.doubts.is_annotated;
                is_about_actions(&self.property.property, fairness.kind, is_annotated)
            }
        };
        self.doubts.names.as_deref().filter(|_| by_name)
    }

    /// Adds what is doubtful about the systems that the question is about.
    pub fn doubt(&mut self, systems: &[System]) {
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

/// Does it matter which steps are one action? Justness, weak and strong fairness let every finite run
/// be continued, so only infinite runs are concerned; fairness that a model asks for may not.
fn is_about_actions(property: &Property, fairness: FairnessKind, is_annotated: bool) -> bool {
    let is_fair_to_actions = matches!(
        fairness,
        FairnessKind::Just | FairnessKind::Weak | FairnessKind::Strong
    );
    let is_about_finite_runs = matches!(
        property,
        Property::Invariant(_) | Property::Reachable(_) | Property::DeadlockFree
    );
    is_annotated || is_fair_to_actions && !is_about_finite_runs
}
