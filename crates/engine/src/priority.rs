//! Which of the possible steps exist: priorities, and the process that has control.
//!
//! The same levels as in the reference semantics, from the highest down: a level with a step is the
//! last one that is looked at. Systems in which all steps have the same priority and no process has
//! control do not come here.

use std::ops::ControlFlow;

use crate::stepping::Look;
use crate::system::{Failed, Member, Steps, System};
use jit::Field;

/// What tells steps that exist from others.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    pub(crate) levels: Vec<i8>,
    /// Who has control.
    pub(crate) control: Option<Field>,
    /// Steps looked at to find out whether a process can use its control.
    probe: Steps,
}

/// The steps of one priority, and of one mover if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    pub(crate) level: i8,
    pub(crate) mover: Option<u32>,
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
        Some(Self {
            levels: model.levels().to_vec(),
            control,
            probe: Steps::default(),
        })
    }

    pub(crate) fn has_control(&self) -> bool {
        self.control.is_some()
    }

    #[inline]
    fn in_control(&self, words: &[u64]) -> Option<u32> {
        u32::try_from(self.control?.get(words)).ok()
    }
}

impl System<'_> {
    /// Has some process control in this state? Such states are passed through, not stayed in.
    #[inline]
    pub(crate) fn is_transient(&self, words: &[u64]) -> bool {
        let ruling = self.ruling.as_ref();
        ruling.is_some_and(|ruling| ruling.in_control(words).is_some())
    }

    /// Adds the steps of the highest priority that has any: those of the process with control, one
    /// of them if that is enough. If only others could move, none, and a break.
    pub(crate) fn rule(
        &mut self,
        state: &[u64],
        is_hurried: bool,
        steps: &mut Steps,
    ) -> Result<ControlFlow<()>, Failed> {
        let (look, n_before) = (Look { state, is_hurried }, steps.len());
        let ruling = self.ruling.as_ref().expect("only called with a ruling");
        let (n_levels, mover) = (ruling.levels.len(), ruling.in_control(state));
        self.begin(state);

        for level in 0..n_levels {
            if let Some(mover) = mover {
                self.select(level, Some(mover), look, steps)?;
                if steps.len() > n_before {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            self.select(level, None, look, steps)?;
            if steps.len() > n_before {
                if mover.is_none() {
                    return Ok(ControlFlow::Continue(()));
                }
                steps.truncate(n_before, self.layout.n_words);
                return Ok(ControlFlow::Break(()));
            }
        }

        Ok(ControlFlow::Continue(()))
    }

    /// Adds the steps of one priority: those of the mover, or all.
    fn select(
        &mut self,
        level: usize,
        mover: Option<u32>,
        look: Look<'_>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let levels = &self
            .ruling
            .as_ref()
            .expect("only called with a ruling")
            .levels;
        if self.synchronous {
            let level = levels[level];
            return self.steps_together(Some(Selection { level, mover }), steps);
        }
        let sequence = match mover {
            None => level,
            // There is not a process with this number.
            Some(mover) if mover as usize >= self.first_row.len() => return Ok(()),
            Some(mover) => (mover as usize + 1) * levels.len() + level,
        };
        self.run(sequence, look, steps)
    }

    /// Is a team of the selected priority, and does the mover take part?
    pub(crate) fn fits<'t>(
        &self,
        team: impl Iterator<Item = &'t Member> + Clone,
        only: Option<Selection>,
    ) -> bool {
        let Some(Selection { level, mover }) = only else {
            return true;
        };
        let priority = |member: &Member| self.commands[member.command as usize].priority;
        team.clone().map(priority).max() == Some(level)
            && mover.is_none_or(|mover| {
                let mut movers = team.map(|member| self.mover(member.command));
                movers.any(|other| other == mover)
            })
    }

    /// Takes control from processes that cannot use it, in all targets from a position on.
    pub(crate) fn normalise_targets(&mut self, first: usize, steps: &mut Steps) {
        if !self.has_control() {
            return;
        }
        let n_words = self.layout.n_words;
        for position in first..steps.len() {
            self.normalise(&mut steps.words[position * n_words..][..n_words]);
        }
    }

    /// Takes control from a process that cannot use it. An error counts as a use.
    pub(crate) fn normalise(&mut self, words: &mut [u64]) {
        let ruling = self.ruling.as_mut().expect("there is control");
        if ruling.in_control(words).is_none() {
            return;
        }
        let mut probe = std::mem::take(&mut ruling.probe);
        probe.clear();
        let blocked = match self.rule(words, true, &mut probe) {
            Ok(ControlFlow::Continue(())) => probe.is_empty(),
            Ok(ControlFlow::Break(())) => true,
            Err(Failed) => false,
        };
        self.ruling.as_mut().expect("as before").probe = probe;
        if blocked {
            self.take_control(words);
        }
    }

    /// No process has control any more.
    pub(crate) fn take_control(&self, words: &mut [u64]) {
        if let Some(control) = self.ruling.as_ref().and_then(|ruling| ruling.control) {
            control.set_raw(words, control.encode(-1));
        }
    }

    /// Can processes have control?
    pub(crate) fn has_control(&self) -> bool {
        self.ruling.as_ref().is_some_and(Ruling::has_control)
    }
}
