//! Emerson–Lei acceptance: Boolean formulas over `Inf(m)` and `Fin(m)`.

use base::bits;

base::define_index! {
    /// A mark that edges may carry.
    pub struct MarkId;
}

/// Which sets of marks, seen infinitely often, are accepted.
///
/// Büchi, generalized Büchi, Streett and Rabin are special cases with constructors below. Formulas
/// are in negation normal form by construction: `Inf` and `Fin` are each other's negation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Acceptance {
    /// Everything.
    True,
    /// Nothing.
    False,
    /// The mark is seen infinitely often.
    Inf(MarkId),
    /// The mark is seen only finitely often.
    Fin(MarkId),
    /// All of them.
    And(Vec<Acceptance>),
    /// At least one of them.
    Or(Vec<Acceptance>),
}

impl Acceptance {
    /// Every given mark infinitely often.
    #[must_use]
    pub fn generalized_buchi(marks: impl IntoIterator<Item = MarkId>) -> Self {
        Self::all(marks.into_iter().map(Self::Inf))
    }

    /// One Streett pair: if `enabled` is seen infinitely often, so is `taken`.
    #[must_use]
    pub fn streett_pair(enabled: MarkId, taken: MarkId) -> Self {
        Self::any([Self::Fin(enabled), Self::Inf(taken)])
    }

    /// One Rabin pair: `avoid` finitely often and `visit` infinitely often.
    #[must_use]
    pub fn rabin_pair(avoid: MarkId, visit: MarkId) -> Self {
        Self::all([Self::Fin(avoid), Self::Inf(visit)])
    }

    /// The conjunction, flattened and without trivial members.
    #[must_use]
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::True => {}
                Self::False => return Self::False,
                Self::And(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::True,
            1 => kept.swap_remove(0),
            _ => Self::And(kept),
        }
    }

    /// The disjunction, flattened and without trivial members.
    #[must_use]
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::False => {}
                Self::True => return Self::True,
                Self::Or(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::False,
            1 => kept.swap_remove(0),
            _ => Self::Or(kept),
        }
    }

    /// The complement.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Inf(mark) => Self::Fin(mark),
            Self::Fin(mark) => Self::Inf(mark),
            Self::And(parts) => Self::any(parts.into_iter().map(Self::negate)),
            Self::Or(parts) => Self::all(parts.into_iter().map(Self::negate)),
        }
    }

    /// Renames every mark.
    #[must_use]
    pub fn map_marks(&self, rename: &mut impl FnMut(MarkId) -> MarkId) -> Self {
        match self {
            Self::True => Self::True,
            Self::False => Self::False,
            Self::Inf(mark) => Self::Inf(rename(*mark)),
            Self::Fin(mark) => Self::Fin(rename(*mark)),
            Self::And(parts) => Self::And(parts.iter().map(|p| p.map_marks(rename)).collect()),
            Self::Or(parts) => Self::Or(parts.iter().map(|p| p.map_marks(rename)).collect()),
        }
    }

    /// Does a run accept that sees exactly these marks infinitely often?
    #[must_use]
    pub fn accepts(&self, infinitely_often: &[u64]) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Inf(mark) => bits::get(infinitely_often, mark.index()),
            Self::Fin(mark) => !bits::get(infinitely_often, mark.index()),
            Self::And(parts) => parts.iter().all(|part| part.accepts(infinitely_often)),
            Self::Or(parts) => parts.iter().any(|part| part.accepts(infinitely_often)),
        }
    }

    /// What is left to satisfy for runs that see no mark outside `present`: an absent `Inf` is
    /// false, an absent `Fin` is true.
    ///
    /// The result is `False` iff no set of marks within `present` could satisfy the formula even
    /// if the remaining literals were independent of each other.
    #[must_use]
    pub fn within(&self, present: &[u64]) -> Self {
        match self {
            Self::Inf(mark) if !bits::get(present, mark.index()) => Self::False,
            Self::Fin(mark) if !bits::get(present, mark.index()) => Self::True,
            Self::And(parts) => Self::all(parts.iter().map(|part| part.within(present))),
            Self::Or(parts) => Self::any(parts.iter().map(|part| part.within(present))),
            other => other.clone(),
        }
    }

    /// The formula with `Fin(mark)` replaced by false. It implies the formula itself.
    #[must_use]
    pub fn without_fin(&self, mark: MarkId) -> Self {
        match self {
            Self::Fin(other) if *other == mark => Self::False,
            Self::And(parts) => Self::all(parts.iter().map(|part| part.without_fin(mark))),
            Self::Or(parts) => Self::any(parts.iter().map(|part| part.without_fin(mark))),
            other => other.clone(),
        }
    }

    /// The leftmost mark that occurs in a `Fin`.
    #[must_use]
    pub fn first_fin(&self) -> Option<MarkId> {
        match self {
            Self::Fin(mark) => Some(*mark),
            Self::And(parts) | Self::Or(parts) => parts.iter().find_map(Self::first_fin),
            _ => None,
        }
    }

    /// A small set of marks such that every set between it and `present` is accepted, or nothing
    /// if `present` itself is not accepted.
    ///
    /// Each disjunction picks the member that needs the fewest marks; this is not always the
    /// smallest set overall, which would be a hitting-set problem.
    #[must_use]
    pub fn sufficient_marks(&self, present: &[u64]) -> Option<Vec<u64>> {
        let none = || vec![0; present.len()];
        match self {
            Self::True => Some(none()),
            Self::False => None,
            Self::Fin(mark) => (!bits::get(present, mark.index())).then(none),
            Self::Inf(mark) => bits::get(present, mark.index()).then(|| {
                let mut marks = none();
                bits::set(&mut marks, mark.index());
                marks
            }),
            Self::And(parts) => parts.iter().try_fold(none(), |mut marks, part| {
                bits::union_into(&mut marks, &part.sufficient_marks(present)?);
                Some(marks)
            }),
            Self::Or(parts) => parts
                .iter()
                .filter_map(|part| part.sufficient_marks(present))
                .min_by_key(|marks| bits::iter(marks).count()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MarkId = MarkId(0);
    const B: MarkId = MarkId(1);
    const C: MarkId = MarkId(2);

    #[test]
    fn absent_marks_decide_their_literals() {
        let pairs = Acceptance::all([
            Acceptance::streett_pair(A, B),
            Acceptance::streett_pair(C, A),
        ]);
        assert_eq!(
            pairs.within(&[0b101]),
            Acceptance::all([Acceptance::Fin(A), Acceptance::streett_pair(C, A),])
        );
        assert_eq!(pairs.within(&[0]), Acceptance::True);
        assert_eq!(
            Acceptance::rabin_pair(A, B).within(&[0b1]),
            Acceptance::False
        );
    }

    #[test]
    fn sufficient_marks_are_few_and_suffice() {
        let choice = Acceptance::any([
            Acceptance::generalized_buchi([A, B]),
            Acceptance::Inf(C),
            Acceptance::Fin(A),
        ]);
        assert_eq!(choice.sufficient_marks(&[0b111]), Some(vec![0b100]));
        assert_eq!(choice.sufficient_marks(&[0b011]), Some(vec![0b011]));
        assert_eq!(choice.sufficient_marks(&[0b010]), Some(vec![0]));
        assert_eq!(choice.sufficient_marks(&[0b001]), None);
    }
}
