//! What a loop enables and takes: all that elementary fairness conditions ask about.
//!
//! One pass over the loop serves every condition, so the cost does not multiply with their number.
//!
//! States in which a process has control are only passed through. What weak fairness sees as disabled
//! is disabled in some other state of the loop, if there are others.

use std::collections::BTreeSet;
use std::ops::Range;

use base::Fairness;
use model::{CommandId, Condition, ConditionKind, Interference, Needs, Subject};
use rustc_hash::FxHashMap;

use crate::Because;
use crate::replay::{Replay, StepLabel};

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
    /// Under justness, the teams of commands: "taken" means that a step interferes with theirs.
    teams: FxHashMap<Vec<CommandId>, Usage>,
    /// Those of them that are enabled somewhere and not interfered with later.
    ignored: Vec<Vec<CommandId>>,
    /// The first position of each distinct state of the loop.
    positions: Vec<usize>,
    /// Those of them that count for weak fairness to anything but timers.
    counted: Vec<usize>,
}

impl LoopUsage {
    /// Looks at the loop of a replayed trace.
    pub(crate) fn new(replay: &Replay<'_>, fairness: Fairness) -> Self {
        Self::over(replay, replay.trace.loop_range(), fairness)
    }

    /// Looks at a part of a replayed trace as if it were its loop.
    pub(crate) fn over(replay: &Replay<'_>, positions: Range<usize>, fairness: Fairness) -> Self {
        let model = replay.model;
        let mut usage = Self {
            processes: vec![Usage::default(); model.instances().len()],
            actions: vec![Usage::default(); model.actions().len()],
            commands: vec![Usage::default(); model.commands().len()],
            timers: FxHashMap::default(),
            teams: FxHashMap::default(),
            ignored: Vec::new(),
            positions: Vec::new(),
            counted: Vec::new(),
        };

        let states = &replay.trace.states;
        let is_free = |at: usize| model.in_control(&states[at]).is_none();
        let all_count = !replay.trace.loop_range().any(is_free);
        let mut seen = vec![false; replay.n_nodes()];

        let interference = model.is_just(fairness).then(|| Interference::new(model));
        for at in positions {
            let is_new = !std::mem::replace(&mut seen[replay.node(at)], true);
            let counts = all_count || is_free(at);
            if let Some(interference) = &interference {
                let ordinal = (is_new && counts).then_some(usage.counted.len());
                usage.visit_teams(replay, interference, at, ordinal);
            }
            if is_new {
                usage.visit_state(replay, at, counts);
            }
            usage.visit_step(replay.label(at), at);
        }

        // Where a process has control forever, nothing else is demanded.
        if let Some(interference) = interference.filter(|_| !all_count) {
            usage.ignored = ignored(replay, &interference);
        }
        usage
    }

    /// Looks at the steps that exist at a position, and at what the step taken interferes with.
    fn visit_teams(
        &mut self,
        replay: &Replay<'_>,
        interference: &Interference<'_>,
        at: usize,
        ordinal: Option<usize>,
    ) {
        let state = &replay.trace.states[at];
        let step = replay.successor(at);
        let in_control = replay.model.in_control(state);

        for needs in interference.needs(state) {
            let team = interference.teams()[needs.team].clone();
            let usage = self.teams.entry(team).or_default();
            if in_control.is_none_or(|id| needs.movers.contains(&id)) {
                usage.enable(at, ordinal);
            }
            if interference.interferes(state, &step, &needs) {
                usage.taken_at.get_or_insert(at);
            }
        }
    }

    fn visit_state(&mut self, replay: &Replay<'_>, at: usize, counts: bool) {
        let ordinal = self.counted.len();
        if counts {
            self.counted.push(at);
        }
        let enable = |usage: &mut Usage| usage.enable(at, counts.then_some(ordinal));

        for step in replay.steps(replay.node(at)) {
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

    fn visit_step(&mut self, step: &StepLabel, at: usize) {
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
        const NEVER: &Usage = &Usage {
            enabled_from_start: 0,
            enabled_at: None,
            taken_at: None,
        };
        match subject {
            Subject::Team(team) => self.teams.get(team).unwrap_or(NEVER),
            Subject::Process(id) => &self.processes[id.index()],
            Subject::Action(id) => &self.actions[id.index()],
            Subject::Choice(id) => &self.commands[id.index()],
            Subject::Timer(cell) => &self.timers[cell],
        }
    }

    /// Why the loop is fair to a condition, or that it is not.
    pub(crate) fn judge(&self, condition: &Condition) -> Because {
        let usage = self.of(&condition.subject);

        // Where a process has control, only timers count for weak fairness.
        let counted = match condition.subject {
            Subject::Timer(_) => &self.positions,
            _ => &self.counted,
        };

        if let Subject::Team(team) = &condition.subject
            && self.ignored.contains(team)
        {
            return Because::Broken;
        }

        let disabled_at = counted.get(usage.enabled_from_start);

        match (usage.taken_at, condition.kind) {
            (Some(at), _) if matches!(condition.subject, Subject::Team(_)) => {
                Because::Interfered(at)
            }
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

/// Justness by its definition: the teams whose step exists somewhere on the lasso, also before its
/// loop, and is not interfered with by any later step.
fn ignored(replay: &Replay<'_>, interference: &Interference<'_>) -> Vec<Vec<CommandId>> {
    let trace = replay.trace;
    let mut pending: BTreeSet<Needs> = BTreeSet::new();
    let pass = |pending: &mut BTreeSet<Needs>, at: usize| {
        let step = replay.successor(at);
        pending.retain(|needs| !interference.interferes(&trace.states[at], &step, needs));
    };
    for at in 0..trace.loop_range().end {
        let state = &trace.states[at];
        let in_control = replay.model.in_control(state);
        let exists = |needs: &Needs| in_control.is_none_or(|id| needs.movers.contains(&id));
        pending.extend(interference.needs(state).into_iter().filter(exists));
        pass(&mut pending, at);
    }

    // What comes up in the loop has another round to be interfered with; nothing new comes up in it.
    trace.loop_range().for_each(|at| pass(&mut pending, at));
    let team = |needs: Needs| interference.teams()[needs.team].clone();
    pending.into_iter().map(team).collect()
}
