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

/// All pending obligations, one line each.
pub(super) fn pending(model: &Model, walk: &Simulation<'_>, fairness: Fairness) -> Vec<String> {
    let conditions = model.fairness_conditions(fairness);
    let mut lines: Vec<String> = conditions
        .iter()
        .filter_map(|condition| pending_condition(model, walk, condition))
        .collect();
    if fairness.kind == FairnessKind::StrongGlobal {
        lines.extend(pending_steps(model, walk));
    }
    lines
}

/// What is assumed of every run, one line each. Whether a finite run keeps it cannot be told.
pub(super) fn assumed(model: &Model) -> Vec<String> {
    let assumptions = model.parts().assumptions.iter();
    assumptions.map(|a| assumption_name(model, a)).collect()
}

fn pending_condition(
    model: &Model,
    walk: &Simulation<'_>,
    condition: &Condition,
) -> Option<String> {
    let now = walk.n_steps();
    let subject = &condition.subject;
    let is_enabled = |at: usize| walk.possible[at].steps().iter().any(|s| takes(s, subject));
    let served = (0..now).rev().find(|at| takes(walk.step(*at), subject));
    let since = served.map_or(0, |at| at + 1);
    let text = match condition.kind {
        ConditionKind::Weak => {
            // States in which a process has control are only passed through.
            let counts = |at: &usize| model.in_control(&walk.states[*at]).is_none();
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

    Some(format!("{}: {}", condition_name(model, condition), text?))
}

/// The steps of the current state that were never taken from it.
fn pending_steps(model: &Model, walk: &Simulation<'_>) -> Vec<String> {
    let now = walk.n_steps();
    let visits = || (0..now).filter(|at| walk.states[*at] == walk.states[now]);
    let n_visits = visits().count() + 1;
    let is_new = |step: &&Successor| !visits().any(|at| walk.step(at) == *step);
    let describe = |step: &Successor| {
        let visits = if n_visits == 1 { "visit" } else { "visits" };
        format!(
            "{}: never taken here in {n_visits} {visits}",
            step_name(model, step)
        )
    };
    walk.end()
        .steps()
        .iter()
        .filter(is_new)
        .map(describe)
        .collect()
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
