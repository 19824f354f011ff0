//! Making a generalized Büchi automaton smaller without changing what it accepts.
//!
//! Four reductions are repeated until none helps:
//! - marks: each strongly connected component needs only its own marks, so they are numbered afresh
//!   per component; a mark that another one implies is dropped;
//! - direct simulation: equivalent states are joined, and of two edges the better one suffices. Somenzi
//!   and Bloem, CAV 2000, section 4, <https://doi.org/10.1007/10722167_21>; for transition-based
//!   acceptance Babiak et al., *Compositional Approach to Suspension and Other Improvements to LTL
//!   Translation*, SPIN 2013, section 4, <https://doi.org/10.1007/978-3-642-39176-7_6>;
//! - the same backwards ([`merge_similar`] on the reversed automaton), as in L. Clemente, R. Mayr,
//!   *Efficient Reduction of Nondeterministic Automata with Application to Language Inclusion
//!   Testing*, LMCS 15(1), 2019, sections 4 and 5, <https://doi.org/10.23638/LMCS-15(1:12)2019>;
//! - for automata too large for that, bisimulation by partition refinement.
//!
//! Why backwards is right, where infinite words have no end to begin at: let `a <= b` iff each path to
//! `a` from an initial state has a path to `b` that reads the same letters, sees at least its marks and
//! goes through states that are above its own, position by position. Take an accepting path of either
//! automaton (the given and the reduced one). For each of its prefixes the other has a path that is above it in this sense, and a
//! prefix of one that is above is above. So these paths are an infinite tree with finite branching, and
//! by König's lemma there is an infinite path above, which sees every mark at least as often.
//!
//! Edges that lie on no cycle are passed finitely often, so their marks do not matter. Simulation is
//! computed once with none and once with all marks on them: each labelling lets other states compare.

use std::collections::BTreeMap;

use crate::bdd::{Bdd, Bdds};
use crate::tgba::{Arrow, Components, Marks, Tgba, all_marks};

/// Above this number of pairs of edges, simulation is too slow to be worth it.
const MAX_EDGE_PAIRS: usize = 1_000_000;

/// After this many edges looked at, refining a partition is too slow to be worth it.
const MAX_REFINEMENT: usize = 5_000_000;

/// More rounds have never been seen to help.
const MAX_ROUNDS: usize = 20;

/// Reduces the automaton.
pub(crate) fn reduce(tgba: &mut Tgba, bdds: &mut Bdds) {
    tgba.prune();

    for _ in 0..MAX_ROUNDS {
        let before = measure(tgba);
        simplify_marks(tgba);
        tgba.merge_guards(bdds);
        merge_bisimilar(tgba, bdds);
        tgba.prune();

        // Marks on edges that no cycle takes are free: none and all of them make different states equal.
        for fill in [0, tgba.all_marks()] {
            for backwards in [false, true] {
                if tgba.n_arrows().pow(2) <= MAX_EDGE_PAIRS {
                    fill_transient(tgba, fill);
                    merge_similar(tgba, bdds, backwards);
                    tgba.prune();
                }
            }
        }

        if measure(tgba) >= before || bdds.overflowed() {
            break;
        }
    }

    simplify_marks(tgba);
    tgba.merge_guards(bdds);
}

/// What every round must lessen for another round to be worth it.
fn measure(tgba: &Tgba) -> (usize, usize, u32, usize) {
    (
        tgba.arrows.len(),
        tgba.n_arrows(),
        tgba.n_marks,
        tgba.initial.len(),
    )
}

/// Puts exactly these marks on the edges between components.
fn fill_transient(tgba: &mut Tgba, marks: Marks) {
    let Components { component, .. } = tgba.components();
    for (state, arrows) in tgba.arrows.iter_mut().enumerate() {
        for arrow in arrows {
            if component[state] != component[arrow.target] {
                arrow.marks = marks;
            }
        }
    }
}

/// Numbers the marks afresh in each component and drops those that are not needed.
///
/// Components that do not accept lose all marks and keep not accepting, because at least one
/// mark remains if there is such a component with a cycle.
pub(crate) fn simplify_marks(tgba: &mut Tgba) {
    let components = tgba.components();
    let accepting = tgba.accepting(&components);
    let mut sets: Vec<Vec<Marks>> = vec![Vec::new(); components.n_components];
    let mut rejecting_cycle = false;

    for (state, arrows) in tgba.arrows.iter().enumerate() {
        let component = components.component[state];
        for arrow in arrows {
            if components.component[arrow.target] == component {
                sets[component].push(arrow.marks);
                rejecting_cycle |= !accepting[component];
            }
        }
    }

    let needed: Vec<Vec<u32>> = sets
        .iter()
        .map(|sets| needed_marks(sets, tgba.n_marks))
        .collect();
    let most = (0..components.n_components)
        .filter(|&component| accepting[component])
        .map(|component| needed[component].len() as u32)
        .max()
        .unwrap_or(0);
    let n_marks = most.max(u32::from(rejecting_cycle));

    for (state, arrows) in tgba.arrows.iter_mut().enumerate() {
        let component = components.component[state];
        for arrow in arrows {
            let inside = components.component[arrow.target] == component;
            arrow.marks = if inside && accepting[component] {
                renamed(arrow.marks, &needed[component], n_marks)
            } else {
                0
            };
        }
    }

    tgba.n_marks = n_marks;
}

/// The marks that are not seen whenever some other needed mark is seen.
fn needed_marks(sets: &[Marks], n_marks: u32) -> Vec<u32> {
    let has = |set: &Marks, mark: u32| set >> mark & 1 == 1;
    let mut needed: Vec<u32> = (0..n_marks)
        .filter(|&mark| !sets.iter().all(|set| has(set, mark)))
        .collect();
    let mut position = needed.len();
    while position > 0 {
        position -= 1;
        let mark = needed[position];
        let implied = needed.iter().any(|&other| {
            other != mark && sets.iter().all(|set| !has(set, other) || has(set, mark))
        });
        if implied {
            needed.remove(position);
        }
    }
    needed
}

/// The needed marks as `0..needed.len()`, and every mark from there to `n_marks`.
fn renamed(marks: Marks, needed: &[u32], n_marks: u32) -> Marks {
    let mut result = all_marks(n_marks) & !all_marks(needed.len() as u32);
    for (position, mark) in needed.iter().enumerate() {
        result |= (marks >> mark & 1) << position;
    }
    result
}

/// Joins states whose edges are the same up to joining their targets.
pub(crate) fn merge_bisimilar(tgba: &mut Tgba, bdds: &mut Bdds) {
    let mut class = vec![0_usize; tgba.arrows.len()];
    let mut n_classes = 1;
    let mut work = 0;
    loop {
        // A partition that is not stable yet is good for nothing, so giving up means doing nothing.
        work += tgba.n_arrows();
        if work > MAX_REFINEMENT {
            return;
        }
        let mut class_by_signature = BTreeMap::new();
        let mut refined = Vec::with_capacity(class.len());
        for (state, arrows) in tgba.arrows.iter().enumerate() {
            let mut guard_by_rest: BTreeMap<(usize, Marks), Bdd> = BTreeMap::new();
            for arrow in arrows {
                let key = (class[arrow.target], arrow.marks);
                let guard = guard_by_rest.entry(key).or_insert(Bdd::FALSE);
                *guard = bdds.or(*guard, arrow.guard);
            }
            let fresh = class_by_signature.len();
            let signature = (class[state], guard_by_rest);
            refined.push(*class_by_signature.entry(signature).or_insert(fresh));
        }
        class = refined;
        if class_by_signature.len() == n_classes {
            break;
        }
        n_classes = class_by_signature.len();
    }

    if n_classes < tgba.arrows.len() {
        tgba.renumber(&class.into_iter().map(Some).collect::<Vec<_>>());
        tgba.merge_guards(bdds);
    }
}

/// Joins states that simulate each other (forwards: by what follows, backwards: by what leads to
/// them), and cuts out of each edge and from the initial states what better ones cover.
fn merge_similar(tgba: &mut Tgba, bdds: &mut Bdds, backwards: bool) {
    let n_states = tgba.arrows.len();
    let mut simulates = vec![vec![true; n_states]; n_states];
    if backwards {
        tgba.reverse();
        // Only an initial state is as easy to reach as an initial state.
        for a in tgba.initial.clone() {
            (0..n_states).for_each(|b| simulates[b][a] = tgba.initial.contains(&b));
        }
    }

    direct_simulation(tgba, &mut simulates, bdds);
    join_equivalent(tgba, &simulates, bdds);

    // Between representatives, mutual simulation means identity.
    for state in 0..n_states {
        cut_dominated(tgba, state, &simulates, bdds);
    }

    if backwards {
        tgba.reverse();
    } else {
        let initial = tgba.initial.clone();
        tgba.initial
            .retain(|&a| !initial.iter().any(|&b| a != b && simulates[b][a]));
    }
}

/// Redirects every edge to the first state that is equivalent to its target.
fn join_equivalent(tgba: &mut Tgba, simulates: &[Vec<bool>], bdds: &mut Bdds) {
    let representative: Vec<usize> = (0..tgba.arrows.len())
        .map(|a| {
            (0..a)
                .find(|&b| simulates[a][b] && simulates[b][a])
                .unwrap_or(a)
        })
        .collect();

    for arrow in tgba.arrows.iter_mut().flatten() {
        arrow.target = representative[arrow.target];
    }
    for state in &mut tgba.initial {
        *state = representative[*state];
    }
    // The others are reached by nothing now, which is all there is to say forwards; backwards they
    // would still lead on.
    for (state, arrows) in tgba.arrows.iter_mut().enumerate() {
        if representative[state] != state {
            arrows.clear();
        }
    }
    tgba.initial.sort_unstable();
    tgba.initial.dedup();
    tgba.merge_guards(bdds);
}

/// Removes from each guard the letters that a better edge of the same state reads.
fn cut_dominated(tgba: &mut Tgba, state: usize, simulates: &[Vec<bool>], bdds: &mut Bdds) {
    let arrows = tgba.arrows[state].clone();
    for (position, arrow) in tgba.arrows[state].iter_mut().enumerate() {
        for (other_position, other) in arrows.iter().enumerate() {
            let better = other_position != position
                && arrow.marks & !other.marks == 0
                && simulates[other.target][arrow.target];
            // Edges of equal worth would have been merged, so no two edges cut each other.
            if better {
                arrow.guard = bdds.minus(arrow.guard, other.guard);
            }
        }
    }
    tgba.arrows[state].retain(|arrow| arrow.guard != Bdd::FALSE);
}

/// Leaves of the given relation the largest one such that `simulates[b][a]` only if every edge of `a`
/// is matched, letter by letter, by edges of `b` with at least its marks and to states that simulate
/// its target.
fn direct_simulation(tgba: &Tgba, simulates: &mut [Vec<bool>], bdds: &mut Bdds) {
    let n_states = tgba.arrows.len();
    // A pair is looked at again only if a target of `a` has lost a simulating state since.
    let mut suspect = vec![true; n_states];
    while suspect.contains(&true) {
        let mut lost = vec![false; n_states];
        for a in (0..n_states).filter(|&a| suspect[a]) {
            for b in 0..n_states {
                if a != b && simulates[b][a] && !matches_edges(tgba, simulates, (a, b), bdds) {
                    simulates[b][a] = false;
                    lost[a] = true;
                }
            }
        }
        let depends = |arrows: &Vec<Arrow>| arrows.iter().any(|arrow| lost[arrow.target]);
        suspect = tgba.arrows.iter().map(depends).collect();
    }
}

fn matches_edges(
    tgba: &Tgba,
    simulates: &[Vec<bool>],
    (a, b): (usize, usize),
    bdds: &mut Bdds,
) -> bool {
    tgba.arrows[a].iter().all(|arrow| {
        let mut unmatched = arrow.guard;
        for other in &tgba.arrows[b] {
            if arrow.marks & !other.marks == 0 && simulates[other.target][arrow.target] {
                unmatched = bdds.minus(unmatched, other.guard);
            }
        }
        unmatched == Bdd::FALSE
    })
}
