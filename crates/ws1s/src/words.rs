//! Shortest words and all short words of an automaton.

use crate::formula::{Var, VarKind};
use crate::mtbdd::{Node, NodeRef};

/// A word that leads to a wanted output. `None` stands for a bit that does not matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The letter of the Booleans, one entry per variable.
    pub booleans: Vec<Option<bool>>,
    /// The letters of positions 0, 1, …
    pub letters: Vec<Vec<Option<bool>>>,
}

/// The value of a variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    /// Of a Boolean.
    Bool(bool),
    /// Of a first-order variable. `None` if its track is empty.
    Position(Option<usize>),
    /// Of a set: its elements in ascending order.
    Set(Vec<usize>),
}

impl Word {
    /// The value of variable `index`, which is `var`; bits that do not matter count as 0.
    #[must_use]
    pub fn value(&self, index: usize, var: Var) -> Value {
        let mut positions =
            (0..self.letters.len()).filter(|&position| self.letters[position][index] == Some(true));
        match var.kind() {
            VarKind::Bool => Value::Bool(self.booleans[index] == Some(true)),
            VarKind::First => Value::Position(positions.next()),
            VarKind::Set => Value::Set(positions.collect()),
        }
    }
}

/// The transition graph of a machine, minimised or not.
#[derive(Clone, Copy)]
pub(crate) struct Graph<'m> {
    pub(crate) nodes: &'m [Node],
    pub(crate) roots: &'m [NodeRef],
    pub(crate) outputs: &'m [u32],
    pub(crate) n_tracks: usize,
    /// A track that must be 1 at every position (M2L-Str's set of all positions).
    pub(crate) full_track: Option<u32>,
}

/// How a state was first reached: from where, and by which bits.
type Arrival = (usize, Vec<(u32, bool)>);

/// A shortest word whose output is `goal`, if there is one.
pub(crate) fn shortest_word(graph: &Graph<'_>, goal: u32) -> Option<Word> {
    let mut arrivals: Vec<Option<Arrival>> = vec![None; graph.roots.len()];
    let mut seen = vec![usize::MAX; graph.nodes.len()];
    // The initial state occurs twice: as the beginning, and as a state that may be reached again.
    let mut queue = vec![0];
    let mut is_start = true;
    let mut next = 0;

    while next < queue.len() {
        let state = queue[next];
        let full_track = graph.full_track.filter(|_| !is_start);
        let stamp = if is_start { usize::MAX - 1 } else { state };
        for (target, bits) in paths(graph, state, full_track, &mut seen, stamp) {
            if arrivals[target].is_some() {
                continue;
            }
            arrivals[target] = Some((if is_start { usize::MAX } else { state }, bits));
            if graph.outputs[target] == goal {
                return Some(word_to(graph, &arrivals, target));
            }
            queue.push(target);
        }
        is_start = false;
        next += 1;
    }

    None
}

/// One path to each terminal below the root of `state`, zeros first.
fn paths(
    graph: &Graph<'_>,
    state: usize,
    full_track: Option<u32>,
    seen: &mut [usize],
    stamp: usize,
) -> Vec<(usize, Vec<(u32, bool)>)> {
    let mut found = Vec::new();
    let mut stack = vec![(graph.roots[state], Vec::new())];

    while let Some((at, bits)) = stack.pop() {
        let Some(target) = at.value() else {
            if std::mem::replace(&mut seen[at.index()], stamp) == stamp {
                continue;
            }
            let node = graph.nodes[at.index()];
            for (bit, child) in [(true, node.high), (false, node.low)] {
                if bit || full_track != Some(node.track) {
                    let mut bits = bits.clone();
                    bits.push((node.track, bit));
                    stack.push((child, bits));
                }
            }
            continue;
        };
        found.push((target, bits));
    }

    found
}

fn word_to(graph: &Graph<'_>, arrivals: &[Option<Arrival>], goal: usize) -> Word {
    let mut letters = Vec::new();
    let mut state = goal;
    while state != usize::MAX {
        let (before, bits) = arrivals[state].as_ref().expect("a reached state");
        let mut letter = vec![None; graph.n_tracks];
        for &(track, bit) in bits {
            letter[track as usize] = Some(bit);
        }
        letters.push(letter);
        state = *before;
    }
    let booleans = letters.pop().expect("the letter of the Booleans");
    letters.reverse();
    Word { booleans, letters }
}
