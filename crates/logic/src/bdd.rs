//! Reduced ordered binary decision diagrams over the atoms of one formula.
//!
//! Guards of edges are kept as diagrams while an automaton is built and reduced, so that sixty
//! atoms cost sixty variables and never 2^60 letters; only at the end are they written as cubes.
//!
//! - Bryant: *Graph-Based Algorithms for Boolean Function Manipulation*, IEEE ToC 35(8), 1986,
//!   section 4, <https://doi.org/10.1109/TC.1986.1676819>.
//! - Minato: *Fast Generation of Irredundant Sum-of-Products Forms from Binary Decision Diagrams*,
//!   SASIMI 1992; our [`Bdds::cubes`] follows his ISOP procedure.
//!
//! A diagram that outgrows the limit turns into nonsense and [`Bdds::overflowed`] says so from then
//! on. This keeps the operations free of error handling; the function that hands out a result asks
//! first.

use base::AtomId;
use omega::Cube;
use rustc_hash::FxHashMap;

base::define_index! {
    /// A diagram. Invariant: equal functions have equal indices (within one [`Bdds`]).
    pub struct Bdd;
}

/// An inner node. Invariant: `low != high`, and both have larger variables or are terminal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Bdd,
    high: Bdd,
}

/// All diagrams of one translation.
#[derive(Clone)]
pub(crate) struct Bdds {
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Bdd>,
    conjunctions: FxHashMap<(Bdd, Bdd), Bdd>,
    negations: FxHashMap<Bdd, Bdd>,
    atoms: Vec<AtomId>,
    overflowed: bool,
}

const TERMINAL: u32 = u32::MAX;
const MAX_NODES: usize = 1 << 20;
const MAX_CUBES: usize = 20_000;

impl Bdd {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);
}

impl Bdds {
    /// Diagrams over these atoms, tested in this order.
    pub(crate) fn new(atoms: Vec<AtomId>) -> Self {
        let terminal = |value| Node {
            variable: TERMINAL,
            low: value,
            high: value,
        };
        Self {
            nodes: vec![terminal(Bdd::FALSE), terminal(Bdd::TRUE)],
            unique: FxHashMap::default(),
            conjunctions: FxHashMap::default(),
            negations: FxHashMap::default(),
            atoms,
            overflowed: false,
        }
    }

    /// Is some diagram wrong because it would have been too large?
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Is so much of the room in use that what is not necessary should not be tried?
    pub(crate) fn is_crowded(&self) -> bool {
        self.overflowed || self.nodes.len() > MAX_NODES / 2
    }

    /// Is so much of the room in use that copying it all takes time?
    pub(crate) fn is_busy(&self) -> bool {
        self.overflowed || self.nodes.len() > MAX_NODES / 16
    }

    /// The letters that contain the atom (or do not).
    ///
    /// # Panics
    /// If it is not one of the atoms given to [`Bdds::new`].
    pub(crate) fn literal(&mut self, atom: AtomId, value: bool) -> Bdd {
        let position = self.atoms.iter().position(|&known| known == atom);
        let variable = position.expect("an atom of the formula") as u32;
        if value {
            self.node(variable, Bdd::FALSE, Bdd::TRUE)
        } else {
            self.node(variable, Bdd::TRUE, Bdd::FALSE)
        }
    }

    pub(crate) fn and(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let (a, b) = (a.min(b), a.max(b));

        if a == Bdd::FALSE || a == b {
            return a;
        }

        if self.overflowed {
            return Bdd::FALSE;
        }
        if a == Bdd::TRUE {
            return b;
        }

        if let Some(&known) = self.conjunctions.get(&(a, b)) {
            return known;
        }

        let variable = self.variable(a).min(self.variable(b));
        let ((a_low, a_high), (b_low, b_high)) =
            (self.cofactors(a, variable), self.cofactors(b, variable));
        let low = self.and(a_low, b_low);
        let high = self.and(a_high, b_high);
        let result = self.node(variable, low, high);

        self.conjunctions.insert((a, b), result);
        result
    }

    pub(crate) fn not(&mut self, a: Bdd) -> Bdd {
        match a {
            Bdd::FALSE => return Bdd::TRUE,
            Bdd::TRUE => return Bdd::FALSE,
            _ => {}
        }

        if let Some(&known) = self.negations.get(&a) {
            return known;
        }
        if self.overflowed {
            return Bdd::FALSE;
        }

        let Node {
            variable,
            low,
            high,
        } = self.nodes[a.index()];
        let (low, high) = (self.not(low), self.not(high));

        let result = self.node(variable, low, high);
        self.negations.insert(a, result);
        self.negations.insert(result, a);
        result
    }

    pub(crate) fn or(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let neither = self.and(not_a, not_b);
        self.not(neither)
    }

    /// The letters of `a` that are not in `b`.
    pub(crate) fn minus(&mut self, a: Bdd, b: Bdd) -> Bdd {
        let not_b = self.not(b);
        self.and(a, not_b)
    }

    /// A diagram of one letter of `a` (false if there is none).
    pub(crate) fn one_letter(&mut self, a: Bdd) -> Bdd {
        if a == Bdd::FALSE || self.overflowed {
            return Bdd::FALSE;
        }
        let mut values = vec![false; self.atoms.len()];
        let mut rest = a;
        while rest != Bdd::TRUE {
            let Node {
                variable,
                low,
                high,
            } = self.nodes[rest.index()];
            values[variable as usize] = low == Bdd::FALSE;
            rest = if low == Bdd::FALSE { high } else { low };
        }

        let mut letter = Bdd::TRUE;
        for (variable, value) in values.into_iter().enumerate().rev() {
            let (low, high) = if value {
                (Bdd::FALSE, letter)
            } else {
                (letter, Bdd::FALSE)
            };
            letter = self.node(variable as u32, low, high);
        }
        letter
    }

    /// Cubes whose union is the diagram, none of them superfluous.
    pub(crate) fn cubes(&mut self, a: Bdd) -> Vec<Cube> {
        let mut cubes = Vec::new();
        let mut path = Vec::new();
        self.isop(a, a, &mut path, &mut cubes);
        cubes.sort();
        cubes
    }

    /// Appends cubes whose union lies between `lower` and `upper`; returns that union.
    fn isop(
        &mut self,
        lower: Bdd,
        upper: Bdd,
        path: &mut Vec<(AtomId, bool)>,
        cubes: &mut Vec<Cube>,
    ) -> Bdd {
        if lower == Bdd::FALSE || self.overflowed {
            return Bdd::FALSE;
        }
        if upper == Bdd::TRUE {
            cubes.push(Cube::new(path.iter().copied()).expect("each variable once on a path"));
            self.overflowed |= cubes.len() > MAX_CUBES;
            return Bdd::TRUE;
        }

        let variable = self.variable(lower).min(self.variable(upper));
        let atom = self.atoms[variable as usize];
        let (l0, l1) = self.cofactors(lower, variable);
        let (u0, u1) = self.cofactors(upper, variable);
        let only0 = self.minus(l0, u1);
        path.push((atom, false));

        let covered0 = self.isop(only0, u0, path, cubes);
        path.pop();
        let only1 = self.minus(l1, u0);
        path.push((atom, true));

        let covered1 = self.isop(only1, u1, path, cubes);
        path.pop();
        let rest0 = self.minus(l0, covered0);
        let rest1 = self.minus(l1, covered1);
        let rest = self.or(rest0, rest1);
        let both = self.and(u0, u1);
        let covered = self.isop(rest, both, path, cubes);
        let low = self.or(covered0, covered);
        let high = self.or(covered1, covered);
        self.node(variable, low, high)
    }

    fn variable(&self, a: Bdd) -> u32 {
        self.nodes[a.index()].variable
    }

    fn cofactors(&self, a: Bdd, variable: u32) -> (Bdd, Bdd) {
        let node = self.nodes[a.index()];
        if node.variable == variable {
            (node.low, node.high)
        } else {
            (a, a)
        }
    }

    fn node(&mut self, variable: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }

        let node = Node {
            variable,
            low,
            high,
        };

        if let Some(&known) = self.unique.get(&node) {
            return known;
        }

        if self.nodes.len() >= MAX_NODES {
            self.overflowed = true;
            return Bdd::FALSE;
        }

        let id = Bdd::new(self.nodes.len());
        self.nodes.push(node);
        self.unique.insert(node, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The diagram of the function over three atoms whose truth table is `table`.
    fn from_table(bdds: &mut Bdds, table: u8) -> Bdd {
        let mut union = Bdd::FALSE;
        for letter in (0..8_u32).filter(|letter| table >> letter & 1 == 1) {
            let mut minterm = Bdd::TRUE;
            for atom in 0..3 {
                let literal = bdds.literal(AtomId(atom), letter >> atom & 1 == 1);
                minterm = bdds.and(minterm, literal);
            }
            union = bdds.or(union, minterm);
        }
        union
    }

    #[test]
    fn every_function_of_three_atoms_is_canonical_and_covered_exactly() {
        let mut bdds = Bdds::new(vec![AtomId(2), AtomId(0), AtomId(1)]);
        let diagrams: Vec<Bdd> = (0..=255)
            .map(|table| from_table(&mut bdds, table))
            .collect();

        for (table, &diagram) in diagrams.iter().enumerate() {
            assert_eq!(bdds.not(diagram), diagrams[255 - table]);
            let cubes = bdds.cubes(diagram);
            for letter in 0..8_u32 {
                let contains = |atom: AtomId| letter >> atom.0 & 1 == 1;
                let covered = cubes.iter().any(|cube| cube.contains(&contains));
                assert_eq!(covered, table >> letter & 1 == 1, "table {table:08b}");
            }
        }

        for (a, &left) in diagrams.iter().enumerate() {
            for (b, &right) in diagrams.iter().enumerate() {
                assert_eq!(bdds.and(left, right), diagrams[a & b]);
                assert_eq!(bdds.minus(left, right), diagrams[a & !b]);
            }
        }
    }

    #[test]
    fn sixty_atoms_are_no_problem_and_too_many_cubes_are_noticed() {
        let mut bdds = Bdds::new((0..60).map(AtomId).collect());
        let mut clauses = Bdd::TRUE;
        for pair in 0..30 {
            let (a, b) = (AtomId(2 * pair), AtomId(2 * pair + 1));
            let (a, b) = (bdds.literal(a, true), bdds.literal(b, true));
            let clause = bdds.or(a, b);
            clauses = bdds.and(clauses, clause);
        }
        let terms = bdds.not(clauses);
        assert_eq!(bdds.cubes(terms).len(), 30);
        assert!(!bdds.overflowed());
        bdds.cubes(clauses);
        assert!(bdds.overflowed());
    }
}
