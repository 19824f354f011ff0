//! The text format of `export` and `import`.
//!
//! ```text
//! ws1s-automaton 1
//! variable X set
//! node 0 s1 s2
//! state undefined s1
//! state true n0
//! ```
//!
//! Variables are the tracks, in order; `node track low high` and `state output root` are numbered
//! from 0, the first state is the initial one, and `n3` and `s2` refer to nodes and states.

use std::fmt::Write as _;
use std::rc::Rc;

use base::Budget;

use crate::formula::{Formula, Formulas, Var, VarKind};
use crate::machine::{FALSE, Machine, TRUE, UNDEFINED};
use crate::meter::{MAX_TRACKS, Meter};
use crate::minimise::minimise;
use crate::mtbdd::{Node, NodeRef};
use crate::reorder::reorder;

/// An automaton with named tracks.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) tracks: Vec<(String, VarKind)>,
    pub(crate) machine: Machine,
}

const KINDS: [(&str, VarKind); 3] = [
    ("bool", VarKind::Bool),
    ("first", VarKind::First),
    ("set", VarKind::Set),
];

const OUTPUTS: [(&str, u32); 3] = [("undefined", UNDEFINED), ("false", FALSE), ("true", TRUE)];

/// The text of an automaton.
pub(crate) fn write(stored: &Stored) -> String {
    let mut text = String::from("ws1s-automaton 1\n");
    let reference = |at: NodeRef| match at.value() {
        Some(state) => format!("s{state}"),
        None => format!("n{}", at.0),
    };

    for (name, kind) in &stored.tracks {
        let (kind, _) = KINDS
            .iter()
            .find(|(_, k)| k == kind)
            .expect("all kinds are listed");
        let _ = writeln!(text, "variable {name} {kind}");
    }

    for node in &stored.machine.nodes {
        let (low, high) = (reference(node.low), reference(node.high));
        let _ = writeln!(text, "node {} {low} {high}", node.track);
    }
    for (root, output) in stored.machine.roots.iter().zip(&stored.machine.outputs) {
        let _ = match OUTPUTS.get(*output as usize) {
            Some((name, _)) => writeln!(text, "state {name} {}", reference(*root)),
            None => writeln!(text, "state {output} {}", reference(*root)),
        };
    }

    text
}

/// Reads what [`write`] writes; the automaton comes out minimal.
pub(crate) fn read(text: &str) -> Result<Stored, String> {
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line.trim()) != Some("ws1s-automaton 1") {
        return Err("not an automaton in this tool's format".to_owned());
    }
    let mut reader = Reader::default();
    for (index, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if reader.line(&words).is_none() {
            return Err(format!("line {} is malformed", index + 1));
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    tracks: Vec<(String, VarKind)>,
    nodes: Vec<Node>,
    roots: Vec<NodeRef>,
    outputs: Vec<u32>,
}

impl Reader {
    fn line(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            [] => {}
            ["variable", name, kind] => {
                let &(_, kind) = KINDS.iter().find(|(text, _)| *text == kind)?;
                self.tracks.push((name.to_owned(), kind));
            }
            ["node", track, low, high] => {
                let track: u32 = track.parse().ok()?;
                let above = |at: NodeRef| {
                    if at.is_terminal() {
                        Some(true)
                    } else {
                        self.nodes.get(at.index()).map(|node| node.track > track)
                    }
                };
                let (low, high) = (reference(low)?, reference(high)?);
                if (track as usize) < self.tracks.len() && above(low)? && above(high)? {
                    self.nodes.push(Node { track, low, high });
                } else {
                    return None;
                }
            }
            ["state", output, root] => {
                let &(_, output) = OUTPUTS.iter().find(|(text, _)| *text == output)?;
                self.outputs.push(output);
                self.roots.push(reference(root)?);
            }
            _ => return None,
        }

        Some(())
    }

    fn finish(self) -> Result<Stored, String> {
        let n_states = self.roots.len();
        let is_known = |at: NodeRef| match at.value() {
            Some(state) => state < n_states,
            None => at.index() < self.nodes.len(),
        };
        let all_known = self.roots.iter().all(|&root| is_known(root))
            && self
                .nodes
                .iter()
                .all(|node| is_known(node.low) && is_known(node.high));
        if n_states == 0 || !all_known || self.tracks.len() > MAX_TRACKS {
            return Err("states, nodes and variables do not fit together".to_owned());
        }
        let n_tracks = self.tracks.len();
        let raw = Machine {
            nodes: self.nodes,
            roots: self.roots,
            outputs: self.outputs,
            may_be_undefined: Vec::new(),
            n_tracks,
        };

        let (nodes, roots, outputs) = raw.reachable();
        let budget = Budget::unlimited();
        let mut meter = Meter::new(&budget);
        let machine = minimise(&nodes.into_nodes(), &roots, &outputs, n_tracks, &mut meter)
            .map_err(|unknown| unknown.name().to_owned())?;
        Ok(Stored {
            tracks: self.tracks,
            machine,
        })
    }
}

fn reference(word: &str) -> Option<NodeRef> {
    let number: u32 = word.get(1..)?.parse().ok()?;
    match word.as_bytes()[0] {
        b's' if number < 1 << 31 => Some(NodeRef::terminal(number as usize)),
        b'n' if number < 1 << 31 => Some(NodeRef(number)),
        _ => None,
    }
}

/// A stored automaton as a formula over `vars`, one per track. `None` if a variable repeats.
pub(crate) fn formula(formulas: &mut Formulas, stored: &Stored, vars: &[Var]) -> Option<Formula> {
    let mut sorted = vars.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let position = |var| sorted.binary_search(var).expect("just sorted") as u32;
    let tracks: Vec<u32> = vars.iter().map(position).collect();
    let budget = Budget::unlimited();
    let mut meter = Meter::new(&budget);
    let machine = reorder(&stored.machine, &tracks, vars.len(), &mut meter).ok()?;
    Some(formulas.given(Rc::new(machine), sorted))
}
