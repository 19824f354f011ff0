//! Renamings of marks, and the group that they generate, as far as it is met.

use std::collections::{BTreeSet, HashMap};

use base::bits;

use crate::MarkId;

/// A permutation of marks.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Renaming {
    /// The marks that are renamed, in ascending order, with their new names.
    ///
    /// Invariant: no mark is paired with itself, and both columns have the same members.
    pairs: Vec<(u32, u32)>,
}

impl Renaming {
    /// The renaming with these old and new names; all other marks keep theirs.
    ///
    /// # Panics
    /// If that is not a permutation.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (MarkId, MarkId)>) -> Self {
        let pairs = pairs.into_iter().map(|(old, new)| (old.0, new.0));
        let mut pairs: Vec<(u32, u32)> = pairs.filter(|(old, new)| old != new).collect();
        pairs.sort_unstable();
        let old: BTreeSet<u32> = pairs.iter().map(|pair| pair.0).collect();
        let new: BTreeSet<u32> = pairs.iter().map(|pair| pair.1).collect();
        assert!(
            old == new && old.len() == pairs.len(),
            "no permutation: {pairs:?}"
        );
        Self { pairs }
    }

    /// The new name of a mark.
    pub(super) fn image(&self, mark: u32) -> u32 {
        let place = self.pairs.binary_search_by_key(&mark, |pair| pair.0);
        place.map_or(mark, |place| self.pairs[place].1)
    }

    /// First the other one, then this one.
    fn after(&self, other: &Self) -> Self {
        let olds = self.pairs.iter().chain(&other.pairs).map(|pair| pair.0);
        let olds: BTreeSet<u32> = olds.collect();
        let image = |old: u32| (old, self.image(other.image(old)));
        let pairs = olds.into_iter().map(image);
        Self {
            pairs: pairs.filter(|(old, new)| old != new).collect(),
        }
    }

    fn inverse(&self) -> Self {
        let mut pairs: Vec<(u32, u32)> = self.pairs.iter().map(|&(old, new)| (new, old)).collect();
        pairs.sort_unstable();
        Self { pairs }
    }

    /// The new names of a set of marks, into `out`.
    pub(super) fn apply(&self, marks: &[u64], out: &mut [u64]) {
        out.copy_from_slice(marks);
        for &(old, _) in &self.pairs {
            bits::clear(out, old as usize);
        }
        for &(old, new) in &self.pairs {
            if bits::get(marks, old as usize) {
                bits::set(out, new as usize);
            }
        }
    }
}

/// The number of a renaming in [`Renamings`].
pub(super) type RenamingId = u32;

/// A search that has met so many stops; while it does, a few more may be needed.
const MAX_RENAMINGS: usize = if cfg!(test) { 32 } else { 1 << 31 };

/// The renaming that changes nothing.
pub(super) const IDENTITY: RenamingId = 0;

/// No more products than this are remembered.
const MAX_PRODUCTS: usize = 1 << 20;

/// Renamings by number. Few of them occur, many times each, so products are looked up.
#[derive(Debug)]
pub(super) struct Renamings {
    known: Vec<Renaming>,
    numbers: HashMap<Renaming, RenamingId>,
    products: HashMap<(RenamingId, RenamingId), RenamingId>,
    inverses: HashMap<RenamingId, RenamingId>,
    /// How many pairs all renamings have.
    n_pairs: usize,
}

impl Renamings {
    pub(super) fn new() -> Self {
        let mut renamings = Self {
            known: Vec::new(),
            numbers: HashMap::new(),
            products: HashMap::new(),
            inverses: HashMap::new(),
            n_pairs: 0,
        };
        renamings.number(&Renaming::default());
        renamings
    }

    pub(super) fn get(&self, id: RenamingId) -> &Renaming {
        &self.known[id as usize]
    }

    /// Are there so many that a search is to stop? Those that are under way still have numbers.
    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= MAX_RENAMINGS
    }

    pub(super) fn number(&mut self, renaming: &Renaming) -> RenamingId {
        if let Some(id) = self.numbers.get(renaming) {
            return *id;
        }
        let id = RenamingId::try_from(self.known.len()).expect("searches stop before");
        self.n_pairs += renaming.pairs.len();
        self.known.push(renaming.clone());
        self.numbers.insert(renaming.clone(), id);
        id
    }

    /// First `second`, then `first`.
    pub(super) fn product(&mut self, first: RenamingId, second: RenamingId) -> RenamingId {
        match (first, second) {
            (IDENTITY, other) | (other, IDENTITY) => return other,
            _ => {}
        }
        if let Some(id) = self.products.get(&(first, second)) {
            return *id;
        }
        let product = self.get(first).after(self.get(second));
        let id = self.number(&product);
        if self.products.len() >= MAX_PRODUCTS {
            self.products.clear();
        }
        self.products.insert((first, second), id);
        id
    }

    /// About how many bytes they occupy.
    pub(super) fn memory_bytes(&self) -> usize {
        // Renamings are kept as values and as keys, numbers in tables with room to spare.
        let of_renamings = self.known.len() * size_of::<Renaming>() + self.n_pairs * 8;
        let of_numbers = self.known.len() + self.products.len() + self.inverses.len();
        2 * of_renamings + of_numbers * 32
    }

    pub(super) fn inverse(&mut self, of: RenamingId) -> RenamingId {
        if let Some(id) = self.inverses.get(&of) {
            return *id;
        }
        let inverse = self.get(of).inverse();
        let id = self.number(&inverse);
        self.inverses.insert(of, id);
        id
    }
}

/// The orbits of marks under the renamings that have been added: a union-find forest.
pub(super) struct Orbits {
    parents: Vec<u32>,
    generators: BTreeSet<RenamingId>,
}

impl Orbits {
    /// Every mark for itself.
    pub(super) fn new(n_mark_words: usize) -> Self {
        Self {
            parents: (0..n_mark_words as u32 * 64).collect(),
            generators: BTreeSet::new(),
        }
    }

    /// Adds a generator of the group.
    pub(super) fn add(&mut self, id: RenamingId, renamings: &Renamings) {
        if id == IDENTITY || !self.generators.insert(id) {
            return;
        }
        for &(old, new) in &renamings.get(id).pairs {
            let (one, other) = (self.root(old), self.root(new));
            self.parents[one.max(other) as usize] = one.min(other);
        }
    }

    fn root(&self, mut mark: u32) -> u32 {
        while self.parents[mark as usize] != mark {
            mark = self.parents[mark as usize];
        }
        mark
    }

    /// All marks in the orbits of these.
    pub(super) fn closure(&self, marks: &[u64]) -> Vec<u64> {
        let mut roots = vec![0; marks.len()];
        for mark in bits::iter(marks) {
            bits::set(&mut roots, self.root(mark as u32) as usize);
        }
        let mut closure = vec![0; marks.len()];
        for mark in 0..self.parents.len() {
            if bits::get(&roots, self.root(mark as u32) as usize) {
                bits::set(&mut closure, mark);
            }
        }
        closure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renaming(pairs: &[(u32, u32)]) -> Renaming {
        let pairs = pairs.iter();
        Renaming::new(pairs.map(|&(old, new)| (MarkId(old), MarkId(new))))
    }

    #[test]
    fn products_apply_the_second_factor_first() {
        let (turn, swap) = (
            renaming(&[(0, 1), (1, 2), (2, 0)]),
            renaming(&[(0, 1), (1, 0)]),
        );
        let mut renamings = Renamings::new();
        let (a, b) = (renamings.number(&turn), renamings.number(&swap));
        let product = renamings.product(a, b);
        // 0 becomes 1, then 2.
        assert_eq!(renamings.get(product), &renaming(&[(0, 2), (2, 0)]));
        let back = renamings.inverse(a);
        assert_eq!(renamings.product(a, back), IDENTITY);
        let mut out = [0];
        turn.apply(&[0b1101], &mut out);
        assert_eq!(out, [0b1011]);
    }

    #[test]
    fn orbits_are_those_of_the_generated_group() {
        let mut renamings = Renamings::new();
        let mut orbits = Orbits::new(2);
        for pairs in [&[(1, 64), (64, 1)][..], &[(64, 70), (70, 64)]] {
            let id = renamings.number(&renaming(pairs));
            orbits.add(id, &renamings);
        }
        assert_eq!(orbits.closure(&[0b10, 0]), [0b10, 1 | 1 << 6]);
        assert_eq!(orbits.closure(&[0b1, 0]), [0b1, 0]);
    }
}
