//! What is worked out about automaton and conditions before the product is explored.

use base::bits;
use model::Condition;
use omega::{Acceptance, Automaton, MarkId};

use crate::letters::Letters;
use crate::search::Query;
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

/// The acceptance of the product: the automaton's own and every condition, or those of an alternative.
pub(super) fn acceptance(
    conditions: &[Vec<Condition>],
    weak: &WeakMarks,
    sections: Sections,
    query: &Query<'_>,
) -> Acceptance {
    let mark = |section: usize, bit: usize| MarkId::new(section * 64 + bit);
    let fair_to = |is_chosen: &dyn Fn(&Condition) -> bool| {
        let chosen = |kind: usize| {
            let all = conditions[kind].iter().enumerate();
            all.filter(|(_, condition)| is_chosen(condition))
                .map(|(bit, _)| bit)
        };
        let strong = chosen(1).map(|bit| {
            Acceptance::streett_pair(mark(sections.enabled, bit), mark(sections.taken, bit))
        });
        let unconditional = chosen(2).map(|bit| Acceptance::Inf(mark(sections.unconditional, bit)));
        let weak = weak.acceptance_of(&|bit| is_chosen(&conditions[0][bit]));
        Acceptance::all([weak].into_iter().chain(strong).chain(unconditional))
    };
    let of_automaton =
        |demand: &Acceptance| demand.map_marks(&mut |own| mark(sections.automaton, own.index()));

    let own = of_automaton(&query.automaton.acceptance);
    if query.alternatives.is_empty() {
        return Acceptance::all([fair_to(&|_| true), own]);
    }
    // Alternatives outside, because the search treats each for itself.
    Acceptance::any(query.alternatives.iter().map(|alternative| {
        let is_demanded = |condition: &Condition| {
            let mut demanded = alternative.conditions.iter();
            demanded
                .any(|other| (other.kind, &other.subject) == (condition.kind, &condition.subject))
        };
        let demand = of_automaton(&alternative.demand);
        Acceptance::all([fair_to(&is_demanded), own.clone(), demand])
    }))
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
