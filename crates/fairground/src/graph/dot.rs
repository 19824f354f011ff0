//! State graphs in the language of Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evidence::View;
use model::State;

use super::{StateGraph, tarjan};

/// States as nodes, steps as edges. Initial states show all their values, others what differs from
/// the first initial state; tooltips show everything.
pub(super) fn states(graph: &StateGraph<'_>) -> String {
    let view = View::new(graph.model);
    let mut text = String::from("digraph states {\n  node [shape=box];\n");
    for (number, state) in graph.states.iter().enumerate() {
        let reference = graph.states.first().filter(|_| number >= graph.n_initial);
        let label = label(&view, number, state, reference);
        let full = values(&view, state, None).join(", ");
        let mut style = String::new();
        if number < graph.n_initial {
            style += ", penwidth=2";
        }
        if graph.errors.contains_key(&number) {
            style += ", color=red";
        } else if graph.steps[number].is_empty() {
            style += ", color=orange";
        }
        let _ = writeln!(
            text,
            "  s{number} [label=\"{label}\", tooltip=\"{}\"{style}];",
            escape(&full)
        );
    }

    for number in 0..graph.n_initial {
        let _ = writeln!(
            text,
            "  start{number} [shape=point];\n  start{number} -> s{number};"
        );
    }

    for (source, steps) in graph.steps.iter().enumerate() {
        for (name, target) in steps {
            let _ = writeln!(
                text,
                "  s{source} -> s{target} [label=\"{}\"];",
                escape(name)
            );
        }
    }

    text.push_str("}\n");
    text
}

fn label(view: &View<'_>, number: usize, state: &State, reference: Option<&State>) -> String {
    let mut lines = vec![format!("s{number}")];
    lines.extend(values(view, state, reference));
    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    lines.join("\\n")
}

/// The values of a state, or only those that differ from another one.
fn values(view: &View<'_>, state: &State, reference: Option<&State>) -> Vec<String> {
    let differs = |component: &usize| {
        reference.is_none_or(|r| view.value(r, *component) != view.value(state, *component))
    };
    let text = |component| {
        format!(
            "{} = {}",
            view.names()[component],
            view.value(state, component)
        )
    };
    (0..view.names().len()).filter(differs).map(text).collect()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// What is drawn about a component.
#[derive(Default)]
struct Summary {
    n_states: usize,
    n_inner_steps: usize,
    is_initial: bool,
    /// Steps to other components.
    leaving: BTreeMap<usize, usize>,
    /// Actions of the inner steps.
    actions: BTreeSet<String>,
}

/// Strongly connected components as nodes, with the number of their states and inner steps; edges
/// count the steps between them. Components that no run leaves are drawn with a double line.
pub(super) fn components(graph: &StateGraph<'_>) -> String {
    let mut text = String::from("digraph components {\n  node [shape=box];\n");
    for (number, summary) in summaries(graph).iter().enumerate() {
        let n_states = n_of(summary.n_states, "state");
        let n_steps = n_of(summary.n_inner_steps, "inner step");
        let mut label = format!("{n_states}\\n{n_steps}");
        if !summary.actions.is_empty() {
            let _ = write!(label, "\\n{}", escape(&some_of(&summary.actions)));
        }

        let mut style = String::new();
        if summary.is_initial {
            style += ", penwidth=2";
        }
        if summary.leaving.is_empty() {
            style += ", peripheries=2";
        }

        let _ = writeln!(text, "  c{number} [label=\"{label}\"{style}];");
        for (target, count) in &summary.leaving {
            let _ = writeln!(text, "  c{number} -> c{target} [label=\"{count}\"];");
        }
    }

    text.push_str("}\n");
    text
}

/// `1 state`, `2 states`.
fn n_of(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Components in topological order.
fn summaries(graph: &StateGraph<'_>) -> Vec<Summary> {
    let targets = |steps: &Vec<(String, usize)>| steps.iter().map(|(_, target)| *target).collect();
    let successors: Vec<Vec<usize>> = graph.steps.iter().map(targets).collect();
    let (component, n_components) = tarjan::components(&successors);
    let position = |state: usize| n_components - 1 - component[state];
    let mut summaries: Vec<Summary> = (0..n_components).map(|_| Summary::default()).collect();

    for (source, steps) in graph.steps.iter().enumerate() {
        let own = position(source);
        let summary = &mut summaries[own];
        summary.n_states += 1;
        summary.is_initial |= source < graph.n_initial;
        for (name, target) in steps {
            let other = position(*target);
            if other == own {
                summary.n_inner_steps += 1;
                summary.actions.insert(name.clone());
            } else {
                *summary.leaving.entry(other).or_default() += 1;
            }
        }
    }

    summaries
}

fn some_of(actions: &BTreeSet<String>) -> String {
    const N_SHOWN: usize = 5;
    let shown: Vec<&str> = actions.iter().take(N_SHOWN).map(String::as_str).collect();
    match actions.len().saturating_sub(N_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
