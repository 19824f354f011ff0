//! Formulas without text: terms for positions and sets, and the atoms over them.

use crate::atoms::Atom;
use crate::formula::{Formula, Formulas, Var, VarKind};
use crate::naming::{Naming, SetOperator, SetTerm, Term};

/// A term that denotes a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// A variable of kind [`VarKind::First`].
    Var(Var),
    /// A constant.
    Number(u32),
    /// This many positions later.
    Plus(Box<Position>, u32),
    /// This many positions earlier, but not before position 0.
    Minus(Box<Position>, u32),
    /// The least element of a set, 0 if it is empty.
    Min(Box<Set>),
    /// The greatest element of a set, 0 if it is empty.
    Max(Box<Set>),
    /// The position after the first, modulo the second. At and above the modulus MONA's reading
    /// applies: the modulus itself is followed by 1 modulo it, greater positions by 0.
    NextModulo(Box<(Position, Position)>),
    /// The position before the first, modulo the second: 0 is preceded by the modulus less 1 (by 0
    /// if the modulus is 0). Positions above the modulus are preceded by 0.
    PreviousModulo(Box<(Position, Position)>),
}

impl Position {
    /// This many positions later.
    #[must_use]
    pub fn plus(self, n: u32) -> Self {
        Self::Plus(Box::new(self), n)
    }

    /// This many positions earlier, but not before position 0.
    #[must_use]
    pub fn minus(self, n: u32) -> Self {
        Self::Minus(Box::new(self), n)
    }

    /// See [`Position::NextModulo`].
    #[must_use]
    pub fn next_modulo(self, modulus: impl Into<Self>) -> Self {
        Self::NextModulo(Box::new((self, modulus.into())))
    }

    /// See [`Position::PreviousModulo`].
    #[must_use]
    pub fn previous_modulo(self, modulus: impl Into<Self>) -> Self {
        Self::PreviousModulo(Box::new((self, modulus.into())))
    }
}

impl From<Var> for Position {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}

impl From<u32> for Position {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl From<&Position> for Position {
    fn from(position: &Position) -> Self {
        position.clone()
    }
}

/// A term that denotes a finite set of positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Set {
    /// A variable of kind [`VarKind::Set`].
    Var(Var),
    /// The set of these positions.
    Display(Vec<Position>),
    /// All positions from the first to the second, none if they are in the wrong order.
    Interval(Box<(Position, Position)>),
    /// What is in one of two sets.
    Union(Box<(Set, Set)>),
    /// What is in both sets.
    Intersection(Box<(Set, Set)>),
    /// What is in the first set and not in the second.
    Difference(Box<(Set, Set)>),
    /// Every element this many positions later.
    Plus(Box<Set>, u32),
    /// Every element this many positions earlier, but not before position 0.
    Minus(Box<Set>, u32),
}

impl Set {
    /// The empty set.
    #[must_use]
    pub const fn empty() -> Self {
        Self::Display(Vec::new())
    }

    /// The set of one position.
    #[must_use]
    pub fn single(position: impl Into<Position>) -> Self {
        Self::Display(vec![position.into()])
    }

    /// All positions from `first` to `last`.
    #[must_use]
    pub fn interval(first: impl Into<Position>, last: impl Into<Position>) -> Self {
        Self::Interval(Box::new((first.into(), last.into())))
    }

    /// What is in one of two sets.
    #[must_use]
    pub fn union(self, other: impl Into<Self>) -> Self {
        Self::Union(Box::new((self, other.into())))
    }

    /// What is in both sets.
    #[must_use]
    pub fn intersection(self, other: impl Into<Self>) -> Self {
        Self::Intersection(Box::new((self, other.into())))
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub fn difference(self, other: impl Into<Self>) -> Self {
        Self::Difference(Box::new((self, other.into())))
    }

    /// Every element this many positions later.
    #[must_use]
    pub fn plus(self, n: u32) -> Self {
        Self::Plus(Box::new(self), n)
    }

    /// Every element this many positions earlier, but not before position 0.
    #[must_use]
    pub fn minus(self, n: u32) -> Self {
        Self::Minus(Box::new(self), n)
    }

    /// The least element, 0 if there is none.
    #[must_use]
    pub fn min(self) -> Position {
        Position::Min(Box::new(self))
    }

    /// The greatest element, 0 if there is none.
    #[must_use]
    pub fn max(self) -> Position {
        Position::Max(Box::new(self))
    }
}

impl From<Var> for Set {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}

impl From<&Set> for Set {
    fn from(set: &Set) -> Self {
        set.clone()
    }
}

/// Atoms. Each is undefined where one of its free first-order variables is, that is, where the
/// track of that variable is empty; see [`Formulas::is_position`].
///
/// # Panics
/// All of them panic if a variable of the wrong kind stands for a position or a set.
impl Formulas {
    /// `left < right`.
    pub fn less(&mut self, left: impl Into<Position>, right: impl Into<Position>) -> Formula {
        self.positions(left.into(), right.into(), Self::less_terms)
    }

    /// `left ≤ right`.
    pub fn less_equal(&mut self, left: impl Into<Position>, right: impl Into<Position>) -> Formula {
        let greater = self.less(right, left);
        self.not(&greater)
    }

    /// `left = right`.
    pub fn equal(&mut self, left: impl Into<Position>, right: impl Into<Position>) -> Formula {
        self.positions(left.into(), right.into(), Self::equal_terms)
    }

    /// `position ∈ set`.
    pub fn member(&mut self, position: impl Into<Position>, set: impl Into<Set>) -> Formula {
        let mut naming = Naming::default();
        let term = self.lower_position(&position.into(), &mut naming);
        let set = self.lower_set(&set.into(), &mut naming);
        let atom = self.membership(&term, &set, &mut naming);
        self.close_naming(naming, atom)
    }

    /// `left ⊆ right`.
    pub fn subset(&mut self, left: impl Into<Set>, right: impl Into<Set>) -> Formula {
        let mut naming = Naming::default();
        let left = self.lower_set(&left.into(), &mut naming);
        let right = self.lower_set(&right.into(), &mut naming);
        let atom = self.pointwise(&[left, right], &mut naming, |bits| !bits[0] || bits[1]);
        self.close_naming(naming, atom)
    }

    /// Have two sets the same elements?
    pub fn equal_sets(&mut self, left: impl Into<Set>, right: impl Into<Set>) -> Formula {
        let mut naming = Naming::default();
        let left = self.lower_set(&left.into(), &mut naming);
        let right = self.lower_set(&right.into(), &mut naming);
        let atom = self.equal_set_terms(&left, &right, &mut naming);
        self.close_naming(naming, atom)
    }

    /// Has a set no elements?
    pub fn is_empty(&mut self, set: impl Into<Set>) -> Formula {
        let mut naming = Naming::default();
        let set = self.lower_set(&set.into(), &mut naming);
        let atom = self.pointwise(&[set], &mut naming, |bits| !bits[0]);
        self.close_naming(naming, atom)
    }

    /// True where the first-order variable `var` has a value (its track is not empty) and undefined
    /// elsewhere. Quantifiers range over values anyway; conjoin this for a free variable whose
    /// automaton shall not accept empty tracks.
    pub fn is_position(&mut self, var: Var) -> Formula {
        expect_kind(var, VarKind::First);
        self.atom(Atom::FirstOrder, &[var])
    }

    fn positions(
        &mut self,
        left: Position,
        right: Position,
        relation: impl FnOnce(&mut Self, &Term, &Term, &mut Naming) -> Formula,
    ) -> Formula {
        let mut naming = Naming::default();
        let left = self.lower_position(&left, &mut naming);
        let right = self.lower_position(&right, &mut naming);
        let atom = relation(self, &left, &right, &mut naming);
        self.close_naming(naming, atom)
    }

    fn lower_position(&mut self, position: &Position, naming: &mut Naming) -> Term {
        match position {
            Position::Var(var) => {
                expect_kind(*var, VarKind::First);
                Term::of(*var)
            }
            Position::Number(number) => Term::number(i64::from(*number)),
            Position::Plus(inner, n) => {
                let term = self.lower_position(inner, naming);
                self.shift_term(term, i64::from(*n), naming)
            }
            Position::Minus(inner, n) => {
                let term = self.lower_position(inner, naming);
                match term.base {
                    None => Term::number((term.plus - i64::from(*n)).max(0)),
                    Some(_) => self.shift_term(term, -i64::from(*n), naming),
                }
            }
            Position::Min(set) => {
                let set = self.lower_set(set, naming);
                self.extremum(Atom::Min, &set, naming)
            }
            Position::Max(set) => {
                let set = self.lower_set(set, naming);
                self.extremum(Atom::Max, &set, naming)
            }
            Position::NextModulo(terms) => self.lower_modulo(terms, 1, naming),
            Position::PreviousModulo(terms) => self.lower_modulo(terms, -1, naming),
        }
    }

    fn lower_modulo(
        &mut self,
        terms: &(Position, Position),
        amount: i64,
        naming: &mut Naming,
    ) -> Term {
        let term = self.lower_position(&terms.0, naming);
        let modulus = self.lower_position(&terms.1, naming);
        self.modulo(term, amount, modulus, naming)
    }

    fn lower_set(&mut self, set: &Set, naming: &mut Naming) -> SetTerm {
        match set {
            Set::Var(var) => {
                expect_kind(*var, VarKind::Set);
                SetTerm::Variable(*var)
            }
            Set::Display(elements) => {
                let terms = elements.iter().map(|e| self.lower_position(e, naming));
                SetTerm::display(terms.collect())
            }
            Set::Interval(ends) => {
                let first = self.lower_position(&ends.0, naming);
                SetTerm::Interval(first, self.lower_position(&ends.1, naming))
            }
            Set::Union(sides) => self.lower_sides(SetOperator::Union, sides, naming),
            Set::Intersection(sides) => self.lower_sides(SetOperator::Inter, sides, naming),
            Set::Difference(sides) => self.lower_sides(SetOperator::Minus, sides, naming),
            Set::Plus(inner, n) => {
                let inner = self.lower_set(inner, naming);
                self.shift_set(inner, i64::from(*n), naming)
            }
            Set::Minus(inner, n) => {
                let inner = self.lower_set(inner, naming);
                self.shift_set(inner, -i64::from(*n), naming)
            }
        }
    }

    fn lower_sides(
        &mut self,
        operator: SetOperator,
        sides: &(Set, Set),
        naming: &mut Naming,
    ) -> SetTerm {
        let left = self.lower_set(&sides.0, naming);
        let right = self.lower_set(&sides.1, naming);
        SetTerm::operation(operator, left, right)
    }
}

fn expect_kind(var: Var, kind: VarKind) {
    assert_eq!(var.kind(), kind, "a variable of the wrong kind");
}
