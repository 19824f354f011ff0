//! What fairness still demands of a run.
//!
//! No finite run is unfair. An obligation is *pending* when the run, going on as it did since its
//! subject was last served, would become unfair: for a weak condition the subject is enabled and has
//! been all the time, for a strong one it has been enabled, for an unconditional one it was not
//! taken. Under strong global fairness the steps of the current state are looked at.

use base::{Fairness, FairnessKind};
use evidence::{assumption_name, condition_name};
use model::{CommandId, Condition, ConditionKind, Interference, Model, Needs, Subject, Successor};

use super::{Simulation, step_name};

/// What one fairness condition says about a run so far. Positions count states from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obligation {
    /// The condition, such as `wf(P.enter)`; for strong global fairness the name of a step.
    pub condition: String,
    /// Is what it is about possible at the end?
    pub is_enabled: bool,
    /// Since which position it has been possible without interruption, if it is possible now.
    pub enabled_since: Option<usize>,
    /// The last position whose step took it.
    pub last_taken: Option<usize>,
    /// Would the run be unfair if it went on like this?
    pub is_pending: bool,
    /// What is to be said about it, if it is pending.
    pub text: String,
}

/// All obligations, pending or not.
pub(super) fn obligations(
    model: &Model,
    run: &Simulation<'_>,
    fairness: Fairness,
) -> Vec<Obligation> {
    let conditions = model.fairness_conditions(fairness);
    let conditions = conditions.iter();
    let looks = Looks {
        model,
        run,
        interference: model.is_just(fairness).then(|| Interference::new(model)),
    };
    let mut found: Vec<Obligation> = conditions.map(|c| looks.of_condition(c)).collect();
    if fairness.kind == FairnessKind::StrongGlobal {
        found.extend(of_steps(model, run));
    }
    found
}

/// All pending obligations, one line each.
pub(super) fn pending(model: &Model, run: &Simulation<'_>, fairness: Fairness) -> Vec<String> {
    let all = obligations(model, run, fairness).into_iter();
    let pending = all.filter(|obligation| obligation.is_pending);
    pending
        .map(|obligation| format!("{}: {}", obligation.condition, obligation.text))
        .collect()
}

/// What is assumed of every run, one line each. Whether a finite run keeps it cannot be told.
pub(super) fn assumed(model: &Model) -> Vec<String> {
    let assumptions = model.parts().assumptions.iter();
    assumptions.map(|a| assumption_name(model, a)).collect()
}

/// What conditions are looked for in.
struct Looks<'a> {
    model: &'a Model,
    run: &'a Simulation<'a>,
    /// Which steps interfere, under justness.
    interference: Option<Interference<'a>>,
}

impl Looks<'_> {
    fn of_condition(&self, condition: &Condition) -> Obligation {
        let (model, run) = (self.model, self.run);
        let now = run.n_steps();
        let subject = &condition.subject;
        let is_enabled = |at: usize| self.is_enabled(at, subject);
        let last_taken = (0..now).rev().find(|at| self.takes(*at, subject));
        let since = last_taken.map_or(0, |at| at + 1);

        let text = match condition.kind {
            ConditionKind::Weak => {
                // States in which a process has control are only passed through.
                let counts = |at: &usize| model.in_control(&run.walk.states[*at]).is_none();
                let counted = (since..=now).rev().filter(counts);
                let disabled = { counted }.find(|at| !is_enabled(*at));
                let since = disabled.map_or(since, |at| at + 1);
                let verb = match subject {
                    Subject::Team(_) => "interfered with",
                    _ => "taken",
                };
                (since <= now).then(|| format!("enabled, not {verb} for {}", steps(now - since)))
            }
            ConditionKind::Strong => {
                let times = (since..=now).filter(|at| is_enabled(*at)).count();
                let now_too = if is_enabled(now) { ", now too" } else { "" };
                let times_text = if times == 1 {
                    "once"
                } else {
                    &format!("{times} times")
                };
                (times > 0).then(|| {
                    format!(
                        "enabled {times_text}{now_too}, not taken for {}",
                        steps(now - since)
                    )
                })
            }
            ConditionKind::Unconditional => Some(format!("not taken for {}", steps(now - since))),
        };

        let first_enabled = (0..=now).rev().take_while(|at| is_enabled(*at)).last();
        Obligation {
            condition: condition_name(model, condition),
            is_enabled: first_enabled.is_some(),
            enabled_since: first_enabled,
            last_taken,
            is_pending: text.is_some(),
            text: text.unwrap_or_default(),
        }
    }

    /// Is what a condition is about possible at a position?
    fn is_enabled(&self, at: usize, subject: &Subject) -> bool {
        let (model, run) = (self.model, self.run);
        let state = &run.walk.states[at];
        match subject {
            // An abstract timer is demanded where it has its threshold.
            Subject::Timer(cell) => {
                let here = (*cell, state.cells[*cell]);
                model.abstract_timers().any(|timer| timer == here)
            }
            Subject::Team(team) => {
                let control = model.in_control(state);
                self.needs(at, team)
                    .is_some_and(|n| control.is_none_or(|id| n.movers.contains(&id)))
            }
            Subject::Process(_) | Subject::Action(_) | Subject::Choice(_) => {
                let mut steps = run.walk.possible[at].steps().iter();
                steps.any(|step| takes(step, subject))
            }
        }
    }

    /// Does the step at a position take what a condition is about?
    fn takes(&self, at: usize, subject: &Subject) -> bool {
        let step = self.run.step(at);
        match (subject, &self.interference) {
            (Subject::Team(team), Some(interference)) => {
                let state = &self.run.walk.states[at];
                let needs = self.needs(at, team);
                needs.is_some_and(|needs| interference.interferes(state, step, &needs))
            }
            _ => takes(step, subject),
        }
    }

    /// What is necessary for the step of a team at a position, if it is possible there.
    fn needs(&self, at: usize, team: &[CommandId]) -> Option<Needs> {
        let interference = self.interference.as_ref()?;
        let needs = interference.needs(&self.run.walk.states[at]);
        let is_team = |needs: &Needs| interference.teams()[needs.team] == team;
        needs.into_iter().find(is_team)
    }
}

/// The steps of the current state; those never taken from it are pending.
fn of_steps(model: &Model, run: &Simulation<'_>) -> Vec<Obligation> {
    let now = run.n_steps();
    let states = &run.walk.states;
    let visits: Vec<usize> = (0..now).filter(|at| states[*at] == states[now]).collect();
    let n_visits = visits.len() + 1;
    let describe = |step: &Successor| {
        let last_taken = visits.iter().rev().find(|at| run.step(**at) == step);
        let noun = if n_visits == 1 { "visit" } else { "visits" };
        Obligation {
            condition: step_name(model, step),
            is_enabled: true,
            enabled_since: visits.first().copied().or(Some(now)),
            last_taken: last_taken.copied(),
            is_pending: last_taken.is_none(),
            text: format!("never taken here in {n_visits} {noun}"),
        }
    };
    run.end().steps().iter().map(describe).collect()
}

/// Does the step take what a condition is about?
fn takes(step: &Successor, subject: &Subject) -> bool {
    match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(cell) => step.timers_set.contains(cell),
        Subject::Team(_) => false,
    }
}

fn steps(count: usize) -> String {
    match count {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    }
}
