//! Marks and acceptance of a product, told apart by what a permutation of processes does to them.

use model::Condition;
use omega::{Automaton, MarkId, SymmetricAcceptance};

use super::{Product, Space};

impl<S: Space> Product<'_, '_, S> {
    /// Every condition with its marks: one, or for strong fairness those of "enabled" and "taken".
    pub(crate) fn condition_marks(&self) -> Vec<(&Condition, Vec<MarkId>)> {
        let sections = self.sections;
        let words = [
            &[0][..],
            &[sections.enabled, sections.taken],
            &[sections.unconditional],
        ];
        let kinds = self.conditions.iter().zip(words);
        let marks = kinds.flat_map(|(conditions, words)| {
            let marks = move |bit: usize| words.iter().map(move |word| word * 64 + bit);
            let conditions = conditions.iter().enumerate();
            conditions.map(move |(bit, condition)| {
                let marks = marks(bit).map(MarkId::new);
                (condition, marks.collect())
            })
        });
        marks.collect()
    }

    /// The units of the steps that were kept of the state that was expanded last. All steps of a
    /// unit are kept, or none.
    pub(crate) fn kept_units(&self) -> &[u32] {
        &self.steps.units
    }

    /// The acceptance of the product with this automaton. No process may ever have control.
    pub(crate) fn symmetric_acceptance(&self, automaton: &Automaton) -> SymmetricAcceptance {
        assert!(
            !self.weak.needs_control(),
            "processes with control are not exchanged"
        );
        let own = |mark: MarkId| MarkId::new(self.sections.automaton * 64 + mark.index());
        let mut acceptance = SymmetricAcceptance {
            infinitely: Vec::new(),
            pairs: Vec::new(),
            fixed: automaton.acceptance.map_marks(&mut |mark| own(mark)),
        };
        for (_, marks) in self.condition_marks() {
            match marks[..] {
                [enabled, taken] => acceptance.pairs.push((enabled, taken)),
                _ => acceptance.infinitely.extend(marks),
            }
        }
        acceptance
    }
}
