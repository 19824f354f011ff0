//! Which steps of a state a breadth-first search takes.

use super::{Ahead, End, Guard, Shared, Worker};

impl Worker<'_> {
    /// Takes the steps of a state, or those that cannot wait; see [`crate::stubborn`]. States are
    /// expanded in the order of their names, whatever the number of threads.
    pub(super) fn take_steps<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
    ) -> Result<(), End> {
        if self.stubborn.is_none() {
            for position in 0..entry.steps.len() {
                self.take(shared, guard, entry, position)?;
            }
            return Ok(());
        }
        self.taken.clear();
        self.taken.resize(entry.steps.len(), false);
        let mut reduced = match &mut self.stubborn {
            Some(stubborn) => {
                stubborn.is_worth_trying()
                    && stubborn.choose(&self.system, &entry.state, &entry.steps)
            }
            None => false,
        };
        let leads_on = self.take_chosen(shared, guard, entry, reduced)?;
        if let Some(stubborn) = self.stubborn.as_mut().filter(|s| s.needs_attention())
            && reduced
            && !leads_on
        {
            reduced = stubborn.attend(&self.system, &entry.state);
            self.take_chosen(shared, guard, entry, reduced)?;
        }
        Ok(())
    }

    /// Takes the steps of the chosen set, or all. Says whether one that the property does not see
    /// leads to a state that is expanded later.
    fn take_chosen<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
        reduced: bool,
    ) -> Result<bool, End> {
        let steps = &entry.steps;
        let mut leads_on = false;
        for position in 0..steps.len() {
            let unit = steps.units[position];
            let stubborn = self.stubborn.as_ref().filter(|_| reduced);
            if self.taken[position] || stubborn.is_some_and(|stubborn| !stubborn.keeps(unit)) {
                continue;
            }
            let is_invisible = stubborn.is_some_and(|stubborn| stubborn.is_invisible(unit));
            self.taken[position] = true;
            let index = self.take(shared, guard, entry, position)?;
            leads_on |= is_invisible && index > entry.source;
        }
        Ok(leads_on)
    }
}
