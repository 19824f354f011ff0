//! What is worked out about automaton and conditions before the product is explored.

use base::bits;
use model::Condition;
use omega::{Acceptance, Automaton, MarkId};

use crate::letters::Letters;
use crate::weak::WeakMarks;

use super::{CompiledEdge, Sections};

impl CompiledEdge {
    pub(super) fn reads(&self, letter: &[u64]) -> bool {
        let mut words = self.care.iter().zip(&self.value).zip(letter);
        words.all(|((care, value), letter)| letter & care == *value)
    }
}

impl Sections {
    /// The sections of the conditions.
    pub(super) fn new(conditions: &[Vec<Condition>]) -> Self {
        let [weak, strong, unconditional] =
            [0, 1, 2].map(|kind| bits::words_for(conditions[kind].len()));
        let control = weak + 2 * strong + unconditional;
        Self {
            enabled: weak,
            taken: weak + strong,
            unconditional: weak + 2 * strong,
            control,
            automaton: control,
            end: control,
        }
    }

    /// Adds what weak fairness needs beside its own section, and the automaton.
    pub(super) fn followed_by(self, weak: &WeakMarks, n_automaton_marks: usize) -> Self {
        let automaton = self.control + weak.n_words_behind();
        Self {
            automaton,
            end: automaton + bits::words_for(n_automaton_marks),
            ..self
        }
    }
}

/// The acceptance of the product: every condition and the automaton's own.
pub(super) fn acceptance(
    conditions: &[Vec<Condition>],
    weak: &WeakMarks,
    sections: Sections,
    automaton: &Automaton,
) -> Acceptance {
    let mark = |section: usize, bit: usize| MarkId::new(section * 64 + bit);
    let strong = (0..conditions[1].len()).map(|bit| {
        Acceptance::streett_pair(mark(sections.enabled, bit), mark(sections.taken, bit))
    });
    let unconditional =
        (0..conditions[2].len()).map(|bit| Acceptance::Inf(mark(sections.unconditional, bit)));
    let own = automaton
        .acceptance
        .map_marks(&mut |own| mark(sections.automaton, own.index()));
    let elementary = [weak.acceptance()].into_iter().chain(strong);
    Acceptance::all(elementary.chain(unconditional).chain([own]))
}

pub(super) fn compile_edges(
    automaton: &Automaton,
    letters: &Letters,
    sections: Sections,
) -> Vec<Vec<CompiledEdge>> {
    let compile = |edge: &omega::Edge| {
        let mut compiled = CompiledEdge {
            care: vec![0; letters.n_words],
            value: vec![0; letters.n_words],
            marks: vec![0; sections.end - sections.automaton],
            target: edge.target.0,
        };
        for &(atom, value) in edge.guard.literals() {
            bits::set(&mut compiled.care, letters.bit(atom));
            if value {
                bits::set(&mut compiled.value, letters.bit(atom));
            }
        }
        for mark in &edge.marks {
            bits::set(&mut compiled.marks, mark.index());
        }
        compiled
    };

    automaton
        .edges
        .iter()
        .map(|edges| edges.iter().map(compile).collect())
        .collect()
}
