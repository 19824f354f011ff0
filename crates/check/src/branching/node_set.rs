//! Sets of nodes: one bit for each.

use base::bits;

/// A set of nodes. Invariant: no bit beyond the last node is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NodeSet {
    words: Vec<u64>,
    n_nodes: usize,
}

impl NodeSet {
    pub(crate) fn empty(n_nodes: usize) -> Self {
        let words = vec![0; bits::words_for(n_nodes)];
        Self { words, n_nodes }
    }

    pub(crate) fn all(n_nodes: usize) -> Self {
        Self::empty(n_nodes).complement()
    }

    pub(crate) fn those(n_nodes: usize, belongs: impl Fn(u32) -> bool) -> Self {
        let mut set = Self::empty(n_nodes);
        for node in 0..n_nodes as u32 {
            if belongs(node) {
                set.insert(node);
            }
        }
        set
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub(crate) fn contains(&self, node: u32) -> bool {
        bits::get(&self.words, node as usize)
    }

    /// Adds a node; says whether that is news.
    pub(crate) fn insert(&mut self, node: u32) -> bool {
        let is_new = !self.contains(node);
        bits::set(&mut self.words, node as usize);
        is_new
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        bits::iter(&self.words).map(|node| node as u32)
    }

    pub(crate) fn complement(mut self) -> Self {
        for word in &mut self.words {
            *word = !*word;
        }
        let n_rest = self.n_nodes % 64;
        if let (Some(last), true) = (self.words.last_mut(), n_rest > 0) {
            *last &= (1 << n_rest) - 1;
        }
        self
    }

    pub(crate) fn intersect(mut self, other: &Self) -> Self {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
        self
    }

    pub(crate) fn unite(mut self, other: &Self) -> Self {
        bits::union_into(&mut self.words, &other.words);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_stay_within_the_nodes() {
        for n_nodes in [0, 1, 63, 64, 65, 130] {
            assert_eq!(NodeSet::all(n_nodes).iter().count(), n_nodes);
            assert_eq!(NodeSet::all(n_nodes).complement(), NodeSet::empty(n_nodes));
        }
    }
}
