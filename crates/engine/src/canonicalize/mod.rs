//! States that stand for others: one for all that differ in dead cells, or in the order of
//! processes that can be exchanged.
//!
//! A search that is given a [`Canonicalizer`] stores the representatives of states only. Every state
//! and its representative have the same steps, up to the exchange, and these lead to states with
//! that property (they are bisimilar), so what is found is true of the model. Runs that are found
//! are runs of representatives; [`concrete_run`] makes runs of the model of them.

mod concrete;
mod live_variables;

use std::sync::Arc;

use base::AtomId;
use model::{AtomMeaning, CommandId, Condition, Model, StepSet, Subject};

use crate::symmetry::{Asymmetry, Obstacle, Permutation, Scratch, Symmetry};
use crate::system::{Steps, System};

use self::live_variables::LiveVariables;

pub use self::concrete::concrete_run;
pub(crate) use self::concrete::concrete_run_at;

/// Which differences between states are to be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Differences {
    /// Values that are never read again.
    pub dead_variables: bool,
    /// Which of several interchangeable processes plays which part.
    pub symmetry: bool,
}

/// What is kept of states.
#[derive(Debug)]
pub(crate) struct Canonicalizer {
    live_variables: Option<LiveVariables>,
    pub(crate) symmetry: Option<Symmetry>,
}

impl System<'_> {
    /// From now on, forgets these differences between states, as far as neither the atoms nor the
    /// conditions see them. Processes that can be exchanged may be subjects of conditions, if these
    /// are alike; [`crate::find_run`] then keeps account of who is who. Says why processes cannot be
    /// exchanged, if that was asked for.
    ///
    /// The caller sees to it that the question does not depend on states as such: strong global
    /// fairness does.
    pub fn forget(
        &mut self,
        differences: Differences,
        atoms: &[AtomId],
        conditions: &[Condition],
    ) -> Option<Asymmetry> {
        let (model, layout) = (self.model, &self.layout);
        if differences == Differences::default() || tells_ways_apart(model, atoms, conditions) {
            self.canonicalizer = None;
            return differences.symmetry.then(|| Obstacle::Ways.into());
        }

        let live_variables = differences
            .dead_variables
            .then(|| LiveVariables::new(model, layout, &self.elimination, atoms))
            .flatten();
        let symmetry = differences
            .symmetry
            .then(|| Symmetry::find(model, layout, &self.elimination, (atoms, conditions)))
            .transpose();
        let (symmetry, obstacle) = match symmetry {
            Ok(symmetry) => (symmetry, None),
            Err(obstacle) => (None, Some(obstacle)),
        };
        self.canonicalizer = match (&live_variables, &symmetry) {
            (None, None) => None,
            _ => Some(Arc::new(Canonicalizer {
                live_variables,
                symmetry,
            })),
        };
        obstacle
    }

    /// Which differences between states are forgotten.
    #[must_use]
    pub fn forgotten(&self) -> Differences {
        self.canonicalizer
            .as_ref()
            .map_or(Differences::default(), |form| Differences {
                dead_variables: form.live_variables.is_some(),
                symmetry: form.symmetry.is_some(),
            })
    }

    /// Replaces a state by its representative, if differences are forgotten.
    pub fn canonicalize(&mut self, words: &mut [u64]) {
        if let Some(form) = self.canonicalizer.take() {
            form.apply(&self.layout, words, &mut self.canonicalizer_scratch, None);
            self.canonicalizer = Some(form);
        }
    }

    /// Replaces the targets of steps, those from a position on, by their representatives. Steps that
    /// lead to the same one stay apart: they may differ in what they are called.
    pub(crate) fn canonicalize_targets(&mut self, first: usize, steps: &mut Steps) {
        if let Some(form) = self.canonicalizer.take() {
            let n_words = self.layout.n_words;
            for words in steps.words[first * n_words..].chunks_exact_mut(n_words) {
                form.apply(&self.layout, words, &mut self.canonicalizer_scratch, None);
            }
            self.canonicalizer = Some(form);
        }
    }
}

impl Canonicalizer {
    /// Replaces a state by its representative. If asked for, tells by which permutation; this must
    /// be the identity before.
    pub(crate) fn apply(
        &self,
        layout: &crate::layout::Layout,
        words: &mut [u64],
        scratch: &mut Scratch,
        applied: Option<&mut Permutation>,
    ) {
        if let Some(live_variables) = &self.live_variables {
            live_variables.clear(layout, words);
        }
        if let Some(symmetry) = &self.symmetry {
            symmetry.sort_state(layout, words, scratch, applied);
        }
    }
}

/// Can a proposition or condition tell two ways of taking one and the same action apart? If these
/// lead to one state they are one step that happens in both ways, and whether they do may depend on
/// dead cells, or on which parameters are indices.
fn tells_ways_apart(model: &Model, atoms: &[AtomId], conditions: &[Condition]) -> bool {
    if model.abstract_timers().next().is_some() {
        return true;
    }
    let taken = atoms
        .iter()
        .filter_map(|atom| match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::Taken(pattern) => Some(model.step_set(pattern)),
            AtomMeaning::State(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => None,
        });

    let taken: Vec<StepSet> = taken.collect();
    let is_choice = |id: CommandId| {
        let mut subjects = conditions.iter().map(|condition| &condition.subject);
        subjects.any(|subject| *subject == Subject::Choice(id))
    };
    let differ = |one: CommandId, other: CommandId| {
        one != other
            && (is_choice(one)
                || is_choice(other)
                || taken
                    .iter()
                    .any(|set| set.contains(one) != set.contains(other)))
    };

    // All ways of taking an action in which an instance takes part.
    let mut ways: Vec<_> = model
        .transitions()
        .iter()
        .flat_map(|transition| {
            let members = transition.participants.iter();
            members.map(|member| ((transition.action, member.instance), &member.alternatives))
        })
        .collect();

    ways.sort();
    ways.chunk_by(|one, other| one.0 == other.0).any(|ways| {
        let mut commands = ways
            .iter()
            .flat_map(|(_, alternatives)| alternatives.iter());
        let first = commands.next();
        first.is_some_and(|first| commands.any(|other| differ(*first, *other)))
    })
}
