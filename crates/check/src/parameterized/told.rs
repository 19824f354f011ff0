//! Counterexamples of abstractions, in the words of the model: what holds at the start, and after every
//! step what is different.

use abstraction::parameterized::{Abstraction, Refuted};
use evidence::Trace;
use model::Model;

/// Longer counterexamples are cut.
const MAX_STEPS: usize = 40;

/// The steps and states of a counterexample. What is repeated matters to some properties only.
pub(super) fn run(
    abstraction: &Abstraction,
    model: &Model,
    trace: &Trace,
    shows_loop: bool,
) -> Vec<String> {
    let truth = |position: usize| {
        let state = trace.states[position].locations[0].index();
        abstraction.graph.states[state].as_slice()
    };
    let start = truth(0).iter().enumerate();
    let held = start.filter(|(_, holds)| **holds);
    let mut lines = vec![format!(
        "  at the start {}",
        joined(held.map(|(number, _)| text(abstraction, number, true)))
    )];

    for (index, step) in trace.steps.iter().enumerate().take(MAX_STEPS) {
        if shows_loop && trace.loop_start == Some(index) {
            lines.push("  and then again and again".to_owned());
        }
        let action = step.actions.first();
        let action = action.map_or("idle", |action| model.action_name(*action));
        let action = action.rsplit('.').next().unwrap_or(action);
        let (before, after) = (truth(index), truth(trace.after(index)));
        let changed = (0..before.len()).filter(|number| before[*number] != after[*number]);
        let changed = changed.map(|number| text(abstraction, number, after[number]));
        lines.push(format!("  {}. {action}: {}", index + 1, joined(changed)));
    }
    if trace.steps.len() > MAX_STEPS {
        lines.push(format!(
            "  and {} more steps",
            trace.steps.len() - MAX_STEPS
        ));
    }
    lines
}

/// Why facts that the author gives are not used.
pub(super) fn refuted(facts: &[Refuted]) -> Vec<String> {
    let line = |fact: &Refuted| {
        let name = &fact.name;
        match &fact.by {
            None => format!("not used: the invariant `{name}` is not true of every initial state"),
            Some(step) => format!(
                "not used: the invariant `{name}`, because `{step}` leads from some state that satisfies the invariants to one that does not satisfy it"
            ),
        }
    };
    facts.iter().map(line).collect()
}

fn text(abstraction: &Abstraction, number: usize, holds: bool) -> String {
    let name = &abstraction.predicates[number].name;
    if holds {
        return name.clone();
    }
    match name.strip_prefix('!') {
        Some(positive) if !positive.contains(' ') => positive.to_owned(),
        _ if name.contains(' ') => format!("!({name})"),
        _ => format!("!{name}"),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return "nothing that is kept changes".to_owned();
    }
    parts.join("; ")
}
