//! Enumeration of models.

use crate::automaton::Automaton;
use crate::formula::VarKind;
use crate::machine::TRUE;
use crate::words::{Value, Word};

/// The models of an automaton in the order of their lengths. A model is an interpretation of the
/// variables: positions have one element on their tracks, Booleans are in the first letter only, and
/// the last letter is not all zeros.
pub struct Models<'a> {
    automaton: &'a Automaton,
    /// From which states a true state can be reached.
    promising: Vec<bool>,
    /// Words of the current length that may still lead somewhere.
    frontier: Vec<(usize, Word)>,
    ready: std::vec::IntoIter<Vec<Value>>,
    max_length: usize,
}

impl Automaton {
    /// Models that fit into positions `0..max_length`. There may be exponentially many.
    #[must_use]
    pub fn models(&self, max_length: usize) -> Models<'_> {
        let mut models = Models {
            automaton: self,
            promising: promising(self),
            frontier: Vec::new(),
            ready: Vec::new().into_iter(),
            max_length,
        };
        let empty = Word {
            booleans: Vec::new(),
            letters: Vec::new(),
        };
        models.advance(vec![(0, empty)], true);
        models
    }
}

/// Backward reachability from the true states.
fn promising(automaton: &Automaton) -> Vec<bool> {
    let machine = &automaton.machine;
    let successors = machine.successors(|_, _| true);
    let mut promising: Vec<bool> = machine.outputs.iter().map(|&o| o == TRUE).collect();
    loop {
        let reaches = |state: usize| successors[state].iter().any(|&s| promising[s as usize]);
        let fresh: Vec<usize> = (0..promising.len())
            .filter(|&state| !promising[state] && reaches(state))
            .collect();
        if fresh.is_empty() {
            return promising;
        }
        for state in fresh {
            promising[state] = true;
        }
    }
}

impl Models<'_> {
    /// Appends every sensible letter to every word, and collects the models among the results.
    fn advance(&mut self, words: Vec<(usize, Word)>, is_first: bool) {
        let automaton = self.automaton;
        let mut ready = Vec::new();
        for (state, word) in words {
            for letter in self.letters(&word, is_first) {
                let next = automaton
                    .machine
                    .step(state, |track| letter[track as usize]);
                if !self.promising[next] {
                    continue;
                }
                let mut longer = word.clone();
                let ends_in_one = letter.contains(&true);
                let letter = letter.into_iter().map(Some).collect();
                if is_first {
                    longer.booleans = letter
                } else {
                    longer.letters.push(letter)
                }
                if automaton.machine.outputs[next] == TRUE && (is_first || ends_in_one) {
                    ready.push(longer.clone());
                }
                self.frontier.push((next, longer));
            }
        }

        let vars = automaton.vars();
        let values = |word: &Word| {
            let value = |index: usize| word.value(index, vars[index]);
            (0..vars.len()).map(value).collect::<Vec<Value>>()
        };
        self.ready = ready.iter().map(values).collect::<Vec<_>>().into_iter();
    }

    /// The letters that may follow a word: no Booleans after the first letter and nothing else in
    /// it, no second element for a position.
    fn letters(&self, word: &Word, is_first: bool) -> Vec<Vec<bool>> {
        let vars = self.automaton.vars();
        let mut letters = vec![Vec::new()];
        for (index, var) in vars.iter().enumerate() {
            let may_be_one = match var.kind() {
                VarKind::Bool => is_first,
                VarKind::First => {
                    !is_first
                        && word
                            .letters
                            .iter()
                            .all(|letter| letter[index] != Some(true))
                }
                VarKind::Set => !is_first,
            };
            let extend = |letter: Vec<bool>| {
                let mut extended = vec![[&letter[..], &[false]].concat()];
                if may_be_one {
                    extended.push([&letter[..], &[true]].concat());
                }
                extended
            };
            letters = letters.into_iter().flat_map(extend).collect();
        }

        letters
    }
}

impl Iterator for Models<'_> {
    type Item = Vec<Value>;

    fn next(&mut self) -> Option<Vec<Value>> {
        loop {
            if let Some(model) = self.ready.next() {
                return Some(model);
            }
            if self.frontier.is_empty() || self.max_length == 0 {
                return None;
            }
            self.max_length -= 1;
            let words = std::mem::take(&mut self.frontier);
            self.advance(words, false);
        }
    }
}
