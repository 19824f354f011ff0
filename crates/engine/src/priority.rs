//! Which of the possible steps exist: priorities, and the process that has control.
//!
//! The same levels as in the reference semantics, from the highest down: a level with a step is the
//! last one that is looked at. Systems in which all steps have the same priority and no process has
//! control do not come here.

use std::ops::ControlFlow;

use model::InstanceId;

use crate::system::{Failed, Member, Steps, System};
use jit::Field;

/// What tells steps that exist from others.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    levels: Vec<i8>,
    /// Who has control.
    control: Option<Field>,
    /// The teams that each instance may be part of; kept only where control exists.
    teams: Vec<Vec<u32>>,
    /// Steps looked at to find out whether a process can use its control.
    probe: Steps,
}

/// The steps of one priority, and of one mover if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    level: i8,
    mover: Option<u32>,
}

impl Ruling {
    /// Nothing if all possible steps exist.
    pub(crate) fn new(system: &System<'_>) -> Option<Self> {
        let model = system.model;
        let control = model.parts().control.map(|var| {
            let cell = model.first_cell(var, None);
            system.layout.fields[system.layout.first_cell as usize + cell]
        });
        if model.levels().len() < 2 && control.is_none() {
            return None;
        }
        let mut teams = vec![Vec::new(); model.instances().len()];

        for (position, team) in system.teams.iter().enumerate() {
            for members in &team.members {
                let first = model::CommandId(members[0].command);
                let instance = model.commands()[first.index()].instance;
                teams[instance.index()].push(position as u32);
            }
        }

        Some(Self {
            levels: model.levels().to_vec(),
            control,
            teams,
            probe: Steps::default(),
        })
    }

    pub(crate) fn has_control(&self) -> bool {
        self.control.is_some()
    }

    fn in_control(&self, words: &[u64]) -> Option<u32> {
        u32::try_from(self.control?.get(words)).ok()
    }
}

impl System<'_> {
    /// Has some process control in this state? Such states are passed through, not stayed in.
    pub(crate) fn is_transient(&self, words: &[u64]) -> bool {
        let ruling = self.ruling.as_ref();
        ruling.is_some_and(|ruling| ruling.in_control(words).is_some())
    }

    /// The steps that exist in the current state, before their targets are normalised.
    pub(crate) fn ruling_steps(&mut self, steps: &mut Steps) -> Result<(), Failed> {
        if self.rule(steps)?.is_break() {
            // Only processes without control could move.
            steps.clear();
        }
        Ok(())
    }

    /// The steps of the highest priority that has any: those of the process with control. If only
    /// others could move, theirs, and a break.
    fn rule(&mut self, steps: &mut Steps) -> Result<ControlFlow<()>, Failed> {
        let ruling = self.ruling.as_ref().expect("only called with a ruling");
        let mover = ruling.in_control(&self.scratch.current);
        for position in 0..ruling.levels.len() {
            let level = self.ruling.as_ref().expect("as before").levels[position];
            self.select(Selection { level, mover }, steps)?;
            if !steps.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            if mover.is_some() {
                self.select(Selection { level, mover: None }, steps)?;
                if !steps.is_empty() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn select(&mut self, only: Selection, steps: &mut Steps) -> Result<(), Failed> {
        if self.synchronous {
            return self.steps_together(Some(only), steps);
        }
        let instances = match only.mover {
            Some(mover) if mover as usize >= self.first_row.len() => return Ok(()),
            Some(mover) => mover as usize..mover as usize + 1,
            None => 0..self.first_row.len(),
        };
        if !self.teams.is_empty() {
            self.scratch.enabled.fill(false);
            self.find_enabled(only)?;
        }

        for instance in instances {
            for position in self.candidates(instance) {
                let command = self.by_location[position];
                let compiled = &self.commands[command as usize];
                if let Some(label) = compiled.alone
                    && compiled.priority == only.level
                    && self.is_enabled(command)?
                {
                    self.execute_alone(command, label, steps)?;
                }
            }
        }

        if !self.teams.is_empty() {
            for instance in 0..self.first_row.len() {
                for position in self.candidates(instance) {
                    let leader = self.by_location[position];
                    if self.scratch.enabled[leader as usize] {
                        self.execute_led_by(leader, Some(only), steps)?;
                    }
                }
            }
        }

        Ok(())
    }

    /// Notes which of the commands that move in teams of the selection are enabled.
    fn find_enabled(&mut self, only: Selection) -> Result<(), Failed> {
        let mut commands: Vec<u32> = Vec::new();
        match only.mover {
            None => {
                for instance in 0..self.first_row.len() {
                    commands.extend(&self.by_location[self.candidates(instance)]);
                }
            }
            Some(mover) => {
                let teams = &self.ruling.as_ref().expect("there is a selection").teams;
                for &team in &teams[mover as usize] {
                    let members = self.teams[team as usize].members.iter().flatten();
                    commands.extend(members.map(|member| member.command));
                }
                commands.sort_unstable();
                commands.dedup();
                commands.retain(|&command| self.is_in_place(command));
            }
        }

        for command in commands {
            let compiled = &self.commands[command as usize];
            if compiled.alone.is_none() && compiled.reach >= only.level {
                self.scratch.enabled[command as usize] = self.is_enabled(command)?;
            }
        }

        Ok(())
    }

    /// Is the process of the command at the location where it starts?
    fn is_in_place(&self, command: u32) -> bool {
        let id = model::CommandId(command);
        let instance = self.model.commands()[id.index()].instance;
        let field = self.layout.first_location as usize + instance.index();
        let location = self.tables.fields[field].raw(&self.scratch.current);
        location == u64::from(self.model.step_of(id).source.0)
    }

    /// Does the mover take part in the team, whatever its priority?
    pub(crate) fn may_fit(&self, team: usize, only: Selection) -> bool {
        let teams = &self.ruling.as_ref().expect("there is a selection").teams;
        let has = |mover: u32| teams[mover as usize].contains(&(team as u32));
        only.mover.is_none_or(has)
    }

    /// Do the two sides of a rendezvous have the right priority?
    pub(crate) fn handshake_fits(&self, members: &[Vec<Member>], only: Selection) -> bool {
        let team: Vec<Member> = members.iter().map(|member| member[0]).collect();
        self.fits(&team, only)
    }

    /// Is a team of the selected priority, and does the mover take part?
    pub(crate) fn fits(&self, team: &[Member], only: Selection) -> bool {
        let priority = |member: &Member| self.commands[member.command as usize].priority;
        let mover = |member: &Member| {
            let command = &self.model.commands()[member.command as usize];
            command.instance
        };
        team.iter().map(priority).max() == Some(only.level)
            && only.mover.is_none_or(|wanted| {
                let wanted = InstanceId(wanted);
                team.iter().any(|member| mover(member) == wanted)
            })
    }

    /// Takes control from processes that cannot use it, in all targets.
    pub(crate) fn normalise_targets(&mut self, steps: &mut Steps) {
        if !self.ruling.as_ref().is_some_and(Ruling::has_control) {
            return;
        }
        let n_words = self.layout.n_words;
        for position in 0..steps.len() {
            self.normalise(&mut steps.words[position * n_words..][..n_words]);
        }
    }

    /// Takes control from a process that cannot use it. An error counts as a use.
    pub(crate) fn normalise(&mut self, words: &mut [u64]) {
        let ruling = self.ruling.as_mut().expect("there is control");
        let Some(control) = ruling.control else {
            return;
        };
        if ruling.in_control(words).is_none() {
            return;
        }
        let mut probe = std::mem::take(&mut ruling.probe);
        probe.clear();
        self.set_current(words);
        let blocked = match self.rule(&mut probe) {
            Ok(ControlFlow::Continue(())) => probe.is_empty(),
            Ok(ControlFlow::Break(())) => true,
            Err(Failed) => false,
        };
        self.ruling.as_mut().expect("as before").probe = probe;
        if blocked {
            control.set_raw(words, control.encode(-1));
        }
    }
}
