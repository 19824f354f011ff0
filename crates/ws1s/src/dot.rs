//! Automata as pictures and as HOA-like text.

use std::fmt::Write as _;

use crate::automaton::Automaton;
use crate::machine::{FALSE, TRUE, UNDEFINED};
use crate::mtbdd::NodeRef;

/// One path through a diagram: the bits it fixes, and where it leads.
type Path = (Vec<Option<bool>>, usize);

impl Automaton {
    /// The paths from a state, in the order of the letters, zeros first. There may be exponentially
    /// many in the number of variables.
    fn paths(&self, state: usize) -> Vec<Path> {
        let mut paths = Vec::new();
        let mut stack = vec![(self.machine.roots[state], vec![None; self.vars.len()])];
        while let Some((at, bits)) = stack.pop() {
            match NodeRef::value(at) {
                Some(target) => paths.push((bits, target)),
                None => {
                    let node = self.machine.nodes[at.index()];
                    for (bit, child) in [(true, node.high), (false, node.low)] {
                        let mut bits = bits.clone();
                        bits[node.track as usize] = Some(bit);
                        stack.push((child, bits));
                    }
                }
            }
        }
        paths
    }

    /// A Graphviz picture: true states are double circles, undefined ones dashed. A label has one
    /// row per variable; `X` stands for either bit.
    #[must_use]
    pub fn to_dot(&self, names: &[String]) -> String {
        let mut text = String::from(
            "digraph automaton {\n  rankdir = LR;\n  start [shape = none, label = \"\"];\n",
        );

        for (state, &output) in self.machine.outputs.iter().enumerate() {
            let shape = match output {
                TRUE => "shape = doublecircle",
                UNDEFINED => "shape = circle, style = dashed",
                _ => "shape = circle",
            };
            let _ = writeln!(text, "  {state} [{shape}];");
        }

        text.push_str("  start -> 0;\n");

        // One arrow for each pair of states, with all its letters.
        for state in 0..self.n_states() {
            let mut by_target: Vec<(usize, Vec<String>)> = Vec::new();
            for (bits, target) in self.paths(state) {
                let column: String = bits.iter().map(|&bit| bit_char(bit)).collect();
                match by_target.iter_mut().find(|(known, _)| *known == target) {
                    Some((_, columns)) => columns.push(column),
                    None => by_target.push((target, vec![column])),
                }
            }
            for (target, columns) in by_target {
                let _ = writeln!(
                    text,
                    "  {state} -> {target} [label = \"{}\"];",
                    columns.join(", ")
                );
            }
        }

        let _ = writeln!(
            text,
            "  label = \"variables: {}\";\n}}",
            escape(&names.join(" "))
        );
        text
    }

    /// Text in the manner of the Hanoi Omega-Automata format, for automata on finite words: state
    /// labels `true`, `false` and `undefined` take the place of acceptance marks.
    #[must_use]
    pub fn to_hoa(&self, names: &[String]) -> String {
        let mut text = String::from("HOA: v1\ntool: \"fairground\"\n");

        let names: Vec<String> = names
            .iter()
            .map(|name| format!("\"{}\"", escape(name)))
            .collect();

        let _ = writeln!(text, "States: {}\nStart: 0", self.n_states());
        let _ = writeln!(text, "AP: {} {}", names.len(), names.join(" "));
        text.push_str("acc-name: finite\nAcceptance: 1 Inf(0)\n");
        text.push_str("properties: deterministic complete\n--BODY--\n");

        for (state, &output) in self.machine.outputs.iter().enumerate() {
            let (label, mark) = match output {
                TRUE => ("true", " {0}"),
                FALSE => ("false", ""),
                _ => ("undefined", ""),
            };
            let _ = writeln!(text, "State: {state} \"{label}\"{mark}");
            for (bits, target) in self.paths(state) {
                let literal = |(index, bit): (usize, &Option<bool>)| {
                    bit.map(|bit| format!("{}{index}", if bit { "" } else { "!" }))
                };
                let literals: Vec<String> = bits.iter().enumerate().filter_map(literal).collect();
                let guard = if literals.is_empty() {
                    "t".to_owned()
                } else {
                    literals.join("&")
                };
                let _ = writeln!(text, "[{guard}] {target}");
            }
        }

        text.push_str("--END--\n");
        text
    }
}

fn bit_char(bit: Option<bool>) -> char {
    match bit {
        None => 'X',
        Some(false) => '0',
        Some(true) => '1',
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
