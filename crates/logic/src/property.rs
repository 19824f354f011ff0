//! What is asked of a system.

use base::{Fairness, Span};
use omega::Prop;
use rustc_hash::FxHashMap;

use crate::claim::NeverClaim;
use crate::ctl_star::CtlStar;
use crate::ltl::{Ltl, Op};

/// A question about a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// Every fair run satisfies the formula.
    Ltl(Ltl),
    /// Every reachable position satisfies the formula. Invariant: it is propositional.
    Invariant(Ltl),
    /// Some reachable position satisfies the formula. Invariant: it is propositional.
    Reachable(Ltl),
    /// Every reachable state has a step.
    DeadlockFree,
    /// Every initial state satisfies the formula; path quantifiers range over fair runs.
    CtlStar(CtlStar),
    /// No fair run is accepted by the claim.
    Never(NeverClaim),
    /// Every initial state of a may/must system satisfies the formula.
    MayMust(MayMustProperty),
}

/// A question about a may/must system. Its atoms are propositions of that system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MayMustProperty {
    /// Which of the systems of the model.
    pub system: usize,
    /// Which paths are fair. Invariant: a Boolean combination of `[]<>` and `<>[]` of literals.
    pub fairness: Ltl,
    /// The formula.
    pub formula: CtlStar,
}

/// A property as an author wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedProperty {
    /// What reports call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its meaning.
    pub property: Property,
    /// The fairness that its author asks for.
    pub fairness: Option<Fairness>,
    /// Where it was written.
    pub span: Span,
}

/// The formula as a property: `[] p` with propositional `p` is an invariant, so that it can be
/// checked without an automaton.
#[must_use]
pub fn classify(formula: Ltl) -> Property {
    match formula.op() {
        Op::Always(inner) if inner.is_propositional() => Property::Invariant(inner.clone()),
        Op::Not(inner) => match inner.op() {
            Op::Eventually(bad) if bad.is_propositional() => Property::Invariant(bad.negate()),
            _ => Property::Ltl(formula),
        },
        _ => Property::Ltl(formula),
    }
}

/// A state formula as a property: what speaks of all fair runs only is a question of linear time.
#[must_use]
pub fn classify_state_formula(formula: CtlStar) -> Property {
    match formula.as_ltl() {
        Some(path) => classify(path),
        None => Property::CtlStar(formula),
    }
}

/// The formula over letters, unless it has temporal operators, is nested deeper than
/// [`crate::MAX_DEPTH`], or grows beyond 100 000 nodes when its equivalences are written out.
#[must_use]
pub fn propositional(formula: &Ltl) -> Option<Prop> {
    const MAX_SIZE: u64 = 100_000;

    let normal = formula.negation_normal_form();
    if normal.depth() > crate::MAX_DEPTH || normal.size() > MAX_SIZE {
        return None;
    }

    let mut prop_by_address: FxHashMap<usize, Prop> = FxHashMap::default();
    for part in normal.subformulas() {
        let of = |operand: &Ltl| prop_by_address[&operand.address()].clone();
        let prop = match part.op() {
            Op::True => Prop::Const(true),
            Op::False => Prop::Const(false),
            Op::Atom(atom) => Prop::Atom(*atom),
            Op::Not(inner) => Prop::Not(Box::new(of(inner))),
            Op::And(parts) => Prop::And(parts.iter().map(of).collect()),
            Op::Or(parts) => Prop::Or(parts.iter().map(of).collect()),
            _ => return None,
        };
        prop_by_address.insert(part.address(), prop);
    }

    prop_by_address.remove(&normal.address())
}

#[cfg(test)]
mod tests {
    use base::AtomId;

    use super::*;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    #[test]
    fn only_always_of_a_proposition_is_an_invariant() {
        let safe = Ltl::implies(p(0), p(1));
        let always = Ltl::always(safe.clone());
        assert_eq!(classify(always.clone()), Property::Invariant(safe));
        let never = Ltl::not(Ltl::eventually(p(0)));
        assert_eq!(classify(never), Property::Invariant(Ltl::not(p(0))));
        let recurs = Ltl::always(Ltl::eventually(p(0)));
        assert_eq!(classify(recurs.clone()), Property::Ltl(recurs));
        assert_eq!(
            classify(Ltl::next(always.clone())),
            Property::Ltl(Ltl::next(always))
        );
    }

    #[test]
    fn propositional_formulas_keep_their_meaning() {
        let formula = Ltl::iff(p(0), Ltl::not(Ltl::or([p(1), p(2)])));
        let prop = propositional(&formula).expect("no temporal operator");
        for bits in 0..8_u32 {
            let letter = |atom: AtomId| bits >> atom.0 & 1 == 1;
            let truth = crate::holds_on_lasso(&formula, 1, 0, &|_, atom| letter(atom));
            assert_eq!(prop.holds(&letter), truth);
        }
        assert_eq!(propositional(&Ltl::next(p(0))), None);
    }
}
