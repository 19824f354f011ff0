//! What is worked out about automaton and conditions before the product is explored.

use base::bits;
use model::Condition;
use omega::{Acceptance, Automaton, MarkId};

use crate::letters::Letters;

use super::{CompiledEdge, Sections};

impl CompiledEdge {
    pub(super) fn reads(&self, letter: &[u64]) -> bool {
        let mut words = self.care.iter().zip(&self.value).zip(letter);
        words.all(|((care, value), letter)| letter & care == *value)
    }
}

impl Sections {
    pub(super) fn new(conditions: &[Vec<Condition>], n_automaton_marks: usize) -> Self {
        let [weak, strong, unconditional] =
            [0, 1, 2].map(|kind| bits::words_for(conditions[kind].len()));
        let automaton = weak + 2 * strong + unconditional;
        Self {
            enabled: weak,
            taken: weak + strong,
            unconditional: weak + 2 * strong,
            automaton,
            end: automaton + bits::words_for(n_automaton_marks),
        }
    }
}

/// The acceptance of the product: every condition and the automaton's own.
pub(super) fn acceptance(
    conditions: &[Vec<Condition>],
    sections: Sections,
    automaton: &Automaton,
) -> Acceptance {
    let mark = |section: usize, bit: usize| MarkId::new(section * 64 + bit);
    let weak = (0..conditions[0].len()).map(|bit| Acceptance::Inf(mark(0, bit)));
    let strong = (0..conditions[1].len()).map(|bit| {
        Acceptance::streett_pair(mark(sections.enabled, bit), mark(sections.taken, bit))
    });
    let unconditional =
        (0..conditions[2].len()).map(|bit| Acceptance::Inf(mark(sections.unconditional, bit)));
    let own = automaton
        .acceptance
        .map_marks(&mut |own| mark(sections.automaton, own.index()));
    Acceptance::all(weak.chain(strong).chain(unconditional).chain([own]))
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
