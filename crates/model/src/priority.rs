//! Which of the possible steps exist: priorities, and the process that has control.
//!
//! Priorities are looked at from the highest down. A level with a possible step is the last one
//! that is looked at: nothing below it exists, and nothing below it can fail. A process that has
//! control rules within a level: if it moves in some step of the level, only such steps exist.
//!
//! States with control are reached only while the process in control can use it: a process that is
//! blocked has lost control. See [`crate::ModelParts::control`].

use crate::{CommandId, InstanceId, Model, RunTimeError, State, Successor};

/// The steps of the highest priority that has any.
pub(crate) enum Ruling {
    /// These exist.
    Steps(Vec<Successor>),
    /// Only processes without control could move.
    Others,
}

impl Model {
    /// The priorities of steps, the highest first.
    #[must_use]
    pub fn levels(&self) -> &[i8] {
        &self.levels
    }

    /// The highest priority of a step in which the command takes part. Its guard is evaluated there
    /// first.
    #[must_use]
    pub fn reach(&self, command: CommandId) -> i8 {
        self.reach[command.index()]
    }

    /// The process that has control.
    #[must_use]
    pub fn in_control(&self, state: &State) -> Option<InstanceId> {
        let control = self.parts().control?;
        let value = state.cells[self.first_cell(control, None)];
        u32::try_from(value).ok().map(InstanceId)
    }

    /// The priority of commands that move together; nothing if no process moves.
    pub(crate) fn team_priority(&self, team: &[CommandId]) -> Option<i8> {
        if let ([only], [_, ..]) = (&self.levels[..], team) {
            return Some(*only);
        }
        team.iter().map(|id| self.step_of(*id).priority).max()
    }

    /// Works out the levels and how high each command reaches.
    pub(crate) fn rank_commands(&mut self) {
        let own = |id: usize| self.step_of(CommandId::new(id)).priority;
        self.reach = (0..self.commands().len()).map(own).collect();
        self.levels = self.reach.clone();
        self.levels.sort_unstable_by(|a, b| b.cmp(a));
        self.levels.dedup();
        if self.levels.len() < 2 {
            return;
        }
        let teams: Vec<Vec<Vec<CommandId>>> = self
            .transitions()
            .iter()
            .map(|transition| {
                let members = transition.participants.iter();
                members.map(|member| member.alternatives.clone()).collect()
            })
            .collect();

        for team in teams {
            for (role, alternatives) in team.iter().enumerate() {
                let others = team.iter().enumerate().filter(|(other, _)| *other != role);
                let others: Vec<CommandId> = others.flat_map(|(_, them)| them).copied().collect();
                let partner = self.team_priority(&others).unwrap_or(i8::MIN);
                for command in alternatives {
                    let reach = &mut self.reach[command.index()];
                    *reach = (*reach).max(partner);
                }
            }
        }
    }

    /// The steps that exist in a state, before their targets are normalised.
    pub(crate) fn ruling_steps(&self, state: &State) -> Result<Ruling, RunTimeError> {
        let ruler = self.in_control(state);
        for &level in self.levels() {
            let found = self.steps_of_level(state, level, ruler)?;
            if !found.is_empty() {
                return Ok(Ruling::Steps(found));
            }
            if ruler.is_some() && !self.steps_of_level(state, level, None)?.is_empty() {
                return Ok(Ruling::Others);
            }
        }
        Ok(Ruling::Steps(Vec::new()))
    }

    /// The state in which a process that cannot use its control has lost it. A run-time error
    /// counts as a use: it is met in the next step.
    pub(crate) fn normalised(&self, mut state: State) -> State {
        let Some(control) = self.parts().control else {
            return state;
        };
        if self.in_control(&state).is_some() {
            let blocked = match self.ruling_steps(&state) {
                Ok(Ruling::Steps(found)) => found.is_empty(),
                Ok(Ruling::Others) => true,
                Err(_) => false,
            };
            if blocked {
                state.cells[self.first_cell(control, None)] = -1;
            }
        }
        state
    }

    /// All states that may become this one when they are normalised.
    pub(crate) fn before_normalisation(&self, state: &State) -> Vec<State> {
        let mut before = vec![state.clone()];
        if let (Some(control), None) = (self.parts().control, self.in_control(state)) {
            let cell = self.first_cell(control, None);
            for value in 0..=self.cells()[cell].ty.bounds().1 {
                let mut other = state.clone();
                other.cells[cell] = value;
                before.push(other);
            }
        }
        before
    }
}
