//! What fairness still demands of a run.
//!
//! No finite run is unfair. An obligation is *pending* when the run, going on as it did since its
//! subject was last served, would become unfair: for a weak condition the subject is enabled and has
//! been all the time, for a strong one it has been enabled, for an unconditional one it was not
//! taken. Under strong global fairness the steps of the current state are looked at.

use base::{Fairness, FairnessKind};
use evidence::{assumption_name, condition_name};
use model::{Condition, ConditionKind, Model, Subject, Successor};

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
    let mut found: Vec<Obligation> = conditions.map(|c| of_condition(model, run, c)).collect();
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

fn of_condition(model: &Model, run: &Simulation<'_>, condition: &Condition) -> Obligation {
    let now = run.n_steps();
    let subject = &condition.subject;
    let is_enabled = |at: usize| is_enabled(model, run, at, subject);
    let last_taken = (0..now).rev().find(|at| takes(run.step(*at), subject));
    let since = last_taken.map_or(0, |at| at + 1);

    let text = match condition.kind {
        ConditionKind::Weak => {
            // States in which a process has control are only passed through.
            let counts = |at: &usize| model.in_control(&run.walk.states[*at]).is_none();
            let counted = (since..=now).rev().filter(counts);
            let disabled = { counted }.find(|at| !is_enabled(*at));
            let since = disabled.map_or(since, |at| at + 1);
            (since <= now).then(|| format!("enabled, not taken for {}", steps(now - since)))
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

/// Is what a condition is about possible at a position?
fn is_enabled(model: &Model, run: &Simulation<'_>, at: usize, subject: &Subject) -> bool {
    match subject {
        // An abstract timer is demanded where it has its threshold.
        Subject::Timer(cell) => {
            let value = run.walk.states[at].cells[*cell];
            model.abstract_timers().any(|timer| timer == (*cell, value))
        }
        Subject::Process(_) | Subject::Action(_) | Subject::Choice(_) => {
            let mut steps = run.walk.possible[at].steps().iter();
            steps.any(|step| takes(step, subject))
        }
    }
}

/// Does the step take what a condition is about?
fn takes(step: &Successor, subject: &Subject) -> bool {
    match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(cell) => step.timers_set.contains(cell),
    }
}

fn steps(count: usize) -> String {
    match count {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    }
}
