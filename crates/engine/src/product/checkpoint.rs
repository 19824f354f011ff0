//! The explored part of a product as numbers, and back.

use base::{bits, put_list, take_list};
use omega::{NodeId, SearchState};

use store::StateStore;

use super::Product;
use super::selection::Selection;
use super::space::{Nodes, OwnSpace, Space, UNEXPANDED};

/// What tells these numbers from those of other searches.
const KIND: u64 = 2;

/// No search takes more steps.
const MOST_TRANSITIONS: u64 = 1 << 60;

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
        self.restore_states(take_list(words)?)?;
        self.restore_pairs(take_list(words)?)?;

        let n_steps = take_list(words)?;
        for (own, kept) in self.space.n_steps.iter_mut().zip(n_steps) {
            *own = u32::try_from(*kept).ok()?;
        }
        let selections = take_list(words)?.iter().map(|&s| Selection::from_number(s));
        self.space.selections = selections.collect::<Option<_>>()?;

        let (taken, seen) = (take_list(words)?, take_list(words)?);
        let has_sizes = self.space.n_steps.len() == n_steps.len()
            && self.space.n_nodes() as u64 == n_nodes
            && self.space.selections.len() <= n_steps.len()
            && self.commands_taken.len() == taken.len()
            && self.seen.len() == seen.len()
            && n_transitions <= MOST_TRANSITIONS;

        if !has_sizes {
            return None;
        }
        for (own, kept) in self.commands_taken.iter_mut().zip(taken) {
            *own = *kept != 0;
        }
        bits::union_into(&mut self.seen, seen);
        self.n_transitions = n_transitions;
        self.is_restored = true;
        Some(())
    }

    /// States that are all different.
    fn restore_states(&mut self, words: &[u64]) -> Option<()> {
        let n_words = self.system.n_words();
        let states = words.chunks_exact(n_words);
        if !states.remainder().is_empty() {
            return None;
        }
        for (index, state) in states.enumerate() {
            if !self.system.is_packed(state) {
                return None;
            }
            let name = self.intern(&mut (), state, StateStore::hash(state)).ok()?;
            if name as usize != index {
                return None;
            }
        }
        Some(())
    }

    /// Nodes that are all different.
    fn restore_pairs(&mut self, pairs: &[u64]) -> Option<()> {
        if matches!(self.space.nodes, Nodes::Identity) {
            return pairs.is_empty().then_some(());
        }
        for (index, pair) in pairs.iter().enumerate() {
            let (state, automaton_state) = (*pair as u32, (pair >> 32) as u32);
            let is_known = (state as usize) < self.space.n_states()
                && (automaton_state as usize) < self.edges.len();
            let node = is_known.then(|| self.node(&mut (), state, automaton_state));
            if node?.ok()?.index() != index {
                return None;
            }
        }
        Some(())
    }

    /// Can a search have come to this state in this product? Nodes that were entered have been
    /// expanded, and something is left to do.
    pub(crate) fn fits(&self, state: &SearchState) -> bool {
        let n_nodes = self.space.n_nodes();
        if !state.is_consistent(n_nodes) {
            return false;
        }
        let nodes = || (0..n_nodes).map(NodeId::new);
        let is_expanded = |node: NodeId| self.space.n_steps(self.space.pair(node).0).is_some();
        let mut entered = nodes().filter(|node| state.was_entered(*node));
        let is_over = n_nodes > 0
            && state.is_between_starts()
            && nodes().all(|node| state.was_entered(node))
            && self.space.n_steps.iter().all(|n| *n != UNEXPANDED);
        entered.all(is_expanded) && !is_over
    }
}
