//! What a loop enables and takes: all that elementary fairness conditions ask about.
//!
//! One pass over the loop serves every condition, so the cost does not multiply with their number.
//!
//! States in which a process has control are only passed through. What weak fairness sees as disabled
//! is disabled in some other state of the loop, if there are others.

use std::ops::Range;

use model::{Condition, ConditionKind, Subject};
use rustc_hash::FxHashMap;

use crate::Because;
use crate::replay::Replay;

/// Where a subject is enabled and taken in a loop.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// It is enabled in this many of the states that count, from the first up to the first one that
    /// disables it.
    enabled_from_start: usize,
    /// The first position at which it is enabled.
    enabled_at: Option<usize>,
    /// The first position at which it is taken.
    taken_at: Option<usize>,
}

impl Usage {
    /// Notes that it is enabled at a position, the one with this number among those that count.
    fn enable(&mut self, at: usize, ordinal: Option<usize>) {
        self.enabled_at.get_or_insert(at);
        if ordinal == Some(self.enabled_from_start) {
            self.enabled_from_start += 1;
        }
    }
}

/// Where every process, action and command is enabled and taken in a loop.
pub(crate) struct LoopUsage {
    processes: Vec<Usage>,
    actions: Vec<Usage>,
    commands: Vec<Usage>,
    /// Abstract timers, by cell.
    timers: FxHashMap<usize, Usage>,
    /// The first position of each distinct state of the loop.
    positions: Vec<usize>,
    /// Those of them that count for weak fairness to anything but timers.
    counted: Vec<usize>,
}

impl LoopUsage {
    /// Looks at the loop of a replayed trace.
    pub(crate) fn new(replay: &Replay<'_>) -> Self {
        Self::over(replay, replay.trace.loop_range())
    }

    /// Looks at a part of a replayed trace as if it were its loop.
    pub(crate) fn over(replay: &Replay<'_>, positions: Range<usize>) -> Self {
        let model = replay.model;
        let mut usage = Self {
            processes: vec![Usage::default(); model.instances().len()],
            actions: vec![Usage::default(); model.actions().len()],
            commands: vec![Usage::default(); model.commands().len()],
            timers: FxHashMap::default(),
            positions: Vec::new(),
            counted: Vec::new(),
        };

        let states = &replay.trace.states;
        let is_free = |at: usize| model.in_control(&states[at]).is_none();
        let all_count = !replay.trace.loop_range().any(is_free);
        let mut seen = vec![false; replay.steps.len()];

        for at in positions {
            let (node, taken) = replay.step_at(at);
            if !std::mem::replace(&mut seen[node], true) {
                usage.visit_state(replay, at, all_count || is_free(at));
            }
            usage.visit_step(&replay.steps[node][taken], at);
        }

        usage
    }

    fn visit_state(&mut self, replay: &Replay<'_>, at: usize, counts: bool) {
        let ordinal = self.counted.len();
        if counts {
            self.counted.push(at);
        }
        let enable = |usage: &mut Usage| usage.enable(at, counts.then_some(ordinal));

        for step in &replay.steps[replay.node_at[at]] {
            let movers = step.movers.iter().map(|id| id.index());
            movers.for_each(|id| enable(&mut self.processes[id]));
            let actions = step.actions.iter().map(|id| id.index());
            actions.for_each(|id| enable(&mut self.actions[id]));
            let commands = step.commands.iter().map(|id| id.index());
            commands.for_each(|id| enable(&mut self.commands[id]));
        }

        let ordinal = self.positions.len();
        self.positions.push(at);
        for (cell, threshold) in replay.model.abstract_timers() {
            let usage = self.timers.entry(cell).or_default();
            if replay.trace.states[at].cells[cell] == threshold {
                usage.enable(at, Some(ordinal));
            }
        }
    }

    fn visit_step(&mut self, step: &model::Successor, at: usize) {
        for id in &step.movers {
            self.processes[id.index()].taken_at.get_or_insert(at);
        }
        for id in &step.actions {
            self.actions[id.index()].taken_at.get_or_insert(at);
        }
        for id in &step.commands {
            self.commands[id.index()].taken_at.get_or_insert(at);
        }
        for cell in &step.timers_set {
            let usage = self.timers.entry(*cell).or_default();
            usage.taken_at.get_or_insert(at);
        }
    }

    fn of(&self, subject: &Subject) -> &Usage {
        match subject {
            Subject::Process(id) => &self.processes[id.index()],
            Subject::Action(id) => &self.actions[id.index()],
            Subject::Choice(id) => &self.commands[id.index()],
            Subject::Timer(cell) => &self.timers[cell],
        }
    }

    /// Why the loop is fair to a condition, or that it is not.
    pub(crate) fn judge(&self, condition: &Condition) -> Because {
        let usage = self.of(&condition.subject);
        let counted = match condition.subject {
            Subject::Timer(_) => &self.positions,
            _ => &self.counted,
        };
        let disabled_at = counted.get(usage.enabled_from_start);
        match (usage.taken_at, condition.kind) {
            (Some(at), _) => Because::Taken(at),
            (None, ConditionKind::Unconditional) => Because::Broken,
            (None, _) if usage.enabled_at.is_none() => Because::NeverEnabled,
            (None, ConditionKind::Strong) => Because::Broken,
            (None, ConditionKind::Weak) => match disabled_at {
                Some(at) => Because::Disabled(*at),
                None => Because::Broken,
            },
        }
    }

    /// The first position at which a subject is enabled.
    pub(crate) fn enabled_at(&self, subject: &Subject) -> Option<usize> {
        self.of(subject).enabled_at
    }
}
