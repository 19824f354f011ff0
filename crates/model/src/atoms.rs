//! The truth of atomic propositions, straight from their meaning.

use crate::{AtomMeaning, CommandId, Env, Expr, Model, RunTimeError, State, StepSet};

impl Model {
    /// Does the atom hold in `state`, reached by a step that executed `commands` (none at the
    /// start of a run and after an idle step)?
    ///
    /// # Errors
    /// A run-time error of the model.
    pub fn atom_holds(
        &self,
        atom: base::AtomId,
        state: &State,
        commands: &[CommandId],
    ) -> Result<bool, RunTimeError> {
        self.atom_holds_after(atom, state, commands, &[])
    }

    /// [`Model::atom_holds`] after a step that sets these abstract timers.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub fn atom_holds_after(
        &self,
        atom: base::AtomId,
        state: &State,
        commands: &[CommandId],
        timers_set: &[usize],
    ) -> Result<bool, RunTimeError> {
        let description = &self.parts().atoms[atom.index()];
        let holds = |expr: &Expr| {
            let value = self.eval(expr, state, &mut Env::empty(), description.span)?;
            Ok(value != 0)
        };
        let among = |set: &StepSet, commands: &[CommandId]| {
            commands.iter().any(|command| set.contains(*command))
        };

        match &description.meaning {
            AtomMeaning::State(expr) => holds(expr),
            AtomMeaning::Certainly(expr, value) => holds(&self.certainly(expr, *value)),
            AtomMeaning::Taken(pattern) => Ok(among(&self.step_set(pattern), commands)),
            AtomMeaning::TimerSet(cell) => Ok(timers_set.contains(cell)),
            AtomMeaning::Enabled(pattern) => {
                let set = self.step_set(pattern);
                let steps = self.successors(state)?;
                Ok(steps.iter().any(|step| among(&set, &step.commands)))
            }
            AtomMeaning::Deadlock => Ok(self.successors(state)?.is_empty()),
        }
    }
}
