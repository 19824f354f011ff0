//! An abstract model as text of the native language.

use std::fmt::Write as _;

use base::AtomId;
use logic::{NamedProperty, Property};
use model::{Assumption, AtomMeaning, Expr, ModelParts};

use super::build::Abstraction;
use super::core_model::{PROCESS, Selection, core_model};

/// The abstract model for a property, with everything that may be assumed of it. A valid input.
#[must_use]
pub fn native(
    abstraction: &Abstraction,
    property: &NamedProperty,
    assumptions: &[Assumption],
) -> String {
    let everything = Selection::uniform(abstraction, true);
    let (parts, question) = core_model(abstraction, &everything, &property.property, assumptions);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "// The abstraction for `{}`: {}",
        property.name, property.text
    );
    let _ = writeln!(
        text,
        "// Comments say which predicates are true in a state."
    );
    let _ = writeln!(text, "\nprocess {PROCESS} {{");
    let starts: Vec<String> = abstraction
        .graph
        .initial
        .iter()
        .map(|s| format!("s{s}"))
        .collect();
    let _ = writeln!(text, "    init {}", starts.join(", "));
    for (number, truth) in abstraction.graph.states.iter().enumerate() {
        let held = abstraction
            .predicates
            .iter()
            .zip(truth)
            .filter(|(_, holds)| **holds);
        let held: Vec<&str> = held.map(|(predicate, _)| predicate.name.as_str()).collect();
        let _ = writeln!(text, "    // {}", held.join("; "));
        let _ = writeln!(text, "    from s{number} {{");
        for step in &parts.processes[0].steps {
            if step.source.index() == number {
                let _ = writeln!(text, "        {} -> s{}", step.name, step.target.index());
            }
        }
        let _ = writeln!(text, "    }}");
    }
    let _ = writeln!(text, "}}\n");
    for assumption in &parts.assumptions {
        if *assumption != Assumption::All(Vec::new()) {
            let _ = writeln!(text, "assume {}", assumed(&parts, assumption));
        }
    }
    let name = |atom: AtomId| atom_text(&parts, atom);
    match &question {
        Property::Ltl(formula) => {
            let _ = writeln!(
                text,
                "property {}: {}",
                property.name,
                formula.display(&name)
            );
        }
        Property::Invariant(formula) => {
            let _ = writeln!(
                text,
                "property {}: [] ({})",
                property.name,
                formula.display(&name)
            );
        }
        _ => text.push_str("deadlockfree\n"),
    }
    text
}

fn atom_text(parts: &ModelParts, atom: AtomId) -> String {
    match &parts.atoms[atom.index()].meaning {
        AtomMeaning::State(expr) => {
            // shape: an abstract model has no other propositions about states.
            let Expr::At { locations, .. } = expr else {
                unreachable!("abstract states are locations");
            };
            if locations.is_empty() {
                return "false".to_owned();
            }
            let names: Vec<String> = locations
                .iter()
                .map(|l| format!("s{}", l.index()))
                .collect();
            format!("({PROCESS} @ {{{}}})", names.join(", "))
        }
        AtomMeaning::Taken(_)
        | AtomMeaning::Enabled(_)
        | AtomMeaning::Deadlock
        | AtomMeaning::Certainly(..)
        | AtomMeaning::TimerSet(_) => format!("{PROCESS}.{}", parts.atoms[atom.index()].name),
    }
}

fn assumed(parts: &ModelParts, assumption: &Assumption) -> String {
    let literal = |atom: AtomId, value: bool| {
        if value {
            atom_text(parts, atom)
        } else {
            format!("!({})", atom_text(parts, atom))
        }
    };

    let join = |all: &[Assumption], op: &str, empty: &str| {
        let texts: Vec<String> = all.iter().map(|part| assumed(parts, part)).collect();
        if texts.is_empty() {
            empty.to_owned()
        } else {
            format!("({})", texts.join(op))
        }
    };

    match assumption {
        Assumption::Infinitely(atom, value) => format!("([] <> {})", literal(*atom, *value)),
        Assumption::Eventually(atom, value) => format!("(<> [] {})", literal(*atom, *value)),
        Assumption::All(all) => join(all, " && ", "true"),
        Assumption::Any(any) => join(any, " || ", "false"),
    }
}
