//! Automata over infinite words whose letters are sets of atoms.

use base::AtomId;

use crate::{Acceptance, MarkId};

base::define_index! {
    /// A state of an automaton.
    pub struct StateId;
}

/// A conjunction of literals. Invariant: sorted by atom, each atom at most once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cube(Vec<(AtomId, bool)>);

impl Cube {
    /// The conjunction of the literals, or nothing if two of them contradict each other.
    #[must_use]
    pub fn new(literals: impl IntoIterator<Item = (AtomId, bool)>) -> Option<Self> {
        let mut literals: Vec<_> = literals.into_iter().collect();
        literals.sort_unstable();
        literals.dedup();
        let consistent = literals.windows(2).all(|pair| pair[0].0 != pair[1].0);
        consistent.then_some(Self(literals))
    }

    /// The literals: an atom, and whether it must be true.
    #[must_use]
    pub fn literals(&self) -> &[(AtomId, bool)] {
        &self.0
    }

    /// Does the letter satisfy every literal?
    #[must_use]
    pub fn contains(&self, letter: &impl Fn(AtomId) -> bool) -> bool {
        self.0.iter().all(|&(atom, value)| letter(atom) == value)
    }
}

/// A propositional formula over atoms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Prop {
    /// A constant.
    Const(bool),
    /// An atom.
    Atom(AtomId),
    /// Negation.
    Not(Box<Prop>),
    /// All of them.
    And(Vec<Prop>),
    /// At least one of them.
    Or(Vec<Prop>),
}

impl Prop {
    /// Does the letter satisfy the formula?
    #[must_use]
    pub fn holds(&self, letter: &impl Fn(AtomId) -> bool) -> bool {
        match self {
            Self::Const(value) => *value,
            Self::Atom(atom) => letter(*atom),
            Self::Not(inner) => !inner.holds(letter),
            Self::And(parts) => parts.iter().all(|part| part.holds(letter)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(letter)),
        }
    }
}

impl Prop {
    /// The value if the letter is known only in part (Kleene's strong three-valued logic).
    #[must_use]
    pub fn partial_value(&self, letter: &impl Fn(AtomId) -> Option<bool>) -> Option<bool> {
        match self {
            Self::Const(value) => Some(*value),
            Self::Atom(atom) => letter(*atom),
            Self::Not(inner) => inner.partial_value(letter).map(|value| !value),
            Self::And(parts) => Self::fold_partial(parts, letter, true),
            Self::Or(parts) => Self::fold_partial(parts, letter, false),
        }
    }

    fn fold_partial(
        parts: &[Self],
        letter: &impl Fn(AtomId) -> Option<bool>,
        neutral: bool,
    ) -> Option<bool> {
        let mut result = Some(neutral);
        for part in parts {
            match part.partial_value(letter) {
                Some(value) if value == neutral => {}
                Some(value) => return Some(value),
                None => result = None,
            }
        }
        result
    }

    /// Appends every atom that occurs, once per occurrence.
    pub fn collect_atoms(&self, out: &mut Vec<AtomId>) {
        match self {
            Self::Const(_) => {}
            Self::Atom(atom) => out.push(*atom),
            Self::Not(inner) => inner.collect_atoms(out),
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.collect_atoms(out);
                }
            }
        }
    }
}

/// An edge that reads one letter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Which letters it reads.
    pub guard: Cube,
    /// The marks that it carries, sorted.
    pub marks: Vec<MarkId>,
    /// Where it leads.
    pub target: StateId,
}

/// A mark that depends on the letter alone: every edge that reads a letter satisfying `when`
/// carries it.
///
/// Fairness written into a formula becomes such marks. Were they spread over the edges, thirty
/// conditions would need 2^30 edges; here they need thirty entries and no state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LetterMark {
    /// The mark.
    pub mark: MarkId,
    /// The letters that carry it.
    pub when: Prop,
}

/// A non-deterministic automaton with transition-based Emerson–Lei acceptance.
///
/// It accepts an infinite word iff some infinite path from an initial state reads it and the marks
/// seen infinitely often (on its edges and from its letters) satisfy `acceptance`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// Where reading starts.
    pub initial: Vec<StateId>,
    /// The edges that leave each state.
    pub edges: Vec<Vec<Edge>>,
    /// The marks that depend on the letter alone.
    pub letter_marks: Vec<LetterMark>,
    /// Invariant: every mark in `edges`, `letter_marks` and `acceptance` is below this.
    pub n_marks: usize,
    /// Which sets of marks are accepted.
    pub acceptance: Acceptance,
}

impl Automaton {
    /// The automaton with one state that accepts every word.
    #[must_use]
    pub fn universal() -> Self {
        let stay = Edge {
            guard: Cube::default(),
            marks: Vec::new(),
            target: StateId(0),
        };
        Self {
            initial: vec![StateId(0)],
            edges: vec![vec![stay]],
            letter_marks: Vec::new(),
            n_marks: 0,
            acceptance: Acceptance::True,
        }
    }

    /// How many states it has.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.edges.len()
    }
}
