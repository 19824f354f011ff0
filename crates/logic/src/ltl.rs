//! Formulas of linear temporal logic.
//!
//! A formula is a handle to an immutable node: cloning is cheap and subformulas are shared.
//! Formulas from text may be deep, so nothing in this file recurses over a formula;
//! even dropping one is a loop.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::Arc;

use base::AtomId;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// A formula of linear temporal logic with `Next`. Cloning shares.
#[derive(Clone)]
pub struct Ltl(Arc<Node>);

/// The outermost operator of a formula and its operands.
///
/// Invariant: the operands of `And` are at least two and none is an `And`; the same for `Or`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Every word.
    True,
    /// No word.
    False,
    /// The atom is in the first letter.
    Atom(AtomId),
    /// Not.
    Not(Ltl),
    /// All of them.
    And(Vec<Ltl>),
    /// At least one of them.
    Or(Vec<Ltl>),
    /// If the first then the second.
    Implies(Ltl, Ltl),
    /// Both or neither.
    Iff(Ltl, Ltl),
    /// At the next position.
    Next(Ltl),
    /// The first holds until the second does, and the second does hold some time.
    Until(Ltl, Ltl),
    /// The first holds until the second does, or forever.
    WeakUntil(Ltl, Ltl),
    /// The second holds up to and including a position where the first does, or forever.
    Release(Ltl, Ltl),
    /// The second holds up to and including a position where the first does, and there is one.
    StrongRelease(Ltl, Ltl),
    /// Now or later.
    Eventually(Ltl),
    /// Now and forever.
    Always(Ltl),
    /// At the position before; there is none before the first.
    Previously(Ltl),
    /// The second held at some position up to this one, and the first at all positions after that.
    Since(Ltl, Ltl),
}

/// A node with what is asked of it often. Invariant: `hash`, `depth` and `size` belong to `op`.
struct Node {
    op: Op,
    hash: u64,
    depth: u32,
    size: u64,
}

impl Ltl {
    /// Every word.
    #[must_use]
    pub fn tt() -> Self {
        Self::new(Op::True)
    }

    /// No word.
    #[must_use]
    pub fn ff() -> Self {
        Self::new(Op::False)
    }

    /// Every word or no word.
    #[must_use]
    pub fn constant(value: bool) -> Self {
        if value { Self::tt() } else { Self::ff() }
    }

    /// The atom is in the first letter.
    #[must_use]
    pub fn atom(atom: AtomId) -> Self {
        Self::new(Op::Atom(atom))
    }

    /// Not; see [`Ltl::negate`] for one that removes a negation.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // A constructor beside the others, not an operator.
    pub fn not(inner: Self) -> Self {
        Self::new(Op::Not(inner))
    }

    /// All of them; nested conjunctions are flattened.
    #[must_use]
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part.op() {
                Op::And(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::tt(),
            1 => flat.swap_remove(0),
            _ => Self::new(Op::And(flat)),
        }
    }

    /// At least one of them; nested disjunctions are flattened.
    #[must_use]
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part.op() {
                Op::Or(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::ff(),
            1 => flat.swap_remove(0),
            _ => Self::new(Op::Or(flat)),
        }
    }

    /// If the first then the second.
    #[must_use]
    pub fn implies(premise: Self, conclusion: Self) -> Self {
        Self::new(Op::Implies(premise, conclusion))
    }

    /// Both or neither.
    #[must_use]
    pub fn iff(left: Self, right: Self) -> Self {
        Self::new(Op::Iff(left, right))
    }

    /// At the next position.
    #[must_use]
    pub fn next(inner: Self) -> Self {
        Self::new(Op::Next(inner))
    }

    /// `left U right`.
    #[must_use]
    pub fn until(left: Self, right: Self) -> Self {
        Self::new(Op::Until(left, right))
    }

    /// `left W right`.
    #[must_use]
    pub fn weak_until(left: Self, right: Self) -> Self {
        Self::new(Op::WeakUntil(left, right))
    }

    /// `left R right`.
    #[must_use]
    pub fn release(left: Self, right: Self) -> Self {
        Self::new(Op::Release(left, right))
    }

    /// `left M right`.
    #[must_use]
    pub fn strong_release(left: Self, right: Self) -> Self {
        Self::new(Op::StrongRelease(left, right))
    }

    /// Now or later.
    #[must_use]
    pub fn eventually(inner: Self) -> Self {
        Self::new(Op::Eventually(inner))
    }

    /// Now and forever.
    #[must_use]
    pub fn always(inner: Self) -> Self {
        Self::new(Op::Always(inner))
    }

    /// At the position before.
    #[must_use]
    pub fn previously(inner: Self) -> Self {
        Self::new(Op::Previously(inner))
    }

    /// `left` at all positions since `right` held.
    #[must_use]
    pub fn since(left: Self, right: Self) -> Self {
        Self::new(Op::Since(left, right))
    }

    /// Now or before.
    #[must_use]
    pub fn once(inner: Self) -> Self {
        Self::since(Self::tt(), inner)
    }

    /// Now and always before.
    #[must_use]
    pub fn historically(inner: &Self) -> Self {
        Self::once(inner.negate()).negate()
    }

    /// Does it look into the past?
    #[must_use]
    pub fn has_past(&self) -> bool {
        self.past_depth() > 0
    }

    /// Does it look into the future?
    #[must_use]
    pub fn has_future(&self) -> bool {
        self.subformulas().iter().any(|part| {
            use Op::{Always, Eventually, Next, Release, StrongRelease, Until, WeakUntil};
            matches!(
                part.op(),
                Next(_)
                    | Until(..)
                    | WeakUntil(..)
                    | Release(..)
                    | StrongRelease(..)
                    | Eventually(_)
                    | Always(_)
            )
        })
    }

    /// How deep past operators are nested.
    pub(crate) fn past_depth(&self) -> usize {
        let mut depth_by_address: FxHashMap<usize, usize> = FxHashMap::default();
        let mut depth = 0;
        for part in self.subformulas() {
            let operands = part.operands().into_iter();
            let inner = operands.map(|operand| depth_by_address[&operand.address()]);
            let own = usize::from(matches!(part.op(), Op::Previously(_) | Op::Since(..)));
            depth = inner.max().unwrap_or(0) + own;
            depth_by_address.insert(part.address(), depth);
        }
        depth
    }

    /// The negation, without writing two negations in a row.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self.op() {
            Op::True => Self::ff(),
            Op::False => Self::tt(),
            Op::Not(inner) => inner.clone(),
            _ => Self::not(self.clone()),
        }
    }

    /// The outermost operator.
    #[must_use]
    pub fn op(&self) -> &Op {
        &self.0.op
    }

    /// The operands of the outermost operator, from left to right.
    #[must_use]
    pub fn operands(&self) -> Vec<&Self> {
        self.op().operands()
    }

    /// How deep operators are nested; 1 for an atom.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.depth as usize
    }

    /// How many operators, atoms and constants a text of the formula has.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The atoms that occur, in ascending order.
    #[must_use]
    pub fn atoms(&self) -> Vec<AtomId> {
        let atoms: BTreeSet<AtomId> = self
            .subformulas()
            .iter()
            .filter_map(|part| match part.op() {
                Op::Atom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.into_iter().collect()
    }

    /// Is it free of temporal operators?
    #[must_use]
    pub fn is_propositional(&self) -> bool {
        self.subformulas().iter().all(|part| {
            use Op::{And, Atom, False, Iff, Implies, Not, Or, True};
            matches!(
                part.op(),
                True | False | Atom(_) | Not(_) | And(_) | Or(_) | Implies(..) | Iff(..)
            )
        })
    }

    /// Every subformula once, operands before what they are operands of; the last is `self`.
    #[must_use]
    pub fn subformulas(&self) -> Vec<&Self> {
        let mut seen = FxHashSet::default();
        let mut order = Vec::new();
        let mut stack = vec![(self, false)];
        while let Some((formula, operands_done)) = stack.pop() {
            if operands_done {
                order.push(formula);
            } else if seen.insert(formula.address()) {
                stack.push((formula, true));
                stack.extend(formula.operands().into_iter().rev().map(|f| (f, false)));
            }
        }
        order
    }

    /// The same formula with `Not` before atoms and past operators only, and without `Implies` and `Iff`.
    ///
    /// Shared subformulas stay shared, so the result is at most linear in the number of distinct
    /// subformulas even where its text is not.
    #[must_use]
    pub fn negation_normal_form(&self) -> Self {
        let mut both_by_address: FxHashMap<usize, (Self, Self)> = FxHashMap::default();
        for formula in self.subformulas() {
            let of = |part: &Self| both_by_address[&part.address()].clone();
            let both = normal_forms(formula, &of);
            both_by_address.insert(formula.address(), both);
        }
        both_by_address[&self.address()].0.clone()
    }

    /// The formula with every atom replaced. Shared subformulas stay shared.
    #[must_use]
    pub fn map_atoms(&self, replace: &dyn Fn(AtomId) -> Self) -> Self {
        let mut by_address: FxHashMap<usize, Self> = FxHashMap::default();
        for formula in self.subformulas() {
            let of = |part: &Self| by_address[&part.address()].clone();
            let replaced = match formula.op() {
                Op::Atom(atom) => replace(*atom),
                _ => formula.rebuilt(&of),
            };
            by_address.insert(formula.address(), replaced);
        }

        by_address[&self.address()].clone()
    }

    /// The formula with other operands.
    #[must_use]
    pub fn rebuilt(&self, of: &impl Fn(&Self) -> Self) -> Self {
        match self.op() {
            Op::True | Op::False | Op::Atom(_) => self.clone(),
            Op::Not(a) => Self::not(of(a)),
            Op::And(parts) => Self::and(parts.iter().map(of)),
            Op::Or(parts) => Self::or(parts.iter().map(of)),
            Op::Implies(a, b) => Self::implies(of(a), of(b)),
            Op::Iff(a, b) => Self::iff(of(a), of(b)),
            Op::Next(a) => Self::next(of(a)),
            Op::Until(a, b) => Self::until(of(a), of(b)),
            Op::WeakUntil(a, b) => Self::weak_until(of(a), of(b)),
            Op::Release(a, b) => Self::release(of(a), of(b)),
            Op::StrongRelease(a, b) => Self::strong_release(of(a), of(b)),
            Op::Eventually(a) => Self::eventually(of(a)),
            Op::Always(a) => Self::always(of(a)),
            Op::Previously(a) => Self::previously(of(a)),
            Op::Since(a, b) => Self::since(of(a), of(b)),
        }
    }

    /// Equal addresses mean equal formulas, as long as both are alive.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn new(op: Op) -> Self {
        let operands = op.operands();
        let depth = operands.iter().map(|part| part.0.depth).max().unwrap_or(0);
        let size = operands
            .iter()
            .fold(1_u64, |sum, part| sum.saturating_add(part.0.size));
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        Self(Arc::new(Node {
            depth: depth.saturating_add(1),
            size: size.saturating_add(operands.len().saturating_sub(2) as u64),
            hash: hasher.finish(),
            op,
        }))
    }
}

/// The negation normal forms of a formula and of its negation, from those of its operands.
fn normal_forms(formula: &Ltl, of: &impl Fn(&Ltl) -> (Ltl, Ltl)) -> (Ltl, Ltl) {
    let dual = |yes: fn(Ltl, Ltl) -> Ltl, no: fn(Ltl, Ltl) -> Ltl, left: &Ltl, right: &Ltl| {
        let ((l, not_l), (r, not_r)) = (of(left), of(right));
        (yes(l, r), no(not_l, not_r))
    };

    match formula.op() {
        Op::True => (Ltl::tt(), Ltl::ff()),
        Op::False => (Ltl::ff(), Ltl::tt()),
        Op::Atom(_) => (formula.clone(), Ltl::not(formula.clone())),
        Op::Not(inner) => {
            let (yes, no) = of(inner);
            (no, yes)
        }
        Op::And(parts) => {
            let (yes, no): (Vec<_>, Vec<_>) = parts.iter().map(of).unzip();
            (Ltl::and(yes), Ltl::or(no))
        }
        Op::Or(parts) => {
            let (yes, no): (Vec<_>, Vec<_>) = parts.iter().map(of).unzip();
            (Ltl::or(yes), Ltl::and(no))
        }
        Op::Implies(premise, conclusion) => {
            let ((p, not_p), (c, not_c)) = (of(premise), of(conclusion));
            (Ltl::or([not_p, c]), Ltl::and([p, not_c]))
        }
        Op::Iff(left, right) => {
            let ((l, not_l), (r, not_r)) = (of(left), of(right));
            let both = Ltl::and([l.clone(), r.clone()]);
            let neither = Ltl::and([not_l.clone(), not_r.clone()]);
            let differ = Ltl::or([Ltl::and([l, not_r]), Ltl::and([not_l, r])]);
            (Ltl::or([both, neither]), differ)
        }
        Op::Next(inner) => {
            let (yes, no) = of(inner);
            (Ltl::next(yes), Ltl::next(no))
        }
        Op::Until(left, right) => dual(Ltl::until, Ltl::release, left, right),
        Op::Release(left, right) => dual(Ltl::release, Ltl::until, left, right),
        Op::WeakUntil(left, right) => dual(Ltl::weak_until, Ltl::strong_release, left, right),
        Op::StrongRelease(left, right) => dual(Ltl::strong_release, Ltl::weak_until, left, right),
        Op::Eventually(inner) => {
            let (yes, no) = of(inner);
            (Ltl::eventually(yes), Ltl::always(no))
        }
        Op::Always(inner) => {
            let (yes, no) = of(inner);
            (Ltl::always(yes), Ltl::eventually(no))
        }
        Op::Previously(inner) => {
            let before = Ltl::previously(of(inner).0);
            (before.clone(), Ltl::not(before))
        }
        Op::Since(left, right) => {
            let since = Ltl::since(of(left).0, of(right).0);
            (since.clone(), Ltl::not(since))
        }
    }
}

impl Op {
    fn operands(&self) -> Vec<&Ltl> {
        match self {
            Self::True | Self::False | Self::Atom(_) => Vec::new(),
            Self::Not(a)
            | Self::Next(a)
            | Self::Eventually(a)
            | Self::Always(a)
            | Self::Previously(a) => vec![a],
            Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Implies(a, b)
            | Self::Iff(a, b)
            | Self::Until(a, b)
            | Self::WeakUntil(a, b)
            | Self::Release(a, b)
            | Self::StrongRelease(a, b)
            | Self::Since(a, b) => vec![a, b],
        }
    }

    fn take_operands_into(&mut self, stack: &mut Vec<Ltl>) {
        match mem::replace(self, Self::True) {
            Self::True | Self::False | Self::Atom(_) => {}
            Self::Not(a)
            | Self::Next(a)
            | Self::Eventually(a)
            | Self::Always(a)
            | Self::Previously(a) => stack.push(a),
            Self::And(parts) | Self::Or(parts) => stack.extend(parts),
            Self::Implies(a, b)
            | Self::Iff(a, b)
            | Self::Until(a, b)
            | Self::WeakUntil(a, b)
            | Self::Release(a, b)
            | Self::StrongRelease(a, b)
            | Self::Since(a, b) => stack.extend([a, b]),
        }
    }
}

/// Drops operands in a loop, because the compiler's recursion would end at the end of the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut stack = Vec::new();
        self.op.take_operands_into(&mut stack);
        while let Some(operand) = stack.pop() {
            if let Some(mut node) = Arc::into_inner(operand.0) {
                node.op.take_operands_into(&mut stack);
            }
        }
    }
}

/// Structural equality, without recursion.
impl PartialEq for Ltl {
    fn eq(&self, other: &Self) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![(self, other)];
        while let Some((a, b)) = stack.pop() {
            if Arc::ptr_eq(&a.0, &b.0) || !seen.insert((a.address(), b.address())) {
                continue;
            }
            let (mine, theirs) = (a.operands(), b.operands());
            let same_head = match (a.op(), b.op()) {
                (Op::Atom(left), Op::Atom(right)) => left == right,
                (left, right) => mem::discriminant(left) == mem::discriminant(right),
            };
            if !same_head || a.0.hash != b.0.hash || mine.len() != theirs.len() {
                return false;
            }
            stack.extend(mine.into_iter().zip(theirs));
        }
        true
    }
}

impl Eq for Ltl {}

impl Hash for Ltl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    fn nested(depth: usize) -> Ltl {
        (0..depth).fold(p(0), |inner, _| Ltl::until(Ltl::not(inner), p(1)))
    }

    #[test]
    fn deep_formulas_need_no_stack() {
        let (a, b) = (nested(50_000), nested(50_000));
        assert!(a == b && a != Ltl::next(b.clone()));
        assert_eq!(a.atoms(), [AtomId(0), AtomId(1)]);
        assert_eq!(a.depth(), 100_001);
        assert!(a.negation_normal_form().size() > 0);
        assert!(a.display(&|atom| format!("p{}", atom.0)).to_string().len() > 50_000);
        drop((a, b));
    }

    #[test]
    fn formulas_may_travel_between_threads() {
        let formula = nested(3);
        let copy = formula.clone();
        let size = std::thread::spawn(move || copy.size()).join();
        assert_eq!(size.ok(), Some(formula.size()));
    }

    #[test]
    fn normal_form_of_nested_equivalences_stays_shared() {
        let formula = (0..60).fold(p(0), |inner, index| Ltl::iff(inner, p(index)));
        assert!(formula.negation_normal_form().subformulas().len() < 1000);
    }

    #[test]
    fn conjunctions_are_flat() {
        let formula = Ltl::and([Ltl::and([p(0), p(1)]), p(2)]);
        assert_eq!(formula.operands().len(), 3);
        assert_eq!(formula.size(), 5);
        assert_eq!(Ltl::and([]), Ltl::tt());
        assert_eq!(Ltl::or([p(3)]), p(3));
    }
}
