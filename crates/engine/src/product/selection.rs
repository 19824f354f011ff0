//! Which steps of a state a reduced search takes.

use crate::stubborn::Stubborn;
use crate::system::Steps;
use store::{StateIndex, StateStore};

use super::space::Space;
use super::{Halt, Product};

/// Which steps of a state a reduced search takes; see [`crate::stubborn`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selection {
    /// Not decided yet.
    Undecided,
    /// A small set.
    Small,
    /// A small set with all concerned units.
    Attentive,
    /// All of them.
    All,
}

impl Selection {
    /// The selection that has this number as its discriminant.
    pub(super) fn from_number(number: u64) -> Option<Self> {
        [Self::Undecided, Self::Small, Self::Attentive, Self::All]
            .into_iter()
            .find(|selection| *selection as u64 == number)
    }
}

impl<S: Space> Product<'_, '_, S> {
    /// Leaves out the steps that can wait, if the search is reduced. A state keeps what was decided
    /// when it was expanded first.
    pub(super) fn leave_out(&mut self, held: &mut S::Held, state: StateIndex) -> Result<(), Halt> {
        let Some(mut stubborn) = self.stubborn.take() else {
            return Ok(());
        };
        let mut steps = std::mem::take(&mut self.steps);
        let selected = self.select(held, state, &steps, &mut stubborn);
        if selected.is_ok_and(|selection| selection != Selection::All) {
            steps.retain_units(|unit| stubborn.keeps(unit));
        }
        self.steps = steps;
        self.stubborn = Some(stubborn);
        selected.map(drop)
    }

    fn select(
        &mut self,
        held: &mut S::Held,
        state: StateIndex,
        steps: &Steps,
        stubborn: &mut Stubborn,
    ) -> Result<Selection, Halt> {
        let before = self.space.begin_selection(held, state);
        let decided = self.decide(held, (state, before), steps, stubborn);
        if before == Selection::Undecided {
            // Others may wait for the decision; all steps are always right.
            let selection = *decided.as_ref().unwrap_or(&Selection::All);
            self.space.set_selection(state, selection);
        }
        decided
    }

    fn decide(
        &mut self,
        held: &mut S::Held,
        (state, before): (StateIndex, Selection),
        steps: &Steps,
        stubborn: &mut Stubborn,
    ) -> Result<Selection, Halt> {
        let mut selection = before;
        if selection == Selection::All
            || selection == Selection::Undecided && !stubborn.is_worth_trying()
            || !stubborn.choose(self.system, &self.state, steps)
        {
            return Ok(Selection::All);
        }
        if selection == Selection::Undecided {
            let must_attend =
                stubborn.needs_attention() && self.leads_back(held, state, steps, stubborn)?;
            selection = if must_attend {
                Selection::Attentive
            } else {
                Selection::Small
            };
        }
        if selection == Selection::Attentive && !stubborn.attend(self.system, &self.state) {
            selection = Selection::All;
        }
        Ok(selection)
    }

    /// Does a step that is kept lead to a state decided before, or to the state itself?
    fn leads_back(
        &mut self,
        held: &mut S::Held,
        state: StateIndex,
        steps: &Steps,
        stubborn: &Stubborn,
    ) -> Result<bool, Halt> {
        for position in 0..steps.len() {
            if stubborn.keeps(steps.units[position]) {
                let words = steps.target(position, self.state.len());
                let target = self.intern(held, words, StateStore::hash(words))?;
                if target == state || self.space.is_decided(target) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
