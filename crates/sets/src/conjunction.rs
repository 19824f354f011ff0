//! Acceptance as the fixpoint on sets can decide it.
//!
//! A *conjunction* has clauses of two forms: a formula without `Fin`, and `Fin(e)` or such a formula.
//! Generalized Büchi and Streett conditions are conjunctions, and so is the weak fairness of systems
//! in which processes have control. Every other formula is a disjunction of conjunctions.

use base::bits;
use omega::{Acceptance, MarkId};

/// A formula that the fixpoint decides at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Conjunction {
    /// The marks that occur in an `Inf`.
    pub tracked: Vec<MarkId>,
    /// What every state must be reachable from: formulas without `Fin` over positions of `tracked`.
    pub demands: Vec<Acceptance>,
    /// An edge with the mark needs the formula: it is without `Fin`, over positions of `tracked`.
    /// Sorted by mark.
    pub conditions: Vec<(MarkId, Acceptance)>,
    /// The tracked marks, and the marks with a condition: most edges have few of them.
    tracked_set: Vec<u64>,
    conditional_set: Vec<u64>,
}

/// One clause: `unless`, or `Fin` of the mark if there is one.
#[derive(Clone, Debug)]
struct Clause {
    forbidden: Option<MarkId>,
    unless: Acceptance,
}

/// More alternatives than this are too many to be searched for one after the other.
const MAX_ALTERNATIVES: usize = 64;

/// The formula as alternatives; nothing if there are too many.
pub(crate) fn conjunctions(acceptance: &Acceptance) -> Option<Vec<Conjunction>> {
    let alternatives = alternatives(acceptance)?;
    Some(alternatives.into_iter().map(Conjunction::new).collect())
}

fn alternatives(formula: &Acceptance) -> Option<Vec<Vec<Clause>>> {
    let clause = |forbidden, unless| vec![vec![Clause { forbidden, unless }]];
    Some(match formula {
        _ if is_positive(formula) => clause(None, formula.clone()),
        Acceptance::Fin(mark) => clause(Some(*mark), Acceptance::False),
        Acceptance::And(parts) => all_of(parts.iter().map(alternatives))?,
        Acceptance::Or(parts) => {
            let (positive, others): (Vec<_>, Vec<_>) = parts.iter().cloned().partition(is_positive);
            let mut others = others.into_iter();
            let first = others.next().expect("the formula is not positive");
            let mut all = with(&Acceptance::any(positive), first)?;
            for other in others {
                all.extend(alternatives(&other)?);
            }
            (all.len() <= MAX_ALTERNATIVES).then_some(all)?
        }
        Acceptance::True | Acceptance::False | Acceptance::Inf(_) => {
            unreachable!("these are positive")
        }
    })
}

/// The alternatives of a positive formula or another one, which is not positive.
fn with(positive: &Acceptance, other: Acceptance) -> Option<Vec<Vec<Clause>>> {
    match other {
        Acceptance::Fin(mark) => {
            let unless = positive.clone();
            let forbidden = Some(mark);
            Some(vec![vec![Clause { forbidden, unless }]])
        }
        // Disjunction distributes over conjunction.
        Acceptance::And(parts) => all_of(parts.into_iter().map(|part| {
            if is_positive(&part) {
                alternatives(&Acceptance::any([positive.clone(), part]))
            } else {
                with(positive, part)
            }
        })),
        Acceptance::Or(mut parts) => {
            parts.push(positive.clone());
            alternatives(&Acceptance::Or(parts))
        }
        Acceptance::True | Acceptance::False | Acceptance::Inf(_) => {
            unreachable!("these are positive")
        }
    }
}

/// All ways to choose one alternative of each part.
fn all_of(parts: impl Iterator<Item = Option<Vec<Vec<Clause>>>>) -> Option<Vec<Vec<Clause>>> {
    let mut all = vec![Vec::new()];
    for part in parts {
        let part = part?;
        let choices = all.iter().flat_map(|chosen: &Vec<Clause>| {
            part.iter().map(move |more| {
                let both = chosen.iter().chain(more);
                both.cloned().collect::<Vec<_>>()
            })
        });
        all = choices.collect();
        if all.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(all)
}

fn is_positive(formula: &Acceptance) -> bool {
    formula.first_fin().is_none()
}

impl Conjunction {
    fn new(clauses: Vec<Clause>) -> Self {
        let mut tracked = Vec::new();
        for clause in &clauses {
            let _ = clause.unless.map_marks(&mut |mark| {
                tracked.push(mark);
                mark
            });
        }
        tracked.sort_unstable();
        tracked.dedup();

        let mut by_position = |mark: MarkId| {
            let position = tracked.binary_search(&mark);
            MarkId::new(position.expect("it was collected"))
        };
        let (mut demands, mut conditions) = (Vec::new(), Vec::new());
        for Clause { forbidden, unless } in clauses {
            let unless = unless.map_marks(&mut by_position);
            match forbidden {
                Some(mark) => conditions.push((mark, unless)),
                None if unless == Acceptance::True => {}
                None => demands.push(unless),
            }
        }
        conditions.sort_by_key(|(mark, _)| *mark);
        let tracked_set = set_of(&tracked);
        let conditional_set = set_of(conditions.iter().map(|(mark, _)| mark));
        Self {
            tracked,
            demands,
            conditions,
            tracked_set,
            conditional_set,
        }
    }

    /// The tracked ones among the marks of an edge, as bits by position.
    pub fn select(&self, marks: &[u64], out: &mut [u8]) {
        out.fill(0);
        for mark in common(marks, &self.tracked_set) {
            let position = self.tracked.partition_point(|other| *other < mark);
            out[position / 8] |= 1 << (position % 8);
        }
    }

    /// Are all demands met by these tracked marks?
    pub fn is_met(&self, tracked: &[u8]) -> bool {
        self.demands.iter().all(|demand| holds(demand, tracked))
    }

    /// Does an edge with these marks meet its conditions if these tracked marks lie before it, its own
    /// among them?
    pub fn allows(&self, marks: &[u64], tracked: &[u8]) -> bool {
        common(marks, &self.conditional_set).all(|mark| {
            let first = self.conditions.partition_point(|(other, _)| *other < mark);
            let of_mark = self.conditions[first..].iter();
            let mut of_mark = of_mark.take_while(|(other, _)| *other == mark);
            of_mark.all(|(_, unless)| holds(unless, tracked))
        })
    }
}

/// Marks as a set.
fn set_of<'a>(marks: impl IntoIterator<Item = &'a MarkId>) -> Vec<u64> {
    let mut set = Vec::new();
    for mark in marks {
        let n_words = bits::words_for(mark.index() + 1);
        set.resize(n_words.max(set.len()), 0);
        bits::set(&mut set, mark.index());
    }
    set
}

/// The marks in both sets.
fn common(marks: &[u64], others: &[u64]) -> impl Iterator<Item = MarkId> {
    let words = marks.iter().zip(others).map(|(own, other)| own & other);
    words.enumerate().flat_map(|(position, mut left)| {
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(MarkId::new(64 * position + bit))
        })
    })
}

/// Does a formula without `Fin` hold of this set?
pub(crate) fn holds(formula: &Acceptance, set: &[u8]) -> bool {
    match formula {
        Acceptance::True => true,
        Acceptance::False | Acceptance::Fin(_) => false,
        Acceptance::Inf(mark) => set[mark.index() / 8] >> (mark.index() % 8) & 1 == 1,
        Acceptance::And(parts) => parts.iter().all(|part| holds(part, set)),
        Acceptance::Or(parts) => parts.iter().any(|part| holds(part, set)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MarkId = MarkId(3);
    const B: MarkId = MarkId(5);
    const C: MarkId = MarkId(70);

    /// The value of a disjunction of conjunctions for a set of marks.
    fn accepts(alternatives: &[Conjunction], marks: &[u64]) -> bool {
        alternatives.iter().any(|conjunction| {
            let mut tracked = vec![0; conjunction.tracked.len().div_ceil(8)];
            conjunction.select(marks, &mut tracked);
            conjunction.is_met(&tracked) && conjunction.allows(marks, &tracked)
        })
    }

    #[test]
    fn alternatives_mean_the_same() {
        let mut random = testkit::Random::new(1);
        let mut n_several = 0;
        for _ in 0..2000 {
            let formula = draw(&mut random, 3);
            let Some(alternatives) = conjunctions(&formula) else {
                continue;
            };

            n_several += u32::from(alternatives.len() > 1);
            for set in 0..8 {
                let mut marks = [0; 2];
                for (bit, mark) in [A, B, C].into_iter().enumerate() {
                    if set >> bit & 1 == 1 {
                        bits::set(&mut marks, mark.index());
                    }
                }
                let expected = formula.accepts(&marks);
                assert_eq!(accepts(&alternatives, &marks), expected, "{formula:?}");
            }
        }

        assert!(n_several > 200, "{n_several}");
    }

    fn draw(random: &mut testkit::Random, depth: usize) -> Acceptance {
        let mark = *random.pick(&[A, B, C]);
        match random.below(if depth == 0 { 4 } else { 10 }) {
            0 | 1 => Acceptance::Inf(mark),
            2 | 3 => Acceptance::Fin(mark),
            4 if random.chance(20) => Acceptance::True,
            5 if random.chance(20) => Acceptance::False,
            kind => {
                let parts = (0..random.below(4)).map(|_| draw(random, depth - 1));
                let parts = parts.collect();
                if kind % 2 == 0 {
                    Acceptance::And(parts)
                } else {
                    Acceptance::Or(parts)
                }
            }
        }
    }

    #[test]
    fn usual_conditions_need_one_alternative() {
        let streett = Acceptance::all([
            Acceptance::streett_pair(A, B),
            Acceptance::streett_pair(B, C),
            Acceptance::Inf(C),
        ]);

        let control = Acceptance::any([
            Acceptance::generalized_buchi([A, B]),
            Acceptance::rabin_pair(C, A),
        ]);

        for formula in [streett, control] {
            assert_eq!(conjunctions(&formula).map(|all| all.len()), Some(1));
        }

        let rabin = [(A, B), (B, C)].map(|(a, b)| Acceptance::rabin_pair(a, b));
        let alternatives = conjunctions(&Acceptance::any(rabin));
        assert_eq!(alternatives.map(|all| all.len()), Some(2));

        let many = Acceptance::all((0..7).map(|i| {
            let fin = |mark| Acceptance::Fin(MarkId(mark));
            Acceptance::any([fin(2 * i), fin(2 * i + 1)])
        }));
        assert_eq!(conjunctions(&many), None);
    }
}
