//! Computing the steps that leave a state.

use std::ops::Range;

use model::{ActionId, CommandId};

use crate::label::LabelId;
use crate::priority::Selection;
use crate::system::{CompiledCommand, Failed, Member, Scratch, Steps, System, Team, truth};
use jit::End;
use jit::{Routine, Status, Targets};

impl System<'_> {
    /// Computes all steps that leave a state, each once, in a fixed order.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub fn steps(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        steps.clear();
        steps.n_words = self.layout.n_words;
        self.add_steps(state, steps)?;
        if self.ruling.is_some() {
            self.normalise_targets(steps);
        }
        if self.may_repeat {
            self.merge_equal_steps(steps);
        }
        if self.canonicalizer.is_some() {
            self.canonicalize_targets(steps);
        }
        Ok(())
    }

    /// Computes all steps that leave a state and adds them to those of other states; none if there
    /// is a run-time error. `spare` is used in between where steps need to be compared.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub(crate) fn append_steps(
        &mut self,
        state: &[u64],
        steps: &mut Steps,
        spare: &mut Steps,
    ) -> Result<(), Failed> {
        if self.ruling.is_some() || self.may_repeat || self.canonicalizer.is_some() {
            self.steps(state, spare)?;
            steps.append(spare);
            return Ok(());
        }
        let n_before = steps.len();
        let result = self.add_steps(state, steps);
        if result.is_err() {
            steps.truncate(n_before, self.layout.n_words);
        }
        result
    }

    /// Adds the steps of a state as they are computed: some may be there twice.
    fn add_steps(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        match self.native.take() {
            Some(native) if native.has_steps() => {
                let result = self.steps_native(&native, state, steps);
                self.native = Some(native);
                result
            }
            native => {
                self.native = native;
                self.steps_interpreted(state, steps)
            }
        }
    }

    fn steps_interpreted(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        self.set_current(state);
        if self.ruling.is_some() {
            return self.ruling_steps(steps);
        }
        if self.synchronous {
            return self.steps_together(None, steps);
        }
        self.scratch.enabled.fill(false);
        for instance in 0..self.first_row.len() {
            self.steps_alone(instance, steps)?;
        }
        if !self.teams.is_empty() {
            for instance in 0..self.first_row.len() {
                self.steps_led_by(instance, steps)?;
            }
        }
        Ok(())
    }

    fn steps_native(
        &mut self,
        native: &Routine,
        state: &[u64],
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let n_instances = self.first_row.len();
        if !self.teams.is_empty() {
            self.scratch.enabled.fill(false);
        }
        native.forget(&mut self.scratch.frame);

        let (mut stop, mut is_current) = (0, false);
        while !native.is_end(stop) {
            let Scratch { frame, enabled, .. } = &mut self.scratch;
            let targets = Targets {
                words: &mut steps.words,
                labels: &mut steps.labels,
                units: &mut steps.units,
            };
            match native.run(stop, state, frame, enabled, targets) {
                Status::Done => return Ok(()),
                Status::Failed => return Err(Failed),
                Status::Interpret(at) => {
                    if !std::mem::replace(&mut is_current, true) {
                        self.set_current(state);
                    }
                    match at.checked_sub(n_instances) {
                        None => self.steps_alone(at, steps)?,
                        Some(leader) => self.steps_led_by(leader, steps)?,
                    }
                    stop = at + 1;
                }
            }
        }

        Ok(())
    }

    /// What the interpreter works on.
    pub(crate) fn set_current(&mut self, state: &[u64]) {
        self.scratch.current.copy_from_slice(state);
        self.machine.recalled.fill(None);
        if let Some(native) = &self.native {
            native.forget(&mut self.scratch.frame);
        }
    }

    pub(crate) fn is_enabled(&mut self, command: u32) -> Result<bool, Failed> {
        let Scratch {
            current,
            written,
            frame,
            ..
        } = &mut self.scratch;
        let guard = self.commands[command as usize].guard;
        if let Some(native) = &self.native
            && let Some(end) = native.holds(guard, current, frame)
        {
            return truth(end);
        }
        let machine = &mut self.machine;
        truth(machine.run::<false>(&self.tables, guard, current, written))
    }

    /// The commands of an instance at its current location, as positions in `by_location`.
    pub(crate) fn candidates(&self, instance: usize) -> Range<usize> {
        let location = self.tables.fields[self.layout.first_location as usize + instance]
            .raw(&self.scratch.current);
        let row = self.first_row[instance] as usize + location as usize;
        self.rows[row] as usize..self.rows[row + 1] as usize
    }

    /// The steps that a process takes alone. Notes which of its other commands are enabled.
    fn steps_alone(&mut self, instance: usize, steps: &mut Steps) -> Result<(), Failed> {
        for position in self.candidates(instance) {
            let command = self.by_location[position];
            if !self.is_enabled(command)? {
                continue;
            }
            match self.commands[command as usize].alone {
                Some(label) => self.execute_alone(command, label, steps)?,
                None => self.scratch.enabled[command as usize] = true,
            }
        }
        Ok(())
    }

    /// The steps of the teams in which a process is the first participant.
    fn steps_led_by(&mut self, instance: usize, steps: &mut Steps) -> Result<(), Failed> {
        for position in self.candidates(instance) {
            let leader = self.by_location[position];
            if self.scratch.enabled[leader as usize] {
                self.execute_led_by(leader, None, steps)?;
            }
        }
        Ok(())
    }

    /// The label together with the timers that the machine has noted since it was asked last.
    fn noting_timers(&mut self, label: LabelId) -> LabelId {
        if self.machine.timers_set.is_empty() {
            return label;
        }
        let timers = std::mem::take(&mut self.machine.timers_set);
        let label = self.labels.setting(self.model, label, &timers);
        self.machine.timers_set = timers;
        self.machine.timers_set.clear();
        label
    }

    pub(crate) fn execute_alone(
        &mut self,
        command: u32,
        label: LabelId,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let CompiledCommand {
            effect, has_choice, ..
        } = self.commands[command as usize];
        self.machine.choices.reset();

        loop {
            let Scratch {
                current, written, ..
            } = &mut self.scratch;
            // The target is computed where it is to stay.
            let start = steps.words.len();
            steps.words.extend_from_slice(current);
            let target = &mut steps.words[start..];
            match self
                .machine
                .run::<false>(&self.tables, effect, target, written)
            {
                End::Accept => {
                    steps.labels.push(self.noting_timers(label));
                    steps.units.push(command);
                }
                End::Reject => {
                    steps.words.truncate(start);
                    self.machine.timers_set.clear();
                }
                End::Fail => return Err(Failed),
            }
            if !has_choice || !self.machine.choices.advance() {
                return Ok(());
            }
        }
    }

    /// Executes the teams that the command leads: all, or those with a mover and with this priority.
    pub(crate) fn execute_led_by(
        &mut self,
        leader: u32,
        only: Option<Selection>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        for position in 0..self.commands[leader as usize].leads.len() {
            let team = self.commands[leader as usize].leads[position] as usize;
            if only.is_some_and(|only| !self.may_fit(team, only)) {
                continue;
            }
            let Team {
                action, agreement, ..
            } = self.teams[team];
            let enabled = &self.scratch.enabled;
            let is_enabled = |member: &&Member| enabled[member.command as usize];
            let mut members: Vec<Vec<Member>> = Vec::new();
            for (role, alternatives) in self.teams[team].members.iter().enumerate() {
                let chosen = alternatives.iter().filter(is_enabled);
                let chosen = chosen.filter(|member| role > 0 || member.command == leader);
                members.push(chosen.copied().collect());
            }
            if members.iter().any(Vec::is_empty) {
                continue;
            }
            if let Some(agreement) = agreement
                && only.is_none_or(|only| self.handshake_fits(&members, only))
            {
                let Scratch {
                    current, written, ..
                } = &mut self.scratch;
                match self
                    .machine
                    .run::<false>(&self.tables, agreement, current, written)
                {
                    End::Accept => {}
                    End::Reject => continue,
                    End::Fail => return Err(Failed),
                }
            }
            let unit = self.team_unit(team);
            self.execute_teams(&members, Some(action), unit, only, steps)?;
        }

        Ok(())
    }

    pub(crate) fn steps_together(
        &mut self,
        only: Option<Selection>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        for instance in 0..self.first_row.len() {
            self.scratch.enabled_by_instance[instance].clear();
            for position in self.candidates(instance) {
                let command = self.by_location[position];
                if self.is_enabled(command)? {
                    let effect = self.commands[command as usize].effect;
                    self.scratch.enabled_by_instance[instance].push(Member { command, effect });
                }
            }
        }
        let enabled = &self.scratch.enabled_by_instance;
        let members: Vec<Vec<Member>> = enabled
            .iter()
            .filter(|members| !members.is_empty())
            .cloned()
            .collect();
        if members.is_empty() {
            return Ok(());
        }
        self.execute_teams(&members, None, 0, only, steps)
    }

    /// Executes every team with one member of each list. Without an action, each member takes its
    /// own.
    fn execute_teams(
        &mut self,
        members: &[Vec<Member>],
        action: Option<ActionId>,
        unit: u32,
        only: Option<Selection>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let mut picks = vec![0; members.len()];
        loop {
            let team: Vec<Member> = members
                .iter()
                .zip(&picks)
                .map(|(m, &pick)| m[pick])
                .collect();
            if only.is_none_or(|only| self.fits(&team, only)) {
                self.execute_team(&team, action, unit, steps)?;
            }
            if !advance(&mut picks, |position| members[position].len()) {
                return Ok(());
            }
        }
    }

    fn execute_team(
        &mut self,
        team: &[Member],
        action: Option<ActionId>,
        unit: u32,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let n_members = team.len().max(self.scratch.outcomes.len());
        self.scratch.outcomes.resize(n_members, Vec::new());
        self.scratch.timers_set.resize(n_members, Vec::new());
        for (position, member) in team.iter().enumerate() {
            self.collect_outcomes(position, *member)?;
        }
        if self.scratch.outcomes[..team.len()]
            .iter()
            .any(Vec::is_empty)
        {
            return Ok(());
        }

        let commands: Vec<CommandId> = team
            .iter()
            .map(|member| CommandId(member.command))
            .collect();
        let actions = match action {
            Some(action) => vec![action],
            None => commands
                .iter()
                .map(|command| self.model.action_of(*command))
                .collect(),
        };

        let label = self
            .labels
            .of_team(self.model, actions, commands, Vec::new());
        let size = 2 * self.layout.n_words;
        let mut picks = vec![0; team.len()];

        loop {
            self.merge_outcomes(&picks)?;
            for (position, &pick) in picks.iter().enumerate() {
                let timers = &self.scratch.timers_set[position][pick];
                self.machine.timers_set.extend(timers);
            }
            let label = self.noting_timers(label);
            steps.push(&self.scratch.merged, label, unit);
            let outcomes = &self.scratch.outcomes;
            if !advance(&mut picks, |position| outcomes[position].len() / size) {
                return Ok(());
            }
        }
    }

    /// All states that one member may lead to from the current state, each with what it wrote.
    fn collect_outcomes(&mut self, position: usize, member: Member) -> Result<(), Failed> {
        let has_choice = self.commands[member.command as usize].has_choice;
        self.scratch.outcomes[position].clear();
        self.scratch.timers_set[position].clear();
        self.machine.timers_set.clear();
        self.machine.choices.reset();

        loop {
            let Scratch {
                current,
                target,
                written,
                outcomes,
                timers_set,
                ..
            } = &mut self.scratch;
            target.copy_from_slice(current);
            written.fill(0);
            match self
                .machine
                .run::<true>(&self.tables, member.effect, target, written)
            {
                End::Accept => {
                    outcomes[position].extend_from_slice(target);
                    outcomes[position].extend_from_slice(written);
                    timers_set[position].push(self.machine.timers_set.clone());
                }
                End::Reject => {}
                End::Fail => return Err(Failed),
            }
            self.machine.timers_set.clear();
            if !has_choice || !self.machine.choices.advance() {
                return Ok(());
            }
        }
    }

    /// Puts the picked outcomes of all members together; different values for one field fail.
    fn merge_outcomes(&mut self, picks: &[usize]) -> Result<(), Failed> {
        let n_words = self.layout.n_words;
        let Scratch {
            current,
            written,
            outcomes,
            merged,
            ..
        } = &mut self.scratch;

        merged.copy_from_slice(current);
        written.fill(0);
        for (position, &pick) in picks.iter().enumerate() {
            let outcome = &outcomes[position][pick * 2 * n_words..][..2 * n_words];
            let (words, masks) = outcome.split_at(n_words);
            for i in 0..n_words {
                if written[i] & masks[i] & (merged[i] ^ words[i]) != 0 {
                    return Err(Failed);
                }
                merged[i] = merged[i] & !masks[i] | words[i] & masks[i];
                written[i] |= masks[i];
            }
        }

        Ok(())
    }

    fn merge_equal_steps(&mut self, steps: &mut Steps) {
        let n_words = self.layout.n_words;
        let mut kept = 0;
        for position in 0..steps.len() {
            let label = steps.labels[position];
            let group = self.labels.group(label);
            let same = (0..kept).find(|&other| {
                self.labels.group(steps.labels[other]) == group
                    && steps.target(other, n_words) == steps.target(position, n_words)
            });
            match same {
                Some(other) => {
                    steps.merged_units.push(steps.units[position]);
                    steps.labels[other] = self.labels.union(self.model, steps.labels[other], label);
                }
                None => {
                    steps.move_step(position, kept, n_words);
                    kept += 1;
                }
            }
        }

        steps.truncate(kept, n_words);
    }
}

/// Moves an odometer on; false when it has run through.
fn advance(picks: &mut [usize], len: impl Fn(usize) -> usize) -> bool {
    for position in (0..picks.len()).rev() {
        picks[position] += 1;
        if picks[position] < len(position) {
            return true;
        }
        picks[position] = 0;
    }
    false
}
