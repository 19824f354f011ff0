//! Terms in atoms: what is not a variable plus a constant is named by a fresh variable.
//!
//! An atom over terms becomes an atom over variables together with a [`Naming`]: the fresh
//! variables and their definitions, to be quantified around the atom. Every definition is a
//! total function of the variables that it mentions (subtraction saturates, the extrema of the
//! empty set are 0), so it does not matter whether a negation is inside or outside.

use crate::atoms::Atom;
use crate::formula::{Formula, Formulas, Var, VarKind};

/// Fresh variables with their definitions.
#[derive(Default)]
pub(crate) struct Naming {
    pub(crate) fresh: Vec<Var>,
    pub(crate) definitions: Vec<Formula>,
}

/// A position: `base + plus`, or `base ∸ minus`, or the number `plus`.
/// Invariant: with a base, `plus == 0 || minus == 0`, and neither is negative. A number that is
/// negative must not reach an atom; who reads text reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) base: Option<Var>,
    pub(crate) plus: i64,
    pub(crate) minus: i64,
}

impl Term {
    pub(crate) fn of(var: Var) -> Self {
        Self {
            base: Some(var),
            plus: 0,
            minus: 0,
        }
    }

    pub(crate) fn number(number: i64) -> Self {
        Self {
            base: None,
            plus: number,
            minus: 0,
        }
    }

    /// The variable, if it is nothing else.
    pub(crate) fn plain(&self) -> Option<Var> {
        self.base.filter(|_| self.plus == 0 && self.minus == 0)
    }

    /// A number below 0, which is not a position.
    pub(crate) fn is_negative(&self) -> bool {
        self.base.is_none() && self.plus < 0
    }
}

/// How two sets are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetOperator {
    Union,
    Inter,
    Minus,
}

impl SetOperator {
    fn apply(self, left: bool, right: bool) -> bool {
        match self {
            Self::Union => left || right,
            Self::Inter => left && right,
            Self::Minus => left && !right,
        }
    }
}

/// A set, as a Boolean combination of simpler ones.
#[derive(Clone, Debug)]
pub(crate) enum SetTerm {
    Empty,
    Variable(Var),
    Single(Term),
    Interval(Term, Term),
    Number(u64),
    Operation(SetOperator, Box<(SetTerm, SetTerm)>),
}

impl SetTerm {
    pub(crate) fn operation(operator: SetOperator, left: Self, right: Self) -> Self {
        Self::Operation(operator, Box::new((left, right)))
    }

    /// The union of many sets: balanced, because combinations are walked recursively.
    pub(crate) fn union_of(mut parts: Vec<Self>) -> Self {
        while parts.len() > 1 {
            let mut halved = Vec::new();
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => Self::operation(SetOperator::Union, left, right),
                    None => left,
                });
            }
            parts = halved;
        }
        parts.pop().unwrap_or(Self::Empty)
    }

    /// The set of some positions; small constants among them are one number.
    pub(crate) fn display(elements: Vec<Term>) -> Self {
        let mut parts = Vec::new();
        let mut number = 0;
        for element in elements {
            match (element.base, element.plus) {
                (None, plus @ 0..64) => number |= 1 << plus,
                _ => parts.push(Self::Single(element)),
            }
        }
        if number != 0 {
            parts.push(Self::Number(number));
        }
        Self::union_of(parts)
    }

    fn n_leaves(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Operation(_, sides) => sides.0.n_leaves() + sides.1.n_leaves(),
            _ => 1,
        }
    }

    /// Is a position in a combination of leaves? Bit `i` of `row` says whether it is in leaf `i`.
    fn bit(&self, leaves: &[Var], row: usize) -> bool {
        match self {
            Self::Variable(var) => {
                let leaf = leaves.iter().position(|leaf| leaf == var);
                row >> leaf.expect("its leaves are named") & 1 == 1
            }
            Self::Operation(operator, sides) => {
                let left = sides.0.bit(leaves, row);
                operator.apply(left, sides.1.bit(leaves, row))
            }
            _ => false,
        }
    }
}

/// How many sets one pointwise atom may relate; larger combinations are named in parts.
const MAX_POINTWISE: usize = 6;

/// Subtractions up to this are read off a window of the set instead of being named.
const MAX_WINDOW: i64 = 3;

impl Formulas {
    pub(crate) fn fresh(&mut self, kind: VarKind, naming: &mut Naming) -> Var {
        let var = self.var(kind);
        naming.fresh.push(var);
        var
    }

    pub(crate) fn define(&mut self, atom: Atom, roles: &[Var], naming: &mut Naming) {
        let definition = self.atom(atom, roles);
        naming.definitions.push(definition);
    }

    /// Conjoins the definitions and quantifies the fresh variables.
    pub(crate) fn close_naming(&mut self, naming: Naming, formula: Formula) -> Formula {
        let mut all = naming.definitions;
        all.push(formula);
        let conjunction = self.and(&all);
        self.exists(&naming.fresh, &conjunction)
    }

    /// A variable that has the value of a term.
    pub(crate) fn name_term(&mut self, term: Term, naming: &mut Naming) -> Var {
        debug_assert!(!term.is_negative());
        if let Some(var) = term.plain() {
            return var;
        }
        let var = self.fresh(VarKind::First, naming);
        match term.base {
            None => self.define(Atom::EqualConst(term.plus), &[var], naming),
            Some(base) if term.minus > 0 => {
                self.define(Atom::EqualMinus(term.minus as u32), &[var, base], naming);
            }
            Some(base) => self.define(Atom::Equal(term.plus), &[var, base], naming),
        }
        var
    }

    /// `term + amount`, or `term ∸ -amount`.
    pub(crate) fn shift_term(&mut self, mut term: Term, amount: i64, naming: &mut Naming) -> Term {
        if amount > 0 && term.base.is_some() && term.minus > 0 {
            term = Term::of(self.name_term(term, naming));
        }
        let plus = term.plus + amount;
        match term.base {
            Some(_) if plus < 0 => Term {
                plus: 0,
                minus: term.minus - plus,
                ..term
            },
            _ => Term { plus, ..term },
        }
    }

    /// The set of all `i + amount`, or of all `i ∸ -amount`, for `i` in `set`, one step at a time.
    pub(crate) fn shift_set(&mut self, set: SetTerm, amount: i64, naming: &mut Naming) -> SetTerm {
        if amount == 0 {
            return set;
        }
        let mut var = self.name_set(&set, naming);
        for _ in 0..amount.unsigned_abs() {
            let next = self.fresh(VarKind::Set, naming);
            let atom = if amount > 0 {
                Atom::ShiftUp(1)
            } else {
                Atom::ShiftDown
            };
            self.define(atom, &[next, var], naming);
            var = next;
        }
        SetTerm::Variable(var)
    }

    /// The least or greatest element of a set.
    pub(crate) fn extremum(&mut self, atom: Atom, set: &SetTerm, naming: &mut Naming) -> Term {
        let set = self.name_set(set, naming);
        let var = self.fresh(VarKind::First, naming);
        self.define(atom, &[var, set], naming);
        Term::of(var)
    }

    /// `term ± amount % modulus`, one step at a time.
    pub(crate) fn modulo(
        &mut self,
        term: Term,
        amount: i64,
        modulus: Term,
        naming: &mut Naming,
    ) -> Term {
        let modulus = self.name_term(modulus, naming);
        let mut var = self.name_term(term, naming);
        for _ in 0..amount.unsigned_abs() {
            let next = self.fresh(VarKind::First, naming);
            let definition = self.modulo_step(amount < 0, next, var, modulus);
            naming.definitions.push(definition);
            var = next;
        }
        Term::of(var)
    }

    /// `i = j ± 1 % k`. Above the modulus the result is 0; at the modulus, adding gives 1 % k.
    fn modulo_step(&mut self, minus: bool, i: Var, j: Var, k: Var) -> Formula {
        let above = self.atom(Atom::Less(0), &[k, j]);
        let i_is_zero = self.atom(Atom::EqualConst(0), &[i]);
        let outside = self.and(&[above.clone(), i_is_zero.clone()]);
        let not_above = self.not(&above);
        let cases = if minus {
            let j_is_zero = self.atom(Atom::EqualConst(0), &[j]);
            let k_is_zero = self.atom(Atom::EqualConst(0), &[k]);
            let before_j = self.atom(Atom::Equal(1), &[j, i]);
            let before_k = self.atom(Atom::Equal(1), &[k, i]);
            [
                before_j,
                self.and(&[j_is_zero.clone(), before_k]),
                self.and(&[j_is_zero, k_is_zero, i_is_zero]),
            ]
        } else {
            let below = self.atom(Atom::Less(-1), &[j, k]);
            let after_j = self.atom(Atom::Equal(1), &[i, j]);
            let j_is_last = self.atom(Atom::Equal(1), &[k, j]);
            let j_is_k = self.atom(Atom::Equal(0), &[j, k]);
            let k_is_small = self.atom(Atom::LessConst(2), &[k]);
            let i_is_one = self.atom(Atom::EqualConst(1), &[i]);
            let wrapped = self.implies(&k_is_small, &i_is_zero);
            let over = self.or(&[k_is_small, i_is_one]);
            [
                self.and(&[below, after_j]),
                self.and(&[j_is_last, i_is_zero]),
                self.and(&[j_is_k, wrapped, over]),
            ]
        };

        let inside = self.or(&cases);
        let inside = self.and(&[not_above, inside]);
        self.or(&[outside, inside])
    }

    /// A variable that has the value of a set.
    pub(crate) fn name_set(&mut self, set: &SetTerm, naming: &mut Naming) -> Var {
        if let SetTerm::Variable(var) = set {
            return *var;
        }
        let var = self.fresh(VarKind::Set, naming);
        let definition = self.equal_set_terms(&SetTerm::Variable(var), set, naming);
        naming.definitions.push(definition);
        var
    }

    /// Have two sets the same elements? A variable that equals a singleton, an interval or a
    /// constant is an atom of its own.
    pub(crate) fn equal_set_terms(
        &mut self,
        left: &SetTerm,
        right: &SetTerm,
        naming: &mut Naming,
    ) -> Formula {
        match (left, right) {
            (SetTerm::Variable(var), SetTerm::Single(term))
            | (SetTerm::Single(term), SetTerm::Variable(var)) => {
                let element = self.name_term(*term, naming);
                self.atom(Atom::Singleton, &[*var, element])
            }
            (SetTerm::Variable(var), SetTerm::Interval(from, to))
            | (SetTerm::Interval(from, to), SetTerm::Variable(var)) => {
                let from = self.name_term(*from, naming);
                let to = self.name_term(*to, naming);
                self.atom(Atom::Interval, &[*var, from, to])
            }
            (SetTerm::Variable(var), SetTerm::Number(number))
            | (SetTerm::Number(number), SetTerm::Variable(var)) => {
                self.atom(Atom::Number(*number), &[*var])
            }
            _ => {
                let sets = [left.clone(), right.clone()];
                self.pointwise(&sets, naming, |bits| bits[0] == bits[1])
            }
        }
    }

    /// The atom that says of every position that `relation` holds of its membership in the sets.
    pub(crate) fn pointwise(
        &mut self,
        sets: &[SetTerm],
        naming: &mut Naming,
        relation: impl Fn(&[bool]) -> bool,
    ) -> Formula {
        let mut leaves = Vec::new();
        let budget = MAX_POINTWISE / sets.len();
        let sets: Vec<SetTerm> = sets
            .iter()
            .map(|set| self.with_leaves(set, budget, &mut leaves, naming))
            .collect();

        let row = |row: usize| {
            let value = |set: &SetTerm| set.bit(&leaves, row);
            relation(&sets.iter().map(value).collect::<Vec<bool>>())
        };
        let table: Vec<bool> = (0..1 << leaves.len()).map(row).collect();

        if table.iter().all(|&holds| holds) {
            return self.constant(true);
        }

        let n_sets = leaves.len() as u32;
        self.atom(Atom::Pointwise { n_sets, table }, &leaves)
    }

    /// Names the leaves of a combination, and parts of it where it has more than `budget` leaves.
    fn with_leaves(
        &mut self,
        set: &SetTerm,
        budget: usize,
        leaves: &mut Vec<Var>,
        naming: &mut Naming,
    ) -> SetTerm {
        match set {
            SetTerm::Empty => SetTerm::Empty,
            SetTerm::Operation(operator, sides) if budget > 1 || set.n_leaves() <= budget => {
                let few = budget.min(sides.0.n_leaves());
                let few = few.min((budget / 2).max(budget.saturating_sub(sides.1.n_leaves())));
                let left = self.with_leaves(&sides.0, few, leaves, naming);
                let right = self.with_leaves(&sides.1, budget - few, leaves, naming);
                SetTerm::operation(*operator, left, right)
            }
            _ => {
                let var = self.name_set(set, naming);
                if !leaves.contains(&var) {
                    leaves.push(var);
                }
                SetTerm::Variable(var)
            }
        }
    }

    /// `term ∈ set`.
    pub(crate) fn membership(
        &mut self,
        term: &Term,
        set: &SetTerm,
        naming: &mut Naming,
    ) -> Formula {
        match set {
            SetTerm::Empty => self.constant(false),
            SetTerm::Single(element) => self.equal_terms(term, element, naming),
            SetTerm::Interval(from, to) => {
                let below = self.less_terms(term, from, naming);
                let above = self.less_terms(to, term, naming);
                let outside = self.or(&[below, above]);
                self.not(&outside)
            }
            SetTerm::Operation(operator, sides) => {
                let left = self.membership(term, &sides.0, naming);
                let right = self.membership(term, &sides.1, naming);
                match operator {
                    SetOperator::Union => self.or(&[left, right]),
                    SetOperator::Inter => self.and(&[left, right]),
                    SetOperator::Minus => {
                        let right = self.not(&right);
                        self.and(&[left, right])
                    }
                }
            }
            SetTerm::Number(_) | SetTerm::Variable(_) => {
                let set = self.name_set(set, naming);
                let (atom, var) = match (term.base, term.minus) {
                    (Some(base), 0) => (Atom::In(term.plus as u32), base),
                    (Some(base), 1..=MAX_WINDOW) => (Atom::InMinus(term.minus as u32), base),
                    _ => (Atom::In(0), self.name_term(*term, naming)),
                };
                self.atom(atom, &[var, set])
            }
        }
    }

    /// The term without subtraction.
    fn without_minus(&mut self, term: &Term, naming: &mut Naming) -> Term {
        match term.minus {
            0 => *term,
            _ => Term::of(self.name_term(*term, naming)),
        }
    }

    /// `left < right`.
    pub(crate) fn less_terms(&mut self, left: &Term, right: &Term, naming: &mut Naming) -> Formula {
        let left = self.without_minus(left, naming);
        let right = self.without_minus(right, naming);
        let difference = right.plus - left.plus;
        match (left.base, right.base) {
            (None, None) => self.constant(difference > 0),
            (Some(x), Some(y)) if x == y => self.constant(difference > 0),
            (Some(x), Some(y)) => self.atom(Atom::Less(difference), &[x, y]),
            (Some(x), None) => self.atom(Atom::LessConst(difference), &[x]),
            (None, Some(y)) => {
                // c < y + d, that is, not y < c - d + 1.
                let most = self.atom(Atom::LessConst(1 - difference), &[y]);
                self.not(&most)
            }
        }
    }

    /// `left = right`.
    pub(crate) fn equal_terms(
        &mut self,
        left: &Term,
        right: &Term,
        naming: &mut Naming,
    ) -> Formula {
        let left = self.without_minus(left, naming);
        let right = self.without_minus(right, naming);
        let difference = right.plus - left.plus;
        match (left.base, right.base) {
            (None, None) => self.constant(difference == 0),
            (Some(x), Some(y)) if x == y => self.constant(difference == 0),
            (Some(x), Some(y)) => self.atom(Atom::Equal(difference), &[x, y]),
            (Some(x), None) => self.atom(Atom::EqualConst(difference), &[x]),
            (None, Some(y)) => self.atom(Atom::EqualConst(-difference), &[y]),
        }
    }
}
