//! Computing the steps that leave a state.

use std::ops::Range;

use crate::agenda::{Round, Visit};
use crate::label::LabelId;
use crate::system::{CompiledCommand, Failed, Scratch, Steps, System, truth};
use jit::End;
use jit::{Routine, Status, Targets};

/// How a state is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) state: &'a [u64],
    /// Is one step enough?
    pub(crate) is_hurried: bool,
}

impl System<'_> {
    /// Computes all steps that leave a state, each once, in a fixed order.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub fn steps(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        steps.clear();
        steps.n_words = self.layout.n_words;
        self.add_steps(state, steps)?;
        if self.may_repeat {
            self.merge_equal_steps(0, steps);
        }
        if self.canonicalizer.is_some() {
            self.canonicalize_targets(0, steps);
        }
        Ok(())
    }

    /// Computes all steps that leave a state and adds them to those of other states; none if there
    /// is a run-time error. `spare` is used in between where states stand for others.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub(crate) fn append_steps(
        &mut self,
        state: &[u64],
        steps: &mut Steps,
        spare: &mut Steps,
    ) -> Result<(), Failed> {
        if self.canonicalizer.is_some() {
            self.steps(state, spare)?;
            steps.append(spare);
            return Ok(());
        }
        let n_before = steps.len();
        let result = self.add_steps(state, steps);
        if result.is_err() {
            steps.truncate(n_before, self.layout.n_words);
        } else if self.may_repeat {
            self.merge_equal_steps(n_before, steps);
        }
        result
    }

    /// Adds the steps of a state as they are computed: some may be there twice.
    fn add_steps(&mut self, state: &[u64], steps: &mut Steps) -> Result<(), Failed> {
        if self.ruling.is_some() {
            let n_before = steps.len();
            // A break says that only processes without control could move: there is no step.
            let _ = self.rule(state, false, steps)?;
            self.normalise_targets(n_before, steps);
            return Ok(());
        }
        self.begin(state);
        if self.synchronous {
            return self.steps_together(None, steps);
        }
        let is_hurried = false;
        self.run(0, Look { state, is_hurried }, steps)
    }

    /// Nothing is known of the state yet.
    #[inline]
    pub(crate) fn begin(&mut self, state: &[u64]) {
        self.scratch.is_current = false;
        match &self.native {
            Some(native) if native.has_steps() => native.forget(&mut self.scratch.frame),
            _ => self.set_current(state),
        }
    }

    /// Adds the steps of a sequence of visits.
    #[inline]
    pub(crate) fn run(
        &mut self,
        sequence: usize,
        look: Look<'_>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        match self.native.take() {
            Some(native) if native.has_steps() => {
                let result = self.run_native(&native, sequence, look, steps);
                self.native = Some(native);
                result
            }
            native => {
                self.native = native;
                let mut visits = self.agenda.sequence(sequence);
                visits.try_for_each(|visit| self.interpret(visit, steps))
            }
        }
    }

    #[inline]
    fn run_native(
        &mut self,
        native: &Routine,
        sequence: usize,
        Look { state, is_hurried }: Look<'_>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let mut stops = native.stops(sequence);
        while !stops.is_empty() {
            let frame = &mut self.scratch.frame;
            let targets = Targets {
                words: &mut steps.words,
                labels: &mut steps.labels,
                units: &mut steps.units,
            };
            match native.run(stops.start, state, frame, is_hurried, targets) {
                Status::Done => return Ok(()),
                Status::Failed => return Err(Failed),
                Status::Interpret(at) => {
                    if !self.scratch.is_current {
                        self.set_current(state);
                    }
                    self.interpret(at, steps)?;
                    stops.start = at + 1;
                }
            }
        }
        Ok(())
    }

    /// What the interpreter works on.
    pub(crate) fn set_current(&mut self, state: &[u64]) {
        self.scratch.is_current = true;
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

    /// Adds the steps of one visit to a process.
    fn interpret(&mut self, visit: usize, steps: &mut Steps) -> Result<(), Failed> {
        let visit = self.agenda.visits[visit];
        for position in self.candidates(visit.instance as usize) {
            let command = self.by_location[position];
            match visit.round {
                Round::Alone => self.try_alone(command, &visit, steps)?,
                Round::Teams => self.try_to_lead(command, &visit, steps)?,
            }
        }
        Ok(())
    }

    /// The steps that a process takes alone by a command.
    fn try_alone(&mut self, command: u32, visit: &Visit, steps: &mut Steps) -> Result<(), Failed> {
        if self.agenda.is_checked(self, visit, command) {
            self.is_enabled(command)?;
        }
        match self.commands[command as usize].alone {
            Some(label) if self.agenda.is_tried(self, visit, command) => {
                if self.is_enabled(command)? {
                    self.execute_alone(command, label, steps)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The steps of the teams that a command leads.
    fn try_to_lead(&mut self, leader: u32, visit: &Visit, steps: &mut Steps) -> Result<(), Failed> {
        if self.agenda.may_lead(self, visit, leader) && self.is_enabled(leader)? {
            let mut gathered = std::mem::take(&mut self.scratch.gathered);
            let result = self.execute_led_by(leader, visit.only, &mut gathered, steps);
            self.scratch.gathered = gathered;
            return result;
        }
        Ok(())
    }

    /// The label together with the timers that the machine has noted since it was asked last.
    pub(crate) fn noting_timers(&mut self, label: LabelId) -> LabelId {
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

    /// Merges steps of one state, those from a position on.
    pub(crate) fn merge_equal_steps(&mut self, first: usize, steps: &mut Steps) {
        let n_words = self.layout.n_words;
        let mut kept = first;
        for position in first..steps.len() {
            let label = steps.labels[position];
            let group = self.labels.group(label);
            let same = (first..kept).find(|&other| {
                self.labels.group(steps.labels[other]) == group
                    && steps.target(other, n_words) == steps.target(position, n_words)
            });
            match same {
                Some(other) => {
                    steps.merged_units.push(steps.units[position]);
                    steps.labels[other] = self.labels.union(self.model, steps.labels[other], label);
                }
                None => {
                    // Most states have no steps to be merged, so nothing moves.
                    if kept < position {
                        steps.move_step(position, kept, n_words);
                    }
                    kept += 1;
                }
            }
        }

        steps.truncate(kept, n_words);
    }
}
