//! Drawings of automata for Graphviz.

use std::fmt::Write;

use base::AtomId;

use crate::hoa::{acceptance_text, escape, marks_text};
use crate::{Automaton, Cube, Prop};

/// Draws the automaton as a `digraph`. Atom `i` is called `atom_names[i]`; marks stand in braces
/// behind the guards. Marks that depend on the letter alone are listed below the drawing with the
/// acceptance condition: every edge that reads such a letter carries them.
pub fn to_dot(automaton: &Automaton, atom_names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = atom_names.iter().map(AsRef::as_ref).collect();
    let mut text = String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n");
    let mut line = |content: String| writeln!(text, "  {content}").expect("strings can be written");
    line(format!("label=\"{}\";", legend(automaton, &names)));
    for (number, state) in automaton.initial.iter().enumerate() {
        line(format!("start{number} [shape=point];"));
        line(format!("start{number} -> {};", state.0));
    }
    for state in 0..automaton.n_states() {
        line(format!("{state};"));
    }

    for (source, edges) in automaton.edges.iter().enumerate() {
        for edge in edges {
            let label = guard_text(&edge.guard, &names) + &marks_text(&edge.marks);
            let target = edge.target.0;
            line(format!(
                "{source} -> {target} [label=\"{}\"];",
                escape(&label)
            ));
        }
    }

    text.push_str("}\n");
    text
}

/// The acceptance condition, and when letters carry marks; one line each.
fn legend(automaton: &Automaton, names: &[&str]) -> String {
    let mut lines = vec![format!(
        "accepts: {}",
        acceptance_text(&automaton.acceptance)
    )];
    for letter_mark in &automaton.letter_marks {
        let when = prop_text(&letter_mark.when, names);
        lines.push(format!(
            "{} when {when}",
            marks_text(&[letter_mark.mark]).trim_start()
        ));
    }
    let escaped: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    escaped.join("\\n")
}

fn prop_text(prop: &Prop, names: &[&str]) -> String {
    let all = |parts: &[Prop], operator: &str| {
        let parts: Vec<String> = parts.iter().map(|part| prop_text(part, names)).collect();
        format!("({})", parts.join(operator))
    };
    match prop {
        Prop::Const(value) => value.to_string(),
        Prop::Atom(atom) => names[atom.index()].to_owned(),
        Prop::Not(inner) => format!("!{}", prop_text(inner, names)),
        Prop::And(parts) => all(parts, " && "),
        Prop::Or(parts) => all(parts, " || "),
    }
}

fn guard_text(guard: &Cube, atom_names: &[&str]) -> String {
    let literal = |&(atom, value): &(AtomId, bool)| {
        let name = atom_names[atom.index()];
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        match (value, is_word) {
            (true, _) => name.to_owned(),
            (false, true) => format!("!{name}"),
            (false, false) => format!("!({name})"),
        }
    };
    let literals: Vec<_> = guard.literals().iter().map(literal).collect();
    if literals.is_empty() {
        "true".into()
    } else {
        literals.join(" && ")
    }
}
