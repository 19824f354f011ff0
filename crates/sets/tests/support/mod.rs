//! Graphs that are written down.

#![allow(dead_code, reason = "each test program uses its own part")]

use base::StopReason;
use omega::{Acceptance, Closure};
use sets::{Expand, Successors};

use crate::oracle::Case;

/// A graph whose nodes are copies of states: node `i` is copy `i % n_copies` of state `i / n_copies`.
#[derive(Clone, Debug)]
pub struct Marked {
    pub case: Case,
    pub n_copies: usize,
    pub n_words: usize,
}

impl Marked {
    pub fn new(case: Case, n_copies: usize, is_wide: bool) -> Self {
        let n_words = if is_wide { 3 } else { 1 };
        Self {
            case,
            n_copies,
            n_words,
        }
    }

    /// The copies that accepted cycles pass through, by the definition; of some graphs, all copies, so
    /// of those with more sets of edges than can be looked at.
    pub fn recurrent(&self, acceptance: &Acceptance) -> Vec<bool> {
        let case = &self.case;
        if case.edges.len().is_multiple_of(3) || case.edges.len() > 20 {
            return vec![true; self.n_copies];
        }
        let mut recurrent = vec![false; self.n_copies];
        for set in case.recurrent_sets(Closure::None) {
            if acceptance.accepts(&case.words(case.union(set))) {
                let edges = (0..case.edges.len()).filter(|edge| set >> edge & 1 == 1);
                edges.for_each(|edge| recurrent[case.edges[edge].source % self.n_copies] = true);
            }
        }
        recurrent
    }

    /// The words of a state: not in the order of their numbers.
    fn state(&self, node: usize) -> Vec<u64> {
        let number = (node / self.n_copies) as u64;
        let mut words = vec![7; self.n_words];
        words[self.n_words / 2] = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        words
    }

    fn numbers_of(&self, state: &[u64]) -> Vec<usize> {
        let nodes = 0..self.case.n_nodes;
        nodes.filter(|node| self.state(*node) == state).collect()
    }

    /// The edges that leave the copies of a state, each a step of its own.
    fn edges_from(&self, state: &[u64]) -> Vec<usize> {
        let nodes = self.numbers_of(state);
        let leaves = |edge: &usize| nodes.contains(&self.case.edges[*edge].source);
        (0..self.case.edges.len()).filter(leaves).collect()
    }

    /// The edge that a step of a state takes, if it leads there.
    pub fn edge(&self, state: &[u64], step: u32, target: &[u64]) -> Option<usize> {
        let edge = *self.edges_from(state).get(step as usize)?;
        (self.state(self.case.edges[edge].target) == target).then_some(edge)
    }
}

impl Expand for Marked {
    fn n_words(&self) -> usize {
        self.n_words
    }

    fn n_copies(&self) -> usize {
        self.n_copies
    }

    fn n_mark_words(&self) -> usize {
        self.case.words(0).len()
    }

    fn initial(&mut self, out: &mut Successors) -> Result<(), StopReason> {
        let marks = self.case.words(0);
        for &node in &self.case.initial {
            out.push_step(&self.state(node));
            out.push_edge(0, (node % self.n_copies) as u32, &marks);
        }
        Ok(())
    }

    fn successors(
        &mut self,
        state: &[u64],
        wanted: &dyn Fn(usize) -> bool,
        _is_new: bool,
        out: &mut Successors,
    ) -> Result<(), StopReason> {
        for edge in self.edges_from(state) {
            let arrow = self.case.edges[edge];
            out.push_step(&self.state(arrow.target));
            let from = arrow.source % self.n_copies;
            if wanted(from) {
                let to = (arrow.target % self.n_copies) as u32;
                out.push_edge(from as u32, to, &self.case.words(arrow.marks));
            }
        }
        Ok(())
    }

    fn is_state(&self, words: &[u64]) -> bool {
        !self.numbers_of(words).is_empty()
    }

    fn notes(&self) -> Vec<u64> {
        Vec::new()
    }

    fn add_notes(&mut self, notes: &[u64]) -> bool {
        notes.is_empty()
    }
}
