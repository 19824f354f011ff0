use base::AtomId;
use logic::Ltl;

use crate::Random;

/// A formula over the first `n_atoms` atoms with about `size` operators.
pub fn random_formula(random: &mut Random, n_atoms: usize, size: usize) -> Ltl {
    if size == 0 {
        return match random.below(24) {
            0 => Ltl::tt(),
            4 => Ltl::ff(),
            1..=3 => Ltl::not(Ltl::atom(AtomId::new(random.below(n_atoms)))),
            _ => Ltl::atom(AtomId::new(random.below(n_atoms))),
        };
    }

    let left = random.below(size);
    let right = size - 1 - left;
    let one = |random: &mut Random| random_formula(random, n_atoms, size - 1);
    match random.below(14) {
        0 => Ltl::not(one(random)),
        1 => Ltl::next(one(random)),
        2 | 3 => Ltl::always(one(random)),
        4 | 5 => Ltl::eventually(one(random)),
        kind => {
            let a = random_formula(random, n_atoms, left);
            let b = random_formula(random, n_atoms, right);
            match kind {
                6 => Ltl::and([a, b]),
                7 => Ltl::or([a, b]),
                8 => Ltl::implies(a, b),
                9 => Ltl::until(a, b),
                10 => Ltl::release(a, b),
                11 => Ltl::weak_until(a, b),
                12 => Ltl::strong_release(a, b),
                _ => Ltl::iff(a, b),
            }
        }
    }
}
