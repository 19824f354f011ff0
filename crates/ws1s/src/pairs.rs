//! Shortest words of a conjunction of two machines, without its automaton.
//!
//! The last product of a formula is only asked what it can reach. So pairs of decision nodes are
//! searched and nothing is built: a pair that was met before leads to nothing new, from whatever
//! state it was met. Compare [`crate::lazy`], which does the same for many components and on the fly
//! projections, at a higher price for each tuple.
//!
//! States are met in the order of the length of the words that lead to them, so the first true state
//! and the first false one give shortest words.

use crate::lazy::Found;
use crate::machine::{FALSE, TRUE, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::mtbdd::NodeRef;
use crate::product::{Operand, Sinks};
use crate::table::PairSet;
use crate::words::Word;

/// What to look for.
pub(crate) struct Goal {
    /// Stop at the first true state even if no false one is known yet.
    pub(crate) only_true: bool,
    /// Tracks of the conjunction.
    pub(crate) n_tracks: usize,
    /// A track that is 1 at every position.
    pub(crate) full_track: Option<u32>,
}

/// Searches the reachable pairs.
pub(crate) fn search(
    left: Operand<'_>,
    right: Operand<'_>,
    goal: &Goal,
    meter: &mut Meter<'_>,
) -> Result<Found, Unknown> {
    meter.statistics.n_products += 1;
    let mut search = PairSearch {
        left,
        right,
        left_sinks: Sinks::new(&left),
        right_sinks: Sinks::new(&right),
        goal,
        met: PairSet::new(),
        pairs: Vec::new(),
        parents: Vec::new(),
        states: Vec::new(),
        stack: Vec::new(),
        found: [None; 2],
    };

    search.expand(0, 0, BEGINNING);
    let mut next = 0;
    while next < search.states.len() && !search.is_done() {
        // Asking about limits costs more than a step, so it is done now and then.
        if next % 1024 == 0 {
            meter.check_nodes(search.pairs.len())?;
            meter.check(search.states.len(), search.bytes())?;
        }
        let state = search.states[next];
        let (a, b) = search.pairs[state as usize];
        let value = |at: NodeRef| at.value().expect("a pair of states");
        search.expand(value(a), value(b), state);
        next += 1;
    }

    meter.check(search.states.len(), search.bytes())?;
    let [counterexample, example] = search.found.map(|pair| Some(search.word(pair?)));
    Ok(Found {
        example,
        counterexample,
    })
}

/// The parent of what the first letter leads to.
const BEGINNING: u32 = u32::MAX;

struct PairSearch<'m, 'g> {
    left: Operand<'m>,
    right: Operand<'m>,
    left_sinks: Sinks,
    right_sinks: Sinks,
    goal: &'g Goal,
    met: PairSet,
    /// Every pair that was met, in this order.
    pairs: Vec<(NodeRef, NodeRef)>,
    /// How each was first met.
    parents: Vec<Parent>,
    /// The pairs that are states.
    states: Vec<u32>,
    stack: Vec<u32>,
    /// The first false and the first true state.
    found: [Option<u32>; 2],
}

/// How a pair was first met.
#[derive(Clone, Copy)]
struct Parent {
    /// The pair above, or the state at which a letter begins.
    pair: u32,
    /// The track times two plus the bit; `u32::MAX` where a letter begins.
    decision: u32,
}

const LETTER_BEGINS: u32 = u32::MAX;

impl PairSearch<'_, '_> {
    fn is_done(&self) -> bool {
        let [counterexample, example] = self.found;
        example.is_some() && (self.goal.only_true || counterexample.is_some())
    }

    fn bytes(&self) -> u64 {
        self.met.bytes() + self.pairs.len() as u64 * 16 + self.states.len() as u64 * 4
    }

    /// Walks everything below the roots of a state that was not met before.
    fn expand(&mut self, a: usize, b: usize, state: u32) {
        let roots = (self.left.machine.roots[a], self.right.machine.roots[b]);
        let parent = Parent {
            pair: state,
            decision: LETTER_BEGINS,
        };
        self.meet(roots.0, roots.1, parent);

        while let Some(pair) = self.stack.pop() {
            // All states found here are equally far, so there is nothing better to wait for.
            if self.is_done() {
                return;
            }
            let (a, b) = self.pairs[pair as usize];
            let (track, low, high) = Operand::split_pair(&self.left, &self.right, a, b);
            let parent = |bit| Parent {
                pair,
                decision: track * 2 + bit,
            };
            self.meet(high.0, high.1, parent(1));
            if self.goal.full_track != Some(track) {
                self.meet(low.0, low.1, parent(0));
            }
        }
    }

    fn meet(&mut self, a: NodeRef, b: NodeRef, parent: Parent) {
        if self.left_sinks.is_undefined(a) || self.right_sinks.is_undefined(b) {
            return;
        }
        if !self.met.insert(a.0, b.0) {
            return;
        }
        let pair = self.pairs.len() as u32;
        self.pairs.push((a, b));
        self.parents.push(parent);
        match (a.value(), b.value()) {
            (Some(a), Some(b)) => self.arrive(a, b, pair),
            _ => self.stack.push(pair),
        }
    }

    fn arrive(&mut self, a: usize, b: usize, pair: u32) {
        let outputs = (self.left.output(a as u32), self.right.output(b as u32));
        let output = match outputs {
            (UNDEFINED, _) | (_, UNDEFINED) => UNDEFINED,
            (left, right) => left.min(right),
        };
        if output != UNDEFINED {
            self.found[usize::from(output == TRUE)].get_or_insert(pair);
        }
        let (left, right) = (self.left_sinks.of(a), self.right_sinks.of(b));
        // From two sinks nothing else is reached, and nothing but false from a false one once
        // there is a false state.
        let useless = left.is_some() && right.is_some()
            || (left == Some(FALSE) || right == Some(FALSE)) && self.found[0].is_some();
        if !useless {
            self.states.push(pair);
        }
    }

    fn word(&self, mut pair: u32) -> Word {
        let mut letters = Vec::new();
        while pair != BEGINNING {
            let mut letter = vec![None; self.goal.n_tracks];
            loop {
                let parent = self.parents[pair as usize];
                pair = parent.pair;
                if parent.decision == LETTER_BEGINS {
                    break;
                }
                letter[parent.decision as usize / 2] = Some(parent.decision % 2 == 1);
            }
            letters.push(letter);
        }
        let booleans = letters.pop().expect("the letter of the Booleans");
        letters.reverse();
        Word { booleans, letters }
    }
}
