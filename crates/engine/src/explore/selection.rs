//! Which steps of a state a breadth-first search takes.

use super::{Ahead, End, Guard, Shared, Worker};
use store::StateIndex;

impl Worker<'_> {
    /// Takes those steps of a state that cannot wait; see [`crate::stubborn`]. All steps looked
    /// ahead at are those of this state. States are expanded in the order of their names, whatever
    /// the number of threads.
    pub(super) fn take_some<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        ahead: &Ahead,
    ) -> Result<(), End> {
        self.taken.clear();
        self.taken.resize(ahead.steps.len(), false);
        let mut reduced = self.stubborn.as_mut().is_some_and(|stubborn| {
            stubborn.is_worth_trying() && stubborn.choose(&self.system, &ahead.states, &ahead.steps)
        });
        let leads_on = self.take_chosen(shared, guard, source, ahead, reduced)?;
        if let Some(stubborn) = self.stubborn.as_mut().filter(|s| s.needs_attention())
            && reduced
            && !leads_on
        {
            reduced = stubborn.attend(&self.system, &ahead.states);
            self.take_chosen(shared, guard, source, ahead, reduced)?;
        }
        Ok(())
    }

    /// Takes the steps of the chosen set, or all. Says whether one that the property does not see
    /// leads to a state that is expanded later.
    fn take_chosen<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        ahead: &Ahead,
        reduced: bool,
    ) -> Result<bool, End> {
        let steps = &ahead.steps;
        let is_counted = !self.system.is_transient(&ahead.states);
        let mut leads_on = false;
        for position in 0..steps.len() {
            let unit = steps.units[position];
            let stubborn = self.stubborn.as_ref().filter(|_| reduced);
            if self.taken[position] || stubborn.is_some_and(|stubborn| !stubborn.keeps(unit)) {
                continue;
            }
            let is_invisible = stubborn.is_some_and(|stubborn| stubborn.is_invisible(unit));
            self.taken[position] = true;
            self.n_transitions += u64::from(is_counted);
            self.note_label(shared, steps.labels[position], is_counted);
            let place = (position, ahead.guesses[position]);
            let index = self.take(shared, guard, source, ahead, place)?;
            leads_on |= is_invisible && index > source;
        }
        Ok(leads_on)
    }
}
