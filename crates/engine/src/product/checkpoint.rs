//! The explored part of a product as numbers, and back.

use base::{bits, put_list, take_list};

use crate::store::StateStore;

use super::Product;
use super::selection::Selection;
use super::space::{Nodes, OwnSpace, Space};

/// What tells these numbers from those of other searches.
const KIND: u64 = 2;

impl Product<'_, '_, OwnSpace> {
    /// Everything that is needed to go on.
    pub(crate) fn encode(&self, out: &mut Vec<u64>) {
        let n_words = self.system.n_words();
        let facts = [
            KIND,
            n_words as u64,
            self.space.n_nodes() as u64,
            self.n_transitions,
        ];
        put_list(out, facts);
        let mut words = vec![0; self.space.store.len() * n_words];
        for (index, row) in words.chunks_exact_mut(n_words).enumerate() {
            self.space.store.read(index as u32, row);
        }
        put_list(out, words);
        let mut pairs = Vec::new();
        if let Nodes::Pairs(stored) = &self.space.nodes {
            pairs.resize(stored.len(), 0);
            for (node, pair) in pairs.chunks_exact_mut(1).enumerate() {
                stored.read(node as u32, pair);
            }
        }
        put_list(out, pairs);
        put_list(out, self.space.n_steps.iter().map(|n| u64::from(*n)));
        put_list(out, self.space.selections.iter().map(|s| *s as u64));
        put_list(
            out,
            self.commands_taken.iter().map(|taken| u64::from(*taken)),
        );
        put_list(out, self.seen.iter().copied());
    }

    /// Brings a fresh product to where another was. Nothing if the numbers do not fit; then the
    /// product must not be used.
    pub(crate) fn restore(&mut self, words: &mut &[u64]) -> Option<()> {
        let n_words = self.system.n_words();
        let &[kind, width, n_nodes, n_transitions] = take_list(words)? else {
            return None;
        };
        if kind != KIND || width != n_words as u64 {
            return None;
        }
        for state in take_list(words)?.chunks_exact(n_words) {
            self.intern(&mut (), state, StateStore::hash(state)).ok()?;
        }
        for pair in take_list(words)? {
            self.node(&mut (), *pair as u32, (pair >> 32) as u32).ok()?;
        }
        let n_steps = take_list(words)?;
        for (own, kept) in self.space.n_steps.iter_mut().zip(n_steps) {
            *own = u32::try_from(*kept).ok()?;
        }
        let selections = take_list(words)?.iter().map(|&s| Selection::from_number(s));
        self.space.selections = selections.collect::<Option<_>>()?;
        for (own, kept) in self.commands_taken.iter_mut().zip(take_list(words)?) {
            *own = *kept != 0;
        }
        bits::union_into(&mut self.seen, take_list(words)?);
        self.n_transitions = n_transitions;
        let fits =
            self.space.n_steps.len() == n_steps.len() && self.space.n_nodes() as u64 == n_nodes;
        fits.then_some(())
    }
}
