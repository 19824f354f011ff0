//! Drawings of automata for Graphviz.

use std::fmt::Write;

use base::AtomId;

use crate::hoa::{TooManyLetterAtoms, escape, for_each_plain_edge, marks_text};
use crate::{Automaton, Cube};

/// Draws the automaton as a `digraph`. Atom `i` is called `atom_names[i]`; marks stand in braces
/// behind the guards.
///
/// # Errors
/// The letter marks depend on too many atoms to be drawn as edges.
pub fn to_dot(
    automaton: &Automaton,
    atom_names: &[impl AsRef<str>],
) -> Result<String, TooManyLetterAtoms> {
    let mut text = String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n");
    for (number, state) in automaton.initial.iter().enumerate() {
        let start = format!(
            "  start{number} [shape=point];\n  start{number} -> {};\n",
            state.0
        );
        text.push_str(&start);
    }
    for state in 0..automaton.n_states() {
        writeln!(text, "  {state};").expect("strings can be written to");
    }
    for_each_plain_edge(automaton, |source, guard, marks, target| {
        let label = format!("{}{}", guard_text(guard, atom_names), marks_text(marks));
        let (source, target) = (source.0, target.0);
        writeln!(
            text,
            "  {source} -> {target} [label=\"{}\"];",
            escape(&label)
        )
        .expect("strings can be written to");
    })?;
    text.push_str("}\n");
    Ok(text)
}

fn guard_text(guard: &Cube, atom_names: &[impl AsRef<str>]) -> String {
    let literal = |&(atom, value): &(AtomId, bool)| {
        let name = atom_names[atom.index()].as_ref();
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
